//! Units behind numbers, as people write them in filters, groupings and options.

/// The kind of quantity that a number with a suffix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuffixKind {
    Anything,
    Bytes,
    Percent,
    Millis,
}

/// Suffixes of numbers, with factor and kind. The first is empty.
pub(crate) const SUFFIXES: [(&str, f64, SuffixKind); 18] = [
    ("", 1.0, SuffixKind::Anything),
    ("%", 1.0, SuffixKind::Percent),
    ("k", 1e3, SuffixKind::Anything),
    ("M", 1e6, SuffixKind::Anything),
    ("G", 1e9, SuffixKind::Anything),
    ("B", 1.0, SuffixKind::Bytes),
    ("kB", 1e3, SuffixKind::Bytes),
    ("MB", 1e6, SuffixKind::Bytes),
    ("GB", 1e9, SuffixKind::Bytes),
    ("TB", 1e12, SuffixKind::Bytes),
    ("KiB", 1024.0, SuffixKind::Bytes),
    ("MiB", 1048576.0, SuffixKind::Bytes),
    ("GiB", 1073741824.0, SuffixKind::Bytes),
    ("TiB", 1099511627776.0, SuffixKind::Bytes),
    ("ms", 1.0, SuffixKind::Millis),
    ("s", 1e3, SuffixKind::Millis),
    ("min", 60e3, SuffixKind::Millis),
    ("h", 3600e3, SuffixKind::Millis),
];

/// The place of a suffix among [`SUFFIXES`], whatever its case: none differ by it alone.
pub(crate) fn suffix_of(text: &str) -> Option<usize> {
    SUFFIXES.iter().position(|(suffix, ..)| suffix.eq_ignore_ascii_case(text))
}

/// An amount in the notation of people: `100`, `1.5MB`, `2 KiB`, `2g`. `None` for other text.
pub(crate) fn amount(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '_')).unwrap_or(text.len());
    let number: f64 = text[..digits].replace('_', "").parse().ok()?;
    let (_, times, kind) = SUFFIXES[suffix_of(text[digits..].trim())?];
    matches!(kind, SuffixKind::Anything | SuffixKind::Bytes).then_some(number * times)
}

/// Whole bytes in that notation: `4GB`, `512 MiB`.
pub fn parse_bytes(text: &str) -> Option<u64> {
    amount(text).filter(|bytes| bytes.is_finite() && (0.0..u64::MAX as f64).contains(bytes)).map(|bytes| bytes as u64)
}
