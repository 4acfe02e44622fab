//! The data of a page: constant data as JSON, values over time as columns of numbers.

use super::signs::put_signs;
use super::{Page, PageStart, PageWords};
use crate::city::height::HeightAxis;
use crate::city::{
    CITY_SIZE, CityPlan, Nameable, PlotKind, PlotState, SELECTED_COLOUR, notable_loss_text, slight_change_text,
};
use memory_city_analysis::analyses::uptime_text;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline, Unit, brief, by_uptime, when, worded};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// At most `most` of the points in time, at equal distances, the first and the last among them.
pub fn thinned(times: usize, most: usize) -> Vec<usize> {
    let most = most.max(2);
    if times <= most {
        return (0..times).collect();
    }
    (0..most).map(|i| i * (times - 1) / (most - 1)).collect()
}

/// As [`thinned`], with some required times: each replaces the nearest time that is not required. The first and the last stay.
pub fn thinned_with(times: usize, most: usize, wanted: &[usize]) -> Vec<usize> {
    let mut kept = thinned(times, most);
    let stays = |t: usize| t == 0 || t + 1 == times || wanted.contains(&t);
    for &t in wanted.iter().filter(|t| **t < times) {
        if kept.contains(&t) {
            continue;
        }
        match (0..kept.len()).filter(|&i| !stays(kept[i])).min_by_key(|&i| kept[i].abs_diff(t)) {
            Some(nearest) => kept[nearest] = t,
            None => kept.push(t),
        }
        kept.sort_unstable();
    }
    kept
}

#[derive(Serialize)]
struct Fixed<'a> {
    version: u32,
    #[serde(flatten)]
    words: &'a PageWords,
    /// In short, and all that is known of when they were.
    times: Vec<String>,
    when: Vec<String>,
    /// Their numbers among all points in time that there are, counted from 1, and how many those are.
    numbers: Vec<usize>,
    of: usize,
    /// Titles and units of the measures, in the order of their columns.
    measures: Vec<Measure>,
    /// The measure that the city is about.
    main: usize,
    /// The whole heap by measure and time, whichever part of it the city shows.
    whole: Vec<Vec<u64>>,
    /// World units of the full height of a state.
    unit: f32,
    tallest: f64,
    /// Opacity of buildings that are not opaque, as in states.
    opacity: u16,
    /// A bit for each plot, 32 in a number: whether it is opaque, and whether it is the program's own.
    opaque: Vec<u32>,
    own: Vec<u32>,
    parents: Vec<i64>,
    role: Vec<usize>,
    roles: Vec<&'a str>,
    /// Keys are made of them.
    names: Vec<NodeName<'a>>,
    /// Node, how many groups a More plot stands for, x, z, width, depth, ground.
    plots: Vec<PlotRow>,
    /// By plot: a short unique name; empty if the node's name is short and unique.
    briefs: Vec<String>,
    /// Node, x, z, width, depth, underside, upper side, level.
    districts: Vec<DistrictRow>,
    /// The texts on the floors of districts.
    floors: Vec<String>,
    colours: Colours,
    legend: PageLegend<'a>,
    /// The time that growth is counted from, and its name; whether all times are compared with it.
    base: usize,
    since: String,
    compared: bool,
    /// The first view, unless the address names another.
    start: &'a PageStart,
}

/// A name, and the words that people read where those are others. Side by side they pack to little more than one.
#[derive(Serialize)]
#[serde(untagged)]
enum NodeName<'a> {
    Plain(&'a str),
    Worded(&'a str, String),
}

impl NodeName<'_> {
    fn of(name: &str) -> NodeName<'_> {
        match worded(name) {
            words if words == name => NodeName::Plain(name),
            words => NodeName::Worded(name, words),
        }
    }
}

type PlotRow = (usize, u32, f32, f32, f32, f32, f32);
type DistrictRow = (usize, f32, f32, f32, f32, f32, f32, u32);

#[derive(Serialize)]
struct Measure {
    id: String,
    title: String,
    unit: Unit,
}

/// Linear light.
#[derive(Serialize)]
struct Colours {
    stops: [[f32; 3]; 5],
    districts: Vec<[f32; 3]>,
    more: [f32; 3],
    selected: [f32; 3],
    /// Colour of outlines without walls.
    line: [f32; 3],
}

/// The meaning of colours, shapes and signs, a line each.
#[derive(Serialize)]
struct PageLegend<'a> {
    title: &'a str,
    marks: Vec<PageMark<'a>>,
    shape: String,
    /// Marks of the height axis, from the ground at 0 to the highest roof at 1; empty if heights show the same as areas.
    heights: Vec<PageMark<'a>>,
    capped: Option<String>,
    opaque: String,
    /// The least difference that has a sign.
    signs: String,
}

#[derive(Serialize)]
struct PageMark<'a> {
    position: f32,
    text: &'a str,
}

/// Nodes that the page knows: those of plots and districts, and all above them.
#[derive(Default)]
struct Known {
    numbers: FxHashMap<NodeId, usize>,
    nodes: Vec<NodeId>,
}

impl Known {
    fn number(&mut self, page: &Page<'_>, node: NodeId) -> usize {
        let mut open = vec![node];
        while let Some(&node) = open.last() {
            if self.numbers.contains_key(&node) {
                open.pop();
                continue;
            }
            match page.timeline.parent(node) {
                Some(parent) if !self.numbers.contains_key(&parent) => open.push(parent),
                _ => {
                    self.numbers.insert(node, self.nodes.len());
                    self.nodes.push(node);
                    open.pop();
                }
            }
        }
        self.numbers[&node]
    }
}

/// See the documentation of [`super`].
pub(super) fn bytes(page: &Page<'_>, progress: &Progress) -> Result<Vec<u8>> {
    let json = serde_json::to_vec(&fixed(page)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(json.len() + 4);
    bytes.extend_from_slice(&u32::try_from(json.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&json);
    let states: Vec<Vec<PlotState>> = page
        .times
        .iter()
        .map(|&t| {
            progress.check()?;
            progress.advance(1);
            Ok(page.appearance.states(page.plan, page.timeline, t))
        })
        .collect::<Result<_>>()?;
    for field in [|s: &PlotState| s.side, |s: &PlotState| s.height, |s: &PlotState| s.colour] {
        let plots = page.plan.plots.len();
        column(&mut bytes, page.times.len(), plots, |t, plot| u64::from(field(&states[t][plot])));
    }
    drop(states);
    put_signs(page, &mut bytes, progress)?;
    let (plots, rows) = (page.plan.plots.len(), page.plan.plots.len() + page.plan.districts.len());
    for measure in measures(page) {
        progress.check()?;
        let node_of = |row: usize| match row.checked_sub(plots) {
            Some(district) => Some(page.plan.districts[district].node),
            None => page.plan.building(row),
        };
        let value = |t: usize, row: usize| match (node_of(row), measure) {
            (Some(node), _) => page.timeline.value(t, node, measure),
            (None, Metric::Objects) => page.plan.amount(page.timeline, row, t).objects,
            (None, Metric::Bytes) => page.plan.amount(page.timeline, row, t).bytes,
            (None, _) => page.plan.value(page.timeline, t, row),
        };
        column(&mut bytes, page.times.len(), rows, |t, row| value(page.times[t], row));
        column(&mut bytes, 1, rows, |_, row| match node_of(row) {
            Some(node) => page.timeline.peak(node, measure),
            None => (0..page.timeline.times()).map(|t| value(t, row)).max().unwrap_or(0),
        });
    }
    Ok(bytes)
}

/// Objects, bytes, and the metric of the city if it is another.
fn measures(page: &Page<'_>) -> Vec<Metric> {
    let mut measures = vec![Metric::Objects, Metric::Bytes];
    let own = page.plan.config().metric;
    if !measures.contains(&own) {
        measures.push(own);
    }
    measures
}

/// Numbers in a browser are exact up to this.
const MOST: u64 = 1 << 53;

fn column(bytes: &mut Vec<u8>, times: usize, rows: usize, value: impl Fn(usize, usize) -> u64) {
    let mut before = vec![0i64; rows];
    for t in 0..times {
        for (row, before) in before.iter_mut().enumerate() {
            let now = value(t, row).min(MOST) as i64;
            put(bytes, now - *before);
            *before = now;
        }
    }
}

pub(super) fn put(bytes: &mut Vec<u8>, number: i64) {
    let mut folded = ((number << 1) ^ (number >> 63)) as u64;
    while folded >= 128 {
        bytes.push((folded & 127) as u8 | 128);
        folded >>= 7;
    }
    bytes.push(folded as u8);
}

fn fixed<'a>(page: &'a Page<'a>) -> Fixed<'a> {
    let (plan, timeline) = (page.plan, page.timeline);
    let mut known = Known::default();
    let plots = plan.plots.iter().enumerate().map(|(number, plot)| {
        let (node, count) = match plan.kind(number) {
            PlotKind::Building(node) => (node, 0),
            PlotKind::More { parent, count } => (parent, count),
        };
        let (c, ground) = (plot.cell, plot.ground() as f32);
        (known.number(page, node), count, c.x as f32, c.y as f32, c.w as f32, c.h as f32, ground)
    });
    let plots: Vec<_> = plots.collect();
    let districts = plan.districts.iter().map(|d| {
        let (c, base, top) = (d.cell, d.base as f32, d.top as f32);
        (known.number(page, d.node), c.x as f32, c.y as f32, c.w as f32, c.h as f32, base, top, d.level)
    });
    let districts: Vec<_> = districts.collect();
    debug_assert!(plots.iter().all(|p| f64::from(p.2).abs() <= CITY_SIZE));
    let mut roles: Vec<&str> = Vec::new();
    let mut role_numbers: FxHashMap<&str, usize> = FxHashMap::default();
    let role = known.nodes.iter().map(|&node| {
        let role = timeline.role(node);
        *role_numbers.entry(role).or_insert_with(|| {
            roles.push(role);
            roles.len() - 1
        })
    });
    let role = role.collect();
    let parent = |node: &NodeId| timeline.parent(*node).map_or(-1, |parent| known.numbers[&parent] as i64);
    let (look, legend) = (page.appearance.look(), page.appearance.legend());
    let nameable = Nameable::of_program(plan, timeline);
    let measures = measures(page);
    let levels = plan.levels();
    let base = page.appearance.base();
    // Where heights tell no more than areas, nobody asks for their numbers.
    let axis = Some(page.appearance.height_axis()).filter(|_| page.appearance.height_title().is_some());
    let highest = axis.and_then(|axis| axis.ticks.last()).map_or(1.0, |tick| tick.height);
    let heights = axis
        .iter()
        .flat_map(|axis| &axis.ticks)
        .map(|tick| PageMark { position: (tick.height / highest) as f32, text: tick.brief() });
    let whole = |&measure: &Metric| {
        let value = |&t: &usize| timeline.value(t, NodeId::ROOT, measure).min(MOST);
        page.times.iter().map(value).collect()
    };
    Fixed {
        version: 3,
        words: page.words,
        times: page.times.iter().map(|&t| label(timeline, t)).collect(),
        when: page.times.iter().map(|&t| when(timeline, t)).collect(),
        numbers: page.times.iter().map(|t| t + 1).collect(),
        of: timeline.times(),
        main: measures.iter().position(|m| *m == plan.config().metric).unwrap_or(0),
        measures: measures
            .iter()
            .map(|&m| timeline.metric_info(m))
            .map(|info| Measure { id: info.id.to_string(), title: info.title.to_string(), unit: info.unit })
            .collect(),
        whole: measures.iter().map(whole).collect(),
        unit: page.appearance.height_unit(),
        tallest: page.appearance.tallest(),
        opacity: PlotState::new(1.0, 0.0, 0.0, look.opacity).opacity,
        opaque: bits(plan, |plot| page.appearance.opaque()[plot]),
        own: bits(plan, |plot| nameable.is_own(plot)),
        parents: known.nodes.iter().map(parent).collect(),
        role,
        roles,
        names: known.nodes.iter().map(|&node| NodeName::of(timeline.name(node))).collect(),
        plots,
        briefs: briefs(page),
        districts,
        floors: plan.districts.iter().map(|d| worded(&timeline.display_name(d.node))).collect(),
        colours: Colours {
            stops: legend.gradient.stops(),
            districts: (0..levels.max(1)).map(|level| page.theme.district(level, levels)).collect(),
            more: page.theme.more(),
            selected: SELECTED_COLOUR,
            line: page.theme.line(),
        },
        legend: PageLegend {
            title: &legend.title,
            marks: legend.marks.iter().map(|m| PageMark { position: m.position, text: &m.text }).collect(),
            shape: page.appearance.shape_line(plan, timeline),
            heights: heights.collect(),
            capped: axis.and_then(HeightAxis::capped_line),
            opaque: page.appearance.opaque_line(timeline.times()),
            signs: match base {
                Some(_) => format!("Different {}", slight_change_text()),
                None => format!("Shrunk {}", notable_loss_text()),
            },
        },
        base: base.and_then(|base| page.times.iter().position(|&t| t == base)).unwrap_or(0),
        since: timeline.base_text(base.unwrap_or(0)),
        compared: base.is_some(),
        start: &page.start,
    }
}

/// A bit for each plot.
fn bits(plan: &CityPlan, is_set: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut bits = vec![0u32; plan.plots.len().div_ceil(32)];
    (0..plan.plots.len()).filter(|&plot| is_set(plot)).for_each(|plot| bits[plot / 32] |= 1 << (plot % 32));
    bits
}

/// See [`Fixed::briefs`].
fn briefs(page: &Page<'_>) -> Vec<String> {
    let (plots, nodes): (Vec<usize>, Vec<NodeId>) =
        (0..page.plan.plots.len()).filter_map(|plot| Some((plot, page.plan.building(plot)?))).unzip();
    let mut briefs = vec![String::new(); page.plan.plots.len()];
    for ((plot, node), name) in plots.into_iter().zip(&nodes).zip(page.timeline.names_apart(&nodes)) {
        briefs[plot] =
            Some(brief(&name)).filter(|brief| *brief != worded(page.timeline.name(*node))).unwrap_or_default();
    }
    briefs
}

fn label(timeline: &Timeline, time: usize) -> String {
    let point = &timeline.points()[time];
    match by_uptime(timeline.points()) {
        true => format!("{} at {}", point.label, uptime_text(point.millis)),
        false => point.label.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_are_wanted_are_among_those_that_stay() {
        assert_eq!(thinned(10, 4), [0, 3, 6, 9]);
        assert_eq!(thinned_with(10, 4, &[]), [0, 3, 6, 9]);
        assert_eq!(thinned_with(10, 4, &[4, 99]), [0, 4, 6, 9], "what is not there is not wanted");
        assert_eq!(thinned_with(10, 4, &[4, 5]), [0, 4, 5, 9]);
        assert_eq!(thinned_with(10, 2, &[4]), [0, 4, 9], "the first and the last stay");
        assert_eq!(thinned_with(3, 9, &[1]), [0, 1, 2]);
    }
}
