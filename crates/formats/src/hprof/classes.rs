//! The classes of a dump as types: names, inheritance, and the places of references in the records of instances.

use super::census::{Census, Gaps};
use super::header::DumpHeader;
use super::index::DumpIndex;
use super::limits::{DumpLimits, too_many_fields};
use super::segment::{self, ClassRecord};
use super::sizes::{self, LayoutShape, Level, ObjectLayout, Padded};
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::{FieldBytes, HeapType, Strength, TypeId, TypeKind, TypeSizes};
use std::sync::Arc;

/// The class table of a dump.
pub(super) struct ClassTable {
    /// All types.
    pub(super) types: Vec<HeapType>,
    /// Class object id to type; primitive arrays under their kind (4..=11).
    pub(super) by_id: AHashMap<u64, u32>,
    /// Class object id of each type; 0 where the dump has none.
    pub(super) object_of: Vec<u64>,
    /// Loader object id of each type.
    pub(super) loader_of: Vec<u64>,
    /// Offsets of references in the field values of an instance, by type.
    pub(super) references: Vec<Vec<u32>>,
    /// By type: where the field `referent` lies in the field values of an instance, and how strongly it holds.
    pub(super) referents: Vec<Option<(u32, Strength)>>,
    /// By type: bytes of the primitive fields of an instance.
    primitive: Vec<u32>,
    /// By type: true if the places of its instances in the file are kept (see [`super::hidden`]).
    pub(super) noted: Vec<bool>,
    /// Sizes.
    pub(super) sizes: TypeSizes,
    /// The layout they follow from.
    pub(super) layout: ObjectLayout,
    /// The type of class objects.
    pub(super) class_type: u32,
    /// The type of class records: [`ClassTable::class_type`], unless class objects are written beside them.
    pub(super) record_type: u32,
}

const PRIMITIVES: [(u64, &str); 8] = [
    (4, "boolean[]"),
    (5, "char[]"),
    (6, "float[]"),
    (7, "double[]"),
    (8, "byte[]"),
    (9, "short[]"),
    (10, "int[]"),
    (11, "long[]"),
];

/// Primitive arrays are known under their kind (4..=11) in place of a class object's id.
const HIGHEST_KIND: u64 = 11;

/// Deeper inheritance than this is damage (or a cycle), not a program.
pub(super) const DEEPEST: usize = 1000;

/// Most bytes for the fields that classes have, inherited ones among them, and bytes for each of them and for each class above another.
/// What takes time for each of them stays within seconds.
const MOST_INHERITED: u64 = 1 << 30;
const FIELD_BYTES: u64 = 8;
const LEVEL_BYTES: u64 = 2 * size_of::<Level<'static>>() as u64;

impl ClassTable {
    /// Builds the table.
    ///
    /// # Errors
    /// When the classes have more fields than `limits` have memory for, inherited ones counted in each, or the work was cancelled.
    pub(super) fn new(
        input: &Input,
        header: &DumpHeader,
        index: &DumpIndex,
        census: &Census,
        limits: DumpLimits,
        progress: &Progress,
    ) -> Result<ClassTable> {
        let bytes = input.bytes();
        let mut classes = ClassTable {
            types: Vec::new(),
            by_id: AHashMap::default(),
            object_of: Vec::new(),
            loader_of: Vec::new(),
            references: Vec::new(),
            referents: Vec::new(),
            primitive: Vec::new(),
            noted: Vec::new(),
            sizes: TypeSizes::default(),
            layout: ObjectLayout::USUAL,
            class_type: 0,
            record_type: 0,
        };
        let name_of = |id: u64| index.class_name(bytes, id).unwrap_or_else(|| format!("(unknown class 0x{id:x})"));
        let mut records: AHashMap<u64, &ClassRecord> = AHashMap::default();
        // No object lies at the lowest addresses: such ids are damage, and would be taken for kinds of primitives.
        for record in census.records.iter().filter(|r| r.id > HIGHEST_KIND) {
            progress.check()?;
            if records.insert(record.id, record).is_none() {
                classes.add(record.id, index.keep(name_of(record.id)), record.loader);
            }
        }
        // Objects whose class record is missing (cut off): their class has a name all the same.
        let mut orphans: Vec<u64> = census.classes.keys().copied().filter(|id| *id > HIGHEST_KIND).collect();
        orphans.sort_unstable();
        for id in orphans {
            if !classes.by_id.contains_key(&id) {
                let array = census.classes[&id].arrays.is_some();
                let mut name = name_of(id);
                if array && !name.ends_with("[]") {
                    name.push_str("[]");
                }
                classes.add(id, index.keep(name), 0);
            }
        }
        for (kind, name) in PRIMITIVES {
            let known = classes.types.iter().position(|t| t.name == name);
            let number = known.map(|n| n as u32).unwrap_or_else(|| classes.add(0, name.to_owned(), 0));
            classes.types[number as usize].kind = TypeKind::PrimitiveArray;
            classes.by_id.insert(kind, number);
        }
        classes.class_type = match classes.types.iter().position(|t| t.name == "java.lang.Class") {
            Some(at) => at as u32,
            None => classes.add(0, "java.lang.Class".to_owned(), 0),
        };
        // Native images give class records ids of their own, beside the class objects. HotSpot has instances for primitive types alone.
        let of_class = classes.object_of[classes.class_type as usize];
        let instances = census.classes.get(&of_class).map_or(0, |tally| tally.count);
        classes.record_type = match instances > 0 && 2 * instances >= census.records.len() as u64 {
            true => classes.add(0, "(class record)".to_owned(), 0),
            false => classes.class_type,
        };
        let memory = limits.memory.min(MOST_INHERITED);
        let mut left = memory;
        for record in &census.records {
            progress.check()?;
            let Some(&number) = classes.by_id.get(&record.id).filter(|_| record.id > HIGHEST_KIND) else { continue };
            let number = number as usize;
            classes.types[number].superclass = classes.by_id.get(&record.superclass).map(|&t| TypeId(t));
            (classes.references[number], classes.primitive[number]) =
                reference_offsets(record, &records, header.id_size, &mut left)
                    .ok_or_else(|| too_many_fields(&input.path, memory))?;
        }
        let is_named = |id: u64, name: &str| index.is_named(bytes, id, name);
        classes.referents = classes.find_referents(&records, header.id_size, &is_named);
        classes.noted = super::hidden::noted(&classes.types);
        progress.check()?;
        classes.measure(header, census, &records, &is_named);
        progress.check()?;
        Ok(classes)
    }

    fn add(&mut self, id: u64, name: String, loader: u64) -> u32 {
        let number = self.types.len() as u32;
        let kind = if name.ends_with("[]") { TypeKind::ObjectArray } else { TypeKind::Instance };
        self.types.push(HeapType { name, kind, superclass: None, loader: Arc::from("bootstrap") });
        if id != 0 {
            self.by_id.insert(id, number);
        }
        self.object_of.push(id);
        self.loader_of.push(loader);
        self.references.push(Vec::new());
        self.primitive.push(0);
        number
    }

    /// Where reference objects have their referent, by type.
    fn find_referents(
        &self,
        records: &AHashMap<u64, &ClassRecord>,
        id_size: usize,
        is_named: &dyn Fn(u64, &str) -> bool,
    ) -> Vec<Option<(u32, Strength)>> {
        let strength = |t: usize| {
            std::iter::once(t).chain(self.superclasses(t)).find_map(|t| match self.types[t].name.as_str() {
                "java.lang.ref.SoftReference" => Some(Strength::Soft),
                "java.lang.ref.WeakReference" => Some(Strength::Weak),
                "java.lang.ref.PhantomReference" => Some(Strength::Phantom),
                // Android's finalizer references are no subclass of one that is common to all.
                "java.lang.ref.FinalReference" | "java.lang.ref.FinalizerReference" => Some(Strength::Finalizer),
                _ => None,
            })
        };
        let place = |t: usize| {
            let mut before = 0u32;
            for class in std::iter::once(t).chain(self.superclasses(t)) {
                let record = records.get(&self.object_of[class])?;
                let own = self.types[class].name == "java.lang.ref.Reference";
                for (&kind, &name) in record.fields.iter().zip(&record.field_names) {
                    if kind == 2 && own && is_named(name, "referent") {
                        return Some(before);
                    }
                    before = before.saturating_add(segment::width(kind, id_size).unwrap_or(0) as u32);
                }
            }
            None
        };
        (0..self.types.len()).map(|t| strength(t).and_then(|strength| Some((place(t)?, strength)))).collect()
    }

    fn measure(
        &mut self,
        header: &DumpHeader,
        census: &Census,
        records: &AHashMap<u64, &ClassRecord>,
        is_named: &dyn Fn(u64, &str) -> bool,
    ) {
        let none = Gaps::default();
        let mut shapes: Vec<Option<(LayoutShape<'_>, &Gaps)>> = self
            .types
            .iter()
            .enumerate()
            .map(|(t, heap_type)| {
                if heap_type.kind != TypeKind::Instance {
                    return None;
                }
                let gaps = census.classes.get(&self.object_of[t]).map(|c| &c.gaps).unwrap_or(&none);
                Some((self.shape(self.object_of[t], records, is_named), gaps))
            })
            .collect();
        let known: Vec<(LayoutShape<'_>, &Gaps)> = shapes.iter().flatten().cloned().collect();
        let layout = sizes::infer(census, header.id_size, header.android, &known);
        self.unpad(&layout, &mut shapes);
        let compact = sizes::is_compact(&layout, shapes.iter().flatten());
        let mut base = Vec::with_capacity(shapes.len());
        let mut element = Vec::with_capacity(shapes.len());
        for (t, shape) in shapes.iter().enumerate() {
            let (b, e) = match (shape, self.types[t].kind) {
                (Some((shape, gaps)), _) => (sizes::instance_size(&layout, shape, gaps, compact), 0),
                (None, TypeKind::PrimitiveArray) => {
                    let width = primitive_width(&self.types[t].name);
                    (layout.array_base[width.trailing_zeros() as usize], width)
                }
                (None, _) => (layout.reference_base, layout.reference),
            };
            base.push(b);
            element.push(e);
        }
        let fields = (0..self.types.len())
            .map(|t| FieldBytes {
                header: if self.types[t].kind == TypeKind::Instance { layout.header } else { base[t] },
                primitive: self.primitive[t],
                references: self.references[t].len() as u32,
            })
            .collect();
        self.sizes = TypeSizes { base, element, alignment: layout.alignment, fields, reference: layout.reference };
        self.layout = layout;
    }

    /// The superclasses of a type, nearest first.
    pub(super) fn superclasses(&self, t: usize) -> impl Iterator<Item = usize> {
        let above = |t: &usize| self.types[*t].superclass.map(|s| s.0 as usize);
        std::iter::successors(above(&t), above).take(DEEPEST)
    }

    /// Takes the padding from classes that have none in this version of the platform: an instance is nearer to the next
    /// object than the padding is wide.
    fn unpad(&self, layout: &ObjectLayout, shapes: &mut [Option<(LayoutShape<'_>, &Gaps)>]) {
        let is_nearer =
            |(shape, gaps): &(LayoutShape<'_>, &Gaps)| gaps.seen > 0 && gaps.least < layout.instance_size(shape);
        let is_unpadded = |shape: &Option<(LayoutShape<'_>, &Gaps)>| {
            shape.as_ref().is_some_and(|s| s.0.levels.last().is_some_and(Level::is_padded) && is_nearer(s))
        };
        let unpadded: Vec<bool> = shapes.iter().map(is_unpadded).collect();
        for (t, shape) in shapes.iter_mut().enumerate() {
            let Some((shape, _)) = shape else { continue };
            let depth = shape.levels.len();
            for (up, above) in std::iter::once(t).chain(self.superclasses(t)).take(depth).enumerate() {
                if unpadded[above] {
                    shape.unpad(depth - 1 - up);
                }
            }
        }
    }

    fn shape<'r>(
        &self,
        class: u64,
        records: &AHashMap<u64, &'r ClassRecord>,
        is_named: &dyn Fn(u64, &str) -> bool,
    ) -> LayoutShape<'r> {
        let mut shape = LayoutShape::default();
        let mut at = class;
        while let Some(record) = records.get(&at) {
            let name = self.by_id.get(&at).map(|&t| self.types[t as usize].name.as_str()).unwrap_or("");
            shape.levels.push(level(record, name, is_named));
            at = record.superclass;
            if shape.levels.len() > DEEPEST {
                break;
            }
        }
        shape.levels.reverse();
        shape
    }

    /// Size of the class object of a class: the size of `java.lang.Class` in the [`ObjectLayout`], plus the static fields.
    pub(super) fn mirror_size(&self, record: &ClassRecord) -> u32 {
        self.layout.align(self.sizes.base[self.class_type as usize] + self.width_of_statics(record))
    }

    /// Bytes of the static fields of a class: for some tools that is the size of its class object.
    pub(super) fn statics_size(&self, record: &ClassRecord) -> u32 {
        self.layout.align(self.width_of_statics(record))
    }

    fn width_of_statics(&self, record: &ClassRecord) -> u32 {
        let width = |kind: u8| match kind {
            2 => self.layout.reference,
            kind => segment::width(kind, 8).unwrap_or(1) as u32,
        };
        record.statics.iter().map(|(_, kind, _)| width(*kind)).sum()
    }
}

/// The fields that a class adds to its superclass.
fn level<'r>(record: &'r ClassRecord, class: &str, is_named: &dyn Fn(u64, &str) -> bool) -> Level<'r> {
    let has = |name: &str| record.field_names.iter().any(|&n| is_named(n, name));
    let hidden = sizes::hidden_fields(class, has);
    let mut level = Level { fields: record.fields[..].into(), hidden, ..Level::default() };
    let names = match sizes::padded(class) {
        None => return level,
        Some(Padded::Class) => &[],
        Some(Padded::Fields { names, whole_before_15 }) => {
            level.whole_before_15 = whole_before_15;
            names
        }
        Some(Padded::ClassAndFields(names)) => names,
    };
    level.padded = !matches!(sizes::padded(class), Some(Padded::Fields { .. }));
    let is_padded = |id: u64| names.iter().any(|name| is_named(id, name));
    let (padded, others) =
        record.fields.iter().zip(&record.field_names).partition::<Vec<_>, _>(|(_, n)| is_padded(**n));
    level.padded_fields = padded.into_iter().map(|(kind, _)| *kind).collect();
    level.fields = others.into_iter().map(|(kind, _)| *kind).collect();
    level
}

fn primitive_width(name: &str) -> u32 {
    match name {
        "boolean[]" | "byte[]" => 1,
        "char[]" | "short[]" => 2,
        "int[]" | "float[]" => 4,
        _ => 8,
    }
}

/// Where the references of an instance are among its values, and how many bytes the others have. Field values stand in the
/// record own class first, then superclass by superclass. `None` where that takes more than the bytes left, from which it is taken.
fn reference_offsets(
    record: &ClassRecord,
    records: &AHashMap<u64, &ClassRecord>,
    id_size: usize,
    left: &mut u64,
) -> Option<(Vec<u32>, u32)> {
    let (mut offsets, mut primitive) = (Vec::new(), 0u32);
    let mut at = 0u32;
    let mut class = Some(record);
    let mut depth = 0;
    while let Some(record) = class {
        *left = left.checked_sub(LEVEL_BYTES + FIELD_BYTES * record.fields.len() as u64)?;
        for &kind in &record.fields {
            let width = segment::width(kind, id_size).unwrap_or(0) as u32;
            if kind == 2 {
                offsets.push(at);
            } else {
                primitive = primitive.saturating_add(width);
            }
            at = at.saturating_add(width);
        }
        depth += 1;
        class = records.get(&record.superclass).copied().filter(|_| depth < DEEPEST);
    }
    Some((offsets, primitive))
}
