//! Height rules: the quantity that a building's height shows. Each rule is a file here and a line in the list below.

mod curve;

use super::values::{Sample, Samples, Values};

pub use curve::{CurveScale, HIGHEST, HeightAxis, HeightCurve, HeightTick, LOWEST};

/// A height rule.
pub struct HeightRule {
    /// Short name for command lines and settings.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// A sentence about the rule, for people.
    pub explanation: &'static str,
    /// The metric of the rule.
    pub measures: HeightMetric,
    /// The curve that is taken where none was chosen; `None` for a rule that has its own way.
    pub curve: Option<HeightCurve>,
    /// Looks at a city once.
    pub scale: fn(&Values<'_>, HeightWish) -> HeightScale,
}

/// The metric of a height rule when no metric was chosen for heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeightMetric {
    /// In nothing: a metric cannot be chosen.
    None,
    /// In that of the areas.
    OfAreas,
    /// In the other one of objects and bytes.
    Other,
}

/// The choices of a person beside the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeightWish {
    /// The curve.
    pub curve: HeightCurve,
    /// Whether outliers may be capped.
    pub cap: bool,
}

/// A height rule for one city. Heights are world units.
pub struct HeightScale {
    /// The heights of the buildings on some plots, above their ground. The heights of absent buildings and of More plots, which are flat,
    /// are ignored.
    pub height: HeightOf,
    /// The largest height it ever has.
    pub peak: PeakOf,
    /// The axis of the heights.
    pub axis: HeightAxis,
    /// Whether a building is higher than it is drawn; `None` where none ever is.
    pub capped: Option<CappedOf>,
}

/// Maps a plot to the largest height it ever has.
pub type PeakOf = Box<dyn Fn(&Values<'_>, usize) -> f64 + Send + Sync>;

/// Maps the values on some plots, and the sides of their bases as fractions of their cells, to as many heights. The output slice comes
/// filled with the largest values that the plots ever have, in the metric of the areas.
pub type HeightOf = Box<dyn Fn(&Values<'_>, Samples<'_>, &[f32], &mut [f32]) + Send + Sync>;

/// One plot after the other.
fn each(height: impl Fn(&Values<'_>, &Sample, f64) -> f64 + Send + Sync + 'static) -> HeightOf {
    Box::new(move |values, samples, sides, heights| {
        for ((sample, side), into) in samples.iter().zip(sides).zip(heights) {
            *into = height(values, &sample, f64::from(*side)) as f32;
        }
    })
}

/// Tells for the sample of a plot if its building is drawn lower than it is.
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

/// The rule for a curve that a user chose: a rule that uses no amounts is replaced by the one for amounts.
pub fn rule_with(id: &str, curve: Option<HeightCurve>) -> &'static HeightRule {
    let chosen = rule(id);
    if curve.is_some() && chosen.curve.is_none() { rule("amount") } else { chosen }
}
