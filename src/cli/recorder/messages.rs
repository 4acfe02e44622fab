//! Messages of a recording at its beginning, while it goes on, and at its end: its content, its gaps, and the remedies.

use super::RecordingPlan;
use crate::cli::size_text;
use memory_city::jvm::walks::WalkTaker;
use memory_city_agent::folder::AgentStatus;
use memory_city_analysis::tabular::{bytes_text, count_text, several};
use memory_city_formats::GcNoun;
use memory_city_heap::error::Error;
use std::path::Path;
use std::time::Duration;

/// Explains the warning that Java 21 and newer write about agents, and the remedy.
pub const OF_AGENT_WARNING: &str = "The program has a warning on its standard error now, as Java 21 and newer write it for every agent that is \
    loaded while they run; -XX:+EnableDynamicAgentLoading quiets it";

/// The command has ended, and something in the background has not.
pub const LEFT: &str = "The command has ended, and what it has started in the background goes on: so does the recording, until that ends; Ctrl+C \
    ends both";

/// The place of the trace, and the event that ends the recording.
pub fn begun(what: &str, folder: &Path, end: &str) -> String {
    format!("Recording {what} into {}: {end}", shown(folder))
}

/// The same for a recording that a program has begun by itself.
pub fn joined(pid: u32, folder: &Path, end: &str) -> String {
    format!(
        "Process {pid} is being recorded already, into {}: its walks are taken, {end}. How it is recorded stays as it is",
        shown(folder)
    )
}

/// Why the first walk is not at once: when it may be and how long it might take, microseconds.
pub fn of_first_walk([not_before, takes]: [u64; 2]) -> String {
    let (seconds, takes) = (not_before / 1_000_000, takes.div_ceil(1_000_000));
    format!(
        "The first walk comes {}:{:02} after the beginning: it may stop the program for {takes} s, and for that --walk-share wants it to run \
         first. A larger share has it sooner",
        seconds / 60,
        seconds % 60
    )
}

/// The missing walks, each with its reason, and whether there are too few to judge growth. Empty if no walks were asked for, or there was
/// no program to walk.
pub fn of_walks(plan: &RecordingPlan, taker: &WalkTaker) -> Vec<String> {
    let mut all = Vec::new();
    if let Some((walks, why)) = &taker.failed {
        all.push(format!("{} could not be taken; the last: {why}", several(*walks, "walk", "walks")));
    }
    if taker.too_large > 0 {
        all.push(format!(
            "{} left out: larger than --max-size {} leaves for walks; there is room for the last with --max-size {}",
            several(taker.too_large, "walk was", "walks were"),
            size_text(plan.max_size),
            size_text(plan.size_for(taker.last_walk_needs()))
        ));
    }
    // Where further ones were too large it is said already what to do.
    let is_only = taker.kept() == 1 && (taker.walks > 1 || taker.too_large == 0);
    let Some((every, share)) = plan.walks.filter(|_| is_only) else { return all };
    let only = "what grows shows between two walks, and this recording has one";
    all.push(match taker.walks {
        0 | 1 => format!(
            "{only}. Record for longer, or with a smaller --walk-every (it was {}) and a larger --walk-share (it was {share})",
            time_text(every)
        ),
        more => format!(
            "{only}: the others of {} went to keep to --max-size {}. There is room for two with --max-size {}",
            count_text(more),
            size_text(plan.max_size),
            size_text(plan.size_for(taker.last_walk_needs().saturating_mul(2)))
        ),
    });
    all
}

/// The error of a recording without data; `why` is the recorder's message, if it was loaded.
pub fn nothing(why: Option<String>) -> Error {
    let (why, remedy) = match why.filter(|why| !why.is_empty()) {
        Some(why) if is_disk_full(&why) => (why, "Make room on that disk, or name another folder with --output"),
        Some(why) => (why, "The program itself goes on, or has ended, as it would without"),
        None => (
            "no Java program has loaded the recorder".into(),
            "Its standard error may say why; record a command that starts `java`",
        ),
    };
    Error::Unusable { what: format!("Nothing was recorded: {why}"), remedy: remedy.into() }
}

/// Whether the reason is a full disk, in any of the system's sentences.
fn is_disk_full(why: &str) -> bool {
    [libc::ENOSPC, libc::EDQUOT].iter().any(|code| why.contains(&format!("(os error {code})")))
}

/// The error when the recorder does not start in a running program, with the remedy.
pub fn not_begun(pid: u32, why: &str) -> Error {
    let remedy = match why {
        why if is_disk_full(why) => "Make room on that disk, or name another folder with --output",
        why if why.contains("recorded already") => "End that recording first, or open its trace while it grows",
        _ => "The program goes on as before",
    };
    Error::Unusable { what: format!("The recorder does not start in process {pid}: {why}"), remedy: remedy.into() }
}

/// The cost of recording so far, percent of a core.
fn cost(status: &AgentStatus) -> f64 {
    (status.sampling + status.own) as f64 / status.elapsed.max(1) as f64 * 100.0
}

fn seconds(micros: u64) -> String {
    format!("{:.2} s", micros as f64 / 1e6)
}

/// The longest beginning of a line that fits, of whole parts: a cut word reads like another one. Unchanged when no part fits.
pub fn within(line: &str, width: usize) -> &str {
    if line.chars().count() <= width {
        return line;
    }
    let mut ends = line.match_indices([',', ';']).map(|(at, _)| at).filter(|at| line[at + 1..].starts_with(' '));
    ends.rfind(|at| line[..*at].chars().count() <= width).map_or(line, |at| &line[..at])
}

/// Progress in one line, the most important first: narrow terminals cut the end. In recordings of hours the important part is within 80
/// columns; wider terminals show the rest.
pub fn line(status: &AgentStatus, taker: &WalkTaker) -> String {
    format!(
        "{} {} samples, {} live, {}{}, {} paused, {:.1} % CPU, {}; {}, last walk {} objects",
        clock(status.elapsed),
        rounded(status.samples),
        count_text(status.live),
        several(status.walks, "walk", "walks"),
        match status.no_room {
            0 => String::new(),
            left_out => format!(" (disk full: {} left out)", count_text(left_out)),
        },
        match status.pauses {
            micros if micros < 100_000_000 => seconds(micros),
            micros => format!("{} s", micros / 1_000_000),
        },
        cost(status),
        bytes_text(status.size + taker.bytes()),
        several(status.histograms, "histogram", "histograms"),
        count_text(taker.objects),
    )
}

/// A number that grows for ever in few letters: `99,999`, `1.23 M`.
fn rounded(count: u64) -> String {
    match count {
        0..100_000 => count_text(count),
        100_000..10_000_000 => format!("{:.2} M", count as f64 / 1e6),
        10_000_000..1_000_000_000 => format!("{:.0} M", count as f64 / 1e6),
        _ => format!("{:.1} G", count as f64 / 1e9),
    }
}

fn clock(micros: u64) -> String {
    let seconds = micros / 1_000_000;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// The recording in one sentence.
pub fn summary(status: &AgentStatus, taker: &WalkTaker, reason: &str) -> String {
    let walks = match (taker.walks, status.walks) {
        (taken, walked) if taken >= walked => several(taken, "walk", "walks"),
        (taken, walked) => format!("{taken} of {walked} walks"),
    };
    // Within the bound older ones go.
    let walks = match taker.kept() {
        kept if kept < taker.walks => format!("{walks}, {kept} of them in the trace"),
        _ => walks,
    };
    // The walks, for which the program stands still too, are told of beside them.
    let collections = match GcNoun::of(status.collections, status.gc_pauses) {
        GcNoun::Collections => several(status.collections, "collection", "collections"),
        GcNoun::Pauses => several(status.collections, "GC pause", "GC pauses"),
    };
    format!(
        "Recorded for {}: {} ({} alive at the end), {collections}, {}, {walks}; the program stood still for {} and paid {:.1} % of \
         a core; {}; {reason}.",
        clock(status.elapsed),
        several(status.samples, "sample", "samples"),
        count_text(status.live),
        several(status.histograms, "class histogram", "class histograms"),
        seconds(status.pauses),
        cost(status),
        bytes_text(status.size + taker.bytes()),
    )
}

/// A path as it can be typed, short where it is below the working folder.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let text = path.strip_prefix(here).unwrap_or(path).display().to_string();
    let plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+:@".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A time as it can be typed: `500ms`, `10s`, `5m`, `1h`.
pub fn time_text(time: Duration) -> String {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let units = [(3_600_000, "h"), (60_000, "m"), (1000, "s")];
    let unit = units.into_iter().find(|(unit, _)| millis >= *unit && millis.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{millis}ms"), |(unit, name)| format!("{}{name}", millis / unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_wire::HeldFolder;
    use std::sync::Arc;

    fn plan() -> RecordingPlan {
        RecordingPlan { max_size: 100_000_000, takes_walks: true, walks: Some((Duration::from_secs(90), 2.5)) }
    }

    #[test]
    fn what_is_said_of_a_recording() {
        let status = AgentStatus {
            samples: 12_345,
            live: 812,
            walks: 3,
            histograms: 7,
            collections: 40,
            pauses: 410_000,
            sampling: 900_000,
            own: 100_000,
            elapsed: 63_000_000,
            size: 3_000_000,
            ..AgentStatus::default()
        };
        let taker = WalkTaker::new(any_folder(), 1 << 30);
        insta::assert_snapshot!(format!(
            "{}\n{}",
            line(&status, &taker),
            summary(&status, &taker, "the program ended")
        ));
        // Of collectors that work beside the program the VM tells pauses alone.
        for (gc_pauses, said) in [(40, ", 40 GC pauses, "), (39, ", 40 collections, ")] {
            let text = summary(&AgentStatus { gc_pauses, ..status.clone() }, &taker, "the program ended");
            assert!(text.contains(said), "{text}");
        }
        // Hours of a busy program, on the narrowest terminal that people have.
        let long = AgentStatus {
            samples: 7_654_321,
            live: 48_000,
            walks: 1440,
            pauses: 361_234_567,
            elapsed: 599 * 60_000_000,
            size: 998_000_000,
            ..status
        };
        let long = line(&long, &taker);
        let told = long.split(';').next().expect("a part");
        assert!(told.len() <= 80 && told.ends_with("998 MB"), "{told}: {}", told.len());
        assert_eq!(within(&long, 80), told);
        for (width, part) in [
            (11, "1:03 2 live"),
            (12, "1:03 2 live"),
            (30, "1:03 2 live, 1,234 MB"),
            (35, "1:03 2 live, 1,234 MB; 7 histograms"),
        ] {
            assert_eq!(within("1:03 2 live, 1,234 MB; 7 histograms", width), part);
        }
        let texts = [99_999, 100_000, 1_234_567, 12_345_678, 2_345_678_901].map(rounded);
        assert_eq!(texts, ["99,999", "0.10 M", "1.23 M", "12 M", "2.3 G"]);
    }

    /// A folder that nothing is written to.
    fn any_folder() -> Arc<HeldFolder> {
        Arc::new(HeldFolder::open(Path::new("/")).expect("the root"))
    }

    #[test]
    fn what_is_missing_is_said_with_what_to_do() {
        let taker = |walks, kept, too_large, needs| {
            let mut taker = WalkTaker::new(any_folder(), 1 << 20);
            (taker.walks, taker.too_large, taker.before) = (walks, too_large, [kept, needs]);
            taker
        };
        let said = [(2, 2, 0, 0), (1, 1, 0, 0), (5, 1, 0, 30_000_000), (1, 1, 3, 60_000_000), (0, 0, 1, 60_000_000)]
            .map(|(walks, kept, too_large, needs)| of_walks(&plan(), &taker(walks, kept, too_large, needs)).join("\n"));
        insta::assert_snapshot!(said.join("\n---\n"));
        let none = RecordingPlan { takes_walks: false, walks: None, ..plan() };
        assert_eq!(of_walks(&none, &taker(1, 1, 0, 0)), [""; 0], "nobody asked for walks");
    }

    #[test]
    fn why_the_first_walk_is_not_at_once_is_said() {
        let said = of_first_walk([272_600_000, 6_810_000]);
        assert!(
            said.starts_with("The first walk comes 4:32 after the beginning: it may stop the program for 7 s"),
            "{said}"
        );
    }

    #[test]
    fn paths_and_times_can_be_typed() {
        assert_eq!(shown(Path::new("/a b")), "'/a b'");
        let texts = [500, 10_000, 90_000, 300_000, 3_600_000, 0].map(|millis| time_text(Duration::from_millis(millis)));
        assert_eq!(texts, ["500ms", "10s", "90s", "5m", "1h", "0ms"]);
    }
}
