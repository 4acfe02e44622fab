//! Tests of leaking places: the text about them, and the way of the city to them.

use super::*;
use crate::viewer::document::{Arrival, Draft, Preparations, install};
use memory_city_analysis::analyses::VerdictKind;
use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader};
use memory_city_analysis::timeline::{TimePoint, Timeline, Unit, json};

fn findings() -> Findings {
    let columns = [
        ("place", CellKind::Text, Cell::Text("Registry.persons › ArrayList".into())),
        ("last", CellKind::Number(Unit::Objects), Cell::Number(48_000)),
        ("share", CellKind::Percent, Cell::Percent(87.0)),
        ("path", CellKind::Text, Cell::Empty),
        ("owner", CellKind::Text, Cell::Text("class Registry#static persons#ArrayList".into())),
    ];
    let header = TableHeader {
        id: "leaks".into(),
        columns: columns.iter().map(|(id, kind, _)| Column::new(*id, *id, *kind, "")).collect(),
        ..TableHeader::default()
    };
    let rows = vec![Row { cells: columns.into_iter().map(|(_, _, cell)| cell).collect(), ..Row::default() }];
    let table = ResultTable { header, rows, left_out: Some((2, "places".into())), ..ResultTable::default() };
    Findings { tables: vec![table], notes: vec!["Two points in time".into()], ..Findings::default() }
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
    let table = &mut findings.tables[0];
    for (id, entries) in [("entries_first", 300), ("entries", 24_000)] {
        table.header.columns.push(Column::new(id, id, CellKind::Number(Unit::Objects), ""));
        table.rows[0].cells.push(Cell::Number(entries));
    }
    let leak = LeakPlace::of(&findings, 0).expect("a place");
    assert_eq!(leak.counts, ("300".into(), "24,000".into()));
}

/// Shows one place after the other, and then the first again; a hidden card comes back. With a single place there is no next one.
#[test]
fn places_are_told_one_after_the_other() {
    let mut findings = findings();
    let mut second = findings.tables[0].rows[0].clone();
    second.cells[0] = Cell::Text("Sessions.open".into());
    let of = |findings: &Findings| Finding {
        known: known(Ok(Ok(findings.clone()))),
        findings: Some(Arc::new(findings.clone())),
        hidden: true,
        ..Finding::default()
    };
    assert!(of(&findings).turn().is_none());
    findings.tables[0].rows.push(second);
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
    none.tables[0].rows.clear();
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
    let mut findings = findings();
    let table = &mut findings.tables[0];
    let mut second = table.rows[0].clone();
    for (row, owner) in [(&mut table.rows[0], "A"), (&mut second, "B")] {
        row.cells[0] = Cell::Text(owner.into());
        row.cells[4] = Cell::Text(owner.into());
    }
    table.rows.push(second);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    let groups = r#"[{"name":"A","objects":1,"bytes":9},{"name":"B","objects":1,"bytes":9}]"#;
    let text = format!(r#"{{"format":"memory-city","version":1,"tree":{{"children":{groups}}}}}"#);
    std::fs::write(&path, text).expect("written");
    let source = Arc::new(Source::Trees(json::read(&[path], &Progress::new()).expect("trees")));
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
    world.insert_resource(Finding {
        known: known(Ok(Ok(findings.clone()))),
        findings: Some(Arc::new(findings)),
        ..Finding::default()
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
    let Some(FindingState::Leaks(leak)) = world.resource::<Finding>().shown() else { panic!("a place") };
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
    world.resource_mut::<Finding>().wanted = Some("B".into());
    world.resource_mut::<Selection>().clear();
    assert_eq!(after(&mut world, Action::NextPlace), told("A", "A"));
}

#[test]
fn where_no_place_is_known_there_is_no_other_one() {
    let said = |known: FindingState| Finding { known, ..Finding::default() }.no_other();
    assert_eq!(said(FindingState::NoPlace(LeakVerdict::default())), "No place is known that leaks");
    assert_eq!(said(FindingState::Leaks(Box::default())), "No other place is known that leaks");
}
