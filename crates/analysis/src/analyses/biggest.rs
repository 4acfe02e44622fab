//! Analysis `biggest`: the single objects with the largest retained size.

use super::object_rows::OwnerRows;
use super::objects::{Largest, group, group_parameter, history};
use super::paths::{rules, soft_parameter};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Need, Parameter, ParameterKind, TimeWindow};
use crate::ownership::anchors::Anchors;
use crate::ownership::chain::most_frequent_node;
use crate::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{NodeId, Source, Unit};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId};

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Biggest)
}

struct Biggest;

/// Owners that a path names.
const MOST_OWNERS: usize = 5;

impl Analysis for Biggest {
    fn describe(&self) -> Description {
        Description {
            id: "biggest",
            title: "Biggest objects",
            explanation: "The objects that alone keep most alive at the last point in time: what would be freed if one of \
                them were, itself included; and the owners above them.",
            needs: &[Need::Objects],
            parameters: vec![
                group_parameter("The key of the group whose objects are looked at; all objects where it is empty"),
                Parameter {
                    id: "which",
                    title: "Which",
                    explanation: "all: also objects that a listed one owns; top: only those that no object alone keeps \
                        alive",
                    kind: ParameterKind::Choice { default: "all", choices: &["all", "top"] },
                },
                Parameter {
                    id: "top",
                    title: "Rows",
                    explanation: "How many objects are listed, the biggest first",
                    kind: ParameterKind::Number { default: 20, least: 1, most: 1_000_000 },
                },
                soft_parameter(),
            ],
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::Groups
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let history = history(document)?;
        let rules = rules(arguments);
        let node = group(document, arguments.word("group"))?;
        let inside: Option<BitSet> = match node {
            NodeId::ROOT => None,
            node => Some(history.objects_of(window.to, &[node], progress)?.objects),
        };
        let (heap, dominators) = history.dominators(window.to, rules, progress)?;
        let only_top = arguments.word("which") == "top";
        let mut largest = Largest::new(arguments.count("top"));
        let mut all = 0u64;
        for (at, o) in dominators.top_down().enumerate() {
            if at.is_multiple_of(1 << 18) {
                progress.check()?;
            }
            let wanted = inside.as_ref().is_none_or(|inside| inside.contains(o.0));
            if wanted && !(only_top && dominators.owner(o).is_some()) {
                all += 1;
                // Of equals the first by address.
                largest.add((dominators.retained(o).bytes, std::cmp::Reverse(o)));
            }
        }
        let (_, grouped) = history.grouped(window.to, progress)?;
        let timeline = document.timeline();
        let place = history.places_of(&grouped);
        let graph = dominators.graph(&heap);
        let anchors = Anchors::new(&graph);
        let objects = OwnerRows::new(&heap, &dominators);
        let total = dominators.total();
        let rows: Vec<Row> = largest
            .sorted()
            .map(|(_, std::cmp::Reverse(o))| {
                let retained = dominators.retained(o);
                let node = most_frequent_node(&heap, &grouped, &[o], &place);
                let mut cells = objects.names(o).to_vec();
                cells.extend(objects.retained(retained));
                cells.push(Cell::Number(heap.size_of(o)));
                cells.push(Cell::Text(owners_text(&heap, &dominators, &anchors, &objects, o)));
                cells.push(node.map_or(Cell::Empty, |node| Cell::Node(NodeLink::new(timeline, node))));
                Row { cells, ..Row::default() }
            })
            .collect();
        let mut columns = OwnerRows::name_columns().to_vec();
        columns.extend(OwnerRows::retained_columns("What would be freed if it were, itself included"));
        columns.extend([
            Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Its shallow bytes"),
            Column::new("owners", "Owners", CellKind::Text, "What alone keeps it alive, upwards; at last the root"),
            Column::new("group", "Group", CellKind::Node, "The group it is in"),
        ]);
        let header =
            TableHeader { id: "biggest".into(), title: "Biggest objects".into(), columns, ..TableHeader::default() };
        let left_out = Some((all - rows.len() as u64, "objects that retain less".to_owned()));
        let empty_text = "No GC root reaches an object of the group.".to_owned();
        let note = format!("GC roots keep {} objects, {}.", count_text(total.objects), bytes_text(total.bytes));
        let table = ResultTable { header, rows, left_out, empty_text };
        Ok(Findings { tables: vec![table], notes: vec![note], ..Findings::default() })
    }
}

/// The owners of an object upwards in short: types one after the other, those that repeat once; at last the root.
pub(super) fn owners_text(
    heap: &HeapState,
    dominators: &Dominators,
    anchors: &Anchors<'_>,
    objects: &OwnerRows<'_>,
    o: ObjectId,
) -> String {
    let class_objects = objects.class_objects();
    let mut text = String::new();
    let mut names = 0;
    let mut last = None;
    let mut at = o;
    loop {
        // A root that holds it, or the field of a class that stays: there is nothing more to learn further up.
        let mut roots = Vec::new();
        anchors.of(at, |_, root| roots.push(root));
        let owner = dominators.owner(at);
        if let Some(root) = roots.iter().min().filter(|_| owner.is_none_or(|o| class_objects.type_of(o).is_some())) {
            text.push_str(if text.is_empty() { "" } else { " < " });
            text.push_str(root);
            return text;
        }
        let Some(owner) = owner else {
            text.push_str(if text.is_empty() { "" } else { " < " });
            text.push_str("several owners");
            return text;
        };
        let of = (heap.type_of(owner), class_objects.type_of(owner));
        if last.replace(of) != Some(of) {
            names += 1;
            if names > MOST_OWNERS {
                text.push_str(" < ...");
                return text;
            }
            text.push_str(if text.is_empty() { "" } else { " < " });
            text.push_str(&objects.name(owner));
        }
        at = owner;
    }
}
