//! Parser of documents and the times in them.

use super::columns::NodeColumns;
use super::diagnostics::{HEAD, Note, ONCE};
use super::fields::{DOCUMENT, DocumentField, FieldSeed, JsonField, JsonStep, Path};
use super::format::{FORMAT, VERSION};
use super::maps::{MapKind, MapSeed, RawMaps};
use super::memory::{Credit, READ_TEXT};
use super::point::{GcSeed, Roles, Sampled, Unreachable};
use super::scalars::{ABSENT, CountSeed, Switch, TextSeed, Timestamp};
use super::settle;
use super::totals::{Time, Totals};
use super::tree::Node;
use crate::timeline::sampled_part::SampledPart;
use memory_city_formats::GcPoint;
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The state shared by all visitors of a file.
pub(super) struct ReadContext<'c, 'de> {
    /// Where the parser is.
    pub path: Path,
    /// Where the mistake is when it is not where the parser is.
    pub place: Option<String>,
    /// The remedy for the mistake, if the field does not have one.
    pub remedy: Option<&'static str>,
    /// The tree of the time that is read.
    pub tree: NodeColumns<'de>,
    /// The references of the time that is read.
    pub maps: RawMaps,
    /// The state shared by all files.
    pub totals: &'c mut Totals,
    /// The reason for the end of the work, if it is not an error in the JSON.
    pub stop: Option<Error>,
    /// True if a document had its head.
    pub headed: bool,
    /// Whether documents without a tree may have reference maps: those for a time of another file.
    pub maps_alone: bool,
    /// Whether there may be no tree, because the time is there already.
    pub no_tree: bool,
    bytes: &'de [u8],
    progress: &'c Progress,
    /// The memory that may still be used.
    credit: Credit<'c>,
    /// Bytes that the progress knows of.
    reported: usize,
    countdown: u32,
    scratch: settle::Scratch,
}

/// Nodes between two looks at the clock.
const RUN: u32 = 4096;

impl<'c, 'de> ReadContext<'c, 'de> {
    pub fn new(bytes: &'de [u8], totals: &'c mut Totals, progress: &'c Progress, credit: Credit<'c>) -> Self {
        ReadContext {
            path: Path::default(),
            place: None,
            remedy: None,
            tree: NodeColumns::default(),
            maps: RawMaps::default(),
            totals,
            stop: None,
            headed: false,
            maps_alone: false,
            no_tree: false,
            bytes,
            progress,
            credit,
            reported: 0,
            countdown: RUN,
            scratch: settle::Scratch::default(),
        }
    }

    /// Reports progress now and then, and stops when cancelled.
    #[inline]
    pub fn watch(&mut self) -> std::result::Result<(), &'static str> {
        self.countdown -= 1;
        if self.countdown == 0 { self.look_up() } else { Ok(()) }
    }

    #[cold]
    fn look_up(&mut self) -> std::result::Result<(), &'static str> {
        self.countdown = RUN;
        // The last name is a part of the bytes, mostly: it says how far the parser is.
        if let Some(Cow::Borrowed(name)) = self.tree.name.iter().rev().find(|n| !n.is_empty()) {
            let at = (name.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
            self.reached(at);
        }
        self.keep(self.progress.check())
    }

    /// Tells the progress.
    pub fn reached(&mut self, at: usize) {
        if at <= self.bytes.len() && at > self.reported {
            self.progress.advance((at - self.reported) as u64);
            self.reported = at;
        }
    }

    fn keep<T>(&mut self, result: Result<T>) -> std::result::Result<T, &'static str> {
        result.map_err(|error| {
            self.stop = Some(error);
            "stopped"
        })
    }

    /// Before something is kept: whether there is memory for it.
    #[inline]
    pub fn spend(&mut self, bytes: u64) -> std::result::Result<(), &'static str> {
        if self.credit.take(bytes) {
            return Ok(());
        }
        self.keep(Err(self.totals.no_more()))
    }

    /// The same for a text that is kept until the time is complete.
    #[inline]
    #[allow(clippy::ptr_arg)] // whether it is borrowed is the question
    pub fn spend_text(&mut self, text: &Cow<'_, str>) -> std::result::Result<(), &'static str> {
        match text {
            Cow::Borrowed(_) => Ok(()),
            Cow::Owned(text) => self.spend(READ_TEXT + text.len() as u64),
        }
    }

    /// The path of a node of the tree that was just read.
    fn path_of(&self, node: usize, field: &str) -> String {
        let above = self.path.text(|symbol| self.totals.groups.text(symbol));
        let path = self.tree.path(node);
        let dot = |text: &str| if text.is_empty() { "" } else { "." };
        format!("{above}{}{path}{}{field}", dot(&above), dot(field))
    }

    /// Adds the time that has just been read.
    fn commit(&mut self, said: SaidSeed<'de>) -> std::result::Result<(), String> {
        let settled = settle::settle(&mut self.tree, said.overlaps, &mut self.scratch).map_err(|fault| {
            self.place = Some(self.path_of(fault.node, fault.field));
            self.remedy = Some(fault.remedy);
            fault.message
        })?;
        for (note, (count, first)) in [(Note::Raised, settled.raised), (Note::OneCount, settled.lone)] {
            if count > 0 {
                let place = self.totals.is_new(note).then(|| self.path_of(first, ""));
                self.totals.note(note, count as u64, place);
            }
        }
        let place = self.path.text(|symbol| self.totals.groups.text(symbol));
        let label = said.label.map(Cow::into_owned);
        let SaidSeed { millis, gc, unreachable, sampled, nested_roles, .. } = said;
        let mut time = Time { label, millis, gc, unreachable, sampled, place, ..Time::default() };
        // From here on nothing can go wrong: what is checked here is all that can.
        let checked = self.totals.check(&time, &self.tree, &nested_roles, &self.maps, &mut self.credit);
        self.keep(checked)?;
        time.maps = Arc::new(std::mem::take(&mut self.maps));
        nested_roles.iter().for_each(|role| self.totals.builder.note_nested(role));
        let duplicates = self.totals.add_time(time, &self.tree);
        if !self.totals.live {
            // What was taken while it was read is counted as what is kept of it.
            self.credit = Credit::within(self.totals.memory_left());
        }
        if duplicates.count > 0 {
            let place = self.totals.is_new(Note::Duplicate).then(|| self.path_of(duplicates.first, ""));
            self.totals.note(Note::Duplicate, duplicates.count as u64, place);
        }
        self.tree.clear();
        Ok(())
    }
}

/// The facts about one time in a document beside the tree.
#[derive(Default)]
struct SaidSeed<'de> {
    label: Option<Cow<'de, str>>,
    millis: Option<u64>,
    gc: Option<GcPoint>,
    unreachable: Amount,
    sampled: Option<SampledPart>,
    overlaps: bool,
    nested_roles: Vec<Cow<'de, str>>,
}

/// Reads a document, or a time of one.
pub(super) struct JsonDocument<'a, 'c, 'de> {
    pub context: &'a mut ReadContext<'c, 'de>,
    /// Whether it stands by itself, so that it may have `times`.
    pub top: bool,
}

impl<'de> DeserializeSeed<'de> for JsonDocument<'_, '_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> std::result::Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for JsonDocument<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.top {
            true => {
                write!(f, "a document, such as {{\"format\": \"{FORMAT}\", \"version\": {VERSION}, \"tree\": ...}}")
            }
            false => f.write_str("a time: an object with a \"tree\""),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let JsonDocument { context, top } = self;
        let mut said = SaidSeed::default();
        let mut seen: Vec<(&'static str, DocumentField)> = Vec::new();
        let (mut tree, mut times) = (false, false);
        context.tree.clear();
        context.maps = RawMaps::default();
        while let Some(field) = map.next_key_seed(FieldSeed(DOCUMENT))? {
            let (name, field) = match field {
                JsonField::Known(name, field) if top || field != DocumentField::Times => (name, field),
                JsonField::Known(..) => return Err(A::Error::custom("\"times\" in a time, expected a \"tree\"")),
                JsonField::Unknown(name) => {
                    context.totals.unknown.note(if top { "document" } else { "time" }, &name);
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            context.path.enter(JsonStep::Field(name));
            if seen.iter().any(|(_, f)| *f == field) {
                context.remedy = Some(ONCE);
                return Err(A::Error::custom(format!("{name:?} a second time, expected it once")));
            }
            seen.push((name, field));
            match field {
                DocumentField::Format => match map.next_value_seed(TextSeed)? {
                    Some(format) if format == FORMAT => {}
                    format => {
                        let found =
                            format.map_or("null".to_owned(), |f| format!("{:?}", super::fields::shortened(&f, 60)));
                        return Err(A::Error::custom(format!("{found}, expected \"{FORMAT}\"")));
                    }
                },
                DocumentField::Version => match map.next_value_seed(CountSeed)? {
                    VERSION => {}
                    ABSENT => return Err(A::Error::custom(format!("null, expected {VERSION}"))),
                    version => return Err(A::Error::custom(format!("version {version}, expected version {VERSION}"))),
                },
                DocumentField::Label => {
                    said.label = map.next_value_seed(TextSeed)?;
                    said.label.iter().try_for_each(|label| context.spend_text(label)).map_err(A::Error::custom)?;
                }
                DocumentField::Timestamp => said.millis = map.next_value_seed(Timestamp)?,
                DocumentField::Gc => said.gc = map.next_value_seed(GcSeed(&mut *context))?,
                DocumentField::Unreachable => said.unreachable = map.next_value_seed(Unreachable(&mut *context))?,
                DocumentField::Sampled => said.sampled = map.next_value_seed(Sampled(&mut *context))?,
                DocumentField::NestedRoles => said.nested_roles = map.next_value_seed(Roles(&mut *context))?,
                DocumentField::Overlaps => said.overlaps = map.next_value_seed(Switch)?.unwrap_or(false),
                DocumentField::Tree | DocumentField::Times if tree || times => {
                    return Err(A::Error::custom("both \"tree\" and \"times\", expected one of them"));
                }
                DocumentField::Tree | DocumentField::Times if context.no_tree => {
                    return Err(A::Error::custom("a tree, expected reference maps alone"));
                }
                DocumentField::Tree => {
                    map.next_value_seed(Node { context: &mut *context, parent: 0, level: 0 })?;
                    tree = true;
                }
                DocumentField::Times => {
                    map.next_value_seed(Times(&mut *context))?;
                    times = true;
                }
                DocumentField::PointedFrom | DocumentField::PointsTo | DocumentField::Roots => {
                    let kind = match field {
                        DocumentField::PointedFrom => MapKind::PointedFrom,
                        DocumentField::PointsTo => MapKind::PointsTo,
                        _ => MapKind::Roots,
                    };
                    map.next_value_seed(MapSeed { context: &mut *context, kind, outer: None })?;
                }
            }
            context.path.leave();
        }
        let has = |field| seen.iter().any(|(_, f)| *f == field);
        let head = (has(DocumentField::Format), has(DocumentField::Version));
        if top && !context.headed && head != (true, true) {
            let missing = if head.0 { "version" } else { "format" };
            context.remedy = Some(HEAD);
            return Err(A::Error::custom(format!(
                "no {missing:?}, expected \"format\": \"{FORMAT}\", \"version\": {VERSION} in the first document"
            )));
        }
        context.headed |= top;
        if tree {
            return context.commit(said).map_err(A::Error::custom);
        }
        if times {
            let head = [DocumentField::Format, DocumentField::Version, DocumentField::Times];
            for (name, _) in seen.iter().filter(|(_, f)| !head.contains(f)) {
                context.totals.unknown.note("document with times", name);
            }
        } else if !top || (context.maps.given && !context.maps_alone) {
            return Err(A::Error::custom("no tree, expected one in \"tree\""));
        }
        Ok(())
    }
}

/// Reads the times of a document.
struct Times<'a, 'c, 'de>(&'a mut ReadContext<'c, 'de>);

impl<'de> DeserializeSeed<'de> for Times<'_, '_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> std::result::Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Times<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of times")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        let context = self.0;
        context.path.enter(JsonStep::Index(0));
        let mut index = 0;
        while seq.next_element_seed(JsonDocument { context: &mut *context, top: false })?.is_some() {
            index += 1;
            context.path.next(index);
        }
        context.path.leave();
        Ok(())
    }
}
