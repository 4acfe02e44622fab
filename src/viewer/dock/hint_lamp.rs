//! Lamps: where a view in sight has hints, a lamp stands at the right of its tabs, and a dot at its tab. A click opens the first hint: what
//! is seen, why it matters, and buttons for the next step. Windows have lamps, pictures have none.

use crate::viewer::action::Action;
use crate::viewer::document::Opened;
use crate::viewer::frame::{Awake, Stage};
use crate::viewer::hint::{Hint, HintStep};
use crate::viewer::keys;
use crate::viewer::notices::Notices;
use crate::viewer::panels::theme;
use crate::viewer::settings::Settings;
use crate::viewer::view::View;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::egui::{self, Color32, RichText};
use std::collections::HashSet;

/// Greatest width of an open hint, points.
const WIDTH: f32 = 340.0;
/// Radius of the lamp, and of the dot at a tab, points.
const LAMP: f32 = 3.5;
const DOT: f32 = 2.5;

/// Hints that are open or dismissed.
#[derive(Resource, Default)]
pub struct HintLamps {
    /// The view whose hint is open.
    open: Option<&'static str>,
    /// Ids of dismissed hints.
    dismissed: HashSet<&'static str>,
    /// The key that was pressed; the first lamp of the frame takes it.
    asked: Option<Action>,
    /// The key has closed a hint in this frame: the next lamp opens its own.
    moved: bool,
    /// The open hint.
    shown: Option<&'static str>,
    /// The view whose step was done last: the next hint is that of a lamp behind it.
    after: Option<&'static str>,
    /// That lamp was in this frame.
    passed: bool,
}

impl HintLamps {
    /// What a click on the lamp of a view does, or a key: it goes from lamp to lamp, and then closes the last. Returns whether the first
    /// step is to be done.
    fn pressed(&mut self, view: &'static str, clicked: bool) -> bool {
        let is_open = self.open == Some(view);
        if self.asked.is_some() && self.open.is_none() && self.after.is_some() {
            // The lamps up to that of the last step are passed by.
            if self.after == Some(view) {
                (self.after, self.passed) = (None, true);
            }
            return false;
        }
        match (self.asked, is_open) {
            _ if clicked => self.open = Some(view).filter(|_| !is_open),
            (Some(Action::HintStep), true) => {
                (self.asked, self.open, self.after) = (None, None, Some(view));
                return true;
            }
            (Some(_), true) => (self.moved, self.open) = (true, None),
            (Some(_), false) if self.open.is_none() => (self.asked, self.open) = (None, Some(view)),
            (Some(_), false) | (None, _) => {}
        }
        if self.open.is_none() {
            self.shown = None;
        }
        false
    }

    /// Whether no lamp of the frame has taken the key. A hint of a view out of sight is closed.
    fn missed(&mut self) -> bool {
        // No lamp stood behind that of the last step: the next frame begins with the first.
        let passed = std::mem::take(&mut self.passed) || self.asked.is_some() && self.after.take().is_some();
        if passed && self.asked.is_some() && self.open.is_none() {
            return false;
        }
        let asked = self.asked.take().is_some();
        if asked {
            self.open = None;
        }
        !std::mem::take(&mut self.moved) && asked
    }
}

/// Result of drawing a lamp: the step to do.
pub type ChosenStep = Option<HintStep>;

/// The hints of a view that are not dismissed; none where lamps are off, and in pictures.
pub fn hints_of(world: &World, view: &dyn View) -> Vec<Hint> {
    let Some(lamps) = world.get_resource::<HintLamps>().filter(|_| world.resource::<Settings>().hints) else {
        return Vec::new();
    };
    view.hints(world).into_iter().filter(|hint| !lamps.dismissed.contains(hint.id)).collect()
}

/// A dot at the tab of a view with hints.
pub fn dot(ctx: &egui::Context, layer: egui::LayerId, tab: egui::Rect) {
    ctx.layer_painter(layer).circle_filled(tab.left_top() + egui::vec2(5.0, 6.0), DOT, theme::ROUTE);
}

/// The lamp of the view in front, with its hint if that is open.
pub fn lamp(world: &mut World, ui: &mut egui::Ui, view: &'static dyn View) -> ChosenStep {
    let mut hints = hints_of(world, view);
    let mut lamps = world.get_resource_mut::<HintLamps>()?;
    let lamps = &mut *lamps;
    if hints.is_empty() {
        lamps.open = lamps.open.filter(|open| *open != view.id());
        return None;
    }
    let many = hints.len();
    // The lamp itself is painted before the word.
    let text = if many > 1 { format!("    Hint ({many})") } else { "    Hint".to_owned() };
    let button = egui::Button::new(RichText::new(text).size(12.0).color(theme::ROUTE));
    ui.add_space(6.0);
    let response = ui.add(button).on_hover_text(Action::Hint.tooltip());
    theme::named(&response, "Hint");
    ui.painter().circle_filled(response.rect.left_center() + egui::vec2(11.0, 0.0), LAMP, theme::ROUTE);
    if lamps.pressed(view.id(), response.clicked()) {
        return hints.swap_remove(0).steps.into_iter().next();
    }
    if lamps.open != Some(view.id()) {
        return None;
    }
    let hint = hints.swap_remove(0);
    let id = hint.id;
    if lamps.shown != Some(id) {
        tracing::debug!("hint: {id}");
        lamps.shown = Some(id);
    }
    let (mut chosen, mut dismissed) = (None, false);
    let area = egui::Area::new(egui::Id::new("hint")).order(egui::Order::Foreground);
    let mut corner = response.rect.right_bottom() + egui::vec2(0.0, 6.0);
    // Not over what the city says of the leak.
    if let Some(clear) =
        theme::kept_clear(ui.ctx()).filter(|clear| clear.right() > corner.x - WIDTH && clear.left() < corner.x)
    {
        corner.y = corner.y.max(clear.bottom() + 6.0);
    }
    area.fixed_pos(corner).pivot(egui::Align2::RIGHT_TOP).show(ui.ctx(), |ui| {
        theme::frame().show(ui, |ui| {
            ui.set_max_width(WIDTH);
            (chosen, dismissed) = contents(ui, hint, many);
        });
    });
    if dismissed {
        lamps.dismissed.insert(id);
    }
    if chosen.is_some() {
        (lamps.open, lamps.after) = (None, Some(view.id()));
    }
    chosen
}

/// What is seen, why it matters, the steps. The chosen step, and whether the hint is dismissed.
fn contents(ui: &mut egui::Ui, hint: Hint, many: usize) -> (ChosenStep, bool) {
    let mut dismissed = false;
    ui.horizontal(|ui| {
        let title = if many > 1 { format!("HINT 1 OF {many}") } else { "HINT".to_owned() };
        ui.label(RichText::new(title).size(11.0).strong().color(theme::ROUTE));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            dismissed = theme::cross(ui, "Dismiss this hint", "Dismisses this hint; Settings turns all of them off");
        });
    });
    ui.add(egui::Label::new(RichText::new(hint.seen).size(13.0).color(theme::TEXT)).wrap());
    ui.add(egui::Label::new(RichText::new(hint.why).size(12.0).color(theme::QUIET)).wrap());
    let mut chosen = None;
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        for (at, step) in hint.steps.into_iter().enumerate() {
            let text = step.action.map_or(step.label.clone(), |action| keys::beside(&step.label, action));
            // The best step stands out, as in the card of the leak.
            let button = match at {
                0 => egui::Button::new(RichText::new(text).color(Color32::WHITE)).fill(theme::NEXT_STEP),
                _ => egui::Button::new(text),
            };
            if ui.add(button).clicked() {
                chosen = Some(step);
            }
        }
    });
    (chosen, dismissed)
}

fn act(mut actions: MessageReader<Action>, mut lamps: ResMut<HintLamps>) {
    for action in actions.read() {
        if *action == Action::Hint || *action == Action::HintStep {
            lamps.asked = Some(*action);
        }
        if *action == Action::Escape {
            lamps.open = None;
        }
    }
}

/// Where a key was pressed and no view in sight has a hint: the open view behind another tab that has one, and its hint opens. Says so
/// if there is none.
pub fn end_frame(world: &mut World, behind: impl Iterator<Item = &'static dyn View>) -> Option<&'static dyn View> {
    let mut lamps = world.get_resource_mut::<HintLamps>()?;
    let lamps = &mut *lamps;
    let (missed, again) = (lamps.missed(), lamps.asked.is_some());
    if !missed {
        world.resource_mut::<Awake>().keep_if(again);
        return None;
    }
    let found = behind.into_iter().find(|view| !hints_of(world, *view).is_empty());
    match found {
        Some(view) => world.resource_mut::<HintLamps>().open = Some(view.id()),
        None => world.resource_mut::<Notices>().tell("No open view has a hint now"),
    }
    found
}

/// Adds the state of lamps, where there is a window.
fn follow_window(windows: Query<(), With<PrimaryWindow>>, mut commands: Commands) {
    if !windows.is_empty() {
        commands.init_resource::<HintLamps>();
    }
}

pub fn plugin(app: &mut App) {
    app.add_systems(Startup, follow_window)
        .add_systems(Update, act.run_if(resource_exists::<HintLamps>).in_set(Stage::Act))
        .add_observer(|_: On<Opened>, lamps: Option<ResMut<HintLamps>>| {
            if let Some(mut lamps) = lamps {
                *lamps = HintLamps::default();
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key goes through the lamps of a frame, from left to right, and then closes the last.
    #[test]
    fn the_key_goes_from_lamp_to_lamp() {
        let mut lamps = HintLamps::default();
        let mut frame = |asked, views: &[&'static str]| {
            lamps.asked = asked;
            let step = views.iter().filter(|view| lamps.pressed(view, false)).count();
            (lamps.open, step, lamps.missed())
        };
        let (city, paths) = (Some("city"), Some("paths"));
        assert_eq!(frame(Some(Action::Hint), &["city", "paths"]), (city, 0, false));
        assert_eq!(frame(None, &["city", "paths"]), (city, 0, false));
        assert_eq!(frame(Some(Action::Hint), &["city", "paths"]), (paths, 0, false));
        assert_eq!(frame(Some(Action::HintStep), &["city", "paths"]), (None, 1, false));
        // None is open: it opens the next one, from the first lamp on where there is none behind that of the last step.
        assert_eq!(frame(Some(Action::HintStep), &["city", "paths"]), (None, 0, false));
        assert_eq!(frame(Some(Action::HintStep), &["city", "paths"]), (city, 0, false));
        assert_eq!(frame(Some(Action::HintStep), &["city", "paths"]), (None, 1, false));
        assert_eq!(frame(Some(Action::Hint), &["city", "paths"]), (paths, 0, false));
        assert_eq!(frame(Some(Action::Hint), &["city"]), (paths, 0, true), "out of sight: then it is closed");
        assert_eq!(frame(Some(Action::Hint), &[]), (None, 0, true));
    }

    /// What is seen, why, and each step with its key; the best first.
    #[test]
    fn an_open_hint_says_what_is_seen_and_what_to_do() {
        let hint = || Hint {
            id: "x",
            seen: "Seen".into(),
            why: "Why",
            steps: vec![HintStep::action("Cut it", Action::Cut), HintStep::change("Leave it", |_| ())],
        };
        let texts = theme::texts_of(|ui| {
            assert!(contents(ui, hint(), 2).0.is_none());
        });
        let cut = keys::beside("Cut it", Action::Cut);
        for text in ["HINT 1 OF 2", "Seen", "Why", &*cut, "Leave it"] {
            assert!(texts.iter().any(|there| there == text), "{text}: {texts:?}");
        }
    }
}
