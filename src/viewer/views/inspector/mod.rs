//! The inspector: leads from the selection to its objects, and from an object to its references and its referrers. It has the dominator
//! tree too, and a way back and forward.
//!
//! | module | shows |
//! |---|---|
//! | `navigation` | where one was |
//! | `desk` | the heap state that is looked at, and the jobs that read it |
//! | `group` | several groups as one set |
//! | `object`, `held`, `owners` | an object, and what surrounds it |
//! | `tree` | the dominator tree |
//! | `bar` | back, forward, the way to what is shown |
//! | `awaited`, `parts`, `cells`, `bytes` | answers on their way, and what all pages look alike in |
//!
//! Facts about objects come from [`memory_city_analysis::inspection`], the only access to the heap here.

mod awaited;
mod bar;
mod bytes;
mod cells;
mod desk;
mod group;
mod held;
mod navigation;
mod object;
mod owners;
mod parts;
mod tree;

use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::dock::{Dock, Focus};
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::editor::CodeRequest;
use crate::viewer::frame::{Awake, Stage};
use crate::viewer::notices::Notices;
use crate::viewer::panels::{long_list, theme};
use crate::viewer::selection::{Select, Selection};
use crate::viewer::view::{About, Place, View, Views, draw_with};
use bevy::ecs::change_detection::Tick;
use bevy::prelude::*;
use bevy_egui::egui;
use desk::Desk;
use group::GroupPage;
use memory_city_analysis::inspection::InspectedHeap;
use memory_city_analysis::timeline::{NodeId, Timeline};
use navigation::{InspectorStop, InspectorWay};
use object::InspectedObjects;
use tree::TreePage;

const ID: &str = "inspector";

/// The inspector as a kind of view.
pub(super) const VIEW: &dyn View = &InspectorView;

struct InspectorView;

impl View for InspectorView {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Inspector",
            help: "Objects one by one: what the selection keeps, fields and values, who holds what, the dominator tree",
            place: Place::Middle,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn keys(&self, _: &World) -> &'static [KeyCode] {
        long_list::KEYS
    }

    fn plugin(&self, app: &mut App) {
        plugin(app);
    }
}

fn plugin(app: &mut App) {
    app.init_resource::<Inspector>()
        .add_observer(|_: On<Opened>, mut inspector: ResMut<Inspector>| *inspector = Inspector::default())
        .add_observer(|_: On<Closed>, mut inspector: ResMut<Inspector>| *inspector = Inspector::default())
        .add_observer(|_: On<Grew>, document: Res<Document>, mut inspector: ResMut<Inspector>| {
            inspector.grew(document.timeline().map_or(0, |timeline| timeline.times()));
        })
        .add_systems(Update, (mouse_buttons.in_set(Stage::Input), act.in_set(Stage::Act)))
        .add_systems(Update, follow.in_set(Stage::Derive));
}

#[derive(Resource, Default)]
struct Inspector {
    navigation: InspectorWay,
    desk: Desk,
    group: GroupPage,
    objects: InspectedObjects,
    tree: TreePage,
    /// When the selection that was followed last was made.
    followed: Tick,
    /// How many points in time there were.
    times: usize,
    /// An address that is being written.
    address: String,
    /// Whether it was drawn in the last frame: a hidden view computes nothing.
    seen: bool,
    /// The stop that the log has shown last.
    logged: Option<InspectorStop>,
}

impl Inspector {
    /// Follows new trees of the same program: objects keep their numbers, unless points in time have moved.
    fn grew(&mut self, times: usize) {
        let Inspector { mut navigation, followed, seen, times: before, .. } = std::mem::take(self);
        if times != before {
            navigation.retain(|stop| matches!(stop, InspectorStop::Groups(_) | InspectorStop::Tree(None)));
        }
        *self = Inspector { navigation, followed, seen, times, ..Inspector::default() };
    }

    /// The point in time of the page, if it is not that of the window.
    fn time(&self, clock: &Clock) -> usize {
        match self.navigation.here() {
            Some(InspectorStop::Object(stop) | InspectorStop::Tree(Some(stop))) => stop.time,
            _ => clock.time,
        }
    }
}

/// The keys of a selection, in the order of the tree: so that the same groups are the same stop.
fn keys(timeline: &Timeline, selection: &Selection) -> Vec<String> {
    let mut nodes: Vec<NodeId> = selection.nodes().collect();
    nodes.sort_unstable();
    nodes.into_iter().map(|node| timeline.key(node)).collect()
}

/// The fourth and fifth button of a mouse, as in browsers.
fn mouse_buttons(
    buttons: Res<ButtonInput<MouseButton>>,
    inspector: Res<Inspector>,
    mut actions: MessageWriter<Action>,
) {
    if inspector.seen && buttons.just_pressed(MouseButton::Back) {
        actions.write(Action::InspectorBack);
    }
    if inspector.seen && buttons.just_pressed(MouseButton::Forward) {
        actions.write(Action::InspectorForward);
    }
}

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn act(
    mut actions: MessageReader<Action>,
    document: Res<Document>,
    mut inspector: ResMut<Inspector>,
    mut selection: ResMut<Selection>,
    (mut dock, mut focus, views): (ResMut<Dock>, ResMut<Focus>, Res<Views>),
    mut notices: ResMut<Notices>,
) {
    let Some(timeline) = document.timeline() else {
        actions.clear();
        return;
    };
    let inspector = &mut *inspector;
    for action in actions.read() {
        let moved = match action {
            Action::Inspect => {
                if let Some(view) = views.get(ID) {
                    dock.open(view, &views);
                    focus.give(view);
                }
                let keys = keys(timeline, &selection);
                if !keys.is_empty() {
                    inspector.navigation.go(InspectorStop::Groups(keys));
                }
                false
            }
            Action::InspectorBack => inspector.navigation.back(),
            Action::InspectorForward => inspector.navigation.forward(),
            _ => continue,
        };
        if moved {
            select(inspector, timeline, &mut selection, &mut notices);
        }
    }
}

/// Selects the groups that one has gone back to: all views show the same.
fn select(inspector: &mut Inspector, timeline: &Timeline, selection: &mut ResMut<Selection>, notices: &mut Notices) {
    let Some(InspectorStop::Groups(wanted)) = inspector.navigation.here() else { return };
    if *wanted == keys(timeline, selection) {
        return;
    }
    let nodes: Vec<NodeId> = wanted.iter().filter_map(|key| timeline.find(key)).collect();
    if nodes.is_empty() {
        notices.tell("The groups that were looked at are not in these trees");
        return;
    }
    selection.select_all(timeline, nodes);
    inspector.followed = selection.last_changed();
}

/// Follows the selection, and takes the results of jobs.
fn follow(
    document: Res<Document>,
    selection: Res<Selection>,
    clock: Res<Clock>,
    mut inspector: ResMut<Inspector>,
    mut awake: ResMut<Awake>,
) {
    let Some(open) = document.get() else { return };
    let inspector = &mut *inspector;
    inspector.times = open.timeline.times();
    if inspector.followed != selection.last_changed() {
        inspector.followed = selection.last_changed();
        let keys = keys(&open.timeline, &selection);
        if !keys.is_empty() {
            let grows = |shown: &[String]| shown.iter().all(|key| keys.contains(key));
            // The way is that of what was looked at: not of what was clicked meanwhile, nor of each row that was added.
            match inspector.navigation.here() {
                Some(InspectorStop::Groups(shown)) if !inspector.seen || keys.len() > 1 && grows(shown) => {
                    inspector.navigation.replace(InspectorStop::Groups(keys));
                }
                _ => inspector.navigation.go(InspectorStop::Groups(keys)),
            }
        }
    }
    if !std::mem::take(&mut inspector.seen) || InspectedHeap::offered(&open.source).is_err() {
        return;
    }
    // While time runs by itself nothing is looked at for long enough.
    if !clock.playing && inspector.navigation.here().is_some() {
        let time = inspector.time(&clock);
        if inspector.desk.look_at(time, &open.source) {
            inspector.group.forget();
            inspector.objects.forget();
            inspector.tree.forget();
        }
    }
    let running = inspector.desk.poll() | inspector.group.poll() | inspector.objects.poll() | inspector.tree.poll();
    awake.wait_if(running);
    if inspector.logged.as_ref() != inspector.navigation.here() {
        inspector.logged = inspector.navigation.here().cloned();
        match &inspector.logged {
            Some(InspectorStop::Groups(keys)) => tracing::debug!("inspector: {}", keys.join(" + ")),
            Some(InspectorStop::Object(stop)) => tracing::debug!("inspector: object of {}", stop.name),
            Some(InspectorStop::Tree(_)) => tracing::debug!("inspector: the dominator tree"),
            None => tracing::debug!("inspector: nothing"),
        }
    }
}

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut inspector: ResMut<Inspector>,
    mut selection: ResMut<Selection>,
    (clock, focus): (Res<Clock>, Res<Focus>),
    mut actions: MessageWriter<Action>,
    mut notices: ResMut<Notices>,
    mut requests: MessageWriter<CodeRequest>,
) {
    let Some(open) = document.get() else { return };
    let inspector = &mut *inspector;
    inspector.seen = true;
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::SOLID);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        if let Err(why) = InspectedHeap::offered(&open.source) {
            parts::card(ui, "No single objects", &why, theme::TEXT, |_| ());
            return;
        }
        let time = inspector.time(&clock);
        let jumped = bar::show(ui, inspector, &open.timeline, time, &clock, &mut actions);
        if jumped {
            select(inspector, &open.timeline, &mut selection, &mut notices);
        }
        if inspector.navigation.here().is_some() && inspector.desk.heap.get().is_none() {
            parts::waiting(ui, &mut inspector.desk.heap, "The heap at this time");
            return;
        }
        let focused = focus.is(ID);
        let desk = &mut inspector.desk;
        let next = match inspector.navigation.here() {
            Some(InspectorStop::Groups(keys)) => inspector.group.show(ui, keys, time, &open.source, desk, focused),
            Some(InspectorStop::Object(stop)) => inspector.objects.show(ui, stop, desk, focused),
            Some(InspectorStop::Tree(stop)) => inspector.tree.show(ui, stop.as_ref(), desk, focused),
            None => nothing(ui, &open.timeline, &mut selection),
        };
        requests.write_batch(inspector.desk.code.take().map(CodeRequest));
        if let Some(stop) = next {
            inspector.navigation.go(stop);
        }
    });
}

/// The page without a selection: it offers things to look at.
fn nothing(ui: &mut egui::Ui, timeline: &Timeline, selection: &mut ResMut<Selection>) -> Option<InspectorStop> {
    let text = "Click a group in any view: a building, or a row of the table or the ranking (Ctrl adds one, Shift all up to \
                it). The inspector shows them as one set, and from there object by object.";
    parts::card(ui, "Select something to inspect", text, theme::TEXT, |ui| {
        ui.horizontal(|ui| {
            if ui.button("The whole heap").clicked() {
                selection.select(timeline, NodeId::ROOT);
            }
            ui.button("The dominator tree").clicked().then_some(InspectorStop::Tree(None))
        })
        .inner
    })
}
