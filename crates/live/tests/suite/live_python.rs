//! The live protocol spoken by a client that is not ours: Python's `websockets`, which replays the transcript of
//! docs/live-protocol.md word for word.

use memory_city_live::{Hub, LiveLimits, Server, ServerOptions};
use memory_city_testing::{python, root};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn the_transcript_and_many_messages_at_once() {
    let Some(python) = python::with_package("websockets.sync.client") else { return };
    let root = root();
    let page = std::fs::read_to_string(root.join("docs/live-protocol.md")).expect("the page");
    let transcript = page.split("```transcript\n").nth(1).and_then(|t| t.split("```").next()).expect("a transcript");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("transcript");
    std::fs::write(&file, transcript).expect("a file");
    let options = ServerOptions { address: "127.0.0.1:0".into(), ..ServerOptions::default() };
    let server = Server::start(Hub::new(LiveLimits::default(), || ()), &options).expect("a server");
    let run = Command::new(python)
        .arg(root.join("tests/python/replay.py"))
        .arg(format!("ws://{}", server.address()))
        .arg(&file)
        .output()
        .expect("Python");
    assert!(run.status.success(), "{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    for name in ["python 0", "python 1", "python 2"] {
        let until = Instant::now() + Duration::from_secs(60);
        let city = loop {
            let latest = server.hub().latest(name).source.filter(|s| s.timeline().times() == 200);
            if let Some(city) = latest {
                break city;
            }
            assert!(Instant::now() < until, "{:?}", server.hub().status());
            std::thread::sleep(Duration::from_millis(10));
        };
        let node = city.find("Heap#Type ü 49").expect("a group");
        assert_eq!(city.timeline().amount(199, node).objects, 200 * 49);
    }
}
