//! A report as text.

use super::super::{DetectorRank, LeakVerdict, judging, unjudged};
use super::{Report, ReportPart};
use crate::tabular::{ResultTable, write_text};
use memory_city_heap::error::Warning;
use memory_city_heap::printable::line_text;
use memory_city_heap::progress::Progress;
use std::io::{self, Write};

/// The heading that gives the share of sampled objects.
pub(super) const SAMPLED: &str = "SAMPLED OBJECTS ONLY";

impl ReportPart {
    /// Sentences that the text has before any table: which line makes what somebody keeps.
    fn is_early(&self) -> bool {
        self.rank == Some(DetectorRank::Growth) && (!self.brief || self.early)
    }

    /// Its answers under its title, where it has any.
    fn write_answers(&self, out: &mut dyn Write, first: &mut bool) -> io::Result<()> {
        // Where there is no place, the verdict has said all.
        let is_said = |verdict: &LeakVerdict| self.findings.answers == [format!("{}.", verdict.headline)];
        if self.findings.answers.is_empty() || self.brief && self.findings.verdict.as_ref().is_some_and(is_said) {
            return Ok(());
        }
        paragraph(out, first)?;
        writeln!(out, "{}", line_text(self.title()).to_uppercase())?;
        self.findings.answers.iter().try_for_each(|answer| write_line(out, answer))
    }
}

impl Report {
    /// Writes it for people.
    ///
    /// # Errors
    /// When `out` takes no more, or the work was cancelled ([`io::ErrorKind::Interrupted`]).
    pub fn write_text(&self, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
        let mut first = true;
        write_first_lines(&self.warnings, out, &mut first)?;
        let is_of_verdict = |part: &ReportPart| part.rank == Some(DetectorRank::Verdict);
        if let Some(verdict) = &self.verdict {
            paragraph(out, &mut first)?;
            writeln!(out, "{}", line_text(&verdict.line()))?;
            // Why the owners are not known stands where they would.
            let is_said = self.parts.iter().any(|part| is_of_verdict(part) && part.lacking.is_some());
            let said_first = unjudged(&self.warnings);
            let mut caveats = verdict.caveats.iter().filter(|caveat| !is_said && !said_first.contains(caveat));
            caveats.try_for_each(|caveat| write_line(out, caveat))?;
        }
        let has_early = self.parts.iter().any(is_of_verdict);
        for part in &self.parts {
            if !part.is_early() || !has_early {
                part.write_answers(out, &mut first)?;
            }
            for table in part.findings.tables.iter().filter(|_| !part.brief) {
                paragraph(out, &mut first)?;
                match part.outermost {
                    true => write_text(&outermost(table), self.text_rows, out, progress)?,
                    false => write_text(table, self.text_rows, out, progress)?,
                }
            }
            if let Some(reason) = &part.lacking {
                paragraph(out, &mut first)?;
                writeln!(out, "{}\n  {}.", part.analysis.title.to_uppercase(), line_text(reason))?;
            }
            for note in part.findings.notes.iter().filter(|_| !part.early) {
                write_line(out, note)?;
            }
            if is_of_verdict(part) {
                let mut early = self.parts.iter().filter(|part| part.is_early());
                early.try_for_each(|part| part.write_answers(out, &mut first))?;
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
        warnings.try_for_each(|warning| write_line(out, &warning.to_string()))
    }
}

/// The first lines: what they say goes for all that follows.
pub(super) fn write_first_lines(warnings: &[Warning], out: &mut dyn Write, first: &mut bool) -> io::Result<()> {
    let unfinished = warnings.iter().filter(|warning| warning.is_unfinished()).map(|warning| format!("{warning}."));
    let said: Vec<String> = unjudged(warnings).into_iter().chain(unfinished).collect();
    if !said.is_empty() {
        paragraph(out, first)?;
    }
    said.iter().try_for_each(|reason| {
        let reason = line_text(reason);
        let (line, rest) = judging::first_line(&reason);
        writeln!(out, "{line}")?;
        if rest.is_empty() { Ok(()) } else { writeln!(out, "  {rest}") }
    })
}

/// A table without the rows that lie below others.
fn outermost(table: &ResultTable) -> ResultTable {
    let rows = table.rows.iter().filter(|row| row.depth == 0).cloned().collect();
    ResultTable { rows, ..table.clone() }
}

pub(super) fn paragraph(out: &mut dyn Write, first: &mut bool) -> io::Result<()> {
    if std::mem::take(first) { Ok(()) } else { writeln!(out) }
}

/// Writes a line of findings, with all names in it escaped.
pub(super) fn write_line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "  {}", line_text(text))
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Vec::new();
        self.write_text(&mut text, &Progress::new()).map_err(|_| std::fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&text))
    }
}
