//! `page`: the city as one HTML file that any browser shows.

use super::shape::ShapeArgs;
use super::{GroupingArgs, with_progress};
use clap::Args;
use memory_city::opening;
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, TimeWindow};
use memory_city_analysis::timeline::{ClosureMetric, Metric, Source, title_of};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::write_whole;
use memory_city_views::city::{Appearance, CityPlan};
use memory_city_views::page::{Page, PageWords, thinned};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct PageArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them; ordered by time
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// The HTML file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What stands above the city (default: the name of the input)
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// At most so many points in time, at equal distances; the page says how many there were
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..))]
    times: u32,
    #[command(flatten)]
    grouped: GroupingArgs,
    #[command(flatten)]
    shape: ShapeArgs,
}

/// Writes it.
pub fn page(args: PageArgs) -> Result<ExitCode> {
    let warnings = with_progress(|progress| write(&args, progress))?;
    warnings.iter().for_each(|warning| eprintln!("memory-city: warning: {warning}"));
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

fn write(args: &PageArgs, progress: &Progress) -> Result<Vec<Warning>> {
    let mut source = opening::open(&args.paths, &args.grouped.named(), args.grouped.options(), progress)?;
    let lacking = args.shape.metrics().filter(|id| source.timeline().metric(id).is_none());
    let found: Vec<ClosureMetric> = lacking.filter_map(|id| ClosureMetric::of(id).ok()).collect();
    if !found.is_empty() {
        source = source.with_closures(&found, KeepRules::default(), progress)?;
    }
    let timeline = source.timeline();
    if timeline.times() == 0 {
        let what = "The input has no point in time".to_owned();
        return Err(Error::Unusable { what, remedy: "Open another".into() });
    }
    let (config, mut look) = args.shape.city(timeline)?;
    // Of what died the hottest site is the tallest tower.
    if args.grouped.churn && args.shape.height().is_none() {
        look.height = "amount".to_owned();
    }
    let times = thinned(timeline.times(), args.times as usize);
    let warnings = source.warnings();
    let mut says = if args.grouped.churn { Vec::new() } else { what_leaks(&source, config.metric, progress)? };
    if times.len() < timeline.times() {
        says.push(format!("{} of {} points in time, at equal distances.", times.len(), timeline.times()));
    }
    let last = times.last().and_then(|&time| timeline.points()[time].sampled);
    says.extend(last.map(|sampled| format!("{sampled}.")));
    // It goes to others: where the files lie is nothing of theirs.
    let named =
        |warning: &Warning| Warning { path: warning.path.file_name().unwrap_or_default().into(), ..warning.clone() };
    says.extend(warnings.iter().map(|warning| format!("Warning: {}", named(warning))));
    let words = PageWords {
        title: args.title.clone().unwrap_or_else(|| title_of(&args.paths)),
        grouping: format!("Grouped by {}", source.grouping_title()),
        says,
    };
    let plan = CityPlan::new(timeline, &config);
    let appearance = Appearance::new(&plan, timeline, &look);
    let page = Page { plan: &plan, appearance: &appearance, timeline, times: &times, words: &words };
    let html = page.html(progress)?;
    write_whole(&args.output, |mut file| file.write_all(html.as_bytes()).map_err(|e| Error::io(&args.output, e)))?;
    Ok(warnings)
}

/// What grows without end, in sentences; of trees alone, which do not say what keeps what, which group grows most.
fn what_leaks(source: &Source, metric: Metric, progress: &Progress) -> Result<Vec<String>> {
    let leak = AnalysisRegistry::built_in().get("leak")?;
    let description = leak.describe();
    let window = TimeWindow::whole(source.timeline());
    if description.check(source, window).is_err() {
        return Ok(vec![analyses::verdict(source.timeline(), metric).text]);
    }
    let found = analyses::run(&*leak, source, window, &Arguments::defaults(&description), progress)?;
    Ok(found.answers.iter().map(|line| line.trim().to_owned()).collect())
}
