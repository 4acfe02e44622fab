//! The report: several analyses of a document, one after the other, as text, JSON or CSV.
//!
//! The JSON form is version 2, described in `docs/report-json.md`. It is built from the same tables as the text.

use super::{Analysis, AnalysisRegistry, Arguments, Description, Findings, TimeWindow};
use crate::tabular::{Cell, JsonTable, ResultTable, RowSource, write_text};
use crate::timeline::{SampledPart, Source};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::io::{self, Write};
use std::sync::Arc;

/// Version of the JSON form: raised when a field changes its meaning or goes.
pub const VERSION: u32 = 2;

/// What goes into a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportOptions {
    /// How many of the strongest growing groups.
    pub top: usize,
    /// Id of the metric that growth is measured in.
    pub metric: String,
    /// The first and last time, counted from 1; the first and last there are where nothing is said.
    pub window: (Option<usize>, Option<usize>),
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { top: 10, metric: "bytes".to_owned(), window: (None, None) }
    }
}

/// What analyses found in one document.
#[derive(Clone, Debug)]
pub struct Report {
    /// Id of the grouping; of trees that came grouped, their roles.
    pub grouping: String,
    /// The times that were looked at.
    pub window: TimeWindow,
    /// Where groups have sampled objects only: how many those are at the last of these times.
    pub sampled: Option<SampledPart>,
    /// What each analysis found.
    pub parts: Vec<ReportPart>,
    /// What a person must know about it.
    pub warnings: Vec<Warning>,
}

/// What one analysis found.
#[derive(Clone, Debug)]
pub struct ReportPart {
    /// What the analysis says of itself.
    pub analysis: Description,
    /// What it was told.
    pub arguments: Arguments,
    /// What it found.
    pub findings: Findings,
    /// Why it could not be made of this input, for people.
    pub lacking: Option<String>,
    /// Whether the text has its answers and notes alone, without tables.
    pub brief: bool,
}

impl ReportPart {
    /// What it is called for people.
    pub fn title(&self) -> &str {
        self.findings.title.as_deref().unwrap_or(self.analysis.title)
    }

    /// Its answers under its title, where it has any.
    fn write_answers(&self, out: &mut dyn Write, first: &mut bool) -> io::Result<()> {
        if self.findings.answers.is_empty() {
            return Ok(());
        }
        paragraph(out, first)?;
        writeln!(out, "{}", self.title().to_uppercase())?;
        self.findings.answers.iter().try_for_each(|answer| writeln!(out, "  {answer}"))
    }
}

/// Makes the report of a source: the heap over time, what grows most, of a recording where its samples were allocated and which
/// classes its histograms see growing, and, of a trace, its collections by kind and cause, and the windows of time that are suspicious.
///
/// # Errors
/// When there is no such metric or point in time, a state cannot be loaded again, or the work was cancelled.
pub fn report(source: &Source, options: &ReportOptions, progress: &Progress) -> Result<Report> {
    let timeline = source.timeline();
    super::metric_of(timeline, &options.metric)?;
    let window = TimeWindow::of(timeline, options.window.0, options.window.1)?;
    let registry = AnalysisRegistry::built_in();
    let mut report = Report::new(source, window);
    let leak = registry.get("leak")?;
    let description = leak.describe();
    if description.check(source, window).is_ok() {
        match report.add(&*leak, source, [], progress) {
            // A trace without references has the rest to tell.
            Err(Error::Unusable { what, .. }) => {
                let arguments = Arguments::parse(&description, [])?;
                let findings = Findings::default();
                let lacking = Some(what);
                report.parts.push(ReportPart { analysis: description, arguments, findings, lacking, brief: true });
            }
            result => result?,
        }
        report.parts.iter_mut().for_each(|part| part.brief = true);
    } else if source.heaps().is_none() && source.has_class_counts() {
        let arguments = Arguments::parse(&description, [])?;
        let findings = Findings::default();
        let lacking = Some(NO_REFERENCES.to_owned());
        report.parts.push(ReportPart { analysis: description, arguments, findings, lacking, brief: true });
    }
    report.add(&*registry.get("heap")?, source, [], progress)?;
    report.add_weaker(&*registry.get("kept-by")?, source, progress)?;
    let top = options.top.to_string();
    report.add(&*registry.get("growth")?, source, [("top", &*top), ("metric", &*options.metric)], progress)?;
    report.name_growing();
    let sites = registry.get("sites")?;
    if sites.describe().check(source, window).is_ok() {
        report.add(&*sites, source, [("top", &*top)], progress)?;
    }
    report.add_counts(&*registry.get("counts")?, source, progress)?;
    let collections = registry.get("collections")?;
    if collections.describe().check(source, window).is_ok() {
        report.add(&*collections, source, [], progress)?;
        // One by one they stand in the first table.
        if let Some(part) = report.parts.last_mut() {
            part.findings.tables.retain(|table| table.header.id == "totals");
        }
        report.add(&*registry.get("windows")?, source, [("states", STATES)], progress)?;
        report.parts.iter_mut().filter(|part| part.analysis.id == "windows").for_each(|part| part.brief = true);
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
    report.parts.push(ReportPart { analysis: analysis.describe(), arguments, findings, lacking: None, brief: false });
    Ok(report)
}

impl Report {
    fn new(source: &Source, window: TimeWindow) -> Report {
        let (grouping, sampled) = (source.grouping_id(), sampled_at(source, window));
        Report { grouping, window, sampled, parts: Vec::new(), warnings: source.warnings() }
    }

    /// Adds what an analysis finds; where it cannot be made of this source, why.
    fn add<'a>(
        &mut self,
        analysis: &dyn Analysis,
        source: &Source,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
        progress: &Progress,
    ) -> Result<()> {
        let description = analysis.describe();
        let arguments = Arguments::parse(&description, given)?;
        let (findings, lacking) = match description.check(source, self.window) {
            Ok(()) => (super::run(analysis, source, self.window, &arguments, progress)?, None),
            Err(reason) => (Findings::default(), Some(reason)),
        };
        self.parts.push(ReportPart { analysis: description, arguments, findings, lacking, brief: false });
        Ok(())
    }

    /// Names what grows most where nobody knows why: with the reason, which comes first.
    fn name_growing(&mut self) {
        let growing = self.table("growing").ok().and_then(|table| table.rows.first()?.cells.first());
        let named = match growing {
            Some(Cell::Node(node)) => format!("{NO_REFERENCES}. {} grows most, see below", node.path),
            _ => return,
        };
        let unknown = self.parts.iter_mut().filter_map(|part| part.lacking.as_mut());
        unknown.filter(|why| *why == NO_REFERENCES).for_each(|why| why.clone_from(&named));
    }

    /// Which classes grow steadily over the class histograms of a recording, where one does.
    fn add_counts(&mut self, analysis: &dyn Analysis, source: &Source, progress: &Progress) -> Result<()> {
        if analysis.describe().check(source, self.window).is_err() {
            return Ok(());
        }
        // Walks are told by all else.
        self.add(analysis, source, [("walks", "0")], progress)?;
        let is_beside = matches!(source, Source::Counts(counts) if counts.is_estimate());
        if let Some(part) = self.parts.pop_if(|part| part.findings.answers.is_empty()).filter(|_| is_beside) {
            // Where there are no walks, and the trees are estimates, nothing else says how the counts went.
            let Findings { notes, .. } = part.findings;
            self.parts.push(ReportPart { findings: Findings { answers: notes, ..Findings::default() }, ..part });
        }
        self.parts.iter_mut().filter(|part| part.analysis.id == "counts").for_each(|part| part.brief = true);
        Ok(())
    }

    /// What is kept by soft or weaker references alone, where that is a part of the heap worth a line.
    fn add_weaker(&mut self, analysis: &dyn Analysis, source: &Source, progress: &Progress) -> Result<()> {
        if analysis.describe().check(source, self.window).is_err() {
            return Ok(());
        }
        match self.add(analysis, source, [], progress) {
            Err(Error::Unusable { .. }) => return Ok(()),
            result => result?,
        }
        let Some(part) = self.parts.last_mut() else { return Ok(()) };
        part.brief = true;
        let table = part.findings.tables.iter().find(|t| t.header.id == "strengths");
        let column = table.and_then(|t| t.header.column("bytes")).unwrap_or_default();
        let cells = table.iter().flat_map(|t| &t.rows).map(|row| row.cells.get(column));
        let bytes: Vec<u64> = cells.map(|cell| if let Some(Cell::Number(n)) = cell { *n } else { 0 }).collect();
        // All but plain references and garbage.
        let weaker: u64 = bytes.iter().skip(1).take(2).sum();
        if weaker.saturating_mul(WORTH_A_LINE) < bytes.iter().sum() {
            self.parts.pop();
        }
        Ok(())
    }

    /// All tables, in order.
    pub fn tables(&self) -> impl Iterator<Item = &ResultTable> {
        self.parts.iter().flat_map(|part| &part.findings.tables)
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

    /// Writes it for people.
    ///
    /// # Errors
    /// When `out` takes no more, or the work was cancelled ([`io::ErrorKind::Interrupted`]).
    pub fn write_text(&self, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
        let mut first = true;
        let part_of = |id: &str| self.parts.iter().find(|part| part.analysis.id == id);
        // Who keeps what grows, and which line makes it: both before any table.
        let with_leak = part_of("leak").and_then(|_| part_of("sites"));
        for part in &self.parts {
            if part.analysis.id != "sites" || with_leak.is_none() {
                part.write_answers(out, &mut first)?;
            }
            for table in part.findings.tables.iter().filter(|_| !part.brief) {
                paragraph(out, &mut first)?;
                write_text(table, out, progress)?;
            }
            if let Some(reason) = &part.lacking {
                paragraph(out, &mut first)?;
                writeln!(out, "{}\n  {reason}.", part.analysis.title.to_uppercase())?;
            }
            for note in &part.findings.notes {
                writeln!(out, "  {note}")?;
            }
            if let Some(sites) = with_leak.filter(|_| part.analysis.id == "leak") {
                sites.write_answers(out, &mut first)?;
            }
        }
        if let Some(sampled) = &self.sampled {
            paragraph(out, &mut first)?;
            writeln!(out, "{SAMPLED}\n  {sampled}.")?;
        }
        let mut warnings = self.all_warnings().peekable();
        if warnings.peek().is_some() {
            paragraph(out, &mut first)?;
            writeln!(out, "WARNINGS")?;
        }
        warnings.try_for_each(|warning| writeln!(out, "  {warning}"))
    }

    /// Writes it for programs, indented.
    ///
    /// # Errors
    /// When something in it has no JSON form, or `out` takes no more.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// The warnings of the document, then those of the analyses.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().chain(self.parts.iter().flat_map(|part| &part.findings.warnings))
    }
}

/// Why nothing is said of leaks where classes were counted, and nothing else.
const NO_REFERENCES: &str = "Counts by class have no references: what keeps what grows is not known; that takes walks over the heap (record, attach)";

/// What stands above how many objects are samples.
const SAMPLED: &str = "SAMPLED OBJECTS ONLY";

/// So many heap states are looked at for the window of a leak.
const STATES: &str = "24";

/// What weaker references keep is told when it is more than one part in so many of the heap.
const WORTH_A_LINE: u64 = 100;

fn sampled_at(source: &Source, window: TimeWindow) -> Option<SampledPart> {
    source.timeline().points().get(window.to)?.sampled
}

fn paragraph(out: &mut dyn Write, first: &mut bool) -> io::Result<()> {
    if std::mem::take(first) { Ok(()) } else { writeln!(out) }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Vec::new();
        self.write_text(&mut text, &Progress::new()).map_err(|_| std::fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// The table of a tree as a report of its own, row by row: it may have a million of them.
pub struct TreeReport<'a> {
    /// Where the tree comes from.
    pub source: &'a Source,
    /// The times it is about.
    pub window: TimeWindow,
    /// What was asked for, by name.
    pub arguments: Vec<(&'static str, String)>,
    /// The rows.
    pub rows: &'a dyn RowSource,
    /// Lines that sum it up.
    pub notes: Vec<String>,
}

impl TreeReport<'_> {
    /// As [`Report::sampled`].
    pub fn sampled(&self) -> Option<SampledPart> {
        sampled_at(self.source, self.window)
    }

    /// As [`Report::write_text`].
    ///
    /// # Errors
    /// As [`Report::write_text`].
    pub fn write_text(&self, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
        write_text(self.rows, out, progress)?;
        self.notes.iter().try_for_each(|note| writeln!(out, "  {note}"))?;
        if let Some(sampled) = self.sampled() {
            writeln!(out, "\n{SAMPLED}\n  {sampled}.")?;
        }
        let warnings = self.source.warnings();
        if !warnings.is_empty() {
            writeln!(out, "\nWARNINGS")?;
        }
        warnings.iter().try_for_each(|warning| writeln!(out, "  {warning}"))
    }

    /// As [`Report::write_json`], with one analysis, `tree`.
    ///
    /// # Errors
    /// As [`Report::write_json`].
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let warnings = self.source.warnings();
        let arguments: std::collections::BTreeMap<_, _> = self.arguments.iter().cloned().collect();
        let part = JsonPart {
            id: "tree",
            title: "Memory tree",
            arguments: &arguments,
            lacking: None,
            tables: Tables(vec![self.rows]),
            answers: &[],
            notes: &self.notes,
        };
        let document = JsonReport {
            version: VERSION,
            grouping: &self.source.grouping_id(),
            from: self.window.from + 1,
            to: self.window.to + 1,
            sampled: self.sampled().map(JsonSampled::of),
            warnings: warnings.iter().collect(),
            analyses: vec![part],
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

/// The JSON form. Warnings come first: when one of them has no JSON form, that is known before a million rows.
#[derive(serde::Serialize)]
struct JsonReport<'a, A> {
    version: u32,
    grouping: &'a str,
    from: usize,
    to: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<JsonSampled>,
    warnings: Vec<&'a Warning>,
    analyses: Vec<JsonPart<'a, A>>,
}

/// With the sentence that the text has.
#[derive(serde::Serialize)]
struct JsonSampled {
    #[serde(flatten)]
    part: SampledPart,
    note: String,
}

impl JsonSampled {
    fn of(part: SampledPart) -> JsonSampled {
        JsonSampled { part, note: part.to_string() }
    }
}

#[derive(serde::Serialize)]
struct JsonPart<'a, A> {
    id: &'a str,
    title: &'a str,
    arguments: &'a A,
    lacking: Option<&'a str>,
    answers: &'a [String],
    tables: Tables<'a>,
    notes: &'a [String],
}

struct Tables<'a>(Vec<&'a dyn RowSource>);

impl Serialize for Tables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut tables = serializer.serialize_seq(Some(self.0.len()))?;
        for table in &self.0 {
            tables.serialize_element(&JsonTable(*table))?;
        }
        tables.end()
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let report = JsonReport {
            version: VERSION,
            grouping: &self.grouping,
            from: self.window.from + 1,
            to: self.window.to + 1,
            sampled: self.sampled.map(JsonSampled::of),
            warnings: self.all_warnings().collect(),
            analyses: self.parts.iter().map(json_part).collect(),
        };
        report.serialize(serializer)
    }
}

fn json_part(part: &ReportPart) -> JsonPart<'_, Arguments> {
    JsonPart {
        id: part.analysis.id,
        title: part.title(),
        arguments: &part.arguments,
        lacking: part.lacking.as_deref(),
        tables: Tables(part.findings.tables.iter().map(|table| table as &dyn RowSource).collect()),
        answers: &part.findings.answers,
        notes: &part.findings.notes,
    }
}
