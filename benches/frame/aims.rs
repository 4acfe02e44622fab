//! Aims as ratios between measurements, independent of the speed of the machine. Missed ones are listed at the end and
//! make the benchmark fail.

use std::process::ExitCode;

/// What was missed so far.
#[derive(Default)]
pub struct Aims(Vec<String>);

impl Aims {
    /// `is` may be `most`.
    pub fn most(&mut self, what: &str, is: f64, most: f64) {
        // What is no number holds nothing.
        if is.is_nan() || is > most {
            self.0.push(format!("{what}: {is:.3}, where {most} is wanted"));
        }
    }

    /// How the process ends.
    pub fn end(self) -> ExitCode {
        self.0.iter().for_each(|missed| eprintln!("missed: {missed}"));
        match self.0.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }
}
