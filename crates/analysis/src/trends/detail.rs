//! Levels of detail of a series: the least and the largest value of ever longer pieces. A chart reads as many pieces as it has pixels,
//! whatever the number of times, and no spike is lost.

/// The least and the largest values of a series, by pieces of 1, 2, 4, ... values. Takes twice the memory of the values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MinMaxLevels {
    /// `levels[k]` has a piece for each 2^k values; the last one may be shorter.
    levels: Vec<Vec<(u64, u64)>>,
}

impl MinMaxLevels {
    /// The levels of a series. Linear.
    pub fn new(values: &[u64]) -> MinMaxLevels {
        let mut levels = vec![values.iter().map(|&value| (value, value)).collect::<Vec<_>>()];
        while let Some(last) = levels.last().filter(|last| last.len() > 1) {
            let joined = |pair: &[(u64, u64)]| pair.iter().copied().reduce(join).unwrap_or_default();
            let next = last.chunks(2).map(joined).collect();
            levels.push(next);
        }
        MinMaxLevels { levels }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.levels[0].len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The least and the largest of the values from `from` to before `to`; `None` where there are none. Costs the logarithm of their
    /// number.
    pub fn between(&self, from: usize, to: usize) -> Option<(u64, u64)> {
        let (mut from, mut to) = (from, to.min(self.len()));
        let mut found: Option<(u64, u64)> = None;
        let mut take = |piece: (u64, u64)| found = Some(found.map_or(piece, |found| join(found, piece)));
        for level in &self.levels {
            if from >= to {
                break;
            }
            if from % 2 == 1 {
                take(level[from]);
                from += 1;
            }
            if to % 2 == 1 && from < to {
                to -= 1;
                take(level[to]);
            }
            (from, to) = (from / 2, to / 2);
        }
        found
    }

    /// The values from `from` to before `to` in `pieces` pieces of about the same length: the least and the largest of each.
    /// Where there are fewer values than pieces, one for each value.
    pub fn pieces(&self, from: usize, to: usize, pieces: usize) -> Vec<(u64, u64)> {
        let to = to.min(self.len());
        let values = to.saturating_sub(from);
        let pieces = pieces.min(values);
        let place = |piece: usize| from + (piece as u128 * values as u128 / pieces.max(1) as u128) as usize;
        (0..pieces).filter_map(|piece| self.between(place(piece), place(piece + 1))).collect()
    }
}

fn join(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0.min(b.0), a.1.max(b.1))
}
