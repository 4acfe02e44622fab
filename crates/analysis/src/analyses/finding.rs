//! Findings: plain data that [detectors](super::Detector) make. Each has a sentence, a place, numbers, a time, a certainty and a next step.

use crate::tabular::{Cell, CellKind, ResultTable};
use crate::timeline::Unit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that a detector found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Id of the detector.
    pub detector: String,
    /// A sentence without a full stop, fit for a first line.
    pub headline: String,
    /// The same in full: a sentence, then lines below it.
    pub details: Vec<String>,
    /// The name of its place in the first line: the same for the same leak in other runs and builds. Empty where it has no name.
    pub signature: String,
    /// Where it is, if it is in one place.
    pub place: Option<FoundPlace>,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
    /// The two points in time between which it begins, counted from 1.
    pub since: Option<(usize, usize)>,
    /// How sure it is.
    pub certainty: Certainty,
    /// What tells more.
    pub next: Option<NextStep>,
}

/// The place of a finding: an owner, a class, a line of code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundPlace {
    /// Its name.
    pub name: String,
    /// Its key when grouped by owner; empty if it is no owner.
    pub owner: String,
    /// Types of what it fills up with, with numbers; empty if unknown.
    pub elements: String,
    /// The path from the GC root, step by step; empty if unknown.
    pub path: Vec<String>,
    /// How the collection that it is named after grows; empty if unknown.
    pub pattern: String,
}

/// A number of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its name: the column of the detector's main table.
    pub id: String,
    /// Its value.
    pub value: f64,
    /// The unit of the value.
    pub unit: EvidenceUnit,
}

/// The unit of a number of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceUnit {
    /// Objects.
    Objects,
    /// Bytes.
    Bytes,
    /// Anything else that is counted.
    Count,
    /// Milliseconds; of a time, since 1970 or the start of the program.
    Millis,
    /// Hundredths.
    Percent,
}

impl From<Unit> for EvidenceUnit {
    fn from(unit: Unit) -> EvidenceUnit {
        match unit {
            Unit::Objects => EvidenceUnit::Objects,
            Unit::Bytes => EvidenceUnit::Bytes,
            Unit::Count => EvidenceUnit::Count,
            Unit::Millis => EvidenceUnit::Millis,
        }
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// From exact counts, beyond every threshold of its rule.
    Counted,
    /// From samples, beyond their error in 997 of 1,000 cases.
    Estimated,
    /// It fits the rule, and so does something harmless. The caveats say what would tell.
    #[default]
    Open,
}

/// An analysis to run next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    /// Its id.
    pub analysis: String,
    /// Its arguments, as typed; all others have their defaults.
    pub arguments: BTreeMap<String, String>,
}

impl NextStep {
    /// An analysis with its defaults.
    pub fn run(analysis: &str) -> Option<NextStep> {
        Some(NextStep { analysis: analysis.to_owned(), arguments: BTreeMap::new() })
    }

    /// The same with an argument.
    pub fn with(analysis: &str, name: &str, value: &str) -> Option<NextStep> {
        Some(NextStep { analysis: analysis.to_owned(), arguments: [(name.to_owned(), value.to_owned())].into() })
    }
}

impl Finding {
    /// A finding in sentences, with the numbers of a row of its table.
    pub fn of_row(detector: &str, details: Vec<String>, table: &ResultTable, row: Option<usize>) -> Finding {
        let headline = details.first().map_or("", |sentence| sentence.trim_end_matches(['.', ':'])).to_owned();
        let cells = row.and_then(|row| table.rows.get(row)).map_or(&[][..], |row| &row.cells);
        let evidence = table.header.columns.iter().zip(cells).filter_map(|(column, cell)| {
            let (value, unit) = match (cell, column.kind) {
                (Cell::Number(n), CellKind::Number(unit)) => (*n as f64, unit.into()),
                (Cell::Change(n), CellKind::Change(unit)) => (*n as f64, unit.into()),
                (Cell::Percent(percent), _) if percent.is_finite() => (*percent, EvidenceUnit::Percent),
                (Cell::Time(millis), _) => (*millis as f64, EvidenceUnit::Millis),
                _ => return None,
            };
            Some(Evidence { id: column.id.clone(), value, unit })
        });
        Finding { detector: detector.to_owned(), headline, details, evidence: evidence.collect(), ..Finding::default() }
    }

    /// The same in a place that is known by name alone.
    pub fn at(self, name: impl Into<String>) -> Finding {
        Finding { place: Some(FoundPlace { name: name.into(), ..FoundPlace::default() }), ..self }
    }

    /// A number of the evidence.
    pub fn number(&self, id: &str) -> Option<f64> {
        self.evidence.iter().find(|evidence| evidence.id == id).map(|evidence| evidence.value)
    }

    /// The number as a point in time, counted from 1.
    pub(super) fn time(&self, id: &str) -> Option<usize> {
        self.number(id).map(|time| time as usize)
    }
}
