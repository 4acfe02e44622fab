//! City geometry computed from a timeline: layout, heights, colours, cones, picking and cameras. Pure functions, no drawing.
//!
//! # Vocabulary
//! - A **building** stands for a leaf of the timeline's tree, a **district** for an inner node: a flat slab under
//!   everything that belongs to it. The lowest slab is the whole heap.
//! - A **plot** is the permanent place of a leaf: a rectangle (its *cell*) sized by the leaf's maximum over time. The building's current
//!   base lies centred in the cell and keeps the cell's aspect ratio, so nothing ever moves.
//! - A **More plot** gathers the children of one node that were too small to get a plot of their own.
//!
//! # Use
//! [`CityPlan::new`] lays a timeline out, once. An [`Appearance`] holds the look of its plots: [`Appearance::states`] returns the part that
//! changes with time, eight bytes per plot, [`Appearance::pick`] the building that a ray meets, [`Appearance::legend`] the meaning of
//! colours. [`cones()`] shows the references of a selection, [`routes()`] the paths from roots to it, and [`camera`] has the viewpoints.
//!
//! # Invariants
//! - The area of a building's base per unit of (mapped) value is one constant in the whole city, at every depth.
//! - Layout is computed in `f64`; `f32` vectors appear only where something is handed to drawing code.
//! - This module knows values, not their meaning: no type, no object, no file format. It draws nothing.

mod arcs;
pub mod camera;
mod change;
pub mod colour;
mod compared;
mod cones;
mod config;
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
mod shape_legend;
mod squarify;
mod states;
mod steps;
#[cfg(test)]
pub(crate) mod testing;
mod theme;
mod values;
mod viewpoint;

pub use arcs::{ConeWay, NearWay, ReferenceShape, cone_ways, nearest_way};
pub use change::{Change, SLIGHT_CHANGE, sign};
pub use compared::{ChangeSum, Comparison};
pub use cones::{Cone, Cones, MAX_RADIUS, MIN_RADIUS, MOST_CONES, USUAL_CONES, WantedCones, cones};
pub use config::{AreaMode, BORDERED_LEVELS, CITY_SIZE, CityConfig, DISTRICT_HEIGHT, MORE_HEIGHT};
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
pub use shape_legend::{notable_loss_text, slight_change_text};
pub use squarify::{LayoutError, squarify, squarify_sorted, suffix_sums};
pub use states::{PlotState, Standing};
pub use steps::changes_for_steps;
pub use theme::CityTheme;
pub use values::{Plots, Sample, SampleRoom, Samples, Values};
