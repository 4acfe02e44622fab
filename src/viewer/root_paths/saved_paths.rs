//! The shown ways as view files keep them: by keys and names, since numbers of groups are those of one run.

use super::found_paths::{CutChoice, MOST_STEPS};
use memory_city_analysis::ownership::{WayKind, WayQuestion};
use memory_city_heap::ownership::KeepRules;
use serde::{Deserialize, Serialize};

/// The ways, and their cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SavedPaths {
    /// Keys of the groups that they lead to.
    pub groups: Vec<String>,
    kind: KeptKind,
    /// Percent of the groups' objects that must be reached through a step.
    share: u64,
    /// The cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutChoice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KeptKind {
    Interesting,
    Shortest,
    Owners,
}

impl SavedPaths {
    pub(super) fn new(groups: Vec<String>, kind: WayKind, share: u64, cut: Option<CutChoice>) -> SavedPaths {
        let kind = match kind {
            WayKind::Interesting => KeptKind::Interesting,
            WayKind::Shortest => KeptKind::Shortest,
            WayKind::Owners => KeptKind::Owners,
        };
        SavedPaths { groups, kind, share, cut }
    }

    /// The question that finds them again.
    pub fn question(&self) -> WayQuestion {
        let kind = match self.kind {
            KeptKind::Interesting => WayKind::Interesting,
            KeptKind::Shortest => WayKind::Shortest,
            KeptKind::Owners => WayKind::Owners,
        };
        WayQuestion { kind, share: self.share.min(100), most: MOST_STEPS, rules: KeepRules::default() }
    }
}
