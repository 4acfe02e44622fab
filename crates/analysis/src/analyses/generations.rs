//! Analysis `generations`: allocations with live objects of ever more generations, without a look at references, and what keeps them alive.

use super::objects::top_parameter;
use super::{
    Analysis, Arguments, Certainty, Description, Detector, DetectorRank, Finding, Findings, LeakVerdict, Need,
    NextStep, Parameter, ParameterKind, TimeWindow,
};
use crate::lives::{
    ALLOCATIONS, CountedCollections, GenerationRow, GenerationShape, Generations, above_gap, generations_of,
};
use crate::ownership::owner_paths;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{History, Source, Unit, named_grouping};
use memory_city_formats::{GcHistory, GcKind, Lives};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{AllocationSite, HeapState, ObjectId};
use rustc_hash::FxHashSet;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(LiveGenerations)
}

struct LiveGenerations;

/// Candidates that are named in sentences.
const NAMED: usize = 3;
/// Columns of the picture of a row.
const COLUMNS: usize = 48;

impl Analysis for LiveGenerations {
    fn describe(&self) -> Description {
        Description {
            id: "generations",
            title: "Generations",
            explanation: "From how many intervals between collections objects are still alive, by type and line of code. A leak \
                has live objects of ever more of them. References are not needed.",
            needs: &[Need::Lives],
            parameters: vec![
                top_parameter("How many allocations are listed, those with most live generations first"),
                Parameter {
                    id: "by",
                    title: "By",
                    explanation: "How objects are grouped: a name, or a list of classifiers. Nothing that changes while they live",
                    kind: ParameterKind::Text { default: ALLOCATIONS },
                },
                Parameter {
                    id: "collections",
                    title: "Collections",
                    explanation: "The collections that begin a generation: full, all, or auto: the full ones where there are eight",
                    kind: ParameterKind::Choice { default: "auto", choices: &["auto", "full", "all"] },
                },
                Parameter::number(
                    "gap",
                    "Gap",
                    "Candidates have more than so many times the live generations of all others",
                    4,
                    1,
                    1000,
                ),
                Parameter::number(
                    "least",
                    "Least",
                    "Candidates have at least so many live generations",
                    8,
                    2,
                    1_000_000,
                ),
                Parameter::number(
                    "share",
                    "Share",
                    "Candidates have at least so many hundredths of all live bytes",
                    1,
                    0,
                    100,
                ),
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
        let counted = match arguments.word("collections") {
            "full" => Some(CountedCollections::Full),
            "all" => Some(CountedCollections::All),
            _ => None,
        };
        let by = arguments.word("by");
        let (found, counted, lives, history) = generations_of(document, by, window, counted, progress)?;
        let candidates = Candidates::of(&found, arguments);
        let top = arguments.count("top");
        let mut findings = Findings { answers: candidates.answers(&found, counted, &history), ..Findings::default() };
        let mut paths = Vec::new();
        if let Some(heaps) = document.heaps() {
            paths = candidates.paths(&found, lives, heaps, window.to, progress)?;
            findings.answers.extend(paths.iter().flat_map(|(_, lines)| lines.iter().cloned()));
        }
        findings.tables.push(ResultTable {
            header: TableHeader {
                id: "generations".into(),
                title: format!("Live generations (by {})", named_grouping(by)?.title),
                columns: columns(),
                ..TableHeader::default()
            },
            rows: (0..found.rows.len().min(top)).map(|at| row(&found, at, &candidates)).collect(),
            left_out: Some((found.rows.len().saturating_sub(top) as u64, "groups".to_owned())).filter(|(n, _)| *n > 0),
            empty_text: "Nothing that was born is alive after a collection that counts.".into(),
        });
        let last = found.collection.and_then(|at| history.collections.get(at as usize));
        let is_bound = last.is_none_or(|last| last.kind != Some(GcKind::Major));
        let all = candidates.leaks.iter().map(|at| (at, is_bound)).chain(candidates.spread.iter().map(|at| (at, true)));
        let finding = |(&at, is_open): (&usize, bool)| {
            let lines = paths.iter().filter(|(of, _)| *of == at).flat_map(|(_, lines)| lines.iter().cloned());
            let details = std::iter::once(line(&found, at)).chain(lines).collect();
            Finding {
                certainty: match is_open {
                    true => Certainty::Open,
                    false if lives.is_exact() => Certainty::Counted,
                    false => Certainty::Estimated,
                },
                next: NextStep::run(if document.heaps().is_some() { "leak" } else { "churn" }),
                ..Finding::of_row("generations", details, &findings.tables[0], Some(at))
                    .at(found.path(found.rows[at].node))
            }
        };
        findings.found = all.take(NAMED).map(finding).collect();
        findings.notes = notes(&found, &history, lives, counted);
        Ok(findings)
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(LiveGenerations)
}

impl Detector for LiveGenerations {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Growth
    }

    fn is_worth(&self, verdict: &LeakVerdict) -> bool {
        !verdict.is_well()
    }
}

/// An allocation and its live generations, in words.
fn line(found: &Generations, at: usize) -> String {
    let row = &found.rows[at];
    let alive = row.alive();
    format!(
        "{}: {} of {} generations, {} objects, {}",
        found.path(row.node),
        count_text(row.count().into()),
        count_text(found.generations.into()),
        count_text(alive.objects.round() as u64),
        bytes_text(alive.bytes.round() as u64)
    )
}

/// The groups that stand out.
struct Candidates {
    /// How many of the first rows are above the gap.
    above: usize,
    /// Places in the rows of those that are a leak's by number, bytes and shape.
    leaks: Vec<usize>,
    threshold: f64,
    /// Places of groups below the gap that are spread over the whole run.
    spread: Vec<usize>,
    /// The gaps of all groups that have one, from the smallest.
    gaps: Vec<f64>,
}

impl Candidates {
    fn of(found: &Generations, arguments: &Arguments) -> Candidates {
        let threshold = arguments.number("gap") as f64;
        let counts: Vec<u32> = found.rows.iter().map(GenerationRow::count).collect();
        let above = above_gap(&counts, threshold);
        let least = arguments.number("least").min(u64::from(u32::MAX)) as u32;
        let is_leak = |&at: &usize| {
            let row = &found.rows[at];
            let is_large = row.alive().bytes * 100.0 >= found.bytes * arguments.number("share") as f64;
            row.count() >= least && is_large && row.shape(found.generations) == GenerationShape::Spread
        };
        let mut gaps: Vec<f64> = found.rows.iter().filter_map(|row| row.gap).collect();
        gaps.sort_by(f64::total_cmp);
        Candidates {
            above,
            gaps,
            leaks: (0..above).filter(is_leak).collect(),
            threshold,
            spread: (above..found.rows.len()).filter(is_leak).collect(),
        }
    }

    /// The part of all groups with a gap that has the same one as this.
    fn same_gap(&self, row: &GenerationRow) -> Option<f64> {
        let gap = row.gap?;
        let same = self.gaps.partition_point(|of| *of <= gap) - self.gaps.partition_point(|of| *of < gap);
        Some(same as f64 / self.gaps.len().max(1) as f64)
    }

    fn rule(&self, at: usize) -> &'static str {
        match () {
            () if self.leaks.contains(&at) => "candidate",
            () if self.spread.contains(&at) => "spread",
            () => "",
        }
    }

    fn answers(&self, found: &Generations, counted: CountedCollections, history: &GcHistory) -> Vec<String> {
        let noun = history.noun();
        let Some(last) = found.collection.and_then(|at| history.collections.get(at as usize)) else {
            return vec![format!(
                "No {}{} ended in this window: nothing has a generation.",
                counted.word(),
                noun.one()
            )];
        };
        let mut answers = Vec::new();
        let next = found.rows.get(self.above).map_or(0, GenerationRow::count);
        let has = |n: usize| if n == 1 { "1 allocation has" } else { "allocations have" };
        let number = |n: usize| if n == 1 { String::new() } else { format!("{} ", count_text(n as u64)) };
        match (self.leaks.len(), self.spread.len(), found.rows.first()) {
            (0, 0, None) => answers.push("Nothing that was born is alive.".to_owned()),
            (0, 0, Some(first)) => answers.push(format!(
                "No allocation stands out by its generations: the most is {} of {}, of {}.",
                count_text(first.count().into()),
                count_text(found.generations.into()),
                found.path(first.node)
            )),
            (0, n, _) => answers.push(format!(
                "{}{} live objects from the whole run, though no gap sets them apart from others:",
                number(n),
                has(n)
            )),
            (n, ..) => answers.push(format!(
                "{}{} live objects of ever more generations; all others of {} at most (gap above {}):",
                number(n),
                has(n),
                count_text(next.into()),
                self.threshold
            )),
        }
        let named = |of: &[usize]| {
            let mut lines: Vec<String> = of.iter().take(NAMED).map(|&at| format!("  {}", line(found, at))).collect();
            if of.len() > NAMED {
                lines.push(format!("  and {} more", of.len() - NAMED));
            }
            lines
        };
        answers.extend(named(&self.leaks));
        if !self.leaks.is_empty() && !self.spread.is_empty() {
            answers.push("Others from the whole run, below the gap:".to_owned());
        }
        answers.extend(named(&self.spread));
        if answers.len() > 1 && last.kind != Some(GcKind::Major) {
            answers.push(format!(
                "{} was not of the whole heap: objects that no {} has freed so far may be dead.",
                noun.label(last.number),
                noun.one()
            ));
        }
        answers
    }

    /// What keeps an object of average age of each named candidate alive, as lines. A candidate with another one on its path is left out:
    /// the one nearer to the root explains both.
    fn paths(
        &self,
        found: &Generations,
        lives: Lives<'_>,
        heaps: &History,
        time: usize,
        progress: &Progress,
    ) -> Result<Vec<(usize, Vec<String>)>> {
        let at: Vec<usize> = self.leaks.iter().chain(&self.spread).copied().take(NAMED).collect();
        if at.is_empty() {
            return Ok(Vec::new());
        }
        let heap = heaps.heap(time, progress)?;
        let objects: Vec<Option<ObjectId>> = at.iter().map(|&at| typical(found, at, lives, &heap)).collect();
        // Local variables lead to an object only where nothing else does.
        let rules = KeepRules { passing_roots: false, ..KeepRules::default() };
        let paths = owner_paths(heaps, time, rules, &objects, progress)?;
        let steps =
            paths.iter().map(|path| path.iter().flat_map(|path| path.steps.iter().map(|step| &*step.of)).collect());
        let explained = explained(&steps.collect::<Vec<_>>());
        let mut told = Vec::new();
        for (n, path) in paths.iter().enumerate() {
            let Some(path) = path.as_ref().filter(|_| !explained[n]) else { continue };
            let name = found.path(found.rows[at[n]].node);
            let mut lines = vec![format!("One of average age, {name}, is kept alive by:")];
            lines.extend(path.short_lines(heap.profile()).into_iter().map(|line| format!("  {line}")));
            told.push((at[n], lines));
        }
        Ok(told)
    }
}

/// Which of some paths lead through the last type of a shorter one that does not, by the types of their steps: that one explains both.
fn explained(paths: &[Vec<&str>]) -> Vec<bool> {
    let leads_through = |n: usize, other: usize| match (paths[n].split_last(), paths[other].last()) {
        (Some((own, above)), Some(last)) => own != last && above.contains(last),
        _ => false,
    };
    let mut explained = vec![false; paths.len()];
    let mut by_length: Vec<usize> = (0..paths.len()).collect();
    by_length.sort_by_key(|&n| paths[n].len());
    for (at, &n) in by_length.iter().enumerate() {
        explained[n] = by_length[..at].iter().any(|&other| !explained[other] && leads_through(n, other));
    }
    explained
}

/// The object of a group whose age is nearest to the average one: young ones are in use, the oldest are the program's state.
fn typical(found: &Generations, at: usize, lives: Lives<'_>, heap: &HeapState) -> Option<ObjectId> {
    let origins = heap.origins()?;
    let recording = lives.recording;
    let kinds: FxHashSet<(&str, &[std::sync::Arc<str>])> = found
        .infos(found.rows[at].node)
        .map(|info| {
            let info = &recording.infos[info as usize];
            let frames = recording.program.sites.get(info.site as usize).map_or(&[][..], |site| &site.frames[..]);
            (&*recording.program.types[info.type_id as usize].name, frames)
        })
        .collect();
    let sites: &[AllocationSite] = &origins.sites;
    let births: Vec<(ObjectId, u32)> = (0..heap.object_count() as u32)
        .map(ObjectId)
        .filter(|&o| heap.is_reachable(o))
        .filter_map(|o| {
            let origin = origins.of(o.0 as usize);
            let frames = sites.get(origin.site as usize).map_or(&[][..], |site| &site.frames[..]);
            let of = &*heap.types()[heap.type_of(o).0 as usize].name;
            (origin.was_recorded() && kinds.contains(&(of, frames))).then_some((o, origin.birth))
        })
        .collect();
    let mean = births.iter().map(|&(_, birth)| f64::from(birth)).sum::<f64>() / births.len().max(1) as f64;
    births
        .into_iter()
        .min_by(|a, b| (f64::from(a.1) - mean).abs().total_cmp(&(f64::from(b.1) - mean).abs()))
        .map(|(o, _)| o)
}

fn columns() -> Vec<Column> {
    let count = CellKind::Number(Unit::Count);
    let text = |id: &str, title: &str, explanation: &str| Column::new(id, title, CellKind::Text, explanation);
    vec![
        text("group", "Group", "The group"),
        Column::new("generations", "Generations", count, "Intervals between collections from which objects are alive"),
        Column::new(
            "live",
            "Live by generation",
            CellKind::Series(Unit::Objects),
            "Live objects by generation, from the start of the run to its end, in equal parts. A leak is filled from left to right; what \
             was set up once stands at the left, sessions and caches that drop what is old at the right",
        ),
        text(
            "shape",
            "Shape",
            "spread: all over the run; start, recent: at its start or end alone; mixed: none of these",
        ),
        text("rule", "Rule", "candidate: above the gap and spread; spread: as a candidate, but below the gap"),
        Column::new("objects", "Objects", CellKind::Number(Unit::Objects), "Live objects"),
        Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
        Column::new("gap", "Gap", CellKind::Percent, "Its live generations in hundredths of those of the next group"),
        Column::new(
            "same_gap",
            "Same gap",
            CellKind::Percent,
            "Allocations with the same gap, of all with a gap: one that many have says little",
        ),
        Column::new("each", "Objects each", CellKind::Number(Unit::Objects), "Live objects for each live generation"),
        Column::new(
            "uniformity",
            "Irregularity",
            CellKind::Percent,
            "The standard deviation of the distances of live generations, of all generations: 0 is regular",
        ),
        Column::new(
            "span",
            "Span",
            CellKind::Percent,
            "From the first to the last live generation, of all generations",
        ),
        Column::new("recency", "Behind", CellKind::Percent, "Generations behind its last live one, of all generations"),
        Column::new(
            "course",
            "Over time",
            CellKind::Series(Unit::Count),
            "Its live generations after collections from the start of the run to its end: those of a leak rise",
        ),
    ]
}

fn row(found: &Generations, at: usize, candidates: &Candidates) -> Row {
    let of = &found.rows[at];
    let alive = of.alive();
    let percent = |part: f64| Cell::Percent(100.0 * part);
    Row {
        cells: vec![
            Cell::Text(found.path(of.node)),
            Cell::Number(of.count().into()),
            Cell::Series(of.picture(found.generations, COLUMNS)),
            Cell::Text(of.shape(found.generations).text().into()),
            Cell::Text(candidates.rule(at).into()),
            Cell::Number(alive.objects.round().max(0.0) as u64),
            Cell::Number(alive.bytes.round().max(0.0) as u64),
            of.gap.map_or(Cell::Empty, percent),
            candidates.same_gap(of).map_or(Cell::Empty, percent),
            Cell::Number((alive.objects / f64::from(of.count().max(1))).round().max(0.0) as u64),
            of.uniformity(found.generations).map_or(Cell::Empty, percent),
            percent(of.span(found.generations)),
            percent(of.recency(found.generations)),
            Cell::Series(of.course.iter().map(|&n| n.into()).collect()),
        ],
        ..Row::default()
    }
}

fn notes(found: &Generations, history: &GcHistory, lives: Lives<'_>, counted: CountedCollections) -> Vec<String> {
    let noun = history.noun();
    let mut notes = Vec::new();
    let last = found.collection.and_then(|at| history.collections.get(at as usize));
    if let Some(last) = last {
        notes.push(format!(
            "A generation is what was born between two {}{}; there are {}. Counted after {}, {:.1} minutes after the program started.",
            counted.word(),
            noun.many(),
            count_text(found.generations.into()),
            noun.numbered(last.number),
            last.end as f64 / 60e9
        ));
    }
    notes.extend(generation_caveats(found, lives, history));
    notes
}

/// What numbers of generations do not tell, in sentences.
pub fn generation_caveats(found: &Generations, lives: Lives<'_>, history: &GcHistory) -> Vec<String> {
    let mut caveats = Vec::new();
    let last = found.collection.and_then(|at| history.collections.get(at as usize));
    if last.is_some_and(|last| last.kind != Some(GcKind::Major)) {
        caveats.push("Numbers are upper bounds: only a collection of the whole heap frees old objects.".to_owned());
    }
    if !lives.is_exact() && !lives.is_complete() {
        caveats.push(format!(
            "From {} samples: a generation with a live sample is certain, one without may have unsampled objects.",
            count_text(lives.samples())
        ));
    }
    caveats
}

#[cfg(test)]
mod tests {
    use super::explained;

    #[test]
    fn of_candidates_on_one_path_the_one_nearer_to_the_root_is_named() {
        let texts = ["Registry", "Node", "String"];
        assert_eq!(explained(&[texts.to_vec(), texts[..2].to_vec()]), [true, false]);
        assert_eq!(explained(&[texts[..1].to_vec(), texts[..2].to_vec(), texts.to_vec()]), [false, true, true]);
        assert_eq!(explained(&[vec!["A", "X"], vec!["B", "Y"], Vec::new()]), [false; 3]);
        // Chains of two types that alternate: one of both is named.
        assert_eq!(explained(&[vec!["Even", "Odd", "Even"], vec!["Odd", "Even", "Odd"]]), [false, true]);
        assert_eq!(explained(&[vec!["X", "Odd", "Even"], vec!["Even", "Odd"]]), [true, false]);
    }
}
