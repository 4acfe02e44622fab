//! All paths from GC roots to the objects of a box, found backwards, round by round.

use super::groups::BoxGroup;
use super::held_counts::HeldSets;
use super::steps::RUN;
use super::{NO_BOX, ObjectGraph};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepGraph;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId};
use std::collections::{BTreeMap, BTreeSet};

/// Why objects of a group are one box.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MetFrom {
    /// They refer to objects of exactly these boxes of the round before.
    Boxes(Box<[u32]>),
    /// They refer to such objects over others of the same group: nodes of a list.
    Chain,
    /// They are further away than rounds go.
    Far,
}

type Found = BTreeMap<(BoxGroup, MetFrom), Vec<ObjectId>>;

impl ObjectGraph {
    /// Adds all paths from GC roots to the objects of a box: their keepers, the keepers of those, until each path ends at an object that a
    /// root holds. With `least_percent` paths go on only from boxes over which at least so many percent of the objects are held (the most
    /// interesting roots: 5). Every object is visited once, so cycles end.
    ///
    /// # Errors
    /// When cancelled; then the graph may have some of the boxes.
    pub fn paths_to_roots(&mut self, of: usize, least_percent: Option<u64>, progress: &Progress) -> Result<()> {
        if of >= self.members.len() {
            return Ok(());
        }
        progress.begin("Following references to roots", 0);
        let mut met = BitSet::new(self.heap.object_count());
        let mut open = self.members[of].clone();
        open.iter().for_each(|o| {
            met.insert(o.0);
        });
        let mut column = self.graph.boxes[of].column;
        let mut round = 0;
        while !open.is_empty() {
            progress.check()?;
            column -= 1;
            let before = self.members.len();
            let (found, passed) = match round < self.limits.rounds {
                true => self.round(&open, &mut met, progress)?,
                false => (self.all_further(&open, &mut met, progress)?, Vec::new()),
            };
            let fresh = found.into_iter().map(|((group, _), objects)| (group, objects)).collect();
            self.push_folded(fresh, column);
            if round >= self.limits.rounds {
                break;
            }
            let added: Vec<usize> = (before..self.members.len()).collect();
            let go_on = self.interesting(of, &added, least_percent, progress)?;
            open = passed;
            open.extend(go_on.into_iter().flat_map(|b| self.members[b].iter().copied()));
            open.sort_unstable();
            round += 1;
        }
        self.count(progress)
    }

    /// The boxes over which enough of the objects of a box are held.
    fn interesting(
        &self,
        of: usize,
        added: &[usize],
        least_percent: Option<u64>,
        progress: &Progress,
    ) -> Result<Vec<usize>> {
        let Some(least) = least_percent else { return Ok(added.to_vec()) };
        let sets = HeldSets { sets: added.iter().map(|&b| self.members[b].clone()).collect() };
        let held = sets.count(self, of, progress)?;
        let all = self.members[of].len() as u128;
        let enough = |held: u64| u128::from(held) * 100 >= u128::from(least) * all;
        Ok(added.iter().zip(held).filter(|&(_, held)| enough(held)).map(|(&b, _)| b).collect())
    }

    /// The referrers of the open objects, in sets that become boxes, and those that are in boxes already.
    fn round(&self, open: &[ObjectId], met: &mut BitSet, progress: &Progress) -> Result<(Found, Vec<ObjectId>)> {
        let keeps = self.keeps();
        // Referrers with the boxes they refer to.
        let mut direct: BTreeMap<ObjectId, BTreeSet<u32>> = BTreeMap::new();
        for (i, &o) in open.iter().enumerate() {
            if i % RUN == 0 {
                progress.check()?;
            }
            if self.is_held(&keeps, o) {
                continue;
            }
            let of = self.box_of[o.0 as usize];
            keeps.keepers(o, |keeper| {
                if !met.contains(keeper.0) {
                    direct.entry(keeper).or_default().insert(of);
                }
            });
        }
        let (mut found, mut passed) = (Found::new(), Vec::new());
        let mut chains: Vec<(ObjectId, BoxGroup)> = Vec::new();
        for (i, (o, boxes)) in direct.into_iter().enumerate() {
            if i % RUN == 0 {
                progress.check()?;
            }
            met.insert(o.0);
            if self.box_of[o.0 as usize] != NO_BOX {
                passed.push(o);
            } else if let Some(group) = self.naming.of(&self.heap, o) {
                chains.push((o, group.clone()));
                found.entry((group, MetFrom::Boxes(boxes.into_iter().collect()))).or_default().push(o);
            }
        }
        self.follow_chains(&keeps, chains, met, &mut found, progress)?;
        Ok((found, passed))
    }

    /// From objects to referrers in the same group, and so on.
    fn follow_chains(
        &self,
        keeps: &KeepGraph<'_>,
        mut open: Vec<(ObjectId, BoxGroup)>,
        met: &mut BitSet,
        found: &mut Found,
        progress: &Progress,
    ) -> Result<()> {
        let mut looked = 0usize;
        let mut keepers: Vec<ObjectId> = Vec::new();
        while let Some((o, group)) = open.pop() {
            looked += 1;
            if looked.is_multiple_of(RUN) {
                progress.check()?;
            }
            if self.is_held(keeps, o) {
                continue;
            }
            keepers.clear();
            keeps.keepers(o, |keeper| keepers.push(keeper));
            for &keeper in &keepers {
                if self.box_of[keeper.0 as usize] == NO_BOX
                    && !met.contains(keeper.0)
                    && self.naming.of(&self.heap, keeper).as_ref() == Some(&group)
                {
                    met.insert(keeper.0);
                    found.entry((group.clone(), MetFrom::Chain)).or_default().push(keeper);
                    open.push((keeper, group.clone()));
                }
            }
        }
        for objects in found.values_mut() {
            objects.sort_unstable();
        }
        Ok(())
    }

    /// All that is further away, by group.
    fn all_further(&self, open: &[ObjectId], met: &mut BitSet, progress: &Progress) -> Result<Found> {
        let keeps = self.keeps();
        let mut open = open.to_vec();
        let mut fresh = BitSet::new(self.heap.object_count());
        let mut looked = 0usize;
        while let Some(o) = open.pop() {
            looked += 1;
            if looked.is_multiple_of(RUN) {
                progress.check()?;
            }
            if self.is_held(&keeps, o) {
                continue;
            }
            keeps.keepers(o, |keeper| {
                if met.insert(keeper.0) {
                    if self.box_of[keeper.0 as usize] == NO_BOX {
                        fresh.insert(keeper.0);
                    }
                    open.push(keeper);
                }
            });
        }
        let by_group = self.by_group(fresh.iter().map(ObjectId), progress)?;
        Ok(by_group.into_iter().map(|(group, objects)| ((group, MetFrom::Far), objects)).collect())
    }
}
