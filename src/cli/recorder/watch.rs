//! `watch`: class histograms of a JVM that runs, now and then, as memory trees. Loads nothing into it: any JVM will do, also where
//! agents are forbidden.

use super::{duration, jvms, now};
use crate::cli::interrupt;
use clap::Args;
use memory_city::jvm::attach::AttachedJvm;
use memory_city::jvm::list::{running, short_name};
use memory_city_agent::folder::private_file;
use memory_city_analysis::tabular::{bytes_text, count_text};
use memory_city_formats::hprof::element_name;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(Args)]
#[command(after_help = "  memory-city watch 4711 --every 10s --for 10m\n  memory-city report NAME-TIME.jsonl\n\n\
    A histogram stops the program for about 0.05 s for a million objects; with --live for a full collection.")]
pub struct WatchArgs {
    /// The process (default: the only JVM that runs)
    #[arg(value_name = "PID")]
    pid: Option<u32>,
    /// The time from one histogram to the next
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    every: Duration,
    /// For how long (default: until Ctrl+C, or the program ends)
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    length: Option<Duration>,
    /// Live objects only: the JVM collects all garbage before each
    #[arg(long)]
    live: bool,
    /// The file to write (default: the program's name and the time, .jsonl)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Watches until it is told to end, or the program ends.
pub fn watch(args: &WatchArgs) -> Result<ExitCode> {
    let pid = jvms::choose(args.pid)?;
    let jvm = AttachedJvm::open(pid)?;
    let name = running().into_iter().find(|j| j.pid == pid).map_or_else(|| short_name(""), |j| j.short_name());
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}-{}.jsonl", now())));
    let mut file = private_file(&path).map_err(|e| Error::io(&path, e))?;
    let (asked, started) = (Progress::new(), Instant::now());
    let mut taken = 0u64;
    let result = interrupt::cancels_as_asked(&asked, || {
        loop {
            let begun = Instant::now();
            let text = match jvm.ask("inspectheap", [if args.live { "-live" } else { "-all" }, "", ""]) {
                Ok(text) => text,
                // The program has ended: that is how watching ends.
                Err(_) if taken > 0 && !Path::new(&format!("/proc/{pid}")).exists() => return Ok(()),
                Err(error) => return Err(error),
            };
            let rows = histogram(&text);
            if rows.is_empty() {
                return Err(Error::Unusable {
                    what: format!("The JVM of process {pid} gives no class histogram"),
                    remedy: "Only HotSpot and its kin do (OpenJDK, Temurin, Corretto, ...)".into(),
                });
            }
            let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
            let line = json!({"format": "memory-city", "version": 1, "timestamp": millis, "tree": tree(&rows)});
            // One call: who reads while it grows sees whole lines but for the last.
            file.write_all(format!("{line}\n").as_bytes()).map_err(|e| Error::io(&path, e))?;
            taken += 1;
            let (objects, bytes) = rows.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
            eprintln!(
                "{taken}: {} objects, {} in {:.2} s",
                count_text(objects),
                bytes_text(bytes),
                begun.elapsed().as_secs_f64()
            );
            let next = begun + args.every;
            while Instant::now() < next {
                if asked.check().is_err() || args.length.is_some_and(|most| started.elapsed() >= most) {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(50).min(args.every));
            }
        }
    });
    if taken == 0 {
        let _ = std::fs::remove_file(&path);
    }
    result?;
    eprintln!("Open it:  memory-city open {0}\n     or:  memory-city report {0}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// Objects and bytes by the VM's name of the class. Classes of one name from several loaders are one.
fn histogram(text: &str) -> BTreeMap<String, (u64, u64)> {
    let mut rows: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(rank), Some(objects), Some(bytes), Some(class)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        if let (true, Ok(objects), Ok(bytes)) = (rank.ends_with(':'), objects.parse::<u64>(), bytes.parse::<u64>()) {
            let row = rows.entry(source_name(class)).or_default();
            row.0 += objects;
            row.1 += bytes;
        }
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

/// Packages as districts, classes as buildings.
fn tree(rows: &BTreeMap<String, (u64, u64)>) -> Value {
    let mut packages: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (class, (objects, bytes)) in rows {
        // Hidden classes have a slash behind their name; packages end before it.
        let name = class.split('/').next().unwrap_or(class);
        let (package, own) = name.rsplit_once('.').map_or(("", class.as_str()), |(p, _)| (p, &class[p.len() + 1..]));
        let node = json!({"name": own, "role": "Type", "objects": objects, "bytes": bytes});
        packages.entry(package).or_default().push(node);
    }
    let mut children = packages.remove("").unwrap_or_default();
    children
        .extend(packages.into_iter().map(|(name, types)| json!({"name": name, "role": "Package", "children": types})));
    json!({"name": "Heap", "children": children})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_of_jvms_become_trees() {
        let text = " num     #instances         #bytes  class name (module)\n\
            -------------------------------------------------------\n   \
            1:            40           2000  [B (java.base@17.0.9)\n   \
            2:             3            120  [Ljava.util.HashMap$Node; (java.base@17.0.9)\n   \
            3:             2             64  app.Main\n   4:             1             16  app.Main$$Lambda/0x0123\n\
            Total            46           2200\n";
        let rows = histogram(text);
        assert_eq!(rows.len(), 4);
        assert_eq!(rows["java.util.HashMap$Node[]"], (3, 120));
        let tree = tree(&rows);
        let names: Vec<&str> =
            tree["children"].as_array().expect("a list").iter().filter_map(|c| c["name"].as_str()).collect();
        assert_eq!(names, ["byte[]", "app", "java.util"]);
        assert_eq!(tree["children"][1]["children"][1]["name"], "Main$$Lambda/0x0123");
        assert!(histogram("no such command").is_empty());
    }
}
