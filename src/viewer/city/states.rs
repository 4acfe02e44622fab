//! Cache of the states of plots at the times visited last, of bounded size.

use super::box_order::BoxOrder;
use crate::viewer::scene::Versioned;
use memory_city_views::city::PlotState;
use std::collections::VecDeque;

/// How much memory the states of a city may take.
pub const MOST_BYTES: usize = 256 << 20;

/// The states of one point in time, for the GPU and for picking.
#[derive(Clone)]
pub struct TimeState {
    /// In drawing order.
    pub records: Versioned<PlotState>,
    /// Marks over the boxes, in drawing order: ghosts and signs. May be empty.
    pub over: Versioned<PlotState>,
    /// Which is which.
    pub(in crate::viewer) order: BoxOrder,
}

impl TimeState {
    /// The state of a plot.
    #[inline]
    pub fn of(&self, plot: usize) -> PlotState {
        self.records.records[self.order.box_of(plot)]
    }

    /// The same, if there is such a plot.
    pub fn get(&self, plot: usize) -> Option<PlotState> {
        self.records.records.get(self.order.box_of(plot)).copied()
    }
}

/// States by time, each in drawing order. The least recently used go when there are too many. The two used last always stay, since a step
/// goes from one to the other, and so do all times beside each other.
pub struct StatesCache {
    most: usize,
    /// Number of times that always stay.
    least: usize,
    bytes: usize,
    /// Used last first.
    kept: VecDeque<(usize, Versioned<PlotState>)>,
}

fn bytes_of(states: &Versioned<PlotState>) -> usize {
    size_of_val(&**states.records) + states.since.as_ref().map_or(0, |since| size_of_val(&*since.boxes))
}

impl StatesCache {
    /// Keeps at most `most` bytes.
    pub fn new(most: usize) -> Self {
        StatesCache { most, least: 2, bytes: 0, kept: VecDeque::new() }
    }

    /// Keeps so many times beside each other, which are all used in each frame; and the two of a step, which need not be among them.
    pub fn stay(&mut self, times: usize) {
        self.least = times + 2;
    }

    /// The states at `time`, computed if they are not here.
    pub fn get(&mut self, time: usize, compute: impl FnOnce() -> Versioned<PlotState>) -> Versioned<PlotState> {
        let entry = match self.kept.iter().position(|(t, _)| *t == time).and_then(|at| self.kept.remove(at)) {
            Some(entry) => entry,
            None => {
                let state = compute();
                self.bytes += bytes_of(&state);
                (time, state)
            }
        };
        let state = entry.1.clone();
        self.kept.push_front(entry);
        while self.bytes > self.most && self.kept.len() > self.least {
            if let Some((_, old)) = self.kept.pop_back() {
                self.bytes -= bytes_of(&old);
            }
        }
        state
    }

    /// The kept states of `time`.
    pub(in crate::viewer) fn kept(&self, time: usize) -> Option<&Versioned<PlotState>> {
        self.kept.iter().find(|(t, _)| *t == time).map(|(_, records)| records)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_journey_takes_no_more_memory_than_it_may() {
        let state = || Versioned::new(vec![PlotState::SLAB; 1000]);
        let one = bytes_of(&state());
        assert_eq!(one, 8000);
        let mut cache = StatesCache::new(5 * one);
        let mut computed = 0;
        for _ in 0..3 {
            for time in 0..1000 {
                let before = computed;
                cache.get(time, || {
                    computed += 1;
                    state()
                });
                assert!(cache.bytes <= 5 * one && cache.bytes == cache.kept.len() * one);
                // What was just shown is there.
                for back in (0..5.min(time + 1)).rev() {
                    cache.get(time - back, || unreachable!("kept"));
                }
                assert_eq!(computed, before + 1);
            }
        }
        // However little there may be, a step needs two.
        let mut small = StatesCache::new(1);
        (0..9).for_each(|time| drop(small.get(time, state)));
        assert_eq!(small.kept.len(), 2);
        // Several beside each other are not computed again for each frame, wherever the clock stands and comes from.
        small.stay(9);
        for frame in 0..2 {
            let made = || if frame == 0 { state() } else { unreachable!("kept") };
            (0..9).chain([50, 40]).for_each(|time| drop(small.get(time, made)));
        }
        small.stay(0);
        small.get(0, || unreachable!("kept"));
        small.get(100, state);
        assert_eq!(small.kept.len(), 2);
    }
}
