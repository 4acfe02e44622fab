//! The rows of the table in their order, made by jobs while the ones before stay on screen.

use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::frame::Awake;
use crate::viewer::job::Job;
use crate::viewer::notices::Notices;
use crate::viewer::panels::PanelState;
use crate::viewer::search::read_filter;
use crate::viewer::selection::{Selection, SharedFilter};
use crate::viewer::settings::Settings;
use bevy::ecs::change_detection::Tick;
use bevy::prelude::*;
use memory_city_analysis::analyses::TimeWindow;
use memory_city_analysis::table::{Arrangement, Expanded, TableShape, TableView, TreeTable};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::collections::HashSet;
use std::sync::Arc;

/// Input of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Of {
    time: usize,
    metric: Metric,
}

/// Input of the rows besides the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Column and whether its largest come first.
    pub sort: Option<(String, bool)>,
    /// Text of the search.
    pub filter: String,
    /// Tree, leaves, or all nodes.
    pub shape: TableShape,
    /// Number of changes to the set of open rows.
    opened: u64,
}

/// Input of the rows being made, and the job that makes them.
type Making = ((Of, Order), Job<Result<Made>>);

/// The table and its rows.
#[derive(Resource)]
pub struct Table {
    /// The order that is wanted.
    pub order: Order,
    /// The open nodes of the tree.
    expanded: HashSet<NodeId>,
    data: Option<(Of, Arc<TreeTable>)>,
    view: TableView,
    shown: Option<(Of, Order)>,
    job: Option<Making>,
    /// The error of the filter: the place, and expected words.
    pub wrong: Option<(String, String)>,
    /// The row that keys move from.
    pub cursor: Option<NodeId>,
    /// First row of a range.
    pub anchor: Option<NodeId>,
    /// A node to scroll to.
    pub reveal: Option<NodeId>,
    /// When the selection that was followed last was made.
    pub followed: Tick,
    /// Whether it was drawn in the last frame: a hidden view computes nothing.
    pub seen: bool,
    timeline: Option<Arc<Timeline>>,
}

struct Made {
    table: Arc<TreeTable>,
    /// The rows, or why the filter cannot be read.
    view: std::result::Result<TableView, (String, String)>,
}

impl Default for Table {
    fn default() -> Self {
        let order =
            Order { sort: Some(("bytes".into(), true)), filter: String::new(), shape: TableShape::Tree, opened: 0 };
        Table {
            order,
            expanded: HashSet::from([NodeId::ROOT]),
            data: None,
            view: TableView::default(),
            shown: None,
            job: None,
            wrong: None,
            cursor: None,
            anchor: None,
            reveal: None,
            followed: Tick::default(),
            seen: false,
            timeline: None,
        }
    }
}

impl Table {
    /// The numbers, once they are there.
    pub fn data(&self) -> Option<&Arc<TreeTable>> {
        self.data.as_ref().map(|(_, table)| table)
    }

    /// The numbers, which rows there are of them, and whether those are a tree.
    pub fn shown(&self) -> Option<(&TreeTable, &TableView, TableShape)> {
        let (_, data) = self.data.as_ref()?;
        Some((data, &self.view, self.order.shape))
    }

    /// Metric of the lines over time.
    pub fn metric(&self) -> Metric {
        self.data.as_ref().map_or(Metric::Bytes, |(of, _)| of.metric)
    }

    /// The nodes in the order of the rows.
    pub fn rows(&self) -> &[NodeId] {
        &self.view.rows
    }

    /// How many nodes the filter holds for.
    pub fn matched(&self) -> u64 {
        self.view.matched
    }

    /// Whether other rows are on their way.
    pub fn busy(&self) -> bool {
        self.job.is_some()
    }

    /// The row of a node; looks through all of them.
    pub fn row_of(&self, node: NodeId) -> Option<usize> {
        self.view.rows.iter().position(|n| *n == node)
    }

    /// Whether a node shows its children.
    pub fn is_open(&self, node: NodeId) -> bool {
        !self.order.filter.trim().is_empty() || self.expanded.contains(&node)
    }

    /// Opens or closes a node.
    pub fn set_open(&mut self, node: NodeId, open: bool) {
        let changed = if open { self.expanded.insert(node) } else { self.expanded.remove(&node) };
        self.order.opened += u64::from(changed);
    }

    /// Sorts by a column: largest first, and with the same column again the other way round.
    pub fn sort_by(&mut self, column: &str) {
        let text = matches!(column, "name" | "role");
        self.order.sort = match self.order.sort.take() {
            Some((same, descending)) if same == column => Some((same, !descending)),
            _ => Some((column.to_owned(), !text)),
        };
    }

    /// Drops the rows, for another program. The sorting stays.
    pub fn forget(&mut self) {
        let order = Order { filter: String::new(), opened: self.order.opened + 1, ..self.order.clone() };
        *self = Table { order, seen: self.seen, ..Table::default() };
    }

    /// Follows new trees of the same program: open rows stay open.
    pub fn rebind(&mut self, timeline: &Arc<Timeline>) {
        if let Some(before) = self.timeline.replace(Arc::clone(timeline)) {
            let same = |node: NodeId| timeline.find(&before.key(node));
            self.expanded = self.expanded.iter().filter_map(|&node| same(node)).collect();
            self.cursor = self.cursor.and_then(same);
            self.anchor = self.anchor.and_then(same);
        }
        // Rows are numbers of the trees before.
        (self.data, self.shown, self.job, self.reveal) = (None, None, None, None);
        self.view = TableView::default();
    }

    /// Opens the groups around a node and scrolls to it.
    fn follow(&mut self, timeline: &Timeline, node: NodeId) {
        let mut above = timeline.parent(node);
        while let Some(node) = above {
            self.set_open(node, true);
            above = timeline.parent(node);
        }
        self.cursor = Some(node);
        self.reveal = Some(node);
    }
}

/// Follows document, time, metric, filter and selection.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn follow(
    mut table: ResMut<Table>,
    document: Res<Document>,
    clock: Res<Clock>,
    settings: Res<Settings>,
    filter: Res<SharedFilter>,
    selection: Res<Selection>,
    mut notices: ResMut<Notices>,
    (mut awake, panels): (ResMut<Awake>, Res<PanelState>),
) {
    let table = &mut *table;
    let Some(timeline) = document.timeline() else { return };
    if !std::mem::take(&mut table.seen) {
        return;
    }
    table.timeline = Some(Arc::clone(timeline));
    if table.order.filter != filter.0 {
        table.order.filter.clone_from(&filter.0);
    }
    if table.followed != selection.last_changed() {
        table.followed = selection.last_changed();
        if let Some(node) = selection.node() {
            table.follow(timeline, node);
        }
    }
    let metric = settings.metric_in(timeline);
    let of = Of { time: clock.time, metric };
    let wanted = (of, table.order.clone());
    if table.job.as_ref().is_some_and(|(aim, _)| *aim != wanted) {
        table.job = None;
    }
    if let Some(outcome) = table.job.as_ref().and_then(|(_, job)| job.poll()) {
        table.job = None;
        table.shown = Some(wanted.clone());
        match outcome {
            Ok(Ok(made)) => {
                table.data = Some((of, made.table));
                match made.view {
                    Ok(view) => {
                        tracing::debug!("table: {} rows, {} match", view.rows.len(), view.matched);
                        (table.view, table.wrong) = (view, None);
                    }
                    Err(wrong) => {
                        tracing::debug!("table: the filter is wrong: {}", wrong.1);
                        table.wrong = Some(wrong);
                    }
                }
            }
            Ok(Err(Error::Cancelled)) => table.shown = None,
            Ok(Err(error)) => notices.tell(error.to_string()),
            Err(panic) => notices.tell(panic),
        }
    }
    if table.job.is_none() && table.shown.as_ref() != Some(&wanted) {
        let at_hand = table.data.as_ref().filter(|(had, _)| *had == of).map(|(_, data)| Arc::clone(data));
        let (timeline, order, expanded) = (Arc::clone(timeline), wanted.1.clone(), table.expanded.clone());
        if panels.still {
            // A picture is taken now.
            if let Ok(Made { table: data, view: Ok(view) }) =
                make(timeline, of, at_hand, order, expanded, &Progress::new())
            {
                (table.data, table.view) = (Some((of, data)), view);
            }
            table.shown = Some(wanted);
        } else {
            let job = Job::behind_frames(move |progress| make(timeline, of, at_hand, order, expanded, progress));
            table.job = Some((wanted, job));
        }
    }
    awake.wait_if(table.busy());
}

fn make(
    timeline: Arc<Timeline>,
    of: Of,
    at_hand: Option<Arc<TreeTable>>,
    order: Order,
    expanded: HashSet<NodeId>,
    progress: &Progress,
) -> Result<Made> {
    let window = TimeWindow { from: 0, to: of.time.min(timeline.times().saturating_sub(1)) };
    let table = match at_hand {
        Some(table) => table,
        None => Arc::new(TreeTable::new(timeline, Some(window), of.metric, progress)?),
    };
    let filter = match read_filter(&table, &order.filter) {
        Ok(filter) => filter,
        Err(wrong) => return Ok(Made { table, view: Err(wrong) }),
    };
    // A column that this document does not have sorts nothing.
    let sort = order.sort.as_ref().and_then(|(column, descending)| table.sort(column, *descending).ok());
    let arrangement =
        Arrangement { sort, filter, shape: order.shape, expanded: Expanded::Nodes(expanded), deepest: None };
    let view = table.rebuild(&arrangement, progress)?;
    Ok(Made { table, view: Ok(view) })
}
