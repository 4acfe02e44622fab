//! The bar above the charts of the overview: the choice of charts, suspicious windows, thresholds.

use super::Overview;
use crate::viewer::clock::Clock;
use crate::viewer::panels::{chosen, theme};
use crate::viewer::run::OpenRun;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::analyses::LeakVerdict;
use memory_city_analysis::timeline::{GcNoun, Timeline};
use memory_city_analysis::windows::WindowRules;
use memory_city_views::overview::RunView;

/// The controls.
pub fn show(
    ui: &mut egui::Ui,
    overview: &mut Overview,
    run: &mut OpenRun,
    clock: &mut Clock,
    timeline: &Timeline,
    verdict: Option<&LeakVerdict>,
) {
    let noun = run.facts().map_or(GcNoun::default(), |facts| facts.noun());
    let details = format!("Each {}: before and after, by space, how long it takes, allocation, survival", noun.one());
    ui.horizontal_wrapped(|ui| {
        for (view, name, help) in [
            (RunView::Overview, "Overview", "Memory after collections, and the time they take: where to look"),
            (RunView::Details, "Details", details.as_str()),
        ] {
            if ui.selectable_label(overview.view == view, name).on_hover_text(help).clicked() {
                overview.view = view;
            }
        }
        ui.separator();
        // What the card says grows is in no window's rules.
        let grows = verdict.filter(|verdict| verdict.grows());
        if let Some(verdict) = grows.filter(|_| run.suspects().is_empty()) {
            ui.label(RichText::new(format!("⬆ {}", verdict.kind.tag())).color(theme::GROWTH))
                .on_hover_text(format!("{}. No window of time stands out", verdict.headline));
        } else if run.suspects().is_empty() {
            ui.label(RichText::new("No window is suspicious").color(theme::QUIET))
                .on_hover_text("No window of time is beyond the thresholds for growing memory, collecting, or churn");
        }
        for suspect in run.suspects() {
            let title = RichText::new(format!("⚠ {}", suspect.kind.title())).color(theme::suspect(suspect.kind));
            let help = format!(
                "{}\n{} to {}. Click to choose this window in all views",
                suspect.text,
                timeline.points()[suspect.from].label,
                timeline.points()[suspect.to].label
            );
            let is_chosen = clock.chosen() == Some((suspect.from, suspect.to));
            if ui.add(egui::Button::selectable(is_chosen, title)).on_hover_text(help).clicked() {
                clock.set_range((!is_chosen).then_some((suspect.from, suspect.to)));
            }
        }
        ui.menu_button("Thresholds", |ui| {
            let mut rules = run.rules();
            thresholds(ui, &mut rules, noun);
            if rules != run.rules() {
                run.set_rules(rules, timeline);
            }
        })
        .response
        .on_hover_text("From where on a window is suspicious");
        if clock.chosen().is_some() {
            ui.separator();
            chosen::buttons(ui, clock);
        }
        if overview.zoom.is_some() && ui.small_button("Whole run").on_hover_text("Zooms out").clicked() {
            overview.zoom = None;
        }
    });
}

fn thresholds(ui: &mut egui::Ui, rules: &mut WindowRules, noun: GcNoun) {
    let (title, many) = (noun.title(), noun.many());
    egui::Grid::new("thresholds").num_columns(2).show(ui, |ui| {
        let percent = |ui: &mut egui::Ui, name: &str, help: &str, value: &mut u64, most: u64| {
            ui.label(name).on_hover_text(help);
            ui.add(egui::DragValue::new(value).range(0..=most).suffix(" %"));
            ui.end_row();
        };
        let overhead = format!("Share of the time that {many} take");
        percent(ui, "GC overhead from", &overhead, &mut rules.overhead_percent, 100);
        percent(ui, "Churn from", "Of the average of the run", &mut rules.churn_percent, 100_000);
        percent(ui, "Growth: cover at least", &format!("Of all {many}"), &mut rules.least_cover_percent, 100);
        percent(ui, "Growth: ends below", "Of its largest", &mut rules.kept_percent, 100);
        ui.label("Growth: at least").on_hover_text("Bytes by which memory grows");
        ui.add(egui::DragValue::new(&mut rules.least_growth).speed(100_000.0).suffix(" B"));
        ui.end_row();
        ui.label(format!("{title} at least")).on_hover_text("In windows of overhead and churn");
        ui.add(egui::DragValue::new(&mut rules.least_gcs).range(1..=1000));
        ui.end_row();
        ui.label(format!("{title} at most"));
        ui.add(egui::DragValue::new(&mut rules.most_gcs).range(1..=100_000));
        ui.end_row();
    });
    if ui.button("Usual thresholds").clicked() {
        *rules = WindowRules::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_count_what_is_told() {
        for (noun, other) in [(GcNoun::Collections, "Pauses"), (GcNoun::Pauses, "Collections")] {
            let texts = theme::texts_of(|ui| thresholds(ui, &mut WindowRules::default(), noun));
            for bound in ["least", "most"] {
                assert!(texts.contains(&format!("{} at {bound}", noun.title())), "{texts:?}");
            }
            assert!(!texts.iter().any(|text| text.contains(other)), "{texts:?}");
        }
    }
}
