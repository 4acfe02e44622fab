//! The command `compare`: two runs of a program side by side, group by group.

use super::output::{OutputArgs, paths_read, refuse_inputs};
use super::{GroupingArgs, refuse, with_progress};
use clap::Args;
use clap::error::ErrorKind;
use memory_city::readers::readers_of;
use memory_city_analysis::analyses::{Arguments, compare};
use memory_city_analysis::timeline::{Question, Source, json};
use memory_city_heap::error::Result;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct CompareArgs {
    /// The first run: a trace, a recording, dumps or trees; a folder where it has several files
    #[arg(value_name = "RUN_A")]
    first: PathBuf,
    /// The second run
    #[arg(value_name = "RUN_B")]
    second: PathBuf,
    /// How the runs are aligned: order (dump by dump), time since the start, collections, objects allocated, or each at its end. The last
    /// is for runs that do the same work from beginning to end. [default: the end where one has a single state. Else objects allocated
    /// where both know it, order of dumps that were taken one by one, or time]
    #[arg(long, value_name = "BY", value_parser = ["order", "time", "gcs", "allocated", "end"])]
    align: Option<String>,
    /// How far from the start: dumps, milliseconds, collections, objects, or percent of each run [default: as far as the shorter run goes]
    #[arg(long, value_name = "N")]
    at: Option<u64>,
    /// How many rows each table has
    #[arg(long, value_name = "N", conflicts_with = "all")]
    top: Option<usize>,
    /// Write both runs as memory trees with two points in time, to open or render: .json, .jsonl, .gz or .zst behind that
    #[arg(short, long, value_name = "FILE")]
    output_trees: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    grouped: GroupingArgs,
}

/// Prints the differences.
pub fn compare(args: CompareArgs) -> Result<ExitCode> {
    args.output.check();
    let (at, top) = (args.at.map(|n| n.to_string()), args.top.map(|n| n.to_string()));
    let all = args.output.all_rows(&compare::description());
    let all = all.iter().map(|(name, value)| (*name, &**value));
    let given: Vec<(&str, &str)> = [("align", args.align.as_deref()), ("at", at.as_deref()), ("top", top.as_deref())]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .chain(all)
        .collect();
    if let Err(error) = Arguments::parse(&compare::description(), given.iter().copied()) {
        refuse(ErrorKind::ValueValidation, error);
    }
    let both = [args.first.clone(), args.second.clone()];
    if let Some(path) = &args.output_trees {
        refuse_inputs(&paths_read(&both, None, &args.grouped.grouping), path, "--output-trees", false)?;
    }
    let mut compared = with_progress(|progress| {
        let open = |path: &PathBuf, question: &Question| {
            Source::open(std::slice::from_ref(path), question, args.grouped.options(), progress)
        };
        let question = args.grouped.asked();
        let first = open(&args.first, &question)?;
        let second = open(&args.second, &question.as_answered(&first)?)?;
        let compared = compare::compare([&first, &second], given.iter().copied(), progress)?;
        if let Some(path) = &args.output_trees {
            json::save_for(compared.trees.timeline(), None, path, readers_of(&both)?, progress)?;
        }
        Ok(compared)
    })?;
    compared.report.text_rows = args.output.text_rows(args.top);
    args.output.print(&compared.report, "alive")?;
    Ok(ExitCode::SUCCESS)
}
