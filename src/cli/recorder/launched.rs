//! The command that `record` starts, and the processes that it leaves in the background: a launcher ends, and the real program goes on.
//!
//! A process that loses its parent below this one becomes its child (`PR_SET_CHILD_SUBREAPER`). So without children, nothing is left.

use memory_city::jvm::process::{children, has_mapped, ignores, is_below};
use memory_city_agent::folder::is_running;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// The recorder is loaded when a JVM starts: one that has not begun to record by then never will, as those that other recordings kept out.
const LOADING: Duration = Duration::from_secs(3);

pub struct LaunchedCommand {
    child: Child,
    /// Children of this process that were there before, as the window of a live city.
    others: BTreeSet<u32>,
    /// JVMs that are left and were not recorded, since when they were seen.
    jvms: BTreeMap<u32, Instant>,
    /// Processes that have received a handed-on signal: each gets it once.
    told: BTreeSet<u32>,
}

impl LaunchedCommand {
    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<LaunchedCommand> {
        let others = children().into_iter().collect();
        // Where the kernel does not know it, the command's end is all that is seen.
        // SAFETY: no pointers; it changes nothing but who is the parent of processes below this one whose own has ended.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong) };
        Ok(LaunchedCommand { child: command.spawn()?, others, jvms: BTreeMap::new(), told: BTreeSet::new() })
    }

    /// How the command itself has ended, when it has.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Whether a process that it has started still runs, and is recorded as `program` or may be recorded yet. Valid only after the
    /// command itself has ended.
    pub fn goes_on(&mut self, program: Option<u32>) -> bool {
        let left = self.left();
        self.jvms.retain(|pid, _| left.contains(pid));
        if left.is_empty() || program.is_some_and(is_running) {
            return !left.is_empty();
        }
        let mut may_be_recorded = |pid: &u32| match has_mapped(*pid, "libjvm.so") {
            true => self.jvms.entry(*pid).or_insert_with(Instant::now).elapsed() < LOADING,
            // A script may be about to start one.
            false => true,
        };
        // All are looked at, so that the time of each is known.
        left.iter().filter(|pid| may_be_recorded(pid)).count() > 0
    }

    /// Running processes that it has left. Reaps those that have ended.
    fn left(&self) -> Vec<u32> {
        let mut left = children();
        left.retain(|pid| {
            let runs = is_running(*pid);
            if !self.others.contains(pid) && !runs {
                // SAFETY: no pointers but one that may be null. It is a child of this process which has ended, and nobody else waits for
                // it: the command itself has been waited for.
                unsafe { libc::waitpid(*pid as i32, std::ptr::null_mut(), libc::WNOHANG) };
            }
            runs && !self.others.contains(pid)
        });
        left
    }

    /// Hands a signal on: to the command; when that has ended, to the recorded program, or else to the processes that may become it.
    pub fn tell(&mut self, signal: i32, program: Option<u32>) {
        let (whom, is_left) = match self.child.try_wait() {
            Ok(None) => (vec![self.child.id()], false),
            _ => match program.filter(|pid| is_running(*pid) && is_below(*pid)) {
                Some(program) => (vec![program], true),
                None => (self.left(), true),
            },
        };
        for pid in whom {
            // Shells have what they start in the background ignore Ctrl+C, which is meant for it here.
            let is_deaf = is_left && signal == libc::SIGINT && ignores(pid, signal);
            let signal = if is_deaf { libc::SIGTERM } else { signal };
            if self.told.insert(pid) && !(signal == libc::SIGINT && is_told_by_terminal(pid)) {
                // SAFETY: no pointers. Children of this process keep their numbers until they are waited for, which nobody does meanwhile;
                // what is further below was there just now.
                unsafe { libc::kill(pid as i32, signal) };
            }
        }
    }
}

/// Whether Ctrl+C reaches a process by itself, as it reaches this one: a second one would mean something else to many programs.
fn is_told_by_terminal(pid: u32) -> bool {
    // SAFETY: no pointers. Where there is no terminal, or no such process, they say -1, which is no group.
    let [own, of_terminal, its] = unsafe { [libc::getpgrp(), libc::tcgetpgrp(0), libc::getpgid(pid as i32)] };
    io::stdin().is_terminal() && of_terminal == own && its == own
}
