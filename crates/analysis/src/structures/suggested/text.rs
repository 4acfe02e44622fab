//! Suggestions in the language of descriptions.

use super::SuggestedStructure;
use super::fields::HeadFields;
use crate::tabular::several;
use memory_city_heap::structures::formatted;
use memory_city_heap::{HeapState, TypeId};
use std::collections::{BTreeMap, BTreeSet};

/// The description of a type while it is put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeDraft {
    pub is_head: bool,
    /// As the language writes them.
    pub pointed: BTreeSet<String>,
    /// Whether it holds anything else.
    pub has_contents: bool,
    pub size: Option<String>,
    pub capacity: Option<String>,
    pub key: Option<String>,
    pub value: Option<String>,
}

impl TypeDraft {
    /// The same with the numbers of a head.
    pub fn with(self, fields: &HeadFields) -> TypeDraft {
        let capacity = fields.array.as_ref().map(|array| format!("{array}.length"));
        TypeDraft { size: fields.size.clone(), capacity, ..self }
    }

    /// The description of the type of a name.
    pub fn text(&self, name: &str) -> String {
        let mut text = format!("{}{} {{\n", if self.is_head { "DS " } else { "" }, quoted(name));
        self.pointed.iter().for_each(|of| text.push_str(&format!("{of};\n")));
        if self.has_contents {
            text.push_str("(*);\n");
        }
        let facts = [("size", &self.size), ("capacity", &self.capacity), ("key", &self.key), ("value", &self.value)];
        for (fact, path) in facts {
            path.iter().for_each(|path| text.push_str(&format!("{fact}: {path};\n")));
        }
        text + "}\n"
    }
}

/// The name of a type as the language writes it.
pub(super) fn type_name(heap: &HeapState, t: TypeId) -> String {
    quoted(&heap.types()[t.0 as usize].name)
}

/// Quoted where it has characters that other names do not have, or is a word of the language.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '[' | ']'));
    match is_plain && !matches!(name, "DS" | "namespace" | "") {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace(|c: char| c == '"' || c.is_control(), "*")),
    }
}

/// The suggestions as a file in the formatter's form, with what each was found in. Nodes that several heads have stand with the first of them.
pub(crate) fn suggestions_as_file(heap: &HeapState, all: &[SuggestedStructure]) -> String {
    let mut text = String::new();
    // A type that is a head is no node, whatever else it is in.
    let heads: BTreeMap<&String, &SuggestedStructure> =
        all.iter().map(|of| (&heap.types()[of.head.0 as usize].name, of)).collect();
    let mut known: BTreeSet<&String> = BTreeSet::new();
    for of in all {
        let own_name = &heap.types()[of.head.0 as usize].name;
        text.push_str(&format!(
            "\n// {}: {} with {} or nodes inside.{}\n",
            own_name.replace(char::is_control, "*"),
            several(of.heads, "structure", "structures"),
            several(of.nodes, "element", "elements"),
            if of.size.is_some() { "" } else { " No field was found that has their number." },
        ));
        let (head, nodes): (Vec<_>, Vec<_>) = of.drafts.iter().partition(|(name, _)| *name == own_name);
        for (name, draft) in head.into_iter().chain(nodes) {
            if (name == own_name || !heads.contains_key(name)) && known.insert(name) {
                text.push_str(&draft.text(name));
            }
        }
    }
    formatted("suggested", text.trim_start()).unwrap_or(text)
}
