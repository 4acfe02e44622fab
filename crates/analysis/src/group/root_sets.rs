//! The GC roots that reach each object: all of them, or the nearest.
//!
//! Paths end at class objects. The static fields of a class object are roots of their own, so their targets are reached from those fields,
//! not from the referrers of the class. Otherwise every object would be reached from every static field of its class loader's classes, and
//! the answer would say nothing. Other objects of a class object (data of reflection, constants) are reached from it, as from a root.

use super::classifier::GroupingRun;
use ahash::AHashMap;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::{BitSet, HeapState, ObjectId, RootKind};
use rustc_hash::FxHashMap;

/// The roots that count, and the detail that separates them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RootChoice {
    /// Only kinds, without class and field, thread and method.
    pub kind: bool,
    /// Only variables.
    pub variables: bool,
    /// Only the nearest.
    pub first: bool,
}

/// For each object the roots that reach it.
pub(super) struct RootSets {
    /// For each separate root, the parts from its kind to its place.
    pub chains: Vec<Vec<String>>,
    /// Lists of roots, ascending, each once; the first is empty.
    sets: Vec<Box<[u32]>>,
    /// By object: the number of its set.
    set_of: Vec<u32>,
}

/// Entries of all lists: 4 bytes each.
const MOST_ENTRIES: usize = 1 << 26;
/// Steps between two looks at the clock.
const RUN: usize = 1 << 16;
/// Not there.
const NONE: u32 = u32::MAX;

impl RootSets {
    /// Finds them. With `first`, O(objects + references). Otherwise the sets of all objects that the same roots reach are
    /// one set, and O(objects + references) unions of sets, each of which is worked out once.
    ///
    /// # Errors
    /// When cancelled, or when there are more combinations of roots than fit.
    pub fn new(heap: &HeapState, choice: RootChoice, run: &GroupingRun<'_>) -> Result<RootSets> {
        let sources = Sources::new(heap, choice, run.among);
        let graph = RootGraph { heap, among: run.among, ends: &sources.class_objects };
        let (sets, set_of) = match choice.first {
            true => nearest(&graph, &sources, run)?,
            false => all(&graph, &sources, run)?,
        };
        Ok(RootSets { chains: sources.chains, sets, set_of })
    }

    /// The roots that reach an object: numbers of chains.
    #[inline]
    pub fn of(&self, o: ObjectId) -> &[u32] {
        &self.sets[self.number_of(o) as usize]
    }

    /// The number of the set of these.
    #[inline]
    pub fn number_of(&self, o: ObjectId) -> u32 {
        self.set_of[o.0 as usize]
    }
}

/// Where paths begin.
struct Sources {
    chains: Vec<Vec<String>>,
    /// Object and chain, in the order of roots.
    begins: Vec<(ObjectId, u32)>,
    class_objects: BitSet,
}

impl Sources {
    fn new(heap: &HeapState, choice: RootChoice, among: Option<&BitSet>) -> Sources {
        let n = heap.object_count();
        let takes_part = |o: ObjectId| (o.0 as usize) < n && among.is_none_or(|all| all.contains(o.0));
        let mut known: AHashMap<Vec<String>, u32> = AHashMap::default();
        let mut begins = Vec::new();
        let mut begin = |o: ObjectId, chain: Vec<String>| {
            let next = known.len() as u32;
            begins.push((o, *known.entry(chain).or_insert(next)));
        };
        let depth = if choice.kind { 1 } else { usize::MAX };
        let mut in_fields = BitSet::new(n);
        for root in heap.roots().iter().filter(|r| takes_part(r.object)) {
            if root.kind == RootKind::StaticField {
                in_fields.insert(root.object.0);
            }
            if !choice.variables || root.is_variable() {
                begin(root.object, root.chain().take(depth).map(str::to_owned).collect());
            }
        }
        let mut class_objects = BitSet::new(n);
        for (t, of) in heap.types().iter().enumerate() {
            let Some(mirror) = heap.mirror_of(memory_city_heap::TypeId(t as u32)).filter(|&m| takes_part(m)) else {
                continue;
            };
            class_objects.insert(mirror.0);
            for &target in heap.references(mirror).iter().filter(|&&o| takes_part(o) && !in_fields.contains(o.0)) {
                if !choice.variables {
                    begin(target, ["Class object", &of.name].iter().take(depth).map(|s| (*s).to_owned()).collect());
                }
            }
        }
        let mut chains = vec![Vec::new(); known.len()];
        known.into_iter().for_each(|(chain, number)| chains[number as usize] = chain);
        Sources { chains, begins, class_objects }
    }
}

struct RootGraph<'a> {
    heap: &'a HeapState,
    among: Option<&'a BitSet>,
    /// Paths end here.
    ends: &'a BitSet,
}

impl RootGraph<'_> {
    /// Where paths go on from an object.
    #[inline]
    fn next(&self, o: u32) -> &[ObjectId] {
        if self.ends.contains(o) { &[] } else { self.heap.references(ObjectId(o)) }
    }

    #[inline]
    fn takes_part(&self, o: ObjectId) -> bool {
        self.among.is_none_or(|all| all.contains(o.0))
    }
}

type SetsOfObjects = (Vec<Box<[u32]>>, Vec<u32>);

/// The nearest root of each object; of several the one that comes first.
fn nearest(graph: &RootGraph<'_>, sources: &Sources, run: &GroupingRun<'_>) -> Result<SetsOfObjects> {
    // List 0 is empty, list i + 1 has chain i alone.
    let sets = std::iter::once(Box::default()).chain((0..sources.chains.len() as u32).map(|c| [c].into())).collect();
    let mut set_of = vec![0u32; graph.heap.object_count()];
    let mut open = Vec::new();
    for &(o, chain) in &sources.begins {
        if set_of[o.0 as usize] == 0 {
            set_of[o.0 as usize] = chain + 1;
            open.push(o.0);
        }
    }
    // A queue that is never emptied: an object is in it once.
    let mut at = 0;
    while let Some(&o) = open.get(at) {
        if at.is_multiple_of(RUN) {
            run.progress.check()?;
        }
        at += 1;
        for &target in graph.next(o) {
            if set_of[target.0 as usize] == 0 && graph.takes_part(target) {
                set_of[target.0 as usize] = set_of[o as usize];
                open.push(target.0);
            }
        }
    }
    Ok((sets, set_of))
}

/// All roots of each object: along the order in which knots of objects that reach each other follow each other.
fn all(graph: &RootGraph<'_>, sources: &Sources, run: &GroupingRun<'_>) -> Result<SetsOfObjects> {
    let n = graph.heap.object_count();
    let (knot_of, order, knots) = knots(graph, sources, run)?;
    let mut sets = SetTable::new();
    let mut set_of_knot = vec![0u32; knots];
    for &(o, chain) in &sources.begins {
        let knot = &mut set_of_knot[knot_of[o.0 as usize] as usize];
        let one = sets.single(chain)?;
        *knot = sets.union(*knot, one)?;
    }
    // Objects come knot by knot, and a knot comes after all that it leads to: backwards, each set is complete before it is
    // handed on.
    for (i, &o) in order.iter().rev().enumerate() {
        if i.is_multiple_of(RUN) {
            run.progress.check()?;
        }
        let from = knot_of[o as usize];
        for &target in graph.next(o) {
            let to = knot_of[target.0 as usize];
            if to != from && to != NONE {
                set_of_knot[to as usize] = sets.union(set_of_knot[to as usize], set_of_knot[from as usize])?;
            }
        }
    }
    let set_of = (0..n).map(|o| if knot_of[o] == NONE { 0 } else { set_of_knot[knot_of[o] as usize] }).collect();
    Ok((sets.all, set_of))
}

/// Strongly connected components ("knots") of the reachable objects. Returns for each object the number of its knot, the objects knot by
/// knot, targets first, and the number of knots. Tarjan, "Depth-first search and linear graph algorithms", 1972, with an explicit stack: a
/// list of ten million nodes is ten million deep.
fn knots(graph: &RootGraph<'_>, sources: &Sources, run: &GroupingRun<'_>) -> Result<(Vec<u32>, Vec<u32>, usize)> {
    let n = graph.heap.object_count();
    // While an object is on the stack: the lowest number of what it reaches there.
    let (mut number, mut low) = (vec![NONE; n], vec![NONE; n]);
    let mut knot_of = vec![NONE; n];
    let (mut order, mut stack) = (Vec::new(), Vec::new());
    // Objects on the way down, and which of their references comes next.
    let mut way: Vec<(u32, u32)> = Vec::new();
    let (mut numbers, mut knots, mut steps) = (0u32, 0u32, 0usize);
    for &(source, _) in &sources.begins {
        if number[source.0 as usize] != NONE {
            continue;
        }
        way.push((source.0, 0));
        while let Some(&mut (o, ref mut next)) = way.last_mut() {
            steps += 1;
            if steps.is_multiple_of(RUN) {
                run.progress.check()?;
            }
            let i = o as usize;
            if *next == 0 && number[i] == NONE {
                (number[i], low[i]) = (numbers, numbers);
                numbers += 1;
                stack.push(o);
            }
            let references = graph.next(o);
            let mut down = None;
            while let Some(&target) = references.get(*next as usize) {
                *next += 1;
                let t = target.0 as usize;
                if !graph.takes_part(target) {
                    continue;
                }
                if number[t] == NONE {
                    down = Some(target.0);
                    break;
                }
                if knot_of[t] == NONE {
                    low[i] = low[i].min(number[t]);
                }
            }
            if let Some(target) = down {
                way.push((target, 0));
                continue;
            }
            way.pop();
            if let Some(&(above, _)) = way.last() {
                low[above as usize] = low[above as usize].min(low[i]);
            }
            if low[i] == number[i] {
                while let Some(member) = stack.pop() {
                    knot_of[member as usize] = knots;
                    order.push(member);
                    if member == o {
                        break;
                    }
                }
                knots += 1;
            }
        }
    }
    Ok((knot_of, order, knots as usize))
}

/// Sets of numbers, each once.
struct SetTable {
    all: Vec<Box<[u32]>>,
    find: AHashMap<Box<[u32]>, u32>,
    unions: FxHashMap<(u32, u32), u32>,
    entries: usize,
}

impl SetTable {
    fn new() -> SetTable {
        let find = AHashMap::from_iter([(Box::default(), 0)]);
        SetTable { all: vec![Box::default()], find, unions: FxHashMap::default(), entries: 0 }
    }

    fn single(&mut self, one: u32) -> Result<u32> {
        self.number([one].into())
    }

    fn number(&mut self, set: Box<[u32]>) -> Result<u32> {
        if let Some(&number) = self.find.get(&set) {
            return Ok(number);
        }
        self.entries += set.len();
        // What unions are remembered counts too: three numbers each.
        if self.entries + 3 * self.unions.len() > MOST_ENTRIES {
            return Err(Error::Unusable {
                what: format!("More combinations of GC roots reach the objects of this heap than fit: over {MOST_ENTRIES} entries"),
                remedy: "Ask for the nearest root, indirectly-rooted(first), for kinds, indirectly-rooted(kind), or for variables, indirectly-rooted(variables)".into(),
            });
        }
        let number = self.all.len() as u32;
        self.all.push(set.clone());
        self.find.insert(set, number);
        Ok(number)
    }

    #[inline]
    fn union(&mut self, a: u32, b: u32) -> Result<u32> {
        if a == b || b == 0 {
            return Ok(a);
        }
        if a == 0 {
            return Ok(b);
        }
        let pair = (a.min(b), a.max(b));
        match self.unions.get(&pair) {
            Some(&number) => Ok(number),
            None => self.new_union(pair),
        }
    }

    #[cold]
    fn new_union(&mut self, (a, b): (u32, u32)) -> Result<u32> {
        let mut all: Vec<u32> = self.all[a as usize].iter().chain(&self.all[b as usize]).copied().collect();
        all.sort_unstable();
        all.dedup();
        let number = self.number(all.into())?;
        self.unions.insert((a, b), number);
        Ok(number)
    }
}
