//! Which references keep what they refer to alive.

use crate::{HeapType, Strength};

/// What the referents of reference objects count for. All other references keep what they refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeepRules {
    /// Soft references keep their referents, as they do in a running VM that has memory left.
    pub soft: bool,
    /// Weak, phantom and finalizer references keep theirs. They do not in the VM: for comparison with tools that do not
    /// tell references apart.
    pub weak: bool,
    /// Classes whose loader the VM never lets go of are held by the VM, as they are in HotSpot. Otherwise the dump's roots
    /// alone count, which name such classes only of the bootstrap loader: then a class loader owns what its classes'
    /// static fields hold.
    pub permanent_classes: bool,
    /// An instance keeps its class, as in the VM. Otherwise its loader does, and whoever refers to the class object.
    pub instances_keep_classes: bool,
    /// Local variables and locks count as roots also of what is kept without them. Otherwise they keep what nothing else
    /// does: a method that works on a collection while a dump is taken does not own it. What is alive is the same.
    pub passing_roots: bool,
}

impl Default for KeepRules {
    /// As a running VM: soft references keep, weaker ones do not.
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

/// Loaders that live as long as the VM (HotSpot: the built-in loaders), by the beginnings of their names.
const PERMANENT_LOADERS: [&str; 4] = [
    "bootstrap",
    "jdk.internal.loader.ClassLoaders$",
    "sun.misc.Launcher$AppClassLoader",
    "sun.misc.Launcher$ExtClassLoader",
];

/// Whether a type is never unloaded. Hidden classes, which have an address in their name, come and go also with such
/// loaders.
pub(super) fn is_permanent(of: &HeapType) -> bool {
    let hidden = of.name.rfind("0x").is_some_and(|at| of.name[..at].ends_with(['/', '.', '+']));
    !hidden && PERMANENT_LOADERS.iter().any(|loader| of.loader.starts_with(loader))
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

    /// The same for who owns what: of roots that hold an object for a moment, those alone that nothing else stands for.
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
