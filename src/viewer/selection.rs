//! Selection, marks, filter and the group under the mouse: shared by all views, kept by key.
//!
//! So a selection survives time steps, changed settings, new layouts and trees that grow. It is dropped only when a new grouping has no
//! such group, with a notice. Nodes are those of the open document.

use super::action::Action;
use super::document::{Closed, Document, Grew, Opened};
use super::frame::Stage;
use super::keys;
use super::notices::Notices;
use super::references::ReferencesPlugin;
use bevy::prelude::*;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_views::city::MARK_COLOURS;
use std::collections::BTreeMap;
use std::ops::DerefMut;

/// Something to point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A building or district.
    Node(NodeId),
    /// Everything that a view pruned from a node.
    More(NodeId),
}

/// The selected group of nodes. It is marked as changed where another group is selected, and nowhere else ([`Select`]).
#[derive(Resource, Default)]
pub struct Selection {
    /// Key and node; the one selected last comes first.
    selected: Vec<(String, NodeId)>,
    history: Vec<String>,
}

/// The things under the mouse.
#[derive(Resource, Default)]
pub struct Pointing {
    /// The thing under the mouse in the city.
    pub hovered: Option<Target>,
    /// A node that a row of a panel points at: lights up in other views.
    pub pointed: Option<NodeId>,
}

impl Selection {
    /// The node that was selected last: its references are shown.
    pub fn node(&self) -> Option<NodeId> {
        self.selected.first().map(|(_, node)| *node)
    }

    /// All selected nodes, the last one first: together they are one group.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.selected.iter().map(|(_, node)| *node)
    }

    /// Whether a node is selected.
    pub fn has(&self, node: NodeId) -> bool {
        self.selected.iter().any(|(_, n)| *n == node)
    }

    /// The selected nodes that lie in no other selected node: the basis of sums and object sets.
    pub fn outermost(&self, timeline: &Timeline) -> Vec<NodeId> {
        let all: std::collections::HashSet<NodeId> = self.nodes().collect();
        let within = |node: NodeId| {
            std::iter::successors(timeline.parent(node), |&n| timeline.parent(n)).any(|above| all.contains(&above))
        };
        let mut tops: Vec<NodeId> = all.iter().copied().filter(|&n| !within(n)).collect();
        tops.sort_unstable();
        tops
    }

    /// Selects nodes as one group; the first of them leads.
    pub fn select_all(&mut self, timeline: &Timeline, nodes: impl IntoIterator<Item = NodeId>) {
        self.remember();
        let mut seen = std::collections::HashSet::new();
        let nodes = nodes.into_iter().filter(|node| seen.insert(*node));
        self.selected = nodes.map(|node| (timeline.key(node), node)).collect();
    }

    /// Adds a node to the group, or takes it away.
    pub fn add_or_remove(&mut self, timeline: &Timeline, node: NodeId) {
        match self.selected.iter().position(|(_, n)| *n == node) {
            Some(at) => {
                self.selected.remove(at);
            }
            None => self.selected.insert(0, (timeline.key(node), node)),
        }
    }

    /// Selects nothing.
    pub fn clear(&mut self) {
        self.remember();
        self.selected.clear();
    }

    fn remember(&mut self) {
        if let Some((key, _)) = self.selected.first() {
            self.history.push(key.clone());
        }
    }

    /// Finds the selection again in other trees. Returns the keys that are not there any more.
    fn rebind(&mut self, timeline: &Timeline) -> usize {
        let mut lost = 0;
        self.selected.retain_mut(|(key, node)| match timeline.find(key) {
            Some(found) => {
                *node = found;
                true
            }
            None => {
                lost += 1;
                false
            }
        });
        lost
    }
}

/// Changes after which the selection may be the same: then it is not marked as changed.
pub trait Select {
    /// Selects a node alone; the one selected before can be returned to.
    fn select(&mut self, timeline: &Timeline, node: NodeId);

    /// Selects a node, or deselects it if it is selected.
    fn toggle(&mut self, timeline: &Timeline, node: NodeId);

    /// Restores the earlier selection.
    fn back(&mut self, timeline: &Timeline);
}

impl<S: DetectChangesMut + DerefMut<Target = Selection>> Select for S {
    fn select(&mut self, timeline: &Timeline, node: NodeId) {
        if !self.nodes().eq([node]) {
            self.select_all(timeline, [node]);
        }
    }

    fn toggle(&mut self, timeline: &Timeline, node: NodeId) {
        if self.node() == Some(node) { self.clear() } else { self.select(timeline, node) }
    }

    fn back(&mut self, timeline: &Timeline) {
        let found = |(at, key): (usize, &String)| timeline.find(key).map(|node| (at, node));
        if let Some((at, node)) = self.history.iter().enumerate().rev().find_map(found) {
            self.history.truncate(at);
            self.selected = vec![(timeline.key(node), node)];
        }
    }
}

/// The filter of all views: nodes whose names contain a text, or for which an expression holds.
#[derive(Resource, Default, Clone, PartialEq, Eq)]
pub struct SharedFilter(pub String);

impl SharedFilter {
    /// Whether a text is meant as an expression over columns rather than as a part of a name.
    pub fn is_expression(text: &str) -> bool {
        // Angle brackets stand in names too: <init>, Map<K>.
        let operand = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '"' | '~' | '=');
        text.contains(['<', '>', '=', '~']) && text.contains(operand)
    }
}

/// A person's note and colour for a marked group.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkNote {
    /// Place in [`MARK_COLOURS`](memory_city_views::city::MARK_COLOURS).
    #[serde(default)]
    pub colour: usize,
    /// Text of the note.
    #[serde(default)]
    pub note: String,
}

/// No note is longer, in bytes.
pub const LONGEST_NOTE: usize = 2000;

/// Groups a user has marked, by key: they have a colour of their own and keep a name in every view.
#[derive(Resource, Default)]
pub struct Marks {
    notes: BTreeMap<String, MarkNote>,
    nodes: Vec<NodeId>,
    version: u64,
}

impl Marks {
    /// The marked nodes of the open document, in the order of their keys.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The note of a key, if it is marked.
    pub fn get(&self, key: &str) -> Option<&MarkNote> {
        self.notes.get(key)
    }

    /// All of them by key, those too that the present grouping does not have.
    pub fn all(&self) -> &BTreeMap<String, MarkNote> {
        &self.notes
    }

    /// Differs whenever a mark has changed; 0 while there is none.
    pub fn version(&self) -> u64 {
        if self.notes.is_empty() { 0 } else { self.version }
    }

    /// Marks a node, in the colour that is used least, or takes its mark away.
    pub fn toggle(&mut self, timeline: &Timeline, node: NodeId) {
        let key = timeline.key(node);
        if self.notes.remove(&key).is_none() {
            let used = |colour: &usize| self.notes.values().filter(|mark| mark.colour == *colour).count();
            let colour = (0..MARK_COLOURS.len()).min_by_key(used).unwrap_or_default();
            self.notes.insert(key, MarkNote { colour, note: String::new() });
        }
        self.rebind(timeline);
    }

    /// Changes the note of a mark; does nothing for other keys.
    pub fn set(&mut self, key: &str, mark: MarkNote) {
        if let Some(before) = self.notes.get_mut(key) {
            *before = mark;
            self.version += 1;
        }
    }

    /// Takes a mark away.
    pub fn remove(&mut self, timeline: &Timeline, key: &str) {
        self.notes.remove(key);
        self.rebind(timeline);
    }

    /// Takes others in their place.
    pub fn replace(&mut self, timeline: &Timeline, notes: BTreeMap<String, MarkNote>) {
        self.notes = notes;
        self.rebind(timeline);
    }

    fn rebind(&mut self, timeline: &Timeline) {
        self.version += 1;
        self.nodes = self.notes.keys().filter_map(|key| timeline.find(key)).collect();
    }
}

fn opened(
    _: On<Opened>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    mut marks: ResMut<Marks>,
    mut filter: ResMut<SharedFilter>,
) {
    (*selection, *pointing) = Default::default();
    *marks = Marks { version: marks.version + 1, ..Marks::default() };
    *filter = SharedFilter::default();
}

fn grew(
    _: On<Grew>,
    document: Res<Document>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    mut marks: ResMut<Marks>,
    mut notices: ResMut<Notices>,
) {
    let Some(timeline) = document.timeline() else { return };
    *pointing = Pointing::default();
    match selection.rebind(timeline) {
        0 => {}
        1 => notices.tell("Nothing is selected: the groups of now do not have what was"),
        lost => notices.tell(format!("{lost} groups are no longer selected: those of now do not have them")),
    }
    marks.rebind(timeline);
}

fn closed(
    _: On<Closed>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    mut marks: ResMut<Marks>,
) {
    (*selection, *pointing) = Default::default();
    marks.nodes.clear();
}

/// The actions on the selection.
fn selection_actions(
    mut actions: MessageReader<Action>,
    selection: Res<Selection>,
    mut marks: ResMut<Marks>,
    document: Res<Document>,
    mut notices: ResMut<Notices>,
) {
    let Some(timeline) = document.timeline() else {
        actions.clear();
        return;
    };
    for action in actions.read() {
        if *action == Action::Mark {
            match selection.node() {
                Some(node) => marks.toggle(timeline, node),
                None => {
                    let key = keys::key(Action::Mark);
                    notices.tell(format!("Select a group first, then {key} marks it: its name stays in sight"));
                }
            }
        }
    }
}

/// Selection, marks, filter, and the references of the selection.
pub struct SelectionPlugin;

impl Plugin for SelectionPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Selection>()
            .init_resource::<Pointing>()
            .init_resource::<Marks>()
            .init_resource::<SharedFilter>()
            .add_plugins(ReferencesPlugin)
            .add_observer(opened)
            .add_observer(grew)
            .add_observer(closed)
            .add_systems(Update, selection_actions.in_set(Stage::Act));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::TimePoint;

    /// Views follow what is marked as changed: they would scroll to it, or come to the front.
    #[test]
    fn what_stays_selected_is_no_change() {
        let mut tree = MemoryTree::new();
        for name in ["Order", "Basket"] {
            tree.child(0, &"Type".into(), &name.into());
        }
        let timeline = Timeline::from_trees(vec![TimePoint::default()], &[tree]);
        let mut world = World::new();
        world.init_resource::<Selection>();
        let mut changes = |change: &dyn Fn(&mut Mut<Selection>)| {
            world.clear_trackers();
            let mut selection = world.resource_mut::<Selection>();
            change(&mut selection);
            (selection.is_changed(), selection.nodes().map(|node| node.0).collect::<Vec<_>>())
        };
        assert_eq!(changes(&|selection| selection.back(&timeline)), (false, vec![]));
        assert_eq!(changes(&|selection| selection.select(&timeline, NodeId(1))), (true, vec![1]));
        assert_eq!(changes(&|selection| selection.select(&timeline, NodeId(1))), (false, vec![1]));
        assert_eq!(changes(&|selection| selection.add_or_remove(&timeline, NodeId(2))), (true, vec![2, 1]));
        assert_eq!(changes(&|selection| selection.select(&timeline, NodeId(2))), (true, vec![2]));
        assert_eq!(changes(&|selection| selection.toggle(&timeline, NodeId(2))), (true, vec![]));
        assert_eq!(changes(&|selection| selection.back(&timeline)), (true, vec![2]));
    }
}
