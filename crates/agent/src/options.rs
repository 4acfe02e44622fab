//! Options of the recorder: the text `key=value,key=value` behind `=` of `-agentpath`.
//!
//! The same text comes through `-agentpath`, `JAVA_TOOL_OPTIONS` and attach. Characters that shells, the JVM or this list
//! take for their own are written as `%` and two hexadecimal digits.

use crate::units::OptionUnit;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Default cost of sampling: percent of a core.
pub const DEFAULT_BUDGET: f64 = 2.0;
/// The least time between two walks unless something else is asked for, milliseconds.
pub const DEFAULT_WALKS: u64 = 10_000;
/// The same as it can be typed.
pub const DEFAULT_WALK_EVERY: &str = "10s";
/// The share of the time that the program may stand still for walks unless something else is asked for: percent.
pub const DEFAULT_WALK_SHARE: f64 = 2.0;
/// How long a walk over a million objects stops a program where nothing else runs, seconds: from, and to (`benches/README.md`).
pub const WALK_PAUSE: [f64; 2] = [0.05, 0.12];

/// When objects are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingMode {
    /// As often as the budget allows: millionths of one core for sampling.
    Budget(u32),
    /// One sample in so many bytes on average, at any cost.
    Every(u32),
    /// Every allocation: for tests and small programs.
    All,
}

/// The options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOptions {
    /// The folder of the trace.
    pub folder: PathBuf,
    /// When objects are sampled.
    pub sampling: SamplingMode,
    /// The least time between two walks, milliseconds; 0 for none.
    pub walks: u64,
    /// The program runs this many times as long as a walk stopped it before the next.
    pub duty: u32,
    /// Most bytes of the trace that this process writes. Beyond it the oldest parts are removed, with samples of dead objects added up, and
    /// the recording goes on.
    pub max_size: u64,
    /// The least time from an exact count to the next class histogram, milliseconds; 0 for none.
    pub histograms: u64,
    /// How many samples are followed at a time; above that they are thinned.
    pub followed: u32,
    /// Up to this many objects, all keep a number from walk to walk; 0 for samples alone.
    pub identity: u32,
    /// Most waiting samples; further ones are lost, and counted.
    pub queue: u32,
    /// The packages of the program itself, as typed; empty if not given. Only noted in the trace.
    pub packages: String,
    /// How many earlier traces of the same name stay: those before go when this one begins. None: all stay.
    pub keep: Option<u32>,
    /// The recording ends when the recorder's lock is free: the attaching process may go away.
    pub attached: bool,
    /// End the recording that runs.
    pub stop: bool,
}

impl Default for AgentOptions {
    fn default() -> Self {
        AgentOptions {
            folder: PathBuf::from("memory-city-trace"),
            sampling: SamplingMode::Budget((DEFAULT_BUDGET * 10_000.0) as u32),
            walks: DEFAULT_WALKS,
            duty: (100.0 / DEFAULT_WALK_SHARE) as u32,
            max_size: 1 << 30,
            histograms: 5_000,
            followed: 50_000,
            identity: 0,
            queue: 200_000,
            packages: String::new(),
            keep: None,
            attached: false,
            stop: false,
        }
    }
}

impl AgentOptions {
    /// Reads the text.
    ///
    /// # Errors
    /// A sentence that names the option, its value and the expected value.
    pub fn parse(text: &str) -> Result<AgentOptions, String> {
        use OptionUnit::{Bytes, Core, Millis, Number, Time};
        let mut options = AgentOptions::default();
        // What said how objects are sampled, and what came before.
        let (mut sampled, mut before) = (None, "");
        for part in text.split(',').filter(|p| !p.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let number = |unit: OptionUnit, least: u64, most: u64| match unit.read(value) {
                Some(n) if (least..=most).contains(&n) => Ok(n),
                _ => Err(format!("{key}={value:?} is no number from {least} to {most}{}", unit.example())),
            };
            if matches!(key, "budget" | "interval" | "every-allocation")
                && let Some(other) = sampled.replace(key).filter(|other| *other != key)
            {
                return Err(format!("{other} and {key} exclude each other: give one of them"));
            }
            match key {
                "folder" if value.is_empty() => return Err("folder= names no folder".into()),
                "folder" => options.folder = decode(value)?,
                "budget" => options.sampling = SamplingMode::Budget(number(Core, 100, 1_000_000)? as u32),
                "interval" => options.sampling = SamplingMode::Every(number(Bytes, 1, 1 << 30)? as u32),
                "every-allocation" => options.sampling = SamplingMode::All,
                "walks" => options.walks = number(Millis, 0, 1 << 40)?,
                "walk-share" => options.duty = number(Time, 1, 1 << 20)? as u32,
                "max-size" => options.max_size = number(Bytes, 1 << 16, 1 << 50)?,
                "histograms" => options.histograms = number(Millis, 0, 1 << 40)?,
                "followed" => options.followed = number(Number, 0, 10_000_000)? as u32,
                "identity" => options.identity = number(Number, 0, 100_000_000)? as u32,
                "queue" => options.queue = number(Number, 1, 1 << 24)? as u32,
                // A comma would begin the next option.
                "packages" => options.packages = decode(value)?.to_string_lossy().replace(':', ","),
                "keep" => options.keep = Some(number(Number, 1, 900)? as u32),
                "attached" => options.attached = true,
                "stop" => options.stop = true,
                _ if before == "packages" => {
                    return Err(format!(
                        "{part:?} is no option; packages are separated by colons: packages=com.acme:org.x"
                    ));
                }
                _ => {
                    return Err(format!(
                        "{key:?} is no option; there are folder, budget, interval, every-allocation, walks, walk-share, \
                         max-size, histograms, followed, identity, queue, packages and keep"
                    ));
                }
            }
            before = key;
        }
        Ok(options)
    }

    /// The text that [`AgentOptions::parse`] reads.
    pub fn text(&self) -> String {
        let mut text = format!("folder={}", encode(&self.folder));
        let written = match self.sampling {
            SamplingMode::Budget(ppm) => write!(text, ",budget={ppm}"),
            SamplingMode::Every(bytes) => write!(text, ",interval={bytes}"),
            SamplingMode::All => write!(text, ",every-allocation"),
        };
        let AgentOptions { walks, duty, max_size, histograms, followed, queue, .. } = self;
        let numbers = format!(
            ",walks={walks},walk-share={duty},max-size={max_size},histograms={histograms},followed={followed},queue={queue}"
        );
        let written = written.and_then(|()| text.write_str(&numbers));
        debug_assert!(written.is_ok());
        if self.identity > 0 {
            let _ = write!(text, ",identity={}", self.identity);
        }
        if !self.packages.is_empty() {
            let _ = write!(text, ",packages={}", encode(Path::new(&self.packages)));
        }
        if let Some(keep) = self.keep {
            let _ = write!(text, ",keep={keep}");
        }
        if self.attached {
            text.push_str(",attached");
        }
        if self.stop {
            text.push_str(",stop");
        }
        text
    }
}

fn encode(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

fn decode(text: &str) -> Result<PathBuf, String> {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2).and_then(|d| std::str::from_utf8(d).ok());
        let Some(byte) = digits.and_then(|d| u8::from_str_radix(d, 16).ok()).filter(|b| *b != 0) else {
            return Err(format!("in {text:?} two hexadecimal digits, not both 0, must follow each %"));
        };
        bytes.push(byte);
        rest = &rest[2..];
    }
    Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("folder=", "folder"),
            ("budget=x", "budget"),
            ("fodler=a", "fodler"),
            ("folder=a%0", "%"),
            ("walks=-1", "walks"),
            ("keep=0", "keep"),
            ("budget=2", "a share such as 2%"),
            ("packages=com.acme,org.x", "packages=com.acme:org.x"),
            ("budget=2%,interval=512KB", "budget and interval exclude each other"),
            ("every-allocation,walks=off,budget=2%", "every-allocation and budget exclude each other"),
        ] {
            assert!(AgentOptions::parse(text).expect_err(text).contains(named), "{text}");
        }
        let why = AgentOptions::parse("x").expect_err("no option");
        assert!(!why.contains("attached") && !why.contains("stop"), "not for people: {why}");
        let packages = AgentOptions::parse("packages=com.acme:org.x").map(|options| options.packages);
        assert_eq!(packages.as_deref(), Ok("com.acme,org.x"));
        assert_eq!(AgentOptions::parse("").expect("defaults"), AgentOptions::default());
    }

    proptest! {
        #[test]
        fn options_come_back(path in "/[^\0]{1,40}", packages in "[a-z.,+ ()]{0,30}", ppm in 100u32..1_000_000, exact in any::<bool>(), stop in any::<bool>(), identity in 0u32..100_000_001, histograms in 0u64..1 << 40, keep in prop::option::of(1u32..900)) {
            let sampling = if exact { SamplingMode::All } else { SamplingMode::Budget(ppm) };
            let options = AgentOptions { folder: path.into(), sampling, stop, attached: !stop, identity, histograms, packages, keep, ..AgentOptions::default() };
            let text = options.text();
            prop_assert!(text.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\''));
            prop_assert_eq!(AgentOptions::parse(&text).expect("its own text"), options);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = AgentOptions::parse(&text);
        }
    }
}
