//! On musl the recorder does not record. Its loader refuses the library in the words of the page. If other libraries
//! stand in, the recorder refuses by itself.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use crate::common::library;
use memory_city_testing::{jvm, root};
use std::path::Path;
use std::process::Command;

/// Names that the library gets from the one that unwinds stacks.
const UNWINDING: &str = "_Unwind_";

fn compile(arguments: &[&str], source: &Path, into: &Path) {
    jvm::output(Command::new("musl-gcc").args(arguments).arg("-o").arg(into).arg(source));
}

#[test]
fn on_musl_nothing_is_recorded_and_somebody_says_why() {
    if Command::new("musl-gcc").arg("--version").output().is_err() {
        return jvm::skip("on_musl_nothing_is_recorded", "there is no musl-gcc");
    }
    let temporary = tempfile::tempdir().expect("a folder");
    let host = temporary.path().join("host");
    compile(&[], &root().join("crates/agent/tests/musl/host.c"), &host);
    let folder = temporary.path().join("trace");
    let run = |libraries: &Path| {
        let mut command = Command::new(&host);
        command.arg(library()).arg(format!("folder={}", folder.display())).env("LD_LIBRARY_PATH", libraries);
        jvm::output(&mut command)
    };
    // As on Alpine Linux. Which of the two it misses first is the order of the library's needs.
    let alone = temporary.path().join("alone");
    std::fs::create_dir(&alone).expect("a folder");
    let said = run(&alone);
    let page = std::fs::read_to_string(root().join("docs/recorder.md")).expect("the page");
    let message =
        |missing: &str| format!("Error loading shared library {missing}: No such file or directory (needed by");
    let missing = ["libgcc_s.so.1", "ld-linux-x86-64.so.2"];
    assert!(missing.iter().any(|missing| said.contains(&format!("refused: {}", message(missing)))), "{said}");
    assert!(missing.iter().all(|missing| page.contains(&message(missing))), "the page has the messages: {said}");

    // With libraries in their place: nothing in them is called, as what is loaded ends in good order.
    let listed = jvm::output(Command::new("nm").args(["-D", "--undefined-only"]).arg(library()));
    let names = listed.lines().filter_map(|line| line.split_whitespace().last()?.split('@').next());
    let stubs = names
        .filter(|name| name.starts_with(UNWINDING))
        .map(|name| format!("void {name}(void) {{ __builtin_trap(); }}\n"));
    let source = temporary.path().join("stubs.c");
    std::fs::write(&source, stubs.collect::<String>()).expect("written");
    let standing_in = temporary.path().join("standing-in");
    std::fs::create_dir(&standing_in).expect("a folder");
    for name in missing {
        compile(&["-shared", "-nostdlib"], &source, &standing_in.join(name));
    }
    let said = run(&standing_in);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("memory-city: ")).collect();
    assert!(said.contains("loaded\n") && said.contains("0 1\n"), "a program starts, whoever attaches is told: {said}");
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains("is not recorded: it runs on musl")), "{said}");
    assert!(!folder.exists(), "{said}");
}
