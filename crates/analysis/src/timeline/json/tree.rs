//! Reader of tree nodes into columns, parents before children, in the order of the document.

use super::diagnostics::ONCE;
use super::document::ReadContext;
use super::fields::{FieldSeed, JsonField, JsonStep, NODE, NodeField};
use super::format::LEVELS;
use super::memory::READ_NODE;
use super::scalars::{CountSeed, TextSeed};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Reads a node and its descendants.
pub(super) struct Node<'a, 'c, 'de> {
    pub context: &'a mut ReadContext<'c, 'de>,
    /// Number of the parent; for the root 0.
    pub parent: u32,
    pub level: usize,
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_, 'de> {
    type Value = ();
    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node, such as {\"name\": \"String\", \"role\": \"Type\", \"objects\": 3, \"bytes\": 72}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let context = self.context;
        context.watch().map_err(A::Error::custom)?;
        context.spend(READ_NODE).map_err(A::Error::custom)?;
        let me = context.tree.open(self.parent);
        let mut seen = 0u8;
        let mut named = false;
        while let Some(field) = map.next_key_seed(FieldSeed(NODE))? {
            let (name, field) = match field {
                JsonField::Known(name, field) => (name, field),
                JsonField::Unknown(name) => {
                    context.totals.unknown.note("node", &name);
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            context.path.field = name;
            if seen & (1 << field as u8) != 0 {
                context.remedy = Some(ONCE);
                return Err(A::Error::custom(format!("{name:?} a second time, expected it once in a node")));
            }
            seen |= 1 << field as u8;
            match field {
                NodeField::Name => {
                    if let Some(text) = map.next_value_seed(TextSeed)? {
                        context.spend_text(&text).map_err(A::Error::custom)?;
                        context.tree.name[me] = text;
                        named = true;
                    }
                }
                NodeField::Objects => context.tree.objects[me] = map.next_value_seed(CountSeed)?,
                NodeField::Bytes => context.tree.bytes[me] = map.next_value_seed(CountSeed)?,
                NodeField::Role => {
                    if let Some(role) = map.next_value_seed(TextSeed)? {
                        context.spend_text(&role).map_err(A::Error::custom)?;
                        context.tree.set_role(me, role);
                    }
                }
                NodeField::Key => {
                    if let Some(key) = map.next_value_seed(TextSeed)? {
                        context.spend_text(&key).map_err(A::Error::custom)?;
                        context.tree.set_key(me, key);
                    }
                }
                NodeField::Children => {
                    context.path.enter(JsonStep::Field("children"));
                    map.next_value_seed(Children { context, parent: me as u32, level: self.level + 1 })?;
                    context.path.leave();
                }
            }
            context.path.field = "";
        }
        if !named {
            if me != 0 {
                context.remedy = Some("Give each node a name; the root alone may do without");
                return Err(A::Error::custom("a node without a name, expected a text in \"name\""));
            }
            context.tree.name[me] = Cow::Borrowed("Heap");
        }
        Ok(())
    }
}

/// Reads the children of a node.
struct Children<'a, 'c, 'de> {
    context: &'a mut ReadContext<'c, 'de>,
    parent: u32,
    level: usize,
}

/// The stack grows when less than this is left, by so much.
const LEFT: usize = 128 << 10;
const MORE: usize = 4 << 20;

impl<'de> DeserializeSeed<'de> for Children<'_, '_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        if self.level > LEVELS {
            self.context.remedy =
                Some("Cut the tree where it goes on and on: join what repeats, such as recursive calls");
            let expected = format!("at most {LEVELS} levels of nodes");
            return Err(D::Error::custom(format!("a node that lies deeper, expected {expected}")));
        }
        if stacker::remaining_stack().is_none_or(|left| left < LEFT) {
            self.context.spend(MORE as u64).map_err(D::Error::custom)?;
        }
        stacker::maybe_grow(LEFT, MORE, || d.deserialize_any(self))
    }
}

impl<'de> Visitor<'de> for Children<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Children { context, parent, level } = self;
        context.path.enter(JsonStep::Index(0));
        let mut index = 0;
        while seq.next_element_seed(Node { context: &mut *context, parent, level })?.is_some() {
            index += 1;
            context.path.next(index);
        }
        context.path.leave();
        Ok(())
    }
}
