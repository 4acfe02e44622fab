//! Live trees: 1,000 times of 10,000 groups, every count different each time, sent over a WebSocket as fast as they are
//! taken. How fast that is, how far the complete city lags behind, how long who draws waits at most, and the memory.
//!
//! `cargo bench --bench live --no-default-features`; with `-- small` a tenth of the times.

use memory_city_live::{Hub, LiveLimits, Server, ServerOptions};
use memory_city_testing::memory;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tungstenite::Message;

#[path = "live/message.rs"]
mod message;

use message::{GROUPS, message};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    let times = if arguments.iter().any(|a| a == "small") { 100 } else { 1000 };
    let options = ServerOptions { address: "127.0.0.1:0".into(), ..ServerOptions::default() };
    let server = Server::start(Hub::new(LiveLimits::default(), || ()), &options).expect("a server");
    let stop = Arc::new(AtomicBool::new(false));
    // Who draws: looks at the hub sixty times a second, and is told how far what is complete lags behind.
    let looking = {
        let (hub, stop) = (Arc::clone(server.hub()), Arc::clone(&stop));
        std::thread::spawn(move || {
            let (mut longest, mut behind, mut cities, mut last) = (Duration::ZERO, 0usize, 0usize, 0);
            while !stop.load(Ordering::Relaxed) {
                let begin = Instant::now();
                let status = hub.status();
                let latest = hub.latest("load");
                let _ = (hub.wishes("load"), hub.wanted());
                longest = longest.max(begin.elapsed());
                let come = status.first().map_or(0, |s| s.times);
                let complete = latest.source.as_ref().map_or(0, |s| s.timeline().times());
                behind = behind.max(come.saturating_sub(complete));
                cities += usize::from(latest.revision != last);
                last = latest.revision;
                std::thread::sleep(Duration::from_millis(16));
            }
            (longest, behind, cities)
        })
    };
    let tcp = TcpStream::connect(server.address()).expect("a connection");
    let (mut client, _) = tungstenite::client(format!("ws://{}/", server.address()), tcp).expect("a handshake");
    client.send(Message::text(r#"{"do":"hello","protocol":1,"source":"load"}"#)).expect("sent");
    client.read().expect("an answer");
    let messages: Vec<String> = (0..8).map(message).collect();
    let bytes: usize = (0..times).map(|t| messages[t % 8].len()).sum();
    let before = memory::own("VmRSS:");
    let begin = Instant::now();
    for t in 0..times {
        client.send(Message::text(messages[t % 8].as_str())).expect("sent");
        let answer = client.read().expect("an answer");
        assert!(answer.to_text().expect("text").contains("\"ack\""), "{answer}");
    }
    let taken = begin.elapsed();
    while server.hub().latest("load").source.is_none_or(|s| s.timeline().times() < times) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let lag = begin.elapsed() - taken;
    let memory = memory::own("VmRSS:").saturating_sub(before);
    stop.store(true, Ordering::Relaxed);
    let (longest, behind, cities) = looking.join().expect("who draws");
    println!("| what | |");
    println!("|---|---|");
    println!("| times of {GROUPS} groups, all counts different | {times} |");
    println!(
        "| sent, acknowledged one by one | {:.0} MB in {:.2} s: {:.0} MB/s, {:.0} times/s |",
        bytes as f64 / 1e6,
        taken.as_secs_f64(),
        bytes as f64 / 1e6 / taken.as_secs_f64(),
        times as f64 / taken.as_secs_f64()
    );
    println!("| complete city after the last acknowledgement | {:.0} ms |", lag.as_secs_f64() * 1e3);
    println!("| cities made meanwhile | {cities} |");
    println!("| furthest behind | {behind} times |");
    println!("| longest wait of who draws | {:.2} ms |", longest.as_secs_f64() * 1e3);
    println!(
        "| memory at the end | {} MB for {:.1} million counts |",
        memory >> 10,
        times as f64 * GROUPS as f64 / 1e6
    );
}
