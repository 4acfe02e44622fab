//! A few bytes may say that there are millions of names or objects: then an error comes before the memory is gone.
//! Alone in its process, whose budget it sets.

use memory_city_formats::{open, set_memory_budget};
use memory_city_heap::progress::Progress;
use memory_city_wire::{GcRow, TraceOptions, TraceWriter, WalkObject, WalkStartRow};

#[test]
fn what_unpacks_to_more_than_the_budget_is_refused() {
    set_memory_budget(40_000_000);
    let folder = tempfile::tempdir().expect("a folder");
    for what in ["collections", "objects"] {
        let path = folder.path().join(what);
        let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
        let mut walk = writer.begin_walk(WalkStartRow { all_alive: true, ..WalkStartRow::default() }).expect("a walk");
        if what == "objects" {
            (0..2_000_000).for_each(|_| walk.object(&WalkObject::default(), &[]).expect("listed"));
        }
        walk.finish(None).expect("finished");
        if what == "collections" {
            let rows: Vec<GcRow> = (0..1_000_000).map(|number| GcRow { number, ..GcRow::default() }).collect();
            writer.write(&rows).expect("written");
        }
        writer.finish("done").expect("finished");
        assert!(std::fs::metadata(&path).expect("a file").len() < 100_000, "{what} pack well");
        let read = open(std::slice::from_ref(&path), &Progress::new()).and_then(|s| s.load(0, &Progress::new()));
        let error = read.err().unwrap_or_else(|| panic!("{what} fit")).to_string();
        assert!(error.contains("40 MB of memory"), "{error}");
    }
}
