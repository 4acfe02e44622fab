//! The message that a page begins with, in the words of the window: the leak, or the result of a comparison.

use memory_city::compared::{self, CompareWish, MadeComparison};
use memory_city_analysis::analyses::{self, Findings, LeakLines, LeakPlace, LeakVerdict, TimeWindow};
use memory_city_analysis::timeline::{Metric, Source, brief, worded};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_views::page::{PageFinding, PagePlace};

/// The leak; for data without references, the group that grows most.
pub(super) fn what_leaks(source: &Source, metric: Metric, progress: &Progress) -> Result<PageFinding> {
    let timeline = source.timeline();
    let window = TimeWindow::whole(timeline);
    let by_groups = |lacking: Option<&str>| {
        let verdict = LeakVerdict::of(None, lacking, timeline, metric);
        let notes = verdict.caveats.iter().map(|caveat| worded(caveat)).collect();
        Ok(PageFinding { sentence: verdict.line(), notes, ..PageFinding::default() })
    };
    if analyses::can_decide(source, window).is_err() {
        return by_groups(analyses::without_owners(source));
    }
    match analyses::decide(source, window, progress) {
        Ok(findings) => Ok(of_findings(source, metric, findings)),
        // A trace without references has the rest to tell.
        Err(Error::Unusable { what, .. }) => by_groups(Some(&what)),
        Err(error) => Err(error),
    }
}

fn of_findings(source: &Source, metric: Metric, findings: Findings) -> PageFinding {
    let timeline = source.timeline();
    let found: Vec<LeakPlace> = (0..).map_while(|number| LeakPlace::of(&findings, number)).collect();
    let verdict = analyses::verdict(timeline, metric);
    let single = timeline.times() < 2;
    let place = |leak: &LeakPlace| {
        let LeakLines { place, which, below, sentence, .. } =
            LeakLines::of(leak, timeline, leak.since(timeline, &verdict));
        let below = below.map(|below| format!("in {below}"));
        let elements = leak.elements_text(single).into_iter().chain(leak.kept_text(single)).collect::<Vec<_>>();
        let elements = Some(elements.join(", ")).filter(|text| !text.is_empty());
        PagePlace {
            which,
            place,
            whole: worded(&leak.place),
            sentence,
            facts: below.into_iter().chain(elements).chain(leak.filled_with(single)).collect(),
            way: leak.steps().map(|step| worded(&step)).collect(),
        }
    };
    let places: Vec<PagePlace> = found.iter().map(place).collect();
    let more = found.first().map_or(0, |first| first.others + 1 - places.len() as u64);
    let sentence = match places.is_empty() {
        true => LeakVerdict::of(Some(&findings), None, timeline, metric).line(),
        false => String::new(),
    };
    let title = if places.is_empty() { String::new() } else { LeakLines::title(timeline.times()).to_owned() };
    let notes = findings.notes.iter().map(|note| worded(note)).collect();
    PageFinding { title, sentence: worded(&sentence), places, more, notes, ..PageFinding::default() }
}

/// The result of comparing a source, whose title is `title`.
pub(super) fn what_differs(made: &MadeComparison, wish: &CompareWish, first: (&str, &Source)) -> PageFinding {
    let second = made.told.second.as_ref().map(|(name, _)| &**name);
    let [a, b] = compared::names(wish, first, second);
    // Names of types become brief, those of files stay.
    let sentence = if second.is_some() { brief(&made.told.sentence) } else { made.told.sentence.clone() };
    PageFinding {
        title: made.title_text().to_owned(),
        compared: vec![format!("A: {a}"), format!("B: {b}")],
        sentence,
        notes: made.told.said.iter().map(|line| worded(line.trim())).collect(),
        ..PageFinding::default()
    }
}
