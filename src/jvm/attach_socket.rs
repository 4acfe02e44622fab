//! The socket of a JVM's attach listener. Every user may put one of that name into `/tmp`. So before it connects, this program looks at
//! the owner, as the JDK's own tools do, and then asks the kernel which process listens there.

use memory_city_heap::error::{Error, Result};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Expected socket of a process's listener.
pub struct AttachSocket {
    /// The process, by its number here.
    pub pid: u32,
    /// The user that it acts as.
    pub owner: u32,
    /// The socket as it is seen here.
    pub path: PathBuf,
}

/// Result of a look at the socket's path.
enum SocketState {
    Nothing,
    /// The socket of a process that has ended, or of one that takes no more connections now.
    Nobody,
    Listener(UnixStream),
}

impl AttachSocket {
    /// Connects. `None` without a listener: the socket of a killed process stays, and another process may have its number.
    ///
    /// # Errors
    /// When the socket there belongs to another process.
    pub fn connect(&self) -> Result<Option<UnixStream>> {
        match self.find() {
            Ok(SocketState::Listener(stream)) => Ok(Some(stream)),
            Ok(SocketState::Nothing | SocketState::Nobody) => Ok(None),
            Err(why) => Err(Error::Unusable {
                what: format!("{} is not the socket of process {}: {why}", self.path.display(), self.pid),
                remedy: "Another user may have put it there: have it removed, and start the program again".into(),
            }),
        }
    }

    fn find(&self) -> std::result::Result<SocketState, String> {
        let Ok(meta) = std::fs::symlink_metadata(&self.path) else { return Ok(SocketState::Nothing) };
        if !meta.file_type().is_socket() {
            return Err("it is none at all".to_owned());
        }
        if meta.uid() != self.owner {
            return Err(format!("it belongs to user {}, the process to user {}", meta.uid(), self.owner));
        }
        if meta.mode() & 0o066 != 0 {
            return Err(format!("others may write to it (mode {:03o})", meta.mode() & 0o777));
        }
        let Ok(stream) = dial(&self.path) else { return Ok(SocketState::Nobody) };
        let peer =
            sockopt::socket_peercred(&stream).map_err(|e| format!("the kernel does not say who listens ({e})"))?;
        let (pid, uid) = (peer.pid.as_raw_nonzero().get(), peer.uid.as_raw());
        match u32::try_from(pid) == Ok(self.pid) && uid == self.owner {
            true => Ok(SocketState::Listener(stream)),
            false => Err(format!("process {pid} of user {uid} listens there")),
        }
    }
}

/// Connects at once, or not at all: a process that takes no connections delays nothing.
fn dial(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    fn socket(folder: &Path, name: &str) -> AttachSocket {
        let owner = folder.metadata().expect("it").uid();
        AttachSocket { pid: std::process::id(), owner, path: folder.join(name) }
    }

    fn listen(folder: &Path, name: &str, mode: u32) -> UnixListener {
        let listener = UnixListener::bind(folder.join(name)).expect("bound");
        std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(mode)).expect("its mode");
        listener
    }

    #[test]
    fn a_socket_that_a_killed_process_left_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = socket(folder.path(), ".java_pid1");
        assert!(socket.connect().expect("nothing is there").is_none());
        let listener = listen(folder.path(), ".java_pid1", 0o600);
        assert!(socket.connect().expect("it is our own").is_some());
        drop(listener);
        assert!(socket.path.exists() && socket.connect().expect("nobody's").is_none(), "nobody listens");
    }

    #[test]
    fn what_another_one_may_have_put_there_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let _open = listen(folder.path(), "open", 0o666);
        let _own = listen(folder.path(), "own", 0o600);
        std::fs::write(folder.path().join("file"), "").expect("written");
        std::os::unix::fs::symlink("own", folder.path().join("link")).expect("linked");
        let refused = |socket: AttachSocket| socket.connect().map(|_| ()).expect_err("it is refused").to_string();
        let own = || socket(folder.path(), "own");
        for (socket, why) in [
            (socket(folder.path(), "open"), "others may write to it (mode 666)".to_owned()),
            (socket(folder.path(), "file"), "it is none at all".to_owned()),
            (socket(folder.path(), "link"), "it is none at all".to_owned()),
            (AttachSocket { owner: own().owner + 1, ..own() }, format!("it belongs to user {}", own().owner)),
            (AttachSocket { pid: 1, ..own() }, format!("process {} of user", std::process::id())),
        ] {
            let said = refused(socket);
            assert!(said.contains(&why), "{said}");
        }
    }

    #[test]
    fn somebody_who_takes_no_connections_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().expect("a folder");
        let _listener = listen(folder.path(), "full", 0o600);
        let full = socket(folder.path(), "full");
        let held: Vec<_> = std::iter::from_fn(|| full.connect().expect("it is our own")).take(100_000).collect();
        assert!(!held.is_empty() && held.len() < 100_000, "{}", held.len());
    }
}
