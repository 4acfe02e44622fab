//! Talking to a JVM that runs, as `jcmd` does: a file and a signal wake its listener, a socket takes commands.
//!
//! The protocol is HotSpot's own: `.attach_pidN` in its working folder or `/tmp`, SIGQUIT, then `/tmp/.java_pidN`. A request is
//! the version `1`, a command and three arguments, each ended by a zero byte; the answer a line with a number, then text.

use super::process::{self, has_signal, inner_pid};
use memory_city_agent::folder::is_musl;
use memory_city_agent::perfdata::{PerfData, perf_files};
use memory_city_heap::error::{Error, Result};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a JVM has for its listener to wake; it may be collecting garbage.
const PATIENCE: Duration = Duration::from_secs(15);
/// After so long one that has only just begun is asked once more.
const ASK_AGAIN: Duration = Duration::from_secs(3);
/// How long it has for an answer: histograms of large heaps take a while.
const ANSWER_PATIENCE: Duration = Duration::from_secs(120);
/// More is not read of an answer.
const MOST_ANSWER: u64 = 64 << 20;

fn unusable(what: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Unusable { what: what.into(), remedy: remedy.into() }
}

/// A JVM that listens.
pub struct AttachedJvm {
    /// Its process id here.
    pub pid: u32,
    /// Whether it runs on musl, as on Alpine Linux: then it can be asked, and load nothing of ours.
    is_musl: bool,
    socket: PathBuf,
}

impl AttachedJvm {
    /// Wakes the listener of a JVM.
    ///
    /// # Errors
    /// When there is no such process, it is no JVM or one that cannot be attached to, it is somebody else's, or it does not answer.
    pub fn open(pid: u32) -> Result<AttachedJvm> {
        let process = PathBuf::from(format!("/proc/{pid}"));
        if !process.exists() {
            return Err(unusable(format!("There is no process {pid}"), "`memory-city jvms` lists the JVMs that run"));
        }
        let maps = std::fs::read_to_string(process.join("maps")).map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied if !is_own(&process) => {
                unusable(format!("Process {pid} belongs to another user"), "Run this as that user, or as root")
            }
            _ => unusable(
                format!("Process {pid} cannot be looked into: {error}"),
                "`memory-city jvms` lists the JVMs that can be recorded",
            ),
        })?;
        if !maps.contains("libjvm.so") {
            return Err(unusable(
                format!("Process {pid} is no Java program"),
                "`memory-city jvms` lists the JVMs that run",
            ));
        }
        // It takes the signal that wakes HotSpot for a question, and answers with a file in the program's folder.
        if maps.contains("libj9vm") {
            return Err(unusable(
                format!("Process {pid} runs on OpenJ9 (IBM Semeru), which neither `attach` nor `watch` can talk to"),
                "Run the program with HotSpot (OpenJDK, Temurin, Corretto, ...)",
            ));
        }
        let status = process::status(pid);
        // In a container the JVM has another number, and another /tmp.
        let inner = inner_pid(&status).unwrap_or(pid);
        let socket = process.join(format!("root/tmp/.java_pid{inner}"));
        // One that forbids it takes the signal for a question, and prints all its threads into the program's output.
        if forbids_attaching(&process, inner) {
            return Err(unusable(
                format!("Process {pid} forbids attaching (-XX:+DisableAttachMechanism)"),
                "Neither `attach` nor `watch` reaches it: start it with `memory-city record`, or without that option",
            ));
        }
        if !is_listened_to(&socket) {
            wake(pid, inner, &process, &socket, &status)?;
        }
        Ok(AttachedJvm { pid, is_musl: is_musl(&maps), socket })
    }

    /// Says so where the JVM cannot load the recorder, which needs glibc.
    ///
    /// # Errors
    /// When it runs on musl.
    pub fn can_load(&self) -> Result<()> {
        match self.is_musl {
            false => Ok(()),
            true => Err(unusable(
                format!("Process {} runs on musl (Alpine Linux), and the recorder needs glibc", self.pid),
                "Use an image with glibc (Debian, Ubuntu, UBI), or `memory-city watch`, which loads nothing",
            )),
        }
    }

    /// Sends a command, and gives the text of the answer.
    ///
    /// # Errors
    /// When the JVM refuses, with its own words, or does not answer in time.
    pub fn ask(&self, command: &str, arguments: [&str; 3]) -> Result<String> {
        let answer = self.send(command, arguments).map_err(|e| Error::Io {
            path: self.socket.clone(),
            source: e,
            remedy: format!("Process {} may have ended, or belongs to another user", self.pid),
        })?;
        let (code, text) = answer.split_once('\n').unwrap_or((&answer, ""));
        if code.trim() == "0" {
            return Ok(text.to_owned());
        }
        if text.trim().is_empty() {
            return Err(unusable(
                format!("The JVM of process {} refuses to {command}, and does not say why", self.pid),
                "It may be about to end: `memory-city jvms` lists those that run",
            ));
        }
        Err(self.no_agents(text).unwrap_or_else(|| {
            unusable(
                format!("The JVM of process {} refuses to {command}: {}", self.pid, text.trim()),
                "Java options such as -XX:+DisableAttachMechanism forbid it",
            )
        }))
    }

    /// What to do instead, where a JVM says that agents are forbidden. Its sentence names the option.
    fn no_agents(&self, said: &str) -> Option<Error> {
        said.contains("EnableDynamicAgentLoading").then(|| {
            unusable(
                format!("Process {} forbids loading agents while it runs (-XX:-EnableDynamicAgentLoading)", self.pid),
                format!(
                    "`memory-city watch {}` counts its objects without one; `memory-city record` starts a program with the recorder",
                    self.pid
                ),
            )
        })
    }

    fn send(&self, command: &str, arguments: [&str; 3]) -> std::io::Result<String> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(ANSWER_PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut request = b"1\0".to_vec();
        for word in std::iter::once(command).chain(arguments) {
            if word.contains('\0') {
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "a zero byte in an argument"));
            }
            request.extend_from_slice(word.as_bytes());
            request.push(0);
        }
        stream.write_all(&request)?;
        let mut answer = Vec::new();
        stream.take(MOST_ANSWER).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Loads a native agent with options. Loading one that is there already calls it again.
    ///
    /// # Errors
    /// As [`AttachedJvm::ask`]; when the library cannot be loaded, or says no.
    pub fn load(&self, library: &Path, options: &str) -> Result<()> {
        let Some(path) = library.to_str() else {
            return Err(unusable(format!("{} is no UTF-8", library.display()), "Copy the library to another place"));
        };
        let started = Instant::now();
        let text = loop {
            let text = self.ask("load", [path, "true", options])?;
            // One that has only just begun listens before it may load anything.
            if !text.contains("live phase") || started.elapsed() > PATIENCE {
                break text;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        // The first number says that the command was understood; what became of it is in the text.
        match text.trim().strip_prefix("return code: ").unwrap_or(text.trim()) {
            "0" => Ok(()),
            number if number.parse::<i32>().is_ok() => Err(unusable(
                format!("The recorder does not start in process {}", self.pid),
                "It has written the reason into the folder it was given, or to the standard error of that program",
            )),
            why => Err(self.no_agents(why).unwrap_or_else(|| {
                unusable(
                    format!("Process {} does not load {path}: {why}", self.pid),
                    "The library must be readable for that process, in its container, under the same path",
                )
            })),
        }
    }
}

/// Whether a JVM says in its performance data, or was told on its command line, that nobody may attach to it.
fn forbids_attaching(process: &Path, inner: u32) -> bool {
    let files = perf_files(&process.join("root/tmp"));
    let data = files.iter().find(|(pid, _)| *pid == inner).and_then(|(_, file)| PerfData::read(file));
    match data.and_then(|data| data.text("sun.rt.jvmCapabilities")) {
        // A digit for each of the things that it can do: the first is attaching.
        Some(capabilities) => capabilities.starts_with('0'),
        None => {
            let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == b"-XX:+DisableAttachMechanism")
        }
    }
}

/// Whether a process belongs to who runs this.
fn is_own(process: &Path) -> bool {
    let (of, own) = (std::fs::metadata(process), std::fs::metadata("/proc/self"));
    of.ok().zip(own.ok()).is_some_and(|(of, own)| of.uid() == own.uid())
}

fn is_socket(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_socket())
}

/// Whether somebody listens at the socket. That of a killed process stays, and another one may have its number: a JVM takes it away
/// when it begins.
fn is_listened_to(socket: &Path) -> bool {
    let refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
    is_socket(socket) && !UnixStream::connect(socket).is_err_and(refused)
}

/// Makes the listener wake and waits for its socket.
fn wake(pid: u32, inner: u32, process: &Path, socket: &Path, status: &str) -> Result<()> {
    // One that does not catch it would be killed by it.
    if !has_signal(status, "SigCgt", libc::SIGQUIT) {
        return Err(unusable(
            format!("Process {pid} does not let itself be attached to"),
            "It was started with -Xrs or has only just begun; start it with `memory-city record` instead",
        ));
    }
    let owner = std::fs::metadata(process).map(|m| (m.uid(), m.gid())).unwrap_or_default();
    let name = format!(".attach_pid{inner}");
    // By descriptors: where the process ends meanwhile its own ways to them are gone, and the file would stay.
    let open = |folder: &str| {
        let flags = libc::O_PATH | libc::O_DIRECTORY;
        std::fs::OpenOptions::new().read(true).custom_flags(flags).open(process.join(folder)).ok()
    };
    let folders: Vec<File> = ["cwd", "root/tmp"].into_iter().filter_map(open).collect();
    let in_folder = |folder: &File| PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(&name);
    let places: Vec<PathBuf> = folders.iter().map(in_folder).collect();
    let made = places.iter().find(|place| {
        let made = std::fs::OpenOptions::new().write(true).create_new(true).open(place);
        // The JVM wants to see its own user there.
        made.is_ok() && (std::os::unix::fs::chown(place, Some(owner.0), Some(owner.1)).is_ok() || owner.0 == 0)
            || place.exists()
    });
    let Some(made) = made else {
        return Err(unusable(
            format!("Neither the working folder of process {pid} nor its /tmp can be written to"),
            "Run this as the user of that process",
        ));
    };
    let started = Instant::now();
    let began = process::age(pid).and_then(|age| started.checked_sub(age));
    let mut asked = None;
    let found = loop {
        if is_listened_to(socket) {
            break true;
        }
        if started.elapsed() > PATIENCE || !process.exists() {
            break false;
        }
        if asks(asked, Instant::now(), began) {
            // SAFETY: no pointers. The process catches the signal; should it have ended, the call fails.
            unsafe { libc::kill(pid as i32, libc::SIGQUIT) };
            asked = Some(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let _ = std::fs::remove_file(made);
    match found {
        true => Ok(()),
        false => Err(unusable(
            format!("The JVM of process {pid} does not answer"),
            "It may stand still, or was started with -XX:+DisableAttachMechanism",
        )),
    }
}

/// Whether to ask a JVM that began at some time to listen: it was not asked yet, or had only just begun then, and may have missed it. Another
/// one knows, and each question that it does not take for one it answers with all its threads in the program's output.
fn asks(asked: Option<Instant>, now: Instant, began: Option<Instant>) -> bool {
    let Some(asked) = asked else { return true };
    let was_young = began.is_some_and(|began| asked.duration_since(began) < PATIENCE);
    was_young && now.duration_since(asked) > ASK_AGAIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_a_killed_process_left_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join(".java_pid1");
        assert!(!is_listened_to(&socket));
        let listener = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
        assert!(is_listened_to(&socket));
        drop(listener);
        assert!(is_socket(&socket) && !is_listened_to(&socket), "it is there, and nobody listens");
    }

    /// A program that ends while it is woken leaves nothing of that in its working folder, and nobody waits for it.
    #[test]
    fn who_ends_meanwhile_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut program = std::process::Command::new("bash");
        program.args(["-c", "trap : QUIT; echo; for i in $(seq 40); do sleep 0.05; done"]).current_dir(&folder);
        let mut program = program.stdout(std::process::Stdio::piped()).spawn().expect("bash");
        program.stdout.as_mut().expect("its output").read_exact(&mut [0]).expect("it catches the signal");
        let (pid, process) = (program.id(), PathBuf::from(format!("/proc/{}", program.id())));
        let status = std::fs::read_to_string(process.join("status")).expect("its state");
        let ended = std::thread::spawn(move || program.wait());
        let began = Instant::now();
        wake(pid, pid, &process, &folder.path().join("none"), &status).expect_err("it never listens");
        assert!(began.elapsed() < PATIENCE - Duration::from_secs(3), "{:?}", began.elapsed());
        ended.join().expect("no panic").expect("it has ended");
        assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0);
    }

    #[test]
    fn a_jvm_is_asked_once_unless_it_has_only_just_begun() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        for (asked, now, expected) in [
            (None, 60, true),
            (Some(60), 70, false),
            (Some(1), 3, false),
            (Some(1), 5, true),
            (Some(14), 18, true),
            (Some(15), 20, false),
        ] {
            assert_eq!(asks(asked.map(at), at(now), Some(began)), expected, "{asked:?} {now}");
        }
        assert!(asks(None, at(1), None) && !asks(Some(at(1)), at(60), None), "nobody knows when it began");
    }

    #[test]
    fn on_musl_nothing_is_loaded() {
        let on = |is_musl| AttachedJvm { pid: 1, is_musl, socket: PathBuf::new() }.can_load();
        assert!(on(true).is_err_and(|e| e.to_string().contains("musl")) && on(false).is_ok());
    }

    #[test]
    fn what_is_no_jvm_is_refused_unharmed() {
        let own = AttachedJvm::open(std::process::id()).err().expect("an error").to_string();
        assert!(own.contains("is no Java program"), "{own}");
        assert!(AttachedJvm::open(u32::MAX / 2).err().expect("an error").to_string().contains("There is no process"));
    }
}
