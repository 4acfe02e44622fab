//! Height rules: what a building's height tells. Each is a file here, and a line in the list below.

mod curve;

use super::values::{Sample, Samples, Values};

pub use curve::{CurveScale, HIGHEST, HeightAxis, HeightCurve, HeightTick, LOWEST};

/// A height rule.
pub struct HeightRule {
    /// Short name for command lines and settings.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it shows, a sentence.
    pub explanation: &'static str,
    /// In what it is measured.
    pub measures: HeightMetric,
    /// The curve that is taken where none was chosen; `None` for a rule that has its own way.
    pub curve: Option<HeightCurve>,
    /// Looks at a city once.
    pub scale: fn(&Values<'_>, HeightWish) -> HeightScale,
}

/// In what a height rule is measured where no metric was chosen for heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeightMetric {
    /// In nothing: a metric cannot be chosen.
    None,
    /// In that of the areas.
    OfAreas,
    /// In the other one of objects and bytes.
    Other,
}

/// What a person chose beside the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeightWish {
    /// The curve.
    pub curve: HeightCurve,
    /// Whether outliers may be capped.
    pub cap: bool,
}

/// A height rule for one city. Heights are world units.
pub struct HeightScale {
    /// The heights of what stands on some plots, above their ground. What it says of buildings that are not there and of More plots,
    /// which are flat, does not count.
    pub height: HeightOf,
    /// The highest it ever is.
    pub peak: PeakOf,
    /// Which heights mean what.
    pub axis: HeightAxis,
    /// Whether a building is higher than it is drawn; `None` where none ever is.
    pub capped: Option<CappedOf>,
}

/// Plot to the highest it ever is.
pub type PeakOf = Box<dyn Fn(&Values<'_>, usize) -> f64 + Send + Sync>;

/// What stands on some plots, and the sides of their bases as fractions of their cells, to as many heights. Before, these are the largest
/// values that the plots ever have, in what areas show.
pub type HeightOf = Box<dyn Fn(&Values<'_>, Samples<'_>, &[f32], &mut [f32]) + Send + Sync>;

/// One plot after the other.
fn each(height: impl Fn(&Values<'_>, &Sample, f64) -> f64 + Send + Sync + 'static) -> HeightOf {
    Box::new(move |values, samples, sides, heights| {
        for ((sample, side), into) in samples.iter().zip(sides).zip(heights) {
            *into = height(values, &sample, f64::from(*side)) as f32;
        }
    })
}

/// What stands on a plot to whether it is higher than it is drawn.
pub type CappedOf = Box<dyn Fn(&Values<'_>, &Sample) -> bool + Send + Sync>;

macro_rules! rules {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+
        static RULES: std::sync::LazyLock<Vec<HeightRule>> = std::sync::LazyLock::new(|| vec![$($module::rule()),+]);
    };
}

// One line a rule: its module, which has a function `rule`. The first is the default.
rules! {
    base,
    growth,
    amount,
    classes,
}

/// All height rules, the default first.
pub fn rules() -> &'static [HeightRule] {
    &RULES
}

/// The rule of an id, or the default.
pub fn rule(id: &str) -> &'static HeightRule {
    RULES.iter().find(|r| r.id == id).unwrap_or(&RULES[0])
}

/// The same where somebody has chosen how amounts become heights: a rule that knows no amounts gives way to the one that tells them.
pub fn rule_with(id: &str, curve: Option<HeightCurve>) -> &'static HeightRule {
    let chosen = rule(id);
    if curve.is_some() && chosen.curve.is_none() { rule("amount") } else { chosen }
}
