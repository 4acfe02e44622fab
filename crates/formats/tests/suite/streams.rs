//! Recordings of many streams. A folder has room for any number, one file for those that its chunks can number. A
//! message says so.

use memory_city_formats::{open, wire};
use memory_city_heap::progress::Progress;
use memory_city_wire::{RunRow, TraceOptions, TraceWriter, WalkStartRow};
use std::path::Path;

/// Writes a stream with a walk of nothing into a folder.
fn stream(folder: &Path, number: u16) {
    let options = TraceOptions { recording: Some([7; 16]), stream: number, ..TraceOptions::default() };
    let mut writer = TraceWriter::create_folder(folder, options).expect("a stream");
    writer.write(&[RunRow { key: "recorder".into(), value: format!("stream {number}") }]).expect("written");
    let walk = writer.begin_walk(WalkStartRow::default()).expect("a walk");
    walk.finish(None).expect("finished");
    writer.finish("as told").expect("finished");
}

#[test]
fn a_stream_that_a_file_cannot_name_is_refused_and_its_folder_opens() {
    let temporary = tempfile::tempdir().expect("a folder");
    for (numbers, fits) in [([0, 127], true), ([0, 128], false), ([128, 128], true), ([200, 65_535], false)] {
        let folder = temporary.path().join(format!("{}-{}", numbers[0], numbers[1]));
        std::fs::create_dir(&folder).expect("made");
        stream(&folder, numbers[0]);
        if numbers[1] != numbers[0] {
            stream(&folder, numbers[1]);
        }
        let walks = open(std::slice::from_ref(&folder), &Progress::new()).expect("it opens").points().len();
        let output = folder.with_extension("mcity");
        let joined = wire::join(std::slice::from_ref(&folder), &output, &Progress::new());
        match fits {
            true => {
                assert_eq!(joined.expect("joined").walks, walks, "{numbers:?}");
                assert_eq!(open(&[output], &Progress::new()).expect("it opens").points().len(), walks, "{numbers:?}");
            }
            false => {
                let said = joined.expect_err("refused").to_string();
                assert!(said.contains("up to 127") && said.contains("Keep the folder"), "{numbers:?}: {said}");
                assert!(!output.exists(), "{numbers:?}");
            }
        }
    }
}
