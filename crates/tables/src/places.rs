//! Places of a process: a file of some kilobytes that says what is alive, what owns it, and what leaks. Many of them make a fleet.

use crate::file::{TableCell, TableFile};
use crate::schema::{PLACES, VERSION};
use memory_city_analysis::analyses::{Finding, LeakVerdict, TimeWindow};
use memory_city_analysis::timeline::{Source, by_uptime, names_of_key};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::FileReaders;
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Most findings in a summary.
const FOUND: usize = 100;
/// Places beside those of findings, those first that are largest or grew most.
const MOST: usize = 2000;

/// How the summary of a file begins in its metadata.
pub(crate) const SUMMARY_START: &str = "{\"memory-city.places\":";

/// What a fleet needs of a file of places: JSON in its metadata.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct PlacesSummary {
    /// The version of this form.
    #[serde(rename = "memory-city.places")]
    pub form: u32,
    pub process: String,
    #[serde(default)]
    pub version: String,
    /// Milliseconds since 1970.
    pub taken_at: u64,
    pub written_at: u64,
    pub verdict: String,
    #[serde(default)]
    pub headline: String,
    /// Bytes that roots reach, at first and at last.
    #[serde(default)]
    pub heap: (Option<u64>, Option<u64>),
    #[serde(default)]
    pub found: Vec<FoundPlaceSummary>,
}

/// A finding in a summary.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct FoundPlaceSummary {
    pub signature: String,
    /// Bytes that it retains, at first and at last.
    #[serde(default)]
    pub bytes: (Option<u64>, Option<u64>),
}

/// A file of places.
#[derive(Clone, Debug)]
pub struct PlacesRequest<'a> {
    /// The file.
    pub file: &'a Path,
    /// The name of the process.
    pub process: &'a str,
    /// The version of the program, if it is known.
    pub version: &'a str,
    /// What keeps objects alive.
    pub rules: KeepRules,
    /// Who may read it.
    pub readers: FileReaders,
}

/// What owns how much at the ends of a window.
#[derive(Clone, Copy, Default)]
struct PlaceBytes {
    first: Option<u64>,
    last: Option<u64>,
    objects: u64,
}

/// Writes the places of an input between two points in time. Finds the owners of both once more.
///
/// # Errors
/// When a heap state cannot be loaded again, the system refuses, or the work was cancelled.
pub fn write_places(
    source: &Source,
    window: TimeWindow,
    verdict: &LeakVerdict,
    findings: &[Finding],
    request: &PlacesRequest<'_>,
    progress: &Progress,
) -> Result<()> {
    let places = owned(source, window, request.rules, progress)?;
    let columns = PLACES.columns.iter().map(|column| (column.name, column.kind, column.about));
    let mut table = TableFile::begin(request.file.to_owned(), columns, request.readers)?;
    let points = source.timeline().points();
    let taken = points.get(window.to).filter(|_| !by_uptime(points)).map(|point| point.millis).filter(|t| *t > 0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let texts = [request.process, request.version].map(TableCell::some_text);
    let common = || {
        let [process, version] = texts.clone();
        [
            process,
            version,
            TableCell::count(taken.unwrap_or(now)),
            TableCell::count((window.to - window.from) as u64 + 1),
        ]
    };
    let row = |place: TableCell, bytes: PlaceBytes, found: [TableCell; 2]| {
        let amounts = [bytes.first, bytes.last].map(TableCell::counted);
        let cells = common().into_iter().chain([place]).chain(amounts).chain([TableCell::count(bytes.objects)]);
        cells.chain(found).collect::<Vec<_>>()
    };
    // Verdicts from class counts know no heap.
    let [first, last] = [verdict.heap.0, verdict.heap.1].map(|bytes| Some(bytes).filter(|_| verdict.heap != (0, 0)));
    let heap = PlaceBytes { first, last, objects: 0 };
    let named = || findings.iter().filter(|finding| !finding.signature.is_empty());
    let summary = PlacesSummary {
        form: VERSION,
        process: request.process.to_owned(),
        version: request.version.to_owned(),
        taken_at: taken.unwrap_or(now),
        written_at: now,
        verdict: verdict.kind.tag().to_owned(),
        headline: verdict.headline.clone(),
        heap: (first, last),
        found: named()
            .take(FOUND)
            .map(|finding| {
                let PlaceBytes { first, last, .. } = of_finding(finding);
                FoundPlaceSummary { signature: finding.signature.clone(), bytes: (first, last) }
            })
            .collect(),
    };
    table.describe("memory-city.places", serde_json::to_string(&summary).unwrap_or_default());
    table.push(row(
        TableCell::Null,
        heap,
        [TableCell::text(verdict.kind.tag()), TableCell::text(&verdict.headline)],
    ))?;
    for finding in named() {
        let owner = finding.place.as_ref().map(|place| path_of_key(&place.owner)).filter(|path| !path.is_empty());
        let path = owner.map_or_else(|| TableCell::text(&finding.signature), TableCell::Text);
        table.push(row(
            path,
            of_finding(finding),
            [TableCell::text(&finding.signature), TableCell::text(&finding.headline)],
        ))?;
    }
    let weight = |of: &PlaceBytes| {
        let (first, last) = (of.first.unwrap_or(0), of.last.unwrap_or(0));
        last.max(last.abs_diff(first))
    };
    let mut rest: Vec<(Arc<str>, PlaceBytes)> = places.into_iter().collect();
    rest.sort_by(|a, b| weight(&b.1).cmp(&weight(&a.1)).then_with(|| a.0.cmp(&b.0)));
    let left = rest.split_off(rest.len().min(MOST));
    if !left.is_empty() {
        let sum = |of: fn(&PlaceBytes) -> u64| left.iter().map(|(_, bytes)| of(bytes)).sum();
        let first = Some(sum(|of| of.first.unwrap_or(0))).filter(|_| window.from < window.to);
        let all = PlaceBytes { first, last: Some(sum(|of| of.last.unwrap_or(0))), objects: sum(|of| of.objects) };
        rest.push((format!("({} smaller places)", left.len()).into(), all));
    }
    for (place, bytes) in rest {
        table.push(row(TableCell::Text(place), bytes, [TableCell::Null, TableCell::Null]))?;
    }
    let complete = table.finish()?;
    complete.place.complete(request.file)
}

/// The bytes of each place at both ends. Empty without heap states.
fn owned(
    source: &Source,
    window: TimeWindow,
    rules: KeepRules,
    progress: &Progress,
) -> Result<FxHashMap<Arc<str>, PlaceBytes>> {
    let mut places: FxHashMap<Arc<str>, PlaceBytes> = FxHashMap::default();
    let Some(history) = source.heaps() else { return Ok(places) };
    let is_alone = window.from == window.to;
    for time in [window.from, window.to].into_iter().skip(usize::from(is_alone)) {
        let (_, tree) = history.owners(time, rules, progress)?;
        for (number, node) in (0u32..).zip(tree.nodes()).skip(1).filter(|(_, node)| node.own.objects > 0) {
            let names: Vec<&str> = tree.path(number).into_iter().map(|name| &**name).collect();
            let of = places.entry(names.join(" › ").into()).or_default();
            let end = if time == window.to { &mut of.last } else { &mut of.first };
            *end = Some(end.unwrap_or(0) + node.own.bytes);
            of.objects += if time == window.to { node.own.objects } else { 0 };
        }
    }
    Ok(places)
}

/// `thread main › a.B.list` for the key of a place.
fn path_of_key(key: &str) -> Arc<str> {
    names_of_key(key).into_iter().skip(1).collect::<Vec<_>>().join(" › ").into()
}

fn of_finding(finding: &Finding) -> PlaceBytes {
    let number = |id: &str| finding.number(id).map(|n| n.max(0.0) as u64);
    PlaceBytes { first: number("retained_first"), last: number("retained"), objects: 0 }
}
