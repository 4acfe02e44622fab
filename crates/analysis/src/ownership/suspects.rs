//! Suspects: the places with the rest of a growth that no known place explains.

use super::history::{OwnerHistory, PlaceOverTime};

/// A place with a smaller part of the growth of the heap is no suspect.
const LEAST: f64 = 0.05;
/// Share of the place above that makes a place the one to look at.
const MOST: f64 = 0.7;

/// The places with most of the growth that `known` ones do not explain, as deep as most of it goes, with its bytes; most first.
pub(crate) fn suspects(history: &OwnerHistory, known: &[u32]) -> Vec<(u32, u64)> {
    let Some(heap) = history.places().first() else { return Vec::new() };
    let children = history.children();
    // From the bottom up: what known places have does not count above them.
    let mut order: Vec<u32> = Vec::with_capacity(children.len());
    let mut open = vec![0u32];
    while let Some(place) = open.pop() {
        order.push(place);
        open.extend(&children[place as usize]);
    }
    let mut rest: Vec<i64> = history.places().iter().map(PlaceOverTime::growth).collect();
    let mut explained = vec![0i64; rest.len()];
    for &place in order.iter().rev() {
        let at = place as usize;
        if known.contains(&place) {
            explained[at] = rest[at];
        }
        rest[at] -= explained[at];
        if place != 0 {
            explained[history.places()[at].parent as usize] += explained[at];
        }
    }
    let least = (LEAST * heap.growth().max(0) as f64).max(1.0) as i64;
    let mut found = Vec::new();
    let mut open = vec![0u32];
    while let Some(place) = open.pop() {
        let mut at = place;
        loop {
            let below = &children[at as usize];
            let best = below.iter().copied().max_by_key(|&p| rest[p as usize]);
            match best.filter(|&p| rest[p as usize] as f64 >= MOST * rest[at as usize] as f64) {
                Some(best) if !known.contains(&best) => at = best,
                _ => break,
            }
        }
        let names_nothing = {
            let it = &history.places()[at as usize];
            at == 0 || it.is_shared() || it.name.starts_with("class ") || it.is_thread()
        };
        let below = children[at as usize].iter().copied().filter(|&p| rest[p as usize] >= least);
        let below: Vec<u32> = below.filter(|p| !known.contains(p)).collect();
        match names_nothing && !below.is_empty() {
            true => open.extend(below),
            false if at != 0 => found.push((at, rest[at as usize].max(0) as u64)),
            false => {}
        }
    }
    found.sort_by_key(|&(place, bytes)| (std::cmp::Reverse(bytes), place));
    found
}
