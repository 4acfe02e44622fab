//! The command `convert`: writes an input as memory trees in JSON or as a recording, and names everything that the file lacks.

use super::output::{paths_read, refuse_inputs};
use super::{GroupingArgs, refuse, with_progress};
use clap::Args;
use clap::error::ErrorKind;
use memory_city::readers::readers_of;
use memory_city::terminal;
use memory_city_analysis::tabular::several;
use memory_city_analysis::timeline::{
    ESTIMATED, Metric, NodeId, Source, TimePoint, Timeline, are_trees, json, title_of,
};
use memory_city_formats::counts::CountBasis;
use memory_city_formats::wire::{self, CountStream, StreamCount};
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::{FileReaders, Unfinished};
use memory_city_tables::TablesRequest;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct ConvertArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (all plain, .gz or .zst), or folders of them
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// The file to write: .json for one document, .jsonl for a line per time, .gz or .zst behind that packs it; .mcity for a
    /// recording (docs/trace-format.md). With --parquet a folder
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Leave out what refers to what: much faster for traces, but the city has no cones. Of JSON and Parquet only
    #[arg(long)]
    no_references: bool,
    /// Write tables as Parquet files for DuckDB, Spark and others into a folder (docs/tables.md)
    #[arg(long)]
    parquet: bool,
    /// The name of the process in these tables; by default that of the input
    #[arg(long, value_name = "NAME", requires = "parquet")]
    process: Option<String>,
    #[command(flatten)]
    grouped: GroupingArgs,
}

/// Writes them.
pub fn convert(args: ConvertArgs) -> Result<ExitCode> {
    if args.parquet {
        return tables(&args);
    }
    let name = args.output.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let forms = [".json", ".jsonl", ".mcity"].iter().any(|form| {
        let packed = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
        packed.unwrap_or(&name).ends_with(form) && (packed.is_none() || *form != ".mcity")
    });
    if !forms && name.contains('.') {
        return Err(Error::Unusable {
            what: format!("{} is no name of a form that can be written", args.output.display()),
            remedy: "Write .json, .jsonl (both also with .gz or .zst behind it), or .mcity; heap dumps are read, not written".into(),
        });
    }
    refuse_inputs(&paths_read(&args.paths, None, &args.grouped.asked().grouping), &args.output, "--output", true)?;
    let left_out = if name.ends_with(".mcity") { recording(&args)? } else { trees(&args)? };
    for what in left_out {
        terminal::note(format_args!("not in the file: {what}"));
    }
    terminal::result(args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// Writes tables.
fn tables(args: &ConvertArgs) -> Result<ExitCode> {
    if args.output.is_file() {
        return Err(Error::Unusable {
            what: format!("{} is a file", args.output.display()),
            remedy: "Tables are written into a folder: give one, or a name that is free".into(),
        });
    }
    if args.grouped.churn || args.grouped.difference.is_some() {
        let what = if args.grouped.churn { "--churn" } else { "--difference" };
        refuse(ErrorKind::ArgumentConflict, format!("tables hold heap states: {what} is for trees in JSON"));
    }
    let (written, warnings) = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.asked(), args.grouped.options(), progress)?;
        let title = title_of(&args.paths);
        let request = TablesRequest {
            folder: &args.output,
            process: args.process.as_deref().unwrap_or(&title),
            readers: readers_of(&args.paths)?,
            no_references: args.no_references,
        };
        let mut written = memory_city_tables::write(&source, &request, progress)?;
        written.left_out.extend(left_out_of_run(&source, &args.paths)?);
        Ok((written, source.warnings()))
    })?;
    warn(&warnings);
    for table in &written.tables {
        terminal::note(format_args!("{}: {}, {} bytes", table.name, several(table.rows, "row", "rows"), table.bytes));
    }
    for what in written.left_out {
        terminal::note(format_args!("not in the tables: {what}"));
    }
    terminal::result(args.output.display());
    Ok(ExitCode::SUCCESS)
}

fn warn<'a>(warnings: impl IntoIterator<Item = &'a memory_city_heap::error::Warning>) {
    warnings.into_iter().for_each(terminal::warning);
}

/// Writes memory trees in JSON. Returns the things that they leave out.
fn trees(args: &ConvertArgs) -> Result<Vec<String>> {
    let source = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.asked(), args.grouped.options(), progress)?;
        // The bar shows times, not what is done for one of them.
        let hidden = progress.hidden();
        let references = |time: usize| source.time_references(time, &hidden);
        let references: Option<&json::ReferencesOf<'_>> = if args.no_references { None } else { Some(&references) };
        json::save_for(source.timeline(), references, &args.output, readers_of(&args.paths)?, progress)?;
        Ok(source)
    })?;
    warn(&source.warnings());
    let mut left_out = Vec::new();
    if let Some(heaps) = source.heaps() {
        left_out.push(format!(
            "single objects with their addresses, GC roots and values: it holds groups by {}",
            heaps.grouping().title
        ));
    }
    left_out.extend(left_out_of_run(&source, &args.paths)?);
    let warnings = source.warnings().len();
    left_out.extend((warnings > 0).then(|| several(warnings as u64, "warning", "warnings") + " about the input"));
    if args.no_references {
        left_out.push("what refers to what (--no-references)".to_owned());
    }
    Ok(left_out)
}

/// The things of a run that neither trees nor tables have.
fn left_out_of_run(source: &Source, paths: &[PathBuf]) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    if let Some(heaps) = source.heaps() {
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
        if heaps.series().has_samples() {
            left_out.push("samples of allocations, and who allocated when: `convert -o x.mcity` has them".to_owned());
        }
        if wire::are_recordings(paths)? {
            left_out.push(format!(
                "the facts of the run, its threads and class loaders, and its {} but those of the points",
                source.gc_noun().many()
            ));
        }
    } else if wire::are_recordings(paths)? {
        left_out.push(format!(
            "the facts of the run, its {}, and its samples but what is estimated from them",
            source.gc_noun().many()
        ));
    }
    match source.counts_beside() {
        0 => {}
        counts => {
            let counts = several(counts as u64, "class histogram", "class histograms");
            left_out.push(format!("{counts} between its points in time: `analyse counts` has them"))
        }
    }
    Ok(left_out)
}

/// Writes a recording. Returns the things that it leaves out.
fn recording(args: &ConvertArgs) -> Result<Vec<String>> {
    if are_trees(&args.paths)? {
        return counts(args);
    }
    let grouped = &args.grouped;
    // What died is no objects, and a difference no heap state.
    if grouped.churn || grouped.difference.is_some() {
        let what = if grouped.churn { "--churn" } else { "--difference" };
        let why = format!("a recording of dumps or a trace holds heap states: {what} is for trees in JSON");
        refuse(ErrorKind::ArgumentConflict, why);
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
    terminal::note(format_args!(
        "{}, {} objects, {} references, {} bytes",
        several(saved.walks as u64, "walk", "walks"),
        saved.objects,
        saved.references,
        saved.bytes
    ));
    let mut left_out = saved.left_out;
    if !grouped.grouping.is_auto() {
        left_out.push(format!("the grouping {}: it holds the objects, and can be opened with any", grouped.grouping));
    }
    Ok(left_out)
}

/// Trees as class histograms: leaves are classes, by their names from the top, at the places that allocated where the tree tells them.
fn counts(args: &ConvertArgs) -> Result<Vec<String>> {
    let (left_out, times) = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.asked(), args.grouped.options(), progress)?;
        let timeline = source.timeline();
        let points = timeline.points();
        // A histogram is behind a collection: what was counted when one began has none.
        let collection_of = |point: &TimePoint| point.gc.clone().filter(|gc| gc.end);
        // Where all points are those of collections they count from the start of the program, otherwise from 1970.
        let started = match points.iter().all(|point| collection_of(point).is_some()) {
            true => 0,
            false => {
                let begun =
                    |point: &TimePoint| point.millis.saturating_sub(collection_of(point).map_or(0, |gc| gc.duration));
                points.iter().map(begun).min().unwrap_or(0)
            }
        };
        let (file, place) = Unfinished::begin_for(&args.output, FileReaders::OwnerAlone)?;
        let mut facts = vec![
            ("recorder", format!("memory-city {}", env!("CARGO_PKG_VERSION"))),
            ("recording.started", started.to_string()),
            ("recording.mode", wire::CONVERTED.to_owned()),
            ("converted.from", title_of(&args.paths)),
        ];
        // Whoever reads it knows as little as who reads the trees whether counts are exact.
        facts.extend(basis_of(timeline).word().map(|word| (wire::COUNTS_OF, word.to_owned())));
        let mut stream = CountStream::on_file(file, &args.output, &facts)?;
        let leaves: Vec<_> = timeline.nodes().filter(|&node| timeline.is_leaf(node)).collect();
        let mut places: Vec<(String, Vec<&str>)> = Vec::with_capacity(leaves.len());
        for (number, &leaf) in leaves.iter().enumerate() {
            if number % 256 == 0 {
                progress.check()?;
            }
            places.push(class_and_frames(timeline, leaf));
        }
        for (t, point) in points.iter().enumerate() {
            progress.check()?;
            // Leaves that have one name and place are one.
            let mut counts = BTreeMap::<&(String, Vec<&str>), (u64, u64)>::new();
            for (place, &leaf) in places.iter().zip(&leaves) {
                let (objects, bytes) =
                    (timeline.value(t, leaf, Metric::Objects), timeline.value(t, leaf, Metric::Bytes));
                if objects > 0 || bytes > 0 {
                    let count = counts.entry(place).or_default();
                    *count = (count.0.saturating_add(objects), count.1.saturating_add(bytes));
                }
            }
            let time = (point.millis - started).saturating_mul(1_000_000);
            let rows = counts.iter().map(|(place, &(objects, bytes))| {
                let (class, frames) = (&place.0, &place.1);
                StreamCount { class, frames, objects, bytes }
            });
            let gc = match collection_of(point) {
                Some(gc) => {
                    let duration = gc.duration.saturating_mul(1_000_000);
                    Some(stream.collection(time.saturating_sub(duration), &gc)?)
                }
                None => None,
            };
            stream.write(time, gc, false, rows)?;
            if let Some(part) = point.sampled {
                stream.sampled(time, part.samples, part.objects)?;
            }
        }
        stream.finish("all was converted")?;
        place.complete(&args.output)?;
        let mut left_out = vec![
            format!(
                "what groups are ({}): each leaf is a class, by its names from the top without those of allocation sites",
                source.grouping_id()
            ),
            "names of the points in time".to_owned(),
        ];
        let has_references = match &source {
            Source::Trees(trees) => trees.has_references(),
            Source::Heaps(_) => true,
            Source::Counts(_) => false,
        };
        left_out.extend(has_references.then(|| "what refers to what: there are no objects to refer".to_owned()));
        match points.iter().filter(|point| point.gc.as_ref().is_some_and(|gc| !gc.end)).count() {
            0 => {}
            begun => left_out.push(format!("the collections that begin at {begun} of the points in time")),
        }
        if points.iter().any(|point| point.unreachable != Amount::default()) {
            left_out.push("garbage, which is counted apart".to_owned());
        }
        let warnings = source.warnings().len();
        left_out.extend((warnings > 0).then(|| several(warnings as u64, "warning", "warnings") + " about the input"));
        warn(&source.warnings());
        Ok((left_out, points.len()))
    })?;
    terminal::note(several(times as u64, "class histogram", "class histograms"));
    Ok(left_out)
}

/// The basis of the amounts of trees.
fn basis_of(timeline: &Timeline) -> CountBasis {
    match timeline.name(NodeId::ROOT) {
        ESTIMATED => CountBasis::Estimates,
        _ if timeline.points().iter().any(|point| point.sampled.is_some()) => CountBasis::Samples,
        _ => CountBasis::Trees,
    }
}

/// `java.util.HashMap` for the group HashMap in the group java.util; and the frames that its allocation sites name, innermost first.
fn class_and_frames(timeline: &Timeline, leaf: NodeId) -> (String, Vec<&str>) {
    let path = timeline.path(leaf);
    let (sites, names): (Vec<NodeId>, Vec<NodeId>) =
        path.into_iter().partition(|&node| timeline.role(node) == "Allocation site");
    // What is in brackets is no name, `(primitive arrays)`, `(unknown site)`: it says that there is none.
    let is_name = |name: &&str| !name.starts_with('(');
    let names: Vec<&str> = names.into_iter().map(|node| timeline.name(node)).filter(is_name).collect();
    let class = if names.is_empty() { timeline.name(leaf).to_owned() } else { names.join(".") };
    // Groups of one child are one with it: so are chains of callers.
    let frames = sites.into_iter().flat_map(|node| timeline.name(node).split(" ‹ "));
    (class, frames.filter(is_name).collect())
}
