//! Files that may change while they are read, which must not be mapped.
//!
//! Truncating a mapped file ends its reader with a signal. So only files that stay unchanged, as far as that can be known, are mapped;
//! others are copied into memory.

use std::fs::{File, Metadata};

/// Why a file may change while it is read; `None` where nothing says so.
#[cfg(unix)]
pub(super) fn may_change(file: &File, meta: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, SystemTime};
    if is_on_network(file) {
        return Some("it is on a network or foreign file system");
    }
    let written = is_written(file);
    if written == Some(true) {
        return Some("a program is writing it");
    }
    if written == Some(false) && meta.nlink() == 0 {
        // Nobody can open it any more.
        return None;
    }
    // SAFETY: the function has no arguments and always succeeds.
    let user = unsafe { libc::geteuid() };
    if meta.uid() != user && meta.uid() != 0 {
        return Some("it belongs to another user");
    }
    if meta.mode() & 0o002 != 0 {
        return Some("all users may write it");
    }
    let age = meta.modified().ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
    // A time in the future is no age: the clocks differ.
    let is_recent = age.is_none_or(|age| age < Duration::from_secs(10));
    (written.is_none() && is_recent).then_some("it has just been written")
}

/// Windows does not truncate mapped files.
#[cfg(not(unix))]
pub(super) fn may_change(_: &File, _: &Metadata) -> Option<&'static str> {
    None
}

/// File systems that may change from elsewhere, as numbers of `statfs`: NFS, SMB (three generations), 9P, FUSE, AFS, Coda, Ceph, Lustre,
/// GPFS, GFS2, OCFS2, and folders shared with virtual machines (VirtualBox, VMware).
#[cfg(target_os = "linux")]
const FOREIGN: [u32; 16] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x0102_1997,
    0x6573_5546,
    0x5346_414f,
    0x7375_7245,
    0x00c3_6400,
    0x0bd0_0bd0,
    0x4750_4653,
    0x0116_1970,
    0x7461_636f,
    0x786f_4256,
    0xbacb_acbc,
    0x6b41_4653,
];

#[cfg(target_os = "linux")]
fn is_on_network(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    let mut about = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the descriptor is open for as long as `file` is borrowed, and `about` is a whole structure to write to.
    if unsafe { libc::fstatfs(file.as_raw_fd(), about.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the call succeeded, and all bytes were zero before, which is a value of this structure of numbers.
    let about = unsafe { about.assume_init() };
    // Kinds have 32 bits, in a number whose width and sign depend on the processor.
    FOREIGN.contains(&(about.f_type as u32))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_on_network(_: &File) -> bool {
    false
}

/// Whether any program has a file open for writing; `None` where the system does not tell.
///
/// A lease for reading is granted only where there is no writer. It is given back at once.
#[cfg(target_os = "linux")]
fn is_written(file: &File) -> Option<bool> {
    use std::os::fd::AsRawFd;
    const F_SETSIG: i32 = 10;
    let descriptor = file.as_raw_fd();
    // SAFETY: the descriptor is open for as long as `file` is borrowed; these calls take numbers alone. Should somebody open the
    // file for writing between the two, the system sends SIGURG instead of SIGIO: that is ignored unless somebody asks for it.
    unsafe {
        if libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) != 0 {
            return None;
        }
        if libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_RDLCK) == 0 {
            libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK);
            return Some(false);
        }
    }
    (std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)).then_some(true)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_written(_: &File) -> Option<bool> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn files_that_are_written_or_belong_to_all_may_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let may_change = || {
            let file = File::open(&path).expect("a file");
            super::may_change(&file, &file.metadata().expect("known"))
        };
        let writer = File::create(&path).expect("a file");
        if is_on_network(&writer) || is_written(&File::open(&path).expect("a file")).is_none() {
            return;
        }
        assert_eq!(may_change(), Some("a program is writing it"));
        drop(writer);
        assert_eq!(may_change(), None);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).expect("changed");
        assert_eq!(may_change(), Some("all users may write it"));
    }

    #[test]
    fn kinds_of_file_systems_are_told_apart() {
        let told = |path: &str| File::open(path).map(|file| is_on_network(&file));
        assert!(!told("/proc/self/status").expect("a file"));
    }
}
