//! The listening socket of the server, and its checks of new connections.

use super::connection::{Admission, Connection};
use super::hub::Hub;
use super::pass::{Passes, new_token};
use super::seats::{Seat, Seats};
use super::stream::{Timed, linger};
use memory_city_heap::error::{Error, Result};
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tungstenite::error::ProtocolError;
use tungstenite::handshake::HandshakeError;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::StatusCode;
use tungstenite::protocol::WebSocketConfig;

/// How to listen.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// `HOST:PORT`; with port 0 the system chooses one.
    pub address: String,
    /// The token that clients must give. Beyond loopback there is always one, drawn if it is not given.
    pub token: Option<String>,
    /// The folder for passes: tokens for one connection each, for programs of this user ([`crate::pass_folder`]). On loopback alone.
    pub passes: Option<PathBuf>,
    /// If true, connections need a pass.
    pub only_passes: bool,
    /// Web pages that may connect, as browsers name them (`https://example.org`). No others may.
    pub origins: Vec<String>,
}

/// A server that listens, until it is dropped.
pub struct Server {
    hub: Arc<Hub>,
    address: SocketAddr,
    token: Option<String>,
    passes: Option<Arc<Passes>>,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the address is none, or cannot be listened on; when there must be passes, and none can be written.
    pub fn start(hub: Arc<Hub>, options: &ServerOptions) -> Result<Server> {
        let unusable = |why: String| Error::Unusable {
            what: format!("Cannot listen on {}: {why}", options.address),
            remedy: "Give another address as HOST:PORT; port 0 lets the system choose a free one".into(),
        };
        let mut addresses = options.address.to_socket_addrs().map_err(|e| unusable(e.to_string()))?;
        let address = addresses.next().ok_or_else(|| unusable("it names no address".into()))?;
        let listener = TcpListener::bind(address).map_err(|e| unusable(e.to_string()))?;
        let address = listener.local_addr().map_err(|e| unusable(e.to_string()))?;
        listener.set_nonblocking(true).map_err(|e| unusable(e.to_string()))?;
        let token = match (&options.token, address.ip().is_loopback()) {
            (Some(token), _) => Some(token.clone()),
            (None, true) => None,
            (None, false) => Some(new_token()?),
        };
        let passes = match options.passes.as_ref().filter(|_| address.ip().is_loopback()) {
            Some(folder) => match Passes::open(folder, address) {
                Err(error) if options.only_passes => return Err(error),
                // Recordings will not find it, and say so; all others do.
                Err(error) => {
                    tracing::warn!("no passes for recordings: {error}");
                    None
                }
                Ok(passes) => Some(Arc::new(passes)),
            },
            None if options.only_passes => return Err(unusable("passes are for this machine alone".into())),
            None => None,
        };
        let admission = Admission { token: token.clone(), passes: passes.clone(), only_passes: options.only_passes };
        let gate = Gate { hub: Arc::clone(&hub), admission, origins: options.origins.clone() };
        std::thread::spawn(move || accept(&listener, &Arc::new(gate)));
        Ok(Server { hub, address, token, passes })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that clients must give, if any.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The sources.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(passes) = &self.passes {
            passes.close();
        }
        self.hub.close();
    }
}

/// The rule for connections.
struct Gate {
    hub: Arc<Hub>,
    admission: Admission,
    origins: Vec<String>,
}

/// The stack of a client's thread: where messages nest deeply, it grows and is counted.
const STACK: usize = 512 << 10;

/// Bytes read and written at a time.
const BUFFER: usize = 32 << 10;

fn accept(listener: &TcpListener, gate: &Arc<Gate>) {
    let seats = Seats::new(gate.hub.limits.clients, gate.hub.limits.waiting);
    while !gate.hub.is_closing() {
        let Ok((tcp, from)) = listener.accept() else {
            // Nobody is waiting, or the system is out of sockets for a moment.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let seat = match seats.wait(&tcp) {
            Ok(seat) => seat,
            Err(error) => {
                tracing::warn!("no place for {from}: {error}");
                turn_away(tcp);
                continue;
            }
        };
        let gate = Arc::clone(gate);
        let served = std::thread::Builder::new().name(format!("client {from}")).stack_size(STACK).spawn(move || {
            let why = serve(tcp, &gate, seat);
            tracing::info!("{from}: {why}");
        });
        if let Err(error) = served {
            tracing::warn!("no thread for {from}: {error}");
        }
    }
}

fn turn_away(mut tcp: TcpStream) {
    let _ = tcp.set_nonblocking(true);
    let _ = tcp.write_all(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
}

/// Answers plain HTTP requests, by browsers, `curl`, or health checks.
fn answer_plain(mut tcp: TcpStream, error: &tungstenite::Error) {
    use tungstenite::Error as E;
    let (status, more) = match error {
        // Nobody listens any more, or has been answered.
        E::Protocol(ProtocolError::HandshakeIncomplete) | E::Io(_) | E::ConnectionClosed | E::Http(_) => return,
        E::Protocol(_) => ("426 Upgrade Required", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"),
        _ => ("400 Bad Request", ""),
    };
    let connection = if more.is_empty() { "close" } else { "Upgrade, close" };
    let text = "Memory City speaks WebSocket here: connect with `memory-city push`, or see docs/live-protocol.md\n";
    let answer = format!(
        "HTTP/1.1 {status}\r\n{more}Connection: {connection}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
    if tcp.write_all(answer.as_bytes()).is_ok() {
        linger(&mut tcp, Duration::from_secs(1));
    }
}

fn serve(tcp: TcpStream, gate: &Gate, seat: Seat) -> String {
    let plain = tcp.try_clone();
    let stream = tcp.set_nonblocking(false).and_then(|()| Timed::new(tcp, gate.hub.limits.handshake_timeout));
    let stream = match stream {
        Ok(stream) => stream,
        Err(error) => return format!("the connection broke: {error}"),
    };
    let most = gate.hub.limits.message_bytes;
    let config = WebSocketConfig::default()
        .max_message_size(Some(most))
        .max_frame_size(Some(most))
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER);
    let mut bearer = None;
    #[allow(clippy::result_large_err)] // the library's own type
    let admit = |request: &Request, response: Response| {
        let header = |name: &str| request.headers().get(name).and_then(|v| v.to_str().ok());
        if let Some(origin) = request.headers().get("origin") {
            // Browsers name the page; a page of another machine must not reach what listens here.
            if !gate.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()) {
                return Err(refusal("Web pages may not connect. Allow one with --allow-origin"));
            }
        }
        bearer = header("authorization").and_then(|v| v.strip_prefix("Bearer ")).map(str::to_owned);
        Ok(response)
    };
    let mut stream = match tungstenite::accept_hdr_with_config(stream, admit, Some(config)) {
        // Nothing comes behind the handshake before it is answered: that would have been an error.
        Ok(socket) => socket.into_inner(),
        Err(error) => {
            if let (HandshakeError::Failure(error), Ok(plain)) = (&error, plain) {
                answer_plain(plain, error);
            }
            return format!("no handshake: {error}");
        }
    };
    drop(plain);
    if let Err(error) = stream.take_turns() {
        return format!("the connection broke: {error}");
    }
    Connection::new(stream, config, Arc::clone(&gate.hub), gate.admission.clone(), bearer, seat).run()
}

fn refusal(why: &str) -> ErrorResponse {
    let mut response = ErrorResponse::new(Some(why.to_owned()));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}
