//! The report: heap size over time, the groups that grow most, and what refers to them. As text and as JSON.

use super::{bytes_text, count_text, gc_text, time_text, top_growing, uptime_text};
use crate::timeline::{Amount, GcPoint, Metric, NodeId, Source};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use serde::Serialize;
use std::fmt;

/// What goes into a report.
#[derive(Clone, Copy, Debug)]
pub struct ReportOptions {
    /// How many groups.
    pub top: usize,
    /// What growth is measured in.
    pub metric: Metric,
}

/// A report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of the JSON form: raised when a field changes its meaning or goes.
    pub version: u32,
    /// Id of the grouping; of trees that came grouped, their roles.
    pub grouping: String,
    /// What growth is measured in.
    pub metric: Metric,
    /// The heap at each point in time.
    pub times: Vec<HeapSize>,
    /// The strongest growing groups.
    pub growing: Vec<Growing>,
    /// What a person must know about it.
    pub warnings: Vec<Warning>,
}

/// The heap at one point in time.
#[derive(Clone, Debug, Serialize)]
pub struct HeapSize {
    /// The file, or the GC.
    pub label: String,
    /// Milliseconds since the Unix epoch, or since the program started where there is a `gc`; 0 when not known.
    pub millis: u64,
    /// The garbage collection this is the start or end of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc: Option<GcPoint>,
    /// What is grouped.
    pub heap: Amount,
    /// What no root reaches.
    pub unreachable: Amount,
}

/// A growing group.
#[derive(Clone, Debug, Serialize)]
pub struct Growing {
    /// Its key, as `--select` takes it.
    pub key: String,
    /// Its path for people.
    pub path: String,
    /// At the first time.
    pub first: Amount,
    /// At the last time.
    pub last: Amount,
    /// The most over time.
    pub peak: Amount,
    /// Last minus first.
    pub growth_objects: i64,
    /// Last minus first.
    pub growth_bytes: i64,
    /// Its main referrers at the last time.
    pub referrers: Vec<Referrer>,
    /// GC roots that hold it directly at the last time.
    pub roots: Vec<HeldBy>,
    /// From the group up along the strongest referrer each time.
    pub chain: Vec<String>,
    /// Why the chain ends there.
    pub chain_end: String,
}

/// A group that refers to another.
#[derive(Clone, Debug, Serialize)]
pub struct Referrer {
    /// Its key.
    pub key: String,
    /// Its name.
    pub name: String,
    /// How many of its objects refer.
    pub referencing: u64,
    /// How many objects they refer to.
    pub referenced: u64,
}

/// A GC root.
#[derive(Clone, Debug, Serialize)]
pub struct HeldBy {
    /// Kind and place.
    pub root: String,
    /// How many objects it holds.
    pub objects: u64,
}

const MOST_REFERRERS: usize = 4;
const MOST_ROOTS: usize = 3;
/// A chain longer than this tells no more.
const LONGEST_CHAIN: usize = 12;

/// Makes the report of a source.
///
/// # Errors
/// When a state cannot be loaded again, or the work was cancelled.
pub fn report(source: &Source, options: &ReportOptions, progress: &Progress) -> Result<Report> {
    let timeline = source.timeline();
    let times = timeline.points().iter().enumerate().map(|(t, point)| HeapSize {
        label: point.label.clone(),
        millis: point.millis,
        gc: point.gc.clone(),
        heap: timeline.amount(t, NodeId::ROOT),
        unreachable: point.unreachable,
    });
    let last = timeline.times().saturating_sub(1);
    let mut growing = Vec::new();
    for node in top_growing(timeline, options.metric, options.top) {
        let map = source.references(last, node, progress)?.unwrap_or_default();
        let (chain, chain_end) = chain(source, last, node, progress)?;
        growing.push(Growing {
            key: timeline.key(node),
            path: timeline.path_label(node),
            first: timeline.amount(0, node),
            last: timeline.amount(last, node),
            peak: timeline.max(node),
            growth_objects: timeline.growth(node, Metric::Objects),
            growth_bytes: timeline.growth(node, Metric::Bytes),
            referrers: map
                .incoming
                .iter()
                .take(MOST_REFERRERS)
                .map(|e| Referrer {
                    key: timeline.key(e.other),
                    name: timeline.display_name(e.other),
                    referencing: e.referencing,
                    referenced: e.referenced,
                })
                .collect(),
            roots: map.roots.iter().take(MOST_ROOTS).map(|(r, n)| HeldBy { root: r.clone(), objects: *n }).collect(),
            chain,
            chain_end,
        });
    }
    Ok(Report {
        version: 1,
        grouping: source.grouping_id(),
        metric: options.metric,
        times: times.collect(),
        growing,
        warnings: source.warnings(),
    })
}

/// Follows the referrer of most of the group's objects, upwards, until a root holds most of a group, nothing refers to
/// it, or the way returns to where it was.
fn chain(source: &Source, time: usize, start: NodeId, progress: &Progress) -> Result<(Vec<String>, String)> {
    let timeline = source.timeline();
    let mut seen = vec![start];
    let mut names = vec![timeline.display_name(start)];
    let mut at = start;
    loop {
        let Some(map) = source.references(time, at, progress)? else {
            return Ok((names, "the input does not say what refers to it".into()));
        };
        let strongest =
            map.incoming.iter().filter(|e| !seen.contains(&e.other)).max_by_key(|e| (e.referenced, e.referencing));
        let objects = timeline.amount(time, at).objects;
        if let Some((root, held)) = map.roots.first()
            && held * 2 >= objects.min(8)
            && strongest.is_none_or(|e| e.referenced * 2 <= objects || objects <= 8)
        {
            return Ok((names, format!("held by {root}")));
        }
        let Some(edge) = strongest else {
            return Ok((
                names,
                match map.roots.first() {
                    Some((root, _)) => format!("held by {root}"),
                    None if map.incoming.is_empty() => "nothing else refers to it".into(),
                    None => "the way leads back to groups above".into(),
                },
            ));
        };
        if names.len() >= LONGEST_CHAIN {
            return Ok((names, "and further up".into()));
        }
        at = edge.other;
        seen.push(at);
        names.push(timeline.display_name(at));
    }
}

impl Report {
    /// The report as JSON, indented.
    ///
    /// # Errors
    /// When something in it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|error| Error::Unusable {
            what: format!("The report cannot be written as JSON: {error}"),
            remedy: "Take it as text, and report this with the input".into(),
        })
    }
}

fn signed(value: i64, text: impl Fn(u64) -> String) -> String {
    let sign = if value < 0 { "-" } else { "+" };
    format!("{sign}{}", text(value.unsigned_abs()))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "HEAP OVER TIME")?;
        let width = self.times.iter().map(|t| t.label.chars().count()).max().unwrap_or(0).clamp(4, 40);
        // What cannot be known of a kind of input has no column.
        let trace = self.times.iter().any(|t| t.gc.is_some());
        let (what, taken, last) = match trace {
            true => ("GC", "at", "collection"),
            false => ("state", "taken", "unreachable"),
        };
        writeln!(f, "  {:>4}  {what:<width$}  {taken:<23}  {:>13}  {:>9}  {last:>11}", "#", "objects", "bytes")?;
        for (i, t) in self.times.iter().enumerate() {
            let (taken, last) = match &t.gc {
                Some(gc) => (uptime_text(t.millis), gc_text(gc)),
                None if t.millis == 0 => ("unknown".to_owned(), bytes_text(t.unreachable.bytes)),
                None => (time_text(t.millis), bytes_text(t.unreachable.bytes)),
            };
            writeln!(
                f,
                "  {:>4}  {:<width$}  {taken:<23}  {:>13}  {:>9}  {last:>11}",
                i + 1,
                t.label,
                count_text(t.heap.objects),
                bytes_text(t.heap.bytes),
            )?;
        }
        writeln!(f)?;
        let metric = match self.metric {
            Metric::Objects => "objects",
            Metric::Bytes => "bytes",
        };
        writeln!(f, "GROWS MOST  ({metric}, first to last; grouped by {})", self.grouping)?;
        if self.times.len() < 2 {
            writeln!(f, "  Only one state of the heap: growth needs a second one, later.")?;
        } else if self.growing.is_empty() {
            writeln!(f, "  No group is larger at the end than at the start.")?;
        }
        for (i, g) in self.growing.iter().enumerate() {
            writeln!(f, "  {:>2}. {}", i + 1, g.path)?;
            writeln!(
                f,
                "      {} objects, {}   ({} -> {} objects, {} -> {})",
                signed(g.growth_objects, count_text),
                signed(g.growth_bytes, bytes_text),
                count_text(g.first.objects),
                count_text(g.last.objects),
                bytes_text(g.first.bytes),
                bytes_text(g.last.bytes)
            )?;
            for r in &g.referrers {
                writeln!(
                    f,
                    "      <- {}: {} objects refer to {}",
                    r.name,
                    count_text(r.referencing),
                    count_text(r.referenced)
                )?;
            }
            for r in &g.roots {
                writeln!(f, "      <- root  {} ({} objects)", r.root, count_text(r.objects))?;
            }
            if g.chain.len() > 1 || !g.chain_end.is_empty() {
                writeln!(f, "      upwards: {}; {}", g.chain.join(" <- "), g.chain_end)?;
            }
        }
        if !self.warnings.is_empty() {
            writeln!(f, "\nWARNINGS")?;
            for warning in &self.warnings {
                writeln!(f, "  {warning}")?;
            }
        }
        Ok(())
    }
}
