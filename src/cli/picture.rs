//! Commands that draw: `open` and `render`, and how what they draw looks.

use super::live::ListenRules;
use super::shape::ShapeArgs;
use super::{Cli, GroupingArgs, with_progress};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory};
use memory_city::viewer::capture::{self, CameraView, PictureExtras, Shot};
use memory_city::viewer::comparison::CompareWish;
use memory_city::viewer::film::{Film, film};
use memory_city::viewer::kept_settings;
use memory_city::viewer::live::ListenOptions;
use memory_city::viewer::settings::{MOST_NAMES, NAME_SIZES, Settings};
use memory_city::viewer::trend_settings::SIZES_AT;
use memory_city::viewer::view_file::ViewFile;
use memory_city::viewer::views;
use memory_city_analysis::group;
use memory_city_analysis::group::domain::{self, DomainPackages};
use memory_city_analysis::timeline::{AUTO, ClosureMetric};
use memory_city_heap::error::{Error, Result};
use memory_city_views::city::CityTheme;
use memory_city_views::city::camera::CameraPose;
use memory_city_views::city::{MOST_CONES, ReferenceShape};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is beside the input.
#[derive(Args)]
struct BesideArgs {
    /// A second run to compare with: after a fix, or of another version
    #[arg(long, value_name = "RUN", value_hint = clap::ValueHint::AnyPath, conflicts_with_all = ["churn", "difference"])]
    compare: Option<PathBuf>,
    /// What both runs are aligned by, as in `compare` [default: objects allocated where both know it, else time]
    #[arg(long, value_name = "BY", value_parser = ["time", "gcs", "allocated", "end"], requires = "compare")]
    align: Option<String>,
    /// How far from the start they are compared, as in `compare` [default: as far as the shorter run goes]
    #[arg(long, value_name = "N", requires = "compare")]
    at: Option<u64>,
}

impl BesideArgs {
    fn wish(&self) -> Option<CompareWish> {
        let align = self.align.clone().unwrap_or_else(|| AUTO.to_owned());
        let run = |data: &PathBuf| CompareWish::Run { data: vec![data.clone()], align, at: self.at.unwrap_or(0) };
        self.compare.as_ref().map(run)
    }
}

#[derive(Args)]
pub struct OpenArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them; or a view file
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Listen for programs that send their trees, at HOST:PORT (default: this machine only)
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = memory_city_live::DEFAULT_ADDRESS)]
    pub listen: Option<String>,
    #[command(flatten)]
    rules: ListenRules,
    #[command(flatten)]
    beside: BesideArgs,
    #[command(flatten)]
    look: LookArgs,
}

#[derive(Args)]
pub struct RenderArgs {
    /// Dumps, a trace, a recording, or memory trees in JSON (plain, .gz, .zst), or folders of them, ordered by time; or a view file
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// What to write: a picture where the name ends in .png, what the view shows as a table where it ends in .csv, the city as a 3D
    /// scene (glTF) where it ends in .glb
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Point in time, counted from 1 (default: the last)
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    time: Option<u32>,
    /// Width and height in pixels
    /// [default: 1600x900, or as in the view file]
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Group to select, by key (`Heap#java.util#HashMap`) or name; shows its reference cones. Given again, selects one more
    #[arg(long, value_name = "KEY")]
    select: Vec<String>,
    /// home, bird, focus, or a pose as JSON: {"eye":[x,y,z],"yaw":0.3,"pitch":-0.5}
    /// [default: home, or as in the view file]
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
    /// Every point in time and the steps between: an animated PNG, which browsers play, where FILE ends in .png or .apng, else a
    /// folder FILE of numbered pictures
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
    beside: BesideArgs,
    #[command(flatten)]
    look: LookArgs,
}

// What is not given is as it was in the window last (`open`), or as at a first start (`render`).
#[derive(Args)]
#[command(
    next_help_heading = "What is shown, and how (not given: `open` has it as the window had it last, `render` the default)"
)]
pub struct LookArgs {
    #[command(flatten)]
    grouped: GroupingArgs,
    #[command(flatten)]
    shape: ShapeArgs,
    /// No reference cones
    #[arg(long)]
    no_pointers: bool,
    /// How references run: arcs over the roofs, straight cones as in the paper, or arcs bundled by district [default: arcs]
    #[arg(long, value_name = "SHAPE", value_parser = reference_shape)]
    references: Option<ReferenceShape>,
    /// At most so many references in each direction, the strongest [default: 24]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_CONES as i64))]
    reference_count: Option<u16>,
    /// No names in the city
    #[arg(long)]
    no_labels: bool,
    /// At most so many names [default: 40, more in a large picture]
    #[arg(long, value_name = "N", value_parser = name_count)]
    names: Option<usize>,
    /// Size of the names in percent [default: 100]
    #[arg(long, value_name = "PERCENT", value_parser = name_size)]
    name_size: Option<f32>,
    /// Names of the program's own groups alone; those of libraries are counted with their districts (see --packages)
    #[arg(long)]
    fold_libraries: bool,
    /// No shadows
    #[arg(long)]
    no_shadows: bool,
    /// Dark or light surroundings [default: dark]
    #[arg(long, value_name = "NAME", value_parser = theme)]
    theme: Option<CityTheme>,
    /// So many times beside each other, from one camera: at equal distances, within the window if there is one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=64))]
    multiples: Option<u8>,
    /// Divides the ground for these points in time alone, first and last, counted from 1
    #[arg(long, value_name = "FROM-TO", value_parser = times)]
    window: Option<(usize, usize)>,
}

fn theme(text: &str) -> std::result::Result<CityTheme, String> {
    CityTheme::of(text).ok_or_else(|| format!("expected one of: {}", CityTheme::ALL.map(CityTheme::id).join(", ")))
}

fn times(text: &str) -> std::result::Result<(usize, usize), String> {
    let (from, to) = text.split_once('-').ok_or("expected FROM-TO such as 3-12")?;
    let number = |text: &str| text.trim().parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => Err("expected FROM-TO such as 3-12, counted from 1, the earlier first".to_owned()),
    }
}

impl LookArgs {
    /// What was given, over `base`.
    pub fn settings(&self, base: Settings) -> Settings {
        let grouped = self.grouped.options();
        let mut settings = Settings {
            solid_count: self.shape.solid.unwrap_or(base.solid_count),
            show_pointers: base.show_pointers && !self.no_pointers,
            reference_shape: self.references.unwrap_or(base.reference_shape),
            reference_count: self.reference_count.map_or(base.reference_count, usize::from),
            labels: base.labels && !self.no_labels,
            name_count: self.names.or(base.name_count),
            name_size: self.name_size.unwrap_or(base.name_size),
            fold_libraries: base.fold_libraries || self.fold_libraries,
            shadows: base.shadows && !self.no_shadows,
            grouping: self.grouped.named(),
            include_unreachable: grouped.include_unreachable,
            gc_starts: grouped.gc_starts,
            ..base
        };
        let shape = &self.shape;
        if let Some(area) = shape.area {
            settings.area_mode = area.into();
        }
        if let Some(count) = shape.child_count {
            settings.prune = count > 0;
            if count > 0 {
                settings.child_count = count;
            }
        }
        if let Some(percent) = shape.opacity {
            settings.opacity = f32::from(percent) / 100.0;
        }
        if let Some(mode) = shape.colour() {
            settings.set_colour(&mode);
        }
        settings.base = shape.base.map(|base| base as usize - 1).or(settings.base);
        settings.curve = shape.height_scale.or(settings.curve);
        settings.cap &= !shape.no_cap;
        settings.theme = self.theme.unwrap_or(settings.theme);
        settings.multiples = self.multiples.map_or(settings.multiples, usize::from);
        settings.window = self.window.or(settings.window);
        if let Some(palette) = &shape.palette {
            settings.palette.clone_from(palette);
        }
        // Of what died the hottest site is the tallest tower.
        let towers = self.grouped.churn.then(|| "amount".to_owned());
        if let Some(rule) = shape.height().or(towers) {
            settings.height = rule;
        }
        if let Some(id) = &shape.metric {
            settings.set_metric_by_name(id);
        }
        if let Some(id) = &shape.colour_metric {
            settings.set_colour_metric(Some(id));
        }
        if let Some(id) = &shape.height_metric {
            settings.set_height_metric(Some(id));
        }
        settings
    }
}

fn view_names() -> clap::builder::PossibleValuesParser {
    views::pictures().iter().map(|picture| picture.name).collect::<Vec<_>>().into()
}

fn sizes_at(text: &str) -> std::result::Result<usize, String> {
    let (least, most) = (SIZES_AT.start(), SIZES_AT.end());
    let right = text.parse().ok().filter(|n| SIZES_AT.contains(n));
    right.ok_or_else(|| format!("expected a number from {least} to {most}"))
}

/// What a picture of trends alone needs: sizes that cost a look at the heap are found for its charts, at some points in time, not for a city
/// that nobody sees, at all.
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

/// Larger pictures exceed what GPUs guarantee to draw into.
const MOST_PIXELS: u32 = 8192;

fn size(text: &str) -> std::result::Result<(u32, u32), String> {
    let wrong = || format!("expected WIDTHxHEIGHT such as 1600x900, each from 16 to {MOST_PIXELS}");
    let (w, h) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
    let side = |s: &str| s.trim().parse::<u32>().ok().filter(|n| (16..=MOST_PIXELS).contains(n)).ok_or_else(wrong);
    Ok((side(w)?, side(h)?))
}

fn reference_shape(text: &str) -> std::result::Result<ReferenceShape, String> {
    let known = || ReferenceShape::ALL.map(ReferenceShape::id).join(", ");
    ReferenceShape::of(text).ok_or_else(|| format!("expected one of {}", known()))
}

fn name_count(text: &str) -> std::result::Result<usize, String> {
    let wrong = || format!("expected a number from 0 to {MOST_NAMES}");
    text.parse().ok().filter(|n| *n <= MOST_NAMES).ok_or_else(wrong)
}

fn name_size(text: &str) -> std::result::Result<f32, String> {
    let (least, most) = (NAME_SIZES.start() * 100.0, NAME_SIZES.end() * 100.0);
    let wrong = || format!("expected a percentage from {least} to {most}");
    let percent = text.trim_end_matches('%').parse::<f32>().map_err(|_| wrong())?;
    if (least..=most).contains(&percent) { Ok(percent / 100.0) } else { Err(wrong()) }
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

/// The view file, where that is what is given.
fn one_view(paths: &[PathBuf]) -> Result<Option<ViewFile>> {
    match paths {
        [path] if ViewFile::is_one(path) => ViewFile::read(path).map(Some),
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
        Err(why) => Cli::command().error(ErrorKind::ValueValidation, why).exit(),
    };
    let view = one_view(&args.paths)?;
    if let Some(view) = &view {
        let given = DomainPackages::clone(group::registry().domain());
        view.make_known(&args.paths[0])?;
        // What the command line says holds.
        if given.chosen_here().is_some() {
            domain::set_packages(given);
        }
    }
    let paths = view.as_ref().map_or(args.paths, |view| view.data.clone());
    let mut settings =
        args.look.settings(view.as_ref().map_or_else(Settings::default, |v| v.settings(Settings::default())));
    if let Some(view) = &view {
        let of_view = view.settings(Settings::default());
        if settings.grouping == AUTO {
            settings.grouping = of_view.grouping;
        }
        settings.include_unreachable |= of_view.include_unreachable;
        settings.gc_starts |= of_view.gc_starts;
    }
    let compare = args.beside.wish().or_else(|| view.as_ref().and_then(|view| view.compare.clone()));
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
        of_view: views::pictures()
            .into_iter()
            .map(|picture| picture.name)
            .find(|name| args.view.as_deref() == Some(*name)),
        paths: args.to_roots,
        cut: args.cut.clone(),
        with: PictureExtras {
            filter: args.filter.or(view.as_ref().map(|view| view.filter.clone())).unwrap_or_default(),
            ways: view.as_ref().and_then(|view| view.ways.clone()).filter(|_| !args.to_roots && args.cut.is_none()),
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
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// What `render` writes, by the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RenderedKind {
    Picture,
    Table,
    Scene,
    Film,
}

impl RenderedKind {
    /// A name that promises something else than what would be in the file is refused.
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

/// Opens the window with the bundled sample city.
pub fn open_sample() -> Result<ExitCode> {
    window(Vec::new(), kept_settings::load(), None, None)
}

/// Opens the window.
pub fn open(args: OpenArgs) -> Result<ExitCode> {
    let listen = args.listen.as_deref().map(|address| -> Result<_> {
        Ok(ListenOptions { limits: args.rules.limits(), server: args.rules.options(address)? })
    });
    let compare = args.beside.wish();
    if let Some(CompareWish::Run { data, .. }) = &compare {
        data.iter().try_for_each(|path| std::fs::metadata(path).map(|_| ()).map_err(|e| Error::io(path, e)))?;
    }
    window(args.paths, args.look.settings(kept_settings::load()), listen.transpose()?, compare)
}

fn window(
    paths: Vec<PathBuf>,
    settings: Settings,
    listen: Option<ListenOptions>,
    compare: Option<CompareWish>,
) -> Result<ExitCode> {
    // A wrong path is told in the terminal it was typed into, before a window opens.
    for path in &paths {
        std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    }
    let display = std::env::var_os("DISPLAY").is_some() || std::env::var_os("WAYLAND_DISPLAY").is_some();
    if cfg!(target_os = "linux") && !display {
        return Err(Error::Unusable {
            what: "There is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set)".into(),
            remedy: "Render pictures with `memory-city render PATH -o city.png`, or run under xvfb-run".into(),
        });
    }
    let exit = memory_city::viewer::app::run(paths, settings, listen, compare);
    Ok(match exit {
        bevy_exit if bevy_exit.is_success() => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    /// What is in a file is what its name says.
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

    fn settings(arguments: &[&str]) -> Settings {
        let command = LookArgs::augment_args(Command::new("render"));
        let all = ["render"].iter().chain(arguments);
        let matches = command.try_get_matches_from(all).unwrap_or_else(|e| panic!("{e}"));
        LookArgs::from_arg_matches(&matches).expect("arguments").settings(Settings::default())
    }

    #[test]
    fn nothing_said_is_a_first_start() {
        assert_eq!(settings(&[]), Settings::default());
        let help = LookArgs::augment_args(Command::new("render")).render_long_help().to_string();
        let default = Settings::default();
        let percent = format!("[default: {}]", default.opacity * 100.0);
        for text in [&default.colour, &default.height].map(|id| format!("[default: {id}]")).into_iter().chain([percent])
        {
            assert!(help.contains(&text), "{text}");
        }
    }

    #[test]
    fn areas_colours_and_heights_are_measured_apart() {
        let wanted = settings(&["--metric", "objects", "--height-metric", "retained", "--colour-metric", "bytes"]);
        let look = wanted.look();
        assert_eq!((look.height.as_str(), look.height_metric.as_deref()), ("amount", Some("retained")));
        assert_eq!(look.colour_metric.as_deref(), Some("bytes"));
        assert_eq!(wanted.city_config().metric, memory_city_analysis::timeline::Metric::Objects);
        assert!(!wanted.closures.is_empty(), "what is not there is asked for");
        let compared =
            settings(&["--base", "3", "--height-scale", "log", "--no-cap", "--palette", "gray", "--theme", "light"]);
        let look = compared.look();
        assert_eq!(
            (look.base, look.colour.as_str(), look.palette.as_str(), look.cap),
            (Some(2), "change", "gray", false)
        );
        assert_eq!(settings(&["--base", "3", "--colour", "share"]).colour, "share");
        let divided = settings(&["--window", "2-5", "--multiples", "9"]);
        assert_eq!((divided.city_config().window, divided.multiples), (Some((1, 4)), 9));
        assert!(!settings(&["--colour", "referrers"]).closures.is_empty(), "what is not there is asked for");
        let growth = settings(&["--height", "growth", "--height-metric", "deep"]);
        assert_eq!(growth.height, "growth");
    }
}
