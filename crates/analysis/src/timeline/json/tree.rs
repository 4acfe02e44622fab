//! Nodes of a tree into columns, parents before children, as they come.

use super::LEVELS;
use super::diagnostics::ONCE;
use super::document::ReadContext;
use super::fields::{FieldSeed, JsonField, JsonStep, NODE, NodeField, shortened};
use super::memory::READ_NODE;
use super::scalars::{ABSENT, CountSeed, TextSeed};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The tree of one time, as it stands in the document. Names without escapes are the bytes of the file.
#[derive(Default)]
pub(super) struct NodeColumns<'de> {
    pub parent: Vec<u32>,
    pub name: Vec<Cow<'de, str>>,
    /// Numbers of `roles`, [`NO_ROLE`] where none is given.
    pub role: Vec<u32>,
    pub roles: Vec<Cow<'de, str>>,
    /// As long as the others once a node has a key, empty until then.
    pub key: Vec<Option<Cow<'de, str>>>,
    /// [`ABSENT`] where not given.
    pub objects: Vec<u64>,
    /// [`ABSENT`] where not given.
    pub bytes: Vec<u64>,
}

/// The node does not say what made it.
pub(super) const NO_ROLE: u32 = u32::MAX;

impl<'de> NodeColumns<'de> {
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    pub fn clear(&mut self) {
        self.parent.clear();
        self.name.clear();
        self.role.clear();
        self.roles.clear();
        self.key.clear();
        self.objects.clear();
        self.bytes.clear();
    }

    fn open(&mut self, parent: u32) -> usize {
        let me = self.parent.len();
        self.parent.push(parent);
        self.name.push(Cow::Borrowed(""));
        self.role.push(NO_ROLE);
        self.objects.push(ABSENT);
        self.bytes.push(ABSENT);
        if !self.key.is_empty() {
            self.key.push(None);
        }
        me
    }

    fn set_role(&mut self, node: usize, role: Cow<'de, str>) {
        // Neighbours have the same role mostly; a tree has few, but it may have as many as it has nodes.
        let near = self.role.get(node.wrapping_sub(1)).copied().filter(|&r| r != NO_ROLE);
        let known = near.into_iter().chain((0..self.roles.len() as u32).rev().take(8));
        let found = known.into_iter().find(|&r| self.roles[r as usize] == role);
        self.role[node] = found.unwrap_or_else(|| {
            self.roles.push(role);
            self.roles.len() as u32 - 1
        });
    }

    fn set_key(&mut self, node: usize, key: Cow<'de, str>) {
        if self.key.is_empty() {
            self.key.resize(self.parent.len(), None);
        }
        self.key[node] = Some(key);
    }

    /// The role of a node.
    pub fn role(&self, node: usize) -> Option<&str> {
        self.roles.get(self.role[node] as usize).map(|r| &**r)
    }

    /// The path of a node within the document.
    pub fn path(&self, node: usize) -> String {
        let mut steps = Vec::new();
        let mut at = node;
        while at != 0 {
            let parent = self.parent[at];
            steps.push(self.parent[parent as usize + 1..at].iter().filter(|&&p| p == parent).count());
            at = parent as usize;
            if steps.len() > 24 {
                let level =
                    std::iter::successors(Some(node), |&n| (n != 0).then(|| self.parent[n] as usize)).count() - 1;
                return format!("tree…, {level} levels deep, a node called {:?}", shortened(&self.name[node], 80));
            }
        }
        steps.iter().rev().fold(String::from("tree"), |path, step| format!("{path}.children[{step}]"))
    }
}

/// Reads a node and what is below it.
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
