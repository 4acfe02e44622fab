//! Classes of one name from two loaders.

use super::*;
use memory_city_wire::{ClassRow, StringRow};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const COUNTS: [u64; 2] = [3000, 5000];

/// Samples tell them apart, and say who loaded them; each is linked to an object of its own class, whatever else has the name.
#[test]
fn classes_of_one_name_are_told_apart() {
    with_jdks("classes_of_one_name_are_told_apart", |jdk, class_path, temporary| {
        let counts = COUNTS.map(|count| count.to_string());
        let program = ["-Xmx100m", "-cp", class_path, "Loaders", &counts[0], &counts[1]];
        let folder = temporary.join("walked");
        let done = record_until(jdk, &folder, &["--every-allocation"], (&program, 2500), |folder| has_walks(folder, 1));
        assert!(done.status.success() && has_walks(&folder, 1), "{}", text(&done.stderr));
        // Of the program's stream: classes with the name, and samples of each.
        let (mut names, mut classes, mut class_of) = (HashMap::new(), Vec::new(), HashMap::new());
        let first = folder.join("00-000000.mcity");
        for_chunks_of(&first, &mut |chunk| match chunk.kind() {
            ChunkKind::STRINGS => {
                names.extend(chunk.rows::<StringRow>().expect("rows").rows.into_iter().map(|row| (row.id, row.text)));
            }
            ChunkKind::CLASSES => classes.extend(chunk.rows::<ClassRow>().expect("rows").rows),
            ChunkKind::SAMPLES => {
                let rows = chunk.rows::<SampleRow>().expect("rows").rows;
                class_of.extend(rows.into_iter().map(|row| (row.id, row.class)));
            }
            _ => {}
        });
        let loaders: BTreeMap<u32, String> = classes
            .iter()
            .filter(|row| names[&row.name] == "Twin$Thing")
            .filter_map(|row| Some((row.id, names[&row.loader_name?].clone())))
            .collect();
        let samples = |class: u32| class_of.values().filter(|of| **of == class).count() as u64;
        let sampled: BTreeMap<String, u64> =
            loaders.iter().map(|(class, loader)| (loader.clone(), samples(*class))).filter(|(_, n)| *n > 0).collect();
        let expected = ["Loaders$TwinLoader", "Loaders$TwinLoader #2"].map(str::to_owned).into_iter().zip(COUNTS);
        assert_eq!(sampled, expected.collect(), "JDK {}", jdk.version);
        // The walk has each of them as an object of the class with the name, and those of one class are of one loader there too.
        let series = memory_city_formats::open(std::slice::from_ref(&folder), &Progress::new()).expect("it opens");
        let last = series.points().len() - 1;
        let heap = series.load(last, &Progress::new()).expect("the last walk");
        let found = series.sampled(&[last], &Progress::new()).expect("read").expect("samples");
        let mut types: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut linked: BTreeMap<u32, u64> = BTreeMap::new();
        for sample in &found.alive[0] {
            let class = class_of[&sample.sample];
            if loaders.contains_key(&class) {
                let of = heap.type_of(sample.object);
                assert_eq!(heap.types()[of.0 as usize].name, "Twin$Thing");
                types.entry(class).or_default().insert(of.0);
                *linked.entry(class).or_default() += 1;
            }
        }
        assert_eq!(linked.values().copied().collect::<Vec<_>>(), COUNTS);
        let of: Vec<&BTreeSet<u32>> = types.values().collect();
        assert!(of.iter().all(|types| types.len() == 1) && of[0] != of[1], "{types:?}");
        // Without walks the loaders are what samples say, and of what the VM counts by name nobody is said to have loaded it.
        let bare = temporary.join("bare");
        let options = ["--every-allocation", "--no-walks"];
        let done = record(jdk, &bare, &options, &[&program[..], &["500"]].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        let csv = of_trace(&["report", "--tree", "--format", "csv", "--grouping", "type>loader"], &bare).0;
        for (loader, count) in ["Loaders$TwinLoader", "Loaders$TwinLoader #2"].iter().zip(COUNTS) {
            let is_row = |line: &&str| line.contains(&format!(",{loader},")) && line.contains(&format!(",{count},"));
            assert!(csv.lines().any(|line| is_row(&line)), "{loader}: {csv}");
        }
        assert!(csv.lines().any(|line| line.contains(",bootstrap,")), "{csv}");
    });
}
