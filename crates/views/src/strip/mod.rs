//! Garbage collections as a strip of bars below charts: bytes reclaimed and survived, duration and cause.
//!
//! Plain data, as everywhere here: places along x, sums and tooltip texts. If there are more collections than room, one bar stands for
//! several: its bytes are sums, its pause is the longest, its colour that pause's cause. The tooltip names their number.

#[cfg(test)]
mod tests;

use memory_city_analysis::run::RunFacts;
use memory_city_analysis::tabular::{bytes_text, count_text, gc_name_text, several};
use memory_city_analysis::timeline::{GcKind, GcNoun, Metric, NodeId, Timeline, gc_noun, is_repeated};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bars are not nearer than this, in units along x.
const LEAST: f64 = 4.0;
/// The widest bar.
const WIDEST: f64 = 14.0;

const NANOS: u64 = 1_000_000;

/// A collection on the axis of charts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripGc {
    /// Where it is among the points in time: 2.5 is between the third and the fourth.
    pub at: f64,
    /// How long it took, nanoseconds.
    pub pause: u64,
    /// Bytes that it freed, where known.
    pub reclaimed: Option<u64>,
    /// Bytes in use when it ended, where known.
    pub survived: Option<u64>,
    /// Its cause, by place in [`GcStrip::causes`].
    pub cause: u16,
    /// Whether the whole heap was collected; `None` where the source does not say.
    pub kind: Option<GcKind>,
    /// Whether it is one pause of a collector that works beside the program.
    pub one_pause: bool,
    /// The source's own number.
    pub number: u64,
}

/// Why collections were made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StripCause {
    /// Its name; empty where the source does not say.
    pub name: String,
    /// How many collections.
    pub collections: u64,
    /// How long they took together, nanoseconds.
    pub pauses: u64,
}

/// One or several collections, as a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct StripBar {
    /// Its middle.
    pub x: f64,
    /// Which collections.
    pub gcs: Range<usize>,
    /// Bytes reclaimed, of all together.
    pub reclaimed: u64,
    /// Bytes that survived, of all together.
    pub survived: u64,
    /// The longest pause, nanoseconds.
    pub pause: u64,
    /// The cause of the collection with that pause.
    pub cause: u16,
}

/// The bars for some width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StripBars {
    /// Bars from left to right.
    pub bars: Vec<StripBar>,
    /// The width of each.
    pub width: f64,
    /// The most bytes that a bar has, reclaimed and survived together.
    pub most_bytes: u64,
    /// The longest pause.
    pub most_pause: u64,
}

/// The collections of a run on the axis of charts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GcStrip {
    gcs: Vec<StripGc>,
    causes: Vec<StripCause>,
    outside: usize,
    is_estimated: bool,
    noun: GcNoun,
}

impl GcStrip {
    /// The collections of a run. `at` maps a time of the run (nanoseconds) to a position among the points in time, from 0 to the last;
    /// `None` before the first or after the last. Costs a pass over the collections.
    pub fn of_run(facts: &RunFacts, mut at: impl FnMut(usize) -> Option<f64>) -> GcStrip {
        let is_estimated = facts.measures.freed_is_estimated == Some(true);
        let mut strip = GcStrip { is_estimated, noun: facts.noun(), ..GcStrip::default() };
        let mut causes = CauseNumbers::default();
        for (number, (gc, span)) in facts.collections.iter().zip(&facts.measures.gcs).enumerate() {
            let pause = gc.end.saturating_sub(gc.start);
            let Some(place) = at(number) else {
                strip.outside += 1;
                continue;
            };
            strip.gcs.push(StripGc {
                at: place,
                pause,
                reclaimed: facts.measures.freed_is_estimated.map(|_| span.freed.max(0) as u64),
                survived: gc.after,
                cause: causes.number(&gc.cause, pause),
                kind: gc.kind,
                one_pause: gc.one_pause,
                number: gc.number,
            });
        }
        strip.finish(causes)
    }

    /// The collections at the ends of points in time, from trees of other programs.
    pub fn of_points(timeline: &Timeline) -> GcStrip {
        let mut strip = GcStrip { noun: gc_noun(timeline.points()), ..GcStrip::default() };
        let mut causes = CauseNumbers::default();
        let bytes = |time: usize| timeline.value(time, NodeId::ROOT, Metric::Bytes);
        for (time, point) in timeline.points().iter().enumerate() {
            let is_told = is_repeated(timeline.points(), time);
            let Some(gc) = point.gc.as_ref().filter(|gc| gc.end && !is_told) else { continue };
            let is_start = |before: usize| {
                let of = timeline.points()[before].gc.as_ref();
                of.is_some_and(|start| !start.end && start.number == gc.number)
            };
            let began = time.checked_sub(1).filter(|&before| is_start(before));
            let pause = gc.duration.saturating_mul(NANOS);
            strip.gcs.push(StripGc {
                at: time as f64,
                pause,
                reclaimed: began.map(|before| bytes(before).saturating_sub(bytes(time))),
                survived: Some(bytes(time)),
                cause: causes.number(&gc.cause, pause),
                kind: Some(gc.kind),
                one_pause: gc.one_pause,
                number: u64::from(gc.number),
            });
        }
        strip.finish(causes)
    }

    fn finish(mut self, causes: CauseNumbers) -> GcStrip {
        // Clocks are not always right.
        self.gcs.sort_by(|a, b| a.at.total_cmp(&b.at));
        let mut order: Vec<usize> = (0..causes.all.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse((causes.all[at].pauses, causes.all[at].collections)));
        let mut place = vec![0u16; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| place[from] = to as u16);
        self.gcs.iter_mut().for_each(|gc| gc.cause = place[usize::from(gc.cause)]);
        self.causes = order.into_iter().map(|at| causes.all[at].clone()).collect();
        self
    }

    /// All of them, in their order along the axis.
    pub fn gcs(&self) -> &[StripGc] {
        &self.gcs
    }

    /// The causes, those that took longest first.
    pub fn causes(&self) -> &[StripCause] {
        &self.causes
    }

    /// The noun for a single one of them.
    pub fn noun(&self) -> GcNoun {
        self.noun
    }

    /// How many collections were before the first point in time or after the last.
    pub fn outside(&self) -> usize {
        self.outside
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gcs.is_empty()
    }

    /// True if any records bytes reclaimed or survived.
    pub fn has_bytes(&self) -> bool {
        self.gcs.iter().any(|gc| gc.reclaimed.is_some() || gc.survived.is_some())
    }

    /// The bars of the part between two places on the axis, on so many units along x. Linear in the visible collections.
    pub fn bars(&self, (from, to): (f64, f64), width: f64) -> StripBars {
        let first = self.gcs.partition_point(|gc| gc.at < from);
        let end = self.gcs.partition_point(|gc| gc.at <= to).max(first);
        let x = |gc: &StripGc| (gc.at - from) / (to - from).max(1e-9) * width;
        let mut bars: Vec<StripBar> = Vec::new();
        let mut begins = f64::NEG_INFINITY;
        for (number, gc) in self.gcs.iter().enumerate().take(end).skip(first) {
            let here = x(gc);
            let bytes = (gc.reclaimed.unwrap_or(0), gc.survived.unwrap_or(0));
            match bars.last_mut().filter(|_| here - begins < LEAST) {
                Some(bar) => {
                    bar.gcs.end = number + 1;
                    bar.x = f64::midpoint(begins, here);
                    bar.reclaimed = bar.reclaimed.saturating_add(bytes.0);
                    bar.survived = bar.survived.saturating_add(bytes.1);
                    if gc.pause > bar.pause {
                        (bar.pause, bar.cause) = (gc.pause, gc.cause);
                    }
                }
                None => {
                    begins = here;
                    bars.push(StripBar {
                        x: here,
                        gcs: number..number + 1,
                        reclaimed: bytes.0,
                        survived: bytes.1,
                        pause: gc.pause,
                        cause: gc.cause,
                    });
                }
            }
        }
        let nearest = bars.windows(2).map(|pair| pair[1].x - pair[0].x).fold(WIDEST / 0.75, f64::min);
        StripBars {
            width: (0.75 * nearest).clamp(2.0, WIDEST),
            most_bytes: bars.iter().map(|bar| bar.reclaimed.saturating_add(bar.survived)).max().unwrap_or(0),
            most_pause: bars.iter().map(|bar| bar.pause).max().unwrap_or(0),
            bars,
        }
    }

    /// The lines of a bar's tooltip; the first is its heading.
    pub fn told(&self, bar: &StripBar) -> Vec<String> {
        let gcs = &self.gcs[bar.gcs.clone()];
        let Some((first, last)) = gcs.first().zip(gcs.last()) else { return Vec::new() };
        let millis = |nanos: u64| format!("{:.1} ms", nanos as f64 / NANOS as f64);
        let about = if self.is_estimated { "about " } else { "" };
        let cause = |cause: u16| match self.causes.get(usize::from(cause)) {
            Some(cause) if !cause.name.is_empty() => cause.name.clone(),
            _ => "cause not recorded".to_owned(),
        };
        let known = |of: &dyn Fn(&StripGc) -> Option<u64>| gcs.iter().any(|gc| of(gc).is_some());
        let (reclaimed, survived) = (known(&|gc| gc.reclaimed), known(&|gc| gc.survived));
        if gcs.len() == 1 {
            let name = gc_name_text(first.kind, first.one_pause, first.number);
            let mut lines = vec![name, cause(first.cause), format!("Pause: {}", millis(first.pause))];
            if reclaimed {
                lines.push(format!("Reclaimed: {about}{}", bytes_text(bar.reclaimed)));
            }
            if survived {
                lines.push(format!("Survived: {}", bytes_text(bar.survived)));
            }
            return lines;
        }
        let mut lines = vec![format!(
            "{}, {} to {}",
            several(gcs.len() as u64, self.noun.one(), self.noun.many()),
            count_text(first.number),
            count_text(last.number)
        )];
        let all = gcs.iter().fold(0u64, |sum, gc| sum.saturating_add(gc.pause));
        lines.push(format!(
            "Longest pause: {} ({}); all together {}",
            millis(bar.pause),
            cause(bar.cause),
            millis(all)
        ));
        if reclaimed {
            lines.push(format!("Reclaimed: {about}{}, the sum of all", bytes_text(bar.reclaimed)));
        }
        if survived {
            lines.push(format!("Survived: {}, the sum of all", bytes_text(bar.survived)));
        }
        let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
        gcs.iter().for_each(|gc| *counts.entry(gc.cause).or_default() += 1);
        if counts.len() > 1 {
            lines.extend(counts.into_iter().map(|(of, count)| format!("{} × {}", count_text(count), cause(of))));
        }
        lines
    }
}

/// Causes in the order in which they come.
#[derive(Default)]
struct CauseNumbers {
    all: Vec<StripCause>,
    by_name: BTreeMap<String, u16>,
}

impl CauseNumbers {
    /// The number of a cause; causes beyond the range of the number count as the last.
    fn number(&mut self, name: &str, pause: u64) -> u16 {
        let number = match self.by_name.get(name) {
            Some(&number) => number,
            None if self.all.len() >= usize::from(u16::MAX) => u16::MAX - 1,
            None => {
                let number = self.all.len() as u16;
                self.all.push(StripCause { name: name.to_owned(), collections: 0, pauses: 0 });
                self.by_name.insert(name.to_owned(), number);
                number
            }
        };
        let of = &mut self.all[usize::from(number)];
        of.collections += 1;
        of.pauses = of.pauses.saturating_add(pause);
        number
    }
}
