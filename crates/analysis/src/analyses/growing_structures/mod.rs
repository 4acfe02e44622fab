//! Analysis `growing-structures`: data structures that grow between two points in time, and their patterns.

use super::biggest::owners_text;
use super::object_rows::OwnerRows;
use super::objects::{Largest, address_text, history, type_name};
use super::paths::{rules, soft_parameter};
use super::{
    Analysis, Arguments, Certainty, Description, Detector, DetectorRank, Finding, Findings, FollowsFrom, Need,
    NextStep, Parameter, TimeWindow,
};
use crate::ownership::anchors::Anchors;
use crate::structures::{
    ChangedPart, FollowedHeads, FollowedKey, HeadFollowing, StrongGrowth, StructureGrowth, StructurePattern,
    StructureSizes, apart, change, descriptions, fills, growths, sizes,
};
use crate::timeline::{History, Source};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{Descriptions, FoundStructures, StructureClosure, StructureRules};
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

mod tables;

use tables::{
    HeapGrowth, NamedStructure, StructureContents, apart_text, following_text, growing_table, new_structures,
};

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(GrowingStructures)
}

struct GrowingStructures;

impl Analysis for GrowingStructures {
    fn describe(&self) -> Description {
        let number = Parameter::number;
        Description {
            id: "growing-structures",
            title: "Growing data structures",
            explanation: "The data structures that are there at the first and at the last point in time, by how much they \
                grow: their elements, what they alone keep, the structures themselves, all that is reached from them; \
                the pattern of each, the next step, and the contents of the strongest at both times.",
            needs: &[Need::Objects, Need::TwoTimes],
            parameters: vec![
                number("top", "Rows", "How many structures are listed, the strongest first", 10, 1, 100_000),
                number(
                    "strong",
                    "Strong growth",
                    "Percent of the heap's growth, in bytes or objects, from which on the growth of a structure is strong",
                    StrongGrowth::SHARE,
                    1,
                    1000,
                ),
                number(
                    "least",
                    "Least growth of the heap",
                    "Percent of the heap at the first point in time. If the heap changes less, growth is strong by its \
                     share of this",
                    StrongGrowth::LEAST,
                    0,
                    100,
                ),
                soft_parameter(),
            ],
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::HeapStates
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let history = history(document)?;
        let question = GrowthQuestion {
            history,
            times: [window.from, window.to],
            keep: rules(arguments).for_owners(),
            top: arguments.count("top"),
            descriptions: descriptions(history.series().profile())?,
        };
        let (states, following) = question.states(progress)?;
        let strong = StrongGrowth::new(question.heap(&states), arguments.number("strong"), arguments.number("least"));
        let all = growths([&states[0].heads, &states[1].heads]);
        let judged = question.judged(&states, &all, strong, progress)?;
        let ends = [window.from, window.to].map(|t| document.timeline().points()[t].label.as_str());
        question.findings(&states, &following, (&all, &judged), ends, progress)
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(GrowingStructures)
}

impl Detector for GrowingStructures {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Asked
    }
}

/// The structures of a history that are asked for: between two times, by some rules.
struct GrowthQuestion<'a> {
    history: &'a History,
    times: [usize; 2],
    keep: KeepRules,
    top: usize,
    descriptions: Descriptions,
}

/// The structures of one of the times.
struct StructureState {
    heads: FollowedHeads,
    /// The heap state of the later time alone: both take twice the memory.
    heap: Option<(Arc<HeapState>, Arc<Dominators>)>,
    /// Whether fields say what they hold.
    has_values: bool,
}

/// A structure with its sizes and its pattern.
struct JudgedStructure {
    growth: StructureGrowth,
    sizes: [StructureSizes; 2],
    pattern: StructurePattern,
}

impl JudgedStructure {
    /// Whether it, or what it alone keeps, is not the same at both times.
    fn is_changed(&self) -> bool {
        let StructureGrowth { retained, elements, .. } = self.growth;
        let sizes = self.sizes.map(|s| (s.structure, s.deep_structure));
        retained[0] != retained[1] || elements[0] != elements[1] || sizes[0] != sizes[1]
    }

    /// Its rank in bytes: the growth at home; if others keep the elements, that of the structure where it is more.
    fn weight(&self) -> i64 {
        let structure = change(self.sizes.map(|s| s.structure.bytes));
        let weights = [Some(self.growth.at_home), Some(structure).filter(|_| self.pattern.is_shared)];
        let sign = if self.pattern.shrinks { -1 } else { 1 };
        weights.into_iter().flatten().map(|weight| weight.saturating_mul(sign)).max().unwrap_or(0)
    }
}

impl GrowthQuestion<'_> {
    fn heap(&self, states: &[StructureState; 2]) -> [Amount; 2] {
        [0, 1].map(|time| states[time].heads.total)
    }

    /// The heap state of a time; that of the earlier one is loaded again.
    fn heap_at(&self, states: &[StructureState; 2], time: usize, progress: &Progress) -> Result<Arc<HeapState>> {
        match &states[time].heap {
            Some((heap, _)) => Ok(Arc::clone(heap)),
            None => self.history.heap(self.times[time], progress),
        }
    }

    /// The structures of both times, one after the other.
    fn states(&self, progress: &Progress) -> Result<([StructureState; 2], HeadFollowing)> {
        let mut following = HeadFollowing::between(self.history, self.times[0], self.times[1]);
        let mut state = |at: usize| {
            let time = self.times[at];
            let (heap, dominators) = self.history.dominators(time, self.keep, progress)?;
            if dominators.total().objects == 0 {
                return Err(Error::Unusable {
                    what: "The input does not say what GC roots keep".into(),
                    remedy: "Take heap dumps, or record a trace with references and GC roots".into(),
                });
            }
            let rules = StructureRules::new(&heap, &self.descriptions, progress)?;
            let found = FoundStructures::new(&heap, &rules, Some(heap.reachable()), progress)?;
            let values = self.history.values(time, progress)?;
            let fills = fills(&heap, values.as_ref(), &rules, &found, progress)?;
            let keys = following.keys((self.history, time), (&heap, &dominators), &found, progress)?;
            let heads = FollowedHeads::new(&dominators, &found, &fills, &keys, heap.object_count(), progress)?;
            let has_values = values.is_some() && !heap.is_redacted();
            Ok(StructureState { heads, heap: Some((heap, dominators)).filter(|_| at == 1), has_values })
        };
        Ok(([state(0)?, state(1)?], following))
    }

    /// The structures that may be among the strongest, with their sizes and patterns; the strongest first.
    fn judged(
        &self,
        states: &[StructureState; 2],
        all: &[StructureGrowth],
        strong: StrongGrowth,
        progress: &Progress,
    ) -> Result<Vec<JudgedStructure>> {
        let mut chosen: BTreeSet<usize> = BTreeSet::new();
        let by: [fn(&StructureGrowth) -> i64; 5] = [
            // The largest may hold data that grows, without any growth of its own.
            |of| i64::try_from(of.own[1].objects).unwrap_or(i64::MAX),
            |of| of.at_home,
            |of| change(of.retained.map(|r| r.bytes)),
            |of| change(of.own.map(|own| own.bytes)),
            |of| change(of.own.map(|own| own.objects)),
        ];
        for (weight, sign) in by.iter().flat_map(|weight| [(weight, 1), (weight, -1)]) {
            let mut largest = Largest::new(self.top);
            let changes = all.iter().map(|of| weight(of).saturating_mul(sign));
            changes.enumerate().filter(|(_, n)| *n > 0).for_each(|(at, n)| largest.add((n, Reverse(at))));
            chosen.extend(largest.sorted().map(|(_, Reverse(at))| at));
        }
        chosen.extend(self.holders(states, all, &chosen));
        let growths: Vec<StructureGrowth> = chosen.iter().map(|&at| all[at]).collect();
        let mut measured = [Vec::new(), Vec::new()];
        for time in [1, 0] {
            let heap = self.heap_at(states, time, progress)?;
            let rules = StructureRules::new(&heap, &self.descriptions, progress)?;
            let heads: Vec<Vec<ObjectId>> =
                growths.iter().map(|growth| states[time].heads.heads_of(growth.key).collect()).collect();
            measured[time] = sizes(&heap, &rules, self.keep, &heads, progress)?;
        }
        let reaching = match &states[1].heap {
            Some((heap, _)) => reaching_classes(heap, progress)?,
            None => BitSet::default(),
        };
        let judge = |(growth, sizes): (StructureGrowth, [StructureSizes; 2])| {
            let sizes = [0, 1].map(|time| {
                let of = |amount| growth.followed_amount(time, amount);
                let StructureSizes { structure, deep_structure, deep } = sizes[time];
                StructureSizes { structure: of(structure), deep_structure: of(deep_structure), deep: of(deep) }
            });
            let with_deep = !states[1].heads.heads_of(growth.key).any(|head| reaching.contains(head.0));
            let pattern = StructurePattern::of(growth.retained, growth.elements, sizes, with_deep, strong);
            JudgedStructure { growth, sizes, pattern }
        };
        let both = measured[0].iter().zip(&measured[1]).map(|(&before, &after)| [before, after]);
        let mut judged: Vec<JudgedStructure> = growths.into_iter().zip(both).map(judge).collect();
        judged.retain(|of| of.pattern.what != ChangedPart::Nothing || of.is_changed());
        judged.sort_by_key(|of| {
            let pattern = of.pattern;
            // Of equals the outer one, which keeps more.
            let retained = of.growth.retained[1].bytes;
            (
                pattern.what == ChangedPart::Nothing,
                pattern.shrinks,
                Reverse(of.weight()),
                Reverse(retained),
                of.growth.key,
            )
        });
        Ok(judged)
    }

    /// The structures that hold those which grow most, without keeping them alone: their data may grow, and others keep it too.
    fn holders(
        &self,
        states: &[StructureState; 2],
        all: &[StructureGrowth],
        chosen: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let Some((heap, _)) = &states[1].heap else { return found };
        let keys = states[1].heads.keys();
        for &at in chosen {
            let heads: Vec<ObjectId> = states[1].heads.heads_of(all[at].key).take(2).collect();
            let [head] = heads[..] else { continue };
            let mut open = vec![head];
            let mut seen = BTreeSet::from([head]);
            while let Some(o) = open.pop() {
                for &referrer in heap.referrers(o).iter().take(MOST_REFERRERS) {
                    if seen.len() >= MOST_REFERRERS || !seen.insert(referrer) {
                        continue;
                    }
                    match keys.get(&referrer) {
                        Some(key) => found.extend(all.binary_search_by_key(key, |growth| growth.key)),
                        None => open.push(referrer),
                    }
                }
            }
            if found.len() >= self.top {
                break;
            }
        }
        found
    }

    /// The contents of a structure at both times, by type and allocation site.
    fn contents(
        &self,
        states: &[StructureState; 2],
        key: FollowedKey,
        progress: &Progress,
    ) -> Result<StructureContents> {
        let mut contents = StructureContents::default();
        for time in [1, 0] {
            let heap = self.heap_at(states, time, progress)?;
            contents.have_sites |= heap.has_sites();
            let rules = StructureRules::new(&heap, &self.descriptions, progress)?;
            let heads: Vec<ObjectId> = states[time].heads.heads_of(key).collect();
            let closure = StructureClosure::new(&heap, &rules, &heads, true, progress)?;
            // Most have the type and the site of many others.
            let mut alike: FxHashMap<(u32, u32), (ObjectId, Amount)> = FxHashMap::default();
            for &leaf in &closure.leaves {
                let class = (heap.type_of(leaf).0, heap.origin_class(leaf));
                let (_, amount) = alike.entry(class).or_insert((leaf, Amount::default()));
                *amount += Amount { objects: 1, bytes: heap.size_of(leaf) };
            }
            for (leaf, amount) in alike.into_values() {
                let site = heap.allocation_site(leaf).first().map(ToString::to_string);
                let name = (type_name(&heap, leaf).to_owned(), site.unwrap_or_default());
                contents.groups.entry(name).or_default()[time] += amount;
            }
        }
        Ok(contents)
    }

    fn findings(
        &self,
        states: &[StructureState; 2],
        following: &HeadFollowing,
        (all, judged): (&[StructureGrowth], &[JudgedStructure]),
        ends: [&str; 2],
        progress: &Progress,
    ) -> Result<Findings> {
        let Some((heap, dominators)) = &states[1].heap else { return Ok(Findings::default()) };
        let (objects, graph) = (OwnerRows::new(heap, dominators), dominators.graph(heap));
        let anchors = Anchors::new(&graph);
        let scale = HeapGrowth(self.heap(states));
        let listed: Vec<NamedStructure<'_>> = judged
            .iter()
            .take(self.top)
            .filter_map(|of| {
                let head = states[1].heads.heads_of(of.growth.key).next()?;
                let owners = owners_text(heap, dominators, &anchors, &objects, head);
                Some(NamedStructure { of, name: objects.name(head), address: address_text(heap, head), owners })
            })
            .collect();
        let changed = all.iter().filter(|of| of.retained[0] != of.retained[1] || of.own[0] != of.own[1]).count();
        let by_place = matches!(following, HeadFollowing::Place(_));
        let mut tables = vec![growing_table(&listed, by_place, scale, changed.saturating_sub(listed.len()) as u64)];
        let (mut answers, mut found) = (vec![scale.text(ends)], Vec::new());
        match listed.first().filter(|of| of.of.pattern.what != ChangedPart::Nothing) {
            Some(strongest) => {
                let text = strongest.text(scale);
                answers.extend(text.iter().cloned());
                // What shrinks is not amiss.
                found.extend((!strongest.of.pattern.shrinks).then(|| Finding {
                    certainty: Certainty::Counted,
                    next: NextStep::with("inspect", "object", &strongest.address),
                    ..Finding::of_row("growing-structures", text.into(), &tables[0], Some(0)).at(&*strongest.name)
                }));
                let contents = self.contents(states, strongest.of.growth.key, progress)?;
                tables.push(contents.table(&strongest.name, scale, self.top));
            }
            None => answers.push("No data structure that is there at both times grows or shrinks strongly.".to_owned()),
        }
        answers.push(following_text(following, all));
        let [gone, new] = [(0, 1), (1, 0)].map(|(here, there)| apart(&states[here].heads, &states[there].heads));
        let name = |key: FollowedKey| states[1].heads.heads_of(key).next().map(|head| objects.name(head));
        tables.push(new_structures(&new, name, self.top));
        // Where owners change, all below them seems new: much of the growth may be there.
        answers.push(apart_text(&new, &gone));
        let mut notes = Vec::new();
        let patterns: BTreeSet<StructurePattern> = listed.iter().skip(1).map(|of| of.of.pattern).collect();
        let others = patterns.iter().filter(|pattern| **pattern != listed[0].of.pattern);
        notes.extend(others.map(|pattern| format!("{}: {}", pattern.text(), pattern.next_step())));
        if listed.iter().any(|of| !of.of.growth.is_whole) {
            notes.push(
                "Some of these share so many parts with others that not all were counted for their rank.".to_owned(),
            );
        }
        if !states.iter().all(|state| state.has_values) {
            notes.push(
                "This input does not say what fields hold: elements are known only where parts can be counted.".into(),
            );
        }
        Ok(Findings { tables, found, notes, answers, ..Findings::default() })
    }
}

/// Objects above a structure that are looked at for others that hold it.
const MOST_REFERRERS: usize = 1000;

/// The objects from which references lead to an object that stands for a class. A pass over the references, 1 bit an object.
fn reaching_classes(heap: &HeapState, progress: &Progress) -> Result<BitSet> {
    let mut reaching = BitSet::new(heap.object_count());
    let classes = (0..heap.types().len() as u32).filter_map(|t| heap.mirror_of(TypeId(t)));
    let mut open: Vec<ObjectId> = classes.filter(|class| reaching.insert(class.0)).collect();
    let mut seen = 0u64;
    while let Some(o) = open.pop() {
        seen += 1;
        if seen.is_multiple_of(1 << 16) {
            progress.check()?;
        }
        open.extend(heap.referrers(o).iter().copied().filter(|referrer| reaching.insert(referrer.0)));
    }
    Ok(reaching)
}
