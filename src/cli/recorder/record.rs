//! The command `record`: starts a program with the recorder.

use super::launched::LaunchedCommand;
use super::live::TOKEN_VARIABLE;
use super::session::{ROUND, RecordingSession, SaysEnd};
use super::vm_options::VmOptions;
use super::{RecordingArgs, library, messages};
use crate::cli::interrupt;
use clap::Args;
use memory_city::jvm::leftovers::Finishing;
use memory_city::jvm::list::{file_name, short_name};
use memory_city::terminal;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Exit code for a wrong command line.
const WRONG_ARGUMENTS: u8 = 2;

#[derive(Args)]
#[command(after_help = "The program runs as it would without: its input, output and exit code are its own.\n\n  \
    memory-city record -- java -jar app.jar --port 8080\n  memory-city record -o run --walk-every 30s -- ./start.sh\n\n\
    A command that is not `java` itself gets the recorder by JAVA_TOOL_OPTIONS. One JVM is recorded at a time: when it has ended,\nthe next one that starts, into NAME-2.")]
pub struct RecordArgs {
    #[command(flatten)]
    recording: RecordingArgs,
    /// The program: `java` with its options, or a script that starts it
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the command, and stays while it runs.
pub fn record(args: RecordArgs) -> Result<ExitCode> {
    let library = library::find()?;
    let (program, arguments) = args.command.split_first().ok_or_else(|| Error::Unusable {
        what: "There is no command".into(),
        remedy: "Put it behind --, as in `memory-city record -- java -jar app.jar`".into(),
    })?;
    // An option that is not known would be the program otherwise.
    if program.to_string_lossy().starts_with('-') {
        let what = format!("{} is no option of record", program.display());
        let remedy = "`memory-city record --help` lists them; the program comes behind --".into();
        terminal::error(&Error::Unusable { what, remedy });
        return Ok(ExitCode::from(WRONG_ARGUMENTS));
    }
    let is_java = Path::new(program).file_name() == Some(OsStr::new("java"));
    if is_java && is_musl(program) {
        return Err(Error::Unusable {
            what: format!("{} runs on musl (Alpine Linux), and the recorder needs glibc", program.display()),
            remedy: "Use an image with glibc (Debian, Ubuntu, UBI), or `memory-city watch`, which loads nothing".into(),
        });
    }
    let options = VmOptions { program, arguments, variable: &|name| std::env::var_os(name) };
    if let Some(error) = options.refusal() {
        return Err(error);
    }
    if let Some(note) = options.of_other_agent() {
        terminal::status(note);
    }
    let name = name_of_command(&args.command);
    let folder = args.recording.folder(&name)?;
    let _finishing = Finishing::begin();
    let mut session = args.recording.session(&folder, &name, |_| Ok(()))?;
    let mut agent = OsString::from("-agentpath:");
    agent.push(&library);
    agent.push("=");
    agent.push(args.recording.options(&folder).text());
    let mut command = Command::new(program);
    if is_java {
        command.arg(&agent);
    } else {
        let mut all = std::env::var_os("JAVA_TOOL_OPTIONS").filter(|o| !o.is_empty()).unwrap_or_default();
        if !all.is_empty() {
            all.push(" ");
        }
        // The variable is split at spaces, but for quoted ones.
        let quote = if agent.to_string_lossy().contains(char::is_whitespace) { "\"" } else { "" };
        all.push(quote);
        all.push(&agent);
        all.push(quote);
        command.env("JAVA_TOOL_OPTIONS", all);
    }
    // It is for this command: the program is somebody who need not know it.
    command.env_remove(TOKEN_VARIABLE);
    interrupt::outlive_quit();
    let asked = Progress::new();
    // From before the start on: a program may be ready, and Ctrl+C pressed, before this goes on.
    let status = interrupt::cancels_as_asked(&asked, || {
        let command = LaunchedCommand::start(command.args(arguments)).map_err(|e| Error::io(Path::new(program), e))?;
        terminal::status(messages::begun(&name, &folder, "until the program ends; Ctrl+C ends it"));
        follow(command, &mut session, &asked)
    });
    // Also when the command could not be started: what the session made goes.
    let ended = session.end();
    let status = status?;
    if let (Err(error), true) = (&ended, status.success()) {
        terminal::error(error);
        return Ok(ExitCode::from(1));
    }
    if let Err(error) = ended {
        terminal::error(&error);
    }
    Ok(exit_code(status))
}

/// Exit code as shells give it: the program's own, or 128 and the signal that ended it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(1);
    ExitCode::from(code.clamp(0, 255) as u8)
}

/// Looks after the recording until the program ends, or the processes that a launcher has left. Ctrl+C and SIGTERM are handed on to the
/// program, which decides.
fn follow(command: LaunchedCommand, session: &mut RecordingSession, asked: &Progress) -> Result<ExitStatus> {
    let command = Mutex::new(command);
    let command = || command.lock().unwrap_or_else(PoisonError::into_inner);
    let has_ended = AtomicBool::new(false);
    // The process that is recorded; 0 while there is none.
    let recorded = AtomicU32::new(0);
    // On a thread of its own: a large walk may just be read, and who stops a container waits for ten seconds.
    let tell = || {
        while !has_ended.load(Ordering::Relaxed) {
            if asked.check().is_err() {
                let signal = match interrupt::asked() {
                    Some(143) => libc::SIGTERM,
                    Some(129) => libc::SIGHUP,
                    _ => libc::SIGINT,
                };
                // Again and again: a launcher that ends of it may leave a program that has not heard of it.
                let program = Some(recorded.load(Ordering::Relaxed)).filter(|pid| *pid > 0);
                command().tell(signal, program);
            }
            std::thread::sleep(ROUND);
        }
    };
    let look = |session: &mut RecordingSession| -> Result<ExitStatus> {
        let (mut programs, mut is_left) = (1, false);
        loop {
            recorded.store(session.program().unwrap_or(0), Ordering::Relaxed);
            session.look();
            // A command may start several programs one after the other.
            match session.follow_next(programs + 1) {
                Ok(false) => {}
                Ok(true) => programs += 1,
                Err(error) => {
                    programs += 1;
                    terminal::warning(error);
                }
            }
            let mut command = command();
            if let Some(status) = command.status().map_err(|e| Error::io(Path::new("the program"), e))? {
                if !command.goes_on(session.program()) {
                    return Ok(status);
                }
                if !is_left {
                    is_left = true;
                    session.say(messages::LEFT);
                }
            }
            drop(command);
            std::thread::sleep(ROUND);
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(tell);
        let _ends = SaysEnd(&has_ended);
        look(session)
    })
}

/// The name of the program that a command runs: the main class or jar of `java`, or the command itself.
fn name_of_command(command: &[OsString]) -> String {
    let Some((program, arguments)) = command.split_first() else { return "java".into() };
    match Path::new(program).file_name().and_then(OsStr::to_str) {
        Some("java") => name_of(arguments),
        Some("env" | "nohup" | "exec") => {
            // Options, of which some have a value behind them, and variables come first.
            let has_value = |word: &str| ["-u", "--unset", "-C", "--chdir"].contains(&word);
            let mut at = 0;
            while let Some(word) = arguments.get(at).map(|word| word.to_string_lossy()) {
                match word.starts_with('-') || word.contains('=') {
                    true => at += 1 + usize::from(has_value(&word)),
                    false => break,
                }
            }
            match arguments.get(at..).unwrap_or_default() {
                [] => file_name(Path::new(program)),
                rest => name_of_command(rest),
            }
        }
        _ => file_name(Path::new(program)),
    }
}

/// The name of the program in the arguments of `java`: of the jar, or the main class.
fn name_of(arguments: &[OsString]) -> String {
    let mut words = arguments.iter().map(|a| a.to_string_lossy());
    while let Some(word) = words.next() {
        match &*word {
            "-jar" => return words.next().map_or_else(|| "java".into(), |jar| short_name(&jar)),
            "-cp"
            | "-classpath"
            | "--class-path"
            | "-p"
            | "--module-path"
            | "--add-modules"
            | "--add-opens"
            | "--add-exports"
            | "--add-reads"
            | "--upgrade-module-path" => {
                words.next();
            }
            "-m" | "--module" => {
                return words.next().map_or_else(|| "java".into(), |m| short_name(m.rsplit('/').next().unwrap_or(&m)));
            }
            option if option.starts_with('-') || option.starts_with('@') => {}
            class => return short_name(class),
        }
    }
    "java".into()
}

/// Whether a program is linked to musl: by the name of its loader, which is in its first bytes.
fn is_musl(program: &OsStr) -> bool {
    let path = Path::new(program);
    let found = match path.components().count() {
        1 => std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|folder| folder.join(path))
            .find(|candidate| candidate.is_file()),
        _ => Some(PathBuf::from(path)),
    };
    let Some(file) = found.and_then(|f| std::fs::File::open(f).ok()) else { return false };
    let mut start = Vec::new();
    let read = file.take(4096).read_to_end(&mut start);
    read.is_ok() && start.windows(7).any(|w| w == b"ld-musl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_named_by_what_java_runs() {
        for (arguments, name) in [
            (&["-Xmx1g", "-cp", "a:b", "com.acme.Main", "-jar"][..], "Main"),
            (&["-jar", "/opt/shop.jar", "x"], "shop"),
            (&["-m", "app.mod/com.acme.Start"], "Start"),
            (&["-version"], "java"),
        ] {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            assert_eq!(name_of(&arguments), name);
        }
        for (command, name) in [
            (&["/usr/bin/java", "-jar", "shop-2.1.jar"][..], "shop-2.1"),
            (&["./start.sh", "--port", "80"], "start"),
            (&["./my-app.v2"], "my-app.v2"),
            (&["env", "FOO=1", "-u", "BAR", "java", "-jar", "x.jar"], "x"),
            (&["nohup", "./start.sh"], "start"),
            (&["env"], "env"),
        ] {
            let command: Vec<OsString> = command.iter().map(OsString::from).collect();
            assert_eq!(name_of_command(&command), name);
        }
    }

    #[test]
    fn musl_is_known_by_its_loader() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("java");
        std::fs::write(&file, b"\x7fELF.../lib/ld-musl-x86_64.so.1...").expect("written");
        assert!(is_musl(file.as_os_str()));
        assert!(!is_musl(OsStr::new("sh")) && !is_musl(OsStr::new("no-such-program")));
    }
}
