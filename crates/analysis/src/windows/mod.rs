//! Suspicious windows of time: memory leaks, long collections, or high churn.
//!
//! Pure arithmetic over numbers by time: no document, no tables, no drawing, so that charts may call it on every change of
//! a threshold. All of it is linear in the number of collections but for the steepest window, which repeats a linear pass a
//! few times (`steepest`).
//!
//! | module | finds |
//! |---|---|
//! | `steepest` | the window whose value rises most per unit of time, within bounds on its length |
//! | `growth` | the window of a leak: the longest one that grows to the end, and the start of the regression line |
//!
//! The rules follow Weninger et al., *Detection of Suspicious Time Windows in Memory Monitoring* (MPLR 2019). Where they leave a choice
//! open, the field of [`WindowRules`] names ours. Of equally good windows the earliest wins, then the shortest.

mod growth;
mod steepest;
#[cfg(test)]
mod tests;

pub use growth::{MemoryLevel, leak_window};
pub use steepest::{Rise, steepest};

/// Thresholds. Each is shown beside its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRules {
    /// A growing window ends where the value falls below this share of its largest, percent.
    pub kept_percent: u64,
    /// Least share of all collections that it must cover, percent.
    pub least_cover_percent: u64,
    /// Least growth, bytes. The source names such a threshold without a number: 1, any growth.
    pub least_growth: u64,
    /// Least growth as percent of the start, so that a stable heap is no leak: 10, chosen here.
    pub least_growth_percent: u64,
    /// Least share of its points in the steepest part of it, percent; and at least 2.
    pub narrow_least_percent: u64,
    /// Most of its points in the steepest part, percent.
    pub narrow_most_percent: u64,
    /// Share of all points, at the end, with which the regression begins, percent.
    pub regression_percent: u64,
    /// Least collections of a window.
    pub least_gcs: usize,
    /// Most collections of a window.
    pub most_gcs: usize,
    /// Least length of a run with suspicious windows, milliseconds: a shorter part says nothing about a program. 1000, chosen here.
    pub least_millis: u64,
    /// Share of the time from which on collecting is overhead, percent.
    pub overhead_percent: u64,
    /// Percentage of the run's average from which on churn is reported. The source says "significantly higher" without a number: 150.
    pub churn_percent: u64,
    /// Whether nothing accumulates, by owners: then memory that is higher at the end is no leak.
    pub is_well: bool,
}

impl Default for WindowRules {
    fn default() -> Self {
        WindowRules {
            kept_percent: 75,
            least_cover_percent: 10,
            least_growth: 1,
            least_growth_percent: 10,
            narrow_least_percent: 10,
            narrow_most_percent: 50,
            regression_percent: 10,
            least_gcs: 5,
            most_gcs: 50,
            least_millis: 1000,
            overhead_percent: 10,
            churn_percent: 150,
            is_well: false,
        }
    }
}

/// A garbage collection as far as windows ask. Times are nanoseconds since any one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcSpan {
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// Bytes that it freed; negative where more was allocated beside it than it freed.
    pub freed: i64,
}

/// A window of collections: from the end of one (or the start of the run) to the end of a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcWindow {
    /// The first collection in it.
    pub first: usize,
    /// The last one.
    pub last: usize,
    /// When it begins, nanoseconds.
    pub from: u64,
    /// When it ends.
    pub to: u64,
    /// The sum over it: nanoseconds of collecting, or bytes freed.
    pub amount: i64,
    /// Whether it is beyond the threshold.
    pub is_suspicious: bool,
}

impl GcWindow {
    /// How long it is, nanoseconds; never 0.
    pub fn duration(&self) -> u64 {
        (self.to - self.from).max(1)
    }

    /// The sum per nanosecond.
    pub fn rate(&self) -> f64 {
        self.amount as f64 / self.duration() as f64
    }
}

/// The window of a leak. Places are indices into the given levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeakWindow {
    /// The first point of the longest window that grows to the end.
    pub from: usize,
    /// The last point: that of the run.
    pub to: usize,
    /// The part of it that grows fastest; `None` where no time passes in it.
    pub steepest: Option<(usize, usize)>,
    /// Whether it is beyond the thresholds.
    pub is_suspicious: bool,
    /// Where the line of the regression would begin, and its slope in bytes per second; only where it rises.
    pub regression: Option<(usize, f64)>,
}

impl LeakWindow {
    /// Whether no point of the window is above its end.
    fn ends_highest(&self, levels: &[MemoryLevel]) -> bool {
        let within = levels.get(self.from..=self.to).unwrap_or_default();
        within.last().is_some_and(|end| within.iter().all(|level| level.bytes <= end.bytes))
    }

    /// True if the window is worth reporting. A window below the thresholds that fell before the end is normal for a heap.
    pub fn is_worth_a_word(&self, levels: &[MemoryLevel]) -> bool {
        self.is_suspicious || self.ends_highest(levels)
    }

    /// The course of memory in it, in words.
    pub fn words(&self, levels: &[MemoryLevel]) -> &'static str {
        match (self.ends_highest(levels), self.is_suspicious) {
            (true, true) => "Memory grows to the end",
            (true, false) => "Memory grows a little to the end, or for a short time",
            (false, _) => "Memory goes up and down, and is higher at the end",
        }
    }
}

/// All suspicious windows of a run. Of each kind it is the strongest, even below its threshold: a view checks `is_suspicious`.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct SuspiciousWindows {
    /// Where memory grows to the end.
    pub leak: Option<LeakWindow>,
    /// Where most of the time goes into collecting.
    pub overhead: Option<GcWindow>,
    /// Where most is thrown away per second.
    pub churn: Option<GcWindow>,
    /// Average over the run: bytes freed, in so many nanoseconds.
    pub average: (i64, u64),
}

impl SuspiciousWindows {
    /// Looks at a run that began at `began` nanoseconds. `levels` are ascending in time, `gcs` as well. Times that fall back
    /// are taken for the latest before them.
    pub fn find(began: u64, gcs: &[GcSpan], levels: &[MemoryLevel], rules: &WindowRules) -> SuspiciousWindows {
        let all_gcs = gcs.len().max(levels.last().map_or(0, |level| level.gc + 1));
        let mut ends = Vec::with_capacity(gcs.len() + 1);
        ends.push(began);
        for gc in gcs {
            ends.push(gc.end.max(ends[ends.len() - 1]));
        }
        let summed = |of: &dyn Fn(&GcSpan) -> i64| {
            let mut sum = 0i64;
            let sums = std::iter::once(0).chain(gcs.iter().map(|gc| {
                sum = sum.saturating_add(of(gc));
                sum
            }));
            ends.iter().copied().zip(sums).collect::<Vec<(u64, i64)>>()
        };
        let best = |of: &dyn Fn(&GcSpan) -> i64| -> Option<GcWindow> {
            let rise = steepest(&summed(of), rules.least_gcs.max(1), rules.most_gcs)?;
            let (from, to) = (ends[rise.from], ends[rise.to]);
            let amount = rise.value;
            Some(GcWindow { first: rise.from, last: rise.to - 1, from, to, amount, is_suspicious: false })
        };
        let pause = |gc: &GcSpan| i64::try_from(gc.end.saturating_sub(gc.start)).unwrap_or(i64::MAX);
        let freed: i64 = gcs.iter().fold(0, |sum, gc| sum.saturating_add(gc.freed));
        let average = (freed, ends[ends.len() - 1] - began);
        let mut found = SuspiciousWindows {
            leak: leak_window(levels, all_gcs, rules),
            overhead: best(&pause),
            churn: best(&|gc| gc.freed),
            average,
        };
        if let Some(window) = &mut found.overhead {
            let (spent, all) = (i128::from(window.amount) * 100, i128::from(window.duration()));
            window.is_suspicious = window.amount > 0 && spent >= i128::from(rules.overhead_percent) * all;
        }
        if let Some(window) = &mut found.churn {
            // As fractions: what the window frees in its time against what the run frees in its own.
            let here = 100.0 * window.amount as f64 * average.1.max(1) as f64;
            let everywhere = rules.churn_percent as f64 * average.0 as f64 * window.duration() as f64;
            window.is_suspicious = window.amount > 0 && average.0 > 0 && here >= everywhere;
        }
        let ended = levels.last().map_or(0, |level| level.time).max(ends[ends.len() - 1]);
        if ended.saturating_sub(began) < rules.least_millis.saturating_mul(1_000_000) {
            found.calm();
        }
        found
    }

    /// Nothing is beyond its threshold.
    fn calm(&mut self) {
        let of_leak = self.leak.iter_mut().map(|leak| &mut leak.is_suspicious);
        let of_gcs = self.overhead.iter_mut().chain(&mut self.churn).map(|window| &mut window.is_suspicious);
        of_leak.chain(of_gcs).for_each(|is_suspicious| *is_suspicious = false);
    }
}
