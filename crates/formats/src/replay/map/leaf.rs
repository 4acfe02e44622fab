//! A leaf of the map: the objects of 4 KB of heap.

use super::{Entry, NONE, PLACES};

const WORDS: usize = 1 << (PLACES - 6);

/// Objects of 4 KB of heap.
pub struct Leaf {
    pub(super) page: u64,
    bits: [u64; WORDS],
    /// Objects below each word; of no meaning where the word is empty.
    below: [u16; WORDS],
    /// The highest place ever taken.
    last: u16,
    /// Marked objects.
    pub(super) marks: u16,
    /// The GC interval in which all its objects were born; [`NONE`] when they were not born together.
    pub(super) born: u32,
    pub(super) entries: Vec<Entry>,
}

impl Default for Leaf {
    fn default() -> Self {
        let (bits, below) = ([0; WORDS], [0; WORDS]);
        Leaf { page: 0, bits, below, last: 0, marks: 0, born: NONE, entries: Vec::new() }
    }
}

impl Leaf {
    #[inline]
    pub(super) fn find(&self, place: usize) -> Option<usize> {
        let (word, bit) = (self.bits[place / 64], 1u64 << (place % 64));
        if word & bit == 0 {
            return None;
        }
        Some(self.below[place / 64] as usize + (word & (bit - 1)).count_ones() as usize)
    }

    /// Puts an object at a place; returns the one that was there.
    #[inline(always)]
    pub(super) fn put(&mut self, place: usize, entry: Entry) -> Option<Entry> {
        if place as u16 > self.last || self.entries.is_empty() {
            let word = &mut self.bits[place / 64];
            if *word == 0 {
                self.below[place / 64] = self.entries.len() as u16;
            }
            *word |= 1 << (place % 64);
            self.entries.push(entry);
            self.last = place as u16;
            return None;
        }
        self.put_between(place, entry)
    }

    #[cold]
    fn put_between(&mut self, place: usize, entry: Entry) -> Option<Entry> {
        if let Some(at) = self.find(place) {
            return Some(std::mem::replace(&mut self.entries[at], entry));
        }
        self.bits[place / 64] |= 1 << (place % 64);
        self.count();
        if let Some(at) = self.find(place) {
            self.entries.insert(at, entry);
        }
        None
    }

    pub(super) fn remove(&mut self, place: usize) {
        if let Some(at) = self.find(place) {
            self.entries.remove(at);
            self.bits[place / 64] &= !(1 << (place % 64));
            self.count();
        }
    }

    fn count(&mut self) {
        let mut below = 0;
        for (word, count) in self.bits.iter().zip(&mut self.below) {
            *count = below;
            below += word.count_ones() as u16;
        }
    }

    pub(super) fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let bits = self.bits;
        bits.into_iter().enumerate().flat_map(|(i, word)| {
            std::iter::successors((word != 0).then_some(word), |w| Some(w & (w - 1)).filter(|w| *w != 0))
                .map(move |w| i * 64 + w.trailing_zeros() as usize)
        })
    }

    /// Keeps the entries that `keep` says, given their place.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(usize, Entry) -> bool) {
        let mut places = self.places();
        let mut bits = self.bits;
        self.entries.retain(|entry| {
            let place = places.next().unwrap_or(0);
            let stays = keep(place, *entry);
            if !stays {
                bits[place / 64] &= !(1 << (place % 64));
            }
            stays
        });
        self.bits = bits;
        self.count();
    }
}
