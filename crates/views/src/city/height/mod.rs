//! Height rules: what a building's height tells. Each is a file here, and a line in the list below.

use super::look::{Sample, Values};

/// A height rule.
pub struct HeightRule {
    /// Short name for command lines and settings.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it shows, a sentence.
    pub explanation: &'static str,
    /// Whether it tells of a metric, which then may be chosen.
    pub measures: bool,
    /// Looks at a city once.
    pub scale: fn(&Values<'_>) -> HeightScale,
}

/// A height rule for one city. Heights are world units.
pub struct HeightScale {
    /// The height of what stands on a plot, above its ground; `side` is the side of its base as a fraction of its cell. Not
    /// asked for buildings that are not there, nor for More plots, which are flat.
    pub height: HeightOf,
    /// The highest it ever is.
    pub peak: PeakOf,
}

/// Plot to the highest it ever is.
pub type PeakOf = Box<dyn Fn(&Values<'_>, usize) -> f64 + Send + Sync>;

/// What stands on a plot, and its side, to a height.
pub type HeightOf = Box<dyn Fn(&Values<'_>, &Sample, f64) -> f64 + Send + Sync>;

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
}

/// All height rules, the default first.
pub fn rules() -> &'static [HeightRule] {
    &RULES
}

/// The rule of an id, or the default.
pub fn rule(id: &str) -> &'static HeightRule {
    RULES.iter().find(|r| r.id == id).unwrap_or(&RULES[0])
}
