//! Shallow sizes as the VM accounts for them. A dump does not hold them.
//!
//! In a dump of live objects the most frequent distance from an instance of a class to the next object is exactly its
//! size: collectors leave no holes behind live objects they have just moved. So the distances of well populated
//! classes tell which object layout the VM used (header, size of references, alignment, array bases), and the layout
//! gives the size of the classes with few instances, by the rules HotSpot lays out fields with. Where the distances of
//! a class speak clearly they win: they know fields that dumps leave out (such as the hidden ones of class loaders).

use super::census::{ALIGNMENTS, ARRAY_BASES, Census, Gaps};

/// How a VM lays out objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLayout {
    /// Where the first field of an instance may begin.
    pub header: u32,
    /// Bytes of a reference.
    pub reference: u32,
    /// Objects begin at multiples of it.
    pub alignment: u32,
    /// Where elements of 1, 2, 4, 8 bytes begin in arrays.
    pub array_base: [u32; 4],
    /// Where references begin in arrays.
    pub reference_base: u32,
    /// Fields of subclasses begin right behind those of the superclass, in its holes too (HotSpot since JDK 15);
    /// before, each class began at a multiple of the size of a reference.
    pub packed: bool,
}

/// A class as far as its layout matters.
#[derive(Clone, Debug)]
pub struct Shape<'a> {
    /// Own field types, from the root class down to the class itself.
    pub fields: Vec<&'a [u8]>,
    /// Hidden fields the VM adds, by class from the root down.
    pub hidden: Vec<&'static [u32]>,
    /// Some class has fields that are padded to cache lines of their own: only distances tell by how much.
    pub padded: bool,
}

impl ObjectLayout {
    /// The layout of a VM that is not 64 bit HotSpot, where nothing was seen: 32 bit, as on Android.
    pub const SMALL: ObjectLayout = ObjectLayout {
        header: 8,
        reference: 4,
        alignment: 8,
        array_base: [12, 12, 12, 16],
        reference_base: 12,
        packed: true,
    };

    /// The usual layout: 64 bit HotSpot with compressed references and classes.
    pub const USUAL: ObjectLayout = ObjectLayout {
        header: 12,
        reference: 4,
        alignment: 8,
        array_base: [16, 16, 16, 16],
        reference_base: 16,
        packed: true,
    };

    /// Rounds up to the alignment of objects.
    pub fn align(&self, bytes: u32) -> u32 {
        bytes.next_multiple_of(self.alignment)
    }

    /// The size of an instance.
    pub fn instance_size(&self, shape: &Shape<'_>) -> u32 {
        let mut end = self.header;
        // Free ranges below `end`.
        let mut holes: Vec<(u32, u32)> = Vec::new();
        for (own, hidden) in shape.fields.iter().zip(&shape.hidden) {
            if !self.packed && end > self.header {
                end = end.next_multiple_of(self.reference);
            }
            let mut sizes: Vec<u32> = own
                .iter()
                .filter(|&&k| k != 2)
                .map(|&k| super::segment::width(k, 8).unwrap_or(1) as u32)
                .chain(hidden.iter().map(|&h| if h == HIDDEN_REFERENCE { self.reference } else { h }))
                .collect();
            sizes.sort_unstable_by(|a, b| b.cmp(a));
            // Primitives first, large to small; references behind them.
            sizes.extend(own.iter().filter(|&&k| k == 2).map(|_| self.reference));
            for size in sizes {
                place(size, &mut end, &mut holes);
            }
        }
        self.align(end)
    }

    /// Size of an array.
    pub fn array_size(&self, base: u32, element: u64, length: u64) -> u64 {
        (u64::from(base) + element * length).next_multiple_of(u64::from(self.alignment))
    }
}

/// Puts a field of `size` bytes into the smallest hole that takes it, or behind the rest.
fn place(size: u32, end: &mut u32, holes: &mut Vec<(u32, u32)>) {
    let fits = |&(low, high): &(u32, u32)| low.next_multiple_of(size) + size <= high;
    let best = (0..holes.len()).filter(|&i| fits(&holes[i])).min_by_key(|&i| holes[i].1 - holes[i].0);
    if let Some(i) = best {
        let (low, high) = holes.swap_remove(i);
        let at = low.next_multiple_of(size);
        holes.extend([(low, at), (at + size, high)].into_iter().filter(|(a, b)| a < b));
        return;
    }
    let at = end.next_multiple_of(size);
    if at > *end {
        holes.push((*end, at));
    }
    *end = at + size;
}

/// Stands for a hidden reference among hidden fields: its size is that of the layout.
const HIDDEN_REFERENCE: u32 = 0;

/// Fields that HotSpot adds to classes and dumps do not show: sizes in bytes, on a 64 bit VM. Only a fallback for
/// classes without clear distances.
pub fn hidden_fields(class: &str) -> &'static [u32] {
    match class {
        "java.lang.ClassLoader" | "java.lang.Module" | "java.lang.invoke.MemberName" => &[8],
        "java.lang.invoke.ResolvedMethodName" => &[8, HIDDEN_REFERENCE],
        "java.lang.invoke.MethodHandleNatives$CallSiteContext" => &[8, 8],
        "java.lang.StackFrameInfo" => &[2],
        "java.lang.String" | "java.lang.InternalError" => &[1],
        // Klass, array klass, sizes, and references to domain, signers and source.
        "java.lang.Class" => &[8, 8, 4, 4, HIDDEN_REFERENCE, HIDDEN_REFERENCE, HIDDEN_REFERENCE],
        _ => &[],
    }
}

/// Classes of the platform with padded (`@Contended`) fields.
pub fn is_padded(class: &str) -> bool {
    matches!(
        class,
        "java.lang.Thread"
            | "java.util.concurrent.ForkJoinPool"
            | "java.util.concurrent.ForkJoinPool$WorkQueue"
            | "java.util.concurrent.ConcurrentHashMap$CounterCell"
            | "java.util.concurrent.atomic.Striped64$Cell"
            | "java.util.concurrent.Exchanger$Node"
            | "java.util.concurrent.SubmissionPublisher$BufferedSubscription"
    )
}

/// Finds the layout that explains most of what was seen.
pub fn infer(census: &Census, id_size: usize, android: bool, shapes: &[(Shape<'_>, &Gaps)]) -> ObjectLayout {
    let start = if android || id_size == 4 { ObjectLayout::SMALL } else { ObjectLayout::USUAL };
    let alignment = match census.address_bits.trailing_zeros() {
        bits @ 3..=8 if census.objects > 50 => 1 << bits,
        _ => 8,
    };
    let mut best = (0u64, ObjectLayout { alignment, ..start });
    if android || id_size == 4 {
        return best.1;
    }
    for packed in [true, false] {
        for (header, reference) in [(12, 4), (12, 8), (16, 8), (8, 4), (8, 8)] {
            let layout = ObjectLayout { header, reference, alignment, packed, ..best.1 };
            let score = shapes
                .iter()
                .filter_map(|(shape, gaps)| {
                    let (gap, votes) = gaps.modal()?;
                    // Each class counts, popular ones more, but no class decides alone.
                    (layout.instance_size(shape) == gap).then_some(u64::from(votes.min(1000)))
                })
                .sum();
            if score > best.0 {
                best = (score, layout);
            }
        }
    }
    let mut layout = best.1;
    let row = ALIGNMENTS.iter().position(|&a| a == layout.alignment).unwrap_or(0);
    let base = |votes: &[[u32; 4]; 3], usual: u32| {
        let votes = &votes[row];
        let most = votes.iter().copied().max().unwrap_or(0);
        // Several bases may explain all gaps (elements of 8 bytes): the one of the header wins then.
        let fits = |b: u32| ARRAY_BASES.iter().position(|&x| x == b).is_some_and(|i| votes[i] == most);
        if most == 0 || fits(usual) {
            return usual;
        }
        votes.iter().position(|&v| v == most).map(|i| ARRAY_BASES[i]).unwrap_or(usual)
    };
    // Header, then a length of four bytes; before JDK 23 rounded up to eight.
    let tight = layout.header + 4;
    let usual = tight.next_multiple_of(8).min(24);
    for (i, element) in [1, 2, 4, 8].into_iter().enumerate() {
        let expected = if layout.header == 8 { tight.next_multiple_of(element.max(4)) } else { usual };
        layout.array_base[i] = base(&census.base_votes[i], expected);
    }
    let expected = if layout.header == 8 { tight.next_multiple_of(layout.reference) } else { usual };
    layout.reference_base = base(&census.base_votes[if layout.reference == 4 { 4 } else { 5 }], expected);
    layout
}

/// The size of the instances of a class: by its distances where they are clear, else by the layout.
pub fn instance_size(layout: &ObjectLayout, shape: &Shape<'_>, gaps: &Gaps) -> u32 {
    let planned = layout.instance_size(shape);
    let Some((modal, votes)) = gaps.modal() else { return planned };
    // No object reaches into the next: the smallest distance is never below the size.
    let Some(more) = gaps.least.checked_sub(planned).filter(|&more| more > 0) else { return gaps.least.min(planned) };
    // Every distance is larger than the layout says. Either there are fields the dump does not show, which is so of few
    // classes of the platform, or something dead lies behind each instance, which is likely where there are few.
    let alike = modal == gaps.least && u64::from(votes) * 10 >= u64::from(gaps.seen) * 9;
    let hidden = shape.hidden.iter().any(|h| !h.is_empty());
    if (shape.padded && more <= 1024) || (hidden && more <= 32 && alike) || (votes >= 8 && alike) {
        gaps.least
    } else {
        planned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(layout: &ObjectLayout, fields: &[&[u8]]) -> u32 {
        layout.instance_size(&Shape { fields: fields.to_vec(), hidden: vec![&[]; fields.len()], padded: false })
    }

    #[test]
    fn known_classes_have_their_known_sizes() {
        // Sizes as a class histogram of the VM gives them. Types: 2 reference, 4 boolean, 8 byte, 10 int, 11 long.
        let node: &[&[u8]] = &[&[], &[10, 2, 2, 2]];
        let string: &[&[u8]] = &[&[], &[2, 10, 8, 4]];
        let integer: &[&[u8]] = &[&[], &[], &[10]];
        let wide = ObjectLayout { reference: 8, ..ObjectLayout::USUAL };
        let full = ObjectLayout { reference: 8, header: 16, ..ObjectLayout::USUAL };
        let compact = ObjectLayout { header: 8, ..ObjectLayout::USUAL };
        let coarse = ObjectLayout { alignment: 16, ..ObjectLayout::USUAL };
        for (layout, sizes) in [
            (ObjectLayout::USUAL, [32, 24, 16]),
            (wide, [40, 32, 16]),
            (full, [48, 32, 24]),
            (compact, [24, 24, 16]),
            (coarse, [32, 32, 16]),
        ] {
            assert_eq!([size(&layout, node), size(&layout, string), size(&layout, integer)], sizes, "{layout:?}");
        }
        // Subclass fields fill the hole behind the superclass's.
        assert_eq!(size(&ObjectLayout::USUAL, &[&[], &[11], &[10]]), 24);
        assert_eq!(size(&ObjectLayout { packed: false, ..ObjectLayout::USUAL }, &[&[], &[4], &[10]]), 24);
    }
}
