//! The protocol of live trees: its version, the limits of clients, and the codes that close a connection.

use std::time::Duration;

/// The version of the protocol.
pub const PROTOCOL: u64 = 1;

/// Default address of servers and clients.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:8127";

/// Limits for the clients of a server.
#[derive(Clone, Copy, Debug)]
pub struct LiveLimits {
    /// The largest message, bytes.
    pub message_bytes: usize,
    /// The longest text in a message (a name, a label, a key), bytes.
    pub text_bytes: usize,
    /// Most bytes that all clients together may make the server keep: trees with their timelines, messages on the way, selections. The
    /// program itself and less than a megabyte for each client come on top.
    pub memory_bytes: u64,
    /// Messages per second, of one client.
    pub messages_per_second: u32,
    /// Most clients at the same time: as many with a token or a pass, and as many without.
    pub clients: usize,
    /// Most connections without a hello. With one more, the one that has waited longest ends.
    pub waiting: usize,
    /// Sources.
    pub sources: usize,
    /// How long the handshake and the hello may take together.
    pub handshake_timeout: Duration,
    /// How long a client may be silent, pings included, and how long it may take to send one message.
    pub silence_timeout: Duration,
}

impl Default for LiveLimits {
    fn default() -> Self {
        LiveLimits {
            message_bytes: 64 << 20,
            text_bytes: 64 << 10,
            memory_bytes: memory_city_heap::memory::memory_limit() / 2,
            messages_per_second: 2000,
            clients: 32,
            waiting: 32,
            sources: 32,
            handshake_timeout: Duration::from_secs(5),
            silence_timeout: Duration::from_secs(60),
        }
    }
}

/// Why a connection is closed, as its close code says.
pub(super) mod close {
    /// The server ends.
    pub const ENDS: u16 = 1001;
    /// A binary message.
    pub const BINARY: u16 = 1003;
    /// A message that is not UTF-8, or breaks the rules of WebSocket.
    pub const BROKEN: u16 = 1007;
    /// A message larger than the limit.
    pub const TOO_LARGE: u16 = 1009;
    /// There are as many clients as there may be.
    pub const NO_SEAT: u16 = 1013;
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
            (format!("none comes within {hello} s"), close::NO_HELLO),
            ("the token is wrong or missing".to_owned(), close::TOKEN),
            (format!("nothing heard for {silence} s"), close::SILENT),
            (format!("more than {} sources | half of what is free", limits.sources), close::MEMORY),
            (format!("more than {} messages per second", limits.messages_per_second), close::TOO_MANY),
            (format!("KiB | {} MiB", limits.message_bytes >> 20), close::TOO_LARGE),
            ("a binary message".to_owned(), close::BINARY),
            (format!("more than {} clients with a token or pass", limits.clients), close::NO_SEAT),
            ("not UTF-8".to_owned(), close::BROKEN),
            ("the server ends".to_owned(), close::ENDS),
        ] {
            let row = section.lines().find(|line| line.contains(&said));
            let row = row.unwrap_or_else(|| panic!("docs/live-protocol.md: {said}"));
            assert!(row.ends_with(&format!("| {code} |")), "{row}");
        }
        assert!(section.contains(&format!("other text of more than {} KiB", limits.text_bytes >> 10)));
        assert!(section.contains(&format!("{} connections can wait", limits.waiting)));
    }
}
