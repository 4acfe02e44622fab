//! Live trees over a WebSocket: a running program sends memory trees, and clients and the city exchange selections.
//!
//! The protocol, version 1, is described in `docs/live-protocol.md`. Several programs can send at once: each names its *source*, and each
//! source is a city of its own. Clients of the same source see each other's selections.
//!
//! | module | does |
//! |---|---|
//! | `protocol` | its version, limits and close codes |
//! | `hub` | the sources: their trees and cities, the selection and the time shown |
//! | `memory` | accounting of memory that clients make the server keep |
//! | `request`, `answer` | messages of clients, and answers |
//! | `connection` | one client: hello, limits, acknowledgements, events |
//! | `order` | what the messages of a client do to its source |
//! | `stream`, `frames`, `allowance` | bytes with deadlines, counted frame by frame |
//! | `seats` | who waits, and who has a seat |
//! | `server` | the socket, who may connect |
//! | `pass` | tokens for one connection each, for programs of the same user |
//! | `recording` | the recording behind trees, and the check of that claim |
//! | `push` | the client: sends any source to a server |
//!
//! Everything runs on threads of its own. A viewer asks the hub for the latest complete city ([`Hub::latest`]), which never waits for a
//! client, a parser or a builder.
//!
//! # Example
//! A server on a port that is free, a client that sends its trees, and their city:
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

mod allowance;
mod answer;
mod connection;
mod frames;
mod hub;
mod memory;
mod order;
mod pass;
mod protocol;
mod push;
mod recording;
mod request;
mod seats;
mod server;
mod stream;

pub use hub::{Hub, Latest, Status, Wishes};
pub use pass::{has_pass, new_token, pass_folder};
pub use protocol::{DEFAULT_ADDRESS, LiveLimits, PROTOCOL};
pub use push::{PushOptions, Pushed, push, times_there};
pub use server::{Server, ServerOptions};
