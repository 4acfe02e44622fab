//! Passes are good for one connection each, for programs of the same user. A stranger in a city's place gets nothing.

use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::json::TreesOfRecording;
use memory_city_analysis::timeline::{RecordingFolder, Source};
use memory_city_heap::progress::Progress;
use memory_city_live::{Hub, LiveLimits, PushOptions, Server, ServerOptions, has_pass, push, times_there};
use memory_city_testing::root;
use memory_city_testing::websocket;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tungstenite::Message;

fn start(address: &str, passes: &Path, only_passes: bool) -> Server {
    let options = ServerOptions {
        address: address.into(),
        passes: Some(passes.to_owned()),
        only_passes,
        ..ServerOptions::default()
    };
    Server::start(Hub::new(LiveLimits { memory_bytes: 1 << 28, ..LiveLimits::default() }, || ()), &options)
        .expect("a server")
}

/// What is in the file of a server: token and proof.
fn pass_of(folder: &Path) -> (PathBuf, String, String) {
    let mut files = std::fs::read_dir(folder).expect("the folder").flatten().map(|e| e.path());
    let file = files.next().expect("a pass");
    assert_eq!(files.next(), None, "one server has one");
    let text = std::fs::read_to_string(&file).expect("the pass");
    let (token, proof) = text.trim().split_once('\n').expect("two lines");
    (file, token.to_owned(), proof.to_owned())
}

/// Says hello: the answer, or the code that the server closes with.
fn hello(server: &Server, token: Option<&str>) -> Result<Value, u16> {
    let mut client = websocket::connect(&format!("ws://{}/", server.address()), Duration::from_secs(60));
    let hello = json!({"do": "hello", "protocol": 1, "source": "shop", "token": token});
    client.send(Message::text(hello.to_string())).expect("sent");
    loop {
        match client.read().expect("an answer") {
            Message::Text(text) => return Ok(serde_json::from_str(text.as_str()).expect("JSON")),
            Message::Close(frame) => return Err(frame.map_or(0, |frame| frame.code.into())),
            _ => {}
        }
    }
}

fn lines() -> Source {
    let path = root().join("sample-data/json/lines.jsonl");
    Source::open(&[path], "auto", GroupOptions::default(), &Progress::new()).expect("a source")
}

fn to(server: &Server, passes: &Path) -> PushOptions {
    PushOptions {
        address: server.address().to_string(),
        source: "shop".into(),
        passes: Some(passes.to_owned()),
        only_known: true,
        ..PushOptions::default()
    }
}

#[test]
fn a_pass_is_good_for_one_connection() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("cache/live");
    let server = start("127.0.0.1:0", &folder, true);
    let (file, token, proof) = pass_of(&folder);
    #[cfg(unix)]
    for (path, mode) in [(&folder, 0o700), (&file, 0o600)] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(path).expect("there").permissions().mode() & 0o777, mode);
    }
    for wrong in [None, Some("wrong"), Some(""), Some(proof.as_str())] {
        assert_eq!(hello(&server, wrong), Err(4001), "{wrong:?}");
    }
    assert_eq!(hello(&server, Some(&token)).expect("let in")["proof"], json!(proof));
    assert_eq!(hello(&server, Some(&token)), Err(4001), "it is used up");
    let (_, next, next_proof) = pass_of(&folder);
    assert!(next != token && next_proof != proof);
    assert_eq!(hello(&server, Some(&next)).expect("let in")["proof"], json!(next_proof));
    drop(server);
    assert!(!file.exists(), "nobody is let in any more");
}

/// Each sending is a connection of its own, also several at a time, and with a server that was started again.
#[test]
fn programs_of_the_user_find_their_way_again_and_again() {
    let temporary = tempfile::tempdir().expect("a folder");
    let server = start("127.0.0.1:0", temporary.path(), true);
    let (options, source) = (to(&server, temporary.path()), lines());
    let address = server.address().to_string();
    for _ in 0..3 {
        push(&source, &options, &Progress::new()).expect("sent");
    }
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (options, source) = (PushOptions { source: format!("shop {n}"), ..options.clone() }, &source);
            scope.spawn(move || push(source, &options, &Progress::new()).expect("sent"));
        }
    });
    let times = source.timeline().times();
    assert_eq!(times_there(&options, &Progress::new()).expect("known"), times);
    drop(server);
    // The port is free again in a moment.
    let listens = |_| {
        std::thread::sleep(Duration::from_millis(100));
        let options = ServerOptions {
            address: address.clone(),
            passes: Some(temporary.path().to_owned()),
            only_passes: true,
            ..ServerOptions::default()
        };
        Server::start(Hub::new(LiveLimits { memory_bytes: 1 << 28, ..LiveLimits::default() }, || ()), &options).ok()
    };
    let _again = (0..100).find_map(listens).expect("a server at the same place");
    assert_eq!(times_there(&options, &Progress::new()).expect("known"), 0, "it knows nothing yet");
    push(&source, &options, &Progress::new()).expect("sent");
    assert_eq!(times_there(&options, &Progress::new()).expect("known"), times);
}

/// Another program listens where a city was whose pass is still there; or where none of this user ever was.
#[test]
fn what_stands_in_the_place_of_a_city_is_told_nothing() {
    let temporary = tempfile::tempdir().expect("a folder");
    let (mine, other) = (temporary.path().join("mine"), temporary.path().join("other"));
    let server = start("127.0.0.1:0", &other, false);
    let refused =
        push(&lines(), &to(&server, &mine), &Progress::new()).expect_err("nothing is known of it").to_string();
    assert!(refused.contains("no city of this user"), "{refused}");
    assert!(!has_pass(&mine, &[server.address()]) && has_pass(&other, &[server.address()]));
    // It takes any token, as servers on loopback do that ask for none.
    std::fs::create_dir(&mine).expect("a folder");
    let left = mine.join(pass_of(&other).0.file_name().expect("a name"));
    std::fs::write(&left, "token\nproof\n").expect("left behind");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert!(push(&lines(), &to(&server, &mine), &Progress::new()).is_err(), "others may have written that");
        std::fs::set_permissions(&left, std::fs::Permissions::from_mode(0o600)).expect("private");
    }
    let refused = push(&lines(), &to(&server, &mine), &Progress::new()).expect_err("it proves nothing").to_string();
    assert!(refused.contains("does not know the pass"), "{refused}");
    assert!(server.hub().status().iter().all(|source| source.times == 0), "no time was sent");
    // Whoever names the server and its token knows what it is.
    let named = PushOptions { token: Some("any".into()), ..to(&server, &mine) };
    push(&lines(), &named, &Progress::new()).expect("sent");
}

/// A token is good again and again, a pass once. If there is a pass, no token is sent.
#[test]
fn a_token_is_told_only_where_there_is_no_pass() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("live");
    let server = start("127.0.0.1:0", &folder, true);
    // No token at all is good there: what lets the client in are passes, each another one, also after it has been used by somebody else.
    let options = PushOptions { token: Some("of another server".into()), ..to(&server, &folder) };
    let source = lines();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        assert!(seen.insert(pass_of(&folder).1));
        push(&source, &options, &Progress::new()).expect("sent");
        let used = seen.last().expect("one").clone();
        assert_eq!(hello(&server, Some(&used)), Err(4001), "a used one is refused");
    }
    assert!(seen.insert(pass_of(&folder).1));
    // Where there is no pass, the token has to do; a wrong one is refused with what to do.
    let elsewhere = PushOptions { passes: Some(temporary.path().join("other")), ..options };
    let refused = push(&source, &elsewhere, &Progress::new()).expect_err("it is wrong").to_string();
    assert!(refused.contains("was used before: take the server's, or read its pass anew"), "{refused}");
}

/// Only clients with a pass or the token may name the recording of their trees. Trees of others are taken without it.
#[test]
fn only_known_clients_name_a_recording() {
    let temporary = tempfile::tempdir().expect("a folder");
    let recording = RecordingFolder { folder: "/traces/shop".into(), recording: *b"0123456789abcdef" };
    let trees = TreesOfRecording { recording: recording.clone(), grouping: "package-type".into() };
    let (times, source) = (lines().timeline().times(), lines());
    let named_by = |server: &Server, options: PushOptions| {
        let options = PushOptions { recording: Some(trees.clone()), ..options };
        push(&source, &options, &Progress::new()).expect("sent");
        let begun = std::time::Instant::now();
        loop {
            match server.hub().latest("shop").source.filter(|city| city.timeline().times() == times) {
                Some(city) => return city.sent_recording().cloned(),
                None => assert!(begun.elapsed() < Duration::from_secs(60), "no city"),
            }
        }
    };
    let with_pass = start("127.0.0.1:0", &temporary.path().join("one"), true);
    let options = to(&with_pass, &temporary.path().join("one"));
    assert_eq!(named_by(&with_pass, options), Some(recording.clone()));
    // A server that asks for nothing knows nobody, whatever they give.
    let open = start("127.0.0.1:0", &temporary.path().join("two"), false);
    let anybody = PushOptions { token: Some("any".into()), ..to(&open, &temporary.path().join("none")) };
    assert_eq!(named_by(&open, anybody), None);
    let options =
        ServerOptions { address: "127.0.0.1:0".into(), token: Some("secret".into()), ..ServerOptions::default() };
    let limits = LiveLimits { memory_bytes: 1 << 28, ..LiveLimits::default() };
    let with_token = Server::start(Hub::new(limits, || ()), &options).expect("a server");
    let known = PushOptions { token: Some("secret".into()), ..to(&with_token, &temporary.path().join("none")) };
    assert_eq!(named_by(&with_token, known), Some(recording));
}

#[test]
fn passes_are_for_this_machine_alone() {
    let temporary = tempfile::tempdir().expect("a folder");
    let beyond = |only_passes| {
        let options = ServerOptions {
            address: "0.0.0.0:0".into(),
            passes: Some(temporary.path().join("live")),
            only_passes,
            ..ServerOptions::default()
        };
        Server::start(Hub::new(LiveLimits::default(), || ()), &options)
    };
    assert!(beyond(true).err().expect("refused").to_string().contains("this machine alone"));
    let server = beyond(false).expect("a server");
    assert!(server.token().is_some() && !temporary.path().join("live").exists());
    // Where none can be written a server without them is one all the same; one that has nothing else is none.
    let file = temporary.path().join("file");
    std::fs::write(&file, "x").expect("written");
    let options =
        ServerOptions { address: "127.0.0.1:0".into(), passes: Some(file.join("live")), ..ServerOptions::default() };
    assert!(Server::start(Hub::new(LiveLimits::default(), || ()), &options).is_ok());
    let options = ServerOptions { only_passes: true, ..options };
    assert!(Server::start(Hub::new(LiveLimits::default(), || ()), &options).is_err());
}
