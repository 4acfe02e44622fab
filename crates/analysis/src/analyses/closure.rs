//! Analysis `closure`: the objects that a group reaches and retains, under any grouping.

use super::objects::{GROUPS, group_parameter, groups};
use super::paths::{rules, soft_parameter};
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::group;
use crate::inspection::{ClosureContents, ClosureKind, GroupClosure, InspectedHeap};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Source, Unit};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::sync::Arc;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Closure)
}

struct Closure;

impl Analysis for Closure {
    fn describe(&self) -> Description {
        let number = Parameter::number;
        Description {
            id: "closure",
            title: "Closure of a group",
            explanation: "What a group, or several groups as one, reaches and retains at the last point in time, and what \
                that consists of under any grouping.",
            needs: &[Need::Objects],
            parameters: vec![
                group_parameter(GROUPS),
                Parameter {
                    id: "kind",
                    title: "Closure",
                    explanation: "What is listed: retained, what would be freed if all objects of the group were; \
                        reachable, all that they reach; shallow, the objects themselves",
                    kind: ParameterKind::Choice { default: "retained", choices: &["retained", "reachable", "shallow"] },
                },
                Parameter {
                    id: "by",
                    title: "Group by",
                    explanation: "What it is grouped by: the name of a grouping, or a list of classifiers (package>type)",
                    kind: ParameterKind::Text { default: "type" },
                },
                number("depth", "Depth", "How many levels of the grouping are listed", 2, 1, 1_000),
                number(
                    "top",
                    "Rows",
                    "How many groups are listed below each; the others are counted",
                    20,
                    1,
                    1_000_000,
                ),
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
        let kind = ClosureKind::of(arguments.word("kind"));
        let grouping = group::grouping(arguments.word("by")).map_err(|error| Error::Unusable {
            what: format!("The grouping {:?} is not known: {}", error.text, error.message),
            remedy: "Write a list of classifiers, such as package>type".into(),
        })?;
        let inspected = InspectedHeap::new(document, window.to, rules(arguments), progress)?;
        let closure = GroupClosure::of_nodes(&inspected, &nodes, progress)?;
        let contents = ClosureContents::new(&inspected, closure.objects(kind), &grouping, progress)?;
        let all = closure.amount(kind);
        let (rows, left_out) =
            rows(Arc::new(contents), arguments.count("depth"), arguments.count("top") as u64, all.bytes);
        let line = |kind: ClosureKind| {
            let amount = closure.amount(kind);
            let explanation = kind.explanation();
            format!("{explanation}: {} objects, {}.", count_text(amount.objects), bytes_text(amount.bytes))
        };
        let mut notes: Vec<String> = ClosureKind::ALL.map(line).to_vec();
        if closure.garbage() > 0 {
            notes.push(format!("{} of the objects are reached by no GC root.", count_text(closure.garbage())));
        }
        let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
        let columns = vec![
            Column::new("group", "Group", CellKind::Text, "A group of the closure"),
            Column::new("objects", "Objects", objects, "How many objects of the closure are in it"),
            Column::new("bytes", "Bytes", bytes, "Their shallow bytes"),
            Column::new("share", "Share", CellKind::Percent, "Of the bytes of the closure"),
        ];
        let title = format!("{}, by {}", kind.explanation(), grouping.title);
        let header = TableHeader { id: "closure".into(), title, columns, nested: true, ..TableHeader::default() };
        let table = ResultTable {
            header,
            rows,
            left_out: (left_out > 0).then(|| (left_out, "smaller groups".to_owned())),
            empty_text: "The group has no objects at this point in time.".into(),
        };
        Ok(Findings { tables: vec![table], notes, ..Findings::default() })
    }
}

/// The groups of a closure down to a depth, the first `top` below each; and how many are left out beside those.
fn rows(contents: Arc<ClosureContents>, depth: usize, top: u64, all: u64) -> (Vec<Row>, u64) {
    let mut rows = Vec::new();
    let mut left_out = 0;
    let mut open = vec![(0usize, 0u32)];
    while let Some((node, level)) = open.pop() {
        if node > 0 {
            let tree = contents.tree();
            let amount = tree.amount(node);
            let cells = vec![
                Cell::Text(tree.name(node).to_string()),
                Cell::Number(amount.objects),
                Cell::Number(amount.bytes),
                Cell::Percent(100.0 * amount.bytes as f64 / all.max(1) as f64),
            ];
            rows.push(Row { cells, depth: level - 1, ..Row::default() });
        }
        if (level as usize) < depth {
            let children = contents.children(node);
            left_out += (children.len() as u64).saturating_sub(top);
            let listed = children.iter().take(top as usize);
            open.extend(listed.rev().map(|&child| (child as usize, level + 1)));
        }
    }
    (rows, left_out)
}
