//! Objects one by one on the sample: from a group to an object, its fields, its holders, and down the dominator tree.
//! Closures of groups under any grouping. Held to plain counting.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::{self, GroupOptions};
use memory_city_analysis::inspection::{
    ClosureContents, ClosureKind, DominatedItem, DominatedList, DominatedOrder, GroupClosure, InspectedHeap,
    ObjectList, ObjectOrder, ObjectPage, ObjectTexts, PageLimits, RootWay, RowList, StackLine, Unfolded,
};
use memory_city_analysis::tabular::Cell;
use memory_city_analysis::timeline::{Amount, ClosureRequest, NodeId, Source};
use memory_city_heap::error::Error;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId, RootKind};
use memory_city_testing::root;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Persons in the last dump, each with a node of the list, two strings and their bytes.
const PERSONS: u64 = 12_400;
const PERSON: &str = "register.model.Person";
const NODE: &str = "java.util.LinkedList$Node";

fn sample() -> &'static Source {
    static SAMPLE: OnceLock<Source> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let last = root().join("sample-data/person-leak/person-leak-16.hprof.gz");
        Source::open(&[last], "type", GroupOptions::default(), &Progress::new()).expect("the sample")
    })
}

fn inspected() -> InspectedHeap<'static> {
    InspectedHeap::new(sample(), 0, KeepRules::default(), &Progress::new()).expect("a heap state")
}

fn node(name: &str) -> NodeId {
    sample().timeline().find(&format!("Heap#{name}")).unwrap_or_else(|| panic!("no group {name}"))
}

fn closure(inspected: &InspectedHeap<'_>, names: &[&str]) -> GroupClosure {
    let nodes: Vec<NodeId> = names.iter().map(|name| node(name)).collect();
    GroupClosure::of_nodes(inspected, &nodes, &Progress::new()).expect("a closure")
}

/// By type name: objects and bytes, counted one by one.
fn by_type(inspected: &InspectedHeap<'_>, set: &BitSet) -> BTreeMap<String, (u64, u64)> {
    let mut types: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for o in set.iter().map(ObjectId) {
        let heap = inspected.heap();
        let sum = types.entry(heap.types()[heap.type_of(o).0 as usize].name.clone()).or_default();
        *sum = (sum.0 + 1, sum.1 + heap.size_of(o));
    }
    types
}

fn run(id: &str, given: &[(&str, &str)]) -> Result<Findings, Error> {
    let analysis = AnalysisRegistry::built_in().get(id).expect(id);
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    analyses::run(&*analysis, sample(), TimeWindow::whole(sample().timeline()), &arguments, &Progress::new())
}

#[test]
fn several_groups_are_one_set_in_any_order() {
    let inspected = inspected();
    let both = closure(&inspected, &[PERSON, NODE]);
    let set = both.objects(ClosureKind::Shallow);
    assert_eq!(both.amount(ClosureKind::Shallow).objects, 2 * PERSONS);
    for order in ObjectOrder::ALL {
        let list = ObjectList::new(&inspected, set, order, &Progress::new()).expect("a list");
        assert_eq!((list.objects().len() as u64, list.amount()), (2 * PERSONS, both.amount(ClosureKind::Shallow)));
        assert_eq!(list.one_type(), None, "persons and nodes");
        let tree = inspected.dominators(&Progress::new()).expect("a tree");
        let key = |&o: &ObjectId| match order {
            ObjectOrder::Size => (std::cmp::Reverse(inspected.heap().size_of(o)), o),
            ObjectOrder::Retained => (std::cmp::Reverse(tree.retained(o).bytes), o),
            // Dumps know no ages.
            ObjectOrder::Age | ObjectOrder::Address => (std::cmp::Reverse(0), o),
        };
        assert!(list.objects().is_sorted_by_key(key), "{order:?}");
    }
    let persons = closure(&inspected, &[PERSON]);
    let list = ObjectList::new(&inspected, persons.objects(ClosureKind::Shallow), ObjectOrder::Size, &Progress::new());
    assert!(list.expect("a list").one_type().is_some());
}

#[test]
fn a_closure_is_what_the_groups_retain_and_its_contents_add_up() {
    let inspected = inspected();
    let history = sample().heaps().expect("a dump");
    // One group: the numbers of the trees. Two: what neither retains alone belongs to both.
    let request = ClosureRequest { rules: KeepRules::default(), deep: true };
    for name in [PERSON, NODE, "java.lang.String", "byte[]"] {
        let known = history.closures_of(0, &[node(name)], request, &Progress::new()).expect("amounts")[0];
        let found = closure(&inspected, &[name]);
        let amounts = [ClosureKind::Reachable, ClosureKind::Retained].map(|kind| found.amount(kind));
        assert_eq!(amounts, [known.deep, known.retained], "{name}");
    }
    let both = closure(&inspected, &[PERSON, NODE]);
    assert_eq!(both.amount(ClosureKind::Retained).objects, 6 * PERSONS);
    for kind in ClosureKind::ALL {
        let set = both.objects(kind);
        let types = by_type(&inspected, set);
        let sum = types.values().fold(Amount::default(), |mut sum, &(objects, bytes)| {
            sum += Amount { objects, bytes };
            sum
        });
        assert_eq!(sum, both.amount(kind));
        for grouping in ["type", "package>type", "type>array-length", "type>pointed-from", "rooted>type"] {
            let grouping = group::grouping(grouping).expect("a grouping");
            let contents = ClosureContents::new(&inspected, set, &grouping, &Progress::new()).expect("contents");
            let tree = contents.tree();
            if grouping.id != "type" {
                // An object of several groups counts once in what they have in common.
                let listed = contents.children(0).iter().map(|&n| tree.amount(n as usize).objects).sum::<u64>();
                assert!(tree.amount(0) == sum && listed >= sum.objects, "{}", grouping.id);
                continue;
            }
            let found: BTreeMap<String, (u64, u64)> = contents
                .children(0)
                .iter()
                .map(|&n| (tree.name(n as usize).to_string(), tree.amount(n as usize)))
                .map(|(name, amount)| (name, (amount.objects, amount.bytes)))
                .collect();
            assert_eq!(found, types, "{kind:?}");
            let bytes = |&n: &u32| std::cmp::Reverse(tree.amount(n as usize).bytes);
            assert!(contents.children(0).is_sorted_by_key(bytes), "{kind:?}");
        }
    }
}

/// The neighbours of an object are seen though they are not in the set.
#[test]
fn contents_are_grouped_as_the_heap_is() {
    let inspected = inspected();
    let persons = closure(&inspected, &[PERSON]);
    let grouping = group::grouping("type>pointed-from").expect("a grouping");
    let set = persons.objects(ClosureKind::Shallow);
    let contents = ClosureContents::new(&inspected, set, &grouping, &Progress::new()).expect("contents");
    let persons = contents.children(0)[0] as usize;
    let from: Vec<&str> = contents.children(persons).iter().map(|&n| &**contents.tree().name(n as usize)).collect();
    assert_eq!(from, [NODE]);
    let refused = group::grouping("age>type").map(|g| ClosureContents::new(&inspected, set, &g, &Progress::new()));
    let refused = refused.expect("a grouping").err().expect("a dump knows no ages").to_string();
    assert!(refused.contains("does not hold"), "{refused}");
}

#[test]
fn a_page_tells_fields_texts_and_the_way_to_the_root() {
    let inspected = inspected();
    let progress = Progress::new();
    let persons = closure(&inspected, &[PERSON]);
    let list = ObjectList::new(&inspected, persons.objects(ClosureKind::Shallow), ObjectOrder::Address, &progress);
    let person = list.expect("a list").objects()[0];
    assert_eq!(inspected.name(person), PERSON);
    assert_eq!(inspected.object_at(&inspected.address(person)), Some(person));
    assert_eq!(inspected.object_at("nonsense"), None);

    let page = ObjectPage::read(&inspected, person, PageLimits::default(), &progress).expect("a page");
    let fields = page.fields().expect("fields");
    let named = |name: &str| fields.iter().find(|f| &*f.name == name).and_then(|f| f.value.object());
    let strings = ["name", "telephone"].map(|name| named(name).unwrap_or_else(|| panic!("no {name}")));
    assert_eq!(fields.len(), 5);
    assert!(fields.iter().all(|field| &*field.class == PERSON));
    assert_eq!(page.referrers.iter().map(|&o| inspected.name(o)).collect::<Vec<_>>(), [NODE]);
    // What they say comes with the next batch, and by which field they are held.
    let mut told = ObjectTexts::default();
    assert_eq!(told.text(strings[0]), None);
    assert_eq!(told.place(person, strings[1]), None);
    assert_eq!(told.text(person), None);
    let request = told.take_request().expect("questions");
    told.keep(request.read(&inspected, &progress).expect("answers"));
    let text = told.text(strings[0]).flatten().expect("a text").to_owned();
    assert!(text.starts_with('"') && text.ends_with('"'), "{text}");
    assert_eq!(told.place(person, strings[1]).flatten(), Some("Person.telephone"));
    assert_eq!(told.text(person), Some(None), "a person says nothing");
    let own = ObjectPage::read(&inspected, strings[0], PageLimits::default(), &progress).expect("a page");
    assert_eq!(own.text.as_deref(), Some(&*text));
    let bytes = own.fields().expect("fields").iter().find(|f| &*f.name == "value").and_then(|f| f.value.object());
    let bytes =
        ObjectPage::read(&inspected, bytes.expect("an array"), PageLimits::default(), &progress).expect("bytes");
    let (_, length, stored) = bytes.primitives().expect("an array");
    assert_eq!((stored.len() as u32, bytes.left_out()), (length, 0));
    assert_eq!(format!("{:?}", String::from_utf8_lossy(stored)), text, "one byte a character");

    let way = RootWay::to(&inspected, person, &progress).expect("a search").expect("a way");
    assert_eq!(way.objects.last(), Some(&person));
    assert!(way.objects.windows(2).all(|pair| inspected.heap().references(pair[0]).contains(&pair[1])));
    assert_eq!(inspected.name(way.objects[0]), "class register.store.PersonRegistry");
    assert!(way.root.starts_with("Class loader"), "{}", way.root);
    let owners = RootWay::owners(&inspected, person, &progress).expect("owners");
    assert_eq!(inspected.name(*owners.last().expect("an owner")), "class register.store.PersonRegistry");
    let tree = inspected.dominators(&progress).expect("a tree");
    let garbage = inspected.heap().objects().find(|&o| !tree.is_reached(o)).expect("garbage");
    assert_eq!(RootWay::to(&inspected, garbage, &progress).expect("a search"), None);
}

/// The local variables that are roots are those below the methods of the threads' pages.
#[test]
fn threads_show_their_stacks_with_what_variables_hold() {
    let inspected = inspected();
    let progress = Progress::new();
    let heap = inspected.heap();
    let mut locals: Vec<ObjectId> = Vec::new();
    let mut frames = 0;
    for root in heap.roots().iter().filter(|root| root.kind == RootKind::Thread) {
        let page = ObjectPage::read(&inspected, root.object, PageLimits::default(), &progress).expect("a page");
        assert!(page.text.is_some(), "a thread has a name");
        assert!(matches!(page.stack.first(), None | Some(StackLine::Frame(_))), "{:?}", page.stack);
        for line in &page.stack {
            match line {
                StackLine::Frame(text) => frames += usize::from(text.contains("(")),
                StackLine::Local(o) => locals.push(*o),
            }
        }
    }
    // Each variable whose method is known says where it is, alone or several times in one place.
    let mut places = 0;
    for root in
        heap.roots().iter().filter(|root| root.kind == RootKind::LocalVariable && root.detail.contains(" line "))
    {
        let place = root.place().expect("a place");
        let told = inspected.roots(root.object);
        assert!(told.iter().any(|told| told.place.as_deref() == Some(place) && told.text.contains(place)), "{told:?}");
        places += 1;
    }
    assert!(places > 0);
    let others = heap.roots().iter().filter(|root| root.kind != RootKind::LocalVariable);
    assert!({ others }.all(|root| root.place().is_none()));
    let of_roots = heap.roots().iter().filter(|root| root.kind == RootKind::LocalVariable).map(|root| root.object);
    let mut expected: Vec<ObjectId> = of_roots.collect();
    expected.sort_unstable();
    locals.sort_unstable();
    expected.dedup();
    locals.dedup();
    assert!(expected.iter().all(|o| locals.binary_search(o).is_ok()), "{expected:?} below methods: {locals:?}");
    // Methods hold by locks and handles of native code too.
    assert!(locals.iter().all(|&o| heap.roots_of(o).next().is_some()));
    assert!(frames > 0 && !locals.is_empty());
}

/// The tree unfolds to the list of persons: one by one and by type the same objects are there, with the same amounts.
#[test]
fn the_dominator_tree_unfolds_to_any_object() {
    let inspected = inspected();
    let progress = Progress::new();
    let tree = inspected.dominators(&progress).expect("a tree").clone();
    for owner in [None, tree.owned(None).next()] {
        let owned: Vec<ObjectId> = tree.owned(owner).collect();
        let list = DominatedList::new(&inspected, owner, DominatedOrder::Objects, &progress).expect("a list");
        assert_eq!(list.len(), owned.len() as u64);
        for (at, &o) in owned.iter().enumerate() {
            assert_eq!(list.item(at as u64), Some(DominatedItem::Object(o)));
            assert_eq!((tree.place_of(o), tree.owner(o)), (Some(at as u64), owner));
        }
        assert_eq!((list.item(list.len()), list.item(u64::MAX)), (None, None));
        let types = DominatedList::new(&inspected, owner, DominatedOrder::Types, &progress).expect("a list");
        let (mut all, mut bytes) = (Vec::new(), 0);
        for at in 0..types.len() {
            let Some(DominatedItem::Type(row)) = types.item(at) else { panic!("a type") };
            assert!(row.objects.iter().all(|&o| inspected.heap().type_of(o) == row.of));
            assert_eq!(row.retained.bytes, row.objects.iter().map(|&o| tree.retained(o).bytes).sum::<u64>());
            all.extend(row.objects.iter().copied());
            bytes += row.retained.bytes;
        }
        all.sort_unstable();
        let mut sorted = owned.clone();
        sorted.sort_unstable();
        assert_eq!(all, sorted);
        assert_eq!(bytes, owned.iter().map(|&o| tree.retained(o).bytes).sum::<u64>());
    }
    let garbage = inspected.heap().objects().find(|&o| !tree.is_reached(o)).expect("garbage");
    assert_eq!(tree.place_of(garbage), None);

    // Down to a person, level by level.
    let persons = closure(&inspected, &[PERSON]);
    let person = ObjectId(persons.objects(ClosureKind::Shallow).iter().nth(5000).expect("a person"));
    let mut way = RootWay::owners(&inspected, person, &progress).expect("owners");
    way.reverse();
    let list = |owner| DominatedList::new(&inspected, owner, DominatedOrder::Objects, &progress).expect("a list");
    let mut unfolded = Unfolded::new(list(None));
    let mut above: Option<memory_city_analysis::inspection::UnfoldedPlace> = None;
    for &o in &way {
        let at = tree.place_of(o).expect("a place");
        let place = match above {
            None => unfolded.top(at),
            Some(above) => unfolded.below(above, at),
        };
        let place = place.expect("a row");
        unfolded.open(place, list(Some(o)));
        above = Some(place);
    }
    let place = unfolded.below(above.expect("an owner"), tree.place_of(person).expect("a place")).expect("a row");
    let row = unfolded.row(unfolded.number(place).expect("a number")).expect("a row");
    let item = unfolded.list(row).and_then(|list| list.item(row.at));
    assert_eq!((item, row.depth as usize), (Some(DominatedItem::Object(person)), way.len()));
}

#[test]
fn the_command_line_takes_several_groups_and_tells_closures() {
    let both = format!("Heap#{PERSON} + Heap#{NODE}");
    let found = run("inspect", &[("group", &both), ("top", "3"), ("by", "address")]).expect("objects");
    assert!(found.notes[0].starts_with("24,800 objects, "), "{:?}", found.notes);
    assert_eq!(found.tables[0].header.title, format!("Objects of Heap › Type: {PERSON} and Heap › Type: {NODE}"));
    let address = found.tables[0].rows[0].cells[0].plain();
    let one = run("inspect", &[("object", &address)]).expect("an object");
    let path = one.tables.iter().find(|t| t.header.id == "path").expect("a path");
    assert!(path.rows[1].cells[1].plain() == "class register.store.PersonRegistry", "{:?}", path.rows[1]);
    assert_eq!(path.rows[2].cells[0].plain(), "PersonRegistry.PERSONS");

    let found = run("closure", &[("group", &both)]).expect("a closure");
    assert_eq!(found.notes.len(), 3, "{:?}", found.notes);
    let objects = |row: usize| match found.tables[0].rows[row].cells[1] {
        Cell::Number(n) => n,
        _ => panic!("a number"),
    };
    let all: u64 = (0..found.tables[0].rows.len()).map(objects).sum();
    assert_eq!(all, 6 * PERSONS, "persons, nodes, strings and their bytes");
    let few = run("closure", &[("group", &both), ("kind", "reachable"), ("by", "package>type"), ("top", "1")]);
    let few = few.expect("a closure");
    assert_eq!(few.tables[0].rows.iter().map(|row| row.depth).collect::<Vec<_>>(), [0, 1]);
    assert!(few.tables[0].left_out.as_ref().is_some_and(|(count, _)| *count > 0));
    run("closure", &[("group", "Heap#Nobody")]).expect_err("there is no such group");
    run("closure", &[("by", "nonsense")]).expect_err("there is no such grouping");
}

#[test]
fn trees_have_no_objects_and_say_so() {
    let path = root().join("sample-data/json/lines.jsonl");
    let trees = Source::open(&[path], "auto", GroupOptions::default(), &Progress::new()).expect("trees");
    let why = InspectedHeap::offered(&trees).expect_err("trees have no objects");
    assert!(why.contains("not objects"), "{why}");
    let error = InspectedHeap::new(&trees, 0, KeepRules::default(), &Progress::new()).err().expect("refused");
    assert!(error.to_string().contains("Open heap dumps"), "{error}");
}

/// Objects that no root reaches, weak references included, are garbage for both.
#[test]
fn groupings_and_closures_count_the_same_garbage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("garbage.hprof");
    std::fs::write(&path, memory_city_testing::hprof_writer::small(2, 8, 300)).expect("written");
    let options = GroupOptions { include_unreachable: true, ..GroupOptions::default() };
    let open = |grouping| Source::open(std::slice::from_ref(&path), grouping, options, &Progress::new());
    let [types, garbage] = ["type", "what-is-garbage"].map(|grouping| open(grouping).expect("it opens"));
    let inspected = InspectedHeap::new(&types, 0, KeepRules::default(), &Progress::new()).expect("a heap state");
    let mut all = 0;
    for node in types.timeline().nodes().filter(|&node| types.timeline().is_leaf(node)) {
        let closure = GroupClosure::of_nodes(&inspected, &[node], &Progress::new()).expect("a closure");
        let of_grouping = garbage.timeline().find(&types.timeline().key(node));
        let counted = of_grouping.map_or(0, |node| garbage.timeline().amount(0, node).objects);
        assert_eq!(closure.garbage(), counted, "{}", types.timeline().key(node));
        all += counted;
    }
    assert!(all > 0 && all == garbage.timeline().amount(0, NodeId::ROOT).objects, "{all}");
}
