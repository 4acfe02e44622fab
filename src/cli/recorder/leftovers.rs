//! Dumps that a recording process left in a trace because it was killed: they become walks when the trace is opened, and what is
//! not complete goes, as it holds what the program held.

use super::walks::WalkTaker;
use memory_city_agent::folder::{AgentStatus, CLAIM, LOCK, RecorderLock, STATUS, WALKS, WalkNote};
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};

/// How large the walks of a trace may become that is finished here.
const MOST_BYTES: u64 = 1 << 40;

/// Finishes those of these that are traces nobody records into any more. What cannot be finished is left as it is, and said.
pub fn finish(paths: &[PathBuf]) {
    paths.iter().filter(|path| path.join(WALKS).is_dir()).for_each(|folder| finish_one(folder));
}

fn finish_one(folder: &Path) {
    // Whoever has it is at work.
    let Ok(lock) = RecorderLock::take(folder) else { return };
    let waiting = WalkNote::waiting(folder).len();
    let mut taker = WalkTaker::new(folder, MOST_BYTES);
    taker.take(&Progress::new());
    let (walks, failed) = (taker.walks, taker.failed.take());
    let finished = taker.finish("a walk that was left was finished when the trace was opened");
    if let Some(why) = failed.map(|(_, why)| why).or(finished.err().map(|e| e.to_string())) {
        eprintln!(
            "memory-city: warning: of {waiting} walks that a recording process left {walks} were finished: {why}"
        );
    } else if walks > 0 {
        eprintln!("memory-city: {walks} walks that a recording process left were finished");
    }
    if is_being_written(folder) {
        return;
    }
    for left in std::fs::read_dir(folder.join(WALKS)).into_iter().flatten().flatten() {
        let _ = std::fs::remove_file(left.path());
    }
    let _ = std::fs::remove_dir(folder.join(WALKS));
    for name in [STATUS, CLAIM, LOCK] {
        let _ = std::fs::remove_file(folder.join(name));
    }
    drop(lock);
}

/// Whether the program still writes its own stream.
fn is_being_written(folder: &Path) -> bool {
    AgentStatus::read(folder).is_some_and(|s| s.ended.is_empty() && Path::new(&format!("/proc/{}", s.pid)).exists())
}
