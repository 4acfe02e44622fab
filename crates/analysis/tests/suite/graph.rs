//! The object graph of the sample: a list of persons in a static field, as boxes, as tables, and of whole groups.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::object_graph::{GraphLimits, GraphStep, MapGraph, ObjectGraph};
use memory_city_analysis::tabular::{Cell, ResultTable};
use memory_city_analysis::timeline::{AUTO, NodeId, Source, json};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_testing::root;
use std::sync::OnceLock;

const PERSON: &str = "Heap#register.model.Person";

fn sample() -> &'static Source {
    static SAMPLE: OnceLock<Source> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let last = root().join("sample-data/person-leak/person-leak-16.hprof.gz");
        Source::open(&[last], "type", GroupOptions::default(), &Progress::new()).expect("the sample")
    })
}

fn node(key: &str) -> NodeId {
    sample().timeline().find(key).unwrap_or_else(|| panic!("no group {key}"))
}

fn run(given: &[(&str, &str)]) -> Findings {
    let analysis = AnalysisRegistry::built_in().get("graph").expect("the analysis");
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    analyses::run(&*analysis, sample(), TimeWindow::whole(sample().timeline()), &arguments, &Progress::new())
        .expect("it is made")
}

fn column<'a>(table: &'a ResultTable, row: usize, id: &str) -> &'a Cell {
    &table.rows[row].cells[table.header.column(id).expect("a column")]
}

#[test]
fn the_way_from_the_static_list_to_all_persons() {
    let found = run(&[("group", PERSON), ("alone", "yes")]);
    let [boxes, arrows, roots] = &found.tables[..] else { panic!("three tables") };
    let persons = column(boxes, 0, "objects").clone();
    assert_eq!(persons, Cell::Number(sample().timeline().amount(0, node(PERSON)).objects));
    // All are held over the nodes of the list, alone, and by a static field.
    let row = (0..arrows.rows.len())
        .find(|&row| *column(arrows, row, "to") == Cell::Number(1) && *column(arrows, row, "referenced") == persons)
        .expect("the nodes of the list");
    assert!(matches!(column(arrows, row, "from_group"), Cell::Text(name) if name.ends_with("LinkedList$Node")));
    assert_eq!(*column(arrows, row, "held"), persons);
    assert_eq!(*column(arrows, row, "alone"), persons);
    let field = (0..roots.rows.len()).find(|&row| *column(roots, row, "held") == persons).expect("a root of all");
    assert!(matches!(column(roots, field, "kind"), Cell::Text(kind) if kind == "Static field"), "{roots:?}");
    assert!(found.answers[0].contains("Static field"), "{:?}", found.answers);
    assert!(boxes.rows.len() < 40, "{}", boxes.rows.len());
}

/// Boxes of whole groups have the numbers of the reference maps, of heap states and of their trees in JSON alike.
#[test]
fn whole_groups_have_the_numbers_of_their_reference_maps() {
    let progress = Progress::new();
    let mut graph = MapGraph::new(sample(), 0, &[node(PERSON)], &progress).expect("a graph");
    let map = sample().references(0, node(PERSON), &progress).expect("a map").expect("references");
    let more = graph.points_to(sample(), 0, 5, &progress).expect("a step");
    graph.pointed_from(sample(), 0, 100, &progress).expect("a step");
    let shown = graph.graph();
    assert_eq!(more, map.outgoing.len().saturating_sub(5));
    for (edges, outgoing) in [(&map.outgoing[..map.outgoing.len().min(5)], true), (&map.incoming[..], false)] {
        for edge in edges {
            let other = shown.boxes.iter().position(|b| b.groups == [edge.other]).expect("a box");
            let (from, to) = if outgoing { (0, other) } else { (other, 0) };
            let arrow = shown.arrows.iter().find(|a| (a.from, a.to) == (from, to)).expect("an arrow");
            assert_eq!(
                (arrow.referencing, arrow.referenced, arrow.references),
                (edge.referencing, edge.referenced, edge.references)
            );
        }
    }
    // The same objects, one step around: a graph of objects tells the same of the group itself.
    let limits = GraphLimits { boxes_a_step: 1000, ..GraphLimits::default() };
    let mut objects =
        ObjectGraph::new(sample(), 0, &[node(PERSON)], KeepRules::default(), limits, &progress).expect("a graph");
    objects.apply(GraphStep::PointedFrom, 0, &progress).expect("a step");
    let incoming = objects.graph().arrows.iter().filter(|a| a.to == 0);
    let told: Vec<_> = incoming.map(|a| (a.referencing, a.referenced, a.references)).collect();
    let mut expected: Vec<_> = map.incoming.iter().map(|e| (e.referencing, e.referenced, e.references)).collect();
    let mut sorted = told.clone();
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    // Trees with references, without objects.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trees.json");
    let references = |time: usize| sample().time_references(time, &Progress::new());
    json::save(sample().timeline(), Some(&references), &path, &progress).expect("written");
    let trees = Source::open(&[path], AUTO, GroupOptions::default(), &progress).expect("trees");
    let person = trees.timeline().find(PERSON).expect("persons");
    let mut again = MapGraph::new(&trees, 0, &[person], &progress).expect("a graph");
    again.points_to(&trees, 0, 5, &progress).expect("a step");
    again.pointed_from(&trees, 0, 100, &progress).expect("a step");
    let plain = |graph: &MapGraph| {
        let name = |b: usize| graph.graph().boxes[b].name.clone();
        let mut all: Vec<_> =
            graph.graph().arrows.iter().map(|a| (name(a.from), name(a.to), a.referencing, a.referenced)).collect();
        all.sort();
        all
    };
    assert_eq!(plain(&again), plain(&graph));
}
