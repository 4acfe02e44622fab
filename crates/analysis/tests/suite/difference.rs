//! The difference of any two points in time. It is empty for a time with itself, and negated if the times are
//! exchanged. Its common objects are those that a look at each single one finds.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::{self, GroupOptions};
use memory_city_analysis::tabular::{Cell, ResultTable};
use memory_city_analysis::timeline::{AUTO, NodeId, Source};
use memory_city_heap::progress::Progress;
use memory_city_testing::root;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

fn open(paths: &[&str], grouping: &str) -> Source {
    let paths: Vec<PathBuf> = paths.iter().map(|path| root().join(path)).collect();
    Source::open(&paths, grouping, GroupOptions::default(), &Progress::new()).expect("it opens")
}

/// The analysis, of all rows.
fn difference(source: &Source, base: usize, time: usize, by: &str) -> Findings {
    let analysis = AnalysisRegistry::built_in().get("difference").expect("the analysis");
    let [base, time] = [base + 1, time + 1].map(|t| t.to_string());
    let given = [("base", &*base), ("time", &*time), ("by", by), ("top", "1000000")];
    let arguments = Arguments::parse(&analysis.describe(), given).expect("arguments");
    let window = TimeWindow::whole(source.timeline());
    analyses::run(&*analysis, source, window, &arguments, &Progress::new()).expect("it is made")
}

/// The numbers of each row by its name, by columns.
type Rows = BTreeMap<String, BTreeMap<String, i64>>;

fn rows(table: &ResultTable) -> Rows {
    let name_of = table.header.columns.iter().position(|c| c.id == "place").unwrap_or(0);
    let mut rows = Rows::new();
    for row in &table.rows {
        let name = match &row.cells[name_of] {
            Cell::Node(link) => link.key.clone(),
            cell => cell.plain(),
        };
        let number = |cell: &Cell| match cell {
            Cell::Number(n) => i64::try_from(*n).ok(),
            Cell::Change(n) => Some(*n),
            _ => None,
        };
        let columns = table.header.columns.iter().zip(&row.cells);
        let numbers = columns.filter_map(|(column, cell)| Some((column.id.clone(), number(cell)?))).collect();
        assert!(rows.insert(name, numbers).is_none(), "no two rows have one name");
    }
    rows
}

/// The rows with the times exchanged.
fn exchanged(rows: &Rows) -> Rows {
    let other = |id: &str| match id.split_once('_') {
        Some(("base", what)) => format!("time_{what}"),
        Some(("time", what)) => format!("base_{what}"),
        Some(("only", "base")) => "only_time".into(),
        Some(("only", "time")) => "only_base".into(),
        _ => id.to_owned(),
    };
    let number = |(id, n): (&String, &i64)| (other(id), if id.starts_with("change_") { -n } else { *n });
    rows.iter().map(|(name, row)| (name.clone(), row.iter().map(number).collect())).collect()
}

/// What holds of any two times of any source.
fn check(source: &Source, base: usize, time: usize, by: &str) {
    let (forth, back) = (difference(source, base, time, by), difference(source, time, base, by));
    assert_eq!(forth.tables.len(), back.tables.len());
    for (forth, back) in forth.tables.iter().zip(&back.tables) {
        assert_eq!(forth.header.id, back.header.id);
        let rows = rows(forth);
        assert_eq!(exchanged(&rows), self::rows(back), "{base} {time} {}", forth.header.id);
        for (name, row) in rows {
            let n = |id: &str| row.get(id).copied().unwrap_or(0);
            assert_eq!(n("change_objects"), n("time_objects") - n("base_objects"), "{name}");
            assert_eq!(n("change_bytes"), n("time_bytes") - n("base_bytes"), "{name}");
            assert_eq!(n("base_objects"), n("only_base") + n("matched") + n("unclear"), "{name}: {row:?}");
            assert_eq!(n("time_objects"), n("only_time") + n("matched") + n("unclear"), "{name}: {row:?}");
        }
    }
    for itself in [base, time] {
        for table in difference(source, itself, itself, by).tables {
            assert!(table.rows.is_empty(), "{}: {:?}", table.header.id, table.rows[0]);
        }
    }
}

/// Trees of several times, by path; objects and bytes of leaves.
type Trees = Vec<BTreeMap<(u8, u8), (u64, u64)>>;

fn trees() -> impl Strategy<Value = Trees> {
    let leaf = (1..4u8, 1..5u8);
    prop::collection::vec(prop::collection::btree_map(leaf, (1..100u64, 1..5000u64), 1..10), 2..5)
}

fn json(trees: &Trees) -> String {
    let mut lines = String::new();
    for (t, tree) in trees.iter().enumerate() {
        let mut packages: BTreeMap<u8, Vec<String>> = BTreeMap::new();
        for (&(package, name), (objects, bytes)) in tree {
            let leaf = format!(r#"{{"name": "t{name}", "objects": {objects}, "bytes": {bytes}}}"#);
            packages.entry(package).or_default().push(leaf);
        }
        let children: Vec<String> = packages
            .iter()
            .map(|(package, leaves)| format!(r#"{{"name": "p{package}", "children": [{}]}}"#, leaves.join(", ")))
            .collect();
        let head = if t == 0 { r#""format": "memory-city", "version": 1, "# } else { "" };
        let tree = format!(r#"{{"children": [{}]}}"#, children.join(", "));
        lines.push_str(&format!("{{{head}\"timestamp\": {}, \"tree\": {tree}}}\n", 1000 * (t + 1)));
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn trees_differ_in_what_their_leaves_do(trees in trees(), (base, time) in (0..5usize, 0..5usize)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trees.jsonl");
        std::fs::write(&path, json(&trees)).expect("written");
        let source = Source::open(&[path], AUTO, GroupOptions::default(), &Progress::new()).expect("it opens");
        let (base, time) = (base % trees.len(), time % trees.len());
        check(&source, base, time, "all");
        let found = rows(&difference(&source, base, time, "group").tables[0]);
        let all: HashSet<(u8, u8)> = trees[base].keys().chain(trees[time].keys()).copied().collect();
        let mut expected = BTreeMap::new();
        for leaf in all {
            let at = |t: usize| trees[t].get(&leaf).copied().unwrap_or_default();
            let (before, after) = (at(base), at(time));
            if before != after {
                let objects = after.0 as i64 - before.0 as i64;
                expected.insert(format!("Heap#p{}#t{}", leaf.0, leaf.1), (objects, after.1 as i64 - before.1 as i64));
            }
        }
        let found: BTreeMap<String, (i64, i64)> =
            found.into_iter().map(|(name, row)| (name, (row["change_objects"], row["change_bytes"]))).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn dumps_differ_by_owner_type_and_group() {
    let dumps = [1, 6, 16].map(|i| format!("sample-data/person-leak/person-leak-{i:02}.hprof.gz"));
    let source = open(&dumps.each_ref().map(String::as_str), "package-type");
    check(&source, 0, 2, "all");
    check(&source, 2, 1, "all");
    let found = difference(&source, 0, 2, "all");
    let timeline = source.timeline();
    let [before, after] = [0, 2].map(|t| timeline.amount(t, NodeId::ROOT));
    let total = after.objects as i64 - before.objects as i64;
    let ids: Vec<&str> = found.tables.iter().map(|table| &*table.header.id).collect();
    assert_eq!(ids, ["by_owner", "by_type", "by_group"]);
    for table in &found.tables {
        let sum = |id: &str| rows(table).values().map(|row| row[id]).sum::<i64>();
        assert_eq!(sum("change_objects"), total, "each object is in one row of {}", table.header.id);
        assert_eq!(sum("change_bytes"), after.bytes as i64 - before.bytes as i64, "{}", table.header.id);
    }
    let owners = rows(&found.tables[0]);
    let list = owners.iter().find(|(name, _)| name.ends_with("#static PERSONS#java.util.LinkedList"));
    let (_, list) = list.expect("the list that leaks");
    assert!(list["change_retained"] * 10 > (after.bytes as i64 - before.bytes as i64) * 8, "{list:?}");
    let note = found.notes.iter().find(|note| note.starts_with("By type")).expect("a note");
    let types = rows(&found.tables[1]);
    let only = |id: &str| types.values().map(|row| row[id]).sum::<i64>();
    let counted = analyses::count_text(only("only_time") as u64);
    assert!(note.contains(&format!("{counted} cannot be matched")), "{note}");
    assert_eq!(only("only_time") - only("only_base"), total);
    // No such time.
    let analysis = AnalysisRegistry::built_in().get("difference").expect("the analysis");
    let arguments = Arguments::parse(&analysis.describe(), [("base", "4")]).expect("arguments");
    let window = TimeWindow::whole(timeline);
    let error = analyses::run(&*analysis, &source, window, &arguments, &Progress::new()).expect_err("three times");
    assert!(error.to_string().contains("from 1 to 3"), "{error}");
}

/// Common objects of each group in two states, object by object: at the base alone, at the time alone, at both.
fn by_identity(source: &Source, grouping: &str, base: usize, time: usize) -> HashMap<String, [i64; 3]> {
    let heaps = source.heaps().expect("heap states");
    let grouping = group::grouping(grouping).expect("a grouping");
    let objects = |t: usize| {
        let heap = heaps.heap(t, &Progress::new()).expect("a state");
        let grouped = group::group(&heap, &grouping, GroupOptions::default(), &Progress::new()).expect("groups");
        let names = |mut node: usize| {
            let mut names = Vec::new();
            while let Some(parent) = grouped.tree.parent(node) {
                names.push(grouped.tree.name(node).to_string());
                node = parent;
            }
            names.push("Heap".into());
            names.reverse();
            names.join("#")
        };
        let mut found: HashMap<_, HashSet<String>> = HashMap::new();
        for o in heap.objects() {
            let leaves = grouped.leaves_of(&heap, o).iter().map(|&leaf| names(leaf as usize)).collect();
            let identity = heap.origins().expect("a trace").identity(o.0 as usize);
            assert!(found.insert(identity, leaves).is_none(), "no two objects have one identity");
        }
        found
    };
    let (before, after) = (objects(base), objects(time));
    let mut counts: HashMap<String, [i64; 3]> = HashMap::new();
    let none = HashSet::new();
    for identity in before.keys().chain(after.keys().filter(|identity| !before.contains_key(identity))) {
        let [was, is] = [&before, &after].map(|all| all.get(identity).unwrap_or(&none));
        for group in was.union(is) {
            let what = match (was.contains(group), is.contains(group)) {
                (true, false) => 0,
                (false, _) => 1,
                (true, true) => 2,
            };
            counts.entry(group.clone()).or_default()[what] += 1;
        }
    }
    counts
}

#[test]
fn traces_know_what_came_went_and_stayed() {
    let mut unclear_ones = 0;
    for trace in ["person-leak-parallel", "person-leak-g1", "churn-par-noptr"] {
        let trace = format!("tests/data/anttracks/{trace}");
        for grouping in ["type", "type > space", "space", "age > type", "array-length"] {
            let source = open(&[&trace], grouping);
            let times = source.timeline().times();
            let pairs = [(0, times - 1), (times / 3, 2 * times / 3), (times - 2, times / 2)];
            // Whoever asks for each object replays: fewer of them.
            let pairs = if grouping == "array-length" { &pairs[..1] } else { &pairs[..] };
            for &(base, time) in pairs {
                check(&source, base, time, "group");
                let found = rows(&difference(&source, base, time, "group").tables[0]);
                let expected = by_identity(&source, grouping, base, time);
                for (group, &[only_base, only_time, both]) in &expected {
                    let place = format!("{trace} {grouping} {base} {time} {group}");
                    let Some(row) = found.get(group) else {
                        assert_eq!((only_base, only_time), (0, 0), "{place}");
                        continue;
                    };
                    let unclear = row["unclear"];
                    assert!((row["only_base"]..=row["only_base"] + unclear).contains(&only_base), "{place}: {row:?}");
                    assert!((row["only_time"]..=row["only_time"] + unclear).contains(&only_time), "{place}: {row:?}");
                    assert!((row["matched"]..=row["matched"] + unclear).contains(&both), "{place}: {row:?} {both}");
                    assert!(unclear == 0 || grouping.contains("space"), "{place}");
                    unclear_ones += u32::from(unclear > 0);
                }
                assert!(found.keys().all(|group| expected.contains_key(group)));
            }
        }
    }
    assert!(unclear_ones > 0, "objects move between spaces");
}

#[test]
fn owners_and_types_of_traces_are_matched_by_identity() {
    let source = open(&["tests/data/anttracks/person-leak-parallel"], AUTO);
    let times = source.timeline().times();
    check(&source, times / 2, times - 1, "all");
    let found = difference(&source, times / 2, times - 1, "all");
    assert_eq!(found.tables.len(), 3, "{:?}", found.notes);
    let expected = by_identity(&source, "type", times / 2, times - 1);
    for (of_type, row) in rows(&found.tables[1]) {
        let [only_base, only_time, both] = expected[&format!("Heap#{of_type}")];
        assert_eq!([row["only_base"], row["only_time"], row["matched"]], [only_base, only_time, both], "{of_type}");
    }
    let came: i64 = expected.values().map(|counts| counts[1]).sum();
    let note = found.notes.iter().find(|note| note.starts_with("By type")).expect("a note");
    assert!(note.contains(&format!("{} objects came", analyses::count_text(came as u64))), "{note}");
    // Without references there is no owner, and all else.
    let source = open(&["tests/data/anttracks/churn-par-noptr"], AUTO);
    let found = difference(&source, 0, 1, "all");
    assert_eq!(found.tables.len(), 2);
    assert!(found.notes[0].starts_with("Not by owner") && found.notes[0].contains("references"), "{:?}", found.notes);
}

/// As trees. Either time has its whole heap; born objects are at the second alone, dead ones at the first alone. The
/// counts are those by identity.
#[test]
fn the_difference_as_trees_is_the_heap_at_both_times() {
    use memory_city_analysis::timeline::fates;
    let last_dumps =
        ["sample-data/person-leak/person-leak-15.hprof.gz", "sample-data/person-leak/person-leak-16.hprof.gz"];
    let trace = ["tests/data/anttracks/churn-parallel"];
    for (paths, grouping) in [(&trace[..], "type>site"), (&trace[..], "thread>type"), (&last_dumps[..], "package>type")]
    {
        let source = open(paths, grouping);
        let timeline = source.timeline();
        let last = timeline.times() - 1;
        let (base, time) = (last / 2, last);
        let found = fates(&source, Some((base + 1, time + 1)), &Progress::new()).expect("trees");
        let trees = found.timeline();
        assert_eq!(trees.times(), 2);
        for (side, of) in [(0, base), (1, time)] {
            assert_eq!(trees.amount(side, NodeId::ROOT), timeline.amount(of, NodeId::ROOT), "{grouping}");
        }
        let words = if source.is_recorded() {
            ["Born", "Died", "Survived"]
        } else {
            ["More than before", "Fewer than before", "As many as before"]
        };
        let objects = |word: &str, side: usize| {
            trees.find(&format!("Heap#{word}")).map_or(0, |node| trees.amount(side, node).objects)
        };
        assert_eq!((objects(words[0], 0), objects(words[1], 1)), (0, 0));
        assert_eq!(objects(words[2], 0), objects(words[2], 1));
        if source.is_recorded() && grouping == "type>site" {
            let [born, died, survived] = by_identity(&source, grouping, base, time)
                .values()
                .fold([0; 3], |sum: [i64; 3], of| [sum[0] + of[1], sum[1] + of[0], sum[2] + of[2]]);
            let told = [objects(words[0], 1), objects(words[1], 0), objects(words[2], 0)].map(|n| n as i64);
            assert_eq!(told, [born, died, survived]);
        }
        // Every group is the sum of its parts.
        for node in trees.nodes().filter(|&node| !trees.is_leaf(node)) {
            for side in 0..2 {
                let sum: u64 = trees.children(node).iter().map(|&c| trees.amount(side, c).objects).sum();
                assert!(sum <= trees.amount(side, node).objects, "{}", trees.key(node));
            }
        }
        // Opened as anybody opens it.
        let opened = open(paths, &format!("difference:{}-{}:{grouping}", base + 1, time + 1));
        for side in 0..2 {
            assert_eq!(opened.timeline().amount(side, NodeId::ROOT), trees.amount(side, NodeId::ROOT));
        }
        let said = opened.warnings().iter().map(|w| w.message.clone()).collect::<Vec<_>>().join("\n");
        assert!(said.contains(if source.is_recorded() { "by identity" } else { "no identity" }), "{said}");
    }
    let wrong =
        Source::open(&[root().join(trace[0])], "difference:3to4:type", GroupOptions::default(), &Progress::new());
    assert!(wrong.err().is_some_and(|e| e.to_string().contains("two times")));
}
