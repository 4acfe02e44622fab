//! The places of boxes in their columns: as near to their neighbours as the order allows.

use super::ROW_GAP;
use super::order::GraphOrder;

/// How often columns are gone through.
const SWEEPS: usize = 10;

/// By node: the middle of its height. The topmost edge is at 0.
pub(super) fn centres(order: &GraphOrder) -> Vec<f64> {
    let mut centre = vec![0.0; order.len()];
    for row in &order.levels {
        stack(order, row, &mut centre);
    }
    for sweep in 0..SWEEPS {
        let side = sweep % 2;
        let count = order.levels.len();
        for i in 0..count {
            let level = if side == 0 { i } else { count - 1 - i };
            let row = &order.levels[level];
            let wanted: Vec<(f64, f64)> = row
                .iter()
                .map(|&node| {
                    let near = order.near(node, side);
                    match near.len() {
                        0 => (centre[node], 0.2),
                        n => (near.iter().map(|&other| centre[other]).sum::<f64>() / n as f64, 1.0),
                    }
                })
                .collect();
            settle(order, row, &wanted, &mut centre);
        }
    }
    let top = (0..order.len()).map(|node| centre[node] - order.height(node) / 2.0).fold(f64::INFINITY, f64::min);
    if top.is_finite() {
        centre.iter_mut().for_each(|y| *y -= top);
    }
    centre
}

/// One below the other, around 0.
fn stack(order: &GraphOrder, row: &[usize], centre: &mut [f64]) {
    let all: f64 = row.iter().map(|&node| order.height(node) + gap(order, node)).sum();
    let mut y = -all / 2.0;
    for &node in row {
        centre[node] = y + order.height(node) / 2.0;
        y += order.height(node) + gap(order, node);
    }
}

fn gap(order: &GraphOrder, node: usize) -> f64 {
    if order.is_passing(node) { ROW_GAP / 3.0 } else { ROW_GAP }
}

/// Moves nodes to the places nearest to the wanted ones, by least squares, keeping order and gaps: pools of adjacent violators (Ayer et al.
/// 1955), after the height above each node is taken off.
fn settle(order: &GraphOrder, row: &[usize], wanted: &[(f64, f64)], centre: &mut [f64]) {
    let mut above = 0.0;
    let mut shift = Vec::with_capacity(row.len());
    for (i, &node) in row.iter().enumerate() {
        if i > 0 {
            let last = row[i - 1];
            above += (order.height(last) + order.height(node)) / 2.0 + gap(order, last).min(gap(order, node));
        }
        shift.push(above);
    }
    // Weight, mean, members.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (i, &(y, weight)) in wanted.iter().enumerate() {
        let mut pool = (weight, y - shift[i], 1);
        while let Some(&(w, mean, n)) = pools.last()
            && mean > pool.1
        {
            pool = (pool.0 + w, (pool.1 * pool.0 + mean * w) / (pool.0 + w), pool.2 + n);
            pools.pop();
        }
        pools.push(pool);
    }
    let mut i = 0;
    for (_, mean, n) in pools {
        for _ in 0..n {
            centre[row[i]] = mean + shift[i];
            i += 1;
        }
    }
}
