//! A browser without a window, driven as a person would: real mouse and key events, and questions to the page. Over the
//! browser's own debugging protocol (JSON in a WebSocket on this machine).

use crate::websocket::{self, Repeating};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// How long the browser may take for anything: only a hang takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page. Dropped, it ends.
pub struct Browser {
    process: Child,
    socket: WebSocket<Repeating>,
    session: String,
    number: u64,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium with a page of this size in pixels, which has no way to the network.
    ///
    /// `None` if there is no Chromium here.
    ///
    /// # Panics
    /// If `MEMORY_CITY_REQUIRE_BROWSER` is set and there is none, or if it does not start.
    pub fn start(width: u32, height: u32) -> Option<Browser> {
        let profile = tempfile::tempdir().expect("a folder");
        let process = ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| {
            Command::new(name)
                .args(["--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"])
                .args(["--remote-debugging-port=0", "--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run"])
                .arg(format!("--user-data-dir={}", profile.path().display()))
                .arg(format!("--window-size={width},{height}"))
                .arg("about:blank")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .ok()
        });
        let Some(process) = process else {
            assert!(
                std::env::var_os("MEMORY_CITY_REQUIRE_BROWSER").is_none(),
                "there is no Chromium: `make setup-test`"
            );
            eprintln!("skipped: there is no Chromium here");
            return None;
        };
        // It writes port and path once it listens.
        let said = wait("the browser to listen", || {
            let text = std::fs::read_to_string(profile.path().join("DevToolsActivePort")).ok()?;
            let mut lines = text.lines();
            Some((lines.next()?.parse::<u16>().ok()?, lines.next()?.to_owned()))
        });
        let socket = websocket::connect(&format!("ws://127.0.0.1:{}{}", said.0, said.1), PATIENCE);
        let mut browser = Browser { process, socket, session: String::new(), number: 0, _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session =
            browser.call("Target.attachToTarget", attach)["sessionId"].as_str().expect("a session").to_owned();
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", metrics);
        Some(browser)
    }

    /// Opens a file and waits until it says that it is ready (`data-ready` of its root), or that it failed.
    pub fn open(&mut self, file: &Path) {
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        self.until(
            "the page to be ready",
            "document.documentElement?.dataset.ready === 'yes' || document.getElementById('failed')?.hidden === false",
        );
        assert_eq!(self.ask("document.getElementById('failed').textContent"), json!(""));
    }

    /// The value of a JavaScript expression.
    pub fn ask(&mut self, expression: &str) -> Value {
        let answer = self
            .call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, what: &str, expression: &str) {
        wait(what, || (self.ask(expression) == json!(true)).then_some(()));
    }

    /// Moves the mouse to a place, in pixels of the page.
    pub fn point(&mut self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Clicks there.
    pub fn click(&mut self, x: f64, y: f64) {
        self.point(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key by its name in browsers: `ArrowLeft`, `/`, `Enter`.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": key, "text": text }));
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Types a text into what has the focus.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// A picture of the page, as PNG in base64.
    pub fn picture(&mut self) -> String {
        self.call("Page.captureScreenshot", json!({ "format": "png" }))["data"].as_str().unwrap_or_default().to_owned()
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(message.to_string())).expect("the browser listens");
        loop {
            let answer = self.socket.read().expect("the browser answers");
            let Ok(text) = answer.to_text() else { continue };
            let Ok(answer) = serde_json::from_str::<Value>(text) else { continue };
            if answer["id"] == json!(self.number) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn wait<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
