//! Measures of a run: its collections and memory, for windows, churn and the report of a run.

use super::owner_times;
use crate::tabular::count_text;
use crate::timeline::{History, Metric, NodeId, Source, TimeWindow, by_uptime};
use crate::windows::{GcSpan, MemoryLevel};
use memory_city_formats::{GcHistory, GcKind, GcNoun, LifeStep};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;

/// Fewer heap states say nothing about how memory grows.
const ENOUGH: usize = 3;

/// Nanoseconds in a millisecond.
pub(super) const NANOS: u64 = 1_000_000;

/// The collections and memory of a run, with the source of the numbers.
#[derive(Clone, Debug)]
pub struct RunMeasures {
    /// When it begins, nanoseconds: since the program started where collections are known, else since 1970.
    pub began: u64,
    /// Its collections.
    pub gcs: Vec<GcSpan>,
    /// The noun for one of these.
    pub noun: GcNoun,
    /// Memory over time.
    pub levels: Vec<MemoryLevel>,
    /// The meaning of the levels, for people: `bytes that GC roots reach`.
    pub levels_are: String,
    /// True if freed bytes are estimated from samples; `None` if they are unknown.
    pub freed_is_estimated: Option<bool>,
    /// Whether times are those of a clock, not of the program.
    pub is_epoch: bool,
    /// Notes that a reader must know.
    pub notes: Vec<String>,
}

impl RunMeasures {
    /// Measures a source between two points in time. For traces with references and GC roots, reachable bytes are computed at `states`
    /// points at most, each of which is replayed. The rest is one pass over the data of the run.
    ///
    /// # Errors
    /// When a heap state cannot be loaded again, or the work was cancelled.
    pub fn of(document: &Source, window: TimeWindow, states: usize, progress: &Progress) -> Result<RunMeasures> {
        let series = document.heaps().map(History::series);
        let history = match series {
            Some(series) => series.gc_history(progress)?,
            None => None,
        };
        let Some(history) = history.filter(|history| !history.collections.is_empty()) else {
            return Ok(RunMeasures::of_points(document, window));
        };
        let whole = crate::lives::RunWindow::of_points(document, &history, window);
        let within = &history.collections[whole.first as usize..whole.end as usize];
        let mut measures = RunMeasures {
            began: whole.from,
            gcs: within.iter().map(|gc| GcSpan { start: gc.start, end: gc.end, freed: 0 }).collect(),
            noun: document.gc_noun(),
            levels: Vec::new(),
            levels_are: String::new(),
            freed_is_estimated: None,
            is_epoch: false,
            notes: Vec::new(),
        };
        measures.add_freed(document, &history, whole, progress)?;
        measures.add_levels(document, window, &history, whole, states, progress)?;
        Ok(measures)
    }

    /// The measures of points in time alone, without collections.
    fn of_points(document: &Source, window: TimeWindow) -> RunMeasures {
        let timeline = document.timeline();
        let levels: Vec<MemoryLevel> =
            window.times().map(|time| point_level(document, time, time - window.from)).collect();
        RunMeasures {
            began: levels.first().map_or(0, |level| level.time),
            gcs: Vec::new(),
            noun: document.gc_noun(),
            levels_are: match document.heaps() {
                Some(heaps) if heaps.options().include_unreachable => {
                    "bytes of all objects, reachable or not".to_owned()
                }
                Some(_) => "bytes that GC roots reach".to_owned(),
                None => "bytes of the trees".to_owned(),
            },
            levels,
            freed_is_estimated: None,
            is_epoch: !by_uptime(timeline.points()),
            notes: vec![
                match by_uptime(timeline.points()) {
                    // Trees that say after which collections they are: when others were is not known.
                    true => "Collections are known here only as points in time: overhead and churn are unknown.",
                    false => "This input has no times of collections: overhead and churn are unknown.",
                }
                .to_owned(),
            ],
        }
    }

    /// Adds the bytes freed by each collection: from memory in use before and after it, else from samples.
    fn add_freed(
        &mut self,
        document: &Source,
        history: &GcHistory,
        whole: crate::lives::RunWindow,
        progress: &Progress,
    ) -> Result<()> {
        let within = &history.collections[whole.first as usize..whole.end as usize];
        if within.iter().all(|gc| gc.before.is_some() && gc.after.is_some()) {
            for (span, gc) in self.gcs.iter_mut().zip(within) {
                span.freed = super::change(gc.after.unwrap_or(0), gc.before.unwrap_or(0));
            }
            self.freed_is_estimated = Some(false);
        } else if let Some(lives) = document.heaps().and_then(|heaps| heaps.series().lives())
            && let Some(last) = whole.end.checked_sub(1)
        {
            let (mut born, mut died) = (vec![0.0; self.gcs.len()], vec![0.0; self.gcs.len()]);
            lives.each(last, progress, |event| {
                if let Some(at) = event.gc.checked_sub(whole.first).map(|at| at as usize).filter(|&at| at < born.len())
                {
                    match event.step {
                        LifeStep::Born => born[at] += event.amount.bytes,
                        LifeStep::Died => died[at] += event.amount.bytes,
                        LifeStep::Promoted => {}
                    }
                }
                Ok(())
            })?;
            // Deaths of samples are noticed some time after the collection, births are dated well: so what is in use at the start of a
            // collection is what was left by the one before, and what was born since.
            let mut used = match whole.first.checked_sub(1) {
                Some(before) => history.collections[before as usize].after.map(|bytes| bytes as f64),
                None => (history.began == 0).then_some(0.0),
            };
            for (at, (span, gc)) in self.gcs.iter_mut().zip(within).enumerate() {
                let after = gc.after.map(|bytes| bytes as f64);
                let freed = match (used, after) {
                    (Some(used), Some(after)) => used + born[at] - after,
                    // As much went as came.
                    (Some(_), None) => born[at],
                    (None, _) => died[at],
                };
                span.freed = freed as i64;
                used = after.or(used);
            }
            // A pause is a part of a collection: what all of it freed would be told of one, and its rate of milliseconds.
            let pauses = within.iter().filter(|gc| gc.one_pause).count();
            // Deaths matter where the VM did not say what is in use.
            let is_counted = within.iter().all(|gc| gc.after.is_some());
            let unknown = match lives.lost_deaths() * u64::from(!is_counted) {
                0 if 2 * pauses > within.len() => Some("Collections are known by their pauses alone".to_owned()),
                0 => None,
                1 => Some("1 death was not recorded".to_owned()),
                n => Some(format!("{} deaths were not recorded", count_text(n))),
            };
            self.freed_is_estimated = unknown.is_none().then_some(true);
            self.notes.push(match unknown {
                Some(why) => format!("{why}: what each collection freed, and churn, cannot be told."),
                None => format!("What collections freed is estimated from {} samples.", count_text(lives.samples())),
            });
        } else {
            self.notes.push("What collections freed is not recorded here: churn cannot be told.".to_owned());
        }
        Ok(())
    }

    /// Adds memory levels: the bytes that roots reach if they can be computed, else the bytes in use after collections.
    fn add_levels(
        &mut self,
        document: &Source,
        window: TimeWindow,
        history: &GcHistory,
        whole: crate::lives::RunWindow,
        states: usize,
        progress: &Progress,
    ) -> Result<()> {
        let Some(heaps) = document.heaps() else { return Ok(()) };
        if heaps.has_seen_all() {
            // Collections of a part of the heap tell the roots of that part alone.
            let is_full = |t: &usize| {
                let gc = document.timeline().points()[*t].gc.as_ref();
                gc.is_some_and(|gc| gc.kind == GcKind::Major)
            };
            let fulls: Vec<usize> = owner_times::ends(document, window).into_iter().filter(is_full).collect();
            let looked =
                if states < ENOUGH || fulls.len() < ENOUGH { Vec::new() } else { owner_times::spread(&fulls, states) };
            for &time in &looked {
                progress.check()?;
                let heap = heaps.heap(time, progress)?;
                let Some(reached) = heap.reached_by_roots() else { break };
                let point = &document.timeline().points()[time];
                let time = point.millis.saturating_mul(NANOS);
                let number = point.gc.as_ref().map(|gc| u64::from(gc.number));
                let gc = history.collections.iter().position(|gc| Some(gc.number) == number).unwrap_or(0);
                let gc = gc.saturating_sub(whole.first as usize);
                self.levels.push(MemoryLevel { time, bytes: reached.bytes, gc });
            }
            if self.levels.len() >= ENOUGH {
                self.levels_are = "bytes that GC roots reach".to_owned();
                self.notes.push(format!(
                    "What GC roots reach was computed after {} of {} collections of the whole heap (states).",
                    count_text(self.levels.len() as u64),
                    count_text(fulls.len() as u64)
                ));
                return Ok(());
            }
            self.levels.clear();
        } else {
            // Walks are exact. Between them nothing is known of what roots reach.
            let walks: Vec<MemoryLevel> = window
                .times()
                .map(|time| {
                    let level = point_level(document, time, 0);
                    let since = walked_at(document, time, history);
                    let gc = history.collections.partition_point(|gc| gc.end < since.saturating_add(NANOS));
                    let gc = gc.saturating_sub(1 + whole.first as usize);
                    MemoryLevel { time: since, gc, ..level }
                })
                .collect();
            if walks.len() > 2 {
                self.levels = walks;
                self.levels_are = "bytes that GC roots reach".to_owned();
                return Ok(());
            }
        }
        let within = &history.collections[whole.first as usize..whole.end as usize];
        let level = |(gc, record): (usize, &memory_city_formats::GcRecord)| {
            Some(MemoryLevel { time: record.end, bytes: record.after?, gc })
        };
        self.levels = within.iter().enumerate().filter_map(level).collect();
        self.levels_are = "bytes after collections, with what was not yet collected".to_owned();
        Ok(())
    }
}

/// Shortest unseen end that is reported, nanoseconds.
const LONG: u64 = 10_000 * NANOS;

/// Seconds from the last walk of a recording to its last collection, and the kind of that one. `None` if it is less than ten seconds, or a
/// fifth of the recording.
pub(super) fn unseen_end(document: &Source, time: usize, progress: &Progress) -> Result<Option<(u64, GcNoun)>> {
    let Some(heaps) = document.heaps().filter(|heaps| !heaps.has_seen_all()) else { return Ok(None) };
    if time + 1 != document.timeline().times() {
        return Ok(None);
    }
    let Some(history) = heaps.series().gc_history(progress)? else { return Ok(None) };
    let end = history.collections.last().map_or(0, |last| last.end);
    let unseen = end.saturating_sub(walked_at(document, time, &history));
    let is_long = unseen >= LONG && unseen.saturating_mul(5) >= end.saturating_sub(history.began);
    Ok(is_long.then_some((unseen / (1000 * NANOS), history.noun())))
}

/// When a walk was, nanoseconds since the program started.
fn walked_at(document: &Source, time: usize, history: &GcHistory) -> u64 {
    crate::lives::since_start(document, history, time).saturating_mul(NANOS)
}

/// The memory of a point in time: the sum of its tree.
fn point_level(document: &Source, time: usize, gc: usize) -> MemoryLevel {
    let timeline = document.timeline();
    let millis = timeline.points()[time].millis;
    MemoryLevel { time: millis.saturating_mul(NANOS), bytes: timeline.value(time, NodeId::ROOT, Metric::Bytes), gc }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::GroupOptions;
    use memory_city_wire::{
        ChunkKind, ClassRow, GcRow, GcScope, LossReason, LossRow, SampleRow, TraceOptions, TraceTables, TraceWriter,
        WalkObject, WalkStartRow,
    };

    /// A run with a collection each second, and a walk after some of them; there is a sample before the first collection. Deaths name their
    /// collection in the unit of `scope`, and `lost` deaths were lost.
    fn sampled(collections: u64, walks: &[u64], scope: GcScope, lost: u64) -> Source {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.mcity");
        let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
        let mut tables = TraceTables::new(100);
        let name = tables.string("shop.Cart").expect("a number");
        let class = tables.class(ClassRow { name, base: 16, ..ClassRow::default() });
        tables.write_new(&mut writer).expect("written");
        let sample = SampleRow { id: 1, time: 5, class, size: 16, weight: 10 << 16, ..SampleRow::default() };
        writer.write(&[sample]).expect("written");
        let what = u32::from(ChunkKind::DEATHS.0);
        let loss = LossRow { what, reason: LossReason::Thinned, count: lost, ..LossRow::default() };
        writer.write(&[loss]).expect("written");
        for number in 0..collections {
            let row = GcRow { number, start: (number + 1) * 1000 * NANOS, duration: NANOS, scope, ..GcRow::default() };
            writer.write(std::slice::from_ref(&row)).expect("written");
            if walks.contains(&number) {
                let time = row.start + row.duration;
                let start = WalkStartRow { time, gc: Some(number), all_alive: true, ..WalkStartRow::default() };
                let mut walk = writer.begin_walk(start).expect("a walk");
                walk.object(&WalkObject { class, ..WalkObject::default() }, &[]).expect("listed");
                walk.finish(None).expect("finished");
            }
        }
        writer.finish("done").expect("finished");
        Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording")
    }

    #[test]
    fn churn_is_not_told_where_it_cannot_be_known() {
        for (scope, lost, is_known, why) in [
            (GcScope::Whole, 0, true, "is estimated from 1 samples"),
            (GcScope::Whole, 1000, false, "1,000 deaths were not recorded"),
            (GcScope::Pause, 0, false, "by their pauses alone"),
        ] {
            let source = sampled(8, &[0, 7], scope, lost);
            let window = TimeWindow::whole(source.timeline());
            let measures = RunMeasures::of(&source, window, 0, &Progress::new()).expect("measured");
            assert_eq!(measures.freed_is_estimated.is_some(), is_known, "{why}");
            assert!(measures.notes.iter().any(|note| note.contains(why)), "{:?}", measures.notes);
        }
    }

    /// Survival of samples is counted in the records of the VM, which may be pauses.
    #[test]
    fn what_died_has_survived_pauses_where_these_are_told() {
        for (scope, one, many) in [(GcScope::Whole, "collection", "collections"), (GcScope::Pause, "pause", "pauses")] {
            let source = sampled(8, &[0, 7], scope, 0);
            for (id, expected) in [
                ("churn", [format!(" in 8 {many}, "), format!(" {many} per second took ")]),
                ("lifetimes", [format!("of them after no {one}."), "objects that were born".to_owned()]),
            ] {
                let analysis = crate::analyses::AnalysisRegistry::built_in().get(id).expect("the analysis");
                let arguments = crate::analyses::Arguments::parse(&analysis.describe(), []).expect("arguments");
                let window = TimeWindow::whole(source.timeline());
                let found =
                    crate::analyses::run(&*analysis, &source, window, &arguments, &Progress::new()).expect("run");
                let text = found.answers.join("\n");
                assert!(expected.iter().all(|part| text.contains(part)), "{id}: {text}");
                let is_said = found.notes.iter().any(|note| note.starts_with("What is counted are pauses: "));
                assert_eq!(is_said, scope == GcScope::Pause, "{id}");
                if id == "churn" {
                    let ages = found.tables.iter().find(|table| table.header.id == "ages").expect("ages");
                    assert_eq!(ages.header.columns[0].explanation, format!("How many {many} the objects had survived"));
                }
            }
            let of_dead = crate::lives::grouping_of_dead("type").expect("a grouping");
            let died = crate::lives::died_over_time(&source, &of_dead, &Progress::new()).expect("what died");
            let label = if scope == GcScope::Pause { "Pause 0" } else { "GC 0" };
            assert_eq!(died.timeline().points()[0].label, label);
        }
    }

    #[test]
    fn what_no_walk_has_seen_at_the_end_is_told() {
        for (collections, walks, time, unseen) in [
            (60, &[0, 29][..], 1, Some(30)),
            (60, &[0, 59], 1, None),
            // Short, and little of a long run.
            (20, &[0, 10], 1, None),
            (90, &[0, 74], 1, None),
            // Of an earlier point in time those behind it tell.
            (60, &[0, 29], 0, None),
        ] {
            for (scope, noun) in [(GcScope::Whole, GcNoun::Collections), (GcScope::Pause, GcNoun::Pauses)] {
                let source = sampled(collections, walks, scope, 0);
                let found = unseen_end(&source, time, &Progress::new()).expect("known");
                let expected = unseen.map(|seconds| (seconds, noun));
                assert_eq!(found, expected, "{collections} {}, walks {walks:?}, at {time}", noun.many());
            }
        }
    }
}
