//! Recordings without walks, as counts over time: class histograms, which are exact, or else live objects estimated from samples. There are
//! no objects and no references in them; they only give trees. Objects counted together share their class, and as far as known their place,
//! thread and birth, in the form of traces ([`CohortFacts`]), so that they are grouped alike.

use super::count_stream::{CONVERTED, COUNTS_SAMPLED};
use super::estimates::{DeathCheck, Estimates};
use super::histograms::Histograms;
use super::lives::{gc_history, gc_noun, sampled_lives};
use super::origins::Provenance;
use super::sample_kinds::SampleKinds;
use super::sampled::sampled;
use super::scan::{SampleOrigin, Scan};
use super::series::{PACKAGES, gc_point};
use crate::counts::{ClassCounts, CountBasis, CountMoment};
use crate::lives::{GcHistory, GcNoun, InfoNumbers, Lives, SampledLives, Weighed};
use crate::recording::Recording;
use crate::replay::CohortKey;
use crate::sampled::SampledAllocations;
use crate::series::GcPoint;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::texts::several;
use memory_city_heap::{CohortFacts, ObjectId, Profile};
use memory_city_wire::SettingRow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The count of objects that are alike here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedKind {
    /// Their common facts, see [`CountedTimes::facts`].
    pub key: CohortKey,
    /// How many they are.
    pub amount: Weighed,
}

/// A time at which was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedTime {
    /// Milliseconds since the Unix epoch.
    pub millis: u64,
    /// The label, for people.
    pub label: String,
    /// The collection at whose end it was counted: of recordings that were made of trees which say so. Times are since the start of the
    /// program then, where all of them have one.
    pub gc: Option<GcPoint>,
    /// The number of objects whose groups are known, and the number of all objects. Set for recordings converted from trees that group by
    /// facts of samples.
    pub sampled: Option<(u64, u64)>,
    /// How many collections had ended by then, where births are known.
    gcs: u32,
}

/// Counts over time.
pub struct CountedTimes {
    /// In the order of time.
    pub times: Vec<CountedTime>,
    /// True for estimates from samples, which also have thread and birth; false for histograms, which are exact.
    pub is_estimate: bool,
    /// True if allocation sites are known, as far as they can be.
    pub tells_places: bool,
    /// Whether it is known how long arrays are.
    pub tells_lengths: bool,
    /// The class counts, if there are any: the same, or beside the estimates. Times are since the Unix epoch.
    pub histograms: Option<Arc<ClassCounts>>,
    /// The packages of the program itself, as a list as users type it, if the recording has one.
    pub own_packages: Option<String>,
    /// The noun for one of its collections.
    pub noun: GcNoun,
    /// Warnings about the recording.
    pub warnings: Vec<Warning>,
    /// Types, sites, threads and creation data. Its log is empty.
    kinds: Recording,
    /// Elements of each array, by creation data, where that is known.
    lengths: Vec<Option<u32>>,
    /// The first creation data that differs in that alone.
    unlike: Vec<u32>,
    counts: Counts,
    scan: Scan,
    provenance: Provenance,
    /// The samples from birth to death, built on demand.
    lives: OnceLock<Option<SampledLives>>,
}

enum Counts {
    Estimates(Estimates),
    Histograms(Histograms),
}

impl CountedTimes {
    /// The common facts of objects counted together, at a time.
    pub fn facts(&self, time: usize, key: CohortKey) -> CohortFacts<'_> {
        let facts = self.kinds.facts(key, self.times.get(time).map_or(0, |time| time.gcs));
        CohortFacts { length: self.lengths.get(key.info as usize).copied().flatten(), ..facts }
    }

    /// What the runtime of the program calls things.
    pub fn profile(&self) -> &'static Profile {
        self.kinds.program.profile
    }

    /// The same for all that differs in nothing but the lengths of arrays. Constant time.
    pub fn of_any_length(&self, key: CohortKey) -> CohortKey {
        CohortKey { info: self.unlike.get(key.info as usize).copied().unwrap_or(key.info), ..key }
    }

    /// Whether it is known of samples when they were born and died.
    pub fn has_lives(&self) -> bool {
        self.scan.sample_count() > 0 && !self.scan.gcs.is_empty()
    }

    /// The samples from birth to death, and the collections; `None` where nothing was sampled, or no collection is known. The first call
    /// takes O(samples log samples).
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn lives(&self, progress: &Progress) -> Result<Option<(Lives<'_>, GcHistory)>> {
        if !self.has_lives() {
            return Ok(None);
        }
        if self.lives.get().is_none() {
            let _ = self.lives.set(sampled_lives(&self.scan, &self.provenance, progress)?);
        }
        let lives = self.lives.get().and_then(Option::as_ref);
        Ok(lives.map(|lives| (Lives::sampled(lives, self.scan.gcs.len() as u32), gc_history(&self.scan))))
    }

    /// The estimates from samples, with the samples alive at some of the times: those that no collection was found to have freed by then.
    /// `None` if the counts are no estimates. O(samples) for each time.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn sampled(&self, times: &[usize], progress: &Progress) -> Result<Option<SampledAllocations>> {
        let Counts::Estimates(estimates) = &self.counts else { return Ok(None) };
        let moments: Vec<Option<u64>> = times.iter().map(|&time| Some(estimates.looks().get(time)?.time)).collect();
        let alive = |at: usize| {
            let time = moments.get(at).copied().flatten().unwrap_or(0);
            let is_alive = |(id, sample): &(&u64, &SampleOrigin)| {
                sample.time <= time && self.scan.deaths.get(id).is_none_or(|death| death.time > time)
            };
            // No heap state says which objects they are.
            Ok(self.scan.samples.iter().filter(is_alive).map(|(id, _)| (*id, ObjectId(u32::MAX))).collect())
        };
        let Some(mut all) = sampled(&self.scan, &self.provenance, &moments, &alive, progress)? else {
            return Ok(None);
        };
        // Those that a recording with a bound has added up are dead by the end; nobody knows which of them were alive before.
        let added_up = self.scan.old_samples.iter().fold(0u64, |sum, (_, row)| sum.saturating_add(row.samples));
        let last = estimates.looks().len().saturating_sub(1);
        for (gone, _) in all.gone.iter_mut().zip(times).filter(|(_, time)| **time < last) {
            *gone = added_up;
        }
        Ok(Some(all))
    }

    /// Calls `tell` with the counts of each time in turn: each kind once, ascending. O(times × samples), or O(rows of all histograms).
    ///
    /// # Errors
    /// Those of `tell`.
    pub fn each(&self, mut tell: impl FnMut(usize, &[CountedKind]) -> Result<()>) -> Result<()> {
        match &self.counts {
            Counts::Estimates(estimates) => (0..self.times.len()).try_for_each(|time| tell(time, &estimates.at(time))),
            Counts::Histograms(histograms) => histograms.each(tell),
        }
    }
}

/// The counts of a recording that has no walk; `None` where the files are none, or it has walks, or nothing was counted.
///
/// # Errors
/// As opening it.
pub fn counted(paths: &[PathBuf], progress: &Progress) -> Result<Option<CountedTimes>> {
    if !super::join::are_recordings(paths)? {
        return Ok(None);
    }
    let files = super::join::recording_files(paths)?;
    let left = super::leftovers::left_beside(files.iter().map(|file| &**file));
    let inputs = files.iter().map(|file| Input::open(file, progress)).collect::<Result<_>>()?;
    let mut scan = Scan::read(inputs, progress)?;
    if !scan.walks.is_empty() {
        return Ok(None);
    }
    let started = started_of(&scan);
    let path = scan.files.first().map(|input| input.path.clone()).unwrap_or_default();
    let histograms = scan.class_counts(|time| started.saturating_add(time / 1_000_000)).map(Arc::new);
    // Samples tell places too, which histograms mostly do not.
    let provenance = Provenance::of(&scan, progress)?;
    let samples = SampleKinds::of(&scan, &provenance, progress)?;
    let estimates = Estimates::of(&scan, &samples);
    let is_estimate = !estimates.looks().is_empty();
    let mut lengths = Vec::new();
    let (counts, kinds, times, left_out) = match &histograms {
        Some(counted) if !is_estimate => {
            let (histograms, kinds) = Histograms::of(&scan, &provenance, counted.moments.len());
            let times = times_of_histograms(&scan, &counted.moments[..histograms.shown]);
            let left_out = counted.moments.len() - times.len();
            (Counts::Histograms(histograms), kinds, times, left_out)
        }
        _ => {
            let time = |look: &DeathCheck| CountedTime {
                millis: started.saturating_add(look.time / 1_000_000),
                label: format!("Estimate {}", look.number),
                gc: None,
                sampled: None,
                gcs: look.gcs,
            };
            let times = estimates.looks().iter().map(time).collect();
            lengths = samples.lengths;
            (Counts::Estimates(estimates), samples.recording, times, 0)
        }
    };
    if times.is_empty() {
        return Ok(None);
    }
    let message = match (is_estimate, &histograms) {
        (true, beside) => {
            let samples = scan.sample_count();
            let beside = beside.as_ref().map_or(String::new(), |counts| {
                let times = several(counts.moments.len() as u64, "time", "times");
                format!(". The objects of each class were counted {times} besides: `memory-city analyse counts`")
            });
            format!(
                "no walks were recorded: what is shown is estimated from {samples} samples, and there are no references. Small groups \
                 are rough{beside}"
            )
        }
        (false, _) => {
            let garbage = match scan.run.get("histograms.of").map(String::as_str) {
                Some("all") => {
                    ". What nothing keeps any more counts too until it is collected: `watch --reachable` leaves it out"
                }
                _ => "",
            };
            let what = match scan.count_basis() {
                CountBasis::Objects => "class histograms were recorded, not objects: the counts are exact",
                CountBasis::Trees => "class histograms were made of memory trees: the counts are those of the trees",
                CountBasis::Estimates => {
                    "class histograms were made of what samples estimated to be alive: the counts are no exact ones, and small ones are rough"
                }
                CountBasis::Samples => {
                    "class histograms were made of groups whose place, thread or age is known of sampled objects only: such groups are no totals"
                }
            };
            format!("{what}, and there are no references{garbage}")
        }
    };
    if left_out > 0 {
        let message = format!("{left_out} class histograms are not shown: there are too many");
        scan.trouble.warnings.push(Warning { path: path.clone(), offset: None, message });
    }
    scan.trouble.warnings.extend(provenance.lacks(&path));
    let said = Warning { path: path.clone(), offset: None, message };
    let trouble = std::mem::take(&mut scan.trouble).finish(&path, &scan.losses);
    let own_packages = scan.run.remove(PACKAGES);
    Ok(Some(CountedTimes {
        times,
        is_estimate,
        tells_places: is_estimate || Histograms::tell_places(&scan),
        tells_lengths: is_estimate && samples.tells_lengths,
        histograms,
        own_packages,
        noun: gc_noun(&scan),
        warnings: [vec![said], left, trouble].concat(),
        unlike: unlike(&kinds, &lengths),
        lengths,
        kinds,
        counts,
        scan,
        provenance,
        lives: OnceLock::new(),
    }))
}

/// For each creation data, the first that is equal except for the length; empty if no length is known.
fn unlike(kinds: &Recording, lengths: &[Option<u32>]) -> Vec<u32> {
    let (mut first, mut numbers) = (Vec::new(), InfoNumbers::default());
    let mut of = Vec::with_capacity(lengths.len());
    let mut distinct = Vec::new();
    for (number, info) in (0u32..).zip(kinds.infos.iter().take(lengths.len())) {
        let known = numbers.of(*info, &mut distinct) as usize;
        if known == first.len() {
            first.push(number);
        }
        of.extend(first.get(known));
    }
    of
}

/// The times of histograms, with the collections they belong to. Histograms of other writers are at the ends of collections; those of a
/// recorder are at any time after the last collection.
fn times_of_histograms(scan: &Scan, moments: &[CountMoment]) -> Vec<CountedTime> {
    let is_converted = scan.run.get("recording.mode").is_some_and(|mode| mode == CONVERTED);
    let started = started_of(scan);
    let sampled: BTreeMap<u64, (u64, u64)> = scan.settings.iter().filter_map(|row| sampled_of(row, started)).collect();
    let gc = |moment: &CountMoment| gc_point(scan, true, scan.gcs.get(&moment.gc?)?);
    let time = |(number, moment): (usize, &CountMoment)| CountedTime {
        millis: moment.millis,
        label: format!("Histogram {}", number + 1),
        gc: Some(moment).filter(|_| is_converted).and_then(gc),
        sampled: sampled.get(&moment.millis).copied(),
        gcs: 0,
    };
    moments.iter().enumerate().map(time).collect()
}

/// When the recording began, milliseconds since the Unix epoch.
fn started_of(scan: &Scan) -> u64 {
    scan.run.get("recording.started").and_then(|v| v.trim().parse::<u64>().ok()).unwrap_or(0)
}

/// The time of a setting for a histogram of samples' groups, and its numbers: objects whose groups are known, and all.
fn sampled_of(row: &SettingRow, started: u64) -> Option<(u64, (u64, u64))> {
    let (samples, objects) = row.value.split_once(" of ").filter(|_| row.key == COUNTS_SAMPLED)?;
    let known = (samples.trim().parse().ok()?, objects.trim().parse().ok()?);
    Some((started.saturating_add(row.time / 1_000_000), known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::GcKind;
    use crate::wire::{CountStream, StreamCount};
    use std::fs::File;

    /// The class, the place where one is counted, objects and bytes.
    type Told = (String, Vec<String>, u64, u64);

    /// The counts at each time.
    fn told(counted: &CountedTimes) -> Vec<Vec<Told>> {
        let mut all = Vec::new();
        let of_time = |time, kinds: &[CountedKind]| {
            let kind = |kind: &CountedKind| {
                let facts = counted.facts(time, kind.key);
                let frames = facts.site.iter().map(|frame| frame.to_string()).collect();
                (facts.of.name.clone(), frames, kind.amount.objects as u64, kind.amount.bytes as u64)
            };
            let mut kinds: Vec<Told> = kinds.iter().map(kind).collect();
            kinds.sort();
            all.push(kinds);
            Ok(())
        };
        counted.each(of_time).expect("told");
        all
    }

    /// Counts by allocation site, if known; by class they are merged.
    #[test]
    fn places_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("counts.mcity");
        let file = File::create(&path).expect("a file");
        let mut stream = CountStream::on_file(file, &path, &[("recording.started", "1000".into())]).expect("begun");
        let of = |frames, objects| StreamCount { class: "byte[]", frames, objects, bytes: 10 * objects };
        let stack = ["app.Io.read(int) line 7", "app.Main.main(String[]):3"];
        for more in [0, 4] {
            let counts = [of(&stack, 3), of(&stack[1..], 5 + more), of(&[], 2)];
            stream.write(1_000_000 * more, None, false, counts).expect("written");
        }
        stream.finish("done").expect("ended");
        let counted = counted(std::slice::from_ref(&path), &Progress::new()).expect("it opens").expect("counts");
        let of = |frames: &[&str], objects: u64| {
            ("byte[]".to_owned(), frames.iter().map(|f| (*f).to_owned()).collect(), objects, 10 * objects)
        };
        let expected = |of_main| vec![of(&[], 2), of(&stack, 3), of(&stack[1..], of_main)];
        assert_eq!(told(&counted), [expected(5), expected(9)]);
        assert!(counted.tells_places && !counted.tells_lengths);
        let classes = &counted.histograms.as_ref().expect("histograms").classes;
        assert_eq!(
            classes.iter().map(|of| (&*of.class, of.at(0).objects, of.at(1).objects)).collect::<Vec<_>>(),
            [("byte[]", 10, 14)]
        );
    }

    /// Trees that say at which pauses they were counted, as those of recordings that were made trees and have not been written since.
    #[test]
    fn pauses_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        for one_pause in [false, true] {
            let path = folder.path().join(format!("{one_pause}.mcity"));
            let file = File::create(&path).expect("a file");
            let facts = [("recording.started", "1000".into()), ("recording.mode", CONVERTED.into())];
            let mut stream = CountStream::on_file(file, &path, &facts).expect("begun");
            let gc = GcPoint {
                number: 7,
                kind: GcKind::Major,
                one_pause,
                cause: "Warmup".into(),
                duration: 2,
                end: true,
                freed: None,
            };
            let number = stream.collection(1_000_000, &gc).expect("written");
            let count = StreamCount { class: "byte[]", frames: &[], objects: 3, bytes: 99 };
            stream.write(3_000_000, Some(number), true, [count]).expect("written");
            stream.finish("done").expect("ended");
            let counted = counted(std::slice::from_ref(&path), &Progress::new()).expect("it opens").expect("counts");
            assert_eq!((counted.times[0].gc.as_ref(), counted.noun.is_pauses()), (Some(&gc), one_pause));
        }
    }

    #[test]
    fn histograms_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("counts.mcity");
        let file = File::create(&path).expect("a file");
        let mut stream = CountStream::on_file(file, &path, &[("recording.started", "1000".into())]).expect("begun");
        let of = |class, objects, bytes| StreamCount { class, frames: &[], objects, bytes };
        stream.write(2_000_000_000, None, true, [of("app.Main", 1, 16), of("byte[]", 3, 99)]).expect("written");
        stream.write(5_000_000_000, None, true, [of("byte[]", 7, 200), of("app.Late[]", 2, 48)]).expect("written");
        stream.finish("done").expect("ended");
        let counted = counted(std::slice::from_ref(&path), &Progress::new()).expect("it opens").expect("counts");
        let class = |class: &str, objects, bytes| (class.to_owned(), Vec::new(), objects, bytes);
        assert!(!counted.is_estimate && counted.warnings.len() == 1, "{:?}", counted.warnings);
        assert!(!counted.tells_places);
        let times: Vec<_> = counted.times.iter().map(|t| (t.millis, &*t.label)).collect();
        assert_eq!(times, [(3000, "Histogram 1"), (6000, "Histogram 2")]);
        let expected = [
            vec![class("app.Main", 1, 16), class("byte[]", 3, 99)],
            vec![class("app.Late[]", 2, 48), class("byte[]", 7, 200)],
        ];
        assert_eq!(told(&counted), expected);
    }
}
