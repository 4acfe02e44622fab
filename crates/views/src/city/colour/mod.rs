//! Colour modes: the quantity that a building's colour shows. Each mode is a file here and a line in the list below.

mod amount;
mod palette;

use super::legend::Legend;
use super::values::{Sample, Samples, Values};
use memory_city_analysis::analyses::{bytes_text, count_text};
use memory_city_analysis::timeline::Unit;

pub use palette::{PALETTES, Palette, palette};

/// A colour mode.
pub struct ColourMode {
    /// Short name for command lines and settings.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// A sentence about the mode, for people.
    pub explanation: &'static str,
    /// Whether it tells of a metric, which then may be chosen.
    pub measures: bool,
    /// The metric that it always tells of; `None`: one that is chosen, or that of the areas.
    pub metric: Option<&'static str>,
    /// Looks at a city once.
    pub scale: fn(&Values<'_>) -> ColourScale,
}

/// A colour mode for one city.
pub struct ColourScale {
    /// Colours with their meaning.
    pub legend: Legend,
    /// The positions of some plots on the gradient at one time, 0 to 1. The positions of More plots are ignored.
    pub position: PositionOf,
}

/// Maps the values on some plots to as many positions on the gradient.
pub type PositionOf = Box<dyn Fn(&Values<'_>, Samples<'_>, &mut [f32]) + Send + Sync>;

/// One plot after the other.
fn each(position: impl Fn(&Values<'_>, &Sample) -> f64 + Send + Sync + 'static) -> PositionOf {
    Box::new(move |values, samples, positions| {
        for (sample, into) in samples.iter().zip(positions) {
            *into = position(values, &sample) as f32;
        }
    })
}

macro_rules! modes {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+
        static MODES: std::sync::LazyLock<Vec<ColourMode>> = std::sync::LazyLock::new(|| vec![$($module::mode()),+]);
    };
}

/// Modes that tell of one time as against another.
const OF_CHANGE: [&str; 4] = ["growth", "change", "overall", "relative"];

/// The mode that a city with `times` points in time uses when `id` was chosen. A single point in time has no growth, so size is shown in
/// its place.
pub(super) fn mode_at(id: &str, times: usize) -> &'static ColourMode {
    let chosen = mode(id);
    if times < 2 && OF_CHANGE.contains(&chosen.id) { mode("share") } else { chosen }
}

// One line a mode: its module, which has a function `mode`. The first is the default.
modes! {
    growth,
    change,
    overall,
    relative,
    fill,
    share,
    age,
    objects_age,
    retained,
    referrers,
    plain,
}

/// All colour modes, the default first.
pub fn modes() -> &'static [ColourMode] {
    &MODES
}

/// The mode of an id, or the default.
pub fn mode(id: &str) -> &'static ColourMode {
    MODES.iter().find(|m| m.id == id).unwrap_or(&MODES[0])
}

/// A value of the metric for people.
pub(super) fn text(values: &Values<'_>, value: u64) -> String {
    match values.timeline.metric_info(values.metric()).unit {
        Unit::Bytes => bytes_text(value),
        Unit::Millis => format!("{} ms", count_text(value)),
        Unit::Objects | Unit::Count => count_text(value),
    }
}

/// The name of the metric within a sentence.
pub(super) fn metric_name(values: &Values<'_>) -> String {
    values.timeline.metric_info(values.metric()).title.to_lowercase()
}

/// When the base is, within a sentence: `since the first state`, or its place and label.
pub(super) fn since(values: &Values<'_>) -> String {
    format!("since {}", values.timeline.base_text(values.base()))
}

/// A difference for people, with its sign.
pub(super) fn difference(values: &Values<'_>, difference: i64) -> String {
    match difference {
        0 => "the same".to_owned(),
        more if more > 0 => format!("+{}", text(values, more.unsigned_abs())),
        less => format!("−{}", text(values, less.unsigned_abs())),
    }
}
