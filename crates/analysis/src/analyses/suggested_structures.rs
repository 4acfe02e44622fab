//! Analysis `suggested-structures`: descriptions of data structures that none describes, suggested from the heap itself.

use super::objects::{history, top_parameter};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Need, Parameter, ParameterKind, TimeWindow};
use crate::structures::{StructureFill, SuggestedStructure, descriptions, fills, suggested, suggestions_as_file};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader};
use crate::timeline::{Source, Unit};
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{FoundStructures, StructureRules};
use memory_city_heap::{HeapState, ObjectId, TypeId};
use std::collections::BTreeSet;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(SuggestedStructures)
}

struct SuggestedStructures;

impl Analysis for SuggestedStructures {
    fn describe(&self) -> Description {
        Description {
            id: "suggested-structures",
            title: "Suggested data structures",
            explanation: "Types that look like data structures and that no description names, with a description for each: \
                nodes that refer to their kind, tables whose entries are declared within them, and lists with a field that \
                has the number of their elements. Put the text into a file, correct it, and give it with --structures.",
            needs: &[Need::Objects],
            parameters: vec![
                Parameter {
                    id: "described",
                    title: "Described types",
                    explanation: "leave-out: only types without a description; include: all, and how many of those that are \
                        described were found",
                    kind: ParameterKind::Choice { default: "leave-out", choices: &["leave-out", "include"] },
                },
                top_parameter("How many are suggested, those first with most elements"),
            ],
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::HeapStates
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let history = history(document)?;
        let heap = history.heap(window.to, progress)?;
        let values = history.values(window.to, progress)?;
        let known = descriptions(heap.profile())?;
        let leaves_out = arguments.word("described") == "leave-out";
        let mut all = suggested(&heap, values.as_ref(), Some(&known).filter(|_| leaves_out), progress)?;
        let mut notes = Vec::new();
        if !leaves_out {
            let rules = StructureRules::new(&heap, &known, progress)?;
            notes.push(compared(&heap, values.as_ref(), &rules, &all, progress)?);
        }
        let left_out = all.len().saturating_sub(arguments.count("top")) as u64;
        all.truncate(arguments.count("top"));
        let rows = all.iter().map(|of| Row {
            cells: vec![
                Cell::Text(heap.types()[of.head.0 as usize].name.clone()),
                Cell::Number(of.heads),
                Cell::Number(of.nodes),
                of.size.clone().map_or(Cell::Empty, Cell::Text),
            ],
            ..Row::default()
        });
        let objects = CellKind::Number(Unit::Objects);
        let columns = vec![
            Column::new("type", "Type", CellKind::Text, "Type of the head"),
            Column::new("count", "Structures", objects, "How many of them there are"),
            Column::new("nodes", "Nodes", objects, "Nodes, or elements of their arrays, of all of them"),
            Column::of_program("size", "Size", "Field that has the number of elements"),
        ];
        let table = ResultTable {
            header: TableHeader {
                id: "suggested".into(),
                title: "Suggested data structures".into(),
                columns,
                ..TableHeader::default()
            },
            rows: rows.collect(),
            left_out: Some((left_out, "suggestions with fewer elements".to_owned())),
            empty_text: "Nothing looks like a data structure that is not described.".to_owned(),
        };
        if values.is_none() || heap.is_redacted() {
            notes
                .push("This input does not say what fields hold: only nodes are suggested, without fields.".to_owned());
        }
        let answers = suggestions_as_file(&heap, &all).lines().map(str::to_owned).collect();
        Ok(Findings { tables: vec![table], answers, notes, ..Findings::default() })
    }
}

/// Types that the comparison names.
const NAMED: usize = 50;
/// A described type counts where one of its objects has so many elements.
const FEWEST: u64 = 3;

/// How many of the described types are suggested, and how many of the suggested ones are described, with their names.
fn compared(
    heap: &HeapState,
    values: Option<&HeapValues>,
    rules: &StructureRules<'_>,
    all: &[SuggestedStructure],
    progress: &Progress,
) -> Result<String> {
    let found = FoundStructures::new(heap, rules, Some(heap.reachable()), progress)?;
    let fills = fills(heap, values, rules, &found, progress)?;
    let has_elements = |(_, fill): &(&ObjectId, &StructureFill)| fill.elements.is_some_and(|n| n >= FEWEST);
    let described: BTreeSet<TypeId> =
        std::iter::zip(found.heads(), &fills).filter(has_elements).map(|(&head, _)| heap.type_of(head)).collect();
    let suggested: BTreeSet<TypeId> = all.iter().map(|of| of.head).collect();
    let is_suggested = |t: &TypeId| heap.supertypes(*t).any(|t| suggested.contains(&t));
    let names = |of: &[TypeId]| {
        let names: Vec<&str> = of.iter().take(NAMED).map(|t| &*heap.types()[t.0 as usize].name).collect();
        match of.len() {
            0 => "none".to_owned(),
            all if all > NAMED => format!("{}, and {} more", names.join(", "), all - NAMED),
            _ => names.join(", "),
        }
    };
    let missed: Vec<TypeId> = described.iter().copied().filter(|t| !is_suggested(t)).collect();
    let further: Vec<TypeId> = suggested.iter().copied().filter(|&t| !rules.is_head(t)).collect();
    Ok(format!(
        "{} of {} described types with at least {FEWEST} elements are suggested; not: {}. {} of {} suggestions are described; \
         not: {}.",
        described.len() - missed.len(),
        described.len(),
        names(&missed),
        suggested.len() - further.len(),
        suggested.len(),
        names(&further),
    ))
}
