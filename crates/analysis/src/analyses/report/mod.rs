//! The report: several analyses of a document, one after the other, as text, JSON or CSV.

mod json;
mod text;
mod tree;

pub use tree::TreeReport;

use super::{
    Analysis, AnalysisRegistry, Arguments, Description, Detector, DetectorRank, DetectorText, Finding, Findings,
    LeakVerdict, TimeWindow,
};
use crate::tabular::{Cell, ResultTable, TEXT_ROWS, bytes_text, objects_text, several};
use crate::timeline::{NodeId, SampledPart, Source, Timeline};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use std::sync::Arc;

/// Version of the JSON form: raised when a field changes its meaning or goes.
pub const VERSION: u32 = 2;

/// The content of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportOptions {
    /// How many of the strongest growing groups.
    pub top: usize,
    /// Id of the metric that growth is measured in.
    pub metric: String,
    /// The first and last time, counted from 1; by default the whole timeline.
    pub window: (Option<usize>, Option<usize>),
    /// Whether the text says of each group that grows who refers to it, and the chain of its owners. The JSON form always does.
    pub full: bool,
    /// Whether it is left out who keeps the groups that grow: a text has that only where it is `full`.
    pub groups_only: bool,
    /// Whether all tables have all of their rows, and `top` counts for nothing.
    pub all: bool,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions {
            top: 10,
            metric: "bytes".to_owned(),
            window: (None, None),
            full: false,
            groups_only: false,
            all: false,
        }
    }
}

/// The findings of several analyses in one document.
#[derive(Clone, Debug)]
pub struct Report {
    /// Id of the grouping; of trees that came grouped, their roles.
    pub grouping: String,
    /// The points in time.
    pub window: TimeWindow,
    /// Where groups have sampled objects only: how many those are at the last of these times.
    pub sampled: Option<SampledPart>,
    /// The conclusion, where the report is about the whole input: its first line.
    pub verdict: Option<LeakVerdict>,
    /// The findings, by analysis.
    pub parts: Vec<ReportPart>,
    /// Warnings about the report.
    pub warnings: Vec<Warning>,
    /// Most rows of each table in the text; JSON and CSV have all that were found.
    pub text_rows: usize,
}

/// The findings of one analysis.
#[derive(Clone, Debug)]
pub struct ReportPart {
    /// The description of the analysis.
    pub analysis: Description,
    /// Its arguments.
    pub arguments: Arguments,
    /// Its findings.
    pub findings: Findings,
    /// Of detectors: what the findings count for.
    pub rank: Option<DetectorRank>,
    /// Why it could not be made of this input, for people.
    pub lacking: Option<String>,
    /// Whether the text has its answers and notes alone, without tables.
    pub brief: bool,
    /// Whether the text has its answers beside those of the verdict, and nothing else.
    pub early: bool,
    /// Whether the text has the outermost rows of its tables alone.
    pub outermost: bool,
}

impl ReportPart {
    /// A part with all that was found.
    pub(super) fn new(
        analysis: Description,
        arguments: Arguments,
        found: std::result::Result<Findings, String>,
    ) -> ReportPart {
        let (findings, lacking) = match found {
            Ok(findings) => (findings, None),
            Err(reason) => (Findings::default(), Some(reason)),
        };
        ReportPart { analysis, arguments, findings, rank: None, lacking, brief: false, early: false, outermost: false }
    }

    /// The title for people.
    pub fn title(&self) -> &str {
        self.findings.title.as_deref().unwrap_or(self.analysis.title)
    }
}

/// The report of a source: the heap over time and the largest growth. A recording adds the sites of its samples and the classes that grow
/// in its histograms. A trace adds its collections by kind and cause. Suspicious windows of time come last.
///
/// # Errors
/// When there is no such metric or point in time, a state cannot be loaded again, or the work was cancelled.
pub fn report(source: &Source, options: &ReportOptions, progress: &Progress) -> Result<Report> {
    let timeline = source.timeline();
    super::metric_of(timeline, &options.metric)?;
    let window = TimeWindow::of(timeline, options.window.0, options.window.1)?;
    let registry = AnalysisRegistry::built_in();
    if timeline.times() > 0 {
        progress.say(known_first(timeline, window));
    }
    progress.lead_to(OWNERS_FOUND);
    let mut report = Report::new(source, window);
    report.text_rows = if options.all { usize::MAX } else { TEXT_ROWS.max(options.top) };
    let mut detectors = super::detectors();
    let mut of_rank = |rank| -> Vec<_> { detectors.extract_if(.., |detector| detector.rank() == rank).collect() };
    report.detect(of_rank(DetectorRank::Verdict), source, None, progress)?;
    progress.lead_to(1.0);
    let metric = super::metric_of(timeline, &options.metric)?;
    let lacking = report.parts.iter().find_map(|part| part.lacking.as_deref());
    report.verdict = Some(LeakVerdict::of(
        report.parts.iter().filter(|part| part.lacking.is_none()).map(|part| &part.findings),
        lacking,
        timeline,
        metric,
    ));
    report.add(&*registry.get("heap")?, source, [], progress)?;
    report.detect(of_rank(DetectorRank::Heap), source, None, progress)?;
    let top = options.top.to_string();
    let top = (!options.all).then_some(("top", &*top));
    let given = [("metric", &*options.metric), ("keepers", if options.groups_only { "no" } else { "yes" })];
    report.add(&*registry.get("growth")?, source, top.into_iter().chain(given), progress)?;
    if let Some(part) = report.parts.last_mut() {
        part.outermost = !options.full;
    }
    report.name_growing(source);
    report.detect(of_rank(DetectorRank::Growth), source, top, progress)?;
    let collections = registry.get("collections")?;
    if collections.describe().check(source, window).is_ok() {
        report.add(&*collections, source, [], progress)?;
        // One by one they stand in the first table.
        if let Some(part) = report.parts.last_mut() {
            part.findings.tables.retain(|table| table.header.id == "totals");
        }
        report.detect(of_rank(DetectorRank::Course), source, None, progress)?;
    }
    Ok(report)
}

/// Runs one analysis and makes a report of it.
///
/// # Errors
/// When it cannot be made of this source, or as [`report`].
pub fn analyse<'a>(
    analysis: &Arc<dyn Analysis>,
    source: &Source,
    window: TimeWindow,
    given: impl IntoIterator<Item = (&'a str, &'a str)>,
    progress: &Progress,
) -> Result<Report> {
    let mut report = Report::new(source, window);
    let arguments = Arguments::parse(&analysis.describe(), given)?;
    let findings = super::run(&**analysis, source, window, &arguments, progress)?;
    report.parts.push(ReportPart::new(analysis.describe(), arguments, Ok(findings)));
    Ok(report)
}

/// The findings that make the verdict, as [`super::decisions`].
///
/// # Errors
/// As [`super::decisions`].
pub fn decided(source: &Source, window: TimeWindow, given: &[(&str, &str)], progress: &Progress) -> Result<Report> {
    let mut report = Report::new(source, window);
    let found = super::decisions(source, window, given, progress)?;
    report.parts.extend(found.into_iter().map(|of| ReportPart::new(of.analysis, of.arguments, Ok(of.findings))));
    Ok(report)
}

impl Report {
    fn new(source: &Source, window: TimeWindow) -> Report {
        let (grouping, sampled) = (source.grouping_id(), sampled_at(source, window));
        Report {
            grouping,
            window,
            sampled,
            verdict: None,
            parts: Vec::new(),
            warnings: source.warnings(),
            text_rows: TEXT_ROWS,
        }
    }

    /// Adds the findings of an analysis, or the reason why it cannot run on this source.
    fn add<'a>(
        &mut self,
        analysis: &dyn Analysis,
        source: &Source,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
        progress: &Progress,
    ) -> Result<()> {
        let description = analysis.describe();
        let all: Vec<_> = super::all_rows(&description).filter(|_| self.text_rows == usize::MAX).collect();
        let mut arguments = Arguments::parse(&description, all.iter().map(|(name, most)| (*name, &**most)))?;
        given.into_iter().try_for_each(|(name, text)| arguments.set(&description, name, text))?;
        let found = match description.check(source, self.window) {
            Ok(()) => Ok(super::run(analysis, source, self.window, &arguments, progress)?),
            Err(reason) => Err(reason),
        };
        self.parts.push(ReportPart::new(description, arguments, found));
        Ok(())
    }

    /// Adds what detectors find, or why those that make the verdict cannot.
    fn detect(
        &mut self,
        detectors: Vec<Box<dyn Detector>>,
        source: &Source,
        top: Option<(&str, &str)>,
        progress: &Progress,
    ) -> Result<()> {
        for detector in detectors {
            let (rank, text, description) = (detector.rank(), detector.text(source), detector.describe());
            let decides = rank == DetectorRank::Verdict;
            let is_optional = matches!(text, DetectorText::IfFound | DetectorText::Early);
            if self.verdict.as_ref().is_some_and(|verdict| !detector.is_worth(verdict)) {
                continue;
            }
            let given = detector.arguments(self.verdict.as_ref()).iter().copied().chain(top);
            let added = match (description.check(source, self.window), super::without_owners(source)) {
                (Ok(()), _) => self.add(&*detector, source, given, progress),
                (Err(_), Some(reason)) if decides => {
                    Err(Error::Unusable { what: reason.to_owned(), remedy: String::new() })
                }
                (Err(_), _) => continue,
            };
            match added {
                // A trace without references has the rest to tell.
                Err(Error::Unusable { what, .. }) if decides => {
                    let arguments = Arguments::parse(&description, [])?;
                    self.parts.push(ReportPart::new(description, arguments, Err(what)));
                }
                Err(Error::Unusable { .. }) if is_optional => continue,
                result => result?,
            }
            let Some(part) = self.parts.last_mut() else { continue };
            (part.rank, part.brief, part.early) =
                (Some(rank), text != DetectorText::Tables, text == DetectorText::Early);
            let findings = &mut part.findings;
            if findings.found.is_empty() && is_optional {
                self.parts.pop();
            } else if findings.answers.is_empty() {
                findings.answers = std::mem::take(&mut findings.notes);
            } else if findings.found.is_empty() && rank == DetectorRank::Course {
                // One verdict: where owners tell that something grows, no window of time denies it.
                let grows = self.verdict.as_ref().is_some_and(LeakVerdict::grows);
                findings.answers.retain(|_| !grows);
            }
        }
        Ok(())
    }

    /// Names the largest growth when its reason is unknown, with that fact first.
    fn name_growing(&mut self, source: &Source) {
        let Some(reason) = super::without_owners(source) else { return };
        let growing = self.table("growing").ok().and_then(|table| table.rows.first()?.cells.first());
        let named = match growing {
            Some(Cell::Node(node)) => format!("{reason}. {} grows most, see below", node.path),
            _ => return,
        };
        let unknown = self.parts.iter_mut().filter_map(|part| part.lacking.as_mut());
        unknown.filter(|why| *why == reason).for_each(|why| why.clone_from(&named));
    }

    /// All tables, in order.
    pub fn tables(&self) -> impl Iterator<Item = &ResultTable> {
        self.parts.iter().flat_map(|part| &part.findings.tables)
    }

    /// What detectors found, those first that make the verdict.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.parts.iter().flat_map(|part| &part.findings.found)
    }

    /// The table of an id.
    ///
    /// # Errors
    /// When there is none; says which there are.
    pub fn table(&self, id: &str) -> Result<&ResultTable> {
        self.tables().find(|table| table.header.id == id).ok_or_else(|| {
            let known: Vec<&str> = self.tables().map(|t| t.header.id.as_str()).collect();
            Error::Unusable {
                what: format!("There is no table {id} in this report"),
                remedy: format!("Use one of: {}", known.join(", ")),
            }
        })
    }

    /// The warnings of the document, then those of the analyses.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().chain(self.parts.iter().flat_map(|part| &part.findings.warnings))
    }
}

/// How far a report is when its input is open, as a share of all its work, and when the owners are found: for [`Progress::lead_to`].
pub const OPENED: f64 = 0.3;
const OWNERS_FOUND: f64 = 0.7;

/// Groups that are named before owners are known.
const NAMED_FIRST: usize = 3;

/// The size of the heap and its largest groups: what is known before owners are found.
fn known_first(timeline: &Timeline, window: TimeWindow) -> String {
    let amount = timeline.amount(window.to, NodeId::ROOT);
    let leaves = super::ranking::leaves_with(timeline, |node| super::change(0, timeline.amount(window.to, node).bytes));
    let groups = several(leaves.len() as u64, "group", "groups");
    let largest = super::ranking::strongest(leaves, NAMED_FIRST).into_iter();
    let largest: Vec<String> = largest
        .map(|node| format!("{} {}", timeline.name(node), bytes_text(timeline.amount(window.to, node).bytes)))
        .collect();
    format!("{} in {}, {groups}: {}", bytes_text(amount.bytes), objects_text(amount.objects), largest.join(", "))
}

fn sampled_at(source: &Source, window: TimeWindow) -> Option<SampledPart> {
    source.timeline().points().get(window.to)?.sampled
}
