//! The drawing order of boxes: districts, opaque plots, see-through plots, and the rest, with the plot that each box shows.
//!
//! Only the few opaque plots are stored: all others follow from them.

use std::ops::Range;
use std::sync::Arc;

/// The order of boxes. A copy costs nothing.
#[derive(Clone, Debug)]
pub(in crate::viewer) struct BoxOrder {
    districts: usize,
    plots: usize,
    /// Ascending.
    opaque: Arc<[u32]>,
    /// See-through plots come from the last to the first.
    reversed: bool,
}

impl BoxOrder {
    /// `opaque` are plots, ascending.
    pub fn new(districts: usize, plots: usize, opaque: Vec<u32>) -> BoxOrder {
        BoxOrder { districts, plots, opaque: opaque.into(), reversed: false }
    }

    /// Draws see-through plots in the opposite order.
    pub fn reverse(&mut self) {
        self.reversed = !self.reversed;
    }

    /// How many boxes are districts: the first.
    pub fn districts(&self) -> usize {
        self.districts
    }

    /// How many boxes there are, without blocks.
    pub fn boxes(&self) -> usize {
        self.districts + self.plots
    }

    /// Boxes of opaque plots.
    pub fn opaque(&self) -> Range<usize> {
        self.districts..self.districts + self.opaque.len()
    }

    /// Boxes of see-through plots.
    pub fn see_through(&self) -> Range<usize> {
        self.opaque().end..self.boxes()
    }

    /// How many plots before this one are opaque.
    fn opaque_before(&self, plot: usize) -> usize {
        self.opaque.partition_point(|&p| (p as usize) < plot)
    }

    /// All plots in the order of their boxes.
    pub fn plots(&self) -> impl Iterator<Item = usize> + '_ {
        let opaque = self.opaque.iter().map(|&p| p as usize);
        // Runs between opaque plots: no search for each.
        let mut next = 0;
        let clear = (0..self.plots).filter(move |&p| {
            let is = self.opaque.get(next).is_some_and(|&o| o as usize == p);
            next += usize::from(is);
            !is
        });
        let (forth, back) = match self.reversed {
            false => (Some(clear), None),
            true => (None, Some(clear.collect::<Vec<_>>().into_iter().rev())),
        };
        opaque.chain(forth.into_iter().flatten()).chain(back.into_iter().flatten())
    }

    /// Appends values of plots, given in the order of plots, in the order of their boxes.
    pub fn append<T: Copy>(&self, of_plots: &[T], boxes: &mut Vec<T>) {
        boxes.extend(self.opaque.iter().map(|&plot| of_plots[plot as usize]));
        let clear = boxes.len();
        // Runs between opaque plots.
        let mut next = 0;
        for &plot in self.opaque.iter() {
            boxes.extend_from_slice(&of_plots[next..plot as usize]);
            next = plot as usize + 1;
        }
        boxes.extend_from_slice(&of_plots[next..]);
        if self.reversed {
            boxes[clear..].reverse();
        }
    }

    /// The opaque plots, in the order of their boxes.
    pub fn opaque_plots(&self) -> &[u32] {
        &self.opaque
    }

    /// Calls `fill` with the boxes of see-through plots, as runs of neighbouring plots: the first of each, and its boxes. Returns its
    /// result.
    pub fn fill_see_through<T, R>(&self, boxes: &mut [T], fill: impl FnOnce(Vec<(usize, &mut [T])>) -> R) -> R {
        let clear = &mut boxes[self.see_through()];
        let mut runs = Vec::with_capacity(self.opaque.len() + 1);
        let (mut first, mut left) = (0, &mut *clear);
        for next in self.opaque.iter().map(|&plot| plot as usize).chain([self.plots]) {
            let (run, rest) = left.split_at_mut(next - first);
            if !run.is_empty() {
                runs.push((first, run));
            }
            (first, left) = (next + 1, rest);
        }
        let filled = fill(runs);
        if self.reversed {
            clear.reverse();
        }
        filled
    }

    /// The values of neighbouring plots, from the values of all boxes.
    pub fn of_plots<'a, T: Copy>(&'a self, boxes: &'a [T], plots: Range<usize>) -> impl Iterator<Item = T> + 'a {
        let before = self.opaque_before(plots.start);
        let are_together = !self.reversed && self.opaque.get(before).is_none_or(|&o| o as usize >= plots.end);
        let at = self.opaque().end + plots.start - before;
        let (together, one_by_one) = if are_together { (at..at + plots.len(), 0..0) } else { (0..0, plots) };
        boxes[together].iter().copied().chain(one_by_one.map(|plot| boxes[self.box_of(plot)]))
    }

    /// The box of a plot.
    #[inline]
    pub fn box_of(&self, plot: usize) -> usize {
        let before = self.opaque_before(plot);
        if self.opaque.get(before).is_some_and(|&o| o as usize == plot) {
            return self.districts + before;
        }
        match self.reversed {
            false => self.opaque().end + plot - before,
            true => self.boxes() - 1 - (plot - before),
        }
    }

    /// The plot of a box; `None` for districts and blocks.
    pub fn plot_of(&self, index: usize) -> Option<usize> {
        let at = index.checked_sub(self.districts)?;
        if let Some(&plot) = self.opaque.get(at) {
            return Some(plot as usize);
        }
        if at >= self.plots {
            return None;
        }
        let among = if self.reversed { self.plots - 1 - at } else { at - self.opaque.len() };
        // Before the plot are as many opaque ones as make up the difference.
        let (mut low, mut high) = (0, self.opaque.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.opaque[middle] as usize - middle <= among { low = middle + 1 } else { high = middle }
        }
        Some(among + low)
    }

    /// The boxes of a run of plots: those that are opaque, and the others.
    pub fn boxes_of(&self, plots: Range<u32>) -> (Range<u32>, Range<u32>) {
        let (start, end) = (plots.start as usize, plots.end as usize);
        let (from, to) = (self.opaque_before(start), self.opaque_before(end));
        let opaque = self.districts + from..self.districts + to;
        let clear = match self.reversed {
            false => self.opaque().end + start - from..self.opaque().end + end - to,
            true => self.boxes() - (end - to)..self.boxes() - (start - from),
        };
        (opaque.start as u32..opaque.end as u32, clear.start as u32..clear.end as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plot_has_one_box() {
        for opaque in [vec![], vec![0], vec![0, 1, 2], vec![3, 4, 9], vec![0, 5, 9], (0..10).collect()] {
            for reversed in [false, true] {
                let mut order = BoxOrder::new(4, 10, opaque.clone());
                if reversed {
                    order.reverse();
                }
                let plots: Vec<usize> = order.plots().collect();
                assert_eq!(plots.len(), 10);
                let (of_plots, mut boxes) = ((0..10).collect::<Vec<usize>>(), Vec::new());
                order.append(&of_plots, &mut boxes);
                assert_eq!(boxes, plots, "{opaque:?} {reversed}");
                // The same box by box.
                let mut filled = vec![0; 14];
                let solid = order.opaque_plots().iter().map(|&plot| plot as usize);
                filled[order.opaque()].iter_mut().zip(solid).for_each(|(into, plot)| *into = plot);
                order.fill_see_through(&mut filled, |runs| {
                    runs.into_iter()
                        .flat_map(|(first, run)| run.iter_mut().zip(first..))
                        .for_each(|(into, plot)| *into = plot);
                });
                assert_eq!(filled[4..], plots, "{opaque:?} {reversed}");
                for (i, &plot) in plots.iter().enumerate() {
                    assert_eq!(order.box_of(plot), 4 + i, "{opaque:?} {reversed}");
                    assert_eq!(order.plot_of(4 + i), Some(plot), "{opaque:?} {reversed}");
                }
                assert_eq!((order.plot_of(3), order.plot_of(14)), (None, None));
                for start in 0..10u32 {
                    for end in start..=10 {
                        let plots = start as usize..end as usize;
                        assert!(
                            order.of_plots(&filled, plots.clone()).eq(plots),
                            "{opaque:?} {reversed} {start}..{end}"
                        );
                        let (solid, clear) = order.boxes_of(start..end);
                        let mut named: Vec<_> = solid.chain(clear).filter_map(|b| order.plot_of(b as usize)).collect();
                        named.sort_unstable();
                        assert!(named.iter().copied().eq(start as usize..end as usize), "{opaque:?} {start}..{end}");
                    }
                }
            }
        }
    }
}
