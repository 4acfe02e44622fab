//! Another state of the same run turns no right answer into a wrong one: every subset of three states and more names the same place.

use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::ownership::{AccumulationRules, OwnerHistory, OwnerPlaces, accumulations};
use memory_city_analysis::timeline::{GcKind, Source};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_testing::root;

/// So many states of a series are looked at: all subsets of more take too long.
const STATES: usize = 9;

/// The places of some states of a series and when each was, evenly spread; of traces the ends of collections of the whole heap alone.
fn states(path: &str) -> Vec<(u64, OwnerPlaces)> {
    let progress = Progress::new();
    let source = Source::open(&[root().join(path)], "type", GroupOptions::default(), &progress).expect(path);
    let points = source.timeline().points();
    let is_end = |t: &usize| points[*t].gc.as_ref().is_none_or(|gc| gc.end && gc.kind == GcKind::Major);
    let ends: Vec<usize> = (0..points.len()).filter(is_end).collect();
    let heaps = source.heaps().expect("heap states");
    let last = ends.len() - 1;
    let mut times: Vec<usize> = (0..STATES).map(|n| ends[n * last / (STATES - 1)]).collect();
    times.dedup();
    times
        .iter()
        .map(|&t| {
            let owners = heaps.owners(t, KeepRules::default(), &progress).expect("owners").1;
            (points[t].millis, owners.places().clone())
        })
        .collect()
}

/// The place where most accumulates.
fn answer<'p>(states: impl IntoIterator<Item = &'p (u64, OwnerPlaces)>) -> Option<String> {
    let (mut history, mut clock) = (OwnerHistory::default(), Vec::new());
    for (at, places) in states {
        history.add(places);
        clock.push(*at);
    }
    let history = history.settled().with_clock(clock);
    let found = accumulations(&history, AccumulationRules::default());
    found.first().map(|most| history.path(most.place).join(" › "))
}

#[test]
fn another_state_turns_no_right_answer_into_a_wrong_one() {
    for (path, right) in [
        ("sample-data/person-leak", "class register.store.PersonRegistry › static PERSONS › java.util.LinkedList"),
        ("tests/data/anttracks/person-leak-parallel", "java.util.LinkedList"),
    ] {
        let states = states(path);
        assert!(states.len() >= 3, "{path}");
        let mut wrong = Vec::new();
        let subsets = (0u32..1 << states.len()).filter(|subset| subset.count_ones() >= 3);
        for subset in subsets {
            let chosen = states.iter().enumerate().filter(|(n, _)| subset & 1 << n != 0).map(|(_, places)| places);
            let found = answer(chosen);
            if !found.as_ref().is_some_and(|found| found.contains(right)) {
                wrong.push(format!("{subset:b}: {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{path}: {} are wrong\n{}", wrong.len(), wrong.join("\n"));
    }
}
