//! Measures of the city, and the choices that a layout depends on.

use memory_city_analysis::timeline::Metric;

/// Side of the whole city, in units. The city is centred on the origin.
pub const CITY_SIZE: f64 = 100.0;
/// Height of one district slab, in units; the same at every level.
pub const DISTRICT_HEIGHT: f64 = 0.4;
/// Height of a More plot, in units: flat, so that it is not mistaken for a building.
pub const MORE_HEIGHT: f64 = 0.25;
/// Districts deeper than this have no border and no slab height of their own. Otherwise a chain of a thousand nested groups would shrink
/// its buildings to nothing or lift them out of sight. Areas stay proportional.
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
    /// The mapped value; areas are proportional to it.
    pub fn of(self, value: f64) -> f64 {
        match self {
            AreaMode::Linear => value,
            AreaMode::Sqrt => value.sqrt(),
        }
    }
}

/// The choice of values and of the layout of a city.
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
    /// The points in time, first and last, that the ground is divided for. A building that is larger before or after fills its plot and no
    /// more; one that exists only outside has no plot ([`CityPlan::outside`](super::CityPlan::outside) counts both). `None`: all.
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
