//! `memory-city serve` under attack: the process stays below its limit and a constant, whatever clients send. The
//! system's peak memory of the real program counts.
//!
//! Everything is bounded: each attack ends after a number of messages, on this machine only.
#![cfg(target_os = "linux")]

use memory_city_testing::websocket::{self, Repeating};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// What `--max-memory` says, MiB.
const LIMIT: u64 = 64;

/// Memory of the program besides, MiB: itself, threads and buffers of clients, messages too small to be counted, and
/// the allocator's reserve between them.
const BESIDE: u64 = 32;

struct Serve {
    child: Child,
    address: SocketAddr,
    /// Memory before anything came, kB.
    before: u64,
}

impl Serve {
    fn start() -> Serve {
        let program = option_env!("MEMORY_CITY_SERVE").unwrap_or(env!("CARGO_BIN_EXE_memory-city"));
        let mut child = Command::new(program)
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--max-memory",
                &format!("{LIMIT}MiB"),
                "--max-message",
                "32MiB",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Listening on ws://").expect("an address").parse().expect("an address");
        let mut serve = Serve { child, address, before: 0 };
        serve.before = serve.peak();
        serve
    }

    /// The most memory it ever had, kB.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find(|l| l.starts_with("VmHWM:")).expect("its memory");
        line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number")
    }

    fn client(&self, source: &str) -> Client {
        let mut client = Client(websocket::connect(&format!("ws://{}/", self.address), Duration::from_secs(30)));
        let answer = client.ask(&json!({"do": "hello", "protocol": 1, "source": source}).to_string());
        assert!(answer.is_some_and(|a| a["event"] == "ack"), "no welcome");
        client
    }

    /// Says how much it was, and that it was not too much.
    fn check(mut self, what: &str) {
        let taken = self.peak().saturating_sub(self.before) >> 10;
        println!("| {what} | {taken} MB |");
        let _ = self.child.kill();
        let _ = self.child.wait();
        assert!(taken < LIMIT + BESIDE, "{what}: {taken} MB, though the limit is {LIMIT}");
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client(WebSocket<Repeating>);

impl Client {
    /// The answer; `None` when the connection ends.
    fn ask(&mut self, message: &str) -> Option<Value> {
        // The server may end the connection before it has read all: then its answer may still be read, or not.
        let _ = self.0.send(Message::text(message));
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => {
                    let answer: Value = serde_json::from_str(text.as_str()).expect("JSON");
                    if ["ack", "refused"].contains(&answer["event"].as_str().unwrap_or_default()) {
                        return Some(answer);
                    }
                }
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}

/// Sends messages, with a new connection whenever one ends. Returns how many were taken.
fn attack(serve: &Serve, source: &str, messages: impl Iterator<Item = String>) -> usize {
    let mut client = serve.client(source);
    let mut taken = 0;
    let until = Instant::now() + Duration::from_secs(30);
    for message in messages {
        if Instant::now() > until {
            break;
        }
        match client.ask(&message) {
            Some(answer) => taken += usize::from(answer["event"] == "ack"),
            None => client = serve.client(source),
        }
    }
    taken
}

/// A text of so many bytes that no other is like.
fn text(n: usize, bytes: usize) -> String {
    let mut text = format!("{n} ");
    text.extend(std::iter::repeat_n('x', bytes.saturating_sub(text.len())));
    text
}

fn append(time: &str) -> String {
    format!("{{\"do\":\"append\",\"time\":{time}}}")
}

fn tree(children: impl Iterator<Item = String>) -> String {
    append(&format!("{{\"tree\":{{\"children\":[{}]}}}}", children.collect::<Vec<_>>().join(",")))
}

const LEAF: &str = "\"objects\":1,\"bytes\":1";

/// Almost as long as a text may be.
const LONG: usize = 60_000;

/// Longer than any text may be.
const HUGE: usize = 20 << 20;

#[test]
fn labels_and_causes() {
    for (what, bytes, count) in [("labels", LONG, 1500), ("labels of 20 MB", HUGE, 30)] {
        let serve = Serve::start();
        let label = |n| append(&format!("{{\"label\":\"{}\",\"tree\":{{{LEAF}}}}}", text(n, bytes)));
        attack(&serve, "a", (0..count).map(label));
        serve.check(what);
    }
    let serve = Serve::start();
    let cause = |n| append(&format!("{{\"gc\":{{\"number\":1,\"cause\":\"{}\"}},\"tree\":{{{LEAF}}}}}", text(n, LONG)));
    attack(&serve, "a", (0..1500).map(cause));
    serve.check("causes");
}

#[test]
fn names_roles_and_keys_of_nodes() {
    type Field = fn(usize) -> String;
    let fields: [(&str, Field); 4] = [
        ("names", |n| format!("{{\"name\":\"{}\",{LEAF}}}", text(n, LONG))),
        ("roles", |n| format!("{{\"name\":\"{n}\",\"role\":\"{}\",{LEAF}}}", text(n, LONG))),
        ("keys", |n| format!("{{\"name\":\"{n}\",\"key\":\"{}\",{LEAF}}}", text(n, LONG))),
        // Siblings of one name are told apart: each gets a name made of both.
        ("one name with many keys", |n| format!("{{\"name\":\"{}\",\"key\":\"{n}\",{LEAF}}}", text(0, LONG))),
    ];
    for (what, field) in fields {
        let serve = Serve::start();
        attack(&serve, "a", (0..30).map(|m| tree((0..100).map(|n| field(100 * m + n)))));
        serve.check(what);
    }
    let serve = Serve::start();
    attack(&serve, "a", (0..20).map(|m| tree((0..100_000).map(|n| format!("{{\"name\":\"{m} {n}\",{LEAF}}}")))));
    serve.check("many short names");
}

#[test]
fn unknown_fields() {
    for (what, bytes) in [("unknown fields", LONG), ("unknown fields of 20 MB", HUGE)] {
        let serve = Serve::start();
        let field = |n| append(&format!("{{\"{}\":1,\"tree\":{{\"{0}\":2,{LEAF}}}}}", text(n, bytes)));
        attack(&serve, "a", (0..40).map(field));
        serve.check(what);
    }
}

fn maps(pairs: impl Iterator<Item = String>, end: &str) -> String {
    format!("{{\"do\":\"references\",\"maps\":{{\"points-to\":{{{}}}{end}}}}}", pairs.collect::<Vec<_>>().join(","))
}

#[test]
fn keys_of_reference_maps() {
    let first = append(&format!("{{\"tree\":{{{LEAF}}}}}"));
    for (what, count, bytes) in [("long keys in maps", 50, LONG), ("short keys in maps", 100_000, 10)] {
        let serve = Serve::start();
        let pair = |n: usize| format!("\"{}\":{{\"{}\":1}}", text(2 * n, bytes), text(2 * n + 1, bytes));
        let messages = (0..20).map(|m| maps((0..count).map(|n| pair(count * m + n)), ""));
        attack(&serve, "a", std::iter::once(first.clone()).chain(messages));
        serve.check(what);
    }
}

#[test]
fn refused_messages() {
    let first = append(&format!("{{\"tree\":{{{LEAF}}}}}"));
    for (what, count, bytes) in [("refused long keys", 50, LONG), ("refused short keys", 100_000, 10)] {
        let serve = Serve::start();
        let pair = |n: usize| format!("\"{}\":{{\"{}\":1}}", text(2 * n, bytes), text(2 * n + 1, bytes));
        let wrong = ",\"roots\":3";
        let messages = (0..40).map(|m| maps((0..count).map(|n| pair(count * m + n)), wrong));
        let taken = attack(&serve, "a", std::iter::once(first.clone()).chain(messages));
        assert!(taken <= 1, "{what}: {taken} were taken");
        serve.check(what);
    }
    let serve = Serve::start();
    let node = |n: usize| format!("{{\"name\":\"{}\",\"role\":\"{n}\",{LEAF}}}", text(n, LONG));
    let wrong = || std::iter::once("{\"name\":\"a\",\"objects\":-1}".to_owned());
    let messages = (0..40).map(|m| tree((0..100).map(|n| node(100 * m + n)).chain(wrong())));
    assert_eq!(attack(&serve, "a", messages), 0);
    serve.check("refused trees");
    // A message that a parser could blow up: values in place of others, brackets, and lists of nothing.
    let serve = Serve::start();
    let blown = [
        format!("{{\"do\":\"append\",\"time\":{{\"tree\":\"{}\"}}}}", "\u{7f}".repeat(HUGE)),
        format!("{{\"do\":\"append\",\"time\":{}", "[".repeat(HUGE)),
        format!("{{\"do\":\"replace\",\"times\":[{}1]}}", "1,".repeat(HUGE / 2)),
        format!("{{\"do\":\"append\",\"time\":{{\"nested-roles\":[{}\"\"]}}}}", "\"\",".repeat(HUGE / 3)),
        tree((0..HUGE / 12).map(|_| "{\"name\":\"\"}".to_owned())),
        tree((0..HUGE / 16).map(|_| "{\"name\":\"\\n\"}".to_owned())),
    ];
    assert_eq!(attack(&serve, "a", blown.into_iter()), 0);
    serve.check("messages that parsers blow up");
}

#[test]
fn many_clients() {
    let serve = Serve::start();
    std::thread::scope(|scope| {
        for client in 0..16 {
            let serve = &serve;
            scope.spawn(move || {
                let node = |n: usize| format!("{{\"name\":\"{}\",{LEAF}}}", text(n, 1000));
                let messages = (0..10).map(|m| tree((0..5000).map(|n| node((10 * client + m) * 5000 + n))));
                attack(serve, &format!("source {client}"), messages)
            });
        }
    });
    serve.check("sixteen clients at once");

    // Each sends most of a message and waits: nothing may be kept that is not counted.
    let serve = Serve::start();
    let mut waiting: Vec<Client> = (0..30).map(|_| serve.client("slow")).collect();
    for client in &mut waiting {
        let stream = client.0.get_mut();
        stream.tcp().set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout");
        let _ = stream.write_all(&[0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4]);
        let _ = stream.write_all(&vec![b'x'; 12 << 20]);
    }
    serve.check("thirty messages that come slowly");

    // Messages of many sizes on threads of their own, none of which is kept: nor may the allocator keep them.
    let serve = Serve::start();
    let mut clients: Vec<Client> = (0..30).map(|n| serve.client(&format!("source {n}"))).collect();
    for bytes in [5 << 20, 15 << 20, 15 << 20] {
        let message = format!("{{\"do\":\"dance\",\"steps\":[{}1]}}", "1,".repeat(bytes / 2));
        for client in &mut clients {
            assert_eq!(client.ask(&message).expect("an answer")["event"], "refused");
        }
    }
    serve.check("messages that are not kept");

    // Deep trees, whose stack is memory too, from several at once; and what is replaced again and again.
    let serve = Serve::start();
    std::thread::scope(|scope| {
        for client in 0..8 {
            let serve = &serve;
            scope.spawn(move || {
                let levels = 15_000;
                let open = "{\"name\":\"a\",\"children\":[".repeat(levels);
                let deep = format!("{{\"tree\":{open}{{\"name\":\"b\",{LEAF}}}{}}}", "]}".repeat(levels));
                attack(serve, &format!("deep {client}"), (0..5).map(|_| append(&deep)))
            });
        }
    });
    serve.check("deep trees");
    let serve = Serve::start();
    let node = |n: usize| format!("{{\"name\":\"{}\",{LEAF}}}", text(n, 100));
    let replace = |m: usize| {
        let children: Vec<String> = (0..20_000).map(|n| node(m * 20_000 + n)).collect();
        format!("{{\"do\":\"replace\",\"times\":[{{\"tree\":{{\"children\":[{}]}}}}]}}", children.join(","))
    };
    let taken = attack(&serve, "a", (0..20).map(replace));
    assert!(taken >= 10, "only {taken} of 20 lists were taken, though each fits");
    serve.check("what is replaced");
}

#[test]
fn selections() {
    let serve = Serve::start();
    // A key is a path of names: long names on many levels make a long key.
    let names: Vec<String> = (0..20).map(|n| text(n, 3000)).collect();
    let inner = format!("{{\"name\":\"leaf\",{LEAF}}}");
    let nested =
        names.iter().rev().fold(inner, |inside, name| format!("{{\"name\":\"{name}\",\"children\":[{inside}]}}"));
    let key = format!("Heap#{}", names.join("#"));
    std::thread::scope(|scope| {
        for client in 0..30 {
            let (serve, nested, key) = (&serve, &nested, &key);
            scope.spawn(move || {
                let select = json!({"do": "select", "group": key}).to_string();
                let none = json!({"do": "select", "group": null}).to_string();
                let messages = [tree(std::iter::once(nested.clone())), select.clone(), none, select];
                attack(serve, &format!("source {client}"), messages.into_iter())
            });
        }
    });
    serve.check("selections of thirty clients");
}
