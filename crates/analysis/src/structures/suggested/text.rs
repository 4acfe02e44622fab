//! Suggestions in the language of descriptions.

use super::SuggestedStructure;
use super::fields::HeadFields;
use crate::tabular::count_text;
use memory_city_heap::structures::formatted;
use memory_city_heap::{HeapState, TypeId};
use std::collections::BTreeMap;

/// The name of a type as the language writes it.
pub(super) fn type_name(heap: &HeapState, t: TypeId) -> String {
    quoted(&heap.types()[t.0 as usize].name)
}

/// Quoted where it has characters that other names do not have.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '[' | ']'));
    if is_plain && !name.is_empty() {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace(|c: char| c == '"' || c.is_control(), "*"))
    }
}

/// The description of a type.
pub(super) fn description(is_head: bool, name: &str, pointed: &[String], facts: &[(&str, String)]) -> String {
    let mut text = format!("{}{} {{\n", if is_head { "DS " } else { "" }, quoted(name));
    pointed.iter().for_each(|of| text.push_str(&format!("{of};\n")));
    facts.iter().for_each(|(fact, path)| text.push_str(&format!("{fact}: {path};\n")));
    text + "}\n"
}

impl HeadFields {
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let size = self.size.clone().map(|size| ("size", size));
        let capacity = self.array.as_ref().map(|array| ("capacity", format!("{array}.length")));
        size.into_iter().chain(capacity).collect()
    }
}

/// The suggestions as a file in the formatter's form, with what each was found in. Nodes that several heads have stand with the first of them.
pub(crate) fn suggestions_as_file(heap: &HeapState, all: &[SuggestedStructure]) -> String {
    let (mut text, mut known) = (String::new(), BTreeMap::new());
    for of in all {
        let parts: Vec<(&str, &str)> = of.text.split_inclusive("}\n").map(|part| (described(part), part)).collect();
        // A type that is a head here and a node there stays what it was first.
        if parts.iter().any(|(name, part)| known.get(name).is_some_and(|other| other != part)) {
            continue;
        }
        text.push_str(&format!(
            "\n// {}: {} of them, {} elements or nodes inside.{}\n",
            heap.types()[of.head.0 as usize].name.replace(char::is_control, "*"),
            count_text(of.heads),
            count_text(of.nodes),
            if of.size.is_some() { "" } else { " No field was found that has their number." },
        ));
        for (name, part) in parts {
            if known.insert(name, part).is_none() {
                text.push_str(part);
            }
        }
    }
    formatted("suggested", text.trim_start()).unwrap_or(text)
}

/// The name of the type that a description is of.
fn described(text: &str) -> &str {
    let name = text.find(" {").map_or(text, |end| &text[..end]);
    name.strip_prefix("DS ").unwrap_or(name)
}
