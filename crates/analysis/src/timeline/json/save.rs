//! Writer of a timeline as a JSON file: complete, or not there at all.

use super::write::{Form, ReferencesOf, write};
use crate::timeline::nodes::Timeline;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::printable::{EscapeForm, PrintableWriter};
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::{FileReaders, write_whole_for};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// How a file is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

/// The form from the name: `.jsonl` and `.ndjson` for JSON Lines, and `.gz` or `.zst` behind it.
fn asked(name: &str) -> (Form, Packing) {
    let lower = name.to_lowercase();
    let (inner, packing) = match (lower.strip_suffix(".gz"), lower.strip_suffix(".zst")) {
        (Some(inner), _) => (inner, Packing::Gzip),
        (_, Some(inner)) => (inner, Packing::Zstd),
        _ => (lower.as_str(), Packing::Plain),
    };
    let lines = inner.ends_with(".jsonl") || inner.ends_with(".ndjson");
    (if lines { Form::Lines } else { Form::Document }, packing)
}

/// Writes a timeline into a file, in the form and packing that its name asks for. A file of that name is replaced once
/// the new one is complete; folders that are not there are made.
///
/// # Errors
/// Those of [`write()`], and when the file cannot be made.
pub fn save(
    timeline: &Timeline,
    references: Option<&ReferencesOf<'_>>,
    output: &Path,
    progress: &Progress,
) -> Result<()> {
    save_for(timeline, references, output, FileReaders::AsUsual, progress)
}

/// As [`save`], for some readers.
///
/// # Errors
/// As there.
pub fn save_for(
    timeline: &Timeline,
    references: Option<&ReferencesOf<'_>>,
    output: &Path,
    readers: FileReaders,
    progress: &Progress,
) -> Result<()> {
    let name = output.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let (form, packing) = asked(&name);
    write_whole_for(output, readers, |file| {
        packed(timeline, references, form, packing, file, output, progress)?;
        progress.check()
    })
}

fn packed(
    timeline: &Timeline,
    references: Option<&ReferencesOf<'_>>,
    form: Form,
    packing: Packing,
    file: &File,
    name: &Path,
    progress: &Progress,
) -> Result<()> {
    let io = |e| Error::io(name, e);
    let mut out = BufWriter::with_capacity(1 << 18, file);
    match packing {
        // It may be written to a terminal, or be shown on one.
        Packing::Plain => {
            let mut printable = PrintableWriter::new(&mut out, EscapeForm::Json);
            write(timeline, references, form, &mut printable, name, progress)?;
        }
        Packing::Gzip => {
            let mut packer = flate2::write::GzEncoder::new(&mut out, flate2::Compression::default());
            // Small writes are gathered before they are packed.
            let mut gathered = BufWriter::with_capacity(1 << 16, &mut packer);
            write(timeline, references, form, &mut gathered, name, progress)?;
            drop(gathered);
            packer.finish().map_err(io)?;
        }
        Packing::Zstd => {
            let mut packer = zstd::stream::write::Encoder::new(&mut out, 0).map_err(io)?;
            write(timeline, references, form, &mut packer, name, progress)?;
            packer.finish().map_err(io)?;
        }
    }
    out.flush().map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ask_for_form_and_packing() {
        for (name, form, packing) in [
            ("a.json", Form::Document, Packing::Plain),
            ("a", Form::Document, Packing::Plain),
            ("a.jsonl", Form::Lines, Packing::Plain),
            ("a.JSONL.GZ", Form::Lines, Packing::Gzip),
            ("a.ndjson.zst", Form::Lines, Packing::Zstd),
            ("a.json.gz", Form::Document, Packing::Gzip),
            ("gz", Form::Document, Packing::Plain),
        ] {
            assert_eq!(asked(name), (form, packing), "{name}");
        }
    }

    #[test]
    fn a_file_is_complete_or_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let timeline = Timeline::from_trees(
            vec![crate::timeline::TimePoint { label: "a".into(), ..Default::default() }],
            &[crate::group::MemoryTree::new()],
        );
        for name in ["t.json", "t.jsonl", "t.json.gz", "deeper/t.jsonl.zst"] {
            let path = folder.path().join(name);
            save(&timeline, None, &path, &Progress::new()).expect("a file");
            let again = super::super::read(std::slice::from_ref(&path), &Progress::new()).expect("trees");
            assert_eq!(again.timeline.points(), timeline.points(), "{name}");
            let before = std::fs::read(&path).expect("the file");
            let cancelled = Progress::new();
            cancelled.cancel();
            assert!(save(&timeline, None, &path, &cancelled).is_err());
            assert_eq!(std::fs::read(&path).expect("the file"), before);
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
        assert!(left.iter().all(|e| !e.file_name().to_string_lossy().contains("partial")), "{left:?}");
    }
}
