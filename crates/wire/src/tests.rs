//! Whatever is written is read back equal: at the end, while it grows, cut anywhere, and with a byte changed anywhere.

use crate::columns::PayloadReader;
use crate::rows::Draws;
use crate::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A kind of rows, for tests that go through all of them. Rows are compared as text.
struct KindOfRows {
    kind: ChunkKind,
    write: fn(&mut TraceWriter, u64, usize) -> Vec<String>,
    read: fn(&Chunk<'_>) -> WireResult<Vec<String>>,
    page: fn() -> String,
}

fn kind_of<R: TraceRow + std::fmt::Debug>() -> KindOfRows {
    fn shown<R: std::fmt::Debug>(rows: &[R]) -> Vec<String> {
        rows.iter().map(|row| format!("{row:?}")).collect()
    }
    KindOfRows {
        kind: R::KIND,
        write: |writer, seed, count| {
            let mut draws = Draws(seed);
            let rows: Vec<R> = (0..count).map(|_| R::draw(&mut draws)).collect();
            writer.write(&rows).expect("written");
            shown(&rows)
        },
        page: R::page,
        read: |chunk| {
            let decoded = chunk.rows::<R>()?;
            // Noise may say that it has columns of later versions; nothing that is written here has.
            let unknown = (decoded.unknown_columns > 0).then(|| format!("{} unknown columns", decoded.unknown_columns));
            Ok([shown(&decoded.rows), Vec::from_iter(unknown)].concat())
        },
    }
}

fn all_kinds() -> Vec<KindOfRows> {
    vec![
        kind_of::<StringRow>(),
        kind_of::<LoaderRow>(),
        kind_of::<ClassRow>(),
        kind_of::<MethodRow>(),
        kind_of::<FrameRow>(),
        kind_of::<ThreadRow>(),
        kind_of::<OriginRow>(),
        kind_of::<FieldRow>(),
        kind_of::<RunRow>(),
        kind_of::<GcRow>(),
        kind_of::<SampleRow>(),
        kind_of::<DeathRow>(),
        kind_of::<OldSamplesRow>(),
        kind_of::<CountRow>(),
        kind_of::<LossRow>(),
        kind_of::<SettingRow>(),
        kind_of::<CohortRow>(),
        kind_of::<WalkStartRow>(),
        kind_of::<WalkReferenceRow>(),
        kind_of::<WalkRootRow>(),
        kind_of::<WalkSampleRow>(),
        kind_of::<WalkIdentityRow>(),
        kind_of::<WalkMirrorRow>(),
        kind_of::<WalkReferentRow>(),
        kind_of::<WalkInferredRow>(),
        kind_of::<WalkEndRow>(),
        kind_of::<EndRow>(),
    ]
}

fn temporary() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.mcity");
    (folder, path)
}

type Read = BTreeMap<u16, Vec<String>>;

/// Reads what comes, and says whether it was cut.
fn go_on(reader: &mut PartReader<'_>, kinds: &[KindOfRows], read: &mut Read) -> bool {
    for piece in reader {
        match piece {
            Piece::Chunk(chunk) if chunk.kind() == ChunkKind::INDEX => {}
            Piece::Chunk(chunk) => {
                let kind = kinds.iter().find(|k| k.kind == chunk.kind()).expect("a kind");
                read.entry(kind.kind.0).or_default().extend((kind.read)(&chunk).expect("rows"));
            }
            Piece::Damage { offset, .. } => panic!("damage at {offset}"),
            Piece::Cut { .. } => return true,
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_is_written_is_read_back_also_while_it_grows(
        writes in prop::collection::vec((0usize..100, any::<u64>(), 0usize..40), 1..30),
        cut in any::<u64>(),
    ) {
        let kinds = all_kinds();
        let (_folder, path) = temporary();
        let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
        let (mut expected, mut read) = (Read::new(), Read::new());
        let mut position = FILE_HEADER as u64;
        for (which, seed, count) in writes {
            let kind = &kinds[which % kinds.len()];
            expected.entry(kind.kind.0).or_default().extend((kind.write)(&mut writer, seed, count));
            let bytes = std::fs::read(&path).expect("a file");
            // First a part of what is new, as if the writer were in the middle of it.
            let half = position as usize + (cut % (bytes.len() as u64 - position + 1)) as usize;
            for bytes in [&bytes[..half], &bytes[..]] {
                let mut reader = PartReader::new(&path, bytes).expect("a reader");
                reader.go_to(position);
                let was_cut = go_on(&mut reader, &kinds, &mut read);
                prop_assert_eq!(was_cut, reader.position() < bytes.len() as u64);
                position = reader.position();
            }
            expected.retain(|_, rows| !rows.is_empty());
            prop_assert_eq!(&read, &expected);
        }
        writer.finish("done").expect("finished");
        let bytes = std::fs::read(&path).expect("a file");
        let mut whole = Read::new();
        let mut reader = PartReader::new(&path, &bytes).expect("a reader");
        prop_assert!(!go_on(&mut reader, &kinds, &mut whole));
        let ends = whole.get_mut(&ChunkKind::END.0).expect("an end");
        let end = ends.pop().expect("the last");
        prop_assert!(end.contains("done"), "{}", end);
        whole.retain(|_, rows| !rows.is_empty());
        prop_assert_eq!(whole, expected);
        let index = index_of(&path, &bytes).expect("an index");
        let chunks = PartReader::new(&path, &bytes).expect("a reader").filter_map(|piece| match piece {
            Piece::Chunk(c) if c.kind() != ChunkKind::INDEX => {
                Some(IndexEntry { kind: c.kind().0, number: c.number(), offset: c.offset, length: c.length() })
            }
            _ => None,
        });
        prop_assert_eq!(index, chunks.collect::<Vec<_>>());
    }

    #[test]
    fn walks_come_back(
        objects in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u64>(), 0..6)), 0..60),
        by_id: bool,
        has_addresses: bool,
        sparse: bool,
    ) {
        let (_folder, path) = temporary();
        let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
        let naming = if by_id { ObjectNaming::Id } else { ObjectNaming::Order };
        let start = WalkStartRow { naming, has_addresses, alignment: 8, ..WalkStartRow::default() };
        let mut walk = writer.begin_walk(start.clone()).expect("a walk");
        let object = |seed: u64| {
            let mut draws = Draws(seed);
            WalkObject {
                id: if by_id { draws.number() } else { 0 },
                address: if has_addresses { draws.number() } else { 0 },
                class: draws.number() as u32,
                length: Some(draws.number() as u32).filter(|l| l % 2 == 0 && *l < u32::MAX),
                size: Some(draws.number() >> 1).filter(|s| sparse && s % 5 == 0),
                origin: Some(draws.number() as u32 >> 1).filter(|s| sparse && s % 3 == 0),
            }
        };
        for (seed, references) in &objects {
            walk.object(&object(*seed), references).expect("listed");
        }
        let end = walk.finish(Some(5)).expect("finished");
        prop_assert_eq!(end.objects, objects.len() as u64);
        prop_assert_eq!(end.references, objects.iter().map(|o| o.1.len() as u64).sum::<u64>());
        let bytes = std::fs::read(&path).expect("a file");
        let mut read = Vec::new();
        for piece in PartReader::new(&path, &bytes).expect("a reader") {
            let Piece::Chunk(chunk) = piece else { panic!("damage") };
            if chunk.kind() != ChunkKind::WALK_OBJECTS {
                continue;
            }
            let columns = chunk.objects().expect("objects");
            let mut references = columns.references.iter().copied();
            for at in 0..columns.len() {
                let own = WalkObject {
                    id: columns.ids.get(at).copied().unwrap_or(0),
                    address: columns.addresses.get(at).copied().unwrap_or(0),
                    class: columns.classes[at],
                    length: columns.lengths[at],
                    size: columns.sizes.get(at).copied().flatten(),
                    origin: columns.origins.get(at).copied().flatten(),
                };
                let count = columns.reference_counts[at] as usize;
                read.push((own, references.by_ref().take(count).collect::<Vec<_>>()));
            }
        }
        let expected: Vec<_> = objects.iter().map(|(seed, references)| (object(*seed), references.clone())).collect();
        prop_assert_eq!(read, expected);
    }

    /// What is inside a chunk may be anything, with checksums that are right.
    #[test]
    fn noise_inside_a_chunk_is_rows_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), rows in 0u8..4) {
        let noise = [&[rows][..], &bytes].concat();
        for payload in [&bytes, &noise] {
            let (_folder, path) = temporary();
            let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
            let kinds = all_kinds();
            for kind in kinds.iter().map(|k| k.kind).chain([ChunkKind::WALK_OBJECTS, ChunkKind::INDEX]) {
                writer.put_chunk(kind, payload).expect("written");
            }
            let bytes = std::fs::read(&path).expect("a file");
            for piece in PartReader::new(&path, &bytes).expect("a reader") {
                let Piece::Chunk(chunk) = piece else { panic!("damage") };
                match kinds.iter().find(|k| k.kind == chunk.kind()) {
                    Some(kind) => drop((kind.read)(&chunk)),
                    None => drop(chunk.objects()),
                }
            }
            index_of(&path, &bytes);
            let _ = PayloadReader::new(payload);
        }
    }
}

/// A small trace of everything, and where its chunks are.
fn small() -> (Vec<u8>, Vec<(u64, u64)>) {
    let (_folder, path) = temporary();
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    for (seed, kind) in all_kinds().iter().enumerate() {
        (kind.write)(&mut writer, seed as u64, 5);
    }
    writer.finish("done").expect("finished");
    let bytes = std::fs::read(&path).expect("a file");
    let chunks = chunks_of(&bytes);
    assert!(chunks.len() == all_kinds().len() + 2 && bytes.len() < 12_000, "{} {}", chunks.len(), bytes.len());
    (bytes, chunks)
}

/// Offsets and lengths of the chunks that are found.
fn chunks_of(bytes: &[u8]) -> Vec<(u64, u64)> {
    let reader = PartReader::new(Path::new("small"), bytes).expect("a header");
    let chunk = |piece| match piece {
        Piece::Chunk(chunk) => {
            // Whatever is inside is rows or an error.
            if let Some(kind) = all_kinds().iter().find(|k| k.kind == chunk.kind()) {
                drop((kind.read)(&chunk));
            }
            Some((chunk.offset, chunk.length()))
        }
        _ => None,
    };
    reader.filter_map(chunk).collect()
}

#[test]
fn cut_at_any_byte_every_complete_chunk_counts() {
    let (bytes, chunks) = small();
    for end in 0..bytes.len() {
        let cut = &bytes[..end];
        if end < FILE_HEADER {
            assert!(PartReader::new(Path::new("cut"), cut).is_err(), "{end}");
            continue;
        }
        let whole: Vec<_> = chunks.iter().copied().filter(|(at, length)| at + length <= end as u64).collect();
        assert_eq!(chunks_of(cut), whole, "{end}");
        let last = PartReader::new(Path::new("cut"), cut).expect("a reader").last();
        let ends = whole.last().map_or(FILE_HEADER as u64, |(at, length)| at + length);
        match last {
            Some(Piece::Cut { offset, length }) => assert_eq!((offset, length), (ends, end as u64 - ends)),
            Some(Piece::Damage { .. }) => panic!("damage, cut at {end}"),
            Some(Piece::Chunk(_)) | None => assert_eq!(ends, end as u64),
        }
    }
}

#[test]
fn a_byte_that_differs_costs_the_chunk_it_is_in_and_no_other() {
    let (bytes, chunks) = small();
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            let Ok(reader) = PartReader::new(Path::new("changed"), &changed) else {
                assert!(at < FILE_HEADER, "{at}");
                continue;
            };
            let damage = reader.filter(|p| !matches!(p, Piece::Chunk(_))).count();
            let others: Vec<_> = chunks.iter().copied().filter(|(o, l)| !(*o..o + l).contains(&(at as u64))).collect();
            assert_eq!(chunks_of(&changed), others, "{at}");
            assert_eq!(damage, 1, "{at}");
            index_of(Path::new("changed"), &changed);
        }
    }
}

#[test]
fn a_chunk_of_another_recording_inside_a_chunk_is_none_of_this_one() {
    let (foreign, _) = small();
    let (_folder, path) = temporary();
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    writer.put_chunk(ChunkKind(999), &foreign[FILE_HEADER..]).expect("written");
    (all_kinds()[0].write)(&mut writer, 1, 5);
    let mut bytes = std::fs::read(&path).expect("a file");
    let before = chunks_of(&bytes);
    assert_eq!(before.len(), 2);
    bytes[FILE_HEADER] ^= 1;
    assert_eq!(chunks_of(&bytes), before[1..]);
}

/// Chunks of several streams in one file: each says which it is of, also when it is moved again, and stays as it was inside.
#[test]
fn a_file_may_hold_chunks_of_several_streams() {
    let (_folder, path) = temporary();
    let options = TraceOptions { stream: 5, ..TraceOptions::default() };
    let mut writer = TraceWriter::create_file(&path, options).expect("a writer");
    let fact = |n: u64| RunRow { key: "k".repeat(400), value: n.to_string() };
    writer.write(&[fact(1)]).expect("written");
    writer.write(&[fact(2)]).expect("written");
    writer.finish("done").expect("finished");
    let bytes = std::fs::read(&path).expect("a file");
    let reader = PartReader::new(&path, &bytes).expect("a header");
    let own = *reader.header();
    let other = PartHeader { stream: 2, ..own };
    let (mut same, mut moved) = (own.to_bytes().to_vec(), other.to_bytes().to_vec());
    for piece in reader {
        let Piece::Chunk(chunk) = piece else { panic!("a chunk") };
        assert_eq!(chunk.stream(), 5);
        for (file, header) in [(&mut same, &own), (&mut moved, &other)] {
            let (start, stored) = chunk.for_file(header).expect("stream 5 has a name");
            file.extend([&start[..], stored].concat());
        }
    }
    assert_eq!(same, bytes, "in a file of its own stream nothing changes");
    let mut again = own.to_bytes().to_vec();
    for piece in PartReader::new(&path, &moved).expect("a header") {
        let Piece::Chunk(chunk) = piece else { panic!("a chunk") };
        assert_eq!((chunk.stream(), chunk.is_known()), (5, true));
        // Who does not know of such chunks sees a version that it does not know.
        assert_eq!(moved[chunk.offset as usize + 6], 129);
        let (start, stored) = chunk.for_file(&own).expect("stream 5 has a name");
        again.extend([&start[..], stored].concat());
    }
    assert_eq!(again, bytes, "and back");
    // Seven bits name it.
    let far = PartHeader { stream: 128, ..own };
    let far = [&far.to_bytes(), &bytes[FILE_HEADER..]].concat();
    let mut reader = PartReader::new(&path, &far).expect("a header");
    let Some(Piece::Chunk(chunk)) = reader.next() else { panic!("a chunk") };
    assert_eq!(chunk.stream(), 128);
    assert!(chunk.for_file(&own).is_none() && chunk.for_file(reader.header()).is_some());
}

#[test]
fn what_later_versions_add_is_passed_over_and_counted() {
    let (_folder, path) = temporary();
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    let mut payload = crate::columns::PayloadWriter::default();
    payload.begin(1);
    payload.column(1, crate::columns::Encoding::Delta, |out| out.push(14));
    payload.column(77, crate::columns::Encoding::Text, |out| out.extend_from_slice(b"\x03new"));
    let mut bytes = payload.finish().to_vec();
    // An encoding that nobody knows yet.
    bytes.extend_from_slice(&[78, 200, 1, 5]);
    writer.put_chunk(ChunkKind::STRINGS, &bytes).expect("written");
    let bytes = std::fs::read(&path).expect("a file");
    let mut reader = PartReader::new(&path, &bytes).expect("a reader");
    let Some(Piece::Chunk(chunk)) = reader.next() else { panic!("no chunk") };
    let decoded = chunk.rows::<StringRow>().expect("rows");
    assert_eq!(decoded.rows, [StringRow { id: 7, text: String::new() }]);
    assert_eq!(decoded.unknown_columns, 2);
}

#[cfg(unix)]
#[test]
fn others_may_read_neither_files_nor_folders() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("deep/trace");
    let writer = TraceWriter::create_folder(&trace, TraceOptions::default()).expect("a writer");
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&trace), mode(&folder.path().join("deep")), mode(writer.path())), (0o700, 0o700, 0o600));
    let again = TraceWriter::create_folder(&trace, TraceOptions::default());
    assert!(matches!(again, Err(WireError::Io { .. })), "the stream is there");
    let other = TraceOptions { stream: 1, recording: Some(writer.recording()), ..TraceOptions::default() };
    TraceWriter::create_folder(&trace, other).expect("another stream");
}

/// As when the disk is full for a while: what could not be written is counted, exactly, and the rest is there.
#[test]
fn what_could_not_be_written_is_told_when_the_disk_takes_data_again() {
    let (_folder, path) = temporary();
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    let samples = |n: u64| (0..n).map(|id| SampleRow { id, ..SampleRow::default() }).collect::<Vec<_>>();
    writer.write(&samples(3)).expect("written");
    let good = std::mem::replace(&mut writer.file, File::open(&path).expect("not to be written to"));
    assert!(matches!(writer.write(&samples(100_000)), Err(WireError::Io { .. })));
    assert!(writer.write(&samples(2)).is_err());
    let mut tables = TraceTables::new(10);
    let name = tables.string("name").expect("a number");
    assert!(tables.write_new(&mut writer).is_err());
    writer.file = good;
    // A chunk that was begun, as a full disk leaves it.
    std::io::Write::write_all(&mut writer.file, b"\x93CHK\x12\0\x01\x01half of a header").expect("written");
    writer.position = std::fs::metadata(&path).expect("a file").len();
    tables.write_new(&mut writer).expect("written");
    writer.write(&samples(4)).expect("written");
    writer.finish("done").expect("finished");

    let bytes = std::fs::read(&path).expect("a file");
    let (mut read, mut losses, mut damage, mut end, mut names) = (0, Vec::new(), 0, None, Vec::new());
    for piece in PartReader::new(&path, &bytes).expect("a reader") {
        match piece {
            Piece::Chunk(c) if c.kind() == ChunkKind::SAMPLES => {
                read += c.rows::<SampleRow>().expect("rows").rows.len()
            }
            Piece::Chunk(c) if c.kind() == ChunkKind::LOSSES => losses.extend(c.rows::<LossRow>().expect("rows").rows),
            Piece::Chunk(c) if c.kind() == ChunkKind::END => end = c.rows::<EndRow>().expect("rows").rows.pop(),
            Piece::Chunk(c) if c.kind() == ChunkKind::STRINGS => names = c.rows::<StringRow>().expect("rows").rows,
            Piece::Chunk(_) => {}
            Piece::Damage { .. } => damage += 1,
            Piece::Cut { .. } => panic!("cut"),
        }
    }
    assert_eq!((read, damage, losses.len()), (7, 1, 1));
    assert_eq!(names, [StringRow { id: name, text: "name".into() }]);
    assert_eq!((losses[0].count, losses[0].reason), (100_002, LossReason::WriteFailed));
    assert_eq!(losses[0].what, u32::from(ChunkKind::SAMPLES.0));
    let end = end.expect("an end");
    assert_eq!((end.samples, end.lost), (7, 100_002));
}

/// Live samples alone fill the bound: nothing may go, so nothing comes any more, and that is counted.
#[test]
fn what_has_no_room_within_the_bound_is_counted() {
    const MOST: u64 = 1 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let options = TraceOptions { most_bytes: Some(MOST), ..TraceOptions::default() };
    let mut writer = TraceWriter::create_folder(folder.path(), options).expect("a writer");
    let mut draws = Draws(3);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..600u64 {
        let sample =
            |i| SampleRow { id: round * 400 + i, time: draws.number(), size: draws.number(), ..SampleRow::default() };
        let samples: Vec<SampleRow> = (0..400).map(sample).collect();
        match writer.write(&samples) {
            Ok(()) => taken += 400,
            Err(WireError::Full { most }) => refused += u64::from(most == MOST) * 400,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 0 && writer.begin_walk(WalkStartRow::default()).is_err());
    assert!(writer.highest <= MOST, "{} bytes", writer.highest);
    writer.finish("the bound").expect("finished");
    let (mut there, mut end) = (BTreeSet::new(), None);
    let size = read_folder(folder.path(), |chunk| match chunk.kind() {
        ChunkKind::SAMPLES => there.extend(chunk.rows::<SampleRow>().expect("rows").rows.iter().map(|s| s.id)),
        ChunkKind::END => end = chunk.rows::<EndRow>().expect("rows").rows.pop(),
        _ => {}
    });
    let end = end.expect("an end");
    assert_eq!((there.len() as u64, end.samples, end.lost), (taken, taken, refused));
    assert!(size <= MOST && size > MOST / 2, "{size} bytes");
}

/// All chunks of a folder, stream by stream and part by part.
fn read_folder(folder: &Path, mut look: impl FnMut(&Chunk<'_>)) -> u64 {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let mut size = 0;
    for path in paths {
        let bytes = std::fs::read(&path).expect("a file");
        size += bytes.len() as u64;
        for piece in PartReader::new(&path, &bytes).expect("a reader") {
            let Piece::Chunk(chunk) = piece else { panic!("damage in {}", path.display()) };
            look(&chunk);
        }
    }
    size
}

#[test]
fn old_parts_go_and_what_they_held_is_added_up() {
    const MOST: u64 = 1 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let options = TraceOptions { most_bytes: Some(MOST), ..TraceOptions::default() };
    let mut writer = TraceWriter::create_folder(folder.path(), options).expect("a writer");
    let mut tables = TraceTables::new(1000);
    let text = tables.string("only.once").expect("a number");
    tables.class(ClassRow { name: text, ..ClassRow::default() });
    tables.write_new(&mut writer).expect("written");
    writer.write(&[RunRow { key: "vm.name".into(), value: "a VM".into() }]).expect("written");
    let mut draws = Draws(7);
    let (mut taken, mut bytes, mut alive, mut gcs) = (0u64, 0u64, BTreeSet::new(), 0u64);
    let mut linked = None;
    for round in 0..400u64 {
        let samples: Vec<SampleRow> = (0..400)
            .map(|i| SampleRow {
                id: round * 400 + i,
                time: draws.number(),
                size: draws.number() >> 24,
                weight: WEIGHT_ONE,
                sequence: round * 400 + i,
                stack: Some(draws.number() as u32 % 8),
                ..SampleRow::default()
            })
            .collect();
        writer.write(&samples).expect("written");
        taken += 400;
        bytes += samples.iter().map(|s| s.size).sum::<u64>();
        alive.extend(samples.iter().map(|s| s.id));
        writer.write(&[GcRow { number: round, ..GcRow::default() }]).expect("written");
        gcs += 1;
        let count = |class| CountRow { histogram: round, class, rows: 3, ..CountRow::default() };
        writer.write(&[count(0), count(1), count(2)]).expect("written");
        if round == 390 {
            // A walk names a sample of the beginning that dies afterwards.
            let oldest = *alive.first().expect("one");
            let mut walk = writer.begin_walk(WalkStartRow::default()).expect("a walk");
            let number = walk.number();
            walk.object(&WalkObject::default(), &[]).expect("listed");
            walk.rows(&[WalkSampleRow { walk: number, object: 0, sample: oldest }]).expect("written");
            walk.finish(None).expect("finished");
            linked = Some(oldest);
        }
        // All die but every thousandth.
        let dead: Vec<u64> =
            alive.iter().copied().filter(|id| id % 1000 != 0 || (round > 390 && Some(*id) == linked)).collect();
        let rows: Vec<DeathRow> = dead.iter().map(|&sample| DeathRow { sample, ..DeathRow::default() }).collect();
        writer.write(&rows).expect("written");
        dead.iter().for_each(|id| _ = alive.remove(id));
    }
    assert!(writer.highest <= MOST, "{} bytes", writer.highest);
    assert_eq!(writer.samples(), taken);
    writer.finish("done").expect("finished");

    let (mut there, mut sizes, mut old, mut gone_gcs, mut kept_gcs) = (BTreeSet::new(), 0, 0, 0, 0);
    let (mut names, mut facts) = (BTreeSet::new(), BTreeSet::new());
    let (mut histograms, mut gone_histograms) = (BTreeSet::new(), 0);
    let size = read_folder(folder.path(), |chunk| match chunk.kind() {
        ChunkKind::SAMPLES => {
            for sample in chunk.rows::<SampleRow>().expect("rows").rows {
                assert!(there.insert(sample.id), "{} twice", sample.id);
                sizes += sample.size;
            }
        }
        ChunkKind::OLD_SAMPLES => {
            for sum in chunk.rows::<OldSamplesRow>().expect("rows").rows {
                old += sum.samples;
                sizes += sum.bytes;
                assert_eq!((sum.weight, sum.weighted_bytes), (sum.samples * WEIGHT_ONE, sum.bytes));
            }
        }
        ChunkKind::COUNTS => {
            histograms.extend(chunk.rows::<CountRow>().expect("rows").rows.iter().map(|c| c.histogram))
        }
        ChunkKind::GCS => kept_gcs += chunk.rows::<GcRow>().expect("rows").rows.len() as u64,
        ChunkKind::LOSSES => {
            for loss in chunk.rows::<LossRow>().expect("rows").rows {
                assert_eq!(loss.reason, LossReason::Retired);
                match loss.what {
                    what if what == u32::from(ChunkKind::GCS.0) => gone_gcs += loss.count,
                    what if what == u32::from(ChunkKind::COUNTS.0) => gone_histograms += loss.count,
                    what => panic!("{what} went"),
                }
            }
        }
        ChunkKind::STRINGS => names.extend(chunk.rows::<StringRow>().expect("rows").rows.into_iter().map(|s| s.text)),
        ChunkKind::RUN => facts.extend(chunk.rows::<RunRow>().expect("rows").rows.into_iter().map(|f| f.value)),
        _ => {}
    });
    assert!(size <= MOST && size > MOST / 2, "{size} bytes");
    assert!(old > 50_000, "{old} added up");
    assert_eq!((there.len() as u64 + old, sizes), (taken, bytes));
    assert!(alive.iter().chain(&linked).all(|id| there.contains(id)), "who is alive, or in a walk, is there");
    assert_eq!(kept_gcs + gone_gcs, gcs);
    assert_eq!(histograms.len() as u64 + gone_histograms, gcs, "histograms are counted, not their rows");
    assert!(names.contains("only.once") && facts.contains("a VM"));
}

/// Walks in a stream of their own name samples of the bounded one: those stay for the walks that are kept, with their deaths, the newest
/// walk first and while half of each part goes; what was set last stays too.
#[test]
fn what_walks_of_another_stream_name_stays_while_there_is_room() {
    const MOST: u64 = 1 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let options = TraceOptions { most_bytes: Some(MOST), ..TraceOptions::default() };
    let mut writer = TraceWriter::create_folder(folder.path(), options).expect("a writer");
    let beside = TraceOptions { stream: 1, recording: Some(writer.recording()), ..TraceOptions::default() };
    let mut walks = TraceWriter::create_folder(folder.path(), beside).expect("a stream for walks");
    let setting = |key: &str, value: &str| SettingRow { time: 1, key: key.into(), value: value.into() };
    let at_first = [setting("vm", "a fault"), setting("walks", "no room: 1"), setting("walks", "no room: 2")];
    writer.write(&at_first).expect("written");
    let mut draws = Draws(9);
    let mut named: Vec<Vec<u64>> = Vec::new();
    for round in 0..600u64 {
        let sample = |i| SampleRow {
            id: round * 400 + i,
            time: draws.number(),
            size: draws.number() >> 24,
            weight: WEIGHT_ONE,
            ..SampleRow::default()
        };
        let samples: Vec<SampleRow> = (0..400).map(sample).collect();
        writer.write(&samples).expect("there is always room");
        // A few of each round, and once all of many rounds, which is more than may stay.
        if round % 150 == 100 || round == 20 {
            let of = if round == 20 { 0..8000 } else { round * 400..round * 400 + 50 };
            let mut walk = walks.begin_walk(WalkStartRow::default()).expect("a walk");
            let number = walk.number();
            walk.object(&WalkObject::default(), &[]).expect("listed");
            let links: Vec<WalkSampleRow> =
                of.clone().map(|sample| WalkSampleRow { walk: number, object: 0, sample }).collect();
            walk.rows(&links).expect("written");
            walk.finish(None).expect("finished");
            named.push(of.collect());
        }
        let deaths: Vec<DeathRow> =
            samples.iter().map(|s| DeathRow { sample: s.id, time: 7, ..DeathRow::default() }).collect();
        writer.write(&deaths).expect("written");
        if round == 300 {
            writer
                .write(&[setting("sampling.interval", "4096"), setting("walks", "no more walks: x")])
                .expect("written");
        }
        // Thinner for a while, and repeated all the time.
        let one_in = if (40..90).contains(&round) { "4" } else { "1" };
        writer
            .write(&[SettingRow { time: round, key: FOLLOWED_ONE_IN.into(), value: one_in.into() }])
            .expect("written");
    }
    assert!(writer.highest <= MOST, "{} bytes", writer.highest);
    writer.finish("done").expect("finished");
    walks.finish("done").expect("finished");
    let (mut there, mut dead, mut old, mut settings) = (BTreeSet::new(), BTreeSet::new(), 0, Vec::new());
    let mut shares: Vec<(u64, String)> = Vec::new();
    read_folder(folder.path(), |chunk| match chunk.kind() {
        ChunkKind::SAMPLES => {
            for sample in chunk.rows::<SampleRow>().expect("rows").rows {
                assert!(there.insert(sample.id), "{} twice", sample.id);
                assert!(!dead.contains(&sample.id), "{} comes behind its death", sample.id);
            }
        }
        ChunkKind::DEATHS => dead.extend(chunk.rows::<DeathRow>().expect("rows").rows.iter().map(|d| d.sample)),
        ChunkKind::OLD_SAMPLES => {
            old += chunk.rows::<OldSamplesRow>().expect("rows").rows.iter().map(|sum| sum.samples).sum::<u64>();
        }
        ChunkKind::SETTINGS => {
            for row in chunk.rows::<SettingRow>().expect("rows").rows {
                match row.key == FOLLOWED_ONE_IN {
                    true => shares.push((row.time, row.value)),
                    false => settings.push(row.value),
                }
            }
        }
        _ => {}
    });
    assert_eq!(there.len() as u64 + old, 600 * 400, "each is there or added up");
    let there_of = |of: &[u64]| of.iter().filter(|id| there.contains(id)).count();
    let found: Vec<usize> = named.iter().map(|of| there_of(of)).collect();
    assert!(found[1..].iter().all(|n| *n == 50), "{found:?}");
    assert_eq!(found[0], 0, "what would leave no room goes");
    assert!(named[1..].iter().flatten().all(|id| dead.contains(id)), "and is dead");
    shares.sort();
    shares.dedup_by_key(|(_, value)| value.clone());
    assert_eq!(shares, [(0, "1".to_owned()), (40, "4".to_owned()), (90, "1".to_owned())], "each change stays");
    settings.sort();
    assert_eq!(settings, ["4096", "a fault", "no more walks: x", "no room: 2"]);
}

/// Walks that double: each has room before it is written, for which older ones go; the one for which there is none in any case is left
/// out, and takes nothing with it.
#[test]
fn walks_that_double_keep_the_bound_and_one_that_is_larger_is_left_out() {
    const MOST: u64 = 512 << 10;
    let folder = tempfile::tempdir().expect("a folder");
    let options = TraceOptions { most_bytes: Some(MOST), ..TraceOptions::default() };
    let mut writer = TraceWriter::create_folder(folder.path(), options).expect("a writer");
    let mut tables = TraceTables::new(10_000);
    let (mut draws, mut left_out, mut sizes) = (Draws(5), 0, Vec::new());
    // Up to one that takes four times the bound, and some small ones behind it, as when a program has cleared up.
    let counts = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 24, 48, 20, 10, 10];
    for (round, count) in counts.into_iter().enumerate() {
        for name in 0..20 {
            tables.string(&format!("round {round}, {name}: {}", draws.number()));
        }
        tables.write_new(&mut writer).expect("written");
        let start = WalkStartRow { naming: ObjectNaming::Id, ..WalkStartRow::default() };
        let before = writer.bytes();
        let mut walk = writer.begin_walk(start).expect("a walk");
        for _ in 0..count * 300 {
            let object = WalkObject { id: draws.number() | 1 << 62, ..WalkObject::default() };
            walk.object(&object, &[draws.number()]).expect("listed");
        }
        match walk.finish(None) {
            Ok(end) => assert_eq!(end.objects, count * 300),
            Err(WireError::WalkTooLarge { needed, most }) => {
                assert!(needed > MOST && most == MOST && writer.bytes() >= before, "{needed} bytes");
                left_out += 1;
            }
            Err(other) => panic!("{other}"),
        }
        sizes.push(writer.bytes());
    }
    assert!(writer.highest <= MOST, "{} bytes of {MOST}", writer.highest);
    let there = writer.walks();
    writer.finish("done").expect("finished");
    let (mut walks, mut gone, mut told) = (Vec::new(), 0, 0);
    let mut listed = BTreeMap::<u32, u64>::new();
    let mut names = BTreeSet::new();
    let size = read_folder(folder.path(), |chunk| match chunk.kind() {
        ChunkKind::WALK_END => walks.extend(chunk.rows::<WalkEndRow>().expect("rows").rows),
        ChunkKind::WALK_OBJECTS => {
            let columns = chunk.objects().expect("objects");
            *listed.entry(columns.walk).or_default() += columns.len() as u64;
        }
        ChunkKind::STRINGS => names.extend(chunk.rows::<StringRow>().expect("rows").rows.into_iter().map(|s| s.id)),
        ChunkKind::LOSSES => {
            for loss in chunk.rows::<LossRow>().expect("rows").rows {
                assert_eq!(loss.what, u32::from(ChunkKind::WALK_END.0));
                match loss.reason {
                    LossReason::Retired => gone += loss.count,
                    LossReason::NoRoom => told += loss.count,
                    other => panic!("{other:?}"),
                }
            }
        }
        _ => {}
    });
    assert!(size <= MOST && size > MOST / 2, "{size} bytes; {sizes:?}");
    assert!(left_out >= 2 && told == left_out, "{told} of {left_out} told: {sizes:?}");
    assert_eq!(walks.len() as u64 + gone + left_out, 15, "{sizes:?}");
    assert!(walks.len() >= 2 && walks.len() as u64 == there, "{there}: {sizes:?}");
    // Those that are there are whole, with all names.
    assert!(walks.iter().all(|walk| listed.get(&walk.walk) == Some(&walk.objects)), "{walks:?} {listed:?}");
    assert_eq!(names.len(), 15 * 20);
    assert!(std::fs::read_dir(folder.path()).expect("it").flatten().all(|e| e.path().extension().is_some()));
}

/// Walks that are nearly as large as the bound: whatever stands beside them in the trace, one that fits takes the place of the one before, and
/// one that does not takes nothing with it.
#[test]
fn a_walk_is_always_there_once_one_has_fitted() {
    const MOST: u64 = 256 << 10;
    let folder = tempfile::tempdir().expect("a folder");
    let options = TraceOptions { most_bytes: Some(MOST), ..TraceOptions::default() };
    let mut writer = TraceWriter::create_folder(folder.path(), options).expect("a writer");
    let mut tables = TraceTables::new(100_000);
    let mut draws = Draws(11);
    let (mut fitted, mut left_out) = (0, 0);
    for round in 0..120u64 {
        // Names, which each part has again, and settings, which are written again when theirs goes.
        tables.string(&format!("round {round}: {}", draws.number()));
        tables.write_new(&mut writer).expect("written");
        let setting = SettingRow { time: round, key: format!("s{}", round % 9), value: format!("{}", draws.number()) };
        writer.write(&[setting]).expect("written");
        let start = WalkStartRow { naming: ObjectNaming::Id, ..WalkStartRow::default() };
        let mut walk = writer.begin_walk(start).expect("a walk");
        // From half of the bound to all of it, by less than what is spared.
        for _ in 0..7_000 + 150 * round {
            let object = WalkObject { id: draws.number() | 1 << 62, ..WalkObject::default() };
            walk.object(&object, &[draws.number()]).expect("listed");
        }
        match walk.finish(None) {
            Ok(_) => fitted += 1,
            Err(WireError::WalkTooLarge { .. }) => left_out += 1,
            Err(other) => panic!("round {round}: {other}"),
        }
        assert!(writer.walks() >= u64::from(fitted > 0), "round {round}: none is left");
        if left_out == 20 {
            break;
        }
    }
    assert!(writer.highest <= MOST, "{} bytes", writer.highest);
    assert!(fitted > 5 && left_out == 20, "{fitted} fitted, {left_out} were left out");
}

#[test]
fn threads_hand_over_what_they_have_and_what_finds_no_room_is_counted() {
    const THREADS: u64 = 4;
    const EACH: u64 = 20_000;
    let buffers = SampleBuffers::new(1000, 400);
    let running = std::sync::atomic::AtomicU64::new(THREADS);
    let (mut samples, mut losses) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (buffers, running) = (&buffers, &running);
            scope.spawn(move || {
                let own = buffers.thread(thread as u32);
                for size in 0..EACH {
                    own.push(SampleRow { size, weight: WEIGHT_ONE, ..SampleRow::default() });
                }
                drop(own);
                running.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
            });
        }
        while running.load(std::sync::atomic::Ordering::SeqCst) > 0 {
            let collected = buffers.collect(0);
            assert!(collected.samples.len() <= 1000 + THREADS as usize * 400);
            samples.extend(collected.samples);
            losses.extend(collected.losses);
            std::thread::yield_now();
        }
    });
    let collected = buffers.collect(0);
    samples.extend(collected.samples);
    losses.extend(collected.losses);
    assert_eq!(buffers.held(), 0);
    let ids: BTreeSet<u64> = samples.iter().map(|s| s.id).collect();
    assert_eq!(ids.len(), samples.len(), "ids are of one sample each");
    for thread in 0..THREADS as u32 {
        let of: Vec<&SampleRow> = samples.iter().filter(|s| s.thread == thread).collect();
        assert!(of.iter().all(|s| s.sequence == s.size), "gaps in the sequence are where samples were lost");
        assert!(of.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
        let lost: u64 = losses.iter().filter(|l| l.thread == Some(thread)).map(|l| l.count).sum();
        let lost_bytes: u64 = losses.iter().filter(|l| l.thread == Some(thread)).filter_map(|l| l.bytes).sum();
        assert_eq!(of.len() as u64 + lost, EACH);
        assert_eq!(of.iter().map(|s| s.size).sum::<u64>() + lost_bytes, EACH * (EACH - 1) / 2);
    }
}

#[test]
fn an_array_of_very_many_references_is_more_than_one_chunk() {
    let (_folder, path) = temporary();
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    let mut walk = writer.begin_walk(WalkStartRow::default()).expect("a walk");
    let many: Vec<u64> = (0..100_000).collect();
    walk.object(&WalkObject { length: Some(100_000), ..WalkObject::default() }, &many).expect("listed");
    walk.object(&WalkObject::default(), &[0]).expect("listed");
    let end = walk.finish(None).expect("finished");
    assert_eq!((end.objects, end.references), (2, 100_001));
    let bytes = std::fs::read(&path).expect("a file");
    let mut targets = Vec::new();
    for piece in PartReader::new(&path, &bytes).expect("a reader") {
        let Piece::Chunk(chunk) = piece else { panic!("damage") };
        match chunk.kind() {
            ChunkKind::WALK_OBJECTS if targets.is_empty() => targets = chunk.objects().expect("objects").references,
            ChunkKind::WALK_REFERENCES => {
                let rows = chunk.rows::<WalkReferenceRow>().expect("rows").rows;
                targets.extend(rows.iter().filter(|r| r.from == 0).map(|r| r.to));
            }
            _ => {}
        }
    }
    assert_eq!(targets, many);
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let (_folder, path) = temporary();
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    let text = "ä".repeat(LONGEST_TEXT);
    writer.write(&[StringRow { id: 1, text }]).expect("written");
    let bytes = std::fs::read(&path).expect("a file");
    let Some(Piece::Chunk(chunk)) = PartReader::new(&path, &bytes).expect("a reader").next() else { panic!("none") };
    let read = chunk.rows::<StringRow>().expect("rows").rows.remove(0).text;
    assert!(read.len() <= LONGEST_TEXT && read.len() > LONGEST_TEXT - 5);
    assert!(read.starts_with("ää") && read.ends_with("ä…"));
}

#[test]
fn names_get_a_number_each_once() {
    let mut tables = TraceTables::new(3);
    let [a, b] = ["a", "b"].map(|t| tables.string(t));
    assert_eq!((a, b, tables.string("a")), (Some(0), Some(1), Some(0)));
    let method = tables.method("a", "b", None, None, Vec::new).expect("a method");
    let outer = tables.frame(None, method, Some(3)).expect("a frame");
    let inner = tables.frame(Some(outer), method, Some(3)).expect("a frame");
    assert_ne!(outer, inner);
    assert_eq!(tables.frame(Some(outer), method, Some(3)), Some(inner));
    assert_eq!(tables.string("c"), Some(2));
    assert_eq!((tables.string("d"), tables.left_out()), (None, 1));
}

#[test]
fn fields_are_written_once_and_of_a_pair_of_classes_all_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fields.mcity");
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    let mut tables = TraceTables::new(3);
    for names in [&["first", "last"][..], &["last"], &["next"], &["one too many"]] {
        tables.fields(7, 8, names.iter().copied());
        tables.write_new(&mut writer).expect("written");
    }
    for other in 0..4 {
        tables.fields(other, 8, ["first"]);
    }
    tables.write_new(&mut writer).expect("written");
    // A name, and two pairs of classes.
    assert_eq!(tables.left_out(), 3);
    writer.finish("done").expect("ended");
    let bytes = std::fs::read(&path).expect("the file");
    let mut rows: Vec<FieldRow> = Vec::new();
    for piece in PartReader::new(&path, &bytes).expect("a part") {
        if let Piece::Chunk(chunk) = piece
            && chunk.kind() == ChunkKind::FIELDS
        {
            rows.extend(chunk.rows::<FieldRow>().expect("rows").rows);
        }
    }
    let told: Vec<_> = rows.iter().map(|row| (row.from, row.to, row.field)).collect();
    let expected = [(7, 8, Some(0)), (7, 8, Some(1)), (7, 8, Some(2)), (7, 8, None), (0, 8, Some(0)), (1, 8, Some(0))];
    assert_eq!(told, expected);
}

#[test]
fn weights_are_those_of_the_probability() {
    assert_eq!(weight(16, 0), WEIGHT_ONE);
    let close = |size: u64, interval: u64, expected: f64| {
        let weight = weight(size, interval) as f64 / WEIGHT_ONE as f64;
        assert!((weight / expected - 1.0).abs() < 1e-4, "{weight} instead of {expected}");
    };
    close(524_288, 524_288, 1.0 / (1.0 - (-1f64).exp()));
    close(16, 524_288, 32_768.5);
    close(1 << 30, 16_384, 1.0);
}

/// The page that strangers read has the columns that the code has: `UPDATE_PAGE=1` puts them there.
#[test]
fn the_page_of_the_format_lists_the_columns() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trace-format.md");
    let mut page = std::fs::read_to_string(&path).expect("the page");
    for kind in all_kinds() {
        let title = format!("### {}: {}\n", kind.kind.0, kind.kind.name().expect("a name"));
        let start = page.find(&title).unwrap_or_else(|| panic!("no section {title}")) + title.len();
        let length = page[start..].find("\n#").unwrap_or(page.len() - start);
        let section = format!("\n{}", (kind.page)());
        if std::env::var_os("UPDATE_PAGE").is_some() {
            page.replace_range(start..start + length, &section);
        } else {
            assert_eq!(page[start..start + length], section, "{title}");
        }
    }
    if std::env::var_os("UPDATE_PAGE").is_some() {
        std::fs::write(&path, page).expect("written");
    }
}
