//! Hidden holdings with a pointer back to their class.

use super::{HiddenContext, Role};
use ahash::{AHashMap, AHashSet};
use memory_city_heap::{BitSet, HeapColumns, ObjectId, TypeKind};

#[derive(Default)]
pub(super) struct FoundHolders {
    /// Class object, held object, and field.
    pub references: Vec<(ObjectId, ObjectId, &'static str)>,
    /// Further holders of a class that has one already.
    pub spare: AHashSet<ObjectId>,
    /// Threads that run, though no root names them.
    pub threads: Vec<ObjectId>,
}

/// Searches the unreachable objects. Linear in them: no part of a map is visited twice.
pub(super) fn find(context: &HiddenContext<'_>, columns: &HeapColumns, unreachable: &[ObjectId]) -> FoundHolders {
    let mut finder = Finder {
        context,
        columns,
        visited: BitSet::new(columns.type_of.len()),
        visited_for_enums: BitSet::new(columns.type_of.len()),
        type_at: columns.mirror_of.iter().enumerate().filter_map(|(t, m)| Some(((*m)?, t as u32))).collect(),
        elements: elements(context, columns),
    };
    let mut found = FoundHolders::default();
    let mut of_class: AHashMap<(ObjectId, &'static str), Vec<ObjectId>> = AHashMap::new();
    for &o in unreachable {
        if let Some((class, field)) = finder.class_of(o) {
            of_class.entry((class, field)).or_default().push(o);
        } else if finder.runs(o) {
            found.threads.push(o);
        }
    }
    for ((class, field), holders) in of_class {
        // Programs make such objects too: which of several the class holds is not known.
        let common = matches!(field, CACHED_CONSTRUCTOR | ENUM_CONSTANTS | ENUM_DIRECTORY);
        if holders.len() == 1 || !common {
            found.references.push((class, holders[0], field));
            found.spare.extend(&holders[1..]);
        }
    }
    found.references.sort_unstable();
    found
}

const CACHED_CONSTRUCTOR: &str = "cachedConstructor";
const ENUM_CONSTANTS: &str = "enumConstants";
const ENUM_DIRECTORY: &str = "enumConstantDirectory";

/// By array type: the type of its elements, if the dump has it.
fn elements(context: &HiddenContext<'_>, columns: &HeapColumns) -> Vec<Option<u32>> {
    let loader = &context.dump.classes.loader_of;
    let named = columns.types.iter().enumerate().map(|(t, of)| ((of.name.as_str(), loader[t]), t as u32));
    let by_name: AHashMap<(&str, u64), u32> = named.collect();
    let element = |(t, of): (usize, &memory_city_heap::HeapType)| {
        let name = of.name.strip_suffix("[]").filter(|_| of.kind != TypeKind::Instance)?;
        by_name.get(&(name, loader[t])).copied()
    };
    columns.types.iter().enumerate().map(element).collect()
}

struct Finder<'a> {
    context: &'a HiddenContext<'a>,
    columns: &'a HeapColumns,
    /// Parts of maps that were searched for a pointer back, and for enums.
    visited: BitSet,
    visited_for_enums: BitSet,
    /// Class object to type.
    type_at: AHashMap<ObjectId, u32>,
    elements: Vec<Option<u32>>,
}

impl Finder<'_> {
    fn role(&self, o: ObjectId) -> Role {
        self.context.role(self.columns, o)
    }

    fn references(&self, o: ObjectId) -> &[ObjectId] {
        self.columns.outgoing.of(o)
    }

    /// The class that an object points back to.
    fn back(&self, o: ObjectId) -> Option<ObjectId> {
        let field = match self.role(o) {
            Role::Method | Role::Field | Role::Constructor => "clazz",
            Role::ReflectionFactory => "decl",
            Role::ClassCache => "type",
            _ => return None,
        };
        let class = self.context.records.reference(self.columns, o, field)?;
        self.context.class_object(self.columns, class)
    }

    /// The class that holds an object in a hidden field, and the field.
    fn class_of(&mut self, o: ObjectId) -> Option<(ObjectId, &'static str)> {
        match self.role(o) {
            Role::SoftReference => {
                let data = self.references(o).iter().find(|&&r| self.role(r) == Role::ReflectionData)?;
                Some((self.of_reflection_data(*data)?, "reflectionData"))
            }
            Role::ClassRepository => {
                let factory = self.context.records.reference(self.columns, o, "factory")?;
                Some((self.back(factory)?, "genericInfo"))
            }
            Role::AnnotationType => Some((self.in_map(o)?, "annotationType")),
            Role::ClassValueMap => Some((self.in_map(o)?, "classValueMap")),
            Role::Constructor => self.cached_constructor(o),
            Role::HashMap => self.enum_directory(o),
            Role::Class => {
                let element = self.elements[*self.type_at.get(&o)? as usize]?;
                Some((self.columns.mirror_of[element as usize]?, "array class"))
            }
            _ => self.enum_constants(o),
        }
    }

    /// A declared member of a class points back to it; an inherited one does not.
    fn of_reflection_data(&self, data: ObjectId) -> Option<ObjectId> {
        let declared = [
            "declaredConstructors",
            "publicConstructors",
            "declaredMethods",
            "declaredPublicMethods",
            "declaredFields",
            "declaredPublicFields",
        ];
        declared.into_iter().find_map(|field| {
            let members = self.context.records.reference(self.columns, data, field)?;
            let first = self.references(members).first().filter(|_| self.role(members) == Role::Members)?;
            self.back(*first)
        })
    }

    /// The first object in a map that points back to a class.
    fn in_map(&mut self, map: ObjectId) -> Option<ObjectId> {
        let mut open = vec![map];
        while let Some(o) = open.pop() {
            for &r in self.columns.outgoing.of(o) {
                if matches!(self.role(r), Role::Method | Role::ClassCache) {
                    if let Some(class) = self.back(r) {
                        return Some(class);
                    }
                } else if matches!(self.role(r), Role::HashMap | Role::MapPart) && self.visited.insert(r.0) {
                    open.push(r);
                }
            }
        }
        None
    }

    /// `Class.newInstance` keeps a copy of the constructor without parameters, made accessible.
    fn cached_constructor(&self, o: ObjectId) -> Option<(ObjectId, &'static str)> {
        let records = &self.context.records;
        let parameters = records.reference(self.columns, o, "parameterTypes")?;
        let accessible = records.value(self.columns, o, "override")? != 0;
        let copied = records.reference(self.columns, o, "root").is_some();
        let none = self.columns.length[parameters.0 as usize] == 0;
        (accessible && copied && none).then_some((self.back(o)?, CACHED_CONSTRUCTOR))
    }

    /// The enum that an object is a constant of; constants with a body are of a subclass.
    fn enum_of(&self, o: ObjectId) -> Option<u32> {
        let is_enum = |t: u32| {
            let above = self.columns.types[t as usize].superclass;
            above.is_some_and(|s| self.columns.types[s.0 as usize].name == "java.lang.Enum")
        };
        let t = self.columns.type_of[o.0 as usize];
        let above = self.columns.types[t as usize].superclass.map(|s| s.0);
        [Some(t), above].into_iter().flatten().find(|&t| is_enum(t))
    }

    fn enum_constants(&self, o: ObjectId) -> Option<(ObjectId, &'static str)> {
        let element = self.elements[self.columns.type_of[o.0 as usize] as usize]?;
        let constants = self.references(o);
        let full = !constants.is_empty() && constants.len() == self.columns.length[o.0 as usize] as usize;
        let class = self.columns.mirror_of[element as usize].filter(|_| full)?;
        constants.iter().all(|&c| self.enum_of(c) == Some(element)).then_some((class, ENUM_CONSTANTS))
    }

    /// A map from names to the constants of one enum. The names are the very strings that the constants hold.
    fn enum_directory(&mut self, map: ObjectId) -> Option<(ObjectId, &'static str)> {
        let mut open = vec![map];
        let mut of = None;
        while let Some(o) = open.pop() {
            for &r in self.columns.outgoing.of(o) {
                if self.role(r) == Role::MapPart {
                    if self.visited_for_enums.insert(r.0) {
                        open.push(r);
                    }
                } else if self.role(r) != Role::String {
                    let constant = self.enum_of(r)?;
                    // The name is a field of `java.lang.Enum`, so it stands last.
                    let named = self.references(r).iter().rev().take(2).any(|name| self.references(o).contains(name));
                    if !named || *of.get_or_insert(constant) != constant {
                        return None;
                    }
                }
            }
        }
        Some((self.columns.mirror_of[of? as usize]?, ENUM_DIRECTORY))
    }

    /// Whether it is a thread that a thread of the system runs: the VM does not list those of its own as roots.
    fn runs(&self, o: ObjectId) -> bool {
        let records = &self.context.records;
        self.role(o) == Role::Thread && records.value(self.columns, o, "eetop").is_some_and(|native| native != 0)
    }
}
