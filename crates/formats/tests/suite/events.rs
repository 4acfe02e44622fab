//! Events of any program: every state is what the plainest model says, however it was reached.

mod model;
mod programs;
mod script;

use memory_city_formats::GcKind;
use memory_city_formats::HeapSeries;
use memory_city_formats::event::{BIG_ARRAY, Decoder, EventSink, Gc, ObjectInfo, ObjectKey, Program, Shape, Step};
use memory_city_formats::recorded::{RecordedSeries, TraceSource, open_with_cache};
use memory_city_formats::replay::{CohortKey, Inconsistencies, Moment, Replay, ReplayLimits};
use memory_city_heap::error::Error;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Allocator, HeapState, HeapType, Identity, ObjectId, Root, SpaceKind, ThreadId, TypeKind};
use memory_city_testing::collections::Collections;
use model::{Model, Picture, Seen};
use programs::{Op, habits, ops, write};
use proptest::prelude::*;
use script::{Event, Script};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// All that a heap state says of its objects, in the words of the model but for identities.
fn portrait(heap: &HeapState, moment: Moment, program: &Script) -> (Picture, Vec<Identity>) {
    let origins = heap.origins().expect("origins");
    let key = |o: ObjectId| match heap.stable_id(o) {
        Some(id) => ObjectKey::Id(id),
        None => ObjectKey::Address(heap.address(o).expect("an address")),
    };
    let seen = |o: ObjectId| {
        let (facts, origin) = (heap.facts(o), origins.of(o.0 as usize));
        let life = facts.life.as_ref().expect("a life");
        assert_eq!((life.age, life.space), (origins.gcs - origin.birth, origin.space));
        assert_eq!(facts.of.name, program.program.types[heap.type_of(o).0 as usize].name);
        assert!(heap.references(o).iter().all(|&target| heap.referrers(target).contains(&o)));
        let found = match key(o) {
            ObjectKey::Id(id) => heap.object_with_id(id),
            ObjectKey::Address(address) => heap.object_at(address),
        };
        assert_eq!(found, Some(o));
        Seen {
            key: key(o),
            address: heap.address(o),
            serial: 0,
            info: ObjectInfo {
                type_id: heap.type_of(o).0,
                site: origin.site,
                thread: origin.thread,
                allocator: origin.allocator,
                big: facts.length.is_some_and(|l| l >= BIG_ARRAY),
            },
            length: facts.length,
            size: facts.size,
            birth: origin.birth,
            space: origin.space,
            references: heap.references(o).iter().map(|&target| key(target)).collect(),
        }
    };
    let root = |root: &Root| (root.kind, ThreadId::UNKNOWN, root.detail.clone(), key(root.object));
    let picture =
        Picture { moment, objects: heap.objects().map(seen).collect(), roots: heap.roots().iter().map(root).collect() };
    (picture, heap.objects().map(|o| origins.identity(o.0 as usize)).collect())
}

/// The model's answer in the words of a heap state: roots with the final names of their threads.
fn expected(picture: &Picture, model: &Model) -> Picture {
    let mut picture = picture.clone();
    picture.objects.iter_mut().for_each(|o| o.serial = 0);
    for (_, thread, detail, _) in &mut picture.roots {
        if *thread != ThreadId::UNKNOWN {
            *detail = format!("{detail} of thread \"{}\"", model.threads[thread.0 as usize]);
        }
        *thread = ThreadId::UNKNOWN;
    }
    picture
}

fn names(model: &Model) -> Vec<Arc<str>> {
    model.threads.iter().map(|name| Arc::from(name.as_str())).collect()
}

fn series(script: &Script) -> RecordedSeries<Script> {
    let script = Script { program: Arc::clone(&script.program), events: Arc::clone(&script.events) };
    open_with_cache(script, None, &Progress::new(), &mut |_| ()).expect("a series")
}

/// From the start: every moment in turn. Returns the identities of the objects at each.
fn from_the_start(script: &Script, model: &Model, near: Option<u32>) -> Result<Vec<Vec<Identity>>, TestCaseError> {
    let names = names(model);
    let mut decoder = script.decoder();
    // Pages far from the first are known in another way, which is the same.
    let limits = ReplayLimits { near_leaves: near, ..ReplayLimits::default() };
    let mut replay = Replay::with_limits(Arc::clone(&script.program), Collections::default(), limits);
    let (mut all, mut who) = (Vec::new(), HashMap::new());
    for picture in &model.pictures {
        replay.stop_at(picture.moment);
        let mut step = Step::More;
        while !replay.stopped() && step == Step::More {
            step = decoder.step(&mut replay).expect("events");
            replay.check().expect("room");
        }
        if !replay.stopped() {
            replay.finish();
        }
        prop_assert!(replay.stopped());
        let (found, identities) = portrait(&replay.state_with(&names), picture.moment, script);
        prop_assert_eq!(found, expected(picture, model));
        for (identity, object) in identities.iter().zip(&picture.objects) {
            let serial = *who.entry(*identity).or_insert(object.serial);
            prop_assert_eq!(serial, object.serial, "an identity belongs to one object");
            let place = replay.place_of(*identity);
            prop_assert_eq!(place, Some((object.address, object.space)));
        }
        all.push(identities);
    }
    while decoder.step(&mut replay).expect("events") == Step::More {}
    prop_assert_eq!(replay.inconsistencies(), model.inconsistencies);
    let freed: Vec<u64> = replay.observer.0.iter().map(|c| c.freed).collect();
    prop_assert_eq!(&freed, &model.freed);
    Ok(all)
}

/// Births and deaths from moment to moment add up to the heap.
fn recording_adds_up(series: &RecordedSeries<Script>, model: &Model) -> Result<(), TestCaseError> {
    let recording = series.recording();
    let mut sums: BTreeMap<CohortKey, (i64, i64)> = BTreeMap::new();
    prop_assert_eq!(recording.log.len(), model.pictures.len());
    for (i, picture) in model.pictures.iter().enumerate() {
        for change in recording.log.changes(i) {
            let sum = sums.entry(change.key).or_default();
            *sum = (sum.0 + change.objects, sum.1 + change.bytes);
        }
        sums.retain(|_, sum| *sum != (0, 0));
        let mut there: BTreeMap<CohortKey, (i64, i64)> = BTreeMap::new();
        for object in &picture.objects {
            let info = recording.infos.iter().position(|info| *info == object.info).expect("an info");
            let key = CohortKey { info: info as u32, birth: object.birth, space: object.space };
            let sum = there.entry(key).or_default();
            *sum = (sum.0 + 1, sum.1 + object.size as i64);
        }
        prop_assert_eq!(&sums, &there);
    }
    Ok(())
}

fn check(habits: programs::Habits, ops: &[Op], shuffle: u64) -> Result<(), TestCaseError> {
    let (program, events, model) = write(habits, ops);
    let script = Script { program, events: Arc::new(events) };
    let identities = from_the_start(&script, &model, shuffle.is_multiple_of(2).then_some(shuffle as u32 % 7))?;

    // From a checkpoint: each moment first in a series that has not shown another, and last ones before first ones.
    // Back and forward: in an order that is none.
    let backward: Vec<usize> = (0..model.pictures.len()).rev().collect();
    let mut mixed: Vec<usize> = backward.iter().chain(&backward).copied().collect();
    mixed.sort_by_key(|&i| (i as u64 + 1).wrapping_mul(shuffle | 1) >> 7);
    let first = series(&script);
    let gcs = model.pictures.iter().filter(|p| p.moment.end).count();
    // At every GC, but for one that ends the trace.
    prop_assert!((gcs.saturating_sub(1)..=gcs).contains(&first.checkpoints()));
    recording_adds_up(&first, &model)?;
    for order in [backward, mixed] {
        let series = series(&script);
        for i in order {
            let (picture, state) = (&model.pictures[i], series.load(i, &Progress::new()).expect("a state"));
            let (found, who) = portrait(&state, picture.moment, &script);
            prop_assert_eq!(found, expected(picture, &model));
            prop_assert_eq!(&who, &identities[i]);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]
    #[test]
    fn every_state_is_what_the_model_says_however_it_is_reached(habits in habits(), ops in ops(), shuffle: u64) {
        check(habits, &ops, shuffle)?;
    }
}
/// Events of a program of one type of 16 bytes, and what the replay of all of them says in the end.
fn run(alignment: u32, has_spaces: bool, limits: ReplayLimits, events: Vec<Event>) -> Result<Replay<()>, Error> {
    let heap_type = HeapType { name: "Item".into(), kind: TypeKind::Instance, superclass: None, loader: "main".into() };
    let (types, shapes) = (vec![heap_type], vec![Shape::Instance(16)]);
    let program = Program { types, shapes, alignment, has_spaces, ..Program::default() };
    let script = Script { program: Arc::new(program), events: Arc::new(events) };
    let mut replay = Replay::with_limits(Arc::clone(&script.program), (), limits);
    let mut decoder = script.decoder();
    while decoder.step(&mut replay)? == Step::More {
        replay.check()?;
    }
    replay.check()?;
    Ok(replay)
}

const ITEM: ObjectInfo =
    ObjectInfo { type_id: 0, site: 0, thread: ThreadId::UNKNOWN, allocator: Allocator::Vm, big: false };

fn full_gc() -> [Event; 2] {
    let gc = Gc { number: 1, kind: GcKind::Major, cause: 0, millis: 0, failed: false, targets_after: true };
    [Event::Begin(gc), Event::End(gc)]
}

/// Too many objects are an error that says so: numbers do not wrap, and nothing is left out silently.
#[test]
fn a_heap_beyond_the_limits_is_an_error_that_names_them() {
    let ids = |n: u64| (0..n).map(|id| Event::Allocate(ITEM, 0, ObjectKey::Id(id)));
    let limits = ReplayLimits { objects: 10, ..ReplayLimits::default() };
    let replay = run(8, false, limits, ids(10).collect()).expect("ten objects");
    assert_eq!(replay.live(), 10);
    let again = ids(10).chain([Event::Freed(ObjectKey::Id(3))]).chain([Event::Allocate(ITEM, 0, ObjectKey::Id(99))]);
    assert_eq!(run(8, false, limits, again.collect()).expect("ten at a time").live(), 10);
    let error = run(8, false, limits, ids(11).collect()).err().expect("eleven objects").to_string();
    assert!(error.contains("more than 10 objects at a time"), "{error}");

    let [begin, end] = full_gc();
    let all: Vec<ObjectKey> = (0..10).map(ObjectKey::Id).collect();
    let kept = all.iter().map(|&key| Event::Kept(key));
    let refer = all.iter().map(|&key| Event::References(key, all.clone(), false));
    let events: Vec<Event> = ids(10).chain([begin]).chain(kept).chain(refer).chain([end]).collect();
    let most = |references| ReplayLimits { references, ..ReplayLimits::default() };
    assert_eq!(run(8, false, most(200), events.clone()).expect("room").state().reference_count(), 100);
    let error = run(8, false, most(50), events).err().expect("too many references").to_string();
    assert!(error.contains("more than 50 references at a time"), "{error}");

    let far = (0..5).map(|i| Event::Allocate(ITEM, 0, ObjectKey::Address(i << 40)));
    let limits = ReplayLimits { leaves: 4, ..ReplayLimits::default() };
    let error = run(8, false, limits, far.collect()).err().expect("too many pages").to_string();
    assert!(error.contains("more than 4 pages of its address range"), "{error}");
}

/// A heap of 32 GB and 400 MB, an object on each page, all of them moved by a full collection.
#[test]
#[ignore = "takes 4 GB of memory and half a minute"]
fn a_heap_of_more_than_32_gb_is_read() {
    const PAGES: u64 = (1 << 23) + 100_000;
    let heap_type = HeapType { name: "Item".into(), kind: TypeKind::Instance, superclass: None, loader: "main".into() };
    let program = Program { types: vec![heap_type], shapes: vec![Shape::Instance(16)], ..Program::default() };
    let mut replay = Replay::new(Arc::new(program), ());
    assert!(replay.change_space(0, |space| {
        (space.start, space.bytes, space.kind) = (1 << 40, PAGES << 12, SpaceKind::Old);
    }));
    let info = replay.info(ITEM);
    let at = |page: u64, place: u64| (1 << 40) + (page << 12) + place;
    for page in 0..PAGES {
        replay.allocate(info, 0, ObjectKey::Address(at(page, 64)));
    }
    let gc = Gc { number: 1, kind: GcKind::Major, cause: 0, millis: 0, failed: false, targets_after: true };
    replay.gc_start(gc).expect("begun");
    for page in 0..PAGES {
        let to = at(page, 8);
        assert_eq!(replay.moved(at(page, 64), to), Some(16));
        replay.references(ObjectKey::Address(to), &[ObjectKey::Address(at(PAGES - 1 - page, 8))], false);
    }
    replay.gc_end(gc).expect("ended");
    replay.check().expect("room");
    assert_eq!((replay.live(), replay.inconsistencies()), (PAGES, Inconsistencies::default()));
    let heap = replay.state();
    let last = heap.object_at(at(PAGES - 1, 8)).expect("the last object");
    assert_eq!(heap.references(last), [ObjectId(0)]);
    assert_eq!(heap.references(ObjectId(0)), [last]);
}

/// Objects born in an old space are counted one by one, even if the next full collection frees them.
#[test]
fn what_is_born_in_old_space_and_freed_by_the_next_full_collection_is_gone_from_the_recording() {
    let space = Event::Space { index: 0, start: 0x10000, bytes: 0x10000, kind: SpaceKind::Old };
    let objects = (0..3).map(|i| Event::Allocate(ITEM, 0, ObjectKey::Address(0x10000 + 16 * i)));
    let [begin, end] = full_gc();
    let events: Vec<Event> = [space].into_iter().chain(objects).chain([begin, end]).collect();
    let program = Program {
        types: vec![HeapType {
            name: "Item".into(),
            kind: TypeKind::Instance,
            superclass: None,
            loader: "main".into(),
        }],
        shapes: vec![Shape::Instance(16)],
        ..Program::default()
    };
    let series = series(&Script { program: Arc::new(program), events: Arc::new(events) });
    let changes = |i| series.recording().log.changes(i).map(|c| (c.objects, c.bytes)).collect::<Vec<_>>();
    assert_eq!([changes(0), changes(1)], [vec![(3, 48)], vec![(-3, -48)]]);
}
