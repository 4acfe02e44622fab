//! Curves from amounts to heights: linear, square root, logarithm, rank. The ground has one size, so heights are shares of it, and a city
//! of ten groups reads like one of a million. Outliers that would flatten all others are capped.

use super::super::colour::text;
use super::super::config::CITY_SIZE;
use super::super::values::Values;

/// How amounts become heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeightCurve {
    /// Twice the height is twice the amount.
    Linear,
    /// Square root, as for areas: a group of a hundredth stays visible beside one of a half.
    Sqrt,
    /// The same factor is the same height, from the smallest amount there is to the largest.
    Log,
    /// Place in the order of sizes: the height is the share of buildings that are lower.
    Rank,
}

impl HeightCurve {
    /// All of them.
    pub const ALL: [HeightCurve; 4] = [HeightCurve::Linear, HeightCurve::Sqrt, HeightCurve::Log, HeightCurve::Rank];

    /// Short name for command lines and settings.
    pub fn id(self) -> &'static str {
        match self {
            HeightCurve::Linear => "linear",
            HeightCurve::Sqrt => "sqrt",
            HeightCurve::Log => "log",
            HeightCurve::Rank => "rank",
        }
    }

    /// Name for people.
    pub fn title(self) -> &'static str {
        match self {
            HeightCurve::Linear => "linear",
            HeightCurve::Sqrt => "square root",
            HeightCurve::Log => "logarithm",
            HeightCurve::Rank => "rank",
        }
    }

    /// A sentence about the curve, for people.
    pub fn explanation(self) -> &'static str {
        match self {
            HeightCurve::Linear => "Twice as high is twice as much",
            HeightCurve::Sqrt => "Four times as much is twice as high: small groups stay visible",
            HeightCurve::Log => "Each factor is the same step: from the smallest to the largest",
            HeightCurve::Rank => "By place in the order of sizes, whatever the amounts",
        }
    }

    /// The curve of an id.
    pub fn of(id: &str) -> Option<HeightCurve> {
        Self::ALL.into_iter().find(|curve| curve.id() == id)
    }
}

/// The height of the largest amount, world units: a quarter of the city's side.
pub const HIGHEST: f64 = CITY_SIZE / 4.0;
/// The height of a building whose amount is 0.
pub const LOWEST: f64 = 0.3;

/// At most this share of all buildings is higher than it is drawn, one at least.
const OUTLIERS: f64 = 0.02;
/// Capping needs an outlier: the largest amount is at least this many times the largest uncapped one.
const STANDS_OUT: f64 = 2.0;

/// One tick of the axis of heights.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightTick {
    /// World units above the ground.
    pub height: f64,
    /// The amount that is so high, for people.
    pub text: String,
}

/// The meaning of heights with numbers, for an axis beside the city and for the legend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeightAxis {
    /// Ascending, at most six.
    pub ticks: Vec<HeightTick>,
    /// The amount above which heights are not drawn higher, for people; `None` where nothing is capped.
    pub capped_above: Option<String>,
}

/// A curve over the amounts of one city.
#[derive(Clone, Debug)]
pub struct CurveScale {
    curve: HeightCurve,
    /// The smallest amount above 0 that any building reaches at its largest.
    low: f64,
    /// The amount at full height.
    top: u64,
    capped: bool,
    /// Ascending; only for ranks.
    peaks: Vec<u64>,
}

impl CurveScale {
    /// Over the largest amounts that buildings ever reach. `cap`: whether outliers may be capped.
    pub fn new(curve: HeightCurve, cap: bool, mut peaks: Vec<u64>) -> CurveScale {
        peaks.retain(|&peak| peak > 0);
        peaks.sort_unstable();
        let most = peaks.last().copied().unwrap_or(0);
        let outliers = ((peaks.len() as f64 * OUTLIERS) as usize).max(1);
        let fence = peaks.len().checked_sub(outliers + 1).map_or(most, |place| peaks[place]);
        // Logarithms and ranks flatten nothing.
        let flat = matches!(curve, HeightCurve::Linear | HeightCurve::Sqrt);
        let capped = cap && flat && most as f64 >= STANDS_OUT * fence as f64 && fence > 0 && peaks.len() > 3;
        let top = if capped { fence } else { most };
        let low = peaks.first().map_or(1.0, |&low| low as f64);
        if curve != HeightCurve::Rank {
            peaks = Vec::new();
        }
        CurveScale { curve, low, top, capped, peaks }
    }

    /// Share of the full height, 0 to 1.
    #[inline]
    pub fn share(&self, amount: u64) -> f64 {
        if amount == 0 || self.top == 0 {
            return 0.0;
        }
        let share = amount.min(self.top) as f64 / self.top as f64;
        match self.curve {
            HeightCurve::Linear => share,
            HeightCurve::Sqrt => share.sqrt(),
            HeightCurve::Log if self.top as f64 > self.low => {
                // The smallest is a step above nothing.
                const FIRST: f64 = 0.06;
                let above = (amount as f64 / self.low).ln() / (self.top as f64 / self.low).ln();
                (FIRST + (1.0 - FIRST) * above).clamp(0.0, 1.0)
            }
            HeightCurve::Log => 1.0,
            HeightCurve::Rank => {
                self.peaks.partition_point(|&peak| peak <= amount) as f64 / self.peaks.len().max(1) as f64
            }
        }
    }

    /// Height, world units.
    #[inline]
    pub fn height(&self, amount: u64) -> f64 {
        LOWEST + (HIGHEST - LOWEST) * self.share(amount)
    }

    /// Whether an amount is higher than it is drawn.
    #[inline]
    pub fn is_capped(&self, amount: u64) -> bool {
        self.capped && amount > self.top
    }

    /// Whether anything may be.
    pub fn caps(&self) -> bool {
        self.capped
    }

    /// The axis; `before` stands before each number.
    pub fn axis(&self, values: &Values<'_>, before: &str) -> HeightAxis {
        let name = |amount: u64| format!("{before}{}", text(values, amount));
        let candidates: Vec<u64> = match self.curve {
            HeightCurve::Rank => self.peaks.clone(),
            _ => round_numbers(self.top),
        };
        HeightAxis {
            ticks: ticks(&candidates, |amount| self.height(amount), name),
            capped_above: self.capped.then(|| name(self.top)),
        }
    }
}

impl HeightTick {
    /// The text shortened to the room of a legend. Classes give their name only: their limits are on the axis beside the city.
    pub fn brief(&self) -> &str {
        self.text.split(',').next().filter(|name| name.parse::<u64>().is_err()).unwrap_or(&self.text)
    }
}

impl HeightAxis {
    /// The meaning of the sign on the walls of capped buildings, if there may be some.
    pub fn capped_line(&self) -> Option<String> {
        self.capped_above.as_ref().map(|most| format!("≈ on a wall: higher than drawn, above {most}"))
    }
}

/// 1, 2, 5, 10 and so on, up to `most`; and `most` where that is less than 1.
pub fn round_numbers(most: u64) -> Vec<u64> {
    let decades = std::iter::successors(Some(1u64), |decade| decade.checked_mul(10));
    decades
        .flat_map(|decade| [1, 2, 5].into_iter().filter_map(move |n| decade.checked_mul(n)))
        .filter(|&n| n <= most)
        .collect()
}

/// The ascending candidates that are far enough apart, from the highest down.
pub fn ticks(candidates: &[u64], height: impl Fn(u64) -> f64, name: impl Fn(u64) -> String) -> Vec<HeightTick> {
    let Some(highest) = candidates.last().map(|&most| height(most)) else { return Vec::new() };
    // Six fit with room between them.
    let apart = highest / 6.5;
    let mut chosen: Vec<HeightTick> = Vec::new();
    for &amount in candidates.iter().rev() {
        let at = height(amount);
        if at > apart * 0.5 && chosen.last().is_none_or(|above| above.height - at >= apart) {
            chosen.push(HeightTick { height: at, text: name(amount) });
        }
    }
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn more_is_never_lower(curve in prop::sample::select(HeightCurve::ALL.to_vec()), cap: bool,
            peaks in prop::collection::vec(0u64..1 << 50, 0..60), a: u64, b: u64) {
            let scale = CurveScale::new(curve, cap, peaks.clone());
            let (less, more) = (scale.height(a.min(b)), scale.height(a.max(b)));
            prop_assert!(less <= more && (LOWEST..=HIGHEST).contains(&less) && more <= HIGHEST);
            for &peak in &peaks {
                // What is not capped is told apart from what is.
                prop_assert!(!scale.is_capped(peak) || (scale.height(peak) - HIGHEST).abs() < 1e-9);
            }
            let capped = peaks.iter().filter(|&&peak| scale.is_capped(peak)).count();
            prop_assert!(capped <= (peaks.len() / 50).max(1));
            if let Some(&most) = peaks.iter().max().filter(|&&most| most > 0) {
                prop_assert!((scale.height(most) - HIGHEST).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn one_giant_does_not_flatten_the_others() {
        let peaks: Vec<u64> = (1..=20).chain([10_000]).collect();
        let plain = CurveScale::new(HeightCurve::Linear, false, peaks.clone());
        assert!(plain.share(20) < 0.01 && !plain.caps());
        let capped = CurveScale::new(HeightCurve::Linear, true, peaks.clone());
        assert!((capped.share(20) - 1.0).abs() < 1e-12 && capped.is_capped(10_000) && !capped.is_capped(20));
        assert!((capped.share(10) - 0.5).abs() < 1e-12);
        // By factors and by places nothing needs to be.
        assert!(!CurveScale::new(HeightCurve::Log, true, peaks.clone()).caps());
        let ranks = CurveScale::new(HeightCurve::Rank, true, peaks);
        assert!((ranks.share(10) - 10.0 / 21.0).abs() < 1e-12);
    }

    #[test]
    fn equal_factors_are_equal_steps() {
        let scale = CurveScale::new(HeightCurve::Log, true, vec![10, 100, 1000]);
        let (a, b, c) = (scale.share(10), scale.share(100), scale.share(1000));
        assert!((b - a - (c - b)).abs() < 1e-12 && a > 0.0 && (c - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ticks_are_round_and_apart() {
        let scale = CurveScale::new(HeightCurve::Sqrt, false, vec![3, 900, 4_321_000]);
        let ticks = ticks(&round_numbers(4_321_000), |v| scale.height(v), |v| v.to_string());
        assert!((3..=6).contains(&ticks.len()), "{ticks:?}");
        assert_eq!(ticks.last().map(|tick| tick.text.as_str()), Some("2000000"));
        assert!(ticks.windows(2).all(|pair| pair[1].height - pair[0].height > 2.0));
    }
}
