//! Numbers with units in options, written by programs (`500000000`) or by people (`500MB`).

/// The quantity of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionUnit {
    /// Nothing that has a name.
    Number,
    Bytes,
    Millis,
    /// A share of a core, in millionths.
    Core,
    /// A share of the time, as a multiple of its base.
    Time,
}

/// Units of bytes, in any case.
const SIZES: [(&str, f64); 12] = [
    ("b", 1.0),
    ("k", 1e3),
    ("m", 1e6),
    ("g", 1e9),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
];
/// Units of time, in milliseconds.
const TIMES: [(&str, f64); 5] = [("ms", 1.0), ("s", 1e3), ("m", 60e3), ("min", 60e3), ("h", 3600e3)];

impl OptionUnit {
    /// Reads a number, with a unit or without.
    pub(crate) fn read(self, text: &str) -> Option<u64> {
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        if text == "off" && self == OptionUnit::Millis {
            return Some(0);
        }
        let digits = text.find(|c: char| !matches!(c, '0'..='9' | '.')).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let times = |units: &[(&str, f64)], unit: &str| Some(number * units.iter().find(|(name, _)| *name == unit)?.1);
        let value = match self {
            OptionUnit::Number => None,
            OptionUnit::Bytes => times(&SIZES, &unit.to_ascii_lowercase()),
            OptionUnit::Millis => times(&TIMES, unit),
            OptionUnit::Core => (unit == "%").then_some(number * 10_000.0),
            OptionUnit::Time => (unit == "%").then_some(100.0 / number),
        };
        // More than there is becomes as much as there is; what is no number, as of no share, is none.
        value.filter(|value| value.is_finite()).map(|value| value.round() as u64)
    }

    /// How such a number may be written with its unit.
    pub(crate) fn example(self) -> &'static str {
        match self {
            OptionUnit::Number => "",
            OptionUnit::Bytes => " (bytes), nor a size such as 500MB",
            OptionUnit::Millis => " (milliseconds), nor a time such as 30s, nor off",
            OptionUnit::Core => " (millionths of a core), nor a share such as 2%",
            OptionUnit::Time => " (times as long), nor a share such as 2%",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_units_of_the_command_line() {
        use OptionUnit::*;
        for (unit, text, expected) in [
            (Bytes, "500MB", Some(500_000_000)),
            (Bytes, "1.5gb", Some(1_500_000_000)),
            (Bytes, "64KiB", Some(65_536)),
            (Bytes, "4096", Some(4096)),
            (Bytes, "30s", None),
            (Millis, "30s", Some(30_000)),
            (Millis, "500ms", Some(500)),
            (Millis, "1.5m", Some(90_000)),
            (Millis, "off", Some(0)),
            (Millis, "10000", Some(10_000)),
            (Millis, "10x", None),
            (Core, "2%", Some(20_000)),
            (Core, "0.01%", Some(100)),
            (Time, "2%", Some(50)),
            (Time, "50", Some(50)),
            (Time, "0%", None),
            (Number, "7", Some(7)),
            (Number, "7k", None),
            (Number, "", None),
            (Bytes, "MB", None),
            (Bytes, "..MB", None),
            (Core, "-2%", None),
        ] {
            assert_eq!(unit.read(text), expected, "{unit:?} {text}");
        }
    }
}
