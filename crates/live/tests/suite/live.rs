//! Live trees over a WebSocket: promises to clients, and limits of hostile ones. Trees of other clients are never lost,
//! and readers never wait.

use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::Source;
use memory_city_heap::progress::Progress;
use memory_city_live::{Hub, Latest, LiveLimits, PushOptions, Server, ServerOptions, push, times_there};
use memory_city_testing::root;
use memory_city_testing::websocket::{self, Repeating};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::protocol::frame::{Frame, FrameHeader};
use tungstenite::{Message, WebSocket};

type Client = WebSocket<Repeating>;

/// Longest wait for an event; a later one never comes.
const PATIENCE: Duration = Duration::from_secs(60);

fn limits() -> LiveLimits {
    LiveLimits { memory_bytes: 1 << 30, ..LiveLimits::default() }
}

fn start(limits: LiveLimits, options: ServerOptions) -> Server {
    let options = ServerOptions { address: "127.0.0.1:0".into(), ..options };
    Server::start(Hub::new(limits, || ()), &options).expect("a server")
}

fn connect(server: &Server) -> Client {
    websocket::connect(&format!("ws://{}/", server.address()), PATIENCE)
}

/// Says something, and gives the answer to it; events are skipped.
fn ask(client: &mut Client, message: Value) -> Value {
    client.send(Message::text(message.to_string())).expect("sent");
    loop {
        let answer = event(client);
        if ["ack", "refused"].contains(&answer["event"].as_str().expect("an event")) {
            return answer;
        }
    }
}

fn event(client: &mut Client) -> Value {
    loop {
        if let Message::Text(text) = client.read().expect("an answer") {
            return serde_json::from_str(text.as_str()).expect("JSON");
        }
    }
}

fn hello(client: &mut Client, source: &str) -> Value {
    ask(client, json!({"do": "hello", "protocol": 1, "source": source}))
}

/// The code the server closes with.
fn closed(client: &mut Client) -> u16 {
    loop {
        match client.read() {
            Ok(Message::Close(frame)) => return frame.map_or(0, |f| f.code.into()),
            Ok(_) => {}
            Err(error) => panic!("the connection ended without a code: {error}"),
        }
    }
}

fn time(n: u64) -> Value {
    json!({"timestamp": n, "tree": {"children": [
        {"name": "Session", "role": "Type", "objects": n, "bytes": 40 * n},
        {"name": "String", "role": "Type", "objects": 2 * n, "bytes": 48 * n}]}})
}

/// The city of all that has come, as soon as it is there.
fn latest(server: &Server, source: &str, times: usize) -> Arc<Source> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Latest { source: Some(source), .. } = server.hub().latest(source)
            && source.timeline().times() == times
        {
            return source;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no city of {times} times of {source}: {:?}", server.hub().status());
}

#[test]
fn a_session() {
    let server = start(limits(), ServerOptions::default());
    let (mut client, mut other) = (connect(&server), connect(&server));
    let welcome = hello(&mut client, "shop");
    assert_eq!((&welcome["event"], &welcome["protocol"], &welcome["times"]), (&json!("ack"), &json!(1), &json!(0)));
    hello(&mut other, "shop");
    let answer = ask(&mut client, json!({"do": "append", "id": 7, "time": time(1), "color": 1}));
    assert_eq!(answer, json!({"event": "ack", "id": 7, "do": "append", "times": 1, "groups": 3, "ignored": ["color"]}));
    ask(&mut client, json!({"do": "append", "time": time(2)}));
    let maps = json!({"points-to": {"Heap#Session": {"Heap#String": {"referencing": 1, "referenced": 2}}}});
    assert_eq!(ask(&mut client, json!({"do": "references", "at": 1, "maps": maps}))["event"], "ack");
    let city = latest(&server, "shop", 2);
    let session = city.find("Heap#Session").expect("a group");
    assert_eq!(city.timeline().amount(1, session).objects, 2);
    let until = Instant::now() + PATIENCE;
    let known = || server.hub().latest("shop").source.and_then(|s| s.references(0, session, &Progress::new()).ok()?);
    while known().is_none() && Instant::now() < until {}
    assert_eq!(known().expect("references").outgoing[0].referenced, 2);

    // What one selects the other hears of.
    assert_eq!(ask(&mut client, json!({"do": "select", "group": "Heap#Session"}))["event"], "ack");
    assert_eq!(event(&mut other), json!({"event": "selected", "group": "Heap#Session"}));
    assert_eq!(ask(&mut client, json!({"do": "go", "at": 2}))["event"], "ack");
    assert_eq!(event(&mut other), json!({"event": "time", "at": 2, "times": 2}));
    assert_eq!(server.hub().wishes("shop").select, (1, Some("Heap#Session".into())));
    assert_eq!(server.hub().wishes("shop").go, (1, 1));
    server.hub().tell("shop", None, 0);
    assert_eq!(event(&mut other), json!({"event": "selected", "group": null}));
    assert_eq!(event(&mut other), json!({"event": "time", "at": 1, "times": 2}));
    ask(&mut client, json!({"do": "show"}));
    assert_eq!(server.hub().wanted(), (1, "shop".into()));

    let list = json!({"do": "replace", "times": [time(5), time(6), time(7)]});
    assert_eq!(ask(&mut client, list)["times"], 3);
    latest(&server, "shop", 3);
    assert_eq!(ask(&mut client, json!({"do": "clear"}))["times"], 0);
    let until = Instant::now() + PATIENCE;
    while server.hub().latest("shop").source.is_some() && Instant::now() < until {}
    assert!(server.hub().latest("shop").source.is_none());
}

#[test]
fn what_is_wrong_is_refused_with_a_reason_and_nothing_is_lost() {
    let server = start(limits(), ServerOptions::default());
    let mut client = connect(&server);
    hello(&mut client, "shop");
    ask(&mut client, json!({"do": "replace", "times": [time(1), time(4)]}));
    let table = [
        (r#"{"do": "append", "time": {"tree": {"objects": -1}}}"#, "found integer `-1` in tree.objects"),
        (r#"{"do": "append", "time": {"tree": }}"#, "not understood"),
        (r#"{"do": "append"}"#, "has no \"time\""),
        (
            r#"{"do": "append", "time": {"timestamp": 3, "tree": {"objects": 1, "bytes": 1}}}"#,
            "before that of the last time",
        ),
        (r#"{"do": "append", "time": {"label": "x"}}"#, "no tree"),
        (r#"{"do": "append", "time": {"times": []}}"#, "\"times\" in a time"),
        (
            r#"{"do": "replace", "times": [{"tree": {"objects": 1}}, {"tree": {"objects": 1.5}}]}"#,
            "in times[1]: floating point",
        ),
        (r#"{"do": "references", "maps": {"tree": {"objects": 1}}}"#, "expected reference maps alone"),
        (r#"{"do": "references", "at": 9, "maps": {"points-to": {}}}"#, "There is no time 9"),
        (r#"{"do": "references", "maps": {"points-to": {"Heap": 3}}}"#, "points-to"),
        (r#"{"do": "go", "at": 3}"#, "There is no time 3"),
        (r#"{"do": "select", "group": "Heap#none"}"#, "There is no group \"Heap#none\""),
        (r#"{"do": "hello", "protocol": 1, "source": "a"}"#, "has been said"),
        (r#"{"do": "dance"}"#, "\"dance\" is not known"),
        ("{", "not understood"),
        ("", "not understood"),
    ];
    for (message, part) in table {
        client.send(Message::text(message)).expect("sent");
        let answer = event(&mut client);
        let why = answer["why"].as_str().unwrap_or_default();
        assert!(answer["event"] == "refused" && why.contains(part), "{message}: {answer}");
    }
    assert_eq!(ask(&mut client, json!({"do": "append", "time": time(5)}))["times"], 3);
    let city = latest(&server, "shop", 3);
    let session = city.find("Heap#Session").expect("a group");
    let counts: Vec<u64> = (0..3).map(|t| city.timeline().amount(t, session).objects).collect();
    assert_eq!(counts, [1, 4, 5]);
}

#[test]
fn several_sources_are_cities_of_their_own() {
    let server = start(LiveLimits { sources: 2, ..limits() }, ServerOptions::default());
    let (mut a, mut b, mut c) = (connect(&server), connect(&server), connect(&server));
    hello(&mut a, "a");
    hello(&mut b, "b");
    for n in 1..=3 {
        ask(&mut a, json!({"do": "append", "time": time(n)}));
    }
    ask(&mut b, json!({"do": "append", "time": time(100)}));
    assert_eq!(latest(&server, "a", 3).timeline().points()[0].label, "a #1");
    latest(&server, "b", 1);
    c.send(Message::text(json!({"do": "hello", "protocol": 1, "source": "c"}).to_string())).expect("sent");
    assert_eq!(closed(&mut c), 4013);
    // What nobody uses and has nothing makes room.
    ask(&mut b, json!({"do": "clear"}));
    drop(b);
    let until = Instant::now() + PATIENCE;
    while server.hub().status().iter().any(|s| s.name == "b" && s.clients > 0) && Instant::now() < until {}
    assert_eq!(hello(&mut connect(&server), "c")["event"], "ack");
}

#[test]
fn each_limit_has_a_close_code_and_a_steady_client_loses_nothing() {
    let limits = LiveLimits { message_bytes: 1 << 16, memory_bytes: 8 << 20, messages_per_second: 150, ..limits() };
    let server = start(limits, ServerOptions::default());
    let stop = Arc::new(AtomicBool::new(false));
    let steady = {
        let (mut client, stop) = (connect(&server), Arc::clone(&stop));
        std::thread::spawn(move || {
            hello(&mut client, "steady");
            let mut n = 0;
            while !stop.load(Ordering::Relaxed) || n < 50 {
                n += 1;
                let answer = ask(&mut client, json!({"do": "append", "time": time(n)}));
                assert_eq!((&answer["event"], &answer["times"]), (&json!("ack"), &json!(n)), "{answer}");
                std::thread::sleep(Duration::from_millis(10));
            }
            n as usize
        })
    };
    // Who draws looks at the hub all the time, and never waits.
    let looked = {
        let (hub, stop) = (Arc::clone(server.hub()), Arc::clone(&stop));
        std::thread::spawn(move || {
            let mut longest = Duration::ZERO;
            while !stop.load(Ordering::Relaxed) {
                let begin = Instant::now();
                let _ = (hub.status(), hub.latest("steady"), hub.wishes("steady"), hub.wanted());
                longest = longest.max(begin.elapsed());
                std::thread::sleep(Duration::from_millis(2));
            }
            longest
        })
    };

    let mut client = connect(&server);
    client.send(Message::text("{\"do\": \"append\"}")).expect("sent");
    assert_eq!(closed(&mut client), 4000, "no hello");
    let mut client = connect(&server);
    client.send(Message::text("{\"do\": \"hello\", \"protocol\": 2, \"source\": \"x\"}")).expect("sent");
    assert_eq!(closed(&mut client), 4000, "another version");
    let greeted = || {
        let mut client = connect(&server);
        hello(&mut client, "hostile");
        client
    };
    let mut client = greeted();
    client.send(Message::binary(vec![1, 2, 3])).expect("sent");
    assert_eq!(closed(&mut client), 1003, "binary");
    let mut client = greeted();
    let _ = client.send(Message::text("x".repeat(1 << 17)));
    assert_eq!(closed(&mut client), 1009, "too large");
    let mut client = greeted();
    let header = FrameHeader { opcode: OpCode::Data(Data::Text), mask: Some([1, 2, 3, 4]), ..FrameHeader::default() };
    client.send(Message::Frame(Frame::from_payload(header, vec![b'"', 0xff, 0xfe].into()))).expect("sent");
    assert_eq!(closed(&mut client), 1007, "not UTF-8");
    let mut client = greeted();
    for _ in 0..3000 {
        if client.send(Message::text("{\"do\": \"show\"}")).is_err() {
            break;
        }
    }
    assert_eq!(closed(&mut client), 4029, "too many");
    let mut client = greeted();
    let wide = |n: u64| {
        let children: Vec<Value> =
            (0..400).map(|i| json!({"name": format!("{n}-{i}"), "objects": 1, "bytes": 16})).collect();
        json!({"do": "append", "time": {"tree": {"children": children}}})
    };
    for n in 0..100 {
        client.send(Message::text(wide(n).to_string())).expect("sent");
        if event(&mut client)["event"] == "refused" {
            break;
        }
    }
    assert_eq!(closed(&mut client), 4013, "memory");
    // The first thing a full source allows is to be emptied.
    let mut client = greeted();
    assert_eq!(ask(&mut client, json!({"do": "clear"}))["times"], 0);
    stop.store(true, Ordering::Relaxed);
    let times = steady.join().expect("the steady client");
    assert_eq!(latest(&server, "steady", times).timeline().times(), times);
    let longest = looked.join().expect("the one who draws");
    assert!(longest < PATIENCE / 6, "waited {longest:?}");
}

#[test]
fn who_keeps_the_server_waiting_is_cut_off() {
    let limits = LiveLimits {
        silence_timeout: Duration::from_millis(900),
        handshake_timeout: Duration::from_millis(500),
        ..limits()
    };
    let server = start(limits, ServerOptions::default());
    assert_eq!(closed(&mut connect(&server)), 4000, "says nothing");
    let greeted = || {
        let mut client = connect(&server);
        hello(&mut client, "hostile");
        client
    };
    // Silent: this client does not even answer pings, because it does not read before the server has had enough.
    let mut client = greeted();
    let begin = Instant::now();
    while server.hub().status().iter().any(|s| s.name == "hostile" && s.clients > 0) {
        assert!(begin.elapsed() < PATIENCE, "the server waits for one who is silent");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(closed(&mut client), 4008, "silent");

    // Half a handshake, and one that drips.
    let mut half = TcpStream::connect(server.address()).expect("a connection");
    half.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    for byte in b"GET / HTTP/1.1\r\nHost: a\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaaaaa" {
        if half.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(30));
    }
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    let waits = half.read(&mut [0; 64]).is_err_and(|error| matches!(error.kind(), TimedOut | WouldBlock));
    assert!(!waits, "the server waits for a handshake that drips");
    // A message that drips: its connection ends, though a byte comes now and then.
    let mut client = greeted();
    client.get_mut().write_all(&[0x81, 0xfe, 0x40, 0, 1, 2, 3, 4]).expect("a header");
    let begin = Instant::now();
    while client.get_mut().write_all(b"x").is_ok() {
        assert!(begin.elapsed() < PATIENCE, "the server waits for a message that drips");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn web_pages_and_strangers_stay_outside() {
    let options = ServerOptions {
        token: Some("secret".into()),
        origins: vec!["https://city.example".into()],
        ..ServerOptions::default()
    };
    let server = start(limits(), options);
    let shake = |headers: &str| {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        let request = format!(
            "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = [0; 400];
        let n = stream.read(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer[..n]).into_owned()
    };
    let refused = shake("Origin: https://evil.example\r\n");
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    assert!(shake("Origin: null\r\n").starts_with("HTTP/1.1 403"));
    assert!(shake("Origin: https://city.example\r\n").starts_with("HTTP/1.1 101"));
    for (token, code) in [(json!(null), 4001), (json!("Secret"), 4001), (json!("secret2"), 4001)] {
        let mut client = connect(&server);
        let hello = json!({"do": "hello", "protocol": 1, "source": "a", "token": token});
        client.send(Message::text(hello.to_string())).expect("sent");
        assert_eq!(closed(&mut client), code);
    }
    let mut client = connect(&server);
    let answer = ask(&mut client, json!({"do": "hello", "protocol": 1, "source": "a", "token": "secret"}));
    assert_eq!(answer["event"], "ack");
}

/// Idle connections keep no client out: the one that has waited longest makes place. Clients have seats of their own.
#[test]
fn half_open_connections_and_strangers_take_no_seat_of_a_known_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let hello_with = |token: &str| json!({"do": "hello", "protocol": 1, "source": "a", "token": token}).to_string();
    let few = LiveLimits { clients: 2, waiting: 3, handshake_timeout: PATIENCE, ..limits() };
    let with_token = start(few, ServerOptions { token: Some("secret".into()), ..ServerOptions::default() });
    let mut held: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(with_token.address()).expect("a connection")).collect();
    // Some have shaken hands, and say no hello.
    let mut shaken: Vec<Client> = (0..2).map(|_| connect(&with_token)).collect();
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut client = connect(&with_token);
        client.send(Message::text(hello_with("secret"))).expect("sent");
        assert_eq!(event(&mut client)["event"], "ack");
        clients.push(client);
    }
    let mut third = connect(&with_token);
    third.send(Message::text(hello_with("secret"))).expect("sent");
    assert_eq!(closed(&mut third), 1013);
    // Those that waited longest have been let go of.
    held[0].set_read_timeout(Some(PATIENCE)).expect("a timeout");
    assert!(matches!(held[0].read(&mut [0; 8]), Ok(0) | Err(_)));
    drop(clients.pop());
    let until = Instant::now() + PATIENCE;
    loop {
        let mut next = connect(&with_token);
        next.send(Message::text(hello_with("secret"))).expect("sent");
        if matches!(next.read(), Ok(Message::Text(_))) {
            break;
        }
        assert!(Instant::now() < until, "the seat of one that has gone is taken");
    }
    shaken.clear();
    held.clear();

    // Without a token all may come, but strangers leave the seats of those with a pass.
    let passes = Some(folder.path().to_owned());
    let without = start(few, ServerOptions { passes: passes.clone(), ..ServerOptions::default() });
    let strangers: Vec<Client> = (0..2)
        .map(|_| {
            let mut client = connect(&without);
            hello(&mut client, "strangers");
            client
        })
        .collect();
    let mut third = connect(&without);
    third.send(Message::text(hello_with(""))).expect("sent");
    assert_eq!(closed(&mut third), 1013);
    let options =
        PushOptions { address: without.address().to_string(), source: "mine".into(), passes, ..PushOptions::default() };
    assert_eq!(times_there(&options, &Progress::new()).expect("a seat for who has a pass"), 0);
    drop(strangers);
}

/// A request without a WebSocket gets an answer. Empty parts of messages count. Strangers send no large messages.
#[test]
fn what_is_no_message_ends_the_connection_or_is_answered() {
    let server = start(LiveLimits { messages_per_second: 50, ..limits() }, ServerOptions::default());
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\n"),
        ("GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 426 "),
        ("POST /trees HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 426 "),
        ("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 426 "),
        ("\x16\x03\x01\x02 what begins a TLS connection\r\n\r\n", "HTTP/1.1 426 "),
    ] {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with(status), "{request:?}: {answer:?}");
    }

    let part = |first: bool, payload: &'static [u8]| {
        let data = if first { Data::Text } else { Data::Continue };
        let header = FrameHeader {
            opcode: OpCode::Data(data),
            mask: Some([1, 2, 3, 4]),
            is_final: false,
            ..FrameHeader::default()
        };
        Message::Frame(Frame::from_payload(header, payload.into()))
    };
    for greeted in [false, true] {
        let mut client = connect(&server);
        if greeted {
            hello(&mut client, "hostile");
        }
        let _ = client.send(part(true, b"{"));
        for _ in 0..1000 {
            if client.send(part(false, b"")).is_err() {
                break;
            }
        }
        assert_eq!(closed(&mut client), 4029, "empty parts, greeted: {greeted}");
    }
    let mut client = connect(&server);
    let _ = client.send(Message::text(" ".repeat(65 << 10)));
    assert_eq!(closed(&mut client), 1009, "a large hello");
    let mut client = connect(&server);
    hello(&mut client, "large");
    let label = "x".repeat(60 << 10);
    let large = json!({"do": "append", "time": {"label": label, "tree": {"name": label, "objects": 1, "bytes": 8}}});
    assert_eq!(ask(&mut client, large)["event"], "ack", "what comes after the hello may be large");
}

#[test]
fn beyond_loopback_there_is_always_a_token() {
    let options = ServerOptions { address: "0.0.0.0:0".into(), ..ServerOptions::default() };
    let server = Server::start(Hub::new(limits(), || ()), &options).expect("a server");
    assert_eq!(server.token().expect("a token").len(), 32);
    let error = Server::start(Hub::new(limits(), || ()), &ServerOptions { address: "nowhere".into(), ..options });
    assert!(error.err().expect("refused").to_string().contains("HOST:PORT"));
}

#[test]
fn what_is_pushed_arrives_the_same() {
    let server = start(limits(), ServerOptions::default());
    let root = root();
    let progress = Progress::new();
    for (path, name) in [("sample-data/person-leak", "dumps"), ("tests/data/anttracks/person-leak-parallel", "trace")] {
        let source = Source::open(&[root.join(path)], "auto", GroupOptions::default(), &progress).expect("a source");
        let options = PushOptions {
            address: server.address().to_string(),
            source: name.into(),
            references: true,
            ..PushOptions::default()
        };
        let pushed = push(&source, &options, &progress).expect("pushed");
        assert_eq!((pushed.times, &pushed.warnings[..]), (source.timeline().times(), &[][..]));
        let city = latest(&server, name, pushed.times);
        let (a, b) = (source.timeline(), city.timeline());
        assert_eq!(a.points(), b.points());
        assert_eq!(a.len(), b.len());
        for node in a.nodes() {
            assert_eq!((a.key(node), a.max(node)), (b.key(node), b.max(node)));
        }
        let last = a.times() - 1;
        let of = |s: &Source| s.time_references(last, &progress).expect("references").expect("known");
        assert_eq!(of(&source), of(&city));
        // Once more: instead of what is there, not behind it.
        push(&source, &options, &progress).expect("pushed again");
        latest(&server, name, pushed.times);
    }
    let nobody = PushOptions { address: "127.0.0.1:1".into(), source: "x".into(), ..PushOptions::default() };
    let trees = root.join("sample-data/json/lines.jsonl");
    let source = Source::open(&[trees], "auto", GroupOptions::default(), &progress).expect("a source");
    let error = push(&source, &nobody, &progress).expect_err("nobody is there").to_string();
    assert!(error.contains("memory-city serve"), "{error}");
}

/// A client that goes on sending learns the current state and leaves the window alone. A restarted server knows
/// nothing.
#[test]
fn what_goes_on_is_appended_and_leaves_the_window_alone() {
    let server = start(limits(), ServerOptions::default());
    let progress = Progress::new();
    let trees = root().join("sample-data/json/one-time.json");
    let source = Source::open(&[trees], "auto", GroupOptions::default(), &progress).expect("a source");
    let times = source.timeline().times();
    let first = PushOptions { address: server.address().to_string(), source: "a".into(), ..PushOptions::default() };
    assert_eq!(times_there(&first, &progress).expect("told"), 0);
    push(&source, &first, &progress).expect("pushed");
    push(&source, &PushOptions { source: "b".into(), ..first.clone() }, &progress).expect("pushed");
    assert_eq!(times_there(&first, &progress).expect("told"), times);
    let (shown, wishes) = (server.hub().wanted(), server.hub().wishes("a"));
    assert_eq!((&*shown.1, wishes.plan), ("b", 1), "the one that was sent last is shown");
    let on = PushOptions { append: true, keep_shown: true, keep_places: true, ..first.clone() };
    push(&source, &on, &progress).expect("appended");
    assert_eq!(times_there(&first, &progress).expect("told"), 2 * times);
    assert_eq!((server.hub().wanted(), server.hub().wishes("a").plan), (shown, 1), "nobody is asked to look there");
    let other = start(limits(), ServerOptions::default());
    let other = PushOptions { address: other.address().to_string(), ..first };
    assert_eq!(times_there(&other, &progress).expect("told"), 0);
}

/// Replaced trees count until they are gone. Clients wait for that, for each other, and never for ever.
#[test]
fn clients_that_replace_make_room_for_each_other() {
    let server = start(LiveLimits { memory_bytes: 4 << 20, ..limits() }, ServerOptions::default());
    let list = |from: usize| {
        let children: Vec<Value> =
            (from..from + 800).map(|i| json!({"name": i.to_string(), "objects": 1, "bytes": 16})).collect();
        json!({"do": "replace", "times": [{"tree": {"children": children}}]}).to_string()
    };
    let taken: usize = std::thread::scope(|scope| {
        let clients = (0..4).map(|number| {
            let (server, list) = (&server, &list);
            scope.spawn(move || {
                let mut client = connect(server);
                hello(&mut client, "shop");
                let mut taken = 0;
                for n in 0..40 {
                    client.send(Message::text(list(1000 * (40 * number + n)))).expect("sent");
                    match client.read() {
                        Ok(Message::Text(text)) if text.as_str().contains("\"ack\"") => taken += 1,
                        // Others may have taken the room: then the connection ends.
                        _ => {
                            client = connect(server);
                            hello(&mut client, "shop");
                        }
                    }
                }
                taken
            })
        });
        clients.collect::<Vec<_>>().into_iter().map(|client| client.join().expect("a client")).sum()
    });
    assert!(taken >= 80, "{taken} of 160 lists were taken");
    let mut client = connect(&server);
    hello(&mut client, "shop");
    assert_eq!(ask(&mut client, json!({"do": "clear"}))["event"], "ack");
    assert_eq!(ask(&mut client, json!({"do": "append", "time": time(1)}))["event"], "ack");
    latest(&server, "shop", 1);
}
