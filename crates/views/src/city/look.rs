//! The one mapping from values to pictures: each plot's side, height, colour position and opacity at each time.
//!
//! A [`Look`] is the choice of a user: a colour mode, a height rule, the number of opaque buildings. An [`Appearance`] is that look of one
//! city: scales are computed once, states for each time. The shaders, picking, cones, labels and the legend all read these values; none
//! computes a height or a colour again.
//!
//! A new [`ColourMode`] is a file in `colour/`, a new [`HeightRule`] one in `height/`, and one line in [`super::colour`] or
//! [`super::height`]. May not: draw, or know the meaning of the values.

use super::colour::{self, ColourMode, ColourScale};
use super::config::MORE_HEIGHT;
use super::detail::DetailTree;
use super::height::{self, HeightAxis, HeightCurve, HeightMetric, HeightRule, HeightScale, HeightWish};
use super::legend::{ColourHistogram, Legend};
use super::overlay::MayShrink;
use super::pick::Hit;
use super::pick::PickIndex;
use super::plan::CityPlan;
use super::states::{PlotState, Standing};
use super::values::{AT_ONCE, OF_A_CORE, Plots, SampleRoom, Samples, Values};
use glam::Vec3;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use rayon::prelude::*;
use std::sync::Arc;

/// The choices of a person about how values are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Id of the colour mode; one that is not known means the first.
    pub colour: String,
    /// Id of the height rule; one that is not known means the first.
    pub height: String,
    /// How many of the buildings that grow most are opaque.
    pub opaque: usize,
    /// Opacity of all others, 0 to 1.
    pub opacity: f32,
    /// Id of the metric that colours tell of; `None`, or one that the trees do not have: that of the areas.
    pub colour_metric: Option<Arc<str>>,
    /// Id of the metric that heights tell of, likewise; some rules have another one by themselves.
    pub height_metric: Option<Arc<str>>,
    /// The time that all others are compared with, shown with ghosts and signs; `None`: nothing is compared, and growth is
    /// that since the first. One that is not there means the last.
    pub base: Option<usize>,
    /// How amounts become heights; `None`: as the height rule has it.
    pub curve: Option<HeightCurve>,
    /// Outliers that would flatten all other heights are capped, and marked.
    pub cap: bool,
    /// Id of the palette; one that is not known means the first.
    pub palette: String,
}

impl Default for Look {
    fn default() -> Self {
        let (colour, height) = (colour::modes()[0].id.to_owned(), height::rules()[0].id.to_owned());
        Look {
            colour,
            height,
            opaque: 10,
            opacity: 0.4,
            colour_metric: None,
            height_metric: None,
            base: None,
            curve: None,
            cap: true,
            palette: colour::PALETTES[0].id.to_owned(),
        }
    }
}

/// The values of some plots at one time; reused from block to block, so that nothing is allocated.
#[derive(Default)]
struct PlotBlock {
    samples: SampleRoom,
    /// In another metric.
    measured: SampleRoom,
    sides: Vec<f32>,
    heights: Vec<f32>,
    colours: Vec<f32>,
}

/// The look of one city.
pub struct Appearance {
    look: Look,
    base: Option<usize>,
    colour_mode: &'static str,
    colour_metric: Metric,
    height_metric: Metric,
    height_title: Option<String>,
    colour: ColourScale,
    height: HeightScale,
    opaque: Vec<bool>,
    growing: (usize, usize),
    may_shrink: MayShrink,
    unit: f32,
    tallest: f64,
    pick: PickIndex,
    detail: DetailTree,
}

impl Appearance {
    /// Computes scales and the index for picking: linear in the plots, and for modes that look at growth in the nodes.
    pub fn new(plan: &CityPlan, timeline: &Timeline, look: &Look) -> Appearance {
        let base = look.base.map(|base| base.min(timeline.times().saturating_sub(1)));
        let values = Values::of_areas(plan, timeline).since(base.unwrap_or(0));
        let known = |id: Option<&str>| id.and_then(|id| timeline.metric(id));
        let mode: &ColourMode = colour::mode_at(&look.colour, timeline.times());
        let rule: &HeightRule = height::rule(&look.height);
        let colour_metric = known(mode.metric.or(look.colour_metric.as_deref())).unwrap_or(values.metric());
        let by_itself = match (rule.measures, values.metric()) {
            (HeightMetric::Other, Metric::Bytes) => Metric::Objects,
            (HeightMetric::Other, _) => Metric::Bytes,
            (HeightMetric::None | HeightMetric::OfAreas, metric) => metric,
        };
        let height_metric = known(look.height_metric.as_deref()).unwrap_or(by_itself);
        let mut colour = (mode.scale)(&values.measured_in(colour_metric));
        colour.legend.gradient = colour.legend.gradient.in_palette(colour::palette(&look.palette));
        // Less and more are told by signs as well, which nobody has to tell apart by colour: of the first time where no other was chosen.
        let both_ways = colour.legend.gradient.is_diverging() && timeline.times() > 1;
        let base = base.or_else(|| both_ways.then_some(0));
        let heights = values.measured_in(height_metric);
        let curve = look.curve.or(rule.curve).unwrap_or(HeightCurve::Linear);
        let height = (rule.scale)(&heights, HeightWish { curve, cap: look.cap });
        let name = || timeline.metric_info(height_metric).title.to_lowercase();
        let by = |curve: HeightCurve| rule.curve.map(|_| format!(" ({})", curve.title())).unwrap_or_default();
        let measures = rule.measures != HeightMetric::None;
        let height_title = measures.then(|| format!("{}, {}{}", rule.title, name(), by(curve)));
        let peak = |plot: usize| if values.is_more(plot) { MORE_HEIGHT } else { (height.peak)(&heights, plot) };
        let peaks: Vec<f64> = (0..plan.plots.len()).into_par_iter().with_min_len(2048).map(peak).collect();
        let unit = peaks.iter().copied().fold(MORE_HEIGHT, f64::max) as f32;
        let roofs = plan.plots.iter().zip(&peaks).map(|(plot, peak)| plot.ground() + peak);
        let slabs = plan.districts.iter().map(|d| d.top);
        let tallest = roofs.chain(slabs).fold(0.0, f64::max);
        let opaque = plan.solid(timeline, look.opaque, base.filter(|_| both_ways));
        let solid: Vec<NodeId> =
            (0..opaque.len()).filter(|&plot| opaque[plot]).filter_map(|plot| plan.building(plot)).collect();
        let grows = |&&node: &&NodeId| timeline.growth(node, plan.config().metric) > 0;
        let growing = (solid.iter().filter(grows).count(), solid.len());
        // Growth is gray where there is none, so what shrinks has a sign. Compared times have signs for everything.
        let may_shrink = match base {
            None if ["growth", "overall"].contains(&mode.id) => MayShrink::find(plan, timeline),
            _ => MayShrink::default(),
        };
        let (pick, detail) =
            rayon::join(|| PickIndex::new(plan, |plot| peaks[plot]), || DetailTree::new(plan, |plot| peaks[plot]));
        let look = look.clone();
        Appearance {
            look,
            base,
            colour_mode: mode.id,
            colour_metric,
            height_metric,
            height_title,
            colour,
            height,
            opaque,
            growing,
            may_shrink,
            unit,
            tallest,
            pick,
            detail,
        }
    }

    /// The plots that may have a sign for shrinking since the first state.
    pub(super) fn may_shrink(&self) -> &MayShrink {
        &self.may_shrink
    }

    /// The tree for levels of detail.
    pub fn detail(&self) -> &DetailTree {
        &self.detail
    }

    /// The metrics of colours and heights.
    pub(super) fn metrics(&self) -> (Metric, Metric) {
        (self.colour_metric, self.height_metric)
    }

    /// The metrics of areas, colours and heights.
    pub fn measured(&self, plan: &CityPlan) -> [Metric; 3] {
        [plan.config().metric, self.colour_metric, self.height_metric]
    }

    /// Id of the colour mode that is in use.
    pub(super) fn colour_mode(&self) -> &'static str {
        self.colour_mode
    }

    /// The time that all others are compared with: that which was chosen, or the first where colours tell of less as of more.
    pub fn base(&self) -> Option<usize> {
        self.base
    }

    /// The axis of the heights.
    pub fn height_axis(&self) -> &HeightAxis {
        &self.height.axis
    }

    /// Whether any building may be higher than it is drawn.
    pub(super) fn caps(&self) -> bool {
        self.height.capped.is_some()
    }

    /// Whether a building is higher than it is drawn at time `t`.
    pub fn is_capped(&self, plan: &CityPlan, timeline: &Timeline, plot: usize, t: usize) -> bool {
        let Some(capped) = &self.height.capped else { return false };
        let values = Values::of_areas(plan, timeline).since(self.base.unwrap_or(0)).measured_in(self.height_metric);
        let there = plan.value(timeline, t, plot) > 0;
        there && !values.is_more(plot) && capped(&values, &values.sample(plot, t))
    }

    /// The title of the heights, for people: `Growth, retained bytes`; `None` if heights show the same as areas.
    pub fn height_title(&self) -> Option<&str> {
        self.height_title.as_deref()
    }

    /// The chosen look.
    pub fn look(&self) -> &Look {
        &self.look
    }

    /// World units of the full height of a [`PlotState`].
    pub fn height_unit(&self) -> f32 {
        self.unit
    }

    /// The highest roof over all times, world units above 0.
    pub fn tallest(&self) -> f64 {
        self.tallest
    }

    /// By plot: true if it is opaque at all times. The others have [`Look::opacity`].
    pub fn opaque(&self) -> &[bool] {
        &self.opaque
    }

    /// How many of the opaque buildings grow, and how many there are.
    pub fn growing(&self) -> (usize, usize) {
        self.growing
    }

    /// The meaning of the colours, with the numbers of this city.
    pub fn legend(&self) -> &Legend {
        &self.colour.legend
    }

    /// The state of every plot at time `t`.
    ///
    /// # Panics
    /// If `t` is not a time of the timeline, or plan and timeline are not those the appearance was made of.
    pub fn states(&self, plan: &CityPlan, timeline: &Timeline, t: usize) -> Vec<PlotState> {
        let mut states = PlotState::none(plan.plots.len());
        self.fill_runs(plan, timeline, vec![(0, &mut states)], t);
        states
    }

    /// The states at time `t` of runs of neighbouring plots, each from its first on, on all cores, and a count of plots by colour from the
    /// same pass. Panics as [`Appearance::states`].
    pub fn fill_runs(
        &self,
        plan: &CityPlan,
        timeline: &Timeline,
        runs: Vec<(usize, &mut [PlotState])>,
        t: usize,
    ) -> ColourHistogram {
        let parts = runs.into_par_iter().flat_map(|(first, states)| {
            let parts = states.par_chunks_mut(OF_A_CORE).enumerate();
            parts.map(move |(part, states)| (first + part * OF_A_CORE, states))
        });
        let filled = parts.map(|(first, states)| {
            let plots = first..first + states.len();
            let solid = self.opaque[plots.clone()].contains(&true);
            self.fill(plan, timeline, Plots::Run(first as u32, states.len()), solid, t, states);
            ColourHistogram::of(states)
        });
        filled.reduce(ColourHistogram::default, ColourHistogram::and)
    }

    /// The states of some plots at time `t`, in their order; panics as [`Appearance::states`].
    pub fn states_of(&self, plan: &CityPlan, timeline: &Timeline, plots: &[u32], t: usize) -> Vec<PlotState> {
        let mut states = vec![PlotState::default(); plots.len()];
        let part = |(plots, states): (&[u32], &mut [PlotState])| {
            self.fill(plan, timeline, Plots::Of(plots), true, t, states);
        };
        plots.par_chunks(OF_A_CORE).zip(states.par_chunks_mut(OF_A_CORE)).for_each(part);
        states
    }

    /// The state of one plot at time `t`; panics as [`Appearance::states`].
    pub fn state(&self, plan: &CityPlan, timeline: &Timeline, plot: usize, t: usize) -> PlotState {
        let mut state = [PlotState::default()];
        self.fill(plan, timeline, Plots::Run(plot as u32, 1), true, t, &mut state);
        state[0]
    }

    /// `solid`: some of them may be opaque.
    pub(super) fn fill(
        &self,
        plan: &CityPlan,
        timeline: &Timeline,
        plots: Plots<'_>,
        solid: bool,
        t: usize,
        states: &mut [PlotState],
    ) {
        let values = Values::of_areas(plan, timeline).since(self.base.unwrap_or(0));
        let mut block = PlotBlock::default();
        for (plots, states) in plots.blocks().zip(states.chunks_mut(AT_ONCE)) {
            self.fill_block(values, plots, solid, t, &mut block, states);
        }
    }

    /// Step by step for all of a few plots: each step is a loop without calls that a processor runs ahead in.
    fn fill_block(
        &self,
        values: Values<'_>,
        plots: Plots<'_>,
        solid: bool,
        t: usize,
        block: &mut PlotBlock,
        states: &mut [PlotState],
    ) {
        let PlotBlock { samples, measured, sides, heights, colours } = block;
        let samples = values.samples(plots, t, samples);
        values.plan.shares_of(samples, sides, heights);
        values.plan.sides_of(sides);
        colours.resize(states.len(), 0.0);
        // Looked up once where it is the same.
        let mut in_metric = |metric: Metric, work: &mut dyn FnMut(&Values<'_>, Samples<'_>)| {
            if metric == values.metric() {
                work(&values, samples);
            } else {
                let values = values.measured_in(metric);
                work(&values, values.samples(plots, t, measured));
            }
        };
        in_metric(self.height_metric, &mut |values, samples| (self.height.height)(values, samples, sides, heights));
        in_metric(self.colour_metric, &mut |values, samples| (self.colour.position)(values, samples, colours));
        let unit = 1.0 / self.unit;
        let shapes = sides.iter().zip(&*heights).zip(&*colours);
        let clear = self.look.opacity;
        for (state, ((&side, &height), &colour)) in states.iter_mut().zip(shapes) {
            let height = if side > 0.0 { height } else { 0.0 };
            *state = PlotState::new(side, height * unit, colour, clear);
        }
        if solid {
            let all = states.iter_mut().zip(plots.iter());
            all.filter(|&(_, plot)| self.opaque[plot]).for_each(|(state, _)| state.opacity = u16::MAX);
        }
        // A More plot is flat, whatever the rule.
        if samples.has_more {
            let more = PlotState::new(1.0, MORE_HEIGHT as f32 * unit, 0.0, clear);
            for (state, _) in states.iter_mut().zip(plots.iter()).filter(|&(_, plot)| values.is_more(plot)) {
                let height = if state.side > 0 { more.height } else { 0 };
                *state = PlotState { height, colour: 0, ..*state };
            }
        }
    }

    /// A state in units of the world.
    #[inline]
    pub fn standing(&self, state: PlotState) -> Standing {
        state.standing(self.unit)
    }

    /// The nearest building, More plot or district slab along a ray. `standing` says what stands on a plot as it is drawn
    /// now, between two times too. Heights above a plot's highest count as that.
    pub fn pick(
        &self,
        plan: &CityPlan,
        standing: impl Fn(usize) -> Standing,
        origin: Vec3,
        direction: Vec3,
    ) -> Option<Hit> {
        plan.pick(&self.pick, standing, origin, direction)
    }
}
