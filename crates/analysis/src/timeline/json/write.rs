//! Writer of a timeline as JSON, one line per time.

use super::format::{FORMAT, VERSION};
use crate::timeline::all_references::TimeReferences;
use crate::timeline::key::NodeId;
use crate::timeline::nodes::Timeline;
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::io::Write;
use std::path::Path;

/// How the times stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// One document with `times`.
    #[default]
    Document,
    /// JSON Lines: a document per time, so that programs can read them one by one.
    Lines,
}

/// Gives the references of a time; `None` when none are known.
pub type ReferencesOf<'a> = dyn Fn(usize) -> Result<Option<TimeReferences>> + 'a;

/// Writes a timeline. With `references`, each time has its references, listed at the referring end, and the objects of GC roots. `name` is
/// the output's name in messages.
///
/// # Errors
/// When the output refuses, a reference map fails, or the work was cancelled.
pub fn write(
    timeline: &Timeline,
    references: Option<&ReferencesOf<'_>>,
    form: Form,
    out: &mut dyn Write,
    name: &Path,
    progress: &Progress,
) -> Result<()> {
    progress.begin("Writing JSON", timeline.times() as u64);
    let mut out = JsonOutput { out, name };
    let head = format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION}");
    if form == Form::Document {
        out.text(&format!("{head},\"times\":["))?;
    }
    for t in 0..timeline.times() {
        progress.check()?;
        match form {
            Form::Document => out.text(if t == 0 { "\n{" } else { ",\n{" })?,
            Form::Lines => out.text(&format!("{head},"))?,
        }
        let references = references.map(|of| of(t)).transpose()?.flatten();
        time(timeline, t, references.as_ref(), &mut out)?;
        out.text(if form == Form::Lines { "}\n" } else { "}" })?;
        progress.advance(1);
    }
    if form == Form::Document {
        out.text("\n]}\n")?;
    }
    out.out.flush().map_err(|e| Error::io(name, e))
}

/// One time of a timeline as JSON, without the head of a document: the form for appending to a live city.
///
/// # Errors
/// When the output refuses.
pub fn write_time(
    timeline: &Timeline,
    t: usize,
    references: Option<&TimeReferences>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut out = JsonOutput { out, name: Path::new("the message") };
    out.text("{")?;
    time(timeline, t, references, &mut out)?;
    out.text("}")
}

struct JsonOutput<'a> {
    out: &'a mut dyn Write,
    name: &'a Path,
}

impl JsonOutput<'_> {
    fn text(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).map_err(|e| Error::io(self.name, e))
    }

    /// A text in quotes, escaped.
    fn quoted(&mut self, text: &str) -> Result<()> {
        serde_json::to_writer(&mut *self.out, text).map_err(|e| Error::io(self.name, e.into()))
    }

    fn amount(&mut self, amount: Amount) -> Result<()> {
        self.text(&format!("\"objects\":{},\"bytes\":{}", amount.objects, amount.bytes))
    }
}

fn time(timeline: &Timeline, t: usize, references: Option<&TimeReferences>, out: &mut JsonOutput<'_>) -> Result<()> {
    let point = &timeline.points()[t];
    out.text("\"label\":")?;
    out.quoted(&point.label)?;
    // 0 stands for a time that is not known. In front of others it may be meant, and keeps the order.
    let (before, after) = timeline.points().split_at(t);
    let first = || before.iter().all(|p| p.millis == 0) && after.iter().any(|p| p.millis != 0);
    if point.millis != 0 || first() {
        out.text(&format!(",\"timestamp\":{}", point.millis))?;
    }
    if let Some(gc) = &point.gc {
        out.text(",\"gc\":")?;
        serde_json::to_writer(&mut *out.out, gc).map_err(|e| Error::io(out.name, e.into()))?;
    }
    if point.unreachable != Amount::default() {
        out.text(",\"unreachable\":{")?;
        out.amount(point.unreachable)?;
        out.text("}")?;
    }
    if let Some(sampled) = point.sampled {
        out.text(",\"sampled\":")?;
        serde_json::to_writer(&mut *out.out, &sampled).map_err(|e| Error::io(out.name, e.into()))?;
    }
    let present = present(timeline, t);
    let mut nested: Vec<&str> = timeline.nested_roles().collect();
    nested.sort_unstable();
    for (i, role) in nested.iter().enumerate() {
        out.text(if i == 0 { ",\"nested-roles\":[" } else { "," })?;
        out.quoted(role)?;
    }
    if !nested.is_empty() {
        out.text("]")?;
    }
    if overlaps(timeline, t) {
        out.text(",\"overlaps\":true")?;
    }
    out.text(",\"tree\":")?;
    tree(timeline, t, &present, out)?;
    if let Some(references) = references {
        maps(timeline, references, out)?;
    }
    Ok(())
}

/// The nodes written at a time: those with any amount, and their ancestors. Nodes that never have an amount are written at the first time,
/// so that none is lost.
fn present(timeline: &Timeline, t: usize) -> Vec<bool> {
    let nothing = Amount::default();
    let is_here = |n| timeline.amount(t, n) != nothing || (t == 0 && timeline.max(n) == nothing);
    let mut present: Vec<bool> = timeline.nodes().map(is_here).collect();
    present[0] = true;
    for node in timeline.nodes().rev() {
        if let Some(parent) = timeline.parent(node) {
            present[parent.index()] |= present[node.index()];
        }
    }
    present
}

/// Whether groups overlap: somewhere, children together have more than their parent.
fn overlaps(timeline: &Timeline, t: usize) -> bool {
    timeline.nodes().filter(|&n| !timeline.is_leaf(n)).any(|node| {
        let own = timeline.amount(t, node);
        let of = |of: fn(Amount) -> u64| {
            let children = timeline.children(node).iter().map(|&c| of(timeline.amount(t, c)));
            children.fold(0u64, u64::saturating_add)
        };
        of(|a| a.objects) > own.objects || of(|a| a.bytes) > own.bytes
    })
}

fn tree(timeline: &Timeline, t: usize, present: &[bool], out: &mut JsonOutput<'_>) -> Result<()> {
    // Nodes that are open, with the children that are still to come. No recursion: trees may be deep.
    let mut open: Vec<std::slice::Iter<'_, NodeId>> = Vec::new();
    let begin = |node: NodeId, out: &mut JsonOutput<'_>| -> Result<_> {
        out.text("{\"name\":")?;
        out.quoted(timeline.name(node))?;
        out.text(",\"role\":")?;
        out.quoted(timeline.role(node))?;
        out.text(",")?;
        out.amount(timeline.amount(t, node))?;
        Ok(timeline.children(node).iter())
    };
    open.push(begin(NodeId::ROOT, out)?);
    let mut first = true;
    while let Some(children) = open.last_mut() {
        match children.find(|c| present[c.index()]) {
            Some(&child) => {
                out.text(if first { ",\"children\":[" } else { "," })?;
                open.push(begin(child, out)?);
                first = true;
            }
            None => {
                out.text(if first { "}" } else { "]}" })?;
                open.pop();
                first = false;
            }
        }
    }
    Ok(())
}

fn maps(timeline: &Timeline, references: &TimeReferences, out: &mut JsonOutput<'_>) -> Result<()> {
    // Also where there are none: that is known, then.
    out.text(",\n \"points-to\":{")?;
    let mut separator = "";
    for of_one in references.pairs.chunk_by(|a, b| a.from == b.from) {
        out.text(separator)?;
        separator = ",\n  ";
        out.quoted(&timeline.key(of_one[0].from))?;
        for (i, pair) in of_one.iter().enumerate() {
            out.text(if i == 0 { ":{" } else { "," })?;
            out.quoted(&timeline.key(pair.to))?;
            out.text(&format!(
                ":{{\"referencing\":{},\"referenced\":{},\"references\":{}}}",
                pair.referencing, pair.referenced, pair.references
            ))?;
        }
        out.text("}")?;
    }
    out.text("}")?;
    for (i, of_one) in references.roots.chunk_by(|a, b| a.node == b.node).enumerate() {
        out.text(if i == 0 { ",\n \"roots\":{" } else { ",\n  " })?;
        out.quoted(&timeline.key(of_one[0].node))?;
        for (j, held) in of_one.iter().enumerate() {
            out.text(if j == 0 { ":{" } else { "," })?;
            out.quoted(&held.root)?;
            out.text(&format!(":{}", held.objects))?;
        }
        out.text("}")?;
    }
    if !references.roots.is_empty() {
        out.text("}")?;
    }
    Ok(())
}
