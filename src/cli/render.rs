//! The command `render`: a picture, a table, a 3D scene or a film without a window.

use super::output::{paths_read, refuse_inputs};
use super::picture::{BesideArgs, LookArgs};
use super::{ReachArgs, refuse, with_progress};
use clap::Args;
use clap::error::ErrorKind;
use memory_city::saved_view::ViewReach;
use memory_city::terminal;
use memory_city::viewer::capture::{self, CameraView, PictureExtras, Shot};
use memory_city::viewer::film::{Film, film};
use memory_city::viewer::settings::Settings;
use memory_city::viewer::trend_settings::SIZES_AT;
use memory_city::viewer::view_file::ViewFile;
use memory_city::viewer::views;
use memory_city_analysis::group;
use memory_city_analysis::group::domain::DomainPackages;
use memory_city_analysis::timeline::{AUTO, AskedObjects, ClosureMetric};
use memory_city_heap::error::Result;
use memory_city_views::city::camera::CameraPose;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct RenderArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them, ordered by time; or a view file
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// File to write: a picture for a name that ends in .png, the table of the view for .csv, the city as a 3D scene (glTF) for .glb
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Point in time, counted from 1 (default: the last)
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    time: Option<u32>,
    /// Width and height in pixels
    /// [default: 1600x900, or as in the view file]
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Group to select, by key (`Heap#java.util#HashMap`) or name, with its references; may be given again
    #[arg(long, value_name = "KEY")]
    select: Vec<String>,
    /// home, bird, focus, or a pose as JSON [default: home, or as in the view file]
    ///
    /// A pose is such as {"eye":[x,y,z],"yaw":0.3,"pitch":-0.5}.
    #[arg(long, value_name = "NAME|JSON", value_parser = view)]
    camera: Option<CameraView>,
    /// Another view than the city
    #[arg(long, value_name = "NAME", value_parser = view_names(), conflicts_with_all = ["panels", "film"])]
    view: Option<String>,
    /// With --view trends and a deep or retained --metric: at how many points in time that is found, evenly spread [default: 12]
    #[arg(long, value_name = "N", value_parser = sizes_at)]
    times: Option<usize>,
    /// Light what is looked for: a part of a name, a glob such as '*Cache', or an expression such as 'bytes > 1MB'
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// The city and its legend on a transparent ground, without caption
    #[arg(long, conflicts_with_all = ["panels", "film", "view"])]
    transparent: bool,
    /// Draw the panels of the window too
    #[arg(long)]
    panels: bool,
    /// Draw the paths from GC roots to the selected groups, in place of cones
    #[arg(long = "paths", requires = "select")]
    to_roots: bool,
    /// Light what would be freed without a reference, field or root, as `analyse cut` takes it; needs --select
    #[arg(long, value_name = "WHAT", requires = "select")]
    cut: Option<String>,
    /// Every point in time and the steps between: an animated PNG, or a folder of pictures
    ///
    /// Where FILE ends in .png or .apng, it is an animated PNG, which browsers play; else a folder of numbered pictures.
    #[arg(long, conflicts_with = "time")]
    pub(super) film: bool,
    /// Pictures between two points in time
    #[arg(long, value_name = "N", default_value_t = 8, requires = "film", value_parser = clap::value_parser!(u32).range(0..=1000))]
    between: u32,
    /// The first point in time of the film, counted from 1
    #[arg(long, value_name = "K", requires = "film", value_parser = clap::value_parser!(u32).range(1..))]
    from: Option<u32>,
    /// The last one (default: the last there is)
    #[arg(long, value_name = "K", requires = "film", value_parser = clap::value_parser!(u32).range(1..))]
    to: Option<u32>,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    beside: BesideArgs,
    #[command(flatten)]
    look: LookArgs,
}

fn view_names() -> clap::builder::PossibleValuesParser {
    views::all().pictures().map(|(_, picture)| picture.name).collect::<Vec<_>>().into()
}

fn sizes_at(text: &str) -> std::result::Result<usize, String> {
    let (least, most) = (SIZES_AT.start(), SIZES_AT.end());
    let right = text.parse().ok().filter(|n| SIZES_AT.contains(n));
    right.ok_or_else(|| format!("expected a number from {least} to {most}"))
}

/// Settings for a picture of trends alone: sizes that cost a look at the heap are found only for its charts, at some points in time. The
/// city, which does not appear, needs none.
fn of_trends(settings: &mut Settings, metric: Option<&str>, times: Option<usize>) {
    settings.trends.sizes_at = times.unwrap_or(settings.trends.sizes_at);
    let found = metric.and_then(|id| ClosureMetric::of(id).ok()).filter(|of| ClosureMetric::CLOSURES.contains(of));
    if let Some(metric) = found {
        settings.trends.metric = Some(metric.info().id);
        settings.set_metric_by_name("bytes");
        (settings.colour_metric, settings.height_metric) = (None, None);
        settings.closures.clear();
    }
}

/// Largest width and height of a picture: GPUs guarantee no more.
const MOST_PIXELS: u32 = 8192;

fn size(text: &str) -> std::result::Result<(u32, u32), String> {
    let wrong = || format!("expected WIDTHxHEIGHT such as 1600x900, each from 16 to {MOST_PIXELS}");
    let (w, h) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
    let side = |s: &str| s.trim().parse::<u32>().ok().filter(|n| (16..=MOST_PIXELS).contains(n)).ok_or_else(wrong);
    Ok((side(w)?, side(h)?))
}

fn view(text: &str) -> std::result::Result<CameraView, String> {
    match text {
        "home" => Ok(CameraView::Home),
        "bird" => Ok(CameraView::BirdsEye),
        "focus" => Ok(CameraView::Focus),
        json if json.trim_start().starts_with('{') => serde_json::from_str::<CameraPose>(json)
            .map(CameraView::Pose)
            .map_err(|e| format!("{e}; expected {{\"eye\":[x,y,z],\"yaw\":radians,\"pitch\":radians}}")),
        _ => Err("expected home, bird, focus, or a pose as JSON".to_owned()),
    }
}

/// The view file, if the input is one.
fn one_view(paths: &[PathBuf], reach: ViewReach) -> Result<Option<ViewFile>> {
    match paths {
        [path] if ViewFile::is_one(path) => ViewFile::read(path)?.within(reach).map(Some),
        _ => Ok(None),
    }
}

fn of_camera(view: &ViewFile) -> CameraView {
    if view.plan { CameraView::Plan(view.camera) } else { CameraView::Pose(view.camera) }
}

/// Draws a picture.
pub fn render(args: RenderArgs) -> Result<ExitCode> {
    let kind = match RenderedKind::of(&args.output, args.film) {
        Ok(kind) => kind,
        Err(why) => refuse(ErrorKind::ValueValidation, why),
    };
    refuse_inputs(&args.paths, &args.output, "--output", false)?;
    let view = one_view(&args.paths, args.reach.of_views())?;
    if let Some(view) = &view {
        let given = DomainPackages::clone(group::registry().domain());
        view.make_known(&args.paths[0])?;
        // What the command line says holds.
        if given.chosen_here().is_some() {
            group::set_packages(given);
        }
    }
    let paths = view.as_ref().map_or(args.paths, |view| view.data.clone());
    let mut settings =
        args.look.settings(view.as_ref().map_or_else(Settings::default, |v| v.settings(Settings::default())));
    if let Some(view) = &view {
        let of_view = view.settings(Settings::default());
        if settings.grouping == AUTO && settings.objects == AskedObjects::default() {
            (settings.objects, settings.grouping) = (of_view.objects, of_view.grouping);
        }
        settings.include_unreachable |= of_view.include_unreachable;
        settings.gc_starts |= of_view.gc_starts;
    }
    let compare = args.beside.wish().or_else(|| view.as_ref().and_then(|view| view.compare.clone()));
    let read = paths_read(&paths, compare.as_ref(), &settings.question()?.grouping);
    refuse_inputs(&read, &args.output, "--output", false)?;
    if compare.is_some() && settings.base.is_none() {
        settings.compare_with(Some(0));
    }
    if args.view.as_deref() == Some("trends") {
        of_trends(&mut settings, args.look.shape.metric.as_deref(), args.times);
    }
    let select = match (&view, args.select.is_empty()) {
        (Some(view), true) => view.selected.clone(),
        _ => args.select,
    };
    let shot = Shot {
        // A picture of another size has text of another size.
        scale: view.as_ref().filter(|view| args.size.is_none_or(|size| size == view.size)).and_then(ViewFile::scale),
        size: args.size.or(view.as_ref().map(|view| view.size)).unwrap_or((1600, 900)),
        time: args.time.map(|t| t as usize).or(view.as_ref().map(|view| view.time)).map(|t| t - 1),
        select,
        view: args.camera.or(view.as_ref().map(of_camera)).unwrap_or(CameraView::Home),
        settings,
        panels: args.panels,
        of_view: args.view.as_deref().and_then(|name| views::all().picture(name)).map(|(_, picture)| picture.name),
        paths: args.to_roots,
        cut: args.cut.clone(),
        with: PictureExtras {
            filter: args.filter.or(view.as_ref().map(|view| view.filter.clone())).unwrap_or_default(),
            ways: view.as_ref().and_then(|view| view.ways.clone()).filter(|_| !args.to_roots && args.cut.is_none()),
            seen: view.as_ref().and_then(|view| view.seen.clone()),
            marks: view.map(|view| view.marks).unwrap_or_default(),
            transparent: args.transparent,
            compare,
        },
    };
    match kind {
        RenderedKind::Film => {
            let window = (args.from.map_or(0, |k| k as usize - 1), args.to.map_or(usize::MAX, |k| k as usize - 1));
            let wanted = Film { shot, window, between: args.between };
            let (pictures, adapter) = with_progress(|progress| film(&paths, &wanted, &args.output, progress))?;
            tracing::info!("{pictures} pictures, drawn by {adapter}");
        }
        RenderedKind::Table => with_progress(|progress| capture::write_table(&paths, &shot, &args.output, progress))?,
        RenderedKind::Scene => with_progress(|progress| capture::write_scene(&paths, &shot, &args.output, progress))?,
        RenderedKind::Picture => {
            let adapter = with_progress(|progress| capture::render(&paths, &shot, &args.output, progress))?;
            tracing::info!("drawn by {adapter}");
        }
    }
    terminal::result(args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// Kind of output of `render`, by the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RenderedKind {
    Picture,
    Table,
    Scene,
    Film,
}

impl RenderedKind {
    /// A name that does not fit the content of the file is refused.
    fn of(output: &Path, film: bool) -> std::result::Result<RenderedKind, String> {
        let end = output.extension().map(|end| end.to_string_lossy().to_lowercase());
        match (end.as_deref(), film) {
            (Some("png" | "apng"), true) => Ok(RenderedKind::Film),
            (Some("csv"), false) => Ok(RenderedKind::Table),
            (Some("glb"), false) => Ok(RenderedKind::Scene),
            (Some("png") | None, false) => Ok(RenderedKind::Picture),
            // Folders may have dots in their names.
            (end, true) if end.is_none_or(|end| !OTHERS.contains(&end)) => Ok(RenderedKind::Film),
            (_, true) => Err(format!("{}: a film is a .png, or a folder of numbered pictures", output.display())),
            (_, false) => Err(format!("{}: a picture is a .png, a table a .csv, a 3D scene a .glb", output.display())),
        }
    }
}

/// Endings of files that no folder of pictures should be called by.
const OTHERS: [&str; 14] =
    ["avi", "bmp", "csv", "gif", "glb", "gltf", "html", "jpeg", "jpg", "mkv", "mov", "mp4", "webm", "webp"];

#[cfg(test)]
mod tests {
    use super::*;

    /// The content of a file follows from its name.
    #[test]
    fn names_of_files_say_what_is_written() {
        let of = |name: &str, film| RenderedKind::of(Path::new(name), film).ok();
        for (name, once, film) in [
            ("a.png", Some(RenderedKind::Picture), Some(RenderedKind::Film)),
            ("a.PNG", Some(RenderedKind::Picture), Some(RenderedKind::Film)),
            ("a.csv", Some(RenderedKind::Table), None),
            ("a.glb", Some(RenderedKind::Scene), None),
            ("a.jpg", None, None),
            ("a.gif", None, None),
            ("run.2", None, Some(RenderedKind::Film)),
            ("pictures", Some(RenderedKind::Picture), Some(RenderedKind::Film)),
            ("/dev/stdout", Some(RenderedKind::Picture), Some(RenderedKind::Film)),
        ] {
            assert_eq!((of(name, false), of(name, true)), (once, film), "{name}");
        }
    }
}
