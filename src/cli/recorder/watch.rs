//! The command `watch`: records class histograms of a running JVM at intervals. It loads nothing into the JVM: any will do, also one that
//! forbids agents.

use super::{DEFAULT_MAX_SIZE, duration, jvms, now};
use crate::cli::{interrupt, size};
use clap::Args;
use memory_city::jvm::attach::AttachedJvm;
use memory_city::jvm::list::{running, short_name};
use memory_city::terminal;
use memory_city_agent::folder::{is_running, private_file};
use memory_city_agent::histogram_rows;
use memory_city_analysis::tabular::{bytes_text, count_text};
use memory_city_formats::hprof::element_name;
use memory_city_formats::wire::{CountStream, StreamCount};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The end of a recording takes less.
const END: u64 = 64 << 10;

#[derive(Args)]
#[command(after_help = "  memory-city watch 4711 --every 10s --for 10m\n  memory-city report NAME-TIME.mcity\n\n\
    A histogram stops the program for about 0.05 s for a million objects; with --reachable for a full collection.")]
pub struct WatchArgs {
    /// The process (default: the only JVM that runs)
    #[arg(value_name = "PID")]
    pid: Option<u32>,
    /// The time from one histogram to the next
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    every: Duration,
    /// How large the file may be, 500MB, 2GB, ...: histograms come the more rarely the fuller it is, half as often behind each half of
    /// what is left. A number alone counts MB
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MAX_SIZE, value_parser = size)]
    max_size: u64,
    /// For how long (default: until Ctrl+C, or the program ends)
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    length: Option<Duration>,
    /// Only what some GC root reaches: the JVM collects all garbage before each histogram, which stops the program
    #[arg(long)]
    reachable: bool,
    /// The file to write (default: the program's name and the time, .mcity)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Watches until the program ends or a signal stops it.
pub fn watch(args: &WatchArgs) -> Result<ExitCode> {
    if let Some(path) = args.output.as_deref().filter(|path| path.extension().is_some_and(|end| end != "mcity")) {
        return Err(Error::Unusable {
            what: format!("{} is no name of what `watch` writes", path.display()),
            remedy: "Name a file that ends in .mcity; `memory-city convert` makes JSON of it".into(),
        });
    }
    let pid = jvms::choose(args.pid)?;
    let jvm = AttachedJvm::open(pid)?;
    let found = running().into_iter().find(|j| j.pid == pid);
    let name = found.as_ref().map_or_else(|| short_name(""), |j| j.short_name());
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}-{}.mcity", now())));
    // Of the command line only the first word: others may be secrets.
    let program = found.as_ref().and_then(|j| j.program.split(' ').next()).unwrap_or_default();
    let mut file = begin(&path, program, found.as_ref().map_or("", |j| &j.version), args.reachable)?;
    let (asked, started) = (Progress::new(), Instant::now());
    let mut taken = 0u64;
    let mut room = WatchedRoom::new(args.max_size, file.bytes());
    let result = interrupt::cancels_as_asked(&asked, || {
        loop {
            let begun = Instant::now();
            let text = match jvm.ask("inspectheap", [if args.reachable { "-live" } else { "-all" }, "", ""]) {
                Ok(text) => text,
                // The program has ended: that is how watching ends.
                Err(_) if taken > 0 && !is_running(pid) => return Ok("the program ended"),
                Err(error) => return Err(error),
            };
            let rows = histogram(&text);
            if rows.is_empty() {
                return Err(Error::Unusable {
                    what: format!("The JVM of process {pid} gives no class histogram"),
                    remedy: "Only HotSpot and its kin do (OpenJDK, Temurin, Corretto, ...)".into(),
                });
            }
            let counts =
                rows.iter().map(|(class, &(objects, bytes))| StreamCount { class, frames: &[], objects, bytes });
            file.write(file.now(), None, !args.reachable, counts)?;
            taken += 1;
            let (objects, bytes) =
                rows.values().fold((0u64, 0u64), |sum, row| (sum.0.saturating_add(row.0), sum.1.saturating_add(row.1)));
            terminal::status(format_args!(
                "{taken}: {} objects, {} in {:.2} s",
                count_text(objects),
                bytes_text(bytes),
                begun.elapsed().as_secs_f64()
            ));
            let before = room.times;
            if !room.has_more_at(file.bytes()) {
                return Ok("the file is as large as it may be");
            }
            let every = args.every.saturating_mul(room.times);
            if room.times > before {
                terminal::status(format_args!(
                    "From now on a histogram every {} s: the file fills up (--max-size)",
                    every.as_secs_f64()
                ));
            }
            let next = begun + every;
            while Instant::now() < next {
                if asked.check().is_err() || args.length.is_some_and(|most| started.elapsed() >= most) {
                    return Ok("watching was ended");
                }
                std::thread::sleep(Duration::from_millis(50).min(args.every));
            }
        }
    });
    if taken == 0 {
        let _ = std::fs::remove_file(&path);
    }
    let reason = result?;
    file.finish(reason)?;
    terminal::how_to_open(path.display());
    Ok(ExitCode::SUCCESS)
}

/// How much room a file has for histograms.
struct WatchedRoom {
    most: u64,
    at: u64,
    /// Size of the largest histogram, bytes.
    largest: u64,
    /// Factor on the requested interval: doubles each time half of the remaining room is used.
    times: u32,
}

impl WatchedRoom {
    fn new(most: u64, at: u64) -> WatchedRoom {
        WatchedRoom { most, at, largest: 0, times: 1 }
    }

    /// The file has grown to so many bytes by one histogram: whether there is room for the next.
    fn has_more_at(&mut self, bytes: u64) -> bool {
        self.largest = self.largest.max(bytes.saturating_sub(self.at));
        self.at = bytes;
        let left = self.most.saturating_sub(bytes);
        let halves = (self.most / left.max(1)).max(1).ilog2();
        self.times = self.times.max(1 << halves.min(20));
        // Heaps may have more classes the next time.
        left >= 2 * self.largest + END
    }
}

/// Objects and bytes by the VM's name of the class. Classes of one name from several loaders are one.
fn histogram(text: &str) -> BTreeMap<String, (u64, u64)> {
    let mut rows: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (class, objects, bytes) in histogram_rows(text) {
        let row = rows.entry(source_name(class)).or_default();
        (row.0, row.1) = (row.0.saturating_add(objects), row.1.saturating_add(bytes));
    }
    rows
}

/// `[Ljava.lang.String;` as `java.lang.String[]`. Hidden classes keep the slash before their number.
fn source_name(name: &str) -> String {
    match name.bytes().take_while(|&b| b == b'[').count() {
        0 => name.to_owned(),
        dimensions => element_name(&name[dimensions..]).to_owned() + "[]".repeat(dimensions).as_str(),
    }
}

/// Begins the recording of a program that is watched.
fn begin(path: &Path, program: &str, version: &str, reachable: bool) -> Result<CountStream> {
    let file = private_file(path).map_err(|e| Error::not_made(path, e))?;
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
    let facts = [
        ("recorder", format!("memory-city {}", env!("CARGO_PKG_VERSION"))),
        ("recording.started", millis.to_string()),
        ("recording.mode", "histograms".into()),
        ("histograms.of", if reachable { "reachable" } else { "all" }.into()),
        ("process.command", program.into()),
        ("vm.version", version.into()),
    ];
    CountStream::on_file(file, path, &facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_fills_up_takes_ever_longer_and_keeps_its_bound() {
        let most = 1 << 20;
        let mut room = WatchedRoom::new(most, 500);
        let (mut bytes, mut hours, mut before) = (500, 0, 1);
        while room.has_more_at(bytes) {
            assert!(room.times == before || room.times == 2 * before, "{} behind {before}", room.times);
            before = room.times;
            hours += u64::from(room.times);
            bytes += 9000 + bytes % 1000;
        }
        assert!(bytes + END <= most && bytes > most / 10 * 9, "{bytes}");
        // Of hourly ones there would be 113.
        assert!(hours > 220 && room.times >= 8, "{hours} at {}", room.times);
        assert!(!WatchedRoom::new(1000, 0).has_more_at(900));
    }

    #[test]
    fn histograms_of_jvms_are_read() {
        let text = " num     #instances         #bytes  class name (module)\n\
            -------------------------------------------------------\n   \
            1:            40           2000  [B (java.base@17.0.9)\n   \
            2:             3            120  [Ljava.util.HashMap$Node; (java.base@17.0.9)\n   \
            3:             2             64  app.Main\n   4:             1             16  app.Main$$Lambda/0x0123\n\
            Total            46           2200\n";
        let rows = histogram(text);
        assert_eq!(rows.len(), 4);
        assert_eq!(rows["java.util.HashMap$Node[]"], (3, 120));
        assert_eq!(rows["app.Main$$Lambda/0x0123"], (1, 16));
        assert!(histogram("no such command").is_empty());
    }
}
