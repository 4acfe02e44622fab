//! Retained and deep amounts of whole trees: of real dumps and traces, against taking each group out in turn.

use memory_city_analysis::analyses::{AnalysisRegistry, TimeWindow, report};
use memory_city_analysis::group::{self, GroupOptions};
use memory_city_analysis::timeline::{AUTO, ClosureMetric, ClosureRequest, History, Metric, NodeId, Source, Timeline};
use memory_city_analysis::trends::{GroupSizes, spread};
use memory_city_heap::input::Input;
use memory_city_heap::ownership::{GroupAmounts, KeepGraph, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId, Strength};
use memory_city_testing::root;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

fn open(paths: &[&str], grouping: &str, options: GroupOptions) -> Source {
    let paths: Vec<PathBuf> = paths.iter().map(|path| root().join(path)).collect();
    Source::open(&paths, grouping, options, &Progress::new()).expect("it opens")
}

fn history(source: &Source) -> &History {
    source.heaps().expect("heap states")
}

/// The dump, grouped, with nothing taken from the cache.
fn computed(grouping: &str, options: GroupOptions) -> History {
    let (progress, path) = (Progress::new(), root().join(DUMP));
    let series = memory_city_formats::open(&[path], &progress).expect("it opens");
    let grouping = group::grouping(grouping).expect("a grouping");
    History::build_with(Arc::from(series), grouping, options, &progress).expect("it can be grouped")
}

/// Objects reached from some others without passing those of `without`.
fn reach(graph: &KeepGraph<'_>, from: Vec<ObjectId>, without: Option<&BitSet>, classes: bool) -> BitSet {
    let heap = graph.heap();
    let mut seen = BitSet::new(heap.object_count());
    let mut open = from;
    while let Some(o) = open.pop() {
        if without.is_some_and(|without| without.contains(o.0)) || !seen.insert(o.0) {
            continue;
        }
        graph.kept(o, |target| open.push(target));
        open.extend(heap.mirror_of(heap.type_of(o)).filter(|_| classes));
    }
    seen
}

fn amount(heap: &HeapState, objects: &BitSet) -> Amount {
    let mut amount = Amount::default();
    objects.iter().for_each(|o| amount += Amount { objects: 1, bytes: heap.size_of(ObjectId(o)) });
    amount
}

/// By the definitions: the group is taken out, and what its members reach is compared with what is still reached.
fn by_definition(heap: &HeapState, rules: KeepRules, members: &BitSet) -> GroupAmounts {
    let graph = KeepGraph::new(heap, rules);
    let from: Vec<ObjectId> = members.iter().map(ObjectId).collect();
    let mut retained = reach(&graph, from.clone(), None, true);
    retained.subtract(&reach(&graph, graph.roots().to_vec(), Some(members), true));
    let mut deep = reach(&graph, from, None, false);
    deep.unite(&retained);
    GroupAmounts { deep: amount(heap, &deep), retained: amount(heap, &retained) }
}

const DUMP: &str = "sample-data/person-leak/person-leak-16.hprof.gz";

/// Groupings: by type, with a level between, with objects in several groups of several levels, with garbage.
#[test]
fn every_node_of_a_dump_retains_and_reaches_what_the_definitions_say() {
    let unreachable = GroupOptions { include_unreachable: true, ..GroupOptions::default() };
    for (grouping, options, rules) in [
        ("package-type", GroupOptions::default(), KeepRules::default()),
        ("type > pointed-from", GroupOptions::default(), KeepRules::SOFT_AS_WEAK),
        ("rooted > type", unreachable, KeepRules::default()),
        ("type > pointed-from(type)", GroupOptions::default(), KeepRules::default()),
    ] {
        let (history, progress) = (computed(grouping, options), Progress::new());
        let timeline = history.timeline();
        let request = ClosureRequest { rules, deep: true };
        let all = history.all_closures(0, request, &[], &progress, &mut |_| ()).expect("not cancelled");
        for node in timeline.nodes() {
            let (shallow, found) = (timeline.amount(0, node), all[node.index()]);
            assert!(shallow.bytes <= found.retained.bytes && found.retained.bytes <= found.deep.bytes);
            assert!(shallow.objects <= found.retained.objects && found.retained.objects <= found.deep.objects);
        }
        // Every seventh, the root among them.
        for node in timeline.nodes().step_by(timeline.len().div_ceil(40)) {
            let set = history.objects_of(0, &[node], &progress).expect("not cancelled");
            let expected = by_definition(&set.heap, rules, &set.objects);
            assert_eq!(all[node.index()], expected, "{grouping}: {}", timeline.key(node));
        }
    }
}

#[test]
fn wanted_nodes_come_first_and_are_the_same() {
    let (history, progress) = (computed("package-type", GroupOptions::default()), Progress::new());
    let wanted: Vec<NodeId> = history.timeline().nodes().filter(|n| n.0 % 9 == 4).collect();
    let request = ClosureRequest::default();
    let mut first = Vec::new();
    let all = history.all_closures(0, request, &wanted, &progress, &mut |found| first.push(found.to_vec()));
    let all = all.expect("not cancelled");
    let expected: Vec<GroupAmounts> = wanted.iter().map(|node| all[node.index()]).collect();
    assert_eq!(first, std::slice::from_ref(&expected));
    assert_eq!(history.closures_of(0, &wanted, request, &progress).expect("not cancelled"), expected);
    // Asked alone, of a state that was not asked for before.
    let fresh = computed("package-type", GroupOptions::default());
    assert_eq!(fresh.closures_of(0, &wanted, request, &progress).expect("not cancelled"), expected);
    // Nobody waits for what was cancelled.
    let deep = ClosureRequest { deep: true, ..request };
    progress.cancel();
    assert!(fresh.closures_of(0, &wanted, deep, &progress).is_err());
}

#[test]
fn metrics_over_time_are_those_of_each_time() {
    let dumps = [1, 6, 16].map(|i| format!("sample-data/person-leak/person-leak-{i:02}.hprof.gz"));
    let dumps: Vec<&str> = dumps.iter().map(String::as_str).collect();
    let source = open(&dumps, "package-type", GroupOptions::default());
    let progress = Progress::new();
    // Dumps know no ages.
    let known: Vec<ClosureMetric> = ClosureMetric::ALL.into_iter().filter(|m| *m != ClosureMetric::Age).collect();
    let with = source.with_closures(&known, KeepRules::default(), &progress).expect("not cancelled");
    let timeline = with.timeline();
    assert_eq!(timeline.metrics().count(), 8);
    let metric = |of: ClosureMetric| timeline.metric(&of.info().id).expect("it was added");
    let request = ClosureRequest { rules: KeepRules::default(), deep: true };
    for t in 0..3 {
        let all = history(&source).all_closures(t, request, &[], &progress, &mut |_| ()).expect("not cancelled");
        for node in timeline.nodes() {
            let value = |of| timeline.value(t, node, metric(of));
            let expected = all[node.index()];
            assert_eq!(value(ClosureMetric::Retained), expected.retained.bytes);
            assert_eq!(value(ClosureMetric::RetainedObjects), expected.retained.objects);
            assert_eq!(value(ClosureMetric::Deep), expected.deep.bytes);
            assert_eq!(value(ClosureMetric::DeepObjects), expected.deep.objects);
            assert_eq!(timeline.value(t, node, Metric::Bytes), source.timeline().amount(t, node).bytes);
        }
        // All that there is goes when all that is grouped does.
        assert_eq!(
            timeline.value(t, NodeId::ROOT, metric(ClosureMetric::Retained)),
            timeline.amount(t, NodeId::ROOT).bytes
        );
    }
    let retained = metric(ClosureMetric::Retained);
    let leak = timeline.find("Heap#com.example.leak#LeakingApp").or_else(|| {
        // The class that holds the list of persons retains nearly all that grows.
        timeline.nodes().filter(|&n| timeline.is_leaf(n)).max_by_key(|&n| timeline.growth(n, retained))
    });
    let leak = leak.expect("a leaf");
    assert!(timeline.growth(leak, retained) * 10 > timeline.growth(NodeId::ROOT, Metric::Bytes) * 8);
}

/// Amounts for some times alone equal those for all, come in the requested order, and stand in the table of trends.
#[test]
fn sizes_at_some_times_are_those_of_all() {
    let progress = Progress::new();
    for (paths, lacks_first) in [
        ([1, 6, 11, 16].map(|i| format!("sample-data/person-leak/person-leak-{i:02}.hprof.gz")).to_vec(), false),
        (vec!["tests/data/anttracks/person-leak-parallel".to_owned()], true),
    ] {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let source = open(&paths, "type", GroupOptions::default());
        let last = source.timeline().times() - 1;
        let metrics = [ClosureMetric::Retained, ClosureMetric::DeepObjects];
        let with = source.with_closures(&metrics, KeepRules::default(), &progress).expect("references");
        let timeline = with.timeline();
        let request = ClosureRequest { deep: true, ..ClosureRequest::default() };
        let (mut told, mut sizes) = (Vec::new(), GroupSizes::new(request));
        let wanted = GroupSizes::order(&spread(&(0..=last).collect::<Vec<_>>(), 3));
        source
            .closures_at(&wanted, 2, request, &progress, &mut |time, found| {
                told.push(time);
                if let Some(found) = found {
                    sizes.add(time, found);
                }
            })
            .expect("references");
        assert_eq!(told, wanted);
        assert!(sizes.has(last) && (lacks_first || sizes.times().len() == 3));
        for metric in metrics {
            let column = timeline.metric(&metric.info().id).expect("it was added");
            assert!(sizes.answers(metric));
            for time in sizes.times() {
                for node in timeline.nodes() {
                    assert_eq!(sizes.value(time, node, metric), timeline.value(time, node, column));
                }
            }
        }
        sizes.keep(&[last]);
        assert_eq!(sizes.times(), [last]);

        // The table of the chart: fewer values, and how many it has is told.
        let analysis = AnalysisRegistry::built_in().get("trends").expect("it is there");
        let given = [("metric", "retained"), ("times", "2"), ("top", "1"), ("points", "yes")];
        let report = report::analyse(&analysis, &source, TimeWindow::whole(source.timeline()), given, &progress);
        let json = serde_json::to_string(&report.expect("it is found")).expect("JSON");
        let retained = timeline.metric("retained").expect("it was added");
        let growth =
            |&node: &NodeId| timeline.value(last, node, retained) as i64 - timeline.value(0, node, retained) as i64;
        let most = timeline.children(NodeId::ROOT).iter().map(growth).max().expect("types");
        assert!(lacks_first || json.contains(&format!(r#""growth":{most},"#)), "{most}: {json}");
        assert!(json.contains(&format!("of {} points in time", last + 1)), "{json}");
        assert!(json.contains("do not add up") && !json.contains(r#""rest""#), "{json}");
    }
}

#[test]
fn traces_have_these_metrics_where_they_record_references() {
    let progress = Progress::new();
    let metrics = [ClosureMetric::Retained, ClosureMetric::Deep];
    let trace = open(&["tests/data/anttracks/person-leak-parallel"], AUTO, GroupOptions::default());
    let with = trace.with_closures(&metrics, KeepRules::default(), &progress).expect("references");
    let timeline = with.timeline();
    let [retained, deep] = metrics.map(|metric| timeline.metric(&metric.info().id).expect("it was added"));
    let mut more = 0;
    for t in 0..timeline.times() {
        for node in timeline.nodes() {
            let [shallow, retained, deep] = [Metric::Bytes, retained, deep].map(|m| timeline.value(t, node, m));
            let place = format!("{} at {t} of {}: {shallow} {retained} {deep}", timeline.key(node), timeline.times());
            assert!(shallow <= retained && retained <= deep, "{place}");
            more += u32::from(shallow < retained && retained < deep);
        }
    }
    assert!(more > 20, "groups own others, and share others: {more}");

    let trace = open(&["tests/data/anttracks/churn-par-noptr"], AUTO, GroupOptions::default());
    let error = trace.with_closures(&metrics, KeepRules::default(), &progress).map(|_| ()).expect_err("no references");
    let error = error.to_string();
    assert!(error.contains("references between objects") && error.contains("this trace does not hold"), "{error}");
}

/// Trees and amounts of dumps come from the cache when the same dump is opened again. The test damages the dump between
/// its samples: the cache does not notice, but a reader would.
#[test]
fn dumps_that_were_opened_before_are_not_read_again() {
    assert!(std::env::var_os("MEMORY_CITY_CACHE").is_none_or(|cache| !cache.is_empty()), "this test needs a cache");
    let folder = tempfile::tempdir().expect("a folder");
    let progress = Progress::new();
    let dumps = [1, 16].map(|i| {
        let packed = root().join(format!("sample-data/person-leak/person-leak-{i:02}.hprof.gz"));
        let input = Input::open(&packed, &progress).expect("a dump");
        let path = folder.path().join(format!("dump-{i:02}.hprof"));
        std::fs::write(&path, input.bytes()).expect("written");
        path
    });
    let metrics = [ClosureMetric::Retained, ClosureMetric::Deep];
    let open = || -> Result<Vec<(String, Vec<u64>)>, String> {
        let source = Source::open(&dumps, "package-type", GroupOptions::default(), &progress);
        let source = source.map_err(|e| e.to_string())?;
        let source = source.with_closures(&metrics, KeepRules::default(), &progress).map_err(|e| e.to_string())?;
        let timeline = source.timeline();
        let values = |node| timeline.metrics().flat_map(move |m| (0..2).map(move |t| timeline.value(t, node, m)));
        let warnings = source.warnings().iter().map(|w| (w.to_string(), Vec::new())).collect::<Vec<_>>();
        let points = timeline.points().iter().map(|p| (format!("{p:?}"), Vec::new()));
        let nodes = timeline.nodes().map(|node| (timeline.path_label(node), values(node).collect()));
        // And all that a report has an answer to.
        let options = report::ReportOptions::default();
        let report = report::report(&source, &options, &progress).map_err(|e| e.to_string())?;
        let report = serde_json::to_string(&report).expect("JSON");
        Ok(nodes.chain(warnings).chain(points).chain([(report, Vec::new())]).collect())
    };
    let fresh = open().expect("it opens");
    assert!(fresh.len() > 200);
    let spoil = |path: &Path, stays: bool| {
        let mut file = File::options().write(true).open(path).expect("the dump");
        let meta = file.metadata().expect("what it is");
        let before = meta.modified().expect("a time");
        // Samples lie at multiples of a 31st of the dump.
        for i in 0..31 {
            file.seek(SeekFrom::Start(meta.len() * (2 * i + 1) / 62)).expect("a place");
            file.write_all(&[0xff; 600]).expect("written");
        }
        drop(file);
        let after = if stays { before } else { SystemTime::now() };
        File::options().append(true).open(path).and_then(|f| f.set_modified(after)).expect("a time");
    };
    dumps.iter().for_each(|dump| spoil(dump, true));
    assert_eq!(open().as_ref(), Ok(&fresh));
    // Written again: what is in the cache is of another dump.
    spoil(&dumps[1], false);
    assert_ne!(open().as_ref(), Ok(&fresh));
}

/// Findings of analyses that look at every object come again without the dump. An analysis whose first line is not its
/// own title has read the dump.
#[test]
fn what_was_found_of_dumps_is_not_looked_for_again() {
    let folder = tempfile::tempdir().expect("a folder");
    // A dump that no other test has opened.
    let packed = root().join("sample-data/person-leak/person-leak-16.hprof.gz");
    let dump = folder.path().join("dump.hprof");
    std::fs::write(&dump, Input::open(&packed, &Progress::new()).expect("a dump").bytes()).expect("written");
    for id in ["leak", "kept-by", "outside-heap", "biggest", "dominators", "threads", "duplicate-classes"] {
        let analysis = AnalysisRegistry::built_in().get(id).expect("it is there");
        let [fresh, again] = [(); 2].map(|()| {
            let source = Source::open(std::slice::from_ref(&dump), "type", GroupOptions::default(), &Progress::new())
                .expect("it opens");
            let (window, progress) = (TimeWindow::whole(source.timeline()), Progress::new());
            let report = report::analyse(&analysis, &source, window, [], &progress).expect("it is found");
            (serde_json::to_string(&report).expect("JSON"), progress.snapshot().stage)
        });
        let title = analysis.describe().title;
        assert_ne!(fresh.1, title, "{id}: the first time is a look at the dump");
        assert_eq!(again, (fresh.0, title.into()), "{id}");
    }
}

/// Each object of another group that refers to a group counts once for it, whatever the number of its references.
#[test]
fn referrers_are_the_objects_of_other_groups_that_refer_to_one() {
    let (history, progress) = (computed("type", GroupOptions::default()), Progress::new());
    let with = history.with_closures(&[ClosureMetric::Referrers], KeepRules::default(), &progress).expect("found");
    let timeline = with.timeline();
    let metric = timeline.metric("referrers").expect("the column");
    let heap = with.heap(0, &progress).expect("the heap");
    let mut counted: std::collections::BTreeMap<String, u64> = Default::default();
    let name = |o: ObjectId| heap.types()[heap.type_of(o).0 as usize].name.to_string();
    for o in (0..heap.object_count() as u32).map(ObjectId).filter(|&o| heap.is_reachable(o)) {
        let own = heap.type_of(o);
        // What a weak reference leads to is not kept by it.
        let weak = |to: ObjectId| heap.referents().of(o).iter().any(|r| r.strength != Strength::Soft && r.to == to);
        let once = |target: ObjectId| heap.references(o).iter().filter(|t| **t == target).count() == 1;
        let keeps = |target: &&ObjectId| !weak(**target) || !once(**target);
        let kept = heap.references(o).iter().filter(|t| heap.type_of(**t) != own).filter(keeps);
        let mut types: Vec<String> = kept.map(|&t| name(t)).collect();
        types.sort();
        types.dedup();
        types.into_iter().for_each(|name| *counted.entry(name).or_default() += 1);
    }
    let mut compared = 0;
    for node in timeline.nodes().filter(|&node| timeline.is_leaf(node)) {
        let expected = counted.get(timeline.name(node)).copied().unwrap_or(0);
        assert_eq!(timeline.value(0, node, metric), expected, "{}", timeline.key(node));
        compared += usize::from(expected > 0);
    }
    assert!(compared > 50);
}

/// The program counts its persons; the type of a structure and its place have the elements of the same list.
#[test]
fn elements_are_those_of_the_structures_in_a_group() {
    let progress = Progress::new();
    let with = |grouping: &str| {
        let history = computed(grouping, GroupOptions::default());
        history.with_closures(&[ClosureMetric::Elements], KeepRules::default(), &progress).expect("found")
    };
    let value = |history: &History, is_it: &dyn Fn(&str) -> bool| -> u64 {
        let timeline = history.timeline();
        let metric = timeline.metric("elements").expect("the column");
        let found = timeline.nodes().filter(|&node| timeline.is_leaf(node) && is_it(timeline.name(node)));
        found.map(|node| timeline.value(0, node, metric)).sum()
    };
    let (types, places) = (with("type"), with("structure(place)"));
    let persons = |timeline: &Timeline| {
        let of = timeline.nodes().find(|&node| timeline.name(node) == "register.model.Person").expect("persons");
        timeline.amount(0, of).objects
    };
    let expected = persons(types.timeline());
    assert!(expected > 1000);
    assert_eq!(value(&places, &|name| name.contains("PERSONS") || name.contains("LinkedList")), expected);
    assert!(value(&types, &|name| name == "java.util.LinkedList") >= expected);
    // Parts and contents are no structures.
    assert_eq!(value(&types, &|name| name.ends_with("LinkedList$Node") || name == "register.model.Person"), 0);
    for history in [&types, &places] {
        let timeline = history.timeline();
        let metric = timeline.metric("elements").expect("the column");
        assert_eq!(timeline.value(0, NodeId::ROOT, metric), value(history, &|_| true));
    }
    // Elements of a map that a set is made of are the set's, once in a group that has both.
    let all = with("kind");
    let total = |history: &History| {
        let timeline = history.timeline();
        timeline.value(0, NodeId::ROOT, timeline.metric("elements").expect("the column"))
    };
    assert!(total(&all) < total(&types));
}

/// Of a trace, whose births are known, against the ages of all objects one by one; of a dump it is not known, and said.
#[test]
fn ages_are_the_means_of_the_objects() {
    let source = open(&["tests/data/anttracks/person-leak-g1"], "package>type", GroupOptions::default());
    let progress = Progress::new();
    let with = history(&source).with_closures(&[ClosureMetric::Age], KeepRules::default(), &progress).expect("found");
    let timeline = with.timeline();
    let metric = timeline.metric("age").expect("the column");
    let mut old = 0;
    for time in [0, timeline.times() / 2, timeline.times() - 1] {
        let heap = with.heap(time, &progress).expect("the heap");
        let mut sums: std::collections::BTreeMap<String, (u64, u64)> = Default::default();
        for o in (0..heap.object_count() as u32).map(ObjectId) {
            let age = heap.facts(o).life.map(|life| u64::from(life.age)).expect("a trace knows births");
            let sum = sums.entry(heap.types()[heap.type_of(o).0 as usize].name.to_string()).or_default();
            *sum = (sum.0 + age, sum.1 + 1);
        }
        let all = sums.values().fold((0, 0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
        let mean = |sum: (u64, u64)| (sum.0 as f64 / sum.1 as f64).round() as u64;
        let (root, leaves): (Vec<_>, Vec<_>) = timeline
            .nodes()
            .filter(|&n| timeline.is_leaf(n) || timeline.parent(n).is_none())
            .partition(|&n| !timeline.is_leaf(n));
        assert_eq!(timeline.value(time, root[0], metric), mean(all), "the whole heap at {time}");
        let mut compared = 0;
        for node in leaves.into_iter().filter(|&node| timeline.amount(time, node).objects > 0) {
            let name = timeline.name(node);
            // Nodes say their types without the packages above them.
            let of_name: Vec<_> = sums.iter().filter(|(full, _)| full.rsplit('.').next() == Some(name)).collect();
            let [(_, sum)] = of_name[..] else { continue };
            if sum.1 != timeline.amount(time, node).objects {
                continue;
            }
            assert_eq!(timeline.value(time, node, metric), mean(*sum), "{} at {time}", timeline.key(node));
            compared += 1;
            old += u64::from(mean(*sum) > 1);
        }
        assert!(compared > 20, "{compared} groups at {time}");
    }
    assert!(old > 5, "some are old");
    let dump = computed("type", GroupOptions::default());
    let error = dump.with_closures(&[ClosureMetric::Age], KeepRules::default(), &progress).err().expect("not known");
    assert!(error.to_string().contains("survived"), "{error}");
}
