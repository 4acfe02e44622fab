//! A report as JSON, version 2, described in `docs/report-json.md`. It is built from the same tables as the text.

use super::super::{Arguments, Finding, LeakVerdict};
use super::{Report, ReportPart, TreeReport, VERSION};
use crate::tabular::{JsonTable, RowSource};
use crate::timeline::SampledPart;
use memory_city_heap::error::Warning;
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::io::{self, Write};

impl Report {
    /// Writes it for programs, indented.
    ///
    /// # Errors
    /// When something in it has no JSON form, or `out` takes no more.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

impl TreeReport<'_> {
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
            verdict: None,
            findings: Vec::new(),
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
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a LeakVerdict>,
    findings: Vec<&'a Finding>,
    analyses: Vec<JsonPart<'a, A>>,
}

/// With the sentence of the text form.
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
            verdict: self
                .verdict
                .as_ref()
                .or_else(|| self.parts.iter().find_map(|part| part.findings.verdict.as_ref())),
            findings: self.findings().collect(),
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
