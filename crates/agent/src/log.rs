//! Messages of the recorder.

use std::io::Write;

/// Writes one line for the user of the program, with any content. If it cannot be written, nothing happens.
pub(crate) fn log(line: &str) {
    let mut text = String::from("memory-city: ");
    for c in line.chars() {
        match c.is_control() {
            true => text.extend(c.escape_default()),
            false => text.push(c),
        }
    }
    text.push('\n');
    let _ = std::io::stderr().write_all(text.as_bytes());
}
