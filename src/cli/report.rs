//! The command `report`: how the heap grew, and why; with `--tree`, all of the memory tree as a table.

use super::output::{OutputArgs, OutputFormat, Window, say, say_left_out};
use super::{GroupingArgs, with_progress};
use clap::Args;
use memory_city::terminal::{print, unprintable};
use memory_city_analysis::analyses::report::{self, ReportOptions, TreeReport};
use memory_city_analysis::analyses::{TimeWindow, count_text, metric_of};
use memory_city_analysis::table::{Arrangement, Filter, TableRows, TableShape, TableView, TreeTable};
use memory_city_analysis::tabular::write_csv;
use memory_city_analysis::timeline::{ClosureMetric, Source};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::printable::EscapeForm;
use memory_city_heap::progress::Progress;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Args)]
pub struct ReportArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them; ordered by time
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// How many of the strongest growing groups are listed
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with_all = ["tree", "all"])]
    top: usize,
    /// Metric of growth: objects, bytes, or a further metric of the input
    #[arg(long, value_name = "NAME", default_value = "bytes")]
    metric: String,
    /// Also who refers to each group that grows, and the chain of its owners
    #[arg(long, conflicts_with = "tree")]
    full: bool,
    #[command(flatten)]
    closures: ClosureArgs,
    #[command(flatten)]
    window: Window,
    #[command(flatten)]
    grouped: GroupingArgs,
    #[command(flatten)]
    tree: TreeArgs,
}

/// Metrics to compute for each group beside its own size.
#[derive(Args)]
struct ClosureArgs {
    /// Find for each group: the bytes and objects that freeing all of it would free (retained, retained-objects), everything it reaches
    /// (deep, deep-objects), and the number of objects that refer to it (referrers). `elements` counts those of its data structures. Columns
    /// of the tree, and metrics like any other. Needs references and GC roots
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = ClosureMetric::of)]
    metrics: Vec<ClosureMetric>,
    /// For these metrics, soft references do not keep what they refer to, as if memory were short
    #[arg(long)]
    soft_as_weak: bool,
}

impl ClosureArgs {
    /// The source with these metrics, and with that of `metric` where it is one of them.
    fn add_to(&self, source: Source, metric: &str, progress: &Progress) -> Result<Source> {
        let mut metrics = self.metrics.clone();
        if source.timeline().metric(metric).is_none()
            && let Ok(metric) = ClosureMetric::of(metric)
            && !metrics.contains(&metric)
        {
            metrics.push(metric);
        }
        let rules = if self.soft_as_weak { KeepRules::SOFT_AS_WEAK } else { KeepRules::default() };
        match metrics.is_empty() {
            true => Ok(source),
            false => source.with_closures(&metrics, rules, progress),
        }
    }
}

/// How the memory tree is printed as a table.
#[derive(Args)]
#[command(next_help_heading = "The memory tree as a table")]
pub(super) struct TreeArgs {
    /// Print the memory tree with objects, bytes, growth, share and trend of each node, instead of what grows most
    #[arg(long)]
    tree: bool,
    /// Sort by this column, largest first, names from A to Z: bytes, objects, growth, growth_percent, share, name, ...
    #[arg(long, value_name = "COLUMN", requires = "tree")]
    sort: Option<String>,
    /// Sort the other way round
    #[arg(long, requires = "sort")]
    reverse: bool,
    /// Only nodes for which this holds, and those above them: 'bytes > 1MB and growth > 20%', 'path ~ "java.util"'
    #[arg(long = "where", value_name = "EXPRESSION", requires = "tree")]
    filter: Option<String>,
    /// Only nodes whose name contains this, whatever the case
    #[arg(long, value_name = "TEXT", requires = "tree")]
    find: Option<String>,
    /// Only so many levels below the root; what lies deeper is counted
    #[arg(long, value_name = "N", requires = "tree")]
    depth: Option<u32>,
    /// The groups alone, as one list
    #[arg(long, requires = "tree")]
    leaves: bool,
}

impl TreeArgs {
    /// The tree, or its innermost groups, sorted by a column, with a filter.
    pub(super) fn of(sort: Option<String>, filter: Option<String>, leaves: bool) -> TreeArgs {
        TreeArgs { tree: true, sort, reverse: false, filter, find: None, depth: None, leaves }
    }
}

/// Prints it.
pub fn report(args: ReportArgs) -> Result<ExitCode> {
    args.output.check();
    if args.tree.tree {
        return print_tree(&args);
    }
    let window = (args.window.from, args.window.to);
    let options = ReportOptions {
        top: args.top,
        metric: args.metric,
        window,
        full: args.full,
        groups_only: !args.full && args.output.format == OutputFormat::Text,
        all: args.output.all,
    };
    let report = with_progress(|progress| {
        progress.lead_to(report::OPENED);
        let source = Source::open(&args.paths, &args.grouped.asked(), args.grouped.options(), progress)?;
        let source = args.closures.add_to(source, &options.metric, progress)?;
        report::report(&source, &options, progress)
    })?;
    args.output.print(&report, "growing")?;
    Ok(ExitCode::SUCCESS)
}

/// Options for printing a tree.
struct TreeOptions {
    source: Source,
    table: TreeTable,
    arrangement: Arrangement,
    view: TableView,
}

impl TreeOptions {
    fn make(args: &ReportArgs, progress: &Progress) -> Result<TreeOptions> {
        let source = Source::open(&args.paths, &args.grouped.asked(), args.grouped.options(), progress)?;
        let source = args.closures.add_to(source, &args.metric, progress)?;
        let timeline = source.timeline();
        if timeline.times() == 0 {
            let what = "The input has no point in time".to_owned();
            return Err(Error::Unusable { what, remedy: "Open another".into() });
        }
        let window = TimeWindow::of(timeline, args.window.from, args.window.to)?;
        let metric = metric_of(timeline, &args.metric)?;
        let table = TreeTable::new(Arc::clone(timeline), Some(window), metric, progress)?;
        let arrangement = arrangement(&args.tree, &table)?;
        let view = table.rebuild(&arrangement, progress)?;
        Ok(TreeOptions { source, table, arrangement, view })
    }
}

fn print_tree(args: &ReportArgs) -> Result<ExitCode> {
    if let Some(table) = args.output.table.as_ref().filter(|table| *table != "tree") {
        return Err(Error::Unusable {
            what: format!("There is no table {table} beside --tree"),
            remedy: "Use --table tree, or no --table".into(),
        });
    }
    let TreeOptions { source, table, arrangement, view } = with_progress(|progress| TreeOptions::make(args, progress))?;
    // Nothing is shown while it is printed, and Ctrl+C ends the program.
    let progress = &Progress::new();
    let rows = TableRows::new(&table, &view, &arrangement, &source.grouping_id());
    let notes = match &arrangement.filter {
        Some(filter) => {
            let (matched, all) = (count_text(view.matched), count_text(table.timeline().len() as u64));
            vec![format!("{matched} of {all} nodes fit: {filter}")]
        }
        None => Vec::new(),
    };
    let mut arguments = vec![("metric", args.metric.clone())];
    arguments.extend(args.tree.sort.iter().map(|sort| ("sort", sort.clone())));
    arguments.extend(arrangement.filter.iter().map(|filter| ("where", filter.to_string())));
    arguments.extend(args.tree.depth.iter().map(|depth| ("depth", depth.to_string())));
    let report = TreeReport {
        source: &source,
        window: table.window(),
        arguments,
        rows: &rows,
        notes,
        text_rows: args.output.text_rows(None),
    };
    match args.output.format {
        OutputFormat::Text => print(EscapeForm::Text, |out| report.write_text(out, progress))?,
        OutputFormat::Json => print(EscapeForm::Json, |out| report.write_json(out))?,
        OutputFormat::Csv => {
            print(EscapeForm::Text, |out| write_csv(&rows, args.output.csv_texts(), out, progress))?;
            say_left_out(&rows);
            say(&report.notes);
            say(report.sampled());
            say(source.warnings().iter().map(|warning| format!("warning: {warning}")));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The tree of a window of time as text, at most so many rows of it.
///
/// # Errors
/// When an argument is wrong, or the work was cancelled.
pub(super) fn tree_text(
    source: &Source,
    window: TimeWindow,
    args: &TreeArgs,
    rows: usize,
    progress: &Progress,
) -> Result<String> {
    let metric = metric_of(source.timeline(), "bytes")?;
    let table = TreeTable::new(Arc::clone(source.timeline()), Some(window), metric, progress)?;
    let arrangement = arrangement(args, &table)?;
    let view = table.rebuild(&arrangement, progress)?;
    let shown = TableRows::new(&table, &view, &arrangement, &source.grouping_id());
    let (arguments, notes) = (Vec::new(), Vec::new());
    let report = TreeReport { source, window, arguments, rows: &shown, notes, text_rows: rows };
    let mut text = Vec::new();
    report.write_text(&mut text, progress).map_err(unprintable)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn arrangement(args: &TreeArgs, table: &TreeTable) -> Result<Arrangement> {
    let asked = args.filter.as_ref().map(|text| {
        table.filter(text).map_err(|error| Error::Shown {
            what: "The filter cannot be understood".into(),
            lines: error.pointing(text).lines().map(str::to_owned).collect(),
            remedy: "Filters look like: bytes > 1MB and (growth > 20% or name ~ \"HashMap\")".into(),
        })
    });
    let found = args.find.as_deref().map(Filter::name_contains);
    let filter = match (asked.transpose()?, found) {
        (Some(asked), Some(found)) => Some(asked.and(found)),
        (asked, found) => asked.or(found),
    };
    let sort = args.sort.as_ref().map(|column| {
        let text = matches!(column.as_str(), "name" | "role");
        table.sort(column, text == args.reverse)
    });
    Ok(Arrangement {
        sort: sort.transpose()?,
        filter,
        shape: if args.leaves { TableShape::Leaves } else { TableShape::Tree },
        deepest: args.depth,
        ..Arrangement::default()
    })
}
