//! The settings of trend charts: of all, and of each.

use super::charts::ChartMeasure;
use super::sizes::FoundSizes;
use super::{Drawing, TrendCharts};
use crate::viewer::clock::Clock;
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::{chosen, theme};
use crate::viewer::trend_settings::{MOST_LEFT_OUT, SIZES_AT, TrendSettings};
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::tabular::count_text;
use memory_city_analysis::timeline::{ClosureMetric, GcNoun, NodeId, Timeline};
use memory_city_analysis::trends::{Thinning, TrendOrder};

/// Name and meaning of each order.
const ORDERS: [(TrendOrder, &str, &str); 5] = [
    (TrendOrder::Growth, "growth", "Those that grow most come first"),
    (TrendOrder::RelativeGrowth, "relative growth", "Those that grow most, compared with what they were, come first"),
    (TrendOrder::Start, "start", "Those that are largest at the beginning come first"),
    (TrendOrder::End, "end", "Those that are largest at the end come first"),
    (TrendOrder::Average, "average", "Those that are largest on average come first"),
];

/// The chosen window and the zoom, which all charts share, and which points in time they have.
pub fn window(
    ui: &mut egui::Ui,
    trends: &mut TrendCharts,
    set: &mut TrendSettings,
    (timeline, noun): (&Timeline, GcNoun),
    clock: &mut Clock,
) {
    ui.horizontal_wrapped(|ui| {
        match clock.chosen() {
            Some((from, to)) => {
                ui.label(RichText::new(format!("Window {} to {}", from + 1, to + 1)).strong()).on_hover_text(format!(
                    "{} to {}; groups are ranked by what they do in it. Drag its edges to change it",
                    timeline.points()[from].label,
                    timeline.points()[to].label
                ));
                chosen::buttons(ui, clock);
            }
            None => {
                let text = match ui.available_width() > 780.0 {
                    true => {
                        "Drag over a chart to choose a window of time, click to go to a time, Ctrl and wheel to zoom"
                    }
                    false => "Drag: window. Click: time. Ctrl and wheel: zoom",
                };
                ui.label(RichText::new(text).color(theme::QUIET));
            }
        }
        if trends.zoom.is_some() && ui.small_button("Whole run").on_hover_text("Zooms out").clicked() {
            trends.zoom = None;
        }
        ui.separator();
        thinning(ui, set);
        let (charted, all) = (trends.charted.times().len(), timeline.times());
        if charted > 0 && charted < all {
            let text = format!("{} of {} times", count_text(charted as u64), count_text(all as u64));
            let help = format!("{} are left out: what they hold is in no chart", count_text((all - charted) as u64));
            ui.label(RichText::new(text).color(theme::QUIET)).on_hover_text(help);
        }
        ui.separator();
        let help = match noun {
            GcNoun::Collections => {
                "What each garbage collection reclaimed and left, how long it took and why, below the charts"
            }
            GcNoun::Pauses => {
                "How long each pause for garbage collection took and why, and what was in use then, below the charts"
            }
        };
        if ui.selectable_label(set.strip, noun.title()).on_hover_text(help).clicked() {
            set.strip = !set.strip;
        }
    });
}

/// Choice of the charted points in time.
fn thinning(ui: &mut egui::Ui, set: &mut TrendSettings) {
    let text = match set.thinning {
        Thinning::All => "every time",
        Thinning::Every(_) => "every n-th",
        Thinning::Seconds(_) => "seconds apart",
    };
    let choices = [
        (Thinning::All, "every time", "All points in time are charted"),
        (Thinning::Every(10), "every n-th", "Every n-th point in time (of a trace: collection), and the last"),
        (Thinning::Seconds(1), "seconds apart", "At most one point in so many seconds of the program, and the last"),
    ];
    let shown = egui::ComboBox::from_id_salt("thinning").width(96.0).selected_text(text).show_ui(ui, |ui| {
        for (rule, name, help) in choices {
            let is = std::mem::discriminant(&rule) == std::mem::discriminant(&set.thinning);
            if ui.selectable_label(is, name).on_hover_text(help).clicked() && !is {
                set.thinning = rule;
            }
        }
    });
    shown.response.on_hover_text("Which points in time the charts have. The first and the last always");
    match &mut set.thinning {
        Thinning::All => {}
        Thinning::Every(n) => {
            let range = 2..=MOST_LEFT_OUT as usize;
            ui.add(egui::DragValue::new(n).range(range).prefix("n = ").speed(0.2));
        }
        Thinning::Seconds(seconds) => {
            ui.add(egui::DragValue::new(seconds).range(1..=MOST_LEFT_OUT).suffix(" s").speed(0.2));
        }
    }
}

/// Subject and settings of a chart.
pub(super) fn of_chart(
    ui: &mut egui::Ui,
    trends: &mut TrendCharts,
    number: usize,
    set: &mut TrendSettings,
    drawing: &Drawing<'_>,
) {
    let timeline = drawing.timeline;
    let TrendCharts { charts, sizes, .. } = trends;
    let chart = &mut charts[number];
    let parent = chart.parent(timeline);
    ui.horizontal_wrapped(|ui| {
        let title = match parent {
            NodeId::ROOT => timeline.name(NodeId::ROOT).to_owned(),
            node => format!("› {}", theme::shortened(&theme::brief(&timeline.display_name(node)), 48)),
        };
        ui.label(RichText::new(title).strong()).on_hover_text(theme::told_path(timeline, parent));
        let measure = chart.measure(timeline, drawing.settings, drawing.finds);
        let (is_shared, stacked) = (measure.is_shared(timeline), chart.drawn().is_none_or(|drawn| drawn.stacked));
        if let Some(id) = measures(ui, measure, drawing) {
            chart.rules.metric = Some(id);
        }
        if let ChartMeasure::Found(metric) = measure {
            sizes_at(ui, set, sizes.of_mut(metric, drawing.deep), drawing);
        }
        let rules = &mut chart.rules;
        if !is_shared {
            for (is, name, help) in [
                (true, "areas", "One on top of the other: sizes that add up"),
                (false, "lines", "Beside each other: sizes that share objects, and what is small"),
            ] {
                if ui.selectable_label(stacked == is, name).on_hover_text(help).clicked() {
                    rules.stacked = Some(is);
                }
            }
        }
        ui.label(RichText::new("first").color(theme::QUIET));
        let order = ORDERS.iter().find(|(order, ..)| *order == rules.order).map_or("", |(_, name, _)| name);
        egui::ComboBox::from_id_salt("order").selected_text(order).show_ui(ui, |ui| {
            for (order, name, help) in ORDERS {
                if ui.selectable_label(rules.order == order, name).on_hover_text(help).clicked() {
                    rules.order = order;
                }
            }
        });
        ui.add(egui::DragValue::new(&mut rules.top).range(1..=9).prefix("top "))
            .on_hover_text("How many groups are shown by themselves");
        if !is_shared {
            ui.checkbox(&mut rules.rest, "Other").on_hover_text("All further groups as one");
        }
    });
}

/// The choice of a chart's metric: first those of the document, then those that can be computed. Returns the id of the choice.
fn measures(ui: &mut egui::Ui, measure: ChartMeasure, drawing: &Drawing<'_>) -> Option<String> {
    let (timeline, mut picked) = (drawing.timeline, None);
    let shown = measure.info(timeline);
    let text = shown.title.to_lowercase();
    egui::ComboBox::from_id_salt("metric").selected_text(text).show_ui(ui, |ui| {
        for one in timeline.metrics() {
            let info = timeline.metric_info(one);
            if ui.selectable_label(info.id == shown.id, info.title.to_lowercase()).clicked() {
                picked = Some(info.id.to_string());
            }
        }
        for metric in ClosureMetric::CLOSURES {
            let info = metric.info();
            if timeline.metric(&info.id).is_some() {
                continue;
            }
            let label = egui::Button::selectable(info.id == shown.id, info.title.to_lowercase());
            let response = ui.add_enabled(drawing.finds, label);
            let why = "The input has trees, not objects: nothing says what refers to what";
            let help = format!("{}: {}. Found in the background at some points in time", info.title, metric.meaning());
            if response.on_hover_text(help).on_disabled_hover_text(why).clicked() {
                picked = Some(info.id.to_string());
            }
        }
    });
    picked
}

/// Number of times with sizes, and how many of these are known.
fn sizes_at(ui: &mut egui::Ui, set: &mut TrendSettings, found: &mut FoundSizes, drawing: &Drawing<'_>) {
    let state = found.state();
    let all = drawing.timeline.times();
    let (known, wanted, error) = (state.known, state.wanted, state.error.map(str::to_owned));
    let (is_stopped, is_running, without) = (state.stopped, state.job.is_some(), state.without);
    let help = "At how many points in time deep and retained sizes are found: evenly spread, the first and the last, and both ends of \
        the chosen window. Each is a look at the whole heap";
    ui.add(egui::DragValue::new(&mut set.sizes_at).range(SIZES_AT).prefix("at ").suffix(" times").speed(0.1))
        .on_hover_text(help);
    let text = format!("{} of {} times", count_text(known as u64), count_text(all as u64));
    let mut said = format!("Found at {} of {} points in time.", count_text(known as u64), count_text(all as u64));
    if wanted > known + without {
        said += &format!(" {} are still to be found.", count_text((wanted - known - without) as u64));
    }
    if without > 0 {
        said += &format!(" At {} the input holds no references yet.", count_text(without as u64));
    }
    if set.sizes_at > wanted && wanted > 0 && wanted < all {
        said += " More would take too much memory.";
    }
    ui.label(RichText::new(text).color(theme::QUIET)).on_hover_text(said);
    if drawing.still {
        return;
    }
    if is_running {
        spinner(ui, 14.0);
        if ui.small_button("Stop").on_hover_text("What was found stays").clicked() {
            found.stop();
        }
    } else if is_stopped || error.is_some() {
        if let Some(error) = &error {
            ui.label(RichText::new("⚠").color(theme::WARNING)).on_hover_text(error);
        }
        let help = "Finds what is still to be found";
        if ui.small_button("Go on").on_hover_text(help).clicked() {
            found.go_on();
        }
    }
}

/// Placeholder of a chart of sizes.
pub(super) fn awaited(ui: &mut egui::Ui, found: &FoundSizes, metric: ClosureMetric) {
    let state = found.state();
    let what = metric.info().title.to_lowercase();
    let mut text = match (state.error, state.stopped, &state.job) {
        (Some(error), ..) => {
            ui.add_space(6.0);
            ui.add(egui::Label::new(RichText::new(error).color(theme::WARNING)).wrap());
            return;
        }
        (None, true, _) => format!("Finding {what} was stopped before the first was there."),
        (None, false, Some(job)) => {
            let share = if job.total > 0 { job.done as f32 / job.total as f32 } else { 0.0 };
            ui.add_space(6.0);
            ui.label(RichText::new(format!("Finding {what}: {}", job.stage)).color(theme::QUIET));
            ui.add(egui::ProgressBar::new(share.clamp(0.0, 1.0)).desired_width(ui.available_width().min(360.0)));
            return;
        }
        (None, false, None) => format!("{what} are found when all has been read."),
    };
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    super::quiet(ui, &text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::TimePoint;

    #[test]
    fn the_strip_is_called_by_what_is_told() {
        let timeline = Timeline::from_trees(vec![TimePoint::default(); 2], &vec![MemoryTree::new(); 2]);
        for (noun, other) in [(GcNoun::Collections, "Pauses"), (GcNoun::Pauses, "Collections")] {
            let texts = theme::texts_of(|ui| {
                let (trends, set) = (&mut TrendCharts::default(), &mut TrendSettings::default());
                window(ui, trends, set, (&timeline, noun), &mut Clock::default());
            });
            let has = |title: &str| texts.iter().any(|text| text == title);
            assert!(has(noun.title()) && !has(other), "{texts:?}");
        }
    }
}
