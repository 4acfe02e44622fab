//! Shared by the tests of the library in real JVMs: the trace read without our readers, and JVMs with the library.

#![allow(dead_code)] // each test uses some of it

use memory_city_agent::{AgentOptions, LIBRARY};
use memory_city_testing::jvm::{self, Jdk, PATIENCE};
use memory_city_testing::root;
use memory_city_wire::{
    ChunkKind, ClassRow, CountRow, DeathRow, EndRow, FrameRow, GcRow, LossRow, MethodRow, PartReader, Piece, RunRow,
    SampleRow, SettingRow, StringRow, ThreadRow,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// All that the program's stream says.
#[derive(Default)]
pub struct Trace {
    pub strings: HashMap<u32, String>,
    pub classes: HashMap<u32, ClassRow>,
    pub methods: HashMap<u32, MethodRow>,
    pub frames: HashMap<u32, FrameRow>,
    pub threads: HashMap<u32, ThreadRow>,
    pub samples: Vec<SampleRow>,
    pub deaths: Vec<DeathRow>,
    pub collections: Vec<GcRow>,
    pub counts: Vec<CountRow>,
    pub losses: Vec<LossRow>,
    pub run: BTreeMap<String, String>,
    pub ends: Vec<EndRow>,
    pub settings: Vec<SettingRow>,
    pub damaged: u64,
}

/// A class histogram.
#[derive(Default)]
pub struct CountedHistogram {
    pub time: u64,
    pub pause: u64,
    pub rows: usize,
    /// Objects and bytes by class.
    pub classes: BTreeMap<String, (u64, u64)>,
}

impl Trace {
    pub fn read(folder: &Path) -> Trace {
        let mut trace = Trace::default();
        let mut parts: Vec<PathBuf> =
            std::fs::read_dir(folder).expect("the folder").flatten().map(|e| e.path()).collect();
        parts.retain(|p| p.extension().is_some_and(|e| e == "mcity"));
        parts.sort();
        for part in parts {
            let bytes = std::fs::read(&part).expect("a part");
            for piece in PartReader::new(&part, &bytes).expect("a part of ours") {
                let Piece::Chunk(chunk) = piece else {
                    trace.damaged += 1;
                    continue;
                };
                macro_rules! rows {
                    ($row:ty) => {
                        chunk.rows::<$row>().expect("rows").rows
                    };
                }
                match chunk.kind() {
                    ChunkKind::STRINGS => trace.strings.extend(rows!(StringRow).into_iter().map(|r| (r.id, r.text))),
                    ChunkKind::CLASSES => trace.classes.extend(rows!(ClassRow).into_iter().map(|r| (r.id, r))),
                    ChunkKind::METHODS => trace.methods.extend(rows!(MethodRow).into_iter().map(|r| (r.id, r))),
                    ChunkKind::FRAMES => trace.frames.extend(rows!(FrameRow).into_iter().map(|r| (r.id, r))),
                    ChunkKind::THREADS => trace.threads.extend(rows!(ThreadRow).into_iter().map(|r| (r.id, r))),
                    ChunkKind::SAMPLES => {
                        // What is used must have been defined before.
                        for sample in rows!(SampleRow) {
                            assert!(trace.classes.contains_key(&sample.class) || sample.class == 0, "{sample:?}");
                            assert!(trace.threads.contains_key(&sample.thread), "{sample:?}");
                            assert!(sample.stack.is_none_or(|s| trace.frames.contains_key(&s)), "{sample:?}");
                            trace.samples.push(sample);
                        }
                    }
                    ChunkKind::DEATHS => trace.deaths.extend(rows!(DeathRow)),
                    ChunkKind::GCS => trace.collections.extend(rows!(GcRow)),
                    ChunkKind::COUNTS => {
                        for row in rows!(CountRow) {
                            assert!(trace.classes.contains_key(&row.class) || row.class == 0, "{row:?}");
                            trace.counts.push(row);
                        }
                    }
                    ChunkKind::SETTINGS => trace.settings.extend(rows!(SettingRow)),
                    ChunkKind::LOSSES => trace.losses.extend(rows!(LossRow)),
                    ChunkKind::RUN => trace.run.extend(rows!(RunRow).into_iter().map(|r| (r.key, r.value))),
                    ChunkKind::END => trace.ends.extend(rows!(EndRow)),
                    _ => {}
                }
            }
        }
        trace
    }

    pub fn class(&self, sample: &SampleRow) -> &str {
        self.classes.get(&sample.class).map_or("?", |c| &self.strings[&c.name])
    }

    /// The class histograms that are complete, by number: when and for how long, and objects and bytes of each class.
    pub fn histograms(&self) -> BTreeMap<u64, CountedHistogram> {
        let mut all: BTreeMap<u64, CountedHistogram> = BTreeMap::new();
        for row in &self.counts {
            let of = all.entry(row.histogram).or_default();
            (of.time, of.pause, of.rows) = (row.time, row.pause.expect("a pause"), row.rows as usize);
            let class = self.classes.get(&row.class).map_or("?", |c| &self.strings[&c.name]);
            assert!(of.classes.insert(class.to_owned(), (row.objects, row.bytes)).is_none(), "{class} twice");
        }
        all.retain(|_, of| of.classes.len() == of.rows);
        all
    }

    /// The frames of a sample, innermost first: `Leaky.login:26`.
    pub fn stack(&self, sample: &SampleRow) -> Vec<String> {
        let (mut frames, mut at) = (Vec::new(), sample.stack);
        while let Some(frame) = at.map(|id| &self.frames[&id]) {
            let method = &self.methods[&frame.method];
            let lines: Vec<&[u64]> = method.lines.chunks(2).collect();
            let index = u64::from(frame.index.unwrap_or(u32::MAX));
            let line = lines.iter().rev().find(|l| l[0] <= index).map_or(0, |l| l[1]);
            frames.push(format!("{}.{}:{line}", self.strings[&method.class], self.strings[&method.name]));
            at = frame.caller;
        }
        frames
    }

    /// Samples whose objects have outlived a collection. Younger ones may be garbage already.
    pub fn alive(&self) -> impl Iterator<Item = &SampleRow> {
        let dead: HashSet<u64> = self.deaths.iter().map(|d| d.sample).collect();
        let last = self.collections.last().map_or(0, |gc| gc.start);
        self.samples.iter().filter(move |s| s.time < last && !dead.contains(&s.id))
    }

    pub fn end(&self) -> &str {
        match &self.ends[..] {
            [end] => {
                assert_eq!(end.samples as usize, self.samples.len());
                &end.reason
            }
            other => panic!("{} ends", other.len()),
        }
    }
}

/// The library that cargo has built beside this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let library = test.parent().expect("a folder").join(LIBRARY);
    assert!(library.exists(), "{} was not built", library.display());
    library
}

pub fn agent(options: &AgentOptions) -> String {
    format!("-agentpath:{}={}", library().display(), options.text())
}

/// The JDKs to test with, and the classes of the test programs in a folder that is compiled once for each.
pub fn with_jdks(test: &str, mut run: impl FnMut(&Jdk, &str, &Path)) {
    let jdks = jvm::jdks();
    if jdks.range(17..).next().is_none() {
        return jvm::skip(test, "there is no JDK 17 or newer");
    }
    for jdk in jdks.range(17..).map(|(_, jdk)| jdk) {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = [
            "Leaky",
            "Counted",
            "Unloading",
            "Resting",
            "Known",
            "Ways",
            "Storm",
            "Collects",
            "Busy",
            "Stacks",
            "Threads",
            "Deep",
        ]
        .map(|n| root().join(format!("tests/java/{n}.java")));
        jdk.compile(&sources.each_ref().map(PathBuf::as_path), ".", folder.path());
        jvm::say(&format!("{test}: JDK {}", jdk.version));
        run(jdk, &folder.path().to_string_lossy(), folder.path());
    }
}

pub fn start(jdk: &Jdk, options: &AgentOptions, class_path: &str, words: &[&str]) -> Child {
    let mut command = jdk.tool("java");
    command.args(["-Xmx300m", &agent(options), "-cp", class_path]).args(words);
    command.stdout(Stdio::null()).spawn().expect("java runs")
}

pub fn run(jdk: &Jdk, options: &AgentOptions, class_path: &str, words: &[&str]) -> String {
    let mut command = jdk.tool("java");
    jvm::output(command.args(["-Xmx300m", &agent(options), "-cp", class_path]).args(words))
}

/// Has the JDK's own tool load the library into a program that runs; what it answers.
pub fn load(jdk: &Jdk, pid: u32, options: &AgentOptions) -> String {
    load_from(&library(), jdk, pid, options)
}

/// As [`load`], from another place: the VM takes a copy for another library.
pub fn load_from(library: &Path, jdk: &Jdk, pid: u32, options: &AgentOptions) -> String {
    let mut command = jdk.tool("jcmd");
    command.arg(pid.to_string()).arg("JVMTI.agent_load").arg(library);
    // jcmd takes an equals sign for its own unless it is quoted.
    jvm::output(command.arg(format!("\"{}\"", options.text())))
}

pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}
