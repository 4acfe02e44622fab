//! One client: hello, acknowledgements, events, and the limits.

use super::hub::{Hub, Live, lock};
use super::request::Request;
use super::stream::{Timed, is_pause};
use super::{PROTOCOL, close};
use memory_city_analysis::timeline::json::GrowingTrees;
use memory_city_heap::error::Error;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tungstenite::protocol::CloseFrame;
use tungstenite::{Message, WebSocket};

/// A client that has shaken hands.
pub(super) struct Connection {
    pub socket: WebSocket<Timed>,
    pub hub: Arc<Hub>,
    /// What the client must know.
    pub token: Option<String>,
    /// What it gave in the handshake.
    pub bearer: Option<String>,
    live: Option<Arc<Live>>,
    /// What it was told last.
    told: Told,
    allowance: Allowance,
    since: Instant,
    pinged: Instant,
}

#[derive(Default, PartialEq)]
struct Told {
    selected: Option<String>,
    time: usize,
}

/// Messages that may come now: refilled as time goes by.
struct Allowance {
    left: f64,
    since: Instant,
}

/// Why a connection ends: code and reason.
struct Ends(u16, String);

/// An answer.
#[derive(Serialize)]
struct Answer<'a> {
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(rename = "do")]
    what: &'a str,
    #[serde(flatten)]
    more: More,
}

/// What an answer says beside that it is one.
#[derive(Serialize, Default)]
struct More {
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_message: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
}

/// How long a selection may wait for the city of what has come.
const BUILDING: Duration = Duration::from_secs(20);

impl Connection {
    pub fn new(socket: WebSocket<Timed>, hub: Arc<Hub>, token: Option<String>, bearer: Option<String>) -> Self {
        let now = Instant::now();
        let allowance = Allowance { left: f64::from(hub.limits.per_second), since: now };
        Connection { socket, hub, token, bearer, live: None, told: Told::default(), allowance, since: now, pinged: now }
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
            let _ = self.socket.close(Some(CloseFrame { code: code.into(), reason: short.into() }));
            let _ = self.socket.flush();
            self.socket.get_mut().linger(Duration::from_secs(2));
        }
        reason
    }

    fn talk(&mut self) -> Ends {
        loop {
            if self.hub.is_closing() {
                return Ends(close::ENDS, "the server ends".into());
            }
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    self.socket.get_mut().message_since = None;
                    if let Err(ends) = self.allow().and_then(|()| self.take(text.as_str())) {
                        return ends;
                    }
                }
                Ok(Message::Binary(_)) => {
                    return Ends(close::BINARY, "messages are text: JSON as docs/live-protocol.md describes".into());
                }
                Ok(Message::Close(_)) => self.socket.get_mut().message_since = None,
                Ok(_) => {
                    self.socket.get_mut().message_since = None;
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

    /// Counts a message.
    fn allow(&mut self) -> Result<(), Ends> {
        let most = f64::from(self.hub.limits.per_second);
        let now = Instant::now();
        let a = &mut self.allowance;
        a.left = (a.left + most * now.duration_since(a.since).as_secs_f64()).min(most) - 1.0;
        a.since = now;
        match a.left < 0.0 {
            true => Err(Ends(close::TOO_MANY, format!("more than {most} messages per second"))),
            false => Ok(()),
        }
    }

    /// Events, pings, and whether anybody is still there.
    fn keep_up(&mut self) -> Result<(), Ends> {
        let timeout = self.hub.limits.timeout;
        let stream = self.socket.get_ref();
        if stream.heard.elapsed() > timeout {
            return Err(Ends(close::SILENT, format!("nothing was heard for {} s", timeout.as_secs())));
        }
        if stream.message_since.is_some_and(|since| since.elapsed() > timeout) {
            return Err(Ends(close::SILENT, format!("one message took more than {} s", timeout.as_secs())));
        }
        if stream.heard.elapsed() > timeout / 4 && self.pinged.elapsed() > timeout / 4 {
            self.pinged = Instant::now();
            self.socket.send(Message::Ping(Default::default())).map_err(ended)?;
        }
        let Some(live) = self.live.clone() else {
            // Who connects says hello; who only holds the line is cut off.
            let over = self.since.elapsed() > self.hub.limits.handshake;
            return if over { Err(Ends(close::NO_HELLO, "no hello came".into())) } else { Ok(()) };
        };
        let (now, times) = {
            let state = lock(&live.state);
            (Told { selected: state.selected.clone(), time: state.time }, state.times)
        };
        if now.selected != self.told.selected {
            let event = serde_json::json!({ "event": "selected", "group": now.selected });
            self.say(event.to_string())?;
        }
        if now.time != self.told.time {
            let event = serde_json::json!({ "event": "time", "at": now.time + 1, "times": times });
            self.say(event.to_string())?;
        }
        self.told = now;
        Ok(())
    }

    fn say(&mut self, text: String) -> Result<(), Ends> {
        self.socket.send(Message::text(text)).map_err(ended)
    }

    /// Takes a message and answers it.
    fn take(&mut self, text: &str) -> Result<(), Ends> {
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
        let full = self.is_full(&live, &request, text.len() as u64);
        let outcome = if full { Err(no_memory()) } else { self.act(&live, &request) };
        let ignored = request.ignored;
        self.answer(request.id, &request.what, outcome, ignored)?;
        match full {
            true => Err(Ends(close::MEMORY, "the sources together take all memory they may".into())),
            false => Ok(()),
        }
    }

    /// Whether there is no room for another message of that size. Trees take about what they are long as text.
    fn is_full(&self, live: &Live, request: &Request<'_>, bytes: u64) -> bool {
        let room = self.hub.room(live);
        match &*request.what {
            "append" | "references" => lock(&live.state).bytes + bytes > room,
            "replace" => bytes > room,
            _ => false,
        }
    }

    fn answer(
        &mut self,
        id: Option<&RawValue>,
        what: &str,
        outcome: Result<More, Error>,
        ignored: Vec<String>,
    ) -> Result<(), Ends> {
        let (event, mut more) = match outcome {
            Ok(more) => ("ack", more),
            Err(error) => ("refused", More { why: Some(error.to_string()), ..More::default() }),
        };
        more.ignored = ignored;
        // Plain texts and numbers: there is nothing that could fail to serialize.
        self.say(serde_json::to_string(&Answer { event, id, what, more }).unwrap_or_default())
    }

    fn hello(&mut self, request: Request<'_>) -> Result<(), Ends> {
        if request.what != "hello" {
            return Err(Ends(close::NO_HELLO, "the first message must be a hello".into()));
        }
        if request.protocol != Some(PROTOCOL) {
            return Err(Ends(close::NO_HELLO, format!("\"protocol\" must be {PROTOCOL}")));
        }
        let given = request.token.as_deref().or(self.bearer.as_deref()).unwrap_or_default();
        if self.token.as_deref().is_some_and(|token| !same(token, given)) {
            return Err(Ends(close::TOKEN, "the token is wrong or missing".into()));
        }
        let source = request.source.as_deref().unwrap_or_default();
        if source.trim().is_empty() || source.len() > 200 || source.chars().any(char::is_control) {
            return Err(Ends(close::NO_HELLO, "\"source\" must name the source in 1 to 200 bytes of text".into()));
        }
        let live = self.hub.join(source).map_err(|e| Ends(close::MEMORY, e.to_string()))?;
        tracing::info!("{source}: a client has come");
        let times = lock(&live.state).times;
        self.live = Some(live);
        let more = More {
            protocol: Some(PROTOCOL),
            source: Some(source.to_owned()),
            max_message: Some(self.hub.limits.message),
            times: Some(times),
            ..More::default()
        };
        self.answer(request.id, "hello", Ok(more), request.ignored)
    }

    fn act(&mut self, live: &Live, request: &Request<'_>) -> Result<More, Error> {
        match &*request.what {
            "append" => {
                let time = needed(request.time, "time", "a time: an object with a \"tree\"")?;
                self.grow(live, |trees| trees.append(time.get()))
            }
            "replace" => {
                let times = needed(request.times.as_ref(), "times", "a list of times")?;
                // Outside of any lock, so that nothing is lost when one of them is wrong.
                let mut fresh = GrowingTrees::new(&live.name);
                fresh.limit_memory(self.hub.room(live));
                for (i, time) in times.iter().enumerate() {
                    fresh.append(time.get()).map_err(|e| within(&format!("times[{i}]"), e))?;
                }
                self.put(live, fresh)
            }
            "references" => {
                let maps = needed(request.maps, "maps", "an object with \"points-to\", \"pointed-from\" or \"roots\"")?;
                let at = request.at;
                self.grow(live, |trees| {
                    let last = trees.times() as u64;
                    trees.add_references(at.unwrap_or(last).saturating_sub(1) as usize, maps.get())
                })
            }
            "clear" => self.put(live, GrowingTrees::new(&live.name)),
            "select" => {
                self.select(live, needed(request.group.as_ref(), "group", "the key of a group, or null")?.as_deref())
            }
            "go" => {
                let at = needed(request.at, "at", "a point in time, from 1")?;
                let times = lock(&live.state).times;
                if at == 0 || at > times as u64 {
                    return Err(Error::Unusable {
                        what: format!("There is no time {at}: there are {times}"),
                        remedy: "Times are counted from 1".into(),
                    });
                }
                self.hub.wish(live, |state| {
                    state.time = at as usize - 1;
                    state.wishes.go = (state.wishes.go.0 + 1, state.time);
                });
                Ok(More::default())
            }
            "plan" => {
                self.hub.wish(live, |state| state.wishes.plan += 1);
                Ok(More::default())
            }
            "show" => {
                self.hub.wish_shown(&live.name);
                Ok(More::default())
            }
            "hello" => Err(Error::Unusable { what: "The hello has been said".into(), remedy: HELP.into() }),
            other => Err(Error::Unusable {
                what: format!("{:?} is not known", other.chars().take(40).collect::<String>()),
                remedy: HELP.into(),
            }),
        }
    }

    /// Lets the trees take something, and says what there is then.
    fn grow(&self, live: &Live, take: impl FnOnce(&mut GrowingTrees) -> Result<(), Error>) -> Result<More, Error> {
        let room = self.hub.room(live);
        let mut trees = lock(&live.trees);
        trees.limit_memory(room);
        let before = trees.warnings();
        take(&mut trees)?;
        self.hub.came(live, &trees);
        // Only what this message adds.
        let warnings = trees.warnings().into_iter().filter(|w| !before.contains(w)).collect();
        Ok(More { times: Some(trees.times()), groups: Some(trees.nodes()), warnings, ..More::default() })
    }

    fn put(&self, live: &Live, fresh: GrowingTrees) -> Result<More, Error> {
        let mut trees = lock(&live.trees);
        let before = std::mem::replace(&mut *trees, fresh);
        self.hub.came(live, &trees);
        let more = More {
            times: Some(trees.times()),
            groups: Some(trees.nodes()),
            warnings: trees.warnings(),
            ..More::default()
        };
        drop(trees);
        drop(before);
        Ok(more)
    }

    fn select(&self, live: &Live, group: Option<&str>) -> Result<More, Error> {
        if let Some(key) = group {
            let Some(latest) = self.hub.up_to_date(live, BUILDING) else {
                return Err(Error::Unusable {
                    what: "The city is still being made of what has come".into(),
                    remedy: "Select again in a moment".into(),
                });
            };
            let known = latest.source.is_some_and(|source| source.find(key).is_some());
            if !known {
                let shown: String = key.chars().take(120).collect();
                return Err(Error::Unusable {
                    what: format!("There is no group {shown:?}"),
                    remedy: "Give the \"key\" of a node, or its path of names: Heap#java.util#HashMap".into(),
                });
            }
        }
        let key = group.map(str::to_owned);
        self.hub.wish(live, |state| {
            state.selected.clone_from(&key);
            state.wishes.select = (state.wishes.select.0 + 1, key);
        });
        Ok(More::default())
    }
}

const HELP: &str = "Known are append, replace, references, clear, select, go, show and plan: see docs/live-protocol.md";

fn needed<T>(value: Option<T>, field: &str, what: &str) -> Result<T, Error> {
    value.ok_or_else(|| Error::Unusable {
        what: format!("The message has no {field:?}"),
        remedy: format!("Write {what} into it"),
    })
}

fn within(place: &str, error: Error) -> Error {
    match error {
        Error::Unusable { what, remedy } => Error::Unusable { what: format!("{place}: {what}"), remedy },
        Error::Format { path, offset, found, expected, remedy } => {
            Error::Format { path, offset, found: format!("in {place}: {found}"), expected, remedy }
        }
        other => other,
    }
}

fn no_memory() -> Error {
    Error::Unusable {
        what: "The sources together take all the memory they may".into(),
        remedy: "Clear one of them, or start the server with a larger --max-memory".into(),
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    let differing = a.bytes().zip(b.bytes()).fold(0, |sum, (x, y)| sum | (x ^ y));
    a.len() == b.len() && differing == 0
}

fn ended(error: tungstenite::Error) -> Ends {
    use tungstenite::Error as E;
    match error {
        E::ConnectionClosed | E::AlreadyClosed => Ends(0, "the client has gone".into()),
        E::Capacity(error) => Ends(close::TOO_LARGE, error.to_string()),
        E::Utf8(_) => Ends(close::BROKEN, "the message is not UTF-8".into()),
        E::Protocol(error) => Ends(close::BROKEN, error.to_string()),
        E::Io(error) => Ends(0, format!("the connection broke: {error}")),
        other => Ends(close::BROKEN, other.to_string()),
    }
}
