//! Connection to a running JVM, as `jcmd` makes it: a file and a signal wake its listener, a socket takes commands.
//!
//! The protocol is HotSpot's own: `.attach_pidN` in its working folder or `/tmp`, SIGQUIT, then `/tmp/.java_pidN`. A request is the
//! version `1`, a command and three arguments, each ended by a zero byte. The answer is a line with a number, then text.

use super::attach_socket::AttachSocket;
use super::process::{self, command_line, has_signal, inner_pid};
use memory_city_agent::folder::is_musl;
use memory_city_agent::perfdata::PerfData;
use memory_city_heap::error::{Error, Result};
use memory_city_wire::HeldFolder;
use rustix::fs::{Gid, Uid, fchown};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
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
    socket: AttachSocket,
}

impl AttachedJvm {
    /// Wakes the listener of a JVM.
    ///
    /// # Errors
    /// When there is no such process, it is no JVM or one that cannot be attached to, it belongs to another user, or it does not answer.
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
        let Some((owner, group)) = process::owner(&status) else {
            return Err(unusable(
                format!("There is no process {pid} any more"),
                "`memory-city jvms` lists those that run",
            ));
        };
        let socket = AttachSocket { pid, owner, path: process.join(format!("root/tmp/.java_pid{inner}")) };
        // One that forbids it takes the signal for a question, and prints all its threads into the program's output.
        if forbids_attaching(&process, inner, owner) {
            return Err(unusable(
                format!("Process {pid} forbids attaching (-XX:+DisableAttachMechanism)"),
                "Neither `attach` nor `watch` reaches it: start it with `memory-city record`, or without that option",
            ));
        }
        if socket.connect()?.is_none() {
            wake(inner, (owner, group), &process, &socket, &status)?;
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
        let stream = self.socket.connect()?.ok_or_else(|| {
            unusable(
                format!("The JVM of process {} does not listen any more", self.pid),
                "It may have ended, or be about to: `memory-city jvms` lists those that run",
            )
        })?;
        let answer = send(stream, command, arguments).map_err(|e| Error::Io {
            path: self.socket.path.clone(),
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

    /// The error with its remedy, if the JVM's answer says that agents are forbidden. That answer names the option.
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

    /// Loads a native agent with options. Loading one that is there already calls it again.
    ///
    /// # Errors
    /// Like [`AttachedJvm::ask`]; also when the library cannot be loaded, or refuses.
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

fn send(mut stream: UnixStream, command: &str, arguments: [&str; 3]) -> std::io::Result<String> {
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

/// Whether a JVM forbids attaching, by its performance data or its command line.
fn forbids_attaching(process: &Path, inner: u32, owner: u32) -> bool {
    let data = PerfData::of(&process.join("root/tmp"), inner, owner);
    match data.and_then(|data| data.text("sun.rt.jvmCapabilities")) {
        // A digit for each of the things that it can do: the first is attaching.
        Some(capabilities) => capabilities.starts_with('0'),
        None => {
            let words = command_line(process);
            words.split(|byte| *byte == 0).any(|word| word == b"-XX:+DisableAttachMechanism")
        }
    }
}

/// Whether a process belongs to who runs this.
fn is_own(process: &Path) -> bool {
    let (of, own) = (std::fs::metadata(process), std::fs::metadata("/proc/self"));
    of.ok().zip(own.ok()).is_some_and(|(of, own)| of.uid() == own.uid())
}

/// Wakes the listener of a process and waits for its socket, acting as `owner`: user and group.
fn wake(inner: u32, owner: (u32, u32), process: &Path, socket: &AttachSocket, status: &str) -> Result<()> {
    let pid = socket.pid;
    // One that does not catch it would be killed by it.
    if !has_signal(status, "SigCgt", libc::SIGQUIT) {
        return Err(unusable(
            format!("Process {pid} does not let itself be attached to"),
            "It was started with -Xrs or has only just begun; start it with `memory-city record` instead",
        ));
    }
    let Some(_asking) = AskingFile::make(process, &format!(".attach_pid{inner}"), owner) else {
        return Err(unusable(
            format!("Neither the working folder of process {pid} nor its /tmp can be written to"),
            "Run this as the user of that process",
        ));
    };
    let started = Instant::now();
    let began = process::age(pid).and_then(|age| started.checked_sub(age));
    let mut asked = None;
    loop {
        if socket.connect()?.is_some() {
            return Ok(());
        }
        if started.elapsed() > PATIENCE || !process.exists() {
            return Err(unusable(
                format!("The JVM of process {pid} does not answer"),
                "It may stand still, or was started with -XX:+DisableAttachMechanism",
            ));
        }
        if asks(asked, Instant::now(), began) {
            // SAFETY: no pointers. The process catches the signal; should it have ended, the call fails.
            unsafe { libc::kill(pid as i32, libc::SIGQUIT) };
            asked = Some(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The file that tells a JVM that the signal is for its listener; removed on drop.
struct AskingFile {
    /// Held: where the process ends meanwhile its own ways to it are gone, and the file would stay.
    folder: HeldFolder,
    name: String,
    /// Our file, unless another process has made it.
    made: Option<File>,
}

impl AskingFile {
    /// Makes the file in the working folder of a process or its `/tmp`. The JVM wants its own user as the owner, so the new file is given
    /// to it by descriptor: its name may lead to another file by then.
    fn make(process: &Path, name: &str, owner: (u32, u32)) -> Option<AskingFile> {
        let mut folders =
            ["cwd", "root/tmp"].into_iter().filter_map(|folder| HeldFolder::open(&process.join(folder)).ok());
        let in_folder = |folder: HeldFolder| {
            let made = match folder.create(name) {
                Ok(file) => Some(file),
                // Of somebody who asks just now.
                Err(_) if folder.entry(name).is_ok_and(|entry| entry.is_file && entry.owner == owner.0) => None,
                Err(_) => return None,
            };
            let asking = AskingFile { folder, name: name.to_owned(), made };
            asking.made.as_ref().is_none_or(|file| is_given(file, owner)).then_some(asking)
        };
        folders.find_map(in_folder)
    }
}

impl Drop for AskingFile {
    fn drop(&mut self) {
        if let Some(made) = &self.made {
            let _ = self.folder.remove_made(&self.name, made);
        }
    }
}

/// Gives a file that this process has made to a user and group, by its descriptor. Whether it is theirs now.
pub fn is_given(file: &File, (user, group): (u32, u32)) -> bool {
    let is_theirs = || file.metadata().is_ok_and(|meta| meta.uid() == user);
    is_theirs() || fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group))).is_ok() && is_theirs()
}

/// Whether to ask a JVM that started at `began` to listen: if it was not asked yet, or had only just started then, and may have missed
/// it. One that was asked knows, and a question that it does not recognise makes it print all its threads into the program's output.
fn asks(asked: Option<Instant>, now: Instant, began: Option<Instant>) -> bool {
    let Some(asked) = asked else { return true };
    let was_young = began.is_some_and(|began| asked.duration_since(began) < PATIENCE);
    was_young && now.duration_since(asked) > ASK_AGAIN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that ends while it is woken leaves no file in its working folder, and the wait for it ends.
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
        let owner = process::owner(&status).expect("whose it is");
        let socket = AttachSocket { pid, owner: owner.0, path: folder.path().join("none") };
        wake(pid, owner, &process, &socket, &status).expect_err("it never listens");
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
        let socket = || AttachSocket { pid: 1, owner: 0, path: PathBuf::new() };
        let on = |is_musl| AttachedJvm { pid: 1, is_musl, socket: socket() }.can_load();
        assert!(on(true).is_err_and(|e| e.to_string().contains("musl")) && on(false).is_ok());
    }

    #[test]
    fn what_is_no_jvm_is_refused_unharmed() {
        let own = AttachedJvm::open(std::process::id()).err().expect("an error").to_string();
        assert!(own.contains("is no Java program"), "{own}");
        assert!(AttachedJvm::open(u32::MAX / 2).err().expect("an error").to_string().contains("There is no process"));
    }
}
