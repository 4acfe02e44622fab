//! The client: sends any source to a server, time by time.

use super::pass::{Pass, same};
use super::protocol::{PROTOCOL, close};
use super::request::RecordingClaim;
use super::stream::{Timed, is_pause};
use memory_city_analysis::timeline::json::TreesOfRecording;
use memory_city_analysis::timeline::{Source, json};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use serde_json::Value;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::client::Request;
use tungstenite::{Message, WebSocket};

/// The source to send, and its destination.
#[derive(Clone, Debug, Default)]
pub struct PushOptions {
    /// `HOST:PORT`, perhaps with `ws://` before it.
    pub address: String,
    /// The name of the source.
    pub source: String,
    /// The token that the server asks for.
    pub token: Option<String>,
    /// The folder with the passes of this user's servers. A pass is good once, and is tried before the token. Only servers that have no
    /// pass here, or do not know it, get the token.
    pub passes: Option<PathBuf>,
    /// Whether to send nothing to a server of which neither is known.
    pub only_known: bool,
    /// Whether to send references.
    pub references: bool,
    /// The recording that the trees are of.
    pub recording: Option<TreesOfRecording>,
    /// Whether to append to the existing times of the source.
    pub append: bool,
    /// Whether the window stays with the source it shows, instead of turning to this one.
    pub keep_shown: bool,
    /// Whether buildings stay where they are, instead of the ground being divided anew at the end.
    pub keep_places: bool,
}

/// The result of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Points in time.
    pub times: usize,
    /// Bytes of messages.
    pub bytes: u64,
    /// Warnings of the server.
    pub warnings: Vec<String>,
}

/// How long a server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often another pass is tried where the one that was read has been used meanwhile.
const PASS_TRIES: u32 = 8;

/// Sends all times of a source, each when the one before has been taken.
///
/// # Errors
/// When the server cannot be reached, refuses something, or a state cannot be loaded, or the work was cancelled.
pub fn push(source: &Source, options: &PushOptions, progress: &Progress) -> Result<Pushed> {
    let (mut client, _) = Client::join(options, progress)?;
    let mut pushed = Pushed::default();
    if let Some(claim) = options.recording.as_ref().and_then(RecordingClaim::of) {
        // By now it is known who listens. Whoever wants no recording gets the trees all the same.
        let message = serde_json::json!({ "do": "recording", "recording": claim }).to_string();
        if let Err(Error::Cancelled) = client.ask(message, progress) {
            return Err(Error::Cancelled);
        }
    }
    if !options.append {
        client.ask(r#"{"do":"clear"}"#.into(), progress)?;
    }
    if !options.keep_shown {
        client.ask(r#"{"do":"show"}"#.into(), progress)?;
    }
    let timeline = source.timeline();
    progress.begin(format!("Sending to {}", options.address), timeline.times() as u64);
    // A state may take minutes to load: meanwhile somebody must answer the server's pings.
    let making = Progress::new();
    std::thread::scope(|scope| -> Result<()> {
        let (made, messages) = sync_channel(1);
        let worker = &making;
        scope.spawn(move || {
            for t in 0..timeline.times() {
                let message = message(source, t, options.references, worker);
                let failed = message.is_err();
                // Nobody listens any more when the server has refused something.
                if made.send(message).is_err() || failed {
                    break;
                }
            }
        });
        let sent = send_all(&mut client, &messages, &mut pushed, progress);
        making.cancel();
        sent
    })?;
    // The first times divided the ground: now all are there.
    if !options.keep_places {
        client.ask(r#"{"do":"plan"}"#.into(), progress)?;
    }
    client.bye();
    Ok(pushed)
}

/// How many times a source has on the server: 0 where there is no such source, as on a server that was started again. Nothing is
/// changed but that the source is made.
///
/// # Errors
/// When the server cannot be reached or refuses, or the work was cancelled.
pub fn times_there(options: &PushOptions, progress: &Progress) -> Result<usize> {
    let (client, welcome) = Client::join(options, progress)?;
    let times = welcome["times"].as_u64().unwrap_or(0);
    client.bye();
    Ok(usize::try_from(times).unwrap_or(usize::MAX))
}

/// The message that appends a time.
fn message(source: &Source, t: usize, references: bool, progress: &Progress) -> Result<String> {
    let references = match references {
        true => source.time_references(t, progress)?,
        false => None,
    };
    let mut message = br#"{"do":"append","time":"#.to_vec();
    json::write_time(source.timeline(), t, references.as_ref(), &mut message)?;
    message.push(b'}');
    // What is written is made of texts.
    Ok(String::from_utf8(message).unwrap_or_default())
}

fn send_all(
    client: &mut Client,
    messages: &Receiver<Result<String>>,
    pushed: &mut Pushed,
    progress: &Progress,
) -> Result<()> {
    loop {
        let message = match messages.recv_timeout(Duration::from_millis(200)) {
            Ok(message) => message?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                progress.check()?;
                client.idle()?;
                continue;
            }
        };
        pushed.bytes += message.len() as u64;
        let answer = client.ask(message, progress)?;
        pushed.times += 1;
        for warning in answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            pushed.warnings.push(format!("time {}: {warning}", pushed.times));
        }
        progress.advance(1);
    }
}

struct Client {
    socket: WebSocket<Timed>,
    address: String,
    /// Where it is.
    peer: Option<SocketAddr>,
    /// Whether the server did not take the token.
    was_refused: bool,
}

impl Client {
    /// Connects and joins the source, and returns the answer. If another client used the pass meanwhile, it tries again with the next one.
    /// If the server does not know the pass, another server left it, and it tries the token.
    fn join(options: &PushOptions, progress: &Progress) -> Result<(Client, Value)> {
        let mut tries = 0;
        loop {
            let mut client = Client::connect(options)?;
            let is_left = options.token.is_some() && tries >= PASS_TRIES;
            tries += 1;
            let folder = options.passes.as_ref().filter(|_| !is_left);
            let pass = folder.and_then(|folder| Pass::read(folder, client.peer?));
            let token = pass.as_ref().map(|pass| pass.token.as_str()).or(options.token.as_deref());
            if options.only_known && token.is_none() {
                return Err(Error::Unusable {
                    what: format!("What listens at {} is no city of this user", client.address),
                    remedy: "Start one as this user with `memory-city open --listen`, or give its token".into(),
                });
            }
            let welcome = match client.hello(options, token, progress) {
                // With a token that one is the last try.
                Err(_) if client.was_refused && pass.is_some() && (tries < PASS_TRIES || options.token.is_some()) => {
                    continue;
                }
                other => other?,
            };
            match pass {
                Some(pass) if !welcome["proof"].as_str().is_some_and(|proof| same(proof, &pass.proof)) => {
                    if options.token.is_some() {
                        tries = PASS_TRIES;
                        continue;
                    }
                    return Err(client.failed("it does not know the pass of the city that was there"));
                }
                _ => return Ok((client, welcome)),
            }
        }
    }

    fn connect(options: &PushOptions) -> Result<Client> {
        let place = options.address.strip_prefix("ws://").unwrap_or(&options.address).trim_end_matches('/');
        let unreachable = |why: String| Error::Unusable {
            what: format!("{place} cannot be reached: {why}"),
            remedy: "Start a server there with `memory-city serve`, or check --to".into(),
        };
        let addresses = place.to_socket_addrs().map_err(|e| unreachable(e.to_string()))?;
        let mut error = "it names no address".to_owned();
        let tcp = addresses.into_iter().find_map(|a| {
            TcpStream::connect_timeout(&a, Duration::from_secs(5)).map_err(|e| error = e.to_string()).ok()
        });
        let tcp = tcp.ok_or_else(|| unreachable(error))?;
        let broken = |e: std::io::Error| unreachable(e.to_string());
        let peer = tcp.peer_addr().ok();
        let stream = Timed::new(tcp, Duration::from_secs(5)).map_err(broken)?;
        let request: Request =
            format!("ws://{place}/").into_client_request().map_err(|e| unreachable(e.to_string()))?;
        let (mut socket, _) = tungstenite::client(request, stream).map_err(|e| unreachable(e.to_string()))?;
        socket.get_mut().take_turns().and_then(|()| socket.get_mut().greeted()).map_err(broken)?;
        Ok(Client { socket, address: place.to_owned(), peer, was_refused: false })
    }

    /// Joins the source.
    fn hello(&mut self, options: &PushOptions, token: Option<&str>, progress: &Progress) -> Result<Value> {
        let hello = serde_json::json!({
            "do": "hello", "protocol": PROTOCOL, "source": options.source, "token": token,
        });
        self.ask(hello.to_string(), progress)
    }

    fn failed(&self, why: impl std::fmt::Display) -> Error {
        Error::Unusable {
            what: format!("{} did not take it: {why}", self.address),
            remedy: "docs/live-protocol.md says what a server takes, and what its close codes mean".into(),
        }
    }

    /// Sends a message and waits for its answer. Events in between are not for us.
    fn ask(&mut self, message: String, progress: &Progress) -> Result<Value> {
        self.socket.send(Message::text(message)).or_else(|e| self.unless_told(e))?;
        let until = Instant::now() + PATIENCE;
        loop {
            progress.check()?;
            let text = match self.socket.read() {
                Ok(Message::Text(text)) => text,
                Ok(Message::Close(frame)) => {
                    self.was_refused = frame.as_ref().is_some_and(|frame| u16::from(frame.code) == close::TOKEN);
                    return Err(self.failed(closed(frame.as_ref())));
                }
                Ok(_) => continue,
                Err(tungstenite::Error::Io(e)) if is_pause(&e) && Instant::now() < until => continue,
                Err(e) => return Err(self.failed(e)),
            };
            let answer: Value = serde_json::from_str(text.as_str()).map_err(|e| self.failed(e))?;
            match answer["event"].as_str() {
                Some("ack") => return Ok(answer),
                Some("refused") => return Err(self.failed(answer["why"].as_str().unwrap_or("refused"))),
                _ => {}
            }
        }
    }

    /// Answers pings while there is nothing to send.
    fn idle(&mut self) -> Result<()> {
        match self.socket.read() {
            Ok(Message::Close(frame)) => Err(self.failed(closed(frame.as_ref()))),
            Ok(_) => Ok(()),
            Err(tungstenite::Error::Io(e)) if is_pause(&e) => Ok(()),
            Err(e) => Err(self.failed(e)),
        }
    }

    /// A server that closes says why, though the message could not be sent any more.
    fn unless_told(&mut self, error: tungstenite::Error) -> Result<()> {
        for _ in 0..50 {
            match self.socket.read() {
                Ok(Message::Close(frame)) => return Err(self.failed(closed(frame.as_ref()))),
                Ok(_) => {}
                Err(tungstenite::Error::Io(e)) if is_pause(&e) => {}
                Err(_) => break,
            }
        }
        Err(self.failed(error))
    }

    fn bye(mut self) {
        let _ = self.socket.close(None);
        let _ = self.socket.flush();
        self.socket.get_mut().linger(Duration::from_secs(1));
    }
}

fn closed(frame: Option<&tungstenite::protocol::CloseFrame>) -> String {
    match frame {
        Some(frame) => format!("closed with {}: {}", u16::from(frame.code), frame.reason.as_str()),
        None => "closed without a reason".to_owned(),
    }
}
