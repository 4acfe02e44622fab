//! Defects that keep a dump from being judged: it has no roots, its references or texts were removed, or most of it is unreachable.

use super::census::Census;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::ownership::{KeptBy, Strengths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, HeapState, HeapType, ObjectId, RootKind, Strength, TypeKind};
use std::path::Path;

/// Fewer objects say nothing of a kind of dump.
const FEW: u64 = 200;

/// Why a dump cannot be judged, and what that means. Costs some searches over the heap where a tenth of it or more is unreachable.
///
/// # Errors
/// When cancelled.
pub(super) fn reasons(path: &Path, heap: &HeapState, census: &Census, progress: &Progress) -> Result<Vec<Warning>> {
    let mut reasons = Vec::new();
    if heap.object_count() > 0 && !heap.roots().iter().any(|r| r.kind != RootKind::StaticField) {
        reasons.push(
            "the dump names no GC roots, so what keeps objects alive is not known: static fields are taken as roots, or all objects \
             as reachable where there are none. Take it again, with jcmd PID GC.heap_dump"
                .to_owned(),
        );
    } else {
        reasons.extend(unreachable(heap, progress)?);
    }
    reasons.extend(without_references(heap));
    let mut warnings: Vec<Warning> = reasons.into_iter().map(|reason| unjudged(path, &reason)).collect();
    if census.texts.are_redacted() {
        let message = format!(
            "{} (all of them are one repeated character): names of threads, values of strings and analyses of contents are left out. \
             Owners, counts and sizes are right",
            Warning::REDACTED
        );
        warnings.push(Warning { path: path.to_owned(), offset: None, message });
    }
    Ok(warnings)
}

fn unjudged(path: &Path, reason: &str) -> Warning {
    Warning { path: path.to_owned(), offset: None, message: format!("{}{reason}", Warning::UNJUDGED) }
}

/// More than half of any dump that no root reaches, or a tenth of one of live objects, is more than garbage.
fn unreachable(heap: &HeapState, progress: &Progress) -> Result<Option<String>> {
    let (mut all, mut garbage) = heap.totals();
    let is_much = |all: Amount, garbage: Amount| garbage.bytes * 10 > all.bytes && all.objects >= FEW;
    if !is_much(all, garbage) {
        return Ok(None);
    }
    let filler = filler(heap);
    for amount in [&mut all, &mut garbage] {
        amount.objects -= filler.objects;
        amount.bytes -= filler.bytes;
    }
    if !is_much(all, garbage) {
        return Ok(None);
    }
    let of = amount_text(garbage, all);
    if garbage.bytes * 2 > all.bytes {
        return Ok(Some(format!(
            "{of} are reached from no GC root: garbage that was not collected yet, or objects held by what the dump leaves out. \
             All results are about the rest. A dump of live objects (jcmd PID GC.heap_dump, without -all) tells which"
        )));
    }
    Ok(has_live_objects_only(heap, progress)?.then(|| {
        format!(
            "{of} are reached from no GC root, though this is a dump of live objects: what holds them is not in the dump. \
             All results are about the rest"
        )
    }))
}

/// Unreachable objects that a collector puts where it does not move others together: they hold nothing, nothing holds them.
fn filler(heap: &HeapState) -> Amount {
    let is_filler = |of: &HeapType| {
        matches!(&*of.name, "int[]" | "java.lang.Object") || of.name.starts_with("jdk.internal.vm.Filler")
    };
    let types: Vec<bool> = heap.types().iter().map(is_filler).collect();
    let is_one = |&o: &ObjectId| {
        types[heap.type_of(o).0 as usize]
            && !heap.is_reachable(o)
            && heap.references(o).is_empty()
            && heap.referrers(o).is_empty()
    };
    heap.objects().filter(is_one).fold(Amount::default(), |mut sum, o| {
        sum += Amount { objects: 1, bytes: heap.size_of(o) };
        sum
    })
}

fn amount_text(part: Amount, all: Amount) -> String {
    let percent = 100 * part.bytes / all.bytes.max(1);
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    format!("{percent} % of the dump ({} of {}, {} objects)", mb(part.bytes), mb(all.bytes), part.objects)
}

/// Of so many objects one may be reached by weak references alone in a dump of live objects: what the VM made since it collected.
const STRAY: u64 = 2000;

/// Whether the VM collected before it wrote the dump: then nothing is reached by weak references alone.
fn has_live_objects_only(heap: &HeapState, progress: &Progress) -> Result<bool> {
    let is_weak = |strength| strength == Strength::Weak;
    if !heap.referents().all().iter().any(|r| is_weak(r.strength)) {
        return Ok(false);
    }
    let kept = Strengths::new(heap, progress)?;
    let weak = heap.referents().all().iter().filter(|r| is_weak(r.strength));
    let alone = weak.filter(|r| kept.of(r.from) <= KeptBy::Soft && kept.of(r.to) == KeptBy::Weak).count();
    Ok(alone as u64 <= heap.object_count() as u64 / STRAY)
}

/// Whether the fields of instances that could refer to something are empty in all of them: some tools take references out.
fn without_references(heap: &HeapState) -> Option<String> {
    let fields = &heap.type_sizes().fields;
    let (mut could, mut do_refer) = (0u64, 0u64);
    for o in heap.objects().filter(|&o| !heap.is_class_object(o)) {
        let t = heap.type_of(o).0 as usize;
        let is_instance = heap.types()[t].kind == TypeKind::Instance;
        if is_instance && fields.get(t).is_some_and(|fields| fields.references > 0) {
            could += 1;
            do_refer += u64::from(!heap.references(o).is_empty());
        }
    }
    (could >= FEW && do_refer * 100 < could).then(|| {
        format!(
            "{} of this dump (the fields of nearly all objects are empty): who owns what is not known. Take out texts only",
            Warning::NO_REFERENCES
        )
    })
}

/// Short arrays of bytes and characters: nearly all of them are texts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShortTexts {
    seen: u64,
    /// Of one character, repeated.
    uniform: u64,
}

/// Lengths of inspected texts: shorter ones may be of one character, longer arrays may be empty buffers.
const TEXT: std::ops::RangeInclusive<usize> = 6..=64;

impl ShortTexts {
    /// Looks at the elements of an array of bytes or characters.
    #[inline]
    pub(super) fn add(&mut self, kind: u8, elements: &[u8]) {
        let unit = if kind == 5 { 2 } else { 1 };
        if matches!(kind, 5 | 8) && TEXT.contains(&(elements.len() / unit)) {
            self.seen += 1;
            self.uniform += u64::from(elements[unit..].iter().zip(elements).all(|(a, b)| a == b));
        }
    }

    pub(super) fn merge(&mut self, other: ShortTexts) {
        self.seen += other.seen;
        self.uniform += other.uniform;
    }

    /// Whether nearly all of them, and enough to say so, say nothing.
    pub(super) fn are_redacted(&self) -> bool {
        self.seen >= FEW && self.uniform * 100 >= self.seen * 95
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_heap::{HeapBuilder, Root, TypeId};

    /// Fillers of a collector are no garbage. Objects that refer to others, or are the program's own, are.
    #[test]
    fn fillers_of_a_collector_do_not_count() {
        let mut heap = HeapBuilder::new();
        let mut add = |name: &str, kind| {
            heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: "app".into() })
        };
        let [ints, object, filler, item]: [TypeId; 4] = [
            add("int[]", TypeKind::PrimitiveArray),
            add("java.lang.Object", TypeKind::Instance),
            add("jdk.internal.vm.FillerArray", TypeKind::Instance),
            add("com.acme.Item", TypeKind::Instance),
        ];
        let objects = [ints, ints, object, filler, item].map(|of| heap.add_object(of, 16, None));
        heap.add_reference(objects[4], objects[1]);
        heap.add_root(Root { object: objects[4], kind: RootKind::Thread, detail: String::new() });
        let heap = heap.finish();
        let counted = super::filler(&heap);
        assert_eq!((counted.objects, counted.bytes), (3, 48));
    }
}
