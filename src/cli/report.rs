//! `report`: how the heap grew, and why.

use super::{Grouped, MetricArg, with_progress};
use clap::{Args, ValueEnum};
use memory_city_analysis::analyses::report::{self, ReportOptions};
use memory_city_analysis::timeline::Source;
use memory_city_heap::error::Result;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct ReportArgs {
    /// Dumps, a trace, or memory trees in JSON (plain, .gz, .zst), or folders of them; ordered by time
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// How many of the strongest growing groups are listed
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// What growth is measured in
    #[arg(long, value_enum, default_value = "bytes")]
    metric: MetricArg,
    #[command(flatten)]
    grouped: Grouped,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Prints it.
pub fn report(args: ReportArgs) -> Result<ExitCode> {
    let options = ReportOptions { top: args.top, metric: args.metric.into() };
    let report = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.grouping, args.grouped.options(), progress)?;
        report::report(&source, &options, progress)
    })?;
    let text = match args.format {
        Format::Text => report.to_string(),
        Format::Json => report.to_json() + "\n",
    };
    // A closed pipe (`| head`) is no error of ours.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(ExitCode::SUCCESS)
}
