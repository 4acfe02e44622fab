//! Java programs for tests: finds JDKs, compiles a source, runs it, takes histograms and dumps, kills it at the end.
//!
//! Everything is bounded: what takes longer than [`PATIENCE`] fails the test instead of hanging it.

use crate::class_names::source_name;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long one compilation, one step of a program or one dump may take on a slow and busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// An installed JDK.
#[derive(Clone, Debug)]
pub struct Jdk {
    pub home: PathBuf,
    pub version: u32,
}

/// All JDKs with a compiler, by version, one of each: `JAVA_HOME`, those of the `PATH`, the usual folders.
pub fn jdks() -> BTreeMap<u32, Jdk> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let compilers = std::env::split_paths(&on_path).filter_map(|folder| folder.join("javac").canonicalize().ok());
    homes.extend(compilers.filter_map(|javac| Some(javac.parent()?.parent()?.to_owned())));
    for folder in ["/usr/lib/jvm", "/Library/Java/JavaVirtualMachines"] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        homes.extend(entries.flat_map(|e| [e.path(), e.path().join("Contents/Home")]));
    }
    let mut found = BTreeMap::new();
    for home in homes.into_iter().filter(|h| h.join("bin/jcmd").exists() && h.join("bin/javac").exists()) {
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release
            .lines()
            .find_map(|l| l.strip_prefix("JAVA_VERSION=\""))
            .and_then(|v| v.split(['.', '"', '-', '+']).next()?.parse().ok());
        if let Some(version) = version {
            found.entry(version).or_insert(Jdk { home, version });
        }
    }
    found
}

/// The first JDK of `oldest` or newer.
pub fn jdk_from(oldest: u32) -> Option<Jdk> {
    jdks().range(oldest..).next().map(|(_, jdk)| jdk.clone())
}

/// Says loudly that a test does not run: past the test harness, which keeps the output of tests that pass to itself.
/// With `MEMORY_CITY_REQUIRE_JVM` set, as `make test` sets it, not running is failing.
pub fn skip(test: &str, why: &str) {
    assert!(std::env::var_os("MEMORY_CITY_REQUIRE_JVM").is_none(), "{test} must run, but {why}");
    let _ = writeln!(std::io::stderr(), "\n*** SKIPPED {test}: {why}\n");
}

/// Says something past the test harness, which keeps the output of tests that pass to itself.
pub fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// What a command prints, on both channels. Panics when it fails or takes longer than [`PATIENCE`].
pub fn output(command: &mut Command) -> String {
    // A file, not a pipe: nobody has to read for the command to go on.
    let mut printed = tempfile::tempfile().expect("a temporary file");
    let both = || Stdio::from(printed.try_clone().expect("a second handle"));
    let mut child = command.stdin(Stdio::null()).stdout(both()).stderr(both()).spawn().expect("a JDK's tool runs");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a status") {
            break Some(status);
        }
        if started.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut bytes = Vec::new();
    printed.rewind().and_then(|()| printed.read_to_end(&mut bytes)).expect("the output");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match status {
        Some(status) if status.success() => text,
        Some(status) => panic!("{command:?}: {status}\n{text}"),
        None => panic!("{command:?} took longer than {PATIENCE:?}\n{text}"),
    }
}

impl Jdk {
    pub fn tool(&self, name: &str) -> Command {
        Command::new(self.home.join("bin").join(name))
    }

    /// The collectors that it has, as it is told to use them, and layouts of objects besides: builds differ.
    pub fn collectors(&self) -> Vec<Vec<&'static str>> {
        let mut all: Vec<Vec<&str>> = vec![
            vec!["-XX:+UseG1GC"],
            vec!["-XX:+UseParallelGC"],
            vec!["-XX:+UseSerialGC"],
            vec!["-XX:+UseZGC"],
            vec!["-XX:+UseShenandoahGC"],
            vec!["-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders"],
            vec!["-XX:+UseZGC", "-XX:+UseCompactObjectHeaders"],
        ];
        all.retain(|flags| self.tool("java").args(flags).arg("-version").output().is_ok_and(|o| o.status.success()));
        assert!(all.len() >= 3, "JDK {} has {all:?}", self.version);
        all
    }

    /// Compiles sources into a folder: once for each JDK, class path and text of the sources. The classes stay in `target/test-classes`.
    pub fn compile(&self, sources: &[&Path], class_path: &str, into: &Path) {
        let key = self.key(sources, class_path);
        let kept = crate::root().join("target/test-classes").join(format!("{key:016x}"));
        if !kept.is_dir() {
            let folder = kept.parent().expect("a parent");
            std::fs::create_dir_all(folder).expect("a folder for classes");
            // Complete or not there: several tests may compile the same at once.
            let fresh = tempfile::Builder::new().prefix(".fresh").tempdir_in(folder).expect("a folder");
            output(self.tool("javac").args(["-nowarn", "-cp", class_path, "-d"]).arg(fresh.path()).args(sources));
            let _ = std::fs::rename(fresh.path(), &kept);
        }
        copy_folder(&kept, into);
    }

    /// Stands for everything that the classes follow from.
    fn key(&self, sources: &[&Path], class_path: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.home, self.version, class_path).hash(&mut hasher);
        for source in sources {
            (source.file_name(), std::fs::read(source).expect("a source")).hash(&mut hasher);
        }
        // Classes of a folder may be others the next time.
        for folder in std::env::split_paths(class_path).filter(|path| path != Path::new(".") && path.is_dir()) {
            let mut names: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().collect();
            names.sort_by_key(std::fs::DirEntry::file_name);
            for entry in names.iter().filter(|entry| entry.path().is_file()) {
                (entry.file_name(), std::fs::read(entry.path()).expect("a class")).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

fn copy_folder(from: &Path, into: &Path) {
    std::fs::create_dir_all(into).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (path, target) = (entry.path(), into.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a copy");
        }
    }
}

/// A running program that prints `ready PID`, and then a line for each line it is given.
pub struct Program {
    child: Child,
    jdk: Jdk,
    pub pid: u32,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Program {
    pub fn start(jdk: &Jdk, flags: &[&str], class_path: &str, main: &str) -> Program {
        Program::start_with(jdk, flags, class_path, main, &[])
    }

    /// As [`Program::start`], with arguments for the program.
    pub fn start_with(jdk: &Jdk, flags: &[&str], class_path: &str, main: &str, arguments: &[&str]) -> Program {
        let mut child = jdk
            .tool("java")
            .args(flags)
            .args(["-cp", class_path, main])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("java runs");
        let input = child.stdin.take().expect("its input");
        let printed = BufReader::new(child.stdout.take().expect("its output")).lines();
        let (sender, lines) = channel();
        // Reads on its own so that waiting can end. Ends with the program.
        std::thread::spawn(move || printed.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut program = Program { child, jdk: jdk.clone(), pid: 0, input, lines };
        let ready = program.line();
        program.pid = ready.strip_prefix("ready ").and_then(|p| p.parse().ok()).expect("`ready PID`");
        program
    }

    fn line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line from the program, which is still running, in time")
    }

    /// Sends a line and waits for the answer.
    pub fn ask(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").expect("the program reads");
        self.line()
    }

    fn jcmd(&self, arguments: &[&str]) -> String {
        output(self.jdk.tool("jcmd").arg(self.pid.to_string()).args(arguments))
    }

    /// A dump of the live objects.
    pub fn dump(&self, file: &Path, options: &[&str]) {
        let mut arguments = vec!["GC.heap_dump"];
        arguments.extend(options);
        let file = file.to_string_lossy();
        arguments.push(&file);
        self.jcmd(&arguments);
    }

    /// The VM's own histogram of live objects: class to (objects, bytes).
    pub fn histogram(&self) -> BTreeMap<String, (u64, u64)> {
        let mut rows = BTreeMap::new();
        for line in self.jcmd(&["GC.class_histogram"]).lines() {
            let mut words = line.split_whitespace();
            let (Some(rank), Some(objects), Some(bytes), Some(class)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            if let (true, Ok(objects), Ok(bytes)) = (rank.ends_with(':'), objects.parse::<u64>(), bytes.parse::<u64>())
            {
                // Classes of the same name from several loaders are one row for us, as they are for a reader.
                let row: &mut (u64, u64) = rows.entry(source_name(class)).or_default();
                row.0 += objects;
                row.1 += bytes;
            }
        }
        rows
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
