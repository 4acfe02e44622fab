//! What recording costs the program: rounds of the same work in one JVM, recorded and not in turns; and walks.
//!
//! `cargo bench --bench recorder --no-default-features` needs
//! - a JDK 17 or newer, and H2 in /usr/share/java for its row;
//! - Tomcat's jars as `make real` unpacks them (target/real/tomcat);
//! - Debian's liblucene8-java, installed, or unpacked with `dpkg -x` into target/real/lucene.
//!
//! Words behind `--` select rows: `h2 17 pairs=12` with so many pairs.
//! - `samples`: samples alone;
//! - `whole`: all that a recording does by default, under G1;
//! - `collectors`: the same under every other collector (`collectors parallel h2`); `part=60` makes parts longer;
//! - `heap`: pauses; `identity`: all objects followed.
//!
//! The benchmark fails if an aim is surely missed: the median is beyond it in 95 of 100 cases. It also fails if a
//! program for a requested row is not installed. Times are of all cores that the process used, with those of collector
//! and recorder. On a busy machine they tell more than the clock.

#[cfg(target_os = "linux")]
#[path = "frame/aims.rs"]
mod aims;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    recorder::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod recorder {
    mod pauses;
    mod whole;

    use super::aims::Aims;
    use memory_city::jvm::attach::AttachedJvm;
    use memory_city_agent::folder::{AgentStatus, RecorderLock, WalkNote};
    use memory_city_agent::{AgentOptions, LIBRARY};
    use memory_city_testing::jvm::{Jdk, Program, jdks};
    use memory_city_testing::root;
    use std::path::{Path, PathBuf};
    use std::process::ExitCode;
    use std::time::{Duration, Instant};

    /// H2 is compiled anew for most of a minute, and takes half as long again at its begin.
    const WARM_UP: Duration = Duration::from_secs(60);
    /// Pairs, where `pairs=N` does not say otherwise.
    const PAIRS: usize = 24;
    /// Rounds of each kind in a pair.
    const ROUNDS: usize = 12;
    /// Where all objects are followed, a walk in so much work; that is a part of a pair.
    const IDENTITY_EVERY: Duration = Duration::from_secs(20);
    /// A walk ends in the last of so many rounds, and begins in one of them.
    const WALK_ROUNDS: usize = 3;
    /// Pairs of such parts.
    const IDENTITY_PAIRS: usize = 6;
    /// Programs that hold about a million objects, and the word that makes them do so.
    const IDENTITY_WORK: [(&str, &str); 3] = [("held", "1000000"), ("h2", "80000"), ("heap", "1000000")];
    const H2: &str = "/usr/share/java/h2.jar";
    /// Of fewer pairs nothing is sure: half of all are beyond the median, so five are all beyond it once in thirty-two times.
    const LEAST_PAIRS: usize = 6;
    /// What all objects followed may cost the program that allocates 100 MB in a second.
    const IDENTITY_AIM: f64 = 1.10;
    const FLAGS: [&str; 2] = ["-Xmx768m", "-XX:+EnableDynamicAgentLoading"];

    pub fn main() -> ExitCode {
        let mut aims = Aims::default();
        let mut words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
        let asked = words.iter().find_map(|word| word.strip_prefix("pairs=")?.parse().ok());
        let pairs = asked.unwrap_or(PAIRS);
        let part = words.iter().find_map(|word| word.strip_prefix("part=")?.parse().ok()).unwrap_or(whole::PART);
        let part = Duration::from_secs(part);
        words.retain(|word| !word.contains('='));
        let wanted = |row: &[&str]| {
            let asked = words.iter().any(|word| *word == row[0]);
            words.iter().all(|word| row.contains(&word.as_str())) && (row[0] != "collectors" || asked)
        };
        let (tomcat, lucene) = (jars("tomcat", ""), jars("lucene", "lucene-"));
        println!("| JVM | program | ratio (median) | 95 % of it | control, with 95 % | first round | interval |");
        println!("|---|---|---|---|---|---|---|");
        let folder = tempfile::tempdir().expect("a folder");
        let there = |work: &str| match work {
            "h2" => Path::new(H2).exists(),
            "lucene" => lucene.is_some(),
            "tomcat" => tomcat.is_some(),
            _ => true,
        };
        let mut with_classes = Vec::new();
        for jdk in jdks().range(17..).map(|(_, jdk)| jdk.clone()) {
            let classes = folder.path().join(jdk.version.to_string());
            std::fs::create_dir(&classes).expect("a folder");
            let others = [&tomcat, &lucene].map(|jars| jars.clone().unwrap_or_default()).join(":");
            let class_path = format!("{}:{H2}:{others}", classes.display());
            jdk.compile(&[&root().join("benches/java/Rounds.java")], &class_path, &classes);
            for (_, source) in [(&tomcat, "TomcatRounds"), (&lucene, "LuceneRounds")].iter().filter(|w| w.0.is_some()) {
                jdk.compile(&[&root().join(format!("benches/java/{source}.java"))], &class_path, &classes);
            }
            with_classes.push((jdk, class_path));
        }
        for (jdk, class_path) in &with_classes {
            for work in ["h2", "lucene", "tomcat", "allocate"] {
                let version = jdk.version.to_string();
                if !wanted(&["samples", work, &version]) {
                    continue;
                }
                if !there(work) {
                    println!("| {version} | {work} | not installed | | | | |");
                    absent(&mut aims, &format!("samples, {work} on {version}"), aim_of(work));
                    continue;
                }
                let mut program = Program::start_with(jdk, &FLAGS, class_path, "Rounds", &[work]);
                let (row, ratio) = cost(&mut program, folder.path(), pairs);
                println!("| {version} | {work} | {row} |");
                surely(&mut aims, &format!("samples, {work} on {version}"), ratio, pairs, aim_of(work));
            }
        }
        println!();
        whole::rows(
            &with_classes,
            folder.path(),
            (asked.unwrap_or(whole::PAIRS).max(2), part),
            &wanted,
            &there,
            &mut aims,
        );
        println!();
        pauses::rows(&with_classes, folder.path(), &wanted, &mut aims);
        println!();
        println!(
            "| JVM | program | objects followed | young collections in a second of a core, not recorded | ratio between walks | a walk, s of a core | ratio (median) | 95 % of it | control, with 95 % | young pause, ms: not recorded | followed | a walk stops it, s | bytes an object | pairs |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
        for (jdk, class_path) in &with_classes {
            for (work, size) in IDENTITY_WORK {
                let version = jdk.version.to_string();
                if work == "h2" && !Path::new(H2).exists() {
                    println!("| {version} | {work} | not installed | | | | | | | | | | | |");
                } else if wanted(&["identity", work, &version]) {
                    let pairs = pairs.clamp(2, IDENTITY_PAIRS);
                    let (row, ratio) = identity(jdk, class_path, folder.path(), &[work, size], pairs);
                    println!("| {version} | {work} | {row} |");
                    if work == "held" {
                        surely(&mut aims, &format!("identity, {work} on {version}"), ratio, pairs, IDENTITY_AIM);
                    }
                }
            }
        }
        aims.end()
    }

    /// Most cost of a recording. The loop that does nothing but allocate has more to be sampled than a real program.
    fn aim_of(work: &str) -> f64 {
        if work == "allocate" { 1.12 } else { 1.05 }
    }

    /// Holds a range against what it may be at most: what is surely beyond it is missed.
    fn surely(aims: &mut Aims, what: &str, (_, low, _): LikelyMedian, of: usize, most: f64) {
        if of >= LEAST_PAIRS {
            aims.most(&format!("{what}, at least"), low, most);
        }
    }

    /// An aim without a measurement is not met.
    fn absent(aims: &mut Aims, what: &str, most: f64) {
        aims.most(&format!("{what} (not installed: nothing was measured)"), f64::NAN, most);
    }

    /// The jars of a library, unpacked beside those of `make real`, or installed.
    fn jars(library: &str, prefix: &str) -> Option<String> {
        let unpacked = |real: &str| root().join("target").join(real).join(library).join("usr/share/java");
        let mut folders = vec![unpacked("real"), unpacked("real-main")];
        folders.extend((!prefix.is_empty()).then(|| PathBuf::from("/usr/share/java")));
        folders.into_iter().find_map(|folder| {
            let is_one = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(prefix) && name.ends_with(".jar")
            };
            let found = std::fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).filter(is_one);
            let mut found: Vec<String> = found.map(|path| path.to_string_lossy().into_owned()).collect();
            found.sort();
            (!found.is_empty()).then(|| found.join(":"))
        })
    }

    fn library() -> PathBuf {
        let own = std::env::current_exe().expect("this program");
        own.parent().expect("a folder").join(LIBRARY)
    }

    /// What a round took.
    #[derive(Clone, Copy, Default)]
    struct Took {
        /// By the clock.
        clock: f64,
        cpu: f64,
        collections: f64,
        paused: f64,
    }

    fn round(program: &mut Program) -> Took {
        let line = program.ask("go");
        let mut words = line.split_whitespace().map(|w| w.parse::<f64>().expect("nanoseconds"));
        let mut next = || words.next().expect("four numbers");
        let (clock, cpu, collections, paused) = (next(), next(), next(), next());
        Took { clock, cpu, collections, paused }
    }

    fn rounds(program: &mut Program, count: usize) -> Vec<Took> {
        (0..count).map(|_| round(program)).collect()
    }

    fn warm_up(program: &mut Program) {
        let begun = Instant::now();
        while begun.elapsed() < WARM_UP {
            round(program);
        }
    }

    fn cpu(rounds: &[Took]) -> f64 {
        rounds.iter().map(|r| r.cpu).sum::<f64>() / rounds.len() as f64
    }

    fn options(folder: &Path, pair: usize) -> AgentOptions {
        AgentOptions {
            folder: folder.join(format!("{pair}-{}", std::process::id())),
            walks: 0,
            ..AgentOptions::default()
        }
    }

    /// Recorded rounds stand between others, and are compared with the mean of their neighbours, so drift hits both
    /// alike. The control is the same for rounds that are not recorded: each against the mean of those before and
    /// behind. The first recorded round meets new names and is a number of its own.
    fn cost(program: &mut Program, folder: &Path, pairs: usize) -> (String, LikelyMedian) {
        warm_up(program);
        let jvm = AttachedJvm::open(program.pid).expect("the program");
        let (mut plain, mut recorded, mut firsts, mut interval) = (Vec::new(), Vec::new(), Vec::new(), 0);
        plain.push(cpu(&rounds(program, ROUNDS)));
        for pair in 0..pairs {
            let options = options(folder, pair);
            jvm.load(&library(), &options.text()).expect("recording begins");
            firsts.push(round(program).cpu);
            recorded.push(cpu(&rounds(program, ROUNDS)));
            interval = AgentStatus::read(&options.folder).map_or(0, |s| s.interval);
            jvm.load(&library(), &AgentOptions { stop: true, ..options.clone() }.text()).expect("recording ends");
            let _ = std::fs::remove_dir_all(&options.folder);
            plain.push(cpu(&rounds(program, ROUNDS)));
        }
        let mean = |at: usize| (plain[at] + plain[at + 1]) / 2.0;
        let ratios = recorded.iter().enumerate().map(|(at, took)| took / mean(at)).collect();
        let firsts = firsts.iter().enumerate().map(|(at, took)| took / mean(at)).collect();
        let control = plain.windows(3).map(|of| 2.0 * of[1] / (of[0] + of[2])).collect();
        let (control, first) = (likely(control), likely(firsts).0);
        let (ratio, low, high) = likely(ratios);
        let row = format!(
            "{ratio:.3} | {low:.3} to {high:.3} | {:.3} ({:.3} to {:.3}) | {first:.3} | {} KB",
            control.0,
            control.1,
            control.2,
            interval >> 10
        );
        (row, (ratio, low, high))
    }

    /// The median, and between which values it is in 95 of 100 cases.
    type LikelyMedian = (f64, f64, f64);

    /// Of what was measured, by the ranks of a sign test.
    fn likely(mut all: Vec<f64>) -> LikelyMedian {
        all.sort_by(f64::total_cmp);
        let n = all.len() as f64;
        let low = (n / 2.0 - 0.98 * n.sqrt()).floor().max(1.0) as usize - 1;
        let middle = (all[(all.len() - 1) / 2] + all[all.len() / 2]) / 2.0;
        (middle, all[low], all[all.len() - 1 - low])
    }

    /// Takes the walk that waits, as a recording process does. For how long it stopped the program, seconds.
    fn take_walk(folder: &Path) -> f64 {
        let number = WalkNote::waiting(folder)[0];
        let file = WalkNote::file(folder, number);
        let note = WalkNote::parse(&std::fs::read_to_string(&file).expect("a note")).expect("a note of ours");
        for path in [WalkNote::dump(folder, number), WalkNote::numbers(folder, number), file] {
            std::fs::remove_file(path).expect("removed");
        }
        (note.end - note.start) as f64 / 1e9
    }

    /// A program that holds a million objects, all of them followed, against the same work that is not recorded. Each
    /// part is about 20 s of a core, with one walk in the recorded one. The first walk, which meets all objects for the
    /// first time, is not in it.
    fn identity(jdk: &Jdk, class_path: &str, folder: &Path, work: &[&str], pairs: usize) -> (String, LikelyMedian) {
        let mut program = Program::start_with(jdk, &FLAGS, class_path, "Rounds", work);
        warm_up(&mut program);
        let jvm = AttachedJvm::open(program.pid).expect("the program");
        let resident = |pid: u32| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
            let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:")).expect("its memory");
            line.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()).expect("kilobytes") * 1024.0
        };
        // The same work in each part: what takes as long as walks are apart, where the program has a core for itself. On a busy
        // machine it takes longer, and by the clock there would be less work between two walks.
        let (mut first, mut used) = (Vec::new(), 0.0);
        while used < IDENTITY_EVERY.as_nanos() as f64 {
            let took = round(&mut program);
            used += took.cpu;
            first.push(took);
        }
        let part = first.len();
        let young = |rounds: &[Took]| {
            let sum = |of: fn(&Took) -> f64| rounds.iter().map(of).sum::<f64>();
            sum(|r| r.paused) / sum(|r| r.collections).max(1.0) / 1e6
        };
        let collections = first.iter().map(|r| r.collections).sum::<f64>() / (used / 1e9);
        let (mut plain, mut recorded, mut apart, mut with) =
            (vec![cpu(&first)], Vec::new(), vec![young(&first)], Vec::new());
        let (mut stops, mut bytes, mut objects) = (Vec::new(), Vec::new(), 0);
        let (mut steady, mut walking) = (Vec::new(), Vec::new());
        for pair in 0..pairs {
            let options = AgentOptions {
                // The second one waits until it is taken: there is one in each part, behind one of its collections.
                walks: 10_000,
                identity: 2_000_000,
                duty: 1,
                ..options(folder, 2000 + pair)
            };
            std::fs::create_dir_all(&options.folder).expect("a folder");
            let _lock = RecorderLock::take(&options.folder).expect("the lock");
            let before = resident(program.pid);
            jvm.load(&library(), &options.text()).expect("recording begins");
            // The first walk meets all objects for the first time. It is taken here, and the second one comes with the next
            // collection.
            let mut all = Vec::new();
            while WalkNote::waiting(&options.folder).is_empty() {
                round(&mut program);
            }
            take_walk(&options.folder);
            let mut walked = None;
            while all.len() < part || walked.is_none() {
                all.push(round(&mut program));
                if walked.is_none() && !WalkNote::waiting(&options.folder).is_empty() {
                    walked = Some(all.len());
                }
            }
            stops.push(take_walk(&options.folder));
            // Those in which it was, and the others: what these cost more is what collections cost more.
            let walked = walked.expect("there was one");
            let in_walk = walked.saturating_sub(WALK_ROUNDS)..walked;
            let others = [&all[..in_walk.start], &all[in_walk.end..]].concat();
            steady.push(cpu(&others));
            walking.push((cpu(&all[in_walk.clone()]) - cpu(&others)) * in_walk.len() as f64 / 1e9);
            recorded.push(cpu(&all));
            with.push(young(&all));
            objects = AgentStatus::read(&options.folder).map_or(0, |s| s.numbered);
            bytes.push((resident(program.pid) - before) / objects as f64);
            jvm.load(&library(), &AgentOptions { stop: true, ..options.clone() }.text()).expect("recording ends");
            let _ = std::fs::remove_dir_all(&options.folder);
            let all = rounds(&mut program, part);
            plain.push(cpu(&all));
            apart.push(young(&all));
        }
        let mean = |at: usize| (plain[at] + plain[at + 1]) / 2.0;
        let (ratio, low, high) = likely(recorded.iter().enumerate().map(|(at, took)| took / mean(at)).collect());
        let control = likely(plain.windows(3).map(|of| 2.0 * of[1] / (of[0] + of[2])).collect());
        let steady = quartiles(steady.iter().enumerate().map(|(at, took)| took / mean(at)).collect()).0;
        let walking = quartiles(walking).0;
        let row = format!(
            "{objects} | {collections:.1} | {steady:.3} | {walking:.2} | {ratio:.3} | {low:.3} to {high:.3} | {:.3} ({:.3} to {:.3}) | {:.2} | {:.2} | {:.3} | {:.0} | {pairs}",
            control.0,
            control.1,
            control.2,
            quartiles(apart).0,
            quartiles(with).0,
            quartiles(stops).0,
            quartiles(bytes).0
        );
        (row, (ratio, low, high))
    }

    /// Median, and where the middle half begins and ends.
    fn quartiles(mut all: Vec<f64>) -> (f64, f64, f64) {
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all[(share * (all.len() - 1) as f64).round() as usize];
        (at(0.5), at(0.25), at(0.75))
    }
}
