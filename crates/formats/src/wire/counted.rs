//! Recordings without walks: class histograms, which are exact, or else what samples estimate to be alive, as counts over time.
//! There are no objects in them and no references, only trees can be made of them.

use super::names::stack_in;
use super::origins::Provenance;
use super::sampled::{FollowedShare, weight_of};
use super::scan::{Scan, error_of};
use super::series::{PACKAGES, gc_point};
use crate::counts::{ClassCounts, ClassPlace, CountCourse, CountMoment, joined_by, without_its_address};
use crate::event::GcKind;
use crate::series::GcPoint;
use ahash::AHashMap;
use memory_city_heap::Amount;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_wire::{ClassRow, CollectionKind, CountRow, GcRow, RunRow, TraceOptions, TraceTables, TraceWriter};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is counted of a class, at a place where places are known.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedClass {
    /// The class, in source form.
    pub class: Arc<str>,
    /// The call chain that allocated, innermost first; none where that is not counted.
    pub frames: Option<Vec<Arc<str>>>,
    /// Its objects.
    pub objects: u64,
    /// Their shallow bytes.
    pub bytes: u64,
}

/// What is counted at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedTime {
    /// Milliseconds since the Unix epoch.
    pub millis: u64,
    /// What it is, for people.
    pub label: String,
    /// The collection at whose end it was counted: of recordings that were made of trees which say so. Times are since the start of the
    /// program then.
    pub gc: Option<GcPoint>,
    /// Sorted by class and place, each once.
    pub classes: Vec<CountedClass>,
}

/// Counts over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedTimes {
    /// In the order of time.
    pub times: Vec<CountedTime>,
    /// They are estimates from samples; otherwise histograms, which are exact.
    pub is_estimate: bool,
    /// What was counted by class, where that was: the same, or beside the estimates. Times are since the Unix epoch.
    pub histograms: Option<Arc<ClassCounts>>,
    /// Which packages are the program's own, as a list that people write, where the recording tells.
    pub own_packages: Option<String>,
    /// What a person must know.
    pub warnings: Vec<Warning>,
}

/// How recordings came to be that were made of something else.
pub const CONVERTED: &str = "converted";
/// So many times are made of samples at most.
const MOST_TIMES: usize = 60;
/// So many rows in all: a few bytes may say that there are millions.
const MOST_ROWS: usize = 20_000_000;
/// Names, methods and frames that are written, each.
const MOST_NAMES: usize = 1 << 24;

/// The counts of a recording that has no walk; `None` where the files are none, or it has walks, or nothing was counted.
///
/// # Errors
/// As opening it.
pub fn counted(paths: &[PathBuf], progress: &Progress) -> Result<Option<CountedTimes>> {
    if !super::join::are_recordings(paths)? {
        return Ok(None);
    }
    let mut inputs = Vec::new();
    for file in super::join::recording_files(paths)? {
        inputs.push(Input::open(&file, progress)?);
    }
    let mut scan = Scan::read(inputs, progress)?;
    if !scan.walks.is_empty() {
        return Ok(None);
    }
    let started = scan.run.get("recording.started").and_then(|v| v.trim().parse::<u64>().ok()).unwrap_or(0);
    let path = scan.files.first().map(|input| input.path.clone()).unwrap_or_default();
    let histograms = scan.class_counts(|time| started.saturating_add(time / 1_000_000)).map(Arc::new);
    // Samples tell places too, which histograms do not.
    let provenance = Provenance::of(&scan, progress)?;
    let estimated = estimates(&scan, &provenance, started, progress)?;
    let is_estimate = !estimated.is_empty();
    let mut times = estimated;
    let mut left_out = 0;
    if let Some(counts) = histograms.as_ref().filter(|_| !is_estimate) {
        (times, left_out) = match scan.counts.values().any(|counts| counts.stacks().next().is_some()) {
            true => by_place(&scan, &provenance, counts),
            false => {
                let course = |course: &CountCourse| (Arc::clone(&course.class), None);
                expanded(
                    &counts.moments,
                    &counts.classes.iter().map(|of| (course(of), &of.changes[..])).collect::<Vec<_>>(),
                )
            }
        };
    }
    if times.is_empty() {
        return Ok(None);
    }
    if let Some(counts) = histograms.as_ref().filter(|_| !is_estimate) {
        tell_collections(&scan, &counts.moments, &mut times);
    }
    let message = match (is_estimate, &histograms) {
        (true, beside) => {
            let samples = scan.samples.len();
            let beside = beside.as_ref().map_or(String::new(), |counts| {
                let (counts, s) = (counts.moments.len(), if counts.moments.len() == 1 { "" } else { "s" });
                format!(
                    ". The objects of each class were counted {counts} time{s} besides: `memory-city analyse counts`"
                )
            });
            format!(
                "no walks were recorded: what is shown is estimated from {samples} samples, and there are no references. Small groups \
                 are rough{beside}"
            )
        }
        (false, _) => {
            "class histograms were recorded, not objects: the counts are exact, and there are no references".to_owned()
        }
    };
    if left_out > 0 {
        let message = format!("{left_out} class histograms are not shown: there are too many");
        scan.trouble.warnings.push(Warning { path: path.clone(), offset: None, message });
    }
    let said = Warning { path: path.clone(), offset: None, message };
    let trouble = std::mem::take(&mut scan.trouble).finish(&path, &scan.losses);
    let own_packages = scan.run.remove(PACKAGES);
    Ok(Some(CountedTimes { times, is_estimate, histograms, own_packages, warnings: [vec![said], trouble].concat() }))
}

/// Says of which collections the times are: those that somebody else has told. A recorder's histograms are at any time after the last one.
fn tell_collections(scan: &Scan, moments: &[CountMoment], times: &mut [CountedTime]) {
    if scan.run.get("recording.mode").is_none_or(|mode| mode != CONVERTED) {
        return;
    }
    let of = |moment: &CountMoment| gc_point(scan, true, scan.gcs.get(&moment.gc?)?);
    let found: Option<Vec<GcPoint>> = moments.iter().take(times.len()).map(of).collect();
    for (time, gc) in times.iter_mut().zip(found.into_iter().flatten()) {
        time.gc = Some(gc);
    }
}

/// Writes class histograms as a recording of one stream, in chunks that readers see as soon as they are there.
pub struct CountStream {
    writer: TraceWriter,
    tables: TraceTables,
    classes: AHashMap<String, u32>,
    taken: u64,
    collections: u64,
}

/// A row of a histogram that is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamCount<'a> {
    /// The class, in source form.
    pub class: &'a str,
    /// The call chain that allocated, innermost first; empty where that is not counted.
    pub frames: &'a [&'a str],
    /// Objects.
    pub objects: u64,
    /// Their shallow bytes.
    pub bytes: u64,
}

impl CountStream {
    /// Begins in a file that is open for writing, and empty, with facts of the run by the keys of docs/trace-format.md. The path is
    /// for messages.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn on_file(file: File, path: &Path, facts: &[(&str, String)]) -> Result<CountStream> {
        let mut writer = TraceWriter::on_file(file, path, TraceOptions::default()).map_err(error_of)?;
        let row = |(key, value): &(&str, String)| RunRow { key: (*key).to_owned(), value: value.clone() };
        writer.write(&facts.iter().map(row).collect::<Vec<_>>()).map_err(error_of)?;
        Ok(CountStream {
            writer,
            tables: TraceTables::new(MOST_NAMES),
            classes: AHashMap::default(),
            taken: 0,
            collections: 0,
        })
    }

    /// Nanoseconds since the recording began.
    pub fn now(&self) -> u64 {
        self.writer.now()
    }

    /// Bytes that have been written.
    pub fn bytes(&self) -> u64 {
        self.writer.bytes()
    }

    /// Writes a collection, at whose end there is a histogram; `start` is nanoseconds since the recording began. Its number in the
    /// recording, for [`CountStream::write`].
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn collection(&mut self, start: u64, gc: &GcPoint) -> Result<u64> {
        let number = self.collections;
        self.collections += 1;
        let row = GcRow {
            number,
            start,
            duration: gc.duration.saturating_mul(1_000_000),
            kind: match gc.kind {
                GcKind::Minor => CollectionKind::Minor,
                GcKind::Major => CollectionKind::Major,
            },
            cause: self.tables.string(&gc.cause),
            freed: gc.freed,
            source_number: Some(u64::from(gc.number)),
            ..GcRow::default()
        };
        self.tables.write_new(&mut self.writer).map_err(error_of)?;
        self.writer.write(&[row]).map_err(error_of)?;
        Ok(number)
    }

    /// Writes what was counted at a time: each class and call chain once. `garbage` says that what no root reaches is counted too, `gc` is
    /// the last collection before, where that is known.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write<'a>(
        &mut self,
        time: u64,
        gc: Option<u64>,
        garbage: bool,
        counts: impl IntoIterator<Item = StreamCount<'a>>,
    ) -> Result<()> {
        let mut rows = Vec::new();
        for StreamCount { class: name, frames, objects, bytes } in counts {
            let class = match self.classes.get(name) {
                Some(class) => *class,
                None => {
                    let row = ClassRow {
                        name: self.tables.string(name).unwrap_or(0),
                        kind: kind(name),
                        ..ClassRow::default()
                    };
                    let class = self.tables.class(row);
                    self.classes.insert(name.to_owned(), class);
                    class
                }
            };
            let stack = stack_in(&mut self.tables, frames);
            let known = CountRow { histogram: self.taken, time, gc, class, stack, garbage, ..CountRow::default() };
            rows.push(CountRow { objects, bytes, ..known });
        }
        let count = rows.len() as u32;
        rows.iter_mut().for_each(|row| row.rows = count);
        rows.sort_by_key(|row| (row.class, row.stack));
        self.taken += 1;
        self.tables.write_new(&mut self.writer).map_err(error_of)?;
        self.writer.write(&rows).map_err(error_of)
    }

    /// Ends the recording, with the reason for people.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(self, reason: &str) -> Result<()> {
        self.writer.finish(reason).map_err(error_of)
    }
}

/// What the objects of a class are, as recordings number it.
fn kind(class: &str) -> u32 {
    const PRIMITIVE: [&str; 8] = ["boolean", "byte", "char", "short", "int", "long", "float", "double"];
    class.strip_suffix("[]").map_or(0, |element| 1 + u32::from(PRIMITIVE.contains(&element)))
}

/// A class, and where it was allocated where that is counted.
type CountedPlace = (Arc<str>, Option<Vec<Arc<str>>>);

/// Histograms by class and place.
fn by_place(scan: &Scan, provenance: &Provenance, counts: &ClassCounts) -> (Vec<CountedTime>, usize) {
    let sites = provenance.all_sites();
    let key = |stream, (class, stack): ClassPlace| {
        (without_its_address(scan.class_name(stream, class)), provenance.site(stream, stack))
    };
    let (_, courses, _) = joined_by(&scan.counts, key, |time| time);
    let frames = |site: u32| sites.get(site as usize).map(|site| site.frames.clone()).unwrap_or_default();
    let mut places: Vec<(CountedPlace, &[(u32, Amount)])> = courses
        .iter()
        .map(|((class, site), changes)| ((Arc::clone(class), Some(frames(*site))), &changes[..]))
        .collect();
    places.sort_by(|a, b| a.0.cmp(&b.0));
    expanded(&counts.moments, &places)
}

/// Histograms one by one, and how many there was no room for. O(rows, and changes).
fn expanded(moments: &[CountMoment], courses: &[(CountedPlace, &[(u32, Amount)])]) -> (Vec<CountedTime>, usize) {
    let mut changes: Vec<(u32, usize, Amount)> = Vec::new();
    for (class, (_, course)) in courses.iter().enumerate() {
        changes.extend(course.iter().map(|(from, amount)| (*from, class, *amount)));
    }
    changes.sort_unstable_by_key(|(from, class, _)| (*from, *class));
    let (mut rest, mut rows) = (&changes[..], 0);
    let mut now: BTreeMap<usize, Amount> = BTreeMap::new();
    let mut times = Vec::new();
    for (at, moment) in moments.iter().enumerate() {
        let (here, later) = rest.split_at(rest.partition_point(|change| change.0 as usize <= at));
        rest = later;
        for (_, class, amount) in here {
            match *amount == Amount::default() {
                true => now.remove(class),
                false => now.insert(*class, *amount),
            };
        }
        rows += now.len() + 1;
        if rows > MOST_ROWS {
            break;
        }
        let class = |(class, amount): (&usize, &Amount)| {
            let ((class, frames), _) = courses.get(*class)?;
            let Amount { objects, bytes } = *amount;
            Some(CountedClass { class: Arc::clone(class), frames: frames.clone(), objects, bytes })
        };
        let classes = now.iter().filter_map(class).collect();
        times.push(CountedTime { millis: moment.millis, label: format!("Histogram {}", at + 1), gc: None, classes });
    }
    let left_out = moments.len() - times.len();
    (times, left_out)
}

/// What samples say is alive, at times when it was looked which are dead: right after collections, when there is little garbage.
fn estimates(scan: &Scan, provenance: &Provenance, started: u64, progress: &Progress) -> Result<Vec<CountedTime>> {
    let sites = provenance.all_sites();
    let one_in = FollowedShare::of(scan);
    let mut looks: Vec<u64> = scan.deaths.values().map(|death| death.time).collect();
    looks.sort_unstable();
    looks.dedup();
    let last = scan.samples.values().map(|sample| sample.time).max();
    if looks.is_empty() {
        looks.extend(last);
    }
    let count = looks.len().min(MOST_TIMES);
    let chosen: Vec<u64> = (1..=count).filter_map(|i| looks.get(i * looks.len() / count - 1).copied()).collect();
    let mut times = Vec::new();
    let mut rows = 0;
    for (number, &time) in chosen.iter().enumerate() {
        progress.check()?;
        let mut sums: AHashMap<(Arc<str>, u32), (f64, f64)> = AHashMap::default();
        for (id, sample) in &scan.samples {
            if sample.time > time || scan.deaths.get(id).is_some_and(|death| death.time <= time) {
                continue;
            }
            let weight = weight_of(sample) * one_in.between(sample.time, time);
            let key = (scan.class_name(sample.stream, sample.class), provenance.site(sample.stream, sample.stack));
            let sum = sums.entry(key).or_default();
            sum.0 += weight;
            sum.1 += weight * sample.size as f64;
        }
        let mut classes: Vec<CountedClass> = sums
            .into_iter()
            .map(|((class, site), (objects, bytes))| CountedClass {
                class,
                frames: Some(sites.get(site as usize).map(|s| s.frames.clone()).unwrap_or_default()),
                objects: objects.round() as u64,
                bytes: bytes.round() as u64,
            })
            .collect();
        // Of what was sampled so far nothing was alive: there is nothing to show.
        if classes.is_empty() {
            continue;
        }
        classes.sort_by(|a, b| (&a.class, &a.frames).cmp(&(&b.class, &b.frames)));
        rows += classes.len();
        times.push(CountedTime {
            millis: started.saturating_add(time / 1_000_000),
            label: format!("Estimate {}", number + 1),
            gc: None,
            classes,
        });
        if rows > MOST_ROWS {
            break;
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Of each place that allocated, where that is known; by class all of them are one.
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
        let told = |time: &CountedTime| -> Vec<(Vec<String>, u64)> {
            let frames = |of: &CountedClass| of.frames.iter().flatten().map(|frame| frame.to_string()).collect();
            time.classes.iter().map(|of| (frames(of), of.objects)).collect()
        };
        let [read, main] = stack.map(str::to_owned);
        let expected =
            |of_main| vec![(vec![], 2), (vec![read.clone(), main.clone()], 3), (vec![main.clone()], of_main)];
        assert_eq!(counted.times.iter().map(told).collect::<Vec<_>>(), [expected(5), expected(9)]);
        let classes = &counted.histograms.as_ref().expect("histograms").classes;
        assert_eq!(
            classes.iter().map(|of| (&*of.class, of.at(0).objects, of.at(1).objects)).collect::<Vec<_>>(),
            [("byte[]", 10, 14)]
        );
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
        let class =
            |class: &str, objects, bytes| CountedClass { class: Arc::from(class), frames: None, objects, bytes };
        assert!(!counted.is_estimate && counted.warnings.len() == 1, "{:?}", counted.warnings);
        let times: Vec<_> = counted.times.iter().map(|t| (t.millis, &*t.label)).collect();
        assert_eq!(times, [(3000, "Histogram 1"), (6000, "Histogram 2")]);
        assert_eq!(counted.times[0].classes, [class("app.Main", 1, 16), class("byte[]", 3, 99)]);
        assert_eq!(counted.times[1].classes, [class("app.Late[]", 2, 48), class("byte[]", 7, 200)]);
        assert_eq!(["app.Main", "java.lang.String[]", "int[][]", "byte[]"].map(kind), [0, 1, 1, 2]);
    }
}
