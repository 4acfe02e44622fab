//! Java programs for tests: finds JDKs, compiles a source, runs it, takes histograms and dumps, kills it at the end.
#![allow(dead_code)] // each test file uses its part

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// An installed JDK.
#[derive(Clone, Debug)]
pub struct Jdk {
    pub home: PathBuf,
    pub version: u32,
}

/// All JDKs with a compiler, by version, one of each.
pub fn jdks() -> BTreeMap<u32, Jdk> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    homes.extend(std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|e| e.path()));
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

impl Jdk {
    pub fn tool(&self, name: &str) -> Command {
        Command::new(self.home.join("bin").join(name))
    }

    /// Compiles sources into a folder.
    pub fn compile(&self, sources: &[&Path], class_path: &str, into: &Path) {
        let output = self
            .tool("javac")
            .args(["-nowarn", "-cp", class_path, "-d"])
            .arg(into)
            .args(sources)
            .output()
            .expect("javac runs");
        assert!(output.status.success(), "javac: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A running program that prints `ready PID`, and then a line for each line it is given.
pub struct Program {
    child: Child,
    jdk: Jdk,
    pub pid: u32,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Program {
    pub fn start(jdk: &Jdk, flags: &[&str], class_path: &str, main: &str) -> Program {
        let mut child = jdk
            .tool("java")
            .args(flags)
            .args(["-cp", class_path, main])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("java runs");
        let input = child.stdin.take().expect("its input");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut program = Program { child, jdk: jdk.clone(), pid: 0, input, lines };
        let ready = program.line();
        program.pid = ready.strip_prefix("ready ").and_then(|p| p.parse().ok()).expect("`ready PID`");
        program
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("a line of output").expect("readable output")
    }

    /// Sends a line and waits for the answer.
    pub fn ask(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").expect("the program reads");
        self.line()
    }

    fn jcmd(&self, arguments: &[&str]) -> String {
        let output = self.jdk.tool("jcmd").arg(self.pid.to_string()).args(arguments).output().expect("jcmd runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "jcmd {arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
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

/// `[Ljava.lang.String;` as `java.lang.String[]`.
fn source_name(name: &str) -> String {
    let dimensions = name.bytes().take_while(|&b| b == b'[').count();
    if dimensions == 0 {
        return name.replace('/', ".");
    }
    // Recent VMs name the arrays they fill gaps with; a dump shows them as what they are made of.
    if name == "[Ljdk.internal.vm.FillerElement;" {
        return "int[]".to_owned();
    }
    let element = match &name[dimensions..] {
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        class => class.trim_start_matches('L').trim_end_matches(';'),
    };
    element.replace('/', ".") + &"[]".repeat(dimensions)
}
