//! The views of a document. Each is a file that describes itself ([`View`](super::view::View)) and is registered by its name in the list
//! below: nothing else knows it. The dock shows views beside each other.
//!
//! A view keeps its settings in resources of its own, and draws into the pane it is given. It follows the document by observing
//! [`Opened`](super::document::Opened), [`Grew`](super::document::Grew) and [`Closed`](super::document::Closed). Time, selection, hover,
//! marks, filter and the city's camera are shared with all others. It may not know another view, and only the assembly knows this list.

use super::frame::{Drawn, Stage};
use super::view::Views;
use bevy::prelude::*;

macro_rules! views {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        /// All views, in the order of the menu.
        pub fn all() -> Views {
            Views(vec![$($name::VIEW),*])
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
    path_list,
    settings_pane,
    comparison,
    generations,
}

pub use city::VIEW as CITY;
pub use trends::TrendCharts;

/// Registers views.
pub struct ViewsPlugin(pub Views);

impl Plugin for ViewsPlugin {
    fn build(&self, app: &mut App) {
        app.configure_sets(Update, Drawn.in_set(Stage::Present));
        self.0.iter().for_each(|view| view.plugin(app));
        app.insert_resource(self.0.clone());
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_unique_and_every_view_says_what_it_shows() {
        let mut seen = std::collections::HashSet::new();
        for view in super::all().iter() {
            let about = view.about();
            assert!(seen.insert(about.id), "{} is registered twice", about.id);
            assert!(!about.title.is_empty() && !about.help.is_empty());
        }
    }
}
