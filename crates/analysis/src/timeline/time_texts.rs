//! Texts about points in time, the same in windows and on pages: the time of a state, the name of a base, and the title of a curve.

use super::metric::Metric;
use super::nodes::Timeline;
use super::point::by_uptime;
use super::source::Source;
use crate::tabular::{gc_text, time_text, uptime_text};

/// The time of a state, and its collection.
pub fn when(timeline: &Timeline, time: usize) -> String {
    let point = &timeline.points()[time];
    if let Some(gc) = &point.gc {
        return format!("{} at {}: {}", point.label, uptime_text(point.millis), gc_text(gc));
    }
    match point.millis {
        millis if millis > 0 && by_uptime(timeline.points()) => {
            format!("{} at {}", point.label, uptime_text(millis))
        }
        0 => format!("{} (the file does not say when)", point.label),
        millis => format!("{}, taken {}", point.label, time_text(millis)),
    }
}

impl Timeline {
    /// The name of a base, within a sentence: `the first state`, or its place and label.
    pub fn base_text(&self, base: usize) -> String {
        match base {
            0 => "the first state".to_owned(),
            base => {
                let label = self.points().get(base).map_or("", |point| point.label.as_str());
                format!("{} of {} {label}", base + 1, self.times()).trim_end().to_owned()
            }
        }
    }
}

impl Source {
    /// The title over the curve of the whole heap: `Heap, reachable bytes`.
    pub fn heap_title(&self, metric: Metric) -> String {
        // A trace knows what the collector kept, whether or not something reaches it; trees are what others counted.
        let dumps = self.heaps().is_some() && !self.is_recorded();
        let which = if dumps { "reachable " } else { "" };
        format!("Heap, {which}{}", self.timeline().metric_info(metric).title.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::MemoryTree;
    use crate::timeline::{GcKind, GcPoint, TimePoint};

    #[test]
    fn points_in_time_are_told_by_what_is_known_of_them() {
        let (kind, cause) = (GcKind::Major, "System.gc()".into());
        let gc = GcPoint { number: 7, kind, one_pause: false, cause, duration: 12, end: true, freed: None };
        let point = |label: &str, millis, gc| TimePoint { label: label.into(), millis, gc, ..TimePoint::default() };
        let of = |points: Vec<TimePoint>| {
            let trees = vec![MemoryTree::new(); points.len()];
            Timeline::from_trees(points, &trees)
        };
        let recorded = of(vec![point("start", 500, None), point("GC 7", 1234, Some(gc))]);
        assert_eq!(when(&recorded, 0), "start at 0.500 s");
        assert_eq!(when(&recorded, 1), "GC 7 at 1.234 s: full, System.gc(), 12 ms");
        let dumps = of(vec![point("a.hprof", 0, None), point("b.hprof", 1_700_000_000_000, None)]);
        assert_eq!(when(&dumps, 0), "a.hprof (the file does not say when)");
        assert_eq!(when(&dumps, 1), "b.hprof, taken 2023-11-14 22:13:20 UTC");
        assert_eq!((dumps.base_text(0), dumps.base_text(1)), ("the first state".into(), "2 of 2 b.hprof".into()));
    }
}
