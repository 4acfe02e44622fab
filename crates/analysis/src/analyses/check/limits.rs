//! Limits of checks, as typed: how much the heap may grow, how much a type, an owner or a group may retain.

use crate::group::MemoryTree;
use crate::table::{Filter, FilterColumn, FilterComparison, Quantity, TreeTable};
use crate::timeline::{ClosureMetric, Metric, TimePoint, Timeline};
use memory_city_heap::printable::line_text;
use memory_city_heap::progress::Progress;
use std::str::FromStr;
use std::sync::Arc;

/// How much the heap may grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GrowthLimit {
    /// Percent of the value at the first time.
    Percent(f64),
    /// Bytes.
    Bytes(u64),
}

impl FromStr for GrowthLimit {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<GrowthLimit, String> {
        let wrong = || format!("{text:?} is no amount of growth: write 5% or 20MB");
        if let Some(percent) = text.trim().strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
            return (percent.is_finite() && percent >= 0.0).then_some(GrowthLimit::Percent(percent)).ok_or_else(wrong);
        }
        crate::units::parse_bytes(text).map(GrowthLimit::Bytes).ok_or_else(wrong)
    }
}

/// A limit on a retained size, written as the condition of a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct RetainedLimit {
    /// The limit as typed.
    pub(super) text: String,
    pub(super) of: LimitOf,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum LimitOf {
    /// All objects of a type or owner together: `com.acme.Session > 50MB`.
    Named(String, FilterComparison, Quantity),
    /// Any group of the tree that an expression holds for: `retained > 50MB and name ~ "acme"`.
    Groups,
}

impl RetainedLimit {
    /// Whether it is about a type, a field or an owner by name.
    pub(super) fn is_named(&self) -> bool {
        matches!(self.of, LimitOf::Named(..))
    }
}

impl FromStr for RetainedLimit {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<RetainedLimit, String> {
        let columns = filter_columns();
        let error = match crate::table::parse_filter(text, &columns) {
            Ok(_) => return Ok(RetainedLimit { text: text.to_owned(), of: LimitOf::Groups }),
            Err(error) => error,
        };
        let Some((name, amount)) = name_and_limit(text) else {
            return Err(format!(
                "\n  {}\n  Limits look like: 'com.acme.Session > 50MB' (what all its objects retain), or 'retained > 50MB and \
                 name ~ \"acme\"' (any group)",
                error.pointing(text).replace('\n', "\n  ")
            ));
        };
        let amount_only = format!("retained {amount}");
        match crate::table::parse_filter(&amount_only, &columns) {
            Ok(Filter::Compare {
                comparison: comparison @ (FilterComparison::More | FilterComparison::AtLeast),
                number,
                ..
            }) => Ok(RetainedLimit { text: text.to_owned(), of: LimitOf::Named(name.to_owned(), comparison, number) }),
            Ok(_) => {
                let name = line_text(name);
                Err(format!("say what is too much, with > or >=: '{name} > 50MB' fails when it retains more"))
            }
            Err(error) => Err(format!("\n  {}", error.pointing(&amount_only).replace('\n', "\n  "))),
        }
    }
}

/// Splits at the last operator: names may have operators in them (`List<int>`).
fn name_and_limit(text: &str) -> Option<(&str, &str)> {
    let is_operator = |c: char| "<>=!".contains(c);
    let mut at = text.rfind(is_operator)?;
    let longer = at.checked_sub(1).filter(|&before| {
        text.is_char_boundary(before) && ["<=", ">=", "!=", "=="].iter().any(|two| text[before..].starts_with(two))
    });
    at = longer.unwrap_or(at);
    let name = text[..at].trim();
    // An expression with something missing, not a name.
    if [" and", " or", " not"].iter().any(|word| name.ends_with(word)) {
        return None;
    }
    let name = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(name);
    (!name.is_empty() && !name.contains('"')).then_some((name, &text[at..]))
}

/// The columns that filters may use in trees with all closure metrics.
fn filter_columns() -> Vec<FilterColumn> {
    let timeline = Timeline::from_trees(vec![TimePoint::default()], &[MemoryTree::new()]);
    let timeline = ClosureMetric::CLOSURES.iter().fold(timeline, |t, metric| t.with_metric(metric.info(), |_, _| 0));
    // Not cancelled: nobody else has the progress.
    let table = TreeTable::new(Arc::new(timeline), None, Metric::default(), &Progress::new());
    table.map(|table| table.filter_columns().to_vec()).unwrap_or_default()
}
