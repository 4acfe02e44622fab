//! The recorder's own trace format: its reader and writer.
//!
//! A recorder runs inside other people's programs, so what it links must be small: this crate may have fewer than ten
//! dependencies, theirs included (`tests/workspace.rs` of the application counts them), and none of ours. It knows bytes
//! and columns of numbers; it knows no heap, no group and no picture.
//!
//! # Example
//! ```
//! let file = [&memory_city_wire::MAGIC[..], b"rest of the file"].concat();
//! assert!(memory_city_wire::is_wire(&file));
//! assert!(!memory_city_wire::is_wire(b"JAVA PROFILE 1.0.2"));
//! ```

/// The first bytes of every file in this format: none of them can begin a text, and line ends that a transfer changed show.
pub const MAGIC: [u8; 8] = *b"\x93MCITY\r\n";

/// Whether these are the first bytes of a file in this format.
pub fn is_wire(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}
