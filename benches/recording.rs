//! Dumps as recordings: how large they are and how long they take to read, against the dumps themselves, plain and packed
//! with gzip as JVMs do it.
//!
//! A dump of the sample, and any others named behind `--`, packed with gzip:
//! `cargo bench --bench recording --no-default-features -- some.hprof.gz`. Each way is timed in turn; medians. And what the names of
//! fields cost that a walk has: a dump is looked at once more for them.

use memory_city_formats::{hprof, open, wire};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut dumps = vec![root.join("sample-data/person-leak/person-leak-16.hprof.gz")];
    dumps.extend(arguments.iter().map(PathBuf::from));
    let folder = tempfile::tempdir().expect("a folder");
    println!(
        "| dump | objects | dump (MB) | gzip (MB) | recording (MB) | of the gzip | reading: dump (s) | gzip (s) | recording (s) | of the dump | of the gzip | writing (s) |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut names = Vec::new();
    for dump in dumps {
        let input = Input::open(&dump, &Progress::new()).expect("the dump");
        let (plain, packed) = (folder.path().join("plain.hprof"), dump.clone());
        std::fs::write(&plain, input.bytes()).expect("written");
        let recording = folder.path().join("recording.mcity");
        let series = open(std::slice::from_ref(&plain), &Progress::new()).expect("a series");
        series.load(0, &Progress::new()).expect("a heap");
        let begun = Instant::now();
        let saved = wire::save(&*series, &[0], &recording, &Progress::new()).expect("saved");
        let writing = begun.elapsed().as_secs_f64();
        drop(series);
        let mut times = [const { Vec::new() }; 3];
        for round in 0..=ROUNDS {
            for (path, times) in [&plain, &packed, &recording].into_iter().zip(&mut times) {
                let begun = Instant::now();
                let series = open(std::slice::from_ref(path), &Progress::new()).expect("a series");
                let heap = series.load(0, &Progress::new()).expect("a heap");
                assert_eq!(heap.object_count() as u64, saved.objects);
                // The first round warms the file cache.
                if round > 0 {
                    times.push(begun.elapsed().as_secs_f64());
                }
            }
        }
        let [of_plain, of_packed, of_recording] = times.map(median);
        let size = |path: &Path| std::fs::metadata(path).expect("a file").len() as f64 / 1e6;
        println!(
            "| {} | {} | {:.1} | {:.1} | {:.1} | {:.2} | {of_plain:.2} | {of_packed:.2} | {of_recording:.2} | {:.2} | {:.2} | {writing:.2} |",
            dump.file_name().map_or("", |n| n.to_str().unwrap_or("")),
            saved.objects,
            size(&plain),
            size(&packed),
            size(&recording),
            size(&recording) / size(&packed),
            of_recording / of_plain,
            of_recording / of_packed,
        );
        names.push(names_of_fields(&dump, &plain));
    }
    println!("\n| dump | references | pairs of classes with a name | reading (s) | with names of fields (s) | ratio |");
    println!("|---|---|---|---|---|---|");
    names.iter().for_each(|row| println!("{row}"));
}

/// What a recording does with each dump of a walk, without and with the names of fields.
fn names_of_fields(packed: &Path, dump: &Path) -> String {
    let progress = Progress::new();
    let handles = Default::default();
    let mut times = [const { Vec::new() }; 2];
    let (mut references, mut pairs) = (0, 0);
    for round in 0..=ROUNDS {
        let input = Input::open(dump, &progress).expect("the dump");
        let begun = Instant::now();
        references = hprof::load(&input, &progress).expect("a heap").reference_count();
        let without = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        pairs = hprof::load_walk(input, &handles, &progress).expect("a heap").fields.all().len();
        if round > 0 {
            times[0].push(without);
            times[1].push(begun.elapsed().as_secs_f64());
        }
    }
    let [without, with] = times.map(median);
    let name = packed.file_name().map_or("", |n| n.to_str().unwrap_or(""));
    format!("| {name} | {references} | {pairs} | {without:.2} | {with:.2} | {:.2} |", with / without)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
