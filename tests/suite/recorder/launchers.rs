//! Commands that start a program in the background and end, as `catalina.sh start` does: it is recorded until it ends itself.

use super::*;
use std::io::Read;

/// Records a script, and waits for the end of it all.
fn record_script(folder: &Path, script: &str) -> Output {
    let output = folder.to_string_lossy();
    finish(&mut memory_city(&["record", "-o", &output, "--walk-every", "500ms", "--", "sh", "-c", script]))
}

#[test]
fn a_program_that_is_left_in_the_background_is_recorded_to_its_end() {
    with_jdk("a_program_that_is_left_in_the_background", |jdk, class_path, temporary| {
        let program = format!("'{}' -Xmx100m -cp '{class_path}' Leaky 3000", java(jdk));
        // The script ends when the program runs; before there is one; and below one that has ended too.
        for (number, (script, code)) in [
            (format!("{program} & sleep 1; exit 0"), 0),
            (format!("(sleep 1; exec {program}) & exit 3"), 3),
            (format!("setsid sh -c \"({program}) & exit 0\" & exit 0"), 0),
        ]
        .into_iter()
        .enumerate()
        {
            let folder = temporary.join(number.to_string());
            let done = record_script(&folder, &script);
            let (printed, said) = (text(&done.stdout), text(&done.stderr));
            assert_eq!(done.status.code(), Some(code), "the code is that of the command: {said}");
            assert!(printed.contains("done "), "{script}: {printed} {said}");
            assert!(said.contains("and what it has started in the background goes on"), "{script}: {said}");
            assert!(said.contains("memory-city open") && !said.contains("was killed"), "{script}: {said}");
            let ends = ends(&folder);
            assert!(!ends.is_empty() && ends.iter().all(|end| end == "the program ended"), "{script}: {ends:?}");
            assert!(has_walks(&folder, 1), "{script}: {said}");
            let names = std::fs::read_dir(&folder).expect("the trace").flatten().map(|e| e.file_name());
            assert!(names.into_iter().all(|name| name.to_string_lossy().ends_with(".mcity")), "{script}");
        }
    });
}

/// Ending the recording ends the program, even if the shell makes it ignore Ctrl+C, and if a shell dies of a signal for
/// both.
#[test]
fn signals_reach_a_program_whose_launcher_has_ended() {
    with_jdk("signals_reach_a_program", |jdk, class_path, temporary| {
        let program = format!("'{}' -Xmx64m -cp '{class_path}' Ending wait", java(jdk));
        let cases = [
            (format!("{program} & exit 0"), libc::SIGTERM, 0),
            (format!("{program} & exit 0"), libc::SIGINT, 0),
            (format!("{program}; exit 7"), libc::SIGTERM, 143),
        ];
        for (number, (script, signal, code)) in cases.into_iter().enumerate() {
            let folder = temporary.join(number.to_string());
            let output = folder.to_string_lossy();
            let mut command =
                memory_city(&["record", "-o", &output, "--walk-every", "500ms", "--", "sh", "-c", &script]);
            let pipes = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut recorder = pipes.spawn().expect("it runs");
            wait_until("walks", || AgentStatus::read(&folder).is_some_and(|s| s.walks > 1 && s.samples > 100));
            endings::send(recorder.id(), signal);
            let status = recorder.wait().expect("a status");
            let (mut printed, mut said) = (String::new(), String::new());
            recorder.stdout.take().expect("its output").read_to_string(&mut printed).expect("text");
            recorder.stderr.take().expect("its words").read_to_string(&mut said).expect("text");
            assert_eq!((status.code(), printed.contains("hook")), (Some(code), true), "{script}: {said}");
            assert!(ends(&folder).contains(&"the program ended".to_owned()), "{script}: {said}");
        }
    });
}

/// A JVM that other recordings have kept out, as the daemon of a build tool that goes on for hours, is not waited for.
#[test]
fn a_jvm_that_is_not_recorded_is_not_waited_for() {
    with_jdk("a_jvm_that_is_not_recorded", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let run = |words: &str| format!("'{}' -Xmx300m -cp '{class_path}' {words}", java(jdk));
        // The second begins while the first runs.
        let kept_out = format!("{} >/dev/null 2>&1 & echo second $!", run("Ending wait"));
        let script = format!("{} & first=$!; sleep 2; {kept_out}; wait $first; exit 0", run("Leaky 4000"));
        let begun = Instant::now();
        let done = record_script(&folder, &script);
        let (printed, said) = (text(&done.stdout), text(&done.stderr));
        let second = printed.lines().find_map(|line| line.strip_prefix("second ")?.parse::<u32>().ok());
        let second = second.expect("its number");
        let goes_on = memory_city_agent::folder::is_running(second);
        endings::send(second, libc::SIGKILL);
        assert!(done.status.success() && said.contains("memory-city open") && goes_on, "{said}");
        assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
    });
}
