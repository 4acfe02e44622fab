//! Legend lines for the shapes of a city, the same in windows and on pages: areas and heights, opacity, and the least difference with a
//! sign.

use super::change::SLIGHT_CHANGE;
use super::config::AreaMode;
use super::look::Appearance;
use super::overlay::NOTABLE_LOSS;
use super::plan::CityPlan;
use memory_city_analysis::timeline::Timeline;

impl Appearance {
    /// The meaning of areas and heights: `Ground area ~ √ bytes · height: amount, objects (logarithm)`.
    pub fn shape_line(&self, plan: &CityPlan, timeline: &Timeline) -> String {
        let metric = timeline.metric_info(plan.config().metric).title.to_lowercase();
        let area = match plan.config().area_mode {
            AreaMode::Linear => metric,
            AreaMode::Sqrt => format!("√ {metric}"),
        };
        match self.height_title() {
            None => format!("Building = group of objects · ground area ~ {area}"),
            Some(title) => format!("Ground area ~ {area} · height: {}", title.to_lowercase()),
        }
    }

    /// The buildings that are opaque, in a city of so many points in time.
    pub fn opaque_line(&self, times: usize) -> String {
        let (most, (growing, solid)) = (self.look().opaque, self.growing());
        let which = match times < 2 {
            true => format!("the {most} largest"),
            false if self.legend().gradient.is_diverging() => format!("the {most} that changed most"),
            false if growing >= most => format!("the {most} that grew most"),
            false if growing == 0 => format!("{solid} buildings, none grew"),
            false => {
                let grew = if growing == 1 { "the one".to_owned() } else { format!("the {growing}") };
                let others = if solid > growing { format!(", and {} more", solid - growing) } else { String::new() };
                format!("{grew} that grew{others}")
            }
        };
        format!("Solid: {which}. Faded: the rest")
    }
}

/// The least loss that gives a building a sign while nothing is compared.
pub fn notable_loss_text() -> String {
    format!("by {:.0} % of the heap or more", 100.0 * NOTABLE_LOSS)
}

/// Up to which difference from the base a building has no sign.
pub fn slight_change_text() -> String {
    format!("by less than {:.0} %, without a sign", 100.0 * SLIGHT_CHANGE)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{inner, leaf};
    use super::super::{CityConfig, Look};
    use super::*;
    use memory_city_analysis::timeline::Metric;

    #[test]
    fn shapes_are_told_with_what_they_are_measured_in() {
        let timeline = inner("Heap", vec![leaf("a", &[1, 2])]).timeline();
        let line = |area_mode, height: &str| {
            let plan =
                CityPlan::new(&timeline, &CityConfig { area_mode, metric: Metric::Bytes, ..CityConfig::default() });
            let look = Look { height: height.into(), opaque: 7, opacity: 0.25, ..Look::default() };
            let appearance = Appearance::new(&plan, &timeline, &look);
            assert_eq!(appearance.opaque_line(2), "Solid: the one that grew. Faded: the rest");
            assert_eq!(appearance.opaque_line(1), "Solid: the 7 largest. Faded: the rest");
            appearance.shape_line(&plan, &timeline)
        };
        assert_eq!(line(AreaMode::Sqrt, "base"), "Building = group of objects · ground area ~ √ bytes");
        let amount = line(AreaMode::Linear, "amount");
        assert!(amount.starts_with("Ground area ~ bytes · height: amount, bytes ("), "{amount}");
        assert_eq!(notable_loss_text(), "by 1 % of the heap or more");
        assert_eq!(slight_change_text(), "by less than 1 %, without a sign");
    }
}
