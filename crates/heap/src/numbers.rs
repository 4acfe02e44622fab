//! Columns of whole numbers, as narrow as their largest value allows. Most counts of most programs fit two or four bytes, and a pass over a
//! million of them waits for memory.

/// A column of numbers, each two, four or eight bytes: as many as the largest that was ever in it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberColumn {
    /// All below 65,536.
    Two(Vec<u16>),
    /// All below 4,294,967,296.
    Four(Vec<u32>),
    /// Any.
    Eight(Vec<u64>),
}

impl Default for NumberColumn {
    fn default() -> Self {
        NumberColumn::Two(Vec::new())
    }
}

/// A number of one of the widths.
pub trait Number: Copy {
    /// As the widest.
    fn wide(self) -> u64;
}

impl Number for u16 {
    #[inline]
    fn wide(self) -> u64 {
        u64::from(self)
    }
}

impl Number for u32 {
    #[inline]
    fn wide(self) -> u64 {
        u64::from(self)
    }
}

impl Number for u64 {
    #[inline]
    fn wide(self) -> u64 {
        self
    }
}

impl NumberColumn {
    /// `len` zeros, with room for numbers up to `largest`; a larger number widens the column.
    pub fn zeros(len: usize, largest: u64) -> NumberColumn {
        match largest {
            0..=0xFFFF => NumberColumn::Two(vec![0; len]),
            0x1_0000..=0xFFFF_FFFF => NumberColumn::Four(vec![0; len]),
            _ => NumberColumn::Eight(vec![0; len]),
        }
    }

    /// Allocates room for exactly so many more.
    pub fn reserve_exact(&mut self, more: usize) {
        match self {
            NumberColumn::Two(all) => all.reserve_exact(more),
            NumberColumn::Four(all) => all.reserve_exact(more),
            NumberColumn::Eight(all) => all.reserve_exact(more),
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        match self {
            NumberColumn::Two(all) => all.len(),
            NumberColumn::Four(all) => all.len(),
            NumberColumn::Eight(all) => all.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at a place.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    pub fn get(&self, at: usize) -> u64 {
        match self {
            NumberColumn::Two(all) => all[at].wide(),
            NumberColumn::Four(all) => all[at].wide(),
            NumberColumn::Eight(all) => all[at],
        }
    }

    /// Puts a number at a place. Linear in all of them the first time that one is too large for those before.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn set(&mut self, at: usize, number: u64) {
        self.make_room(number);
        match self {
            NumberColumn::Two(all) => all[at] = number as u16,
            NumberColumn::Four(all) => all[at] = number as u32,
            NumberColumn::Eight(all) => all[at] = number,
        }
    }

    /// Adds a number at the end; as [`NumberColumn::set`].
    pub fn push(&mut self, number: u64) {
        self.make_room(number);
        match self {
            NumberColumn::Two(all) => all.push(number as u16),
            NumberColumn::Four(all) => all.push(number as u32),
            NumberColumn::Eight(all) => all.push(number),
        }
    }

    /// Widens the column so that `number` fits.
    #[inline]
    fn make_room(&mut self, number: u64) {
        let fits = match self {
            NumberColumn::Two(_) => number <= u64::from(u16::MAX),
            NumberColumn::Four(_) => number <= u64::from(u32::MAX),
            NumberColumn::Eight(_) => true,
        };
        if !fits {
            self.widen(number);
        }
    }

    #[cold]
    fn widen(&mut self, number: u64) {
        fn wider<A: Number, B: From<A>>(from: &[A], room: usize) -> Vec<B> {
            let mut all = Vec::with_capacity(room);
            all.extend(from.iter().map(|&number| B::from(number)));
            all
        }
        let four = number <= u64::from(u32::MAX);
        *self = match self {
            NumberColumn::Two(all) if four => NumberColumn::Four(wider(all, all.capacity())),
            NumberColumn::Two(all) => NumberColumn::Eight(wider(all, all.capacity())),
            NumberColumn::Four(all) => NumberColumn::Eight(wider(all, all.capacity())),
            NumberColumn::Eight(all) => NumberColumn::Eight(std::mem::take(all)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_size() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..100, 65_530u64..65_540, (1u64 << 32) - 5..(1 << 32) + 5, any::<u64>()]
    }

    proptest! {
        /// Against a list of the widest.
        #[test]
        fn numbers_are_what_was_put_in(
            zeros in 0usize..6,
            largest in any_size(),
            pushed in prop::collection::vec(any_size(), 0..20),
            set in prop::collection::vec((any::<prop::sample::Index>(), any_size()), 0..20),
        ) {
            let mut numbers = NumberColumn::zeros(zeros, largest);
            let mut naive = vec![0u64; zeros];
            for &number in &pushed {
                numbers.push(number);
                naive.push(number);
            }
            let places = if naive.is_empty() { 0 } else { set.len() };
            for (at, number) in &set[..places] {
                let at = at.index(naive.len());
                numbers.set(at, *number);
                naive[at] = *number;
            }
            prop_assert_eq!(numbers.len(), naive.len());
            prop_assert!((0..naive.len()).map(|at| numbers.get(at)).eq(naive.iter().copied()));
            let most = naive.iter().copied().chain(pushed).chain(set.iter().map(|s| s.1)).chain([largest]).max().unwrap_or(0);
            let wide = matches!(numbers, NumberColumn::Eight(_));
            prop_assert!(!wide || most > u64::from(u32::MAX), "no wider than it has to be");
        }
    }
}
