//! Messages about other files and warnings beside an opened input, for the command line and the window.

/// Says in short that so many files were not part of the opened input.
pub fn other_files(count: usize) -> String {
    if count == 1 { "1 other file".to_owned() } else { format!("{count} other files") }
}

/// Heading before the names of these files.
pub const OTHER_FILES: &str = "Not part of what is shown, and nothing is missing for it:";
/// Heading before warnings.
pub const INCOMPLETE: &str = "What is shown may be incomplete:";
