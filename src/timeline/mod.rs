//! Memory trees over time: one tree of nodes matched by key, with objects and bytes per node and point in time.
//!
//! A [`Timeline`] is everything the city needs to know. It knows no object: what refers to what is asked of
//! [`references`], which goes back to the heap states.

use std::collections::HashMap;

/// A node of a timeline. Node 0 is the root, the whole heap. Parents come before their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The whole heap.
    pub const ROOT: NodeId = NodeId(0);
    /// As an index into columns.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Number of objects.
    #[default]
    Objects,
    /// Bytes as the runtime accounts for them.
    Bytes,
}

/// Objects and bytes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub struct Amount {
    /// Number of objects.
    pub objects: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Amount {
    /// The chosen one.
    pub fn get(self, metric: Metric) -> u64 {
        match metric {
            Metric::Objects => self.objects,
            Metric::Bytes => self.bytes,
        }
    }
}

/// A point in time of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TimePoint {
    /// Short label for people, such as the file name.
    pub label: String,
    /// Milliseconds since the Unix epoch; 0 when the source does not say.
    pub millis: u64,
    /// Objects and bytes that are not reachable from any root (garbage in the dump), counted apart.
    pub unreachable: Amount,
}
