//! The city view: groups of objects are buildings, their growth a colour, references between them cones. The first view.
//!
//! It lays the city out ([`follow`]), makes the records on the GPU ([`present`]), moves the camera ([`fly`]) and draws the overlays in its
//! pane: names, legend, tooltip. What others read of it is in [`viewer::city`](crate::viewer::city). Geometry and mapping are
//! [`memory_city_views::city`]'s.

mod axis;
mod banded;
mod caption;
mod card;
mod compared;
mod crumbs;
mod drill;
mod fly;
mod follow;
mod hint;
mod labels;
mod minimap;
mod moving;
mod multiples;
mod names;
mod pane;
mod picking;
mod pinch;
mod present;
mod routes;
mod sight;
mod step;

use crate::viewer::city::{self, CameraRig, CityPane, ConeCount, Multiples, Sharpness, Shown, ShownCones, ShownRoutes};
use crate::viewer::document::Preparation;
use crate::viewer::frame::{Drawn, Stage};
use crate::viewer::hint::Hint;
use crate::viewer::settings::Settings;
use crate::viewer::view::{About, Place, View, WriteTable, draw_with};
use bevy::prelude::*;
use bevy_egui::egui;

/// The city as a kind of view.
pub const VIEW: &dyn View = &CityView;

struct CityView;

impl View for CityView {
    fn about(&self) -> About {
        About {
            id: city::ID,
            title: "City",
            help: "Groups as buildings: how large they are, and how they grow",
            place: Place::Middle,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, pane::draw);
    }

    fn plugin(&self, app: &mut App) {
        plugin(app);
    }

    fn hints(&self, world: &World) -> Vec<Hint> {
        hint::hints(world)
    }

    fn draw_alone(&self, world: &mut World, ctx: &egui::Context) {
        pane::alone(world, ctx);
    }

    fn preparation(&self, settings: &Settings) -> Option<Preparation> {
        Some(follow::preparation(settings.clone(), None))
    }

    fn table(&self) -> Option<WriteTable> {
        Some(city::csv)
    }
}

fn plugin(app: &mut App) {
    app.init_resource::<Shown>()
        .init_resource::<follow::LayingOut>()
        .init_resource::<follow::ShownGroups>()
        .init_resource::<moving::Moving>()
        .init_resource::<CameraRig>()
        .init_resource::<Sharpness>()
        .init_resource::<picking::Pointer>()
        .init_resource::<step::TimeStep>()
        .init_resource::<ConeCount>()
        .init_resource::<ShownCones>()
        .init_resource::<ShownRoutes>()
        .init_resource::<CityPane>()
        .init_resource::<names::CityNames>()
        .init_resource::<Multiples>()
        .add_observer(follow::opened)
        .add_observer(follow::grew)
        .add_observer(follow::closed)
        .add_systems(Update, follow::keep_preparation.in_set(Stage::Input))
        .add_systems(
            Update,
            (
                (follow::divide_anew, drill::drill_actions),
                follow::follow_settings,
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
        .add_systems(Update, (step::follow_clock, city::follow_camera, present::present).chain().in_set(Drawn));
}
