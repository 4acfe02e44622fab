//! From a timeline to city geometry: layout, heights, colours, cones, picking and cameras. Pure functions, no drawing.
//!
//! # Vocabulary
//! - A **building** stands for a leaf of the timeline's tree, a **district** for an inner node: a flat slab under
//!   everything that belongs to it. The lowest slab is the whole heap.
//! - A **plot** is what a leaf is given for good: a rectangle (its *cell*) sized by the leaf's maximum over time. The
//!   building's current base lies centred in the cell and keeps the cell's aspect ratio, so nothing ever moves.
//! - A **More plot** gathers the children of one node that were too small to get a plot of their own.
//!
//! # Use
//! [`CityPlan::new`] lays a timeline out, once; an [`Appearance`] says what its plots look like: [`Appearance::states`]
//! gives what changes with time, eight bytes per plot, [`Appearance::pick`] what a ray meets, [`Appearance::legend`] what
//! colours mean; [`cones()`] shows the references of a selection, [`routes()`] the ways from roots to it; [`camera`] where to look from.
//!
//! # Invariants
//! - The area of a building's base per unit of (mapped) value is one constant in the whole city, at every depth.
//! - Layout is computed in `f64`; `f32` vectors appear only where something is handed to drawing code.
//! - This module knows values, not what they are values of: no type, no object, no file format. It draws nothing.

mod arcs;
pub mod camera;
mod change;
pub mod colour;
mod compared;
mod cones;
mod detail;
mod grow;
pub mod height;
mod in_view;
mod layout;
mod legend;
mod lit;
mod look;
mod mapping;
mod names;
mod over_roofs;
mod overlay;
mod part;
mod pick;
mod placement;
mod plan;
mod plot;
#[cfg(test)]
mod properties;
mod rect;
mod route;
mod squarify;
mod states;
mod steps;
#[cfg(test)]
pub(crate) mod testing;
mod theme;
mod values;
mod viewpoint;
mod words;

pub use arcs::{ConeWay, NearWay, ReferenceShape, cone_ways, nearest_way};
pub use change::{Change, SLIGHT_CHANGE, sign};
pub use compared::{ChangeSum, Comparison};
pub use cones::{Cone, Cones, MAX_RADIUS, MIN_RADIUS, MOST_CONES, USUAL_CONES, WantedCones, cones};
pub use detail::{DetailBlock, DetailChoice, DetailSums, DetailTree, DetailView};
pub use legend::{ColourHistogram, Gradient, Legend, Mark, freed_position};
pub use lit::{Lit, lit};
pub use look::{Appearance, Look};
pub use mapping::{
    DISTRICT, FREED_COLOUR, GROWTH, INCOMING_COLOUR, MARK_COLOURS, MORE_COLOUR, OUTGOING_COLOUR, QUIET_COLOUR,
    ROUTE_COLOUR, SELECTED_COLOUR, SHRUNK_COLOUR, district_colour, growth_colour, linear_to_srgb, max_growth,
    srgb_to_linear,
};
pub use names::{Nameable, OWN_FIRST};
pub use over_roofs::Roofs;
pub use overlay::NOTABLE_LOSS;
pub use part::CityPart;
pub use pick::{Hit, HitTarget};
pub use placement::{NEW_NAME_GAP, NameBox, NameWish, ShownNames, place_names};
pub use plan::{CityPlan, District};
pub use plot::{MoreSummary, Plot, PlotKind};
pub use rect::Rect;
pub use route::{LEG_RADII, Leg, MOST_LEGS, MOST_PINS, Pin, RouteStep, Routes, routes};
pub use squarify::{LayoutError, squarify, squarify_sorted, suffix_sums};
pub use states::{PlotState, Standing};
pub use steps::changes_for_steps;
pub use theme::CityTheme;
pub use values::{Plots, Sample, SampleRoom, Samples, Values};
pub use words::{notable_loss_text, slight_change_text};

use memory_city_analysis::timeline::Metric;

/// Side of the whole city, in units. The city is centred on the origin.
pub const CITY_SIZE: f64 = 100.0;
/// Height of one district slab, in units; the same at every level.
pub const DISTRICT_HEIGHT: f64 = 0.4;
/// Height of a More plot, in units: flat, so that it is not mistaken for a building.
pub const MORE_HEIGHT: f64 = 0.25;
/// Districts deeper than this have no border and no slab height of their own: a chain of a thousand nested groups
/// must not shrink its buildings to nothing or lift them out of sight. Areas stay proportional all the same.
pub const BORDERED_LEVELS: u32 = 24;

/// How values become areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AreaMode {
    /// Area proportional to the value.
    Linear,
    /// Area proportional to the square root of the value: small groups stay legible beside large ones.
    #[default]
    Sqrt,
}

impl AreaMode {
    /// The mapped value, to which areas are proportional.
    pub fn of(self, value: f64) -> f64 {
        match self {
            AreaMode::Linear => value,
            AreaMode::Sqrt => value.sqrt(),
        }
    }
}

/// What a city shows and how it is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CityConfig {
    /// How values become areas.
    pub area_mode: AreaMode,
    /// Objects or bytes.
    pub metric: Metric,
    /// How many children of each node get space of their own, largest first; `None` for all.
    pub child_count: Option<usize>,
    /// Side of a district's inner block as a fraction of its cell; the rest is its border. 0.5 to 1.
    pub border: f64,
    /// Side of a building at its maximum as a fraction of its cell; the rest is the street. 0.1 to 1.
    pub gap: f64,
    /// The points in time, first and last, that the ground is divided for: what is larger before or after fills its plot and no
    /// more, and what is there only then has none ([`CityPlan::outside`] counts both). `None`: all.
    pub window: Option<(usize, usize)>,
}

impl Default for CityConfig {
    fn default() -> Self {
        CityConfig {
            area_mode: AreaMode::Sqrt,
            metric: Metric::Objects,
            child_count: Some(40),
            border: 0.95,
            gap: 0.9,
            window: None,
        }
    }
}
