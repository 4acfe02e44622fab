//! Number formats for people, the same in every report, warning and window.

/// `1,234,567`.
pub fn count_text(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `999 B`, `12.3 kB`, `4.56 MB`: decimal units, three digits.
pub fn bytes_text(n: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if n < 1000 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// A count with its noun: `1 more place`, `1,234 more places`.
pub fn several(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", count_text(n), if n == 1 { one } else { more })
}

/// How many objects: `1 object`, `1,234 objects`.
pub fn objects_text(n: u64) -> String {
    several(n, "object", "objects")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (n, counted, bytes) in [
            (0, "0", "0 B"),
            (999, "999", "999 B"),
            (1000, "1,000", "1.00 kB"),
            (12_345, "12,345", "12.3 kB"),
            (999_999, "999,999", "1.00 MB"),
            (1_234_567, "1,234,567", "1.23 MB"),
            (u64::MAX, "18,446,744,073,709,551,615", "18.4 EB"),
        ] {
            assert_eq!((count_text(n).as_str(), bytes_text(n).as_str()), (counted, bytes));
        }
    }

    #[test]
    fn one_is_one() {
        for (n, text) in [(0, "0 objects"), (1, "1 object"), (2, "2 objects"), (1_234, "1,234 objects")] {
            assert_eq!(objects_text(n), text);
        }
        assert_eq!(
            (several(1, "class", "classes"), several(3, "class", "classes")),
            ("1 class".into(), "3 classes".into())
        );
    }
}
