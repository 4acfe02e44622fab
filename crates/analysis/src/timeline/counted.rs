//! Recordings that hold counts and no objects, as trees: packages, types, and where they are known the places that allocated.
//!
//! They go the way of all trees that somebody else counted: as memory trees in JSON, without a file.

use super::json::{Collector, JsonSource};
use crate::group::domain::{class_of_frame, tell_packages};
use crate::group::registry;
use memory_city_formats::wire::{CountedClass, CountedTime, counted};
use memory_city_heap::error::Result;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The trees of a recording without walks; `None` where the files are none, or it has walks or no counts.
///
/// # Errors
/// When a file cannot be read, or the work was cancelled.
pub(super) fn trees_of_recording(paths: &[PathBuf], progress: &Progress) -> Result<Option<JsonSource>> {
    let Some(counted) = counted(paths, progress)? else { return Ok(None) };
    tell_packages(counted.own_packages.as_deref());
    let mut text = Vec::new();
    for time in &counted.times {
        progress.check()?;
        let name = if counted.is_estimate { "Heap, estimated from samples" } else { "Heap" };
        let mut line = json!({
            "format": "memory-city",
            "version": 1,
            "label": time.label,
            "timestamp": time.millis,
            "tree": tree(time, name),
        });
        if let Some(gc) = &time.gc {
            line["gc"] = json!(gc);
        }
        text.extend_from_slice(line.to_string().as_bytes());
        text.push(b'\n');
    }
    let path = paths.first().cloned().unwrap_or_default();
    let mut collector = Collector::default();
    collector.add_input(&Input::from_bytes(&path, text), progress)?;
    let mut trees = collector.finish(progress)?;
    trees.counts = counted.histograms;
    trees.counts_are_beside = counted.is_estimate;
    trees.warnings.splice(0..0, counted.warnings);
    Ok(Some(trees))
}

/// Objects and bytes.
type Counts = (u64, u64);

/// Packages as districts, types as buildings, divided by the place in the program's own code where places are known.
fn tree(time: &CountedTime, name: &str) -> Value {
    let mut packages: BTreeMap<&str, BTreeMap<&str, BTreeMap<Option<&str>, Counts>>> = BTreeMap::new();
    for counted in &time.classes {
        // Hidden classes have a slash behind their name; packages end before it.
        let plain = counted.class.split('/').next().unwrap_or(&counted.class);
        let (package, own) = plain
            .rsplit_once('.')
            .map_or(("", &*counted.class), |(package, _)| (package, &counted.class[package.len() + 1..]));
        let places = packages.entry(package).or_default().entry(own).or_default();
        let counts = places.entry(place(counted)).or_default();
        counts.0 = counts.0.saturating_add(counted.objects);
        counts.1 = counts.1.saturating_add(counted.bytes);
    }
    let types_of = |types: BTreeMap<&str, BTreeMap<Option<&str>, Counts>>| -> Vec<Value> {
        types
            .into_iter()
            .map(|(name, places)| match places.get(&None) {
                Some((objects, bytes)) if places.len() == 1 => {
                    json!({"name": name, "role": "Type", "objects": objects, "bytes": bytes})
                }
                _ => {
                    let site = |(place, (objects, bytes)): (Option<&str>, Counts)| {
                        json!({"name": place.unwrap_or("(no stack)"), "role": "Allocation site", "objects": objects, "bytes": bytes})
                    };
                    let sites: Vec<Value> = places.into_iter().map(site).collect();
                    json!({"name": name, "role": "Type", "children": sites})
                }
            })
            .collect()
    };
    let mut children = packages.remove("").map(types_of).unwrap_or_default();
    children.extend(
        packages.into_iter().map(|(name, types)| json!({"name": name, "role": "Package", "children": types_of(types)})),
    );
    json!({"name": name, "children": children})
}

/// The innermost frame of the program's own code, or of any.
fn place(counted: &CountedClass) -> Option<&str> {
    let frames = counted.frames.as_ref()?;
    let shared = registry();
    let own = frames.iter().find(|frame| shared.domain().covers(class_of_frame(frame)));
    own.or(frames.first()).map(|frame| &**frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn counts_become_packages_types_and_places() {
        let class = |class: &str, frames: Option<&[&str]>, objects| CountedClass {
            class: Arc::from(class),
            frames: frames.map(|f| f.iter().map(|f| Arc::from(*f)).collect()),
            objects,
            bytes: objects * 16,
        };
        let time = CountedTime {
            millis: 1,
            label: "x".into(),
            gc: None,
            classes: vec![
                class("byte[]", None, 3),
                class("app.Main$$Lambda/0x01.2", None, 1),
                class("shop.Cart", Some(&["java.util.List.add(Object) line 3", "shop.Cart.put() line 7"]), 5),
                class("shop.Cart", Some(&[]), 2),
            ],
        };
        let tree = tree(&time, "Heap");
        assert_eq!(tree["children"][0]["name"], "byte[]");
        assert_eq!(tree["children"][1]["children"][0]["name"], "Main$$Lambda/0x01.2");
        let cart = &tree["children"][2]["children"][0];
        assert_eq!((&cart["name"], &cart["children"][0]["name"]), (&json!("Cart"), &json!("(no stack)")));
        assert_eq!(
            (&cart["children"][1]["name"], &cart["children"][1]["objects"]),
            (&json!("shop.Cart.put() line 7"), &json!(5))
        );
    }
}
