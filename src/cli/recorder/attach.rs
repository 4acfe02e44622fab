//! The command `attach`: records a running program, and leaves it unchanged.

use super::session::{ROUND, RecordingSession, SaysEnd};
use super::{RecordingArgs, duration, jvms, library, messages};
use crate::cli::interrupt;
use clap::Args;
use memory_city::jvm::attach::AttachedJvm;
use memory_city::jvm::leftovers::Finishing;
use memory_city::jvm::list::{RunningJvm, running, short_name};
use memory_city::jvm::namespaces::{recorded_into, sees_same};
use memory_city::jvm::process::owner_of;
use memory_city::terminal;
use memory_city_agent::AgentOptions;
use memory_city_agent::folder::is_running;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[derive(Args)]
#[command(after_help = "Afterwards every event is off and all buffers are freed; the library stays mapped.\n\
    JDK 21 and newer warn of an agent that is loaded dynamically; -XX:+EnableDynamicAgentLoading quiets them.\n\n  \
    memory-city attach 4711 --for 5m")]
pub struct AttachArgs {
    /// The process (default: the only JVM that runs)
    #[arg(value_name = "PID")]
    pid: Option<u32>,
    /// For how long: 30s, 10m (default: until Ctrl+C, or the program ends)
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    length: Option<Duration>,
    /// Ends when its standard input ends: for programs that start it, and would leave it alone when they are killed
    #[arg(long, hide = true)]
    while_input: bool,
    #[command(flatten)]
    recording: RecordingArgs,
}

/// Attaches, follows, leaves.
pub fn attach(args: AttachArgs) -> Result<ExitCode> {
    let pid = jvms::choose(args.pid)?;
    // A program that records itself needs nothing loaded: somebody who takes its walks.
    if let Some(folder) = recorded_into(pid)
        && let Some(session) = args.recording.joined(&folder, &name_of(pid), pid)
    {
        return join(&args, pid, session?, &folder);
    }
    let library = library::find()?;
    let jvm = AttachedJvm::open(pid)?;
    jvm.can_load()?;
    if !sees_same(pid, &library) {
        return Err(Error::Unusable {
            what: format!("Process {pid} does not see {}: it runs in a container", library.display()),
            remedy: "Run this command inside the container, with the library beside it".into(),
        });
    }
    // Asked before: a JVM that has had one says nothing of the next.
    let warns = running().into_iter().find(|j| j.pid == pid).is_some_and(|jvm| jvm.warns_of_agents());
    let name = name_of(pid);
    let folder = args.recording.folder(&name)?;
    let _finishing = Finishing::begin();
    let session = args.recording.session(&folder, &name, |lock| match sees_same(pid, lock) {
        true => Ok(()),
        false => Err(Error::Unusable {
            what: format!("Process {pid} sees another folder at {} than this command", messages::shown(&folder)),
            remedy:
                "Services have a /tmp of their own, and containers all folders: with --output name one that both see"
                    .into(),
        }),
    })?;
    if let Some(owner) = owner_of(pid) {
        session.give_to(owner);
    }
    let options = AgentOptions { attached: true, ..args.recording.options(&folder) };
    if let Err(error) = jvm.load(&library, &options.text()) {
        let why = session.status().map(|status| status.ended).filter(|why| !why.is_empty());
        // It may have begun all the same, where the VM was too slow to say so: then it ends when nobody waits for it any more.
        session.give_up();
        return Err(match why {
            Some(why) => messages::not_begun(pid, &why),
            None => error,
        });
    }
    terminal::status(messages::begun(&format!("process {pid}"), &folder, &until(&args)));
    if warns {
        terminal::status(messages::OF_AGENT_WARNING);
    }
    // Its last walk waits for nobody: this returns when all is written.
    let stop = || jvm.load(&library, &AgentOptions { stop: true, ..options.clone() }.text());
    follow(&args, pid, session, stop, "and the program goes on")
}

/// Takes the walks of a program that records itself, such as one in a container whose environment starts the recorder.
fn join(args: &AttachArgs, pid: u32, session: RecordingSession, folder: &Path) -> Result<ExitCode> {
    if let Some(owner) = owner_of(pid) {
        session.give_to(owner);
    }
    terminal::status(messages::joined(pid, folder, &until(args)));
    follow(args, pid, session, || Ok(()), "and the program goes on, recorded without walks")
}

/// The event that ends it.
fn until(args: &AttachArgs) -> String {
    let length = args.length.map_or_else(String::new, |most| format!("for {}, ", messages::time_text(most)));
    format!("{length}until Ctrl+C, or until the program ends")
}

/// Looks after the recording until it is over, and then stops it in the program with `stop`. `left` says how the program goes on.
fn follow(
    args: &AttachArgs,
    pid: u32,
    mut session: RecordingSession,
    stop: impl Fn() -> Result<()> + Sync,
    left: &str,
) -> Result<ExitCode> {
    let asked = Progress::new();
    if args.while_input {
        let asked = asked.clone();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            asked.cancel();
        });
    }
    let started = Instant::now();
    let has_ended = AtomicBool::new(false);
    // On a thread of its own: a large walk may just be read, and the program is left when it is time.
    let leave = || -> Result<Option<String>> {
        loop {
            if has_ended.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let over = args.length.filter(|most| started.elapsed() >= *most);
            if over.is_some() || asked.check().is_err() {
                stop()?;
                let why = over.map_or_else(
                    || "ended here".to_owned(),
                    |most| format!("its {} are over", messages::time_text(most)),
                );
                return Ok(Some(format!("{why}, {left}")));
            }
            std::thread::sleep(ROUND);
        }
    };
    let left = interrupt::cancels_as_asked(&asked, || {
        std::thread::scope(|threads| {
            let leaving = threads.spawn(leave);
            let ends = SaysEnd(&has_ended);
            loop {
                session.look();
                let has_told_end = session.status().is_some_and(|s| !s.ended.is_empty());
                // One that nobody has asked about yet is in the list of processes still.
                let ended = has_told_end || !is_running(pid);
                if ended || leaving.is_finished() {
                    drop(ends);
                    let left = leaving.join().unwrap_or(Ok(None));
                    // What has ended meanwhile answers nobody.
                    return if ended { Ok(left.unwrap_or(None)) } else { left };
                }
                std::thread::sleep(ROUND);
            }
        })
    })?;
    if let Some(why) = left {
        session.leaves(why);
    }
    session.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Name of the program.
fn name_of(pid: u32) -> String {
    running().iter().find(|jvm| jvm.pid == pid).map_or_else(|| short_name(""), RunningJvm::short_name)
}
