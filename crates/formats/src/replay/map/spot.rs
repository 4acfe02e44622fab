//! Places in the map of objects.

use super::PLACES;
use crate::event::ObjectKey;

/// Set in the pages of objects that are known by an id: pages of addresses, and of ids without it, have 55 bits.
const IDS: u64 = 1 << 55;
const MASK: u64 = (1 << PLACES) - 1;

/// A page of the directory, and a place in its leaf. Pages of addresses come before those of ids, each in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(super) page: u64,
    pub(super) place: u32,
}

impl Spot {
    /// The page.
    pub(crate) fn page(self) -> u64 {
        self.page
    }
}

/// How far apart the addresses are that an object can have, as a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpotUnit {
    shift: u32,
    /// The bits of an address that say that no object is there.
    mask: u64,
}

impl SpotUnit {
    /// The unit for objects that are aligned to so many bytes: a power of two. More than a page is of no use.
    pub(crate) fn of(alignment: u32) -> SpotUnit {
        let shift = alignment.max(1).trailing_zeros().min(12);
        SpotUnit { shift, mask: (1 << shift) - 1 }
    }

    /// The same as a shift.
    pub(crate) fn shift(self) -> u32 {
        self.shift
    }

    /// Bytes of heap that a leaf covers, as a shift.
    pub(crate) fn leaf_shift(self) -> u32 {
        self.shift + PLACES
    }

    /// Whether an object can be at an address.
    #[inline(always)]
    pub(crate) fn fits(self, address: u64) -> bool {
        address & self.mask == 0
    }

    /// Where an object with a key is kept; `None` when no object can have it.
    #[inline(always)]
    pub(crate) fn spot(self, key: ObjectKey) -> Option<Spot> {
        match key {
            ObjectKey::Address(address) => self.fits(address).then_some(self.spot_at(address)),
            ObjectKey::Id(id) => Some(self.spot_of(id)),
        }
    }

    /// Where the object at an address that fits is kept.
    #[inline(always)]
    pub(crate) fn spot_at(self, address: u64) -> Spot {
        let slot = address >> self.shift;
        Spot { page: slot >> PLACES, place: (slot & MASK) as u32 }
    }

    /// Where the object with an id is kept.
    #[inline(always)]
    pub(crate) fn spot_of(self, id: u64) -> Spot {
        Spot { page: id >> PLACES | IDS, place: (id & MASK) as u32 }
    }

    /// The key of the object that is kept at a spot.
    #[inline]
    pub(crate) fn key(self, spot: Spot) -> ObjectKey {
        let slot = spot.page << PLACES | u64::from(spot.place);
        match spot.page & IDS {
            0 => ObjectKey::Address(slot << self.shift),
            _ => ObjectKey::Id(slot),
        }
    }
}

/// A place in the table: a leaf, and a place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(super) leaf: u32,
    pub(super) place: u32,
}

impl Slot {
    /// The leaf it is in.
    pub(crate) fn leaf(self) -> u32 {
        self.leaf
    }

    /// The same place of another leaf.
    pub(crate) fn in_leaf(self, leaf: u32) -> Slot {
        Slot { leaf, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_key_has_a_spot_of_its_own(numbers in prop::collection::vec(any::<u64>(), 1..20), shift in 0u32..13) {
            let unit = SpotUnit::of(1 << shift);
            let address = |n: u64| ObjectKey::Address(n >> shift << shift);
            for key in numbers.into_iter().flat_map(|n| [address(n), ObjectKey::Id(n)]) {
                prop_assert_eq!(unit.spot(key).map(|spot| unit.key(spot)), Some(key));
            }
        }
    }
}
