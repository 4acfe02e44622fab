//! The document: the open program with its trees, as one thing that every view looks at.
//!
//! [`install`] is the only way in, for every source: an opened file, a trace that is still being read, another grouping, a program that
//! sends its trees, a picture without a window. It triggers the events [`Opened`], [`Grew`] and [`Closed`]; views and shared state
//! observe those and nothing else.
//!
//! A view may need more than the trees, and more than a frame's time to compute it (the city's layout). It computes this through a
//! [`Preparation`], on the thread that reads the trees. So a document and all its views change in the same frame.
//!
//! It may not know any view.

use super::action::Action;
use super::settings::Settings;
use bevy::prelude::*;
use memory_city_analysis::timeline::{NodeId, Source, Timeline};
use memory_city_heap::error::Warning;
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// The open document, if any. Only [`install`] and [`close`] change it: it is marked as changed where the trees differ.
#[derive(Resource, Default)]
pub struct Document {
    open: Option<OpenDocument>,
    prepared: Prepared,
}

/// An open document.
pub struct OpenDocument {
    /// Origin, for the window title.
    pub title: String,
    /// Trees and other data of the input.
    pub source: Arc<Source>,
    /// The trees over time.
    pub timeline: Arc<Timeline>,
    /// Warnings: taken from the source once.
    pub warnings: Arc<[Warning]>,
    /// The running program, if it shows one.
    pub live: Option<LiveOf>,
    /// The settings its trees were grouped with.
    pub made_with: Settings,
}

/// A live source, and how much of it had come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveOf {
    /// The name of the source.
    pub name: String,
    /// Number of updates so far.
    pub revision: u64,
}

/// Another program is shown: all state of the one before is gone.
#[derive(Event, Clone, Copy, Debug)]
pub struct Opened;

/// The same program goes on with other trees: more of it was read or came, or its objects are grouped anew. Keys stay, [`NodeId`]s do
/// not.
#[derive(Event, Clone, Copy, Debug)]
pub struct Grew {
    /// Whether views have placed everything anew ([`Arrival::Anew`]).
    pub anew: bool,
}

/// No document is open any more.
#[derive(Event, Clone, Copy, Debug)]
pub struct Closed;

/// Relation of a new document to the open one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Another program.
    Opened,
    /// More of the same program: placed things stay in their place if they can.
    Grew,
    /// The same program, to be placed anew: regrouped, or asked for.
    Anew,
}

/// A document to be shown, with the preparations of views.
pub struct Draft {
    /// Origin, for the window title.
    pub title: String,
    /// Trees and other data of the input.
    pub source: Arc<Source>,
    /// The program that sends it.
    pub live: Option<LiveOf>,
    /// The settings the trees were grouped with.
    pub made_with: Settings,
    /// Preparations of views.
    pub prepared: Prepared,
}

/// Results of views' preparations for a document, by the view's id.
#[derive(Default)]
pub struct Prepared(HashMap<&'static str, Box<dyn Any + Send + Sync>>);

impl Prepared {
    /// The preparation of the view `id`; `None` when there is none, or it was taken.
    pub fn take<T: 'static>(&mut self, id: &str) -> Option<T> {
        self.0.remove(id).and_then(|any| any.downcast().ok()).map(|value| *value)
    }

    /// Sets the preparation of the view `id`.
    pub fn put(&mut self, id: &'static str, value: impl Any + Send + Sync) {
        self.0.insert(id, Box::new(value));
    }
}

/// Work of a view on a source before it is shown: on the thread that reads, never in a frame.
pub type Preparation = Arc<dyn Fn(&Arc<Source>, Arrival) -> Box<dyn Any + Send + Sync> + Send + Sync>;

/// The preparations of all views. Each view keeps its own up to date.
#[derive(Resource, Default, Clone)]
pub struct Preparations(HashMap<&'static str, Preparation>);

impl Preparations {
    /// Sets the work of the view `id` from now on.
    pub fn set(&mut self, id: &'static str, preparation: Preparation) {
        self.0.insert(id, preparation);
    }

    /// Runs the preparations of all views.
    pub fn run(&self, source: &Arc<Source>, arrival: Arrival) -> Prepared {
        Prepared(self.0.iter().map(|(id, of)| (*id, of(source, arrival))).collect())
    }
}

impl Draft {
    /// A document whose views are prepared by `preparations`.
    pub fn new(
        title: String,
        source: Arc<Source>,
        live: Option<LiveOf>,
        settings: &Settings,
        preparations: &Preparations,
        arrival: Arrival,
    ) -> Draft {
        let prepared = preparations.run(&source, arrival);
        Draft { title, source, live, made_with: settings.clone(), prepared }
    }
}

impl Document {
    /// The open document.
    pub fn get(&self) -> Option<&OpenDocument> {
        self.open.as_ref()
    }

    /// The trees of the open document.
    pub fn timeline(&self) -> Option<&Arc<Timeline>> {
        self.open.as_ref().map(|open| &open.timeline)
    }

    /// The program that sends the open document.
    pub fn live(&self) -> Option<&LiveOf> {
        self.open.as_ref().and_then(|open| open.live.as_ref())
    }

    /// Preparations for the document that was just installed.
    pub fn prepared(&mut self) -> &mut Prepared {
        &mut self.prepared
    }
}

impl OpenDocument {
    /// A node by key, or by name where only one (or one that clearly grows most) has it.
    pub fn find(&self, key: &str) -> Option<NodeId> {
        let metric = self.made_with.metric_in(&self.timeline);
        let by_key = self.source.find(key);
        by_key.or_else(|| self.timeline.called(key).max_by_key(|&n| self.timeline.growth(n, metric)))
    }
}

/// Replaces the open document. The only way to do so; triggers [`Opened`] or [`Grew`].
pub fn install(world: &mut World, draft: Draft, arrival: Arrival) {
    let Draft { title, source, live, made_with, prepared } = draft;
    let document = world.resource::<Document>();
    let goes_on = arrival != Arrival::Opened && document.open.is_some();
    let was_open = document.open.is_some();
    if was_open && !goes_on {
        close(world);
    }
    let mut document = world.resource_mut::<Document>();
    document.prepared = prepared;
    document.open = Some(OpenDocument {
        title,
        timeline: Arc::clone(source.timeline()),
        warnings: source.warnings().into(),
        source,
        live,
        made_with,
    });
    if goes_on {
        world.trigger(Grew { anew: arrival == Arrival::Anew });
    } else {
        world.trigger(Opened);
    }
    world.flush();
    // What no view took is for views that are not there.
    world.resource_mut::<Document>().prepared = Prepared::default();
}

/// Closes the open document; triggers [`Closed`].
pub fn close(world: &mut World) {
    let mut document = world.resource_mut::<Document>();
    if document.open.is_some() {
        document.open = None;
        world.trigger(Closed);
        world.flush();
    }
}

/// [`install`] from a system: done when its commands are applied.
pub fn install_later(commands: &mut Commands, draft: Draft, arrival: Arrival) {
    commands.queue(move |world: &mut World| install(world, draft, arrival));
}

fn close_on_request(mut actions: MessageReader<Action>, mut commands: Commands) {
    if actions.read().any(|action| *action == Action::Close) {
        commands.queue(close);
    }
}

/// The document and its events.
pub struct DocumentPlugin;

impl Plugin for DocumentPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Document>()
            .init_resource::<Preparations>()
            .add_systems(Update, close_on_request.in_set(super::frame::Stage::Load));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::timeline::json;
    use memory_city_heap::progress::Progress;

    fn source(objects: u64) -> Arc<Source> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.json");
        let text = format!(
            r#"{{"format":"memory-city","version":1,"tree":{{"children":[{{"name":"A","objects":{objects},"bytes":9}}]}}}}"#
        );
        std::fs::write(&path, text).expect("written");
        Arc::new(Source::Trees(json::read(&[path], &Progress::new()).expect("trees")))
    }

    #[derive(Resource, Default)]
    struct Heard(Vec<String>);

    #[test]
    fn events_say_what_happens_and_views_find_what_they_prepared() {
        let mut app = App::new();
        app.init_resource::<Document>().init_resource::<Preparations>().init_resource::<Heard>();
        app.add_observer(|_: On<Opened>, mut document: ResMut<Document>, mut heard: ResMut<Heard>| {
            let prepared = document.prepared().take::<u64>("a view");
            heard.0.push(format!("opened {prepared:?}"));
        });
        app.add_observer(|_: On<Grew>, mut document: ResMut<Document>, mut heard: ResMut<Heard>| {
            let prepared = document.prepared().take::<u64>("a view");
            heard.0.push(format!("grew {prepared:?}"));
        });
        app.add_observer(|_: On<Closed>, document: Res<Document>, mut heard: ResMut<Heard>| {
            assert!(document.get().is_none());
            heard.0.push("closed".into());
        });
        let world = app.world_mut();
        let objects = |source: &Arc<Source>, _| -> Box<dyn Any + Send + Sync> {
            Box::new(source.timeline().amount(0, NodeId::ROOT).objects)
        };
        world.resource_mut::<Preparations>().set("a view", Arc::new(objects));
        let preparations = world.resource::<Preparations>().clone();
        let settings = Settings::default();
        let draft = |n, arrival| Draft::new("x".into(), source(n), None, &settings, &preparations, arrival);
        // What grows while nothing is open is opened.
        for (n, arrival) in [(1, Arrival::Grew), (2, Arrival::Grew), (3, Arrival::Anew), (4, Arrival::Opened)] {
            install(world, draft(n, arrival), arrival);
        }
        close(world);
        world.clear_trackers();
        close(world);
        assert!(!world.is_resource_changed::<Document>(), "it was closed");
        let heard = world.resource::<Heard>().0.join(", ");
        assert_eq!(heard, "opened Some(1), grew Some(2), grew Some(3), closed, opened Some(4), closed");
    }
}
