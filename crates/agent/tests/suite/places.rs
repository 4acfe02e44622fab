//! Wherever a trace is: the VM writes dumps there.

#![cfg(target_os = "linux")]

use crate::common::{agent, wait_until, with_jdks};
use memory_city_agent::AgentOptions;
use memory_city_agent::folder::{AgentStatus, RecorderLock, WalkNote};
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::process::Stdio;

/// A folder with letters that the locale of the program does not have, and with one that Java writes as two.
#[test]
fn walks_go_into_folders_of_any_name() {
    with_jdks("walks_go_into_folders_of_any_name", |jdk, class_path, temporary| {
        for (locale, name) in [("C", "Müll"), ("C.UTF-8", "Kiste 📦"), ("C", "Kiste 📦")] {
            let folder = temporary.join(format!("{locale}-{name}"));
            std::fs::create_dir(&folder).expect("made");
            let _lock = RecorderLock::take(&folder).expect("the lock");
            let options = AgentOptions { folder: folder.clone(), walks: 100, ..AgentOptions::default() };
            let mut command = jdk.tool("java");
            command.args(["-Xmx100m", &agent(&options), "-cp", class_path, "Leaky"]).env("LC_ALL", locale);
            let mut program = command.stdout(Stdio::null()).spawn().expect("java runs");
            // Where the VM cannot write one it is asked three times, and no more.
            let is_over = || AgentStatus::read(&folder).is_some_and(|status| status.elapsed > 20_000_000);
            wait_until("a walk", || !WalkNote::waiting(&folder).is_empty() || is_over());
            let status = AgentStatus::read(&folder);
            program.kill().expect("killed");
            program.wait().expect("a status");
            assert_eq!(WalkNote::waiting(&folder), [1], "JDK {}, {locale}, {name}: {status:?}", jdk.version);
            let dump = Input::open(&WalkNote::dump(&folder, 1), &Progress::new()).expect("a dump");
            let (heap, _) = hprof::load_held(&dump, &Default::default(), &Progress::new()).expect("a whole one");
            assert!(heap.objects().count() > 1000);
        }
    });
}
