//! Tests of leaking places: the text about them, and the way of the city to them.

use super::*;
use crate::viewer::document::{Arrival, Draft, Preparations, install};
use memory_city_analysis::analyses::{Evidence, EvidenceUnit, Finding, FoundPlace, VerdictKind};
use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::tabular::ResultTable;
use memory_city_analysis::timeline::{TimePoint, Timeline, json};

fn place(name: &str, owner: &str) -> Finding {
    let number = |id: &str, value, unit| Evidence { id: id.into(), value, unit };
    Finding {
        place: Some(FoundPlace { name: name.into(), owner: owner.into(), ..FoundPlace::default() }),
        evidence: vec![number("last", 48_000.0, EvidenceUnit::Objects), number("share", 87.0, EvidenceUnit::Percent)],
        ..Finding::default()
    }
}

fn findings() -> Findings {
    let table = ResultTable { left_out: Some((2, "places".into())), ..ResultTable::default() };
    let found = vec![place("Registry.persons › ArrayList", "class Registry#static persons#ArrayList")];
    Findings { found, tables: vec![table], notes: vec!["Two points in time".into()], ..Findings::default() }
}

#[test]
fn the_first_place_is_told_and_what_is_not_known_left_out() {
    let leak = LeakPlace::of(&findings(), 0).expect("a place");
    assert_eq!(leak.place, "Registry.persons › ArrayList");
    assert_eq!(leak.counts, (String::new(), "48,000".into()));
    assert_eq!((leak.share, leak.others), (0.87, 2));
    assert!(leak.way.is_empty());
    assert_eq!(leak.notes, ["Two points in time"]);
}

/// A map of 24,000 entries fills up with 48,000 keys and values.
#[test]
fn a_collection_says_itself_how_many_it_has() {
    let mut findings = findings();
    for (id, value) in [("entries_first", 300.0), ("entries", 24_000.0)] {
        findings.found[0].evidence.push(Evidence { id: id.into(), value, unit: EvidenceUnit::Objects });
    }
    let leak = LeakPlace::of(&findings, 0).expect("a place");
    assert_eq!(leak.counts, ("300".into(), "24,000".into()));
}

/// Shows one place after the other, and then the first again; a hidden card comes back. With a single place there is no next one.
#[test]
fn places_are_told_one_after_the_other() {
    let mut findings = findings();
    let of = |findings: &Findings| LeakSearch {
        known: known(Ok(Ok(findings.clone()))),
        findings: Some(Arc::new(findings.clone())),
        hidden: true,
        ..LeakSearch::default()
    };
    assert!(of(&findings).turn().is_none());
    findings.found.push(place("Sessions.open", ""));
    let mut finding = of(&findings);
    let told: Vec<(usize, String)> =
        (0..3).filter_map(|_| finding.turn().map(|leak| (leak.number, leak.place.clone()))).collect();
    let (first, second) = ("Registry.persons › ArrayList".to_owned(), "Sessions.open".to_owned());
    assert_eq!(told, [(1, second.clone()), (0, first), (1, second)]);
    assert!(!finding.is_hidden());
    let Some(FindingState::Leaks(leak)) = finding.shown() else { panic!("a place") };
    assert_eq!((leak.others, leak.notes.len()), (3, 1));
}

#[test]
fn nothing_that_grows_is_an_answer_too() {
    let mut none = findings();
    none.found.clear();
    none.verdict =
        Some(LeakVerdict { kind: VerdictKind::Ok, headline: "Nothing accumulates".into(), ..LeakVerdict::default() });
    assert!(
        matches!(known(Ok(Ok(none))), FindingState::NoPlace(verdict) if verdict.line() == "OK  Nothing accumulates")
    );
    assert!(matches!(known(Ok(Err(Error::Cancelled))), FindingState::Nothing));
    assert!(matches!(known(Err("broken".into())), FindingState::Failed(why) if why == "broken"));
}

#[test]
fn the_place_is_found_by_key_or_else_what_of_the_way_to_it_there_is() {
    let mut tree = MemoryTree::new();
    let role: Arc<str> = "Owner".into();
    let class = tree.child(0, &role, &"class Registry".into());
    let field = tree.child(class, &role, &"static persons".into());
    tree.add(field, memory_city_heap::Amount { objects: 1, bytes: 16 });
    let timeline = Timeline::from_trees(vec![TimePoint::default()], &[tree]);
    let key = |owner: &str| LeakPlace::node_in(owner, &timeline).map(|node| timeline.key(node));
    let all = timeline.nodes().map(|node| timeline.key(node)).max_by_key(String::len).expect("nodes");
    assert!(all.ends_with("class Registry#static persons"), "{all}");
    for owner in ["class Registry#static persons", "class Registry#static persons#ArrayList", &*all] {
        assert_eq!(key(owner).as_ref(), Some(&all), "{owner}");
    }
    assert_eq!(key("nobody"), None);
}

/// Two leaking places whose groups are both there, grouped by owner; the card shows the first.
pub(crate) fn two_places() -> World {
    two_places_at(1)
}

/// The same in a program with some points in time.
pub(crate) fn two_places_at(times: usize) -> World {
    let findings = Findings { found: vec![place("A", "A"), place("B", "B")], ..findings() };
    let folder = tempfile::tempdir().expect("a folder");
    let groups = r#"[{"name":"A","objects":1,"bytes":9},{"name":"B","objects":1,"bytes":9}]"#;
    let text = format!(r#"{{"format":"memory-city","version":1,"tree":{{"children":{groups}}}}}"#);
    let paths: Vec<_> = (0..times).map(|time| folder.path().join(format!("t{time}.json"))).collect();
    paths.iter().for_each(|path| std::fs::write(path, &text).expect("written"));
    let source = Arc::new(Source::Trees(json::read(&paths, &Progress::new()).expect("trees")));
    let mut world = World::new();
    world.init_resource::<Messages<Action>>();
    world.init_resource::<Document>();
    world.init_resource::<Loading>();
    world.init_resource::<Selection>();
    world.init_resource::<Notices>();
    world.init_resource::<Awake>();
    world.init_resource::<Preparations>();
    let settings = Settings { grouping: OWNERS.into(), ..Settings::default() };
    let preparations = world.resource::<Preparations>().clone();
    let arrival = Arrival::Opened;
    install(&mut world, Draft::new("x".into(), source, None, &settings, &preparations, arrival), arrival);
    world.insert_resource(settings);
    world.insert_resource(LeakSearch {
        known: known(Ok(Ok(findings.clone()))),
        findings: Some(Arc::new(findings)),
        ..LeakSearch::default()
    });
    world
}

/// Something is asked for.
pub(crate) fn press(world: &mut World, action: Action) {
    world.resource_mut::<Messages<Action>>().clear();
    world.write_message(action);
    world.run_system_cached(act).expect("it runs");
}

/// Runs an action. Returns the place that the card shows, and the selection.
fn after(world: &mut World, action: Action) -> (String, String) {
    press(world, action);
    let Some(FindingState::Leaks(leak)) = world.resource::<LeakSearch>().shown() else { panic!("a place") };
    let place = leak.place.clone();
    let open = world.resource::<Document>().get().expect("open");
    let selected = world.resource::<Selection>().node().map(|node| open.timeline.name(node).to_owned());
    (place, selected.unwrap_or_default())
}

/// The card and the city show the same place.
#[test]
fn the_city_goes_where_the_card_is() {
    let mut world = two_places();
    let told = |place: &str, selected: &str| (place.to_owned(), selected.to_owned());
    assert_eq!(after(&mut world, Action::NextPlace), told("B", ""), "nobody asked for the city to go anywhere");
    assert_eq!(after(&mut world, Action::NextPlace), told("A", ""));
    assert_eq!(after(&mut world, Action::ShowOwner), told("A", "A"));
    assert_eq!(after(&mut world, Action::NextPlace), told("B", "B"), "it has arrived, and goes on");
    // On the way: other groups are still shown.
    world.resource_mut::<LeakSearch>().wanted = Some("B".into());
    world.resource_mut::<Selection>().clear();
    assert_eq!(after(&mut world, Action::NextPlace), told("A", "A"));
}

#[test]
fn where_no_place_is_known_there_is_no_other_one() {
    let said = |known: FindingState| LeakSearch { known, ..LeakSearch::default() }.no_other();
    assert_eq!(said(FindingState::NoPlace(LeakVerdict::default())), "No place is known that leaks");
    assert_eq!(said(FindingState::Leaks(Box::default())), "No other place is known that leaks");
}
