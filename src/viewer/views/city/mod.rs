//! The city: groups are buildings, their growth a colour, references cones. The first view.
//!
//! It owns the layout ([`City`]), the records on the GPU ([`step`]), the camera ([`fly`]) and what is drawn over the
//! picture in its pane: names, legend, tooltip. Geometry and mapping are [`memory_city_views::city`]'s.

mod axis;
mod banded;
mod box_order;
mod caption;
mod card;
mod compared;
mod crumbs;
mod drill;
mod fly;
mod labels;
mod laid_out;
mod minimap;
mod moving;
mod multiples;
mod pane;
mod picking;
mod pinch;
mod present;
mod rig;
mod routes;
mod sharpness;
mod sight;
mod states;
mod step;

pub(in crate::viewer) use fly::focus_pose;
pub use laid_out::{City, Shown};
pub use multiples::{Multiples, TimeCell};
pub use pane::CityPane;
pub(in crate::viewer) use pane::{CitySight, alone, fill, hide, set_backdrop};
pub use present::{ConeCount, ShownCones};
pub use rig::{CameraRig, WholeView};
pub use routes::ShownRoutes;
pub use sharpness::Sharpness;

use super::{Drawn, Place, View, ViewTable};
use crate::viewer::action::Action;
use crate::viewer::app::{Awake, Stage};
use crate::viewer::clock::Clock;
use crate::viewer::document::{Closed, Document, Grew, Opened, Preparation, Preparations};
use crate::viewer::job::Job;
use crate::viewer::keys;
use crate::viewer::notices::Notices;
use crate::viewer::search::GroupSearch;
use crate::viewer::selection::{MarkNote, Marks, Selection, Target};
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use laid_out::Ground;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_views::city::{self, HitTarget};
use memory_city_views::export::{ShownCity, glb, write_csv};
use moving::Moving;
use std::collections::HashMap;
use std::sync::Arc;

/// The view of the city among all.
pub const ID: &str = "city";

/// The city as a kind of view.
pub(super) fn view() -> View {
    View {
        id: ID,
        title: "City",
        help: "Groups as buildings: how large they are, and how they grow",
        place: Place::Middle,
        keys: |_| &[],
        plugin,
        draw: |world, ui| super::draw_with(world, ui, pane::draw),
        preparation: Some(|settings| preparation(settings.clone(), None)),
    }
}

/// Its boxes as CSV.
pub(super) fn csv() -> ViewTable {
    fn write(world: &World) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        with_shown(world, |shown| {
            write_csv(shown, &mut out, &Progress::new()).map_err(|e| super::no_table("The city", &e.to_string()))
        })?;
        Ok(out)
    }
    ViewTable { view: ID, csv: write }
}

/// The city as it is shown, as boxes with colours and names: a binary glTF.
///
/// # Errors
/// Where there is none yet, and those of [`glb`].
pub(in crate::viewer) fn scene(world: &World) -> Result<Vec<u8>> {
    with_shown(world, |shown| glb(shown, &Progress::new()))
}

/// Groups in colours of their own: marked ones, and before these what is selected.
fn painted(world: &World, timeline: &Timeline) -> HashMap<NodeId, [f32; 3]> {
    let (marks, selection) = (world.resource::<Marks>(), world.resource::<Selection>());
    let colour = |mark: &MarkNote| city::MARK_COLOURS[mark.colour % city::MARK_COLOURS.len()];
    let marked = marks.nodes().iter().filter_map(|&node| Some((node, colour(marks.get(&timeline.key(node))?))));
    marked.chain(selection.nodes().map(|node| (node, city::SELECTED_COLOUR))).collect()
}

/// What is written of the city: at the time that is shown, with what was found lit.
fn with_shown<T>(world: &World, write: impl FnOnce(&ShownCity<'_>) -> Result<T>) -> Result<T> {
    let Some(city) = &world.resource::<Shown>().0 else {
        return Err(super::no_table("The city", "is not there yet"));
    };
    let found = world.resource::<GroupSearch>().found().map(Arc::clone);
    write(&ShownCity {
        plan: &city.plan,
        timeline: &city.timeline,
        appearance: &city.appearance,
        time: world.resource::<Clock>().time.min(city.times().saturating_sub(1)),
        lit: found.as_deref().map(|found| &found.lit),
        theme: city.made_with.theme,
        painted: &painted(world, &city.timeline),
    })
}

fn plugin(app: &mut App) {
    app.init_resource::<Shown>()
        .init_resource::<LayingOut>()
        .init_resource::<ShownGroups>()
        .init_resource::<Moving>()
        .init_resource::<CameraRig>()
        .init_resource::<Sharpness>()
        .init_resource::<picking::Pointer>()
        .init_resource::<step::TimeStep>()
        .init_resource::<ConeCount>()
        .init_resource::<ShownCones>()
        .init_resource::<ShownRoutes>()
        .init_resource::<pane::CityPane>()
        .init_resource::<multiples::Multiples>()
        .add_observer(opened)
        .add_observer(grew)
        .add_observer(closed)
        .add_systems(Update, keep_preparation.in_set(Stage::Input))
        .add_systems(
            Update,
            (
                (divide_anew, drill::drill_actions),
                follow_settings,
                fly::follow_size,
                picking::find_pointer,
                fly::view_actions,
                fly::fly,
                moving::move_buildings,
            )
                .chain()
                .in_set(Stage::Act),
        )
        .add_systems(Update, picking::pick.in_set(Stage::Derive))
        .add_systems(Update, (step::follow_clock, sharpness::follow_camera, present::present).chain().in_set(Drawn));
}

/// A layout of the open document under changed settings, on its way.
#[derive(Resource, Default)]
pub(super) struct LayingOut(Option<(u64, Settings, Job<City>)>);

impl LayingOut {
    /// Whether a layout is on its way.
    pub(super) fn active(&self) -> bool {
        self.0.is_some()
    }
}

/// What the trees on screen were made with: grouping, and which state of its definitions.
#[derive(Resource, Default)]
struct ShownGroups(Option<(String, u64)>);

impl ShownGroups {
    /// Takes those of what is open now. Returns whether they are others.
    fn follow(&mut self, document: &Document) -> bool {
        let now = document.get().map(|open| (open.made_with.grouping.clone(), open.made_with.definitions));
        let are_others = self.0 != now;
        self.0 = now;
        are_others
    }
}

fn preparation(settings: Settings, ground: Option<Ground>) -> Preparation {
    Arc::new(move |source, arrival| Box::new(City::prepared(source, arrival, &settings, ground.as_ref())))
}

/// What is prepared follows the settings and what stands on the ground.
fn keep_preparation(
    shown: Res<Shown>,
    settings: Res<Settings>,
    mut preparations: ResMut<Preparations>,
    mut kept: Local<Option<(u64, Settings)>>,
) {
    let now = (shown.0.as_ref().map_or(0, |city| city.layout), &*settings);
    if kept.as_ref().is_none_or(|(layout, settings)| (*layout, settings) != now) {
        *kept = Some((now.0, settings.clone()));
        let ground = shown.0.as_ref().map(|city| (Arc::clone(&city.plan), Arc::clone(&city.timeline)));
        preparations.set(ID, preparation(settings.clone(), ground));
    }
}

fn take(document: &mut Document, settings: &Settings) -> Option<City> {
    let prepared = document.prepared().take::<City>(ID);
    prepared.or_else(|| document.timeline().map(|timeline| City::new(timeline, settings)))
}

fn opened(
    _: On<Opened>,
    mut document: ResMut<Document>,
    mut shown: ResMut<Shown>,
    mut rig: ResMut<CameraRig>,
    mut moving: ResMut<Moving>,
    (mut laying, mut groups): (ResMut<LayingOut>, ResMut<ShownGroups>),
    settings: Res<Settings>,
) {
    groups.follow(&document);
    shown.0 = take(&mut document, &settings);
    rig.show_city(shown.0.as_ref().map_or(0.0, |city| city.tallest()));
    (*moving, *laying) = Default::default();
}

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn grew(
    grew: On<Grew>,
    mut document: ResMut<Document>,
    mut shown: ResMut<Shown>,
    mut rig: ResMut<CameraRig>,
    mut moving: ResMut<Moving>,
    (mut laying, mut groups): (ResMut<LayingOut>, ResMut<ShownGroups>),
    step: Res<step::TimeStep>,
    settings: Res<Settings>,
) {
    let regrouped = groups.follow(&document);
    let Some(mut city) = take(&mut document, &settings) else { return };
    let from = shown.0.as_mut().filter(|_| grew.anew && document.live().is_some());
    *moving = from.map(|before| Moving::between(before, &mut city, step.time())).unwrap_or_default();
    *laying = LayingOut::default();
    let tallest = city.tallest();
    match grew.anew {
        true => rig.laid_out_anew(tallest, regrouped, |eye| city.buries(eye, step.time())),
        false => rig.set_tallest(tallest),
    }
    shown.0 = Some(city);
}

fn closed(_: On<Closed>, mut shown: ResMut<Shown>, mut moving: ResMut<Moving>, mut laying: ResMut<LayingOut>) {
    shown.0 = None;
    (*moving, *laying) = Default::default();
}

/// Lays the city out anew when the settings it depends on change, and gives it another look; what is shown stays until the next is
/// ready. A look of few buildings is there at once.
fn follow_settings(
    document: Res<Document>,
    settings: Res<Settings>,
    mut shown: ResMut<Shown>,
    mut rig: ResMut<CameraRig>,
    mut laying: ResMut<LayingOut>,
    (mut notices, mut moving): (ResMut<Notices>, ResMut<Moving>),
    (mut awake, clock): (ResMut<Awake>, Res<Clock>),
) {
    awake.wait_if(laying.active());
    if let Some(outcome) = laying.0.as_ref().and_then(|(_, _, job)| job.poll())
        && let Some((revision, ..)) = laying.0.take()
    {
        match outcome {
            Ok(mut city) if revision == document.revision() => {
                let tallest = city.tallest();
                match shown.0.as_ref() {
                    // Another look at the same.
                    Some(before) if Arc::ptr_eq(&before.plan, &city.plan) => {}
                    Some(before) if before.plan.part() != city.plan.part() => rig.show_part(tallest),
                    _ => rig.laid_out_anew(tallest, false, |eye| city.buries(eye, clock.time)),
                }
                let before = shown.0.as_mut().filter(|before| before.made_with.window != city.made_with.window);
                if let Some(before) = before {
                    *moving = Moving::between(before, &mut city, clock.time);
                }
                shown.0 = Some(city);
            }
            // The document went on in the meantime, and brought its own.
            Ok(_) => {}
            Err(panic) => notices.tell(panic),
        }
    }
    let Some(city) = &shown.0 else { return };
    let aim = laying.0.as_ref().map_or(&city.made_with, |(_, settings, _)| settings);
    let mut wanted = settings.clone();
    wanted.metric = wanted.metric_in(&city.timeline);
    if aim.city_config() != wanted.city_config() || aim.parts != wanted.parts {
        let timeline = Arc::clone(&city.timeline);
        let job_settings = wanted.clone();
        let job = Job::behind_frames(move |_| City::new(&timeline, &job_settings));
        laying.0 = Some((document.revision(), wanted, job));
        awake.keep_if(true);
    } else if !laying.active() && (city.made_with.look() != settings.look() || city.made_with.theme != settings.theme) {
        let make = city.with_look(wanted.clone());
        if city.is_large() {
            laying.0 = Some((document.revision(), wanted, Job::behind_frames(move |_| make())));
            awake.keep_if(true);
        } else {
            shown.0 = Some(make());
        }
    }
}

/// Divides the ground anew for the times from the base to that shown, or for all again. Who listens to a live program has
/// another way.
fn divide_anew(
    mut actions: MessageReader<Action>,
    (document, clock): (Res<Document>, Res<Clock>),
    mut settings: ResMut<Settings>,
    mut notices: ResMut<Notices>,
) {
    if !actions.read().any(|action| *action == Action::ReLayout) || document.live().is_some() {
        return;
    }
    let window =
        settings.base.filter(|base| *base != clock.time).map(|base| (base.min(clock.time), base.max(clock.time)));
    match (settings.window, window) {
        (None, None) => {
            let key = keys::key(Action::Compare);
            notices.tell(format!(
                "Choose a base first ({key}), then go to another time: the ground is divided for what lies between"
            ));
        }
        (Some(now), Some(window)) if now != window => settings.window = Some(window),
        (None, window) => settings.window = window,
        (Some(_), _) => settings.window = None,
    }
}

/// The place of a target in a city: its plot, or its district.
fn place_of(city: &City, target: Target) -> Option<HitTarget> {
    let plot = city.plot_of(target).map(HitTarget::Plot);
    plot.or_else(|| match target {
        Target::Node(node) => city.plan.district_of(node).map(HitTarget::District),
        Target::More(_) => None,
    })
}
