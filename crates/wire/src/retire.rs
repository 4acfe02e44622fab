//! Lets an old part go without losing what later parts need of it. Reads chunk by chunk: no part is in memory as a whole.

use crate::chunk::{CHUNK_HEADER, Chunk, ChunkHeader, ChunkKind, FILE_HEADER, PartHeader};
use crate::columns::PayloadReader;
use crate::error::{WireError, WireResult};
use crate::rows::{CountRow, DeathRow, LossReason, LossRow, OldSamplesRow, SampleRow, WalkSampleRow};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What is said instead of a part.
pub(crate) struct Retired {
    /// Its samples that nobody asks for one by one any more.
    pub(crate) old_samples: Vec<OldSamplesRow>,
    /// What else it held.
    pub(crate) losses: Vec<LossRow>,
}

/// More sums than this are not kept apart: those of further sites count without class, stack and thread.
const MOST_SUMS: usize = 1 << 16;

/// Reads the oldest part, and hands on those of its samples that are alive, or that a walk in `others` names. There is room for so many
/// sums.
pub(crate) fn retire(
    oldest: &Path,
    header: &PartHeader,
    others: &[PathBuf],
    now: u64,
    most_sums: usize,
    keep: &mut dyn FnMut(&[SampleRow]) -> WireResult<()>,
) -> WireResult<Retired> {
    let mut ids: Vec<u64> = Vec::new();
    for_chunks(oldest, header, &[ChunkKind::SAMPLES], &mut |chunk| {
        ids.extend(chunk.rows::<SampleRow>()?.rows.iter().map(|sample| sample.id));
        Ok(())
    })?;
    ids.sort_unstable();
    let mut dead = vec![false; ids.len()];
    let mut named = vec![false; ids.len()];
    let mark = |set: &mut Vec<bool>, id: u64| {
        if let Ok(at) = ids.binary_search(&id)
            && let Some(mark) = set.get_mut(at)
        {
            *mark = true;
        }
    };
    for path in others.iter().map(PathBuf::as_path).chain([oldest]) {
        let kinds: &[ChunkKind] =
            if path == oldest { &[ChunkKind::DEATHS] } else { &[ChunkKind::DEATHS, ChunkKind::WALK_SAMPLES] };
        for_chunks(path, header, kinds, &mut |chunk| {
            if chunk.kind() == ChunkKind::DEATHS {
                chunk.rows::<DeathRow>()?.rows.iter().for_each(|death| mark(&mut dead, death.sample));
            } else {
                chunk.rows::<WalkSampleRow>()?.rows.iter().for_each(|link| mark(&mut named, link.sample));
            }
            Ok(())
        })?;
    }
    let goes =
        |id: u64| ids.binary_search(&id).is_ok_and(|at| dead.get(at) == Some(&true) && named.get(at) == Some(&false));
    let mut sums: BTreeMap<(u32, Option<u32>, u32), OldSamplesRow> = BTreeMap::new();
    let mut losses: BTreeMap<(u32, LossReason, Option<u32>), LossRow> = BTreeMap::new();
    let mut lose = |loss: LossRow| {
        let sum = losses.entry((loss.what, loss.reason, loss.thread)).or_insert(LossRow {
            count: 0,
            bytes: None,
            ..loss.clone()
        });
        sum.count = sum.count.saturating_add(loss.count);
        sum.time = sum.time.max(loss.time);
        sum.bytes = match (sum.bytes, loss.bytes) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
    };
    let mut histograms: BTreeSet<u64> = BTreeSet::new();
    let counted = [ChunkKind::GCS, ChunkKind::COUNTS, ChunkKind::SETTINGS, ChunkKind::WALK_START, ChunkKind::WALK_END];
    let kinds = [&counted[..], &[ChunkKind::SAMPLES, ChunkKind::OLD_SAMPLES, ChunkKind::LOSSES]].concat();
    for_chunks(oldest, header, &kinds, &mut |chunk| {
        match chunk.kind() {
            ChunkKind::SAMPLES => {
                let (go, stay): (Vec<SampleRow>, Vec<SampleRow>) =
                    chunk.rows::<SampleRow>()?.rows.into_iter().partition(|sample| goes(sample.id));
                keep(&stay)?;
                go.iter().map(sum_of).for_each(|sum| add(&mut sums, sum, most_sums));
            }
            ChunkKind::OLD_SAMPLES => {
                chunk.rows::<OldSamplesRow>()?.rows.into_iter().for_each(|sum| add(&mut sums, sum, most_sums));
            }
            ChunkKind::LOSSES => chunk.rows::<LossRow>()?.rows.into_iter().for_each(&mut lose),
            // Of histograms each once, however many classes it has.
            ChunkKind::COUNTS => {
                histograms.extend(chunk.rows::<CountRow>()?.rows.iter().map(|row| row.histogram));
            }
            // Of walks the end is told: each has one.
            ChunkKind::WALK_START => {}
            kind => {
                let payload = chunk.payload()?;
                let count = PayloadReader::new(&payload).map_or(0, |p| p.rows as u64);
                lose(LossRow {
                    time: now,
                    what: u32::from(kind.0),
                    reason: LossReason::Retired,
                    count,
                    ..LossRow::default()
                });
            }
        }
        Ok(())
    })?;
    if !histograms.is_empty() {
        lose(LossRow {
            time: now,
            what: u32::from(ChunkKind::COUNTS.0),
            reason: LossReason::Retired,
            count: histograms.len() as u64,
            ..LossRow::default()
        });
    }
    Ok(Retired { old_samples: sums.into_values().collect(), losses: losses.into_values().collect() })
}

fn sum_of(sample: &SampleRow) -> OldSamplesRow {
    let weighted = u128::from(sample.size) * u128::from(sample.weight) / u128::from(crate::rows::WEIGHT_ONE);
    OldSamplesRow {
        class: sample.class,
        stack: sample.stack,
        thread: sample.thread,
        samples: 1,
        bytes: sample.size,
        weight: sample.weight,
        weighted_bytes: u64::try_from(weighted).unwrap_or(u64::MAX),
        first: sample.time,
        last: sample.time,
        variance: Some(variance_of(sample)),
    }
}

/// In KiB squared.
fn variance_of(sample: &SampleRow) -> u64 {
    let weight = (sample.weight as f64 / crate::rows::WEIGHT_ONE as f64).max(1.0);
    let kib = sample.size as f64 * weight / 1024.0;
    // Casts of floats stop at the largest number.
    ((kib * kib * (1.0 - 1.0 / weight)).ceil() as u64).min(u64::MAX - 1)
}

fn add(sums: &mut BTreeMap<(u32, Option<u32>, u32), OldSamplesRow>, row: OldSamplesRow, most: usize) {
    let mut key = (row.class, row.stack, row.thread);
    let full = sums.len() >= most.min(MOST_SUMS) && !sums.contains_key(&key);
    if full {
        key = (u32::MAX, None, u32::MAX);
    }
    let sum = sums.entry(key).or_insert_with(|| OldSamplesRow {
        class: key.0,
        stack: key.1,
        thread: key.2,
        first: row.first,
        variance: Some(0),
        ..OldSamplesRow::default()
    });
    sum.samples = sum.samples.saturating_add(row.samples);
    sum.bytes = sum.bytes.saturating_add(row.bytes);
    sum.weight = sum.weight.saturating_add(row.weight);
    sum.weighted_bytes = sum.weighted_bytes.saturating_add(row.weighted_bytes);
    // Where one of them does not say, the sum does not.
    sum.variance = sum.variance.zip(row.variance).map(|(a, b)| a.saturating_add(b).min(u64::MAX - 1));
    sum.first = sum.first.min(row.first);
    sum.last = sum.last.max(row.last);
}

/// The chunks of some kinds in a part of this stream, in order; others are passed over without being read.
fn for_chunks(
    path: &Path,
    header: &PartHeader,
    kinds: &[ChunkKind],
    look: &mut dyn FnMut(&Chunk<'_>) -> WireResult<()>,
) -> WireResult<()> {
    let io = |e| WireError::io(path, e);
    let mut file = BufReader::new(File::open(path).map_err(io)?);
    let length = file.get_ref().metadata().map_err(io)?.len();
    let mut at = FILE_HEADER as u64;
    file.seek(SeekFrom::Start(at)).map_err(io)?;
    let mut stored = Vec::new();
    while at.saturating_add(CHUNK_HEADER as u64) <= length {
        let mut bytes = [0; CHUNK_HEADER];
        file.read_exact(&mut bytes).map_err(io)?;
        let found = ChunkHeader::read(&header.recording, &bytes);
        // Something that could not be written is in the way: look for the next chunk behind it.
        let Some(found) = found else {
            at += 1;
            file.seek(SeekFrom::Start(at)).map_err(io)?;
            continue;
        };
        let next = at.saturating_add(CHUNK_HEADER as u64).saturating_add(u64::from(found.stored));
        if next > length {
            at += 1;
            file.seek(SeekFrom::Start(at)).map_err(io)?;
            continue;
        }
        if !kinds.contains(&found.kind) {
            file.seek_relative(i64::from(found.stored)).map_err(io)?;
            at = next;
            continue;
        }
        stored.clear();
        (&mut file).take(u64::from(found.stored)).read_to_end(&mut stored).map_err(io)?;
        if crc32fast::hash(&stored) != found.sum {
            at += 1;
            file.seek(SeekFrom::Start(at)).map_err(io)?;
            continue;
        }
        look(&Chunk { path, offset: at, file_stream: header.stream, header: found, stored: &stored })?;
        at = next;
    }
    Ok(())
}
