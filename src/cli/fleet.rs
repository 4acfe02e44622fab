//! The command `fleet`: what leaks in which of many processes.

use super::output::OutputArgs;
use super::with_progress;
use clap::Args;
use memory_city_heap::error::Result;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct FleetArgs {
    /// A folder of files of places, as `check --places` writes them, and of folders of them
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Mark what was first seen on this day or later: 2026-11-01
    #[arg(long, value_name = "DAY", value_parser = day)]
    since: Option<u64>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Milliseconds since 1970 at the start of a day, in UTC.
fn day(text: &str) -> std::result::Result<u64, String> {
    let day: jiff::civil::Date = text.trim().parse().map_err(|_| "expected a day, such as 2026-11-01".to_owned())?;
    let start = day.to_zoned(jiff::tz::TimeZone::UTC).map_err(|error| error.to_string())?;
    u64::try_from(start.timestamp().as_millisecond()).map_err(|_| "expected a day after 1970".to_owned())
}

/// Reads them, and prints what they have in common.
pub fn run(args: FleetArgs) -> Result<ExitCode> {
    args.output.check();
    let mut report = with_progress(|progress| memory_city_tables::fleet(&args.folder, args.since, progress))?;
    report.text_rows = args.output.text_rows(None);
    args.output.print(&report, "places")?;
    Ok(ExitCode::SUCCESS)
}
