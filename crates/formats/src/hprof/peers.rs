//! Emulation of other tools' reading of dumps, to compare their retained sizes with ours object by object.
//!
//! Tools differ in the references they count. Each difference is a rule with a name (the table of docs/real.md is made of them). Some rules
//! are here, where a dump is read; others are [`KeepRules`]. Only comparisons read dumps this way.

use super::segment::RootRecord;
use super::tags::root;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, Inference, ObjectId, Root, RootKind};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A tool whose rules are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// VisualVM's heap library.
    ///
    /// - Hidden fields of class objects refer to nothing, nor do class objects to their superclass, signers and
    ///   protection domain.
    /// - An instance does not keep its class; but the first that a breadth-first walk from the roots finds does, of classes that
    ///   nothing else has led to before.
    /// - Referents of reference objects lead nowhere, but other referrers of such a referent are not its owners.
    /// - Objects that no root reaches by other references own nothing, and objects they refer to have no owner.
    VisualVm,
    /// `hprof-analyzer`, which goes by the rules of Eclipse Memory Analyzer.
    ///
    /// - Hidden fields of class objects refer to nothing, nor do class objects to their signers and protection domain.
    /// - Objects on a thread's stack are kept by the thread object, not by a root of their own.
    /// - Referents of reference objects are kept, be the reference weak or not.
    /// - The size of a class object is that of its static fields.
    HprofAnalyzer,
}

/// A step of the way from the rules of a tool to ours: one rule more is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerStep {
    /// The rule that is ours from here on, as docs/retained.md calls it; of the first step, where none is, the tool.
    pub rule: &'static str,
    /// The rules for references.
    pub keep: KeepRules,
    /// Whether objects have the tool's sizes.
    pub peer_sizes: bool,
    reading: Reading,
}

/// How a dump is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The tool whose references of class objects are used; `None`: ours, with the hidden fields.
    pub peer: Option<Peer>,
    /// Whether also the references and roots of that tool are added.
    attach: bool,
}

impl Peer {
    /// Steps from the rules of the tool, which reproduce its numbers, to ours, one rule after the other.
    pub fn steps(self) -> Vec<PeerStep> {
        let ours = KeepRules::default();
        let loaders = KeepRules { permanent_classes: false, ..ours };
        let step =
            |rule, peer, attach, keep| PeerStep { rule, keep, peer_sizes: true, reading: Reading { peer, attach } };
        let mine = Some(self);
        let mut steps = match self {
            Peer::VisualVm => {
                let every = KeepRules { weak: true, ..loaders };
                let no_instances = KeepRules { instances_keep_classes: false, ..every };
                vec![
                    step("VisualVM", mine, true, no_instances),
                    step("class", mine, true, every),
                    step("weak", mine, false, loaders),
                ]
            }
            Peer::HprofAnalyzer => {
                let every = KeepRules { weak: true, ..loaders };
                vec![
                    step("hprof-analyzer", mine, true, every),
                    step("weak", mine, true, loaders),
                    step("locals", mine, false, loaders),
                ]
            }
        };
        steps.push(step("hidden fields", None, false, loaders));
        steps.push(step("permanent classes", None, false, ours));
        steps.push(PeerStep { peer_sizes: false, ..step("sizes", None, false, ours) });
        steps
    }
}

impl PeerStep {
    /// Whether it reads dumps as another step does: then the heap state is the same.
    pub fn reads_as(&self, other: &PeerStep) -> bool {
        self.reading == other.reading
    }

    pub(super) fn reading(&self) -> Reading {
        self.reading
    }
}

impl Reading {
    /// True if a record names a root, and not an object kept by a thread.
    pub(super) fn is_root(self, record: &RootRecord) -> bool {
        !(self.attach && self.peer == Some(Peer::HprofAnalyzer) && is_of_stack(record))
    }

    /// Adds the references and roots that follow from the rules of a tool. Returns whether hidden fields are ours to find.
    ///
    /// # Errors
    /// When cancelled.
    pub(super) fn attach(self, inference: &mut Inference, records: &[RootRecord], progress: &Progress) -> Result<bool> {
        match self.peer {
            None => return Ok(true),
            Some(Peer::VisualVm) if self.attach => walk_as_visualvm(inference, records, progress)?,
            Some(Peer::HprofAnalyzer) if self.attach => locals_under_threads(inference, records),
            Some(_) => {}
        }
        Ok(false)
    }
}

/// True for JNI locals, variables, native stacks, thread blocks and JNI monitors: each names a thread.
fn is_of_stack(record: &RootRecord) -> bool {
    matches!(
        record.tag,
        root::JNI_LOCAL | root::JAVA_FRAME | root::NATIVE_STACK | root::THREAD_BLOCK | root::JNI_MONITOR
    )
}

/// Adds references from each thread object to the objects on its stack.
fn locals_under_threads(inference: &mut Inference, records: &[RootRecord]) {
    let find = |id: u64| inference.columns().addresses.find(id);
    let threads = records.iter().filter(|r| r.tag == root::THREAD_OBJECT);
    let threads: ahash::AHashMap<u32, ObjectId> = threads.filter_map(|r| Some((r.thread, find(r.object)?))).collect();
    let local = |r: &RootRecord| Some((*threads.get(&r.thread)?, find(r.object)?));
    let mut locals: Vec<_> = records.iter().filter(|r| is_of_stack(r)).filter_map(local).collect();
    locals.sort_unstable();
    locals.dedup();
    for (thread, local) in locals.into_iter().filter(|(thread, local)| thread != local) {
        inference.add_reference(thread, local, "stack");
    }
}

/// The order in which VisualVM reads the roots, by their tag.
const ROOTS: [u8; 15] = [
    root::UNKNOWN,
    root::JNI_GLOBAL,
    root::JNI_LOCAL,
    root::JAVA_FRAME,
    root::NATIVE_STACK,
    root::STICKY_CLASS,
    root::THREAD_BLOCK,
    root::MONITOR_USED,
    root::THREAD_OBJECT,
    root::INTERNED_STRING,
    root::FINALIZING,
    root::DEBUGGER,
    root::REFERENCE_CLEANUP,
    root::VM_INTERNAL,
    root::JNI_MONITOR,
];

/// Adds the reference from the first instance of each class, and a root for each object that is not reached.
fn walk_as_visualvm(inference: &mut Inference, records: &[RootRecord], progress: &Progress) -> Result<()> {
    let columns = inference.columns();
    let n = columns.type_of.len();
    let mut seen = BitSet::new(n);
    let roots: Vec<ObjectId> = ROOTS
        .iter()
        .flat_map(|&tag| records.iter().filter(move |r| r.tag == tag))
        .filter_map(|r| columns.addresses.find(r.object))
        .collect();
    roots.iter().for_each(|&root| {
        seen.insert(root.0);
    });
    let mut open: VecDeque<ObjectId> = roots.into();
    let mut met = vec![false; columns.types.len()];
    let mut first = Vec::new();
    let mut steps = 0usize;
    let referents: FxHashMap<ObjectId, ObjectId> = columns.referents.iter().map(|r| (r.from, r.to)).collect();
    while let Some(o) = open.pop_front() {
        steps += 1;
        if steps.is_multiple_of(1 << 18) {
            progress.check()?;
        }
        let mut skip = referents.get(&o).copied();
        for &target in columns.outgoing.of(o) {
            if skip == Some(target) {
                skip = None;
            } else if seen.insert(target.0) {
                open.push_back(target);
            }
        }
        let t = columns.type_of[o.0 as usize] as usize;
        // Arrays do not lead to their class.
        if columns.length[o.0 as usize] == u32::MAX
            && !std::mem::replace(&mut met[t], true)
            && let Some(class) = columns.mirror_of[t]
            && seen.insert(class.0)
        {
            first.push((o, class));
            open.push_back(class);
        }
    }
    for (instance, class) in first {
        inference.add_reference(instance, class, "class");
    }
    for o in (0..n as u32).filter(|&o| !seen.contains(o)) {
        let detail = "no root reaches it".to_owned();
        inference.add_root(Root { object: ObjectId(o), kind: RootKind::Other, detail });
    }
    Ok(())
}
