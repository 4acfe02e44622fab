//! Analysis `difference`: changes between two points in time by owner, by type and by group, with the objects that cannot be matched.

use super::paths::{rules, soft_parameter};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Parameter, ParameterKind, TimeWindow, change};
use crate::group::Reads;
use crate::ownership::OwnerHistory;
use crate::ownership::holders::place_text;
use crate::tabular::{
    Cell, CellKind, Column, NodeLink, ResultTable, Row, TableHeader, bytes_text, count_text, gc_text, time_text,
};
use crate::timeline::difference::{GroupMatch, TimeMatch, identities, match_identities};
use crate::timeline::{Amount, History, NodeId, Source, Timeline, Unit, key_of};
use memory_city_formats::{LifeStep, Weighed};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use std::cmp::Reverse;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Difference)
}

struct Difference;

/// Two points in time, counted from 0; either may be the earlier.
#[derive(Clone, Copy)]
struct Compared {
    base: usize,
    time: usize,
}

/// The rows of a table under construction.
struct Changes {
    rows: Vec<ChangedGroup>,
    /// How many groups differ: more than the rows where only the first were made.
    all: usize,
}

/// What rows are sorted by, those that differ most first: bytes, objects, objects without a counterpart.
type Weight = Reverse<(u64, u64, u64)>;

/// See [`Weight`]. Of owners the bytes are those that they retain.
fn weight(amounts: [Amount; 2], retained: Option<[u64; 2]>, matching: GroupMatch) -> Weight {
    let bytes = retained.unwrap_or(amounts.map(|amount| amount.bytes));
    let [bytes, objects] = [bytes, amounts.map(|amount| amount.objects)].map(|[a, b]| change(a, b).unsigned_abs());
    Reverse((bytes, objects, matching.only_base + matching.only_time))
}

/// A row under construction: the objects of a group at both times.
struct ChangedGroup {
    name: Cell,
    /// Sort key of rows with equal changes; empty where they are sorted already.
    order: String,
    amounts: [Amount; 2],
    /// Retained bytes, and the key of the place, of owners.
    retained: Option<([u64; 2], String)>,
    matching: GroupMatch,
}

impl Analysis for Difference {
    fn describe(&self) -> Description {
        let time = |id, title, explanation| Parameter {
            id,
            title,
            explanation,
            kind: ParameterKind::Number { default: 0, least: 0, most: u64::MAX },
        };
        Description {
            id: "difference",
            title: "Difference of two times",
            explanation: "What one point in time has more or less of than another, by owner, by type and by group, with the \
                objects that have no counterpart. Of traces, and of recordings with \
                --identity all, objects are matched by identity: what came, what went, what stayed. Dumps give objects no identity: as many as there are of one name at both times are taken for \
                matched.",
            needs: &[],
            parameters: vec![
                time("base", "Base", "The point in time that is compared with, counted from 1; 0 for the first"),
                time(
                    "time",
                    "Time",
                    "The point in time that is compared, counted from 1; 0 for the last. It may be the earlier one",
                ),
                Parameter {
                    id: "by",
                    title: "By",
                    explanation: "owner: by what alone keeps objects alive; type: by type; group: by the groups of the \
                        tree; all: each of these that the input has",
                    kind: ParameterKind::Choice { default: "all", choices: &["all", "owner", "type", "group"] },
                },
                Parameter {
                    id: "top",
                    title: "Rows",
                    explanation: "How many rows each table has, those that differ most first; the others are counted",
                    kind: ParameterKind::Number { default: 30, least: 1, most: u64::MAX },
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
        let timeline = document.timeline();
        let compared = Compared {
            base: place(timeline, arguments, "base", window.from)?,
            time: place(timeline, arguments, "time", window.to)?,
        };
        let by = arguments.word("by");
        let asked = |what: &str| by == what || by == "all";
        let top = arguments.count("top");
        let knows = document.heaps().is_some_and(|heaps| heaps.knows_identity(compared.base, compared.time));
        let matched = match document.is_recorded() {
            true => MatchedBy::Identity,
            false if knows => MatchedBy::Number,
            false => MatchedBy::Name,
        };
        let mut findings = Findings { answers: vec![total(timeline, compared)], ..Findings::default() };
        let mut add = |id: &str, title: &str, changed: Changes, all: GroupMatch, notes: &mut Vec<String>| {
            notes.push(note(title, changed.all, all, matched));
            findings.tables.push(table(id, title, changed, matched, top));
        };
        let mut notes = Vec::new();
        if asked("owner") {
            match owners(document, compared, rules(arguments), progress) {
                Ok((changed, all)) => add("by_owner", "owner", changed, all, &mut notes),
                Err(Error::Unusable { what, .. }) if by == "all" => notes.push(format!("Not by owner: {what}.")),
                Err(error) => return Err(error),
            }
        }
        if asked("type") {
            match types(document, compared, top, progress) {
                Ok((changed, all)) => add("by_type", "type", changed, all, &mut notes),
                Err(Error::Unusable { what, .. }) if by == "all" => notes.push(format!("Not by type: {what}.")),
                Err(error) => return Err(error),
            }
        }
        if by == "group" || by == "all" && document.grouping_id() != "type" {
            let found = match document.heaps() {
                Some(heaps) => heaps.match_groups(compared.base, compared.time, progress)?,
                None => TimeMatch::by_count(timeline, compared.base, compared.time),
            };
            let name = |node| Cell::Node(NodeLink::new(timeline, node));
            let changed = leaves(timeline, compared, &found, (top, progress), name)?;
            add("by_group", "group", changed, found.all, &mut notes);
        }
        if matched == MatchedBy::Name {
            notes.push(
                "Objects have no identity here: what is matched has the same name, and need not be the same objects."
                    .to_owned(),
            );
        }
        notes.extend(passed_between(document, compared, progress)?);
        findings.notes = notes;
        Ok(findings)
    }
}

/// How objects of two times are known to be the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchedBy {
    /// Traces know each object.
    Identity,
    /// Objects by number: walks know each object, except for those created while they were taken.
    Number,
    Name,
}

/// The point in time that a parameter says.
fn place(timeline: &Timeline, arguments: &Arguments, id: &str, default: usize) -> Result<usize> {
    match arguments.number(id) {
        0 => Ok(default),
        k if k <= timeline.times() as u64 => Ok(k as usize - 1),
        k => Err(Error::Unusable {
            what: format!("There is no point in time {k}: the input has {}", timeline.times()),
            remedy: format!("Let {id} be from 1 to {}", timeline.times()),
        }),
    }
}

/// A point in time for people.
fn point_text(timeline: &Timeline, t: usize) -> String {
    let point = &timeline.points()[t];
    let what = match &point.gc {
        Some(gc) => gc_text(gc),
        None if !point.label.is_empty() => point.label.clone(),
        None => time_text(point.millis),
    };
    format!("{} ({what})", t + 1)
}

/// The difference of the whole heap, in a sentence.
fn total(timeline: &Timeline, Compared { base, time }: Compared) -> String {
    let [before, after] = [base, time].map(|t| timeline.amount(t, NodeId::ROOT));
    let changed = |unit, first, last| Cell::Change(change(first, last)).text(CellKind::Change(unit));
    format!(
        "From {} to {}: {} objects, {}",
        point_text(timeline, base),
        point_text(timeline, time),
        changed(Unit::Objects, before.objects, after.objects),
        changed(Unit::Bytes, before.bytes, after.bytes)
    )
}

/// The objects at neither time: born after the earlier one and dead before the later, if the input knows them.
fn passed_between(document: &Source, compared: Compared, progress: &Progress) -> Result<Option<String>> {
    let Some(heaps) = document.heaps().filter(|heaps| heaps.is_recorded()) else { return Ok(None) };
    let moments = [compared.base, compared.time].map(|time| heaps.moment(time));
    // Collections count from 0, and each has a start and an end.
    let (first, end) = ((moments[0].min(moments[1]) + 1).div_ceil(2), moments[0].max(moments[1]).div_ceil(2));
    let mut passed = Weighed::default();
    if let Some(lives) = heaps.series().lives()
        && let Some(last) = end.checked_sub(1).filter(|&last| last >= first)
    {
        lives.each(last as u32, progress, |event| {
            if event.step == LifeStep::Died && event.key.birth as usize >= first {
                passed += event.amount;
            }
            Ok(())
        })?;
    }
    Ok(Some(format!(
        "{} objects ({}) were born and died between the two times: they are at neither.",
        count_text(passed.objects as u64),
        bytes_text(passed.bytes as u64)
    )))
}

/// How many rows differ, and how many objects cannot be matched, in a sentence.
fn note(title: &str, changed: usize, all: GroupMatch, matched: MatchedBy) -> String {
    let GroupMatch { only_base, only_time, matched: both, unclear } = all;
    let [only_base, only_time, both] = [only_base, only_time, both].map(count_text);
    let unclear = match unclear {
        0 => String::new(),
        n if matched == MatchedBy::Number => {
            format!(", of {} it is not known: they were made while the earlier walk was taken", count_text(n))
        }
        n => format!(", {} are at both but may have moved between groups", count_text(n)),
    };
    match matched {
        MatchedBy::Identity | MatchedBy::Number => format!(
            "By {title}: {} differ. {only_time} objects came, {only_base} went, {both} stayed{unclear}.",
            count_text(changed as u64)
        ),
        MatchedBy::Name => format!(
            "By {title}: {} differ. {both} objects have a counterpart of the same name; {only_time} cannot be matched that are \
             only at the time, and {only_base} that are only at the base{unclear}.",
            count_text(changed as u64)
        ),
    }
}

/// The leaves of a timeline that differ. A name is made for the first `top` alone: it may be long.
fn leaves(
    timeline: &Timeline,
    Compared { base, time }: Compared,
    found: &TimeMatch,
    (top, progress): (usize, &Progress),
    name: impl Fn(NodeId) -> Cell,
) -> Result<Changes> {
    let mut changed = Vec::new();
    for node in timeline.nodes().filter(|&node| timeline.is_leaf(node)) {
        let amounts = [base, time].map(|t| timeline.amount(t, node));
        let matching = found.by_node[node.index()];
        if differs(amounts, None, matching) {
            changed.push((weight(amounts, None, matching), node, amounts));
        }
    }
    progress.check()?;
    changed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| timeline.cmp_keys(a.1, b.1)));
    let all = changed.len();
    changed.truncate(top);
    let row = |(_, node, amounts): (Weight, NodeId, [Amount; 2])| {
        progress.check()?;
        let matching = found.by_node[node.index()];
        Ok(ChangedGroup { name: name(node), order: String::new(), amounts, retained: None, matching })
    };
    Ok(Changes { rows: changed.into_iter().map(row).collect::<Result<_>>()?, all })
}

/// Whether there is anything to tell. Of objects that are matched by name nothing more is known than their numbers.
fn differs(amounts: [Amount; 2], retained: Option<[u64; 2]>, matching: GroupMatch) -> bool {
    amounts[0] != amounts[1]
        || retained.is_some_and(|[before, after]| before != after)
        || matching.only_base > 0
        || matching.only_time > 0
}

/// By type, for any grouping of the document.
fn types(document: &Source, compared: Compared, top: usize, progress: &Progress) -> Result<(Changes, GroupMatch)> {
    let heaps = heaps_of(document)?;
    let grouping = crate::group::grouping("type").map_err(|error| Error::Unusable {
        what: format!("The grouping type is not known: {}", error.message),
        remedy: "Use by=group".into(),
    })?;
    let times = [compared.base, compared.time];
    let timeline = heaps.timeline_of(&times, &grouping, progress)?;
    let earlier = compared.base.min(compared.time);
    // Each time once, in order.
    let of_pair = Compared { base: usize::from(compared.base > earlier), time: usize::from(compared.time > earlier) };
    let knows = heaps.knows_identity(compared.base, compared.time);
    let found = match heaps.is_recorded() {
        true => heaps.match_recorded(&grouping, &timeline, compared.base, compared.time, progress)?,
        false if knows => heaps.match_followed(&grouping, &timeline, compared.base, compared.time, progress)?,
        false => TimeMatch::by_count(&timeline, of_pair.base, of_pair.time),
    };
    let name = |node| Cell::Text(timeline.name(node).to_owned());
    Ok((leaves(&timeline, of_pair, &found, (top, progress), name)?, found.all))
}

fn heaps_of(document: &Source) -> Result<&History> {
    document.heaps().ok_or_else(|| Error::Unusable {
        what: "The input has trees, not objects".into(),
        remedy: "Use by=group, or open heap dumps or a memory trace".into(),
    })
}

/// By owner: the own amount of each place, and its retained amount.
fn owners(
    document: &Source,
    Compared { base, time }: Compared,
    rules: KeepRules,
    progress: &Progress,
) -> Result<(Changes, GroupMatch)> {
    let heaps = heaps_of(document)?;
    let mut needs = Reads::REFERENCES;
    needs.set(Reads::ROOTS, !document.is_recorded());
    let owners = heaps.owners_at(&[base, time], rules, needs, progress)?;
    let lacks = owners.iter().fold(Reads::empty(), |all, o| match o.places {
        Some(_) => all,
        None => all | needs.difference(o.known),
    });
    let mut history = OwnerHistory::default().with_profile(document.profile());
    let mut place_of = Vec::new();
    for places in owners.iter().filter_map(|owners| owners.places.as_ref()) {
        place_of.push(history.add(places));
    }
    let [first, second] = &place_of[..] else {
        return Err(Error::Unusable {
            what: format!("The owners cannot be found: that needs {}, which the input does not hold", lacks.names()),
            remedy: "Use by=type, take heap dumps, or record a trace with references and GC roots".into(),
        });
    };
    let by_identity = match heaps.knows_identity(base, time) {
        true => {
            let of = |time: usize, place_of: &Vec<u32>| {
                let (heap, tree) = heaps.owners(time, rules, progress)?;
                let groups = |_: &HeapState, o: ObjectId, into: &mut Vec<u32>| {
                    into.extend(Some(tree.of(o)).filter(|&node| node > 0).map(|node| place_of[node as usize]));
                };
                Ok(identities(&heap, &groups))
            };
            Some(match_identities(&of(base, first)?, &of(time, second)?, base.cmp(&time), history.places().len()))
        }
        false => None,
    };
    let (mut changed, mut all) = (Vec::new(), GroupMatch::default());
    for (at, place) in history.places().iter().enumerate().skip(1) {
        let [before, after] = [0, 1].map(|t| place.held[t]);
        let amounts = [before.own, after.own];
        let retained = [before.total.bytes, after.total.bytes];
        let matching = match &by_identity {
            Some(found) => found.by_node[at],
            None => GroupMatch::by_count(before.own.objects, after.own.objects),
        };
        all.add(matching);
        if differs(amounts, Some(retained), matching) {
            let names = history.path(at as u32);
            let heap = &history.places()[0].name;
            let key = key_of(&std::iter::once(&**heap).chain(names.iter().map(|name| &**name)).collect::<Vec<_>>());
            changed.push(ChangedGroup {
                name: Cell::Text(place_text(&names)),
                order: key.clone(),
                amounts,
                retained: Some((retained, key)),
                matching,
            });
        }
    }
    let changed = Changes { all: changed.len(), rows: changed };
    Ok((changed, by_identity.map_or(all, |found| found.all)))
}

fn table(id: &str, by: &str, changed: Changes, matched: MatchedBy, top: usize) -> ResultTable {
    let Changes { rows: mut changed, all } = changed;
    let key = |of: &ChangedGroup| weight(of.amounts, of.retained.as_ref().map(|(bytes, _)| *bytes), of.matching);
    changed.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.order.cmp(&b.order)));
    let left_out = all.saturating_sub(top);
    changed.truncate(top);
    let is_owner = id == "by_owner";
    let rows = changed
        .into_iter()
        .map(|group| {
            let [before, after] = group.amounts;
            let mut cells = vec![group.name];
            if let Some(([first, last], _)) = &group.retained {
                cells.extend([Cell::Number(*first), Cell::Number(*last), Cell::Change(change(*first, *last))]);
            }
            cells.extend([
                Cell::Number(before.objects),
                Cell::Number(after.objects),
                Cell::Change(change(before.objects, after.objects)),
                Cell::Number(before.bytes),
                Cell::Number(after.bytes),
                Cell::Change(change(before.bytes, after.bytes)),
                Cell::Number(group.matching.only_base),
                Cell::Number(group.matching.only_time),
                Cell::Number(group.matching.matched),
            ]);
            if matched != MatchedBy::Name {
                cells.push(Cell::Number(group.matching.unclear));
            }
            cells.extend(group.retained.map(|(_, key)| Cell::Text(key)));
            Row { cells, ..Row::default() }
        })
        .collect();
    let header = TableHeader {
        id: id.into(),
        title: format!("Difference by {by}"),
        columns: columns(by, is_owner, matched),
        ..TableHeader::default()
    };
    let left_out = Some((left_out as u64, "that differ".to_owned()));
    ResultTable { header, rows, left_out, empty_text: "Nothing differs.".into() }
}

fn columns(by: &str, is_owner: bool, matched: MatchedBy) -> Vec<Column> {
    let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
    let mut columns = vec![match by {
        "owner" => {
            Column::new("owner", "Owner", CellKind::Text, "What alone keeps the objects alive, from the root down")
        }
        "type" => Column::new("type", "Type", CellKind::Text, "The type of the objects"),
        _ => Column::new("group", "Group", CellKind::Node, "The group of the tree"),
    }];
    let own = if is_owner { "Of the place itself: " } else { "" };
    if is_owner {
        columns.extend([
            Column::new("base_retained", "Retained at base", bytes, "What the place kept alive at the base"),
            Column::new("time_retained", "Retained", bytes, "What it keeps alive at the time"),
            Column::new(
                "change_retained",
                "Change of retained",
                CellKind::Change(Unit::Bytes),
                "The second minus the first",
            ),
        ]);
    }
    let explained = |id: &str, title: &str, kind, text: &str| Column::new(id, title, kind, format!("{own}{text}"));
    columns.extend([
        explained("base_objects", "Objects at base", objects, "objects at the base"),
        explained("time_objects", "Objects", objects, "objects at the time"),
        explained("change_objects", "Change of objects", CellKind::Change(Unit::Objects), "the second minus the first"),
        explained("base_bytes", "Bytes at base", bytes, "shallow bytes at the base"),
        explained("time_bytes", "Bytes", bytes, "shallow bytes at the time"),
        explained("change_bytes", "Change of bytes", CellKind::Change(Unit::Bytes), "the second minus the first"),
    ]);
    let unclear = match matched {
        MatchedBy::Number => {
            "objects that were made while the earlier walk was taken: they may have died since, or be among those that came"
        }
        _ => "objects of both times that stayed here or moved between groups: the recording does not tell which",
    };
    match matched {
        MatchedBy::Identity | MatchedBy::Number => columns.extend([
            explained("only_base", "Went", objects, "objects that are there at the base alone, by identity: they died, or moved to another group, where the base is the earlier time"),
            explained("only_time", "Came", objects, "objects that are there at the time alone, by identity: they were born, or moved here, where the base is the earlier time"),
            explained("matched", "Stayed", objects, "objects that are there at both, by identity"),
            explained("unclear", "Unclear", objects, unclear),
        ]),
        MatchedBy::Name => columns.extend([
            explained("only_base", "Unmatched at base", objects, "objects of the base without a counterpart of the same name"),
            explained("only_time", "Unmatched", objects, "objects of the time without a counterpart of the same name"),
            explained("matched", "Matched by name", objects, "as many are there at both times; they need not be the same objects"),
        ]),
    }
    if is_owner {
        columns.push(Column::new("place", "Place", CellKind::Text, "The key of the place when grouped by owner"));
    }
    columns
}
