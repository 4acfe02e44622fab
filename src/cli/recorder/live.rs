//! The option `--live`: the city grows while the program runs. Each walk is sent to a window as soon as it is in the trace. The window is
//! there already, or is opened.
//!
//! A thread of its own sends them: a window that is slow, or gone, delays neither the program nor its recording. A window that is closed
//! and opened again, at the same address or at the default one, gets all walks.

use crate::cli::recorder::now;
use memory_city::terminal;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::json::TreesOfRecording;
use memory_city_analysis::timeline::{AUTO, History, RecordingFolder, Source};
use memory_city_formats::{HeapSeries, PointNumber, SnapshotInfo};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, Profile};
use memory_city_live::{DEFAULT_ADDRESS, PushOptions, has_pass, pass_folder, push, times_there};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a window may take to open.
const OPENING: Duration = Duration::from_secs(60);
/// How long the last walk has to be sent when the recording has ended.
const LAST_WALK: Duration = Duration::from_secs(5);
/// How often it is looked whether a window that had gone is back.
const LOOK_AGAIN: Duration = Duration::from_secs(3);
/// Longest pause between two attempts, for a window that is there and takes nothing.
const LONGEST: Duration = Duration::from_secs(300);
/// The variable with the token of the city at the address that `--live` names.
pub(super) const TOKEN_VARIABLE: &str = "MEMORY_CITY_LIVE_TOKEN";

/// Sends walks to a city that listens.
pub struct LiveCity {
    wake: SyncSender<()>,
    done: Receiver<()>,
    progress: Progress,
    /// The trace whose walks are sent.
    folder: Arc<Mutex<PathBuf>>,
}

/// Address of a city, with its token.
#[derive(Clone)]
struct LiveAddress {
    address: String,
    token: Option<String>,
}

impl LiveAddress {
    /// The default address of cities: when the window of a recording was closed, the next one that a person opens listens there.
    fn usual() -> LiveAddress {
        LiveAddress { address: DEFAULT_ADDRESS.into(), token: None }
    }

    /// Whether a city listens there that may have walks.
    fn is_city(&self) -> bool {
        listens(&self.address) && self.is_known()
    }

    /// Whether there is a token for it, or it is one of this user's, which gives out passes. Others on this machine may listen too.
    fn is_known(&self) -> bool {
        self.token.is_some() || pass_folder().is_some_and(|folder| has_pass(&folder, &addresses(&self.address)))
    }
}

impl LiveCity {
    /// Sends the walks of the trace in `folder` to `address`. Without an address: to a city at the default address, or else to a window
    /// that it opens, which listens only on this machine and only to recordings of this user.
    ///
    /// # Errors
    /// When nothing listens at `address`, or no window can be opened.
    pub fn begin(folder: &Path, name: &str, address: &str) -> Result<LiveCity> {
        let places = match address {
            "" if LiveAddress::usual().is_city() => vec![LiveAddress::usual()],
            "" => vec![open_window(folder)?, LiveAddress::usual()],
            address if listens(address) => {
                let token = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
                let place = LiveAddress { address: address.to_owned(), token };
                if !place.is_known() {
                    return Err(Error::Unusable {
                        what: format!("What listens at {address} is no city of this user: it gets no walks"),
                        remedy: format!(
                            "Start `memory-city open --listen` or `memory-city serve` there as this user; or start it with --token-file, and give \
                             the token in {TOKEN_VARIABLE}"
                        ),
                    });
                }
                vec![place]
            }
            address => {
                return Err(Error::Unusable {
                    what: format!("Nothing listens at {address}"),
                    remedy:
                        "Start `memory-city open --listen` or `memory-city serve` there; --live alone opens a window"
                            .into(),
                });
            }
        };
        let (wake, woken) = sync_channel(1);
        let (say, done) = sync_channel(1);
        let progress = Progress::new();
        let shared = Arc::new(Mutex::new(folder.to_owned()));
        let sender = Sender {
            wanted: Arc::clone(&shared),
            folder: folder.to_owned(),
            options: PushOptions {
                source: format!("{name}, recorded {}", now()),
                passes: pass_folder(),
                only_known: true,
                references: true,
                ..PushOptions::default()
            },
            places,
            sent: 0,
            last: None,
            by_uptime: false,
            is_away: false,
            progress: progress.clone(),
        };
        std::thread::Builder::new()
            .name("live city".into())
            .spawn(move || {
                sender.run(&woken);
                let _ = say.send(());
            })
            .map_err(|e| Error::io(folder, e))?;
        Ok(LiveCity { wake, done, progress, folder: shared })
    }

    /// Another program is recorded from now on: the city is its.
    pub fn turn_to(&self, folder: &Path) {
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = folder.to_owned();
    }

    /// Notes a further walk.
    pub fn walked(&self) {
        // One that waits already will find this one too.
        let _ = self.wake.try_send(());
    }

    /// The recording has ended: the last walk is sent, if that does not take long.
    pub fn end(self) {
        self.walked();
        drop(self.wake);
        if matches!(self.done.recv_timeout(LAST_WALK), Err(RecvTimeoutError::Timeout)) {
            self.progress.cancel();
        }
    }
}

struct Sender {
    /// The trace whose walks are to be sent.
    wanted: Arc<Mutex<PathBuf>>,
    folder: PathBuf,
    options: PushOptions,
    /// Possible addresses of the city, the likeliest first.
    places: Vec<LiveAddress>,
    /// Walks that are there already, and the last of them.
    sent: usize,
    last: Option<PointNumber>,
    /// Whether their times count from the start of the program.
    by_uptime: bool,
    /// Whether there was no city when it was looked for last.
    is_away: bool,
    progress: Progress,
}

impl Sender {
    fn run(mut self, woken: &Receiver<()>) {
        let begun = Instant::now();
        while self.place().is_none() {
            if begun.elapsed() > OPENING || self.progress.check().is_err() {
                terminal::warning(format_args!("no window has opened; the recording goes on without"));
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        // Ends when nobody wakes it any more.
        let mut patience = LOOK_AGAIN;
        loop {
            let (is_new, ends) = match woken.recv_timeout(patience) {
                Ok(()) => (true, false),
                Err(RecvTimeoutError::Timeout) => (false, false),
                Err(RecvTimeoutError::Disconnected) => (self.is_away, true),
            };
            // While there is a city it is left alone until there is a walk.
            let place = if is_new || self.is_away { self.place() } else { None };
            if let Some(place) = place {
                self.options.address = place.address;
                self.options.token = place.token;
                match self.send() {
                    Ok(()) => (self.is_away, patience) = (false, LOOK_AGAIN),
                    Err(Error::Cancelled) => return,
                    // It went while it was told, or stands still; or refuses, and will do so again: less and less often.
                    Err(error) => {
                        self.goes(Some(&error));
                        patience = (patience * 2).min(LONGEST);
                    }
                }
            } else if is_new {
                self.goes(None);
            }
            if ends {
                return;
            }
        }
    }

    /// The address at which a city listens.
    fn place(&self) -> Option<LiveAddress> {
        self.places.iter().find(|place| place.is_city()).cloned()
    }

    /// Reports that the city is gone, once.
    fn goes(&mut self, why: Option<&Error>) {
        if !std::mem::replace(&mut self.is_away, true) {
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            terminal::note(format_args!(
                "the live city has gone{why}; the recording goes on. A window that listens gets all walks: memory-city \
                 open --listen"
            ));
        }
    }

    /// Sends the walks that are not there yet.
    fn send(&mut self) -> Result<()> {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if wanted != self.folder {
            self.folder = wanted;
            (self.sent, self.last) = (0, None);
        }
        let series = memory_city_formats::open(std::slice::from_ref(&self.folder), &self.progress)?;
        let walks = series.points().len();
        let last = walks.checked_sub(1).and_then(|last| series.number(last));
        if last.is_none() {
            // None is complete.
            return Ok(());
        }
        // Those behind the last one that was sent: a recording may let go of its first ones, but the city does not.
        let sent = (0..walks).rev().find(|&walk| self.last.is_some() && series.number(walk) == self.last);
        let mut first = sent.map_or(0, |walk| walk + 1);
        // A window that was started again knows nothing of those before.
        let goes_on = first > 0 && self.sent <= 2 * walks && times_there(&self.options, &self.progress)? == self.sent;
        // The first walk behind a collection has all of them count time from the start of the program: a city has one clock.
        let by_uptime = series.points().iter().any(|point| point.gc.is_some());
        if !goes_on || by_uptime != self.by_uptime {
            (self.sent, first) = (0, 0);
        }
        if walks <= first {
            return Ok(());
        }
        let all = self.sent + walks - first;
        self.options.append = self.sent > 0;
        self.options.keep_shown = self.options.append;
        // While there are few, places are found anew as often as their number has doubled: a program that begins has little in common
        // with the same program later. Then all stays where it is until a person asks for it.
        self.options.keep_places = self.options.append && all.ilog2() == self.sent.ilog2();
        let later = LaterWalks { points: series.points()[first..].to_vec(), first, series };
        let history = History::build(Arc::new(later), AUTO, GroupOptions::default(), &self.progress)?;
        // A window on this machine can group the walks in other ways.
        let grouping = history.grouping().id.clone();
        let recording = RecordingFolder::of(&self.folder).ok();
        self.options.recording = recording.map(|recording| TreesOfRecording { recording, grouping });
        push(&Source::Heaps(history), &self.options, &self.progress)?;
        (self.sent, self.last, self.by_uptime) = (all, last, by_uptime);
        Ok(())
    }
}

/// The walks of a recording from one on.
struct LaterWalks {
    series: Box<dyn HeapSeries>,
    points: Vec<SnapshotInfo>,
    first: usize,
}

impl HeapSeries for LaterWalks {
    fn points(&self) -> &[SnapshotInfo] {
        &self.points
    }

    fn load(&self, index: usize, progress: &Progress) -> Result<Arc<HeapState>> {
        self.series.load(self.first + index, progress)
    }

    fn profile(&self) -> &'static Profile {
        self.series.profile()
    }

    fn warnings(&self) -> Vec<Warning> {
        self.series.warnings()
    }

    fn has_sites(&self) -> bool {
        self.series.has_sites()
    }

    fn noun(&self) -> &'static str {
        self.series.noun()
    }
}

fn addresses(address: &str) -> Vec<SocketAddr> {
    let place = address.strip_prefix("ws://").unwrap_or(address).trim_end_matches('/');
    place.to_socket_addrs().into_iter().flatten().collect()
}

fn listens(address: &str) -> bool {
    addresses(address).iter().any(|a| TcpStream::connect_timeout(a, Duration::from_secs(1)).is_ok())
}

/// Opens a window that listens only to recordings of this user.
fn open_window(folder: &Path) -> Result<LiveAddress> {
    if !cfg!(feature = "viewer") {
        return Err(Error::Unusable {
            what: "This memory-city was built without its window".into(),
            remedy: "Start `memory-city serve`, or a window elsewhere, and name it with --live=HOST:PORT".into(),
        });
    }
    let io = |e| Error::io(folder, e);
    // A port that is free now; should another program take it in this moment, it has no pass.
    let address = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).map_err(io)?.to_string();
    let program = std::env::current_exe().map_err(io)?;
    let mut command = Command::new(program);
    command.arg("open").arg(format!("--listen={address}")).arg("--only-recordings");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It stays when the recording has ended, and Ctrl+C is not for it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut window = command.spawn().map_err(io)?;
    // Somebody has to take note of its end, or it stays among the processes until this one ends.
    std::thread::spawn(move || window.wait());
    Ok(LiveAddress { address, token: None })
}
