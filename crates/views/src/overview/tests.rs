//! Charts show their numbers, lose no spike, and stay in their room; windows are where they are in time.

use super::charts::line;
use super::*;
use memory_city_analysis::analyses::RunMeasures;
use memory_city_analysis::run::SpaceLevels;
use memory_city_analysis::windows::{GcSpan, MemoryLevel};
use memory_city_formats::event::GcKind;
use memory_city_formats::{GcNoun, GcRecord};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// A run that collects every 100 ms for 1 ms, and in the middle for 30 ms; memory grows from the 20th collection on.
fn run(gcs: usize) -> RunFacts {
    let mut facts = RunFacts {
        measures: RunMeasures {
            began: 0,
            gcs: Vec::new(),
            noun: GcNoun::Collections,
            levels: Vec::new(),
            levels_are: "bytes after collections".into(),
            freed_is_estimated: Some(false),
            is_epoch: false,
            notes: Vec::new(),
        },
        collections: Vec::new(),
        spaces: Some(Vec::new()),
        lives: None,
        lives_are_exact: true,
        threads: Vec::new(),
        ended: 0,
    };
    for gc in 0..gcs {
        let is_slow = gc >= gcs / 2 && gc < gcs / 2 + 6;
        let start = (gc as u64 + 1) * 100 * MS;
        let end = start + if is_slow { 30 * MS } else { MS };
        let old = 10_000_000 + 1_000_000 * (gc as u64).saturating_sub(20);
        let after = SpaceLevels { old, survivor: 1_000_000, ..SpaceLevels::default() };
        let before = SpaceLevels { eden: 50_000_000, ..after };
        facts.measures.gcs.push(GcSpan { start, end, freed: 50_000_000 });
        facts.measures.levels.push(MemoryLevel { time: end, bytes: after.all(), gc });
        facts.spaces.as_mut().expect("spaces").push([before, after]);
        facts.collections.push(GcRecord {
            number: gc as u64,
            kind: Some(if is_slow { GcKind::Major } else { GcKind::Minor }),
            cause: "Allocation Failure".into(),
            start,
            end,
            one_pause: false,
            before: Some(before.all()),
            after: Some(after.all()),
        });
        facts.ended = end;
    }
    facts
}

fn config(view: RunView, room: Rect) -> RunConfig {
    RunConfig { view, room, zoom: None, chosen: None, rules: WindowRules::default() }
}

const ROOM: Rect = Rect::new(10.0, 20.0, 1260.0, 680.0);

#[test]
fn the_overview_has_two_charts_and_its_windows() {
    let facts = run(100);
    let picture = RunPicture::new(&facts, &config(RunView::Overview, ROOM));
    let kinds: Vec<ChartKind> = picture.charts.iter().map(|chart| chart.kind).collect();
    assert_eq!(kinds, [ChartKind::Memory, ChartKind::Overhead]);
    // Only ends of collections.
    assert_eq!(picture.charts[0].lines[0].points.len(), 100);
    let mark = |kind| picture.marks.iter().find(|mark| mark.kind == kind).expect("a mark");
    let leak = mark(WindowKind::Leak);
    assert!(leak.is_suspicious && leak.to == facts.ended && leak.text.contains("grows to the end"));
    assert_eq!(leak.from, facts.measures.gcs[20].end);
    let overhead = mark(WindowKind::Overhead);
    assert!(overhead.is_suspicious, "{overhead:?}");
    assert!(overhead.from >= facts.measures.gcs[48].end && overhead.to <= facts.measures.gcs[56].end);
    // Every window frees as much: no churn that stands out.
    assert!(!mark(WindowKind::Churn).is_suspicious);
    for mark in &picture.marks {
        assert_eq!(mark.x, (picture.time.place(mark.from), picture.time.place(mark.to)));
    }
    let plot = picture.charts[1].plot;
    let middle = ((overhead.x.0 + overhead.x.1) / 2.0, plot.y + plot.h / 2.0);
    let found = picture.mark_at(middle.0, middle.1).expect("the shortest");
    assert_eq!(picture.marks[found].kind, WindowKind::Overhead);
    assert!(picture.mark_at(middle.0, 0.0).is_none());
    let told = picture.told_at(&facts, middle.0, middle.1).expect("a tooltip");
    assert!(told[0].contains("full collection") && told.iter().any(|line| line.contains("30.0 ms")), "{told:?}");
    assert!(picture.statistics.iter().any(|s| s.name == "Collections" && s.text == "100, 6 full"));
    assert!(picture.threads.is_empty());
}

/// The same run, of which each record is a pause of a collector that works beside the program.
#[test]
fn pauses_are_called_so_and_none_is_full() {
    let mut facts = run(100);
    facts.collections.iter_mut().for_each(|gc| gc.one_pause = true);
    facts.measures.noun = GcNoun::Pauses;
    for view in [RunView::Overview, RunView::Details] {
        let picture = RunPicture::new(&facts, &config(view, ROOM));
        assert!(picture.charts.iter().all(|chart| chart.bars.iter().all(|bar| bar.tint != ChartTint::Full)));
        let at_pauses: Vec<&str> = picture.charts.iter().skip(1).map(|chart| &*chart.explanation).collect();
        assert!(at_pauses.iter().all(|text| text.contains("pause") && !text.contains("collection")), "{at_pauses:?}");
        let marked = picture.marks.iter().find(|mark| mark.kind == WindowKind::Overhead).expect("a mark");
        assert!(marked.text.contains(" pauses; "), "{}", marked.text);
        let number = |name: &str| picture.statistics.iter().find(|s| s.name == name);
        assert_eq!(number("Pauses").map(|s| &*s.text), Some("100"));
        assert!(number("Paused").is_some() && number("Collections").is_none() && number("Collecting").is_none());
        let explained = picture.statistics.iter().filter(|s| s.explanation.contains("collection"));
        let explained: Vec<&str> = explained.map(|s| &*s.name).collect();
        assert_eq!(explained, ["Memory", "Pauses"], "what levels are, and what pauses are of");
        let plot = picture.charts[1].plot;
        let told = picture.told_at(&facts, picture.time.place(facts.measures.gcs[50].end), plot.y + 1.0);
        let told = told.expect("a tooltip");
        assert!(told[0].ends_with(": pause 50 of a major collection"), "{told:?}");
    }
}

#[test]
fn details_stack_spaces_at_starts_and_ends() {
    let facts = run(100);
    let picture = RunPicture::new(&facts, &config(RunView::Details, ROOM));
    let memory = &picture.charts[0];
    let names: Vec<&str> = memory.lines.iter().map(|line| &*line.name).collect();
    assert_eq!(names, ["Old", "Survivor", "Eden"]);
    for line in &memory.lines {
        assert_eq!(line.points.len(), 200);
    }
    // Each stands on the one below; the top is what is in use.
    assert_eq!(memory.lines[2].base.as_ref(), Some(&memory.lines[1].points));
    for (gc, of) in facts.collections.iter().enumerate() {
        for (side, bytes) in [of.before, of.after].into_iter().enumerate() {
            let y = memory.lines[2].points[2 * gc + side].1;
            assert!((y - memory.axis.place(bytes.expect("known") as f64)).abs() < 1e-6);
        }
    }
    let full: Vec<_> = picture.charts[1].bars.iter().filter(|bar| bar.tint == ChartTint::Full).collect();
    assert_eq!((picture.charts[1].bars.len(), full.len()), (100, 6));
    assert!(full.iter().all(|bar| bar.rect.h > picture.charts[1].plot.h / 2.0));
    // 50 MB in 99 ms before most collections.
    let rates = &picture.charts[2];
    let rate = |y: f64| (1.0 - (y - rates.plot.y) / rates.plot.h) * rates.axis.most;
    let shown = rate(rates.lines[0].points[10].1);
    assert!((shown / (50e6 / 0.099) - 1.0).abs() < 0.03, "{shown}");
    let y = memory.plot.y + 3.0;
    let told = picture.told_at(&facts, picture.time.place(facts.measures.gcs[30].end), y).expect("a tooltip");
    assert!(told.iter().any(|line| line == "Eden: 50.0 MB before, 0 B after"), "{told:?}");
}

#[test]
fn a_run_without_collections_says_so() {
    let mut facts = run(10);
    facts.measures.gcs.clear();
    facts.collections.clear();
    facts.spaces = None;
    let picture = RunPicture::new(&facts, &config(RunView::Overview, ROOM));
    assert!(picture.charts[0].empty.is_none());
    assert!(picture.charts[1].empty.as_ref().is_some_and(|text| text.contains("not recorded")));
    assert!(picture.told_at(&facts, ROOM.x + 300.0, picture.charts[0].plot.y + 10.0).expect("a level").len() == 2);
    let nothing = RunFacts { ended: 0, ..run(0) };
    for view in [RunView::Overview, RunView::Details] {
        let picture = RunPicture::new(&nothing, &config(view, ROOM));
        assert!(picture.charts.iter().skip(1).all(|chart| chart.empty.is_some()));
        assert!(picture.marks.is_empty());
    }
}

#[test]
fn windows_are_dragged_by_their_edges() {
    let facts = run(100);
    let chosen = (facts.measures.gcs[9].end, facts.measures.gcs[19].end);
    let picture = RunPicture::new(&facts, &RunConfig { chosen: Some(chosen), ..config(RunView::Overview, ROOM) });
    let (from, to) = picture.chosen.expect("a window");
    assert_eq!((picture.edge_at(from + 3.0, 5.0), picture.edge_at(to - 3.0, 5.0)), (Some(false), Some(true)));
    assert_eq!(picture.edge_at((from + to) / 2.0, 5.0), None);
    assert_eq!(facts.snapped(picture.time.time(from + 1.0), picture.time.time(to - 1.0)), chosen);
    assert!(picture.statistics.iter().any(|s| s.name == "Collections" && s.text == "10"));
    assert_eq!(picture.heading, "Chosen window");
}

proptest! {
    /// Everything in its room, whatever its size; ticks and zooming.
    #[test]
    fn charts_stay_in_their_room(
        gcs in 0usize..60, w in 50.0..2000.0f64, h in 50.0..1200.0f64, details: bool, zoom in 1.0..50.0f64, at in 0.0..1.0f64,
    ) {
        let facts = run(gcs);
        let room = Rect::new(5.0, 7.0, w, h);
        let view = if details { RunView::Details } else { RunView::Overview };
        let whole = RunPicture::new(&facts, &config(view, room));
        let all = (facts.measures.began, facts.ended.max(1));
        let x = whole.time.x + at * whole.time.w;
        let seen = whole.time.zoomed(zoom, x, all);
        prop_assert!(seen.0 >= all.0 && seen.1 <= all.1.max(seen.0 + 1) && seen.0 < seen.1);
        prop_assert_eq!(whole.time.zoomed(1.0 / 64.0, x, all), all);
        let picture = RunPicture::new(&facts, &RunConfig { zoom: Some(seen), ..config(view, room) });
        // The time under the pointer stays there.
        let moved = picture.time.place(whole.time.time(x)) - x;
        prop_assert!(gcs == 0 || moved.abs() < 1.0 + picture.time.w * 1e6 / picture.time.length() as f64, "{}", moved);
        for chart in &picture.charts {
            let plot = chart.plot;
            prop_assert!(plot.x >= room.x && plot.x + plot.w <= room.x + room.w + 80.0 && plot.h > 0.0);
            if h > 300.0 && w > 300.0 {
                prop_assert!(room.contains(&plot, 1e-6), "{:?} in {:?}", plot, room);
            }
            for (_, y) in chart.lines.iter().flat_map(|line| &line.points) {
                prop_assert!(*y >= plot.y - 1e-6 && *y <= plot.y + plot.h + 1e-6);
            }
            for bar in &chart.bars {
                prop_assert!(plot.contains(&bar.rect, 1.01), "{:?} in {:?}", bar.rect, plot);
            }
            prop_assert!(chart.ticks.len() >= 2 && chart.ticks.len() <= 9, "{:?}", chart.ticks);
        }
        prop_assert!(picture.ticks.len() as f64 <= picture.time.w / 100.0 + 2.0);
    }

    /// A line of many points has few, and the same extremes in each unit along x.
    #[test]
    fn lines_lose_no_spike(values in prop::collection::vec(0u32..1000, 1..3000), w in 10.0..200.0f64) {
        let series: Vec<(u64, f64)> = values.iter().enumerate().map(|(i, &v)| (i as u64 * 1000, f64::from(v))).collect();
        let to = (series.len() as u64 - 1).max(1) * 1000;
        let time = TimeAxis { from: 0, to, x: 0.0, w, is_epoch: false };
        let axis = ValueAxis::new(1000.0, ValueUnit::Bytes, 0.0, 100.0);
        let points = line(&series, &time, &axis);
        prop_assert!(points.len() as f64 <= 4.0 * w + 8.0);
        prop_assert!(points.windows(2).all(|p| p[0].0 <= p[1].0));
        let extremes = |points: &[(f64, f64)]| {
            let mut columns = std::collections::BTreeMap::new();
            for &(x, y) in points {
                let of = columns.entry(x.floor() as i64).or_insert((f64::MAX, f64::MIN));
                *of = (of.0.min(y), of.1.max(y));
            }
            columns
        };
        let all: Vec<(f64, f64)> = series.iter().map(|of| (time.place(of.0), axis.place(of.1))).collect();
        prop_assert_eq!(extremes(&points), extremes(&all));
    }
}

#[test]
fn ticks_are_round() {
    let texts = |most: f64, unit| {
        ValueAxis::new(most, unit, 0.0, 200.0).ticks().into_iter().map(|t| t.text).collect::<Vec<_>>()
    };
    assert_eq!(texts(0.37, ValueUnit::Share), ["0 %", "10 %", "20 %", "30 %", "40 %"]);
    assert_eq!(texts(61.0, ValueUnit::Millis), ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms"]);
    assert_eq!(texts(9.3e6, ValueUnit::Bytes), ["0 B", "2.00 MB", "4.00 MB", "6.00 MB", "8.00 MB", "10.0 MB"]);
    assert_eq!(texts(1.0, ValueUnit::Share).last().map(String::as_str), Some("100 %"));
    let time = TimeAxis { from: 0, to: 10_000 * MS, x: 0.0, w: 600.0, is_epoch: false };
    let texts: Vec<String> = time.ticks().into_iter().map(|t| t.text).collect();
    assert_eq!(texts, ["0.000 s", "2.000 s", "4.000 s", "6.000 s", "8.000 s", "10.000 s"]);
    // Of a clock the day is said once.
    let from = 1_795_305_540_000 * MS;
    let time = TimeAxis { from, to: from + 120_000 * MS, x: 0.0, w: 500.0, is_epoch: true };
    let texts: Vec<String> = time.ticks().into_iter().map(|t| t.text).collect();
    assert_eq!(texts, ["2026-11-21 23:59:00 UTC", "23:59:30", "2026-11-22 00:00:00 UTC", "00:00:30", "00:01:00"]);
    let time = TimeAxis { to: from + 300_000_000 * MS, ..time };
    let texts: Vec<String> = time.ticks().into_iter().map(|t| t.text).collect();
    assert_eq!(texts, ["2026-11-22", "2026-11-23", "2026-11-24", "2026-11-25"]);
}
