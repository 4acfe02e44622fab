//! Which references keep what they refer to alive.

use crate::Strength;

/// What the referents of reference objects count for. All other references keep what they refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeepRules {
    /// Soft references keep their referents, as they do in a running VM that has memory left.
    pub soft: bool,
    /// Weak, phantom and finalizer references keep theirs. They do not in the VM: for comparison with tools that do not
    /// tell references apart.
    pub weak: bool,
}

impl Default for KeepRules {
    /// As a running VM: soft references keep, weaker ones do not.
    fn default() -> Self {
        KeepRules { soft: true, weak: false }
    }
}

impl KeepRules {
    /// Soft references keep as little as weak ones.
    pub const SOFT_AS_WEAK: KeepRules = KeepRules { soft: false, weak: false };

    /// Whether a referent of this strength is kept.
    #[inline]
    pub fn keeps(self, strength: Strength) -> bool {
        match strength {
            Strength::Soft => self.soft,
            Strength::Weak | Strength::Phantom | Strength::Finalizer => self.weak,
        }
    }
}
