//! The city on screen: source, layout, drawing order, and the states per point in time.
//!
//! Instances are what the GPU numbers; plots and districts are what the layout numbers. This module alone
//! knows how they map.

use super::scene::Versioned;
use super::scene::records::{BoxRecord, kind};
use super::settings::Settings;
use bevy::prelude::Resource;
use memory_city_analysis::analyses;
use memory_city_analysis::timeline::{NodeId, Source, Timeline};
use memory_city_views::city::camera::{CameraPose, Lens};
use memory_city_views::city::{self, Appearance, CityPlan, HitTarget, PlotKind, PlotState, Standing};
use std::collections::HashMap;
use std::sync::Arc;

/// How many groups are ranked: more than any list or set of names shows.
const MOST_RANKED: usize = 24;

/// What one can point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A building or district.
    Node(NodeId),
    /// The plot of everything pruned from a district.
    More(NodeId),
}

/// The city on screen, if any.
#[derive(Resource, Default)]
pub struct Shown(pub Option<City>);

/// One city: a source laid out under some settings.
pub struct City {
    /// Where it comes from, for the window title.
    pub title: String,
    /// Trees, and what else the input offers.
    pub source: Arc<Source>,
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
    states: HashMap<usize, TimeState>,
    /// The tallest roof over all times, world units.
    pub tallest: f32,
    /// The groups that grow most in the metric of the layout, strongest first: ranked once, shown in every frame.
    pub growing: Vec<NodeId>,
    /// The settings it was made with.
    pub made_with: Settings,
    /// What it shows of a program that runs.
    pub live: Option<LiveOf>,
}

/// A live source, and how much of it had come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveOf {
    /// The name of the source.
    pub name: String,
    /// Counts what has come.
    pub revision: u64,
}

/// The states of one point in time, for the GPU and for picking.
#[derive(Clone)]
pub struct TimeState {
    /// In drawing order.
    pub records: Versioned<PlotState>,
    /// By plot.
    pub plots: Arc<Vec<PlotState>>,
}

impl City {
    /// Lays out `source` under `settings`.
    pub fn new(title: String, source: Arc<Source>, settings: &Settings) -> Self {
        let plan = Arc::new(CityPlan::new(source.timeline(), &settings.city_config()));
        Self::on(title, source, plan, settings)
    }

    /// Builds `source` on ground that is divided already.
    pub fn on(title: String, source: Arc<Source>, plan: Arc<CityPlan>, settings: &Settings) -> Self {
        let timeline = Arc::clone(source.timeline());
        Self::with_plan(title, source, timeline, plan, settings)
    }

    fn with_plan(
        title: String,
        source: Arc<Source>,
        timeline: Arc<Timeline>,
        plan: Arc<CityPlan>,
        settings: &Settings,
    ) -> Self {
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
        let tallest = appearance.tallest() as f32;
        let growing = analyses::top_growing(&timeline, settings.metric, MOST_RANKED);
        City {
            title,
            growing,
            source,
            timeline,
            solid: (districts + opaque) as u32,
            boxes: Versioned::new(boxes),
            plot_of_box: order,
            box_of_plot,
            districts,
            plan,
            appearance,
            states: HashMap::new(),
            tallest,
            made_with: settings.clone(),
            live: None,
        }
    }

    /// The same layout under another look.
    pub fn with_look(&self, settings: &Settings) -> Self {
        let (source, timeline, plan) = (Arc::clone(&self.source), Arc::clone(&self.timeline), Arc::clone(&self.plan));
        City { live: self.live.clone(), ..Self::with_plan(self.title.clone(), source, timeline, plan, settings) }
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
    }

    /// Number of points in time.
    pub fn times(&self) -> usize {
        self.timeline.times()
    }

    /// The states at time `t`; computed once.
    pub fn states(&mut self, t: usize) -> TimeState {
        let City { states, plan, appearance, timeline, plot_of_box, districts, .. } = self;
        states
            .entry(t)
            .or_insert_with(|| {
                let plots = appearance.states(plan, timeline, t);
                let mut records = vec![PlotState::SLAB; *districts];
                records.extend(plot_of_box.iter().map(|&p| plots[p as usize]));
                TimeState { records: Versioned::new(records), plots: Arc::new(plots) }
            })
            .clone()
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
    pub fn focus(&mut self, target: HitTarget, t: usize, from: &CameraPose, lens: &Lens) -> CameraPose {
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
    pub fn same_in(&self, target: Target, other: &City) -> Option<Target> {
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

/// Linear RGB as sRGB bytes in the order the shader unpacks.
pub fn pack(linear: [f32; 3]) -> u32 {
    let byte = |v: f32| {
        let v = v.clamp(0.0, 1.0);
        let s = if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (s * 255.0).round() as u32
    };
    byte(linear[0]) | byte(linear[1]) << 8 | byte(linear[2]) << 16 | 0xff00_0000
}
