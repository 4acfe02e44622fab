//! Detectors: analyses that run by themselves. Their [findings](super::Finding) make the verdict, the report, the check, the card of the
//! window and the page.

use super::interface::{Analysis, Description, Findings, run};
use super::leak_verdict::LeakVerdict;
use super::parameters::Arguments;
use crate::timeline::{Source, TimeWindow};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

/// An analysis that runs by itself. Its [findings](Findings::found) stand in the report. Its id, title and needs are those of the analysis,
/// its caveats the notes.
pub trait Detector: Analysis {
    /// What its findings count for.
    fn rank(&self) -> DetectorRank;

    /// Arguments other than the defaults, as typed; given the verdict, for those that follow it.
    fn arguments(&self, _verdict: Option<&LeakVerdict>) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Whether it is run, given the verdict.
    fn is_worth(&self, _verdict: &LeakVerdict) -> bool {
        true
    }

    /// Its part of a report's text.
    fn text(&self, _document: &Source) -> DetectorText {
        DetectorText::IfFound
    }
}

/// What findings count for, and where a report has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetectorRank {
    /// They make the verdict: the first line, the exit code of a check, the places of the card and the page.
    Verdict,
    /// They are about the last state, behind the heap over time.
    Heap,
    /// They are about what grows, behind the groups that grow.
    Growth,
    /// They are about the course of a run, behind its collections.
    Course,
    /// They take long: other findings name them as the next step.
    Asked,
}

/// A detector's part of a report's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectorText {
    /// Its sentences, if it found anything.
    IfFound,
    /// The same, beside those of the verdict.
    Early,
    /// Its sentences, also that it found nothing.
    Always,
    /// Its sentences and its tables.
    Tables,
}

/// The result of a detector.
pub struct Detection {
    /// Its description.
    pub analysis: Description,
    /// Its arguments.
    pub arguments: Arguments,
    /// Its findings.
    pub findings: Findings,
}

/// The detectors that make the verdict.
pub fn deciding() -> impl Iterator<Item = Box<dyn Detector>> {
    super::detectors().into_iter().filter(|detector| detector.rank() == DetectorRank::Verdict)
}

/// Why no detector can make a verdict over a document, for people; `Ok` where one can.
pub fn can_decide(document: &Source, window: TimeWindow) -> std::result::Result<(), String> {
    let mut reasons = deciding().map(|detector| detector.describe().check(document, window));
    let first = reasons.next().unwrap_or(Ok(()));
    if reasons.any(|reason| reason.is_ok()) { Ok(()) } else { first }
}

/// Runs the detectors that make the verdict. Arguments that one does not have are not given to it.
///
/// # Errors
/// When none can run on this document; when a state cannot be loaded again, or the work was cancelled.
pub fn decisions(
    document: &Source,
    window: TimeWindow,
    given: &[(&str, &str)],
    progress: &Progress,
) -> Result<Vec<Detection>> {
    let (mut found, mut unusable) = (Vec::new(), None);
    for detector in deciding() {
        let analysis = detector.describe();
        let has = |name: &str| analysis.parameters.iter().any(|parameter| parameter.id == name);
        let given = detector.arguments(None).iter().chain(given).filter(|(name, _)| has(name)).copied();
        let arguments = Arguments::parse(&analysis, given)?;
        match run(&*detector, document, window, &arguments, progress) {
            Ok(findings) => found.push(Detection { analysis, arguments, findings }),
            Err(error @ Error::Unusable { .. }) => unusable = unusable.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    match unusable.filter(|_| found.is_empty()) {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// As [`decisions`], all findings together.
///
/// # Errors
/// As [`decisions`].
pub fn decide(document: &Source, window: TimeWindow, progress: &Progress) -> Result<Findings> {
    let all = decisions(document, window, &[], progress)?;
    let verdict = LeakVerdict::strongest(all.iter().map(|of| &of.findings));
    let mut all = all.into_iter().map(|of| of.findings);
    let mut first = all.next().unwrap_or_default();
    for other in all {
        first.found.extend(other.found);
        first.answers.extend(other.answers);
        first.tables.extend(other.tables);
        first.notes.extend(other.notes);
        first.warnings.extend(other.warnings);
    }
    first.verdict = verdict;
    Ok(first)
}

/// Why nothing is known of the owners in an input of class counts alone.
pub fn without_owners(document: &Source) -> Option<&'static str> {
    let is_counted = document.heaps().is_none() && document.has_class_counts();
    is_counted.then_some(
        "Counts by class have no references: what keeps what grows is not known; that takes walks over the heap (record, attach)",
    )
}
