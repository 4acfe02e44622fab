//! A WebSocket client that goes on after a signal, as after the process was stopped and continued.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tungstenite::WebSocket;

/// A socket that repeats calls which a signal interrupted. The system does not repeat those that have a deadline.
pub struct Repeating(TcpStream);

fn repeat<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

impl Repeating {
    /// The socket below.
    pub fn tcp(&self) -> &TcpStream {
        &self.0
    }
}

impl Read for Repeating {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        repeat(|| self.0.read(buffer))
    }
}

impl Write for Repeating {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        repeat(|| self.0.write(bytes))
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Connects to `ws://AUTHORITY/PATH`; a read fails after `patience`.
pub fn connect(address: &str, patience: Duration) -> WebSocket<Repeating> {
    let authority = address.trim_start_matches("ws://").split('/').next().expect("an authority");
    let stream = TcpStream::connect(authority).expect("a connection");
    stream.set_read_timeout(Some(patience)).expect("a deadline");
    tungstenite::client(address, Repeating(stream)).expect("a handshake").0
}
