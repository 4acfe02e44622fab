//! The views of a document. Each is a file that says what it is ([`View`]) and is registered by its name in the list
//! below: nothing else knows it. The dock shows views beside each other.
//!
//! A view keeps its settings in resources of its own, draws into the pane it is given, follows the document by observing
//! [`Opened`](super::document::Opened), [`Grew`](super::document::Grew) and [`Closed`](super::document::Closed), and
//! shares time, selection, hover, marks and filter with all others. It may not know another view.

use super::document::{Preparation, Preparations};
use super::settings::Settings;
use bevy::ecs::system::IntoSystem;
use bevy::prelude::*;
use bevy_egui::egui;
use memory_city_analysis::tabular::{RowSource, write_csv};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

macro_rules! views {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        /// All views, in the order of the menu.
        fn all() -> Vec<View> {
            vec![$($name::view()),*]
        }
    };
}

views! {
    city,
    table,
    nested,
    overview,
    trends,
    graph,
    analysis,
    inspector,
    growth,
    legend,
    places,
    details,
    ways_list,
    settings_pane,
    comparison,
}

pub use city::ID as CITY_VIEW;
pub use city::{CameraRig, City, CityPane, ConeCount, Multiples, Sharpness, Shown, ShownRoutes, TimeCell, WholeView};
pub(super) use city::{CitySight, alone, fill, focus_pose, hide, scene, set_backdrop};
pub use trends::TrendCharts;

/// The systems that turn the state into a picture.
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
pub struct Drawn;

/// Where a view stands before anybody has moved it.
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
    /// Nowhere, until somebody asks for it: then in the middle.
    WhenAsked,
}

/// A kind of view.
#[derive(Clone, Copy)]
pub struct View {
    /// Its name in kept layouts: never changes.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it shows, a line.
    pub help: &'static str,
    /// Where it stands first.
    pub place: Place,
    /// Keys that it handles itself as it stands, while it has the keyboard and is in sight; all others are actions. A key that it
    /// would do nothing with is not among them.
    pub keys: fn(&World) -> &'static [KeyCode],
    /// Its resources, systems and observers.
    pub plugin: fn(&mut App),
    /// Draws it into its pane.
    pub draw: fn(&mut World, &mut egui::Ui),
    /// What it computes from a source before it is shown.
    pub preparation: Option<fn(&Settings) -> Preparation>,
}

/// A picture that a view makes without a window, of itself alone.
#[derive(Clone, Copy)]
pub struct ViewPicture {
    /// Its name on the command line.
    pub name: &'static str,
    /// The view that draws it.
    pub view: &'static str,
    /// Sets the view up for it.
    pub set_up: fn(&mut World),
}

/// What a view shows, as CSV. The window and the command line both write it so.
#[derive(Clone, Copy)]
pub struct ViewTable {
    /// The view.
    pub view: &'static str,
    /// Writes it.
    pub csv: fn(&World) -> Result<Vec<u8>>,
}

/// The views that have a table.
pub fn tables() -> Vec<ViewTable> {
    vec![
        city::csv(),
        table::csv(),
        nested::csv(),
        overview::csv(),
        trends::csv(),
        graph::csv(),
        comparison::csv(),
        analysis::csv(),
    ]
}

/// What a view shows as CSV, by the name of its picture; that of the city where there is no name.
///
/// # Errors
/// When it has no table, or nothing to write yet.
pub fn csv_of(world: &World, picture: Option<&str>) -> Result<Vec<u8>> {
    let view = picture.and_then(|name| pictures().into_iter().find(|picture| picture.name == name));
    let view = view.map_or("city", |picture| picture.view);
    let table = tables().into_iter().find(|table| table.view == view);
    table.map_or_else(|| Err(no_table(view, "has no table")), |table| (table.csv)(world))
}

/// A table as it is written.
fn written(table: &dyn RowSource) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write_csv(table, &mut out, &Progress::new()).map_err(|e| no_table("This", &e.to_string()))?;
    Ok(out)
}

fn no_table(view: &str, why: &str) -> Error {
    Error::Unusable {
        what: format!("{view} {why}: there is nothing to be written"),
        remedy: "Choose another view, or wait until it shows something".into(),
    }
}

/// The pictures that views make; that of the city is made without being asked for.
pub fn pictures() -> Vec<ViewPicture> {
    let small = nested::pictures().into_iter().chain(overview::pictures());
    let small = small.chain(trends::pictures()).chain(graph::pictures());
    small.chain(table::pictures()).chain(comparison::pictures()).collect()
}

/// The kinds of views there are.
#[derive(Resource, Clone)]
pub struct Views(Vec<View>);

impl Views {
    /// All kinds of views.
    pub fn all() -> Views {
        Views(all())
    }

    /// They, in the order of the menu.
    pub fn iter(&self) -> impl Iterator<Item = &View> {
        self.0.iter()
    }

    /// The view of an id.
    pub fn get(&self, id: &str) -> Option<&View> {
        self.0.iter().find(|view| view.id == id)
    }
}

/// What views compute from a source under `settings`, for who has no window (yet).
pub fn preparations(settings: &Settings) -> Preparations {
    let mut preparations = Preparations::default();
    for view in all() {
        if let Some(preparation) = view.preparation {
            preparations.set(view.id, preparation(settings));
        }
    }
    preparations
}

/// Runs a system that draws: its parameters are what it touches.
pub(super) fn draw_with<M>(
    world: &mut World,
    ui: &mut egui::Ui,
    system: impl IntoSystem<InMut<'static, egui::Ui>, (), M> + 'static,
) {
    if let Err(error) = world.run_system_cached_with(system, ui) {
        tracing::error!("a view cannot be drawn: {error}");
    }
}

/// Registers all views.
pub struct ViewsPlugin;

impl Plugin for ViewsPlugin {
    fn build(&self, app: &mut App) {
        let views = Views::all();
        app.configure_sets(Update, Drawn.in_set(super::app::Stage::Present));
        for view in views.iter() {
            (view.plugin)(app);
        }
        app.insert_resource(views);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_unique_and_every_view_says_what_it_shows() {
        let mut seen = std::collections::HashSet::new();
        for view in super::all() {
            assert!(seen.insert(view.id), "{} is registered twice", view.id);
            assert!(!view.title.is_empty() && !view.help.is_empty());
        }
    }
}
