//! The result of a search in a city: the share of each group that was found, and the sums.

use memory_city_analysis::timeline::{Amount, NodeId, Timeline};
use rustc_hash::FxHashMap;

/// The parts of a city's groups that were found at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lit {
    /// The found share of a group's bytes, 0 to 1: for each node, inner or leaf, with any found bytes.
    pub shares: FxHashMap<NodeId, f32>,
    /// Leaves that are found.
    pub groups: u64,
    /// Leaves there are, whether they are found or not; those that are nothing at that time do not count.
    pub of: u64,
    /// Objects and bytes found.
    pub amount: Amount,
}

/// Sums up `found`: the leaves among these nodes and, with `below`, all leaves below the inner ones. Linear in the nodes.
pub fn lit(timeline: &Timeline, t: usize, found: &[NodeId], below: bool) -> Lit {
    let mut lit = Lit::default();
    let mut is_found = vec![false; timeline.len()];
    found.iter().for_each(|node| is_found[node.index()] = true);
    if below {
        // Parents come before their children.
        for node in timeline.nodes() {
            is_found[node.index()] |= timeline.parent(node).is_some_and(|parent| is_found[parent.index()]);
        }
    }
    // Of each node what is found in it: bytes, or objects where nothing has bytes.
    let mut sums: Vec<(u64, u64, bool)> = vec![(0, 0, false); timeline.len()];
    for node in timeline.nodes().rev() {
        let at = node.index();
        if timeline.is_leaf(node) {
            let amount = timeline.amount(t, node);
            if amount == Amount::default() {
                continue;
            }
            lit.of += 1;
            sums[at] = (0, amount.bytes, false);
            if is_found[at] {
                sums[at] = (amount.bytes, amount.bytes, true);
                lit.groups += 1;
                lit.amount.objects = lit.amount.objects.saturating_add(amount.objects);
                lit.amount.bytes = lit.amount.bytes.saturating_add(amount.bytes);
            }
        }
        let (part, all, any) = sums[at];
        if any {
            lit.shares.insert(node, if all > 0 { (part as f64 / all as f64) as f32 } else { 1.0 });
        }
        if let Some(parent) = timeline.parent(node) {
            let sum = &mut sums[parent.index()];
            *sum = (sum.0.saturating_add(part), sum.1.saturating_add(all), sum.2 | any);
        }
    }
    lit
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, inner, leaf, trees};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_package_lights_its_classes_only_where_names_are_looked_for() {
        let tree = inner("Heap", vec![inner("a", vec![leaf("x", &[30]), leaf("y", &[10])]), leaf("z", &[60])]);
        let timeline = tree.timeline();
        let found = [at(&timeline, "Heap#a")];
        assert_eq!(lit(&timeline, 0, &found, false).groups, 0, "the sum is found, not its parts");
        let all = lit(&timeline, 0, &found, true);
        assert_eq!((all.groups, all.of, all.amount.objects), (2, 3, 40));
        assert_eq!(all.shares[&NodeId::ROOT], 0.4);
        assert_eq!(all.shares[&at(&timeline, "Heap#a")], 1.0);
        assert!(!all.shares.contains_key(&at(&timeline, "Heap#z")));
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_leaves(tree in trees(), pick in any::<u64>(), below in any::<bool>()) {
            let timeline = tree.timeline();
            let found: Vec<NodeId> = timeline.nodes().filter(|n| pick.rotate_left(n.index() as u32 % 64) & 3 == 3).collect();
            let lit = lit(&timeline, 1, &found, below);
            let is_found = |leaf: NodeId| {
                found.contains(&leaf) || below && found.iter().any(|&node| timeline.is_within(leaf, node))
            };
            let leaves: Vec<NodeId> = timeline.nodes().filter(|&n| timeline.is_leaf(n) && timeline.amount(1, n).objects > 0).collect();
            let hits: Vec<NodeId> = leaves.iter().copied().filter(|&n| is_found(n)).collect();
            prop_assert_eq!((lit.groups as usize, lit.of as usize), (hits.len(), leaves.len()));
            prop_assert_eq!(lit.amount.bytes, hits.iter().map(|&n| timeline.amount(1, n).bytes).sum::<u64>());
            for node in timeline.nodes() {
                let within = |leaves: &[NodeId]| -> u64 {
                    leaves.iter().filter(|&&l| timeline.is_within(l, node)).map(|&l| timeline.amount(1, l).bytes).sum()
                };
                let expected = within(&hits) as f64 / within(&leaves).max(1) as f64;
                let share = lit.shares.get(&node).copied().unwrap_or(0.0);
                prop_assert!((f64::from(share) - expected).abs() < 1e-6, "{}", timeline.key(node));
            }
        }
    }
}
