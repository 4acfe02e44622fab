//! Text of numbers, metrics and times in panels and views.

use memory_city_analysis::analyses;
use memory_city_analysis::tabular::objects_text;
pub use memory_city_analysis::timeline::when;
use memory_city_analysis::timeline::{Amount, Metric, Timeline, Unit};

/// The name of a metric in a sentence: `objects`, `bytes`, `retained bytes`.
pub fn metric_name(timeline: &Timeline, metric: Metric) -> String {
    timeline.metric_info(metric).title.to_lowercase()
}

/// A number in a unit: `12,345 objects`, `1.2 MB`.
pub fn in_unit(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Objects => objects_text(value),
        Unit::Bytes => analyses::bytes_text(value),
        Unit::Count => analyses::count_text(value),
        Unit::Millis => analyses::uptime_text(value),
    }
}

/// A number in the unit of a metric.
pub fn number(timeline: &Timeline, value: u64, metric: Metric) -> String {
    in_unit(value, timeline.metric_info(metric).unit)
}

/// The same with a sign.
pub fn signed(timeline: &Timeline, value: i64, metric: Metric) -> String {
    signed_in_unit(value, timeline.metric_info(metric).unit)
}

/// A number in a unit, with a sign.
pub fn signed_in_unit(value: i64, unit: Unit) -> String {
    let sign = match value {
        v if v > 0 => "+",
        0 => "±",
        _ => "−",
    };
    format!("{sign}{}", in_unit(value.unsigned_abs(), unit))
}

/// Objects and bytes together.
pub fn amounts(amount: Amount) -> String {
    format!("{}, {}", objects_text(amount.objects), analyses::bytes_text(amount.bytes))
}
