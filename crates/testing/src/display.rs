//! A display of its own for a real window, and what the program in it says. Needs Xvfb.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// A process that ends with who started it.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A display without a screen, as long as its server runs.
pub struct Display {
    /// What programs find it by: `:7`.
    pub name: String,
    pub server: Running,
}

impl Display {
    pub fn start((width, height): (u32, u32)) -> Display {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &format!("{width}x{height}x24"), "-nolisten", "tcp"])
            // It would begin anew when the last client leaves, and refuse the next one meanwhile.
            .arg("-noreset")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb (apt-get install xvfb)");
        // It chooses a display that is free, and says which when it is ready.
        let mut number = String::new();
        let said = server.stdout.take().expect("its output");
        BufReader::new(said).read_line(&mut number).expect("the number of a display");
        Display { name: format!(":{}", number.trim()), server: Running(server) }
    }
}

/// What somebody says, line by line, as long as anybody listens.
pub fn lines_of(said: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut all = BufReader::new(said).lines().map_while(Result::ok);
        all.try_for_each(|line| sender.send(line))
    });
    lines
}
