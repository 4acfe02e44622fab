//! What a page holds: what does not change with time as JSON, what does as columns of numbers.

use super::signs::put_signs;
use super::{Page, PageStart};
use crate::city::{CITY_SIZE, PlotKind, PlotState, SELECTED_COLOUR, colour, height};
use memory_city_analysis::analyses::uptime_text;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline, Unit, by_uptime, worded};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// At most so many of the points in time, at equal distances, the first and the last among them.
pub fn thinned(times: usize, most: usize) -> Vec<usize> {
    let most = most.max(2);
    if times <= most {
        return (0..times).collect();
    }
    (0..most).map(|i| i * (times - 1) / (most - 1)).collect()
}

/// As [`thinned`], with some times that are to be there: each takes the place of the nearest one that need not be. The first and
/// the last stay.
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
    title: &'a str,
    grouping: &'a str,
    says: &'a [String],
    times: Vec<String>,
    /// Titles and units of the measures, in the order of their columns.
    measures: Vec<Measure>,
    /// The measure that the city is about.
    main: usize,
    /// World units of the full height of a state.
    unit: f32,
    tallest: f64,
    /// Opacity of what is not opaque, as in states.
    opacity: u16,
    /// A bit for each plot, 32 in a number.
    opaque: Vec<u32>,
    parents: Vec<i64>,
    role: Vec<usize>,
    roles: Vec<&'a str>,
    /// Keys are made of them.
    names: Vec<NodeName<'a>>,
    /// Node, how many groups a More plot stands for, x, z, width, depth, ground.
    plots: Vec<PlotRow>,
    /// Node, x, z, width, depth, underside, upper side, level.
    districts: Vec<DistrictRow>,
    /// What is written on the floors of districts.
    floors: Vec<String>,
    colours: Colours,
    legend: PageLegend<'a>,
    sizes: String,
    /// The time that growth is counted from, and what it is called; whether all times are compared with it.
    base: usize,
    since: String,
    compared: bool,
    /// What is shown until the address says something else.
    start: PageStart,
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
    /// Outlines of what has no walls.
    line: [f32; 3],
}

#[derive(Serialize)]
struct PageLegend<'a> {
    title: &'a str,
    marks: Vec<PageMark<'a>>,
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
    let plots = page.plan.plots.len();
    for measure in measures(page) {
        progress.check()?;
        column(&mut bytes, page.times.len(), plots + page.plan.districts.len(), |t, row| {
            let t = page.times[t];
            match row.checked_sub(plots) {
                Some(district) => page.timeline.value(t, page.plan.districts[district].node, measure),
                None => match (page.plan.kind(row), measure) {
                    (PlotKind::Building(node), _) => page.timeline.value(t, node, measure),
                    (PlotKind::More { .. }, Metric::Objects) => page.plan.amount(page.timeline, row, t).objects,
                    (PlotKind::More { .. }, Metric::Bytes) => page.plan.amount(page.timeline, row, t).bytes,
                    (PlotKind::More { .. }, _) => page.plan.value(page.timeline, t, row),
                },
            }
        });
    }
    Ok(bytes)
}

/// Objects, bytes, and what the city is about where that is another.
fn measures(page: &Page<'_>) -> Vec<Metric> {
    let mut measures = vec![Metric::Objects, Metric::Bytes];
    let own = page.plan.config().metric;
    if !measures.contains(&own) {
        measures.push(own);
    }
    measures
}

fn column(bytes: &mut Vec<u8>, times: usize, rows: usize, value: impl Fn(usize, usize) -> u64) {
    // Numbers in a browser are exact up to this.
    const MOST: u64 = 1 << 53;
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

fn fixed<'a>(page: &Page<'a>) -> Fixed<'a> {
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
    let mut opaque = vec![0u32; plan.plots.len().div_ceil(32)];
    for (plot, _) in page.appearance.opaque().iter().enumerate().filter(|(_, opaque)| **opaque) {
        opaque[plot / 32] |= 1 << (plot % 32);
    }
    let (look, legend) = (page.appearance.look(), page.appearance.legend());
    let measures = measures(page);
    let levels = plan.levels();
    let own = timeline.metric_info(plan.config().metric);
    let ground = match plan.config().area_mode {
        crate::city::AreaMode::Linear => own.title.to_lowercase(),
        crate::city::AreaMode::Sqrt => format!("square root of {}", own.title.to_lowercase()),
    };
    let base = page.appearance.base();
    let since = |base: usize| format!("state {} ({})", base + 1, label(timeline, base));
    Fixed {
        version: 2,
        title: &page.words.title,
        grouping: &page.words.grouping,
        says: &page.words.says,
        times: page.times.iter().map(|&t| label(timeline, t)).collect(),
        main: measures.iter().position(|m| *m == plan.config().metric).unwrap_or(0),
        measures: measures
            .iter()
            .map(|&m| timeline.metric_info(m))
            .map(|info| Measure { id: info.id.to_string(), title: info.title.to_string(), unit: info.unit })
            .collect(),
        unit: page.appearance.height_unit(),
        tallest: page.appearance.tallest(),
        opacity: PlotState::new(1.0, 0.0, 0.0, look.opacity).opacity,
        opaque,
        parents: known.nodes.iter().map(parent).collect(),
        role,
        roles,
        names: known.nodes.iter().map(|&node| NodeName::of(timeline.name(node))).collect(),
        plots,
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
        },
        sizes: format!(
            "Ground: {ground}. Height: {}. Colour: {}.",
            height::rule(&look.height).title.to_lowercase(),
            colour::mode(&look.colour).title.to_lowercase(),
        ),
        base: base.and_then(|base| page.times.iter().position(|&t| t == base)).unwrap_or(0),
        since: base.map_or_else(|| "the first state".to_owned(), since),
        compared: base.is_some(),
        start: page.start.clone(),
    }
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
