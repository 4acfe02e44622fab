//! The graph of whole groups, for inputs that have groups but no objects, and for views of whole groups.

use super::{GraphArrow, GraphBox, GraphRoot, GroupGraph};
use crate::timeline::references::ReferenceMap;
use crate::timeline::{NodeId, Source};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A graph whose boxes are whole groups, from their reference maps. A step adds all groups at the other ends.
#[derive(Clone, Debug)]
pub struct MapGraph {
    time: usize,
    /// Reference maps by box.
    maps: Vec<Arc<ReferenceMap>>,
    graph: GroupGraph,
}

impl MapGraph {
    /// The graph of some groups at a point in time, a box each.
    ///
    /// # Errors
    /// When the input tells nothing of references, a state cannot be loaded again, or the work was cancelled.
    pub fn new(source: &Source, time: usize, selected: &[NodeId], progress: &Progress) -> Result<MapGraph> {
        let mut graph = MapGraph { time, maps: Vec::new(), graph: GroupGraph::default() };
        for &node in selected {
            graph.add(source, node, 0, true, progress)?;
        }
        graph.count();
        Ok(graph)
    }

    /// The graph to draw.
    pub fn graph(&self) -> &GroupGraph {
        &self.graph
    }

    /// Adds the groups that a box refers to, at most `most`, those with most references first. Returns how many more there would be.
    ///
    /// # Errors
    /// As [`MapGraph::new`].
    pub fn points_to(&mut self, source: &Source, of: usize, most: usize, progress: &Progress) -> Result<usize> {
        self.step(source, of, most, 1, progress)
    }

    /// Adds the groups that refer to a box; as [`MapGraph::points_to`].
    ///
    /// # Errors
    /// As [`MapGraph::new`].
    pub fn pointed_from(&mut self, source: &Source, of: usize, most: usize, progress: &Progress) -> Result<usize> {
        self.step(source, of, most, -1, progress)
    }

    fn step(&mut self, source: &Source, of: usize, most: usize, direction: i32, progress: &Progress) -> Result<usize> {
        let Some(map) = self.maps.get(of).cloned() else { return Ok(0) };
        let edges = if direction > 0 { &map.outgoing } else { &map.incoming };
        let fresh: Vec<NodeId> = edges.iter().map(|edge| edge.other).filter(|&n| self.place(n).is_none()).collect();
        let column = self.graph.boxes[of].column + direction;
        for &node in fresh.iter().take(most) {
            self.add(source, node, column, false, progress)?;
        }
        self.count();
        Ok(fresh.len().saturating_sub(most))
    }

    fn place(&self, node: NodeId) -> Option<usize> {
        self.graph.boxes.iter().position(|b| b.groups == [node])
    }

    fn add(
        &mut self,
        source: &Source,
        node: NodeId,
        column: i32,
        is_selected: bool,
        progress: &Progress,
    ) -> Result<()> {
        if self.place(node).is_some() {
            return Ok(());
        }
        let map = source.references(self.time, node, progress)?.ok_or_else(|| Error::Unusable {
            what: "The input does not say what refers to what".into(),
            remedy: "Take a heap dump, record a trace with references, or write references into the JSON".into(),
        })?;
        let timeline = source.timeline();
        self.graph.boxes.push(GraphBox {
            groups: vec![node],
            name: timeline.display_name(node),
            other: 0,
            is_selected,
            column,
            amount: timeline.amount(self.time, node),
            internal: map.internal,
            beyond: 0,
            before: 0,
        });
        self.maps.push(map);
        Ok(())
    }

    /// Arrows and roots, from the maps of all boxes.
    fn count(&mut self) {
        let mut arrows: BTreeMap<(usize, usize), GraphArrow> = BTreeMap::new();
        for of in 0..self.maps.len() {
            let map = Arc::clone(&self.maps[of]);
            let mut outside = [0u64; 2];
            for (direction, edges) in [&map.outgoing, &map.incoming].into_iter().enumerate() {
                for edge in edges {
                    let Some(other) = self.place(edge.other) else {
                        outside[direction] += edge.references;
                        continue;
                    };
                    let (from, to) = if direction == 0 { (of, other) } else { (other, of) };
                    let (referencing, referenced) = (edge.referencing, edge.referenced);
                    let arrow = GraphArrow { from, to, referencing, referenced, references: edge.references };
                    arrows.insert((from, to), arrow);
                }
            }
            [self.graph.boxes[of].beyond, self.graph.boxes[of].before] = outside;
        }
        self.graph.arrows = arrows.into_values().collect();
        let mut roots: BTreeMap<(String, usize), GraphRoot> = BTreeMap::new();
        for (held, map) in self.maps.iter().enumerate() {
            for (text, count) in &map.roots {
                let kind = text.split_once(": ").map_or(text.as_str(), |(kind, _)| kind).to_owned();
                let root = roots.entry((kind.clone(), held)).or_insert_with(|| GraphRoot {
                    kind,
                    held,
                    roots: 0,
                    objects: None,
                    places: Vec::new(),
                });
                root.roots += count;
                root.places.push((text.clone(), *count));
            }
        }
        self.graph.roots = roots.into_values().collect();
    }
}
