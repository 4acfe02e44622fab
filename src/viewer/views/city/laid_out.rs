//! A document laid out as a city: plan, boxes in drawing order, and the states per point in time.
//!
//! Instances are what the GPU numbers; plots and districts are what the layout numbers. This module alone
//! knows how they map.

use super::states::{MOST_BYTES, StatesCache, TimeState};
use crate::viewer::document::Arrival;
use crate::viewer::panels::theme::pack;
use crate::viewer::scene::Versioned;
use crate::viewer::scene::records::{BoxRecord, kind};
use crate::viewer::selection::Target;
use crate::viewer::settings::Settings;
use bevy::prelude::Resource;
use memory_city_analysis::analyses;
use memory_city_analysis::timeline::{NodeId, Source, Timeline};
use memory_city_views::city::camera::{CameraPose, Lens};
use memory_city_views::city::{self, Appearance, CityPlan, HitTarget, PlotKind, PlotState, Standing};
use std::sync::Arc;

/// How many groups are ranked: more than any list or set of names shows.
const MOST_RANKED: usize = 24;

/// The plan of a city and the timeline it was made for: what one that grows builds on.
pub(super) type Ground = (Arc<CityPlan>, Arc<Timeline>);

/// The city on screen, if any.
#[derive(Resource, Default)]
pub struct Shown(pub Option<City>);

/// How many districts and More plots have names at most.
const MOST_NAMED: (usize, usize) = (60, 12);

/// One city: a timeline laid out under some settings.
pub struct City {
    /// The trees over time.
    pub timeline: Arc<Timeline>,
    /// The layout.
    pub plan: Arc<CityPlan>,
    /// What its plots look like.
    pub appearance: Arc<Appearance>,
    /// Boxes in drawing order.
    pub boxes: Versioned<BoxRecord>,
    /// Boxes `0..solid` are opaque.
    pub solid: u32,
    /// Plot of each box after the districts.
    plot_of_box: Vec<u32>,
    /// Box of each plot.
    box_of_plot: Vec<u32>,
    districts: usize,
    states: StatesCache,
    /// Differs for every layout and drawing order.
    pub layout: u64,
    /// The districts that may have names, largest first.
    pub named_districts: Vec<NodeId>,
    /// The More plots that may have names, largest first.
    pub named_mores: Vec<usize>,
    /// The groups that grow most in the metric of the layout (of one state the largest), strongest first: ranked once, shown in every frame.
    pub growing: Vec<NodeId>,
    /// The settings it was made with.
    pub made_with: Settings,
}

impl City {
    /// Lays out `timeline` under `settings`.
    pub fn new(timeline: &Arc<Timeline>, settings: &Settings) -> Self {
        let mut settings = settings.clone();
        settings.metric = settings.metric_in(timeline);
        let plan = Arc::new(CityPlan::new(timeline, &settings.city_config()));
        Self::with_plan(Arc::clone(timeline), plan, &settings)
    }

    /// The city of what has come: on the ground there is, when it goes on from what stands there.
    pub(super) fn prepared(source: &Source, arrival: Arrival, settings: &Settings, ground: Option<&Ground>) -> City {
        let timeline = source.timeline();
        let mut settings = settings.clone();
        settings.metric = settings.metric_in(timeline);
        let grown = ground
            .filter(|(plan, _)| arrival == Arrival::Grew && *plan.config() == settings.city_config())
            .and_then(|(plan, before)| plan.grown(before, timeline));
        match grown {
            Some(plan) => Self::with_plan(Arc::clone(timeline), Arc::new(plan), &settings),
            None => Self::new(timeline, &settings),
        }
    }

    fn with_plan(timeline: Arc<Timeline>, plan: Arc<CityPlan>, settings: &Settings) -> Self {
        let appearance = Arc::new(Appearance::new(&plan, &timeline, &settings.look()));
        let solid_plots = appearance.opaque();
        let levels = plan.districts.iter().map(|d| d.level).max().unwrap_or(0) + 1;
        let mut boxes = Vec::with_capacity(plan.districts.len() + plan.plots.len());
        for district in &plan.districts {
            boxes.push(BoxRecord {
                cell: cell(&district.cell),
                lift: [district.base as f32, (district.top - district.base) as f32],
                paint: [pack(city::district_colour(district.level, levels)), kind::SLAB],
            });
        }
        let is_more = |plot: usize| matches!(plan.plots[plot].kind, PlotKind::More { .. });
        // Opaque first: "N more" plots lie flat and are part of the ground, so they are opaque too.
        let mut order: Vec<u32> = (0..plan.plots.len() as u32).collect();
        order.sort_by_key(|&p| !(is_more(p as usize) || solid_plots[p as usize]));
        let opaque = order.iter().filter(|&&p| is_more(p as usize) || solid_plots[p as usize]).count();
        let mut box_of_plot = vec![0; plan.plots.len()];
        for &plot in &order {
            let p = &plan.plots[plot as usize];
            box_of_plot[plot as usize] = boxes.len() as u32;
            let more = is_more(plot as usize);
            boxes.push(BoxRecord {
                cell: cell(&p.cell),
                lift: [p.ground as f32, 0.0],
                paint: if more { [pack(city::MORE_COLOUR), kind::MORE] } else { [0, kind::BUILDING] },
            });
        }
        let districts = plan.districts.len();
        let growing = match timeline.times() {
            0 | 1 => analyses::largest(&timeline, settings.metric, MOST_RANKED),
            _ => analyses::top_growing(&timeline, settings.metric, MOST_RANKED),
        };
        let largest_first = |a: &city::Rect, b: &city::Rect| (b.w * b.h).total_cmp(&(a.w * a.h));
        let mut named_districts: Vec<_> = plan.districts.iter().filter(|d| d.level > 0).collect();
        named_districts.sort_by(|a, b| largest_first(&a.cell, &b.cell));
        let named_districts = named_districts.into_iter().take(MOST_NAMED.0).map(|d| d.node).collect();
        let mut named_mores: Vec<usize> = (0..plan.plots.len()).filter(|&p| is_more(p)).collect();
        named_mores.sort_by(|&a, &b| largest_first(&plan.plots[a].cell, &plan.plots[b].cell));
        named_mores.truncate(MOST_NAMED.1);
        let boxes = Versioned::new(boxes);
        City {
            growing,
            timeline,
            solid: (districts + opaque) as u32,
            layout: boxes.version,
            boxes,
            named_districts,
            named_mores,
            plot_of_box: order,
            box_of_plot,
            districts,
            plan,
            appearance,
            states: StatesCache::new(MOST_BYTES),
            made_with: settings.clone(),
        }
    }

    /// The same layout under another look.
    pub(super) fn with_look(&self, settings: &Settings) -> Self {
        Self::with_plan(Arc::clone(&self.timeline), Arc::clone(&self.plan), settings)
    }

    /// Draws the see-through boxes in the opposite order. The picture must not change: a test holds it to that.
    #[doc(hidden)]
    pub fn reverse_see_through(&mut self) {
        let solid = self.solid as usize;
        let mut boxes = self.boxes.records.to_vec();
        boxes[solid..].reverse();
        self.boxes = Versioned::new(boxes);
        self.plot_of_box[solid - self.districts..].reverse();
        for (i, &plot) in self.plot_of_box.iter().enumerate() {
            self.box_of_plot[plot as usize] = (i + self.districts) as u32;
        }
        self.states.clear();
        self.layout = self.boxes.version;
    }

    /// The tallest roof over all times, world units.
    pub fn tallest(&self) -> f32 {
        self.appearance.tallest() as f32
    }

    /// Number of points in time.
    pub fn times(&self) -> usize {
        self.timeline.times()
    }

    /// The states at time `t`, computed when they are not at hand.
    pub fn states(&mut self, t: usize) -> TimeState {
        let City { states, plan, appearance, timeline, plot_of_box, districts, .. } = self;
        states.get(t, || {
            let plots = appearance.states(plan, timeline, t);
            let mut records = vec![PlotState::SLAB; *districts];
            records.extend(plot_of_box.iter().map(|&p| plots[p as usize]));
            TimeState { records: Versioned::new(records), plots: Arc::new(plots) }
        })
    }

    /// The box that shows a target: its own, or that of the plot it was pruned into.
    pub fn box_of(&self, target: Target) -> Option<u32> {
        match target {
            Target::Node(node) => match self.plan.plot_of(node) {
                Some(plot) => self.box_of_plot.get(plot).copied(),
                None => self.plan.district_of(node).map(|d| d as u32),
            },
            Target::More(parent) => self.plan.more_of(parent).and_then(|p| self.box_of_plot.get(p).copied()),
        }
    }

    /// A view of a plot or district at time `t`, past whatever stands before it.
    pub(super) fn focus(&mut self, target: HitTarget, t: usize, from: &CameraPose, lens: &Lens) -> CameraPose {
        let states = self.states(t).plots;
        let standing = |plot: usize| -> Standing { self.appearance.standing(states[plot]) };
        self.appearance.focus(&self.plan, target, standing, from, lens)
    }

    /// What a box shows.
    pub fn target_of_box(&self, index: usize) -> Target {
        match index.checked_sub(self.districts) {
            None => Target::Node(self.plan.districts[index].node),
            Some(plot) => self.target_of_plot(self.plot_of_box[plot] as usize),
        }
    }

    /// The same target in another city of the same program.
    pub(super) fn same_in(&self, target: Target, other: &City) -> Option<Target> {
        let same = |node| other.timeline.find(&self.timeline.key(node));
        Some(match target {
            Target::Node(node) => Target::Node(same(node)?),
            Target::More(parent) => Target::More(same(parent)?),
        })
    }

    /// The target of a plot.
    pub fn target_of_plot(&self, plot: usize) -> Target {
        match self.plan.plots[plot].kind {
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
