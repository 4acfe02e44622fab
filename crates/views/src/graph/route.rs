//! The curves of arrows: from the right side of the referring box to the left side of the other, past the columns between.

use super::labels;
use super::order::{DrawnLink, GraphOrder};
use super::{BOX_WIDTH, COLUMN_GAP, GraphItem, GraphLink, GraphPicture, LEAST_WIDTH, LinkShape, MOST_WIDTH};
use memory_city_analysis::object_graph::{GroupGraph, HeldOver};
use rustc_hash::FxHashMap;

/// A point of an arrow's line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Where it is.
    pub x: f64,
    /// Downwards.
    pub y: f64,
    /// How wide the arrow is there.
    pub width: f64,
}

/// Points of one curve.
const STEPS: usize = 16;

/// Share of a box's side that arrows may take.
const SIDE: f64 = 0.9;

/// A side of a box: its right (`true`) or left one.
type Side = (GraphItem, bool);

pub(super) fn links(
    graph: &GroupGraph,
    held: Option<&HeldOver>,
    picture: &GraphPicture,
    links: &[DrawnLink],
    order: &GraphOrder,
    centres: &[f64],
) -> Vec<LinkShape> {
    let widths: Vec<(f64, f64)> = links.iter().map(|link| widths(graph, held, link.link)).collect();
    let ports = ports(picture, links, order, centres, &widths);
    let shape = |(i, link): (usize, &DrawnLink)| {
        let (from, to) = (ports[i].0, ports[i].1);
        let chain = &order.chains[i];
        let passing = &chain[1..chain.len() - 1];
        let mut corners = vec![(from.0, from.1)];
        for &node in passing {
            let left = order.level(node) as f64 * (BOX_WIDTH + COLUMN_GAP);
            let (enter, leave) = match from.2 {
                true => (left, left + BOX_WIDTH),
                false => (left + BOX_WIDTH, left),
            };
            corners.push((enter, centres[node]));
            corners.push((leave, centres[node]));
        }
        corners.push((to.0, to.1));
        let ends = (sign(from.2), -sign(to.2));
        let path = path(&corners, ends, (from.3, to.3));
        let (label, details) = labels::of_link(graph, held, link.link);
        let is_dim = held.is_some_and(|held| labels::held_over(held, link.link) == 0);
        LinkShape { link: link.link, from: link.from, to: link.to, path, label, details, is_dim }
    };
    links.iter().enumerate().map(shape).collect()
}

fn sign(right: bool) -> f64 {
    if right { 1.0 } else { -1.0 }
}

/// How wide an arrow is at its two ends.
fn widths(graph: &GroupGraph, held: Option<&HeldOver>, link: GraphLink) -> (f64, f64) {
    let width = |share: f64| LEAST_WIDTH + (MOST_WIDTH - LEAST_WIDTH) * share.clamp(0.0, 1.0);
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    if let Some(held) = held {
        let both = width(share(labels::held_over(held, link), held.objects));
        return (both, both);
    }
    match link {
        GraphLink::Arrow(i) => {
            let arrow = &graph.arrows[i];
            let objects = |b: usize| graph.boxes[b].amount.objects;
            (width(share(arrow.referencing, objects(arrow.from))), width(share(arrow.referenced, objects(arrow.to))))
        }
        GraphLink::Root(i) => {
            let root = &graph.roots[i];
            let end = width(share(root.objects.unwrap_or(root.roots), graph.boxes[root.held].amount.objects));
            (LEAST_WIDTH, end)
        }
    }
}

/// Where an arrow leaves or meets a box: x, y, whether at its right side, and how wide it is there.
type Port = (f64, f64, bool, f64);

/// Arrows stand beside each other at the sides of boxes, in the order of where they lead.
fn ports(
    picture: &GraphPicture,
    links: &[DrawnLink],
    order: &GraphOrder,
    centres: &[f64],
    widths: &[(f64, f64)],
) -> Vec<(Port, Port)> {
    let mut sides: FxHashMap<Side, Vec<(f64, usize, bool)>> = FxHashMap::default();
    let mut which = Vec::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        let chain = &order.chains[i];
        let (a, b) = (order.level(chain[0]), order.level(chain[chain.len() - 1]));
        // Within a column arrows go around at the right.
        let (leaves, meets) = (a <= b, a >= b);
        which.push((leaves, meets));
        sides.entry((link.from, leaves)).or_default().push((centres[chain[1]], i, true));
        sides.entry((link.to, meets)).or_default().push((centres[chain[chain.len() - 2]], i, false));
    }
    let none: Port = (0.0, 0.0, true, LEAST_WIDTH);
    let mut ports = vec![(none, none); links.len()];
    for ((item, right), mut ends) in sides {
        let Some(shape) = picture.shape(item) else { continue };
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let width = |&(_, i, begins): &(f64, usize, bool)| if begins { widths[i].0 } else { widths[i].1 };
        let all: f64 = ends.iter().map(|end| width(end) + 2.0).sum();
        let room = shape.rect.h * SIDE;
        let factor = (room / all).min(1.0);
        let mut y = shape.rect.y + shape.rect.h / 2.0 - all * factor / 2.0;
        let x = if right { shape.rect.x + shape.rect.w } else { shape.rect.x };
        for end in ends {
            let room = (width(&end) + 2.0) * factor;
            let port = (x, y + room / 2.0, right, width(&end) * factor);
            y += room;
            if end.2 { ports[end.1].0 = port } else { ports[end.1].1 = port }
        }
    }
    debug_assert!(which.iter().zip(&ports).all(|(w, p)| (w.0, w.1) == (p.0.2, p.1.2)));
    ports
}

/// Curves through corners, level at each of them; pairs of corners in between are the straight ways past a column. `ends` are
/// the directions along x in which the line leaves and arrives.
fn path(corners: &[(f64, f64)], ends: (f64, f64), widths: (f64, f64)) -> Vec<PathPoint> {
    let mut points: Vec<PathPoint> = Vec::new();
    let last = corners.len() - 1;
    for (i, pair) in corners.windows(2).enumerate() {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let way = if x1 == x0 { ends.0 } else { (x1 - x0).signum() };
        let out = if i == 0 { ends.0 } else { way };
        let into = if i + 1 == last { ends.1 } else { way };
        let bend = ((x1 - x0).abs() / 2.0).max(if out != into || out != way { COLUMN_GAP / 2.0 } else { 0.0 });
        let (c0, c1) = (x0 + out * bend, x1 - into * bend);
        let first = usize::from(i > 0);
        for step in first..=STEPS {
            let t = step as f64 / STEPS as f64;
            let (u, t2) = (1.0 - t, t * t);
            let cubic =
                |a: f64, b: f64, c: f64, d: f64| u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t2 * c + t2 * t * d;
            points.push(PathPoint { x: cubic(x0, c0, c1, x1), y: cubic(y0, y0, y1, y1), width: 0.0 });
        }
    }
    let count = points.len().max(2) - 1;
    for (i, point) in points.iter_mut().enumerate() {
        point.width = widths.0 + (widths.1 - widths.0) * i as f64 / count as f64;
    }
    points
}

/// How far a point is from an arrow: 0 on it.
pub(super) fn distance(path: &[PathPoint], x: f64, y: f64) -> f64 {
    let of_piece = |pair: &[PathPoint]| {
        let (dx, dy) = (pair[1].x - pair[0].x, pair[1].y - pair[0].y);
        let length = dx * dx + dy * dy;
        let t = match length > 0.0 {
            true => (((x - pair[0].x) * dx + (y - pair[0].y) * dy) / length).clamp(0.0, 1.0),
            false => 0.0,
        };
        let width = pair[0].width + (pair[1].width - pair[0].width) * t;
        ((pair[0].x + t * dx - x).hypot(pair[0].y + t * dy - y) - width / 2.0).max(0.0)
    };
    path.windows(2).map(of_piece).fold(f64::INFINITY, f64::min)
}

/// Moves the ends of a line, and the points between in proportion.
pub(super) fn bend(path: &mut [PathPoint], from: (f64, f64), to: (f64, f64)) {
    let last = path.len().max(2) - 1;
    for (i, point) in path.iter_mut().enumerate() {
        let t = i as f64 / last as f64;
        point.x += from.0 + (to.0 - from.0) * t;
        point.y += from.1 + (to.1 - from.1) * t;
    }
}
