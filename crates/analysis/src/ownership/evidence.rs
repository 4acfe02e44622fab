//! How sure it is that a place accumulates. A cache that is emptied and fills again is larger at the end of many a series, most often of a
//! short one.

use super::accumulation::{Accumulation, came_from_elsewhere, grows_in_steps, is_steady};
use super::course::Course;
use super::history::OwnerHistory;

/// Why the growth of a place may be none that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// All of it came after the last point in time but one.
    LastStep,
    /// It is little of the heap, at few points in time or uneven.
    Little,
    /// An array grew in steps: full ones double.
    Steps,
    /// It hardly grew in the last interval of few points in time.
    Slows,
    /// Other places have about as much less: its objects may come from there.
    Moved,
    /// The first of two points in time is of the start of the program.
    Start,
}

impl Doubt {
    /// For the end of a first line.
    pub fn text(self) -> &'static str {
        match self {
            Doubt::LastStep => "in the last step alone",
            Doubt::Little => "may be a cache that refills",
            Doubt::Steps => "in steps, another may follow",
            Doubt::Slows => "slower at the end, may be full",
            Doubt::Moved => "may have moved from other places",
            Doubt::Start => "since the start, may be warming up",
        }
    }
}

/// Points in time that are few.
const FEW: usize = 3;
/// Share of the heap; less growth at [`FEW`] points in time is little.
const LITTLE_OF_FEW: f64 = 0.1;
/// The same at more points in time, if it is uneven.
const LITTLE: f64 = 0.05;

/// Why the growth of a point may be none that goes on; `None` if it is sure enough to call it a leak.
pub fn doubt(history: &OwnerHistory, point: &Accumulation) -> Option<Doubt> {
    let bytes = |place: u32| history.places()[place as usize].held.iter().map(|held| held.total.bytes);
    let own: Vec<u64> = bytes(point.place).collect();
    if history.begins_at_start() && own.len() == 2 {
        return Some(Doubt::Start);
    }
    if own.len() > 2 && point.course == Course::LastStep {
        return Some(Doubt::LastStep);
    }
    if point.course == Course::Paused && grows_in_steps(&history.places()[point.place as usize].held) {
        return Some(Doubt::Steps);
    }
    if history.slows(point.place) {
        return Some(Doubt::Slows);
    }
    if own.len() > 2 && came_from_elsewhere(history, point) {
        return Some(Doubt::Moved);
    }
    let share = point.bytes.1.saturating_sub(point.bytes.0) as f64 / bytes(0).next_back().unwrap_or(0).max(1) as f64;
    let is_few = own.len() <= FEW;
    let is_little = share < LITTLE_OF_FEW && is_few
        || share < LITTLE && !is_steady(&own)
        || is_few && lies_in_what_shrinks(history, point.place);
    is_little.then_some(Doubt::Little)
}

/// Whether a place lies in one that became smaller: then something else in there came and went.
fn lies_in_what_shrinks(history: &OwnerHistory, place: u32) -> bool {
    let parent = |&place: &u32| Some(history.places()[place as usize].parent).filter(|&p| p != 0);
    std::iter::successors(parent(&place), parent).any(|above| history.places()[above as usize].growth() < 0)
}

#[cfg(test)]
mod tests {
    use super::{Doubt, doubt};
    use crate::ownership::{AccumulationRules, Holding, OwnerHistory, PlaceOverTime, accumulations};
    use memory_city_heap::{Amount, ObjectId};

    /// A list in a static field, with as many elements of 1 kB, and a rest of the heap; kilobytes.
    fn history(list: &[u64], rest: u64) -> OwnerHistory {
        let held = |of: &dyn Fn(u64) -> (u64, u64)| -> Vec<Holding> {
            let holding = |&kb: &u64| {
                let (objects, bytes) = of(kb);
                let total = Amount { objects, bytes: bytes * 1000 };
                Holding { own: total, total, heads: objects, largest: Some((ObjectId(1), 1000)) }
            };
            list.iter().map(holding).collect()
        };
        let place = |parent, name: &str, held| PlaceOverTime { parent, name: name.into(), held };
        OwnerHistory::of_places(vec![
            place(0, "Heap", held(&|kb| (kb + rest, kb + rest))),
            place(0, "class a.B", held(&|kb| (0, kb))),
            place(1, "static all", held(&|kb| (0, kb))),
            place(2, "java.util.ArrayList", held(&|kb| (1, kb))),
            place(3, "a.Element", held(&|kb| (kb, kb))),
        ])
    }

    /// The doubts of all subsets of three and more points in time in which the list accumulates.
    fn of_subsets(list: &[u64], rest: u64) -> Vec<Option<Doubt>> {
        let mut doubts = Vec::new();
        for subset in (0u32..1 << list.len()).filter(|subset| subset.count_ones() >= 3) {
            let (at, some): (Vec<u64>, Vec<u64>) = (0..).zip(list).filter(|(at, _)| subset >> at & 1 == 1).unzip();
            let history = history(&some, rest).with_clock(at);
            let points = accumulations(&history, AccumulationRules::default());
            doubts.extend(points.first().map(|point| doubt(&history, point)));
        }
        doubts
    }

    /// Adding a state of the same run never turns a right answer into a wrong one: caches that are emptied and fill again, queues with few
    /// elements now and many then.
    #[test]
    fn no_few_states_of_a_healthy_program_are_called_a_leak() {
        for (list, rest) in [
            (&[403, 117, 446, 120, 490, 203][..], 4200),
            (&[190, 12, 260, 44, 459, 424], 14_200),
            (&[600, 330, 20, 410, 730, 90], 14_900),
            (&[100, 150, 208, 140, 95, 150], 6400),
            (&[51, 42, 60, 33, 39, 52], 1600),
            // It fills up to a limit.
            (&[1000, 7000, 7400, 7450, 7480, 7490], 900),
        ] {
            let doubts = of_subsets(list, rest);
            assert!(!doubts.is_empty() && doubts.iter().all(Option::is_some), "{list:?}: {doubts:?}");
        }
    }

    /// Few states of a leak are called one. A list that is a small part of the heap takes four, and even growth.
    #[test]
    fn states_of_a_leak_are_called_one() {
        for (list, rest) in [
            (&[100, 200, 300, 400, 500, 600][..], 300),
            (&[500, 900, 1500, 2000, 2600, 3000], 4000),
            (&[0, 800, 1600, 2400], 3000),
        ] {
            let doubts = of_subsets(list, rest);
            assert!(doubts.iter().all(Option::is_none), "{list:?}: {doubts:?}");
            assert_eq!(doubts.len(), if list.len() == 6 { 42 } else { 5 });
        }
        let slow: Vec<u64> = (1..=6).map(|n| 50 * n).collect();
        for (list, expected) in [
            (&slow[..3], Some(Doubt::Little)),
            (&slow[..4], None),
            (&slow[..], None),
            (&[50, 60, 60, 150, 150, 240], Some(Doubt::Little)),
            (&[50, 50, 51, 900], Some(Doubt::LastStep)),
            (&[50, 300], Some(Doubt::Little)),
            (&[50, 9000], None),
        ] {
            let history = history(list, 5000);
            let points = accumulations(&history, AccumulationRules::default());
            assert_eq!(points.first().map(|point| doubt(&history, point)), Some(expected), "{list:?}");
        }
    }
}
