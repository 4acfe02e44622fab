//! The verdict over a heap: it leaks, grows, is well, or could not be judged. Report, check, window and page take their first line from it.

use super::finding::{Certainty, Finding};
use super::interface::Findings;
use crate::ownership::{AccumulationRules, Course, OwnerHistory, course_of};
use crate::tabular::bytes_text;
use crate::timeline::{Metric, NodeId, Timeline, brief, shortened};
use memory_city_heap::printable::line_text;
use serde::{Deserialize, Serialize};

/// Letters of a first line.
pub(super) const LINE: usize = 160;
/// Letters of it behind the longest tag.
pub(super) const HEADLINE: usize = LINE - 9;

/// The kind of verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictKind {
    /// Places accumulate, and are listed.
    Leak,
    /// The heap grows, and no place of its own explains it.
    Grows,
    /// Nothing accumulates.
    Ok,
    /// One state alone: places that fill it.
    Fills,
    /// It could not be judged: the headline says why.
    #[default]
    Unknown,
}

impl VerdictKind {
    /// The kind for growth of this certainty.
    pub(super) fn of(certainty: Certainty) -> VerdictKind {
        if certainty == Certainty::Open { VerdictKind::Grows } else { VerdictKind::Leak }
    }

    /// The word that the first line begins with.
    pub fn tag(self) -> &'static str {
        match self {
            VerdictKind::Leak => "LEAK",
            VerdictKind::Grows => "GROWS",
            VerdictKind::Ok => "OK",
            VerdictKind::Fills => "FILLS",
            VerdictKind::Unknown => "UNKNOWN",
        }
    }
}

/// The verdict over a heap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeakVerdict {
    /// The kind.
    pub kind: VerdictKind,
    /// A sentence without the tag.
    pub headline: String,
    /// Bytes that roots reach at the first and the last inspected point in time.
    pub heap: (u64, u64),
    /// Bytes of the growth that the listed places have.
    pub explained: u64,
    /// Why it is less certain than it looks, each a sentence: what was cut off, unreachable or redacted.
    pub caveats: Vec<String>,
}

impl LeakVerdict {
    /// It could not be judged: a sentence why.
    pub fn not_judged(reason: impl Into<String>) -> LeakVerdict {
        LeakVerdict { headline: reason.into(), ..LeakVerdict::default() }
    }

    /// The strongest verdict of findings; of those without a verdict the first finding makes one.
    pub(super) fn strongest<'f>(all: impl IntoIterator<Item = &'f Findings>) -> Option<LeakVerdict> {
        let verdict = |findings: &Findings| {
            let of_first = |first: &Finding| LeakVerdict {
                kind: VerdictKind::of(first.certainty),
                headline: first.headline.clone(),
                ..LeakVerdict::default()
            };
            findings.verdict.clone().or_else(|| findings.found.first().map(of_first))
        };
        let order = [VerdictKind::Leak, VerdictKind::Grows, VerdictKind::Unknown, VerdictKind::Fills];
        let place = |verdict: &LeakVerdict| order.iter().position(|kind| *kind == verdict.kind).unwrap_or(order.len());
        all.into_iter().filter_map(verdict).min_by_key(place)
    }

    /// The verdict over an input: the strongest of its findings. Without any it follows from the trees, with the reason why owners are
    /// unknown, if there is one.
    pub fn of<'f>(
        findings: impl IntoIterator<Item = &'f Findings>,
        lacking: Option<&str>,
        timeline: &Timeline,
        metric: Metric,
    ) -> LeakVerdict {
        if let Some(verdict) = LeakVerdict::strongest(findings) {
            return verdict;
        }
        let trend = super::verdict(timeline, metric);
        let bytes = |t: usize| if t < timeline.times() { timeline.amount(t, NodeId::ROOT).bytes } else { 0 };
        let kind = match (trend.grows, timeline.times() < 2) {
            (true, _) => VerdictKind::Grows,
            (false, true) => VerdictKind::Fills,
            // That nothing grows by type is no proof where the owners are not known.
            (false, false) if lacking.is_some() => VerdictKind::Unknown,
            (false, false) => VerdictKind::Ok,
        };
        LeakVerdict {
            kind,
            headline: brief(&trend.text),
            heap: (bytes(0), bytes(timeline.times().saturating_sub(1))),
            explained: 0,
            caveats: lacking.map(|why| format!("{why}.")).into_iter().collect(),
        }
    }

    /// The first line: the tag and the headline, at most 160 letters.
    pub fn line(&self) -> String {
        format!("{}  {}", self.kind.tag(), shortened(&line_text(&self.headline), HEADLINE))
    }

    /// Whether a check may pass.
    pub fn is_well(&self) -> bool {
        self.kind == VerdictKind::Ok
    }

    /// Whether something grows that should not, as far as that is known.
    pub fn grows(&self) -> bool {
        matches!(self.kind, VerdictKind::Leak | VerdictKind::Grows)
    }
}

/// Least factor of growth that is reported.
const GROWN: f64 = 1.1;

/// How the bytes that roots reach went, in words: `from 18.7 MB to 40.5 MB (+117 %)`.
pub(super) fn heap_text((first, last): (u64, u64)) -> String {
    format!("from {} to {} ({})", bytes_text(first), bytes_text(last), percent_text((first, last)))
}

/// The change in percent, with a sign.
pub(super) fn percent_text((first, last): (u64, u64)) -> String {
    let percent = 100.0 * (last as f64 - first as f64) / first.max(1) as f64;
    format!("{}{:.0} %", if percent < 0.0 { "−" } else { "+" }, percent.abs())
}

/// True if the bytes that roots reach still rise, by a tenth of the heap at least. They may rise in the later half alone, after a start that
/// took most of them; then they end above what was there before. Places that were filled once do not count.
pub(super) fn still_rises(history: &OwnerHistory, filled_once: &[u32]) -> bool {
    let Some(heap) = history.places().first() else { return false };
    let heap: Vec<u64> = heap.held.iter().map(|held| held.total.bytes).collect();
    let bytes = history.bytes_without(filled_once);
    let is_more = |from: usize| match (bytes.get(from), bytes.last()) {
        (Some(&first), Some(&last)) => last.saturating_sub(first) as f64 >= (GROWN - 1.0) * heap[from] as f64,
        _ => false,
    };
    let half = bytes.len() / 2;
    // What only comes back after a fall was there before.
    let peak = bytes.get(1..=half).and_then(|before| before.iter().max()).copied().unwrap_or(0);
    let last = bytes.last().copied().unwrap_or(0);
    let is_new = || last.saturating_sub(peak) * 2 >= last.saturating_sub(bytes[half]);
    let course = history.course_of(&bytes, AccumulationRules::default().later);
    is_more(0) && course.may_leak()
        || bytes.len() - half >= 3
            && course != Course::Filled
            && is_more(half)
            && is_new()
            && course_of(&bytes[half..]).may_leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A heap that comes and goes may end at its height. It had that height before.
    #[test]
    fn what_only_comes_back_does_not_rise() {
        let rises = |heap: &[u64]| {
            let held = |&kb: &u64| crate::ownership::Holding {
                total: memory_city_heap::Amount { objects: kb, bytes: 1000 * kb },
                ..Default::default()
            };
            let held = heap.iter().map(held).collect();
            let place = crate::ownership::PlaceOverTime { parent: 0, name: "Heap".into(), held };
            still_rises(&OwnerHistory::of_places(vec![place]), &[])
        };
        assert!(!rises(&[3670, 2140, 3930, 2240, 3830, 4030]), "a sawtooth");
        assert!(rises(&[1000, 3000, 3100, 3600, 4100, 4600]), "after the start");
        assert!(rises(&[9000, 3000, 4000, 5000, 6000, 7000]), "after a start that let go");
        assert!(rises(&[2000, 2500, 3000, 3500, 4000]));
    }

    /// Whatever names of the program stand in it.
    #[test]
    fn every_first_line_fits() {
        use VerdictKind::{Fills, Grows, Leak, Ok, Unknown};
        for kind in [Leak, Grows, Ok, Fills, Unknown] {
            for name in ["a.b.Name", "\u{1b}[2J", "ä"] {
                let verdict = LeakVerdict { kind, headline: name.repeat(300), ..LeakVerdict::default() };
                let line = verdict.line();
                assert!(line.starts_with(kind.tag()) && line.chars().count() <= LINE, "{line}");
            }
        }
        let short = LeakVerdict::not_judged("x".repeat(HEADLINE));
        assert_eq!(short.line(), format!("UNKNOWN  {}", "x".repeat(HEADLINE)));
    }
}
