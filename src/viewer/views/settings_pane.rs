//! The settings of document and city. The tooltip of every control gives its effect and its key.

use crate::viewer::action::Action;
use crate::viewer::document::{Document, OpenDocument};
use crate::viewer::keys;
use crate::viewer::panels::numbers::metric_name;
use crate::viewer::panels::{grouping_box, theme};
use crate::viewer::settings::{MOST_NAMES, NAME_SIZES, Settings};
use crate::viewer::view::{About, Place, View, draw_with};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::timeline::{ClosureMetric, Timeline};
use memory_city_views::city::camera::Navigation;
use memory_city_views::city::height::{HeightCurve, HeightMetric};
use memory_city_views::city::{AreaMode, CityTheme, MOST_CONES, ReferenceShape, colour, height};

/// Width that the controls need, points.
const CONTENTS: f32 = 250.0;
/// Width of the pane for two of them beside each other, if names are long. In a narrower pane they stand below each other.
const BESIDE: f32 = 290.0;

/// The settings as a kind of view.
pub(super) const VIEW: &dyn View = &SettingsView;

struct SettingsView;

impl View for SettingsView {
    fn about(&self) -> About {
        About {
            id: "settings",
            title: "Settings",
            help: "Grouping, what is measured, and the looks of the city",
            place: Place::Right,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut settings: ResMut<Settings>,
    mut actions: MessageWriter<Action>,
) {
    let Some(open) = document.get() else { return };
    let mut wanted = settings.clone();
    let mut asked = Vec::new();
    theme::pane_at_least(ui, CONTENTS, |ui| show(ui, open, &mut wanted, &mut asked));
    if *settings != wanted {
        *settings = wanted;
    }
    actions.write_batch(asked);
}

/// The panel's contents.
fn show(ui: &mut egui::Ui, open: &OpenDocument, settings: &mut Settings, actions: &mut Vec<Action>) {
    ui.spacing_mut().slider_width = 120.0;
    let beside = ui.available_width() >= BESIDE;
    egui::Grid::new("settings").num_columns(2).spacing([10.0, 6.0]).show(ui, |ui| {
        label(ui, "Group by");
        if grouping_box::show(ui, &mut settings.grouping, &open.source) {
            actions.push(Action::Groupings);
        }
        ui.end_row();

        label(ui, "Measure");
        let timeline = &open.timeline;
        let chosen = settings.metric_in(timeline);
        // A grid: it does not ask again how high something is that wraps.
        egui::Grid::new("measure").num_columns(2).spacing([4.0, 2.0]).show(ui, |ui| {
            let mut shown = 0;
            for metric in timeline.metrics() {
                let choice = ui.selectable_label(chosen == metric, metric_name(timeline, metric));
                if choice.on_hover_text(Action::Metric.tooltip()).clicked() {
                    settings.set_metric(timeline, metric);
                }
                end_of_row(ui, beside, &mut shown);
            }
            if open.source.heaps().is_some() {
                to_find(ui, timeline, settings, beside, &mut shown);
            }
        });
        ui.end_row();

        label(ui, "Areas");
        ui.horizontal(|ui| {
            let tip = Action::AreaMode.tooltip();
            ui.selectable_value(&mut settings.area_mode, AreaMode::Sqrt, "square root")
                .on_hover_text(format!("{tip}\nSquare root: small groups stay visible"));
            ui.selectable_value(&mut settings.area_mode, AreaMode::Linear, "linear")
                .on_hover_text(format!("{tip}\nLinear: twice the ground is twice the amount"));
        });
        ui.end_row();

        let row = label(ui, "Child count");
        ui.horizontal(|ui| {
            tick(ui, &mut settings.prune, "Child count").on_hover_text(
                "Only the largest children of each district get a plot of their own; the rest share one",
            );
            ui.add_enabled(settings.prune, egui::Slider::new(&mut settings.child_count, 3..=500).logarithmic(true))
                .labelled_by(row)
                .on_hover_text("How many of the largest children of each district get a plot of their own");
        });
        ui.end_row();

        let finds = open.source.heaps().is_some();
        label(ui, "Colour");
        two(ui, beside, |ui| {
            let modes = colour::modes().iter().map(|m| (m.id, m.title, m.explanation));
            let mut mode = settings.colour.clone();
            choice(ui, "colour", &mut mode, modes, &Action::Colour.tooltip());
            if mode != settings.colour {
                settings.set_colour(&mode);
            }
            let chosen = settings.colour_metric.clone();
            let measures = colour::mode(&settings.colour).measures;
            if let Some(id) = metric_choice(ui, "colour metric", chosen.as_deref(), timeline, (measures, finds)) {
                settings.set_colour_metric(id.as_deref());
            }
        });
        ui.end_row();

        label(ui, "Height");
        two(ui, beside, |ui| {
            let rules = height::rules().iter().map(|r| (r.id, r.title, r.explanation));
            choice(ui, "height", &mut settings.height, rules, "What the height of a building tells");
            let chosen = settings.height_metric.clone();
            let rule = height::rule(&settings.height);
            let measures = rule.measures != HeightMetric::None;
            if let Some(id) = metric_choice(ui, "height metric", chosen.as_deref(), timeline, (measures, finds)) {
                settings.set_height_metric(id.as_deref());
            }
        });
        ui.end_row();

        if let Some(own) = height::rule(&settings.height).curve {
            label(ui, "Scale");
            ui.horizontal(|ui| {
                let now = settings.curve.unwrap_or(own);
                let shown = egui::ComboBox::from_id_salt("height scale").selected_text(now.title()).show_ui(ui, |ui| {
                    for curve in HeightCurve::ALL {
                        if ui.selectable_label(now == curve, curve.title()).on_hover_text(curve.explanation()).clicked() {
                            settings.curve = Some(curve);
                        }
                    }
                });
                shown.response.on_hover_text("How amounts become heights");
                ui.checkbox(&mut settings.cap, "cap outliers").on_hover_text(
                    "The few that are so large that all others would lie flat are drawn lower, with a break in their walls",
                );
            });
            ui.end_row();
        }

        label(ui, "Theme");
        two(ui, beside, |ui| {
            ui.horizontal(|ui| {
                ui.selectable_value(&mut settings.theme, CityTheme::Dark, "dark");
                ui.selectable_value(&mut settings.theme, CityTheme::Light, "light");
            });
            let palettes = colour::PALETTES.iter().map(|p| (p.id, p.title, p.explanation));
            choice(ui, "palette", &mut settings.palette, palettes, "The colours of all modes");
        });
        ui.end_row();

        if timeline.times() > 1 {
            label(ui, "Compare");
            ui.vertical(|ui| compare(ui, timeline, settings, actions));
            ui.end_row();
            label(ui, "Times");
            ui.horizontal(|ui| {
                for (count, text) in [(0, "one"), (4, "4"), (9, "9"), (16, "16")] {
                    ui.selectable_value(&mut settings.multiples, count, text).on_hover_text(Action::Multiples.tooltip());
                }
                ui.label(RichText::new("side by side").color(theme::QUIET).size(12.0));
            });
            ui.end_row();
        }

        let row = label(ui, "Solid");
        ui.add(egui::Slider::new(&mut settings.solid_count, 0..=200).logarithmic(true).smallest_positive(1.0))
            .labelled_by(row)
            .on_hover_text("How many buildings are opaque: those that grow most, or change most where colours tell less too");
        ui.end_row();

        let row = label(ui, "Others");
        let mut percent = settings.opacity * 100.0;
        if ui
            .add(egui::Slider::new(&mut percent, 0.0..=100.0).step_by(5.0).max_decimals(0).suffix(" %"))
            .labelled_by(row)
            .on_hover_text("Opacity of all other buildings; at 0 only their outlines are left")
            .changed()
        {
            settings.opacity = percent / 100.0;
        }
        ui.end_row();

        label(ui, "Cones");
        ui.horizontal(|ui| {
            tick(ui, &mut settings.show_pointers, "Cones").on_hover_text(Action::Pointers.tooltip());
            ui.add_enabled_ui(settings.show_pointers, |ui| {
                ui.checkbox(&mut settings.show_incoming, RichText::new("in").color(theme::INCOMING))
                    .on_hover_text("Purple: these keep the selected objects alive");
                ui.checkbox(&mut settings.show_outgoing, RichText::new("out").color(theme::OUTGOING))
                    .on_hover_text("Green: the selected objects keep these alive");
                let most = egui::DragValue::new(&mut settings.reference_count).range(1..=MOST_CONES).speed(0.3);
                ui.add(most.prefix("most ")).on_hover_text(
                    "How many in each direction, those with most objects; the top of the city says how many are not shown",
                );
            });
        });
        ui.end_row();
        label(ui, "");
        ui.add_enabled_ui(settings.show_pointers, |ui| {
            ui.horizontal(|ui| {
                for (shape, title, tip) in [
                    (ReferenceShape::Arcs, "arcs", "Arcs over the roofs, which cut through no building"),
                    (ReferenceShape::Straight, "straight", "Straight cones, as in the paper on memory cities"),
                    (ReferenceShape::Bundled, "bundled", "Arcs to one district keep together on their way"),
                ] {
                    ui.selectable_value(&mut settings.reference_shape, shape, title).on_hover_text(tip);
                }
            });
        });
        ui.end_row();

        let row = label(ui, "Names");
        ui.horizontal(|ui| {
            tick(ui, &mut settings.labels, "Names").on_hover_text(Action::Labels.tooltip());
            ui.spacing_mut().slider_width = 62.0;
            ui.add_enabled_ui(settings.labels, |ui| {
                name_count(ui, &mut settings.name_count, row);
                let mut percent = settings.name_size * 100.0;
                let sizes = NAME_SIZES.start() * 100.0..=NAME_SIZES.end() * 100.0;
                let size = egui::DragValue::new(&mut percent).range(sizes).speed(1.0).suffix(" %").max_decimals(0);
                if ui.add(size).on_hover_text("Size of the names: drag, or click and type").changed() {
                    settings.name_size = percent / 100.0;
                }
            });
        });
        ui.end_row();

        label(ui, "");
        ui.add_enabled(settings.labels, egui::Checkbox::new(&mut settings.fold_libraries, "fold libraries")).on_hover_text(format!(
            "Only your own groups have names; those of libraries are counted with their districts (+n). What is selected, marked, \
             found or connected keeps its name. Which packages are your own: {}",
            keys::key(Action::Groupings)
        ));
        ui.end_row();

        label(ui, "Show");
        ui.horizontal(|ui| {
            ui.checkbox(&mut settings.shadows, "shadows").on_hover_text("Shadows on the ground; off is faster");
        });
        ui.end_row();

        if open.source.is_recorded() {
            label(ui, "Times");
            ui.checkbox(&mut settings.gc_starts, "GC starts too")
                .on_hover_text("Also show the heap at the start of every GC, before garbage was collected");
        } else {
            label(ui, "Garbage");
            let choice = egui::Checkbox::new(&mut settings.include_unreachable, "show unreachable");
            ui.add_enabled(open.source.can_regroup(), choice)
                .on_hover_text(
                    "Also show objects in the dumps that no GC root reaches. They are counted apart otherwise",
                )
                .on_disabled_hover_text(
                    "The input has trees, not objects: garbage is counted as its writer counted it",
                );
        }
        ui.end_row();

        let row = label(ui, "Step takes");
        ui.add(egui::Slider::new(&mut settings.animation, 0.0..=2.0).step_by(0.05).suffix(" s"))
            .labelled_by(row)
            .on_hover_text("How long a time step is animated; 0 jumps");
        ui.end_row();
    });
    egui::Grid::new("window settings").num_columns(2).spacing([10.0, 6.0]).show(ui, |ui| {
        label(ui, "Dragging");
        ui.horizontal(|ui| {
            for navigation in Navigation::ALL {
                ui.selectable_value(&mut settings.navigation, navigation, navigation.title()).on_hover_text(format!(
                    "{}  [{}]",
                    navigation.explanation(),
                    keys::key(Action::Navigation)
                ));
            }
        });
        ui.end_row();

        label(ui, "Motion");
        ui.horizontal(|ui| {
            ui.checkbox(&mut settings.reduced_motion, "reduced")
                .on_hover_text("Views and time steps change at once: nothing flies or slides");
            ui.checkbox(&mut settings.minimap, "minimap")
                .on_hover_text("The whole city, small, in a corner while only a part of it is in view");
            ui.checkbox(&mut settings.hints, "hints")
                .on_hover_text("A lamp beside the tabs where a view knows what to look at next");
        });
        ui.end_row();

        label(ui, "Text size");
        ui.horizontal(|ui| {
            let now = settings.ui_scale.map_or("own".to_owned(), |scale| format!("{:.0} %", 100.0 * scale));
            for (text, name, action) in [
                ("−", "Smaller text", Action::Smaller),
                ("+", "Larger text", Action::Larger),
                ("auto", "Text by the size of the screen", Action::OwnScale),
            ] {
                let button = ui.button(text).on_hover_text(action.tooltip());
                theme::named(&button, name);
                if button.clicked() {
                    actions.push(action);
                }
            }
            ui.label(RichText::new(now).color(theme::QUIET).size(12.0));
        });
        ui.end_row();
    });
    ui.horizontal_wrapped(|ui| {
        for (text, action) in [
            ("Reset view", Action::Reset),
            ("Bird's eye", Action::BirdsEye),
            ("Plan", Action::PlanView),
            ("Save…", Action::Save),
            ("Editor…", Action::NameEditor),
            ("CSV…", Action::ExportCsv),
        ] {
            if ui.button(text).on_hover_text(action.tooltip()).clicked() {
                actions.push(action);
            }
        }
    });
}

/// The base that all times are compared with; controls to swap it, and to divide the ground for the times between.
fn compare(ui: &mut egui::Ui, timeline: &Timeline, settings: &mut Settings, actions: &mut Vec<Action>) {
    let times = timeline.times();
    let name = |time: usize| {
        let label = timeline.points().get(time).map_or("", |point| point.label.as_str());
        format!("{}/{times} {}", time + 1, theme::shortened(label, 22))
    };
    const NOTHING: &str = "with nothing";
    let now = settings.base.map_or_else(|| NOTHING.to_owned(), name);
    let mut wanted = settings.base;
    let rows = ui.spacing().interact_size.y;
    let shown = egui::ComboBox::from_id_salt("base").width(120.0).selected_text(now).show_ui(ui, |ui| {
        ui.selectable_value(&mut wanted, None, NOTHING);
        egui::ScrollArea::vertical().max_height(260.0).show_rows(ui, rows, times, |ui, seen| {
            for time in seen {
                ui.selectable_value(&mut wanted, Some(time), name(time));
            }
        });
    });
    shown.response.on_hover_text(Action::Compare.tooltip());
    if wanted != settings.base {
        settings.compare_with(wanted);
    }
    ui.horizontal(|ui| {
        ui.add_enabled_ui(settings.base.is_some(), |ui| {
            if ui.button("swap").on_hover_text(Action::SwapBase.tooltip()).clicked() {
                actions.push(Action::SwapBase);
            }
        });
        let divided = settings.window.is_some();
        ui.add_enabled_ui(divided || settings.base.is_some(), |ui| {
            let text = if divided { "for all times" } else { "re-layout" };
            if ui.button(text).on_hover_text(Action::ReLayout.tooltip()).clicked() {
                actions.push(Action::ReLayout);
            }
        });
    });
}

/// Metrics that the trees do not have yet: a click has them found.
fn to_find(ui: &mut egui::Ui, timeline: &Timeline, settings: &mut Settings, beside: bool, shown: &mut usize) {
    // Areas of means would add up to nothing.
    for metric in ClosureMetric::ALL.into_iter().filter(|metric| *metric != ClosureMetric::Age) {
        let info = metric.info();
        if timeline.metric(&info.id).is_some() {
            continue;
        }
        let asked = settings.closures.contains(&metric);
        let text = RichText::new(info.title.to_lowercase() + if asked { " …" } else { "" }).color(theme::QUIET);
        let (title, key) = (&info.title, keys::key(Action::Escape));
        let tip = format!(
            "{title}: {}. Found in the background for all times, then measured; {key} stops it",
            metric.meaning()
        );
        let wished = settings.metric_id.as_deref() == Some(&*info.id);
        if ui.selectable_label(asked && wished, text).on_hover_text(tip).clicked() {
            settings.set_closure(metric);
        }
        end_of_row(ui, beside, shown);
    }
}

/// Controls that belong together.
fn two(ui: &mut egui::Ui, beside: bool, controls: impl FnOnce(&mut egui::Ui)) {
    if beside {
        ui.horizontal(controls);
    } else {
        ui.vertical(controls);
    }
}

/// Ends the row of a grid after each entry, or every other one.
fn end_of_row(ui: &mut egui::Ui, beside: bool, shown: &mut usize) {
    *shown += 1;
    if !beside || shown.is_multiple_of(2) {
        ui.end_row();
    }
}

/// A box to choose the metric of colours or heights: that of areas, another one, or one that can be computed. Returns the choice.
#[allow(clippy::option_option)] // nothing was chosen; the metric of the areas was
fn metric_choice(
    ui: &mut egui::Ui,
    salt: &str,
    chosen: Option<&str>,
    timeline: &Timeline,
    (measures, finds): (bool, bool),
) -> Option<Option<String>> {
    const AS_AREAS: &str = "as areas";
    let known: Vec<(String, String, bool)> = timeline
        .metrics()
        .map(|metric| (timeline.metric_info(metric).id.to_string(), metric_name(timeline, metric), true))
        .collect();
    let lacks = |id: &str| known.iter().all(|(other, ..)| other != id);
    let infos = ClosureMetric::ALL.into_iter().map(ClosureMetric::info).filter(|info| finds && lacks(&info.id));
    let to_find: Vec<_> = infos.map(|info| (info.id.to_string(), info.title.to_lowercase(), false)).collect();
    let all = || known.iter().chain(&to_find);
    let title = chosen.map_or(AS_AREAS, |id| all().find(|(other, ..)| other == id).map_or(id, |found| &found.1));
    let mut picked = None;
    ui.add_enabled_ui(measures, |ui| {
        let shown = egui::ComboBox::from_id_salt(salt).width(104.0).selected_text(title).show_ui(ui, |ui| {
            let tip = "What areas are measured in";
            if ui.selectable_label(chosen.is_none(), AS_AREAS).on_hover_text(tip).clicked() {
                picked = Some(None);
            }
            for (id, name, there) in all() {
                let mark = if *there { "" } else { " …" };
                let label = ui.selectable_label(chosen == Some(id.as_str()), format!("{name}{mark}"));
                let key = keys::key(Action::Escape);
                let tip = || format!("Found in the background for all times, then shown; {key} stops it");
                let label = if *there { label } else { label.on_hover_text(tip()) };
                if label.clicked() {
                    picked = Some(Some(id.clone()));
                }
            }
        });
        shown
            .response
            .on_hover_text("In what it is measured; areas stay as they are")
            .on_disabled_hover_text("This tells of no metric: choose another one at the left");
    });
    picked
}

/// Number of names. At the right end of the slider it follows the room in the picture.
fn name_count(ui: &mut egui::Ui, chosen: &mut Option<usize>, row: egui::Id) {
    const AUTO: usize = MOST_NAMES + 1;
    let mut count = chosen.unwrap_or(AUTO);
    let slider = egui::Slider::new(&mut count, 0..=AUTO).logarithmic(true).smallest_positive(4.0);
    let slider = slider
        .custom_formatter(|n, _| if n as usize > MOST_NAMES { "auto".to_owned() } else { format!("{n:.0}") })
        .custom_parser(|text| match text.trim() {
            "auto" => Some(AUTO as f64),
            text => text.parse().ok(),
        });
    let slid = ui.add(slider).labelled_by(row).on_hover_text(
        "How many names there are at most: the largest, what grows most, your own packages first; +n counts the others. \
         auto, at the right end: more of them in a larger picture",
    );
    if slid.changed() {
        *chosen = Some(count).filter(|n| *n <= MOST_NAMES);
    }
}

/// A box to tick beside the name of its row.
fn tick(ui: &mut egui::Ui, on: &mut bool, name: &str) -> egui::Response {
    let ticked = ui.checkbox(on, "");
    let info = || egui::WidgetInfo::selected(egui::WidgetType::Checkbox, ticked.enabled(), *on, name);
    ticked.widget_info(info);
    ticked
}

/// The name of a row, which is that of its control too if this has none.
fn label(ui: &mut egui::Ui, text: &str) -> egui::Id {
    ui.label(RichText::new(text).color(theme::QUIET).size(12.0)).id
}

/// A box to choose one of some, each with id, title and explanation.
fn choice(
    ui: &mut egui::Ui,
    salt: &str,
    chosen: &mut String,
    of: impl Iterator<Item = (&'static str, &'static str, &'static str)> + Clone,
    tip: &str,
) {
    let title = of.clone().find(|o| o.0 == chosen.as_str()).map_or("", |o| o.1);
    let shown = egui::ComboBox::from_id_salt(salt).selected_text(title).show_ui(ui, |ui| {
        for (id, title, explanation) in of {
            ui.selectable_value(chosen, id.to_owned(), title).on_hover_text(explanation);
        }
    });
    shown.response.on_hover_text(tip);
}
