//! A tree with some open rows, as rows by number. Closed parts are never visited: a node of a million children costs as much to open as one
//! of three, and finding a row passes only the open ones before it.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Rows below one another: the children of a node, in an order.
pub trait RowList {
    /// How many.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A list that is open: it stands below a row of another one.
struct OpenList<L> {
    list: L,
    /// The list in which the row is that it stands below, and the number of that row in it.
    above: Option<(u32, u64)>,
    depth: u32,
    /// By row of this list: the list that is open below it.
    open: BTreeMap<u64, u32>,
    /// Rows of this list and all below it.
    rows: u64,
}

/// Where a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnfoldedPlace {
    list: u32,
    /// Its number among its siblings.
    pub at: u64,
    /// Rows above it that it lies in.
    pub depth: u32,
    /// Whether its children are shown.
    pub open: bool,
}

/// A tree of lists. Memory follows the open ones. Nothing recurses: trees may be a million levels deep.
pub struct Unfolded<L> {
    lists: FxHashMap<u32, OpenList<L>>,
    next: u32,
}

const TOP: u32 = 0;

impl<L: RowList> Unfolded<L> {
    /// A tree of which only the top is open.
    pub fn new(top: L) -> Unfolded<L> {
        let rows = top.len();
        let top = OpenList { list: top, above: None, depth: 0, open: BTreeMap::new(), rows };
        Unfolded { lists: FxHashMap::from_iter([(TOP, top)]), next: TOP + 1 }
    }

    /// The number of rows.
    pub fn len(&self) -> u64 {
        self.lists.get(&TOP).map_or(0, |top| top.rows)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The list that a row is in.
    pub fn list(&self, place: UnfoldedPlace) -> Option<&L> {
        self.lists.get(&place.list).map(|open| &open.list)
    }

    /// The row of a number. Costs a step for each open row before it that is not inside another one, and one for each level.
    pub fn row(&self, number: u64) -> Option<UnfoldedPlace> {
        let (mut list, mut number) = (TOP, number);
        'lists: loop {
            let here = self.lists.get(&list)?;
            if number >= here.rows {
                return None;
            }
            // Rows of this list that come before, with nothing open between them, and what was passed of the number.
            let mut passed = 0;
            for (&at, &below) in &here.open {
                if number <= at + passed {
                    break;
                }
                let rows = self.lists.get(&below)?.rows;
                if number <= at + passed + rows {
                    number -= at + passed + 1;
                    list = below;
                    continue 'lists;
                }
                passed += rows;
            }
            let at = number - passed;
            return Some(UnfoldedPlace { list, at, depth: here.depth, open: here.open.contains_key(&at) });
        }
    }

    /// The number of a row; `None` if its parent is not open any more.
    pub fn number(&self, place: UnfoldedPlace) -> Option<u64> {
        let (mut list, mut at, mut number) = (place.list, place.at, 0);
        loop {
            let here = self.lists.get(&list)?;
            let before = here.open.range(..at).map(|(_, below)| self.lists.get(below).map_or(0, |l| l.rows));
            number += at + before.sum::<u64>();
            match here.above {
                Some((above, row)) => {
                    (list, at) = (above, row);
                    // The row itself comes before what is below it.
                    number += 1;
                }
                None => return Some(number),
            }
        }
    }

    /// The row in which a row lies.
    pub fn above(&self, place: UnfoldedPlace) -> Option<UnfoldedPlace> {
        let (list, at) = self.lists.get(&place.list)?.above?;
        Some(UnfoldedPlace { list, at, depth: place.depth.saturating_sub(1), open: true })
    }

    /// A row of the list below an open one.
    pub fn below(&self, place: UnfoldedPlace, at: u64) -> Option<UnfoldedPlace> {
        let list = *self.lists.get(&place.list)?.open.get(&place.at)?;
        let below = self.lists.get(&list)?;
        (at < below.list.len()).then(|| UnfoldedPlace {
            list,
            at,
            depth: below.depth,
            open: below.open.contains_key(&at),
        })
    }

    /// A row of the top.
    pub fn top(&self, at: u64) -> Option<UnfoldedPlace> {
        let top = self.lists.get(&TOP)?;
        (at < top.list.len()).then(|| UnfoldedPlace { list: TOP, at, depth: 0, open: top.open.contains_key(&at) })
    }

    /// Opens a row: `below` are its children. Does nothing where it is open or is not there any more.
    pub fn open(&mut self, place: UnfoldedPlace, below: L) {
        let number = self.next;
        let Some(here) = self.lists.get_mut(&place.list) else { return };
        if place.at >= here.list.len() || here.open.contains_key(&place.at) {
            return;
        }
        here.open.insert(place.at, number);
        let (depth, rows) = (here.depth + 1, below.len());
        self.next += 1;
        let above = Some((place.list, place.at));
        self.lists.insert(number, OpenList { list: below, above, depth, open: BTreeMap::new(), rows });
        self.grow(place.list, rows as i64);
    }

    /// Closes a row, with all open rows below it.
    pub fn close(&mut self, place: UnfoldedPlace) {
        let Some(first) = self.lists.get_mut(&place.list).and_then(|here| here.open.remove(&place.at)) else { return };
        let rows = self.lists.get(&first).map_or(0, |list| list.rows);
        let mut gone = vec![first];
        while let Some(list) = gone.pop() {
            if let Some(list) = self.lists.remove(&list) {
                gone.extend(list.open.into_values());
            }
        }
        self.grow(place.list, -(rows as i64));
    }

    /// Adds to the rows of a list and of all it lies in.
    fn grow(&mut self, list: u32, by: i64) {
        let mut at = Some(list);
        while let Some(list) = at.and_then(|list| self.lists.get_mut(&list)) {
            list.rows = list.rows.saturating_add_signed(by);
            at = list.above.map(|(list, _)| list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The children of a node of a tree in which every node has `1 + n % 4` children.
    #[derive(Clone)]
    struct PathChildren(Vec<u64>);

    impl RowList for PathChildren {
        fn len(&self) -> u64 {
            1 + self.0.last().copied().unwrap_or(3) % 4
        }
    }

    /// The same tree, naively: paths of open rows, and all rows by walking.
    fn rows(open: &std::collections::HashSet<Vec<u64>>, path: &[u64], all: &mut Vec<Vec<u64>>) {
        for at in 0..PathChildren(path.to_vec()).len() {
            let row = [path, &[at]].concat();
            all.push(row.clone());
            if open.contains(&row) {
                rows(open, &row, all);
            }
        }
    }

    fn path(tree: &Unfolded<PathChildren>, mut place: UnfoldedPlace) -> Vec<u64> {
        let mut path = vec![place.at];
        while let Some(above) = tree.above(place) {
            path.push(above.at);
            place = above;
        }
        path.reverse();
        path
    }

    proptest! {
        #[test]
        fn rows_are_those_of_a_walk(steps in prop::collection::vec((any::<u16>(), any::<bool>()), 0..60)) {
            let mut tree = Unfolded::new(PathChildren(Vec::new()));
            let mut open = std::collections::HashSet::new();
            for (choice, opens) in steps {
                let place = tree.row(u64::from(choice) % tree.len()).expect("a row");
                let row = path(&tree, place);
                if opens {
                    tree.open(place, PathChildren(row.clone()));
                    open.insert(row);
                } else {
                    tree.close(place);
                    open.retain(|other| !other.starts_with(&row));
                }
                let mut all = Vec::new();
                rows(&open, &[], &mut all);
                prop_assert_eq!(tree.len(), all.len() as u64);
                for (number, expected) in all.iter().enumerate() {
                    let place = tree.row(number as u64).expect("a row");
                    prop_assert_eq!(&path(&tree, place), expected);
                    prop_assert_eq!(place.depth as usize, expected.len() - 1);
                    prop_assert_eq!(place.open, open.contains(expected));
                    prop_assert_eq!(tree.number(place), Some(number as u64));
                    prop_assert_eq!(&tree.list(place).expect("a list").0[..], &expected[..expected.len() - 1]);
                }
                prop_assert_eq!(tree.row(tree.len()), None);
            }
        }
    }

    /// Twenty million rows below one, and ten thousand levels.
    #[test]
    fn wide_and_deep_trees_are_the_same_to_it() {
        struct Many(u64);
        impl RowList for Many {
            fn len(&self) -> u64 {
                self.0
            }
        }
        let mut tree = Unfolded::new(Many(1));
        let mut place = tree.top(0).expect("a row");
        for _ in 0..10_000 {
            tree.open(place, Many(1));
            place = tree.below(place, 0).expect("a row");
        }
        tree.open(place, Many(20_000_000));
        assert_eq!(tree.len(), 20_000_000 + 10_001);
        let last = tree.row(tree.len() - 1).expect("a row");
        assert_eq!((last.at, last.depth), (19_999_999, 10_001));
        tree.close(tree.top(0).expect("a row"));
        assert_eq!((tree.len(), tree.lists.len()), (1, 1));
    }
}
