//! Commands that draw: `open` and `render`, and how what they draw looks.

use super::live::ListenRules;
use super::{GroupingArgs, with_progress};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use memory_city::viewer::capture::{self, CameraView, Shot};
use memory_city::viewer::live::ListenOptions;
use memory_city::viewer::settings::Settings;
use memory_city_heap::error::{Error, Result};
use memory_city_views::city::camera::CameraPose;
use memory_city_views::city::{AreaMode, colour, height};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct OpenArgs {
    /// Dumps, a trace, or memory trees in JSON (plain, .gz, .zst), or folders of them
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Listen for programs that send their trees, at HOST:PORT (default: this machine only)
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = memory_city_live::DEFAULT_ADDRESS)]
    pub listen: Option<String>,
    #[command(flatten)]
    rules: ListenRules,
    #[command(flatten)]
    look: LookArgs,
}

#[derive(Args)]
pub struct RenderArgs {
    /// Dumps, a trace, or memory trees in JSON (plain, .gz, .zst), or folders of them; ordered by time
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The PNG to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Point in time, counted from 1 (default: the last)
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    time: Option<u32>,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1600x900", value_parser = size)]
    size: (u32, u32),
    /// Group to select, by key (`Heap#java.util#HashMap`) or name; shows its reference cones. Given again, selects one more
    #[arg(long, value_name = "KEY")]
    select: Vec<String>,
    /// home, bird, focus, or a pose as JSON: {"eye":[x,y,z],"yaw":0.3,"pitch":-0.5}
    #[arg(long, value_name = "NAME|JSON", default_value = "home", value_parser = view)]
    camera: CameraView,
    /// Draw the panels of the window too
    #[arg(long)]
    panels: bool,
    #[command(flatten)]
    look: LookArgs,
}

#[derive(Args)]
pub struct LookArgs {
    #[command(flatten)]
    grouped: GroupingArgs,
    /// What areas, heights and growth are measured in: objects, bytes, a further metric of the input, or what is found for
    /// it: retained, retained-objects, deep, deep-objects
    #[arg(long, value_name = "NAME", default_value = "bytes")]
    metric: String,
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
    /// What colours tell
    #[arg(long, value_name = "NAME", value_parser = modes(), default_value = colour::modes()[0].id)]
    colour: String,
    /// No colours: the same as --colour none
    #[arg(long)]
    no_colour: bool,
    /// What heights tell
    #[arg(long, value_name = "NAME", value_parser = rules(), default_value = height::rules()[0].id)]
    height: String,
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

fn modes() -> PossibleValuesParser {
    let value = |m: &colour::ColourMode| PossibleValue::new(m.id).help(m.explanation);
    PossibleValuesParser::new(colour::modes().iter().map(value))
}

fn rules() -> PossibleValuesParser {
    let value = |r: &height::HeightRule| PossibleValue::new(r.id).help(r.explanation);
    PossibleValuesParser::new(height::rules().iter().map(value))
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Area {
    Linear,
    Sqrt,
}

impl LookArgs {
    pub fn settings(&self) -> Settings {
        let grouped = self.grouped.options();
        let default = Settings::default();
        let mut settings = Settings {
            area_mode: match self.area {
                Area::Linear => AreaMode::Linear,
                Area::Sqrt => AreaMode::Sqrt,
            },
            prune: self.child_count > 0,
            child_count: if self.child_count > 0 { self.child_count } else { default.child_count },
            solid_count: self.solid,
            opacity: f32::from(self.opacity) / 100.0,
            colour: if self.no_colour { "none".to_owned() } else { self.colour.clone() },
            height: self.height.clone(),
            show_pointers: !self.no_pointers,
            labels: !self.no_labels,
            shadows: !self.no_shadows,
            grouping: self.grouped.grouping.clone(),
            include_unreachable: grouped.include_unreachable,
            gc_starts: grouped.gc_starts,
            ..default
        };
        settings.set_metric_by_name(&self.metric);
        settings
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

/// Draws a picture.
pub fn render(args: RenderArgs) -> Result<ExitCode> {
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

/// Opens the window with the bundled sample city.
pub fn open_sample() -> Result<ExitCode> {
    window(Vec::new(), Settings::default(), None)
}

/// Opens the window.
pub fn open(args: OpenArgs) -> Result<ExitCode> {
    let listen = args.listen.as_deref().map(|address| -> Result<_> {
        Ok(ListenOptions { limits: args.rules.limits(), server: args.rules.options(address)? })
    });
    window(args.paths, args.look.settings(), listen.transpose()?)
}

fn window(paths: Vec<PathBuf>, settings: Settings, listen: Option<ListenOptions>) -> Result<ExitCode> {
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
