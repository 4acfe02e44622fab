//! A program that records itself, as one in a container: its walks are taken by whoever attaches, for as long as that wants to.

use super::*;

#[test]
fn walks_of_a_program_that_records_itself_are_taken() {
    with_jdks("walks_of_a_program_that_records_itself", |jdk, class_path, temporary| {
        let agent =
            Path::new(env!("CARGO_BIN_EXE_memory-city")).with_file_name("deps").join(memory_city_agent::LIBRARY);
        let folder = temporary.join("trace");
        let options = AgentOptions { folder: folder.clone(), walks: 300, duty: 2, ..AgentOptions::default() };
        let flag = format!("-agentpath:{}={}", agent.display(), options.text());
        let program = Program::start(jdk, &["-Xmx200m", "-Xmn10m", &flag], class_path, "Leaky");
        let pid = program.pid.to_string();
        let walks = |stream: &str| {
            let parts = std::fs::read_dir(&folder).expect("the trace").flatten().map(|entry| entry.path());
            let of_stream = |part: &PathBuf| part.file_name().is_some_and(|n| n.to_string_lossy().starts_with(stream));
            let mut walks = 0;
            for part in parts.filter(of_stream) {
                for_chunks_of(&part, &mut |chunk| walks += usize::from(chunk.kind() == ChunkKind::WALK_END));
            }
            walks
        };
        let is_recorded = || {
            let status = AgentStatus::read(&folder).expect("its state");
            status.ended.is_empty() && status.pid == program.pid && !RecorderLock::is_held(&folder)
        };
        wait_until("a recording", || AgentStatus::read(&folder).is_some_and(|status| status.samples > 20));
        // A second and a third process, one after the other: each has a stream of its own.
        let unused = temporary.join("unused");
        for (time, stream) in [("4s", "01-"), ("20s", "02-")] {
            let unused = unused.to_string_lossy();
            let mut command = memory_city(&["attach", &pid, "--for", time, "-o", &unused]);
            let pipes = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let recorder = pipes.spawn().expect("it runs");
            if stream == "02-" {
                // Who comes meanwhile is one too many.
                wait_until("a walk", || walks(stream) > 0);
                let done = finish(&mut memory_city(&["attach", &pid, "-o", &unused]));
                let said = text(&done.stderr);
                assert!(done.status.code() == Some(1) && said.contains("it is being recorded already"), "{said}");
                endings::send(recorder.id(), libc::SIGINT);
            }
            let done = recorder.wait_with_output().expect("its words");
            let said = text(&done.stderr);
            assert_eq!(done.status.code(), Some(0), "{said}");
            let expected = format!("Process {pid} is being recorded already, into {}", folder.display());
            assert!(said.contains(&expected), "{said}");
            assert!(said.contains("and the program goes on, recorded without walks."), "{said}");
            assert!(!said.contains("killed") && !said.contains("lost"), "{said}");
            assert!(walks(stream) > 0, "JDK {}: no walks in {stream}: {said}", jdk.version);
            assert!(is_recorded(), "{said}");
            // No dump is left: nobody would take it.
            assert!(std::fs::read_dir(folder.join(".walks")).expect("its place").next().is_none(), "{said}");
        }
        assert!(!Path::new(&unused).exists(), "nothing has another place");
        let before = walks("02-");
        let samples = AgentStatus::read(&folder).expect("its state").samples;
        wait_until("samples", || AgentStatus::read(&folder).is_some_and(|status| status.samples > samples + 100));
        assert_eq!((walks("02-"), is_recorded()), (before, true));
        // Whoever is there when the program ends tidies up.
        let mut command = memory_city(&["attach", &pid]);
        let pipes = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let recorder = pipes.spawn().expect("it runs");
        wait_until("a walk", || walks("03-") > 0);
        drop(program);
        let said = text(&recorder.wait_with_output().expect("its words").stderr);
        assert!(said.contains("the program was killed, or ran out of memory."), "{said}");
        let names = std::fs::read_dir(&folder).expect("the trace").flatten().map(|e| e.file_name());
        assert!(names.into_iter().all(|name| name.to_string_lossy().ends_with(".mcity")), "{said}");
        let all = walks("01-") + walks("02-") + walks("03-");
        assert!(has_walks(&folder, all), "{all} walks of three processes are one recording");
        let (report, warned) = of_trace(&["report"], &folder);
        assert!(report.contains("Leaky$Session"), "{report} {warned}");
    });
}
