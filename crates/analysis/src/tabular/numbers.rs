//! Times and collections as people read them, beside the numbers that every part has ([`memory_city_heap::texts`]).

use crate::timeline::GcPoint;
use memory_city_formats::event::GcKind;
use memory_city_heap::texts::count_text;

/// A time since the program started as `1.234 s`, `2:03:04.567`.
pub fn uptime_text(millis: u64) -> String {
    let (seconds, rest) = (millis / 1000, millis % 1000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}.{rest:03} s"),
        (0, m, s) => format!("{m}:{s:02}.{rest:03} min"),
        (h, m, s) => format!("{h}:{m:02}:{s:02}.{rest:03} h"),
    }
}

/// What was collected: `minor` a part of the heap, `full` all of it. The words of every report.
pub fn gc_kind_text(kind: GcKind) -> &'static str {
    match kind {
        GcKind::Minor => "minor",
        GcKind::Major => "full",
    }
}

/// A garbage collection as `full, System.gc(), 12 ms, freed 1,234 objects`.
pub fn gc_text(gc: &GcPoint) -> String {
    let kind = gc_kind_text(gc.kind);
    let freed = match (gc.freed, gc.end) {
        (Some(freed), true) => format!(", freed {} objects", count_text(freed)),
        (Some(freed), false) => format!(", will free {} objects", count_text(freed)),
        (None, _) => String::new(),
    };
    format!("{kind}, {}, {} ms{freed}", gc.cause, gc.duration)
}

/// A time in milliseconds since the Unix epoch as `2026-11-21 14:03:22 UTC`; beyond the year 9999 as `300000000000000 ms
/// after 1970`.
pub fn time_text(millis: u64) -> String {
    let time = i64::try_from(millis).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    match time {
        Some(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        None => format!("{millis} ms after 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptimes_are_short() {
        for (millis, text) in
            [(0, "0.000 s"), (59_999, "59.999 s"), (61_005, "1:01.005 min"), (3_600_000, "1:00:00.000 h")]
        {
            assert_eq!(uptime_text(millis), text);
        }
    }

    #[test]
    fn times_are_civil() {
        for (millis, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_795_269_802_123, "2026-11-21 14:03:22 UTC"),
            (253_402_200_000_999, "9999-12-30 20:00:00 UTC"),
            (u64::MAX, "18446744073709551615 ms after 1970"),
        ] {
            assert_eq!(time_text(millis), text);
        }
    }
}
