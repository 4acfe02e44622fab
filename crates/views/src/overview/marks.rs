//! Suspicious windows of a run, as ranges with a text each.

use super::axis::TimeAxis;
use memory_city_analysis::run::RunFacts;
use memory_city_analysis::tabular::{bytes_text, several};
use memory_city_analysis::windows::{GcWindow, WindowRules};

/// The reason why a window is suspicious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowKind {
    /// Memory grows to the end.
    Leak,
    /// The part of it in which it grows fastest.
    SteepestLeak,
    /// Much time goes into collecting.
    Overhead,
    /// Much is thrown away.
    Churn,
}

impl WindowKind {
    /// Its name, for people.
    pub fn title(self) -> &'static str {
        match self {
            WindowKind::Leak => "Growing memory",
            WindowKind::SteepestLeak => "Growing fastest",
            WindowKind::Overhead => "GC overhead",
            WindowKind::Churn => "Churn",
        }
    }
}

/// A window of time that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowMark {
    /// The kind of window.
    pub kind: WindowKind,
    /// Whether it is beyond its threshold; otherwise the strongest there is.
    pub is_suspicious: bool,
    /// When it begins, nanoseconds.
    pub from: u64,
    /// When it ends.
    pub to: u64,
    /// The range from left to right; may lie outside of the picture.
    pub x: (f64, f64),
    /// A sentence about it.
    pub text: String,
}

/// The windows of a run, those beyond their thresholds first, with their places on an axis: no chart is needed for them.
pub fn window_marks(facts: &RunFacts, rules: &WindowRules, time: &TimeAxis) -> Vec<WindowMark> {
    let found = facts.suspicious(rules);
    let mut marks = Vec::new();
    let mut add = |kind, is_suspicious, from, to, text| {
        marks.push(WindowMark { kind, is_suspicious, from, to, x: (time.place(from), time.place(to)), text });
    };
    let measures = &facts.measures;
    if let Some(leak) = found.leak.as_ref().filter(|leak| leak.is_worth_a_word(&measures.levels)) {
        let grows = |from: usize, to: usize| {
            let (first, last) = (measures.levels[from], measures.levels[to]);
            let grown = last.bytes.saturating_sub(first.bytes);
            let rate = 1e9 * grown as f64 / last.time.saturating_sub(first.time).max(1) as f64;
            let text = format!(
                "{} to {}, {} per second",
                bytes_text(first.bytes),
                bytes_text(last.bytes),
                bytes_text(rate as u64)
            );
            (first.time, last.time, text)
        };
        let (from, to, text) = grows(leak.from, leak.to);
        let text = format!("{}: {text} ({}).", leak.words(&measures.levels), measures.levels_are);
        add(WindowKind::Leak, leak.is_suspicious, from, to, text);
        if let Some((from, to)) = leak.steepest {
            let (from, to, text) = grows(from, to);
            add(WindowKind::SteepestLeak, leak.is_suspicious, from, to, format!("It grows fastest here: {text}."));
        }
    }
    let noun = facts.noun();
    let gcs = |window: &GcWindow| several((window.last - window.first + 1) as u64, noun.one(), noun.many());
    if let Some(window) = &found.overhead {
        let percent = 100.0 * window.rate();
        let text = format!(
            "Collecting takes {percent:.0} % of the time ({}; {} % is suspicious).",
            gcs(window),
            rules.overhead_percent
        );
        add(WindowKind::Overhead, window.is_suspicious, window.from, window.to, text);
    }
    if let Some(window) = found.churn.as_ref().filter(|_| measures.freed_is_estimated.is_some()) {
        let average = found.average.0 as f64 / found.average.1.max(1) as f64;
        let percent = if average > 0.0 { 100.0 * window.rate() / average } else { 0.0 };
        let about = if measures.freed_is_estimated == Some(true) { "About " } else { "" };
        let text = format!(
            "{about}{} per second are thrown away, {percent:.0} % of the average ({}; {} % is suspicious).",
            bytes_text((1e9 * window.rate()).max(0.0) as u64),
            gcs(window),
            rules.churn_percent
        );
        add(WindowKind::Churn, window.is_suspicious, window.from, window.to, text);
    }
    marks.sort_by_key(|mark| !mark.is_suspicious);
    marks
}
