//! Facts about a time beside its tree: its garbage collection, the unreachable amount, and the roles that nest.

use super::diagnostics::ONCE;
use super::document::ReadContext;
use super::fields::{AMOUNT, FieldSeed, GC, GcField, JsonField, SAMPLED};
use super::memory::READ_TEXT;
use super::scalars::{ABSENT, CountSeed, Switch, TextSeed};
use crate::timeline::sampled_part::SampledPart;
use memory_city_formats::{GcKind, GcPoint};
use memory_city_heap::Amount;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Reads a garbage collection.
pub(super) struct GcSeed<'a, 'c, 'de>(pub &'a mut ReadContext<'c, 'de>);

impl<'de> DeserializeSeed<'de> for GcSeed<'_, '_, 'de> {
    type Value = Option<GcPoint>;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> std::result::Result<Self::Value, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for GcSeed<'_, '_, 'de> {
    type Value = Option<GcPoint>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{\"number\": 7, \"kind\": \"minor\"}")
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let context = self.0;
        let (mut cause, mut kind, mut end, mut one_pause) = (None, GcKind::Minor, true, false);
        let mut counts = [ABSENT; 3];
        let mut seen = 0u8;
        while let Some(field) = map.next_key_seed(FieldSeed(GC))? {
            let (name, field) = match field {
                JsonField::Known(name, field) => (name, field),
                JsonField::Unknown(name) => {
                    context.totals.unknown.note("garbage collection", &name);
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            context.path.field = name;
            if seen & (1 << field as u8) != 0 {
                context.remedy = Some(ONCE);
                return Err(A::Error::custom(format!("{name:?} a second time, expected it once")));
            }
            seen |= 1 << field as u8;
            match field {
                GcField::Number => counts[0] = map.next_value_seed(CountSeed)?,
                GcField::Duration => counts[1] = map.next_value_seed(CountSeed)?,
                GcField::Freed => counts[2] = map.next_value_seed(CountSeed)?,
                GcField::Cause => {
                    cause = map.next_value_seed(TextSeed)?;
                    cause.iter().try_for_each(|cause| context.spend_text(cause)).map_err(A::Error::custom)?;
                }
                GcField::End => end = map.next_value_seed(Switch)?.unwrap_or(true),
                GcField::Pause => one_pause = map.next_value_seed(Switch)?.unwrap_or(false),
                GcField::Kind => match map.next_value_seed(TextSeed)?.as_deref() {
                    None | Some("minor") => {}
                    Some("major") => kind = GcKind::Major,
                    Some(other) => {
                        let other = super::fields::shortened(other, 60);
                        return Err(A::Error::custom(format!("{other:?}, expected \"minor\" or \"major\"")));
                    }
                },
            }
            context.path.field = "";
        }
        let freed = Some(counts[2]).filter(|count| *count != ABSENT);
        let [number, duration, _] = counts.map(|count| if count == ABSENT { 0 } else { count });
        let Ok(number) = u32::try_from(number) else {
            context.path.field = "number";
            return Err(A::Error::custom(format!("{number}, expected a number up to {}", u32::MAX)));
        };
        let cause = cause.map(|c| c.into_owned()).unwrap_or_default();
        Ok(Some(GcPoint { number, kind, one_pause, cause, duration, end, freed }))
    }
}

/// Reads a list of roles.
pub(super) struct Roles<'a, 'c, 'de>(pub &'a mut ReadContext<'c, 'de>);

impl<'de> DeserializeSeed<'de> for Roles<'_, '_, 'de> {
    type Value = Vec<Cow<'de, str>>;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> std::result::Result<Self::Value, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Roles<'_, '_, 'de> {
    type Value = Vec<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of roles, such as [\"Package\"]")
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Self::Value, A::Error> {
        let mut roles = Vec::new();
        while let Some(role) = seq.next_element_seed(TextSeed)? {
            self.0.spend(READ_TEXT).map_err(A::Error::custom)?;
            role.iter().try_for_each(|role| self.0.spend_text(role)).map_err(A::Error::custom)?;
            roles.extend(role);
        }
        Ok(roles)
    }
}

/// Reads an object of two counts, [`ABSENT`] for a missing one; `None` for `null`.
pub(super) struct TwoCounts<'a, 'c, 'de> {
    pub context: &'a mut ReadContext<'c, 'de>,
    /// The names of the first and of the second.
    pub fields: &'static [(&'static str, usize)],
    /// The name for warnings.
    pub what: &'static str,
    /// An example for warnings.
    pub example: &'static str,
}

impl<'de> DeserializeSeed<'de> for TwoCounts<'_, '_, 'de> {
    type Value = Option<[u64; 2]>;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> std::result::Result<Self::Value, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TwoCounts<'_, '_, 'de> {
    type Value = Option<[u64; 2]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.example)
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let context = self.context;
        let mut counts = [ABSENT; 2];
        while let Some(field) = map.next_key_seed(FieldSeed(self.fields))? {
            match field {
                JsonField::Unknown(name) => {
                    context.totals.unknown.note(self.what, &name);
                    map.next_value::<IgnoredAny>()?;
                }
                JsonField::Known(name, place) => {
                    context.path.field = name;
                    if counts[place] != ABSENT {
                        context.remedy = Some(ONCE);
                        return Err(A::Error::custom(format!("{name:?} a second time, expected it once")));
                    }
                    counts[place] = map.next_value_seed(CountSeed)?;
                    context.path.field = "";
                }
            }
        }
        Ok(Some(counts))
    }
}

/// Reads objects and bytes that no root reaches.
pub(super) struct Unreachable<'a, 'c, 'de>(pub &'a mut ReadContext<'c, 'de>);

impl<'de> DeserializeSeed<'de> for Unreachable<'_, '_, 'de> {
    type Value = Amount;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> std::result::Result<Amount, D::Error> {
        let (what, example) = ("count of the unreachable", "{\"objects\": 3, \"bytes\": 72}");
        let counts = TwoCounts { context: self.0, fields: AMOUNT, what, example }.deserialize(d)?;
        let [objects, bytes] = counts.unwrap_or_default().map(|count| if count == ABSENT { 0 } else { count });
        Ok(Amount { objects, bytes })
    }
}

/// Reads the number of objects whose groups are known.
pub(super) struct Sampled<'a, 'c, 'de>(pub &'a mut ReadContext<'c, 'de>);

impl<'de> DeserializeSeed<'de> for Sampled<'_, '_, 'de> {
    type Value = Option<SampledPart>;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> std::result::Result<Option<SampledPart>, D::Error> {
        let (what, example) = ("count of samples", "{\"samples\": 30, \"objects\": 1200}");
        let counts = TwoCounts { context: self.0, fields: SAMPLED, what, example }.deserialize(d)?;
        match counts {
            None => Ok(None),
            Some([samples, objects]) if samples == ABSENT || objects == ABSENT || samples > objects => {
                let told = |count: u64| if count == ABSENT { "none".to_owned() } else { count.to_string() };
                let (samples, objects) = (told(samples), told(objects));
                Err(D::Error::custom(format!(
                    "samples: {samples}, objects: {objects}, expected both, and no more samples than objects"
                )))
            }
            Some([samples, objects]) => Ok(Some(SampledPart { samples, objects })),
        }
    }
}
