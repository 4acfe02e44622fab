//! The visible rows of a table, and their order.

use super::TreeTable;
use super::columns::TableField;
use super::evaluate::matches;
use super::filter::Filter;
use crate::tabular::{Row, RowSource, TableHeader};
use crate::timeline::{NodeId, Timeline};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashSet;

/// The choices for the rows of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrangement {
    /// The order; by name within a parent, or in the order of the tree, where there is none.
    pub sort: Option<Sort>,
    /// The filter of nodes.
    pub filter: Option<Filter>,
    /// Whether the tree is seen.
    pub shape: TableShape,
    /// The open nodes, for trees.
    pub expanded: Expanded,
    /// The deepest level that is listed; the root is level 0.
    pub deepest: Option<u32>,
}

/// The order of a column ([`TreeTable::sort`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    pub(super) field: TableField,
    /// Largest first. Ties keep the order of the tree.
    pub descending: bool,
}

/// Whether rows lie below others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableShape {
    /// Children follow their parent, sorted among themselves. Nodes above one that is looked for are listed, and open.
    #[default]
    Tree,
    /// All leaves, sorted as one list.
    Leaves,
    /// All nodes, sorted as one list.
    Nodes,
}

/// The nodes that show their children.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Expanded {
    /// All.
    #[default]
    All,
    /// These.
    Nodes(HashSet<NodeId>),
}

impl Expanded {
    fn contains(&self, node: NodeId) -> bool {
        match self {
            Expanded::All => true,
            Expanded::Nodes(nodes) => nodes.contains(&node),
        }
    }
}

/// The rows that are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableView {
    /// The node of each row. How deep it lies is [`Timeline::level`].
    pub rows: Vec<NodeId>,
    /// Nodes the filter holds for, wherever they are; all that can be listed where there is no filter.
    pub matched: u64,
    /// Nodes that are not listed because they lie deeper than [`Arrangement::deepest`].
    pub too_deep: u64,
}

/// Slices longer than this are sorted on all cores.
const LONG: usize = 1 << 13;

impl TreeTable {
    /// The rows of an arrangement. Sorts only visible rows.
    ///
    /// # Errors
    /// When the filter uses a column that this table does not have, or the work was cancelled.
    pub fn rebuild(&self, arrangement: &Arrangement, progress: &Progress) -> Result<TableView> {
        progress.begin("Sorting and filtering", 0);
        progress.check()?;
        let timeline = &*self.timeline;
        let found = arrangement.filter.as_ref().map(|filter| matches(self, filter, progress)).transpose()?;
        progress.check()?;
        if arrangement.shape == TableShape::Tree {
            return self.tree(arrangement, found, progress);
        }
        let listed = |&node: &NodeId| {
            found.as_ref().is_none_or(|found| found[node.index()])
                && (arrangement.shape == TableShape::Nodes || timeline.is_leaf(node))
        };
        let all: Vec<NodeId> = timeline.nodes().filter(listed).collect();
        let matched = all.len() as u64;
        let deepest = arrangement.deepest.unwrap_or(u32::MAX);
        let mut rows: Vec<NodeId> = all.into_iter().filter(|&n| timeline.level(n) <= deepest).collect();
        let too_deep = matched - rows.len() as u64;
        progress.check()?;
        self.sort_flat(&mut rows, arrangement.sort);
        Ok(TableView { rows, matched, too_deep })
    }

    fn tree(&self, arrangement: &Arrangement, found: Option<Vec<bool>>, progress: &Progress) -> Result<TableView> {
        let timeline = &*self.timeline;
        let n = timeline.len();
        let matched = found.as_ref().map_or(n, |found| found.iter().filter(|f| **f).count()) as u64;
        // Nodes that are looked for, and those above them. Children come after their parents.
        let filtered = found.is_some();
        let mut kept = found.unwrap_or_else(|| vec![true; n]);
        if filtered {
            for node in timeline.nodes().rev().filter(|&node| node != NodeId::ROOT) {
                if let Some(parent) = timeline.parent(node).filter(|_| kept[node.index()]) {
                    kept[parent.index()] = true;
                }
            }
        }
        let deepest = arrangement.deepest.unwrap_or(u32::MAX);
        let too_deep = match arrangement.deepest {
            Some(_) => timeline.nodes().filter(|&n| kept[n.index()] && timeline.level(n) > deepest).count() as u64,
            None => 0,
        };
        // Whether the children of a node are listed. What was looked for is shown whatever is closed.
        let open = |node: NodeId| timeline.level(node) < deepest && (filtered || arrangement.expanded.contains(node));
        progress.check()?;
        let order = self.sorted_siblings(arrangement.sort, |node| kept[node.index()] && open(node));
        progress.check()?;
        let mut rows = Vec::new();
        // Places in the order that are still to come, by level.
        let mut stack: Vec<std::ops::Range<usize>> = Vec::new();
        let enter = |node: NodeId, rows: &mut Vec<NodeId>| {
            rows.push(node);
            open(node).then(|| siblings(timeline, node))
        };
        if kept[0] {
            stack.extend(enter(NodeId::ROOT, &mut rows));
        }
        while let Some(range) = stack.last_mut() {
            let Some(place) = range.next() else {
                stack.pop();
                continue;
            };
            let node = NodeId(order[place]);
            if kept[node.index()] {
                stack.extend(enter(node, &mut rows));
            }
        }
        Ok(TableView { rows, matched, too_deep })
    }

    /// The children of each node in the order of the sort, at the places that their numbers have: those of one parent are
    /// numbered one after the other.
    fn sorted_siblings(&self, sort: Option<Sort>, wanted: impl Fn(NodeId) -> bool) -> Vec<u32> {
        let timeline = &*self.timeline;
        let mut order: Vec<u32> = (0..timeline.len() as u32).collect();
        let Some(sort) = sort else { return order };
        let mut slices: Vec<&mut [u32]> = Vec::new();
        let (mut rest, mut passed) = (&mut order[..], 0);
        for node in timeline.nodes().filter(|&node| timeline.children(node).len() > 1 && wanted(node)) {
            let range = siblings(timeline, node);
            let (_, behind) = rest.split_at_mut(range.start - passed);
            let (slice, behind) = behind.split_at_mut(range.len());
            (rest, passed) = (behind, range.end);
            slices.push(slice);
        }
        match sort.field {
            // That is how siblings are numbered.
            TableField::Name if !sort.descending => {}
            TableField::Name => slices.into_par_iter().for_each(|slice| slice.reverse()),
            TableField::Role => slices.into_par_iter().for_each(|slice| self.sort_texts(slice, sort)),
            _ => slices.into_par_iter().for_each(|slice| {
                let key = |node: &u32| (self.key(NodeId(*node), sort), *node);
                match slice.len() {
                    0..LONG => slice.sort_unstable_by_key(key),
                    _ => {
                        let mut keyed: Vec<(u64, u32)> = slice.par_iter().map(key).collect();
                        keyed.par_sort_unstable();
                        slice.iter_mut().zip(keyed).for_each(|(node, (_, sorted))| *node = sorted);
                    }
                }
            }),
        }
        order
    }

    fn sort_flat(&self, rows: &mut [NodeId], sort: Option<Sort>) {
        let Some(sort) = sort else { return };
        if matches!(sort.field, TableField::Name | TableField::Role) {
            let mut order: Vec<u32> = rows.iter().map(|n| n.0).collect();
            self.sort_texts(&mut order, sort);
            rows.iter_mut().zip(order).for_each(|(row, node)| *row = NodeId(node));
            return;
        }
        let mut keyed: Vec<(u64, u32)> = rows.par_iter().map(|&node| (self.key(node, sort), node.0)).collect();
        keyed.par_sort_unstable();
        rows.iter_mut().zip(keyed).for_each(|(row, (_, node))| *row = NodeId(node));
    }

    fn key(&self, node: NodeId, sort: Sort) -> u64 {
        let key = self.order(node, sort.field);
        if sort.descending { !key } else { key }
    }

    /// Sorts by name or role. Most texts differ within their first letters, which are compared as one number.
    fn sort_texts(&self, nodes: &mut [u32], sort: Sort) {
        let text = |node: u32| match sort.field {
            TableField::Role => self.timeline.role(NodeId(node)),
            _ => self.timeline.name(NodeId(node)),
        };
        let first_letters = |node: u32| {
            let mut letters = [0; 8];
            let bytes = text(node).as_bytes();
            let n = bytes.len().min(8);
            letters[..n].copy_from_slice(&bytes[..n]);
            u64::from_be_bytes(letters)
        };
        let mut keyed: Vec<(u64, u32)> = nodes.par_iter().map(|&node| (first_letters(node), node)).collect();
        keyed.par_sort_unstable_by(|a, b| {
            let order = a.0.cmp(&b.0).then_with(|| text(a.1).cmp(text(b.1)));
            let order = if sort.descending { order.reverse() } else { order };
            order.then(a.1.cmp(&b.1))
        });
        nodes.iter_mut().zip(keyed).for_each(|(node, (_, sorted))| *node = sorted);
    }
}

/// The numbers of the children of a node.
fn siblings(timeline: &Timeline, node: NodeId) -> std::ops::Range<usize> {
    let children = timeline.children(node);
    let first = children.first().map_or(0, |child| child.index());
    first..first + children.len()
}

/// A view as rows to be written.
pub struct TableRows<'a> {
    table: &'a TreeTable,
    view: &'a TableView,
    header: TableHeader,
    left_out: String,
}

impl<'a> TableRows<'a> {
    /// The rows of a view built from `arrangement`. The title names `grouping`.
    pub fn new(table: &'a TreeTable, view: &'a TableView, arrangement: &Arrangement, grouping: &str) -> TableRows<'a> {
        let info = table.timeline.metric_info(table.metrics[table.metric]);
        let header = TableHeader {
            id: "tree".into(),
            title: format!("Memory tree ({}, first to last; grouped by {grouping})", info.id),
            columns: table.columns.clone(),
            kinds: Vec::new(),
            nested: arrangement.shape == TableShape::Tree,
        };
        let left_out = match arrangement.deepest {
            Some(deepest) => format!("nodes below level {deepest}"),
            None => String::new(),
        };
        TableRows { table, view, header, left_out }
    }
}

impl RowSource for TableRows<'_> {
    fn header(&self) -> &TableHeader {
        &self.header
    }

    fn len(&self) -> usize {
        self.view.rows.len()
    }

    fn row(&self, index: usize) -> Cow<'_, Row> {
        let node = self.view.rows[index];
        let mut cells: Vec<_> = self.table.fields.iter().map(|&field| self.table.cell_of(node, field)).collect();
        let depth = if self.header.nested { self.table.timeline.level(node) } else { 0 };
        if let Some(crate::tabular::Cell::Node(link)) = cells.first_mut().filter(|_| self.header.nested) {
            // The way to it is seen: what lies above stands above.
            self.table.timeline.name(node).clone_into(&mut link.name);
        }
        Cow::Owned(Row { kind: 0, depth, cells })
    }

    fn left_out(&self) -> Option<(u64, &str)> {
        Some((self.view.too_deep, &self.left_out))
    }

    fn can_list_all(&self) -> bool {
        // The depth is a wish of its own.
        false
    }

    fn empty_text(&self) -> &str {
        "Nothing fits the filter."
    }
}
