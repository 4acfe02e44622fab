//! Analysis `run`: a run as a whole, with its numbers and the data of the overview and detail charts, collection by collection.

use super::{Analysis, Arguments, Description, Findings, Parameter, ParameterKind, TimeWindow};
use crate::run::{RunFacts, RunStatistic};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader};
use crate::timeline::Source;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(RunNumbers)
}

struct RunNumbers;

impl Analysis for RunNumbers {
    fn describe(&self) -> Description {
        Description {
            id: "run",
            title: "Run",
            explanation: "How much memory a run used, how long it collected, what it allocated and what survived: as numbers of the \
                window, and collection by collection.",
            needs: &[],
            parameters: vec![Parameter {
                id: "states",
                title: "Heap states",
                explanation: "Of traces: at how many points in time at most it is computed what GC roots reach",
                kind: ParameterKind::Number { default: 0, least: 0, most: u64::MAX },
            }],
        }
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let facts = RunFacts::of(document, window, arguments.count("states"), progress)?;
        let statistics = facts.statistics(facts.measures.began, facts.ended);
        let columns = vec![
            Column::new("name", "What", CellKind::Text, "What it is"),
            Column::new("value", "How much", CellKind::Text, "How much of it there is"),
            Column::new("explanation", "That is", CellKind::Text, "What it means"),
        ];
        let row = |of: RunStatistic| Row {
            cells: vec![Cell::Text(of.name), Cell::Text(of.text), Cell::Text(of.explanation)],
            ..Row::default()
        };
        let header = TableHeader { id: "numbers".into(), title: "Numbers".into(), columns, ..TableHeader::default() };
        let numbers = ResultTable {
            header,
            rows: statistics.into_iter().map(row).collect(),
            left_out: None,
            empty_text: "Nothing is known of the run.".into(),
        };
        Ok(Findings { tables: vec![numbers, facts.table()], notes: facts.measures.notes, ..Findings::default() })
    }
}
