//! The owners of the selection as a list: groups and roots by the amount of it that they keep, object by object.

use super::spinner::working;
use super::theme;
use crate::viewer::action::Action;
use crate::viewer::owners::OwnersKnown;
use crate::viewer::selection::{Pointing, Select, Selection};
use bevy::prelude::Mut;
use bevy_egui::egui::{self, Align2, Color32, FontId, Rect, RichText, Sense};
use memory_city_analysis::ownership::chain::GroupOwners;
use memory_city_analysis::tabular::{bytes_text, count_text, objects_text};
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::Amount;

/// Height of a row, points.
const ROW: f32 = 17.0;
/// Rows that are seen at once.
const SEEN: f32 = 7.0;
/// Roots that are listed; the others are in the tooltip of the last line.
const MOST_ROOTS: usize = 3;

/// Draws the list. Returns the person's wish.
pub fn show(
    ui: &mut egui::Ui,
    timeline: &Timeline,
    known: &OwnersKnown,
    (selection, pointing): (&mut Mut<Selection>, &mut Pointing),
) -> Vec<Action> {
    let mut asked = Vec::new();
    if matches!(known, OwnersKnown::Nothing) {
        return asked;
    }
    ui.horizontal(|ui| {
        theme::heading(ui, "KEPT ALIVE BY");
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            for (text, action) in [("Paths", Action::RootPaths), ("Follow", Action::FollowOwner)] {
                if ui.small_button(text).on_hover_text(action.tooltip()).clicked() {
                    asked.push(action);
                }
            }
        });
    });
    match known {
        OwnersKnown::Nothing => {}
        OwnersKnown::Looking(snapshot) => {
            let stage = snapshot.as_ref().map(|s| s.stage.as_str()).filter(|stage| !stage.is_empty());
            working(ui, stage.unwrap_or("Looking for owners"));
        }
        OwnersKnown::Failed(why) => {
            ui.label(RichText::new(format!("Owners cannot be found: {why}")).size(12.0).color(theme::ERROR));
        }
        OwnersKnown::Known(found) => list(ui, timeline, found, selection, pointing),
    }
    ui.add_space(4.0);
    asked
}

fn quiet(text: impl Into<String>) -> RichText {
    RichText::new(text).size(11.0).color(theme::QUIET)
}

fn list(
    ui: &mut egui::Ui,
    timeline: &Timeline,
    found: &GroupOwners,
    selection: &mut Mut<Selection>,
    pointing: &mut Pointing,
) {
    let about = found.chain.about;
    if about.objects == 0 {
        ui.label(quiet("It has no objects at this time"));
        return;
    }
    if found.chain.only_new {
        let which = if found.chain.by_place { "in places that grew" } else { "that came" };
        let text = format!("Of {} {which} since the first time", objects_text(about.objects));
        ui.label(quiet(text)).on_hover_text(
            "Of traces by their birth; of recordings of all objects those that were not there then; of dumps those that are in \
             places that had fewer of them: the same owners by name",
        );
    }
    if found.owners.is_empty() {
        ui.label(quiet(if found.chain.roots.is_empty() {
            "The input does not tell what keeps it: no group does, and no GC root is known"
        } else {
            "No group: GC roots hold its objects themselves"
        }));
    }
    // Of what they are listed by.
    let share = |keeps: Amount| {
        let [part, whole] = [keeps, about].map(|amount| amount.measured(found.by_bytes));
        (part as f32 / whole.max(1) as f32).clamp(0.0, 1.0)
    };
    let height = ROW * SEEN.min(found.owners.len() as f32);
    // Each selection has a place of its own in its list.
    let selected: Vec<NodeId> = selection.nodes().collect();
    let area = egui::ScrollArea::vertical().id_salt(("owners", selected)).max_height(height).auto_shrink([false, true]);
    area.show_rows(ui, ROW - ui.spacing().item_spacing.y, found.owners.len(), |ui, rows| {
        let owners = &found.owners[rows];
        let nodes: Vec<NodeId> = owners.iter().map(|owner| owner.node).collect();
        for (owner, name) in owners.iter().zip(timeline.names_apart(&nodes)) {
            let name = theme::brief(&name);
            let response = row(ui, &name, share(owner.keeps), theme::TEXT);
            if response.hovered() {
                pointing.pointed = Some(owner.node);
            }
            if response.clicked() {
                selection.select(timeline, owner.node);
            }
            response.on_hover_ui(|ui| explained(ui, timeline, owner.node, owner.objects, owner.keeps));
        }
    });
    for (root, keeps) in found.chain.roots.iter().take(MOST_ROOTS) {
        row(ui, root, share(*keeps), theme::ROUTE).on_hover_ui(|ui| {
            ui.label(RichText::new(root).strong());
            ui.label(format!("Keeps {} of them, {}", count_text(keeps.objects), bytes_text(keeps.bytes)));
        });
    }
    let more = found.chain.roots.len().saturating_sub(MOST_ROOTS);
    if more > 0 {
        ui.label(quiet(format!("and {} more roots", count_text(more as u64)))).on_hover_ui(|ui| {
            for (root, keeps) in found.chain.roots.iter().skip(MOST_ROOTS).take(20) {
                ui.label(format!("{}: {root}", count_text(keeps.objects)));
            }
            if more > 20 {
                ui.label(format!("… {} more", count_text(more as u64 - 20)));
            }
        });
    }
}

fn explained(ui: &mut egui::Ui, timeline: &Timeline, node: NodeId, objects: u64, keeps: Amount) {
    ui.label(RichText::new(theme::told_path(timeline, node)).strong());
    ui.label(format!(
        "{} of its objects keep {}, {}: were they gone, so would be these",
        count_text(objects),
        objects_text(keeps.objects),
        bytes_text(keeps.bytes)
    ));
    ui.label(quiet(
        "Where nothing keeps an object alone, the next one on the shortest path counts. Click to select it",
    ));
}

/// A name with the share that it keeps.
fn row(ui: &mut egui::Ui, name: &str, share: f32, colour: Color32) -> egui::Response {
    let size = egui::vec2(ui.available_width(), ROW - ui.spacing().item_spacing.y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    theme::named(&response, name);
    let painter = ui.painter_at(rect);
    if response.hovered() {
        painter.rect_filled(rect, 3.0, Color32::from_rgb(34, 44, 64));
    }
    let bar = Rect::from_min_size(rect.left_center() - egui::vec2(0.0, 3.0), egui::vec2(26.0, 6.0));
    painter.rect_filled(bar, 2.0, Color32::from_rgb(38, 48, 68));
    painter.rect_filled(bar.with_max_x(bar.left() + bar.width() * share.max(0.04)), 2.0, theme::INCOMING);
    let font = FontId::proportional(12.0);
    let percent = format!("{:.0} %", 100.0 * share);
    let right = painter.text(rect.right_center(), Align2::RIGHT_CENTER, percent, font.clone(), theme::QUIET);
    let at = rect.left_center() + egui::vec2(33.0, 0.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        theme::fitting(&painter, name, &font, right.left() - rect.left() - 40.0),
        font,
        colour,
    );
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::prelude::World;
    use egui_kittest::Harness;
    use egui_kittest::kittest::NodeT as _;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::ownership::RankedOwner;
    use memory_city_analysis::ownership::chain::OwnerChain;
    use memory_city_analysis::timeline::TimePoint;
    use std::sync::Arc;

    struct Panel {
        timeline: Timeline,
        known: OwnersKnown,
        world: World,
    }

    /// Groups, each of which keeps one object, and roots.
    fn panel(groups: usize, roots: &[&str]) -> Harness<'static, Panel> {
        let mut tree = MemoryTree::new();
        let amount = Amount { objects: 1, bytes: 8 };
        for i in 0..groups {
            let leaf = tree.child(0, &Arc::from("Type"), &Arc::from(format!("Owner{i}")));
            tree.add_up(&[leaf as u32], amount);
        }
        let timeline = Timeline::from_trees(vec![TimePoint::default()], &[tree]);
        let owner = |node| RankedOwner { node, objects: 1, keeps: amount, distance: 1 };
        let chain = OwnerChain {
            about: Amount { objects: groups as u64 + 1, bytes: 8 },
            only_new: false,
            by_place: false,
            steps: Vec::new(),
            roots: roots.iter().map(|root| ((*root).to_owned(), amount)).collect(),
            end: String::new(),
        };
        let mut world = World::new();
        world.init_resource::<Selection>();
        if groups > 0 {
            world.resource_mut::<Selection>().select(&timeline, NodeId(1));
        }
        let owners = timeline.nodes().skip(1).map(owner).collect();
        let known = OwnersKnown::Known(Arc::new(GroupOwners { chain, owners, by_bytes: false }));
        let panel = Panel { timeline, known, world };
        let show = |ui: &mut egui::Ui, panel: &mut Panel| {
            let mut selection = panel.world.resource_mut::<Selection>();
            show(ui, &panel.timeline, &panel.known, (&mut selection, &mut Pointing::default()));
        };
        Harness::builder().with_size((320.0, 300.0)).build_ui_state(show, panel)
    }

    fn texts(panel: &Harness<'_, Panel>) -> Vec<String> {
        let all = panel.root().children_recursive();
        all.filter_map(|node| node.accesskit_node().label().or_else(|| node.accesskit_node().value())).collect()
    }

    #[test]
    fn each_selection_begins_at_the_top_of_its_list() {
        let mut panel = panel(60, &[]);
        panel.run_steps(3);
        assert!(texts(&panel).contains(&"Owner0".to_owned()), "{:?}", texts(&panel));
        panel.hover_at(egui::pos2(100.0, 60.0));
        panel.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, -400.0),
            phase: egui::TouchPhase::Move,
            modifiers: egui::Modifiers::NONE,
        });
        panel.run_steps(3);
        let below = texts(&panel);
        assert!(!below.contains(&"Owner0".to_owned()), "{below:?}");
        // Another selection, of one group or of several, and the first again where it was left.
        for nodes in [vec![2], vec![2, 3]] {
            let Panel { timeline, world, .. } = panel.state_mut();
            world.resource_mut::<Selection>().select_all(timeline, nodes.into_iter().map(NodeId));
            panel.run_steps(3);
            assert!(texts(&panel).contains(&"Owner0".to_owned()), "{:?}", texts(&panel));
        }
        let Panel { timeline, world, .. } = panel.state_mut();
        world.resource_mut::<Selection>().select(timeline, NodeId(1));
        panel.run_steps(3);
        let again = texts(&panel);
        assert!(again.starts_with(&below), "{again:?}");
    }

    #[test]
    fn none_is_said_only_where_it_is_known() {
        for (roots, said) in [
            (&[][..], "The input does not tell what keeps it"),
            (&["Static field: Registry.all"][..], "No group: GC roots hold its objects themselves"),
        ] {
            let mut panel = panel(0, roots);
            panel.run_steps(3);
            let texts = texts(&panel);
            assert!(texts.iter().any(|text| text.starts_with(said)), "{texts:?}");
            assert!(roots.iter().all(|root| texts.iter().any(|text| text == root)), "{texts:?}");
        }
    }
}
