//! A series of dumps from outside. Opening it again reads nothing of the dumps, whatever happens to the cache. The
//! memory of the machine changes nothing but the time. Needs no viewer: `cargo test --no-default-features --test
//! command_line_series`.

use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_testing::root;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use tempfile::TempDir;

/// Dumps of a program that leaks, unpacked, with a cache of their own.
struct Series {
    folder: TempDir,
    dumps: Vec<PathBuf>,
}

impl Series {
    fn new(which: &[usize]) -> Series {
        let folder = tempfile::tempdir().expect("a folder");
        let dumps = folder.path().join("dumps");
        std::fs::create_dir(&dumps).expect("a folder");
        let unpack = |i: &usize| {
            let packed = root().join(format!("sample-data/person-leak/person-leak-{i:02}.hprof.gz"));
            let input = Input::open(&packed, &Progress::new()).expect("a dump");
            let path = dumps.join(format!("dump-{i:02}.hprof"));
            std::fs::write(&path, input.bytes()).expect("written");
            path
        };
        let dumps = which.iter().map(unpack).collect();
        Series { folder, dumps }
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// Exit code, standard output and standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut program = Command::new(env!("CARGO_BIN_EXE_memory-city"));
        let (command, rest) = arguments.split_at(if arguments[0] == "analyse" { 2 } else { 1 });
        program.args(command).arg(self.folder.path().join("dumps")).args(rest).env_remove("RUST_LOG");
        let output = program.env("MEMORY_CITY_CACHE", self.cache()).output().expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (output.status.code().expect("a code"), text(output.stdout), text(output.stderr))
    }

    /// Damage between the samples that identify a dump: only a reader of the dump notices it.
    fn spoil(&self) {
        self.dumps.iter().for_each(|dump| spoil(dump));
    }

    fn kept(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(self.cache()).expect("a cache").map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        files
    }
}

fn spoil(path: &Path) {
    let mut file = File::options().write(true).open(path).expect("the dump");
    let meta = file.metadata().expect("what it is");
    let before = meta.modified().expect("a time");
    // Samples lie at multiples of a 31st of the dump.
    for i in 0..31 {
        file.seek(SeekFrom::Start(meta.len() * (2 * i + 1) / 62)).expect("a place");
        file.write_all(&[0xff; 600]).expect("written");
    }
    drop(file);
    File::options().append(true).open(path).and_then(|f| f.set_modified(before)).expect("a time");
}

const QUESTIONS: [&[&str]; 8] = [
    &["report"],
    &["report", "--metrics", "retained,deep", "--metric", "retained", "--format", "json"],
    &["report", "--tree", "--grouping", "owner", "--metrics", "retained"],
    &["analyse", "leak", "--format", "json"],
    &["analyse", "biggest"],
    &["check", "--max-growth", "1%", "--max-retained", "byte[] > 1kB", "--max-retained", "retained > 300kB"],
    &["analyse", "difference", "-p", "by=owner"],
    &["analyse", "difference", "-p", "by=type", "--format", "csv"],
];

#[test]
fn a_second_opening_reads_nothing_of_the_dumps() {
    let series = Series::new(&[1, 6, 11, 16]);
    let fresh: Vec<_> = QUESTIONS.iter().map(|question| series.run(question)).collect();
    assert!(fresh[0].1.contains("PersonRegistry.PERSONS"), "{}{}", fresh[0].1, fresh[0].2);
    assert_eq!(fresh[5].0, 3, "limits are exceeded: {}{}", fresh[5].1, fresh[5].2);
    series.spoil();
    for (question, fresh) in QUESTIONS.iter().zip(&fresh) {
        assert_eq!(&series.run(question), fresh, "{question:?}");
    }
    // A dump that was written again is another one.
    let last = series.dumps.last().expect("a dump");
    File::options().append(true).open(last).and_then(|f| f.set_modified(SystemTime::now())).expect("a time");
    assert_ne!(series.run(QUESTIONS[0]), fresh[0]);
}

/// Whichever three or more dumps of a run are taken, the place is named: a dump more never makes the answer wrong. Where all growth lies in
/// the last step it may be a cache that fills, and the tag says so.
#[test]
fn every_three_dumps_of_a_leak_name_it() {
    let series = Series::new(&[1, 5, 9, 12, 16]);
    let subsets = (0u32..32).filter(|subset| subset.count_ones() >= 3);
    for subset in subsets {
        let taken = series.dumps.iter().enumerate().filter(|(at, _)| subset & (1 << at) != 0).map(|(_, dump)| dump);
        let mut program = Command::new(env!("CARGO_BIN_EXE_memory-city"));
        let program = program.arg("report").args(taken).env("MEMORY_CITY_CACHE", series.cache());
        let output = program.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let first = text.lines().next().unwrap_or_default();
        let of_place = first.strip_prefix("LEAK  ").or_else(|| first.strip_prefix("GROWS  ")).unwrap_or_default();
        let names = of_place.starts_with("PersonRegistry.PERSONS (LinkedList): ") && of_place.contains(" Person, +");
        assert!(names, "dumps {subset:05b}: {first}");
    }
}

/// A later dump comes to the series: what is known of the others is not found again.
#[test]
fn a_dump_more_costs_that_dump() {
    let series = Series::new(&[1, 6]);
    let grown = Series::new(&[1, 6, 16]);
    let expected = grown.run(&["analyse", "difference", "-p", "by=owner", "-p", "base=1", "-p", "time=2"]);
    let places = ["analyse", "difference", "-p", "by=owner", "-p", "base=1", "-p", "time=2"];
    series.run(&places);
    series.spoil();
    // It has only to be read for its tree.
    let file = grown.dumps[2].file_name().expect("a name");
    std::fs::copy(&grown.dumps[2], series.folder.path().join("dumps").join(file)).expect("copied");
    assert_eq!(series.run(&places), expected);
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let series = Series::new(&[1, 16]);
    let fresh = series.run(QUESTIONS[0]);
    let files = series.kept();
    // A tree and owners of each dump, what leaks, and what grows.
    assert!(files.len() >= 6, "{files:?}");
    let whole: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("a file")).collect();
    type Damage = fn(usize, &[Vec<u8>]) -> Vec<u8>;
    let damages: [(&str, Damage); 7] = [
        ("a byte in the middle", |i, whole| flipped(&whole[i], whole[i].len() / 2)),
        ("the last byte", |i, whole| flipped(&whole[i], whole[i].len() - 1)),
        ("the first byte", |i, whole| flipped(&whole[i], 0)),
        ("cut", |i, whole| whole[i][..whole[i].len() * 2 / 3].to_vec()),
        ("empty", |_, _| Vec::new()),
        ("swapped", |i, whole| whole[(i + 1) % whole.len()].clone()),
        ("longer", |i, whole| [&whole[i][..], b"more"].concat()),
    ];
    for (name, damage) in damages {
        for (i, file) in files.iter().enumerate() {
            std::fs::write(file, damage(i, &whole)).expect("written");
        }
        assert_eq!(series.run(QUESTIONS[0]), fresh, "{name}");
        assert_eq!(series.kept(), files, "{name}");
        // They are whole again.
        series.dumps.iter().for_each(|dump| assert!(dump.exists()));
    }
    series.spoil();
    assert_eq!(series.run(QUESTIONS[0]), fresh, "made anew");
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 0x40;
    bytes
}

#[test]
fn dumps_read_at_once_say_what_they_say_one_after_the_other() {
    let series = Series::new(&[1, 3, 6, 9, 12, 16]);
    let forget = || std::fs::remove_dir_all(series.cache()).expect("removed");
    for question in QUESTIONS {
        // In the latter two do not fit.
        let outputs = ["1GB", "52MB"].map(|memory| {
            let (code, out, error) = series.run(&[question, &["--memory", memory]].concat());
            forget();
            assert!(!error.contains(" memory"), "{question:?}: {error}");
            (code, out)
        });
        assert_eq!(outputs[0], outputs[1], "{question:?}");
        let (code, out, error) = series.run(&[question, &["--memory", "5MB"]].concat());
        assert_eq!((code, &*out), (1, ""), "{question:?}");
        assert!(error.contains("(--memory"), "{question:?}: {error}");
    }
    for wrong in ["", "0", "lots", "-1GB"] {
        let (code, _, error) = series.run(&["report", &format!("--memory={wrong}")]);
        assert_eq!(code, 2);
        assert!(error.contains("write 500MB or 4GB"), "{error}");
    }
}
