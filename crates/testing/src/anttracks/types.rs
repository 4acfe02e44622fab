//! The types of the simulated program: a few well-known ones that every run has, then made-up classes and arrays.
use super::random::Rng;
use super::symbols::Field;

/// Indices of types that the simulation needs by name.
pub(super) const INT_ARRAY: u16 = 1;
pub(super) const CLASS: u16 = 2;
pub(super) const CHARS: u16 = 4;
pub(super) const OBJECTS: u16 = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Instance,
    Array { element: u32, references: bool },
    Mirror,
}

pub(super) struct Type {
    pub(super) signature: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Of instances.
    pub(super) size: u32,
    /// Reference fields of instances and mirrors.
    pub(super) slots: u32,
    /// Fields per class, own first, java.lang.Object's last.
    pub(super) fields: Vec<Vec<Field>>,
}

impl Type {
    /// A class with these fields, its own ones first; those with flag 8 are static.
    fn instance(signature: &str, fields: Vec<Vec<Field>>) -> Self {
        let own = || fields.iter().flatten().filter(|field| field.flags & 8 == 0);
        let bytes = |field: &Field| if matches!(field.type_name.as_str(), "J" | "D") { 8 } else { 4 };
        Self {
            signature: signature.into(),
            name: source_name(signature),
            kind: Kind::Instance,
            size: round8(12 + own().map(bytes).sum::<u64>()) as u32,
            slots: own().filter(|field| field.type_name.len() > 1).count() as u32,
            fields,
        }
    }

    fn array(signature: &str) -> Self {
        let element = match &signature[1..] {
            "B" | "Z" => 1,
            "C" | "S" => 2,
            "J" | "D" => 8,
            _ => 4,
        };
        Self {
            signature: signature.into(),
            name: source_name(signature),
            kind: Kind::Array { element, references: signature.len() > 2 },
            size: 16 << 8 | element,
            slots: 0,
            fields: Vec::new(),
        }
    }

    pub(super) fn bytes(&self, length: u32) -> u64 {
        match self.kind {
            Kind::Instance => self.size.into(),
            Kind::Array { element, .. } => round8(16 + u64::from(length) * u64::from(element)),
            Kind::Mirror => length.into(),
        }
    }

    pub(super) fn slot_count(&self, length: u32) -> usize {
        match self.kind {
            Kind::Array { references: true, .. } => length as usize,
            Kind::Array { .. } => 0,
            _ => self.slots as usize,
        }
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array { .. })
    }
}

pub(super) fn round8(bytes: u64) -> u64 {
    bytes.next_multiple_of(8)
}

/// `java.util.Map[]` of `[Ljava/util/Map;`.
fn source_name(signature: &str) -> String {
    let inner = signature.trim_start_matches('[');
    let mut name = match inner {
        "B" => "byte".into(),
        "C" => "char".into(),
        "D" => "double".into(),
        "F" => "float".into(),
        "I" => "int".into(),
        "J" => "long".into(),
        "S" => "short".into(),
        "Z" => "boolean".into(),
        class => class[1..class.len() - 1].replace('/', "."),
    };
    for _ in inner.len()..signature.len() {
        name.push_str("[]");
    }
    name
}

fn field(slot: usize, ty: &str, name: &str, flags: u16) -> Field {
    Field { slot: slot as i32, type_name: ty.into(), name: name.into(), flags }
}

const OBJECT: &str = "Ljava.lang.Object;";

/// The types by their ids; the first entry is none, as ids start with 1.
pub(super) fn make_types(rng: &mut Rng, count: u32) -> Vec<Type> {
    let mut types = well_known();
    let mut classes: Vec<usize> = Vec::new();
    while types.len() <= count as usize {
        let index = types.len();
        if !classes.is_empty() && rng.chance(150) {
            let of = &types[classes[rng.below(classes.len() as u64) as usize]].signature;
            let signature = if rng.chance(200) { format!("[[{of}") } else { format!("[{of}") };
            if types.iter().all(|ty| ty.signature != signature) {
                types.push(Type::array(&signature));
            }
            continue;
        }
        let package = ["org/app", "org/app/model", "com/shop/db", "a", "a/b/c/impl"][rng.below(5) as usize];
        let inner = ["", "", "$Inner", "$1"][rng.below(4) as usize];
        let signature = format!("L{package}/Class{index}{inner};");
        let mut fields = vec![made_up_fields(rng)];
        if !classes.is_empty() && rng.chance(300) {
            fields.extend_from_slice(&types[classes[rng.below(classes.len() as u64) as usize]].fields);
        } else {
            fields.push(Vec::new());
        }
        types.push(Type::instance(&signature, fields));
        classes.push(index);
    }
    types
}

fn made_up_fields(rng: &mut Rng) -> Vec<Field> {
    let mut fields = Vec::new();
    for slot in (0..rng.below(7) as usize).rev() {
        let ty = match rng.below(9) {
            0 => "I",
            1 => "J",
            2 => "Z",
            3 => "Ljava.lang.String;",
            4 => "[C",
            5 => "[Lorg.app.Dozen;",
            _ => OBJECT,
        };
        let flags = if rng.chance(100) { 26 } else { 2 };
        fields.push(field(slot, ty, &format!("field{slot}"), flags));
    }
    fields
}

/// The types up to the smallest number that can be asked for.
fn well_known() -> Vec<Type> {
    let mirror = vec![
        field(4, "Ljava.lang.Class;", "newInstanceCallerCache", 194),
        field(3, "Ljava.lang.String;", "name", 130),
        field(2, "Ljava.lang.ClassLoader;", "classLoader", 18),
        field(1, "[Ljava.lang.Object;", "enumConstants", 2242),
        field(0, "I", "classRedefinedCount", 194),
    ];
    let class = Type::instance("Ljava/lang/Class;", vec![mirror, Vec::new()]);
    let text = vec![field(1, "I", "hash", 2), field(0, "[C", "value", 18)];
    let node = vec![
        field(3, "Ljava.util.HashMap$Node;", "next", 2048),
        field(2, OBJECT, "value", 2048),
        field(1, OBJECT, "key", 2064),
        field(0, "I", "hash", 16),
    ];
    let pointers = |count: usize| (0..count).rev().map(|slot| field(slot, OBJECT, &format!("f{slot}"), 0)).collect();
    vec![
        Type::instance("Lnone;", Vec::new()),
        Type::array("[I"),
        Type { kind: Kind::Mirror, size: 104, ..class },
        Type::instance("Ljava/lang/String;", vec![text, Vec::new()]),
        Type::array("[C"),
        Type::array("[Ljava/lang/Object;"),
        Type::instance("Ljava/lang/Object;", vec![Vec::new()]),
        Type::instance("Ljava/util/HashMap$Node;", vec![node, Vec::new()]),
        Type::array("[Ljava/util/HashMap$Node;"),
        Type::array("[B"),
        Type::array("[J"),
        Type::array("[[I"),
        Type::array("[[Ljava/lang/String;"),
        Type::array("[Z"),
        // One class with more pointers than fit into an event, and one with exactly as many.
        Type::instance("LWide;", vec![pointers(15), Vec::new()]),
        Type::instance("Lorg/app/Dozen;", vec![pointers(12), Vec::new()]),
    ]
}
