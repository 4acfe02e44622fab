//! What is selected and what the mouse points at; the references of the selection, computed off the frame.
//!
//! The selection is kept by key, so it survives time steps, changed settings and new layouts; it is dropped
//! only when a new grouping has no such group, and then the user is told.

use super::action::Action;
use super::clock::Clock;
use super::job::Job;
use super::notices::Notices;
use super::shown::{Shown, Target};
use bevy::prelude::*;
use memory_city_analysis::timeline::references::ReferenceMap;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::error::Error;
use std::sync::Arc;

/// The selected and the hovered target.
#[derive(Resource, Default)]
pub struct Selection {
    selected: Option<NodeId>,
    key: Option<String>,
    history: Vec<String>,
    /// What the mouse points at in the city.
    pub hovered: Option<Target>,
    /// A node that a row of a panel points at: lights up in the city.
    pub pointed: Option<NodeId>,
}

impl Selection {
    /// The selected node.
    pub fn node(&self) -> Option<NodeId> {
        self.selected
    }

    /// Selects a node; the one selected before can be returned to.
    pub fn select(&mut self, timeline: &Timeline, node: NodeId) {
        if self.selected == Some(node) {
            return;
        }
        if let Some(key) = self.key.take() {
            self.history.push(key);
        }
        self.selected = Some(node);
        self.key = Some(timeline.key(node));
    }

    /// Selects, or deselects what is selected already.
    pub fn toggle(&mut self, timeline: &Timeline, node: NodeId) {
        if self.selected == Some(node) { self.clear() } else { self.select(timeline, node) }
    }

    /// Selects nothing.
    pub fn clear(&mut self) {
        self.selected = None;
        if let Some(key) = self.key.take() {
            self.history.push(key);
        }
    }

    /// Selects what was selected before.
    pub fn back(&mut self, timeline: &Timeline) {
        while let Some(key) = self.history.pop() {
            if let Some(node) = timeline.find(&key) {
                self.selected = Some(node);
                self.key = Some(key);
                return;
            }
        }
    }

    /// Finds the selection again in another timeline. Returns the key that is not there any more.
    pub fn rebind(&mut self, timeline: &Timeline) -> Option<String> {
        self.hovered = None;
        self.pointed = None;
        let key = self.key.clone()?;
        self.selected = timeline.find(&key);
        if self.selected.is_some() {
            return None;
        }
        self.key = None;
        Some(key)
    }

    /// Forgets everything: another program is shown.
    pub fn reset(&mut self) {
        *self = Selection::default();
    }
}

/// Why a city of trees may have no cones.
pub const NOT_TOLD: &str = "The input does not say what refers to what at this time: memory trees may leave it out";

/// The references of the selected node at the shown time.
#[derive(Resource, Default)]
pub struct References {
    wanted: Option<(usize, NodeId)>,
    job: Option<Job<memory_city_heap::error::Result<Option<Arc<ReferenceMap>>>>>,
    /// The map, once it is there, and what it is for.
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

    /// Whether a map is being computed.
    pub fn pending(&self) -> bool {
        self.job.is_some()
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

    /// Forgets all: another city is shown.
    pub fn reset(&mut self) {
        *self = References::default();
    }
}

/// Asks for the references of the selection and takes them when they come.
pub fn update_references(
    shown: Res<Shown>,
    selection: Res<Selection>,
    clock: Res<Clock>,
    mut references: ResMut<References>,
) {
    let Some(city) = &shown.0 else { return };
    let wanted = selection.node().map(|node| (clock.time, node));
    if wanted != references.wanted {
        references.wanted = wanted;
        references.error = None;
        references.unknown = false;
        references.job = None;
        match wanted {
            None => references.map = None,
            Some((time, node)) => {
                let source = Arc::clone(&city.source);
                references.job = Some(Job::start(move |progress| source.references(time, node, progress)));
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

/// The actions on the selection.
pub fn selection_actions(
    mut actions: MessageReader<Action>,
    mut selection: ResMut<Selection>,
    references: Res<References>,
    shown: Res<Shown>,
    mut notices: ResMut<Notices>,
) {
    let Some(city) = &shown.0 else {
        actions.clear();
        return;
    };
    for action in actions.read() {
        match action {
            Action::Back => selection.back(&city.timeline),
            Action::FollowOwner => {
                let Some(node) = selection.node() else {
                    notices.tell("Select a building first, then Enter follows what keeps it alive");
                    continue;
                };
                if references.unknown {
                    notices.tell(NOT_TOLD);
                    continue;
                }
                let Some(map) = references.of(node) else { continue };
                match map.incoming.first() {
                    Some(edge) => {
                        let other = edge.other;
                        selection.select(&city.timeline, other);
                    }
                    None => {
                        notices.tell("No other group refers to this one: the end of the chain. Its GC roots are listed")
                    }
                }
            }
            _ => {}
        }
    }
}
