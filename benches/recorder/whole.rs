//! What a recording costs by default: samples, walks by the share of the time that they may take, class histograms.
//!
//! The command `attach` does it, as for a user, and takes the walks in a process of its own. Its time is a separate
//! number.

use super::*;
use std::process::{Child, Command, Stdio};

/// Seconds of a part of a pair by the clock, on an idle machine and without `part=N`. Walks are ten seconds apart.
pub const PART: u64 = 20;
/// Default number of pairs of parts.
pub const PAIRS: usize = 6;

pub fn rows(
    with_classes: &[(Jdk, String)],
    folder: &Path,
    (pairs, part): (usize, Duration),
    wanted: &dyn Fn(&[&str]) -> bool,
    there: &dyn Fn(&str) -> bool,
    aims: &mut Aims,
) {
    println!(
        "| JVM | collector | program | time of all cores (95 %) | control (95 %) | by the clock (95 %) | control (95 %) | stood still, % | walks, histograms in a minute | the process that takes walks, % of a core | its memory at most, MB | pairs |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (jdk, class_path) in with_classes {
        for collector in jdk.collectors() {
            let name = name_of(&collector);
            let (version, lower) = (jdk.version.to_string(), name.to_lowercase());
            for work in ["h2", "lucene", "tomcat", "held", "allocate"] {
                let kind = if name == "G1" { "whole" } else { "collectors" };
                let row = [&[kind, work, &version][..], &lower.split(' ').collect::<Vec<_>>()].concat();
                if !wanted(&row) {
                    continue;
                }
                if !there(work) {
                    println!("| {version} | {name} | {work} | not installed | | | | | | | | |");
                    absent(aims, &format!("all of it, {work} on {version} {name}"), aim_of(work));
                    continue;
                }
                let words = if work == "held" { vec![work, "1000000"] } else { vec![work] };
                let flags = [&FLAGS[..], &collector].concat();
                let mut program = Program::start_with(jdk, &flags, class_path, "Rounds", &words);
                let (row, ratio) = whole(&mut program, folder, pairs, part);
                println!("| {version} | {name} | {work} | {row} |");
                surely(
                    aims,
                    &format!("all of it by the clock, {work} on {version} {name}"),
                    ratio,
                    pairs,
                    aim_of(work),
                );
            }
        }
    }
}

/// Name of a collector: `G1`, `G1 CompactObjectHeaders`.
pub fn name_of(collector: &[&str]) -> String {
    let names = collector.iter().map(|flag| match flag.trim_start_matches("-XX:+Use") {
        "ZGC" => "ZGC",
        name => name.trim_end_matches("GC"),
    });
    names.collect::<Vec<_>>().join(" ")
}

/// The command that records, in a process of its own.
pub struct Attached {
    child: Child,
    folder: PathBuf,
}

impl Attached {
    pub fn begin(pid: u32, folder: PathBuf) -> Attached {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memory-city"));
        command.args(["attach", &pid.to_string(), "--while-input", "-o"]).arg(&folder);
        // The library that this benchmark was built with.
        command.env("MEMORY_CITY_AGENT", library()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("it runs");
        while AgentStatus::read(&folder).is_none_or(|status| status.elapsed == 0) {
            std::thread::sleep(Duration::from_millis(20));
        }
        Attached { child, folder }
    }

    /// Seconds of a core that it has used.
    fn used(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("its state");
        let behind = text.rsplit_once(") ").expect("a name").1;
        let ticks: f64 = behind.split(' ').skip(11).take(2).map(|n| n.parse::<f64>().expect("ticks")).sum();
        ticks / 100.0
    }

    /// The most memory that it has had at once, bytes: files that it maps among it.
    fn memory(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("its status");
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
        line.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()).expect("kilobytes") * 1024.0
    }

    pub fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("a status").success());
        std::fs::remove_dir_all(&self.folder).expect("removed");
    }
}

/// Its row, and how much longer it takes by the clock.
fn whole(program: &mut Program, folder: &Path, pairs: usize, length: Duration) -> (String, LikelyMedian) {
    warm_up(program);
    let (mut first, mut clock) = (Vec::new(), 0.0);
    while clock < length.as_nanos() as f64 {
        let took = round(program);
        clock += took.clock;
        first.push(took);
    }
    let part = first.len();
    let by_clock = |rounds: &[Took]| rounds.iter().map(|r| r.clock).sum::<f64>() / rounds.len() as f64;
    let (mut plain, mut recorded) = (vec![(cpu(&first), by_clock(&first))], Vec::new());
    let (mut still, mut counts, mut taking, mut memory) = (Vec::new(), Vec::new(), Vec::new(), 0f64);
    for pair in 0..pairs {
        let attached = Attached::begin(program.pid, folder.join(format!("whole-{pair}-{}", program.pid)));
        let before = (AgentStatus::read(&attached.folder).expect("its state"), attached.used());
        let all = rounds(program, part);
        // What it says of itself is half a second old at most.
        let status = AgentStatus::read(&attached.folder).expect("its state");
        let elapsed = (status.elapsed - before.0.elapsed) as f64 / 1e6;
        still.push((status.pauses - before.0.pauses) as f64 / 1e4 / elapsed);
        counts.push((status.walks as f64 * 60.0 / elapsed, status.histograms as f64 * 60.0 / elapsed));
        taking.push((attached.used() - before.1) * 100.0 / elapsed);
        memory = memory.max(attached.memory());
        recorded.push((cpu(&all), by_clock(&all)));
        attached.end();
        let all = rounds(program, part);
        plain.push((cpu(&all), by_clock(&all)));
    }
    let compared = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let plain: Vec<f64> = plain.iter().map(of).collect();
        let recorded = recorded.iter().map(of).zip(plain.windows(2));
        let ratios = recorded.map(|(took, around)| 2.0 * took / (around[0] + around[1])).collect();
        let control = plain.windows(3).map(|of| 2.0 * of[1] / (of[0] + of[2])).collect();
        let text = |(median, low, high): LikelyMedian| format!("{median:.3} ({low:.3} to {high:.3})");
        let ratio = likely(ratios);
        (format!("{} | {}", text(ratio), text(likely(control))), ratio)
    };
    let (by_cores, (by_clock, ratio)) = (compared(&|took| took.0).0, compared(&|took| took.1));
    let median = |all: Vec<f64>| quartiles(all).0;
    let (walks, histograms) = counts.into_iter().unzip();
    let row = format!(
        "{by_cores} | {by_clock} | {:.2} | {:.1}, {:.1} | {:.1} | {:.0} | {pairs}",
        median(still),
        median(walks),
        median(histograms),
        median(taking),
        memory / 1e6
    );
    (row, ratio)
}
