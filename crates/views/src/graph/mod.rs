//! The aggregated object graph as a picture: boxes in columns, referrers to the left of the objects they refer to, GC roots by kind at the
//! very left.
//!
//! A [`GraphPicture`] holds the places and labels of a [`GroupGraph`], in units where a text is about 12 high; [`GraphFit`] scales it to a
//! room. A box is as tall as the square root of its measure, so that small ones can be read beside large ones. Each end of an arrow is as
//! wide as the share of the box there that takes part, like the cones of the city: few that refer to many are thin on the left and thick on
//! the right. If ownership is asked for, both ends are the share of the objects of the box in question that are held over the arrow.
//!
//! Boxes keep their order when the graph is extended, so that two pictures can be compared.
//!
//! | module | does |
//! |---|---|
//! | `order` | columns, and the order within them that has few crossings (Sugiyama, Tagawa and Toda 1981) |
//! | `place` | heights above the bottom: as near to the neighbours as the order allows |
//! | `route` | the curves of arrows |
//! | `labels` | texts |

mod labels;
mod order;
mod place;
mod route;
#[cfg(test)]
mod tests;

pub use route::PathPoint;

use crate::city::Rect;
use memory_city_analysis::object_graph::{GroupGraph, HeldOver};
use memory_city_analysis::timeline::Metric;
use order::{BoxColumns, DrawnLink};
use std::cmp::Reverse;

/// The thing that a box of the picture stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphItem {
    /// A box of the graph.
    Box(usize),
    /// A kind of GC roots: its place in [`GraphPicture::roots`].
    Roots(usize),
}

/// The thing that an arrow of the picture stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphLink {
    /// An arrow of the graph.
    Arrow(usize),
    /// Roots of the graph that hold objects of a box.
    Root(usize),
}

/// The look of a box. The viewer chooses the colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphTint {
    /// A selected group.
    Selected,
    /// Any group.
    Group,
    /// Several groups in one.
    Other,
    /// Objects that are in no group.
    NoGroup,
    /// Static fields: they last as long as their class.
    StaticRoot,
    /// Variables of threads, and locks: they last as long as a call.
    ThreadRoot,
    /// Any other roots.
    OtherRoot,
}

impl GraphTint {
    /// All of them, with their text in a legend.
    pub const ALL: [(GraphTint, &'static str); 7] = [
        (GraphTint::Selected, "Selected"),
        (GraphTint::Group, "Group"),
        (GraphTint::Other, "Several small groups"),
        (GraphTint::NoGroup, "In no group: a filter leaves them out"),
        (GraphTint::StaticRoot, "Static fields"),
        (GraphTint::ThreadRoot, "Variables and locks of threads"),
        (GraphTint::OtherRoot, "Other GC roots"),
    ];
}

/// A box, with its place and texts.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxShape {
    /// Where it is. `y` grows downwards.
    pub rect: Rect,
    /// Its column, from 0 at the left.
    pub column: usize,
    /// The look.
    pub tint: GraphTint,
    /// The first line: its name, which may be longer than the box is wide.
    pub title: String,
    /// The second line: how much it is.
    pub line: String,
    /// The lines of a tooltip.
    pub details: Vec<String>,
}

/// An arrow, with its place and texts.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkShape {
    /// The thing it stands for.
    pub link: GraphLink,
    /// Where it begins.
    pub from: GraphItem,
    /// Where it ends.
    pub to: GraphItem,
    /// Its way: points with its width there.
    pub path: Vec<PathPoint>,
    /// The text at its middle.
    pub label: String,
    /// The lines of a tooltip.
    pub details: Vec<String>,
    /// True if it is drawn dim: the box whose ownership is asked for has no objects that are held over it.
    pub is_dim: bool,
}

/// The configuration of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphConfig {
    /// The metric for the heights of boxes: bytes, or objects in any other case.
    pub metric: Metric,
    /// The most arrows: of more the ones with fewest references are left out, and counted.
    pub most_links: usize,
}

impl Default for GraphConfig {
    fn default() -> Self {
        GraphConfig { metric: Metric::Objects, most_links: 400 }
    }
}

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphPicture {
    /// Shapes by box of the graph.
    pub boxes: Vec<BoxShape>,
    /// Kinds of GC roots.
    pub roots: Vec<BoxShape>,
    /// Arrows; later ones are drawn above.
    pub links: Vec<LinkShape>,
    /// How many arrows are left out.
    pub left_out: usize,
    /// Extent along x and y, from 0.
    pub size: (f64, f64),
}

/// The width of boxes.
pub const BOX_WIDTH: f64 = 200.0;
/// How tall the smallest box is: two lines.
pub const LEAST_HEIGHT: f64 = 40.0;
/// How tall the largest is.
pub const MOST_HEIGHT: f64 = 120.0;
/// How wide an arrow is at an end at which all objects take part.
pub const MOST_WIDTH: f64 = 16.0;
/// No arrow is thinner.
pub const LEAST_WIDTH: f64 = 1.0;
/// Width between columns, for arrows and their labels.
const COLUMN_GAP: f64 = 150.0;
/// Between boxes of a column.
const ROW_GAP: f64 = 18.0;

impl GraphPicture {
    /// The picture of a graph. `held` shows ownership; `before` is the previous picture: boxes in both keep their order. Takes milliseconds
    /// for hundreds of boxes.
    pub fn new(
        graph: &GroupGraph,
        config: &GraphConfig,
        held: Option<&HeldOver>,
        before: Option<&GraphPicture>,
    ) -> GraphPicture {
        let kinds = kinds(graph);
        let columns = BoxColumns::of(graph, kinds.len());
        let (links, left_out) = links(graph, &kinds, config.most_links);
        let height = |item: GraphItem| height_of(graph, config.metric, item);
        let mut order = order::GraphOrder::new(&columns, &links, height);
        order.keep(before);
        order.untangle();
        let centres = place::centres(&order);
        let mut picture = GraphPicture { left_out, ..GraphPicture::default() };
        let shape = |item: GraphItem, node: usize| {
            let (column, height) = (order.level(node), order.height(node));
            let x = column as f64 * (BOX_WIDTH + COLUMN_GAP);
            let rect = Rect::new(x, centres[node] - height / 2.0, BOX_WIDTH, height);
            labels::of_item(
                graph,
                &kinds,
                held,
                item,
                BoxShape {
                    rect,
                    column,
                    tint: labels::tint(graph, &kinds, item),
                    title: String::new(),
                    line: String::new(),
                    details: Vec::new(),
                },
            )
        };
        picture.boxes =
            (0..graph.boxes.len()).map(|b| shape(GraphItem::Box(b), order.node(GraphItem::Box(b)))).collect();
        picture.roots = (0..kinds.len()).map(|k| shape(GraphItem::Roots(k), order.node(GraphItem::Roots(k)))).collect();
        let bottom = |shape: &BoxShape| shape.rect.y + shape.rect.h;
        let tall = picture.boxes.iter().chain(&picture.roots).map(bottom).fold(0.0, f64::max);
        let wide = picture.boxes.iter().chain(&picture.roots).map(|s| s.rect.x + s.rect.w).fold(0.0, f64::max);
        picture.size = (wide, tall);
        picture.links = route::links(graph, held, &picture, &links, &order, &centres);
        // Arrows out of their columns may go above, below or beside all boxes.
        picture.enclose();
        picture
    }

    /// Moves everything so that it begins at 0, and says how large it is.
    fn enclose(&mut self) {
        let mut least = (0.0f64, 0.0f64);
        let mut most = self.size;
        for point in self.links.iter().flat_map(|link| &link.path) {
            let half = point.width / 2.0;
            least = (least.0.min(point.x - half), least.1.min(point.y - half));
            most = (most.0.max(point.x + half), most.1.max(point.y + half));
        }
        for shape in self.boxes.iter_mut().chain(&mut self.roots) {
            shape.rect.x -= least.0;
            shape.rect.y -= least.1;
        }
        for point in self.links.iter_mut().flat_map(|link| &mut link.path) {
            point.x -= least.0;
            point.y -= least.1;
        }
        self.size = (most.0 - least.0, most.1 - least.1);
    }

    /// The shape of a box.
    pub fn shape(&self, item: GraphItem) -> Option<&BoxShape> {
        match item {
            GraphItem::Box(place) => self.boxes.get(place),
            GraphItem::Roots(place) => self.roots.get(place),
        }
    }

    /// The box at a point of the picture.
    pub fn item_at(&self, x: f64, y: f64) -> Option<GraphItem> {
        let at = |shape: &BoxShape| {
            let r = shape.rect;
            x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h
        };
        let of_box = self.boxes.iter().position(at).map(GraphItem::Box);
        of_box.or_else(|| self.roots.iter().position(at).map(GraphItem::Roots))
    }

    /// The arrow at a point of the picture: the nearest whose line is no further away than `reach`; its place in
    /// [`GraphPicture::links`].
    pub fn link_at(&self, x: f64, y: f64, reach: f64) -> Option<usize> {
        let far = |link: &LinkShape| route::distance(&link.path, x, y);
        let all = self.links.iter().enumerate().map(|(i, link)| (far(link), i));
        let nearest = all.min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        nearest.filter(|&(distance, _)| distance <= reach).map(|(_, i)| i)
    }

    /// A picture between two: boxes in both move from the old place to the new; `progress` from 0 to 1. New boxes are at their new place.
    #[must_use]
    pub fn between(before: &GraphPicture, after: &GraphPicture, progress: f64) -> GraphPicture {
        let mut mixed = after.clone();
        if progress >= 1.0 {
            return mixed;
        }
        let t = progress.max(0.0);
        let mix = |a: f64, b: f64| a + (b - a) * t;
        let blend = |from: &Rect, to: &mut Rect| {
            *to = Rect::new(mix(from.x, to.x), mix(from.y, to.y), mix(from.w, to.w), mix(from.h, to.h));
        };
        for (shape, from) in mixed.boxes.iter_mut().zip(&before.boxes) {
            blend(&from.rect, &mut shape.rect);
        }
        for shape in &mut mixed.roots {
            if let Some(from) = before.roots.iter().find(|from| from.title == shape.title) {
                blend(&from.rect, &mut shape.rect);
            }
        }
        for link in &mut mixed.links {
            let ends = (after.shape(link.from), after.shape(link.to));
            let now = (shape_in(&mixed.boxes, &mixed.roots, link.from), shape_in(&mixed.boxes, &mixed.roots, link.to));
            if let ((Some(a), Some(b)), (Some(from), Some(to))) = (ends, now) {
                let moved = |was: &Rect, is: &Rect| (is.x - was.x, is.y + is.h / 2.0 - was.y - was.h / 2.0);
                route::bend(&mut link.path, moved(&a.rect, &from.rect), moved(&b.rect, &to.rect));
            }
        }
        mixed
    }
}

fn shape_in<'a>(boxes: &'a [BoxShape], roots: &'a [BoxShape], item: GraphItem) -> Option<&'a BoxShape> {
    match item {
        GraphItem::Box(place) => boxes.get(place),
        GraphItem::Roots(place) => roots.get(place),
    }
}

/// Kinds of roots, in their order in the graph.
fn kinds(graph: &GroupGraph) -> Vec<&str> {
    let mut kinds: Vec<&str> = Vec::new();
    for root in &graph.roots {
        if !kinds.contains(&&*root.kind) {
            kinds.push(&root.kind);
        }
    }
    kinds
}

/// The links drawn as arrows, and how many more there would be.
fn links(graph: &GroupGraph, kinds: &[&str], most: usize) -> (Vec<DrawnLink>, usize) {
    let arrows = graph.arrows.iter().enumerate().map(|(i, arrow)| {
        let (from, to) = (GraphItem::Box(arrow.from), GraphItem::Box(arrow.to));
        (arrow.references, DrawnLink { link: GraphLink::Arrow(i), from, to })
    });
    let roots = graph.roots.iter().enumerate().map(|(i, root)| {
        let kind = kinds.iter().position(|kind| *kind == root.kind).unwrap_or(0);
        (
            root.roots,
            DrawnLink { link: GraphLink::Root(i), from: GraphItem::Roots(kind), to: GraphItem::Box(root.held) },
        )
    });
    let mut all: Vec<(u64, DrawnLink)> = roots.chain(arrows).collect();
    let left_out = all.len().saturating_sub(most);
    if left_out > 0 {
        all.sort_by_key(|&(references, _)| Reverse(references));
        all.truncate(most);
    }
    (all.into_iter().map(|(_, link)| link).collect(), left_out)
}

/// How tall a box is: its share of the largest, as a root.
fn height_of(graph: &GroupGraph, metric: Metric, item: GraphItem) -> f64 {
    let GraphItem::Box(place) = item else { return LEAST_HEIGHT };
    let value = |b: usize| match metric {
        Metric::Bytes => graph.boxes[b].amount.bytes,
        _ => graph.boxes[b].amount.objects,
    };
    let most = (0..graph.boxes.len()).map(value).max().unwrap_or(0).max(1);
    let share = (value(place) as f64 / most as f64).sqrt();
    LEAST_HEIGHT + (MOST_HEIGHT - LEAST_HEIGHT) * share
}

/// How a picture is put into a room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphFit {
    /// Units of the room for one of the picture.
    pub scale: f64,
    /// Where the picture's 0 is.
    pub offset: (f64, f64),
}

impl GraphFit {
    /// All of a picture in the middle of a room, a margin around it; no larger than it was made.
    pub fn new(picture: &GraphPicture, room: Rect, margin: f64) -> GraphFit {
        let (wide, tall) = (picture.size.0.max(1.0), picture.size.1.max(1.0));
        let (w, h) = ((room.w - 2.0 * margin).max(1.0), (room.h - 2.0 * margin).max(1.0));
        let scale = (w / wide).min(h / tall).min(1.0);
        let offset = (room.x + (room.w - wide * scale) / 2.0, room.y + (room.h - tall * scale) / 2.0);
        GraphFit { scale, offset }
    }

    /// Maps a point from the picture to the room.
    pub fn there(&self, x: f64, y: f64) -> (f64, f64) {
        (self.offset.0 + x * self.scale, self.offset.1 + y * self.scale)
    }

    /// Maps a point from the room to the picture.
    pub fn back(&self, x: f64, y: f64) -> (f64, f64) {
        ((x - self.offset.0) / self.scale, (y - self.offset.1) / self.scale)
    }

    /// Larger or smaller around a point of the room, which stays where it is.
    #[must_use]
    pub fn zoomed(&self, factor: f64, x: f64, y: f64) -> GraphFit {
        let scale = (self.scale * factor).clamp(0.05, 4.0);
        let (px, py) = self.back(x, y);
        GraphFit { scale, offset: (x - px * scale, y - py * scale) }
    }
}
