//! The statistics of a window of a run, for people.

use super::{NANOS, RunFacts, causes};
use crate::analyses::change;
use crate::tabular::{bytes_text, count_text, uptime_text};
use memory_city_formats::GcNoun;

/// A number of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStatistic {
    /// The name.
    pub name: String,
    /// How much.
    pub text: String,
    /// An explanation, for a tooltip.
    pub explanation: String,
}

impl RunFacts {
    /// The statistics of the window between two moments: collections that end in it. Unknown values are left out.
    pub fn statistics(&self, from: u64, to: u64) -> Vec<RunStatistic> {
        let mut all = Vec::new();
        let mut say = |name: &str, text: String, explanation: &str| {
            all.push(RunStatistic { name: name.to_owned(), text, explanation: explanation.to_owned() });
        };
        let time = to.saturating_sub(from);
        say("Length", uptime_text(time / NANOS), "How long the window is");
        let levels: Vec<_> = self.measures.levels.iter().filter(|l| l.time >= from && l.time <= to).collect();
        if let [first, .., last] = levels[..] {
            let grown = change(first.bytes, last.bytes);
            let sign = if grown < 0 { "-" } else { "+" };
            say("Memory", bytes_text(last.bytes), &format!("In use at the end: {}", self.measures.levels_are));
            let text = format!("{sign}{}", bytes_text(grown.unsigned_abs()));
            say("Growth", text, "From the first to the last point of the window");
        }
        let gcs = self.gcs_between(from, to);
        if self.measures.gcs.is_empty() {
            return all;
        }
        let spans = &self.measures.gcs[gcs.clone()];
        let full = gcs.clone().filter(|&gc| self.is_full(gc)).count();
        let count = count_text(spans.len() as u64);
        let text = if full > 0 { format!("{count}, {} full", count_text(full as u64)) } else { count };
        let noun = self.noun();
        let (one, many) = (noun.one(), noun.many());
        say(
            noun.title(),
            text,
            match noun {
                GcNoun::Collections => "Garbage collections that end in the window; full ones collect the whole heap",
                GcNoun::Pauses => {
                    "Pauses of garbage collections that end in the window: a collection has several of them"
                }
            },
        );
        let pause = |gc: &crate::windows::GcSpan| gc.end.saturating_sub(gc.start);
        let spent: u64 = spans.iter().map(pause).sum();
        if !spans.is_empty() {
            let share = 100.0 * spent as f64 / time.max(1) as f64;
            let text = format!("{} ({share:.1} %)", millis_text(spent));
            // While it is not paused, the program shares its time with the collector: how much that takes is not known.
            let name = if noun.is_pauses() { "Paused" } else { "Collecting" };
            say(name, text, &format!("Time spent in {many}, and its share of the window"));
            let longest = spans.iter().map(pause).max().unwrap_or(0);
            say("Longest pause", millis_text(longest), &format!("The longest {one} of the window"));
            let mean = spent / spans.len() as u64;
            say("Mean pause", millis_text(mean), &format!("How long a {one} takes on average"));
            let a_minute = 60e9 * spans.len() as f64 / time.max(1) as f64;
            say("Frequency", format!("{a_minute:.1} a minute"), &format!("How often {many} come"));
        }
        let allocated: Vec<f64> = gcs.clone().filter_map(|gc| self.allocated(gc)).collect();
        if allocated.len() == spans.len() && !spans.is_empty() {
            let all: f64 = allocated.iter().sum();
            say("Allocated", bytes_text(all as u64), &format!("Bytes allocated before the {many} of the window"));
            let rate = 1e9 * all / time.max(1) as f64;
            say("Allocation rate", format!("{}/s", bytes_text(rate as u64)), "Bytes allocated per second");
        }
        if let Some(is_estimated) = self.measures.freed_is_estimated.filter(|_| !spans.is_empty()) {
            let freed: i64 = spans.iter().fold(0, |sum, gc| sum.saturating_add(gc.freed));
            let how = if is_estimated { ", estimated from samples" } else { "" };
            let freed = bytes_text(u64::try_from(freed).unwrap_or(0));
            say("Freed", freed, &format!("Bytes that {many} freed{how}"));
        }
        if let Some(lives) = self.lives.as_ref().filter(|_| !spans.is_empty()) {
            let (mut born, mut young) = (0.0, 0.0);
            for of in &lives[gcs.clone()] {
                born += of.born.bytes;
                young += of.died_young.bytes;
            }
            if born > 0.0 {
                let share = (100.0 * (1.0 - young / born)).clamp(0.0, 100.0);
                say(
                    "New that survive",
                    format!("{share:.1} %"),
                    &format!("Share of the bytes allocated that survive their first {one}"),
                );
            }
        }
        for (cause, n, time) in causes(&self.collections[gcs]).into_iter().filter(|of| !of.0.is_empty()).take(3) {
            say(
                &cause,
                format!("{}, {}", count_text(n), millis_text(time)),
                &format!("A cause of {many}: how many, and how long they took"),
            );
        }
        all
    }
}

/// `12.3 ms`, `1.234 s`.
pub(super) fn millis_text(nanos: u64) -> String {
    match nanos {
        0..1_000_000_000 => format!("{:.1} ms", nanos as f64 / 1e6),
        _ => uptime_text(nanos / NANOS),
    }
}
