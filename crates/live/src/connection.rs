//! One client connection: hello, acknowledgements, events, and the limits.

use super::allowance::Allowance;
use super::answer::{self, ReplyMore};
use super::frames::Frames;
use super::hub::{Hub, Live};
use super::memory::{HeldMemory, SMALL, lock};
use super::order::{HELP, act, no_memory};
use super::pass::{Passes, same};
use super::protocol::{PROTOCOL, close};
use super::recording::only_known;
use super::request::{Request, too_long_text};
use super::seats::Seat;
use super::stream::{Overrun, Timed, is_pause};
use memory_city_analysis::timeline::json::Grant;
use memory_city_heap::error::Error;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tungstenite::Message;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig, WebSocketContext};

/// A client that has shaken hands.
pub(super) struct Connection {
    stream: Timed,
    protocol: WebSocketContext,
    config: WebSocketConfig,
    hub: Arc<Hub>,
    /// The rule for connections.
    admission: Admission,
    /// The token of the handshake.
    bearer: Option<String>,
    live: Option<Arc<Live>>,
    /// True if it gave the token, or a pass.
    is_known: bool,
    /// The state last sent to it.
    told: Told,
    allowance: Allowance,
    seat: Seat,
    pinged: Instant,
}

/// The rule for connections.
#[derive(Clone)]
pub(super) struct Admission {
    /// The token that clients must give.
    pub token: Option<String>,
    /// The passes for programs of this user, one connection each.
    pub passes: Option<Arc<Passes>>,
    /// Whether nothing else is good.
    pub only_passes: bool,
}

impl Admission {
    /// Checks a client's token or pass. `None` if it may not connect; otherwise whether it is known, and the proof for the answer, if any.
    fn admits(&self, given: &str) -> Option<(bool, Option<String>)> {
        if let Some(proof) = self.passes.as_ref().and_then(|passes| passes.take(given)) {
            return Some((true, Some(proof)));
        }
        let may = !self.only_passes && self.token.as_deref().is_none_or(|token| same(token, given));
        may.then_some((self.token.is_some(), None))
    }
}

#[derive(Default, PartialEq)]
struct Told {
    selected: Option<Arc<str>>,
    time: usize,
}

/// Why a connection ends: code and reason.
struct Ends(u16, String);

/// After messages of more bytes the buffers they came in are thrown away.
const KEPT_BUFFER: u64 = SMALL as u64;

impl Connection {
    pub fn new(
        mut stream: Timed,
        config: WebSocketConfig,
        hub: Arc<Hub>,
        admission: Admission,
        bearer: Option<String>,
        seat: Seat,
    ) -> Self {
        let limits = &hub.limits;
        let small = Some(SMALL.min(limits.message_bytes));
        let frames = Frames::new(HeldMemory::none(&hub.ledger), limits.messages_per_second);
        stream.count_frames(frames, limits.silence_timeout);
        let allowance = Allowance::new(limits.messages_per_second);
        Connection {
            stream,
            // Of strangers only a hello is wanted: what they send takes no room from others.
            protocol: WebSocketContext::new(Role::Server, Some(config.max_message_size(small).max_frame_size(small))),
            config,
            hub,
            admission,
            bearer,
            live: None,
            is_known: false,
            told: Told::default(),
            allowance,
            seat,
            pinged: Instant::now(),
        }
    }

    /// Talks until either end has enough. Returns why it ended, for the log.
    pub fn run(mut self) -> String {
        let Ends(code, reason) = self.talk();
        if let Some(live) = self.live.take() {
            self.hub.leave(&live);
        }
        if code != 0 {
            // Codes are for programs, reasons for people; a reason has room for 123 bytes.
            let short = &reason[..reason.floor_char_boundary(123)];
            let frame = CloseFrame { code: code.into(), reason: short.into() };
            let _ = self.protocol.close(&mut self.stream, Some(frame));
            let _ = self.protocol.flush(&mut self.stream);
            self.stream.linger(Duration::from_secs(2));
        }
        reason
    }

    fn talk(&mut self) -> Ends {
        loop {
            if self.hub.is_closing() {
                return Ends(close::ENDS, "the server ends".into());
            }
            match self.protocol.read(&mut self.stream) {
                Ok(Message::Text(text)) => {
                    if let Err(ends) = self.allow().and_then(|()| self.take(text.as_str())) {
                        return ends;
                    }
                    drop(text);
                    self.message_done();
                }
                Ok(Message::Binary(_)) => {
                    return Ends(close::BINARY, "messages are text: JSON as docs/live-protocol.md describes".into());
                }
                Ok(Message::Close(_)) => self.stream.pause(),
                Ok(_) => {
                    self.stream.pause();
                    if let Err(ends) = self.allow() {
                        return ends;
                    }
                }
                Err(tungstenite::Error::Io(error)) if is_pause(&error) => {}
                Err(error) => return ended(error),
            }
            if let Err(ends) = self.keep_up() {
                return ends;
            }
        }
    }

    /// Returns the memory of a message. Between two messages there is nothing in the buffers of the protocol: see `frames`.
    fn message_done(&mut self) {
        if self.stream.message_bytes() > KEPT_BUFFER {
            self.protocol = WebSocketContext::new(Role::Server, Some(self.config));
        }
        self.stream.message_done();
    }

    /// Counts a message.
    fn allow(&mut self) -> Result<(), Ends> {
        match self.allowance.take() {
            true => Ok(()),
            false => {
                let most = self.allowance.per_second();
                Err(Ends(close::TOO_MANY, format!("more than {most} messages per second")))
            }
        }
    }

    /// Sends events and pings, and checks that the client is still there.
    fn keep_up(&mut self) -> Result<(), Ends> {
        let timeout = self.hub.limits.silence_timeout;
        let stream = &self.stream;
        if stream.heard.elapsed() > timeout {
            return Err(Ends(close::SILENT, format!("nothing was heard for {} s", timeout.as_secs())));
        }
        if stream.message_since.is_some_and(|since| since.elapsed() > timeout) {
            return Err(Ends(close::SILENT, format!("one message took more than {} s", timeout.as_secs())));
        }
        if stream.heard.elapsed() > timeout / 4 && self.pinged.elapsed() > timeout / 4 {
            self.pinged = Instant::now();
            self.send(Message::Ping(Default::default()))?;
        }
        let Some(live) = self.live.clone() else {
            // Who connects says hello; who only holds the line is cut off.
            return if self.stream.is_late() { Err(Ends(close::NO_HELLO, "no hello came".into())) } else { Ok(()) };
        };
        let (mut now, times) = {
            let state = lock(&live.state);
            (Told { selected: state.selected.clone(), time: state.time }, state.times)
        };
        if now.selected != self.told.selected {
            // The key as JSON and in the buffer that is sent. Without room for it the client hears of it later.
            let bytes = 4 * now.selected.as_ref().map_or(0, |key| key.len());
            let mut held = HeldMemory::none(&self.hub.ledger);
            if bytes <= 4 * SMALL || held.more(bytes as u64) {
                let event = serde_json::json!({ "event": "selected", "group": now.selected.as_deref() });
                self.say(event.to_string())?;
            } else {
                now.selected.clone_from(&self.told.selected);
            }
        }
        if now.time != self.told.time {
            let event = serde_json::json!({ "event": "time", "at": now.time + 1, "times": times });
            self.say(event.to_string())?;
        }
        self.told = now;
        Ok(())
    }

    fn say(&mut self, text: String) -> Result<(), Ends> {
        self.send(Message::text(text))
    }

    fn send(&mut self, message: Message) -> Result<(), Ends> {
        self.protocol.write(&mut self.stream, message).map_err(ended)?;
        self.protocol.flush(&mut self.stream).map_err(ended)
    }

    /// Takes a message and answers it.
    fn take(&mut self, text: &str) -> Result<(), Ends> {
        // The parser remembers each bracket that is open: of a text of brackets that is as much as the text.
        let mut work = HeldMemory::none(&self.hub.ledger);
        let parsing = if text.len() > SMALL { 2 * text.len() as u64 } else { 0 };
        if !work.more(parsing) {
            return self.full(None, "", no_memory(), Vec::new());
        }
        let most = self.hub.limits.text_bytes;
        if let Some(longest) = too_long_text(text, most) {
            let what = format!("The message has a text of {longest} bytes");
            let remedy = format!("Shorten it: names, labels and keys may have up to {most} bytes");
            return self.answer(None, "", Err(Error::Unusable { what, remedy }), Vec::new());
        }
        let request: Request<'_> = match serde_json::from_str(text) {
            Ok(request) => request,
            Err(error) if self.live.is_none() => {
                return Err(Ends(close::NO_HELLO, format!("the first message is no hello: {error}")));
            }
            Err(error) => {
                let why = format!("The message is not understood: {error}");
                return self.answer(None, "", Err(Error::Unusable { what: why, remedy: HELP.into() }), Vec::new());
            }
        };
        let Some(live) = self.live.clone() else { return self.hello(request) };
        if request.what == "recording" && !self.is_known {
            return self.answer(request.id, &request.what, Err(only_known()), request.ignored);
        }
        match act(&self.hub, &live, &request, &mut work) {
            Err(error) if work.refused => self.full(request.id, &request.what, error, request.ignored),
            outcome => self.answer(request.id, &request.what, outcome, request.ignored),
        }
    }

    /// Refuses a message that there is no memory for, and ends the connection.
    fn full(&mut self, id: Option<&RawValue>, what: &str, error: Error, ignored: Vec<String>) -> Result<(), Ends> {
        self.answer(id, what, Err(error), ignored)?;
        Err(Ends(close::MEMORY, FULL.into()))
    }

    fn answer(
        &mut self,
        id: Option<&RawValue>,
        what: &str,
        outcome: Result<ReplyMore, Error>,
        ignored: Vec<String>,
    ) -> Result<(), Ends> {
        self.say(answer::text(id, what, outcome, ignored))
    }

    fn hello(&mut self, request: Request<'_>) -> Result<(), Ends> {
        if request.what != "hello" {
            return Err(Ends(close::NO_HELLO, "the first message must be a hello".into()));
        }
        if request.protocol != Some(PROTOCOL) {
            return Err(Ends(close::NO_HELLO, format!("\"protocol\" must be {PROTOCOL}")));
        }
        let bearer = self.bearer.take();
        let given = request.token.as_deref().or(bearer.as_deref()).unwrap_or_default();
        let Some((is_known, proof)) = self.admission.admits(given) else {
            return Err(Ends(close::TOKEN, WRONG_TOKEN.into()));
        };
        let source = request.source.as_deref().unwrap_or_default();
        if source.trim().is_empty() || source.len() > 200 || source.chars().any(char::is_control) {
            return Err(Ends(close::NO_HELLO, "\"source\" must name the source in 1 to 200 bytes of text".into()));
        }
        if !self.seat.take(is_known) {
            let most = self.hub.limits.clients;
            return Err(Ends(close::NO_SEAT, format!("{most} clients are there already: try again when one has gone")));
        }
        self.stream.greeted().map_err(|e| ended(e.into()))?;
        let config = self.config;
        self.protocol.set_config(|used| *used = config);
        let live = self.hub.join(source).map_err(|e| Ends(close::MEMORY, e.to_string()))?;
        tracing::info!("{source}: a client has come");
        let times = lock(&live.state).times;
        (self.live, self.is_known) = (Some(live), is_known);
        let more = ReplyMore {
            protocol: Some(PROTOCOL),
            source: Some(source.to_owned()),
            max_message: Some(self.hub.limits.message_bytes),
            times: Some(times),
            proof,
            ..ReplyMore::default()
        };
        self.answer(request.id, "hello", Ok(more), request.ignored)
    }
}

/// The remedy for a token that is refused. A reason has room for 123 bytes.
const WRONG_TOKEN: &str =
    "the token is wrong, missing, or was used before: take the server's, or read its pass anew (docs/live-protocol.md)";

/// Why a connection ends that there is no memory for.
const FULL: &str = "the sources together take all memory they may";

fn ended(error: tungstenite::Error) -> Ends {
    use tungstenite::Error as E;
    match error {
        E::ConnectionClosed | E::AlreadyClosed => Ends(0, "the client has gone".into()),
        E::Capacity(error) => Ends(close::TOO_LARGE, error.to_string()),
        E::Utf8(_) => Ends(close::BROKEN, "the message is not UTF-8".into()),
        E::Protocol(error) => Ends(close::BROKEN, error.to_string()),
        E::Io(error) if error.kind() == std::io::ErrorKind::OutOfMemory => Ends(close::MEMORY, FULL.into()),
        E::Io(error) => match Overrun::of(&error) {
            Some(why @ Overrun::NoHello) => Ends(close::NO_HELLO, why.to_string()),
            Some(why @ Overrun::Slow(_)) => Ends(close::SILENT, why.to_string()),
            Some(why @ Overrun::EmptyFrames(_)) => Ends(close::TOO_MANY, why.to_string()),
            None => Ends(0, format!("the connection broke: {error}")),
        },
        other => Ends(close::BROKEN, other.to_string()),
    }
}
