//! The number of samples taken, in memory that outlives the program.
//!
//! A killed program writes nothing more, and the samples since its last write would be counted nowhere. So the number is in a page of
//! memory that has no name on any disk (`memfd`). The recording process opens it through `/proc` while the program runs, and reads it when
//! the program has gone. Counting costs as much as any atomic number.

use crate::folder::claim_of;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The start of the page, before the number. It shows a reader that the page is ours.
const MARK: u64 = u64::from_ne_bytes(*b"mcity-n1");
const PAGE: usize = 4096;

/// The number in the program.
pub(crate) struct SampleCounter {
    shared: Option<SharedPage>,
    /// Used if the system gives no such page: then it cannot be seen from outside.
    own: AtomicU64,
}

struct SharedPage {
    file: OwnedFd,
    number: NonNull<AtomicU64>,
}

// SAFETY: the number is atomic, and the page is there until this is dropped, by whatever thread.
unsafe impl Send for SharedPage {}
// SAFETY: as above.
unsafe impl Sync for SharedPage {}

impl SampleCounter {
    /// At 0.
    pub(crate) fn new() -> SampleCounter {
        SampleCounter { shared: SharedPage::new(), own: AtomicU64::new(0) }
    }

    /// One more: the number before.
    #[inline]
    pub(crate) fn add(&self) -> u64 {
        self.number().fetch_add(1, Ordering::Relaxed)
    }

    /// The number.
    pub(crate) fn get(&self) -> u64 {
        self.number().load(Ordering::Relaxed)
    }

    /// The descriptor by which others find it; `None` where there is no shared page.
    pub(crate) fn descriptor(&self) -> Option<i32> {
        self.shared.as_ref().map(|page| page.file.as_raw_fd())
    }

    fn number(&self) -> &AtomicU64 {
        match &self.shared {
            // SAFETY: the page is mapped as long as `shared` is there, the number lies in it, aligned; whoever else has the page open
            // may change the number, as with any atomic, and cannot make the file shorter (see `SharedPage::new`).
            Some(page) => unsafe { page.number.as_ref() },
            None => &self.own,
        }
    }
}

impl SharedPage {
    fn new() -> Option<SharedPage> {
        // SAFETY: a text that ends with 0; the descriptor is new, and nobody else's.
        let file = unsafe {
            let made = libc::memfd_create(c"memory-city samples".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
            if made < 0 {
                return None;
            }
            OwnedFd::from_raw_fd(made)
        };
        let mut file = File::from(file);
        // Written, so that its memory is there: no later access can fail for want of it.
        let mut page = [0u8; PAGE];
        page[..8].copy_from_slice(&MARK.to_ne_bytes());
        file.write_all(&page).ok()?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: no pointers. Then a new mapping of a file that is as long as the mapping, and can never be shorter: an access
        // within it always finds memory.
        let mapped = unsafe {
            if libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) != 0 {
                return None;
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), PAGE, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if mapped == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: eight bytes into the page, which begins at a multiple of its size.
        let number = NonNull::new(unsafe { mapped.cast::<u8>().add(8) }.cast::<AtomicU64>())?;
        Some(SharedPage { file: file.into(), number })
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        // SAFETY: the mapping that was made in `new`, of which nobody has a reference any more: they live as long as `self`.
        unsafe { libc::munmap(self.number.as_ptr().cast::<u8>().sub(8).cast(), PAGE) };
    }
}

/// The number as the recording process sees it, also when the program has gone.
pub struct TakenSamples(File);

impl TakenSamples {
    /// The page of the program recorded into a folder. `None` if the program has gone already, or has no such page.
    pub fn open(folder: &Path) -> Option<TakenSamples> {
        let (pid, descriptor) = claim_of(folder)?;
        let path = format!("/proc/{pid}/fd/{}", descriptor?);
        // Should the program have closed it, something else may have its number: opens no device, waits for nothing, and looks at the mark.
        std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
        let taken = TakenSamples(file);
        (taken.word(0)? == MARK).then_some(taken)
    }

    /// How many samples have been taken so far.
    pub fn get(&self) -> Option<u64> {
        self.word(8)
    }

    fn word(&self, at: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, at).ok()?;
        Some(u64::from_ne_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_seen_from_outside_and_outlives_what_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(TakenSamples::open(folder.path()).is_none());
        let counter = SampleCounter::new();
        let descriptor = counter.descriptor().expect("Linux has such pages");
        crate::folder::write_claim(folder.path(), Some(descriptor)).expect("written");
        assert_eq!(crate::folder::claimed_by(folder.path()), Some(std::process::id()));
        let taken = TakenSamples::open(folder.path()).expect("the page");
        assert_eq!((counter.add(), counter.add(), counter.get(), taken.get()), (0, 1, 2, Some(2)));
        drop(counter);
        assert_eq!(taken.get(), Some(2));
        // What has its number now is none of ours.
        assert!(TakenSamples::open(folder.path()).is_none());
        std::fs::remove_file(folder.path().join(crate::folder::CLAIM)).expect("removed");
        crate::folder::write_claim(folder.path(), None).expect("written");
        assert!(TakenSamples::open(folder.path()).is_none());
        assert_eq!(crate::folder::claimed_by(folder.path()), Some(std::process::id()));
    }
}
