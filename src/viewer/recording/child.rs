//! The recording process: `memory-city attach`, started by the window and ended with it.
//!
//! It ends when its standard input ends: when the window asks for it, is closed, or is killed. Then it leaves the program unchanged and
//! finishes the trace, in its own time.

use crate::jvm::list::RunningJvm;
use crate::jvm::namespaces::recorded_into;
use crate::viewer::job::Job;
use crate::viewer::live::WindowWaker;
use memory_city_agent::folder::AgentStatus;
use memory_city_analysis::group::registry;
use std::io::{BufRead, BufReader, PipeWriter};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often its state is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Number of looks from one shown state to the next.
const LOOKS: u32 = 10;
/// Most kept lines of its messages.
const MOST_LINES: usize = 100;
/// Prefix of its messages for people.
const PREFIX: &str = "memory-city: ";

/// Address at which the window listens for it, with the token.
pub(in crate::viewer) struct LivePlace {
    pub address: String,
    pub token: Option<String>,
}

/// A recording that goes on.
pub(in crate::viewer) struct RecorderChild {
    jvm: RunningJvm,
    name: String,
    folder: PathBuf,
    /// Its standard input.
    input: Option<PipeWriter>,
    status: Arc<Mutex<Option<AgentStatus>>>,
    job: Job<Result<String, String>>,
}

impl RecorderChild {
    /// Begins to record `jvm` into `folder`. The result is known later.
    ///
    /// # Errors
    /// When the system has no pipe left.
    pub fn start(
        jvm: RunningJvm,
        folder: PathBuf,
        place: LivePlace,
        waker: WindowWaker,
    ) -> Result<RecorderChild, String> {
        let (its_input, input) = std::io::pipe().map_err(|error| format!("It cannot be recorded: {error}"))?;
        let status = Arc::new(Mutex::new(None));
        let (pid, shared, into) = (jvm.pid, Arc::clone(&status), folder.clone());
        // A program that records itself has a folder already, and its walks go there.
        let folder = recorded_into(pid).unwrap_or(folder);
        let trace = folder.clone();
        let job = Job::start(move |_| {
            let program = std::env::current_exe().map_err(|error| format!("This program is not found: {error}"))?;
            let mut command = Command::new(program);
            command.args(["attach", &pid.to_string(), "--while-input", "--output"]).arg(&into);
            command.arg(format!("--live={}", place.address)).env_remove("RUST_LOG");
            // What was chosen in the window goes with the trace.
            if let Some(packages) = registry().domain().packages() {
                command.arg("--packages").arg(packages.join(","));
            }
            if let Some(token) = &place.token {
                command.env("MEMORY_CITY_LIVE_TOKEN", token);
            }
            command.stdin(its_input).stdout(Stdio::null()).stderr(Stdio::piped());
            let ended = follow(command, &trace, &shared, &waker);
            waker.wake();
            ended
        });
        let name = if jvm.program.is_empty() { format!("process {pid}") } else { jvm.short_name() };
        Ok(RecorderChild { jvm, name, folder, input: Some(input), status, job })
    }

    /// Asks it to end. It says when it has.
    pub fn stop(&mut self) {
        self.input = None;
    }

    /// Whether it was asked to end.
    pub fn is_ending(&self) -> bool {
        self.input.is_none()
    }

    /// The process that is recorded.
    pub fn pid(&self) -> u32 {
        self.jvm.pid
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Folder of the trace.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its state, as of a second ago; `None` before it has begun.
    pub fn status(&self) -> Option<AgentStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its result, once it has ended: a summary, or the reason for its failure.
    pub fn outcome(&self) -> Option<Result<String, String>> {
        self.job.poll().map(|outcome| outcome.and_then(|ended| ended))
    }
}

/// Runs the process to its end.
fn follow(
    mut command: Command,
    folder: &Path,
    status: &Mutex<Option<AgentStatus>>,
    waker: &WindowWaker,
) -> Result<String, String> {
    let mut child = command.spawn().map_err(|error| format!("The recording cannot be started: {error}"))?;
    // The end of its input is this process's to tell, and this was the other holder of it.
    drop(command);
    let said = child.stderr.take();
    let listener = std::thread::spawn(move || {
        let mut lines = Vec::new();
        for line in said.into_iter().flat_map(|said| BufReader::new(said).lines()).map_while(Result::ok) {
            tracing::debug!("recorder says: {line}");
            if lines.len() < MOST_LINES {
                lines.push(line);
            }
        }
        lines
    });
    let mut looks = 0;
    let ended = loop {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Ok(Some(ended)) => break ended.success(),
            Err(error) => return Err(format!("The recording cannot be followed: {error}")),
        }
        looks += 1;
        if looks % LOOKS == 0
            && let Some(now) = AgentStatus::read(folder)
        {
            *status.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
            waker.wake();
        }
    };
    told(&listener.join().unwrap_or_default(), ended)
}

/// Summary of the recording in the words of the process; or the reason for its failure, without the name of the program before it.
fn told(lines: &[String], is_done: bool) -> Result<String, String> {
    if is_done {
        let summary = lines.iter().find(|line| line.starts_with("Recorded for "));
        let warnings = lines.iter().filter_map(|line| line.strip_prefix(PREFIX)?.strip_prefix("warning: "));
        let text = summary.map(String::as_str).into_iter().chain(warnings);
        return Ok(text.collect::<Vec<_>>().join("\n"));
    }
    // Errors may have several lines; the first one has the prefix.
    let from = lines.iter().position(|line| line.starts_with(PREFIX) && !line.contains("warning: "));
    let Some(from) = from else {
        return Err(format!("The recording has ended without a reason. {}", lines.join(" ").trim()));
    };
    let lines = &lines[from..];
    Err(lines.iter().map(|line| line.strip_prefix(PREFIX).unwrap_or(line)).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_last_words_of_a_recording_are_for_people() {
        let ended = "Recording process 7 into /a\nRecorded for 0:05: 9 samples; it was asked to stop.\n\
            memory-city: warning: 1 walk was left out: the disk is too full\nOpen it:  memory-city open /a";
        assert_eq!(
            told(&lines(ended), true),
            Ok("Recorded for 0:05: 9 samples; it was asked to stop.\n1 walk was left out: the disk is too full".into())
        );
        let failed = "memory-city: Process 7 belongs to another user. Run this as that user, or as root";
        assert_eq!(
            told(&lines(failed), false),
            Err("Process 7 belongs to another user. Run this as that user, or as root".into())
        );
        // What is told on the way, without the name before it, is no reason.
        let failed = "Recording process 7 into /a\nThe program has a warning on its standard error now\n\
            The first walk comes 4:32 after the beginning\nmemory-city: Nothing was recorded";
        assert_eq!(told(&lines(failed), false), Err("Nothing was recorded".into()));
        assert!(told(&lines("memory-city: warning: x\nKilled"), false).is_err_and(|why| why.contains("Killed")));
    }
}
