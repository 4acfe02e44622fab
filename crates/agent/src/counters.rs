//! The collector and its last collection, read from the VM's performance data. Facts that a collector's data does not separate are unknown,
//! never guessed. If the VM keeps no such data, its options name the collector.

use crate::perfdata::{PerfData, perf_file};
use memory_city_wire::{CollectionKind, GcScope};
use std::fs::File;
use std::path::Path;

/// The warning where a VM may damage clones of objects that are sampled.
///
/// The fault (JDK-8383421): between the allocation of a clone and its filling, the event of a sample lets the VM collect garbage. ZGC
/// with generations then takes the clone for a young object, although it is old by now. Fixed after the release of 26; the updates with the
/// fix are not known here.
pub const CLONES_AT_RISK: &str = "ZGC with generations may damage objects that are cloned while allocations are sampled (JDK-8383421; Java 21 \
     to 26, as far as known). Where that matters, record with another collector, such as -XX:+UseG1GC, or use `memory-city watch`";

/// The warning if it is unknown whether the VM has that collector.
pub const CLONES_UNKNOWN: &str = "which collector the VM has is not known, as it keeps no performance data and has no module jdk.management: ZGC with \
     generations may damage objects that are cloned while allocations are sampled (JDK-8383421; Java 21 to 26, as far as known)";

/// Versions of Java with that fault, as far as known.
const CLONE_FAULT: std::ops::RangeInclusive<u32> = 21..=26;

/// The number that a version begins with: 21 of `21.0.2`.
fn feature_of(version: &str) -> Option<u32> {
    version.split(['.', '-', '+']).next().and_then(|digits| digits.parse().ok())
}

/// Whether Java of this version damages clones where it has ZGC with generations.
pub(crate) fn has_clone_fault(feature: Option<u32>) -> bool {
    feature.is_some_and(|feature| CLONE_FAULT.contains(&feature))
}

/// The collectors that name their counters in a way of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// ZGC without generations: one counter, the third, and each cycle is one of the whole heap.
    Z,
    /// ZGC with generations: the first counter is that of young collections, the third that of all.
    GenerationalZ,
    /// Counts everything as full, also where it has generations.
    Shenandoah,
    /// The first counter is that of young collections, the second that of full ones.
    StopsTheWorld,
}

/// The collector, as its counters name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VmCollector {
    /// In a word: `G1`, `ZGC`.
    pub(crate) name: Option<String>,
    family: Family,
}

impl VmCollector {
    pub(crate) fn of(data: &PerfData) -> VmCollector {
        // "G1 young collection pauses": the first word is its name. ZGC without generations has the third counter alone.
        let first = |counter: u32| {
            let name = data.text(&format!("sun.gc.collector.{counter}.name"))?;
            name.split(' ').next().filter(|word| !word.is_empty()).map(str::to_owned)
        };
        let (young, third) = (first(0), first(2));
        let family = match (young.as_deref(), third.as_deref()) {
            (Some("ZGC"), _) => Family::GenerationalZ,
            (None, Some("Z")) => Family::Z,
            (Some("Shenandoah"), _) => Family::Shenandoah,
            _ => Family::StopsTheWorld,
        };
        let name = if family == Family::Z { Some("ZGC".to_owned()) } else { young };
        VmCollector { name, family }
    }

    /// The collector by the options that are in force in a VM of this version of Java, as it prints them: `-XX:+UseG1GC ...`. `None` where
    /// these name none that is known here.
    pub(crate) fn of_flags(flags: &str, feature: Option<u32>) -> Option<VmCollector> {
        let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
        let named = |name: &str, family| VmCollector { name: Some(name.to_owned()), family };
        if has("-XX:+UseZGC") {
            let has_generations = match feature {
                Some(..=20) => false,
                // There they had to be asked for; then they could be refused.
                Some(21 | 22) => has("-XX:+ZGenerational"),
                _ => !has("-XX:-ZGenerational"),
            };
            return Some(named("ZGC", if has_generations { Family::GenerationalZ } else { Family::Z }));
        }
        if has("-XX:+UseShenandoahGC") {
            return Some(named("Shenandoah", Family::Shenandoah));
        }
        let stops = ["G1", "Parallel", "Serial", "Epsilon"].into_iter().find(|name| has(&format!("-XX:+Use{name}GC")));
        stops.map(|name| named(name, Family::StopsTheWorld))
    }

    /// Whether a VM of this version may damage clones: [`CLONES_AT_RISK`].
    pub(crate) fn damages_clones(&self, version: &str) -> bool {
        self.family == Family::GenerationalZ && has_clone_fault(feature_of(version))
    }

    /// The kind of collection, from the counters that went on since the last look: young collections, full ones, and the third. `seen` is
    /// the number of collections that the VM has reported since then.
    fn kind(&self, moved: [bool; 3], seen: usize) -> CollectionKind {
        match (self.family, moved) {
            // One that began with the young objects: the parallel collector, when it is asked to collect.
            (Family::StopsTheWorld, [true, true, _]) if seen == 1 => CollectionKind::Major,
            (Family::StopsTheWorld, [true, false, _]) | (Family::GenerationalZ, [true, _, false]) => {
                CollectionKind::Minor
            }
            (Family::StopsTheWorld, [false, true, _]) | (Family::GenerationalZ, [false, _, true]) => {
                CollectionKind::Major
            }
            (Family::Z, [_, _, true]) => CollectionKind::Major,
            // Several, or none, or a counter that counts all alike.
            _ => CollectionKind::Unknown,
        }
    }

    /// The scope of the times that the VM reports.
    fn scope(&self, moved: [bool; 3]) -> GcScope {
        let is_whole = self.family == Family::StopsTheWorld && !is_beside(moved);
        if is_whole { GcScope::Whole } else { GcScope::Pause }
    }

    /// Why it collected.
    fn cause(&self, moved: [bool; 3], data: &PerfData) -> Option<String> {
        // Two collections may be under way, and each puts back at its end what it found at its beginning: what stands there may be the
        // cause of one that ended long ago. And the pauses of G1's concurrent cycles have none of their own.
        if self.family == Family::GenerationalZ || self.family == Family::StopsTheWorld && is_beside(moved) {
            return None;
        }
        let cause = [data.text("sun.gc.cause"), data.text("sun.gc.lastCause")];
        cause.into_iter().flatten().find(|c| !c.is_empty() && c != "No GC")
    }
}

/// True if only the third counter has gone on. If the collector stops the program, that one counts its concurrent work.
fn is_beside(moved: [bool; 3]) -> bool {
    moved == [false, false, true]
}

/// The last collection, from the VM's performance data.
#[derive(Default)]
pub(crate) struct ToldCollection {
    pub(crate) kind: CollectionKind,
    pub(crate) scope: GcScope,
    pub(crate) cause: Option<String>,
    pub(crate) used: Option<u64>,
}

/// Follows the counters of the VM's collectors.
pub(crate) struct GcCounters {
    /// Open for as long as it is followed, so that it cannot be replaced.
    file: Option<File>,
    /// How often each has collected.
    counted: [Option<i64>; 3],
    /// The collector named by another source, if there is no data.
    told: Option<VmCollector>,
}

impl GcCounters {
    /// The counters of this process.
    pub(crate) fn find() -> GcCounters {
        // SAFETY: no pointers; it cannot fail.
        let owner = unsafe { libc::geteuid() };
        let file = perf_file(Path::new("/tmp"), std::process::id(), owner);
        let mut counters = GcCounters { file, counted: [None; 3], told: None };
        counters.look(0);
        counters
    }

    pub(crate) fn read(&self) -> Option<PerfData> {
        PerfData::read(self.file.as_ref()?)
    }

    /// There is no data: this is the collector.
    pub(crate) fn be_told(&mut self, collector: VmCollector) {
        self.told = Some(collector);
    }

    /// The last of `seen` collections, from the counters since the last look. Without data, only the scope is known: some collectors report
    /// single pauses.
    pub(crate) fn look(&mut self, seen: usize) -> ToldCollection {
        match self.read() {
            Some(data) => self.told(&data, seen),
            None => {
                let scope = self.told.as_ref().map(|collector| collector.scope([false; 3])).unwrap_or_default();
                ToldCollection { scope, ..ToldCollection::default() }
            }
        }
    }

    fn told(&mut self, data: &PerfData, seen: usize) -> ToldCollection {
        let counted = [0, 1, 2].map(|counter| data.number(&format!("sun.gc.collector.{counter}.invocations")));
        let moved = std::array::from_fn(|counter| counted[counter] != self.counted[counter]);
        self.counted = counted;
        let collector = VmCollector::of(data);
        ToldCollection {
            kind: collector.kind(moved, seen),
            scope: collector.scope(moved),
            cause: collector.cause(moved, data),
            used: used(data),
        }
    }
}

/// Bytes in use, as of the last collection.
pub(crate) fn used(data: &PerfData) -> Option<u64> {
    let mut sum = None;
    for generation in 0..4 {
        for space in 0..6 {
            match data.number(&format!("sun.gc.generation.{generation}.space.{space}.used")) {
                Some(bytes) => sum = Some(sum.unwrap_or(0) + bytes.max(0) as u64),
                None => break,
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perfdata::data_of;

    /// Performance data of collectors: names and counts of three counters, cause, and the cause before.
    fn data(collectors: [(&str, i64); 3], cause: &str, last: &str) -> PerfData {
        let mut texts =
            vec![("sun.gc.cause".to_owned(), cause.to_owned()), ("sun.gc.lastCause".to_owned(), last.to_owned())];
        let mut numbers = Vec::new();
        for (at, (name, count)) in collectors.into_iter().enumerate().filter(|(_, (name, _))| !name.is_empty()) {
            texts.push((format!("sun.gc.collector.{at}.name"), name.to_owned()));
            numbers.push((format!("sun.gc.collector.{at}.invocations"), count));
        }
        data_of(&texts, &numbers)
    }

    /// Counters as VMs of each kind have them; before, and after a collection.
    #[test]
    fn what_counters_do_not_tell_apart_is_unknown() {
        const NONE: (&str, i64) = ("", 0);
        let g1 = |n: [i64; 3]| {
            [
                ("G1 young collection pauses", n[0]),
                ("G1 full collection pauses", n[1]),
                ("G1 concurrent cycle pauses", n[2]),
            ]
        };
        let z = |n: [i64; 3]| [NONE, NONE, ("Z concurrent cycle pauses", n[2])];
        let generations =
            |n: [i64; 3]| [("ZGC minor collection pauses", n[0]), NONE, ("ZGC major collection pauses", n[2])];
        let shenandoah = |n: [i64; 3]| [("Shenandoah partial", n[0]), ("Shenandoah full", n[1]), NONE];
        type Counters<'a> = &'a dyn Fn([i64; 3]) -> [(&'static str, i64); 3];
        for (counters, after, name, kind, scope, is_cause_known) in [
            (&g1 as Counters<'_>, [1, 0, 0], "G1", CollectionKind::Minor, GcScope::Whole, true),
            (&g1, [0, 1, 0], "G1", CollectionKind::Major, GcScope::Whole, true),
            (&g1, [1, 1, 0], "G1", CollectionKind::Unknown, GcScope::Whole, true),
            (&g1, [0, 0, 1], "G1", CollectionKind::Unknown, GcScope::Pause, false),
            (&z, [0, 0, 3], "ZGC", CollectionKind::Major, GcScope::Pause, true),
            (&generations, [3, 0, 0], "ZGC", CollectionKind::Minor, GcScope::Pause, false),
            (&generations, [0, 0, 3], "ZGC", CollectionKind::Major, GcScope::Pause, false),
            (&generations, [1, 0, 3], "ZGC", CollectionKind::Unknown, GcScope::Pause, false),
            (&shenandoah, [0, 2, 0], "Shenandoah", CollectionKind::Unknown, GcScope::Pause, true),
        ] {
            let mut followed = GcCounters { file: None, counted: [None; 3], told: None };
            followed.told(&data(counters([0; 3]), "No GC", "No GC"), 0);
            let data = data(counters(after), "No GC", "System.gc()");
            let told = followed.told(&data, 2);
            assert_eq!((told.kind, told.scope), (kind, scope), "{name} {after:?}");
            assert_eq!(told.cause.as_deref(), is_cause_known.then_some("System.gc()"), "{name}");
            assert_eq!(VmCollector::of(&data).name.as_deref(), Some(name));
            // Both counters for one collection: it was all of the heap.
            let kind = if after == [1, 1, 0] { CollectionKind::Major } else { kind };
            let mut alone = GcCounters { file: None, counted: [None; 3], told: None };
            alone.told(&self::data(counters([0; 3]), "No GC", "No GC"), 0);
            assert_eq!(alone.told(&data, 1).kind, kind, "{name} {after:?}");
        }
    }

    #[test]
    fn clones_are_at_risk_where_zgc_has_generations() {
        let collector = |name| VmCollector::of(&data([(name, 0), ("", 0), ("ZGC major collection pauses", 0)], "", ""));
        let (z, g1) = (collector("ZGC minor collection pauses"), collector("G1 young collection pauses"));
        for (version, expected) in [("21.0.2", true), ("25.0.3", true), ("26-ea", true), ("27", false), ("", false)] {
            assert_eq!((z.damages_clones(version), g1.damages_clones(version)), (expected, false), "{version}");
        }
        let one = VmCollector::of(&data([("", 0), ("", 0), ("Z concurrent cycle pauses", 0)], "", ""));
        assert!(!one.damages_clones("21.0.2"), "without generations there is nothing to take it for");
    }

    /// Parses options as VMs print them, with the collector's among others.
    #[test]
    fn options_name_the_collector_where_there_is_no_data() {
        for (flags, version, name, at_risk, scope) in [
            ("-XX:+UseZGC", "17", "ZGC", false, GcScope::Pause),
            ("-XX:+UseZGC", "21", "ZGC", false, GcScope::Pause),
            ("-XX:+UseZGC -XX:+ZGenerational", "21", "ZGC", true, GcScope::Pause),
            ("-XX:+UseZGC", "23", "ZGC", true, GcScope::Pause),
            ("-XX:+UseZGC -XX:-ZGenerational", "23", "ZGC", false, GcScope::Pause),
            ("-XX:+UseZGC", "25", "ZGC", true, GcScope::Pause),
            ("-XX:+UseZGC", "27", "ZGC", false, GcScope::Pause),
            ("-XX:+UseShenandoahGC", "25", "Shenandoah", false, GcScope::Pause),
            ("-XX:+UseG1GC", "25", "G1", false, GcScope::Whole),
            ("-XX:-UseG1GC -XX:+UseSerialGC", "25", "Serial", false, GcScope::Whole),
            ("-XX:+UseParallelGC", "17", "Parallel", false, GcScope::Whole),
        ] {
            let flags = format!("-XX:CICompilerCount=2 {flags} -XX:+UseNUMA\n");
            let collector = VmCollector::of_flags(&flags, feature_of(version)).expect(name);
            assert_eq!(
                (collector.name.as_deref(), collector.damages_clones(version)),
                (Some(name), at_risk),
                "{flags}"
            );
            let mut counters = GcCounters { file: None, counted: [None; 3], told: None };
            counters.be_told(collector);
            let told = counters.look(1);
            assert_eq!((told.kind, told.scope, told.cause), (CollectionKind::Unknown, scope, None), "{flags}");
        }
        assert_eq!(VmCollector::of_flags("-XX:+UseNUMA", Some(25)), None);
    }
}
