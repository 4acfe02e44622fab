//! Warnings about a trace that has been read.

use super::TraceSource;
use crate::event::Decoder;
use crate::replay::{Inconsistencies, Observer, Replay};
use memory_city_heap::error::{Error, Warning};
use std::path::Path;

/// The warnings of the decoder, the reason why reading `failed` if it did, and the parts of the heap that could not be reconstructed.
pub(super) fn warnings<S: TraceSource, O: Observer>(
    source: &S,
    decoder: &S::Decoder,
    replay: &Replay<O>,
    failed: Option<Error>,
) -> Vec<Warning> {
    let mut warnings = decoder.warnings();
    let path = source.files()[0].to_owned();
    if let Some(error) = failed {
        let message = format!("the trace cannot be read to its end; what came before is shown. {error}");
        warnings.push(Warning { path: path.clone(), offset: None, message });
    }
    warnings.extend(inconsistencies(&path, replay.inconsistencies()));
    if replay.is_collecting() {
        warnings.push(Warning {
            path: path.clone(),
            offset: None,
            message: "the trace ends during a garbage collection: the end of that one is not shown".into(),
        });
    } else if replay.interval() == 0 {
        warnings.push(Warning {
            path: path.clone(),
            offset: None,
            message:
                "the program ended without a garbage collection: the only state is that of its end, garbage included"
                    .into(),
        });
    }
    if !source.has_references() || !replay.has_references() {
        let why = match source.has_references() {
            true => "the collector did not report any",
            false => "it was recorded without them (-XX:+TraceObjectsPointers records them)",
        };
        warnings.push(Warning {
            path,
            offset: None,
            message: format!("the trace holds no references, {why}: what keeps objects alive cannot be shown"),
        });
    }
    warnings
}

fn inconsistencies(path: &Path, found: Inconsistencies) -> Vec<Warning> {
    let cases = [
        (found.unknown_objects, "moves, references or deaths of objects that are not there were left out"),
        (found.unknown_targets, "references to places without an object were left out"),
        (found.overwritten, "objects were overwritten by others without having been reported dead; they count as dead"),
        (found.misplaced, "objects outside every space of the heap were left out"),
    ];
    let warning = |(count, what): (u64, &str)| Warning {
        path: path.to_owned(),
        offset: None,
        message: format!("the trace does not fit together: {count} {what}"),
    };
    cases.into_iter().filter(|c| c.0 > 0).map(warning).collect()
}
