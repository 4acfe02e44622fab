//! From a timeline to city geometry: layout, heights, colours, cones, picking, camera. Pure functions, no drawing.
//!
//! The city lies in the x/z plane, y is up; the layout's `y` is the world's `z` (south is +z). Layout is in f64,
//! vectors leave as f32. This module knows no file format, no object and no Bevy.

pub mod camera;
mod cones;
mod mapping;
mod pick;
mod plan;
mod squarify;

pub use cones::{Cone, Cones, MOST_CONES, cones};
pub use mapping::{
    INCOMING_COLOUR, MORE_COLOUR, OUTGOING_COLOUR, SELECTED_COLOUR, district_colour, growth_colour, max_growth, palette,
};
pub use pick::{Hit, HitTarget};
pub use plan::{AreaMode, CITY_SIZE, CityConfig, CityPlan, District, Plot, PlotKind, PlotState, Rect};
pub use squarify::squarify;
