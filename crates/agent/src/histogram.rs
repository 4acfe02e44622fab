//! Class histograms: objects of each class, counted between walks or without them.
//!
//! The VM counts, as for `jcmd GC.class_histogram -all`. Its stop is a fraction of a walk's, on all cores if the collector can. The
//! recorder's own thread asks by JNI, never a callback. Like walks, it asks right after a collection, when there is little garbage to
//! count. The answer is a text on the program's heap, a hundred bytes a class, so there is none if the heap is nearly full. Histograms take
//! at most a quarter of the time that the program may stand still, at the expense of walks.

use crate::vm::Jni;
use crate::walk::FIRST;

/// Factor between the rest after a histogram and the rest after a walk of the same length.
pub const PART_OF_SHARE: u64 = 4;
/// Failures of the VM after which counting ends.
const MOST_FAILURES: u32 = 3;
/// Typical bytes of a row in a trace.
const ROW_BYTES: u64 = 4;
/// Histograms take one part in this many of a trace's bound; then they come half as often.
const PART_OF_BOUND: u64 = 16;
/// Typical bytes of a line of the VM's answer; and the least size assumed for an answer.
const LINE_BYTES: u64 = 100;
const LEAST_TEXT: u64 = 256 << 10;

/// When the next histogram may be.
pub(crate) struct HistogramSchedule {
    /// The least time from one exact count to the next, be it a walk or a histogram, nanoseconds; 0 for none at all.
    every: u64,
    /// The program runs this many times as long as the histogram stopped it before the next.
    duty: u64,
    next: u64,
    /// The share allows no earlier one.
    earliest: u64,
    failures: u32,
    /// Bytes until they come half as often, and the bytes written towards that.
    room: u64,
    written: u64,
    /// The length of the last answer.
    text: u64,
    pub(crate) taken: u64,
    /// Histograms that were left out because the heap was too full.
    pub(crate) left_out: u64,
    /// Nanoseconds that the program stood still for histograms.
    pub(crate) pauses: u64,
}

impl HistogramSchedule {
    /// `every` is in milliseconds; `walk_duty` is that of walks; the trace may take `most_bytes`.
    pub(crate) fn new(every: u64, walk_duty: u32, most_bytes: u64) -> HistogramSchedule {
        let every = every.saturating_mul(1_000_000);
        HistogramSchedule {
            every,
            duty: u64::from(walk_duty) * PART_OF_SHARE,
            next: FIRST.min(every),
            earliest: 0,
            failures: 0,
            room: most_bytes / PART_OF_BOUND,
            written: 0,
            text: 0,
            taken: 0,
            left_out: 0,
            pauses: 0,
        }
    }

    /// True if one is due: right after a collection, or when there was none for as long again.
    pub(crate) fn is_due(&self, now: u64, after_collection: bool) -> bool {
        self.every > 0 && (now >= self.next && after_collection || now >= self.next.saturating_add(self.every))
    }

    /// Whether there may be one at the end.
    pub(crate) fn may_be_last(&self, now: u64) -> bool {
        self.every > 0 && now >= self.earliest
    }

    /// A walk has counted everything, and nothing should stop the program before a time.
    pub(crate) fn walked(&mut self, end: u64, rest_until: u64) {
        self.next = self.next.max(end.saturating_add(self.every));
        self.earliest = self.earliest.max(rest_until);
    }

    /// Notes a histogram of so many classes. Returns the new time between two, milliseconds, if it becomes longer.
    fn done(&mut self, start: u64, end: u64, classes: u64) -> Option<u64> {
        let pause = end.saturating_sub(start);
        self.failures = 0;
        self.taken += 1;
        self.pauses += pause;
        self.written += classes * ROW_BYTES;
        let rarer = self.written > self.room;
        if rarer {
            self.written = 0;
            self.every = self.every.saturating_mul(2);
        }
        self.earliest = end.saturating_add(self.duty.saturating_mul(pause));
        self.next = end.saturating_add(self.every).max(self.earliest);
        rarer.then_some(self.every / 1_000_000)
    }

    /// Why there will be no more, when there will be none.
    fn failed(&mut self, now: u64, why: &str) -> Option<String> {
        self.failures += 1;
        self.next = now.saturating_add(self.every);
        (self.failures >= MOST_FAILURES || why.starts_with("this Java")).then(|| {
            self.every = 0;
            format!("no more class histograms: {why}")
        })
    }

    /// Bytes of the program's heap that should be free: four times the answer, which may be made of pieces.
    fn needed(&self, classes: Option<u64>) -> u64 {
        let text = self.text.max(classes.unwrap_or(0) * LINE_BYTES).max(LEAST_TEXT);
        4 * text + (1 << 20)
    }
}

/// The count of one class by the VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistogramClass {
    /// In the form of JVMTI: `Ljava/lang/String;`, `[I`.
    pub(crate) signature: String,
    pub(crate) objects: u64,
    pub(crate) bytes: u64,
}

/// The outcome of a histogram.
pub(crate) enum HistogramOutcome {
    Done {
        start: u64,
        end: u64,
        classes: Vec<HistogramClass>,
        /// The new interval in milliseconds, if it became longer.
        rarer: Option<u64>,
    },
    /// The VM could not.
    NotNow,
    /// The program's heap has fewer bytes free than the answer might take: both.
    NoRoom(u64, u64),
    /// No histogram will follow, with the reason.
    Never(String),
}

/// Has the VM count, if the program's heap has room for the answer. `loaded` classes there are, where that is known.
pub(crate) fn count(
    schedule: &mut HistogramSchedule,
    jni: Jni,
    now: impl Fn() -> u64,
    loaded: Option<u64>,
) -> HistogramOutcome {
    let needed = schedule.needed(loaded);
    match jni.free_heap() {
        Some(free) if free < needed => {
            schedule.left_out += 1;
            schedule.next = now().saturating_add(schedule.every);
            return HistogramOutcome::NoRoom(free, needed);
        }
        _ => {}
    }
    let start = now();
    let counted = jni.diagnose(c"GC.class_histogram -all");
    let end = now();
    let counted = counted.and_then(|text| {
        schedule.text = text.len() as u64;
        let classes = classes(&text);
        if classes.is_empty() { Err("the VM's answer has no class") } else { Ok(classes) }
    });
    match counted {
        Ok(classes) => {
            let rarer = schedule.done(start, end, classes.len() as u64);
            HistogramOutcome::Done { start, end, classes, rarer }
        }
        Err(why) => schedule.failed(end, why).map_or(HistogramOutcome::NotNow, HistogramOutcome::Never),
    }
}

/// The rows of the text that HotSpot VMs print as a class histogram: the class as the VM writes it (`[Ljava.lang.String;`), its objects
/// and their bytes. Classes of several loaders have a row each. Lines that are no rows are passed over.
pub fn histogram_rows(text: &str) -> impl Iterator<Item = (&str, u64, u64)> {
    text.lines().filter_map(|line| {
        let (rank, rest) = line.trim_start().split_once(':')?;
        rank.parse::<u32>().ok()?;
        let (objects, rest) = rest.trim_start().split_once(' ')?;
        let (bytes, class) = rest.trim_start().split_once(' ')?;
        let class = class.trim();
        // The module stands behind the class. Names of classes may have spaces.
        let name = if class.ends_with(')') { class.rsplit_once(" (").map_or(class, |(name, _)| name) } else { class };
        (!name.is_empty()).then_some((name, objects.parse().ok()?, bytes.parse().ok()?))
    })
}

/// Rows of an answer by class. Hidden classes, which have a new name each time, are merged by name; fillers of gaps in the heap are left
/// out.
fn classes(text: &str) -> Vec<HistogramClass> {
    let mut sums: std::collections::BTreeMap<String, (u64, u64)> = std::collections::BTreeMap::new();
    for (name, objects, bytes) in histogram_rows(text) {
        let signature = signature(name);
        if signature == "Ljdk/internal/vm/FillerObject;" || signature == "[Ljdk/internal/vm/FillerElement;" {
            continue;
        }
        let sum = sums.entry(signature).or_default();
        sum.0 = sum.0.saturating_add(objects);
        sum.1 = sum.1.saturating_add(bytes);
    }
    sums.into_iter().map(|(signature, (objects, bytes))| HistogramClass { signature, objects, bytes }).collect()
}

/// The signature of a class by the name that the VM prints; of hidden classes without the address behind it.
fn signature(name: &str) -> String {
    let (plain, end) = match name.find("/0x") {
        Some(at) => (&name[..at], if name.ends_with(';') { ";" } else { "" }),
        None => (name, ""),
    };
    let path = plain.replace('.', "/");
    if path.starts_with('[') { path + end } else { format!("L{path};") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn answers_of_vms_are_read() {
        let text = " num     #instances         #bytes  class name (module)\n\
            -------------------------------------------------------\n   \
            1:            40           2000  [B (java.base@17.0.9)\n   \
            2:             3            120  [Ljava.util.HashMap$Node; (java.base@17.0.9)\n   \
            3:             2             64  app.Main\n   4:             1             16  app.Main$$Lambda/0x0123\n   \
            5:             2             32  app.Main$$Lambda/0x0456\n   6:             1             24  [Lapp.Main$$Lambda/0x0456;\n   \
            7:             5             80  jdk.internal.vm.FillerObject (java.base@25)\n   \
            8:             1             16  app.a name (with words)\n\
            Total            49           2232\n";
        assert_eq!(histogram_rows(text).count(), 8);
        let told: Vec<_> = classes(text).into_iter().map(|c| (c.signature, c.objects, c.bytes)).collect();
        let expected = [
            ("Lapp/Main$$Lambda;", 3, 48),
            ("Lapp/Main;", 2, 64),
            ("Lapp/a name;", 1, 16),
            ("[B", 40, 2000),
            ("[Lapp/Main$$Lambda;", 1, 24),
            ("[Ljava/util/HashMap$Node;", 3, 120),
        ];
        assert_eq!(told, expected.map(|(class, objects, bytes)| (class.to_owned(), objects, bytes)));
        assert_eq!(histogram_rows("Unknown diagnostic command\n 1: 2\n : 3 4 x").count(), 0);
    }

    #[test]
    fn full_heaps_and_failures_are_respected() {
        let mut schedule = HistogramSchedule::new(1000, 30, 1 << 30);
        assert!(schedule.needed(None) > LEAST_TEXT && schedule.needed(Some(50_000)) > 20_000_000);
        schedule.text = 10 << 20;
        assert!(schedule.needed(None) > 40 << 20);
        assert_eq!((schedule.failed(0, "x"), schedule.failed(0, "x")), (None, None));
        assert!(schedule.failed(0, "x").is_some_and(|why| why.contains('x')));
        assert!(!schedule.is_due(u64::MAX, true) && !schedule.may_be_last(u64::MAX));
        assert!(HistogramSchedule::new(1000, 30, 1 << 30).failed(0, "this Java has none").is_some());
        assert!(!HistogramSchedule::new(0, 30, 1 << 30).is_due(u64::MAX, true));
    }

    #[test]
    fn many_histograms_come_ever_more_rarely() {
        let mut schedule = HistogramSchedule::new(1000, 1, 1 << 20);
        let (mut now, mut taken) = (0, 0u32);
        while now < 100_000 * SECOND {
            if schedule.is_due(now, true) {
                schedule.done(now, now, 1000);
                taken += 1;
            }
            now += SECOND;
        }
        // 64 KiB of 4,000 bytes each are 16; then each doubling has as many.
        assert!((16 * 11..17 * 14).contains(&taken), "{taken}");
    }

    /// Histograms that come every second keep no walk waiting, also where nothing is collected.
    #[test]
    fn histograms_do_not_starve_walks() {
        let mut walks = crate::walk::WalkSchedule::new(3000, 2);
        let mut histograms = HistogramSchedule::new(500, 2, 1 << 40);
        for tick in 0..1200u64 {
            let now = tick * SECOND / 20;
            if walks.is_due(now, false) {
                walks.done(now, now + SECOND / 5);
                histograms.walked(now + SECOND / 5, walks.rest_until());
            } else if histograms.is_due(now, false) {
                histograms.done(now, now + SECOND / 20, 1000);
                walks.stood_still(now + SECOND / 20, SECOND / 20);
            }
        }
        assert!((9..=11).contains(&walks.walks) && histograms.taken >= 40, "{} {}", walks.walks, histograms.taken);
    }

    proptest! {
        #[test]
        fn any_text_is_rows_or_none(text in "( {0,3}[0-9:x]{1,4} {1,3}[0-9]{0,3} {0,2}[a-z./\\[;() ]{0,12}\n?){0,6}") {
            for (class, ..) in histogram_rows(&text) {
                prop_assert!(!class.is_empty() && class.trim() == class);
                let _ = signature(class);
            }
        }

        /// For any collections and durations, the program stands still for at most a quarter of the share for histograms, and for at most
        /// all of it for histograms and walks together, each rest counted.
        #[test]
        fn histograms_and_walks_keep_to_the_share(
            duty in 1u32..60,
            every in 1u64..20_000,
            walk_every in 1u64..20_000,
            rounds in prop::collection::vec((1u64..2_000, any::<bool>(), 1u64..300, 1u64..900), 1..200),
        ) {
            let mut walks = crate::walk::WalkSchedule::new(walk_every, duty);
            let mut histograms = HistogramSchedule::new(every, duty, 1 << 40);
            let (mut now, mut spent, mut spent_counting, mut rests) = (0u64, 0u64, 0u64, 0u64);
            let millis = 1_000_000;
            let mut last = (0, 0);
            for (gap, collected, pause, walk_pause) in rounds {
                now += gap * millis;
                if walks.is_due(now, collected) {
                    prop_assert!(now >= rests, "a walk before what stood still was made up for");
                    let end = now + walk_pause * millis;
                    walks.done(now, end);
                    histograms.walked(end, walks.rest_until());
                    spent += walk_pause * millis;
                    rests = rests.max(end) + u64::from(duty) * walk_pause * millis;
                    now = end;
                } else if histograms.is_due(now, collected) {
                    let (before, was) = last;
                    prop_assert!(now >= before + 4 * u64::from(duty) * was, "too early");
                    let end = now + pause * millis;
                    histograms.done(now, end, 1000);
                    walks.stood_still(end, pause * millis);
                    spent_counting += pause * millis;
                    rests = rests.max(end) + u64::from(duty) * pause * millis;
                    last = (end, pause * millis);
                    now = end;
                }
            }
            prop_assert_eq!((walks.pauses, histograms.pauses), (spent, spent_counting));
        }
    }
}
