//! What is read, what is refused, and what is put right.

mod damage;
mod forms;
mod live;
mod round_trip;

use super::{Collector, JsonSource};
use crate::timeline::Timeline;
use memory_city_heap::error::Result;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::path::Path;

/// Reads text as a file.
fn read_text(text: impl Into<Vec<u8>>) -> Result<JsonSource> {
    let mut collector = Collector::default();
    collector.add_input(&Input::from_bytes(Path::new("test.json"), text.into()), &Progress::new())?;
    collector.finish(&Progress::new())
}

/// A document around a part of it.
fn document(inside: &str) -> String {
    format!("{{\"format\": \"memory-city\", \"version\": 1, {inside}}}")
}

/// All times and nodes as text.
fn shown(timeline: &Timeline) -> String {
    let mut text = String::new();
    for (t, point) in timeline.points().iter().enumerate() {
        let away = point.unreachable;
        text.push_str(&format!("{:?} at {}", point.label, point.millis));
        if away.objects + away.bytes > 0 {
            text.push_str(&format!(", unreachable {} {}", away.objects, away.bytes));
        }
        text.push('\n');
        for node in timeline.nodes() {
            let amount = timeline.amount(t, node);
            let (key, role) = (timeline.key(node), timeline.role(node));
            text.push_str(&format!("  {key} ({role}) {} {}\n", amount.objects, amount.bytes));
        }
    }
    text
}

/// The warnings, without the file.
fn warned(source: &JsonSource) -> Vec<String> {
    source.warnings.iter().map(|w| w.message.clone()).collect()
}
