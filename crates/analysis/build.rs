//! A number for the sources that answers about dumps depend on: what an earlier build kept is not taken for what this one would
//! find. Where the sources of the other crates are not beside these (a published crate) the version says it alone.

use std::path::{Path, PathBuf};

fn main() {
    let mut files = Vec::new();
    for folder in ["../heap/src", "../formats/src", "src"] {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files);
    }
    files.sort();
    // FNV-1a: it need not be strong, only the same on every machine.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in &files {
        let name = file.to_string_lossy().replace('\\', "/");
        let content = std::fs::read(file).unwrap_or_default();
        for byte in name.bytes().chain([0]).chain(content.into_iter().filter(|&byte| byte != b'\r')) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=MEMORY_CITY_ENGINE={hash:016x}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
