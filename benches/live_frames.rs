//! The viewer while trees come as fast as they are taken: 1,000 times of 10,000 groups from a client on the same two cores.
//! How long frames take meanwhile, against frames of the same city when nothing comes; software GPU, 1280x720.
//!
//! `cargo bench --bench live_frames`; with `-- small` a tenth of the times.

use memory_city::viewer::capture::Studio;
use memory_city::viewer::city::Shown;
use memory_city::viewer::live::{ListenOptions, Listening};
use memory_city_live::{LiveLimits, ServerOptions};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

#[path = "live/message.rs"]
mod message;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    let times = if arguments.iter().any(|a| a == "small") { 100 } else { 1000 };
    let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
    let server = ServerOptions { address: "127.0.0.1:0".into(), ..ServerOptions::default() };
    let listening = Listening::at_once(Some(ListenOptions { limits: LiveLimits::default(), server }));
    studio.app().world_mut().insert_resource(listening);
    studio.frame();
    let (address, _) = studio.app().world().resource::<Listening>().address().expect("it listens");
    let stream = TcpStream::connect(address.trim_start_matches("ws://")).expect("a connection");
    let mut client = tungstenite::client(format!("{address}/"), stream).expect("a handshake").0;
    say(&mut client, r#"{"do":"hello","protocol":1,"source":"load"}"#);
    let messages: Vec<String> = (0..8).map(message::message).collect();
    say(&mut client, &messages[0]);
    while shown(&mut studio) < 1 {
        studio.frame();
    }
    let quiet = (0..60).map(|_| frame(&mut studio)).collect();

    let sender = std::thread::spawn(move || {
        let begun = Instant::now();
        (1..times).for_each(|t| say(&mut client, &messages[t % 8]));
        begun.elapsed()
    });
    let begun = Instant::now();
    let mut loaded = Vec::new();
    while !sender.is_finished() {
        loaded.push(frame(&mut studio));
    }
    let taken = sender.join().expect("all were taken");
    while shown(&mut studio) < times {
        loaded.push(frame(&mut studio));
    }
    let complete = begun.elapsed().saturating_sub(taken);
    let (quiet, busy) = (sorted(quiet), sorted(loaded));
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    println!("| frames of a city of {} groups | median | 99 % within | |", message::GROUPS);
    println!("|---|---|---|---|");
    for (what, frames) in [("nothing comes", &quiet), ("trees come as fast as they are taken", &busy)] {
        let (median, late) = (frames[frames.len() / 2], frames[frames.len() - 1 - frames.len() / 100]);
        println!(
            "| {what} ({} frames) | {:.0} ms | {:.0} ms | {:.2}x |",
            frames.len(),
            ms(median),
            ms(late),
            ms(median) / ms(quiet[quiet.len() / 2])
        );
    }
    println!(
        "\n{times} times in {:.1} s; the complete city is on screen {:.1} s after the last acknowledgement",
        taken.as_secs_f64(),
        complete.as_secs_f64()
    );
}

fn frame(studio: &mut Studio) -> Duration {
    let begun = Instant::now();
    studio.frame();
    begun.elapsed()
}

fn sorted(mut frames: Vec<Duration>) -> Vec<Duration> {
    frames.sort();
    frames
}

fn shown(studio: &mut Studio) -> usize {
    studio.app().world().resource::<Shown>().0.as_ref().map_or(0, |city| city.times())
}

fn say(client: &mut WebSocket<TcpStream>, message: &str) {
    client.send(Message::text(message)).expect("sent");
    while !client.read().expect("an answer").to_text().expect("text").contains("\"ack\"") {}
}
