//! `convert`: what was read, as memory trees in JSON.

use super::{GroupingArgs, with_progress};
use clap::Args;
use memory_city_analysis::timeline::{Source, json};
use memory_city_heap::error::Result;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct ConvertArgs {
    /// Dumps, a trace, or memory trees in JSON (all plain, .gz or .zst), or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The file to write: .json for one document, .jsonl for a line per time; .gz or .zst behind that packs it
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Leave out what refers to what: much faster for traces, but the city has no cones
    #[arg(long)]
    no_references: bool,
    #[command(flatten)]
    grouped: GroupingArgs,
}

/// Writes them.
pub fn convert(args: ConvertArgs) -> Result<ExitCode> {
    let source = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.grouping, args.grouped.options(), progress)?;
        // The bar shows times, not what is done for one of them.
        let hidden = progress.hidden();
        let references = |time: usize| source.time_references(time, &hidden);
        let references: Option<&json::ReferencesOf<'_>> = if args.no_references { None } else { Some(&references) };
        json::save(source.timeline(), references, &args.output, progress)?;
        Ok(source)
    })?;
    for warning in source.warnings() {
        eprintln!("memory-city: warning: {warning}");
    }
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}
