//! A place that accumulates, in words: a row of the analysis, and its node among the owners.

use memory_city_analysis::analyses::Findings;
use memory_city_analysis::tabular::Cell;
use memory_city_analysis::timeline::{NodeId, Timeline};

/// The table of the analysis in which places are.
pub(super) const TABLE: &str = "leaks";

/// A place that accumulates, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeakPlace {
    /// Who owns what grows.
    pub place: String,
    /// What it fills up with.
    pub elements: String,
    /// Elements at the first and at the last point in time.
    pub counts: (String, String),
    /// Retained bytes at the first and at the last point in time, and what was added.
    pub retained: (String, String),
    /// What was added.
    pub growth: String,
    /// Part of the growth of the whole heap, 0 to 1.
    pub share: f32,
    /// Bytes that it keeps alive at the last point in time.
    pub bytes: u64,
    /// From the GC root to it, by fields, where the input knows them.
    pub path: Option<String>,
    /// Its key when grouped by owner.
    pub owner: String,
    /// Which of all places it is: 0 for the one where most accumulates.
    pub number: usize,
    /// How many more places there are.
    pub others: u64,
    /// What a person must know about it.
    pub notes: Vec<String>,
    /// Since when it grows: between these two points in time it had its first twentieth of all that it grew.
    pub since: Option<(usize, usize)>,
    /// How many points in time it was found in, where there may be more by now.
    pub until: Option<usize>,
}

impl LeakPlace {
    /// One of the places that the analysis names.
    pub(super) fn of(findings: &Findings, number: usize) -> Option<LeakPlace> {
        let table = findings.tables.iter().find(|table| table.header.id == TABLE)?;
        let row = table.rows.get(number)?;
        let cell = |id: &str| table.header.column(id).and_then(|at| row.cells.get(at));
        let text = |id: &str| match (table.header.column(id), cell(id)) {
            (Some(at), Some(cell)) if *cell != Cell::Empty => cell.text(table.header.columns[at].kind),
            _ => String::new(),
        };
        let share = match cell("share") {
            Some(Cell::Percent(percent)) => (percent / 100.0) as f32,
            _ => 0.0,
        };
        // What the collection itself counts, where there is one: its elements fill it up with keys and values.
        // One of several that are as large as ever says nothing: then there are more of them.
        let grew = match (cell("entries_first"), cell("entries")) {
            (Some(Cell::Number(first)), Some(Cell::Number(last))) => last > first,
            (_, Some(Cell::Number(_))) => true,
            _ => false,
        };
        let counts = match grew {
            true => (text("entries_first"), text("entries")),
            false => (text("first"), text("last")),
        };
        let left_out = table.left_out.as_ref().map_or(0, |(n, _)| *n);
        let time = |id: &str| match cell(id) {
            Some(Cell::Number(time)) => usize::try_from(time.checked_sub(1)?).ok(),
            _ => None,
        };
        Some(LeakPlace {
            place: text("place"),
            elements: text("elements"),
            counts,
            retained: (text("retained_first"), text("retained")),
            growth: text("growth"),
            bytes: if let Some(Cell::Number(bytes)) = cell("retained") { *bytes } else { 0 },
            share: if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 },
            path: Some(text("path")).filter(|path| !path.is_empty()),
            owner: text("owner"),
            number,
            others: table.rows.len() as u64 - 1 + left_out,
            notes: findings.notes.clone(),
            since: time("since").zip(time("grown_at")),
            until: None,
        })
    }

    /// The node of its place in trees that are grouped by owner: the place itself, or what of the way to it there is.
    pub(super) fn node_in(owner: &str, timeline: &Timeline) -> Option<NodeId> {
        let root = timeline.key(NodeId::ROOT);
        let mut key = if owner == root || owner.starts_with(&format!("{root}#")) {
            owner.to_owned()
        } else {
            format!("{root}#{owner}")
        };
        loop {
            match timeline.find(&key) {
                Some(node) => return Some(node).filter(|node| *node != NodeId::ROOT),
                None => key.truncate(key.rfind('#')?),
            }
        }
    }
}
