//! The columns of a tree as a table: their description, and the number of each node in each of them.

use super::TreeTable;
use super::parse::FilterColumn;
use crate::analyses::change;
use crate::tabular::{Cell, CellKind, Column, NodeLink};
use crate::timeline::{NodeId, Timeline, Unit};
use crate::units::SuffixKind;

/// The content of a column. Metrics by their place among those of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableField {
    Name,
    Role,
    /// Any name from the root to the node; only for filters.
    Path,
    Last(usize),
    First(usize),
    Peak(usize),
    Growth(usize),
    GrowthPercent(usize),
    Share,
    Level,
    Children,
    Trend,
}

impl TableField {
    /// The column to compare with a number of some kind: growth with percent is relative.
    pub(super) fn compared_with(self, kind: SuffixKind) -> Option<TableField> {
        match (self, kind) {
            (TableField::Name | TableField::Role | TableField::Path | TableField::Trend, _) => None,
            (TableField::Growth(metric), SuffixKind::Percent) => Some(TableField::GrowthPercent(metric)),
            (field, _) => Some(field),
        }
    }
}

/// Columns that are shown.
type Shown = Vec<(Column, TableField)>;
/// The columns that filters can use.
type Asked = Vec<(FilterColumn, TableField)>;

/// The columns of a timeline, and the id of each that a filter can ask for beside them.
pub(super) fn describe(timeline: &Timeline, metric: usize) -> (Shown, Asked) {
    let infos: Vec<_> = timeline.metrics().map(|m| timeline.metric_info(m)).collect();
    let chosen = &infos[metric];
    let lower = |title: &str| title.to_lowercase();
    let mut columns = vec![
        (Column::new("name", "Name", CellKind::Node, "The group or district; all of the heap first"), TableField::Name),
        (
            Column::new("role", "Role", CellKind::Text, "What made the group: the name of the classifier"),
            TableField::Role,
        ),
    ];
    let mut column = |id: String, title: String, kind, explanation: String, field| {
        columns.push((Column::new(id, title, kind, explanation), field));
    };
    for (i, info) in infos.iter().enumerate() {
        let (id, title) = (info.id.to_string(), info.title.to_string());
        column(id, title, CellKind::Number(info.unit), format!("{} at the last time", info.title), TableField::Last(i));
    }
    for (i, info) in infos.iter().enumerate() {
        let title = format!("Growth, {}", lower(&info.title));
        let explanation = format!("{} at the last time minus the first", info.title);
        column(format!("growth_{}", info.id), title, CellKind::Change(info.unit), explanation, TableField::Growth(i));
    }
    let of = lower(&chosen.title);
    column(
        "growth_percent".into(),
        "Growth %".into(),
        CellKind::Percent,
        format!("Growth of {of} relative to the first time; no number where there was nothing"),
        TableField::GrowthPercent(metric),
    );
    column(
        "share".into(),
        "Share".into(),
        CellKind::Percent,
        format!("Part of the {of} of all that is grouped, at the last time; below a row of other objects, of that row"),
        TableField::Share,
    );
    column(
        "trend".into(),
        "Trend".into(),
        CellKind::Series(chosen.unit),
        format!("The {of} over time"),
        TableField::Trend,
    );

    let ask = |id: String, kind, field| (FilterColumn { id, kind }, field);
    let mut asked: Vec<_> = columns
        .iter()
        .filter(|(_, field)| *field != TableField::Trend)
        .map(|(column, field)| ask(column.id.clone(), column.kind, *field))
        .collect();
    asked.push(ask("growth".into(), CellKind::Change(chosen.unit), TableField::Growth(metric)));
    for (i, info) in infos.iter().enumerate() {
        asked.push(ask(format!("first_{}", info.id), CellKind::Number(info.unit), TableField::First(i)));
        asked.push(ask(format!("peak_{}", info.id), CellKind::Number(info.unit), TableField::Peak(i)));
    }
    asked.push(ask("path".into(), CellKind::Text, TableField::Path));
    asked.push(ask("level".into(), CellKind::Number(Unit::Count), TableField::Level));
    asked.push(ask("children".into(), CellKind::Number(Unit::Count), TableField::Children));
    (columns, asked)
}

/// Growth relative to the first value, in percent: infinite from nothing, 0 from nothing to nothing.
#[inline]
fn relative(first: u64, last: u64) -> f64 {
    match (first, last) {
        (0, 0) => 0.0,
        (0, _) => f64::INFINITY,
        _ => 100.0 * (last as f64 - first as f64) / first as f64,
    }
}

impl TreeTable {
    /// The number of a node in a column, as filters compare it. Texts have none.
    #[inline]
    pub(super) fn number(&self, node: NodeId, field: TableField) -> f64 {
        let i = node.index();
        match field {
            TableField::Last(m) => self.last[m][i] as f64,
            TableField::First(m) => self.first[m][i] as f64,
            TableField::Peak(m) => self.timeline.peak(node, self.metrics[m]) as f64,
            TableField::Growth(m) => change(self.first[m][i], self.last[m][i]) as f64,
            TableField::GrowthPercent(m) => relative(self.first[m][i], self.last[m][i]),
            TableField::Share => match self.last[self.metric][self.timeline.whole(node).index()] {
                0 => 0.0,
                all => 100.0 * self.last[self.metric][i] as f64 / all as f64,
            },
            TableField::Level => f64::from(self.timeline.level(node)),
            TableField::Children => self.timeline.children(node).len() as f64,
            TableField::Name | TableField::Role | TableField::Path | TableField::Trend => 0.0,
        }
    }

    /// A number that orders nodes as a column does, smallest first. Names and roles have none.
    #[inline]
    pub(super) fn order(&self, node: NodeId, field: TableField) -> u64 {
        const SIGN: u64 = 1 << 63;
        let i = node.index();
        match field {
            TableField::Last(m) => self.last[m][i],
            TableField::First(m) => self.first[m][i],
            TableField::Peak(m) => self.timeline.peak(node, self.metrics[m]),
            TableField::Share | TableField::Trend => self.last[self.metric][i],
            TableField::Growth(m) => change(self.first[m][i], self.last[m][i]) as u64 ^ SIGN,
            TableField::GrowthPercent(_) => {
                // The order of IEEE 754: negative numbers turned around, positive ones above them.
                let bits = self.number(node, field).to_bits();
                if bits & SIGN == 0 { bits | SIGN } else { !bits }
            }
            TableField::Level => u64::from(self.timeline.level(node)),
            TableField::Children => self.timeline.children(node).len() as u64,
            TableField::Name | TableField::Role | TableField::Path => 0,
        }
    }

    pub(super) fn cell_of(&self, node: NodeId, field: TableField) -> Cell {
        let i = node.index();
        let timeline = &*self.timeline;
        match field {
            TableField::Name => Cell::Node(NodeLink::new(timeline, node)),
            TableField::Role | TableField::Path => Cell::Text(timeline.role(node).to_owned()),
            TableField::Last(m) => Cell::Number(self.last[m][i]),
            TableField::First(m) => Cell::Number(self.first[m][i]),
            TableField::Peak(m) => Cell::Number(timeline.peak(node, self.metrics[m])),
            TableField::Growth(m) => Cell::Change(change(self.first[m][i], self.last[m][i])),
            TableField::GrowthPercent(_) | TableField::Share => Cell::Percent(self.number(node, field)),
            TableField::Level => Cell::Number(u64::from(timeline.level(node))),
            TableField::Children => Cell::Number(timeline.children(node).len() as u64),
            TableField::Trend => {
                let metric = self.metrics[self.metric];
                Cell::Series(self.window.times().map(|t| timeline.value(t, node, metric)).collect())
            }
        }
    }
}
