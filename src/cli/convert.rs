//! `convert`: what was read, as memory trees in JSON or as a recording. What the file does not hold is named.

use super::{GroupingArgs, with_progress};
use clap::Args;
use memory_city_analysis::timeline::{Source, are_trees, json};
use memory_city_formats::wire;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct ConvertArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (all plain, .gz or .zst), or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The file to write: .json for one document, .jsonl for a line per time, .gz or .zst behind that packs it; .mcity for a
    /// recording (docs/trace-format.md)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Leave out what refers to what: much faster for traces, but the city has no cones. Of JSON only
    #[arg(long)]
    no_references: bool,
    #[command(flatten)]
    grouped: GroupingArgs,
}

/// Writes them.
pub fn convert(args: ConvertArgs) -> Result<ExitCode> {
    let name = args.output.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let left_out = if name.ends_with(".mcity") { recording(&args)? } else { trees(&args)? };
    for what in left_out {
        eprintln!("memory-city: not in the file: {what}");
    }
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

fn warn<'a>(warnings: impl IntoIterator<Item = &'a memory_city_heap::error::Warning>) {
    for warning in warnings {
        eprintln!("memory-city: warning: {warning}");
    }
}

/// As memory trees; what they leave out.
fn trees(args: &ConvertArgs) -> Result<Vec<String>> {
    let source = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.named(), args.grouped.options(), progress)?;
        // The bar shows times, not what is done for one of them.
        let hidden = progress.hidden();
        let references = |time: usize| source.time_references(time, &hidden);
        let references: Option<&json::ReferencesOf<'_>> = if args.no_references { None } else { Some(&references) };
        json::save(source.timeline(), references, &args.output, progress)?;
        Ok(source)
    })?;
    warn(&source.warnings());
    let mut left_out = Vec::new();
    if let Some(heaps) = source.heaps() {
        left_out.push(format!(
            "single objects with their addresses, GC roots and values: it holds groups by {}",
            heaps.grouping().title
        ));
        let (shown, all) = (source.timeline().points().len(), heaps.series().points().len());
        if shown < all {
            left_out.push(format!(
                "{} of {all} points in time (--gc-starts adds those where collections begin)",
                all - shown
            ));
        }
        if source.is_recorded() {
            left_out.push("what came and went between the points in time".to_owned());
        }
    }
    if args.no_references {
        left_out.push("what refers to what (--no-references)".to_owned());
    }
    Ok(left_out)
}

/// As a recording; what that leaves out.
fn recording(args: &ConvertArgs) -> Result<Vec<String>> {
    if are_trees(&args.paths)? {
        return Err(Error::Unusable {
            what: "Memory trees have groups, not objects: a recording cannot hold any of it".into(),
            remedy: "Write them as JSON: -o FILE.json".into(),
        });
    }
    let write = |progress: &Progress| {
        if wire::are_recordings(&args.paths)? {
            return Ok((wire::join(&args.paths, &args.output, progress)?, Vec::new()));
        }
        let series = memory_city_formats::open(&args.paths, progress)?;
        let all: Vec<usize> = (0..series.points().len()).collect();
        let saved = wire::save(&*series, &all, &args.output, progress)?;
        Ok((saved, series.warnings()))
    };
    let (saved, warnings) = with_progress(write)?;
    warn(&warnings);
    eprintln!(
        "memory-city: {} walks, {} objects, {} references, {} bytes",
        saved.walks, saved.objects, saved.references, saved.bytes
    );
    Ok(saved.left_out)
}
