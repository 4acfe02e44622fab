//! Texts of times and collections for people, beside the number formats of [`memory_city_heap::texts`].

use memory_city_formats::event::GcKind;
use memory_city_formats::{GcNoun, GcPoint};
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

/// The kind of a collection: `minor` for a part of the heap, `full` for all of it. A single pause has the kind of its collection; a
/// concurrent collection of the whole heap is `major`, since `full` is the word for one that stops the program until it is done. Every
/// report uses these words.
pub fn gc_kind_text(kind: GcKind, one_pause: bool) -> &'static str {
    match (kind, one_pause) {
        (GcKind::Minor, _) => "minor",
        (GcKind::Major, false) => "full",
        (GcKind::Major, true) => "major",
    }
}

/// An explanation of the words for kinds, for the header of a column.
pub fn gc_kinds_explained(noun: GcNoun) -> &'static str {
    match noun {
        GcNoun::Collections => "minor: a part of the heap was collected; full: all of it",
        GcNoun::Pauses => {
            "By the collection that it is a pause of. minor: a part of the heap was collected; major: all of it"
        }
    }
}

/// The name of a garbage collection by number, or of one of its pauses: `full collection 40`, `pause 40 of a major collection`; without the
/// kind if that is unknown.
pub fn gc_name_text(kind: Option<GcKind>, one_pause: bool, number: u64) -> String {
    let number = count_text(number);
    match (one_pause, kind.map(|kind| gc_kind_text(kind, one_pause))) {
        (false, Some(kind)) => format!("{kind} collection {number}"),
        (false, None) => format!("collection {number}"),
        (true, Some(kind)) => format!("pause {number} of a {kind} collection"),
        (true, None) => format!("pause {number}"),
    }
}

/// A garbage collection as `full, System.gc(), 12 ms, freed 1,234 objects`; one of its pauses as `pause of a major collection, Warmup, 1 ms`.
pub fn gc_text(gc: &GcPoint) -> String {
    let kind = gc_kind_text(gc.kind, gc.one_pause);
    let kind = if gc.one_pause { format!("pause of a {kind} collection") } else { kind.to_owned() };
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

    /// A pause of a collector that works beside the program is no full collection.
    #[test]
    fn pauses_are_not_full() {
        let point = |kind, one_pause| GcPoint {
            number: 40,
            kind,
            one_pause,
            cause: "Warmup".into(),
            duration: 1,
            end: true,
            freed: None,
        };
        for (kind, one_pause, name, text) in [
            (GcKind::Major, false, "full collection 1,040", "full, Warmup, 1 ms"),
            (GcKind::Minor, false, "minor collection 1,040", "minor, Warmup, 1 ms"),
            (GcKind::Major, true, "pause 1,040 of a major collection", "pause of a major collection, Warmup, 1 ms"),
            (GcKind::Minor, true, "pause 1,040 of a minor collection", "pause of a minor collection, Warmup, 1 ms"),
        ] {
            assert_eq!(gc_name_text(Some(kind), one_pause, 1040), name);
            assert_eq!(gc_text(&point(kind, one_pause)), text);
        }
        assert_eq!([false, true].map(|pause| gc_name_text(None, pause, 7)), ["collection 7", "pause 7"]);
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
