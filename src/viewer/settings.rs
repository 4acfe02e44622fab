//! The user's settings for the picture, with the defaults of a first start. Shared by the window and `render`.

use super::document::{Document, Grew, Opened};
use super::trend_settings::TrendSettings;
pub use crate::saved_view::PartKey;
use bevy::prelude::*;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{AUTO, AskedObjects, ClosureMetric, Metric, Question, Timeline};
use memory_city_heap::error::Result;
use memory_city_views::city::camera::Navigation;
use memory_city_views::city::height::{self, HeightCurve};
use memory_city_views::city::{AreaMode, CityConfig, CityPart, CityTheme, Look, ReferenceShape, USUAL_CONES, colour};
use std::sync::Arc;

/// No city shows more names at once.
pub const MOST_NAMES: usize = 300;
/// Most names by default in a picture with little room.
const USUAL_NAMES: usize = 25;
/// In a larger picture: its area for each name, square points.
const ROOM_FOR_A_NAME: f32 = 25_000.0;
/// Most names by default in any picture.
const MOST_USUAL_NAMES: usize = 80;
/// How large names can be, 1 for the usual size.
pub const NAME_SIZES: std::ops::RangeInclusive<f32> = 0.7..=2.5;

/// Settings of the view.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct Settings {
    /// Areas proportional to the value or to its square root.
    pub area_mode: AreaMode,
    /// Metric of areas. A further column may have another index in the next document: its name is in `metric_id`, see
    /// [`Settings::metric_in`].
    pub metric: Metric,
    /// The id of the metric when it is a further column; it may have to be found first.
    pub metric_id: Option<Arc<str>>,
    /// Further metrics of groups to find: extra columns, computed in the background.
    pub closures: Vec<ClosureMetric>,
    /// Id of the metric of colours; `None`: that of the areas.
    pub colour_metric: Option<Arc<str>>,
    /// Id of the metric of heights; `None`: that of the areas.
    pub height_metric: Option<Arc<str>>,
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
    /// How they run.
    pub reference_shape: ReferenceShape,
    /// Most references in each direction, the strongest first.
    pub reference_count: usize,
    /// Id of the colour mode.
    pub colour: String,
    /// Id of the height rule.
    pub height: String,
    /// The time that all others are compared with; `None`: nothing is compared.
    pub base: Option<usize>,
    /// How amounts become heights; `None`: as the height rule has it.
    pub curve: Option<HeightCurve>,
    /// Heights of outliers are capped, and marked.
    pub cap: bool,
    /// Id of the palette.
    pub palette: String,
    /// Dark or light.
    pub theme: CityTheme,
    /// The times that the ground is divided for, first and last; `None`: all.
    pub window: Option<(usize, usize)>,
    /// How many times are shown beside each other; 0: one alone.
    pub multiples: usize,
    /// How many of the strongest growing buildings are opaque.
    pub solid_count: usize,
    /// Opacity of all others, 0..=1.
    pub opacity: f32,
    /// Names in the city.
    pub labels: bool,
    /// Most names; `None`: as many as there is room for ([`Settings::names_in`]).
    pub name_count: Option<usize>,
    /// Their size, 1 for the usual one.
    pub name_size: f32,
    /// Names of the program's own groups alone: those of libraries are counted with their districts.
    pub fold_libraries: bool,
    /// Shadows on the ground.
    pub shadows: bool,
    /// Seconds a step takes to animate; 0 jumps.
    pub animation: f32,
    /// Seconds each state is shown in automatic play.
    pub interval: f32,
    /// The objects that trees are of.
    pub objects: AskedObjects,
    /// Id of the grouping, or [`AUTO`].
    pub grouping: String,
    /// Counts how often something changed that the grouping is made of: a script, the program's own packages.
    pub definitions: u64,
    /// Objects that no root reaches are shown too.
    pub include_unreachable: bool,
    /// Traces: the start of every GC is a point in time too.
    pub gc_starts: bool,
    /// How drags and keys move the camera.
    pub navigation: Navigation,
    /// Replaces flights and slides: views and steps change at once.
    pub reduced_motion: bool,
    /// Size of text and panels; `None`: by the height of the screen.
    pub ui_scale: Option<f32>,
    /// Playing begins again at the end.
    pub repeat: bool,
    /// Small pictures of the whole city from above, while only a part of it is in view.
    pub minimap: bool,
    /// Whether views have lamps for their hints.
    pub hints: bool,
    /// The part of the heap that is shown as its own city, the last one, and those it was opened from; none for the whole heap.
    pub parts: Vec<PartKey>,
    /// Settings of trend charts.
    pub trends: TrendSettings,
}

impl Default for Settings {
    fn default() -> Self {
        let look = Look::default();
        Settings {
            area_mode: AreaMode::Sqrt,
            metric: Metric::Bytes,
            metric_id: None,
            closures: Vec::new(),
            colour_metric: None,
            height_metric: None,
            child_count: 40,
            prune: true,
            show_pointers: true,
            show_incoming: true,
            show_outgoing: true,
            reference_shape: ReferenceShape::default(),
            reference_count: USUAL_CONES,
            colour: look.colour,
            height: look.height,
            base: None,
            curve: None,
            cap: true,
            palette: look.palette,
            theme: CityTheme::Dark,
            window: None,
            multiples: 0,
            solid_count: 10,
            opacity: 0.4,
            labels: true,
            name_count: None,
            name_size: 1.0,
            fold_libraries: false,
            shadows: true,
            animation: 0.35,
            interval: 0.5,
            objects: AskedObjects::default(),
            grouping: AUTO.to_owned(),
            definitions: 0,
            include_unreachable: false,
            gc_starts: false,
            parts: Vec::new(),
            trends: TrendSettings::default(),
            navigation: Navigation::Orbit,
            reduced_motion: false,
            ui_scale: None,
            repeat: false,
            minimap: true,
            hints: true,
        }
    }
}

impl Settings {
    /// The part of the settings that trees depend on, beside the grouping.
    pub fn group_options(&self) -> GroupOptions {
        GroupOptions { include_unreachable: self.include_unreachable, gc_starts: self.gc_starts }
    }

    /// The question to an input.
    ///
    /// # Errors
    /// When its grouping is none.
    pub fn question(&self) -> Result<Question> {
        self.objects.in_groups(&self.grouping)
    }

    /// Takes over the settings that trees depend on.
    pub fn take_trees_of(&mut self, made_with: &Settings) {
        self.objects = made_with.objects;
        self.grouping.clone_from(&made_with.grouping);
        self.definitions = made_with.definitions;
        (self.include_unreachable, self.gc_starts) = (made_with.include_unreachable, made_with.gc_starts);
    }

    /// Whether others make the same trees.
    pub fn has_trees_of(&self, other: &Settings) -> bool {
        (self.objects, &self.grouping, self.definitions, self.group_options())
            == (other.objects, &other.grouping, other.definitions, other.group_options())
    }

    /// Chooses a metric of `timeline`, by name if its index may differ in others.
    pub fn set_metric(&mut self, timeline: &Timeline, metric: Metric) {
        self.metric = metric;
        self.metric_id = matches!(metric, Metric::Column(_)).then(|| timeline.metric_info(metric).id);
    }

    /// Chooses a metric that may have to be found first, and asks for it.
    pub fn set_closure(&mut self, metric: ClosureMetric) {
        self.find_too(metric);
        // Its place is known when it is there: see `metric_in`.
        (self.metric, self.metric_id) = (Metric::Column(u16::MAX), Some(metric.info().id));
    }

    /// Asks for a metric to be found.
    fn find_too(&mut self, metric: ClosureMetric) {
        // Objects and bytes are found in one go.
        let with_it = match metric {
            ClosureMetric::Retained | ClosureMetric::RetainedObjects => {
                vec![ClosureMetric::Retained, ClosureMetric::RetainedObjects]
            }
            ClosureMetric::Deep | ClosureMetric::DeepObjects => vec![ClosureMetric::Deep, ClosureMetric::DeepObjects],
            ClosureMetric::Referrers | ClosureMetric::Age | ClosureMetric::Elements => vec![metric],
        };
        let more = with_it.into_iter().filter(|metric| !self.closures.contains(metric)).collect::<Vec<_>>();
        self.closures.extend(more);
    }

    /// Chooses the metric of colours, by its id; `None`: that of the areas. A metric that has to be computed is requested.
    pub fn set_colour_metric(&mut self, id: Option<&str>) {
        self.colour_metric = self.wished(id);
    }

    /// Chooses the metric of heights, likewise.
    pub fn set_height_metric(&mut self, id: Option<&str>) {
        self.height_metric = self.wished(id);
    }

    /// Chooses how amounts become heights, `None`: as the height rule has it. A rule that knows no amounts gives way to one that does.
    pub fn set_curve(&mut self, curve: Option<HeightCurve>) {
        height::rule_with(&self.height, curve).id.clone_into(&mut self.height);
        self.curve = curve;
    }

    /// Chooses a colour mode. A metric that it needs is requested, if it can be found.
    pub fn set_colour(&mut self, id: &str) {
        id.clone_into(&mut self.colour);
        if let Some(Ok(metric)) = colour::mode(id).metric.map(ClosureMetric::of) {
            self.find_too(metric);
        }
    }

    /// Compares all times with `base`, or none. Colours of growth then show decrease too, and back.
    pub fn compare_with(&mut self, base: Option<usize>) {
        match (base, self.colour.as_str()) {
            (Some(_), "growth") => self.set_colour("change"),
            (None, "change") => self.set_colour("growth"),
            _ => {}
        }
        self.base = base;
    }

    fn wished(&mut self, id: Option<&str>) -> Option<Arc<str>> {
        if let Some(Ok(metric)) = id.map(ClosureMetric::of) {
            self.find_too(metric);
        }
        id.map(Into::into)
    }

    /// The further metrics that are shown, by their ids: of areas, colours and heights.
    pub fn metric_ids(&self) -> impl Iterator<Item = &str> {
        [&self.metric_id, &self.colour_metric, &self.height_metric].into_iter().filter_map(Option::as_deref)
    }

    /// Chooses a metric by its id, for any document; one that every input can have computed is requested.
    pub fn set_metric_by_name(&mut self, id: &str) {
        match id {
            "objects" => (self.metric, self.metric_id) = (Metric::Objects, None),
            "bytes" => (self.metric, self.metric_id) = (Metric::Bytes, None),
            _ => match ClosureMetric::of(id) {
                Ok(metric) => self.set_closure(metric),
                Err(_) => (self.metric, self.metric_id) = (Metric::Column(u16::MAX), Some(id.into())),
            },
        }
    }

    /// Most names in a picture of this area, square points: the chosen number, or one by its size.
    pub fn names_in(&self, area: f32) -> usize {
        let by_size = || (area / ROOM_FOR_A_NAME / self.name_size.max(0.1).powi(2)).round() as usize;
        self.name_count.unwrap_or_else(|| by_size().clamp(USUAL_NAMES, MOST_USUAL_NAMES))
    }

    /// Requested metrics that a timeline lacks.
    pub fn closures_to_find(&self, timeline: &Timeline) -> Vec<ClosureMetric> {
        let lacks = |metric: &ClosureMetric| timeline.metric(&metric.info().id).is_none();
        self.closures.iter().copied().filter(lacks).collect()
    }

    /// The chosen metric as `timeline` knows it; bytes if it has no such column.
    pub fn metric_in(&self, timeline: &Timeline) -> Metric {
        match (self.metric, &self.metric_id) {
            (Metric::Column(_), Some(id)) => timeline.metric(id).unwrap_or(Metric::Bytes),
            (Metric::Column(_), None) => Metric::Bytes,
            (metric, _) => metric,
        }
    }

    /// The metric after the chosen one, in the order of the timeline, around.
    pub fn next_metric(&self, timeline: &Timeline) -> Metric {
        let all: Vec<Metric> = timeline.metrics().collect();
        let at = all.iter().position(|m| *m == self.metric_in(timeline)).unwrap_or(0);
        all[(at + 1) % all.len()]
    }

    /// The part of the settings that says how values are shown.
    pub fn look(&self) -> Look {
        Look {
            colour: self.colour.clone(),
            height: self.height.clone(),
            opaque: self.solid_count,
            opacity: self.opacity,
            colour_metric: self.colour_metric.clone(),
            height_metric: self.height_metric.clone(),
            base: self.base,
            curve: self.curve,
            cap: self.cap,
            palette: self.palette.clone(),
        }
    }

    /// The part of the heap that is shown: where the last of [`Settings::parts`] is not in these trees, the one before.
    pub fn part_in(&self, timeline: &Timeline) -> CityPart {
        PartKey::last_in(&self.parts, timeline).unwrap_or_default()
    }

    /// The part of the settings the layout depends on.
    pub fn city_config(&self) -> CityConfig {
        CityConfig {
            area_mode: self.area_mode,
            metric: self.metric,
            child_count: self.prune.then_some(self.child_count.max(1)),
            window: self.window,
            ..CityConfig::default()
        }
    }
}

/// Settings, and the metric that follows its name from document to document.
pub struct SettingsPlugin;

impl Plugin for SettingsPlugin {
    fn build(&self, app: &mut App) {
        let follow = |document: &Document, settings: &mut Settings| {
            // What is not there yet stays a wish: bytes are shown until it is found.
            if let Some(timeline) = document.timeline()
                && let Some(found) = settings.metric_id.as_deref().and_then(|id| timeline.metric(id))
            {
                settings.metric = found;
            }
        };
        app.init_resource::<Settings>()
            .add_observer(move |_: On<Opened>, document: Res<Document>, mut settings: ResMut<Settings>| {
                let settings = &mut *settings;
                follow(&document, settings);
                // What does not fit is of another input.
                let times = document.timeline().map_or(0, |timeline| timeline.times());
                if settings.base.is_some_and(|base| base >= times) {
                    settings.compare_with(None);
                }
                settings.window = settings.window.filter(|window| window.1 < times);
                if !settings.parts.is_empty()
                    && document.timeline().is_some_and(|t| settings.part_in(t) == CityPart::default())
                {
                    settings.parts.clear();
                }
            })
            .add_observer(move |_: On<Grew>, document: Res<Document>, mut settings: ResMut<Settings>| {
                follow(&document, &mut settings);
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::TimePoint;

    #[test]
    fn a_larger_picture_has_more_names() {
        let settings = Settings::default();
        let of = |width: f32, height: f32| settings.names_in(width * height);
        assert_eq!([of(640.0, 400.0), of(660.0, 600.0), of(0.0, 0.0)], [USUAL_NAMES; 3]);
        let large = of(1250.0, 940.0);
        assert!((40..MOST_USUAL_NAMES).contains(&large), "the city in a window that fills a screen: {large}");
        assert_eq!((of(4000.0, 3000.0), of(f32::INFINITY, 1.0)), (MOST_USUAL_NAMES, MOST_USUAL_NAMES));
        let larger = Settings { name_size: 2.0, ..Settings::default() };
        assert_eq!(larger.names_in(1250.0 * 940.0), USUAL_NAMES, "larger names need more room");
        let set = Settings { name_count: Some(3), ..settings };
        assert_eq!(set.names_in(1e7), 3);
    }

    #[test]
    fn a_metric_that_is_still_to_be_found_is_a_wish_that_comes_true() {
        let without = Timeline::from_trees(vec![TimePoint::default()], &[MemoryTree::new()]);
        let other = ClosureMetric::Deep.info();
        let wanted = ClosureMetric::RetainedObjects.info();
        let with = without.clone().with_metric(other, |_, _| 1).with_metric(wanted, |_, _| 2);
        let mut settings = Settings::default();
        settings.set_closure(ClosureMetric::RetainedObjects);
        assert_eq!(settings.metric_in(&without), Metric::Bytes);
        assert_eq!(settings.metric_in(&with), Metric::Column(1));
        let both = [ClosureMetric::Retained, ClosureMetric::RetainedObjects];
        assert_eq!(settings.closures_to_find(&without), both);
        assert_eq!(settings.closures_to_find(&with), [ClosureMetric::Retained]);
        settings.set_closure(ClosureMetric::Retained);
        assert_eq!(settings.closures, both, "nothing is asked for twice");
        assert_eq!(settings.next_metric(&with), Metric::Column(0), "on from what stands for it");
    }
}
