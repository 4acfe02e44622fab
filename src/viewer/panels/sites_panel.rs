//! The panel of allocation sites: places in the code that allocated the class of the selection, by samples, as shares with their error. A
//! click opens the line.

use super::theme;
use crate::viewer::editor::{self, CodePlace};
use bevy_egui::egui::{self, FontId, RichText};
use memory_city_analysis::analyses::SampledShares;
use memory_city_analysis::tabular::{count_text, several};

/// Places that are listed; the others are in the analysis.
const MOST: usize = 5;

/// Draws the list. Returns the place that is to be opened in an editor.
pub fn show(ui: &mut egui::Ui, shares: &SampledShares) -> Option<CodePlace> {
    let mut opened = None;
    theme::heading(ui, if shares.is_exact { "ALLOCATED AT" } else { "ALLOCATED AT  (samples, ± 3 sigma)" });
    let quiet = |text: String| RichText::new(text).size(11.0).color(theme::QUIET);
    if shares.places.is_empty() {
        ui.label(quiet(format!(
            "No living sample of {}: where it comes from is not known",
            theme::brief(&shares.class)
        )));
        return None;
    }
    for of in shares.places.iter().take(MOST) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            let error = (!shares.is_exact).then(|| format!(" ± {:.0} %", (100.0 * of.error).max(1.0)));
            let share = format!("{:.0} %{}", 100.0 * of.share, error.unwrap_or_default());
            ui.label(RichText::new(share).size(12.0).monospace());
            // Left out in the middle, whatever there is room for: without its last digit a line is another one.
            let (font, room) = (FontId::proportional(12.0), ui.available_width());
            let name = theme::fitting(ui.painter(), &theme::brief(&of.place), &font, room);
            match CodePlace::first_in(&of.place) {
                Some(place) => {
                    if editor::link(ui, RichText::new(name).size(12.0), &of.place, &place) {
                        opened = Some(place);
                    }
                }
                None => drop(ui.label(RichText::new(name).size(12.0)).on_hover_text(&of.place)),
            }
        });
    }
    let more = shares.places.len().saturating_sub(MOST);
    let rest = match more {
        0 => String::new(),
        more => format!("{}; ", several(more as u64, "more place", "more places")),
    };
    let kind = "of the bytes that living samples stand for, whatever the walk counted";
    ui.label(quiet(format!("{rest}{} samples", count_text(shares.samples)))).on_hover_text(format!("Shares {kind}"));
    ui.add_space(4.0);
    opened
}
