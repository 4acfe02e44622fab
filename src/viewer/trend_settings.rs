//! The settings of all trend charts: the number of points in time, and whether collections are shown below them.

use memory_city_analysis::trends::{Thinning, USUAL_SIZES};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How many points in time deep and retained sizes can be asked for.
pub const SIZES_AT: std::ops::RangeInclusive<usize> = 2..=500;
/// No more points in time, or seconds, than this are left out between two.
pub const MOST_LEFT_OUT: u64 = 1_000_000;

/// Settings of all trend charts.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendSettings {
    /// Id of the metric in a picture without a window; `None`: as everywhere. It may be a size that is found for the charts alone.
    pub metric: Option<Arc<str>>,
    /// Number of points in time with deep and retained sizes.
    pub sizes_at: usize,
    /// Choice of the charted points in time.
    pub thinning: Thinning,
    /// Whether collections are shown below the charts.
    pub strip: bool,
}

impl Default for TrendSettings {
    fn default() -> Self {
        TrendSettings { metric: None, sizes_at: USUAL_SIZES, thinning: Thinning::All, strip: true }
    }
}

impl TrendSettings {
    /// Adds the part that is kept for the next run.
    pub(super) fn keep(&self, kept: &mut Map<String, Value>) {
        let (every, seconds) = match self.thinning {
            Thinning::All => (1, 0),
            Thinning::Every(n) => (n as u64, 0),
            Thinning::Seconds(seconds) => (1, seconds),
        };
        kept.insert("trend-sizes-at".to_owned(), json!(self.sizes_at));
        kept.insert("trend-every".to_owned(), json!(every));
        kept.insert("trend-seconds".to_owned(), json!(seconds));
        kept.insert("trend-collections".to_owned(), json!(self.strip));
    }

    /// Takes kept settings, as far as they are valid.
    pub(super) fn take(&mut self, kept: &Map<String, Value>) {
        let number = |name: &str| kept.get(name).and_then(Value::as_u64);
        if let Some(times) = number("trend-sizes-at") {
            self.sizes_at = (times.min(MOST_LEFT_OUT) as usize).clamp(*SIZES_AT.start(), *SIZES_AT.end());
        }
        let every = number("trend-every").unwrap_or(1).clamp(1, MOST_LEFT_OUT);
        let seconds = number("trend-seconds").unwrap_or(0).min(MOST_LEFT_OUT);
        self.thinning = match (every, seconds) {
            (1, 0) => Thinning::All,
            (_, 0) => Thinning::Every(every as usize),
            _ => Thinning::Seconds(seconds),
        };
        self.strip = kept.get("trend-collections").and_then(Value::as_bool).unwrap_or(self.strip);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_what_is_wrong_does_not() {
        for thinning in [Thinning::All, Thinning::Every(7), Thinning::Seconds(20)] {
            let settings = TrendSettings { metric: None, sizes_at: 30, thinning, strip: false };
            let (mut kept, mut again) = (Map::new(), TrendSettings::default());
            settings.keep(&mut kept);
            again.take(&kept);
            assert_eq!(again, settings);
        }
        let Value::Object(wrong) =
            json!({"trend-sizes-at": 1e300, "trend-every": 0, "trend-seconds": [], "trend-collections": 3})
        else {
            unreachable!()
        };
        let mut settings = TrendSettings::default();
        settings.take(&wrong);
        assert_eq!(settings, TrendSettings::default());
    }
}
