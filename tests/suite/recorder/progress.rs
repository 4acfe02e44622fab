//! A live city or recording process that stands still does not slow the program. Its work is compared with the time
//! when they run, both relative to a program that is not recorded. Time in which threads could run and waited for a
//! processor does not count, so other load on the machine does not matter.

use super::endings::{number_before, send};
use super::*;

/// How long each moment is; longer where the first were not enough on a busy machine.
const MOMENTS: [Duration; 3] = [Duration::from_millis(800), Duration::from_secs(2), Duration::from_secs(4)];
/// So many moments in which all run, and as many in which one stands still.
const PAIRS: usize = 7;
/// Less than this part of what it does otherwise, in the middle one of all pairs, is no accident.
const LEAST: f64 = 0.8;
/// More memory than this is no accident either: five walks of the program take as much.
const MOST_GROWTH: u64 = 28 << 20;
/// A moment takes at most so many times as long, where the machine does other things.
const MOST_TIMES: u32 = 6;
/// How often it is looked at in a moment.
const LOOKS: u32 = 20;

/// A program that works and says how far it has come, and one that does the same unrecorded.
struct Workers {
    recorder: Child,
    control: Child,
    files: [PathBuf; 2],
    folder: PathBuf,
}

/// Twice: with the recording process, or the city that it sends walks to, standing still now and then.
#[derive(Clone, Copy, PartialEq)]
enum StandsStill {
    Recorder,
    City,
}

impl Workers {
    fn start(jdk: &Jdk, class_path: &str, temporary: &Path, options: &[&str]) -> Workers {
        let folder = temporary.join("trace");
        let _ = std::fs::remove_dir_all(&folder);
        let output = folder.to_string_lossy().into_owned();
        let files = ["recorded", "control"].map(|name| temporary.join(name));
        let program =
            ["-Xms100m", "-Xmx100m", "-Xmn20m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", class_path];
        let program = [&program[..], &["Busy", "1", "20", "100000"]].concat();
        let java = java(jdk);
        let walks = ["--walk-every", "300ms", "--walk-share", "20"];
        let words = [&["record", "-o", &output], &walks[..], options, &["--", &java], &program[..]].concat();
        let file = |path: &Path| std::fs::File::create(path).expect("a file");
        let mut recorder = memory_city(&words);
        recorder.stdin(Stdio::null()).stdout(file(&files[0])).stderr(file(&temporary.join("said")));
        let mut control = jdk.tool("java");
        control.args(&program).stdin(Stdio::null()).stdout(file(&files[1]));
        let [recorder, control] = [recorder, control].map(|mut command| command.spawn().expect("it runs"));
        let all = Workers { recorder, control, files, folder };
        wait_until("work", || all.work().iter().all(|work| *work > 0));
        wait_until("walks", || AgentStatus::read(&all.folder).is_some_and(|status| status.walks > 1));
        all
    }

    /// How much each has done, as it last said.
    fn work(&self) -> [u64; 2] {
        self.files.each_ref().map(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
            let last = complete.lines().rev().find_map(|line| line.strip_prefix("work ")?.parse().ok());
            last.unwrap_or(0)
        })
    }

    fn walks(&self) -> u64 {
        AgentStatus::read(&self.folder).map_or(0, |status| status.walks)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        send(self.recorder.id(), libc::SIGCONT);
        // The program outlives a recording process that is killed.
        if let Some(status) = AgentStatus::read(&self.folder) {
            send(status.pid, libc::SIGKILL);
        }
        for child in [&mut self.recorder, &mut self.control] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A city that ends with the test.
struct City(Child);

impl Drop for City {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Private memory of a process.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB"));
    kilobytes.and_then(|number| number.trim().parse::<u64>().ok()).map_or(0, |kilobytes| kilobytes << 10)
}

#[test]
fn a_recording_process_that_stands_still_does_not_slow_the_program() {
    with_jdks("a_recording_process_that_stands_still", |jdk, class_path, temporary| {
        let done = MOMENTS.into_iter().any(|moment| {
            let mut workers = Workers::start(jdk, class_path, temporary, &[]);
            let recorder = workers.recorder.id();
            let goes_on = goes_on_while_still(jdk, &workers, recorder, StandsStill::Recorder, moment);
            // What was taken is there or counted, to the last sample.
            send(workers.recorder.id(), libc::SIGTERM);
            assert_eq!(workers.recorder.wait().expect("a status").code(), Some(143));
            let said = std::fs::read_to_string(temporary.join("said")).expect("its words");
            let (samples, gaps, lost) = samples_and_gaps(&workers.folder);
            assert_eq!(number_before(&said, " samples ("), samples + lost, "{said}");
            assert!(gaps <= lost && samples > 1000, "{samples} samples, {gaps} missing, {lost} lost: {said}");
            goes_on
        });
        assert!(
            done,
            "the program did less than {LEAST} of what it does otherwise, or took ever more memory, each time"
        );
    });
}

#[test]
fn a_city_that_reads_nothing_does_not_slow_the_program() {
    with_jdks("a_city_that_reads_nothing", |jdk, class_path, temporary| {
        let mut serve = memory_city(&["serve", "--listen", "127.0.0.1:0"]);
        let mut serve =
            serve.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
        let mut printed = std::io::BufReader::new(serve.stdout.take().expect("its output"));
        let serve = City(serve);
        let mut line = String::new();
        std::io::BufRead::read_line(&mut printed, &mut line).expect("where it listens");
        let live = format!("--live={}", line.trim().rsplit("ws://").next().expect("an address"));
        let done = MOMENTS.into_iter().any(|moment| {
            let workers = Workers::start(jdk, class_path, temporary, &[&live]);
            goes_on_while_still(jdk, &workers, serve.0.id(), StandsStill::City, moment)
        });
        assert!(
            done,
            "the program did less than {LEAST} of what it does otherwise, or took ever more memory, each time"
        );
    });
}

/// For how long the threads of a program that work, and collect its garbage, could go on and waited for a processor.
fn waited(process: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let told = threads.filter_map(|thread| {
        let name = std::fs::read_to_string(thread.path().join("comm")).ok()?;
        let times = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let waited: u64 = times.split_whitespace().nth(1)?.parse().ok()?;
        ["Thread-0", "VM Thread"].contains(&name.trim()).then_some(waited)
    });
    Duration::from_nanos(told.sum())
}

/// Checks that the recorded program goes on while a process stands still. Its work in a second of its own, relative to
/// the other program, is compared with the same while that process runs: the median of all pairs of moments. Neither
/// program nor recording process takes more and more memory. Walks go on if only the city stands still.
fn goes_on_while_still(jdk: &Jdk, workers: &Workers, process: u32, which: StandsStill, moment: Duration) -> bool {
    let program = AgentStatus::read(&workers.folder).expect("its state").pid;
    // What the recorded program did, as a part of what the other one did, each in its own time: in each pair while all run, and while one stands still.
    let programs = [program, workers.control.id()];
    let mut shares: Vec<[f64; 2]> = Vec::new();
    let mut memory: Vec<[u64; 2]> = Vec::new();
    for _ in 0..PAIRS {
        let mut pair = [0.0; 2];
        for still in [false, true] {
            send(process, if still { libc::SIGSTOP } else { libc::SIGCONT });
            // What was under way goes on for a while.
            std::thread::sleep(moment / 4);
            let (before, walks) = (workers.work(), workers.walks());
            let (begun, waited_before) = (Instant::now(), programs.map(waited));
            let own = || -> [Duration; 2] {
                let (elapsed, waited) = (begun.elapsed(), programs.map(waited));
                std::array::from_fn(|of| elapsed.saturating_sub(waited[of].saturating_sub(waited_before[of])))
            };
            // What is there for a moment only is not what grows.
            let mut least = [u64::MAX; 2];
            // Until both had the moment for themselves: of what had a processor for an instant nothing can be told.
            while own().into_iter().any(|own| own < moment) && begun.elapsed() < MOST_TIMES * moment {
                std::thread::sleep(moment / LOOKS);
                let now = [program, workers.recorder.id()].map(resident);
                least = std::array::from_fn(|of| least[of].min(now[of]));
            }
            let after = workers.work();
            let own = own();
            let [recorded, control]: [f64; 2] = std::array::from_fn(|of| {
                (after[of] - before[of]) as f64 / own[of].max(Duration::from_millis(1)).as_secs_f64()
            });
            pair[usize::from(still)] = recorded / control.max(1.0);
            match (still, which) {
                // What waits to be sent while the city stands still has gone by now.
                (false, _) => memory.push(least),
                (true, StandsStill::City) => {
                    wait_until("a walk though the city stands still", || workers.walks() > walks)
                }
                // One may have been under way.
                (true, StandsStill::Recorder) => assert!(workers.walks() <= walks + 1, "nobody takes walks"),
            }
        }
        shares.push(pair);
    }
    send(process, libc::SIGCONT);
    let mut ratios: Vec<f64> = shares.iter().map(|[running, still]| still / running.max(1e-9)).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios[PAIRS / 2];
    let growth: [u64; 2] = std::array::from_fn(|of| {
        // What is made once is there when all have worked for a while.
        let least_late = memory.iter().skip(3).map(|now| now[of]).min().unwrap_or(0);
        least_late.saturating_sub(memory[1][of])
    });
    jvm::say(&format!(
        "  JDK {}, {moment:?}: {middle:.2} of what it does otherwise while one stands still ({ratios:.2?}; beside the other program {shares:.2?}); grown by {growth:?} bytes",
        jdk.version
    ));
    middle > LEAST && growth.iter().all(|bytes| *bytes < MOST_GROWTH)
}
