//! Bookmarks: a time, a camera and a selection to come back to. They belong to the open input, are kept in view files, and are there
//! again when the same data is opened ([`super::remembered`]).

use super::action::Action;
use super::city::CameraRig;
use super::clock::Clock;
use super::document::{Closed, Document, Grew, OpenDocument, Opened};
use super::frame::Stage;
use super::keys;
use super::notices::Notices;
use super::selection::Selection;
use super::settings::{PartKey, Settings};
use bevy::prelude::*;
use memory_city_views::city::camera::CameraPose;
use serde::{Deserialize, Serialize};

/// A place to come back to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bookmark {
    /// Its name.
    pub name: String,
    /// Point in time, counted from 0.
    pub time: usize,
    /// Camera of the city.
    pub camera: CameraPose,
    /// Whether it is a plan: buildings are flat.
    #[serde(default)]
    pub plan: bool,
    /// Keys of the selected groups, the one selected last first.
    #[serde(default)]
    pub selected: Vec<String>,
    /// The parts of the city that were opened, one in the other.
    #[serde(default)]
    pub parts: Vec<PartKey>,
}

/// Most bookmarks. One more removes the oldest, with a notice.
pub const MOST_BOOKMARKS: usize = 100;

/// The bookmarks of the open input.
#[derive(Resource, Default)]
pub struct Bookmarks {
    list: Vec<Bookmark>,
    wanted: Option<Bookmark>,
}

impl Bookmarks {
    /// They, the oldest first.
    pub fn list(&self) -> &[Bookmark] {
        &self.list
    }

    /// Goes to one.
    pub fn go_to(&mut self, at: usize) {
        self.wanted = self.list.get(at).cloned();
    }

    /// Goes to a place that is in no list.
    pub fn go(&mut self, place: Bookmark) {
        self.wanted = Some(place);
    }

    /// Takes one away.
    pub fn remove(&mut self, at: usize) {
        if at < self.list.len() {
            self.list.remove(at);
        }
    }

    /// Gives one another name.
    pub fn rename(&mut self, at: usize, name: String) {
        if let Some(bookmark) = self.list.get_mut(at) {
            bookmark.name = name;
        }
    }

    /// Takes others in their place.
    pub fn replace(&mut self, list: Vec<Bookmark>) {
        self.list = list;
    }
}

/// The present view as a bookmark.
pub fn here(
    open: &OpenDocument,
    clock: &Clock,
    rig: &CameraRig,
    selection: &Selection,
    settings: &Settings,
) -> Bookmark {
    let selected: Vec<String> = selection.nodes().map(|node| open.timeline.key(node)).collect();
    let what = match selection.node() {
        Some(node) => super::panels::theme::brief(&open.timeline.display_name(node)),
        None => open.title.clone(),
    };
    let name = format!("{what} at {}/{}", clock.time + 1, open.timeline.times());
    Bookmark { name, time: clock.time, camera: rig.pose, plan: rig.plan(), selected, parts: settings.parts.clone() }
}

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn bookmark_actions(
    mut actions: MessageReader<Action>,
    mut bookmarks: ResMut<Bookmarks>,
    document: Res<Document>,
    (mut clock, mut rig): (ResMut<Clock>, ResMut<CameraRig>),
    mut selection: ResMut<Selection>,
    mut settings: ResMut<Settings>,
    mut notices: ResMut<Notices>,
) {
    let Some(open) = document.get() else {
        actions.clear();
        return;
    };
    for action in actions.read() {
        if *action == Action::Bookmark {
            let bookmark = here(open, &clock, &rig, &selection, &settings);
            tracing::debug!("bookmark: {}", bookmark.name);
            let (name, key) = (&bookmark.name, keys::key(Action::Palette));
            let mut said = format!("Bookmarked: {name}. The palette ({key}) and the view Marks list it");
            if bookmarks.list.len() >= MOST_BOOKMARKS {
                let oldest = bookmarks.list.remove(0);
                said = format!("{said}. {MOST_BOOKMARKS} are kept: {} went", oldest.name);
            }
            bookmarks.list.push(bookmark);
            notices.tell(said);
        }
    }
    let Some(to) = bookmarks.wanted.take() else { return };
    tracing::debug!("bookmark: to {}", to.name);
    let same = settings.parts == to.parts;
    if !same {
        settings.parts.clone_from(&to.parts);
    }
    clock.step_to(to.time.min(open.timeline.times().saturating_sub(1)));
    let found: Vec<_> = to.selected.iter().filter_map(|key| open.timeline.find(key)).collect();
    if found.len() < to.selected.len() {
        notices.tell(format!("{} of its groups are not in this grouping", to.selected.len() - found.len()));
    }
    if found.is_empty() {
        selection.clear()
    } else {
        selection.select_all(&open.timeline, found)
    }
    // Another part of the city has to be laid out first.
    if same {
        rig.fly_to(to.camera);
        rig.lie_flat(to.plan);
    } else {
        rig.await_city(to.camera, to.plan);
    }
}

/// Bookmarks.
pub struct BookmarksPlugin;

impl Plugin for BookmarksPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Bookmarks>()
            .add_observer(|_: On<Opened>, mut all: ResMut<Bookmarks>| *all = Bookmarks::default())
            .add_observer(|_: On<Closed>, mut all: ResMut<Bookmarks>| *all = Bookmarks::default())
            .add_observer(|_: On<Grew>, mut all: ResMut<Bookmarks>| all.wanted = None)
            .add_systems(Update, bookmark_actions.in_set(Stage::Act));
    }
}
