//! Bytes of a client, with deadlines: whoever sends a byte now and then does not keep a thread for good.

use super::frames::Frames;
use super::memory::HeldMemory;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A socket with deadlines.
pub(super) struct Timed {
    tcp: TcpStream,
    /// When the handshake must be over.
    until: Option<Instant>,
    /// When a byte came last.
    pub heard: Instant,
    /// When the message that is being received began.
    pub message_since: Option<Instant>,
    /// Counts what is received, on the side of the server.
    frames: Option<Frames>,
}

/// How long a read waits before there is time to send events.
const TURN: Duration = Duration::from_millis(40);

impl Timed {
    /// For a handshake that must be over in time.
    pub fn new(tcp: TcpStream, handshake: Duration) -> io::Result<Timed> {
        tcp.set_nodelay(true)?;
        tcp.set_write_timeout(Some(Duration::from_secs(10)))?;
        let now = Instant::now();
        Ok(Timed { tcp, until: Some(now + handshake), heard: now, message_since: None, frames: None })
    }

    /// From now on reads come back after a short while, with nothing when nothing comes.
    pub fn take_turns(&mut self) -> io::Result<()> {
        self.until = None;
        self.tcp.set_read_timeout(Some(TURN))
    }

    /// From now on frames come, which are counted.
    pub fn count_frames(&mut self, held: HeldMemory) {
        self.frames = Some(Frames::new(held));
    }

    /// Bytes of the message that is being received, or was received last and is not done.
    pub fn message_bytes(&self) -> u64 {
        self.frames.as_ref().map_or(0, Frames::message_bytes)
    }

    /// The message is done, and nothing of it is kept.
    pub fn message_done(&mut self) {
        self.message_since = None;
        self.frames.iter_mut().for_each(Frames::done);
    }

    /// Something came that is no message: the clock of one that has begun goes on.
    pub fn pause(&mut self) {
        if self.message_bytes() == 0 {
            self.message_since = None;
        }
    }

    /// Lets what was written arrive: a socket that is closed with bytes unread takes back what it sent.
    pub fn linger(&mut self, most: Duration) {
        let until = Instant::now() + most;
        let mut waste = [0; 1 << 14];
        let _ = self.tcp.shutdown(std::net::Shutdown::Write);
        while Instant::now() < until {
            match self.tcp.read(&mut waste) {
                Ok(0) => break,
                Err(e) if !is_pause(&e) => break,
                _ => {}
            }
        }
    }
}

/// Whether nothing came in the meantime, rather than anything being wrong.
pub(super) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            let over = || io::Error::new(io::ErrorKind::ConnectionAborted, "the handshake took too long");
            if left.is_zero() {
                return Err(over());
            }
            self.tcp.set_read_timeout(Some(left))?;
            return self.tcp.read(buffer).map_err(|e| if is_pause(&e) { over() } else { e });
        }
        let n = match &mut self.frames {
            Some(frames) => frames.read(&mut self.tcp, buffer)?,
            None => self.tcp.read(buffer)?,
        };
        let now = Instant::now();
        self.heard = now;
        self.message_since.get_or_insert(now);
        Ok(n)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tcp.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}
