//! A document laid out as a city: plan, boxes in drawing order, and the states per point in time.
//!
//! The GPU numbers instances; the layout numbers plots and districts. Only this module maps between them.

mod times;

use super::box_order::BoxOrder;
use super::states::{MOST_BYTES, StatesCache};
use crate::viewer::document::Arrival;
use crate::viewer::panels::theme::pack;
use crate::viewer::scene::Versioned;
use crate::viewer::scene::records::{BoxRecord, kind};
use crate::viewer::selection::Target;
use crate::viewer::settings::Settings;
use bevy::prelude::Resource;
use glam::Vec3;
use memory_city_analysis::analyses;
use memory_city_analysis::timeline::{ChangesByTime, Metric, NodeId, Source, Timeline};
use memory_city_views::city::camera::{CameraPose, Lens};
use memory_city_views::city::{
    self, Appearance, CityPart, CityPlan, ColourHistogram, HitTarget, Nameable, PlotKind, Roofs, Standing,
};
use std::collections::HashMap;
use std::sync::Arc;
use times::{ChangedPlots, MadeTime, ToldTime};

/// How many groups are ranked: more than any list or set of names shows.
const MOST_RANKED: usize = 24;

/// Plots from which on a step looks at those that change, and no others.
const LARGE: usize = 20_000;

/// The plan of a city and the timeline it was made for: the basis of a larger plan as the program grows.
pub(in crate::viewer) type Ground = (Arc<CityPlan>, Arc<Timeline>);

/// The city on screen, if any.
#[derive(Resource, Default)]
pub struct Shown(pub Option<City>);

/// How many districts and More plots have names at most.
const MOST_NAMED: (usize, usize) = (60, 12);

/// Values that follow from the layout alone, not from its look.
struct Ranked {
    nameable: Arc<Nameable>,
    beside: Arc<[u64]>,
    changes: Option<Arc<ChangesByTime>>,
}

/// One city: a timeline laid out under some settings.
pub struct City {
    /// The trees over time.
    pub timeline: Arc<Timeline>,
    /// The layout.
    pub plan: Arc<CityPlan>,
    /// Look of its plots.
    pub appearance: Arc<Appearance>,
    /// Boxes in drawing order: districts, opaque plots, see-through plots, blocks.
    pub boxes: Versioned<BoxRecord>,
    /// Maps boxes to plots.
    pub(in crate::viewer) order: BoxOrder,
    states: StatesCache,
    /// Marks over the boxes during a comparison, for the two times of a step or those beside each other. No other times are kept: marks
    /// follow from the trees, and would double the memory of a time.
    over: StatesCache,
    /// In large cities: the last result, from which the next is made.
    made_last: Option<MadeTime>,
    /// The last time whose marks were computed.
    over_last: Option<usize>,
    changed: Option<ChangedPlots>,
    /// More plots, ascending.
    mores: Arc<[u32]>,
    changes: Option<Arc<ChangesByTime>>,
    told: HashMap<usize, ToldTime>,
    /// The last time that the legend counted.
    told_last: Option<usize>,
    freed: Option<((usize, u64), Arc<ColourHistogram>)>,
    /// Differs for every layout and drawing order.
    pub layout: u64,
    /// The districts that may have names, largest first.
    pub named_districts: Vec<NodeId>,
    /// The More plots that may have names, largest first.
    pub named_mores: Vec<usize>,
    /// The buildings that may have names.
    pub nameable: Arc<Nameable>,
    /// The groups that grow most in the metric of the layout (of one state the largest), strongest first: ranked once, shown in
    /// every frame.
    pub growing: Vec<NodeId>,
    /// By time: the amount, in the metric of areas, that has no building, since it is in groups with groups of their own.
    pub(in crate::viewer) beside: Arc<[u64]>,
    /// The highest ground that buildings stand on, world units.
    pub(in crate::viewer) highest_ground: f64,
    /// The settings it was made with.
    pub made_with: Settings,
}

impl City {
    /// Lays out `timeline` under `settings`.
    pub fn new(timeline: &Arc<Timeline>, settings: &Settings) -> Self {
        let mut settings = settings.clone();
        settings.metric = settings.metric_in(timeline);
        let part = settings.part_in(timeline);
        let plan = Arc::new(CityPlan::of_part(timeline, &settings.city_config(), part));
        Self::with_plan(Arc::clone(timeline), plan, &settings, None)
    }

    /// Whether work on all plots takes longer than a frame may.
    pub(in crate::viewer) fn is_large(&self) -> bool {
        self.plan.plots.len() >= LARGE
    }

    /// The city of a new document: on the present ground, if the document continues the present one.
    pub(in crate::viewer) fn prepared(
        source: &Source,
        arrival: Arrival,
        settings: &Settings,
        ground: Option<&Ground>,
    ) -> City {
        let timeline = source.timeline();
        let mut settings = settings.clone();
        settings.metric = settings.metric_in(timeline);
        let grown = ground
            .filter(|(plan, _)| {
                arrival == Arrival::Grew && settings.window.is_none() && *plan.config() == settings.city_config()
            })
            .filter(|(plan, _)| plan.part() == settings.part_in(timeline))
            .and_then(|(plan, before)| plan.grown(before, timeline));
        match grown {
            Some(plan) => Self::with_plan(Arc::clone(timeline), Arc::new(plan), &settings, None),
            None => Self::new(timeline, &settings),
        }
    }

    fn with_plan(timeline: Arc<Timeline>, plan: Arc<CityPlan>, settings: &Settings, like: Option<Ranked>) -> Self {
        let Ranked { nameable, beside, changes } = like.unwrap_or_else(|| Ranked {
            nameable: Arc::new(Nameable::of_program(&plan, &timeline)),
            beside: match settings.metric {
                Metric::Bytes | Metric::Objects => timeline.beside_leaves(settings.metric).into(),
                // Of further metrics sums say nothing: a group retains more than what is in it.
                _ => Arc::default(),
            },
            changes: (plan.plots.len() >= LARGE).then(|| Arc::new(city::changes_for_steps(&plan, &timeline))),
        });
        let appearance = Arc::new(Appearance::new(&plan, &timeline, &settings.look()));
        let solid_plots = appearance.opaque();
        let levels = plan.districts.iter().map(|d| d.level).max().unwrap_or(0) + 1;
        // To the box: one more, and all of them would have room for twice as many.
        let mut boxes = Vec::with_capacity(plan.districts.len() + plan.plots.len() + appearance.detail().len());
        for district in &plan.districts {
            boxes.push(BoxRecord {
                cell: cell(&district.cell),
                lift: [district.base as f32, (district.top - district.base) as f32],
                paint: [pack(settings.theme.district(district.level, levels)), kind::SLAB],
            });
        }
        // Opaque first: "N more" plots lie flat and are part of the ground, so they are opaque too.
        let opaque = (0..plan.plots.len()).filter(|&p| plan.is_more(p) || solid_plots[p]).map(|p| p as u32).collect();
        let order = BoxOrder::new(plan.districts.len(), plan.plots.len(), opaque);
        boxes.extend(order.plots().map(|plot| {
            let p = &plan.plots[plot];
            BoxRecord {
                cell: cell(&p.cell),
                lift: [p.ground() as f32, 0.0],
                paint: if plan.is_more(plot) { [pack(settings.theme.more()), kind::MORE] } else { [0, kind::BUILDING] },
            }
        }));
        let opacity = u32::from((settings.opacity.clamp(0.0, 1.0) * 255.0).round() as u8);
        boxes.extend(appearance.detail().blocks().map(|block| {
            let (low, high) = (block.low, block.high);
            let half = |i: usize| (high[i] - low[i]) / 2.0;
            let ground = pack(settings.theme.district(block.level, levels)) & 0x00ff_ffff;
            BoxRecord {
                cell: [low[0] + half(0), low[1] + half(1), half(0), half(1)],
                lift: [block.ground, block.cell],
                paint: [ground | (opacity << 24), kind::BLOCK],
            }
        }));
        let growing = match timeline.times() {
            0 | 1 => analyses::largest(&timeline, settings.metric, MOST_RANKED),
            _ => analyses::top_growing(&timeline, settings.metric, MOST_RANKED),
        };
        let largest_first = |a: &city::Rect, b: &city::Rect| (b.w * b.h).total_cmp(&(a.w * a.h));
        let mut named_districts: Vec<_> = plan.districts.iter().collect();
        named_districts.sort_by(|a, b| largest_first(&a.cell, &b.cell));
        let named_districts = named_districts.into_iter().take(MOST_NAMED.0).map(|d| d.node).collect();
        let mut named_mores: Vec<usize> = (0..plan.plots.len()).filter(|&p| plan.is_more(p)).collect();
        let mores = named_mores.iter().map(|&plot| plot as u32).collect();
        named_mores.sort_by(|&a, &b| largest_first(&plan.plots[a].cell, &plan.plots[b].cell));
        named_mores.truncate(MOST_NAMED.1);
        let boxes = Versioned::new(boxes);
        let highest_ground = plan.plots.iter().map(|plot| plot.ground()).fold(0.0, f64::max);
        City {
            highest_ground,
            growing,
            nameable,
            timeline,
            layout: boxes.version,
            boxes,
            named_districts,
            named_mores,
            order,
            plan,
            appearance,
            states: StatesCache::new(MOST_BYTES),
            over: StatesCache::new(0),
            made_last: None,
            over_last: None,
            changed: None,
            mores,
            changes,
            told: HashMap::new(),
            told_last: None,
            freed: None,
            beside,
            made_with: settings.clone(),
        }
    }

    /// A function that makes the same layout under another look, on any thread.
    pub(in crate::viewer) fn with_look(&self, settings: Settings) -> impl FnOnce() -> City + Send + use<> {
        let (timeline, plan) = (Arc::clone(&self.timeline), Arc::clone(&self.plan));
        let ranked = Ranked {
            nameable: Arc::clone(&self.nameable),
            beside: Arc::clone(&self.beside),
            changes: self.changes.clone(),
        };
        move || City::with_plan(timeline, plan, &settings, Some(ranked))
    }

    /// Draws the see-through boxes in the opposite order. The picture must not change: a test holds it to that.
    #[doc(hidden)]
    pub fn reverse_see_through(&mut self) {
        let mut boxes = self.boxes.records.to_vec();
        boxes[self.order.see_through()].reverse();
        self.boxes = Versioned::new(boxes);
        self.order.reverse();
        self.states.clear();
        self.over.clear();
        (self.made_last, self.over_last) = (None, None);
        self.layout = self.boxes.version;
    }

    /// The tallest roof over all times, world units.
    pub fn tallest(&self) -> f32 {
        self.appearance.tallest() as f32
    }

    /// The amount at time `t`, in the metric of areas, that has no building; 0 in a part of the city that is shown as its own city.
    pub fn without_building(&self, t: usize) -> u64 {
        let is_whole = self.plan.part() == CityPart::default();
        self.beside.get(t).copied().filter(|_| is_whole).unwrap_or(0)
    }

    /// How much of the growth from the first time to the last is in no building likewise.
    pub fn growth_without_building(&self) -> u64 {
        self.without_building(self.times().saturating_sub(1)).saturating_sub(self.without_building(0))
    }

    /// Number of points in time.
    pub fn times(&self) -> usize {
        self.timeline.times()
    }

    /// Sets the number of times beside each other.
    pub fn show_at_once(&mut self, times: usize) {
        self.states.stay(times);
        self.over.stay(times);
    }

    /// The box that shows a target: its own, or that of the plot it was pruned into.
    pub fn box_of(&self, target: Target) -> Option<u32> {
        match target {
            Target::Node(node) => match self.plan.plot_of(node) {
                Some(plot) => Some(self.order.box_of(plot) as u32),
                None => self.plan.district_of(node).map(|d| d as u32),
            },
            Target::More(parent) => self.plan.more_of(parent).map(|p| self.order.box_of(p) as u32),
        }
    }

    /// The place of a target: its plot, or its district.
    pub(in crate::viewer) fn place_of(&self, target: Target) -> Option<HitTarget> {
        let plot = self.plot_of(target).map(HitTarget::Plot);
        plot.or_else(|| match target {
            Target::Node(node) => self.plan.district_of(node).map(HitTarget::District),
            Target::More(_) => None,
        })
    }

    /// The pose that shows a node from near; `None` where it has no place in the city.
    pub(in crate::viewer) fn focus_pose(
        &mut self,
        node: NodeId,
        time: usize,
        from: &CameraPose,
        lens: &Lens,
    ) -> Option<CameraPose> {
        let target = self.place_of(Target::Node(node))?;
        Some(self.focus(target, time.min(self.times().saturating_sub(1)), from, lens))
    }

    /// A view of a plot or district at time `t`, past everything in front of it.
    fn focus(&mut self, target: HitTarget, t: usize, from: &CameraPose, lens: &Lens) -> CameraPose {
        let states = self.states(t);
        let standing = |plot: usize| -> Standing { self.appearance.standing(states.of(plot)) };
        self.appearance.focus(&self.plan, target, standing, from, lens)
    }

    /// Whether a point lies in or below a building at time `t`.
    pub(in crate::viewer) fn buries(&mut self, point: Vec3, t: usize) -> bool {
        let states = self.states(t.min(self.times().saturating_sub(1)));
        let standing = |plot: usize| self.appearance.standing(states.of(plot));
        Roofs::new(&self.plan, &self.appearance, &standing).at(point).is_some_and(|roof| roof > point.y)
    }

    /// The thing that a box shows; `None` for a block, which stands for many.
    pub fn target_of_box(&self, index: usize) -> Option<Target> {
        match self.plan.districts.get(index) {
            Some(district) => Some(Target::Node(district.node)),
            None => self.order.plot_of(index).map(|plot| self.target_of_plot(plot)),
        }
    }

    /// The same target in another city of the same program.
    pub(in crate::viewer) fn same_in(&self, target: Target, other: &City) -> Option<Target> {
        if Arc::ptr_eq(&self.timeline, &other.timeline) {
            return Some(target);
        }
        let same = |node| other.timeline.find(&self.timeline.key(node));
        Some(match target {
            Target::Node(node) => Target::Node(same(node)?),
            Target::More(parent) => Target::More(same(parent)?),
        })
    }

    /// The target of a plot.
    pub fn target_of_plot(&self, plot: usize) -> Target {
        match self.plan.kind(plot) {
            PlotKind::Building(node) => Target::Node(node),
            PlotKind::More { parent, .. } => Target::More(parent),
        }
    }

    /// The plot of a target that is a building or a "more" plot.
    pub fn plot_of(&self, target: Target) -> Option<usize> {
        match target {
            Target::Node(node) => self.plan.plot_of(node),
            Target::More(parent) => self.plan.more_of(parent),
        }
    }
}

fn cell(rect: &city::Rect) -> [f32; 4] {
    [(rect.x + rect.w / 2.0) as f32, (rect.y + rect.h / 2.0) as f32, (rect.w / 2.0) as f32, (rect.h / 2.0) as f32]
}
