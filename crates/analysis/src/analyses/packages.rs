//! Analysis `packages`: the packages taken for the program's own, which groupings by the closest domain call site use.

use super::{Analysis, Arguments, Description, Findings, Need, TimeWindow};
use crate::group::domain;
use crate::group::registry;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader};
use crate::timeline::{Source, Unit};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(OwnPackages)
}

struct OwnPackages;

impl Analysis for OwnPackages {
    fn describe(&self) -> Description {
        Description {
            id: "packages",
            title: "The program's own packages",
            explanation: "Packages with objects at the last point in time that are guessed to be the program's own, not a \
                          library's. Where the guess is wrong, say which are: --packages com.acme,org.x",
            needs: &[Need::Objects],
            parameters: Vec::new(),
        }
    }

    fn run(&self, document: &Source, window: TimeWindow, _: &Arguments, progress: &Progress) -> Result<Findings> {
        let columns = vec![
            Column::new("package", "Package", CellKind::Text, "What the names of the classes begin with"),
            Column::new("classes", "Classes", CellKind::Number(Unit::Count), "Classes with objects"),
            Column::new("objects", "Objects", CellKind::Number(Unit::Objects), "Their objects"),
            Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
            Column::new("reason", "Why", CellKind::Text, "Why it is taken for the program's own"),
        ];
        let heap = document.heaps().map(|history| history.heap(window.to, progress)).transpose()?;
        let rows = heap.map(|heap| domain::guess(&heap)).unwrap_or_default().into_iter().map(|guess| Row {
            cells: vec![
                Cell::Text(guess.package.clone()),
                Cell::Number(guess.classes),
                Cell::Number(guess.amount.objects),
                Cell::Number(guess.amount.bytes),
                Cell::Text(guess.reason().to_owned()),
            ],
            ..Row::default()
        });
        let rows: Vec<Row> = rows.collect();
        let chosen = registry().domain().packages().map(|packages| packages.join(", "));
        let note = match chosen {
            Some(chosen) => format!("Groupings go by the packages that were set: {chosen}"),
            None => {
                "No packages were set: groupings take for the program's own whatever no known library covers".to_owned()
            }
        };
        let header = TableHeader {
            id: "packages".into(),
            title: "The program's own packages, guessed".into(),
            columns,
            ..TableHeader::default()
        };
        let table = ResultTable { header, rows, ..ResultTable::default() };
        Ok(Findings { tables: vec![table], notes: vec![note], ..Findings::default() })
    }
}
