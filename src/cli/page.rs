//! `page`: the city as one HTML file that any browser shows.

use super::shape::{ShapeArgs, theme};
use super::{GroupingArgs, with_progress};
use clap::Args;
use memory_city::opening;
use memory_city::saved_view::{self, SavedView};
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, TimeWindow};
use memory_city_analysis::group;
use memory_city_analysis::group::domain::{self, DomainPackages};
use memory_city_analysis::timeline::{AUTO, ClosureMetric, Metric, Source, title_of, worded};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::write_whole;
use memory_city_views::city::{Appearance, CityPlan, CityTheme};
use memory_city_views::page::{Page, PageStart, PageWords, thinned_with};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct PageArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them, ordered by time; or a view
    /// file: its data, grouping and shape, beginning at its time with what is selected
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// The HTML file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What stands above the city (default: the name of the input)
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Dark or light [default: dark, or as in the view file]
    #[arg(long, value_name = "NAME", value_parser = theme)]
    theme: Option<CityTheme>,
    /// At most so many points in time, at equal distances, the base among them; the page says how many there were
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..))]
    times: u32,
    #[command(flatten)]
    grouped: GroupingArgs,
    #[command(flatten)]
    shape: ShapeArgs,
}

impl PageArgs {
    /// What the view file says, where that is what is given and the command line says nothing else.
    fn take_view(&mut self) -> Result<Option<SavedView>> {
        let view = match &self.paths[..] {
            [path] if saved_view::is_one(path) => SavedView::read(path)?,
            _ => return Ok(None),
        };
        let given = DomainPackages::clone(group::registry().domain());
        view.make_known(&self.paths[0])?;
        if given.chosen_here().is_some() {
            domain::set_packages(given);
        }
        self.paths.clone_from(&view.data);
        if self.grouped.grouping == AUTO {
            self.grouped.grouping.clone_from(&view.grouping);
        }
        self.grouped.unreachable |= view.unreachable;
        self.grouped.gc_starts |= view.gc_starts;
        self.shape.or_kept(&view.settings);
        self.shape.base = self.shape.base.or(view.base);
        let kept = view.settings.get("theme").and_then(|id| CityTheme::of(id.as_str()?));
        self.theme = self.theme.or(kept);
        Ok(Some(view))
    }
}

/// Writes it.
pub fn page(mut args: PageArgs) -> Result<ExitCode> {
    let view = args.take_view()?;
    let warnings = with_progress(|progress| write(&args, view.as_ref(), progress))?;
    warnings.iter().for_each(|warning| eprintln!("memory-city: warning: {warning}"));
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

fn write(args: &PageArgs, view: Option<&SavedView>, progress: &Progress) -> Result<Vec<Warning>> {
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
    let (mut config, mut look) = args.shape.city(timeline)?;
    let is_there = |t: usize| Some(t).filter(|t| *t < timeline.times());
    let window = view.and_then(|view| view.window);
    config.window = window.and_then(|(from, to)| Some((from.saturating_sub(1), is_there(to.checked_sub(1)?)?)));
    // Of what died the hottest site is the tallest tower.
    if args.grouped.churn && args.shape.height().is_none() {
        look.height = "amount".to_owned();
    }
    let first = view.and_then(|view| is_there(view.time.saturating_sub(1)));
    let wanted: Vec<usize> = look.base.into_iter().chain(first).collect();
    let times = thinned_with(timeline.times(), args.times as usize, &wanted);
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
    // What reads like the number of a line is one.
    says.iter_mut().for_each(|line| *line = worded(line));
    let words = PageWords {
        title: args.title.clone().unwrap_or_else(|| title_of(&args.paths)),
        grouping: format!("Grouped by {}", source.grouping_title()),
        says,
    };
    let plan = CityPlan::new(timeline, &config);
    let appearance = Appearance::new(&plan, timeline, &look);
    let start = PageStart {
        time: first.and_then(|first| times.iter().position(|&t| t == first)),
        select: view.and_then(|view| view.selected.first().cloned()),
    };
    let theme = args.theme.unwrap_or_default();
    let page = Page { plan: &plan, appearance: &appearance, timeline, times: &times, theme, start, words: &words };
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
