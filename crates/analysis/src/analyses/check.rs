//! Checks for build pipelines: fails if anything accumulates or a limit is exceeded, and names the owners.
//!
//! Without a limit every finding of the detectors that make the verdict is a failure, unless it is expected. With limits they alone decide.
//! [`CheckReport`] serialises as the JSON form that `docs/report-json.md` describes.

mod expected;
mod limits;
mod short_names;

pub use expected::ExpectedLeak;
use limits::LimitOf;
pub use limits::{GrowthLimit, RetainedLimit};
use short_names::full_names;

use super::backlog::kept_by_finalizers;
use super::cut::field_references;
use super::report::{self, Report};
use super::{Certainty, Finding, LeakVerdict, TimeWindow, VerdictKind};
use crate::group::Reads;
use crate::ownership::OwnerTree;
use crate::ownership::holders::{NamedObjects, describe, named_objects};
use crate::table::{Arrangement, TableShape, TreeTable};
use crate::tabular::{bytes_text, count_text, several};
use crate::timeline::{ClosureMetric, History, Metric, NodeId, Source};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, RootKind, TypeId};
use std::sync::Arc;

/// The limits. Without any, nothing may accumulate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckLimits {
    /// How much more may stay in memory at the last time than at the first.
    pub growth: Option<GrowthLimit>,
    /// Limits on the retained size of groups at the last time.
    pub retained: Vec<RetainedLimit>,
    /// Leaks that are no failure.
    pub expected: Vec<ExpectedLeak>,
    /// If true, soft references do not keep their targets.
    pub soft_as_weak: bool,
    /// If true, an input that cannot be judged (no roots, cut off, most of it unreachable) is no failure.
    pub allow_incomplete: bool,
}

/// The result for one limit, or one accumulation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CheckFinding {
    /// `accumulation`, `expected`, `max-growth`, `max-retained`; [`INCOMPLETE`] for an input that could not be judged.
    pub id: &'static str,
    /// The subject of the check, for people.
    pub title: String,
    /// Whether it is as it should be.
    pub passed: bool,
    /// The result in a sentence.
    pub message: String,
    /// The owners, in lines.
    pub details: Vec<String>,
    /// Bytes that were compared with the limit: retained, or grown. `None` where nothing was.
    pub bytes: Option<i64>,
}

/// The id of the finding that says that the input could not be judged.
pub const INCOMPLETE: &str = "incomplete";

impl CheckReport {
    /// Whether nothing failed but that the input could not be judged.
    pub fn is_unjudged(&self) -> bool {
        let mut failed = self.checks.iter().filter(|finding| !finding.passed).peekable();
        failed.peek().is_some() && failed.all(|finding| finding.id == INCOMPLETE)
    }
}

/// The result of a check.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CheckReport {
    /// Version of the JSON form, that of reports.
    pub version: u32,
    /// Whether all is as it should be.
    pub passed: bool,
    /// The first time, counted from 1.
    pub from: usize,
    /// The last.
    pub to: usize,
    /// Warnings about the result.
    pub warnings: Vec<Warning>,
    /// One for each limit; without any, one for each accumulation.
    pub checks: Vec<CheckFinding>,
    /// The verdict, if there are no limits.
    pub verdict: Option<LeakVerdict>,
    /// The findings behind the verdict, if it was looked for.
    pub report: Option<Report>,
}

/// Checks a source.
///
/// # Errors
/// When the input has no data for the check (one dump has no growth), a state cannot be loaded again, or the work was cancelled.
pub fn check(source: &Source, window: TimeWindow, limits: &CheckLimits, progress: &Progress) -> Result<CheckReport> {
    let rules = if limits.soft_as_weak { KeepRules::SOFT_AS_WEAK } else { KeepRules::default() };
    let mut report = CheckReport {
        version: report::VERSION,
        passed: true,
        from: window.from + 1,
        to: window.to + 1,
        warnings: source.warnings(),
        checks: Vec::new(),
        verdict: None,
        report: None,
    };
    if limits.growth.is_none() && limits.retained.is_empty() {
        let found = leaks(source, window, limits, progress)?;
        report.verdict = LeakVerdict::strongest(found.parts.iter().map(|part| &part.findings));
        report.checks = accumulations(&found, report.verdict.as_ref(), limits.allow_incomplete);
        if !limits.expected.is_empty() {
            report.expect(&found, &limits.expected);
        }
        report.report = Some(found);
    }
    if let Some(limit) = limits.growth {
        let mut finding = growth(source, window, limit, rules, progress)?;
        if !finding.passed {
            // Whoever cannot be told who owns it is told how much it is.
            match leaks(source, window, limits, progress) {
                Ok(found) => {
                    finding.details = found.parts.iter().flat_map(|part| part.findings.answers.clone()).collect();
                    report.report = Some(found);
                }
                Err(Error::Unusable { what, .. }) => finding.details.push(format!("{what}.")),
                Err(error) => return Err(error),
            }
        }
        report.checks.push(finding);
    }
    for limit in &limits.retained {
        let mut finding = retained_or_kept(source, window, limit, rules, progress)?;
        if finding.bytes.is_none() && limit.is_named() {
            (finding.id, finding.passed) = (INCOMPLETE, limits.allow_incomplete);
        }
        report.checks.push(finding);
    }
    // Warnings of states that were read for the limits are among them.
    report.warnings = source.warnings();
    let reasons = super::unjudged(&report.warnings);
    if let Some(first) = reasons.first() {
        let finding = CheckFinding {
            id: INCOMPLETE,
            title: "The input can be judged".into(),
            passed: limits.allow_incomplete,
            message: first.clone(),
            details: reasons[1..].to_vec(),
            bytes: None,
        };
        report.checks.insert(0, finding);
    }
    report.passed = report.checks.iter().all(|finding| finding.passed);
    Ok(report)
}

/// Most accumulations with a finding of their own.
const MOST: &str = "20";

fn leaks(source: &Source, window: TimeWindow, limits: &CheckLimits, progress: &Progress) -> Result<Report> {
    if window.from == window.to {
        return Err(Error::Unusable {
            what: "What accumulates cannot be told from one point in time".into(),
            remedy: "Give two dumps or more, record until there are two walks, or use --max-retained with a limit"
                .into(),
        });
    }
    let soft = if limits.soft_as_weak { "as-weak" } else { "keep" };
    report::decided(source, window, &[("top", MOST), ("soft", soft)], progress)
}

fn accumulations(found: &Report, verdict: Option<&LeakVerdict>, allow_incomplete: bool) -> Vec<CheckFinding> {
    let finding = |title: String, passed, message: String| CheckFinding {
        id: "accumulation",
        title,
        passed,
        message,
        details: Vec::new(),
        bytes: None,
    };
    if found.findings().next().is_none() {
        let verdict = verdict.cloned().unwrap_or_default();
        let (title, passed) = match verdict.kind {
            VerdictKind::Unknown => ("The growth can be judged", allow_incomplete),
            _ if verdict.is_well() => ("Nothing accumulates", true),
            _ => ("The heap grows", false),
        };
        let mut all = finding(title.into(), passed, format!("{}.", verdict.headline));
        if verdict.kind == VerdictKind::Unknown {
            all.id = INCOMPLETE;
        }
        all.details = verdict.caveats;
        return vec![all];
    }
    let accumulates = |of: &Finding| if of.certainty == Certainty::Open { "May accumulate" } else { "Accumulates" };
    let failed = |of: &Finding| {
        // Names of sharers say less than that of the first line.
        let tells = |name: &&str| of.signature.is_empty() || !name.starts_with("shared by");
        let place = of.place.as_ref().map(|place| &*place.name).filter(tells);
        let place = place.unwrap_or(if of.signature.is_empty() { &of.headline } else { &of.signature });
        let (sentence, lines) = of.details.split_first().map_or((&of.headline, &[][..]), |details| details);
        let name =
            Some(&of.signature).filter(|name| !name.is_empty()).map(|name| format!("Name for --expected: {name}"));
        let details = lines.iter().map(|line| line.trim().to_owned()).chain(name).collect();
        CheckFinding { details, ..finding(format!("{}: {place}", accumulates(of)), false, sentence.clone()) }
    };
    let mut findings: Vec<CheckFinding> = found.findings().map(failed).collect();
    // How sure that is.
    if let Some(first) = findings.first_mut() {
        first.details.extend(found.parts.iter().flat_map(|part| &part.findings.notes).cloned());
    }
    let left_out = found.parts.iter().filter_map(|part| part.findings.tables.first()?.left_out.as_ref());
    let more = left_out.filter(|(more, _)| *more > 0).map(|(more, what)| format!("And {more} more {what}."));
    // The surest come first.
    let last = found.findings().last().map_or("Accumulates", accumulates);
    findings.extend(more.map(|text| finding(format!("{last}: more"), false, text)));
    findings
}

/// Bytes that stay in memory at a time: of all that roots keep, and of what waits for finalizers. Without known roots, of all counted
/// objects.
fn heap_bytes(source: &Source, time: usize, rules: KeepRules, progress: &Progress) -> Result<u64> {
    if let Some(heaps) = source.heaps() {
        let owners = heaps.owners_at(&[time], rules, Reads::REFERENCES | Reads::ROOTS, progress)?;
        if let Some(places) = owners.into_iter().find_map(|owners| owners.places) {
            let question = format!("kept by finalizers {time}");
            let key = heaps.answer_key(&question, false);
            let waiting = match key.as_ref().and_then(|key| key.kept::<u64>()) {
                Some(waiting) => waiting,
                None => {
                    let waiting = kept_by_finalizers(&*heaps.heap(time, progress)?, progress)?;
                    if let Some(key) = key {
                        key.keep(&waiting);
                    }
                    waiting
                }
            };
            return Ok(places.total().bytes + waiting);
        }
    }
    let timeline = source.timeline();
    Ok(timeline.nodes().next().map_or(0, |root| timeline.amount(time, root).bytes))
}

fn growth(
    source: &Source,
    window: TimeWindow,
    limit: GrowthLimit,
    rules: KeepRules,
    progress: &Progress,
) -> Result<CheckFinding> {
    if window.from == window.to {
        return Err(Error::Unusable {
            what: "Growth cannot be told from one point in time".into(),
            remedy: "Give two dumps or more, or only --max-retained".into(),
        });
    }
    let first = heap_bytes(source, window.from, rules, progress)?;
    let last = heap_bytes(source, window.to, rules, progress)?;
    let bytes = super::change(first, last);
    let percent = match first {
        0 if last == 0 => 0.0,
        0 => f64::INFINITY,
        _ => 100.0 * bytes as f64 / first as f64,
    };
    let (passed, limit) = match limit {
        GrowthLimit::Percent(most) => (percent <= most, format!("{most} %")),
        GrowthLimit::Bytes(most) => (bytes <= 0 || bytes as u64 <= most, bytes_text(most)),
    };
    let (sign, verb) = if bytes < 0 { ('-', "shrank") } else { ('+', "grew") };
    let text = format!(
        "The heap {verb} by {:.1} % ({sign}{}, from {} to {})",
        percent.abs(),
        bytes_text(bytes.unsigned_abs()),
        bytes_text(first),
        bytes_text(last)
    );
    Ok(CheckFinding {
        id: "max-growth",
        title: format!("The heap grows by at most {limit}"),
        passed,
        message: if passed { format!("{text}.") } else { format!("{text}, more than {limit}.") },
        details: Vec::new(),
        bytes: Some(bytes),
    })
}

/// The heap states of a source, if the last of the window has the data for limits.
fn heaps_of<'s>(source: &'s Source, time: usize, progress: &Progress) -> Result<&'s History> {
    let lacks = |what: &str, lacks: &str| Error::Unusable {
        what: format!("What groups retain cannot be found: that needs {lacks}, which {what} does not hold"),
        remedy: "Take a heap dump, or record a trace with references and GC roots".into(),
    };
    let heaps = source.heaps().ok_or_else(|| lacks("a tree", "objects"))?;
    let mut needs = Reads::REFERENCES;
    needs.set(Reads::ROOTS, !heaps.is_recorded());
    match needs.difference(Reads::known_of(&*heaps.heap(time, progress)?)) {
        missing if missing.is_empty() => Ok(heaps),
        missing => Err(lacks("this input", &missing.names())),
    }
}

/// The result of a limit, cached for the next check of the same dumps: passed, message, details, bytes.
type StoredCheck = (bool, String, Vec<String>, Option<i64>);

/// As [`retained`], which needs heap states; from the cache if it was found before.
fn retained_or_kept(
    source: &Source,
    window: TimeWindow,
    limit: &RetainedLimit,
    rules: KeepRules,
    progress: &Progress,
) -> Result<CheckFinding> {
    let grouped = limit.of == LimitOf::Groups;
    let question = format!("max-retained by owners {}-{} {rules:?} {:?}", window.from, window.to, limit.text);
    let key = source.heaps().and_then(|heaps| heaps.answer_key(&question, grouped));
    if let Some((passed, message, details, bytes)) = key.as_ref().and_then(|key| key.kept::<StoredCheck>()) {
        return Ok(CheckFinding { passed, message, details, bytes, ..finding_of(limit) });
    }
    let found = retained(source, window, limit, rules, progress)?;
    if let Some(key) = key {
        key.keep(&(found.passed, &found.message, &found.details, found.bytes));
    }
    Ok(found)
}

/// Before anything was found.
fn finding_of(limit: &RetainedLimit) -> CheckFinding {
    CheckFinding {
        id: "max-retained",
        title: format!("Nothing with {}", limit.text.trim()),
        passed: true,
        message: String::new(),
        details: Vec::new(),
        bytes: None,
    }
}

fn retained(
    source: &Source,
    window: TimeWindow,
    limit: &RetainedLimit,
    rules: KeepRules,
    progress: &Progress,
) -> Result<CheckFinding> {
    let heaps = heaps_of(source, window.to, progress)?;
    let mut finding = finding_of(limit);
    let (name, comparison, most) = match &limit.of {
        LimitOf::Named(name, comparison, most) => (name, *comparison, most.value()),
        LimitOf::Groups => return groups(source, heaps, window, limit, rules, finding, progress),
    };
    let (heap, tree) = heaps.owners(window.to, rules, progress)?;
    // A method that just works on an object does not own it.
    let rules = rules.for_owners();
    let objects_called = |name: &str| match named_objects(&heap, &tree, rules, name, progress)? {
        Some(found) => Ok(Some(found)),
        None => field_objects(heaps, window.to, &tree, rules, name, progress),
    };
    let mut found = objects_called(name)?;
    if found.is_none() {
        let values = heaps.values(window.to, progress)?;
        let declares = |t: TypeId, field: &str| {
            let is_static = || {
                let full = format!("{}.{field}", heap.types()[t.0 as usize].name);
                heap.roots().iter().any(|root| root.kind == RootKind::StaticField && root.detail == full)
            };
            values.as_ref().is_some_and(|values| values.place(t, field).is_some()) || is_static()
        };
        match &full_names(&heap, name, &declares)[..] {
            [] => (),
            [full] => found = objects_called(full)?,
            several => {
                let some: Vec<&str> = several.iter().take(NAMED).map(String::as_str).collect();
                return Err(Error::Unusable {
                    what: format!("{name} is the name of {} types: {}", several.len(), some.join(", ")),
                    remedy: "Write it with its package".into(),
                });
            }
        }
    }
    let Some(found) = found else {
        finding.message = format!(
            "Nothing is called {name} at the last point in time: no type, no field of one, and no owner. Write the name with its package, \
                 or an owner as the report has it below WHAT LEAKS; --allow-incomplete lets names pass that are not there."
        );
        return Ok(finding);
    };
    finding.passed = !comparison.holds(found.retained.bytes as f64, most);
    finding.bytes = Some(i64::try_from(found.retained.bytes).unwrap_or(i64::MAX));
    finding.message = format!("{}.", amount_text(name, &found));
    if !finding.passed {
        finding.details = place_lines(&found);
    }
    Ok(finding)
}

/// Types of one name without package that a message has.
const NAMED: usize = 5;

/// The objects in a field of a class, over all its instances; `None` without such a class.
///
/// # Errors
/// When the class has no such field, or the input has no field values: a limit that cannot be checked does not pass.
fn field_objects(
    heaps: &History,
    time: usize,
    tree: &OwnerTree,
    rules: KeepRules,
    name: &str,
    progress: &Progress,
) -> Result<Option<NamedObjects>> {
    let heap = heaps.heap(time, progress)?;
    let Some((class, field)) = name.rsplit_once('.') else { return Ok(None) };
    if !heap.types().iter().any(|t| *t.name == *class) {
        return Ok(None);
    }
    let unusable = |what: String| Error::Unusable {
        what,
        remedy: "Name a type, a field of a class, or an owner as `report` names it".into(),
    };
    let mut held = BitSet::new(heap.object_count());
    let Some(values) = heaps.values(time, progress)? else {
        // Static fields are roots, whatever keeps their class.
        let named = heap.roots().iter().filter(|root| root.kind == RootKind::StaticField && *root.detail == *name);
        named.for_each(|root| _ = held.insert(root.object.0));
        if held.iter().next().is_some() {
            return describe(&heap, tree, rules, held, progress).map(Some);
        }
        return Err(unusable(format!(
            "There is no static field {name} that keeps anything alone, and the input does not say what fields of objects hold"
        )));
    };
    let found = field_references(&heap, &values, rules, (class, field), progress)?;
    // Of a class without objects nobody sees which fields they would have.
    let has_objects = || heap.objects().any(|o| *heap.types()[heap.type_of(o).0 as usize].name == *class);
    if !found.is_there && has_objects() {
        return Err(unusable(format!("{class} has no field {field}")));
    }
    found.references.iter().for_each(|(_, to)| _ = held.insert(to.0));
    describe(&heap, tree, rules, held, progress).map(Some)
}

/// Any group of the tree that an expression holds for.
fn groups(
    source: &Source,
    heaps: &History,
    window: TimeWindow,
    limit: &RetainedLimit,
    rules: KeepRules,
    mut finding: CheckFinding,
    progress: &Progress,
) -> Result<CheckFinding> {
    let metrics: &[ClosureMetric] = match limit.text.contains("deep") {
        true => &ClosureMetric::CLOSURES,
        false => &[ClosureMetric::Retained, ClosureMetric::RetainedObjects],
    };
    let closed = source.with_closures(metrics, rules, progress)?;
    let table = TreeTable::new(Arc::clone(closed.timeline()), Some(window), Metric::default(), progress)?;
    let filter = table.filter(&limit.text).map_err(|error| error.into_error(&limit.text))?;
    let sort = Some(table.sort("retained", true)?);
    let arrangement = Arrangement { sort, filter: Some(filter), shape: TableShape::Leaves, ..Arrangement::default() };
    let fits: Vec<NodeId> = table.rebuild(&arrangement, progress)?.rows;
    finding.passed = fits.is_empty();
    finding.message = match fits.len() {
        0 => "No group is like that.".to_owned(),
        1 => "One group is like that.".to_owned(),
        n => format!("{} groups are like that.", count_text(n as u64)),
    };
    if fits.is_empty() {
        return Ok(finding);
    }
    let (heap, tree) = heaps.owners(window.to, rules, progress)?;
    for &node in fits.iter().take(GROUPS) {
        let objects = heaps.objects_of(window.to, &[node], progress)?.objects;
        let found = describe(&heap, &tree, rules, objects, progress)?;
        finding.details.push(format!("{}:", amount_text(&closed.timeline().path_label(node), &found)));
        finding.details.extend(place_lines(&found).into_iter().map(|line| format!("  {line}")));
    }
    if fits.len() > GROUPS {
        finding.details.push(format!("and {} more groups", count_text((fits.len() - GROUPS) as u64)));
    }
    Ok(finding)
}

/// Groups that are described one by one.
const GROUPS: usize = 10;

fn amount_text(name: &str, found: &NamedObjects) -> String {
    let (objects, retained) = (found.amount.objects, bytes_text(found.retained.bytes));
    match objects {
        1 => format!("{name}: 1 object retains {retained}"),
        _ => format!("{name}: {} objects retain {retained}", count_text(objects)),
    }
}

fn place_lines(found: &NamedObjects) -> Vec<String> {
    let mut lines: Vec<String> =
        found.places.iter().map(|(place, n)| format!("{} in {place}", count_text(*n))).collect();
    if found.more_places > 0 {
        lines.push(format!("and others in {}", several(found.more_places, "more place", "more places")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::FilterComparison;

    #[test]
    fn limits_are_read_and_mistakes_explained() {
        assert_eq!("5%".parse(), Ok(GrowthLimit::Percent(5.0)));
        assert_eq!("0.5 %".parse(), Ok(GrowthLimit::Percent(0.5)));
        assert_eq!("20MB".parse(), Ok(GrowthLimit::Bytes(20_000_000)));
        assert_eq!("2KiB".parse(), Ok(GrowthLimit::Bytes(2048)));
        for wrong in ["", "%", "-5%", "NaN%", "inf%", "five", "5 or bytes > 3", "20ms", "-3MB"] {
            let error = wrong.parse::<GrowthLimit>().expect_err(wrong);
            assert!(error.contains("write 5% or 20MB"), "{error}");
        }
        let named = |text: &str| match text.parse::<RetainedLimit>().expect(text).of {
            LimitOf::Named(name, comparison, most) => (name, comparison, most.value()),
            LimitOf::Groups => panic!("{text} is about groups"),
        };
        assert_eq!(named("com.acme.Session > 50MB"), ("com.acme.Session".into(), FilterComparison::More, 50e6));
        assert_eq!(named("byte[]>=1KiB"), ("byte[]".into(), FilterComparison::AtLeast, 1024.0));
        assert_eq!(named("List<int> > 3kB"), ("List<int>".into(), FilterComparison::More, 3000.0));
        assert_eq!(named("\"a b\" > 3"), ("a b".into(), FilterComparison::More, 3.0));
        assert_eq!(named("a.B.all > java.util.HashMap > 3MB").0, "a.B.all > java.util.HashMap");
        for groups in ["retained > 5MB", "bytes > 1MB and name ~ \"acme\"", "retained-objects > 3"] {
            assert_eq!(groups.parse::<RetainedLimit>().expect(groups).of, LimitOf::Groups);
        }
        for (wrong, said) in [
            ("", "Limits look like"),
            ("com.acme.Session", "Limits look like"),
            ("com.acme.Session > much", "^"),
            ("com.acme.Session < 5MB", "say what is too much"),
            ("com.acme.Session = 5MB", "say what is too much"),
            ("retained > 5MB and > 3", "^"),
            ("> 5MB", "Limits look like"),
        ] {
            let error = wrong.parse::<RetainedLimit>().expect_err(wrong);
            assert!(error.contains(said), "{wrong}: {error}");
        }
    }
}
