//! Analysis of lifetimes by group: ages at death, survival, promotion.

use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::lives::{
    AGES, GroupSpans, LifeSpans, RunWindow, age_bucket, age_bucket_text, group_path, grouping_of_dead, life_spans,
    lives_of,
};
use crate::run::pauses_note;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, count_text};
use crate::timeline::{Source, Unit};
use memory_city_formats::Weighed;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Lifetimes)
}

struct Lifetimes;

impl Analysis for Lifetimes {
    fn describe(&self) -> Description {
        Description {
            id: "lifetimes",
            title: "Lifetimes",
            explanation: "How old objects become: of what was born in the window, by group, the ages at death, the share that \
                survives longer, and what was promoted into an old space, some of it too early.",
            needs: &[Need::Lives],
            parameters: vec![
                Parameter {
                    id: "by",
                    title: "By",
                    explanation: "How objects are grouped: a name, or a list of classifiers. Nothing that changes while they live",
                    kind: ParameterKind::Text { default: "type" },
                },
                Parameter {
                    id: "top",
                    title: "Groups",
                    explanation: "How many groups are listed, those of which most was born first; the others are counted",
                    kind: ParameterKind::Number { default: 10, least: 1, most: u64::MAX },
                },
                Parameter {
                    id: "young",
                    title: "Young",
                    explanation: "Promoted too early is what died in an old space after so many collections at most: so long a \
                        collector can keep it young",
                    kind: ParameterKind::Number { default: 15, least: 0, most: 1_000_000 },
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
        let grouping = crate::timeline::named_grouping(arguments.word("by"))?;
        // What cannot be known of dead objects is refused in the same words as for churn.
        if !grouping.reads().contains(crate::group::Reads::AGE) {
            grouping_of_dead(arguments.word("by"))?;
        }
        let run = RunWindow::of_points(document, &history, window);
        let young = arguments.number("young") as u32;
        let spans = life_spans(lives, &grouping, run, young, progress)?;
        let mut leaves: Vec<usize> = leaves(&spans);
        let born = |node: usize| spans.groups[node].born.objects;
        leaves.sort_by(|&a, &b| {
            born(b).total_cmp(&born(a)).then_with(|| group_path(&spans.tree, a).cmp(&group_path(&spans.tree, b)))
        });
        let left_out = leaves.len().saturating_sub(arguments.count("top")) as u64;
        leaves.truncate(arguments.count("top"));
        leaves.insert(0, 0);
        let left_out = Some((left_out, "groups".to_owned())).filter(|(n, _)| *n > 0);
        let has_spaces = lives.is_exact();
        let all = &spans.groups[0];
        let mut answers = vec![format!(
            "Of {} objects that were born, {} died; {} of them after no {}.",
            count_text(all.born.objects.round() as u64),
            count_text(all.died.objects.round() as u64),
            count_text(all.deaths[0].objects.round() as u64),
            history.noun().one(),
        )];
        let mut notes = Vec::new();
        if has_spaces {
            answers.push(format!(
                "{} were promoted into an old space, {} of them too early.",
                count_text(all.promoted.objects.round() as u64),
                count_text(all.premature.objects.round() as u64)
            ));
        } else {
            notes.push(format!(
                "Numbers are estimates from {} samples, of which it is not known in what space they are: nothing is said of promotion.",
                count_text(lives.samples())
            ));
        }
        // Ages count them.
        notes.extend(pauses_note(history.noun(), &history.collections[run.first as usize..run.end as usize]));
        let header = |id: &str, title: &str, columns, nested| TableHeader {
            id: id.into(),
            title: format!("{title} (by {})", grouping.title),
            columns,
            nested,
            ..TableHeader::default()
        };
        let lifetimes = ResultTable {
            header: header("lifetimes", "Ages at death", age_columns(), true),
            rows: leaves.iter().flat_map(|&node| age_rows(&spans, node)).collect(),
            left_out: left_out.clone(),
            empty_text: "Nothing was born in this window.".into(),
        };
        let promotion = ResultTable {
            header: header("promotion", "Promotion", promotion_columns(), false),
            rows: leaves.iter().map(|&node| promotion_row(&spans, node, has_spaces)).collect(),
            left_out,
            empty_text: "Nothing was born in this window.".into(),
        };
        Ok(Findings { answers, tables: vec![lifetimes, promotion], notes, ..Findings::default() })
    }
}

/// Groups that have no groups in them.
fn leaves(spans: &LifeSpans) -> Vec<usize> {
    let mut is_leaf = vec![true; spans.groups.len()];
    for node in 0..spans.groups.len() {
        if let Some(parent) = spans.tree.parent(node) {
            is_leaf[parent] = false;
        }
    }
    (1..spans.groups.len()).filter(|&node| is_leaf[node]).collect()
}

fn age_columns() -> Vec<Column> {
    vec![
        Column::new("group", "Group", CellKind::Text, "The group, and below it the ages at which its objects died"),
        Column::new("objects", "Died", CellKind::Number(Unit::Objects), "Objects that died at that age"),
        Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
        Column::new("share", "Share", CellKind::Percent, "Of all objects of the group that died"),
        Column::new(
            "alive",
            "Survive",
            CellKind::Percent,
            "Share of the objects of the group that become older than that (Kaplan and Meier: what is alive at the end counts for as \
             long as it was seen)",
        ),
    ]
}

fn number(amount: f64) -> Cell {
    Cell::Number(amount.round().max(0.0) as u64)
}

fn share(part: f64, whole: f64) -> Cell {
    if whole > 0.0 { Cell::Percent(100.0 * part / whole) } else { Cell::Empty }
}

fn age_rows(spans: &LifeSpans, node: usize) -> Vec<Row> {
    let group: &GroupSpans = &spans.groups[node];
    let cells = |name: String, died: Weighed, alive: Cell| {
        vec![Cell::Text(name), number(died.objects), number(died.bytes), share(died.objects, group.died.objects), alive]
    };
    let mut rows = vec![Row { cells: cells(group_path(&spans.tree, node), group.died, Cell::Empty), ..Row::default() }];
    for bucket in 0..AGES.min(age_bucket(spans.oldest) + 1) {
        let (died, alive) = (group.deaths[bucket], group.survival[bucket]);
        if died.objects > 0.0 {
            let alive = if alive.is_nan() { Cell::Empty } else { Cell::Percent(100.0 * alive) };
            rows.push(Row { depth: 1, cells: cells(age_bucket_text(bucket), died, alive), ..Row::default() });
        }
    }
    rows
}

fn promotion_columns() -> Vec<Column> {
    vec![
        Column::new("group", "Group", CellKind::Text, "The group"),
        Column::new("born", "Born", CellKind::Number(Unit::Objects), "Objects that were born in the window"),
        Column::new(
            "promoted",
            "Promoted",
            CellKind::Number(Unit::Objects),
            "Those that a collection moved into an old space",
        ),
        Column::new("promoted_share", "Of born", CellKind::Percent, "Of the objects that were born"),
        Column::new(
            "premature",
            "Too early",
            CellKind::Number(Unit::Objects),
            "Those of the promoted that died in the old space so young that they could have stayed where collecting is cheap",
        ),
        Column::new("premature_bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
        Column::new("premature_share", "Of promoted", CellKind::Percent, "Of the promoted objects"),
    ]
}

fn promotion_row(spans: &LifeSpans, node: usize, has_spaces: bool) -> Row {
    let GroupSpans { born, promoted, premature, .. } = &spans.groups[node];
    let known = |cell: Cell| if has_spaces { cell } else { Cell::Empty };
    Row {
        cells: vec![
            Cell::Text(group_path(&spans.tree, node)),
            number(born.objects),
            known(number(promoted.objects)),
            known(share(promoted.objects, born.objects)),
            known(number(premature.objects)),
            known(number(premature.bytes)),
            known(share(premature.objects, promoted.objects)),
        ],
        ..Row::default()
    }
}
