//! The table of a tree as a report of its own.

use super::text::{SAMPLED, paragraph, write_first_lines, write_line};
use super::{SampledPart, sampled_at};
use crate::tabular::{RowSource, write_text};
use crate::timeline::{Source, TimeWindow};
use memory_city_heap::progress::Progress;
use std::io::{self, Write};

/// The table of a tree as a report of its own, row by row: it may have a million of them.
pub struct TreeReport<'a> {
    /// Where the tree comes from.
    pub source: &'a Source,
    /// The times it is about.
    pub window: TimeWindow,
    /// The arguments, by name.
    pub arguments: Vec<(&'static str, String)>,
    /// The rows.
    pub rows: &'a dyn RowSource,
    /// Lines that sum it up.
    pub notes: Vec<String>,
    /// As [`super::Report::text_rows`].
    pub text_rows: usize,
}

impl TreeReport<'_> {
    /// As [`super::Report::sampled`].
    pub fn sampled(&self) -> Option<SampledPart> {
        sampled_at(self.source, self.window)
    }

    /// As [`super::Report::write_text`].
    ///
    /// # Errors
    /// As [`super::Report::write_text`].
    pub fn write_text(&self, out: &mut dyn Write, progress: &Progress) -> io::Result<()> {
        let mut first = true;
        let warnings = self.source.warnings();
        write_first_lines(&warnings, out, &mut first)?;
        paragraph(out, &mut first)?;
        write_text(self.rows, self.text_rows, out, progress)?;
        self.notes.iter().try_for_each(|note| write_line(out, note))?;
        if let Some(sampled) = self.sampled() {
            writeln!(out, "\n{SAMPLED}\n  {sampled}.")?;
        }
        if !warnings.is_empty() {
            writeln!(out, "\nWARNINGS")?;
        }
        warnings.iter().try_for_each(|warning| write_line(out, &warning.to_string()))
    }
}
