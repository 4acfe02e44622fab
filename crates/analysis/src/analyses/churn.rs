//! Memory churn: the objects that died in a window, with age, type and allocation site.

use super::measures::RunMeasures;
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::group::domain::LIBRARIES_ONLY;
use crate::lives::{
    BY_AGE_TYPE_AND_SITE, DeadTree, RunWindow, age_bucket, age_bucket_text, grouping_of_dead, lives_of,
};
use crate::run::pauses_note;
use crate::tabular::{
    Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text, several, uptime_text,
};
use crate::timeline::{Source, Unit};
use crate::windows::{SuspiciousWindows, WindowRules};
use memory_city_formats::{GcHistory, GcNoun, Lives, Weighed};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Churn)
}

struct Churn;

/// Least share of the garbage for a type to be named, percent.
const SUSPECT_PERCENT: f64 = 10.0;

/// A group of dead objects: a listed node of the tree.
struct DeadGroup {
    node: usize,
    depth: u32,
}

/// Numbers that all rows are set against.
struct DeadTotals {
    all: Weighed,
    born: Weighed,
    seconds: f64,
    is_exact: bool,
}

impl Analysis for Churn {
    fn describe(&self) -> Description {
        let number = |id, title, explanation, default, least| Parameter {
            id,
            title,
            explanation,
            kind: ParameterKind::Number { default, least, most: u64::MAX },
        };
        Description {
            id: "churn",
            title: "Churn",
            explanation: "What died in a window of time, by age at death, type and allocation site, or by any other grouping: how \
                much of all garbage each group is, per second, and how much of the growth between collections it makes, which is \
                what would be saved without it. Exact of traces; of recordings of stock JVMs estimated from samples, with the error.",
            needs: &[Need::Lives],
            parameters: vec![
                Parameter {
                    id: "by",
                    title: "By",
                    explanation: "How dead objects are grouped: a name, or a list of classifiers such as type>callers; `age` is that \
                        at death",
                    kind: ParameterKind::Text { default: BY_AGE_TYPE_AND_SITE },
                },
                Parameter {
                    id: "window",
                    title: "Window",
                    explanation: "given: between the points in time that are looked at; churn, overhead: the window in which most is \
                        thrown away per second, or most of the time goes into collecting, suspicious or not",
                    kind: ParameterKind::Choice { default: "given", choices: &["given", "churn", "overhead"] },
                },
                number(
                    "top",
                    "Rows",
                    "How many groups of each group are listed, those with most dead objects first",
                    9,
                    1,
                ),
                number("depth", "Levels", "How many levels of groups are listed", 3, 1),
                number(
                    "short",
                    "Short-lived",
                    "Objects that died after so many collections at most are called short-lived",
                    0,
                    0,
                ),
                Parameter {
                    id: "sort",
                    title: "Sort",
                    explanation: "What comes first: the group with most dead objects, or with most bytes of them",
                    kind: ParameterKind::Choice { default: "objects", choices: &["objects", "bytes"] },
                },
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
        let (lives, history) = lives_of(document, progress)?;
        let grouping = grouping_of_dead(arguments.word("by"))?;
        let given = RunWindow::of_points(document, &history, window);
        let run = match arguments.word("window") {
            "given" => given,
            kind => found_window(document, window, &history, given, kind, progress)?,
        };
        let dead = DeadTree::of(lives, &grouping, run, progress)?;
        let totals = DeadTotals {
            all: dead.all(),
            born: dead.born,
            seconds: run.seconds(),
            is_exact: lives.is_exact() || lives.is_complete(),
        };
        let short = u32::try_from(arguments.number("short")).unwrap_or(u32::MAX);
        let by_bytes = arguments.word("sort") == "bytes";
        let (groups, left_out) = listed(&dead, arguments.count("top"), arguments.count("depth"), by_bytes);
        let row = |group: &DeadGroup| Row {
            depth: group.depth,
            cells: totals.cells(dead.tree.name(group.node).to_string(), dead.died[group.node]),
            ..Row::default()
        };
        let died = ResultTable {
            header: TableHeader {
                id: "died".into(),
                title: format!("What died (by {})", grouping.title),
                columns: died_columns("group", "Group", "What died: groups, and groups in them"),
                nested: true,
                ..TableHeader::default()
            },
            rows: groups.iter().map(row).collect(),
            left_out: Some((left_out, "smaller or deeper groups".to_owned())).filter(|(n, _)| *n > 0),
            empty_text: "Nothing died in this window.".into(),
        };
        let suspects = suspects(lives, run, short, &totals, progress)?;
        let findings = Findings {
            answers: answers(&dead, &totals, &history, run, short, &suspects),
            tables: vec![died, ages(&dead, &totals, history.noun()), suspects_table(&suspects, &totals)],
            notes: notes(lives, &history, run),
            ..Findings::default()
        };
        Ok(findings)
    }
}

/// The window in which there is most churn or overhead.
fn found_window(
    document: &Source,
    window: TimeWindow,
    history: &GcHistory,
    given: RunWindow,
    kind: &str,
    progress: &Progress,
) -> Result<RunWindow> {
    let run = RunMeasures::of(document, window, 0, progress)?;
    if kind == "churn" && run.freed_is_estimated.is_none() {
        return Err(Error::Unusable {
            what: run.notes.first().map_or_else(String::new, |why| why.trim_end_matches('.').to_owned()),
            remedy: "Leave out -p window".into(),
        });
    }
    let found = SuspiciousWindows::find(run.began, &run.gcs, &[], &WindowRules::default());
    let found = if kind == "overhead" { found.overhead } else { found.churn };
    let found = found.ok_or_else(|| Error::Unusable {
        what: format!(
            "{} in all: too few for a window of {kind}",
            several(run.gcs.len() as u64, run.noun.one(), run.noun.many())
        ),
        remedy: "Leave out -p window, or record longer".into(),
    })?;
    let gcs = [found.first, found.last + 1].map(|gc| given.first + gc as u32);
    Ok(RunWindow::of_gcs(history, gcs[0], gcs[1]))
}

/// The groups that are listed, each below its own, and how many are not.
fn listed(dead: &DeadTree, top: usize, depth: usize, by_bytes: bool) -> (Vec<DeadGroup>, u64) {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); dead.tree.len()];
    for node in 0..dead.tree.len().min(dead.died.len()) {
        if let Some(parent) = dead.tree.parent(node)
            && dead.died[node].objects > 0.0
        {
            below[parent].push(node);
        }
    }
    let all: usize = below.iter().map(Vec::len).sum();
    let size = |node: usize| if by_bytes { dead.died[node].bytes } else { dead.died[node].objects };
    let mut groups = Vec::new();
    let mut open: Vec<DeadGroup> = vec![DeadGroup { node: 0, depth: 0 }];
    while let Some(group) = open.pop() {
        let level = group.depth as usize + usize::from(group.node != 0);
        if level < depth {
            let mut children = std::mem::take(&mut below[group.node]);
            children
                .sort_by(|&a, &b| size(b).total_cmp(&size(a)).then_with(|| dead.tree.name(a).cmp(dead.tree.name(b))));
            children.truncate(top);
            open.extend(children.into_iter().rev().map(|node| DeadGroup { node, depth: level as u32 }));
        }
        if group.node != 0 {
            groups.push(group);
        }
    }
    let left_out = all - groups.len();
    (groups, left_out as u64)
}

/// Columns of tables of dead objects, behind their first.
fn died_columns(id: &str, title: &str, explanation: &str) -> Vec<Column> {
    vec![
        Column::new(id, title, CellKind::Text, explanation),
        Column::new("objects", "Collected objects", CellKind::Number(Unit::Objects), "Objects that died"),
        Column::new("bytes", "Collected memory", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
        Column::new("share", "Share", CellKind::Percent, "Of all objects that died in the window"),
        Column::new("per_second", "Per second", CellKind::Number(Unit::Bytes), "Bytes per second of the window"),
        Column::new(
            "saved",
            "Of growth",
            CellKind::Percent,
            "Their bytes, of all that were allocated in the window: so much less would the heap grow between collections without them",
        ),
        Column::new(
            "error_objects",
            "Error, objects",
            CellKind::Number(Unit::Objects),
            "Of estimates: so many more or fewer it may be, nineteen times out of twenty; empty where it was counted",
        ),
        Column::new("error_bytes", "Error, bytes", CellKind::Number(Unit::Bytes), "The same of the bytes"),
    ]
}

fn percent(part: f64, whole: f64) -> Cell {
    if whole > 0.0 { Cell::Percent(100.0 * part / whole) } else { Cell::Empty }
}

impl DeadTotals {
    fn cells(&self, name: String, died: Weighed) -> Vec<Cell> {
        let error = |error: f64| if self.is_exact { Cell::Empty } else { Cell::Number(error.round() as u64) };
        vec![
            Cell::Text(name),
            Cell::Number(died.objects.round() as u64),
            Cell::Number(died.bytes.round() as u64),
            percent(died.objects, self.all.objects),
            Cell::Number((died.bytes / self.seconds).round() as u64),
            percent(died.bytes, self.born.bytes),
            error(died.objects_error()),
            error(died.bytes_error()),
        ]
    }
}

/// The table by GCs survived.
fn ages(dead: &DeadTree, totals: &DeadTotals, noun: GcNoun) -> ResultTable {
    let mut by_bucket: BTreeMap<usize, Weighed> = BTreeMap::new();
    for (&age, &died) in &dead.by_age {
        *by_bucket.entry(age_bucket(age)).or_default() += died;
    }
    let row = |(&bucket, &died): (&usize, &Weighed)| Row {
        cells: totals.cells(age_bucket_text(bucket), died),
        ..Row::default()
    };
    ResultTable {
        header: TableHeader {
            id: "ages".into(),
            title: "What died, by age".into(),
            columns: died_columns("age", "Age", &format!("How many {} the objects had survived", noun.many())),
            ..TableHeader::default()
        },
        rows: by_bucket.iter().map(row).collect(),
        left_out: None,
        empty_text: "Nothing died in this window.".into(),
    }
}

/// A type with much of the short-lived garbage, and the site that allocates most of it.
struct ShortLived {
    name: String,
    died: Weighed,
    site: Option<(String, Weighed)>,
}

/// The types of short-lived objects, the one with most first.
fn suspects(
    lives: Lives<'_>,
    run: RunWindow,
    short: u32,
    totals: &DeadTotals,
    progress: &Progress,
) -> Result<Vec<ShortLived>> {
    // Ages beyond the exact ones share a range: what is asked for is decided by the first age of a range.
    let grouping = grouping_of_dead("type>domain-site>site")?;
    let dead = DeadTree::of_ages(lives, &grouping, run, short, progress)?;
    let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for node in 1..dead.died.len() {
        below.entry(dead.tree.parent(node).unwrap_or(0)).or_default().push(node);
    }
    let nodes = |of: usize| below.get(&of).map_or(&[][..], Vec::as_slice);
    let most = |of: usize| {
        let more = |a: &&usize, b: &&usize| dead.died[**a].objects.total_cmp(&dead.died[**b].objects).then(b.cmp(a));
        nodes(of).iter().max_by(more).copied()
    };
    let site = |of: usize| {
        let own = most(of)?;
        // Where no code of the program is on the stacks, the innermost call is what there is to say. Sites are chains of callers.
        let site = if dead.tree.name(own).to_string() == LIBRARIES_ONLY { most(own)? } else { own };
        Some((dead.tree.name(site).to_string(), dead.died[site]))
    };
    let short_lived =
        |&node: &usize| ShortLived { name: dead.tree.name(node).to_string(), died: dead.died[node], site: site(node) };
    let mut found: Vec<ShortLived> =
        nodes(0).iter().map(short_lived).filter(|group| group.died.objects > 0.0).collect();
    found.sort_by(|a, b| b.died.objects.total_cmp(&a.died.objects).then_with(|| a.name.cmp(&b.name)));
    let many = found.iter().filter(|group| 100.0 * group.died.objects >= SUSPECT_PERCENT * totals.all.objects).count();
    found.truncate(many.max(1));
    Ok(found)
}

fn suspects_table(suspects: &[ShortLived], totals: &DeadTotals) -> ResultTable {
    let mut columns = died_columns(
        "type",
        "Type",
        "A type with at least 10 % of all dead objects; where none has, the one with most",
    );
    columns.push(Column::new("site", "Allocation site", CellKind::Text, "Where most of them were allocated"));
    columns.push(Column::new(
        "site_share",
        "Of the type",
        CellKind::Percent,
        "What that site allocated, of the short-lived objects of the type",
    ));
    let row = |group: &ShortLived| {
        let mut cells = totals.cells(group.name.clone(), group.died);
        cells.push(group.site.as_ref().map_or(Cell::Empty, |(site, _)| Cell::Text(site.clone())));
        cells.push(group.site.as_ref().map_or(Cell::Empty, |(_, died)| percent(died.objects, group.died.objects)));
        Row { cells, ..Row::default() }
    };
    ResultTable {
        header: TableHeader {
            id: "short_lived".into(),
            title: "Short-lived objects".into(),
            columns,
            ..TableHeader::default()
        },
        rows: suspects.iter().map(row).collect(),
        left_out: None,
        empty_text: "No short-lived object died in this window.".into(),
    }
}

fn answers(
    dead: &DeadTree,
    totals: &DeadTotals,
    history: &GcHistory,
    run: RunWindow,
    short: u32,
    suspects: &[ShortLived],
) -> Vec<String> {
    let clock = |nanos: u64| uptime_text(nanos / 1_000_000);
    let about = if totals.is_exact { "" } else { "about " };
    let (one, many) = (history.noun().one(), history.noun().many());
    let mut answers = vec![format!(
        "From {} to {}, in {}, {about}{} objects died ({}), {} per second.",
        clock(run.from),
        clock(run.to),
        several(run.gcs().into(), one, many),
        count_text(totals.all.objects.round() as u64),
        bytes_text(totals.all.bytes.round() as u64),
        bytes_text((totals.all.bytes / totals.seconds).round() as u64),
    )];
    if totals.all.objects >= 0.5 {
        let young: f64 = dead.by_age.range(..=short).map(|(_, died)| died.objects).sum();
        let survived = match short {
            0 => format!("no {one}"),
            n => format!("at most {}", several(n.into(), one, many)),
        };
        answers.push(format!(
            "{:.1} % of them had survived {survived}: {about}{}.",
            100.0 * young / totals.all.objects,
            count_text(young.round() as u64)
        ));
    }
    for group in suspects {
        let site = match &group.site {
            Some((site, _)) => format!(", most of them allocated by {site}"),
            None => String::new(),
        };
        answers.push(format!(
            "{}: {about}{} short-lived objects, {:.1} % of all that died{site}. Without them the heap would grow {:.1} % less.",
            group.name,
            count_text(group.died.objects.round() as u64),
            100.0 * group.died.objects / totals.all.objects.max(1.0),
            100.0 * group.died.bytes / totals.born.bytes.max(1.0),
        ));
    }
    // How often and how long here, and in the whole run.
    let rates = |window: RunWindow| {
        let pauses: u64 =
            history.collections[window.first as usize..window.end as usize].iter().map(|gc| gc.end - gc.start).sum();
        (f64::from(window.gcs()) / window.seconds(), 100.0 * pauses as f64 / 1e9 / window.seconds())
    };
    let whole = RunWindow::of_gcs(history, 0, u32::MAX);
    let (here, all) = (rates(run), rates(whole));
    answers.push(match run == whole {
        true => format!("{:.1} {many} per second took {:.1} % of the time.", here.0, here.1),
        false => format!(
            "{:.1} {many} per second took {:.1} % of the time; {:.1} and {:.1} % in the whole run.",
            here.0, here.1, all.0, all.1
        ),
    });
    answers
}

fn notes(lives: Lives<'_>, history: &GcHistory, run: RunWindow) -> Vec<String> {
    let mut notes = Vec::new();
    if lives.is_complete() {
        notes.push("Every allocation was recorded: each sample stands for itself.".to_owned());
    } else if !lives.is_exact() {
        notes.push(format!(
            "Numbers are estimates from {} samples, each standing for many allocations like it; the columns of errors say how \
             far off they may be, nineteen times out of twenty.",
            count_text(lives.samples())
        ));
    }
    if lives.undated() > 0 {
        notes.push(format!(
            "Of {} samples it is not known when they died: they are in no number.",
            count_text(lives.undated())
        ));
    }
    // Ages count them too.
    notes.extend(pauses_note(history.noun(), &history.collections[run.first as usize..run.end as usize]));
    notes
}
