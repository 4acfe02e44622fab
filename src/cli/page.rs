//! The command `page`: the city as one HTML file that any browser shows.

mod message;

use super::output::{paths_read, refuse_inputs, say};
use super::shape::{ShapeArgs, theme};
use super::{GroupingArgs, ReachArgs, with_progress};
use clap::Args;
use memory_city::compared::MadeComparison;
use memory_city::opening;
use memory_city::readers::readers_compared;
use memory_city::saved_view::{self, PartKey, SavedView};
use memory_city::terminal;
use memory_city_analysis::group;
use memory_city_analysis::group::domain::DomainPackages;
use memory_city_analysis::timeline::{ClosureMetric, IntoQuestion, Question, Source, Timeline, title_of, worded};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::printable::line_text;
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::write_whole_for;
use memory_city_views::city::{Appearance, CityPart, CityPlan, CityTheme};
use memory_city_views::page::{Page, PageFinding, PageFold, PageStart, PageWords, thinned_with};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct PageArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them, ordered by time; or a view file: its
    /// data, grouping, shape, selection, and the part of the heap or the comparison that it shows, beginning at its time
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// The HTML file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Title above the city (default: the name of the input)
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Dark or light [default: dark, or as in the view file]
    #[arg(long, value_name = "NAME", value_parser = theme)]
    theme: Option<CityTheme>,
    /// Most points in time, at equal distances, the base among them; the page says how many there were
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..))]
    times: u32,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    grouped: GroupingArgs,
    #[command(flatten)]
    shape: ShapeArgs,
}

impl PageArgs {
    /// Reads the view file, if the input is one. Arguments of the command line take precedence over it.
    fn take_view(&mut self) -> Result<Option<SavedView>> {
        let view = match &self.paths[..] {
            [path] if saved_view::is_one(path) => SavedView::read(path)?.within(self.reach.of_views())?,
            _ => return Ok(None),
        };
        let given = DomainPackages::clone(group::registry().domain());
        view.make_known(&self.paths[0])?;
        if given.chosen_here().is_some() {
            group::set_packages(given);
        }
        self.paths.clone_from(&view.data);
        if self.grouped.grouping.is_auto() {
            let Question { objects, grouping } = view.grouping.question()?;
            self.grouped.grouping = grouping;
            self.grouped.churn |= objects.died;
            self.grouped.difference = self.grouped.difference.or(objects.difference);
        }
        self.grouped.unreachable |= view.unreachable;
        self.grouped.gc_starts |= view.gc_starts;
        self.shape.or_kept(&view.settings);
        // Of a comparison the first is what the other is compared with.
        self.shape.base = self.shape.base.or(view.base).or(view.compare.as_ref().map(|_| 1));
        let kept = view.settings.get("theme").and_then(|id| CityTheme::of(id.as_str()?));
        self.theme = self.theme.or(kept);
        Ok(Some(view))
    }
}

/// Writes it.
pub fn page(mut args: PageArgs) -> Result<ExitCode> {
    refuse_inputs(&args.paths, &args.output, "--output", false)?;
    let view = args.take_view()?;
    let compare = view.as_ref().and_then(|view| view.compare.as_ref());
    refuse_inputs(&paths_read(&args.paths, compare, &args.grouped.grouping), &args.output, "--output", false)?;
    say(with_progress(|progress| write(&mut args, view.as_ref(), progress))?);
    terminal::result(args.output.display());
    Ok(ExitCode::SUCCESS)
}

fn write(args: &mut PageArgs, view: Option<&SavedView>, progress: &Progress) -> Result<Vec<String>> {
    let (question, options) = (args.grouped.asked(), args.grouped.options());
    let opened = Source::open(&args.paths, &question, options, progress)?;
    let title = title_of(&args.paths);
    let wish = view.and_then(|view| view.compare.as_ref());
    let (mut source, mut title, compared) = match wish {
        Some(wish) => {
            let made = MadeComparison::of((&title, &opened), wish, None, (&question, options), progress)?;
            let told = message::what_differs(&made, wish, (&title, &opened));
            (made.trees, made.title, Some(told))
        }
        None => (opened, title, None),
    };
    title = line_text(args.title.as_ref().unwrap_or(&title));
    // What the command has to say as well, and the page itself.
    let mut told = Vec::new();
    if compared.is_some() {
        let left = args.shape.leave_unknown(source.timeline());
        let what = |metric| format!("Of what is compared here {metric} is not known: the page measures without it.");
        told.extend(left.into_iter().map(what));
    }
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
    let finding = match compared {
        Some(told) => told,
        None if args.grouped.churn => PageFinding::default(),
        None => message::what_leaks(&source, config.metric, progress)?,
    };
    let part = view.map_or(&[][..], |view| &view.parts);
    let shown = PartKey::last_in(part, timeline);
    let part = part_text(part, shown, timeline, &mut told);
    if let Some(left_out) = view.map(SavedView::left_out).filter(|left_out| !left_out.is_empty()) {
        told.push(format!("What the view shows as well is not in the page: {}.", left_out.join(", ")));
    }
    let part = part.iter().chain(&told).map(|line| worded(line)).collect();
    let mut says = Vec::new();
    if times.len() < timeline.times() {
        says.push(format!("{} of {} points in time, at equal distances.", times.len(), timeline.times()));
    }
    let last = times.last().and_then(|&time| timeline.points()[time].sampled);
    says.extend(last.map(|sampled| format!("{sampled}.")));
    let (others, warnings): (Vec<_>, Vec<_>) = source.warnings().into_iter().partition(Warning::skips_file);
    // Some are of no file.
    let whole = |w: &Warning| if w.path.as_os_str().is_empty() { w.message.clone() } else { w.to_string() };
    told.extend(others.iter().chain(&warnings).map(|warning| format!("warning: {}", whole(warning))));
    // It goes to others: where the files lie is nothing of theirs. What reads like the number of a line is one.
    let lines = |warnings: &[Warning]| -> Vec<String> {
        warnings.iter().map(|warning| worded(&without_folder(warning))).collect()
    };
    let words = PageWords {
        title,
        grouping: format!("Grouped by {}", source.grouping_title()),
        part,
        finding,
        says,
        warnings: lines(&warnings),
        others: (!others.is_empty()).then(|| PageFold {
            title: opening::other_files(others.len()),
            lines: std::iter::once(opening::OTHER_FILES.to_owned()).chain(lines(&others)).collect(),
        }),
        heap: source.heap_title(config.metric),
        alive: match source.heaps() {
            Some(_) => "What keeps it alive and what refers to it: open the data itself in Memory City.",
            None => "What keeps it alive, as far as the data tells: open the data itself in Memory City.",
        }
        .to_owned(),
    };
    let plan = CityPlan::of_part(timeline, &config, shown.unwrap_or_default());
    let appearance = Appearance::new(&plan, timeline, &look);
    let start = PageStart {
        time: first.and_then(|first| times.iter().position(|&t| t == first)),
        select: view.and_then(|view| view.selected.first().cloned()),
    };
    let theme = args.theme.unwrap_or_default();
    let page = Page { plan: &plan, appearance: &appearance, timeline, times: &times, theme, start, words: &words };
    let html = page.html(progress)?;
    write_whole_for(&args.output, readers_compared(&args.paths, wish)?, |mut file| {
        file.write_all(html.as_bytes()).map_err(|e| Error::io(&args.output, e))
    })?;
    Ok(told)
}

/// The part of the heap that a view shows, as text; `None` when it shows the whole. Of nested parts, the last one that the data has.
/// `told` gets a message when that is not the part that was saved.
fn part_text(
    parts: &[PartKey],
    shown: Option<CityPart>,
    timeline: &Timeline,
    told: &mut Vec<String>,
) -> Option<String> {
    let wanted = parts.last()?;
    let there = shown.is_some_and(|part| timeline.key(part.root) == wanted.key && part.beyond == wanted.beyond);
    if !there {
        let what = if shown.is_some() { "the part around it is shown" } else { "the whole heap is shown" };
        told.push(format!("The part of the heap that the view shows, {}, is not in the data: {what}.", wanted.key));
    }
    let part = shown?;
    let beyond = if part.beyond > 0 { format!(", without its {} largest", part.beyond) } else { String::new() };
    Some(format!("A part of the heap: {}{beyond}.", timeline.path_label(part.root)))
}

/// A warning without the folder of its file.
fn without_folder(warning: &Warning) -> String {
    match warning.path.file_name() {
        Some(name) => Warning { path: name.into(), ..warning.clone() }.to_string(),
        None => warning.message.clone(),
    }
}
