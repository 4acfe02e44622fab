//! Shallow sizes as the VM accounts for them, inferred since a dump does not hold them.
//!
//! In a dump of live objects the most frequent distance from an instance of a class to the next object is exactly its size: collectors
//! leave no holes behind live objects they have just moved. So the distances of well populated classes reveal the object layout of the VM
//! (header, size of references, alignment, array bases). The layout then gives the size of the classes with few instances, by HotSpot's
//! rules for field layout. If the distances of a class are clear they win: they include fields that dumps leave out (such as the hidden
//! ones of class loaders).

use super::census::{ALIGNMENTS, ARRAY_BASES, Census, Gaps};
use super::classes::ClassTable;
use memory_city_heap::{AddressMap, ObjectId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Bytes of a string of ART without its text: header, length and hash.
const ART_STRING: u64 = 16;

/// Sizes of strings of ART (Android 6 and newer), whose text lies inside of the string. Dumps invent an array for it, which begins where the
/// fields of the string end, or eight bytes behind the start of an empty string, and has no header.
pub(super) fn inline_texts(
    classes: &ClassTable,
    addresses: &AddressMap,
    type_of: &[u32],
    length: &[u32],
    odd_sizes: &mut FxHashMap<u32, u64>,
) {
    let Some(string) = classes.types.iter().position(|of| of.name == "java.lang.String") else { return };
    for o in 1..type_of.len() {
        let of = type_of[o] as usize;
        let at = |o: usize| addresses.address(ObjectId(o as u32));
        let is_text = matches!(classes.types[of].name.as_str(), "byte[]" | "char[]");
        if is_text && type_of[o - 1] as usize == string && matches!(at(o) - at(o - 1), 8 | ART_STRING) {
            let bytes = u64::from(length[o]) * u64::from(classes.sizes.element[of]);
            odd_sizes.insert(o as u32 - 1, ART_STRING);
            odd_sizes.insert(o as u32, (ART_STRING + bytes).next_multiple_of(8) - ART_STRING);
        }
    }
}

/// How a VM lays out objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectLayout {
    /// Where the first field of an instance may begin.
    pub(super) header: u32,
    /// Bytes of a reference.
    pub(super) reference: u32,
    /// Objects begin at multiples of it.
    pub(super) alignment: u32,
    /// Where elements of 1, 2, 4, 8 bytes begin in arrays.
    pub(super) array_base: [u32; 4],
    /// Where references begin in arrays.
    pub(super) reference_base: u32,
    /// True if fields of subclasses begin right behind those of the superclass, in its holes too (HotSpot since JDK 15). Before, each class
    /// began at a multiple of the size of a reference.
    pub(super) packed: bool,
}

/// A class as far as its layout matters: itself and its superclasses, from the root down.
#[derive(Clone, Debug, Default)]
pub(super) struct LayoutShape<'a> {
    /// One for each class.
    pub(super) levels: Vec<Level<'a>>,
}

/// The fields that one class adds to its superclass. Types as the format numbers them.
#[derive(Clone, Debug, Default)]
pub(super) struct Level<'a> {
    /// Fields that share cache lines with others.
    pub(super) fields: Cow<'a, [u8]>,
    /// Fields that the VM adds and the dump does not show: bytes, or [`HIDDEN_REFERENCE`].
    pub(super) hidden: &'static [u32],
    /// The class is padded as a whole (`@Contended` before the class).
    pub(super) padded: bool,
    /// Fields that are padded (`@Contended` before the field).
    pub(super) padded_fields: Vec<u8>,
    /// JDK 14 and older pad the class as a whole instead.
    pub whole_before_15: bool,
}

impl LayoutShape<'_> {
    /// The same fields, none of them padded in the class that stands at `depth` from the root.
    pub(super) fn unpad(&mut self, depth: usize) {
        let Some(level) = self.levels.get_mut(depth) else { return };
        let fields = std::mem::take(&mut level.padded_fields);
        level.fields.to_mut().extend(fields);
        (level.padded, level.whole_before_15) = (false, false);
    }
}

impl Level<'_> {
    /// Whether it is padded itself, at least in some version.
    pub(super) fn is_padded(&self) -> bool {
        self.padded || self.whole_before_15 || !self.padded_fields.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.hidden.is_empty() && self.padded_fields.is_empty()
    }
}

/// Bytes that HotSpot leaves free around padded fields (its default of `ContendedPaddingWidth`).
const PADDING: u32 = 128;

impl ObjectLayout {
    /// The layout of a VM that is not 64 bit HotSpot, where nothing was seen: 32 bit, as on Android.
    pub(super) const SMALL: ObjectLayout = ObjectLayout {
        header: 8,
        reference: 4,
        alignment: 8,
        array_base: [12, 12, 12, 16],
        reference_base: 12,
        packed: true,
    };

    /// The usual layout: 64 bit HotSpot with compressed references and classes.
    pub(super) const USUAL: ObjectLayout = ObjectLayout {
        header: 12,
        reference: 4,
        alignment: 8,
        array_base: [16, 16, 16, 16],
        reference_base: 16,
        packed: true,
    };

    /// Rounds up to the alignment of objects.
    pub(super) fn align(&self, bytes: u32) -> u32 {
        bytes.next_multiple_of(self.alignment)
    }

    /// The size of an instance.
    pub(super) fn instance_size(&self, shape: &LayoutShape<'_>) -> u32 {
        let mut end = self.header;
        // Free ranges below `end`.
        let mut holes: Vec<(u32, u32)> = Vec::new();
        // Where the last field ends, and whether a superclass has padded fields.
        let (mut last, mut below_padded) = (end, false);
        for level in &shape.levels {
            let below_padded_here = self.packed && below_padded;
            if below_padded_here {
                // HotSpot since JDK 15 (`FieldLayout::fill_holes`): below a padded class the fields of every class begin
                // behind a padding of their own, and where a class adds none the padding is there all the same. Before
                // JDK 15 only the padded class itself was padded.
                end = u32::saturating_add(last, PADDING);
                if level.is_empty() {
                    continue;
                }
            }
            if !self.packed && end > self.header {
                end = end.next_multiple_of(self.reference);
            }
            let whole = level.padded || (level.whole_before_15 && !self.packed);
            let apart = !level.padded_fields.is_empty();
            if whole {
                end = end.saturating_add(PADDING);
            }
            for size in self.field_sizes(&level.fields, level.hidden) {
                if whole || below_padded_here { append(size, &mut end) } else { place(size, &mut end, &mut holes) }
            }
            if apart && (level.padded || !whole) {
                end = end.saturating_add(PADDING);
            }
            for size in self.field_sizes(&level.padded_fields, &[]) {
                append(size, &mut end);
            }
            last = end;
            if whole || apart {
                end = end.saturating_add(PADDING);
                below_padded = true;
            }
        }
        self.align(end)
    }

    /// Sizes of fields in the order they are placed: primitives first, large to small; references behind them.
    fn field_sizes(&self, own: &[u8], hidden: &[u32]) -> Vec<u32> {
        let mut sizes: Vec<u32> = own
            .iter()
            .filter(|&&k| k != 2)
            .map(|&k| super::segment::width(k, 8).unwrap_or(1) as u32)
            .chain(hidden.iter().map(|&h| if h == HIDDEN_REFERENCE { self.reference } else { h }))
            .collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.extend(own.iter().filter(|&&k| k == 2).map(|_| self.reference));
        sizes
    }
}

/// Puts a field of `size` bytes behind the rest; a hole that this leaves stays empty.
fn append(size: u32, end: &mut u32) {
    *end = end.next_multiple_of(size).saturating_add(size);
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
pub(super) fn hidden_fields(class: &str, has_field: impl Fn(&str) -> bool) -> &'static [u32] {
    match class {
        // For debuggers and the flight recorder, since threads may be virtual (JDK 19).
        "java.lang.Thread" if has_field("holder") => &[8, 4, 2, 1],
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

/// The part of a class that the platform pads.
pub(super) enum Padded {
    /// The class as a whole.
    Class,
    /// Its fields of these names (a version may lack some), together.
    Fields {
        /// Names.
        names: &'static [&'static str],
        /// Whether JDK 14 and older pad the whole class instead.
        whole_before_15: bool,
    },
    /// Both.
    ClassAndFields(&'static [&'static str]),
}

/// The classes of the platform with padded (`@Contended`) fields in some version of JDK 8 to 25: dumps do not say which
/// these are. Whether a class is padded in the version at hand, distances tell (see [`LayoutShape::unpad`]).
pub(super) fn padded(class: &str) -> Option<Padded> {
    let fields = |names, whole_before_15| Some(Padded::Fields { names, whole_before_15 });
    match class {
        "java.lang.Thread" => {
            fields(&["threadLocalRandomSeed", "threadLocalRandomProbe", "threadLocalRandomSecondarySeed"], false)
        }
        "java.util.concurrent.ForkJoinPool" => fields(&["ctl", "parallelism"], true),
        "java.util.concurrent.ForkJoinPool$WorkQueue" => {
            fields(&["top", "access", "phase", "stackPred", "source", "nsteals", "parking"], true)
        }
        "java.util.concurrent.SubmissionPublisher$BufferedSubscription" => {
            Some(Padded::ClassAndFields(&["demand", "waiting"]))
        }
        "java.util.concurrent.ConcurrentHashMap$CounterCell"
        | "java.util.concurrent.atomic.Striped64$Cell"
        | "java.util.concurrent.Exchanger$Node"
        | "java.util.concurrent.Exchanger$Slot" => Some(Padded::Class),
        _ => None,
    }
}

/// Whether the objects of the dump lie without holes: collectors that compact leave none. Where they do, a larger distance
/// than the layout says tells of fields that the dump does not show; where not, only of something dead.
pub(super) fn is_compact<'a>(
    layout: &ObjectLayout,
    shapes: impl Iterator<Item = &'a (LayoutShape<'a>, &'a Gaps)>,
) -> bool {
    let (mut exact, mut seen) = (0u64, 0u64);
    for (shape, gaps) in shapes {
        let Some((modal, votes)) = gaps.modal() else { continue };
        seen += u64::from(gaps.seen);
        exact += if layout.instance_size(shape) == modal { u64::from(votes) } else { 0 };
    }
    exact * 10 >= seen * 9
}

/// Finds the layout that explains most of the distances.
pub(super) fn infer(
    census: &Census,
    id_size: usize,
    android: bool,
    shapes: &[(LayoutShape<'_>, &Gaps)],
) -> ObjectLayout {
    if census.has_numbers() && !android {
        // Ids of any width may stand for addresses of another.
        return ObjectLayout::USUAL;
    }
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

/// The size of the instances of a class: by its distances where they are clear, else by the layout. `compact` says
/// whether the objects of the dump lie without holes.
pub(super) fn instance_size(layout: &ObjectLayout, shape: &LayoutShape<'_>, gaps: &Gaps, compact: bool) -> u32 {
    let planned = layout.instance_size(shape);
    let Some((modal, votes)) = gaps.modal() else { return planned };
    // No object reaches into the next: the smallest distance is never below the size.
    let Some(more) = gaps.least.checked_sub(planned).filter(|&more| more > 0) else { return gaps.least.min(planned) };
    // Every distance is larger than the layout says. Either there are fields the dump does not show, which is so of few
    // classes of the platform, or something dead lies behind each instance, which is likely where there are few.
    let alike = modal == gaps.least && u64::from(votes) * 10 >= u64::from(gaps.seen) * 9;
    let hidden = shape.levels.iter().any(|level| !level.hidden.is_empty());
    if (hidden && more <= 32 && alike) || (compact && votes >= 8 && alike) { gaps.least } else { planned }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(layout: &ObjectLayout, fields: &[&[u8]]) -> u32 {
        let levels = fields.iter().map(|&f| Level { fields: f.into(), ..Level::default() }).collect();
        layout.instance_size(&LayoutShape { levels })
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
    #[test]
    fn padded_classes_and_those_below_them_have_the_sizes_of_the_vm() {
        // Offsets as JDK 17 and 25 give them. Types: 2 reference, 4 boolean, 10 int, 11 long.
        let fields = |f: &'static [u8]| Level { fields: f.into(), ..Level::default() };
        let usual = ObjectLayout::USUAL;
        let compact = ObjectLayout { header: 8, ..usual };
        let below = |layout: ObjectLayout, padded: &Level<'static>, levels: &[&'static [u8]]| {
            let mut all = vec![Level::default(), padded.clone()];
            all.extend(levels.iter().map(|l| fields(l)));
            layout.instance_size(&LayoutShape { levels: all })
        };
        // `java.lang.Thread` of JDK 17: three fields apart, the last ends at 240.
        let thread = Level {
            padded_fields: vec![11, 10, 10],
            ..fields(&[10, 11, 11, 11, 10, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
        };
        for (levels, size) in [
            (&[] as &[&[u8]], 368),
            (&[&[]], 368),
            (&[&[], &[]], 368),
            (&[&[2]], 376),
            (&[&[10], &[]], 504),
            (&[&[10], &[], &[]], 504),
            (&[&[], &[10], &[]], 504),
            (&[&[10], &[11]], 512),
            (&[&[10], &[11], &[4]], 648),
            (&[&[10], &[11], &[]], 640),
        ] {
            assert_eq!(below(usual, &thread, levels), size, "{levels:?}");
        }
        // Before JDK 15 nothing below it was padded.
        assert_eq!(below(ObjectLayout { packed: false, ..usual }, &thread, &[&[10], &[]]), 376);
        // `ForkJoinPool` of JDK 25: the hole before the padded fields stays empty.
        let pool = Level { padded_fields: vec![11, 10], ..fields(&[11, 11, 11, 11, 11, 2, 2, 2, 2, 2, 2, 2, 2, 2]) };
        assert_eq!(below(usual, &pool, &[]), 360);
        assert_eq!(below(compact, &pool, &[]), 360);
        assert_eq!(below(compact, &pool, &[&[4]]), 360);
        // A counter cell: padded as a whole, before its field and behind.
        assert_eq!(below(usual, &Level { padded: true, ..fields(&[11]) }, &[]), 280);
    }
}
