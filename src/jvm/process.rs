//! Facts about a process, from the kernel's `/proc`.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Longest part of a command line that is read. A process decides itself which of its memory that is.
const LONGEST_COMMAND: u64 = 1 << 20;

/// The words of a process's command line, each with a zero behind it. Empty if it may not be read.
pub(super) fn command_line(process: &Path) -> Vec<u8> {
    let mut words = Vec::new();
    let read =
        std::fs::File::open(process.join("cmdline")).and_then(|f| f.take(LONGEST_COMMAND).read_to_end(&mut words));
    read.map(|_| words).unwrap_or_default()
}

/// The status of a process: one line for each fact. Empty if the process has ended, or may not be looked at.
pub(super) fn status(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default()
}

/// The number of a process within the innermost container, by its state.
pub(super) fn inner_pid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|l| l.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// User and group that a process acts as, by its state.
pub fn owner(status: &str) -> Option<(u32, u32)> {
    // The real one, the one that counts, and two others.
    let acts = |set: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(set))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    acts("Uid:").zip(acts("Gid:"))
}

/// The same of a process that runs, and that may be looked at.
pub fn owner_of(pid: u32) -> Option<(u32, u32)> {
    owner(&status(pid))
}

/// Whether a signal is in one of the sets that its state lists: `SigCgt` of those it catches, `SigIgn` of those it ignores.
pub(super) fn has_signal(status: &str, set: &str, signal: i32) -> bool {
    let sets = status.lines().filter_map(|line| line.split_once(':'));
    let mask = sets.filter(|(name, _)| *name == set).find_map(|(_, mask)| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Whether a process ignores a signal.
pub fn ignores(pid: u32, signal: i32) -> bool {
    has_signal(&status(pid), "SigIgn", signal)
}

/// Whether a library whose file is called so is mapped into a process.
pub fn has_mapped(pid: u32, library: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains(library))
}

/// Children of this process, including those that have ended and have not been waited for. Empty if the kernel does not list them.
pub fn children() -> Vec<u32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of_thread = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children")).ok();
    let listed: String = threads.filter_map(of_thread).collect();
    listed.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Whether a process is one that this process has started, or one of those has.
pub fn is_below(pid: u32) -> bool {
    let parent = |pid: &u32| stat(*pid, 1)?.parse::<u32>().ok().filter(|parent| *parent > 0);
    std::iter::successors(Some(pid), parent).skip(1).any(|above| above == std::process::id())
}

/// How long ago a process began.
pub(super) fn age(pid: u32) -> Option<Duration> {
    let ticks: u64 = stat(pid, 19)?.parse().ok()?;
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: no pointers but one to a structure of ours, which lives for the call and is filled in by it.
    let (read, in_a_second) =
        unsafe { (libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now), libc::sysconf(libc::_SC_CLK_TCK)) };
    let in_a_second = u64::try_from(in_a_second).ok().filter(|ticks| *ticks > 0 && read == 0)?;
    let began = Duration::from_millis(ticks.checked_mul(1000)? / in_a_second);
    Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?).checked_sub(began)
}

/// A word of `/proc/PID/stat`, counted from the state, which is 0. The name before it is in parentheses, and may hold anything.
fn stat(pid: u32, at: usize) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.split_whitespace().nth(at).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_the_kernel_says_of_a_process_is_read() {
        let status = "Name:\tjava\nNSpid:\t4711\t7\nSigIgn:\t0000000000000002\nSigCgt:\t2000000181005ccf\n";
        assert_eq!(inner_pid(status), Some(7));
        assert_eq!((owner(status), owner("Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n")), (None, Some((2, 6))));
        let quit = |set| has_signal(status, set, libc::SIGQUIT);
        assert!(quit("SigCgt") && !quit("SigIgn") && has_signal(status, "SigIgn", libc::SIGINT));
        assert!(!has_signal("SigCgt:\t0000000000000000\n", "SigCgt", libc::SIGQUIT));
        assert!(!has_signal("", "SigCgt", libc::SIGQUIT));
    }

    #[test]
    fn what_was_started_here_is_known_with_its_age() {
        let mut child = Command::new("sh").args(["-c", "trap '' INT; exec sleep 60"]).spawn().expect("it runs");
        std::thread::sleep(Duration::from_millis(300));
        let (pid, own) = (child.id(), std::process::id());
        let found = (children().contains(&pid), is_below(pid), is_below(own), is_below(1));
        let (age, ignores) = (age(pid), ignores(pid, libc::SIGINT));
        child.kill().expect("killed");
        child.wait().expect("a status");
        assert_eq!((found, ignores), ((true, true, false, false), true));
        // The kernel counts in hundredths of a second.
        let age = age.expect("an age");
        assert!((Duration::from_millis(250)..Duration::from_secs(60)).contains(&age), "{age:?}");
        assert!(!is_below(pid) && !has_mapped(pid, "libc"), "it has ended");
        assert!(has_mapped(own, "libc"));
    }
}
