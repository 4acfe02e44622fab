//! The command `structures`: suggests descriptions of data structures, or brings a file of them into its own form.

use super::{set_memory_limit, with_progress};
use clap::Args;
use memory_city::terminal::print;
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::structures;
use memory_city_analysis::timeline::Source;
use memory_city_heap::error::Result;
use memory_city_heap::printable::{EscapeForm, line_text};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[group(id = "task", required = true, multiple = false)]
pub struct Task {
    /// Suggest descriptions for types that look like data structures and that none describes, as text for a file
    #[arg(long, requires = "paths")]
    suggest: bool,
    /// Check a file of descriptions, and print it in its own form
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    format: Option<PathBuf>,
}

#[derive(Args)]
pub struct StructuresArgs {
    /// Heap dumps, a trace or a recording; of several points in time the last one counts
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    task: Task,
    /// Descriptions that are known: what they describe is not suggested; may be given several times
    #[arg(long, value_name = "FILE")]
    structures: Vec<PathBuf>,
    /// Memory that this may take: 500MB, 4GB, ... [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = super::memory)]
    memory: Option<u64>,
}

/// Suggests, or brings into form.
pub fn structures(args: StructuresArgs) -> Result<ExitCode> {
    let text = match &args.task.format {
        Some(file) => structures::in_own_form(file)?,
        None => suggestions(&args)?,
    };
    print(EscapeForm::Text, |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

fn suggestions(args: &StructuresArgs) -> Result<String> {
    let analysis = AnalysisRegistry::built_in().get("suggested-structures")?;
    let arguments = Arguments::parse(&analysis.describe(), [("top", "100000")])?;
    if let Some(bytes) = args.memory {
        set_memory_limit(bytes);
    }
    let (warnings, findings) = with_progress(|progress| {
        let source = Source::open(&args.paths, "type", GroupOptions::default(), progress)?;
        let window = TimeWindow::whole(source.timeline());
        let findings = analyses::run(&*analysis, &source, window, &arguments, progress)?;
        Ok((source.warnings(), findings))
    })?;
    let warnings = warnings.iter().map(ToString::to_string);
    let notes = warnings.chain(findings.notes.iter().cloned());
    let mut text: String = notes.map(|note| format!("// {}\n", line_text(&note))).collect();
    if findings.answers.is_empty() {
        text.push_str(&format!("// {}\n", findings.tables.first().map_or("", |table| &table.empty_text)));
    }
    findings.answers.iter().for_each(|line| text.extend([line, "\n"]));
    if let Some((left @ 1.., what)) = findings.tables.first().and_then(|table| table.left_out.as_ref()) {
        text.push_str(&format!("// {left} more {what}.\n"));
    }
    Ok(text)
}
