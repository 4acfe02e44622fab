//! Reference maps of one time, as pairs of keys.

use super::diagnostics::ONCE;
use super::document::ReadContext;
use super::fields::{FieldSeed, JsonField, JsonStep, PAIR, PairField};
use super::memory::{READ_KEY, READ_PAIR};
use super::scalars::{ABSENT, CountSeed};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// The numbers of one map for a pair. [`ABSENT`] if missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawPair {
    /// The group that refers, a symbol.
    pub from: u32,
    /// The group that is referred to.
    pub to: u32,
    pub referencing: u64,
    pub referenced: u64,
    pub references: u64,
}

/// The references of one time.
#[derive(Clone, Default, Debug)]
pub(super) struct RawMaps {
    /// Whether there was a map at all, even an empty one.
    pub given: bool,
    pub pairs: Vec<RawPair>,
    /// Group, text and objects.
    pub roots: Vec<(u32, u32, u64)>,
}

impl RawMaps {
    /// The number of pairs and roots.
    pub fn len(&self) -> u64 {
        (self.pairs.len() + self.roots.len()) as u64
    }
}

/// The map that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapKind {
    /// The outer group is referred to by the inner one.
    PointedFrom,
    /// The outer group refers to the inner one.
    PointsTo,
    /// The outer group is held by GC roots, whose texts stand inside.
    Roots,
}

impl MapKind {
    fn name(self) -> &'static str {
        match self {
            MapKind::PointedFrom => "pointed-from",
            MapKind::PointsTo => "points-to",
            MapKind::Roots => "roots",
        }
    }
}

/// Reads a map; with `outer` its rows.
pub(super) struct MapSeed<'a, 'c, 'de> {
    pub context: &'a mut ReadContext<'c, 'de>,
    pub kind: MapKind,
    pub outer: Option<u32>,
}

impl<'de> DeserializeSeed<'de> for MapSeed<'_, '_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MapSeed<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.outer) {
            (MapKind::Roots, None) => f.write_str("groups by key, each with GC roots and how many objects they hold"),
            (MapKind::Roots, Some(_)) => f.write_str("GC roots, each with the number of objects it holds"),
            (_, None) => f.write_str("groups by key, each with other groups by key"),
            (_, Some(_)) => f.write_str("groups by key, each with numbers of objects"),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let MapSeed { context, kind, outer } = self;
        context.maps.given = true;
        while let Some(symbol) = map.next_key_seed(KeySeed(&mut *context))? {
            context.watch().map_err(A::Error::custom)?;
            context.spend(READ_PAIR).map_err(A::Error::custom)?;
            context.path.enter(JsonStep::Group(symbol));
            match (outer, kind) {
                (None, _) => map.next_value_seed(MapSeed { context: &mut *context, kind, outer: Some(symbol) })?,
                (Some(group), MapKind::Roots) => match map.next_value_seed(CountSeed)? {
                    0 | ABSENT => {}
                    objects => context.maps.roots.push((group, symbol, objects)),
                },
                (Some(group), _) => {
                    let pair = map.next_value_seed(PairSeed { context: &mut *context, kind })?;
                    let (from, to) = if kind == MapKind::PointsTo { (group, symbol) } else { (symbol, group) };
                    // A pair without an object is none.
                    if [pair.referencing, pair.referenced].iter().any(|&n| n != 0 && n != ABSENT) {
                        context.maps.pairs.push(RawPair { from, to, ..pair });
                    }
                }
            }
            context.path.leave();
        }
        Ok(())
    }
}

/// Reads the key of a group as a number.
struct KeySeed<'a, 'c, 'de>(&'a mut ReadContext<'c, 'de>);

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_, 'de> {
    type Value = u32;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<u32, D::Error> {
        d.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_, '_, '_> {
    type Value = u32;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key of a group")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<u32, E> {
        if let Some(symbol) = self.0.totals.groups.find(text) {
            return Ok(symbol);
        }
        self.0.spend(READ_KEY + text.len() as u64).map_err(E::custom)?;
        Ok(self.0.totals.groups.of(text))
    }
}

/// Reads the numbers of a pair. A plain number counts objects of the inner group.
struct PairSeed<'a, 'c, 'de> {
    context: &'a mut ReadContext<'c, 'de>,
    kind: MapKind,
}

const UNKNOWN: RawPair = RawPair { from: 0, to: 0, referencing: ABSENT, referenced: ABSENT, references: ABSENT };

impl<'de> DeserializeSeed<'de> for PairSeed<'_, '_, 'de> {
    type Value = RawPair;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<RawPair, D::Error> {
        d.deserialize_any(self)
    }
}

impl PairSeed<'_, '_, '_> {
    fn plain(&self, count: u64) -> RawPair {
        match self.kind {
            MapKind::PointsTo => RawPair { referenced: count, ..UNKNOWN },
            _ => RawPair { referencing: count, ..UNKNOWN },
        }
    }
}

impl<'de> Visitor<'de> for PairSeed<'_, '_, 'de> {
    type Value = RawPair;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of objects, or {\"referencing\": 2, \"referenced\": 5}")
    }
    fn visit_unit<E: Error>(self) -> Result<RawPair, E> {
        Ok(UNKNOWN)
    }
    fn visit_u64<E: Error>(self, count: u64) -> Result<RawPair, E> {
        Ok(self.plain(CountSeed.visit_u64(count)?))
    }
    fn visit_i64<E: Error>(self, count: i64) -> Result<RawPair, E> {
        Ok(self.plain(CountSeed.visit_i64(count)?))
    }
    fn visit_f64<E: Error>(self, count: f64) -> Result<RawPair, E> {
        Ok(self.plain(CountSeed.visit_f64(count)?))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawPair, A::Error> {
        let context = self.context;
        let mut pair = UNKNOWN;
        while let Some(field) = map.next_key_seed(FieldSeed(PAIR))? {
            match field {
                JsonField::Unknown(name) => {
                    context.totals.unknown.note("pair of groups", &name);
                    map.next_value::<IgnoredAny>()?;
                }
                JsonField::Known(name, field) => {
                    context.path.field = name;
                    let place = match field {
                        PairField::Referencing => &mut pair.referencing,
                        PairField::Referenced => &mut pair.referenced,
                        PairField::References => &mut pair.references,
                    };
                    if *place != ABSENT {
                        context.remedy = Some(ONCE);
                        return Err(A::Error::custom(format!("{name:?} a second time, expected it once for a pair")));
                    }
                    *place = map.next_value_seed(CountSeed)?;
                    context.path.field = "";
                }
            }
        }
        if pair.referencing == ABSENT && pair.referenced == ABSENT {
            return Err(A::Error::custom(format!(
                "a pair of {} without a number of objects, expected \"referencing\", \"referenced\" or both",
                self.kind.name()
            )));
        }
        Ok(pair)
    }
}
