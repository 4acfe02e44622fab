//! Walks: the schedule of dumps, and the places of the followed samples in them.
//!
//! A dump stops the program. So it is asked for right after a collection (there is little garbage then), if a process waits for it, the
//! last dump was collected, and the disk has room. The program must also have run since the last one for a multiple of the time it stood
//! still. Weak references become global ones for the time of the dump: dumps list those with their handles, and so contain the place of
//! each followed sample.

use crate::folder::{RecorderLock, WalkNote, WalkNumber, has_dumps};
use crate::identity::{HeldObjects, NumberedObjects};
use crate::live_samples::Followed;
use crate::place::DumpPlace;
use crate::recording::AgentRecording;
use crate::vm::Jni;
use jni_sys::jobject;
use std::path::Path;

/// The first walk may be sooner than the others: nanoseconds after the start.
pub(crate) const FIRST: u64 = 1_000_000_000;
/// Bytes of a heap that a slow machine walks in a second.
const SLOW: u64 = 150 << 20;
/// The first walk is put off where it might take longer than this, nanoseconds.
const AT_ONCE: u64 = 3_000_000_000;
/// Bytes of a dump, for bytes of a heap. A dump has 25 bytes of each object besides its fields, and references of 8: of small objects it is
/// 2 to 2.2 times as large as the heap.
const DUMP_OF_HEAP: (u64, u64) = (9, 4);
/// Since this version the VM writes dumps in pieces, which it puts together one after the other: a piece goes when it has been copied. With
/// few threads one has nearly all of the heap.
const FIRST_WITH_PIECES: u32 = 22;
const COPIES: u64 = 2;
/// Bytes that stay free besides.
const ROOM_TO_SPARE: u64 = 64 << 20;
/// Assumed size of a heap whose size is unknown.
const UNKNOWN_HEAP: u64 = 512 << 20;
/// A walk takes at most this many times as long as a class histogram of the same heap.
const HISTOGRAMS: u64 = 8;
/// Rounds of holding new samples before the dump, as long as each round finds many.
const ROUNDS: u32 = 8;
const FEW: usize = 4;
/// Failures of the VM after which dumps end.
const MOST_FAILURES: u32 = 3;

/// When the next walk may be.
pub(crate) struct WalkSchedule {
    /// The least time between two, nanoseconds; 0 for none at all.
    every: u64,
    /// The program runs this many times as long as a walk stopped it before the next.
    duty: u64,
    next: u64,
    /// Until then the program has run for as long as all that stopped it asks for.
    rest_until: u64,
    /// The first walk, when none before it shows how long one takes; none until it is wanted.
    first: Option<FirstWalk>,
    failures: u32,
    pub(crate) walks: u64,
    /// Walks that were left out because the disk was too full.
    pub(crate) no_room: u64,
    /// Walks at the end that were left out for lack of time.
    pub(crate) no_time: u64,
    /// Nanoseconds that the program stood still for walks and the collections before them, and for the last walk.
    pub(crate) pauses: u64,
    pub(crate) last_pause: u64,
    /// Bytes of the heap that the last walk was of, where that is known, and of its dump.
    last_heap: u64,
    last_dump: u64,
    /// Copies of a dump's content on the disk before the dump is whole.
    copies: u64,
}

/// When the first walk may be, and how long it might take, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstWalk {
    /// Since the beginning of the recording; 0 where it need not wait.
    pub(crate) not_before: u64,
    pub(crate) takes: u64,
}

impl WalkSchedule {
    /// `every` in milliseconds.
    pub(crate) fn new(every: u64, duty: u32) -> WalkSchedule {
        let every = every.saturating_mul(1_000_000);
        WalkSchedule {
            every,
            duty: u64::from(duty),
            next: FIRST.min(every),
            rest_until: 0,
            first: None,
            failures: 0,
            walks: 0,
            no_room: 0,
            no_time: 0,
            pauses: 0,
            last_pause: 0,
            last_heap: 0,
            last_dump: 0,
            copies: COPIES,
        }
    }

    /// The same, of a VM of this version. Older ones write a dump from its beginning to its end.
    pub(crate) fn of_java(self, version: Option<u32>) -> WalkSchedule {
        WalkSchedule {
            copies: if version.is_some_and(|version| version < FIRST_WITH_PIECES) { 1 } else { COPIES },
            ..self
        }
    }

    /// Free bytes that the disk needs for a dump of a heap of `heap` bytes. It takes the ratio of the last dump or, without one, that of
    /// small objects; plus a margin, as the program goes on meanwhile.
    pub(crate) fn room_needed(&self, heap: u64) -> u64 {
        let (dump, of) = match (self.last_dump, self.last_heap) {
            (0, _) | (_, 0) => DUMP_OF_HEAP,
            // A quarter more, since the next may be of other objects.
            (dump, heap) => (dump.saturating_add(dump / 4), heap),
        };
        let dump = u64::try_from(u128::from(heap) * u128::from(dump) / u128::from(of)).unwrap_or(u64::MAX);
        self.copies.saturating_mul(dump).saturating_add(ROOM_TO_SPARE)
    }

    /// True if a walk is due: right after a collection, or when there was none for as long again.
    pub(crate) fn is_due(&self, now: u64, after_collection: bool) -> bool {
        let is_time = now >= self.next && after_collection || now >= self.next.saturating_add(self.every);
        self.every > 0 && is_time && now >= self.rest_until
    }

    /// Whether the first is still to come, and nothing is known to be in its way.
    pub(crate) fn is_first_awaited(&self) -> bool {
        self.every > 0 && self.walks == 0 && self.no_room == 0 && self.failures == 0 && self.put_off().is_none()
    }

    /// True if the first walk, which would be now, has to wait. If it might take long, the program first runs for as long as it would after
    /// the walk. The same holds if the size of the heap is unknown.
    pub(crate) fn puts_off_first(&mut self, now: u64, heap: Option<u64>) -> bool {
        if self.walks > 0 {
            return false;
        }
        let takes = self.takes(heap.unwrap_or(0));
        let waits = FirstWalk { not_before: self.duty.saturating_mul(takes), takes };
        // Asked once: a heap that grows would put it off for ever.
        let first = self.first.get_or_insert(if takes > AT_ONCE { waits } else { FirstWalk::default() });
        now < first.not_before
    }

    /// A class histogram of the heap has stopped the program for so long: that tells more of how long a walk takes than the size of the heap.
    pub(crate) fn counted(&mut self, pause: u64) {
        let takes = pause.saturating_mul(HISTOGRAMS);
        if let Some(first) = self.first.as_mut().filter(|first| takes < first.takes) {
            *first = FirstWalk { not_before: self.duty.saturating_mul(takes).min(first.not_before), takes };
        }
    }

    /// The first walk where it has been put off and is still to come.
    pub(crate) fn put_off(&self) -> Option<FirstWalk> {
        self.first.filter(|first| self.every > 0 && self.walks == 0 && first.not_before > 0)
    }

    /// True if there may be one at the end: the first, or one for which there is time.
    pub(crate) fn may_be_last(&self, now: u64) -> bool {
        self.every > 0 && (self.walks == 0 || now >= self.rest_until)
    }

    /// True if there are enough walks to see growth. A program that ends has cleared up: a last walk would show that, as if nothing had
    /// ever stayed.
    pub(crate) fn is_enough(&self) -> bool {
        self.walks >= 2
    }

    /// Expected duration of a walk over a heap of so many bytes, nanoseconds: for each byte as long as the last one, or as on a slow
    /// machine without one.
    pub(crate) fn takes(&self, heap: u64) -> u64 {
        let (nanos, bytes) = match (self.last_pause, self.last_heap) {
            (0, _) | (_, 0) => (1_000_000_000, SLOW),
            last => last,
        };
        u64::try_from(u128::from(heap) * u128::from(nanos) / u128::from(bytes)).unwrap_or(u64::MAX)
    }

    /// No walk may be before this.
    pub(crate) fn rest_until(&self) -> u64 {
        self.rest_until
    }

    /// The program has stood still for so long, until `end`, and not for a walk: the next one is so much later.
    pub(crate) fn stood_still(&mut self, end: u64, pause: u64) {
        self.rest_until = self.rest_until.max(end).saturating_add(self.duty.saturating_mul(pause));
    }

    /// The VM was asked to collect for a walk, which stopped the program for so long, until `end`.
    pub(crate) fn collected(&mut self, end: u64, pause: u64) {
        self.pauses += pause;
        self.stood_still(end, pause);
    }

    pub(crate) fn done(&mut self, start: u64, end: u64) {
        self.failures = 0;
        self.walks += 1;
        self.last_pause = end.saturating_sub(start);
        self.pauses += self.last_pause;
        self.next = end.saturating_add(self.every);
        self.stood_still(end, self.last_pause);
    }

    /// The disk is too full for this one.
    fn left_out(&mut self, now: u64) {
        self.no_room += 1;
        self.next = now.saturating_add(self.every);
    }

    /// Why there will be no more walks, when there will be none.
    fn failed(&mut self, now: u64, why: &str, for_good: bool) -> Option<String> {
        self.failures += 1;
        self.next = now.saturating_add(self.every);
        (for_good || self.failures >= MOST_FAILURES).then(|| {
            self.every = 0;
            format!("no more walks: {why}")
        })
    }

    /// The same, as an outcome. A function that Java lacks now it lacks for good.
    fn give_up(&mut self, now: u64, why: &str) -> WalkOutcome {
        match self.failed(now, why, why.starts_with("this Java")) {
            Some(why) => WalkOutcome::Never(why),
            None => WalkOutcome::NotNow,
        }
    }
}

/// A walk whose dump is there.
pub(crate) struct DumpedWalk {
    pub(crate) note: WalkNote,
    /// Bytes of the heap in use; 0 if unknown.
    pub(crate) heap: u64,
    /// Bytes of the dump.
    dump: u64,
    /// Before this the program stood still, nanoseconds since the recording began: a millisecond after it did at most, or when it went
    /// on at the latest.
    pub(crate) stood_still: u64,
}

/// The outcome of a walk.
pub(crate) enum WalkOutcome {
    /// The dump is there, to be reported by [`tell`].
    Done(DumpedWalk),
    Told,
    /// Not now: no process waits for it, the last one is still there, or the VM could not.
    NotNow,
    /// The disk has fewer bytes than it might take: both.
    NoRoom(u64, u64),
    /// No walk will follow, with the reason.
    Never(String),
}

/// Samples that are followed and alive, each held by a global reference: dumps name those.
struct HeldSamples<'a> {
    recording: &'a AgentRecording,
    jni: Jni,
    held: Vec<(u64, jobject)>,
    /// The samples taken out, to be put back.
    taken: Vec<Vec<Followed>>,
}

impl<'a> HeldSamples<'a> {
    fn new(recording: &'a AgentRecording, jni: Jni) -> HeldSamples<'a> {
        HeldSamples { recording, jni, held: Vec::new(), taken: Vec::new() }
    }

    /// Holds those that are new. How many are.
    fn hold_new(&mut self) -> usize {
        let new = self.recording.live.take_for_walk();
        let count = new.len();
        // No more than there are: a list that grows has room for as many again.
        self.held.reserve_exact(count);
        for (sample, weak) in &new {
            // SAFETY: only this thread forgets references, and none before they are back.
            self.held.extend(unsafe { self.jni.keep(*weak) }.map(|global| (*sample, global)));
        }
        self.taken.push(new);
        count
    }

    /// Where they are in the dump, which is done: nothing is held any more. `class` is `java.lang.Class`.
    fn links(&mut self, class: Option<jobject>) -> Vec<WalkNumber> {
        let jni = self.jni;
        let link = |(sample, global): (u64, jobject)| {
            // SAFETY: this thread is ours, and attached; the class is a handle of it.
            let is_class = class.is_some_and(|class| unsafe { jni.is_instance(global, class) });
            // Dumps name the handle.
            let link = WalkNumber::new(sample, global as u64, is_class);
            // SAFETY: made by `hold_new`.
            unsafe { jni.release(global) };
            link
        };
        // As large as what is held, so it takes the place of that.
        std::mem::take(&mut self.held).into_iter().map(link).collect()
    }

    /// Holds all samples. Holding many takes time, in which new ones are taken; holding those takes less.
    fn hold_all(&mut self) {
        for _ in 0..ROUNDS {
            if self.hold_new() <= FEW {
                break;
            }
        }
    }
}

impl Drop for HeldSamples<'_> {
    fn drop(&mut self) {
        for (_, global) in self.held.drain(..) {
            // SAFETY: made by `hold_new`.
            unsafe { self.jni.release(global) };
        }
        // In the order in which they came: what is put back comes before what is there.
        for taken in self.taken.drain(..).rev() {
            self.recording.live.put_back(taken, 0);
        }
    }
}

/// Walks the heap. `collections` have ended before. The caller reports the note to the waiting process.
pub(crate) fn walk(
    recording: &AgentRecording,
    schedule: &mut WalkSchedule,
    jni: Jni,
    collections: u64,
    heap_bytes: Option<u64>,
    identities: Option<&mut NumberedObjects>,
) -> WalkOutcome {
    let folder = &recording.folder;
    if !can_walk(folder) {
        return WalkOutcome::NotNow;
    }
    let needed = schedule.room_needed(heap_bytes.unwrap_or(UNKNOWN_HEAP));
    if let Some(free) = free_space(folder).filter(|free| *free < needed) {
        schedule.left_out(recording.now());
        return WalkOutcome::NoRoom(free, needed);
    }
    let number = schedule.walks + 1;
    let file = WalkNote::dump(folder, number);
    let place = match DumpPlace::of(folder, number) {
        Ok(place) => place,
        Err(why) => return WalkOutcome::Never(format!("no walks: {why}")),
    };
    // Before anything is held: what is made between that and the dump has no sample in it.
    if let Err(why) = jni.prepare_dump() {
        return schedule.give_up(recording.now(), why);
    }
    let mut samples = HeldSamples::new(recording, jni);
    samples.hold_all();
    // Last, so that little is made between this and the dump.
    let (numbered, stopped) = identities.map_or_else(|| (HeldObjects::new(jni), 0), |all| all.hold(recording, jni));
    samples.hold_all();
    // That has stopped the program too.
    let start = recording.now().saturating_sub(stopped);
    let dumped = jni.dump_heap(place.path());
    drop(place);
    let end = recording.now();
    // Newer VMs put the dump together while the program goes on already.
    let stood_still = when_it_stood_still(recording, &file).map_or(end, |at| at.clamp(start, end));
    // SAFETY: this thread is ours, and attached.
    let class = unsafe { jni.class(c"java/lang/Class") };
    let links = samples.links(class);
    if let Some(class) = class {
        // SAFETY: made above, and used no more.
        unsafe { jni.drop_local(class) };
    }
    let numbers = numbered.numbers();
    drop(numbered);
    drop(samples);
    let noted = dumped.map_err(str::to_owned).and_then(|()| {
        if !numbers.is_empty() {
            WalkNote::write_numbers(folder, number, numbers).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        Ok(WalkNote { number, start, end, gcs: collections, late: None, links })
    });
    match noted {
        Ok(note) => {
            let dump = std::fs::metadata(&file).map_or(0, |facts| facts.len());
            WalkOutcome::Done(DumpedWalk { note, heap: heap_bytes.unwrap_or(0), dump, stood_still })
        }
        Err(why) => {
            forget_dump(folder, number);
            schedule.give_up(end, &why)
        }
    }
}

/// Reports a walk to the waiting process, when the samples in it are in the trace.
pub(crate) fn tell(folder: &Path, schedule: &mut WalkSchedule, walk: &DumpedWalk) -> WalkOutcome {
    let note = &walk.note;
    match note.write(folder) {
        Ok(()) => {
            schedule.done(note.start, note.end);
            (schedule.last_heap, schedule.last_dump) = (walk.heap, walk.dump);
            WalkOutcome::Told
        }
        Err(e) => {
            forget_dump(folder, note.number);
            schedule.give_up(note.end, &format!("{}: {e}", folder.display()))
        }
    }
}

/// The moment at which the program stood still for a dump, in milliseconds: the VM writes it into the dump.
fn when_it_stood_still(recording: &AgentRecording, dump: &Path) -> Option<u64> {
    let mut head = [0; HEAD];
    std::io::Read::read_exact(&mut std::fs::File::open(dump).ok()?, &mut head).ok()?;
    let millis = dumped_at(&head)?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    let ago = u64::try_from(now.as_nanos()).ok()?.saturating_sub((millis + 1).checked_mul(1_000_000)?);
    recording.now().checked_sub(ago)
}

/// Bytes at the beginning of a dump: magic, size of ids, time.
const HEAD: usize = MAGIC.len() + 4 + 8;
const MAGIC: &[u8] = b"JAVA PROFILE 1.0.2\0";

/// When a dump was written by its first bytes, milliseconds since the Unix epoch.
fn dumped_at(head: &[u8; HEAD]) -> Option<u64> {
    let time = head.strip_prefix(MAGIC)?.get(4..)?;
    Some(u64::from_be_bytes(time.try_into().ok()?)).filter(|millis| *millis > 0)
}

/// Removes a dump, since it holds the program's data.
fn forget_dump(folder: &Path, number: u64) {
    let _ = std::fs::remove_file(WalkNote::dump(folder, number));
    let _ = std::fs::remove_file(WalkNote::numbers(folder, number));
}

/// True if a process waits for a walk, and has collected the last one.
pub(crate) fn can_walk(folder: &Path) -> bool {
    RecorderLock::is_held(folder) && !has_dumps(folder)
}

fn free_space(folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut facts = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: a text that ends with 0, and a structure of ours, which is filled in when the answer is 0.
    unsafe {
        if libc::statvfs(path.as_ptr(), facts.as_mut_ptr()) != 0 {
            return None;
        }
        let facts = facts.assume_init();
        Some(facts.f_bavail.saturating_mul(facts.f_frsize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn what_a_walk_holds_for_each_sample_is_what_the_page_says() {
        // What is noted of them takes the place of what held them.
        let (kept, noted) = (size_of::<(u64, jobject)>(), size_of::<WalkNumber>());
        let in_the_vm = size_of::<jobject>();
        assert_eq!(kept, noted);
        let held: Vec<(u64, usize)> = (0..1000).map(|n| (n, 8)).collect();
        let place = held.as_ptr() as usize;
        let links: Vec<WalkNumber> = held.into_iter().map(|(n, at)| WalkNumber::new(n, at as u64, false)).collect();
        assert_eq!((links.as_ptr() as usize, links.len()), (place, 1000));
        let bytes = kept + in_the_vm;
        let page = std::fs::read_to_string(memory_city_testing::root().join("docs/recorder.md")).expect("the page");
        assert!(page.contains(&format!("as long as a walk lasts it is about {bytes} bytes more")), "{bytes}");
    }

    #[test]
    fn a_dump_says_when_the_program_stood_still() {
        let head = |magic: &[u8], time: u64| {
            let bytes = [magic, &8u32.to_be_bytes(), &time.to_be_bytes()].concat();
            <[u8; HEAD]>::try_from(bytes).expect("as long as that")
        };
        assert_eq!(dumped_at(&head(MAGIC, 1_700_000_000_123)), Some(1_700_000_000_123));
        assert_eq!(dumped_at(&head(MAGIC, 0)), None);
        assert_eq!(dumped_at(&head(b"JAVA PROFILE 9.9.9\0", 7)), None);
    }

    /// A dump of small objects is twice as large as the heap, and newer VMs write it twice.
    #[test]
    fn dumps_need_as_much_room_as_they_may_take() {
        const GB: u64 = 1 << 30;
        let spared = |schedule: &WalkSchedule, heap| schedule.room_needed(heap) - ROOM_TO_SPARE;
        let of_java = |version| WalkSchedule::new(10_000, 30).of_java(version);
        assert_eq!(spared(&of_java(Some(17)), 4 * GB), 9 * GB);
        for version in [Some(22), Some(25), None] {
            assert_eq!(spared(&of_java(version), 4 * GB), 18 * GB, "{version:?}");
        }
        let mut schedule = of_java(Some(17));
        (schedule.last_heap, schedule.last_dump) = (4 * GB, 4 * GB);
        assert_eq!(spared(&schedule, 8 * GB), 10 * GB, "as the last one, and a quarter");
        (schedule.last_heap, schedule.last_dump) = (1, u64::MAX);
        assert_eq!(schedule.room_needed(u64::MAX), u64::MAX);
    }

    #[test]
    fn walks_wait_for_collections_and_for_as_long_as_the_duty_says() {
        let mut schedule = WalkSchedule::new(10_000, 30);
        assert!(schedule.is_first_awaited());
        assert!(!schedule.is_due(SECOND / 2, true) && schedule.is_due(SECOND, true) && !schedule.is_due(SECOND, false));
        // Nothing is collected: then without.
        assert!(schedule.is_due(11 * SECOND, false));
        schedule.done(SECOND, 2 * SECOND);
        assert!(!schedule.is_first_awaited());
        assert!(!schedule.is_due(31 * SECOND, true) && schedule.is_due(32 * SECOND, true));
        assert!(!schedule.may_be_last(31 * SECOND) && schedule.may_be_last(32 * SECOND));
        schedule.done(40 * SECOND, 40 * SECOND + SECOND / 10);
        assert!(!schedule.is_due(49 * SECOND, true) && schedule.is_due(51 * SECOND, true));
        assert!(schedule.may_be_last(44 * SECOND), "the end need not wait for the next round");
        assert!(schedule.is_enough() && !WalkSchedule::new(10_000, 30).is_enough());
        assert_eq!(schedule.pauses, SECOND + SECOND / 10);
    }

    #[test]
    fn what_a_walk_takes_follows_from_the_last_one() {
        let mut schedule = WalkSchedule::new(10_000, 30);
        assert_eq!(schedule.takes(SLOW * 8), 8 * SECOND, "nothing is known: a slow machine");
        schedule.done(SECOND, SECOND + SECOND / 10);
        assert_eq!(schedule.takes(SLOW * 8), 8 * SECOND, "of which heap is not known");
        schedule.last_heap = 100 << 20;
        assert_eq!((schedule.takes(50 << 20), schedule.takes(8000 << 20)), (SECOND / 20, 8 * SECOND));
        schedule.last_pause = u64::MAX;
        assert_eq!(schedule.takes(u64::MAX), u64::MAX);
    }

    /// Nothing tells how long the first one takes but the size of the heap, and a histogram.
    #[test]
    fn the_first_walk_of_a_large_heap_is_put_off() {
        let mut small = WalkSchedule::new(10_000, 40);
        assert!(!small.puts_off_first(SECOND, Some(3 * SLOW)) && small.put_off().is_none());
        assert!(!small.puts_off_first(2 * SECOND, Some(100 * SLOW)), "it is asked once");
        let mut large = WalkSchedule::new(10_000, 40);
        assert!(large.is_first_awaited() && large.puts_off_first(SECOND, Some(10 * SLOW)));
        assert_eq!(large.put_off(), Some(FirstWalk { not_before: 400 * SECOND, takes: 10 * SECOND }));
        assert!(!large.is_first_awaited(), "histograms do not wait for it");
        assert!(large.puts_off_first(400 * SECOND - 1, None) && !large.puts_off_first(400 * SECOND, Some(u64::MAX)));
        // Shorter than one would think; what takes longer than one would think changes nothing.
        large.counted(SECOND / 4);
        assert_eq!(large.put_off(), Some(FirstWalk { not_before: 80 * SECOND, takes: 2 * SECOND }));
        large.counted(SECOND);
        assert!(large.puts_off_first(79 * SECOND, None) && !large.puts_off_first(80 * SECOND, None));
        assert!(large.may_be_last(SECOND), "the end waits for nothing but its own bound");
        large.done(81 * SECOND, 83 * SECOND);
        assert!(large.put_off().is_none() && !large.puts_off_first(83 * SECOND, Some(u64::MAX)));
        assert!(!WalkSchedule::new(10_000, 40).puts_off_first(SECOND, None), "nobody knows");
    }

    #[test]
    fn what_else_stops_the_program_delays_walks() {
        let mut schedule = WalkSchedule::new(10_000, 30);
        schedule.done(SECOND, 2 * SECOND);
        schedule.stood_still(20 * SECOND, SECOND / 10);
        assert!(!schedule.is_due(34 * SECOND, true) && schedule.is_due(35 * SECOND, true));
        assert!(!schedule.may_be_last(34 * SECOND) && schedule.may_be_last(35 * SECOND));
        schedule.stood_still(50 * SECOND, SECOND);
        assert!(!schedule.is_due(79 * SECOND, true) && schedule.is_due(80 * SECOND, true));
        // A collection that was asked for is in the sum, and delays what comes behind the walk.
        let pauses = schedule.pauses;
        schedule.collected(100 * SECOND, SECOND);
        schedule.done(100 * SECOND, 101 * SECOND);
        assert_eq!(schedule.pauses, pauses + 2 * SECOND);
        assert!(!schedule.is_due(159 * SECOND, true) && schedule.is_due(161 * SECOND, true));
    }

    #[test]
    fn failures_end_walks_but_not_at_once() {
        let mut schedule = WalkSchedule::new(1000, 30);
        assert_eq!((schedule.failed(0, "x", false), schedule.failed(0, "x", false)), (None, None));
        assert!(schedule.failed(0, "x", false).is_some_and(|why| why.contains('x')));
        assert!(!schedule.is_due(u64::MAX, true) && !schedule.may_be_last(u64::MAX));
        assert!(WalkSchedule::new(1000, 30).failed(0, "x", true).is_some());
        assert!(!WalkSchedule::new(0, 30).is_due(u64::MAX, true));
    }
}
