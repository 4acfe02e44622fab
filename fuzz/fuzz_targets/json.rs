//! Any bytes as memory trees in JSON: an error, or trees that answer every question and come back the same when they are
//! written and read again. Never a panic, a hang or a runaway allocation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_city_analysis::timeline::json::{Collector, Form, JsonSource, identify, write};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::path::Path;

fn read(bytes: Vec<u8>) -> Option<JsonSource> {
    let mut collector = Collector::default();
    collector.add_input(&Input::from_bytes(Path::new("fuzz.json"), bytes), &Progress::new()).ok()?;
    collector.finish(&Progress::new()).ok()
}

fuzz_target!(|bytes: &[u8]| {
    identify(bytes);
    let Some(source) = read(bytes.to_vec()) else { return };
    let timeline = &source.timeline;
    for node in timeline.nodes() {
        assert_eq!(timeline.find(&timeline.key(node)), Some(node));
        timeline.display_name(node);
        for t in 0..timeline.times() {
            let amount = timeline.amount(t, node);
            assert!(amount.objects <= timeline.max(node).objects && amount.bytes <= timeline.max(node).bytes);
            source.references(t, node);
        }
    }
    let mut text = Vec::new();
    let references = |t: usize| Ok(source.time_references(t));
    write(timeline, Some(&references), Form::Lines, &mut text, Path::new("out"), &Progress::new()).expect("memory");
    let again = read(text).expect("what was written");
    assert_eq!(again.timeline.points(), timeline.points());
    for (a, b) in timeline.nodes().zip(again.timeline.nodes()) {
        assert_eq!(timeline.key(a), again.timeline.key(b));
        for t in 0..timeline.times() {
            assert_eq!(timeline.amount(t, a), again.timeline.amount(t, b));
        }
    }
});
