//! References of the selected group in both directions, computed off the frame and shared by all views.

use super::clock::Clock;
use super::document::{Closed, Document, Grew, Opened};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::selection::Selection;
use bevy::prelude::*;
use memory_city_analysis::timeline::NodeId;
use memory_city_analysis::timeline::references::ReferenceMap;
use memory_city_heap::error::Error;
use std::sync::Arc;

/// Why a city of trees may have no cones.
pub const NOT_TOLD: &str = "The input does not say what refers to what at this time: memory trees may leave it out";

/// The references of the selected node at the shown time.
#[derive(Resource, Default)]
pub struct References {
    wanted: Option<(usize, NodeId)>,
    job: Option<Job<memory_city_heap::error::Result<Option<Arc<ReferenceMap>>>>>,
    /// The finished map, with its time and group.
    pub map: Option<(usize, NodeId, Arc<ReferenceMap>)>,
    /// Why there is none.
    pub error: Option<String>,
    /// Whether the input says nothing about the references of that time.
    pub unknown: bool,
}

impl References {
    /// The map of `node`, if it is the one at hand (possibly of the previous time while the next is computed).
    pub fn of(&self, node: NodeId) -> Option<&Arc<ReferenceMap>> {
        self.map.as_ref().filter(|(_, n, _)| *n == node).map(|(_, _, map)| map)
    }

    /// How far the computation is.
    pub fn snapshot(&self) -> Option<memory_city_heap::progress::Snapshot> {
        self.job.as_ref().map(|j| j.snapshot())
    }

    /// Takes a map; `None` when the input does not say.
    pub fn preset(&mut self, time: usize, node: NodeId, map: Option<Arc<ReferenceMap>>) {
        self.wanted = Some((time, node));
        self.unknown = map.is_none();
        self.map = map.map(|map| (time, node, map));
    }

    /// Forgets all: other trees are shown.
    fn reset(&mut self) {
        *self = References::default();
    }
}

/// Asks for the references of the selection and takes them when they come.
pub(super) fn update_references(
    document: Res<Document>,
    selection: Res<Selection>,
    clock: Res<Clock>,
    mut references: ResMut<References>,
    mut awake: ResMut<Awake>,
) {
    let Some(open) = document.get() else { return };
    awake.wait_if(references.job.is_some());
    let wanted = selection.node().map(|node| (clock.time, node));
    if wanted != references.wanted {
        references.wanted = wanted;
        references.error = None;
        references.unknown = false;
        references.job = None;
        match wanted {
            None => references.map = None,
            Some((time, node)) => {
                let source = Arc::clone(&open.source);
                references.job = Some(Job::behind_frames(move |progress| source.references(time, node, progress)));
            }
        }
    }
    let outcome = references.job.as_ref().and_then(|job| job.poll());
    if let (Some(outcome), Some((time, node))) = (outcome, references.wanted) {
        references.job = None;
        match outcome {
            Ok(Ok(map)) => references.preset(time, node, map),
            Ok(Err(Error::Cancelled)) => {}
            Ok(Err(error)) => {
                references.map = None;
                references.error = Some(error.to_string());
            }
            Err(panic) => {
                references.map = None;
                references.error = Some(panic);
            }
        }
    }
}

/// The references of the selection.
pub struct ReferencesPlugin;

impl Plugin for ReferencesPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<References>()
            .add_observer(|_: On<Opened>, mut references: ResMut<References>| references.reset())
            .add_observer(|_: On<Grew>, mut references: ResMut<References>| references.reset())
            .add_observer(|_: On<Closed>, mut references: ResMut<References>| references.reset())
            .add_systems(Update, update_references.in_set(Stage::Derive));
    }
}
