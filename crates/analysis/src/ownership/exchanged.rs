//! Objects that an owner keeps alone at one time and together with others at the next: a chain whose second reader was sent back. They
//! count with that owner at all times, since it keeps them with and without the others.

use super::history::OwnerHistory;

/// Share of what a shared place became larger or smaller by that must have come from the owner, or have gone there.
const EXCHANGED: f64 = 0.25;

/// Bytes: less makes no difference to what grows.
const LITTLE: u64 = 16 << 10;

impl OwnerHistory {
    /// The same history with such objects below their owner. Only parts that changed by more than [`LITTLE`] in an interval are looked at: for
    /// each, the places below its sharers.
    pub(super) fn with_exchanges_settled(mut self) -> OwnerHistory {
        let mut children = self.children();
        let changed = |of: &OwnerHistory, place: u32| {
            of.places()[place as usize]
                .held
                .windows(2)
                .any(|pair| pair[0].total.bytes.abs_diff(pair[1].total.bytes) > LITTLE)
        };
        let shared: Vec<u32> =
            (0..self.places().len() as u32).filter(|&p| self.places()[p as usize].is_shared()).collect();
        for place in shared {
            let parts: Vec<u32> =
                children[place as usize].iter().copied().filter(|&part| changed(&self, part)).collect();
            if parts.is_empty() {
                continue;
            }
            let sharers = self.sharers(&children, place);
            for part in parts {
                let alone = sharers.iter().filter_map(|&sharer| self.named_below(&children, sharer, part));
                let exchanged = alone.filter_map(|own| Some((self.exchanged(part, own)?, own)));
                if let Some((_, own)) = exchanged.max_by_key(|&(bytes, own)| (bytes, std::cmp::Reverse(own))) {
                    self.move_place(&children, part, own);
                    children = self.children();
                }
            }
        }
        self
    }

    /// The places of those that a shared place names, as far as they have some.
    fn sharers(&self, children: &[Vec<u32>], shared: u32) -> Vec<u32> {
        let base = self.places()[shared as usize].parent;
        let below = |place: u32, name: &str| {
            children[place as usize].iter().copied().find(|&p| *self.places()[p as usize].name == *name)
        };
        let of_field = |name: &str| {
            let (class, field) = name.rsplit_once('.')?;
            let class = format!("class {class}");
            let class = if *self.places()[base as usize].name == *class { base } else { below(base, &class)? };
            below(class, &format!("static {field}"))
        };
        let of_steps = |name: &str| name.split(", ").try_fold(base, below);
        let names = self.places()[shared as usize].name.strip_prefix("shared by ").unwrap_or_default();
        names.split(" and ").filter_map(|name| of_steps(name).or_else(|| of_field(name))).collect()
    }

    /// The highest place below one that has the name of another.
    fn named_below(&self, children: &[Vec<u32>], top: u32, like: u32) -> Option<u32> {
        let name = &self.places()[like as usize].name;
        let mut level = children[top as usize].clone();
        while !level.is_empty() {
            if let Some(found) = level.iter().copied().find(|&p| self.places()[p as usize].name == *name) {
                return Some(found);
            }
            level = level.iter().flat_map(|&p| children[p as usize].iter().copied()).collect();
        }
        None
    }

    /// Bytes by which one of two places fell while the other rose, where they are much of how a shared place changed.
    fn exchanged(&self, shared: u32, own: u32) -> Option<u64> {
        let steps = |place: u32| {
            let held = &self.places()[place as usize].held;
            held.windows(2).map(|pair| pair[1].total.bytes as i64 - pair[0].total.bytes as i64)
        };
        let (mut both, mut all) = (0, 0);
        for (shared, own) in steps(shared).zip(steps(own)) {
            all += shared.unsigned_abs();
            if shared.signum() * own.signum() < 0 {
                both += shared.unsigned_abs().min(own.unsigned_abs());
            }
        }
        (both > 0 && both as f64 >= EXCHANGED * all as f64).then_some(both)
    }
}
