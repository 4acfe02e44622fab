//! Merged paths from GC roots to a group of objects: a tree that begins at the group and goes up, against the references.
//!
//! It grows from the group up, not from the roots down, because every step is measured by the group: how many of its objects are reached
//! through the step. Downwards, the same objects would be split among roots before it is known which of them matter. Upwards, paths that
//! lead to few of the group's objects are cut where they leave the common path. Siblings of one step overlap: objects may be kept by
//! several.
//!
//! A *step* is a set of objects of one type that hold objects of the step below by one field. Class objects are a step each: they stand for
//! classes. In one step an object counts once. A type that is on the path already (nodes of a list, maps in maps) is no new step. Its
//! objects belong to the recursion of the step from which it was reached, and are counted there. So the depth is bounded by the number of
//! types, whatever the data, and nothing recurses.

use super::anchors::Anchors;
use super::fields::{FieldNames, KnownFields, Pair};
use super::keeping::{ClassObjects, KeeperGraph};
use super::member_weights::MemberWeights;
use super::paths_expand::Expander;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId, RootKind, TypeId};
use std::collections::BinaryHeap;

/// How far paths are followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathLimits {
    /// Least share of the group's objects, or of the bytes these keep, for a step, percent.
    pub share: u64,
    /// Steps at most; those through which most of the group is reached come first.
    pub steps: usize,
    /// Only the strongest step is followed at each fork: a chain.
    pub only_strongest: bool,
    /// If true, objects of one type are separated by the field that holds the step below.
    pub by_field: bool,
}

/// The weight of reached objects, to compare paths. Shares are of objects in any case.
#[derive(Clone, Copy)]
pub(crate) enum Weighing<'a> {
    /// Each object as much as another.
    Objects,
    /// By their own bytes.
    Bytes,
    /// By objects, or by the bytes they keep alive if that share is larger. Of a thousand sessions, the one that keeps half of the heap has
    /// a path of its own.
    Kept(&'a MemberWeights<'a>),
}

/// The common property of the objects of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum StepOf {
    /// The group: where paths begin.
    Group,
    /// They are of a type.
    Type(TypeId),
    /// It is the class object of a class.
    Class(ObjectId),
}

/// A root that holds objects of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootStep {
    /// The kind of the root.
    pub kind: RootKind,
    /// Kind and place, for people.
    pub text: String,
    /// For a local variable the method and the line, if known.
    pub place: Option<String>,
    /// Objects of the step that it holds.
    pub held: u64,
    /// The part of the group that is reached from there, on the way down from this step.
    pub reached: Amount,
    /// Bytes that the reached objects keep alive.
    pub keeps: u64,
}

/// Why nothing is above a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// Something is.
    GoesOn,
    /// Roots hold all that is reached through the step.
    Roots,
    /// Nothing keeps its objects, or each way leads to too little of the group.
    Nothing,
    /// There are as many steps as were asked for.
    NotFollowed,
}

/// A set of objects that hold those of the step below.
#[derive(Clone, Debug)]
pub(crate) struct MergedStep {
    /// The step that it holds: a place in [`Paths::steps`], smaller than its own.
    pub below: usize,
    pub of: StepOf,
    /// Its objects, ascending.
    pub objects: Vec<ObjectId>,
    /// Some of the references to the step below: all of them where they are few, see [`MOST_REFERENCES`].
    pub references: Vec<Pair>,
    /// How many there are; several from one object to another count once.
    pub reference_count: u64,
    /// Objects of types that are on the path already, through which the path goes on upwards; and, if each object has one keeper, those
    /// between objects that are on the path.
    pub again: Vec<ObjectId>,
    /// The part of the group that is reached through it.
    pub reached: Amount,
    /// Bytes that these objects keep alive; 0 if not requested.
    pub keeps: u64,
    /// Roots that hold its objects, or those of the recursion; those that reach most first.
    pub roots: Vec<RootStep>,
    /// Roots that are not listed.
    pub more_roots: u64,
    /// Kinds of keepers through which too little of the group is reached, or that were not followed, with their objects.
    pub left_out: (u64, u64),
    pub end: PathEnd,
}

/// Steps of a group, upwards.
pub(crate) struct Paths {
    /// The group first; each step after the one that it holds.
    pub steps: Vec<MergedStep>,
    /// The fields of the references.
    pub fields: KnownFields,
}

/// The reached part of the group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reached {
    pub amount: Amount,
    /// Bytes that it keeps alive; 0 if not requested.
    pub keeps: u64,
}

/// Objects that hold those of a step, and may become one.
pub(super) struct Candidate {
    pub of: StepOf,
    pub field: Option<u32>,
    /// Ascending.
    pub objects: Vec<ObjectId>,
    /// Ascending, each once.
    pub references: Vec<Pair>,
    pub reached: Reached,
}

/// The steps above a step.
pub(super) struct Expansion {
    /// Objects of types that are on the way already, and those between objects that are; ascending.
    pub again: Vec<ObjectId>,
    /// Candidates, the largest part of the group first.
    pub candidates: Vec<Candidate>,
    pub roots: Vec<RootStep>,
    pub more_roots: u64,
    /// The part that all roots together reach.
    pub by_roots: Reached,
}

/// Most references of a step that are kept: up to here fields can separate it.
pub(super) const MOST_REFERENCES: usize = 20_000;
/// Size of the sample, for more references than that.
const SAMPLED_REFERENCES: usize = 1_000;

/// Looks up the way from a group to the roots.
///
/// Time: for each step a walk over the objects between it and the group, and a second round if fields separate the references of a step.
/// Memory: 9 bytes an object of the heap while it works, 4 an object of a step.
///
/// # Errors
/// When cancelled, or names cannot be asked for.
pub(crate) fn paths(
    keeping: &KeeperGraph<'_>,
    group: &BitSet,
    limits: PathLimits,
    weighing: Weighing<'_>,
    names: &dyn FieldNames,
    progress: &Progress,
) -> Result<Paths> {
    let heap = keeping.heap();
    let class_objects = ClassObjects::new(heap);
    let anchors = Anchors::new(keeping.graph());
    let mut fields = KnownFields::default();
    let mut steps = Vec::new();
    // The first round finds the steps by type, the second tells those by field apart; what is new above them then is asked
    // for, and told apart as far as it is a step of its own.
    for round in 0..ROUNDS {
        let known = limits.by_field.then_some(&fields);
        let expander = Expander::new(keeping, &class_objects, &anchors, group)
            .by_fields(known)
            .weighing(weighing)
            .only_strongest(limits.only_strongest);
        steps = one_round(expander, heap, group, limits, progress)?;
        let pairs = steps.iter().flat_map(|step: &MergedStep| step.references.iter().copied());
        if !fields.ask(pairs, names, progress)? || !limits.by_field || round + 1 == ROUNDS {
            break;
        }
    }
    Ok(Paths { steps, fields })
}

const ROUNDS: usize = 3;

fn one_round(
    mut expander: Expander<'_>,
    heap: &HeapState,
    group: &BitSet,
    limits: PathLimits,
    progress: &Progress,
) -> Result<Vec<MergedStep>> {
    let objects: Vec<ObjectId> = group.iter().map(ObjectId).collect();
    let all = objects.iter().fold(Amount::default(), |mut sum, &o| {
        sum += Amount { objects: 1, bytes: heap.size_of(o) };
        sum
    });
    let all = Reached { amount: all, keeps: expander.kept_in_all() };
    let least = |whole: u64| (u128::from(whole) * u128::from(limits.share)).div_ceil(100).max(1) as u64;
    let (least, least_kept) = (least(all.amount.objects), least(all.keeps));
    progress.begin("Following what keeps it upwards", limits.steps as u64);
    let mut steps = vec![MergedStep::new(0, StepOf::Group, objects, all)];
    // Those through which most is reached first; the nearer ones, then the earlier ones of equals.
    let mut open = BinaryHeap::from([(u64::MAX, std::cmp::Reverse(0usize), std::cmp::Reverse(0usize))]);
    while let Some((_, std::cmp::Reverse(depth), std::cmp::Reverse(at))) = open.pop() {
        progress.check()?;
        progress.advance(1);
        let Expansion { again, candidates, roots, more_roots, by_roots } = expander.expand(&steps, at, progress)?;
        let step = &mut steps[at];
        (step.again, step.roots, step.more_roots) = (again, roots, more_roots);
        let strongest = candidates.first().map_or(0, |c| expander.weight(c.reached));
        let ends = by_roots.amount.objects > 0
            && match limits.only_strongest {
                true => expander.weight(by_roots) >= strongest,
                false => by_roots.amount.objects >= step.reached.objects,
            };
        step.end = if ends { PathEnd::Roots } else { PathEnd::Nothing };
        let mut taken = 0;
        for candidate in candidates {
            let full = steps.len() > limits.steps;
            let is_enough = candidate.reached.amount.objects >= least || candidate.reached.keeps >= least_kept;
            let wanted = is_enough && !(limits.only_strongest && taken > 0);
            let step = &mut steps[at];
            if ends || full || !wanted {
                step.left_out.0 += 1;
                step.left_out.1 += candidate.objects.len() as u64;
                if wanted && full && step.end == PathEnd::Nothing {
                    step.end = PathEnd::NotFollowed;
                }
                continue;
            }
            taken += 1;
            step.end = PathEnd::GoesOn;
            open.push((
                expander.weight(candidate.reached),
                std::cmp::Reverse(depth + 1),
                std::cmp::Reverse(steps.len()),
            ));
            let mut new = MergedStep::new(at, candidate.of, candidate.objects, candidate.reached);
            new.reference_count = candidate.references.len() as u64;
            new.references = sampled(candidate.references);
            steps.push(new);
        }
    }
    Ok(steps)
}

impl MergedStep {
    fn new(below: usize, of: StepOf, objects: Vec<ObjectId>, reached: Reached) -> MergedStep {
        MergedStep {
            below,
            of,
            objects,
            references: Vec::new(),
            reference_count: 0,
            again: Vec::new(),
            reached: reached.amount,
            keeps: reached.keeps,
            roots: Vec::new(),
            more_roots: 0,
            left_out: (0, 0),
            end: PathEnd::Nothing,
        }
    }
}

fn sampled(references: Vec<Pair>) -> Vec<Pair> {
    match references.len() {
        n if n > MOST_REFERENCES => spread(n, SAMPLED_REFERENCES).map(|at| references[at]).collect(),
        _ => references,
    }
}

/// At most `wanted` places below `n`, all over it and ascending; not at regular distances, because the objects may have a period (two
/// references of each object).
pub(super) fn spread(n: usize, wanted: usize) -> impl Iterator<Item = usize> {
    let count = wanted.min(n);
    (0..count).map(move |k| {
        let (start, end) = (k * n / count, (k + 1) * n / count);
        start + (k.wrapping_mul(0x9E37_79B9) >> 8) % (end - start)
    })
}
