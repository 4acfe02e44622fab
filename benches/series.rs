//! Opening a series of dumps again, and reading several at once.
//!
//! `cargo bench --bench series --no-default-features [-- DUMP [COUNT]]` makes COUNT (20) copies of a dump (that of
//! `benches/hprof.rs`, 1 GB) that differ in their times. They lie in `target/bench/series` and need room there; the end
//! removes them. The report is made once without a cache and three times with it, beside a look at the first dump
//! alone. Then the dumps of the sample are read at once and one after the other, without any cache. With `--test`
//! nothing is measured.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

const ROUNDS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    println!("| what | time (s) | against | ratio |\n|---|---|---|---|");
    at_once(&root.join("sample-data/person-leak"));
    let dump = arguments.first().map_or(root.join("target/bench/big.hprof"), PathBuf::from);
    let count = arguments.get(1).map_or(20, |n| n.parse().expect("a number of dumps"));
    if !dump.exists() {
        eprintln!("{} is not there: `cargo bench --bench hprof --no-default-features` makes it", dump.display());
        return;
    }
    let folder = root.join("target/bench/series");
    std::fs::create_dir_all(&folder).expect("a folder");
    let _removed = Removed(folder.clone());
    (0..count).for_each(|i| copy(&dump, &folder.join(format!("dump-{i:02}.hprof")), i));
    again(&folder, count);
}

/// Goes at the end, whatever becomes of the measurement.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The same dump, taken a minute later each.
fn copy(from: &Path, to: &Path, minute: u64) {
    std::fs::copy(from, to).expect("room for a copy");
    let mut head = [0; 64];
    File::open(to).and_then(|mut file| file.read_exact(&mut head)).expect("its head");
    // A text that ends with 0, four bytes for the size of ids, eight for the time.
    let at = head.iter().position(|&b| b == 0).expect("the end of the text") + 5;
    let taken = u64::from_be_bytes(head[at..at + 8].try_into().expect("eight bytes")) + 60_000 * minute;
    let mut file = OpenOptions::new().write(true).open(to).expect("the copy");
    file.seek(SeekFrom::Start(at as u64)).and_then(|_| file.write_all(&taken.to_be_bytes())).expect("written");
    let when = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + 60 * minute);
    file.set_modified(when).expect("a time");
}

/// How long the program takes.
fn run(arguments: &[&str], cache: &str) -> (Duration, Vec<u8>) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    program.args(arguments).env("MEMORY_CITY_CACHE", cache).stderr(Stdio::null());
    let begun = Instant::now();
    let output = program.output().expect("it runs");
    (begun.elapsed(), output.stdout)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn row(what: &str, time: Duration, against: &str, other: Duration) {
    let ratio = time.as_secs_f64() / other.as_secs_f64();
    println!("| {what} | {:.3} | {against} | {ratio:.3}x |", time.as_secs_f64());
}

fn again(folder: &Path, count: u64) {
    let cache = folder.join("cache");
    let (cache, dumps) = (cache.to_string_lossy(), folder.join("dumps"));
    std::fs::create_dir(&dumps).expect("a folder");
    for i in 0..count {
        let name = format!("dump-{i:02}.hprof");
        std::fs::rename(folder.join(&name), dumps.join(&name)).expect("moved");
    }
    let first = dumps.join("dump-00.hprof");
    let (first, dumps) = (first.to_string_lossy(), dumps.to_string_lossy());
    let (one, _) = run(&["report", &first, "--tree", "--depth", "1"], "");
    row("the tree of one dump", one, "itself", one);
    for (name, question) in [
        ("report", &["report", &*dumps][..]),
        ("check --max-growth 5%", &["check", &dumps, "--max-growth", "5%"]),
        ("analyse difference", &["analyse", "difference", &dumps]),
    ] {
        let (fresh, said) = run(question, &cache);
        row(&format!("{name}, {count} dumps, first"), fresh, "the tree of one dump", one);
        let times = (0..ROUNDS).map(|_| {
            let (took, again) = run(question, &cache);
            assert!(again == said, "the same is said");
            took
        });
        row(&format!("{name}, {count} dumps, again"), median(times.collect()), "first", fresh);
    }
}

/// Small dumps at once and one after the other.
fn at_once(folder: &Path) {
    let folder = folder.to_string_lossy();
    for (name, question) in [
        ("trees of 16 dumps of 5 MB", &["report", &*folder, "--tree"][..]),
        ("owners of 16 dumps of 5 MB", &["analyse", "leak", &folder, "-p", "times=16"]),
    ] {
        let (mut at_once, mut one_by_one) = (Vec::new(), Vec::new());
        // In turn, and a round to warm up.
        for round in 0..=2 * ROUNDS {
            let (together, said) = run(&[question, &["--memory", "4GB"]].concat(), "");
            let (apart, again) = run(&[question, &["--memory", "100MB"]].concat(), "");
            assert!(said == again, "the same is said");
            if round > 0 {
                at_once.push(together);
                one_by_one.push(apart);
            }
        }
        let (at_once, one_by_one) = (median(at_once), median(one_by_one));
        row(&format!("{name}, one after the other"), one_by_one, "itself", one_by_one);
        row(&format!("{name}, two at once"), at_once, "one after the other", one_by_one);
    }
}
