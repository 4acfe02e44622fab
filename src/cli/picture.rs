//! Arguments of `open` and of the look of pictures, with a window or without one.

use super::live::ListenRules;
use super::shape::{ShapeArgs, theme};
use super::{GroupingArgs, ReachArgs};
use clap::Args;
use memory_city::saved_view::ViewReach;
use memory_city::viewer::comparison::CompareWish;
use memory_city::viewer::live::ListenOptions;
use memory_city::viewer::saved_settings;
use memory_city::viewer::settings::{MOST_NAMES, NAME_SIZES, Settings};
use memory_city_analysis::timeline::{AUTO, Question};
use memory_city_heap::error::{Error, Result};
use memory_city_views::city::CityTheme;
use memory_city_views::city::{MOST_CONES, ReferenceShape};
use std::path::PathBuf;
use std::process::ExitCode;

/// The second run, beside the input.
#[derive(Args)]
pub(super) struct BesideArgs {
    /// A second run to compare with: after a fix, or of another version
    #[arg(long, value_name = "RUN", value_hint = clap::ValueHint::AnyPath, conflicts_with_all = ["churn", "difference"])]
    compare: Option<PathBuf>,
    /// How both runs are aligned, as in `compare` [default: objects allocated where both know it, order of dumps that were taken one by
    /// one, else time]
    #[arg(long, value_name = "BY", value_parser = ["order", "time", "gcs", "allocated", "end"], requires = "compare")]
    align: Option<String>,
    /// How far from the start they are compared, as in `compare` [default: as far as the shorter run goes]
    #[arg(long, value_name = "N", requires = "compare")]
    at: Option<u64>,
}

impl BesideArgs {
    pub(super) fn wish(&self) -> Option<CompareWish> {
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
    reach: ReachArgs,
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
    pub(super) shape: ShapeArgs,
    /// No reference cones
    #[arg(long)]
    no_pointers: bool,
    /// How references run: arcs over the roofs, straight cones as in the paper, or arcs bundled by district [default: arcs]
    #[arg(long, value_name = "SHAPE", value_parser = reference_shape)]
    references: Option<ReferenceShape>,
    /// Most references in each direction, the strongest first [default: 24]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_CONES as i64))]
    reference_count: Option<u16>,
    /// No names in the city
    #[arg(long)]
    no_labels: bool,
    /// Most names [default: 25, more in a large picture]
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
    /// Number of times beside each other, from one camera: at equal distances, within the window if there is one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=64))]
    multiples: Option<u8>,
    /// Divides the ground for these points in time alone, first and last, counted from 1
    #[arg(long, value_name = "FROM-TO", value_parser = times)]
    window: Option<(usize, usize)>,
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
    /// The settings `base` with the given arguments over them.
    pub fn settings(&self, base: Settings) -> Settings {
        let (Question { objects, grouping }, grouped) = (self.grouped.asked(), self.grouped.options());
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
            objects,
            grouping: grouping.to_string(),
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
        if let Some(curve) = shape.height_scale {
            settings.set_curve(Some(curve));
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

/// Opens the window with the start card over the bundled sample city.
pub fn open_sample() -> Result<ExitCode> {
    window((Vec::new(), ViewReach::OwnFolder), saved_settings::load(), None, None)
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
    window(
        (args.paths, args.reach.of_views()),
        args.look.settings(saved_settings::load()),
        listen.transpose()?,
        compare,
    )
}

fn window(
    (paths, reach): (Vec<PathBuf>, ViewReach),
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
    let exit = memory_city::viewer::app::run((paths, reach), settings, listen, compare);
    Ok(match exit {
        bevy_exit if bevy_exit.is_success() => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

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
        // Of heights that tell no more than areas do a scale would change nothing.
        assert_eq!((compared.height.as_str(), settings(&[]).height.as_str()), ("amount", "base"));
        let growing = settings(&["--height", "growth", "--height-scale", "sqrt"]);
        assert_eq!(growing.height, "growth");
        let divided = settings(&["--window", "2-5", "--multiples", "9"]);
        assert_eq!((divided.city_config().window, divided.multiples), (Some((1, 4)), 9));
        assert!(!settings(&["--colour", "referrers"]).closures.is_empty(), "what is not there is asked for");
        let growth = settings(&["--height", "growth", "--height-metric", "deep"]);
        assert_eq!(growth.height, "growth");
    }
}
