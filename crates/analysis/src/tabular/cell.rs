//! Cells of tables: their content, and its text.

use super::numbers::{time_text, uptime_text};
use memory_city_heap::texts::{bytes_text, count_text};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Objects.
    Objects,
    /// Bytes.
    Bytes,
    /// Anything else that is counted.
    Count,
    /// Milliseconds.
    Millis,
}

/// The kind of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// Words.
    Text,
    /// Something counted from 0.
    Number(Unit),
    /// A difference between two counts.
    Change(Unit),
    /// Hundredths: 12.5 is 12.5 %.
    Percent,
    /// Milliseconds since the Unix epoch.
    Time,
    /// Milliseconds since the program started.
    Uptime,
    /// A node of the timeline.
    Node,
    /// A count for each point in time.
    Series(Unit),
}

impl CellKind {
    /// Name for programs, as the JSON form has it in `type`.
    pub fn id(self) -> &'static str {
        match self {
            CellKind::Text => "text",
            CellKind::Number(_) => "number",
            CellKind::Change(_) => "change",
            CellKind::Percent => "percent",
            CellKind::Time => "time",
            CellKind::Uptime => "uptime",
            CellKind::Node => "node",
            CellKind::Series(_) => "series",
        }
    }

    /// The unit, if there is one.
    pub fn unit(self) -> Option<Unit> {
        match self {
            CellKind::Number(unit) | CellKind::Change(unit) | CellKind::Series(unit) => Some(unit),
            CellKind::Time | CellKind::Uptime => Some(Unit::Millis),
            CellKind::Text | CellKind::Percent | CellKind::Node => None,
        }
    }

    /// Whether its cells stand at the right of their column.
    pub fn is_numeric(self) -> bool {
        matches!(self, CellKind::Number(_) | CellKind::Change(_) | CellKind::Percent)
    }
}

impl Serialize for CellKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("CellKind", 2)?;
        fields.serialize_field("type", self.id())?;
        match self.unit() {
            Some(unit) => fields.serialize_field("unit", &unit)?,
            None => fields.skip_field("unit")?,
        }
        fields.end()
    }
}

/// A node of a timeline, by its key and name, which stay the same when the timeline grows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct NodeLink {
    /// Its key, as `Timeline::find` and `--select` take it.
    pub key: String,
    /// Its display name.
    pub name: String,
    /// Its path for people.
    pub path: String,
}

/// A cell. The unit is in its column.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing is known, or nothing applies.
    #[default]
    Empty,
    /// Words.
    Text(String),
    /// A count.
    Number(u64),
    /// A difference.
    Change(i64),
    /// Hundredths; infinite where something grew from nothing.
    Percent(f64),
    /// Milliseconds since the start that the column names.
    Time(u64),
    /// A node.
    Node(NodeLink),
    /// A count for each point in time.
    Series(Vec<u64>),
}

/// A count in its unit as people read it.
fn counted(n: u64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => bytes_text(n),
        Unit::Millis => format!("{} ms", count_text(n)),
        Unit::Objects | Unit::Count => count_text(n),
    }
}

impl Cell {
    /// The text for people: `12.3 kB`, `+1,234`, `12.5 %`, bars for a series.
    pub fn text(&self, kind: CellKind) -> String {
        let unit = kind.unit().unwrap_or(Unit::Count);
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Number(n) => counted(*n, unit),
            Cell::Change(n) => {
                let sign = if *n < 0 { "-" } else { "+" };
                format!("{sign}{}", counted(n.unsigned_abs(), unit))
            }
            Cell::Percent(p) if p.is_finite() && p.abs() < 10_000.0 => format!("{p:.1} %"),
            Cell::Percent(p) if p.is_finite() => {
                format!("{}{} %", if *p < 0.0 { "-" } else { "" }, count_text(p.abs() as u64))
            }
            Cell::Percent(_) => "new".to_owned(),
            Cell::Time(0) => "unknown".to_owned(),
            Cell::Time(millis) if kind == CellKind::Uptime => uptime_text(*millis),
            Cell::Time(millis) => time_text(*millis),
            Cell::Node(link) => link.name.clone(),
            Cell::Series(values) => bars(values, MOST_BARS),
        }
    }

    /// The text for programs: numbers without unit or grouping, nodes by key, the values of a series with a blank between them, empty if
    /// unknown.
    pub fn plain(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Number(n) | Cell::Time(n) => n.to_string(),
            Cell::Change(n) => n.to_string(),
            Cell::Percent(p) if p.is_finite() => p.to_string(),
            Cell::Percent(_) => String::new(),
            Cell::Node(link) => link.key.clone(),
            Cell::Series(values) => values.iter().map(u64::to_string).collect::<Vec<_>>().join(" "),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Empty => serializer.serialize_none(),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Number(n) | Cell::Time(n) => serializer.serialize_u64(*n),
            Cell::Change(n) => serializer.serialize_i64(*n),
            Cell::Percent(p) if p.is_finite() => serializer.serialize_f64(*p),
            Cell::Percent(_) => serializer.serialize_none(),
            Cell::Node(link) => link.serialize(serializer),
            Cell::Series(values) => values.serialize(serializer),
        }
    }
}

/// Bars in a cell of text.
const MOST_BARS: usize = 24;

/// Values as bars, from nothing to the largest of them; 0 is a dot. Of more values than `most`, each bar is the largest
/// of its neighbours: a peak is never left out.
pub fn bars(values: &[u64], most: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = values.iter().copied().max().unwrap_or(0);
    let count = values.len().min(most);
    (0..count)
        .map(|i| {
            let part = &values[i * values.len() / count..(i + 1) * values.len() / count];
            match part.iter().copied().max().unwrap_or(0) {
                0 => '·',
                // From 0 to the top in eight steps, rounded up: 1 of a million is seen.
                value => BARS[((u128::from(value) * 8).div_ceil(u128::from(top)) as usize).clamp(1, 8) - 1],
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_well() {
        for (cell, kind, text, plain) in [
            (Cell::Number(12_345), CellKind::Number(Unit::Bytes), "12.3 kB", "12345"),
            (Cell::Number(12_345), CellKind::Number(Unit::Objects), "12,345", "12345"),
            (Cell::Number(7), CellKind::Number(Unit::Millis), "7 ms", "7"),
            (Cell::Change(-1500), CellKind::Change(Unit::Objects), "-1,500", "-1500"),
            (Cell::Change(i64::MIN), CellKind::Change(Unit::Bytes), "-9.22 EB", "-9223372036854775808"),
            (Cell::Percent(12.34), CellKind::Percent, "12.3 %", "12.34"),
            (Cell::Percent(-1_234_567.0), CellKind::Percent, "-1,234,567 %", "-1234567"),
            (Cell::Percent(f64::INFINITY), CellKind::Percent, "new", ""),
            (Cell::Time(77), CellKind::Uptime, "0.077 s", "77"),
            (Cell::Time(0), CellKind::Time, "unknown", "0"),
            (Cell::Series(vec![0, 1, 4, 8]), CellKind::Series(Unit::Bytes), "·▁▄█", "0 1 4 8"),
            (Cell::Empty, CellKind::Node, "", ""),
        ] {
            assert_eq!((cell.text(kind), cell.plain()), (text.to_owned(), plain.to_owned()));
        }
    }

    #[test]
    fn a_peak_is_seen_however_many_values_there_are() {
        let mut values = vec![1u64; 10_000];
        values[7777] = u64::MAX;
        let text = bars(&values, 24);
        assert_eq!(text.chars().count(), 24);
        assert_eq!(text.chars().filter(|&c| c == '█').count(), 1);
        assert_eq!(text.chars().filter(|&c| c == '▁').count(), 23);
        assert_eq!(bars(&[], 24), "");
        assert_eq!(bars(&[0, 0], 24), "··");
    }
}
