//! The legend of the city in a pane of its own.

use crate::viewer::city::Shown;
use crate::viewer::clock::Clock;
use crate::viewer::panels::{legend, theme};
use crate::viewer::root_paths::RootPaths;
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use crate::viewer::view::{About, Place, View, draw_with};
use bevy::prelude::*;
use bevy_egui::egui;

/// The legend as a kind of view.
pub(super) const VIEW: &dyn View = &LegendView;

struct LegendView;

impl View for LegendView {
    fn about(&self) -> About {
        About {
            id: "legend",
            title: "Legend",
            help: "What areas and colours of the city mean",
            place: Place::LeftBelow,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    mut shown: ResMut<Shown>,
    (clock, settings): (Res<Clock>, Res<Settings>),
    selection: Res<Selection>,
    ways: Res<RootPaths>,
) {
    let Some(city) = shown.0.as_mut() else { return };
    theme::pane(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        legend::contents(ui, city, &clock, &settings, selection.node().is_some(), &ways);
    });
}
