//! The rules for references: which of them keep their target alive.

use crate::Strength;

/// The rules for the referents of reference objects. All other references keep their target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeepRules {
    /// Soft references keep their referents, as they do in a running VM that has memory left.
    pub soft: bool,
    /// Weak, phantom and finalizer references keep theirs. They do not in the VM: for comparison with tools that do not
    /// tell references apart.
    pub weak: bool,
    /// If true, the VM holds the classes whose loaders are never unloaded, as in HotSpot. Otherwise the dump's roots alone count, which
    /// name such classes only of the bootstrap loader: then a class loader owns the objects of its classes' static fields.
    pub permanent_classes: bool,
    /// If true, an instance keeps its class, as in the VM. Otherwise its loader does, and referrers of the class object.
    pub instances_keep_classes: bool,
    /// If true, local variables and locks count as roots of objects that something else keeps, too. Otherwise they keep only objects that
    /// nothing else does: a method that works on a collection while a dump is taken does not own it. The live objects are the same.
    pub passing_roots: bool,
}

impl Default for KeepRules {
    /// The rules of a running VM: soft references keep, weaker ones do not.
    fn default() -> Self {
        KeepRules {
            soft: true,
            weak: false,
            permanent_classes: true,
            instances_keep_classes: true,
            passing_roots: true,
        }
    }
}

impl KeepRules {
    /// Soft references keep as little as weak ones.
    pub const SOFT_AS_WEAK: KeepRules = KeepRules {
        soft: false,
        weak: false,
        permanent_classes: true,
        instances_keep_classes: true,
        passing_roots: true,
    };

    /// The same rules for ownership: roots that hold an object for a moment count only for objects that nothing else keeps.
    pub fn for_owners(self) -> KeepRules {
        KeepRules { passing_roots: false, ..self }
    }

    /// Whether a referent of this strength is kept.
    #[inline]
    pub fn keeps(self, strength: Strength) -> bool {
        match strength {
            Strength::Soft => self.soft,
            Strength::Weak | Strength::Phantom | Strength::Finalizer => self.weak,
        }
    }
}
