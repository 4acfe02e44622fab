//! Removes an old part without losing rows that later parts need. Reads chunk by chunk: no part is in memory as a whole.

use crate::chunk::{CHUNK_HEADER, Chunk, ChunkHeader, ChunkKind, FILE_HEADER, PartHeader};
use crate::columns::PayloadReader;
use crate::error::{WireError, WireResult};
use crate::rows::{
    CountRow, DeathRow, FOLLOWED_ONE_IN, LossReason, LossRow, OldSamplesRow, SampleRow, SettingRow, WalkSampleRow,
};
use crate::writer::open_part;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A part to remove, and the parts that stay.
pub(crate) struct RetiringPart<'a> {
    pub(crate) oldest: &'a Path,
    /// The header of the file being written.
    pub(crate) header: &'a PartHeader,
    /// The other parts of this stream.
    pub(crate) others: &'a [PathBuf],
    /// Parts of other streams of the recording: they may go, or grow, meanwhile.
    pub(crate) elsewhere: &'a [PathBuf],
    pub(crate) now: u64,
    /// Most sums that fit.
    pub(crate) most_sums: usize,
}

/// Rows of a part to write again, as they are found.
pub(crate) enum KeptRows<'a> {
    Samples(&'a [SampleRow]),
    /// Deaths of dead samples that are kept: after these samples.
    Deaths(&'a [DeathRow]),
    Settings(&'a [SettingRow]),
}

/// The rows that replace a part.
pub(crate) struct Retired {
    /// The sums of its samples that need no rows of their own any more.
    pub(crate) old_samples: Vec<OldSamplesRow>,
    /// The losses of everything else in it.
    pub(crate) losses: Vec<LossRow>,
}

/// More sums than this are not kept apart: those of further sites count without class, stack and thread.
const MOST_SUMS: usize = 1 << 16;
/// Most dead samples of one part that are kept for walks of other streams.
const MOST_NAMED: usize = 100_000;
/// Most settings to keep apart; further ones are dropped.
const MOST_SETTINGS: usize = 64;
/// Most changes of [`FOLLOWED_ONE_IN`] to keep, the last ones.
const MOST_CHANGES: usize = 256;

/// Reads the oldest part, and passes on the rows that later parts need: samples that are alive or that a walk names, and the last settings.
/// Dead samples that only walks of other streams name are kept, those of the newest walks first, as long as half of the part goes.
pub(crate) fn retire(
    part: &RetiringPart<'_>,
    keep: &mut dyn FnMut(KeptRows<'_>) -> WireResult<()>,
) -> WireResult<Retired> {
    let samples = PartSamples::of(part)?;
    let settings = [last_settings(part)?, changes_of_share(part)?].concat();
    let (mut sums, mut losses) = (OldSums::new(part.most_sums), LossSums { sums: BTreeMap::new(), now: part.now });
    let mut histograms: BTreeSet<u64> = BTreeSet::new();
    let mut kept_dead = false;
    let counted = [ChunkKind::GCS, ChunkKind::COUNTS, ChunkKind::SETTINGS, ChunkKind::WALK_START, ChunkKind::WALK_END];
    let kinds = [&counted[..], &[ChunkKind::SAMPLES, ChunkKind::OLD_SAMPLES, ChunkKind::LOSSES]].concat();
    for_chunks(part.oldest, part.header, &kinds, &mut |chunk| {
        match chunk.kind() {
            ChunkKind::SAMPLES => {
                let (go, stay): (Vec<SampleRow>, Vec<SampleRow>) =
                    chunk.rows::<SampleRow>()?.rows.into_iter().partition(|sample| samples.goes(sample.id));
                kept_dead |= stay.iter().any(|sample| samples.is_dead(sample.id));
                keep(KeptRows::Samples(&stay))?;
                go.iter().map(sum_of).for_each(|sum| sums.add(sum));
            }
            ChunkKind::OLD_SAMPLES => {
                chunk.rows::<OldSamplesRow>()?.rows.into_iter().for_each(|sum| sums.add(sum));
            }
            ChunkKind::LOSSES => chunk.rows::<LossRow>()?.rows.into_iter().for_each(|loss| losses.add(loss)),
            // Of histograms each once, however many classes it has.
            ChunkKind::COUNTS => {
                histograms.extend(chunk.rows::<CountRow>()?.rows.iter().map(|row| row.histogram));
            }
            // Of walks the end is told: each has one.
            ChunkKind::WALK_START => {}
            ChunkKind::SETTINGS => {
                let rows = chunk.rows::<SettingRow>()?.rows;
                let stay: Vec<SettingRow> = rows.iter().filter(|row| settings.contains(row)).cloned().collect();
                losses.retired(ChunkKind::SETTINGS, (rows.len() - stay.len()) as u64);
                keep(KeptRows::Settings(&stay))?;
            }
            kind => {
                let payload = chunk.payload()?;
                losses.retired(kind, PayloadReader::new(&payload).map_or(0, |p| p.rows as u64));
            }
        }
        Ok(())
    })?;
    // Behind their samples, so that they never go before these.
    if kept_dead {
        for path in part.others.iter().map(PathBuf::as_path).chain([part.oldest]) {
            for_chunks(path, part.header, &[ChunkKind::DEATHS], &mut |chunk| {
                let mut deaths = chunk.rows::<DeathRow>()?.rows;
                deaths.retain(|death| samples.is_kept_dead(death.sample));
                keep(KeptRows::Deaths(&deaths))
            })?;
        }
    }
    losses.retired(ChunkKind::COUNTS, histograms.len() as u64);
    Ok(Retired { old_samples: sums.sums.into_values().collect(), losses: losses.sums.into_values().collect() })
}

/// The samples of a part, ascending, and the decision about each.
struct PartSamples {
    ids: Vec<u64>,
    dead: Vec<bool>,
    named: Vec<bool>,
}

impl PartSamples {
    fn of(part: &RetiringPart<'_>) -> WireResult<PartSamples> {
        let mut ids: Vec<u64> = Vec::new();
        for_chunks(part.oldest, part.header, &[ChunkKind::SAMPLES], &mut |chunk| {
            ids.extend(chunk.rows::<SampleRow>()?.rows.iter().map(|sample| sample.id));
            Ok(())
        })?;
        ids.sort_unstable();
        let mut samples = PartSamples { dead: vec![false; ids.len()], named: vec![false; ids.len()], ids };
        for path in part.others.iter().map(PathBuf::as_path).chain([part.oldest]) {
            let both = [ChunkKind::DEATHS, ChunkKind::WALK_SAMPLES];
            let kinds = if path == part.oldest { &both[..1] } else { &both[..] };
            for_chunks(path, part.header, kinds, &mut |chunk| {
                if chunk.kind() == ChunkKind::DEATHS {
                    let rows = chunk.rows::<DeathRow>()?.rows;
                    rows.iter().for_each(|death| mark(&samples.ids, &mut samples.dead, death.sample));
                } else {
                    let rows = chunk.rows::<WalkSampleRow>()?.rows;
                    rows.iter().for_each(|link| mark(&samples.ids, &mut samples.named, link.sample));
                }
                Ok(())
            })?;
        }
        samples.name_elsewhere(part);
        Ok(samples)
    }

    /// Adds samples named by walks of other streams, as long as half of the part goes.
    fn name_elsewhere(&mut self, part: &RetiringPart<'_>) {
        let staying = self.dead.iter().zip(&self.named).filter(|(dead, named)| !**dead || **named).count();
        let most = (self.ids.len() / 2).saturating_sub(staying).min(MOST_NAMED);
        if most == 0 || part.elsewhere.is_empty() {
            return;
        }
        // By which walk last, from 1.
        let mut walk_of = vec![0u32; self.ids.len()];
        for path in part.elsewhere {
            // The other stream lets go of its parts when it likes: what cannot be read is not there.
            let _ = for_chunks(path, part.header, &[ChunkKind::WALK_SAMPLES], &mut |chunk| {
                for link in chunk.rows::<WalkSampleRow>()?.rows {
                    if let Ok(at) = self.ids.binary_search(&link.sample)
                        && let Some(last) = walk_of.get_mut(at)
                    {
                        *last = (*last).max(link.walk.saturating_add(1));
                    }
                }
                Ok(())
            });
        }
        let mut by_walk: BTreeMap<u32, usize> = BTreeMap::new();
        let at_stake = |((dead, named), walk): &((&bool, &bool), &u32)| **dead && !**named && **walk > 0;
        let marks = self.dead.iter().zip(&self.named).zip(&walk_of);
        marks.filter(at_stake).for_each(|(_, walk)| *by_walk.entry(*walk).or_default() += 1);
        let (mut kept, mut first) = (0, u32::MAX);
        for (walk, count) in by_walk.into_iter().rev() {
            kept += count;
            if kept > most {
                break;
            }
            first = walk;
        }
        self.named.iter_mut().zip(&walk_of).for_each(|(named, walk)| *named |= *walk >= first && *walk > 0);
    }

    fn has(&self, marks: &[bool], id: u64) -> bool {
        self.ids.binary_search(&id).is_ok_and(|at| marks.get(at) == Some(&true))
    }

    fn is_dead(&self, id: u64) -> bool {
        self.has(&self.dead, id)
    }

    fn is_kept_dead(&self, id: u64) -> bool {
        self.is_dead(id) && self.has(&self.named, id)
    }

    fn goes(&self, id: u64) -> bool {
        self.is_dead(id) && !self.has(&self.named, id)
    }
}

fn mark(ids: &[u64], marks: &mut [bool], id: u64) {
    if let Ok(at) = ids.binary_search(&id)
        && let Some(mark) = marks.get_mut(at)
    {
        *mark = true;
    }
}

/// The identity of a setting: the key, and for a value with a reason the beginning of that reason.
fn setting_key(row: &SettingRow) -> (String, String) {
    let kind = row.value.split_once(':').map_or("", |(kind, _)| kind);
    (row.key.clone(), kind.to_owned())
}

/// The last settings of a part that no later part repeats.
fn last_settings(part: &RetiringPart<'_>) -> WireResult<Vec<SettingRow>> {
    let mut last: BTreeMap<(String, String), SettingRow> = BTreeMap::new();
    for_chunks(part.oldest, part.header, &[ChunkKind::SETTINGS], &mut |chunk| {
        for row in chunk.rows::<SettingRow>()?.rows.into_iter().filter(|row| row.key != FOLLOWED_ONE_IN) {
            let key = setting_key(&row);
            if last.len() < MOST_SETTINGS || last.contains_key(&key) {
                last.insert(key, row);
            }
        }
        Ok(())
    })?;
    if !last.is_empty() {
        for path in part.others {
            for_chunks(path, part.header, &[ChunkKind::SETTINGS], &mut |chunk| {
                chunk.rows::<SettingRow>()?.rows.iter().for_each(|row| _ = last.remove(&setting_key(row)));
                Ok(())
            })?;
        }
    }
    Ok(last.into_values().collect())
}

/// The settings of a part that change which share of samples is followed: the weight of each older sample follows from all of them.
fn changes_of_share(part: &RetiringPart<'_>) -> WireResult<Vec<SettingRow>> {
    let mut all: Vec<(SettingRow, bool)> = Vec::new();
    for path in part.others.iter().map(PathBuf::as_path).chain([part.oldest]) {
        for_chunks(path, part.header, &[ChunkKind::SETTINGS], &mut |chunk| {
            let rows = chunk.rows::<SettingRow>()?.rows.into_iter().filter(|row| row.key == FOLLOWED_ONE_IN);
            all.extend(rows.map(|row| (row, path == part.oldest)));
            Ok(())
        })?;
    }
    all.sort_by_key(|(row, _)| row.time);
    all.dedup_by(|later, earlier| later.0.value == earlier.0.value);
    let too_many = all.len().saturating_sub(MOST_CHANGES);
    Ok(all.into_iter().skip(too_many).filter(|(_, goes)| *goes).map(|(row, _)| row).collect())
}

/// The losses, added up.
struct LossSums {
    sums: BTreeMap<(u32, LossReason, Option<u32>), LossRow>,
    now: u64,
}

impl LossSums {
    fn add(&mut self, loss: LossRow) {
        let key = (loss.what, loss.reason, loss.thread);
        let sum = self.sums.entry(key).or_insert(LossRow { count: 0, bytes: None, ..loss.clone() });
        sum.count = sum.count.saturating_add(loss.count);
        sum.time = sum.time.max(loss.time);
        sum.bytes = match (sum.bytes, loss.bytes) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
    }

    /// Counts rows of a kind that go with the part.
    fn retired(&mut self, kind: ChunkKind, count: u64) {
        if count > 0 {
            let what = u32::from(kind.0);
            self.add(LossRow { time: self.now, what, reason: LossReason::Retired, count, ..LossRow::default() });
        }
    }
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

/// Sums of samples by class, stack and thread.
struct OldSums {
    sums: BTreeMap<(u32, Option<u32>, u32), OldSamplesRow>,
    most: usize,
}

impl OldSums {
    fn new(most: usize) -> OldSums {
        OldSums { sums: BTreeMap::new(), most: most.min(MOST_SUMS) }
    }

    fn add(&mut self, row: OldSamplesRow) {
        let mut key = (row.class, row.stack, row.thread);
        if self.sums.len() >= self.most && !self.sums.contains_key(&key) {
            key = (u32::MAX, None, u32::MAX);
        }
        let sum = self.sums.entry(key).or_insert_with(|| OldSamplesRow {
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
}

/// The chunks of some kinds in a part of this stream, in order; others are passed over without being read.
fn for_chunks(
    path: &Path,
    header: &PartHeader,
    kinds: &[ChunkKind],
    look: &mut dyn FnMut(&Chunk<'_>) -> WireResult<()>,
) -> WireResult<()> {
    let io = |e| WireError::io(path, e);
    let mut file = BufReader::new(open_part(path).map_err(io)?);
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
