//! The city that is shown, as all views and panels share it: the document laid out, the camera, and what of both is on screen. The city's
//! view ([`views::city`](super::views)) keeps it up to date and draws it.

mod box_order;
mod export;
mod laid_out;
mod on_screen;
mod rig;
mod sharpness;
mod states;

pub(super) use export::{csv, scene};
pub(super) use laid_out::Ground;
pub use laid_out::{City, Shown};
pub use on_screen::{CityPane, CitySight, CitySpot, ConeCount, Multiples, ShownCones, ShownRoutes, TimeCell};
pub(super) use on_screen::{fill, hide, set_backdrop};
pub(super) use rig::Grip;
pub use rig::{CameraRig, WholeView};
pub use sharpness::Sharpness;
pub(super) use sharpness::follow_camera;

/// The name of the city's view, and of what it prepares.
pub const ID: &str = "city";
