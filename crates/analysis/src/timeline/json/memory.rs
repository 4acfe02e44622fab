//! Accounting of memory for memory trees, before they are kept.
//!
//! A server that lets strangers add to trees must know the cost of each addition in advance, in the worst case and with all copies. The
//! numbers here are for the most loaded moment. For live trees that is when one timeline is drawn, a newer one is ready, and a third is
//! being built from a copy of the columns. They are sums over the columns of each structure, with room for vectors and tables that double
//! as they grow; `tests/growing_memory.rs` compares them with real allocations.

use super::columns::NodeColumns;
use memory_city_heap::error::Error;

/// Grants memory before something is kept. Granted memory stays granted until the owner takes it back.
pub trait Grant {
    /// True if there is room for so many bytes more. `false` changes nothing.
    fn more(&mut self, bytes: u64) -> bool;
}

/// The memory that reading may take without asking again.
pub(super) struct Credit<'c> {
    grant: Option<&'c mut dyn Grant>,
    left: u64,
}

/// So much is asked for at a time, so that the lock behind a [`Grant`] is taken rarely.
const PORTION: u64 = 64 << 10;

impl<'c> Credit<'c> {
    /// Grants `bytes` in all.
    pub fn within(bytes: u64) -> Self {
        Credit { grant: None, left: bytes }
    }

    /// Asks `grant`.
    pub fn of(grant: &'c mut dyn Grant) -> Self {
        Credit { grant: Some(grant), left: 0 }
    }

    /// Takes so many bytes, or nothing if they are not granted.
    #[inline]
    pub fn take(&mut self, bytes: u64) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => self.ask(bytes),
        }
    }

    #[cold]
    fn ask(&mut self, bytes: u64) -> bool {
        let Some(grant) = &mut self.grant else { return false };
        let missing = bytes - self.left;
        if grant.more(missing + PORTION) {
            self.left = PORTION;
        } else if grant.more(missing) {
            self.left = 0;
        } else {
            return false;
        }
        true
    }
}

/// Why something was not kept.
pub(super) fn no_room() -> Error {
    Error::Unusable {
        what: "There is no memory for it: with it, what has come would take more than it may".into(),
        remedy: "Clear the source or another one, or give more memory (--max-memory)".into(),
    }
}

/// Bytes while a node is read: its columns twice, as vectors double, and the work of settling and matching it.
pub(super) const READ_NODE: u64 = 320;

/// Bytes while a pair of groups or a root is read.
pub(super) const READ_PAIR: u64 = 80;

/// Bytes of a text that is not a slice of the message, because it was written with escapes, without its characters; also those of an entry
/// in a list of texts.
pub(super) const READ_TEXT: u64 = 64;

/// Bytes of a key in a reference map that is new, without its characters.
pub(super) const READ_KEY: u64 = 256;

/// How much of something there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    /// Nodes of all times together.
    pub nodes: u64,
    /// How often a node's counts became others.
    pub changes: u64,
    /// Different texts of nodes.
    pub texts: u64,
    /// Bytes of those texts.
    pub text_bytes: u64,
    /// Bytes of the names that are made up for siblings of one name.
    pub made_up: u64,
    /// Points in time.
    pub times: u64,
    /// Bytes of their labels and causes.
    pub time_text: u64,
    /// Pairs of groups in reference maps, and roots.
    pub pairs: u64,
    /// Different keys in reference maps.
    pub keys: u64,
    /// Bytes of those keys.
    pub key_bytes: u64,
}

/// The cost of one of each, bytes.
pub(super) struct Costs {
    node: u64,
    change: u64,
    text: u64,
    /// For each byte of a made-up name.
    made_up: u64,
    time: u64,
    /// For each byte of a label.
    time_text: u64,
    pair: u64,
    key: u64,
}

/// Trees that were read from files: the columns, and one timeline made of them in the end. See the table of [`LIVE`]; there is no
/// copy, and each time has its label and point once more while the timeline is made.
pub(super) const OF_FILES: Costs =
    Costs { node: 260, change: 44, text: 92, made_up: 2, time: 1100, time_text: 3, pair: 100, key: 160 };

/// Bytes of a node in the tree that was read, while it is added: its columns, and what settling needs.
pub(super) const COLUMNS_OF_NODE: u64 = 144;

/// Trees that come live: the columns, a copy of them that is being finished, and three timelines.
///
/// | | columns | copy, while it is finished | each timeline |
/// |---|---|---|---|
/// | node | 36 twice, found by 72 | 16, 48 of scratch | 68, 40 for shared names, 48 for a key of its own |
/// | change | 24 | none: shared | 20 |
/// | text | 32, 24 in a list, found by 36 | 60 | none: shared |
/// | time | 320 twice | 320 | 160 |
/// | pair | 32 twice | 32 twice | 36 |
/// | key | 32, 24 in a list, found by 36 | 60, 12 | 16 |
pub(super) const LIVE: Costs =
    Costs { node: 640, change: 92, text: 200, made_up: 5, time: 1600, time_text: 7, pair: 240, key: 256 };

impl Amounts {
    /// The cost of all of it, bytes.
    pub(super) fn cost(&self, costs: &Costs) -> u64 {
        self.nodes * costs.node
            + self.changes * costs.change
            + self.texts * costs.text
            + self.text_bytes
            + self.made_up * costs.made_up
            + self.times * costs.time
            + self.time_text * costs.time_text
            + self.pairs * costs.pair
            + self.keys * costs.key
            + self.key_bytes
    }

    /// The most that a tree can add: every node and every text of it is new.
    pub(super) fn most_of(tree: &NodeColumns<'_>) -> Amounts {
        let nodes = tree.len() as u64;
        let names: u64 = tree.name.iter().map(|name| name.len() as u64).sum();
        let keys: u64 = tree.key.iter().flatten().map(|key| key.len() as u64).sum();
        let roles: u64 = tree.roles.iter().map(|role| role.len() as u64).sum();
        let keyed = tree.key.iter().flatten().count() as u64;
        let of_roles: u64 = (0..tree.len()).filter_map(|n| tree.role(n)).map(|role| role.len() as u64).sum();
        Amounts {
            nodes,
            // A node of the last tree that is not in this one changes too: it was a node then.
            changes: nodes,
            texts: nodes + keyed + tree.roles.len() as u64 + 2,
            text_bytes: names + keys + roles,
            made_up: 2 * (names + keys + of_roles + 8 * nodes),
            ..Amounts::default()
        }
    }
}
