//! Arguments for the shape and colours of a city: of the window, of pictures and of pages.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use memory_city_analysis::analyses::metric_of;
use memory_city_analysis::timeline::Timeline;
use memory_city_heap::error::{Error, Result};
use memory_city_views::city::height::HeightCurve;
use memory_city_views::city::{AreaMode, CityConfig, CityTheme, Look, colour, height};
use serde_json::{Map, Value};

/// A missing argument leaves the kept setting, or the default.
#[derive(Args)]
pub struct ShapeArgs {
    /// Metric of areas, growth, colours and heights: objects, bytes, retained, deep, ... [default: bytes]
    ///
    /// Also retained-objects, deep-objects, referrers, elements (of data structures), and further metrics of the input. Colours and
    /// heights may have one of their own.
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Areas proportional to the value, or to its square root [default: sqrt]
    #[arg(long, value_enum)]
    pub area: Option<Area>,
    /// Children of each district that get a plot of their own; 0 for all [default: 40]
    #[arg(long, value_name = "N")]
    pub child_count: Option<usize>,
    /// How many of the strongest growing buildings are opaque [default: 10]
    #[arg(long, value_name = "N")]
    pub solid: Option<usize>,
    /// Opacity of all other buildings, percent [default: 40]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub opacity: Option<u8>,
    /// Meaning of colours [default: growth]
    #[arg(long, value_name = "NAME", value_parser = modes())]
    colour: Option<String>,
    /// Metric of colours, as --metric; areas stay as they are
    #[arg(long, value_name = "NAME")]
    pub colour_metric: Option<String>,
    /// No colours: the same as --colour none
    #[arg(long)]
    no_colour: bool,
    /// Meaning of heights [default: base]
    #[arg(long, value_name = "NAME", value_parser = rules())]
    height: Option<String>,
    /// Metric of heights, as --metric; areas stay as they are. Without --height: its amount
    #[arg(long, value_name = "NAME")]
    pub height_metric: Option<String>,
    /// How amounts become heights; heights that tell of none (--height base) tell of the amount then
    #[arg(long, value_name = "NAME", value_parser = curve)]
    pub height_scale: Option<HeightCurve>,
    /// Outliers are as high as they are, though all others lie flat then
    #[arg(long)]
    pub no_cap: bool,
    /// The colours of all modes
    #[arg(long, value_name = "NAME", value_parser = palettes())]
    pub palette: Option<String>,
    /// The point in time that all others are compared with, counted from 1: colours and heights tell of growth since then
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub base: Option<u32>,
}

fn curve(text: &str) -> std::result::Result<HeightCurve, String> {
    let known = || HeightCurve::ALL.map(HeightCurve::id).join(", ");
    HeightCurve::of(text).ok_or_else(|| format!("expected one of: {}", known()))
}

/// Takes the id of a theme.
pub fn theme(text: &str) -> std::result::Result<CityTheme, String> {
    CityTheme::of(text).ok_or_else(|| format!("expected one of: {}", CityTheme::ALL.map(CityTheme::id).join(", ")))
}

fn palettes() -> PossibleValuesParser {
    let value = |p: &colour::Palette| PossibleValue::new(p.id).help(p.explanation);
    PossibleValuesParser::new(colour::PALETTES.iter().map(value))
}

fn modes() -> PossibleValuesParser {
    let value = |m: &colour::ColourMode| PossibleValue::new(m.id).help(m.explanation);
    PossibleValuesParser::new(colour::modes().iter().map(value))
}

fn rules() -> PossibleValuesParser {
    let value = |r: &height::HeightRule| PossibleValue::new(r.id).help(r.explanation);
    PossibleValuesParser::new(height::rules().iter().map(value))
}

/// How values become areas.
#[derive(Clone, Copy, ValueEnum)]
pub enum Area {
    Linear,
    Sqrt,
}

impl From<Area> for AreaMode {
    fn from(area: Area) -> AreaMode {
        match area {
            Area::Linear => AreaMode::Linear,
            Area::Sqrt => AreaMode::Sqrt,
        }
    }
}

impl ShapeArgs {
    /// The colour mode, where one was given.
    pub fn colour(&self) -> Option<String> {
        let of_base = || self.base.map(|_| "change".to_owned());
        self.no_colour.then(|| "none".to_owned()).or_else(|| self.colour.clone()).or_else(of_base)
    }

    /// The height rule, if it was given or follows from other arguments.
    pub fn height(&self) -> Option<String> {
        self.height.clone().or_else(|| self.height_metric.as_ref().map(|_| "amount".to_owned()))
    }

    /// The metrics that are asked for.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        let given = [&self.metric, &self.colour_metric, &self.height_metric];
        let by_mode = self.colour.as_deref().and_then(|id| colour::mode(id).metric);
        given.into_iter().filter_map(|metric| metric.as_deref()).chain(by_mode)
    }

    /// Removes metrics that trees do not have and that cannot be found for them, and colours of those metrics. Returns their names.
    pub fn leave_unknown(&mut self, timeline: &Timeline) -> Vec<String> {
        let is_unknown = |id: &str| timeline.metric(id).is_none();
        let mut left: Vec<String> = Vec::new();
        for metric in [&mut self.metric, &mut self.colour_metric, &mut self.height_metric] {
            left.extend(metric.take_if(|id| is_unknown(id)));
        }
        let of_colours = self.colour.take_if(|id| colour::mode(id).metric.is_some_and(is_unknown));
        left.extend(of_colours.and_then(|id| colour::mode(&id).metric).map(str::to_owned));
        left.dedup();
        left
    }

    /// Fills missing arguments from a view file. Unknown values are passed over.
    pub fn or_kept(&mut self, kept: &Map<String, Value>) {
        let text = |name: &str| kept.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| kept.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let is_off = |name: &str| kept.get(name) == Some(&Value::Bool(false));
        let area = || text("area").and_then(|id| Area::from_str(&id, false).ok());
        self.area = self.area.or_else(area);
        self.metric = self.metric.take().or_else(|| text("metric"));
        let children = || if is_off("prune") { Some(0) } else { number("child-count") };
        self.child_count = self.child_count.or_else(children);
        self.solid = self.solid.or_else(|| number("solid"));
        let percent = || kept.get("opacity")?.as_f64().map(|share| (share.clamp(0.0, 1.0) * 100.0).round() as u8);
        self.opacity = self.opacity.or_else(percent);
        if self.colour().is_none() {
            self.colour = text("colour").filter(|id| colour::modes().iter().any(|mode| mode.id == *id));
        }
        if self.height().is_none() {
            self.height = text("height").filter(|id| height::rules().iter().any(|rule| rule.id == *id));
        }
        self.colour_metric = self.colour_metric.take().or_else(|| text("colour-metric"));
        self.height_metric = self.height_metric.take().or_else(|| text("height-metric"));
        self.height_scale = self.height_scale.or_else(|| text("height-scale").and_then(|id| HeightCurve::of(&id)));
        self.no_cap |= is_off("cap");
        let palette = || text("palette").filter(|id| colour::PALETTES.iter().any(|palette| palette.id == *id));
        self.palette = self.palette.take().or_else(palette);
    }

    /// The base as an index.
    ///
    /// # Errors
    /// When the timeline has no such time.
    pub fn base_in(&self, times: usize) -> Result<Option<usize>> {
        match self.base {
            Some(base) if base as usize > times => Err(Error::Unusable {
                what: format!("There is no point in time {base}: the input has {times}"),
                remedy: format!("Give --base a number from 1 to {times}"),
            }),
            base => Ok(base.map(|base| base as usize - 1)),
        }
    }

    /// The city of a timeline, with the defaults where nothing was given.
    ///
    /// # Errors
    /// When the timeline has no such metric.
    pub fn city(&self, timeline: &Timeline) -> Result<(CityConfig, Look)> {
        for metric in self.metrics() {
            metric_of(timeline, metric)?;
        }
        let (config, look) = (CityConfig::default(), Look::default());
        let config = CityConfig {
            area_mode: self.area.map_or(config.area_mode, AreaMode::from),
            metric: metric_of(timeline, self.metric.as_deref().unwrap_or("bytes"))?,
            child_count: self.child_count.map_or(config.child_count, |n| Some(n).filter(|n| *n > 0)),
            ..config
        };
        let look = Look {
            colour: self.colour().unwrap_or(look.colour),
            height: height::rule_with(&self.height().unwrap_or(look.height), self.height_scale).id.to_owned(),
            opaque: self.solid.unwrap_or(look.opaque),
            opacity: self.opacity.map_or(look.opacity, |percent| f32::from(percent) / 100.0),
            colour_metric: self.colour_metric.as_deref().map(Into::into),
            height_metric: self.height_metric.as_deref().map(Into::into),
            base: self.base_in(timeline.times())?,
            curve: self.height_scale,
            cap: !self.no_cap,
            palette: self.palette.clone().unwrap_or(look.palette),
        };
        Ok((config, look))
    }
}
