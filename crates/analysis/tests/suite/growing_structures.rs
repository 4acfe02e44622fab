//! Data structures that grow: the example of the source, its patterns and their mirror images, and a Java program.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::tabular::ResultTable;
use memory_city_analysis::timeline::{History, Source};
use memory_city_formats::{HeapSeries, JVM, SnapshotInfo};
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    AddressSet, AllocationSite, Allocator, Csr, HeapBuilder, HeapColumns, HeapState, HeapType, NO_LENGTH, ObjectId,
    Origin, Origins, Profile, Root, RootKind, SpaceKind, ThreadId, TypeId, TypeKind, TypeSizes,
};
use memory_city_testing::{jvm, root};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Two states of a heap.
struct TwoStates {
    points: Vec<SnapshotInfo>,
    states: [Arc<HeapState>; 2],
    /// Whether objects have numbers that they keep.
    are_followed: bool,
}

impl HeapSeries for TwoStates {
    fn profile(&self) -> &'static Profile {
        &JVM
    }

    fn points(&self) -> &[SnapshotInfo] {
        &self.points
    }

    fn load(&self, index: usize, _: &Progress) -> Result<Arc<HeapState>> {
        Ok(Arc::clone(&self.states[index]))
    }

    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    fn follows_objects(&self, _: usize) -> bool {
        self.are_followed
    }
}

fn run(source: &Source, given: &[(&str, &str)]) -> Findings {
    let analysis = AnalysisRegistry::built_in().get("growing-structures").expect("it is there");
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    let window = TimeWindow::whole(source.timeline());
    analyses::run(&*analysis, source, window, &arguments, &Progress::new()).expect("growing structures")
}

fn between(states: [HeapState; 2], are_followed: bool) -> Findings {
    let point = |millis: u64| SnapshotInfo { label: format!("{millis}.hprof"), millis, path: "run".into(), gc: None };
    let series = TwoStates { points: vec![point(1), point(2)], states: states.map(Arc::new), are_followed };
    let history = History::build(Arc::new(series), "type", GroupOptions::default(), &Progress::new()).expect("grouped");
    run(&Source::Heaps(history), &[])
}

type Rows = Vec<BTreeMap<String, String>>;

fn table<'f>(findings: &'f Findings, id: &str) -> &'f ResultTable {
    findings.tables.iter().find(|table| table.header.id == id).expect("the table")
}

fn rows(findings: &Findings, id: &str) -> Rows {
    let table = table(findings, id);
    let columns = || table.header.columns.iter().map(|column| column.id.to_string());
    table.rows.iter().map(|row| columns().zip(row.cells.iter().map(|cell| cell.plain())).collect()).collect()
}

fn cells<const N: usize>(row: &BTreeMap<String, String>, columns: [&str; N]) -> [String; N] {
    columns.map(|column| row.get(column).unwrap_or_else(|| panic!("no {column} in {row:#?}")).clone())
}

fn heap_type(name: &str) -> HeapType {
    let kind = match name {
        "byte[]" => TypeKind::PrimitiveArray,
        _ if name.ends_with("[]") => TypeKind::ObjectArray,
        _ => TypeKind::Instance,
    };
    HeapType { name: name.into(), kind, superclass: None, loader: "app".into() }
}

/// A linked list with so many elements of 40 bytes from each of some sites; and other objects of so many bytes.
fn list_of(sites: [u64; 4], others: u32) -> HeapState {
    let types = ["java.util.LinkedList", "java.util.LinkedList$Node", "Measurement", "byte[]"];
    let (mut type_of, mut own_sizes, mut site_of) = (vec![0u32, 3], vec![32u32, others], vec![0u32, 0]);
    let mut outgoing: Vec<Vec<ObjectId>> = vec![vec![], vec![]];
    for (site, &elements) in (0u32..).zip(&sites) {
        for _ in 0..elements {
            let node = ObjectId(type_of.len() as u32);
            let before = if node.0 == 2 { ObjectId(0) } else { ObjectId(node.0 - 2) };
            outgoing[before.0 as usize].push(node);
            outgoing.push(vec![ObjectId(node.0 + 1)]);
            outgoing.push(Vec::new());
            type_of.extend([1, 2]);
            own_sizes.extend([24, 40]);
            site_of.extend([0, site + 1]);
        }
    }
    let n = type_of.len();
    let names = ["(unknown)", "Start.fill():1", "Load.first():2", "Load.second():3", "Load.third():4"];
    let sites = names.map(|name| AllocationSite { frames: vec![name.into()] }).to_vec();
    let mut origins = Origins::new(n, Arc::new(sites), vec!["main".into()], 0);
    for &site in &site_of {
        let space = SpaceKind::Unknown;
        origins.push(Origin { site, thread: ThreadId::UNKNOWN, allocator: Allocator::Unknown, birth: 0, space }, 0);
    }
    origins.is_walk = true;
    origins.followed = (1..=n as u64).collect();
    let addresses = AddressSet::new(3);
    let mut writer = addresses.writer();
    (0..n as u64).for_each(|o| {
        writer.insert(0x1000 + o * 8);
    });
    let held =
        |object: u32, field: &str| Root { object: ObjectId(object), kind: RootKind::StaticField, detail: field.into() };
    let offsets = std::iter::once(0).chain(outgoing.iter().scan(0, |sum, of| {
        *sum += of.len() as u32;
        Some(*sum)
    }));
    HeapState::new(HeapColumns {
        profile: &JVM,
        types: types.map(heap_type).to_vec(),
        sizes: TypeSizes { base: vec![0; 4], element: vec![0; 4], alignment: 8, ..TypeSizes::default() },
        mirror_of: vec![None; 4],
        length: type_of.iter().map(|&of| if of == 3 { 0 } else { NO_LENGTH }).collect(),
        type_of,
        own_sizes,
        addresses: addresses.finish(),
        outgoing: Csr::new(offsets.collect(), outgoing.concat()),
        roots: vec![held(0, "Statistics.list"), held(1, "Statistics.others")],
        origins: Some(origins),
        ..HeapColumns::default()
    })
}

/// Figure 14 of the source: a list grows by 960 kB, 19.3 % of the heap's growth. Its leaves grow from 5,000 to 20,000, 12.1 %. Each of three
/// new sites adds 5,000 of them, 4.0 %.
#[test]
fn the_example_of_the_source_has_its_numbers() {
    let findings = between([list_of([5000, 0, 0, 0], 1_000_000), list_of([5000; 4], 5_006_000)], true);
    let list = &rows(&findings, "growing")[0];
    assert_eq!(cells(list, ["type", "pattern"]), ["java.util.LinkedList", "container growth, sole owner"]);
    for size in ["retained", "structure", "deep_structure", "deep"] {
        let [bytes, share, objects] = cells(list, [size, &format!("{size}_share"), &format!("{size}_objects")]);
        assert_eq!((&*bytes, &*objects), ("960000", "30000"), "{size}");
        assert_eq!(format!("{:.1}", share.parse::<f64>().expect("a share")), "19.3", "{size}");
    }
    let contents = rows(&findings, "contents");
    let found: Vec<[String; 4]> =
        contents.iter().map(|row| cells(row, ["site", "objects_before", "objects", "bytes_change"])).collect();
    let expected = [
        ["Load.first():2", "0", "5000", "200000"],
        ["Load.second():3", "0", "5000", "200000"],
        ["Load.third():4", "0", "5000", "200000"],
        ["Start.fill():1", "5000", "5000", "0"],
    ];
    assert_eq!(found, expected.map(|row| row.map(str::to_owned)));
    let shares: Vec<f64> = contents.iter().map(|row| row["share"].parse().expect("a share")).collect();
    assert_eq!(shares.iter().take(3).map(|share| format!("{share:.1}")).collect::<Vec<_>>(), ["4.0"; 3]);
    assert_eq!(format!("{:.1}", shares.iter().sum::<f64>()), "12.1");
    assert!(findings.answers.iter().any(|answer| answer.contains("by identity")), "{:?}", findings.answers);
}

/// Lists with the same items, and one with items of its own: how many lists there are, their items, the bytes below each, the others.
#[derive(Clone, Copy)]
struct Lists {
    lists: u32,
    items: u32,
    below: u64,
    others: u32,
}

impl Lists {
    fn heap(self) -> HeapState {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let [list, array, item, bytes] = ["java.util.ArrayList", "java.lang.Object[]", "shop.Item", "byte[]"]
            .map(|name| heap.add_type(heap_type(name)));
        let add_items = |heap: &mut HeapBuilder, n: u32, below: u64| -> Vec<ObjectId> {
            let add = |_| {
                let held = heap.add_object(item, 24, None);
                let data = heap.add_object(bytes, below, Some(below as u32));
                heap.add_reference(held, data);
                held
            };
            (0..n).map(add).collect()
        };
        let add_list = |heap: &mut HeapBuilder, field: &str, items: &[ObjectId], of: [TypeId; 2]| {
            let (head, table) = (heap.add_object(of[0], 24, None), heap.add_object(of[1], 4016, Some(1000)));
            heap.add_reference(head, table);
            items.iter().for_each(|&item| heap.add_reference(table, item));
            heap.add_root(Root { object: head, kind: RootKind::StaticField, detail: field.into() });
        };
        let items = add_items(&mut heap, self.items, self.below);
        for number in 0..self.lists {
            add_list(&mut heap, &format!("shop.Shop.list{number}"), &items, [list, array]);
        }
        let others = add_items(&mut heap, self.others, 96);
        add_list(&mut heap, "shop.Shop.others", &others, [list, array]);
        heap.finish()
    }
}

#[test]
fn each_pattern_has_its_name_and_so_has_its_mirror_image() {
    let some = Lists { lists: 1, items: 100, below: 96, others: 100 };
    let shared = Lists { lists: 2, ..some };
    for (before, after, grows, shrinks) in [
        (some, Lists { items: 300, ..some }, "container growth, sole owner", "container shrinks, sole owner"),
        (shared, Lists { items: 300, ..shared }, "container growth, shared", "container shrinks, shared"),
        (some, Lists { below: 960, ..some }, "data growth, sole owner", "data shrinks, sole owner"),
        (shared, Lists { below: 960, ..shared }, "data growth, shared", "data shrinks, shared"),
        (some, Lists { items: 101, others: 300, ..some }, "no growth", "no growth"),
    ] {
        for (from, to, expected) in [(before, after, grows), (after, before, shrinks)] {
            let findings = between([from.heap(), to.heap()], false);
            let found = rows(&findings, "growing");
            let list = found.iter().find(|row| row["owners"].contains("list0")).expect("the list");
            assert_eq!(list["pattern"], expected, "{found:#?}");
            // What does not change is not listed before what does.
            assert_eq!(found[0]["owners"].contains("others"), grows == "no growth", "{expected}: {found:#?}");
            assert!(findings.answers.iter().any(|answer| answer.contains("no identity")), "{:?}", findings.answers);
        }
    }
}

/// The growing map comes first with the right number of elements, whatever has the same type beside it or grows inside it.
#[test]
fn the_growing_map_of_a_program_comes_first() {
    let Some(jdk) = jvm::jdk_from(11) else {
        jvm::skip("Growing", "there is no JDK 11 or newer");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let (classes, dumps) = (folder.path().join("classes"), folder.path().join("dumps"));
    std::fs::create_dir(&dumps).expect("a folder");
    jdk.compile(&[&root().join("tests/java/Growing.java")], ".", &classes);
    let mut running =
        jvm::Program::start(&jdk, &["-Xmx200m", "-XX:+UseSerialGC"], &classes.to_string_lossy(), "Growing");
    let mut paths: Vec<PathBuf> = Vec::new();
    for number in 1..=3 {
        paths.push(dumps.join(format!("{number}.hprof")));
        running.dump(&paths[number - 1], &[]);
        assert_eq!(running.ask("more"), (1000 * (number + 1)).to_string());
    }
    let source = Source::open(&paths, "type", GroupOptions::default(), &Progress::new()).expect("dumps");
    let findings = run(&source, &[]);
    let found = rows(&findings, "growing");
    let numbers = ["type", "structures_before", "structures", "elements_before", "elements", "pattern"];
    assert_eq!(
        cells(&found[0], numbers),
        ["java.util.HashMap", "1", "1", "1000", "3000", "container growth, sole owner"],
        "{found:#?}"
    );
    assert!(found[0]["owners"].contains("Growing.REGISTRY"), "{found:#?}");
    let set = found.iter().find(|row| row["type"] == "java.util.HashSet" && row["owners"].contains("REGISTRY"));
    assert_eq!(cells(set.expect("the set"), numbers)[..5], ["java.util.HashSet", "1", "1", "100", "300"], "{found:#?}");
    let retained: u64 = found[0]["retained"].parse().expect("bytes");
    // A session is an object, a number, an array, and a list with its array and a text of its own.
    assert!((2000 * 400..2000 * 600).contains(&retained), "{retained}");
    let new = rows(&findings, "new");
    let count: u64 = new[0]["count"].parse().expect("a count");
    // The VM may make a few of its own.
    assert!(new[0]["type"] == "java.util.ArrayList" && (2000..2010).contains(&count), "{new:#?}");
    let sessions = rows(&findings, "contents").into_iter().find(|row| row["type"] == "Growing$Session");
    let of_sessions = cells(&sessions.expect("sessions"), ["objects_before", "objects", "objects_change"]);
    assert_eq!(of_sessions, ["1000", "3000", "2000"]);
}
