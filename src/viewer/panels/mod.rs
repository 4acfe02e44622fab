//! The panels over the city (egui): one file each. They read the state of the viewer and write wishes
//! ([`Action`]s, a time to go to, a selection, settings); they compute nothing about heaps.

pub mod details;
mod grouping_box;
pub mod growth_list;
pub mod help;
pub mod labels;
pub mod legend;
pub mod live_panel;
pub mod settings_panel;
pub mod status;
pub mod theme;
pub mod time_bar;
pub mod tooltip;

use super::action::Action;
use super::clock::Clock;
use super::fly::CameraRig;
use super::live::Listening;
use super::loading::{Loading, OpenRequest};
use super::notices::Notices;
use super::picking::Pointer;
use super::present::ConeCount;
use super::selection::{References, Selection};
use super::settings::Settings;
use super::shown::{City, Shown};
use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui};
use memory_city_analysis::analyses;
use memory_city_analysis::timeline::{Amount, Metric, NodeId, TimePoint};
use memory_city_views::city::{Appearance, HitTarget, PlotState, Standing, colour};

/// Which panels are on.
#[derive(Resource, Clone, Copy, Debug)]
pub struct PanelState {
    /// The panels at all; the legend stays.
    pub visible: bool,
    /// The cheat sheet.
    pub help: bool,
    /// The settings part of the right panel.
    pub settings: bool,
    /// A picture is being made without a window: no panel that is only for using.
    pub still: bool,
    /// Nothing at all over the city, for measuring.
    pub nothing: bool,
}

impl Default for PanelState {
    fn default() -> Self {
        PanelState { visible: true, help: false, settings: true, still: false, nothing: false }
    }
}

/// What a panel may read and write.
pub struct Tools<'a> {
    /// The city on screen.
    pub city: &'a City,
    /// The shown time.
    pub clock: &'a Clock,
    /// The references of the selection.
    pub references: &'a References,
    /// How many cones are drawn, and how many are not.
    pub cones: ConeCount,
    /// The settings.
    pub settings: &'a mut Settings,
    /// The selection.
    pub selection: &'a mut Selection,
    /// Wishes.
    pub actions: &'a mut Vec<Action>,
    /// What listens.
    pub listening: &'a mut Listening,
    /// A time to go to.
    pub go_to: &'a mut Option<usize>,
}

/// The states on screen this moment, between two points in time.
pub struct NowState<'a> {
    /// What states mean.
    pub appearance: &'a Appearance,
    /// By plot, at the start of the step.
    pub before: &'a [PlotState],
    /// By plot, at its end.
    pub after: &'a [PlotState],
    /// Progress of the step.
    pub mix: f32,
}

impl NowState<'_> {
    /// What stands on a plot now.
    pub fn standing(&self, plot: usize) -> Standing {
        let at = |states: &[PlotState]| states.get(plot).map(|&s| self.appearance.standing(s)).unwrap_or_default();
        at(self.before).lerp(at(self.after), self.mix)
    }
}

/// Panels.
pub struct PanelsPlugin;

impl Plugin for PanelsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(EguiPlugin { bindless_mode_array_size: None })
            .init_resource::<PanelState>()
            .add_systems(EguiPrimaryContextPass, show_panels)
            .add_systems(Update, panel_actions);
    }
}

/// The actions that switch panels.
fn panel_actions(
    mut actions: MessageReader<Action>,
    mut panels: ResMut<PanelState>,
    mut settings: ResMut<Settings>,
    mut selection: ResMut<Selection>,
    mut loading: ResMut<Loading>,
) {
    for action in actions.read() {
        match action {
            Action::Help => panels.help = !panels.help,
            Action::Panels => panels.visible = !panels.visible,
            Action::Pointers => settings.show_pointers = !settings.show_pointers,
            Action::Colour => {
                let modes = colour::modes();
                let at = modes.iter().position(|m| m.id == settings.colour).unwrap_or(0);
                settings.colour = modes[(at + 1) % modes.len()].id.to_owned();
            }
            Action::Labels => settings.labels = !settings.labels,
            Action::Metric => {
                settings.metric = match settings.metric {
                    Metric::Objects => Metric::Bytes,
                    Metric::Bytes | Metric::Column(_) => Metric::Objects,
                }
            }
            Action::AreaMode => {
                use memory_city_views::city::AreaMode::{Linear, Sqrt};
                settings.area_mode = match settings.area_mode {
                    Linear => Sqrt,
                    Sqrt => Linear,
                }
            }
            // Esc takes away what is on top, one thing at a time.
            Action::Escape => {
                if panels.help {
                    panels.help = false;
                } else if !loading.escape() {
                    selection.clear();
                }
            }
            _ => {}
        }
    }
}

#[derive(bevy::ecs::system::SystemParam)]
struct World<'w, 's> {
    shown: ResMut<'w, Shown>,
    clock: ResMut<'w, Clock>,
    settings: ResMut<'w, Settings>,
    selection: ResMut<'w, Selection>,
    references: Res<'w, References>,
    cones: Res<'w, ConeCount>,
    loading: ResMut<'w, Loading>,
    listening: ResMut<'w, Listening>,
    panels: ResMut<'w, PanelState>,
    notices: Res<'w, Notices>,
    pointer: Res<'w, Pointer>,
    rig: ResMut<'w, CameraRig>,
    actions: MessageWriter<'w, Action>,
    requests: MessageWriter<'w, OpenRequest>,
    themed: Local<'s, bool>,
}

fn show_panels(mut contexts: EguiContexts, mut world: World) {
    let Ok(ctx) = contexts.ctx_mut() else { return };
    let ctx = ctx.clone();
    if !*world.themed {
        theme::apply(&ctx);
        *world.themed = true;
    }
    if world.panels.nothing {
        return;
    }
    let World { shown, clock, settings, selection, references, cones, panels, listening, .. } = &mut world;
    selection.bypass_change_detection().pointed = None;
    let mut go_to = None;
    let still = panels.still;
    let full = panels.visible && !still;
    let mut free = ctx.content_rect();
    if let Some(city) = &shown.0 {
        let mut wanted = (**settings).clone();
        let mut actions = Vec::new();
        if full {
            let mut tools = Tools {
                city,
                clock,
                references,
                cones: **cones,
                settings: &mut wanted,
                selection: selection.bypass_change_detection(),
                actions: &mut actions,
                listening: listening.bypass_change_detection(),
                go_to: &mut go_to,
            };
            growth_list::show(&ctx, &mut tools);
            time_bar::show(&ctx, &mut tools);
            right_panel(&ctx, &mut tools, panels);
            free.min.x += legend::LEGEND_WIDTH + 2.0 * theme::GAP;
            free.max.x -= RIGHT_WIDTH + 2.0 * theme::GAP;
            free.max.y -= time_bar::HEIGHT + 2.0 * theme::GAP;
        }
        // In a picture without panels the caption and the legend stand at the left: the city beside them, if there is room.
        if !full && free.width() > 1000.0 {
            free.min.x += legend::LEGEND_WIDTH + theme::GAP;
        }
        let above = if full { time_bar::HEIGHT + 2.0 * theme::GAP } else { theme::GAP };
        legend::show(&ctx, city, settings, selection.node().is_some(), above);
        if still || !panels.visible {
            caption(&ctx, city, clock, settings, selection.node());
        }
        if **settings != wanted {
            **settings = wanted;
        }
        world.actions.write_batch(actions);
    }
    let ctx_rect = ctx.content_rect();
    world.rig.set_free_area(ctx_rect, free);
    draw_labels(&ctx, &mut world, free);
    if let Some(time) = go_to
        && let Some(city) = world.shown.bypass_change_detection().0.as_mut()
    {
        world.clock.step_to(city, time);
    }
    overlays(&ctx, &mut world);
}

/// Width of the right panel with its frame.
pub const RIGHT_WIDTH: f32 = 322.0;

fn right_panel(ctx: &egui::Context, tools: &mut Tools<'_>, panels: &mut PanelState) {
    let room = ctx.content_rect().height() - time_bar::HEIGHT - 3.0 * theme::GAP - 24.0;
    egui::Area::new("right".into()).anchor(egui::Align2::RIGHT_TOP, [-theme::GAP, theme::GAP]).movable(false).show(
        ctx,
        |ui| {
            theme::frame().show(ui, |ui| {
                ui.set_width(RIGHT_WIDTH - 22.0);
                egui::ScrollArea::vertical()
                    .max_height(room)
                    .min_scrolled_height(room)
                    .auto_shrink([false, true])
                    .show(ui, |ui| {
                        details::show(ui, tools);
                        ui.add_space(6.0);
                        ui.separator();
                        let header = egui::CollapsingHeader::new(
                            egui::RichText::new("SETTINGS").size(11.0).strong().color(theme::QUIET),
                        )
                        .open(None)
                        .default_open(panels.settings);
                        header.show(ui, |ui| settings_panel::show(ui, tools));
                    });
            });
        },
    );
}

/// Title and time of a picture without panels.
fn caption(ctx: &egui::Context, city: &City, clock: &Clock, settings: &Settings, selected: Option<NodeId>) {
    egui::Area::new("caption".into())
        .anchor(egui::Align2::LEFT_TOP, [theme::GAP, theme::GAP])
        .interactable(false)
        .show(ctx, |ui| {
            theme::frame().show(ui, |ui| {
                ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
                let point = &city.timeline.points()[clock.time];
                ui.label(egui::RichText::new(&city.title).heading().strong());
                let amount = city.timeline.amount(clock.time, NodeId::ROOT);
                ui.label(format!("{}/{}  {}", clock.time + 1, city.times(), point.label));
                ui.label(egui::RichText::new(amounts(amount)).color(theme::QUIET));
                let grouping = city.source.grouping_title();
                ui.label(
                    egui::RichText::new(format!("{grouping}  ·  {}", metric_name(settings.metric))).color(theme::QUIET),
                );
                if let Some(node) = selected {
                    ui.label(
                        egui::RichText::new(format!("selected: {}", city.timeline.path_label(node)))
                            .color(theme::ACCENT),
                    );
                    ui.label(egui::RichText::new(amounts(city.timeline.amount(clock.time, node))).color(theme::QUIET));
                }
                for warning in city.source.warnings().iter().take(3) {
                    ui.label(
                        egui::RichText::new(format!("⚠ {}", theme::shortened(&warning.to_string(), 110)))
                            .color(theme::WARNING)
                            .size(11.0),
                    );
                }
            });
        });
}

fn draw_labels(ctx: &egui::Context, world: &mut World, free: egui::Rect) {
    let World { shown, clock, settings, selection, references, rig, .. } = world;
    let Some(city) = shown.bypass_change_detection().0.as_mut() else { return };
    if !settings.labels {
        return;
    }
    let time = clock.time;
    let after = city.states(time).plots;
    let now = NowState { appearance: &city.appearance, before: &after, after: &after, mix: 1.0 };
    let growing = city.growing[..city.growing.len().min(settings.solid_count)].to_vec();
    let connected: Vec<NodeId> = match selection.node().filter(|_| settings.show_pointers) {
        Some(node) => references
            .of(node)
            .map(|map| {
                let incoming = map.incoming.iter().take(8).filter(|_| settings.show_incoming);
                let outgoing = map.outgoing.iter().take(8).filter(|_| settings.show_outgoing);
                incoming.chain(outgoing).map(|e| e.other).collect()
            })
            .unwrap_or_default(),
        None => Vec::new(),
    };
    let labels = labels::collect(city, &now, selection.node(), &connected, &growing);
    let hidden = |label: &labels::Label| {
        let towards = label.at - rig.pose.eye;
        let before = city.appearance.pick(&city.plan, |plot| now.standing(plot), rig.pose.eye, towards);
        before.is_some_and(|hit| {
            let own = match hit.target {
                HitTarget::Plot(plot) => city.target_of_plot(plot) == label.target,
                HitTarget::District(_) => false,
            };
            hit.distance < 0.985 && !own
        })
    };
    labels::paint(ctx, &labels, rig.clip_from_world(), free, hidden);
}

fn overlays(ctx: &egui::Context, world: &mut World) {
    let World { shown, clock, selection, loading, listening, panels, notices, pointer, actions, requests, .. } = world;
    if let (Some(city), Some(target), Some(at)) = (&shown.0, selection.hovered, pointer.over_city) {
        tooltip::show(ctx, city, clock.time, target, egui::pos2(at.x, at.y));
    }
    let sample = loading.sample().is_some();
    let answer = match loading.state() {
        super::loading::State::Opening { title, snapshot } => status::loading(ctx, &title, &snapshot),
        super::loading::State::Failed { title, error } => {
            status::failed(ctx, &title, &error, shown.0.is_some(), sample)
        }
        super::loading::State::Busy { what, snapshot } => {
            status::busy(ctx, &what, &snapshot);
            None
        }
        super::loading::State::Idle if shown.0.is_none() => {
            status::welcome(ctx, sample, listening.address().map(|(address, _)| address))
        }
        super::loading::State::Idle => None,
    };
    match answer {
        Some(status::Answer::OpenFiles) => {
            actions.write(Action::OpenFiles);
        }
        Some(status::Answer::OpenFolder) => {
            actions.write(Action::OpenFolder);
        }
        Some(status::Answer::Listen) => {
            actions.write(Action::Listen);
        }
        Some(status::Answer::OpenSample) => {
            if let Some(path) = loading.sample() {
                requests.write(OpenRequest(vec![path]));
            }
        }
        Some(status::Answer::Cancel | status::Answer::Dismiss) => {
            loading.escape();
        }
        None => {}
    }
    if !notices.is_empty() && !panels.still {
        status::notices(ctx, notices.iter());
    }
    if panels.help && !help::show(ctx) {
        panels.help = false;
    }
}

/// `objects` or `bytes`.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Objects => "objects",
        Metric::Bytes => "bytes",
        Metric::Column(_) => "value",
    }
}

/// A number in the units of a metric: `12,345 objects`, `1.2 MB`.
pub fn number(value: u64, metric: Metric) -> String {
    match metric {
        Metric::Objects => format!("{} objects", analyses::count_text(value)),
        Metric::Bytes => analyses::bytes_text(value),
        Metric::Column(_) => analyses::count_text(value),
    }
}

/// The same with a sign.
pub fn signed(value: i64, metric: Metric) -> String {
    let sign = match value {
        v if v > 0 => "+",
        0 => "±",
        _ => "−",
    };
    format!("{sign}{}", number(value.unsigned_abs(), metric))
}

/// Objects and bytes together.
pub fn amounts(amount: Amount) -> String {
    format!("{} objects, {}", analyses::count_text(amount.objects), analyses::bytes_text(amount.bytes))
}

/// When a state was taken.
pub fn when(point: &TimePoint) -> String {
    if let Some(gc) = &point.gc {
        return format!("{} at {}: {}", point.label, analyses::uptime_text(point.millis), analyses::gc_text(gc));
    }
    match point.millis {
        0 => format!("{} (the file does not say when)", point.label),
        millis => format!("{}, taken {}", point.label, analyses::time_text(millis)),
    }
}
