//! Analysis `growth`: the groups that grow most between two points in time, with referrers, roots, and the path up.
//!
//! Where there are objects, the way up is that of the objects ([`Owners`]); of trees, it goes from group to group.

use super::ranking::{growing, strongest};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Need, Parameter, ParameterKind, TimeWindow};
use crate::ownership::chain::{OwnerChain, Owners};
use crate::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, RowKind, TableHeader, count_text};
use crate::timeline::references::ReferenceMap;
use crate::timeline::{Amount, Metric, NodeId, Source, Timeline, Unit};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::sync::Arc;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Growth)
}

struct Growth;

/// Places of the kinds of rows.
const GROUP: usize = 0;
const REFERRER: usize = 1;
const MORE_REFERRERS: usize = 2;
const ROOT: usize = 3;
const MORE_ROOTS: usize = 4;
const OWNER: usize = 5;
const END: usize = 6;

/// Columns that come before those of the metrics.
const FIXED: usize = 9;

impl Analysis for Growth {
    fn describe(&self) -> Description {
        let number = Parameter::number;
        Description {
            id: "growth",
            title: "Growth",
            explanation: "The groups that grow most from the first to the last point in time, what refers to them at \
                the last, the GC roots that keep most of what came, and the chain of owners upwards, object by object: \
                always to the owners that keep most of what came, until a root holds them. Of trees without objects: \
                from each group to the one that refers to most of its objects.",
            needs: &[Need::TwoTimes],
            parameters: vec![
                number("top", "Groups", "How many groups are listed, those that grow most first", 10, 0, u64::MAX),
                Parameter {
                    id: "metric",
                    title: "Metric",
                    explanation: "What growth is measured in",
                    kind: ParameterKind::Metric { default: "bytes" },
                },
                Parameter {
                    id: "keepers",
                    title: "Keepers",
                    explanation: "Whether it is looked for what keeps each group alive: of large dumps it takes most of the time",
                    kind: ParameterKind::Choice { default: "yes", choices: &["yes", "no"] },
                },
                number(
                    "referrers",
                    "Referrers",
                    "How many groups that refer to a group are listed with it",
                    4,
                    0,
                    u64::MAX,
                ),
                number("roots", "Roots", "How many GC roots that hold a group are listed with it", 3, 0, u64::MAX),
                number(
                    "longest_chain",
                    "Longest chain",
                    "How many groups the chain of owners may have, the group itself included. Longer ones end with \
                     \"and further up\": most often they run along a data structure",
                    20,
                    1,
                    100_000,
                ),
                number(
                    "root_share",
                    "Share held by a root",
                    "Percent of a group's objects that one GC root must hold so that the chain of owners may end there. Of \
                     trees without objects, as are the two below",
                    50,
                    0,
                    100,
                ),
                number(
                    "owner_share",
                    "Share of the next owner",
                    "Percent of a group's objects: when the strongest referrer refers to no more than that, a root that \
                     holds enough ends the chain; otherwise the chain goes on to the referrer",
                    50,
                    0,
                    100,
                ),
                number(
                    "small_group",
                    "Small group",
                    "Groups of up to so many objects are small: a root that holds enough of one ends the chain whatever \
                     else refers to it. Of larger groups a root need only hold its share of so many objects, because \
                     roots hold single objects, and what hangs on them may be many",
                    8,
                    0,
                    u64::MAX,
                ),
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
        let timeline = document.timeline();
        let metric = arguments.metric("metric", timeline)?;
        let growing = growing(timeline, window, metric);
        let all = growing.len();
        let listed = strongest(growing, arguments.count("top"));
        progress.begin("Looking for what keeps it alive", listed.len() as u64);
        let chains = match document.heaps() {
            Some(history) if !listed.is_empty() && arguments.word("keepers") == "yes" => {
                let owners = Owners::new(history, window.from, window.to, progress)?;
                // The group itself is one of the longest chain.
                let longest = arguments.count("longest_chain") - 1;
                let by_bytes = metric == Metric::Bytes;
                Some(owners.chains(history, &listed, by_bytes, longest, progress)?)
            }
            _ => None,
        };
        let mut writer = Writer {
            document,
            timeline,
            window,
            arguments,
            columns: FIXED + 4 * timeline.metrics().count(),
            by_bytes: metric == Metric::Bytes,
            rows: Vec::new(),
        };
        for (i, (&node, name)) in listed.iter().zip(timeline.names_apart(&listed)).enumerate() {
            progress.check()?;
            writer.group(node, &name, chains.as_ref().map(|chains| &chains[i]), progress)?;
            progress.advance(1);
        }
        let info = timeline.metric_info(metric);
        let (rows, left) = (writer.rows, (all - listed.len()) as u64);
        let header = TableHeader {
            id: "growing".into(),
            title: format!("Grows most ({}, first to last; grouped by {})", info.id, document.grouping_id()),
            columns: columns(timeline),
            kinds: kinds(metric, timeline, owner_sentence(document)),
            nested: true,
        };
        let empty_text = match all {
            0 => "No group is larger at the end than at the start.".to_owned(),
            n => format!("None of the {n} groups that grow is listed."),
        };
        let left_out = Some((left, "groups that grow".to_owned()));
        let table = ResultTable { header, rows, left_out, empty_text };
        Ok(Findings { tables: vec![table], ..Findings::default() })
    }
}

fn columns(timeline: &Timeline) -> Vec<Column> {
    let objects = CellKind::Number(Unit::Objects);
    let mut columns = vec![
        Column::new("group", "Group", CellKind::Node, "The group that grows, refers to it, or owns it further up"),
        Column::new("root", "Root", CellKind::Text, "Kind and place of a GC root"),
        Column::new("referencing", "Refer", objects, "How many objects of this group refer to the group below"),
        Column::new(
            "referenced",
            "Referred to",
            objects,
            "How many objects of the group or owner below they refer to, or the root keeps: what came of the group, where \
             the input has objects; otherwise what it holds directly",
        ),
        Column::new("more", "More", CellKind::Number(Unit::Count), "How many more there are, which are not listed"),
        Column::new("end", "End of the chain", CellKind::Text, "Why the chain of owners ends"),
        Column::new("owner", "Owner", CellKind::Text, "Type and field of the owners, object by object"),
        Column::new(
            "keeps",
            "Keep",
            objects,
            "How many objects of what came of the group these owners, or the root, keep",
        ),
        Column::new(
            "keeps_share",
            "Share kept",
            CellKind::Percent,
            "Their share of what came: of its bytes, where growth is measured in bytes; of its objects otherwise",
        ),
    ];
    debug_assert_eq!(columns.len(), FIXED);
    for info in timeline.metrics().map(|m| timeline.metric_info(m)) {
        let title = info.title.to_lowercase();
        let mut column = |id: &str, name: &str, kind, explanation: &str| {
            columns.push(Column::new(format!("{id}_{}", info.id), format!("{name}, {title}"), kind, explanation));
        };
        column("growth", "Growth", CellKind::Change(info.unit), "Last minus first");
        column("first", "First", CellKind::Number(info.unit), "At the first time");
        column("last", "Last", CellKind::Number(info.unit), "At the last time");
        column("peak", "Peak", CellKind::Number(info.unit), "The most from the first to the last time");
    }
    columns
}

/// How a step of the chain of owners reads. Fields are known of dumps, and allocation sites of traces: these are in the name
/// of the group.
fn owner_sentence(document: &Source) -> &'static str {
    match document.heaps() {
        Some(history) if history.is_recorded() => "upwards: {group} x {referencing} keeps {keeps_share}",
        Some(_) => "upwards: {owner} x {referencing} keeps {keeps_share}",
        None => "upwards: {group}",
    }
}

fn kinds(metric: Metric, timeline: &Timeline, owner: &str) -> Vec<RowKind> {
    let kind = |id: &str, explanation: &str, sentence: &str| RowKind {
        id: id.into(),
        explanation: explanation.into(),
        sentence: sentence.into(),
    };
    let further = match metric {
        Metric::Column(_) => {
            let info = timeline.metric_info(metric);
            let (id, title) = (&info.id, info.title.to_lowercase());
            format!("\n{{growth_{id}}} {title}   ({{first_{id}}} -> {{last_{id}}})")
        }
        Metric::Objects | Metric::Bytes => String::new(),
    };
    let group = "{group.path}\n{growth_objects} objects, {growth_bytes}   ({first_objects} -> {last_objects} objects, \
        {first_bytes} -> {last_bytes})";
    vec![
        kind("group", "A group that grows", &format!("{group}{further}")),
        kind("referrer", "A group that refers to it", "<- {group}: {referencing} objects refer to {referenced}"),
        kind("more_referrers", "Referrers that are not listed", "<- and {more} more groups"),
        kind("root", "A GC root that keeps objects of it", "<- root  {root} ({referenced} objects)"),
        kind("more_roots", "Roots that are not listed", "<- and {more} more roots"),
        kind("owner", "The next owners of the chain, upwards, and the group in which most of them are", owner),
        kind("chain_end", "Why the chain ends", "upwards: {end}"),
    ]
}

struct Writer<'a> {
    document: &'a Source,
    timeline: &'a Arc<Timeline>,
    window: TimeWindow,
    arguments: &'a Arguments,
    columns: usize,
    /// Owners are weighed by the bytes they keep.
    by_bytes: bool,
    rows: Vec<Row>,
}

impl Writer<'_> {
    fn push(&mut self, kind: usize, cells: impl IntoIterator<Item = (usize, Cell)>) {
        let mut row = Row { kind, depth: u32::from(kind != GROUP), cells: vec![Cell::Empty; self.columns] };
        cells.into_iter().for_each(|(at, cell)| row.cells[at] = cell);
        self.rows.push(row);
    }

    fn link(&self, node: NodeId) -> (usize, Cell) {
        (0, Cell::Node(NodeLink::new(self.timeline, node)))
    }

    /// `name` tells the group from the others that are listed.
    fn group(&mut self, node: NodeId, name: &str, chain: Option<&OwnerChain>, progress: &Progress) -> Result<()> {
        let (timeline, window) = (self.timeline, self.window);
        let metrics = timeline.metrics().enumerate().flat_map(|(i, metric)| {
            let value = |t| timeline.value(t, node, metric);
            let peak = window.times().map(value).max().unwrap_or_default();
            let cells = [
                Cell::Change(window.growth(timeline, node, metric)),
                Cell::Number(value(window.from)),
                Cell::Number(value(window.to)),
                Cell::Number(peak),
            ];
            cells.into_iter().enumerate().map(move |(j, cell)| (FIXED + 4 * i + j, cell))
        });
        self.push(
            GROUP,
            std::iter::once((0, Cell::Node(NodeLink { name: name.to_owned(), ..NodeLink::new(timeline, node) })))
                .chain(metrics)
                .collect::<Vec<_>>(),
        );

        if self.arguments.word("keepers") == "no" {
            return Ok(());
        }
        let map = self.document.references(window.to, node, progress)?.unwrap_or_default();
        match chain {
            Some(chain) => {
                self.holders(&map, chain.roots.len(), chain.roots.iter().map(|(root, kept)| (root, kept.objects)));
                self.owners(chain);
                Ok(())
            }
            None => {
                self.holders(&map, map.roots.len(), map.roots.iter().map(|(root, held)| (root, *held)));
                self.chain(node, progress)
            }
        }
    }

    /// The chain of owners, object by object.
    fn owners(&mut self, chain: &OwnerChain) {
        for step in &chain.steps {
            let dot = if step.field.is_empty() || step.field.starts_with('[') { "" } else { "." };
            let ways = if step.by_several_ways { " (by several ways)" } else { "" };
            let measured = |amount: Amount| amount.measured(self.by_bytes);
            let share = 100.0 * measured(step.keeps) as f64 / measured(chain.about).max(1) as f64;
            let link = step.node.map(|node| self.link(node));
            let cells = [
                (2, Cell::Number(step.objects)),
                (3, Cell::Number(step.holds)),
                (6, Cell::Text(format!("{}{dot}{}{ways}", step.of, step.field))),
                (7, Cell::Number(step.keeps.objects)),
                (8, Cell::Percent(share)),
            ];
            self.push(OWNER, link.into_iter().chain(cells));
        }
        self.push(END, [(5, Cell::Text(chain.end.clone()))]);
    }

    fn holders<'r>(&mut self, map: &ReferenceMap, count: usize, roots: impl Iterator<Item = (&'r String, u64)>) {
        let listed = self.arguments.count("referrers").min(map.incoming.len());
        for edge in &map.incoming[..listed] {
            let cells =
                [self.link(edge.other), (2, Cell::Number(edge.referencing)), (3, Cell::Number(edge.referenced))];
            self.push(REFERRER, cells);
        }
        self.more(MORE_REFERRERS, map.incoming.len() - listed);
        let listed = self.arguments.count("roots").min(count);
        for (root, objects) in roots.take(listed) {
            self.push(ROOT, [(1, Cell::Text(root.clone())), (3, Cell::Number(objects))]);
        }
        self.more(MORE_ROOTS, count - listed);
    }

    fn more(&mut self, kind: usize, count: usize) {
        if count > 0 {
            self.push(kind, [(4, Cell::Number(count as u64))]);
        }
    }

    /// For trees without objects: follows the referrer of most of the group's objects, upwards. It ends when a root holds most of a group,
    /// nothing refers to it, or the path meets itself.
    fn chain(&mut self, start: NodeId, progress: &Progress) -> Result<()> {
        let mut seen = vec![start];
        let mut at = start;
        // Objects of each group on the way that are certainly on it.
        let mut followed = self.timeline.amount(self.window.to, start).objects;
        let end = loop {
            progress.check()?;
            let Some(map) = self.document.references(self.window.to, at, progress)? else {
                break "the input does not say what refers to it".to_owned();
            };
            let others = map.incoming.iter().filter(|e| !seen.contains(&e.other));
            let strongest = others.max_by_key(|e| (e.referenced, e.referencing));
            let objects = self.timeline.amount(self.window.to, at).objects;
            let root = map.roots.first();
            if let Some((root, held)) = root
                && self.ends_chain(objects, *held, strongest.map(|e| e.referenced))
            {
                break format!("held by {root}");
            }
            let Some(edge) = strongest else {
                break match root {
                    Some((root, _)) => format!("held by {root}"),
                    None if map.incoming.is_empty() => "nothing else refers to it".to_owned(),
                    None => "the way leads back to groups above".to_owned(),
                };
            };
            if seen.len() >= self.arguments.count("longest_chain") {
                break "and further up".to_owned();
            }
            let sure = (u128::from(followed) + u128::from(edge.referenced)).saturating_sub(u128::from(objects));
            let least = u128::from(self.arguments.number("owner_share")) * u128::from(followed);
            if seen.len() > 1 && sure * 100 < least {
                break format!(
                    "not known further up: {} refers to {} of {} objects here, and the trees do not say to which",
                    self.timeline.path_label(edge.other),
                    count_text(edge.referenced),
                    count_text(objects)
                );
            }
            let there = self.timeline.amount(self.window.to, edge.other).objects;
            followed = edge.referencing.min(there);
            at = edge.other;
            seen.push(at);
            let cells = [self.link(at), (2, Cell::Number(edge.referencing)), (3, Cell::Number(edge.referenced))];
            self.push(OWNER, cells);
        };
        self.push(END, [(5, Cell::Text(end))]);
        Ok(())
    }

    /// Whether a root that holds `held` of a group's `objects` ends the chain, though a group refers to `owned` of them.
    fn ends_chain(&self, objects: u64, held: u64, owned: Option<u64>) -> bool {
        let number = |id| u128::from(self.arguments.number(id));
        let (objects, small) = (u128::from(objects), number("small_group"));
        let holds_enough = u128::from(held) * 100 >= number("root_share") * objects.min(small);
        let owner_is_weak = owned.is_none_or(|n| u128::from(n) * 100 <= number("owner_share") * objects);
        holds_enough && (owner_is_weak || objects <= small)
    }
}
