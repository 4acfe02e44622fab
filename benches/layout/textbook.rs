//! The baseline: squarified treemaps as they are usually written down. A row is a list, `worst` walks over it, the
//! remaining area is what is left after subtraction, every district allocates, and a tree is laid out recursively.

use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_views::city::{AreaMode, CityConfig, Rect};

/// The paper's procedure for descending values.
pub fn squarify(values: &[f64], area: Rect) -> Vec<Rect> {
    let scale = area.area() / values.iter().sum::<f64>();
    let areas: Vec<f64> = values.iter().map(|v| v * scale).collect();
    let mut cells = Vec::new();
    let mut rest = area;
    let mut row: Vec<f64> = Vec::new();
    let mut best = f64::INFINITY;
    for &a in &areas {
        row.push(a);
        let with = worst(&row, rest.w.min(rest.h));
        if with > best {
            row.pop();
            lay_row(&row, &mut rest, &mut cells);
            row = vec![a];
            best = worst(&row, rest.w.min(rest.h));
        } else {
            best = with;
        }
    }
    lay_row(&row, &mut rest, &mut cells);
    cells
}

fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    row.iter().map(|r| (side * side * r / (sum * sum)).max(sum * sum / (side * side * r))).fold(0.0, f64::max)
}

fn lay_row(row: &[f64], rest: &mut Rect, cells: &mut Vec<Rect>) {
    let thick = row.iter().sum::<f64>() / rest.w.min(rest.h);
    let mut along = 0.0;
    for a in row {
        let length = a / thick;
        cells.push(if rest.w < rest.h {
            Rect::new(rest.x + along, rest.y, length, thick)
        } else {
            Rect::new(rest.x, rest.y + along, thick, length)
        });
        along += length;
    }
    if rest.w < rest.h {
        (rest.y, rest.h) = (rest.y + thick, rest.h - thick);
    } else {
        (rest.x, rest.w) = (rest.x + thick, rest.w - thick);
    }
}

/// A whole city the plain way: leaves and their cells.
pub fn city(timeline: &Timeline, config: &CityConfig) -> Vec<(NodeId, Rect)> {
    let mut weights = vec![0.0; timeline.len()];
    weigh(timeline, config, NodeId::ROOT, &mut weights);
    let mut out = Vec::new();
    lay_out(timeline, config, &weights, NodeId::ROOT, Rect::new(-50.0, -50.0, 100.0, 100.0), &mut out);
    out
}

fn weigh(timeline: &Timeline, config: &CityConfig, node: NodeId, weights: &mut [f64]) -> f64 {
    let weight = if timeline.is_leaf(node) {
        let value = timeline.peak(node, config.metric) as f64;
        if config.area_mode == AreaMode::Sqrt { value.sqrt() } else { value }
    } else {
        let sum: f64 = timeline.children(node).iter().map(|&c| weigh(timeline, config, c, weights)).sum();
        sum / (config.border * config.border)
    };
    weights[node.index()] = weight;
    weight
}

fn lay_out(
    timeline: &Timeline,
    config: &CityConfig,
    weights: &[f64],
    node: NodeId,
    cell: Rect,
    out: &mut Vec<(NodeId, Rect)>,
) {
    if timeline.is_leaf(node) {
        out.push((node, cell));
        return;
    }
    let mut children: Vec<NodeId> = timeline.children(node).to_vec();
    children.sort_by(|a, b| weights[b.index()].total_cmp(&weights[a.index()]));
    let sorted: Vec<f64> = children.iter().map(|c| weights[c.index()]).collect();
    let cells = squarify(&sorted, cell.scaled(config.border));
    for (child, cell) in children.into_iter().zip(cells) {
        lay_out(timeline, config, weights, child, cell, out);
    }
}
