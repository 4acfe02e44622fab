//! Analysis `graph`: the aggregated object graph of groups, with boxes of objects, the references between them, and the objects held over
//! each.

use super::objects::{GROUPS, group_parameter, groups};
use super::paths::{rules, soft_parameter};
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::object_graph::{GraphLimits, GraphStep, HeldOver, ObjectGraph};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, count_text};
use crate::timeline::{Source, Unit};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::ObjectClosures;
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(GraphTables)
}

struct GraphTables;

impl Analysis for GraphTables {
    fn describe(&self) -> Description {
        let number = Parameter::number;
        Description {
            id: "graph",
            title: "Object graph of a group",
            explanation: "What refers to a group and what it refers to, as boxes of objects that share a group, up to the GC \
                roots; and how many of its objects are held over each reference.",
            needs: &[Need::Objects, Need::References],
            parameters: vec![
                group_parameter(GROUPS),
                Parameter {
                    id: "steps",
                    title: "Steps",
                    explanation: "What is added to the boxes of the group, in this order, with commas between: points-to, \
                        pointed-from, paths-to-roots, main-paths (only over boxes that hold at least 5 % of the objects)",
                    kind: ParameterKind::Text { default: "main-paths" },
                },
                number("boxes", "Boxes", "A step adds so many boxes at most; small groups are one", 9, 2, 1_000),
                number(
                    "rounds",
                    "Rounds",
                    "After so many references what is further away is a box for each group",
                    12,
                    0,
                    10_000,
                ),
                Parameter {
                    id: "alone",
                    title: "Alone",
                    explanation: "Whether it is computed how many objects nothing else holds; takes longer",
                    kind: ParameterKind::Choice { default: "no", choices: &["no", "yes"] },
                },
                soft_parameter(),
            ],
        }
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let nodes = groups(document, arguments.word("group"))?;
        let limits = GraphLimits { boxes_a_step: arguments.count("boxes"), rounds: arguments.count("rounds") };
        let mut graph = ObjectGraph::new(document, window.to, &nodes, rules(arguments), limits, progress)?;
        let selected = graph.graph().boxes.len();
        for step in steps(arguments.word("steps"))? {
            for of in 0..selected {
                graph.apply(step, of, progress)?;
            }
        }
        let held = graph.held_over(0, progress)?;
        let alone = match arguments.word("alone") {
            "yes" => {
                let heap = graph.heap().clone();
                let closures = ObjectClosures::new(&heap, rules(arguments), progress)?;
                let of = |arrow| graph.held_alone(&closures, arrow, 0, progress);
                Some((0..graph.graph().arrows.len()).map(of).collect::<Result<Vec<u64>>>()?)
            }
            _ => None,
        };
        let mut notes = Vec::new();
        if let Some(first) = graph.graph().boxes.first() {
            notes.push(format!(
                "held: how many of the {} objects of {} are reached over an arrow; those that are held in several ways count for \
                 each of them.",
                count_text(first.amount.objects),
                first.name
            ));
        }
        let tables = vec![boxes(&graph), arrows(&graph, &held, alone.as_deref()), roots(&graph, &held)];
        Ok(Findings { answers: answers(&graph, &held), tables, notes, ..Findings::default() })
    }
}

/// The steps that a text names.
fn steps(text: &str) -> Result<Vec<GraphStep>> {
    let known = |word: &str| {
        let found = GraphStep::ALL.into_iter().map(|(step, ..)| step).find(|step| step.id() == word);
        found.ok_or_else(|| Error::Unusable {
            what: format!("There is no step {word:?}"),
            remedy: "Use points-to, pointed-from, paths-to-roots or main-paths, with commas between".into(),
        })
    };
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(known).collect()
}

/// The roots that hold most.
fn answers(graph: &ObjectGraph, held: &HeldOver) -> Vec<String> {
    let shown = graph.graph();
    let mut roots: Vec<usize> = (0..shown.roots.len()).filter(|&i| held.roots[i] > 0).collect();
    roots.sort_by_key(|&i| std::cmp::Reverse(held.roots[i]));
    let line = |i: usize| {
        let root = &shown.roots[i];
        let place = root.places.first().map_or(root.kind.as_str(), |(text, _)| text.as_str());
        let more = if root.places.len() > 1 { format!(" and {} more", root.places.len() - 1) } else { String::new() };
        format!(
            "{} of {} objects are held by {place}{more}, over {}.",
            count_text(held.roots[i]),
            count_text(held.objects),
            shown.boxes[root.held].name
        )
    };
    roots.into_iter().take(3).map(line).collect()
}

fn table(id: &str, title: &str, columns: Vec<Column>, rows: Vec<Row>, empty: &str) -> ResultTable {
    let header = TableHeader { id: id.into(), title: title.into(), columns, ..TableHeader::default() };
    ResultTable { header, rows, left_out: None, empty_text: empty.into() }
}

const COUNT: CellKind = CellKind::Number(Unit::Count);
const OBJECTS: CellKind = CellKind::Number(Unit::Objects);

fn boxes(graph: &ObjectGraph) -> ResultTable {
    let columns = vec![
        Column::new("box", "Box", COUNT, "Its number, counted from 1"),
        Column::new("group", "Group", CellKind::Text, "The group of its objects"),
        Column::new("step", "Step", CellKind::Change(Unit::Count), "Steps from the group: below 0 what refers to it"),
        Column::new("objects", "Objects", OBJECTS, "Objects in it"),
        Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
        Column::new("internal", "Internal", COUNT, "References among them"),
        Column::new("before", "From others", COUNT, "References from objects in no box"),
        Column::new("beyond", "To others", COUNT, "References to objects in no box"),
    ];
    let row = |(at, of): (usize, &crate::object_graph::GraphBox)| Row {
        cells: vec![
            Cell::Number(at as u64 + 1),
            Cell::Text(of.name.clone()),
            Cell::Change(of.column.into()),
            Cell::Number(of.amount.objects),
            Cell::Number(of.amount.bytes),
            Cell::Number(of.internal),
            Cell::Number(of.before),
            Cell::Number(of.beyond),
        ],
        ..Row::default()
    };
    let rows = graph.graph().boxes.iter().enumerate().map(row).collect();
    table("boxes", "Boxes", columns, rows, "The group has no objects at this point in time.")
}

fn arrows(graph: &ObjectGraph, held: &HeldOver, alone: Option<&[u64]>) -> ResultTable {
    let columns = vec![
        Column::new("from", "From box", COUNT, "The box that refers"),
        Column::new("from_group", "From", CellKind::Text, "Its group"),
        Column::new("to", "To box", COUNT, "The box that is referred to"),
        Column::new("to_group", "To", CellKind::Text, "Its group"),
        Column::new("referencing", "Referencing", OBJECTS, "How many objects refer"),
        Column::new("referenced", "Referenced", OBJECTS, "How many objects are referred to"),
        Column::new("references", "References", COUNT, "How many references there are"),
        Column::new("held", "Held", OBJECTS, "How many objects of the first box are reached over them"),
        Column::new("alone", "Alone", OBJECTS, "How many of these nothing else would hold"),
    ];
    let shown = graph.graph();
    let row = |(at, of): (usize, &crate::object_graph::GraphArrow)| Row {
        cells: vec![
            Cell::Number(of.from as u64 + 1),
            Cell::Text(shown.boxes[of.from].name.clone()),
            Cell::Number(of.to as u64 + 1),
            Cell::Text(shown.boxes[of.to].name.clone()),
            Cell::Number(of.referencing),
            Cell::Number(of.referenced),
            Cell::Number(of.references),
            Cell::Number(held.arrows[at]),
            alone.map_or(Cell::Empty, |alone| Cell::Number(alone[at])),
        ],
        ..Row::default()
    };
    let rows = shown.arrows.iter().enumerate().map(row).collect();
    table("arrows", "References", columns, rows, "No box refers to another.")
}

fn roots(graph: &ObjectGraph, held: &HeldOver) -> ResultTable {
    let columns = vec![
        Column::new("kind", "Kind", CellKind::Text, "Their kind"),
        Column::new("root", "Root", CellKind::Text, "The one that is there most often"),
        Column::new("to", "To box", COUNT, "The box that they hold"),
        Column::new("to_group", "To", CellKind::Text, "Its group"),
        Column::new("roots", "Roots", COUNT, "How many roots of this kind hold it"),
        Column::new("objects", "Objects", OBJECTS, "How many objects they hold directly"),
        Column::new("held", "Held", OBJECTS, "How many objects of the first box are reached from these"),
    ];
    let shown = graph.graph();
    let row = |(at, of): (usize, &crate::object_graph::GraphRoot)| Row {
        cells: vec![
            Cell::Text(of.kind.clone()),
            Cell::Text(of.places.first().map(|(text, _)| text.clone()).unwrap_or_default()),
            Cell::Number(of.held as u64 + 1),
            Cell::Text(shown.boxes[of.held].name.clone()),
            Cell::Number(of.roots),
            of.objects.map_or(Cell::Empty, Cell::Number),
            Cell::Number(held.roots[at]),
        ],
        ..Row::default()
    };
    let rows = shown.roots.iter().enumerate().map(row).collect();
    table("roots", "GC roots", columns, rows, "No GC root holds a box directly.")
}
