//! `attach`: records a program that runs, and leaves it as it was.

use super::session::{ROUND, SaysEnd};
use super::{RecordingArgs, duration, jvms, library, words};
use crate::cli::interrupt;
use clap::Args;
use memory_city::jvm::attach::AttachedJvm;
use memory_city::jvm::leftovers;
use memory_city::jvm::list::{RunningJvm, running, short_name};
use memory_city_agent::AgentOptions;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
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
    let library = library::find()?;
    let jvm = AttachedJvm::open(pid)?;
    jvm.can_load()?;
    same_file(pid, &library)?;
    let listed = running().into_iter().find(|j| j.pid == pid);
    let name = listed.as_ref().map_or_else(|| short_name(""), RunningJvm::short_name);
    // Asked before: a JVM that has had one says nothing of the next.
    let warns = listed.is_some_and(|jvm| jvm.warns_of_agents());
    let folder = args.recording.folder(&name)?;
    std::thread::spawn(leftovers::finish_forgotten);
    let mut session = args.recording.session(&folder, &name)?;
    give_to_owner(pid, &folder);
    let options = AgentOptions { attached: true, ..args.recording.options(&folder) };
    if let Err(error) = jvm.load(&library, &options.text()) {
        let why = session.status().map(|status| status.ended).filter(|why| !why.is_empty());
        // It may have begun all the same, where the VM was too slow to say so: then it ends when nobody waits for it any more.
        session.give_up();
        return Err(match why {
            Some(why) => Error::Unusable {
                what: format!("The recorder does not start in process {pid}: {why}"),
                remedy: "Where it is recorded already, end that recording, or open its trace while it grows".into(),
            },
            None => error,
        });
    }
    let length = args.length.map_or_else(String::new, |most| format!("for {}, ", words::time_text(most)));
    let end = format!("{length}until Ctrl+C, or until the program ends");
    eprintln!("{}", words::begun(&format!("process {pid}"), &folder, &end));
    if warns {
        eprintln!("{}", words::OF_AGENT_WARNING);
    }
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
                // Its last walk waits for nobody: this returns when all is written.
                let stop = AgentOptions { stop: true, ..options.clone() };
                jvm.load(&library, &stop.text())?;
                let why = over
                    .map_or_else(|| "ended here".to_owned(), |most| format!("its {} are over", words::time_text(most)));
                return Ok(Some(format!("{why}, and the program goes on")));
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
                let ended = has_told_end || !Path::new(&format!("/proc/{pid}")).exists();
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

/// A program in a container sees other files under the same names.
fn same_file(pid: u32, library: &Path) -> Result<()> {
    let inside = PathBuf::from(format!("/proc/{pid}/root{}", library.display()));
    let id = |path: &Path| std::fs::metadata(path).map(|m| (m.dev(), m.ino()));
    match (id(library), id(&inside)) {
        (Ok(here), Ok(there)) if here == there => Ok(()),
        _ => Err(Error::Unusable {
            what: format!("Process {pid} does not see {}: it runs in a container", library.display()),
            remedy: "Run this command inside the container, with the library beside it".into(),
        }),
    }
}

/// Root may attach to anybody's program, which must be able to write its trace.
fn give_to_owner(pid: u32, folder: &Path) {
    if let (Ok(process), Ok(own)) = (std::fs::metadata(format!("/proc/{pid}")), std::fs::metadata(folder))
        && process.uid() != own.uid()
    {
        for path in [folder.to_owned(), folder.join(memory_city_agent::folder::LOCK)] {
            let _ = std::os::unix::fs::chown(&path, Some(process.uid()), Some(process.gid()));
        }
    }
}
