//! Any text as descriptions of data structures: an error with a place in the text, or descriptions that are the same when their form is
//! read again. Never a panic, a hang or a runaway allocation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_city_heap::structures::{Descriptions, StructureFile, formatted};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match StructureFile::parse("fuzz.ds", text) {
        Err(error) => assert!(error.line >= 1 && error.column >= 1 && !error.expected.is_empty()),
        Ok(file) => {
            let form = formatted("fuzz.ds", text).expect("a file has a form");
            assert_eq!(StructureFile::parse("fuzz.ds", &form).as_ref(), Ok(&file));
            assert_eq!(formatted("fuzz.ds", &form).as_ref(), Ok(&form));
            let mut all = Descriptions::default();
            all.add(file.clone());
            all.add(file.clone());
            assert_eq!(all.all().len(), file.descriptions().len());
        }
    }
});
