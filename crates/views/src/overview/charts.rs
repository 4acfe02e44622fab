//! The lines and bars of each chart of a run.

use super::axis::{TimeAxis, ValueAxis, ValueUnit};
use super::{ChartBar, ChartKind, ChartLine, ChartPicture, ChartTint, RunView};
use crate::city::Rect;
use memory_city_analysis::run::RunFacts;

/// Values by time.
type Series = Vec<(u64, f64)>;

pub(super) fn chart(facts: &RunFacts, view: RunView, kind: ChartKind, time: &TimeAxis, plot: Rect) -> ChartPicture {
    match kind {
        ChartKind::Memory => memory(facts, view, time, plot),
        ChartKind::Overhead => overhead(facts, time, plot),
        ChartKind::Pauses => pauses(facts, time, plot),
        ChartKind::Allocation => allocation(facts, time, plot),
        ChartKind::Survival => survival(facts, time, plot),
    }
}

/// A chart without lines.
fn bare(kind: ChartKind, title: &str, explanation: String, plot: Rect, axis: ValueAxis) -> ChartPicture {
    ChartPicture {
        kind,
        title: title.to_owned(),
        explanation,
        plot,
        ticks: axis.ticks(),
        axis,
        lines: Vec::new(),
        bars: Vec::new(),
        empty: None,
    }
}

/// The largest value that is seen, or that a line from outside leads to.
fn most(series: &[Series], time: &TimeAxis) -> f64 {
    let seen = |series: &Series| {
        let range = visible(series, time);
        series[range].iter().map(|of| of.1).fold(0.0, f64::max)
    };
    series.iter().map(seen).fold(0.0, f64::max)
}

/// The points that are seen, with one more at each side.
fn visible(series: &[(u64, f64)], time: &TimeAxis) -> std::ops::Range<usize> {
    let first = series.partition_point(|of| of.0 < time.from).saturating_sub(1);
    let last = (series.partition_point(|of| of.0 <= time.to) + 1).min(series.len());
    first..last.max(first)
}

/// The line of a series: of each unit along x the first, the least, the largest and the last point, in their order in time.
pub(super) fn line(series: &[(u64, f64)], time: &TimeAxis, axis: &ValueAxis) -> Vec<(f64, f64)> {
    let seen = &series[visible(series, time)];
    let place = |of: &(u64, f64)| (time.place(of.0), axis.place(of.1));
    if seen.len() as f64 <= 4.0 * time.w {
        return seen.iter().map(place).collect();
    }
    let mut points = Vec::new();
    for piece in seen.chunk_by(|a, b| time.place(a.0).floor() == time.place(b.0).floor()) {
        let by = |a: &usize, b: &usize| piece[*a].1.total_cmp(&piece[*b].1);
        let all = 0..piece.len();
        let mut kept = [Some(0), all.clone().min_by(by), all.clone().max_by(by), all.last()].map(|i| i.unwrap_or(0));
        kept.sort_unstable();
        let mut last = usize::MAX;
        for i in kept {
            if i != last {
                points.push(place(&piece[i]));
            }
            last = i;
        }
    }
    points
}

fn memory(facts: &RunFacts, view: RunView, time: &TimeAxis, plot: Rect) -> ChartPicture {
    let measures = &facts.measures;
    if view == RunView::Overview {
        let series: Series = measures.levels.iter().map(|level| (level.time, level.bytes as f64)).collect();
        let axis = ValueAxis::new(most(std::slice::from_ref(&series), time), ValueUnit::Bytes, plot.y, plot.h);
        let mut chart = bare(ChartKind::Memory, "Memory", measures.levels_are.clone(), plot, axis);
        chart.empty = series.is_empty().then(|| "How much memory there was is not recorded.".to_owned());
        chart.lines.push(ChartLine {
            name: measures.levels_are.clone(),
            tint: ChartTint::Memory,
            points: line(&series, time, &axis),
            base: None,
        });
        return chart;
    }
    let explanation = format!("Bytes in use at the start and at the end of each {}", facts.noun().one());
    let mut stacked: Vec<(&str, ChartTint, Series)> = Vec::new();
    if let Some(spaces) = &facts.spaces {
        type OfSpace = fn(&memory_city_analysis::run::SpaceLevels) -> u64;
        let parts: [(&str, ChartTint, OfSpace); 4] = [
            ("Old", ChartTint::Old, |s| s.old),
            ("Survivor", ChartTint::Survivor, |s| s.survivor),
            ("Eden", ChartTint::Eden, |s| s.eden),
            ("Unknown", ChartTint::Unknown, |s| s.unknown),
        ];
        let mut below = vec![0u64; 2 * spaces.len()];
        for (name, tint, part) in parts {
            if spaces.iter().flatten().all(|levels| part(levels) == 0) {
                continue;
            }
            let mut series = Series::with_capacity(below.len());
            for (gc, levels) in spaces.iter().enumerate() {
                let ends = [measures.gcs[gc].start, measures.gcs[gc].end];
                for side in 0..2 {
                    let sum = &mut below[2 * gc + side];
                    *sum = sum.saturating_add(part(&levels[side]));
                    series.push((ends[side], *sum as f64));
                }
            }
            stacked.push((name, tint, series));
        }
    } else {
        let mut series = Series::new();
        for (gc, of) in facts.collections.iter().enumerate() {
            let ends = [(measures.gcs[gc].start, of.before), (measures.gcs[gc].end, of.after)];
            series.extend(ends.into_iter().filter_map(|(at, bytes)| Some((at, bytes? as f64))));
        }
        if series.is_empty() {
            series = measures.levels.iter().map(|level| (level.time, level.bytes as f64)).collect();
        }
        stacked.push(("In use", ChartTint::Memory, series));
    }
    let all: Vec<Series> = stacked.iter().map(|of| of.2.clone()).collect();
    let axis = ValueAxis::new(most(&all, time), ValueUnit::Bytes, plot.y, plot.h);
    let mut chart = bare(ChartKind::Memory, "Memory", explanation, plot, axis);
    let mut base: Option<Vec<(f64, f64)>> = None;
    for (name, tint, series) in stacked {
        let points = line(&series, time, &axis);
        let bottom = |points: &[(f64, f64)]| {
            let y = plot.y + plot.h;
            points.first().into_iter().chain(points.last()).map(|p| (p.0, y)).collect::<Vec<_>>()
        };
        let stands_on = base.take().unwrap_or_else(|| bottom(&points));
        base = Some(points.clone());
        chart.lines.push(ChartLine { name: name.to_owned(), tint, points, base: Some(stands_on) });
    }
    chart
}

/// Why charts of collections are empty.
fn no_collections(facts: &RunFacts) -> Option<String> {
    let without = facts.measures.gcs.is_empty();
    without.then(|| "Collections are not recorded here: take a memory trace, or record the program.".to_owned())
}

fn overhead(facts: &RunFacts, time: &TimeAxis, plot: Rect) -> ChartPicture {
    let gcs = &facts.measures.gcs;
    let series: Series = (0..gcs.len()).map(|gc| (gcs[gc].end, facts.overhead(gc))).collect();
    let axis = ValueAxis::new(most(std::slice::from_ref(&series), time), ValueUnit::Share, plot.y, plot.h);
    let explanation = format!("Share of the time since the {0} before that a {0} takes", facts.noun().one());
    let mut chart = bare(ChartKind::Overhead, "GC overhead", explanation, plot, axis);
    chart.empty = no_collections(facts);
    let points = line(&series, time, &axis);
    chart.lines.push(ChartLine { name: "GC overhead".into(), tint: ChartTint::Collecting, points, base: None });
    chart
}

fn pauses(facts: &RunFacts, time: &TimeAxis, plot: Rect) -> ChartPicture {
    let gcs = &facts.measures.gcs;
    let millis = |gc: usize| gcs[gc].end.saturating_sub(gcs[gc].start) as f64 / 1e6;
    let series: Series = (0..gcs.len()).map(|gc| (gcs[gc].end, millis(gc))).collect();
    let axis = ValueAxis::new(most(std::slice::from_ref(&series), time), ValueUnit::Millis, plot.y, plot.h);
    let explanation = format!("How long each {} takes", facts.noun().one());
    let mut chart = bare(ChartKind::Pauses, "Pauses", explanation, plot, axis);
    chart.empty = no_collections(facts);
    // Of each unit along x the longest of a kind.
    let mut columns: std::collections::BTreeMap<(bool, i64), f64> = std::collections::BTreeMap::new();
    for (gc, &(at, millis)) in series.iter().enumerate() {
        let x = time.place(at);
        if x < plot.x - 1.0 || x > plot.x + plot.w + 1.0 {
            continue;
        }
        let is_full = facts.is_full(gc);
        let longest = columns.entry((is_full, x.floor() as i64)).or_default();
        *longest = longest.max(millis);
    }
    // As wide as there is room, so that few collections can be seen.
    let wide = (plot.w / columns.len().max(1) as f64 / 2.0).clamp(1.0, 6.0);
    let bar = |((is_full, x), millis): ((bool, i64), f64)| {
        let top = axis.place(millis);
        let x = (x as f64 - wide / 2.0).clamp(plot.x, (plot.x + plot.w - wide).max(plot.x));
        let rect = Rect::new(x, top, wide, plot.y + plot.h - top);
        ChartBar { rect, tint: if is_full { ChartTint::Full } else { ChartTint::Collecting } }
    };
    chart.bars = columns.into_iter().map(bar).collect();
    chart
}

fn allocation(facts: &RunFacts, time: &TimeAxis, plot: Rect) -> ChartPicture {
    let gcs = &facts.measures.gcs;
    let rate = |gc: usize| Some((gcs[gc].end, 1e9 * facts.allocated(gc)? / facts.allocating(gc) as f64));
    let series: Series = (0..gcs.len()).filter_map(rate).collect();
    let axis = ValueAxis::new(most(std::slice::from_ref(&series), time), ValueUnit::BytesPerSecond, plot.y, plot.h);
    let explanation = format!("Bytes allocated per second between {}", facts.noun().many());
    let mut chart = bare(ChartKind::Allocation, "Allocation rate", explanation, plot, axis);
    chart.empty = no_collections(facts)
        .or_else(|| series.is_empty().then(|| "How much was allocated is not recorded here.".to_owned()));
    let points = line(&series, time, &axis);
    chart.lines.push(ChartLine { name: "Allocated".into(), tint: ChartTint::Allocated, points, base: None });
    chart
}

fn survival(facts: &RunFacts, time: &TimeAxis, plot: Rect) -> ChartPicture {
    let gcs = &facts.measures.gcs;
    let of = |share: &dyn Fn(usize) -> Option<f64>| -> Series {
        (0..gcs.len()).filter_map(|gc| Some((gcs[gc].end, share(gc)?))).collect()
    };
    let all = of(&|gc| facts.survived(gc));
    let new = of(&|gc| facts.survived_new(gc));
    let axis = ValueAxis::new(most(&[all.clone(), new.clone()], time), ValueUnit::Share, plot.y, plot.h);
    let explanation =
        format!("Share of the bytes in use, and of those newly allocated, that survive a {}", facts.noun().one());
    let mut chart = bare(ChartKind::Survival, "Survival rate", explanation, plot, axis);
    chart.empty = no_collections(facts)
        .or_else(|| (all.is_empty() && new.is_empty()).then(|| "What survived is not recorded here.".to_owned()));
    for (name, tint, series) in [("All", ChartTint::Survived, all), ("New", ChartTint::SurvivedNew, new)] {
        if !series.is_empty() {
            let points = line(&series, time, &axis);
            chart.lines.push(ChartLine { name: name.into(), tint, points, base: None });
        }
    }
    chart
}
