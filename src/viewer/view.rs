//! The trait of views, and the list of those there are. Panels, dock and files know views by this alone; each view is a file in
//! [`views`](super::views).

use super::document::{Preparation, Preparations};
use super::hint::Hint;
use super::settings::Settings;
use bevy::ecs::system::IntoSystem;
use bevy::prelude::*;
use bevy_egui::egui;
use memory_city_analysis::tabular::{CsvTexts, RowSource, write_csv};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

/// First place of a view in the dock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A column at the left.
    Left,
    /// Below it.
    LeftBelow,
    /// In the middle: the first of them is in front.
    Middle,
    /// A column at the right.
    Right,
    /// Closed until a person opens it: then in the middle.
    WhenAsked,
}

/// Names and first place of a view.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name in kept layouts: never changes.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Description in a line.
    pub help: &'static str,
    /// First place in the dock.
    pub place: Place,
}

/// A kind of view.
pub trait View: Send + Sync {
    /// Its names and first place.
    fn about(&self) -> About;

    /// Draws it into its pane.
    fn draw(&self, world: &mut World, ui: &mut egui::Ui);

    /// Keys that it handles itself in its present state, while it has the keyboard and is in sight; all others are actions. A key without
    /// any effect is not among them.
    fn keys(&self, _: &World) -> &'static [KeyCode] {
        &[]
    }

    /// Adds its resources, systems and observers.
    fn plugin(&self, _: &mut App) {}

    /// Work on a source before it is shown.
    fn preparation(&self, _: &Settings) -> Option<Preparation> {
        None
    }

    /// Writes its content as CSV. The window and the command line both write it so.
    fn table(&self) -> Option<WriteTable> {
        None
    }

    /// Pictures that it makes without a window, of itself alone.
    fn pictures(&self) -> Vec<ViewPicture> {
        Vec::new()
    }

    /// Hints about what it shows now, the most useful first. Asked in every frame while it has a tab: no work beyond what is known.
    fn hints(&self, _: &World) -> Vec<Hint> {
        Vec::new()
    }

    /// Draws it alone into the whole window or image.
    fn draw_alone(&self, world: &mut World, ctx: &egui::Context) {
        let builder = egui::UiBuilder::new().layer_id(egui::LayerId::background()).max_rect(ctx.content_rect());
        self.draw(world, &mut egui::Ui::new(ctx.clone(), "view".into(), builder));
    }

    /// Its name in kept layouts.
    fn id(&self) -> &'static str {
        self.about().id
    }
}

/// A picture that a view makes without a window, of itself alone.
#[derive(Clone, Copy)]
pub struct ViewPicture {
    /// Its name on the command line.
    pub name: &'static str,
    /// Sets the view up for it.
    pub set_up: fn(&mut World),
}

/// Content of a view, as CSV.
pub type WriteTable = fn(&World) -> Result<Vec<u8>>;

/// The kinds of views there are, in the order of the menu.
#[derive(Resource, Clone)]
pub struct Views(pub Vec<&'static dyn View>);

impl Views {
    /// They, in the order of the menu.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn View> {
        self.0.iter().copied()
    }

    /// The view of an id.
    pub fn get(&self, id: &str) -> Option<&'static dyn View> {
        self.iter().find(|view| view.id() == id)
    }

    /// The view that a window begins with, and that stands for the document: the first.
    pub fn first(&self) -> Option<&'static dyn View> {
        self.iter().next()
    }

    /// The pictures that views make; that of the first is made without being asked for.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static dyn View, ViewPicture)> {
        self.iter().flat_map(|view| view.pictures().into_iter().map(move |picture| (view, picture)))
    }

    /// The picture of a name, with its view.
    pub fn picture(&self, name: &str) -> Option<(&'static dyn View, ViewPicture)> {
        self.pictures().find(|(_, picture)| picture.name == name)
    }

    /// The views that have a table.
    pub fn tables(&self) -> impl Iterator<Item = &'static dyn View> {
        self.iter().filter(|view| view.table().is_some())
    }

    /// Content of a view as CSV, by the name of its picture; without a name, that of the first.
    ///
    /// # Errors
    /// When it has no table, or nothing to write yet.
    pub fn csv_of(&self, world: &World, picture: Option<&str>) -> Result<Vec<u8>> {
        let view = picture.and_then(|name| self.picture(name)).map(|(view, _)| view).or_else(|| self.first());
        match view.and_then(View::table) {
            Some(write) => write(world),
            None => Err(no_table(view.map_or("The view", View::id), "has no table")),
        }
    }

    /// Preparations of all views under `settings`, for callers without a window (yet).
    pub fn preparations(&self, settings: &Settings) -> Preparations {
        let mut preparations = Preparations::default();
        for view in self.iter() {
            if let Some(preparation) = view.preparation(settings) {
                preparations.set(view.id(), preparation);
            }
        }
        preparations
    }
}

/// The CSV text of a table.
pub(super) fn written(table: &dyn RowSource) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write_csv(table, CsvTexts::Harmless, &mut out, &Progress::new()).map_err(|e| no_table("This", &e.to_string()))?;
    Ok(out)
}

/// The error of a view without a table, or without content.
pub(super) fn no_table(view: &str, why: &str) -> Error {
    Error::Unusable {
        what: format!("{view} {why}: there is nothing to be written"),
        remedy: "Choose another view, or wait until it shows something".into(),
    }
}

/// Runs a system that draws: its parameters are the resources that it uses.
pub(super) fn draw_with<M>(
    world: &mut World,
    ui: &mut egui::Ui,
    system: impl IntoSystem<InMut<'static, egui::Ui>, (), M> + 'static,
) {
    if let Err(error) = world.run_system_cached_with(system, ui) {
        tracing::error!("a view cannot be drawn: {error}");
    }
}
