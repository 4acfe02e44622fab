//! Who keeps what alive, on the sample: paths, owners, cuts and the dominator tree name the list that grows, by one count.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::ownership::chain::Owners;
use memory_city_analysis::ownership::{GroupWays, WayKind, WayQuestion};
use memory_city_analysis::tabular::{Cell, ResultTable};
use memory_city_analysis::timeline::Source;
use memory_city_formats::wire::{SeenWalk, WalkStream};
use memory_city_heap::error::Error;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use memory_city_testing::{hprof_writer, root};
use memory_city_wire::{RunRow, TraceOptions, TraceWriter, WalkStartRow};
use std::path::{Path, PathBuf};

/// Persons in the last dump, each with a node of the list and two strings.
const PERSONS: u64 = 12_400;
const PERSON: &str = "Heap#register.model.Person";

fn sample() -> Source {
    Source::open(&[root().join("sample-data/person-leak")], "type", GroupOptions::default(), &Progress::new())
        .expect("the sample")
}

fn run(source: &Source, id: &str, given: &[(&str, &str)]) -> Result<Findings, Error> {
    let analysis = AnalysisRegistry::built_in().get(id).expect(id);
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    analyses::run(&*analysis, source, TimeWindow::whole(source.timeline()), &arguments, &Progress::new())
}

fn cell<'a>(table: &'a ResultTable, row: usize, column: &str) -> &'a Cell {
    &table.rows[row].cells[table.header.column(column).unwrap_or_else(|| panic!("no column {column}"))]
}

fn number(table: &ResultTable, row: usize, column: &str) -> u64 {
    match cell(table, row, column) {
        Cell::Number(n) => *n,
        other => panic!("{column}: {other:?}"),
    }
}

/// The rows of one kind, as texts of one column.
fn texts(table: &ResultTable, kind: &str, column: &str) -> Vec<String> {
    let is = |row: &usize| table.header.kinds[table.rows[*row].kind].id == kind;
    (0..table.rows.len()).filter(is).map(|row| cell(table, row, column).plain()).collect()
}

#[test]
fn paths_lead_from_the_persons_to_the_static_field() {
    let source = sample();
    for kind in ["interesting", "shortest", "owners"] {
        let found = run(&source, "paths", &[("group", PERSON), ("kind", kind)]).expect("paths");
        let paths = &found.tables[0];
        let steps = texts(paths, "step", "step");
        assert_eq!(steps[0], "java.util.LinkedList$Node.item", "{kind}");
        assert!(steps[1..].iter().all(|step| step.starts_with("java.util.LinkedList.")), "{kind}: {steps:?}");
        let roots = texts(paths, "root", "step");
        assert!(!roots.is_empty() && roots.iter().all(|r| r == "Static field: register.store.PersonRegistry.PERSONS"));
        // The group and its nodes: all of it, each object once.
        for (row, objects) in [(0, PERSONS), (1, PERSONS), (2, 1)] {
            assert_eq!(number(paths, row, "objects"), objects, "{kind}");
        }
        assert_eq!(number(paths, 1, "reached"), PERSONS);
        // The list falls into those nodes to which it is nearest from either end, where only shortest paths count.
        let reached = texts(paths, "step", "reached");
        let halves = reached[1..].iter().map(|n| n.parse::<u64>().expect("a number"));
        match kind {
            "shortest" => assert_eq!(halves.sum::<u64>(), PERSONS),
            _ => assert!({ halves }.all(|n| n == PERSONS)),
        }
        let nearest = texts(&found.tables[1], "root", "root");
        assert_eq!(nearest, ["Static field: register.store.PersonRegistry.PERSONS"]);
    }
}

#[test]
fn several_keys_are_one_group() {
    let source = sample();
    let both = format!("{PERSON} + Heap#java.util.LinkedList$Node");
    let found = run(&source, "paths", &[("group", &both)]).expect("paths");
    assert_eq!(number(&found.tables[0], 0, "objects"), 2 * PERSONS);
    let refused = run(&source, "paths", &[("group", "Heap#Nobody")]).expect_err("there is no such group");
    assert!(refused.to_string().contains("Heap#Nobody"), "{refused}");
}

/// Cutting the field frees what the list retains, which is what the biggest of all objects but its class retains: three
/// ways to one number.
#[test]
fn what_is_cut_is_what_the_owner_retains() {
    let source = sample();
    let cut = run(&source, "cut", &[("cut", "register.store.PersonRegistry.PERSONS")]).expect("a cut");
    let freed = &cut.tables[0];
    let sum = |column: &str| (0..freed.rows.len()).map(|row| number(freed, row, column)).sum::<u64>();
    // Person, node, two strings with their bytes; and the list.
    assert_eq!(sum("objects"), 6 * PERSONS + 1);
    let biggest = run(&source, "biggest", &[("top", "2")]).expect("objects");
    let biggest = &biggest.tables[0];
    assert_eq!(cell(biggest, 1, "type").plain(), "java.util.LinkedList");
    assert_eq!(cell(biggest, 1, "owners").plain(), "Static field: register.store.PersonRegistry.PERSONS");
    assert_eq!(number(biggest, 1, "retained"), sum("bytes"));
    assert_eq!(number(biggest, 1, "retained_objects"), sum("objects"));

    // The same by group: each object is in one.
    let groups = &cut.tables[1];
    assert_eq!(groups.header.id, "freed_groups");
    let by_group: u64 = (0..groups.rows.len()).map(|row| number(groups, row, "objects")).sum();
    assert_eq!(by_group, sum("objects"));

    let list = cell(biggest, 1, "object").plain();
    let class = cell(biggest, 0, "object").plain();
    let between = run(&source, "cut", &[("cut", &format!("{class} -> {list}"))]).expect("a cut");
    assert_eq!(between.tables[0].rows, freed.rows, "a field is the references it consists of");
    let items = run(&source, "cut", &[("cut", "java.util.LinkedList$Node.item")]).expect("a cut");
    let persons = (0..items.tables[0].rows.len())
        .find(|&row| cell(&items.tables[0], row, "type").plain() == "register.model.Person")
        .expect("persons");
    assert_eq!(number(&items.tables[0], persons, "objects"), PERSONS);

    // By the class of the objects that have it, as chains name it: it inherits the field.
    let cut_bytes = |field: &str| {
        let found = run(&source, "cut", &[("cut", field)]).expect(field);
        (0..found.tables[0].rows.len()).map(|row| number(&found.tables[0], row, "bytes")).sum::<u64>()
    };
    let (some, all) = (cut_bytes("java.util.LinkedHashMap.table"), cut_bytes("java.util.HashMap.table"));
    assert!(0 < some && some < all, "{some} of {all}");

    for nonsense in [
        "java.util.LinkedHashMap.nothing",
        "no.such.Class.field",
        "0x1 -> 0x2",
        "nonsense",
        &format!("{list} -> {class}"),
    ] {
        run(&source, "cut", &[("cut", nonsense)]).expect_err(nonsense);
    }
}

/// Recordings have no values of fields, but their roots name static fields. Such a field can be cut by the name in
/// reports, and by its own name alone.
#[test]
fn static_fields_of_recordings_are_cut_by_their_roots() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("walks.mcity");
    let dump = sample();
    let last = dump.timeline().times() - 1;
    let heap = dump.heaps().expect("dumps").heap(last, &Progress::new()).expect("a dump");
    let mut stream = WalkStream::new(TraceWriter::create_file(&file, TraceOptions::default()).expect("a writer"));
    stream.write(&heap, WalkStartRow::default(), &SeenWalk::default(), &Progress::new()).expect("written");
    stream.finish("done").expect("ended");
    let source = Source::open(&[file], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
    let freed = |source: &Source, cut: &str| run(source, "cut", &[("cut", cut)]).expect(cut).tables.remove(0).rows;
    let field = "register.store.PersonRegistry.PERSONS";
    let expected = freed(&dump, field);
    assert!(expected.len() > 3);
    for cut in [field, &format!("Static field: {field}")] {
        assert!(freed(&source, cut) == expected, "{cut}");
    }
    // Fields of objects are not known.
    let refused = run(&source, "cut", &[("cut", "java.util.LinkedList$Node.item")]).expect_err("a field of objects");
    assert!(refused.to_string().contains("does not say what fields of objects hold"), "{refused}");
}

#[test]
fn the_dominator_tree_unfolds_to_what_is_retained() {
    let source = sample();
    let top = |given: &[(&str, &str)]| run(&source, "dominators", given).expect("a tree").tables.remove(0);
    let history = source.heaps().expect("dumps");
    let last = source.timeline().times() - 1;
    let (_, tree) = history.dominators(last, Default::default(), &Progress::new()).expect("a tree");
    // Whatever is listed and what is not: all that roots keep.
    for by in ["object", "type"] {
        let table = top(&[("depth", "1"), ("by", by), ("top", "7")]);
        let sum = |column: &str| (0..table.rows.len()).map(|row| number(&table, row, column)).sum::<u64>();
        let total = tree.total();
        assert_eq!((sum("retained"), sum("retained_objects")), (total.bytes, total.objects), "{by}");
    }
    let deep = top(&[("depth", "3"), ("top", "3"), ("most", "5")]);
    assert_eq!(deep.rows.len(), 5);
    assert!(deep.left_out.as_ref().is_some_and(|(rows, _)| *rows > 0), "what is cut is counted");
}

#[test]
fn the_chain_of_owners_ends_here() {
    let source = sample();
    let history = source.heaps().expect("dumps");
    let timeline = source.timeline();
    let person = timeline.find(PERSON).expect("persons");
    let progress = Progress::new();
    let owners = Owners::new(history, 0, timeline.times() - 1, &progress).expect("owners");
    let chain = owners.chains(history, &[person], false, 20, &progress).expect("a chain").remove(0);
    assert_eq!(chain.end, "here: held by Static field: register.store.PersonRegistry.PERSONS");
    assert_eq!(chain.about.objects, PERSONS);
    let steps: Vec<(&str, u64, u64)> =
        chain.steps.iter().map(|step| (step.of.as_str(), step.objects, step.keeps.objects)).collect();
    assert_eq!(steps, [("java.util.LinkedList$Node", PERSONS, PERSONS), ("java.util.LinkedList", 1, PERSONS)]);
    let keys: Vec<String> = chain.steps.iter().filter_map(|s| s.node).map(|n| timeline.key(n)).collect();
    assert_eq!(keys, ["Heap#java.util.LinkedList$Node", "Heap#java.util.LinkedList"], "each step is a group");
    let root = ("Static field: register.store.PersonRegistry.PERSONS".to_owned(), chain.about);
    assert_eq!(chain.roots, [root]);
}

/// A chain whose end keeps less than half says so, and only such a chain.
#[test]
fn a_chain_that_ends_at_little_says_so() {
    let source = sample();
    let history = source.heaps().expect("dumps");
    let timeline = source.timeline();
    let (last, progress) = (timeline.times() - 1, Progress::new());
    let owners = Owners::new(history, last, last, &progress).expect("owners");
    let leaves: Vec<_> = timeline.nodes().filter(|&node| timeline.is_leaf(node)).collect();
    let mut seen = [0, 0];
    for by_bytes in [false, true] {
        for chain in owners.chains(history, &leaves, by_bytes, 20, &progress).expect("chains") {
            let Some(end) = chain.steps.last().filter(|_| chain.end.starts_with("here: held by")) else { continue };
            let is_little = end.keeps.measured(by_bytes) * 2 < chain.about.measured(by_bytes);
            assert_eq!(chain.end.contains("no one way keeps half"), is_little, "{}", chain.end);
            seen[usize::from(is_little)] += 1;
        }
    }
    assert!(seen.iter().all(|&chains| chains > 10), "{seen:?}");
}

/// In a trace only what came within the window counts.
#[test]
fn of_a_trace_the_chain_is_about_what_came() {
    let path = root().join("tests/data/anttracks/person-leak-g1");
    let progress = Progress::new();
    let source = Source::open(&[path], "type", GroupOptions::default(), &progress).expect("a trace");
    let history = source.heaps().expect("a trace");
    let timeline = source.timeline();
    let last = timeline.times() - 1;
    let person = timeline.nodes().find(|&n| timeline.name(n).ends_with("Person")).expect("persons");
    let all = timeline.amount(last, person).objects;
    let mut before = u64::MAX;
    for from in 0..last {
        let owners = Owners::new(history, from, last, &progress).expect("owners");
        let chain = owners.chains(history, &[person], false, 20, &progress).expect("a chain").remove(0);
        // Persons are never freed: what came is the difference.
        let came = all - timeline.amount(from, person).objects;
        if came > 0 {
            assert_eq!((chain.only_new, chain.about.objects), (true, came), "from {from}");
        } else {
            assert_eq!((chain.only_new, chain.about.objects), (false, all), "from {from}");
        }
        assert!(came <= before);
        before = came;
    }
}

/// One array that owns all of them ranks as high as the object that refers to each. Of a table of the VM only new
/// objects count.
#[test]
fn owners_rank_by_what_they_keep_of_what_came() {
    let source = sample();
    let history = source.heaps().expect("dumps");
    let timeline = source.timeline();
    let (last, progress) = (timeline.times() - 1, Progress::new());
    let strings = timeline.find("Heap#java.lang.String").expect("strings");
    let came = Owners::new(history, 0, last, &progress).expect("owners");
    let found = came.of(history, &[strings], false, 50, &progress).expect("owners of strings");
    // Two of each person that came since the first dump, and none of those that classes and the VM hold.
    let persons = timeline.find(PERSON).expect("persons");
    let strings_of_all = 2 * timeline.amount(last, persons).objects;
    assert!(found.chain.only_new);
    // A few places of the VM grew as well.
    let about = found.chain.about.objects;
    assert!(
        (strings_of_all..=strings_of_all + strings_of_all / 100).contains(&about),
        "{about} in places that had fewer"
    );
    assert_eq!(found.chain.end, "here: held by Static field: register.store.PersonRegistry.PERSONS");
    for (name, objects) in
        [("register.model.Person", PERSONS), ("java.util.LinkedList$Node", PERSONS), ("java.util.LinkedList", 1)]
    {
        let owner = found.owners.iter().find(|owner| timeline.name(owner.node) == name).expect(name);
        assert_eq!((owner.objects, owner.keeps.objects), (objects, strings_of_all), "{name}");
    }
    // All of them: some are held otherwise.
    let all = Owners::new(history, last, last, &progress).expect("owners");
    let all = all.of(history, &[strings], false, 50, &progress).expect("owners of strings");
    assert!(!all.chain.only_new && all.chain.about.objects > about);
    assert!(all.owners[0].keeps.objects <= all.chain.about.objects);
}

/// A recording of walks. Each has a list of so many nodes, given by the number of each node, 0 for none. All other
/// objects have a lasting number of their own, or none if no node has one.
fn recording(folder: &Path, walks: &[Vec<u64>]) -> PathBuf {
    let times: Vec<u64> = (0..walks.len() as u64).map(|walk| walk * 1_000_000_000).collect();
    recording_at(folder, walks, &times, &[])
}

/// The same at these times, nanoseconds, with some facts of the run.
fn recording_at(folder: &Path, walks: &[Vec<u64>], times: &[u64], facts: &[(&str, &str)]) -> PathBuf {
    let file = folder.join("walks.mcity");
    let mut writer = TraceWriter::create_file(&file, TraceOptions::default()).expect("a writer");
    let fact = |(key, value): &(&str, &str)| RunRow { key: (*key).into(), value: (*value).into() };
    writer.write(&facts.iter().map(fact).collect::<Vec<_>>()).expect("written");
    let mut stream = WalkStream::new(writer);
    for (walk, numbers) in walks.iter().enumerate() {
        let dump = folder.join(format!("{walk}.hprof"));
        std::fs::write(&dump, hprof_writer::small(2, 8, numbers.len() as u64)).expect("written");
        let heap = memory_city_formats::open(&[dump], &Progress::new()).and_then(|s| s.load(0, &Progress::new()));
        let heap: std::sync::Arc<HeapState> = heap.expect("a dump");
        let is_followed = numbers.iter().any(|number| *number != 0);
        let number = |o: ObjectId| {
            let address = heap.address(o).expect("an address");
            let at = address.checked_sub(0x2000).filter(|at| at.is_multiple_of(0x80)).map(|at| at as usize / 0x80);
            match at.and_then(|at| numbers.get(at)) {
                Some(number) => *number,
                None => address << 20,
            }
        };
        let identities: Vec<(ObjectId, u64)> =
            heap.objects().map(|o| (o, number(o))).filter(|(_, number)| is_followed && *number != 0).collect();
        let seen = SeenWalk { identities: &identities, ..SeenWalk::default() };
        let start = WalkStartRow { time: times[walk], ..WalkStartRow::default() };
        stream.write(&heap, start, &seen, &Progress::new()).expect("written");
    }
    stream.finish("done").expect("ended");
    file
}

/// Where a recording followed all objects, what came is what was not there: however many of them are in the same place now.
#[test]
fn of_followed_objects_the_chain_is_about_those_that_were_not_there() {
    let stayed = |from: u64, to: u64| from..=to;
    // A hundred; of them sixty stay elsewhere in the list, and ninety come, five of them while it is walked over; then as many as
    // there were, of which fifteen stay.
    let walks: [Vec<u64>; 3] = [
        stayed(1, 100).collect(),
        stayed(41, 100).chain(stayed(101, 185)).chain([0; 5]).collect(),
        stayed(186, 320).chain(stayed(171, 185)).collect(),
    ];
    let chains = |walks: &[Vec<u64>]| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = recording(folder.path(), walks);
        let source = Source::open(&[file], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
        let history = source.heaps().expect("walks");
        let timeline = source.timeline();
        let nodes = timeline.nodes().find(|&n| timeline.name(n).ends_with("acme.Node")).expect("nodes");
        [(0, 1), (1, 2), (0, 2), (2, 2)].map(|(from, time)| {
            let owners = Owners::new(history, from, time, &Progress::new()).expect("owners");
            let chain = owners.chains(history, &[nodes], false, 5, &Progress::new()).expect("a chain").remove(0);
            assert!(chain.end.contains("com.acme.Node.list"), "{}", chain.end);
            let all = timeline.amount(time, nodes).objects;
            (chain.only_new, chain.about.objects, all - chain.about.objects)
        })
    };
    let [grown, replaced, both, none] = chains(&walks);
    // One more is held by a thread all the time.
    assert_eq!(grown, (true, 90, 61));
    assert_eq!(replaced, (true, 135, 16));
    assert_eq!(both, (true, 150, 1));
    assert_eq!(none, (false, 151, 0));
    // Without numbers places count: the list has grown, and all of it is one place; then it has not.
    let unknown = walks.map(|walk| vec![0; walk.len()]);
    assert_eq!(chains(&unknown).map(|(only_new, about, _)| (only_new, about))[1], (false, 151));
}

/// The start of a program is no leak: its walk is left out if there are others, and a note says so.
#[test]
fn the_walk_of_a_start_is_left_out_where_there_are_others() {
    // Walks in these seconds; recording begins in the first of the program's.
    for (seconds, keep, said) in [
        (&[1, 10, 20][..], false, "is left out here"),
        (&[1, 10, 20], true, ""),
        (&[1, 20], false, "counts as growth"),
        // The next walk is of the same start; the first is of a program that runs.
        (&[1, 6, 20], false, ""),
        (&[5, 10, 20], false, ""),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let walks: Vec<Vec<u64>> = seconds.iter().map(|second| vec![0; 100 + 50 * *second as usize]).collect();
        let times: Vec<u64> = seconds.iter().map(|second| second * 1_000_000_000).collect();
        let path =
            recording_at(folder.path(), &walks, &times, &[("recording.started", "2000"), ("vm.started", "1000")]);
        let source = Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
        let given = [("start", if keep { "keep" } else { "leave-out" }), ("least", "0")];
        let found = run(&source, "leak", &given).expect("run");
        let of_start: Vec<&String> = found.notes.iter().filter(|note| note.contains("of the first 2.0 s")).collect();
        match said {
            "" => assert_eq!(of_start, Vec::<&String>::new(), "{seconds:?}"),
            said => assert!(of_start.len() == 1 && of_start[0].contains(said), "{seconds:?}: {:?}", found.notes),
        }
        // The list is said to have grown from what it had at the first walk that was looked at.
        let left_out = said == "is left out here";
        let first = 100 + 50 * if left_out { seconds[1] } else { seconds[0] };
        let text = found.answers.join("\n");
        assert!(text.contains(&format!("({first} at first)")), "{seconds:?}: {text}");
    }
}

/// A root that is a variable says where in the code that is, apart from its thread; others say nothing.
#[test]
fn variables_that_keep_a_group_say_where_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let dump = folder.path().join("small.hprof");
    std::fs::write(&dump, hprof_writer::small(2, 8, 20)).expect("written");
    let source = Source::open(&[dump], "type", GroupOptions::default(), &Progress::new()).expect("a dump");
    let timeline = source.timeline();
    let nodes = timeline.nodes().find(|&n| timeline.name(n).ends_with("acme.Node")).expect("nodes");
    let question = WayQuestion { kind: WayKind::Shortest, share: 0, most: 100, rules: KeepRules::default() };
    let history = source.heaps().expect("a dump");
    let ways = GroupWays::find(history, 0, &[nodes], question, &Progress::new()).expect("ways");
    let mut roots: Vec<(&str, Option<&str>)> =
        ways.steps.iter().flat_map(|step| &step.roots).map(|root| (&*root.text, root.place.as_deref())).collect();
    roots.sort_unstable();
    roots.dedup();
    let variable = "com.acme.Node.run() line 42";
    assert_eq!(
        roots,
        [
            (&*format!("Local variable: thread \"worker\", {variable}"), Some(variable)),
            ("Static field: com.acme.Node.list", None),
        ]
    );
}
