//! Passes: tokens for one connection each, from a server to programs of the same user on the same machine.
//!
//! A server that listens on loopback keeps one pass in a file that only its user can read: a token and a proof. A connection uses the token
//! up; the file has another pass before the answer goes out, and the answer has the proof of the used one. So each side knows that the
//! other one reads the same file. No other user of the machine can send to the city, and a program that listens in the place of an ended
//! city learns nothing.

use data_encoding::HEXLOWER;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::regular;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A new token for clients: 128 random bits as 32 digits.
///
/// # Errors
/// When the system gives no random numbers.
pub fn new_token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| Error::Unusable {
        what: format!("The system gives no random numbers for a token: {e}"),
        remedy: "Give one with --token-file".into(),
    })?;
    Ok(HEXLOWER.encode(&bytes))
}

/// Neither a token nor a proof is longer.
const MOST: u64 = 200;

/// A token for one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    pub token: String,
    /// The proof that the server must answer.
    pub proof: String,
}

/// The folder with the passes of this user's servers: in that of `MEMORY_CITY_CACHE`, or in the user's own for such things. `None` where
/// a user has none.
pub fn pass_folder() -> Option<PathBuf> {
    let named = std::env::var_os("MEMORY_CITY_CACHE").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| dirs::cache_dir().map(|folder| folder.join("memory-city"))).map(|folder| folder.join("live"))
}

/// True if a server of this user left a pass for one of these addresses.
pub fn has_pass(folder: &Path, addresses: &[SocketAddr]) -> bool {
    addresses.iter().any(|address| Pass::read(folder, *address).is_some())
}

/// The file of a server: by its address.
fn file_of(folder: &Path, address: SocketAddr) -> PathBuf {
    folder.join(format!("{}-{}", address.ip().to_string().replace(':', "_"), address.port()))
}

impl Pass {
    fn new() -> Result<Pass> {
        Ok(Pass { token: new_token()?, proof: new_token()? })
    }

    /// The pass of the server at an address.
    pub fn read(folder: &Path, address: SocketAddr) -> Option<Pass> {
        // Of this user alone: what others have written, or can, is nobody's word.
        let file = regular::open_own(&file_of(folder, address)).ok()?;
        #[cfg(unix)]
        if std::os::unix::fs::PermissionsExt::mode(&file.metadata().ok()?.permissions()) & 0o077 != 0 {
            return None;
        }
        let mut text = String::new();
        file.take(MOST).read_to_string(&mut text).ok()?;
        let mut words = text.lines().map(str::to_owned);
        let pass = Pass { token: words.next()?, proof: words.next()? };
        (!pass.token.is_empty() && !pass.proof.is_empty()).then_some(pass)
    }

    fn write(&self, file: &Path) -> std::io::Result<()> {
        let mut unfinished = file.as_os_str().to_owned();
        unfinished.push(".part");
        let unfinished = PathBuf::from(unfinished);
        // Left by one that was killed.
        let _ = std::fs::remove_file(&unfinished);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&unfinished)?.write_all(format!("{}\n{}\n", self.token, self.proof).as_bytes())?;
        std::fs::rename(&unfinished, file)
    }
}

/// The passes of a server.
pub(super) struct Passes {
    file: PathBuf,
    /// The one that is in the file; `None` where that could not be written, or the server has ended.
    current: Mutex<Option<Pass>>,
}

impl Passes {
    /// Puts the first one into a folder.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn open(folder: &Path, address: SocketAddr) -> Result<Passes> {
        let file = file_of(folder, address);
        let io = |error| Error::io(folder, error);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder).map_err(io)?;
        if !std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir() && regular::is_own(&meta)) {
            return Err(io(std::io::Error::new(std::io::ErrorKind::PermissionDenied, "this belongs to another user")));
        }
        let pass = Pass::new()?;
        pass.write(&file).map_err(io)?;
        Ok(Passes { file, current: Mutex::new(Some(pass)) })
    }

    /// Uses up the pass with this token and returns the proof for the answer. The file has another pass from now on.
    pub fn take(&self, token: &str) -> Option<String> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let pass = current.take_if(|pass| same(&pass.token, token))?;
        *current = Pass::new().ok().filter(|next| next.write(&self.file).is_ok());
        if current.is_none() {
            let _ = std::fs::remove_file(&self.file);
            tracing::warn!("no further pass can be written to {}", self.file.display());
        }
        Some(pass.proof)
    }

    /// Removes the pass of a server that ends.
    pub fn close(&self) {
        if self.current.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            let _ = std::fs::remove_file(&self.file);
        }
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
pub(super) fn same(a: &str, b: &str) -> bool {
    let differing = a.bytes().zip(b.bytes()).fold(0, |sum, (x, y)| sum | (x ^ y));
    a.len() == b.len() && differing == 0
}
