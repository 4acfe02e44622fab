//! What the user can set about the picture, with the defaults of a first start. Shared by the window and `render`.

use bevy::prelude::Resource;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{AUTO, Metric};
use memory_city_views::city::{AreaMode, CityConfig, Look};

/// Settings of the view.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct Settings {
    /// Areas proportional to the value or to its square root.
    pub area_mode: AreaMode,
    /// Objects or bytes.
    pub metric: Metric,
    /// How many children of each node get space of their own.
    pub child_count: usize,
    /// Whether `child_count` applies.
    pub prune: bool,
    /// Cones to and from the selected building.
    pub show_pointers: bool,
    /// Incoming cones, where cones are shown.
    pub show_incoming: bool,
    /// Outgoing cones, where cones are shown.
    pub show_outgoing: bool,
    /// Id of the colour mode.
    pub colour: String,
    /// Id of the height rule.
    pub height: String,
    /// How many of the strongest growing buildings are opaque.
    pub solid_count: usize,
    /// Opacity of all others, 0..=1.
    pub opacity: f32,
    /// Names in the city.
    pub labels: bool,
    /// Shadows on the ground.
    pub shadows: bool,
    /// Seconds a step takes to animate; 0 jumps.
    pub animation: f32,
    /// Seconds each state is shown in automatic play.
    pub interval: f32,
    /// Id of the grouping, or [`AUTO`].
    pub grouping: String,
    /// Objects that no root reaches are shown too.
    pub include_unreachable: bool,
    /// Traces: the start of every GC is a point in time too.
    pub gc_starts: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let look = Look::default();
        Settings {
            area_mode: AreaMode::Sqrt,
            metric: Metric::Bytes,
            child_count: 40,
            prune: true,
            show_pointers: true,
            show_incoming: true,
            show_outgoing: true,
            colour: look.colour,
            height: look.height,
            solid_count: 10,
            opacity: 0.4,
            labels: true,
            shadows: true,
            animation: 0.35,
            interval: 0.5,
            grouping: AUTO.to_owned(),
            include_unreachable: false,
            gc_starts: false,
        }
    }
}

impl Settings {
    /// The part of the settings that trees depend on, beside the grouping.
    pub fn group_options(&self) -> GroupOptions {
        GroupOptions { include_unreachable: self.include_unreachable, gc_starts: self.gc_starts }
    }

    /// The part of the settings that says how values are shown.
    pub fn look(&self) -> Look {
        Look {
            colour: self.colour.clone(),
            height: self.height.clone(),
            opaque: self.solid_count,
            opacity: self.opacity,
        }
    }

    /// The part of the settings the layout depends on.
    pub fn city_config(&self) -> CityConfig {
        CityConfig {
            area_mode: self.area_mode,
            metric: self.metric,
            child_count: self.prune.then_some(self.child_count.max(1)),
            ..CityConfig::default()
        }
    }
}
