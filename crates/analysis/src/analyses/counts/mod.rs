//! Analysis `counts`: amount of each class at all counted times, which are walks and the class histograms between them. Both include
//! unreachable objects here; the table of the times distinguishes them.

mod courses;

use super::objects::top_parameter;
use super::{
    Analysis, Arguments, Certainty, Description, Detector, DetectorRank, DetectorText, Finding, Findings, LeakVerdict,
    Need, NextStep, Parameter, ParameterKind, TimeWindow,
};
use crate::tabular::Cell;
use crate::timeline::{History, Source};
use crate::trends::spread;
use courses::CountedCourses;
use memory_city_formats::counts::without_address;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, HeapState};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(CountsByClass)
}

struct CountsByClass;

impl Analysis for CountsByClass {
    fn describe(&self) -> Description {
        Description {
            id: "counts",
            title: "Counts by class",
            explanation: "How much of each class there was at all times at which it was counted: at the walks of a recording, and in \
                the class histograms between them. Names what grows from one quarter of the time to the next.",
            needs: &[Need::Counts],
            parameters: vec![
                top_parameter("How many classes and times are listed"),
                Parameter {
                    id: "class",
                    title: "Class",
                    explanation: "The class whose course is listed time by time; all classes together where nothing is said",
                    kind: ParameterKind::Text { default: "" },
                },
                Parameter {
                    id: "walks",
                    title: "Walks",
                    explanation: "How many walks are counted besides, evenly spread: each is read for it",
                    kind: ParameterKind::Number { default: 24, least: 0, most: 100_000 },
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
        let Some(counts) = document.class_counts() else { return Ok(Findings::default()) };
        let walks = walks_of(document, window, arguments.count("walks"), progress)?;
        let walk_count = walks.len();
        let class = without_address(arguments.word("class"));
        let all = CountedCourses::of(&counts, millis_of(document, window), walks, class, document.profile(), progress)?;
        if !class.is_empty() && !all.has(class) {
            return Err(Error::Unusable {
                what: format!("No object of a class {class} was counted"),
                remedy: "Name it as the table does, with its package: com.acme.Order".into(),
            });
        }
        let top = arguments.count("top");
        let mut findings = Findings { answers: all.answers(), notes: all.notes(), ..Findings::default() };
        if findings.answers.is_empty() {
            findings.notes.insert(0, all.nothing_grows());
            if let Some(grown) = all.grown() {
                findings.notes.insert(1, grown);
            }
        }
        let times = window.times().count();
        if document.heaps().is_some() && walk_count < times {
            findings.notes.push(format!("{} of {times} walks are not counted here (-p walks).", times - walk_count));
        }
        let table = all.class_table(top);
        let steady = all.steady_classes();
        findings.found = steady
            .zip(&findings.answers)
            .map(|(class, sentence)| {
                let row = table.rows.iter().position(|row| row.cells.first() == Some(&Cell::Text(class.to_owned())));
                Finding {
                    certainty: if all.are_exact() { Certainty::Counted } else { Certainty::Estimated },
                    next: NextStep::with("counts", "class", class),
                    ..Finding::of_row("counts", vec![sentence.clone()], &table, row).at(class)
                }
            })
            .collect();
        findings.tables.push(table);
        findings.tables.push(all.time_table(class, by_uptime(document), top));
        Ok(findings)
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(CountsByClass)
}

impl Detector for CountsByClass {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Growth
    }

    fn arguments(&self, _: Option<&LeakVerdict>) -> &'static [(&'static str, &'static str)] {
        // Walks are told by all else.
        &[("walks", "0")]
    }

    fn text(&self, document: &Source) -> DetectorText {
        match document {
            // Where there are no walks, and the trees are estimates, nothing else says how the counts went.
            Source::Counts(counts) if counts.is_estimate() => DetectorText::Always,
            _ => DetectorText::IfFound,
        }
    }
}

/// The time range of a window; an open end means no limit.
fn millis_of(document: &Source, window: TimeWindow) -> (u64, u64) {
    let points = document.timeline().points();
    let at = |t: usize| points.get(t).map_or(0, |point| point.millis);
    let from = if window.from == 0 { 0 } else { at(window.from) };
    let to = if window.to + 1 >= points.len() { u64::MAX } else { at(window.to) };
    (from, to)
}

fn by_uptime(document: &Source) -> bool {
    crate::timeline::by_uptime(document.timeline().points())
}

/// When a walk was, and all its objects by class, reachable or not.
type WalkCounts = (u64, BTreeMap<Arc<str>, Amount>);

/// Some walks, evenly spread.
fn walks_of(document: &Source, window: TimeWindow, most: usize, progress: &Progress) -> Result<Vec<WalkCounts>> {
    let Some(history) = document.heaps() else { return Ok(Vec::new()) };
    let times: Vec<usize> = window.times().collect();
    let chosen = match most {
        0 => Vec::new(),
        1 => times.last().copied().into_iter().collect(),
        _ => spread(&times, most),
    };
    chosen.into_iter().map(|t| walk_of(history, t, progress)).collect()
}

fn walk_of(history: &History, t: usize, progress: &Progress) -> Result<WalkCounts> {
    let heap: Arc<HeapState> = history.heap(t, progress)?;
    let mut amounts = vec![Amount::default(); heap.types().len()];
    for (at, object) in heap.objects().enumerate() {
        if at % (1 << 20) == 0 {
            progress.check()?;
        }
        if let Some(amount) = amounts.get_mut(heap.type_of(object).0 as usize) {
            *amount += Amount { objects: 1, bytes: heap.size_of(object) };
        }
    }
    let mut classes: BTreeMap<Arc<str>, Amount> = BTreeMap::new();
    for (of, amount) in heap.types().iter().zip(amounts).filter(|(_, amount)| amount.objects > 0) {
        *classes.entry(Arc::from(without_address(&of.name))).or_default() += amount;
    }
    Ok((history.timeline().points().get(t).map_or(0, |point| point.millis), classes))
}
