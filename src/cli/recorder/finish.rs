//! The command `finish`: adds the dumps that interrupted recordings left to their traces, and removes the useless ones.

use clap::Args;
use memory_city::jvm::leftovers;
use memory_city::terminal;
use memory_city_heap::error::Result;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(
    after_help = "A recording process that is killed leaves walks beside the recording, and may leave half a dump: that holds what the program\n\
    held. Commands that read a recording say so, and change nothing; the next `record` finishes what the same user has begun.\n\n  \
    memory-city finish run-2026-11-27-014500"
)]
pub struct FinishArgs {
    /// The folders that were recorded into, of this user
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

/// Finishes each of them; the first that cannot be finished ends it.
pub fn finish(args: &FinishArgs) -> Result<ExitCode> {
    for folder in &args.folders {
        let finished = leftovers::finish(folder)?;
        finished.warnings.iter().for_each(terminal::warning);
        terminal::result(format_args!("{}: {}", folder.display(), finished.text()));
    }
    Ok(ExitCode::SUCCESS)
}
