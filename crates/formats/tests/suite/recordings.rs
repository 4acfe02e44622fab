//! Recordings in our own format. A converted heap is the same heap. Samples are a share and nothing more. A cut or
//! damaged file is shown up to there.

use memory_city_formats::values::{FieldValue, ObjectRecord, ReferencePlace};
use memory_city_formats::{GcNoun, HeapSeries, LifeEvent, LifeStep, open, wire};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, RootKind, TypeId};
use memory_city_testing::hprof_writer::{reflective, small};
use memory_city_testing::root;
use memory_city_testing::shop::complete_walk;
use memory_city_wire::{
    ChunkKind, ClassRow, CohortRow, CollectionKind, CountRow, DeathRow, FrameRow, GcRow, GcScope, LoaderRow,
    LossReason, LossRow, ObjectNaming, OldSamplesRow, RunRow, SampleRow, SettingRow, StringRow, ThreadRow,
    TraceOptions, TraceTables, TraceWriter, WalkObject, WalkReferenceRow, WalkRootRow, WalkSampleRow, WalkStartRow,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn opened(paths: &[PathBuf]) -> Box<dyn HeapSeries> {
    open(paths, &Progress::new()).expect("a series")
}

/// A series, and the same written as a recording and opened again.
fn converted(paths: &[PathBuf], points: Option<&[usize]>) -> (Box<dyn HeapSeries>, Box<dyn HeapSeries>, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("converted.mcity");
    let from = opened(paths);
    let all: Vec<usize> = (0..from.points().len()).collect();
    let saved = wire::save(&*from, points.unwrap_or(&all), &file, &Progress::new()).expect("saved");
    assert_eq!(saved.walks, points.unwrap_or(&all).len());
    // Of a trace nothing but what is wrong with it.
    let of_data = saved.left_out.iter().any(|what| !what.ends_with("about the input"));
    assert_eq!(of_data, from.recording().is_none(), "{:?}", saved.left_out);
    let to = opened(std::slice::from_ref(&file));
    assert_eq!(to.warnings(), [], "nothing is wrong with what was written");
    (from, to, saved.bytes)
}

fn type_text(heap: &HeapState, t: TypeId) -> String {
    let of = &heap.types()[t.0 as usize];
    let superclass = of.superclass.map(|s| heap.types()[s.0 as usize].name.clone());
    let chain: Vec<_> = heap.loaders().chain(t).map(|l| l.name.to_string()).collect();
    let sizes = heap.type_sizes();
    let layout = sizes.fields.get(t.0 as usize);
    format!("{} {:?} {superclass:?} {} {chain:?} {layout:?} {}", of.name, of.kind, of.loader, sizes.reference)
}

/// Whether two heap states say the same of everything.
fn assert_same(from: &HeapState, to: &HeapState, what: &str) {
    assert_eq!(from.object_count(), to.object_count(), "{what}");
    assert_eq!(from.reference_count(), to.reference_count(), "{what}");
    assert_eq!(from.totals(), to.totals(), "{what}: all and unreachable");
    let known = |heap: &HeapState| (heap.has_sites(), heap.origins().is_some(), heap.has_class_objects());
    assert_eq!(known(from), known(to), "{what}");
    let mut texts: std::collections::HashMap<(TypeId, TypeId), ()> = std::collections::HashMap::new();
    for o in from.objects() {
        texts.entry((from.type_of(o), to.type_of(o))).or_insert_with(|| {
            assert_eq!(type_text(from, from.type_of(o)), type_text(to, to.type_of(o)), "{what}");
        });
        assert_eq!(from.address(o), to.address(o), "{what}");
        assert_eq!(from.size_of(o), to.size_of(o), "{what}: {}", type_text(from, from.type_of(o)));
        assert_eq!(from.array_length(o), to.array_length(o), "{what}");
        assert_eq!(from.references(o), to.references(o), "{what}");
        assert_eq!(from.is_reachable(o), to.is_reachable(o), "{what}");
        assert_eq!(from.allocation_site(o), to.allocation_site(o), "{what}");
        assert_eq!(from.referents().of(o), to.referents().of(o), "{what}");
        assert_eq!(from.parts_of(o), to.parts_of(o), "{what}");
        let life = |heap: &HeapState| heap.facts(o).life.map(|l| (l.thread.to_string(), l.allocator, l.space, l.age));
        let identity = |heap: &HeapState| heap.origins().map(|origins| origins.identity(o.0 as usize));
        assert_eq!((life(from), identity(from)), (life(to), identity(to)), "{what}");
    }
    assert_eq!(from.roots(), to.roots(), "{what}");
    assert_eq!(from.inferred_references(), to.inferred_references(), "{what}");
    let mirrors = |heap: &HeapState| {
        let all = (0..heap.types().len()).map(|t| TypeId(t as u32));
        let mut all: Vec<_> = all.filter_map(|t| Some((heap.mirror_of(t)?, type_text(heap, t)))).collect();
        all.sort();
        all
    };
    assert_eq!(mirrors(from), mirrors(to), "{what}");
}

/// Field by which objects of a class refer to objects of another.
type NamedFields = std::collections::BTreeSet<(String, String, String)>;

/// Of some states of a series one by one, what a recording says that was made of it.
fn assert_fields(from: &dyn HeapSeries, to: &HeapState, states: &[usize], what: &str) {
    let class = |heap: &HeapState, o: ObjectId| heap.types()[heap.type_of(o).0 as usize].name.clone();
    let mut there = NamedFields::new();
    for &state in states {
        let values = from.values(state, &Progress::new()).expect("a dump").expect("values");
        let heap = values.heap();
        let found = std::sync::Mutex::new(&mut there);
        let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
            let ObjectRecord::Instance(fields) = record else { return };
            for field in fields.iter() {
                if let FieldValue::Object(held) = field.value {
                    let named = (class(heap, o), class(heap, held), field.name.to_string());
                    found.lock().expect("a set").insert(named);
                }
            }
        };
        values.scan(None, &visit, &Progress::new()).expect("a scan");
        // What the recording says of a reference holds for each of them.
        let instances = heap.objects().filter(|o| heap.array_length(*o).is_none() && !heap.is_class_object(*o));
        let pairs: Vec<_> = instances.flat_map(|o| heap.references(o).iter().map(move |r| (o, *r))).collect();
        let places = values.reference_places(&pairs, &Progress::new()).expect("places");
        let mut alone = 0;
        for (&(o, held), place) in pairs.iter().zip(places) {
            let Some(ReferencePlace::Field { name, .. }) = place else { continue };
            let of = |o: ObjectId| {
                let at = to.types().iter().position(|t| {
                    *t.name == class(heap, o) && t.loader == heap.types()[heap.type_of(o).0 as usize].loader
                });
                TypeId(at.expect("the class is there too") as u32)
            };
            if states.len() == 1 {
                let fields = to.reference_fields().between(of(o), of(held));
                assert!(fields.contains(&name), "{what}: {} has {name} among {fields:?}", class(heap, o));
                if let [field] = fields {
                    assert_eq!(to.field_between(o, held).as_ref(), Some(&field.to_string()), "{what}");
                    alone += 1;
                }
            }
        }
        assert!(states.len() > 1 || alone > 0, "{what}: none is told for sure");
    }
    let name = |of: TypeId| to.types()[of.0 as usize].name.clone();
    let said = to
        .reference_fields()
        .all()
        .into_iter()
        .flat_map(|((from, to), fields)| fields.iter().map(move |field| (name(from), name(to), field.to_string())));
    assert_eq!(said.collect::<NamedFields>(), there, "{what}");
}

fn written(folder: &Path, name: &str, bytes: Vec<u8>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("written");
    path
}

#[test]
fn dumps_come_back_object_for_object() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [
        ("small-4.hprof", small(2, 4, 100)),
        ("small-8.hprof", small(2, 8, 20_000)),
        ("reflective-4.hprof", reflective(4)),
        ("reflective-8.hprof", reflective(8)),
    ] {
        let path = written(folder.path(), name, bytes);
        let (from, to, _) = converted(&[path], None);
        let load = |series: &dyn HeapSeries| series.load(0, &Progress::new()).expect("a heap");
        assert_same(&load(&*from), &load(&*to), name);
        assert_fields(&*from, &load(&*to), &[0], name);
        assert_eq!((&from.points()[0].label, from.points()[0].millis), (&to.points()[0].label, to.points()[0].millis));
    }
}

/// Numbers that objects keep from walk to walk are in the walk, and in whatever it is written as again.
#[test]
fn numbers_of_objects_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let dump = opened(&[written(folder.path(), "heap.hprof", reflective(8))]);
    let heap = dump.load(0, &Progress::new()).expect("a heap");
    assert!(!dump.follows_objects(0));
    let number = |o: ObjectId| if o.0.is_multiple_of(3) { 0 } else { (1 << 33) + 7 * u64::from(o.0) };
    let numbers: Vec<(ObjectId, u64)> = heap.objects().map(|o| (o, number(o))).filter(|n| n.1 != 0).collect();
    let file = folder.path().join("walk.mcity");
    let mut stream = wire::WalkStream::new(TraceWriter::create_file(&file, TraceOptions::default()).expect("a writer"));
    let seen = wire::SeenWalk { identities: &numbers, ..wire::SeenWalk::default() };
    stream.write(&heap, WalkStartRow::default(), &seen, &Progress::new()).expect("written");
    stream.finish("done").expect("ended");
    let (first, again, _) = converted(std::slice::from_ref(&file), None);
    for series in [first, again] {
        assert!(series.follows_objects(0));
        let walked = series.load(0, &Progress::new()).expect("a walk");
        let followed = &walked.origins().expect("numbers").followed;
        assert!(heap.objects().map(number).eq(followed.iter().copied()), "{followed:?}");
        assert_eq!(walked.totals(), heap.totals());
    }
}

/// Dumps of a real program whose classes and loaders come and go.
#[test]
fn a_series_of_real_dumps_comes_back_and_is_smaller() {
    let paths: Vec<PathBuf> = [1, 8, 16]
        .iter()
        .map(|n| root().join(format!("sample-data/person-leak/person-leak-{n:02}.hprof.gz")))
        .collect();
    let (from, to, bytes) = converted(&paths, None);
    for (i, path) in paths.iter().enumerate() {
        let load = |series: &dyn HeapSeries| series.load(i, &Progress::new()).expect("a heap");
        assert_same(&load(&*from), &load(&*to), &path.display().to_string());
        assert_eq!(from.points()[i].millis, to.points()[i].millis);
    }
    // All walks say what any of them says, of the classes that they have; the last one has all.
    let last = to.load(paths.len() - 1, &Progress::new()).expect("a heap");
    assert_fields(&*from, &last, &[0, 1, 2], "three dumps");
    let (from, to, _) = converted(&paths[2..], None);
    assert_fields(&*from, &to.load(0, &Progress::new()).expect("a heap"), &[0], "a real dump");
    let packed: u64 = paths.iter().map(|path| std::fs::metadata(path).expect("a file").len()).sum();
    assert!(bytes < packed, "{bytes} bytes instead of {packed}");
}

#[test]
fn states_of_traces_come_back_with_origins_and_collections() {
    for set in ["churn-g1", "churn-parallel", "person-leak-cms"] {
        let (from, to, _) = converted(&[root().join("tests/data/anttracks").join(set)], None);
        for (i, point) in from.points().iter().enumerate() {
            let load = |series: &dyn HeapSeries| series.load(i, &Progress::new()).expect("a heap");
            assert_same(&load(&*from), &load(&*to), &format!("{set}, {}", point.label));
            let found = &to.points()[i];
            assert_eq!((&found.label, found.millis, &found.gc), (&point.label, point.millis, &point.gc), "{set}");
        }
        let history =
            |series: &dyn HeapSeries| series.gc_history(&Progress::new()).expect("read").expect("collections");
        assert_eq!(history(&*from), history(&*to), "{set}");
        // Who was born, promoted and died in between, of whom no walk knows.
        let [of_trace, read] = [&from, &to].map(|series| {
            assert!(series.lives().is_some_and(|lives| lives.is_exact()), "{set}");
            let mut told = told_lives(&**series).expect("lives");
            told.sort();
            told
        });
        assert!(of_trace == read && of_trace.len() > 1000, "{set}: {} and {}", of_trace.len(), read.len());
    }
}

/// Writes the small heap of a shop: three carts in a list, the second of them a sample.
struct Shop {
    writer: TraceWriter,
    tables: TraceTables,
    cart: u32,
    list: u32,
    stack: Option<u32>,
    thread: u32,
    field: Option<u32>,
}

impl Shop {
    fn begin(path: &Path, options: TraceOptions) -> Shop {
        Shop::on(TraceWriter::create_file(path, options).expect("a writer"), 0)
    }

    /// Whose numbers of names, classes, methods, frames and threads begin at `from`.
    fn on(mut writer: TraceWriter, from: u32) -> Shop {
        let mut tables = TraceTables::new(1000);
        for n in 0..from {
            let name = tables.string(&format!("other {n}")).expect("a number");
            tables.loader(LoaderRow { name, ..LoaderRow::default() });
            tables.class(ClassRow { name, base: 1000, ..ClassRow::default() });
            tables.thread(ThreadRow { name, ..ThreadRow::default() });
            let method = tables.method("other.Other", &format!("m{n}"), None, None, Vec::new).expect("a method");
            tables.frame(None, method, Some(n)).expect("a frame");
        }
        let mut name = |text: &str| tables.string(text).expect("a number");
        let (cart, list, app, worker, field) =
            (name("shop.Cart"), name("shop.Cart[]"), name("AppLoader"), name("worker-1"), name("all"));
        let loader = tables.loader(LoaderRow { name: app, ..LoaderRow::default() });
        let class = |name: u32| ClassRow { name, loader: Some(loader), base: 24, ..ClassRow::default() };
        let cart = tables.class(class(cart));
        let list = tables.class(ClassRow { kind: 1, base: 16, element: 4, ..class(list) });
        let method = |tables: &mut TraceTables, class: &str, name: &str, lines: Vec<u64>| {
            tables.method(class, name, Some("(Item)"), Some("Cart.java"), || lines).expect("a method")
        };
        let outer = method(&mut tables, "shop.Main", "main", Vec::new());
        let inner = method(&mut tables, "shop.Cart", "add", vec![0, 10, 5, 11, 9, 12]);
        let outer = tables.frame(None, outer, Some(3));
        let stack = tables.frame(outer, inner, Some(7));
        let thread = tables.thread(ThreadRow { name: worker, ..ThreadRow::default() });
        tables.write_new(&mut writer).expect("written");
        let fact = |key: &str, value: &str| RunRow { key: key.into(), value: value.into() };
        writer
            .write(&[fact("recording.started", "1700000002000"), fact("vm.started", "1700000000000")])
            .expect("written");
        Shop { writer, tables, cart, list, stack, thread, field: Some(field) }
    }

    fn sample(&self, id: u64) -> SampleRow {
        SampleRow {
            id,
            thread: self.thread,
            class: self.cart,
            size: 24,
            weight: 100 << 16,
            interval: 2400,
            stack: self.stack,
            gcs: 1,
            ..SampleRow::default()
        }
    }

    fn walk(&mut self, sampled: &[(u64, u64)]) {
        let start = WalkStartRow { gc: Some(2), ..complete_walk(5_000_000_000) };
        let (cart, list, class, field) = (self.cart, self.list, self.cart, self.field);
        let mut walk = self.writer.begin_walk(start).expect("a walk");
        let number = walk.number();
        let object = |address: u64, class: u32, length: Option<u32>| WalkObject {
            address,
            class,
            length,
            ..WalkObject::default()
        };
        for (address, class, length, references) in [
            (100, cart, None, vec![]),
            (103, cart, None, vec![0]),
            (106, cart, None, vec![]),
            (110, list, Some(3), vec![0, 1, 2]),
        ] {
            walk.object(&object(address, class, length), &references).expect("listed");
        }
        let links: Vec<_> =
            sampled.iter().map(|&(object, sample)| WalkSampleRow { walk: number, object, sample }).collect();
        walk.rows(&links).expect("written");
        walk.roots(&[WalkRootRow {
            walk: number,
            object: 3,
            kind: 2,
            class: Some(class),
            field,
            ..WalkRootRow::default()
        }])
        .expect("written");
        walk.finish(Some(1_000_000)).expect("finished");
    }
}

fn gc(number: u64, kind: CollectionKind) -> GcRow {
    GcRow { number, start: number * 1_000_000_000, duration: 4_000_000, kind, ..GcRow::default() }
}

/// Births and deaths of samples between collections, each standing for a hundred allocations. Deaths without a
/// collection are reported.
#[test]
fn samples_are_born_and_die() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    let of_a_pause = GcRow { scope: GcScope::Pause, ..gc(1, CollectionKind::Minor) };
    shop.writer.write(&[gc(0, CollectionKind::Minor), of_a_pause]).expect("written");
    shop.writer.write(&[gc(2, CollectionKind::Major)]).expect("written");
    let samples = [7, 8, 9, 10].map(|id| shop.sample(id));
    shop.writer.write(&samples).expect("written");
    let death = |sample, gc| DeathRow { sample, gc, ..DeathRow::default() };
    shop.writer.write(&[death(8, Some(1)), death(9, Some(2)), death(10, None)]).expect("written");
    shop.walk(&[(1, 7)]);
    shop.writer.finish("the program ended").expect("finished");
    let series = open(&[path], &Progress::new()).expect("opens");
    let lives = series.lives().expect("samples");
    assert_eq!((lives.is_exact(), lives.samples(), lives.undated(), lives.gcs()), (false, 3, 1, 3));
    let mut told = Vec::new();
    let tell = |event: LifeEvent| {
        assert_eq!((event.amount.objects, event.amount.bytes), (100.0, 2400.0));
        assert!((event.amount.objects_error() - 1.96 * (100.0f64 * 99.0).sqrt()).abs() < 1e-9);
        let of = &lives.recording.facts(event.key, event.gc);
        assert_eq!((&*of.of.name, &**of.life.thread, of.site.len()), ("shop.Cart", "worker-1", 2));
        told.push((event.gc, event.step, event.age()));
        Ok(())
    };
    lives.each(2, &Progress::new(), tell).expect("told");
    use LifeStep::{Born, Died};
    assert_eq!(told, [(1, Born, 0), (1, Born, 0), (1, Born, 0), (1, Died, 0), (2, Died, 1)]);
    let history = series.gc_history(&Progress::new()).expect("read").expect("collections");
    assert_eq!(history.began, 2_000_000_000, "two seconds after the program started");
    assert_eq!(history.epoch, 1_700_000_000_000);
    assert_eq!(history.collections.iter().map(|gc| gc.one_pause).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(history.collections[2].end - history.collections[2].start, 4_000_000);
}

proptest! {
    /// Samples that lived between walks are added up as they are read. Those that the walk names are kept, and say the same.
    #[test]
    fn samples_that_no_walk_names_are_the_same_added_up(
        sampled in prop::collection::vec((0u32..3, 1u64..3, any::<bool>(), prop::option::of(prop::option::of(0u64..4))), 1..40),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |named: bool| {
            let path = folder.path().join(format!("{named}.mcity"));
            let mut shop = Shop::begin(&path, TraceOptions::default());
            shop.writer.write(&[0, 1, 2].map(|number| gc(number, CollectionKind::Minor))).expect("written");
            let samples: Vec<SampleRow> = (0u64..).zip(&sampled).map(|(id, &(gcs, size, has_stack, _))| {
                let sample = shop.sample(id);
                SampleRow { gcs, size: 16 * size, stack: sample.stack.filter(|_| has_stack), time: id, weight: 2 << 16, ..sample }
            }).collect();
            let deaths: Vec<DeathRow> = (0u64..).zip(&sampled).filter_map(|(id, sample)| {
                Some(DeathRow { sample: id, gc: sample.3?, time: 100 + id, ..DeathRow::default() })
            }).collect();
            // Some deaths come before what died.
            let (early, late) = deaths.split_at(deaths.len() / 3);
            shop.writer.write(early).expect("written");
            shop.writer.write(&samples).expect("written");
            shop.writer.write(late).expect("written");
            let names: Vec<(u64, u64)> = (0..sampled.len() as u64).map(|id| (1, id)).collect();
            shop.walk(if named { &names } else { &[] });
            shop.writer.finish("the program ended").expect("finished");
            let series = opened(&[path]);
            let lives = series.lives().expect("samples");
            let mut told: BTreeMap<String, (f64, f64, f64)> = BTreeMap::new();
            let tell = |event: LifeEvent| {
                let facts = lives.recording.facts(event.key, event.gc);
                let of = told.entry(format!("{} {:?} {} {}", event.gc, event.step, event.age(), facts.site.len())).or_default();
                let amount = event.amount;
                *of = (of.0 + amount.objects, of.1 + amount.bytes, of.2 + amount.bytes_variance);
                Ok(())
            };
            lives.each(9, &Progress::new(), tell).expect("told");
            let estimates = series.sampled(&[], &Progress::new()).expect("read").expect("samples");
            (told, lives.samples(), lives.undated(), estimates.groups)
        };
        prop_assert_eq!(read(false), read(true));
    }
}

/// If each record is one pause of a concurrent collector, its number is that of a pause. If some are whole collections,
/// all count as collections.
#[test]
fn walks_come_after_pauses_where_only_these_are_told() {
    use GcScope::{Pause, Whole};
    for (scopes, noun, label) in [
        ([Pause, Pause], GcNoun::Pauses, "Walk 1 after pause 2"),
        ([Whole, Pause], GcNoun::Collections, "Walk 1 after GC 2"),
        ([Pause, Whole], GcNoun::Collections, "Walk 1 after GC 2"),
    ] {
        for kind in [CollectionKind::Major, CollectionKind::Unknown] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("shop.mcity");
            let mut shop = Shop::begin(&path, TraceOptions::default());
            let rows = [1, 2].map(|number| GcRow { scope: scopes[number as usize - 1], ..gc(number, kind) });
            shop.writer.write(&rows).expect("written");
            shop.walk(&[]);
            shop.writer.finish("the program ended").expect("finished");
            let series = opened(&[path]);
            let point = &series.points()[0];
            assert_eq!((series.gc_noun(), &*point.label), (noun, label), "{scopes:?}");
            let of_point = point.gc.as_ref().map(|gc| gc.one_pause);
            assert_eq!(of_point, (kind == CollectionKind::Major).then_some(scopes[1] == Pause), "{scopes:?}");
            let history = series.gc_history(&Progress::new()).expect("read").expect("collections");
            assert_eq!(history.noun(), noun);
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    let pause = |number| GcRow { scope: Pause, ..gc(number, CollectionKind::Unknown) };
    shop.writer.write(&[pause(1), pause(2)]).expect("written");
    shop.writer.finish("the program ended").expect("finished");
    let Err(error) = open(&[path], &Progress::new()) else { panic!("there is no walk") };
    assert!(error.to_string().contains(" and 2 pauses, but no walk"), "{error}");
}

#[test]
fn samples_say_where_their_objects_come_from_and_of_others_nothing_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    shop.writer.write(&[gc(1, CollectionKind::Minor), gc(2, CollectionKind::Major)]).expect("written");
    let samples = [shop.sample(7), shop.sample(8)];
    shop.writer.write(&samples).expect("written");
    shop.writer.write(&[DeathRow { sample: 8, ..DeathRow::default() }]).expect("written");
    shop.walk(&[(1, 7)]);
    shop.writer.finish("the program ended").expect("finished");

    let series = opened(std::slice::from_ref(&path));
    assert_eq!(series.warnings(), []);
    let point = &series.points()[0];
    assert_eq!((&*point.label, point.millis), ("Walk 1 after GC 2", 7000), "since the program started");
    assert_eq!(point.gc.as_ref().map(|gc| (gc.number, gc.duration, gc.end)), Some((2, 4, true)));
    let heap = series.load(0, &Progress::new()).expect("a heap");
    let [other, sampled, another, list] =
        [800, 824, 848, 880].map(|address| heap.object_at(address).expect("an object"));
    let frames = |o: ObjectId| heap.allocation_site(o).iter().map(|f| f.to_string()).collect::<Vec<_>>();
    assert_eq!(frames(sampled), ["shop.Cart.add(Item) line 11", "shop.Main.main(Item):3"]);
    let life = heap.facts(sampled).life.expect("a sample has a life");
    assert_eq!((&**life.thread, life.age), ("worker-1", 2));
    for o in [other, another, list] {
        assert!(heap.is_unsampled(o) && heap.facts(o).life.is_none() && frames(o).is_empty());
    }
    assert!(!heap.is_unsampled(sampled));
    assert_eq!((heap.size_of(list), heap.size_of(other)), (32, 24));
    assert_eq!(heap.references(list), [other, sampled, another]);
    let root = &heap.roots()[0];
    assert_eq!((root.object, root.kind, &*root.detail), (list, RootKind::StaticField, "shop.Cart.all"));
    assert!(heap.objects().all(|o| heap.is_reachable(o)));
    assert_eq!(
        heap.types().iter().map(|t| (&*t.name, &*t.loader)).collect::<Vec<_>>(),
        [("shop.Cart", "AppLoader"), ("shop.Cart[]", "AppLoader")]
    );
    // A collection of which the VM did not say what it collected is no point of one kind or the other.
    let path = folder.path().join("unknown.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    shop.writer.write(&[gc(2, CollectionKind::Unknown)]).expect("written");
    shop.walk(&[]);
    shop.writer.finish("the program ended").expect("finished");
    let series = opened(&[path]);
    assert_eq!(series.points()[0].gc, None);
    assert_eq!(series.points()[0].millis, 1_700_000_007_000, "by the clock");
}

/// As an agent does that numbers objects itself, and meets references before what they lead to.
#[test]
fn objects_may_be_known_by_ids_in_any_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ids.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    let cart = shop.cart;
    for order in [[30u64, 10, 20], [10, 20, 30]] {
        let start = WalkStartRow { naming: ObjectNaming::Id, alignment: 8, ..WalkStartRow::default() };
        let mut walk = shop.writer.begin_walk(start).expect("a walk");
        let number = walk.number();
        for id in order {
            walk.object(&WalkObject { id, class: cart, ..WalkObject::default() }, &[]).expect("listed");
        }
        let row = |(from, to)| WalkReferenceRow { walk: number, from, to };
        walk.references(&[(20, 30), (10, 20), (10, 30), (10, 99)].map(row)).expect("written");
        walk.roots(&[WalkRootRow { walk: number, object: 10, kind: 6, ..WalkRootRow::default() }]).expect("written");
        walk.finish(None).expect("finished");
    }
    shop.writer.finish("done").expect("finished");
    let series = opened(&[path]);
    for i in 0..2 {
        let heap = series.load(i, &Progress::new()).expect("a heap");
        let [a, b, c] = [10, 20, 30].map(|id| heap.object_with_id(id).expect("an object"));
        assert_eq!([a, b, c], [0, 1, 2].map(ObjectId));
        assert_eq!((heap.references(a), heap.references(b), heap.references(c)), (&[b, c][..], &[c][..], &[][..]));
        assert_eq!(heap.address(a), None);
        assert_eq!(heap.roots()[0].object, a);
        assert!(heap.warnings().iter().any(|w| w.message.contains("1 references or roots lead to objects")));
    }
}

#[test]
fn what_is_cut_is_shown_as_far_as_it_goes_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    shop.writer.write(&[shop.sample(7)]).expect("written");
    let loss = LossRow { what: 18, reason: LossReason::BufferFull, count: 5, ..LossRow::default() };
    shop.writer.write(&[loss]).expect("written");
    let before_walks = std::fs::metadata(&path).expect("a file").len();
    shop.walk(&[(1, 7)]);
    let one = std::fs::metadata(&path).expect("a file").len();
    shop.walk(&[(2, 7)]);
    let two = std::fs::metadata(&path).expect("a file").len();
    shop.writer.finish("done").expect("finished");
    let bytes = std::fs::read(&path).expect("a file");
    let cut = folder.path().join("cut.mcity");
    let texts =
        |series: &dyn HeapSeries| series.warnings().iter().map(|w| w.message.clone()).collect::<Vec<_>>().join("\n");
    for length in (0..bytes.len() as u64).step_by(3) {
        std::fs::write(&cut, &bytes[..length as usize]).expect("written");
        let series = open(std::slice::from_ref(&cut), &Progress::new());
        let Ok(series) = series else {
            assert!(length < one, "{length}");
            let error = series.err().expect("an error").to_string();
            assert!(length < 40 || error.contains("no walk") || length > before_walks, "{length}: {error}");
            continue;
        };
        let said = texts(&*series);
        assert!(said.contains("not recorded: 5 samples (buffers were full)"), "{said}");
        if length < two {
            assert!(said.contains("no end") && series.points().len() == 1, "{length}: {said}");
        } else {
            assert_eq!(series.points().len(), 2, "{length}");
        }
        let heap = series.load(0, &Progress::new()).expect("a heap");
        if length >= one {
            assert_eq!((heap.object_count(), heap.reference_count()), (4, 4), "a walk that was finished is whole");
            assert!(length < one + 200 || length >= two || said.contains("was broken off"), "{length}: {said}");
        } else {
            assert!(said.contains("was broken off"), "{length}: {said}");
        }
    }
}

/// A warning for each kind of work that the recorder could not do, with its count.
#[test]
fn what_was_not_done_is_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    let setting = |seconds: u64, key: &str, value: &str| SettingRow {
        time: seconds * 1_000_000_000,
        key: key.into(),
        value: value.into(),
    };
    shop.writer
        .write(&[
            setting(1, "walks", "no room: 3 MB are free, a walk may take 90 MB"),
            setting(2, "walks", "no room: 2 MB are free, a walk may take 95 MB"),
            setting(3, "walks", "no more walks: the VM could not write the dump"),
            setting(4, "histograms", "no room: 9 KB of the heap are free, a histogram may take 90 KB"),
            setting(4, "histograms", "no more class histograms: as it is"),
            setting(5, "identity", "samples: there are more than 7 objects"),
            setting(6, "sampling.interval", "16384"),
            setting(7, "vm", "this collector has a fault that matters"),
        ])
        .expect("written");
    let start = WalkStartRow { time: 5, ..WalkStartRow::default() };
    for unlinked in [2, 0, 3] {
        let mut walk = shop.writer.begin_walk(start.clone()).expect("a walk");
        walk.note_unlinked(unlinked, unlinked / 2);
        walk.note_late(unlinked.checked_sub(1));
        walk.finish(None).expect("finished");
    }
    let what = u32::from(ChunkKind::SAMPLES.0);
    let none = LossRow { what, reason: LossReason::Killed, ..LossRow::default() };
    shop.writer.write(&[none]).expect("written");
    drop(shop);
    let series = opened(&[path]);
    let said: Vec<String> = series.warnings().into_iter().map(|w| w.message).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn any_byte_may_differ() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    shop.writer.write(&[shop.sample(7)]).expect("written");
    shop.walk(&[(1, 7)]);
    shop.writer.finish("done").expect("finished");
    let bytes = std::fs::read(&path).expect("a file");
    let changed = folder.path().join("changed.mcity");
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 0x11;
        std::fs::write(&changed, &other).expect("written");
        let Ok(series) = open(std::slice::from_ref(&changed), &Progress::new()) else { continue };
        if let Ok(heap) = series.load(0, &Progress::new()) {
            assert!(heap.objects().all(|o| heap.facts(o).of.name.len() < 100));
        }
        assert!(!series.warnings().is_empty(), "{at}");
    }
}

/// A recorder writes what it sees of the program, and another process what it reads of its dumps: two streams.
#[test]
fn streams_and_parts_of_a_folder_are_one_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut shop = Shop::begin(&folder.path().join("a.mcity"), TraceOptions::default());
    shop.writer.write(&[shop.sample(7)]).expect("written");
    let recording = shop.writer.recording();
    shop.writer.finish("done").expect("finished");
    let options = TraceOptions { recording: Some(recording), stream: 1, ..TraceOptions::default() };
    let mut walker = Shop::begin(&folder.path().join("b.mcity"), options);
    // The numbers of this stream are others.
    let further = walker.tables.string("only here").expect("a number");
    walker.writer.write(&[StringRow { id: further, text: "only here".into() }]).expect("written");
    walker.walk(&[(1, 7)]);
    walker.writer.finish("done").expect("finished");
    let series = opened(&[folder.path().to_owned()]);
    assert_eq!(series.warnings(), []);
    let heap = series.load(0, &Progress::new()).expect("a heap");
    let sampled = heap.object_at(824).expect("an object");
    assert_eq!(heap.allocation_site(sampled).len(), 2);

    let mut foreign = Shop::begin(&folder.path().join("c.mcity"), TraceOptions::default());
    foreign.walk(&[]);
    let error = open(&[folder.path().to_owned()], &Progress::new()).err().expect("two recordings").to_string();
    assert!(error.contains("different recordings"), "{error}");
}

/// Where a stack was deeper than was recorded the site says so: what is last is not where the program began.
#[test]
fn a_stack_that_is_cut_has_further_callers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cut.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    let frame =
        |id: u32, caller: Option<u32>, cut: bool| FrameRow { id, caller, method: 77, cut, ..FrameRow::default() };
    shop.writer.write(&[frame(50, Some(51), false), frame(51, None, true)]).expect("written");
    shop.writer.write(&[SampleRow { stack: Some(50), ..shop.sample(7) }]).expect("written");
    shop.walk(&[(1, 7), (0, 8)]);
    shop.writer.finish("done").expect("finished");
    let heap = opened(&[path]).load(0, &Progress::new()).expect("a heap");
    let frames = heap.allocation_site(heap.object_at(824).expect("an object"));
    let frames: Vec<&str> = frames.iter().map(|frame| &**frame).collect();
    assert_eq!(frames, ["(lost method 77)", "(lost method 77)", "(further callers were not recorded)"]);
}

/// A chain of frames that comes back to itself, classes above themselves, and numbers that nothing has.
#[test]
fn circles_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("circle.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    let circle = |id: u32, caller: u32| FrameRow { id, caller: Some(caller), method: 77, ..FrameRow::default() };
    shop.writer.write(&[circle(50, 51), circle(51, 50)]).expect("written");
    let class = ClassRow { id: shop.cart, superclass: Some(shop.cart), base: 24, ..ClassRow::default() };
    shop.writer.write(&[class]).expect("written");
    shop.writer.write(&[LoaderRow { id: 0, parent: Some(0), ..LoaderRow::default() }]).expect("written");
    let sample = SampleRow { stack: Some(50), thread: 99, ..shop.sample(7) };
    shop.writer.write(&[sample]).expect("written");
    shop.walk(&[(1, 7), (0, 8), (99, 7)]);
    shop.writer.finish("done").expect("finished");
    let series = opened(&[path]);
    let heap = series.load(0, &Progress::new()).expect("a heap");
    let sampled = heap.object_at(824).expect("an object");
    let frames = heap.allocation_site(sampled);
    assert!(frames.len() > 1000 && frames.len() < 5000, "{}", frames.len());
    assert_eq!(&*frames[0], "(lost method 77)");
    assert_eq!(&**heap.facts(sampled).life.expect("a life").thread, "(lost thread 99)");
    let said: Vec<_> = heap.warnings().iter().map(|w| &*w.message).collect();
    assert!(said.iter().any(|w| w.contains("of 1 sampled objects the sample is not there")), "{said:?}");
}

/// The Python program of docs/trace-format.md, which knows nothing of this project but the page.
#[test]
fn the_page_of_the_format_teaches_a_stranger() {
    let Some(python) = memory_city_testing::python::with_package("zlib") else { return };
    let page = std::fs::read_to_string(root().join("docs/trace-format.md")).expect("the page");
    let program = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    let folder = tempfile::tempdir().expect("a folder");
    let script = written(folder.path(), "walk.py", program.into());
    let path = folder.path().join("run.mcity");
    let done = std::process::Command::new(python).arg(script).arg(&path).output().expect("Python");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let series = opened(&[path]);
    assert_eq!(series.warnings(), []);
    assert_eq!(series.points().len(), 3);
    for n in 0..3 {
        let heap = series.load(n, &Progress::new()).expect("a heap");
        let sessions: Vec<ObjectId> =
            heap.objects().filter(|&o| heap.types()[heap.type_of(o).0 as usize].name == "__main__.Session").collect();
        assert_eq!(sessions.len(), 1000 * (n + 1));
        // All are in the list.
        assert!(sessions.iter().all(|&s| heap.referrers(s).len() == 1 && heap.size_of(s) > 0));
    }
}

#[test]
fn parts_of_a_recording_become_one_file_chunk_by_chunk() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let options = TraceOptions { part_bytes: 1, ..TraceOptions::default() };
    let mut writer = TraceWriter::create_folder(&trace, options).expect("a writer");
    let mut tables = TraceTables::new(100_000);
    let name = tables.string("shop.Cart").expect("a number");
    let cart = tables.class(ClassRow { name, base: 16, ..ClassRow::default() });
    tables.write_new(&mut writer).expect("written");
    for n in 0..4u64 {
        let mixed = |id: u64| (id + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let sample = |id| SampleRow { id, time: mixed(id) >> 20, size: mixed(id) % 9999, ..SampleRow::default() };
        let samples: Vec<SampleRow> = (n * 20_000..(n + 1) * 20_000).map(sample).collect();
        writer.write(&samples).expect("written");
        let mut walk =
            writer.begin_walk(WalkStartRow { time: n, all_alive: true, ..WalkStartRow::default() }).expect("a walk");
        (0..=n).for_each(|_| walk.object(&WalkObject { class: cart, ..WalkObject::default() }, &[]).expect("listed"));
        walk.finish(None).expect("finished");
    }
    writer.finish("done").expect("finished");
    assert!(std::fs::read_dir(&trace).expect("a folder").count() > 2, "several parts");
    let one = folder.path().join("one.mcity");
    assert!(wire::are_recordings(std::slice::from_ref(&trace)).expect("looked at"));
    let saved = wire::join(std::slice::from_ref(&trace), &one, &Progress::new()).expect("joined");
    assert_eq!((saved.walks, saved.objects, &saved.left_out[..]), (4, 10, &[][..]));
    let (parts, whole) = (opened(&[trace]), opened(&[one]));
    assert_eq!((parts.warnings(), whole.warnings()), (vec![], vec![]));
    for n in 0..4 {
        let load = |series: &dyn HeapSeries| series.load(n, &Progress::new()).expect("a heap");
        assert_same(&load(&*parts), &load(&*whole), "joined");
        assert_eq!(load(&*whole).object_count(), n + 1);
    }
}

/// Whether two series say the same of everything, whatever files they are in.
fn assert_same_series(from: &dyn HeapSeries, to: &dyn HeapSeries) {
    let progress = Progress::new();
    let points = |series: &dyn HeapSeries| {
        let point = |p: &memory_city_formats::SnapshotInfo| (p.label.clone(), p.millis, p.gc.clone());
        series.points().iter().map(point).collect::<Vec<_>>()
    };
    let messages = |series: &dyn HeapSeries| series.warnings().into_iter().map(|w| w.message).collect::<Vec<_>>();
    assert_eq!(points(from), points(to));
    for index in 0..points(from).len() {
        let load = |series: &dyn HeapSeries| series.load(index, &progress).expect("a heap");
        let (a, b) = (load(from), load(to));
        assert_same(&a, &b, &from.points()[index].label);
        let followed = |heap: &HeapState| heap.origins().map(|origins| origins.followed.clone());
        assert_eq!((followed(&a), from.follows_objects(index)), (followed(&b), to.follows_objects(index)));
    }
    assert_eq!(messages(from), messages(to));
    assert_eq!(from.class_counts(), to.class_counts());
    let history = |series: &dyn HeapSeries| series.gc_history(&progress).expect("read");
    assert_eq!(history(from), history(to));
    let all: Vec<usize> = (0..points(from).len()).collect();
    let sampled = |series: &dyn HeapSeries| {
        let mut sampled = series.sampled(&all, &progress).expect("read")?;
        // Summed up in any order: the last digits may differ.
        for group in &mut sampled.groups {
            group.allocated.variance = format!("{:.8e}", group.allocated.variance).parse().expect("a number");
        }
        Some(sampled)
    };
    assert_eq!(sampled(from), sampled(to));
    let samples = |series: &dyn HeapSeries| series.lives().map(|lives| (lives.samples(), lives.undated()));
    assert_eq!((samples(from), told_lives(from)), (samples(to), told_lives(to)));
}

/// All births, promotions and deaths, a line each.
fn told_lives(series: &dyn HeapSeries) -> Option<Vec<String>> {
    let lives = series.lives()?;
    let mut told = Vec::new();
    let tell = |event: LifeEvent| {
        let facts = lives.recording.facts(event.key, event.gc);
        told.push(format!(
            "{} {:?} {} {:?} {} {} {:?} {:?}",
            event.gc,
            event.step,
            event.age(),
            event.amount,
            facts.of.name,
            facts.big_array,
            facts.site,
            (facts.life.thread, facts.life.allocator, facts.life.space)
        ));
        Ok(())
    };
    lives.each(lives.gcs().saturating_sub(1), &Progress::new(), tell).expect("told");
    Some(told)
}

/// Rows of births and deaths that cannot be are left out, with a warning, and those beside them count.
#[test]
fn births_that_cannot_be_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.mcity");
    let mut shop = Shop::begin(&path, TraceOptions::default());
    shop.writer.write(&[gc(0, CollectionKind::Minor), gc(1, CollectionKind::Minor)]).expect("written");
    let row =
        CohortRow { class: shop.cart, stack: shop.stack, space: 1, objects: 3, bytes: 72, ..CohortRow::default() };
    let many = i64::MAX - 1000;
    shop.writer
        .write(&[
            row.clone(),
            CohortRow { gc: 7, ..row.clone() },
            CohortRow { birth: 1, ..row.clone() },
            CohortRow { gc: 1, objects: many, bytes: many, ..row.clone() },
            CohortRow { gc: 1, objects: many, bytes: i64::MIN, ..row.clone() },
            CohortRow { at_end: true, objects: -3, bytes: -72, ..row.clone() },
            CohortRow { at_end: true, objects: 1, bytes: 24, space: 3, ..row },
        ])
        .expect("written");
    shop.walk(&[]);
    shop.writer.finish("done").expect("finished");
    let series = opened(&[path]);
    let warnings: Vec<_> = series.warnings().into_iter().map(|warning| warning.message).collect();
    assert_eq!(warnings, ["3 rows of births and deaths make no sense, and are left out"]);
    let told = told_lives(&*series).expect("lives");
    let steps: Vec<&str> =
        told.iter().map(|line| line.split_once("objects_variance").map_or("", |(front, _)| front)).collect();
    assert_eq!(
        steps,
        [
            "0 Born 0 Weighed { objects: 3.0, bytes: 72.0, ",
            "0 Died 0 Weighed { objects: 2.0, bytes: 48.0, ",
            "0 Promoted 0 Weighed { objects: 1.0, bytes: 24.0, ",
            "1 Born 1 Weighed { objects: 9.223372036854775e18, bytes: 9.223372036854775e18, ",
        ]
    );
}

/// A recording of two streams as `record` writes it: what the program says of itself, and the walks of the process beside it. Each has
/// numbers of its own, and several parts.
fn two_streams(folder: &Path) -> [u8; 16] {
    let options = TraceOptions { part_bytes: 1, ..TraceOptions::default() };
    let mut program = Shop::on(TraceWriter::create_folder(folder, options.clone()).expect("a writer"), 0);
    let recording = program.writer.recording();
    let mut walker = {
        let options = TraceOptions { recording: Some(recording), stream: 3, ..options };
        Shop::on(TraceWriter::create_folder(folder, options).expect("a writer"), 5)
    };
    assert_ne!((program.cart, program.stack), (walker.cart, walker.stack));
    program.writer.write(&[gc(0, CollectionKind::Minor), gc(1, CollectionKind::Minor)]).expect("written");
    // What fills a part, so that the next begins.
    let many: Vec<SampleRow> = (100..60_000u64)
        .map(|id| SampleRow { size: id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48, ..program.sample(id) })
        .collect();
    program.writer.write(&many).expect("written");
    program.writer.write(&[7, 8].map(|id| program.sample(id))).expect("written");
    for (number, objects) in [(0u64, 3), (1, 4)] {
        let row = CountRow {
            histogram: number,
            time: (number + 1) * 2_000_000_000,
            class: program.cart,
            objects,
            bytes: 24 * objects,
            rows: 1,
            ..CountRow::default()
        };
        program.writer.write(&[row]).expect("written");
    }
    walker.walk(&[(0, 8), (1, 7)]);
    program.writer.write(&[gc(2, CollectionKind::Major)]).expect("written");
    let death = |sample| DeathRow { sample, gc: Some(2), time: 2_100_000_000, ..DeathRow::default() };
    program.writer.write(&[death(8), death(100)]).expect("written");
    let old = OldSamplesRow { class: program.cart, stack: program.stack, samples: 9, ..OldSamplesRow::default() };
    program.writer.write(&[OldSamplesRow { thread: program.thread, weight: 9 << 16, ..old }]).expect("written");
    let loss = LossRow { what: 18, reason: LossReason::BufferFull, count: 5, ..LossRow::default() };
    program.writer.write(&[loss]).expect("written");
    walker.walk(&[(1, 7), (2, 300)]);
    program.writer.finish("the program ended").expect("finished");
    walker.writer.finish("the program ended").expect("finished");
    recording
}

#[test]
fn streams_of_a_recording_become_one_file_and_say_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    two_streams(&trace);
    let parts = std::fs::read_dir(&trace).expect("a folder").count();
    assert!(parts > 3, "{parts} parts");
    let [one, again] = ["one.mcity", "again.mcity"].map(|name| folder.path().join(name));
    let saved = wire::join(std::slice::from_ref(&trace), &one, &Progress::new()).expect("joined");
    assert_eq!((saved.walks, saved.objects, &saved.left_out[..]), (2, 8, &[][..]));
    let (from, to) = (opened(std::slice::from_ref(&trace)), opened(std::slice::from_ref(&one)));
    assert!(from.has_samples() && from.class_counts().is_some_and(|counts| counts.moments.len() == 2));
    let heap = from.load(1, &Progress::new()).expect("a heap");
    assert_eq!(heap.allocation_site(heap.object_at(824).expect("an object")).len(), 2);
    assert_same_series(&*from, &*to);
    // What was joined is joined to itself, byte for byte.
    wire::join(std::slice::from_ref(&one), &again, &Progress::new()).expect("joined again");
    assert!(std::fs::read(&one).expect("a file") == std::fs::read(&again).expect("a file"));

    // Parts that were begun and no more take nothing from the others, and are said.
    let begun = ["07-000000.mcity", "07-000001.mcity"].map(|name| trace.join(name));
    for (part, length) in begun.iter().zip([0, 39]) {
        std::fs::write(part, &std::fs::read(&one).expect("a file")[..length]).expect("written");
    }
    let with = opened(std::slice::from_ref(&trace));
    assert_eq!((with.points().len(), with.class_counts()), (2, to.class_counts()));
    assert_same(&with.load(1, &Progress::new()).expect("a heap"), &heap, "beside parts without headers");
    let said = |part: &PathBuf, what: &str| with.warnings().iter().any(|w| w.path == *part && w.message.contains(what));
    assert!(said(&begun[0], "it is empty") && said(&begun[1], "this file was left out"), "{:?}", with.warnings());
    let saved = wire::join(std::slice::from_ref(&trace), &again, &Progress::new()).expect("joined");
    assert_eq!((saved.walks, saved.left_out.len()), (2, 2), "{:?}", saved.left_out);
    assert!(std::fs::read(&one).expect("a file") == std::fs::read(&again).expect("a file"));

    // Wherever it is cut, it says so: its streams end at its end.
    let bytes = std::fs::read(&one).expect("a file");
    let cut = folder.path().join("cut.mcity");
    let mut ends: Vec<usize> = memory_city_wire::PartReader::new(&one, &bytes)
        .expect("a header")
        .filter_map(|piece| match piece {
            memory_city_wire::Piece::Chunk(chunk) => Some((chunk.offset + chunk.length()) as usize),
            _ => None,
        })
        .collect();
    assert_eq!(ends.pop(), Some(bytes.len()));
    let opens = ends.into_iter().filter(|&end| {
        std::fs::write(&cut, &bytes[..end]).expect("written");
        open(std::slice::from_ref(&cut), &Progress::new())
            .inspect(|series| assert!(series.warnings().iter().any(|w| w.message.contains("no end")), "{end}"))
            .is_ok()
    });
    assert!(opens.count() > 2);
}

#[test]
fn a_stream_that_no_chunk_can_name_stays_where_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let recording = two_streams(&trace);
    let options = TraceOptions { recording: Some(recording), stream: 128, ..TraceOptions::default() };
    Shop::on(TraceWriter::create_folder(&trace, options).expect("a writer"), 0).walk(&[]);
    let one = folder.path().join("one.mcity");
    let error = wire::join(&[trace], &one, &Progress::new()).expect_err("no room").to_string();
    assert!(error.contains("stream 128") && error.contains("Keep the folder"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "and nothing half written is left");
}

/// The checksum of the page, in the words of the page.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    })
}

/// A recording of chunks that are given as the corpus of the fuzz target has them: kind, flags (but that of packing), length in two bytes, payload.
fn with_checksums(mut rest: &[u8]) -> Vec<u8> {
    let header = memory_city_wire::PartHeader { recording: [7; 16], stream: 0, part: 0 };
    let mut file = header.to_bytes().to_vec();
    let mut number = 0u64;
    while let Some((&[kind, flags, low, high], after)) = rest.split_first_chunk::<4>() {
        let (payload, after) = after.split_at(usize::from(u16::from_le_bytes([low, high])).min(after.len()));
        rest = after;
        let length = (payload.len() as u32).to_le_bytes();
        let fields: [&[u8]; 7] = [
            b"\x93CHK",
            &u16::from(kind).to_le_bytes(),
            // Of another stream, where the flags say one.
            &[if flags > 1 { 129 } else { 1 }, flags & !1],
            &number.to_le_bytes(),
            &length,
            &length,
            &crc(payload).to_le_bytes(),
        ];
        let chunk = fields.concat();
        let sum = crc(&[&header.recording[..], &chunk].concat());
        file.extend([&chunk[..], &sum.to_le_bytes(), payload].concat());
        number += 1;
    }
    file
}

fn corpus() -> Vec<u8> {
    std::fs::read(root().join("fuzz/corpus/recording/small")).expect("the corpus of the fuzz target")
}

#[test]
fn the_corpus_of_the_fuzz_target_is_a_recording() {
    let series = wire::open_bytes(Path::new("small"), with_checksums(&corpus())).expect("a series");
    assert_eq!((series.points().len(), series.warnings()), (2, vec![]));
    let heap = series.load(1, &Progress::new()).expect("a heap");
    assert_eq!(heap.object_count(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// As the fuzz target: whatever is inside chunks, with checksums that are right.
    #[test]
    fn whatever_is_in_chunks_is_a_heap_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(0u8), Just(1), Just(0xff), any::<u8>()]), 1..6),
    ) {
        let mut bytes = corpus();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let Ok(series) = wire::open_bytes(Path::new("fuzz"), with_checksums(&bytes)) else { return Ok(()) };
        for index in 0..series.points().len() {
            let Ok(heap) = series.load(index, &Progress::new()) else { continue };
            for o in heap.objects() {
                heap.size_of(o);
                prop_assert!(heap.facts(o).of.name.len() < 1000);
                prop_assert!(heap.references(o).iter().all(|t| (t.0 as usize) < heap.object_count()));
            }
            prop_assert!(heap.roots().iter().all(|root| (root.object.0 as usize) < heap.object_count()));
            heap.totals();
        }
        series.warnings();
    }
}
