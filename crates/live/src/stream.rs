//! The byte stream of a client, with deadlines: a byte now and then does not keep a thread busy for good.

use super::frames::Frames;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A socket with deadlines.
pub(super) struct Timed {
    tcp: TcpStream,
    /// When the handshake must be over, and on the side of the server the hello.
    until: Option<Instant>,
    /// Whether reads come back after a short while.
    turns: bool,
    /// How long a message may take, on the side of the server.
    longest: Option<Duration>,
    /// When a byte came last.
    pub heard: Instant,
    /// When the message that is being received began.
    pub message_since: Option<Instant>,
    /// Counts received bytes, on the side of the server.
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
        Ok(Timed {
            tcp,
            until: Some(now + handshake),
            turns: false,
            longest: None,
            heard: now,
            message_since: None,
            frames: None,
        })
    }

    /// From now on a read returns after a short while, empty if no bytes came.
    pub fn take_turns(&mut self) -> io::Result<()> {
        self.turns = true;
        self.tcp.set_read_timeout(Some(TURN))
    }

    /// The other side is known: there is no deadline any more.
    pub fn greeted(&mut self) -> io::Result<()> {
        self.until = None;
        self.tcp.set_read_timeout(Some(TURN))
    }

    /// Whether the hello should have come by now.
    pub fn is_late(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// From now on bytes are frames, which are counted. No message may take longer than `longest`, however often a byte of it comes.
    pub fn count_frames(&mut self, frames: Frames, longest: Duration) {
        self.frames = Some(frames);
        self.longest = Some(longest);
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
        if !self.frames.as_ref().is_some_and(Frames::is_within_message) {
            self.message_since = None;
        }
    }

    /// Waits for the arrival of written bytes: a socket that is closed with bytes unread takes back the bytes it sent.
    pub fn linger(&mut self, most: Duration) {
        linger(&mut self.tcp, most);
    }
}

/// See [`Timed::linger`].
pub(super) fn linger(tcp: &mut TcpStream, most: Duration) {
    let until = Instant::now() + most;
    let mut waste = [0; 1 << 14];
    let _ = tcp.set_read_timeout(Some(TURN));
    let _ = tcp.shutdown(std::net::Shutdown::Write);
    while Instant::now() < until {
        match tcp.read(&mut waste) {
            Ok(0) => break,
            Err(e) if !is_pause(&e) => break,
            _ => {}
        }
    }
}

/// The reason to stop reading from a client that goes on sending.
#[derive(Debug, thiserror::Error)]
pub(super) enum Overrun {
    /// Neither handshake nor hello came in time.
    #[error("no hello came")]
    NoHello,
    /// One message takes too long, seconds.
    #[error("one message took more than {0} s")]
    Slow(u64),
    /// Frames without content, each of them a message's worth of work.
    #[error("more than {0} messages per second, empty parts of messages included")]
    EmptyFrames(u32),
}

impl Overrun {
    /// The overrun in an error of reading, if it is one.
    pub fn of(error: &io::Error) -> Option<&Overrun> {
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }
}

/// Whether nothing came in the meantime, rather than anything being wrong.
pub(super) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // What a signal interrupts, as when the process was stopped and continued, goes on with the time that is left.
        while let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::other(Overrun::NoHello));
            }
            if self.turns {
                break;
            }
            self.tcp.set_read_timeout(Some(left))?;
            match self.tcp.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if is_pause(&e) => return Err(io::Error::other(Overrun::NoHello)),
                other => return other,
            }
        }
        // Who sends a byte now and then is read on and on, and comes back from here alone.
        if let (Some(longest), Some(since)) = (self.longest, self.message_since)
            && since.elapsed() > longest
        {
            return Err(io::Error::other(Overrun::Slow(longest.as_secs())));
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
        loop {
            match self.tcp.write(bytes) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}
