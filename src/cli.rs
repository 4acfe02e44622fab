//! What the command line offers: `open`, `render`, `report`, `convert`; `serve` and `push` are in [`live`].

mod interrupt;
mod live;

use clap::{Args, Parser, Subcommand, ValueEnum};
use memory_city_analysis::analyses::report::{self, ReportOptions};
use memory_city_analysis::group::{self, GroupOptions};
use memory_city_analysis::timeline::{AUTO, Metric, Source, json};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Parser)]
#[command(
    name = "memory-city",
    version,
    about = "The heap of your program as a city: what leaks grows tall and red",
    long_about = "Memory City opens heap dumps (HPROF: what every JVM and Android writes), a memory trace (AntTracks), or memory \
        trees that any other program wrote as JSON (docs/memory-tree-json.md), and shows how the heap evolves as a 3D city: groups of objects are buildings, packages or types are districts, and from state to state the \
        leak grows and turns red.\n\n\
        Without a command it opens a window with the bundled sample city.",
    after_help = "Take dumps of a running JVM, a while apart:\n  jcmd PID GC.heap_dump -gz=1 /tmp/dumps/1.hprof.gz\n\n\
        Then look at them, or let a script do it:\n  memory-city open /tmp/dumps\n  memory-city report /tmp/dumps\n  memory-city render /tmp/dumps -o city.png --select 'char[]'\n  memory-city convert /tmp/dumps -o city.json.zst\n\n\
        Exit codes: 0 done, 1 the input or this machine could not be used, 2 wrong arguments, 130 cancelled.\n\
        Log lines go to stderr; RUST_LOG=info shows more of them.",
    subcommand_required = false,
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// Whether programs are listened for from the start.
    fn listens(&self) -> bool {
        match &self.command {
            Some(Command::Serve(_)) => true,
            #[cfg(feature = "viewer")]
            Some(Command::Open(args)) => args.listen.is_some(),
            _ => false,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    /// Open heap dumps, a trace or memory trees in a window (the sample city without PATH)
    #[cfg(feature = "viewer")]
    Open(OpenArgs),
    /// Render a picture of the city as PNG, without window or display
    #[cfg(feature = "viewer")]
    Render(RenderArgs),
    /// Print how the heap grew, which groups grew most, and what refers to them
    Report(ReportArgs),
    /// Write the trees over time, and what refers to what, as JSON: for other tools, or to open without the dumps
    Convert(ConvertArgs),
    /// Take memory trees from running programs over a WebSocket, without a window
    Serve(live::ServeArgs),
    /// Send what can be opened to a city that listens (`serve`, or `open --listen`)
    Push(live::PushArgs),
}

#[derive(Args)]
struct Grouped {
    /// How objects are grouped
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = grouping_names())]
    grouping: String,
    /// Count objects that no GC root reaches too
    #[arg(long)]
    unreachable: bool,
    /// Traces: show the heap at the start of every GC as well as at its end
    #[arg(long)]
    gc_starts: bool,
}

impl Grouped {
    fn options(&self) -> GroupOptions {
        GroupOptions { include_unreachable: self.unreachable, gc_starts: self.gc_starts }
    }
}

fn grouping_names() -> clap::builder::PossibleValuesParser {
    let auto =
        clap::builder::PossibleValue::new(AUTO).help("Type › Allocation site for traces, Package › Type for dumps");
    let all =
        group::groupings().iter().map(|g| clap::builder::PossibleValue::new(g.id.as_str()).help(g.title.as_str()));
    clap::builder::PossibleValuesParser::new(std::iter::once(auto).chain(all))
}

#[derive(Args)]
struct ReportArgs {
    /// Dumps, a trace, or memory trees in JSON (plain, .gz, .zst), or folders of them; ordered by time
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// How many of the strongest growing groups are listed
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// What growth is measured in
    #[arg(long, value_enum, default_value = "bytes")]
    metric: MetricArg,
    #[command(flatten)]
    grouped: Grouped,
}

#[derive(Args)]
struct ConvertArgs {
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
    grouped: Grouped,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum MetricArg {
    Objects,
    Bytes,
}

impl From<MetricArg> for Metric {
    fn from(metric: MetricArg) -> Self {
        match metric {
            MetricArg::Objects => Metric::Objects,
            MetricArg::Bytes => Metric::Bytes,
        }
    }
}

#[cfg(feature = "viewer")]
mod picture {
    use super::live::ListenRules;
    use super::{Grouped, MetricArg};
    use clap::{Args, ValueEnum};
    use memory_city::viewer::capture::View;
    use memory_city::viewer::settings::Settings;
    use memory_city_views::city::AreaMode;
    use memory_city_views::city::camera::CameraPose;
    use std::path::PathBuf;

    #[derive(Args)]
    pub struct OpenArgs {
        /// Dumps, a trace, or memory trees in JSON (plain, .gz, .zst), or folders of them
        #[arg(value_name = "PATH")]
        pub paths: Vec<PathBuf>,
        /// Listen for programs that send their trees, at HOST:PORT (default: this machine only)
        #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = memory_city_live::DEFAULT_ADDRESS)]
        pub listen: Option<String>,
        #[command(flatten)]
        pub rules: ListenRules,
        #[command(flatten)]
        pub look: Look,
    }

    #[derive(Args)]
    pub struct RenderArgs {
        /// Dumps, a trace, or memory trees in JSON (plain, .gz, .zst), or folders of them; ordered by time
        #[arg(required = true, value_name = "PATH")]
        pub paths: Vec<PathBuf>,
        /// The PNG to write
        #[arg(short, long, value_name = "FILE")]
        pub output: PathBuf,
        /// Point in time, counted from 1 (default: the last)
        #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
        pub time: Option<u32>,
        /// Width and height in pixels
        #[arg(long, value_name = "WxH", default_value = "1600x900", value_parser = size)]
        pub size: (u32, u32),
        /// Group to select, by key (`Heap#java.util#HashMap`) or name; shows its reference cones
        #[arg(long, value_name = "KEY")]
        pub select: Option<String>,
        /// home, bird, focus, or a pose as JSON: {"eye":[x,y,z],"yaw":0.3,"pitch":-0.5}
        #[arg(long, value_name = "NAME|JSON", default_value = "home", value_parser = view)]
        pub camera: View,
        /// Draw the panels of the window too
        #[arg(long)]
        pub panels: bool,
        #[command(flatten)]
        pub look: Look,
    }

    #[derive(Args)]
    pub struct Look {
        #[command(flatten)]
        pub grouped: Grouped,
        /// What areas and growth are measured in
        #[arg(long, value_enum, default_value = "bytes")]
        metric: MetricArg,
        /// Areas proportional to the value, or to its square root
        #[arg(long, value_enum, default_value = "sqrt")]
        area: Area,
        /// Children of each district that get a plot of their own; 0 for all
        #[arg(long, value_name = "N", default_value_t = 40)]
        child_count: usize,
        /// How many of the strongest growing buildings are opaque
        #[arg(long, value_name = "N", default_value_t = 10)]
        solid: usize,
        /// Opacity of all other buildings, percent
        #[arg(long, value_name = "PERCENT", default_value_t = 40, value_parser = clap::value_parser!(u8).range(0..=100))]
        opacity: u8,
        /// No colours for growth
        #[arg(long)]
        no_colour: bool,
        /// No reference cones
        #[arg(long)]
        no_pointers: bool,
        /// No names in the city
        #[arg(long)]
        no_labels: bool,
        /// No shadows
        #[arg(long)]
        no_shadows: bool,
    }

    #[derive(Clone, Copy, ValueEnum)]
    pub enum Area {
        Linear,
        Sqrt,
    }

    impl Look {
        pub fn settings(&self) -> Settings {
            let default = Settings::default();
            Settings {
                area_mode: match self.area {
                    Area::Linear => AreaMode::Linear,
                    Area::Sqrt => AreaMode::Sqrt,
                },
                metric: self.metric.into(),
                prune: self.child_count > 0,
                child_count: if self.child_count > 0 { self.child_count } else { default.child_count },
                solid_count: self.solid,
                opacity: f32::from(self.opacity) / 100.0,
                colour: !self.no_colour,
                show_pointers: !self.no_pointers,
                labels: !self.no_labels,
                shadows: !self.no_shadows,
                grouping: self.grouped.grouping.clone(),
                include_unreachable: self.grouped.unreachable,
                gc_starts: self.grouped.gc_starts,
                ..default
            }
        }
    }

    /// Larger pictures exceed what GPUs guarantee to draw into.
    const MOST_PIXELS: u32 = 8192;

    fn size(text: &str) -> Result<(u32, u32), String> {
        let wrong = || format!("expected WIDTHxHEIGHT such as 1600x900, each from 16 to {MOST_PIXELS}");
        let (w, h) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
        let side = |s: &str| s.trim().parse::<u32>().ok().filter(|n| (16..=MOST_PIXELS).contains(n)).ok_or_else(wrong);
        Ok((side(w)?, side(h)?))
    }

    fn view(text: &str) -> Result<View, String> {
        match text {
            "home" => Ok(View::Home),
            "bird" => Ok(View::BirdsEye),
            "focus" => Ok(View::Focus),
            json if json.trim_start().starts_with('{') => serde_json::from_str::<CameraPose>(json)
                .map(View::Pose)
                .map_err(|e| format!("{e}; expected {{\"eye\":[x,y,z],\"yaw\":radians,\"pitch\":radians}}")),
            _ => Err("expected home, bird, focus, or a pose as JSON".to_owned()),
        }
    }
}
#[cfg(feature = "viewer")]
use memory_city::viewer::live::ListenOptions;
#[cfg(feature = "viewer")]
use picture::{OpenArgs, RenderArgs};

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        // Drivers and windowing libraries grumble about things a user cannot act on.
        tracing_subscriber::EnvFilter::new(
            "warn,wgpu_hal=off,bevy_render=error,wgpu_core=error,naga=error,bevy_winit=error,bevy_egui=error",
        )
    });
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false).init();
    if cli.listens() {
        live::give_memory_back();
    }
    interrupt::listen();
    match run(cli) {
        Ok(code) => code,
        Err(Error::Cancelled) => ExitCode::from(interrupt::CODE),
        Err(error) => {
            eprintln!("memory-city: {error}");
            ExitCode::from(1)
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Some(Command::Report(args)) => report(args),
        Some(Command::Convert(args)) => convert(args),
        Some(Command::Serve(args)) => live::serve(&args),
        Some(Command::Push(args)) => live::push(args),
        #[cfg(feature = "viewer")]
        Some(Command::Render(args)) => render(args),
        #[cfg(feature = "viewer")]
        Some(Command::Open(args)) => {
            let listen = args.listen.as_deref().map(|address| -> Result<_> {
                Ok(ListenOptions { limits: args.rules.limits(), server: args.rules.options(address)? })
            });
            open(args.paths, args.look.settings(), listen.transpose()?)
        }
        #[cfg(feature = "viewer")]
        None => open(Vec::new(), memory_city::viewer::settings::Settings::default(), None),
        #[cfg(not(feature = "viewer"))]
        None => Err(Error::Unusable {
            what: "This build has no viewer".into(),
            remedy: "Use `memory-city report PATH`, or build with the feature `viewer`".into(),
        }),
    }
}

fn report(args: ReportArgs) -> Result<ExitCode> {
    let options = ReportOptions { top: args.top, metric: args.metric.into() };
    let report = with_progress(|progress| {
        let source = Source::open(&args.paths, &args.grouped.grouping, args.grouped.options(), progress)?;
        report::report(&source, &options, progress)
    })?;
    let text = match args.format {
        Format::Text => report.to_string(),
        Format::Json => report.to_json()? + "\n",
    };
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A closed pipe (`| head`) is no error of ours.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io(std::path::Path::new("standard output"), error))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn convert(args: ConvertArgs) -> Result<ExitCode> {
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

#[cfg(feature = "viewer")]
fn render(args: RenderArgs) -> Result<ExitCode> {
    use memory_city::viewer::capture::{self, Shot};
    let shot = Shot {
        size: args.size,
        time: args.time.map(|t| t as usize - 1),
        select: args.select,
        view: args.camera,
        settings: args.look.settings(),
        panels: args.panels,
    };
    let adapter = with_progress(|progress| capture::render(&args.paths, &shot, &args.output, progress))?;
    tracing::info!("drawn by {adapter}");
    println!("{}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "viewer")]
fn open(
    paths: Vec<PathBuf>,
    settings: memory_city::viewer::settings::Settings,
    listen: Option<ListenOptions>,
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
    let exit = memory_city::viewer::app::run(paths, settings, listen);
    Ok(match exit {
        bevy_exit if bevy_exit.is_success() => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}

/// Runs `work` with a progress line on a terminal. Ctrl+C cancels it: nothing is half written.
fn with_progress<T>(work: impl FnOnce(&Progress) -> Result<T>) -> Result<T> {
    let progress = Progress::new();
    let done = Arc::new(AtomicBool::new(false));
    let watcher = std::io::stderr().is_terminal().then(|| {
        let (progress, done) = (progress.clone(), Arc::clone(&done));
        std::thread::spawn(move || watch(&progress, &done))
    });
    let result = interrupt::cancels(&progress, || work(&progress));
    done.store(true, Ordering::Relaxed);
    if let Some(watcher) = watcher {
        let _ = watcher.join();
    }
    result
}

fn watch(progress: &Progress, done: &AtomicBool) {
    let bar = indicatif::ProgressBar::new(0);
    let style = indicatif::ProgressStyle::with_template("{spinner} {msg} {wide_bar} {percent}%");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    while !done.load(Ordering::Relaxed) {
        let snapshot = progress.snapshot();
        bar.set_length(snapshot.total.max(1));
        bar.set_position(snapshot.done.min(snapshot.total));
        bar.set_message(snapshot.stage);
        std::thread::sleep(Duration::from_millis(80));
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    // Without the viewer there are fewer commands.
    #[cfg(feature = "viewer")]
    #[test]
    fn the_help_teaches() {
        insta::assert_snapshot!(Cli::command().render_long_help().to_string());
    }
}
