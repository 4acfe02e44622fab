//! Analysis of the garbage collections of a trace or a recording: pauses, causes, bytes freed and survived, one by one and by kind and
//! cause.

use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::lives::RunWindow;
use crate::run::pauses_note;
use crate::tabular::{
    Cell, CellKind, Column, ResultTable, Row, TableHeader, count_text, gc_kind_text, gc_kinds_explained, several,
    uptime_text,
};
use crate::timeline::{GcNoun, History, Source, TimePoint, Unit, by_uptime, is_repeated};
use memory_city_formats::event::GcKind;
use memory_city_formats::{GcHistory, GcRecord};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Collections)
}

struct Collections;

impl Analysis for Collections {
    fn describe(&self) -> Description {
        Description {
            id: "collections",
            title: "Garbage collections",
            explanation: "How long each garbage collection paused the program, why it came, what it freed and how much \
                survived; and the sums by kind and cause. Of collectors that work beside the program (ZGC, Shenandoah) the pauses are \
                listed, several for one collection.",
            needs: &[Need::Collections],
            parameters: vec![Parameter {
                id: "kind",
                title: "Kind",
                explanation: "Which collections are looked at, or the pauses of which: full are those of the whole heap",
                kind: ParameterKind::Choice { default: "all", choices: &["all", "full", "minor"] },
            }],
        }
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let wanted = match arguments.word("kind") {
            "full" => Some(GcKind::Major),
            "minor" => Some(GcKind::Minor),
            _ => None,
        };
        let is_wanted = |kind: Option<GcKind>| wanted.is_none() || kind == wanted;
        // A trace has seen all of each collection, and reading it again takes time.
        let series = document.heaps().map(History::series).filter(|series| series.recording().is_none());
        let history = series.map_or(Ok(None), |series| series.gc_history(progress))?;
        let seen = match &history {
            Some(history) => SeenCollections::of_recording(document, history, window, progress)?,
            None => SeenCollections::of_points(document, window, progress)?,
        };
        let mut rows = Vec::new();
        let mut totals: BTreeMap<(&str, &str), Total> = BTreeMap::new();
        let mut sum = Total::default();
        for gc in seen.all.iter().filter(|gc| is_wanted(gc.kind)) {
            rows.push(Row { cells: gc.cells(), ..Row::default() });
            totals.entry((gc.kind_text(), &gc.cause)).or_default().add(gc);
            sum.add(gc);
        }
        let mut notes = Vec::new();
        let noun = document.gc_noun();
        let elapsed = seen.elapsed / NANOS;
        if elapsed > 0 && sum.count > 0 {
            // Around a single collection nothing is known of the run but its pause.
            let share = match seen.elapsed > sum.pause {
                true => {
                    format!(" of {} ({:.1} %)", uptime_text(elapsed), 100.0 * sum.pause as f64 / seen.elapsed as f64)
                }
                false => String::new(),
            };
            notes.push(format!(
                "{} the program for {} ms{share}, {} ms at most{}.",
                match noun {
                    GcNoun::Pauses =>
                        several(sum.count, "pause of collections stopped", "pauses of collections stopped"),
                    GcNoun::Collections => several(sum.count, "collection paused", "collections paused"),
                },
                count_text(sum.pause / NANOS),
                count_text(sum.longest / NANOS),
                sum.freed.map_or(String::new(), |freed| format!("; {} objects were freed", count_text(freed))),
            ));
        }
        notes.extend(pauses_note(noun, seen.told.iter().filter(|gc| is_wanted(gc.kind))));
        let unfinished = seen.begun.iter().filter(|&&kind| is_wanted(Some(kind))).count();
        if unfinished > 0 {
            notes.push(match unfinished {
                1 => format!("1 {} begins but does not end here: it is not counted.", noun.one()),
                n => format!("{n} {} begin but do not end here: they are not counted.", noun.many()),
            });
        }
        let title = match noun {
            GcNoun::Collections => "Garbage collections",
            GcNoun::Pauses => "Pauses of garbage collections",
        };
        let empty_text = format!("No {} of this kind ends here.", noun.one());
        let tables = vec![
            ResultTable {
                header: TableHeader {
                    id: "collections".into(),
                    title: title.into(),
                    columns: one_columns(noun),
                    ..TableHeader::default()
                },
                rows,
                left_out: None,
                empty_text: empty_text.clone(),
            },
            ResultTable {
                header: TableHeader {
                    id: "totals".into(),
                    title: format!("{title} by kind and cause"),
                    columns: total_columns(noun),
                    ..TableHeader::default()
                },
                rows: totals
                    .into_iter()
                    .map(|((kind, cause), total)| Row { cells: total.cells(kind, cause), ..Row::default() })
                    .collect(),
                left_out: None,
                empty_text,
            },
        ];
        Ok(Findings { tables, notes, ..Findings::default() })
    }
}

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

/// A collection that ended, or one pause of one.
struct ListedCollection {
    label: String,
    /// Milliseconds.
    ended: u64,
    /// Where it is known.
    kind: Option<GcKind>,
    one_pause: bool,
    cause: String,
    /// Nanoseconds.
    pause: u64,
    freed: Option<u64>,
    /// Objects at its end, where they were counted then.
    survived: Option<u64>,
}

impl ListedCollection {
    fn kind_text(&self) -> &'static str {
        self.kind.map_or("unknown", |kind| gc_kind_text(kind, self.one_pause))
    }

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Text(self.label.clone()),
            Cell::Time(self.ended),
            Cell::Text(self.kind_text().to_owned()),
            Cell::Text(self.cause.clone()),
            Cell::Number(self.pause / NANOS),
            self.freed.map_or(Cell::Empty, Cell::Number),
            self.survived.map_or(Cell::Empty, Cell::Number),
            survival(self.freed, self.survived),
        ]
    }
}

/// The collections of a window, each once.
#[derive(Default)]
struct SeenCollections<'a> {
    all: Vec<ListedCollection>,
    /// The collections in a recording.
    told: &'a [GcRecord],
    /// Kinds of those that begin and do not end.
    begun: Vec<GcKind>,
    /// Nanoseconds in which they came.
    elapsed: u64,
}

impl<'a> SeenCollections<'a> {
    /// The collections of points in time that are collections.
    fn of_points(document: &Source, window: TimeWindow, progress: &Progress) -> Result<SeenCollections<'a>> {
        let points = &document.timeline().points()[window.from..=window.to];
        let mut seen = SeenCollections::default();
        for (at, (t, point)) in window.times().zip(points).enumerate() {
            progress.check()?;
            // Trees of a recording may be several after one collection.
            let Some(gc) = point.gc.as_ref().filter(|_| !is_repeated(points, at)) else { continue };
            if !gc.end {
                // Its end, with the same numbers, comes next.
                let next = points.get(at + 1).and_then(|p| p.gc.as_ref());
                if !next.is_some_and(|end| end.end && end.number == gc.number) {
                    seen.begun.push(gc.kind);
                }
                continue;
            }
            seen.all.push(ListedCollection {
                label: point.label.clone(),
                ended: point.millis,
                kind: Some(gc.kind),
                one_pause: gc.one_pause,
                cause: gc.cause.clone(),
                pause: gc.duration.saturating_mul(NANOS),
                freed: gc.freed,
                survived: Some(document.live_objects(t)),
            });
        }
        if let [first, ..] = points
            && let [.., last] = points
        {
            // What came before the end of the first collection is its pause at least.
            let of_first = first.gc.as_ref().filter(|gc| gc.end).map_or(0, |gc| gc.duration);
            let begun = first.millis.saturating_sub(of_first);
            seen.elapsed = last.millis.saturating_sub(begun).saturating_mul(NANOS);
        }
        Ok(seen)
    }

    /// The collections of a recording, whose points in time are walks: several of them may be after one collection, and none after another.
    fn of_recording(
        document: &Source,
        history: &'a GcHistory,
        window: TimeWindow,
        progress: &Progress,
    ) -> Result<SeenCollections<'a>> {
        let (points, noun) = (document.timeline().points(), document.gc_noun());
        // Of walks none of which is of a known kind of collection the times are those of a clock.
        let epoch = if by_uptime(points) { 0 } else { history.epoch };
        let mut whole = RunWindow::of_points(document, history, window);
        // Where the first point is the end of a collection, as in traces that were converted, that one counts too.
        let before =
            whole.first.checked_sub(1).filter(|&gc| is_end_of(&points[window.from], &history.collections[gc as usize]));
        if let Some(before) = before {
            whole = RunWindow::of_gcs(history, before, whole.end);
        }
        let told = &history.collections[whole.first as usize..whole.end as usize];
        let mut times = window.times().peekable();
        let mut all = Vec::with_capacity(told.len());
        for gc in told {
            progress.check()?;
            while times.next_if(|&t| points[t].millis.saturating_sub(epoch) < gc.end / NANOS).is_some() {}
            // Collections as short as the clocks of points tick may be several in one millisecond.
            let at_end =
                times.clone().take_while(|&t| points[t].millis == gc.end / NANOS).find(|&t| is_end_of(&points[t], gc));
            all.push(ListedCollection {
                label: at_end.map_or_else(|| noun.label(gc.number), |t| points[t].label.clone()),
                ended: gc.end / NANOS,
                kind: gc.kind,
                one_pause: gc.one_pause,
                cause: gc.cause.clone(),
                pause: gc.end.saturating_sub(gc.start),
                freed: at_end.and_then(|t| points[t].gc.as_ref()?.freed),
                survived: at_end.map(|t| document.live_objects(t)),
            });
        }
        let last = points[window.to].millis.saturating_sub(epoch).saturating_mul(NANOS).max(whole.to);
        Ok(SeenCollections { all, told, begun: Vec::new(), elapsed: last.saturating_sub(whole.from) })
    }
}

/// Whether a point in time is the very end of a collection, not something later that comes after it.
fn is_end_of(point: &TimePoint, gc: &GcRecord) -> bool {
    let is_same = point.gc.as_ref().is_some_and(|of| of.end && u64::from(of.number) == gc.number);
    is_same && point.millis == gc.end / NANOS
}

fn survival_explained(noun: GcNoun) -> String {
    format!(
        "Share of the objects of the whole heap that were there when the {} began and were not freed. Minor collections look at a part \
         of the heap; what they leave alone survives",
        noun.one()
    )
}

fn one_columns(noun: GcNoun) -> Vec<Column> {
    let objects = CellKind::Number(Unit::Objects);
    // How long a pause is, is not called pause beside it.
    let (what, length) = match noun {
        GcNoun::Collections => ("GC", "Pause"),
        GcNoun::Pauses => ("Pause", "Duration"),
    };
    vec![
        Column::new("label", what, CellKind::Text, format!("The {}, as the timeline calls it", noun.one())),
        Column::new("ended", "Ended at", CellKind::Uptime, "When it ended"),
        Column::new("kind", "Kind", CellKind::Text, gc_kinds_explained(noun)),
        Column::new("cause", "Cause", CellKind::Text, "Why the heap was collected"),
        Column::new("pause", length, CellKind::Number(Unit::Millis), "From its start to its end"),
        Column::new("freed", "Freed", objects, "Objects that it freed"),
        Column::new("survived", "Survived", objects, "Objects in the heap at its end, where they were counted then"),
        Column::new("survival", "Survival", CellKind::Percent, survival_explained(noun)),
    ]
}

fn total_columns(noun: GcNoun) -> Vec<Column> {
    let (objects, millis) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Millis));
    let sum = match noun {
        GcNoun::Collections => "All their pauses together",
        GcNoun::Pauses => "All of them together",
    };
    vec![
        Column::new("kind", "Kind", CellKind::Text, gc_kinds_explained(noun)),
        Column::new("cause", "Cause", CellKind::Text, "Why the heap was collected"),
        Column::new("count", noun.title(), CellKind::Number(Unit::Count), "How many there were"),
        Column::new("pause", "Total pause", millis, sum),
        Column::new("longest", "Longest pause", millis, "The longest of them"),
        Column::new("freed", "Freed", objects, "Objects that they freed together"),
        Column::new("survival", "Survival", CellKind::Percent, survival_explained(noun)),
    ]
}

/// Sums over collections.
#[derive(Clone, Copy, Default)]
struct Total {
    count: u64,
    /// Nanoseconds, as the longest.
    pause: u64,
    longest: u64,
    /// Where it is known of all of them.
    freed: Option<u64>,
    /// Objects that survived, each time anew; where it is known of all of them.
    survived: Option<u64>,
}

impl Total {
    fn add(&mut self, gc: &ListedCollection) {
        self.count += 1;
        self.pause = self.pause.saturating_add(gc.pause);
        self.longest = self.longest.max(gc.pause);
        // The first one begins the sum.
        let is_first = self.count == 1;
        let sum = |before: Option<u64>, of: Option<u64>| {
            before.or(is_first.then_some(0)).zip(of).map(|(sum, of)| sum.saturating_add(of))
        };
        self.freed = sum(self.freed, gc.freed);
        self.survived = sum(self.survived, gc.survived);
    }

    fn cells(self, kind: &str, cause: &str) -> Vec<Cell> {
        vec![
            Cell::Text(kind.to_owned()),
            Cell::Text(cause.to_owned()),
            Cell::Number(self.count),
            Cell::Number(self.pause / NANOS),
            Cell::Number(self.longest / NANOS),
            self.freed.map_or(Cell::Empty, Cell::Number),
            survival(self.freed, self.survived),
        ]
    }
}

fn survival(freed: Option<u64>, survived: Option<u64>) -> Cell {
    let Some((freed, survived)) = freed.zip(survived) else { return Cell::Empty };
    let all = freed as f64 + survived as f64;
    if all > 0.0 { Cell::Percent(100.0 * survived as f64 / all) } else { Cell::Empty }
}
