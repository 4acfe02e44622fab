//! Trees that come over a WebSocket while a program runs, and what clients and the city tell each other about it.
//!
//! The protocol, version 1, is described in `docs/live-protocol.md`. Several programs can send at once: each names its
//! *source*, and each source is a city of its own. Clients of the same source see what the others select.
//!
//! | module | does |
//! |---|---|
//! | `hub` | the sources: what has come, what was made of it, what is selected and shown |
//! | `memory` | what clients make the server keep, counted before it is kept |
//! | `request`, `answer` | messages of clients, and what is answered |
//! | `connection` | one client: hello, limits, acknowledgements, events |
//! | `order` | what the messages of a client do to its source |
//! | `stream`, `frames` | bytes with deadlines, counted frame by frame |
//! | `server` | the socket, who may connect |
//! | `pass` | tokens for one connection each, for programs of the same user |
//! | `recording` | of which recording trees are, and who is believed that |
//! | `push` | the client: sends any source to a server |
//!
//! Everything runs on threads of its own. Who draws asks the hub for what is complete ([`Hub::latest`]), which never
//! waits for a client, a parser or a builder.
//!
//! # Example
//! A server on a port that is free, a client that sends what it has, and the city of it:
//! ```
//! use memory_city_analysis::group::GroupOptions;
//! use memory_city_analysis::timeline::{AUTO, Source};
//! use memory_city_heap::progress::Progress;
//! use memory_city_live::{Hub, LiveLimits, PushOptions, Server, ServerOptions, push};
//!
//! # fn main() -> memory_city_heap::error::Result<()> {
//! let options = ServerOptions { address: "127.0.0.1:0".into(), ..ServerOptions::default() };
//! let server = Server::start(Hub::new(LiveLimits::default(), || ()), &options)?;
//!
//! let trees = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample-data/json/lines.jsonl");
//! let source = Source::open(&[trees.into()], AUTO, GroupOptions::default(), &Progress::new())?;
//! let to = PushOptions { address: server.address().to_string(), source: "shop".into(), ..PushOptions::default() };
//! let pushed = push(&source, &to, &Progress::new())?;
//!
//! // Cities are made on a thread of their own: who draws looks for the latest one in each frame.
//! let city = loop {
//!     match server.hub().latest("shop").source {
//!         Some(city) if city.timeline().times() == pushed.times => break city,
//!         _ => std::thread::yield_now(),
//!     }
//! };
//! assert_eq!(city.timeline().points(), source.timeline().points());
//! # Ok(())
//! # }
//! ```

mod answer;
mod connection;
mod frames;
mod hub;
mod memory;
mod order;
mod pass;
mod push;
mod recording;
mod request;
mod server;
mod stream;

pub use hub::{Hub, Latest, Status, Wishes};
pub use pass::{has_pass, pass_folder};
pub use push::{PushOptions, Pushed, push, times_there};
pub use server::{Server, ServerOptions, new_token};

use std::time::Duration;

/// The version of the protocol.
pub const PROTOCOL: u64 = 1;

/// Where a server listens, and a client connects to, unless told otherwise.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:8127";

/// What clients may ask of a server.
#[derive(Clone, Copy, Debug)]
pub struct LiveLimits {
    /// The largest message, bytes.
    pub message_bytes: usize,
    /// The longest text in a message (a name, a label, a key), bytes.
    pub text_bytes: usize,
    /// What all clients together may make the server keep, bytes: trees with the timelines made of them, messages on
    /// the way, selections. Beside it stand the program itself and less than a megabyte for each client.
    pub memory_bytes: u64,
    /// Messages per second, of one client.
    pub messages_per_second: u32,
    /// Clients at the same time.
    pub clients: usize,
    /// Sources.
    pub sources: usize,
    /// How long the handshake may take, and after it the hello.
    pub handshake_timeout: Duration,
    /// How long a client may be silent, pings included, and how long it may take to send one message.
    pub silence_timeout: Duration,
}

impl Default for LiveLimits {
    fn default() -> Self {
        LiveLimits {
            message_bytes: 64 << 20,
            text_bytes: 64 << 10,
            memory_bytes: memory_city_heap::input::memory_limit() / 2,
            messages_per_second: 2000,
            clients: 32,
            sources: 32,
            handshake_timeout: Duration::from_secs(5),
            silence_timeout: Duration::from_secs(60),
        }
    }
}

/// Why a connection is closed, as its close code says.
mod close {
    /// The server ends.
    pub const ENDS: u16 = 1001;
    /// A binary message.
    pub const BINARY: u16 = 1003;
    /// A message that is not UTF-8, or breaks the rules of WebSocket.
    pub const BROKEN: u16 = 1007;
    /// A message larger than the limit.
    pub const TOO_LARGE: u16 = 1009;
    /// The first message is no hello of a version that is known.
    pub const NO_HELLO: u16 = 4000;
    /// The token is wrong or missing, or was for one connection and has been used.
    pub const TOKEN: u16 = 4001;
    /// Nothing was heard for too long, or a message took too long.
    pub const SILENT: u16 = 4008;
    /// The sources together take more memory than they may.
    pub const MEMORY: u16 = 4013;
    /// Too many messages.
    pub const TOO_MANY: u16 = 4029;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/live-protocol.md has a table of limits: its numbers and codes are those in force.
    #[test]
    fn the_page_has_the_limits() {
        let page = include_str!("../../../docs/live-protocol.md");
        let section = page.split("## Limits").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("its section");
        let limits = LiveLimits::default();
        let (hello, silence) = (limits.handshake_timeout.as_secs(), limits.silence_timeout.as_secs());
        for (said, code) in [
            (format!("none comes in {hello} s"), close::NO_HELLO),
            ("the token is wrong".to_owned(), close::TOKEN),
            (format!("nothing heard for {silence} s"), close::SILENT),
            (format!("more than {} sources | half of what is free", limits.sources), close::MEMORY),
            (format!("more than {} messages per second", limits.messages_per_second), close::TOO_MANY),
            (format!("too large | {} MiB", limits.message_bytes >> 20), close::TOO_LARGE),
            ("a binary message".to_owned(), close::BINARY),
            ("not UTF-8".to_owned(), close::BROKEN),
            ("the server ends".to_owned(), close::ENDS),
        ] {
            let row = section.lines().find(|line| line.contains(&said));
            let row = row.unwrap_or_else(|| panic!("docs/live-protocol.md: {said}"));
            assert!(row.ends_with(&format!("| {code} |")), "{row}");
        }
        assert!(section.contains(&format!("other text of more than {} KiB", limits.text_bytes >> 10)));
        assert!(section.contains(&format!("More than {} clients at a time", limits.clients)));
    }
}
