//! Commands that record programs: `record`, `attach`, `watch`, `jvms`, `finish`. This file holds their common part: the plan of a
//! recording and its options for the recorder.

pub mod attach;
pub mod finish;
pub mod jvms;
mod launched;
mod library;
mod live;
mod messages;
pub mod record;
mod session;
mod vm_options;
pub mod watch;

use self::session::RecordingSession;
use super::size;
use clap::Args;
use memory_city_agent::folder::LOCK;
use memory_city_agent::{AgentOptions, DEFAULT_BUDGET, DEFAULT_WALK_EVERY, DEFAULT_WALK_SHARE, SamplingMode};
use memory_city_analysis::group::domain::DomainPackages;
use memory_city_analysis::table::parse_bytes;
use memory_city_heap::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Objects that are followed where every allocation is recorded; a weak reference each.
const MOST_FOLLOWED: u32 = 1 << 20;

/// Default size limit of a trace, or of a file of class histograms.
const DEFAULT_MAX_SIZE: &str = "1GB";

/// Most objects with an identity of their own; in larger heaps only samples have one.
const MOST_NUMBERED: u32 = 2_000_000;

/// Objects that keep their identity from walk to walk.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum IdentityOf {
    Samples,
    All,
}

/// How to record.
#[derive(Args, Clone)]
pub struct RecordingArgs {
    /// The folder of the trace (default: the program's name and the time)
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Most time the recorder spends on samples in the program's threads: percent of one core. The VM's own cost comes on top
    #[arg(long, value_name = "PERCENT", default_value_t = DEFAULT_BUDGET, value_parser = percent)]
    budget: f64,
    /// Take one sample in so many bytes instead, whatever that costs: 512KB, ...; a number alone counts bytes
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["budget", "every_allocation"], value_parser = interval)]
    interval: Option<u32>,
    /// Every allocation: for small programs and tests, up to 180 times slower
    #[arg(long, conflicts_with = "budget")]
    every_allocation: bool,
    /// The least time between two walks over the whole heap; more where a walk takes long
    #[arg(long, value_name = "TIME", default_value = DEFAULT_WALK_EVERY, value_parser = duration)]
    walk_every: Duration,
    /// The share of the time that the program may stand still for walks and class histograms, percent
    #[arg(long, value_name = "PERCENT", default_value_t = DEFAULT_WALK_SHARE, value_parser = share)]
    walk_share: f64,
    /// Objects that keep their identity from walk to walk: `samples`, or `all` objects, up to two million
    #[arg(long, value_name = "WHAT", default_value = "samples", conflicts_with = "no_walks")]
    identity: IdentityOf,
    /// No walks, and no class histograms unless --histogram-every says when: allocation sites only
    #[arg(long, conflicts_with = "walk_every")]
    no_walks: bool,
    /// The least time from one exact count to the next class histogram, be it a walk or a histogram (default: 5s); `off` for none
    #[arg(long, value_name = "TIME", value_parser = histogram_every)]
    histogram_every: Option<Duration>,
    /// Show the city while it grows: in a window that listens, or one that is opened; or send it to HOST:PORT
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    live: Option<String>,
    /// How large the trace may become, 500MB, 2GB, ...: half of it is for samples and counts, half for walks. Then the oldest samples
    /// are added up, and the oldest walks go. A number alone counts MB
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MAX_SIZE, value_parser = size)]
    max_size: u64,
    /// The packages of your own code, as com.acme,org.x: noted in the trace, so that whoever opens it sees its lines first
    #[arg(long, value_name = "PACKAGES", value_parser = packages)]
    packages: Option<String>,
}

/// Bytes from one sample to the next as people write them.
fn interval(text: &str) -> std::result::Result<u32, String> {
    match parse_bytes(text).and_then(|bytes| u32::try_from(bytes).ok()) {
        Some(bytes @ 1..=MOST_INTERVAL) => Ok(bytes),
        _ => Err("that is no distance from 1 byte to 1 GB: write 512KB".to_owned()),
    }
}

/// Bytes: as far apart as samples may be.
const MOST_INTERVAL: u32 = 1 << 30;

/// Packages as people write them.
fn packages(text: &str) -> std::result::Result<String, String> {
    DomainPackages::parse(text).map(|_| text.to_owned())
}

/// Parameters of the recording process.
#[derive(Clone, Copy)]
struct RecordingPlan {
    /// How large the trace may become, bytes.
    max_size: u64,
    /// Whether there are walks.
    takes_walks: bool,
    /// The least time between two of them and their share of it in percent, where it is this process that says so.
    walks: Option<(Duration, f64)>,
}

impl RecordingPlan {
    /// Number of streams: the samples with the program's other records, and the walks, if there are any.
    fn streams(&self) -> u64 {
        if self.takes_walks { 2 } else { 1 }
    }

    /// Most bytes of each stream.
    fn most_bytes(&self) -> u64 {
        self.max_size / self.streams()
    }

    /// The least size limit of a trace, bytes, that gives each stream so many bytes.
    fn size_for(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.streams())
    }
}

impl RecordingArgs {
    /// Options for the recorder inside the program.
    fn options(&self, folder: &Path) -> AgentOptions {
        AgentOptions {
            folder: folder.to_owned(),
            sampling: match (self.every_allocation, self.interval) {
                (true, _) => SamplingMode::All,
                (_, Some(bytes)) => SamplingMode::Every(bytes),
                _ => SamplingMode::Budget((self.budget * 10_000.0) as u32),
            },
            walks: if self.no_walks { 0 } else { self.walk_every.as_millis() as u64 },
            duty: (100.0 / self.walk_share).round().clamp(1.0, 1e6) as u32,
            max_size: self.plan().most_bytes(),
            histograms: match self.histogram_every {
                Some(every) => every.as_millis() as u64,
                None if self.no_walks => 0,
                None => AgentOptions::default().histograms,
            },
            // Of a small program all objects are known.
            followed: if self.every_allocation { MOST_FOLLOWED } else { AgentOptions::default().followed },
            identity: if self.identity == IdentityOf::All { MOST_NUMBERED } else { 0 },
            packages: self.packages.clone().unwrap_or_default(),
            ..AgentOptions::default()
        }
    }

    /// Begins the recording process's side, and the live city where one is wanted; unless something is wrong with its lock.
    fn session(
        &self,
        folder: &Path,
        name: &str,
        look_at: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<RecordingSession> {
        let session = RecordingSession::begin(folder, self.plan())?;
        if let Err(error) = look_at(&folder.join(LOCK)) {
            session.give_up();
            return Err(error);
        }
        self.with_city(session, folder, name)
    }

    /// The recording process's side of a recording that `program` has begun by itself. `None` if another process has it, or it has no
    /// walks to take.
    fn joined(&self, folder: &Path, name: &str, program: u32) -> Option<Result<RecordingSession>> {
        let plan = RecordingPlan { walks: None, ..self.plan() };
        let session = Some(plan)
            .filter(|plan| plan.takes_walks)
            .and_then(|plan| RecordingSession::join(folder, plan, program))?;
        Some(self.with_city(session, folder, name))
    }

    /// With the live city where one is wanted.
    fn with_city(&self, mut session: RecordingSession, folder: &Path, name: &str) -> Result<RecordingSession> {
        if let Some(address) = &self.live {
            match live::LiveCity::begin(folder, name, address) {
                Ok(city) => session.show_in(city),
                Err(error) => {
                    // Nothing is recorded: what the session made goes.
                    session.give_up();
                    return Err(error);
                }
            }
        }
        Ok(session)
    }

    /// The parameters of the recording process.
    fn plan(&self) -> RecordingPlan {
        let walks = (!self.no_walks).then_some((self.walk_every, self.walk_share));
        RecordingPlan { max_size: self.max_size, takes_walks: !self.no_walks, walks }
    }

    /// The folder of the trace, complete from the root.
    fn folder(&self, program: &str) -> Result<PathBuf> {
        let folder = match &self.output {
            Some(folder) => folder.clone(),
            // Two may begin in one second.
            None => {
                let name = PathBuf::from(format!("{program}-{}", now()));
                let mut numbered = (1..100).map(|number| memory_city_agent::folder::numbered(&name, number));
                numbered.find(|folder| !folder.exists()).unwrap_or(name)
            }
        };
        std::path::absolute(&folder).map_err(|e| Error::io(&folder, e))
    }
}

/// The time for names of files: `2026-11-22-014500`, UTC.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d-%H%M%S").to_string()
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| "no number".to_owned())?;
    if (0.01..=100.0).contains(&number) { Ok(number) } else { Err("between 0.01 and 100 percent of a core".into()) }
}

fn share(text: &str) -> std::result::Result<f64, String> {
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| "no number".to_owned())?;
    if (0.001..=50.0).contains(&number) { Ok(number) } else { Err("between 0.001 and 50 percent of the time".into()) }
}

/// `500ms`, `10s`, `5m`, `1h`; without a unit seconds.
fn duration(text: &str) -> std::result::Result<Duration, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| "a time such as 500ms, 10s, 5m or 1h".to_owned())?;
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time such as 500ms, 10s, 5m or 1h".into()),
    };
    let seconds = number * seconds;
    if (0.001..=1e7).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("between a millisecond and a hundred days".into())
    }
}

/// Parses a [`duration`], or `off` as a duration of zero.
fn histogram_every(text: &str) -> std::result::Result<Duration, String> {
    if text.trim() == "off" { Ok(Duration::ZERO) } else { duration(text).map_err(|why| format!("{why}; or off")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::tabular::count_text;

    #[test]
    fn sizes_are_read_and_said() {
        assert_eq!((size("2"), size("1.5GB"), size("64MiB")), (Ok(2_000_000), Ok(1_500_000_000), Ok(64 << 20)));
        assert!(size("0").is_err() && size("999kB").is_err() && size("99999TB").is_err() && size("much").is_err());
        assert_eq!(size(&crate::cli::size_text(2_000_001)), Ok(3_000_000), "what is said can be given");
        assert_eq!((interval("4096"), interval("16KB"), interval("512KiB")), (Ok(4096), Ok(16_000), Ok(512 << 10)));
        assert!(interval("0").is_err() && interval("2GB").is_err());
    }

    #[test]
    fn defaults_are_what_the_recorder_does_and_what_the_page_says() {
        let default = AgentOptions::default();
        assert_eq!(duration(DEFAULT_WALK_EVERY), Ok(Duration::from_millis(default.walks)));
        let page = include_str!("../../docs/recorder.md").split_whitespace().collect::<Vec<_>>().join(" ");
        let both = "`record`, `attach`";
        for said in [
            format!("| `--budget PERCENT` | {both} | {DEFAULT_BUDGET} |"),
            format!("| `--walk-every TIME` | {both} | {DEFAULT_WALK_EVERY} |"),
            format!("| `--walk-share PERCENT` | {both} | {DEFAULT_WALK_SHARE} |"),
            format!(
                "| `--histogram-every TIME` | {both} | {} |",
                messages::time_text(Duration::from_millis(default.histograms))
            ),
            format!("| `--max-size SIZE` | {both} | {DEFAULT_MAX_SIZE} |"),
            format!("| `--max-size SIZE` | `watch` | {DEFAULT_MAX_SIZE} |"),
            format!("More than {} live samples", count_text(u64::from(default.followed))),
            format!("up to {} frames with lines", memory_city_agent::FRAMES),
            format!(
                "no earlier than {} times as long as the last one took",
                u64::from(default.duty) * memory_city_agent::PART_OF_SHARE
            ),
            format!(
                "{} to {} s for a million objects",
                memory_city_agent::WALK_PAUSE[0],
                memory_city_agent::WALK_PAUSE[1]
            ),
        ] {
            assert!(page.contains(&said), "{said}");
        }
    }

    /// In `JAVA_TOOL_OPTIONS` and on the command line the same text is the same.
    #[test]
    fn the_recorder_is_told_in_the_units_of_the_command_line() {
        let told = |text: &str| AgentOptions::parse(text).unwrap_or_else(|why| panic!("{why}"));
        for text in ["500MB", "2GB", "1.5gb", "64MiB", "70000000B"] {
            assert_eq!(Ok(told(&format!("max-size={text}")).max_size), size(text), "{text}");
        }
        for text in ["512KB", "64KiB", "100k", "4096"] {
            let expected = interval(text).map(SamplingMode::Every);
            assert_eq!(Ok(told(&format!("interval={text}")).sampling), expected, "{text}");
        }
        for text in ["30s", "500ms", "1.5m", "2min", "1h"] {
            let options = told(&format!("walks={text},histograms={text}"));
            let both = [options.walks, options.histograms].map(|millis| Ok(Duration::from_millis(millis)));
            assert_eq!(both, [duration(text), duration(text)], "{text}");
        }
        assert_eq!((told("walks=off").walks, told("histograms=off").histograms), (0, 0));
        for text in ["2%", "0.5%", "10%"] {
            let budget = percent(text).map(|percent| SamplingMode::Budget((percent * 10_000.0) as u32));
            let options = told(&format!("budget={text},walk-share={text}"));
            assert_eq!(Ok(options.sampling), budget, "{text}");
            assert_eq!(Ok(options.duty), share(text).map(|share| (100.0 / share).round() as u32), "{text}");
        }
    }

    #[test]
    fn times_and_shares_are_read() {
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!((duration("10"), duration("250ms")), (Ok(Duration::from_secs(10)), Ok(Duration::from_millis(250))));
        assert!(duration("soon").is_err() && duration("0s").is_err() && duration("1e9h").is_err());
        assert_eq!((histogram_every("off"), histogram_every("2s")), (Ok(Duration::ZERO), Ok(Duration::from_secs(2))));
        assert!(histogram_every("0s").is_err_and(|why| why.contains("off")));
        assert_eq!(percent("2%"), Ok(2.0));
        assert!(percent("0").is_err() && percent("nan").is_err());
    }
}
