//! The tooltip of the group under the mouse: path from the root, objects, bytes, growth.

use super::numbers::{amounts, number, signed};
use super::theme;
use crate::viewer::action::Action;
use crate::viewer::city::City;
use crate::viewer::keys;
use crate::viewer::selection::Target;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::tabular::{count_text, objects_text};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_views::city::{Change, Cone};

/// Shows the tooltip of a target beside the mouse pointer.
pub fn show(ctx: &egui::Context, city: &City, time: usize, target: Target, pointer: egui::Pos2) {
    beside(ctx, pointer, |ui| match target {
        Target::Node(id) => {
            node(ui, &city.timeline, time, id);
            on_plot(ui, city, time, id);
        }
        Target::More(parent) => more(ui, city, time, parent),
    });
}

/// Shows the meaning of the number beside the name of a district.
pub fn unnamed(ctx: &egui::Context, timeline: &Timeline, district: NodeId, rest: u64, pointer: egui::Pos2) {
    beside(ctx, pointer, |ui| {
        let buildings = if rest == 1 { "building" } else { "buildings" };
        ui.label(RichText::new(theme::told_path(timeline, district)).strong());
        ui.label(format!("{} more {buildings} here without a name", count_text(rest)));
        let hint = "Click to fly there: nearer, there is room for more names. How many there are at most is a setting";
        ui.label(RichText::new(hint).size(11.0).color(theme::QUIET));
    });
}

/// Shows a reference: from which group to which, and how many objects take part at both ends. It keeps clear of everything in `clear`, if
/// it can.
pub fn reference(
    ctx: &egui::Context,
    city: &City,
    cone: &Cone,
    selected: Option<NodeId>,
    pointer: egui::Pos2,
    clear: &[egui::Rect],
) {
    let timeline = &city.timeline;
    let other = match (cone.other_node, city.target_of_plot(cone.other)) {
        (Some(node), _) | (None, Target::Node(node)) => timeline.display_name(node),
        (None, Target::More(parent)) => format!("smaller groups in {}", timeline.name(parent)),
    };
    let here = selected.map_or_else(|| "the selection".to_owned(), |node| timeline.display_name(node));
    let (from, to) = if cone.incoming { (&other, &here) } else { (&here, &other) };
    let (colour, means) = match cone.incoming {
        true => (theme::INCOMING, "Keeps the selection alive"),
        false => (theme::OUTGOING, "Is kept alive by the selection"),
    };
    let end = |objects: u64, share: f32, name: &str| {
        format!("{}, {:.1} % of {}", objects_text(objects), 100.0 * share, theme::shortened(name, 60))
    };
    clear_of(ctx, pointer, clear, |ui| {
        ui.label(RichText::new(means).strong().color(colour));
        ui.label(end(cone.referencing, cone.share_from, from));
        ui.label(RichText::new("refer to").size(11.0).color(theme::QUIET));
        ui.label(end(cone.referenced, cone.share_to, to));
        let all = format!("{} single references. Click to go to the other end", count_text(cone.references));
        ui.label(RichText::new(all).size(11.0).color(theme::QUIET));
    });
}

/// Shows lines beside the mouse pointer.
pub fn beside(ctx: &egui::Context, pointer: egui::Pos2, lines: impl FnOnce(&mut egui::Ui)) {
    clear_of(ctx, pointer, &[], lines);
}

const ID: &str = "tooltip";

/// The corner of lines that is at the pointer, and how far from it: the first that fits on the screen and covers nothing that shall
/// be seen.
fn corner(
    screen: egui::Rect,
    pointer: egui::Pos2,
    size: egui::Vec2,
    clear: &[egui::Rect],
) -> (egui::Align2, egui::Pos2) {
    use egui::Align::{Max, Min};
    // Keep it on screen: open to the left and above when there is no room to the right and below.
    let x = if pointer.x > screen.right() - 420.0 { Max } else { Min };
    let y = if pointer.y > screen.bottom() - 150.0 { Max } else { Min };
    let at = |x, y| {
        let offset = egui::vec2(if x == Min { 16.0 } else { -10.0 }, if y == Min { 16.0 } else { -8.0 });
        (egui::Align2([x, y]), pointer + offset)
    };
    let other = |align| if align == Min { Max } else { Min };
    let all = [at(x, y), at(x, other(y)), at(other(x), y), at(other(x), other(y))];
    let fits = |(align, at): &(egui::Align2, egui::Pos2)| {
        let rect = align.anchor_size(*at, size);
        screen.contains_rect(rect) && !clear.iter().any(|other| other.intersects(rect))
    };
    if clear.is_empty() {
        return all[0];
    }
    // Below all of it, where it is in the way everywhere around the pointer.
    let lowest = clear.iter().map(|other| other.bottom()).fold(pointer.y, f32::max);
    let below = [x, other(x)].map(|x| {
        let (align, beside) = at(x, Min);
        (align, egui::pos2(beside.x, lowest + 6.0))
    });
    all.into_iter().chain(below).find(fits).unwrap_or(all[0])
}

fn clear_of(ctx: &egui::Context, pointer: egui::Pos2, clear: &[egui::Rect], lines: impl FnOnce(&mut egui::Ui)) {
    // As large as it was in the frame before.
    let size = ctx.memory(|memory| memory.area_rect(ID)).map_or(egui::vec2(280.0, 112.0), |rect| rect.size());
    let (pivot, at) = corner(ctx.content_rect(), pointer, size, clear);
    egui::Area::new(ID.into())
        .order(egui::Order::Tooltip)
        .pivot(pivot)
        .fixed_pos(at)
        .interactable(false)
        .constrain(true)
        .show(ctx, |ui| {
            theme::frame().fill(theme::SOLID).show(ui, |ui| {
                ui.set_max_width(460.0);
                lines(ui);
            });
        });
}

/// The lines about a node.
pub fn node(ui: &mut egui::Ui, timeline: &Timeline, time: usize, node: NodeId) {
    let now = timeline.amount(time, node);
    ui.label(RichText::new(theme::told_path(timeline, node)).strong());
    ui.label(amounts(now));
    let heap = timeline.amount(time, NodeId::ROOT).bytes.max(1);
    ui.label(
        RichText::new(format!("{:.1} % of the heap's bytes now", now.bytes as f64 * 100.0 / heap as f64))
            .color(theme::QUIET),
    );
    if timeline.times() > 1 {
        growth(ui, timeline, "since the first state", |m| timeline.growth_until(time, node, m));
        // At the last state that is the same.
        if time + 1 < timeline.times() {
            growth(ui, timeline, "first to last", |m| timeline.growth(node, m));
        }
    }
}

/// Facts about a building beside its group: its change since the base, and the filled share of its plot.
fn on_plot(ui: &mut egui::Ui, city: &City, time: usize, id: NodeId) {
    let Some(plot) = city.plan.plot_of(id).filter(|&plot| city.target_of_plot(plot) == Target::Node(id)) else {
        return;
    };
    let (timeline, metric) = (&city.timeline, city.plan.config().metric);
    let (now, most) = (city.plan.value(timeline, time, plot), city.plan.max_value(plot));
    if let Some(base) = city.appearance.base().filter(|&base| base != time) {
        let (change, difference) = city.appearance.change(&city.plan, timeline, plot, time);
        let (word, colour) = match change {
            Change::Same => ("the same as", theme::QUIET),
            Change::Grown => ("grown since", theme::GROWTH),
            Change::Shrunk => ("shrunk since", theme::SHRINK),
            Change::Appeared => ("not there in", theme::GROWTH),
            Change::Vanished => ("gone since", theme::SHRINK),
        };
        let label = timeline.points().get(base).map_or("", |point| point.label.as_str());
        let amount = signed(timeline, difference, metric);
        ui.label(RichText::new(format!("{word} {} of {} {label}: {amount}", base + 1, timeline.times())).color(colour));
    }
    if timeline.times() > 1 && most > 0 {
        let share = now as f64 * 100.0 / most as f64;
        let text = match now == most {
            true => "at its largest now".to_owned(),
            false => format!("{share:.0} % of its largest, {}", number(timeline, most, metric)),
        };
        ui.label(RichText::new(text).color(theme::QUIET));
    }
    if city.appearance.is_capped(&city.plan, timeline, plot, time) {
        ui.label(RichText::new("higher than it is drawn").color(theme::WARNING));
    }
}

fn growth(ui: &mut egui::Ui, timeline: &Timeline, what: &str, of: impl Fn(Metric) -> i64) {
    let (objects, bytes) = (of(Metric::Objects), of(Metric::Bytes));
    let colour = match bytes.max(objects) {
        g if g > 0 => theme::GROWTH,
        0 => theme::QUIET,
        _ => theme::SHRINK,
    };
    ui.label(
        RichText::new(format!(
            "{}, {} {what}",
            signed(timeline, objects, Metric::Objects),
            signed(timeline, bytes, Metric::Bytes)
        ))
        .color(colour),
    );
}

fn more(ui: &mut egui::Ui, city: &City, time: usize, parent: NodeId) {
    let Some(plot) = city.plan.more_of(parent) else { return };
    let pruned = city.plan.pruned(plot);
    let timeline = &city.timeline;
    ui.label(RichText::new(format!("{} more in {}", pruned.len(), theme::told_path(timeline, parent))).strong());
    let amount = city.plan.amount(timeline, plot, time);
    ui.label(amounts(amount));
    let heap = timeline.amount(time, NodeId::ROOT).bytes.max(1);
    ui.label(
        RichText::new(format!("{:.1} % of the heap's bytes now", amount.bytes as f64 * 100.0 / heap as f64))
            .color(theme::QUIET),
    );
    for &id in pruned.iter().take(5) {
        ui.label(
            RichText::new(format!(
                "{}  {}",
                theme::shortened(timeline.name(id), 46),
                amounts(timeline.amount(time, id))
            ))
            .size(11.5)
            .color(theme::QUIET),
        );
    }
    ui.label(
        RichText::new(format!(
            "The smallest groups share this plot: click its name, or press {}, to see them as their own city",
            keys::key(Action::DrillIn)
        ))
        .size(11.0)
        .color(theme::QUIET),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_egui::egui::{Pos2, Rect, pos2, vec2};

    #[test]
    fn it_is_on_screen_and_before_nothing_that_shall_be_seen() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let size = vec2(280.0, 112.0);
        let tag = |x: f32, y: f32| Rect::from_center_size(pos2(x, y), vec2(110.0, 18.0));
        for x in (20..1280).step_by(60) {
            for y in (20..720).step_by(50) {
                let pointer = pos2(x as f32, y as f32);
                // Two tags at the ends of something that the pointer is on.
                let ends = [tag(pointer.x - 90.0, pointer.y + 60.0), tag(pointer.x + 130.0, pointer.y + 40.0)];
                let (align, at) = corner(screen, pointer, size, &ends);
                let rect = align.anchor_size(at, size);
                let free = |rect: Rect| screen.contains_rect(rect) && !ends.iter().any(|end| end.intersects(rect));
                // Above the pointer or below both ends there is room everywhere.
                assert!(free(rect), "{pointer}: {rect}");
                assert!(!rect.contains(pointer));
                // Where nothing has to be seen, it is where it always is.
                assert_eq!(corner(screen, pointer, size, &[]), corner(screen, pointer, vec2(10.0, 10.0), &[]));
            }
        }
    }
}
