//! The dock: the arrangement of the views, and the view that has the keyboard. Users drag tabs and edges; the layout is kept between runs
//! ([`kept`]).
//!
//! It knows views only as [`View`]s: an id, a title, their first place, and their drawing.

mod hint_lamp;
mod saved_layout;

use super::frame::Stage;
use super::hint::HintStep;
use super::panels::theme;
use super::selection::Selection;
use super::view::{Place, View, Views};
use bevy::prelude::*;
use bevy_egui::egui;
use egui_tiles::{Container, EditAction, Linear, LinearDir, SimplificationOptions, Tile, TileId, Tiles, Tree};

/// A pane: the id of the view in it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Pane(String);

/// The views on screen and their places.
#[derive(Resource)]
pub struct Dock {
    tree: Tree<Pane>,
    /// The size it was laid out in last.
    size: egui::Vec2,
    /// The first layout that it still is; `None` once a person has arranged it.
    first: Option<Columns>,
    /// Whether a person changed it since it was kept.
    edited: bool,
}

/// Columns of a first layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Columns {
    /// Views at both sides of the middle.
    Three,
    /// All side views at the left: the middle has two thirds of a small window.
    Two,
}

impl Columns {
    /// Columns for a window of this width, points.
    fn of(width: f32) -> Columns {
        if width < NARROW { Columns::Two } else { Columns::Three }
    }
}

/// The view that has the keyboard: the one clicked into last, for as long as it is in sight.
#[derive(Resource, Default)]
pub struct Focus {
    view: Option<String>,
    keys: &'static [KeyCode],
}

/// Keys that a view may handle itself: those that lead through tables, graphs and charts. All others, letters above all, are actions and
/// flights, whichever view has the keyboard. Only text fields keep them.
const WAYS_THROUGH_VIEWS: [KeyCode; 9] = [
    KeyCode::ArrowLeft,
    KeyCode::ArrowRight,
    KeyCode::ArrowUp,
    KeyCode::ArrowDown,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::PageUp,
    KeyCode::PageDown,
    KeyCode::Enter,
];

impl Focus {
    /// Whether the view that has the keyboard handles a key itself.
    pub fn takes(&self, key: KeyCode) -> bool {
        self.keys.contains(&key) && WAYS_THROUGH_VIEWS.contains(&key)
    }

    /// Gives a view the keyboard.
    pub fn give(&mut self, view: &dyn View) {
        *self = Focus { view: Some(view.id().to_owned()), keys: &[] };
    }

    /// No view has the keyboard: all keys are actions.
    pub fn take_back(&mut self) {
        *self = Focus::default();
    }

    /// Whether a view has the keyboard.
    pub fn is(&self, view: &str) -> bool {
        self.view.as_deref() == Some(view)
    }
}

/// Width of the first left column, points.
const LEFT: f32 = 292.0;
/// Width of the first right column, points.
const RIGHT: f32 = 322.0;
/// Height of the lower left view, points: enough for the legend of two times.
const BELOW: f32 = 206.0;
/// Width of the left column where it is the only one, points: its four tabs have room.
const ONLY: f32 = 338.0;
/// Windows below this width begin with one side column, points.
const NARROW: f32 = 1200.0;
/// Size in which shares are first written; side columns keep their points in any window.
const NOMINAL: egui::Vec2 = egui::vec2(1280.0, 600.0);

impl Dock {
    fn new(views: &Views) -> Dock {
        let columns = Columns::Three;
        Dock { tree: first_layout(views, columns), size: NOMINAL, first: Some(columns), edited: false }
    }

    /// A person changed it.
    fn arrange(&mut self) {
        (self.edited, self.first) = (true, None);
    }

    fn tile(&self, id: &str) -> Option<TileId> {
        self.tree.tiles.find_pane(&Pane(id.to_owned()))
    }

    /// Whether a view is shown, in front or behind another tab.
    pub fn shows(&self, id: &str) -> bool {
        self.tile(id).is_some()
    }

    /// Whether a view is visible: in front among its tabs.
    pub fn in_front(&self, id: &str) -> bool {
        self.tile(id).is_some_and(|tile| self.tree.active_tiles().contains(&tile))
    }

    /// Opens a view, in front, beside the views of its first place.
    pub fn open(&mut self, view: &dyn View, views: &Views) {
        self.arrange();
        let tile = match self.tile(view.id()) {
            Some(tile) => tile,
            None => self.add(view, views),
        };
        self.tree.make_active(|id, _| id == tile);
    }

    /// Brings a view to the front, and opens it if it is closed. A layout that shows it already is unchanged.
    pub fn bring_to_front(&mut self, view: &dyn View, views: &Views) {
        match self.tile(view.id()) {
            None => self.open(view, views),
            Some(tile) => {
                self.tree.make_active(|id, _| id == tile);
            }
        }
    }

    fn add(&mut self, view: &dyn View, views: &Views) -> TileId {
        let tile = self.tree.tiles.insert_pane(Pane(view.id().to_owned()));
        // Beside a view that stands in the same place at first; else where there is most room.
        let is_alike = |id: &String| {
            views.get(id).is_some_and(|other| other.about().place == view.about().place && other.id() != view.id())
        };
        let alike = self.tree.tiles.iter().find_map(|(id, tile)| match tile {
            Tile::Pane(Pane(name)) if is_alike(name) => self.tree.tiles.parent_of(*id),
            _ => None,
        });
        let is_tabs = |id: &TileId| matches!(self.tree.tiles.get(*id), Some(Tile::Container(Container::Tabs(_))));
        let alike = alike.filter(is_tabs);
        let tabs = self.tree.tiles.iter().filter_map(|(id, tile)| match tile {
            Tile::Container(Container::Tabs(_)) => self.tree.tiles.rect(*id).map(|rect| (*id, rect.area())),
            _ => None,
        });
        let largest = tabs.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(id, _)| id);
        match alike.or(largest) {
            Some(tabs) => self.tree.move_tile_to_container(tile, tabs, usize::MAX, false),
            None => {
                let children: Vec<TileId> = self.tree.root.into_iter().chain([tile]).collect();
                self.tree.root = Some(self.tree.tiles.insert_tab_tile(children));
            }
        }
        tile
    }

    /// Closes a view.
    pub fn close(&mut self, id: &str) {
        self.arrange();
        if let Some(tile) = self.tile(id) {
            self.tree.remove_recursively(tile);
        }
    }

    /// Puts all views where they were at the first start.
    pub fn reset(&mut self, views: &Views) {
        *self = Dock { edited: true, ..Dock::new(views) };
    }

    /// When the window changes its size, the side columns keep theirs and the middle takes the rest. A window that has no
    /// room for that, with two thirds of the columns' width for the middle, shrinks everything alike, in width or in height. The first
    /// layout has as many columns as there is room for.
    fn fit(&mut self, size: egui::Vec2, views: &Views) {
        let columns = Columns::of(size.x);
        if self.first.is_some_and(|first| first != columns) {
            *self = Dock { tree: first_layout(views, columns), size: NOMINAL, first: Some(columns), ..*self };
        }
        let before = self.size;
        // The least that is fitted to: what is smaller has that in small.
        let least = match self.first {
            Some(Columns::Two) => 2.0 * ONLY,
            _ => 1.65 * (LEFT + RIGHT),
        };
        self.size = size.max(egui::vec2(least, 2.0 * BELOW));
        if (self.size - before).abs().max_elem() <= 0.5 {
            self.size = before;
        } else if let Some(root) = self.tree.root {
            fit(&mut self.tree.tiles, root, before, self.size, views);
        }
    }
}

/// Whether a view of the middle is in a part of the tree.
fn holds_middle(tiles: &Tiles<Pane>, at: TileId, views: &Views) -> bool {
    match tiles.get(at) {
        Some(Tile::Pane(Pane(id))) => views.get(id).is_some_and(|view| view.about().place == Place::Middle),
        Some(Tile::Container(container)) => container.children().any(|child| holds_middle(tiles, *child, views)),
        None => false,
    }
}

/// Scales the shares of a row or column from one size to another: the part with the middle takes the difference.
fn fit(tiles: &mut Tiles<Pane>, at: TileId, before: egui::Vec2, now: egui::Vec2, views: &Views) {
    let Some(Tile::Container(container)) = tiles.get(at) else { return };
    let children = container.children_vec();
    let Container::Linear(linear) = container else {
        children.into_iter().for_each(|child| fit(tiles, child, before, now, views));
        return;
    };
    let axis = usize::from(linear.dir == LinearDir::Vertical);
    let was = linear.shares.split(&children, before[axis].max(1.0));
    let mut sizes = was.clone();
    let middle = children.iter().position(|child| holds_middle(tiles, *child, views)).unwrap_or(0);
    if let Some(size) = sizes.get_mut(middle) {
        *size = (*size + now[axis] - before[axis]).max(64.0);
    }
    if let Some(Tile::Container(Container::Linear(linear))) = tiles.get_mut(at) {
        let shares = children.iter().copied().zip(shares(&sizes));
        shares.for_each(|(child, share)| linear.shares.set_share(child, share));
    }
    for (child, (was, size)) in children.into_iter().zip(was.into_iter().zip(sizes)) {
        let (mut before, mut now) = (before, now);
        (before[axis], now[axis]) = (was, size);
        fit(tiles, child, before, now, views);
    }
}

/// Every pane has a tab, also alone.
fn simple() -> SimplificationOptions {
    SimplificationOptions { all_panes_must_have_tabs: true, ..SimplificationOptions::default() }
}

/// Sizes as shares around 1: a part dropped beside them gets a share of 1, and is then as large as they are.
fn shares(sizes: &[f32]) -> Vec<f32> {
    let mean = sizes.iter().sum::<f32>() / sizes.len().max(1) as f32;
    sizes.iter().map(|size| size / mean.max(1e-3)).collect()
}

/// Each view in its first place.
fn first_layout(views: &Views, columns: Columns) -> Tree<Pane> {
    let mut tiles = Tiles::default();
    let mut tabs = |places: &[Place]| {
        let panes = places.iter().flat_map(|place| views.iter().filter(|view| view.about().place == *place));
        let panes: Vec<TileId> = panes.map(|view| tiles.insert_pane(Pane(view.id().to_owned()))).collect();
        (!panes.is_empty()).then(|| tiles.insert_tab_tile(panes))
    };
    let (at_left, at_right, left_width): (&[Place], &[Place], f32) = match columns {
        Columns::Three => (&[Place::Left], &[Place::Right], LEFT),
        Columns::Two => (&[Place::Left, Place::Right], &[], ONLY),
    };
    let [left, below, middle, right] = [at_left, &[Place::LeftBelow], &[Place::Middle], at_right].map(&mut tabs);
    let mut line = |dir, parts: &[(Option<TileId>, f32)]| {
        let parts: Vec<(TileId, f32)> = parts.iter().filter_map(|(id, size)| id.map(|id| (id, *size))).collect();
        let mut linear = Linear::new(dir, parts.iter().map(|(id, _)| *id).collect());
        let sizes: Vec<f32> = parts.iter().map(|(_, size)| *size).collect();
        let shares = parts.iter().zip(shares(&sizes));
        shares.for_each(|((id, _), share)| linear.shares.set_share(*id, share));
        (!parts.is_empty()).then(|| tiles.insert_container(Container::Linear(linear)))
    };
    let left = line(LinearDir::Vertical, &[(left, NOMINAL.y - BELOW), (below, BELOW)]);
    let right_width = if right.is_some() { RIGHT } else { 0.0 };
    let middle_width = NOMINAL.x - left_width - right_width;
    let root = line(LinearDir::Horizontal, &[(left, left_width), (middle, middle_width), (right, right_width)]);
    match root {
        Some(root) => Tree::new("dock", root, tiles),
        None => Tree::empty("dock"),
    }
}

/// Draws all panes.
pub fn show(world: &mut World, ui: &mut egui::Ui) {
    let views = world.resource::<Views>().clone();
    world.resource_scope(|world, mut dock: Mut<Dock>| {
        let dock = &mut *dock;
        dock.fit(ui.available_size(), &views);
        let mut panes = Panes { world, views: &views, edited: false, clicked: None, drawn: Vec::new(), step: None };
        dock.tree.ui(&mut panes, ui);
        let Panes { edited, clicked, drawn, step, .. } = panes;
        if edited {
            dock.arrange();
        }
        let had = world.resource::<Focus>().view.clone();
        // What is not in sight has no keys.
        let has = clicked.or(had).filter(|id| drawn.contains(id));
        let keys = has.as_ref().and_then(|id| views.get(id)).map_or(&[][..], |view| view.keys(world));
        *world.resource_mut::<Focus>() = Focus { view: has, keys };
        let behind = views.iter().filter(|view| dock.shows(view.id()) && !dock.in_front(view.id()));
        if let Some(view) = hint_lamp::end_frame(world, behind) {
            dock.bring_to_front(view, &views);
        }
        if let Some(HintStep { label, changes, opens, action }) = step {
            tracing::debug!("hint: {label}");
            changes(world);
            if let Some(view) = opens.and_then(|id| views.get(id)) {
                dock.bring_to_front(view, &views);
            }
            world.write_message_batch(action);
        }
    });
}

struct Panes<'a> {
    world: &'a mut World,
    views: &'a Views,
    edited: bool,
    clicked: Option<String>,
    /// Views in sight.
    drawn: Vec<String>,
    /// The step of a hint that was chosen.
    step: hint_lamp::ChosenStep,
}

impl egui_tiles::Behavior<Pane> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut egui::Ui, _: TileId, pane: &mut Pane) -> egui_tiles::UiResponse {
        let rect = ui.available_rect_before_wrap();
        let pressed = ui.input(|i| i.pointer.any_pressed().then(|| i.pointer.interact_pos()).flatten());
        if pressed.is_some_and(|at| rect.contains(at) && ui.ctx().layer_id_at(at).is_none_or(|l| l == ui.layer_id())) {
            self.clicked = Some(pane.0.clone());
        }
        self.drawn.push(pane.0.clone());
        if let Some(view) = self.views.get(&pane.0) {
            view.draw(self.world, ui);
        }
        egui_tiles::UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> egui::WidgetText {
        self.views.get(&pane.0).map_or(pane.0.as_str(), |view| view.about().title).into()
    }

    fn on_tab_button(&mut self, tiles: &mut Tiles<Pane>, at: TileId, tab: egui::Response) -> egui::Response {
        if let Some(Tile::Pane(Pane(id))) = tiles.get(at)
            && let Some(view) = self.views.get(id)
            && !hint_lamp::hints_of(self.world, view).is_empty()
        {
            hint_lamp::dot(&tab.ctx, tab.layer_id, tab.rect);
        }
        tab
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<Pane>,
        ui: &mut egui::Ui,
        _: TileId,
        tabs: &egui_tiles::Tabs,
        _: &mut f32,
    ) {
        if let Some(Tile::Pane(Pane(id))) = tabs.active.and_then(|active| tiles.get(active))
            && let Some(view) = self.views.get(id)
        {
            let chosen = hint_lamp::lamp(self.world, ui, view);
            self.step = chosen.or(self.step.take());
        }
    }

    fn is_tab_closable(&self, _: &Tiles<Pane>, _: TileId) -> bool {
        true
    }

    fn on_tab_close(&mut self, _: &mut Tiles<Pane>, _: TileId) -> bool {
        self.edited = true;
        true
    }

    /// A tab in front is no arrangement of its own.
    fn on_edit(&mut self, action: egui_tiles::EditAction) {
        self.edited |= matches!(action, EditAction::TileResized | EditAction::TileDropped);
    }

    fn simplification_options(&self) -> SimplificationOptions {
        simple()
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        2.0
    }

    fn min_size(&self) -> f32 {
        96.0
    }

    fn tab_bar_color(&self, _: &egui::Visuals) -> egui::Color32 {
        theme::SOLID
    }

    fn tab_bg_color(
        &self,
        _: &egui::Visuals,
        _: &Tiles<Pane>,
        _: TileId,
        state: &egui_tiles::TabState,
    ) -> egui::Color32 {
        if state.active { theme::TAB } else { egui::Color32::TRANSPARENT }
    }

    fn tab_outline_stroke(
        &self,
        _: &egui::Visuals,
        _: &Tiles<Pane>,
        _: TileId,
        _: &egui_tiles::TabState,
    ) -> egui::Stroke {
        egui::Stroke::NONE
    }

    fn tab_text_color(
        &self,
        _: &egui::Visuals,
        _: &Tiles<Pane>,
        _: TileId,
        state: &egui_tiles::TabState,
    ) -> egui::Color32 {
        if state.active { theme::TEXT } else { theme::QUIET }
    }
}

/// Takes up the layout of the last run, where one was kept.
pub fn restore_layout(mut dock: ResMut<Dock>, views: Res<Views>) {
    if let Some(tree) = saved_layout::load(&views) {
        tracing::debug!("layout restored");
        (dock.tree, dock.size, dock.first) = (tree.0, tree.1, None);
        // Whatever was in front: what is opened begins with what is found, which stands over the city.
        if let Some(first) = views.first().filter(|first| dock.shows(first.id())) {
            dock.bring_to_front(first, &views);
        }
    }
}

/// Keeps the layout when a person has changed it and let go of the mouse. The first layout needs no file.
pub fn keep_layout(mut dock: ResMut<Dock>, buttons: Res<ButtonInput<MouseButton>>) {
    if dock.edited && buttons.get_pressed().len() == 0 {
        dock.edited = false;
        match dock.first {
            None => {
                // A tab that was just closed is still a child of its container.
                dock.tree.simplify(&simple());
                saved_layout::save(&dock.tree, dock.size);
            }
            Some(_) => saved_layout::remove(),
        }
    }
}

/// Brings a new selection into sight, where other views of its column stand before it: its first view comes to the front, if it is open.
fn show_selection(selection: Res<Selection>, views: Res<Views>, mut dock: ResMut<Dock>) {
    if !selection.is_changed() || selection.node().is_none() {
        return;
    }
    let at_right = || views.iter().filter(|view| view.about().place == Place::Right);
    if let Some(first) = at_right().next().filter(|first| dock.shows(first.id()))
        && !at_right().any(|view| dock.in_front(view.id()))
    {
        dock.bring_to_front(first, &views);
    }
}

/// The dock.
pub struct DockPlugin;

impl Plugin for DockPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Focus>().add_systems(Update, show_selection.in_set(Stage::Derive));
        hint_lamp::plugin(app);
    }

    fn finish(&self, app: &mut App) {
        let dock = Dock::new(app.world().resource::<Views>());
        app.insert_resource(dock);
    }
}

#[cfg(test)]
mod tests;
