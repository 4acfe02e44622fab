//! A city at one time: its states, the marks over its boxes, and the counts of the legend. In large cities each is made from the last one
//! and the changed plots.

use super::super::states::TimeState;
use super::City;
use crate::viewer::scene::Versioned;
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city::{self, ColourHistogram, Comparison, DetailSums, PlotState};
use std::collections::HashMap;
use std::sync::Arc;

/// Results for a time, besides its states.
pub(super) struct MadeTime {
    time: usize,
    /// Of its blocks.
    sums: DetailSums,
    /// Its colours.
    colours: ColourHistogram,
}

/// Legend of a time: the number of buildings by colour, and the difference from the base.
pub(super) type ToldTime = (Arc<ColourHistogram>, Option<Comparison>);

/// A pair of times, and the plots that differ between them; `None` when all have to be looked at.
pub(super) type ChangedPlots = ((usize, usize), Option<Arc<[u32]>>);

impl City {
    /// The states at time `t`, computed when they are not at hand.
    pub fn states(&mut self, t: usize) -> TimeState {
        // Of what was made last, if it is still here, with the plots that are others now.
        let last = self.made_last.as_ref().map(|made| made.time).filter(|_| self.states.kept(t).is_none());
        let last = last.and_then(|from| Some((self.states.kept(from)?.clone(), self.changed(from, t)?)));
        let over_last = self.over_last.filter(|_| self.over.kept(t).is_none());
        let over_last = over_last.and_then(|from| Some((self.over.kept(from)?.clone(), self.changed(from, t)?)));
        self.over_last = Some(t);
        let City { states, over, plan, appearance, timeline, order, made_last, mores, changes, .. } = self;
        let records = states.get(t, || {
            let detail = appearance.detail();
            match (last, made_last.take()) {
                (Some((before, changed)), Some(MadeTime { mut sums, mut colours, .. })) => {
                    let mut records = before.records.to_vec();
                    let mut others = Vec::with_capacity(changed.len());
                    let states = appearance.states_of(plan, timeline, &changed, t);
                    for (plot, now) in changed.iter().map(|&plot| plot as usize).zip(states) {
                        let at = order.box_of(plot);
                        detail.update(&mut sums, plot, records[at], now);
                        if !plan.is_more(plot) {
                            colours.remove(records[at]);
                            colours.add(now);
                        }
                        if records[at] != now {
                            others.push(at as u32);
                        }
                        records[at] = now;
                    }
                    for (at, now) in (order.boxes()..).zip(detail.states_of(&sums)) {
                        if records[at] != now {
                            others.push(at as u32);
                        }
                        records[at] = now;
                    }
                    *made_last = Some(MadeTime { time: t, sums, colours });
                    Versioned::changed(records, &before, others)
                }
                _ => {
                    let mut records = PlotState::none(order.boxes() + detail.len());
                    records[..order.districts()].fill(PlotState::SLAB);
                    let opaque = appearance.states_of(plan, timeline, order.opaque_plots(), t);
                    records[order.opaque()].copy_from_slice(&opaque);
                    let clear = |runs: Vec<(usize, &mut [PlotState])>| appearance.fill_runs(plan, timeline, runs, t);
                    let mut colours = order.fill_see_through(&mut records, clear).and(ColourHistogram::of(&opaque));
                    mores.iter().for_each(|&more| colours.remove(records[order.box_of(more as usize)]));
                    let sums = detail.sums(&|plots| order.of_plots(&records, plots));
                    records[order.boxes()..].copy_from_slice(&detail.states_of(&sums));
                    *made_last = changes.is_some().then_some(MadeTime { time: t, sums, colours });
                    Versioned::new(records)
                }
            }
        });
        let over = over.get(t, || match over_last {
            Some((before, changed)) => {
                let now = appearance.overlay_of(plan, timeline, &changed, t);
                if before.records.is_empty() && now.iter().all(|over| *over == PlotState::default()) {
                    return Versioned::default();
                }
                let mut records = match before.records.is_empty() {
                    true => PlotState::none(order.boxes()),
                    false => before.records.to_vec(),
                };
                let mut others = Vec::with_capacity(changed.len());
                for (&plot, now) in changed.iter().zip(now) {
                    let at = order.box_of(plot as usize);
                    others.push(at as u32);
                    records[at] = now;
                }
                Versioned::changed(records, &before, others)
            }
            None => {
                let plots = appearance.overlay(plan, timeline, t);
                if plots.is_empty() {
                    return Versioned::default();
                }
                // No more room than it takes: it is kept.
                let mut records = Vec::with_capacity(order.boxes());
                records.resize(order.districts(), PlotState::default());
                order.append(&plots, &mut records);
                Versioned::new(records)
            }
        });
        TimeState { records, over, order: order.clone() }
    }

    /// The plots that differ between time `from` and time `to`, if looking at these is quicker than looking at all. Found once for all
    /// parts of a step.
    fn changed(&mut self, from: usize, to: usize) -> Option<Arc<[u32]>> {
        if self.changed.as_ref().is_none_or(|(of, _)| *of != (from, to)) {
            let changes = self.changes.as_deref()?;
            let found = self.appearance.changed_plots(&self.plan, changes, from, to);
            self.changed = Some(((from, to), found.map(Into::into)));
        }
        self.changed.as_ref().and_then(|(_, plots)| plots.clone())
    }

    /// Legend of time `t`: the number of buildings by colour, and the difference from the base. Counted once for each time that is shown.
    pub fn told(&mut self, t: usize) -> (Arc<ColourHistogram>, Option<Comparison>) {
        let last = self.told_last.replace(t);
        if let Some((histogram, comparison)) = self.told.get(&t) {
            return (Arc::clone(histogram), *comparison);
        }
        let states = self.states(t);
        let known = self.made_last.as_ref().filter(|made| made.time == t).map(|made| made.colours.clone());
        let histogram = Arc::new(known.unwrap_or_else(|| {
            let order = &self.order;
            let mut counted = ColourHistogram::of(&states.records.records[order.opaque().start..order.boxes()]);
            self.mores.iter().for_each(|&more| counted.remove(states.of(more as usize)));
            counted
        }));
        let comparison = self.appearance.base().map(|base| {
            let before = last.and_then(|from| Some((from, self.told.get(&from)?.1?)));
            let moved = before.and_then(|(from, told)| Some((from, told, self.changed(from, t)?)));
            match moved {
                Some((from, told, changed)) => told.moved(&self.plan, &self.timeline, (base, from, t), &changed),
                None => Comparison::between(&self.plan, &self.timeline, base, t),
            }
        });
        self.told.insert(t, (Arc::clone(&histogram), comparison));
        (histogram, comparison)
    }

    /// How many buildings a cut would free, and how much of each, at time `t`: by the colours of [`Legend::of_cut`]. `shares` are
    /// those of its groups, `version` differs for each cut; counted once for it.
    pub fn freed(&mut self, t: usize, version: u64, shares: &HashMap<NodeId, f32>) -> Arc<ColourHistogram> {
        if let Some((_, histogram)) = self.freed.as_ref().filter(|(of, _)| *of == (t, version)) {
            return Arc::clone(histogram);
        }
        let states = self.states(t);
        let mut counted = ColourHistogram::default();
        for plot in 0..self.plan.plots.len() {
            if let Some(node) = self.plan.building(plot) {
                let position = city::freed_position(shares.get(&node).copied().unwrap_or(0.0));
                counted.add(PlotState { colour: (position * f32::from(u16::MAX)).round() as u16, ..states.of(plot) });
            }
        }
        let histogram = Arc::new(counted);
        self.freed = Some(((t, version), Arc::clone(&histogram)));
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::settings::Settings;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::{Amount, TimePoint, Timeline};

    /// A cut frees a quarter of one, all of another and nothing of the third; a fourth is not there yet.
    #[test]
    fn the_legend_of_a_cut_counts_what_stands_by_what_would_be_freed() {
        let trees = [3usize, 4].map(|there| {
            let mut tree = MemoryTree::new();
            for i in 0..there {
                let leaf = tree.child(0, &"Type".into(), &format!("T{i}").as_str().into());
                tree.add_up(&[leaf as u32], Amount { objects: 1, bytes: 100 });
            }
            tree
        });
        let timeline = Arc::new(Timeline::from_trees(vec![TimePoint::default(); 2], &trees));
        let mut city = City::new(&timeline, &Settings::default());
        let node = |name: &str| timeline.nodes().find(|&node| timeline.name(node) == name).expect("it is there");
        let mut shares = HashMap::from([(node("T0"), 0.25), (node("T1"), 1.0), (node("T3"), 1.0)]);
        let part =
            |share: f32| ((share.sqrt() * ColourHistogram::PARTS as f32) as usize).min(ColourHistogram::PARTS - 1);
        let told = |counted: &ColourHistogram| [0.0, 0.25, 1.0].map(|share| counted.counts[part(share)]);
        let first = city.freed(0, 1, &shares);
        assert_eq!((told(&first), first.buildings()), ([1, 1, 1], 3));
        let second = city.freed(1, 1, &shares);
        assert_eq!((told(&second), second.buildings()), ([1, 1, 2], 4));
        // Another cut has another version, and is counted anew.
        shares.remove(&node("T1"));
        assert_eq!(told(&city.freed(1, 1, &shares)), [1, 1, 2], "the same cut");
        assert_eq!(told(&city.freed(1, 2, &shares)), [2, 1, 1]);
    }
}
