//! The view of an object for scripts.
//!
//! No object outlives a call, but the language knows only owned values. So an object is a number there, and the heap state is lent to the
//! thread for the time of a call.

use super::run::work;
use crate::group::{ObjectView, Reads};
use memory_city_heap::{
    BitSet, CohortFacts, HeapState, HeapType, Life, NameRules, ObjectId, ObjectParts, Profile, TypeKind,
};
use rhai::{Array, Dynamic, Engine, EvalAltResult, INT, ImmutableString};
use scoped_tls::scoped_thread_local;
use std::sync::Arc;

/// Something that an object tells a script.
pub struct PropertyInfo {
    /// Its name: `o.size`.
    pub name: &'static str,
    /// A line about it.
    pub description: &'static str,
    /// The fact it reads.
    pub reads: Reads,
}

const fn property(name: &'static str, reads: Reads, description: &'static str) -> PropertyInfo {
    PropertyInfo { name, description, reads }
}

/// All that an object tells scripts.
pub const PROPERTIES: [PropertyInfo; 23] = [
    property("type", Reads::TYPE, "Name of the type, with package: com.acme.Cart$Item"),
    property("simple_type", Reads::TYPE, "Name of the type without package"),
    property(
        "package_name",
        Reads::TYPE,
        "Package of the type; of arrays, that of their elements; empty where there is none",
    ),
    property("loader", Reads::TYPE, "Class loader of the type"),
    property("is_array", Reads::TYPE, "Whether it is an array"),
    property("is_reference_array", Reads::TYPE, "Whether it is an array of references"),
    property("is_primitive_array", Reads::TYPE, "Whether it is an array of primitive values"),
    property("is_big_array", Reads::BIG_ARRAY, "Whether it is an array of 255 elements or more"),
    property("length", Reads::LENGTH, "Elements of an array; -1 for what is none"),
    property("size", Reads::SIZE, "Shallow bytes"),
    property(
        "site",
        Reads::SITE,
        "List of the frames that allocated it, innermost first; empty where that is not known",
    ),
    property("header_bytes", Reads::FIELDS, "Bytes of its header; -1 where that is not known, as of class objects"),
    property("primitive_bytes", Reads::FIELDS, "Bytes of its primitive fields or elements; -1 likewise"),
    property("pointer_bytes", Reads::FIELDS, "Bytes of its references that lead to objects; -1 likewise"),
    property("null_bytes", Reads::FIELDS, "Bytes of its references that are null; -1 likewise"),
    property("thread_name", Reads::THREAD, "Name of the allocating thread"),
    property("allocator", Reads::SUBSYSTEM, "What allocated it: VM, Interpreter, compiled code"),
    property("space", Reads::SPACE, "Kind of heap space it is in"),
    property("age", Reads::AGE, "Garbage collections survived"),
    property(
        "roots",
        Reads::ROOTS,
        "List of the GC roots that hold it: each a list of kind, class and field, or thread and place",
    ),
    property("references", Reads::REFERENCES, "The objects it refers to, one for each reference that is not null"),
    property("referrers", Reads::REFERRERS, "The objects that refer to it, one for each reference"),
    property("address", Reads::ID, "Its address; -1 where that is not known"),
];

/// The names of a heap state's types, each created once.
pub(super) struct ScriptTypes {
    names: Vec<ImmutableString>,
    packages: Vec<ImmutableString>,
}

impl ScriptTypes {
    pub fn new(heap: Option<&HeapState>) -> ScriptTypes {
        let Some(heap) = heap else { return ScriptTypes { names: Vec::new(), packages: Vec::new() } };
        let (types, rules) = (heap.types(), &heap.profile().names);
        ScriptTypes {
            names: types.iter().map(|t| rules.stable(&t.name).into()).collect(),
            packages: types.iter().map(|t| rules.split(&t.name).0.into()).collect(),
        }
    }
}

scoped_thread_local!(static HEAP: HeapState);
scoped_thread_local!(static AMONG: BitSet);
scoped_thread_local!(static TYPES: ScriptTypes);

/// An object, as scripts have it.
#[derive(Clone)]
pub(super) struct ScriptObject {
    subject: ScriptSubject,
    reads: Reads,
}

#[derive(Clone)]
enum ScriptSubject {
    Object(ObjectId),
    Cohort(Arc<OwnedFacts>),
}

/// The common facts of the objects of a cohort.
struct OwnedFacts {
    profile: &'static Profile,
    of: HeapType,
    big_array: bool,
    length: Option<u32>,
    site: Vec<Arc<str>>,
    thread: Arc<str>,
    life: (memory_city_heap::Allocator, memory_city_heap::SpaceKind, u32),
}

/// Calls `call` with an object for a script that reads so much; its heap state is lent for that time.
pub(super) fn lend<R>(
    view: &ObjectView<'_>,
    types: &ScriptTypes,
    reads: Reads,
    call: impl FnOnce(ScriptObject) -> R,
) -> R {
    let (heap, id, among) = match view.subject() {
        Ok(object) => object,
        Err(facts) => {
            let owned = OwnedFacts {
                profile: facts.profile,
                of: facts.of.clone(),
                big_array: facts.big_array,
                length: facts.length,
                site: facts.site.to_vec(),
                thread: Arc::clone(facts.life.thread),
                life: (facts.life.allocator, facts.life.space, facts.life.age),
            };
            return call(ScriptObject { subject: ScriptSubject::Cohort(Arc::new(owned)), reads });
        }
    };
    let object = ScriptObject { subject: ScriptSubject::Object(id), reads };
    HEAP.set(heap, || {
        TYPES.set(types, || match among {
            None => call(object),
            Some(among) => AMONG.set(among, || call(object)),
        })
    })
}

/// The answer of an object, or the error in the question.
type Asked<R> = Result<R, Box<EvalAltResult>>;

impl ScriptObject {
    /// Asks the object at hand. Outside a call there is none, and no way for a script to get there.
    ///
    /// Reads facts. A read that the header parser did not find in the code (a later version of the language may allow one) is an error, not
    /// a wrong answer.
    fn ask<R: Default>(&self, reads: Reads, ask: impl FnOnce(&ObjectView<'_>) -> R) -> Asked<R> {
        if !self.reads.contains(reads) {
            let names: Vec<&str> = PROPERTIES.iter().filter(|p| p.reads == reads).map(|p| p.name).collect();
            return Err(
                format!("it reads {}: list all that it reads in the header, // reads: ...", names.join(", ")).into()
            );
        }
        Ok(match &self.subject {
            ScriptSubject::Object(id) if HEAP.is_set() => HEAP.with(|heap| match AMONG.is_set() {
                true => AMONG.with(|among| ask(&ObjectView::new(heap, *id, Some(among), self.reads))),
                false => ask(&ObjectView::new(heap, *id, None, self.reads)),
            }),
            ScriptSubject::Object(_) => R::default(),
            ScriptSubject::Cohort(owned) => {
                let (allocator, space, age) = owned.life;
                let life = Life { thread: &owned.thread, allocator, space, age };
                let OwnedFacts { profile, of, big_array, length, site, .. } = &**owned;
                let facts = CohortFacts { profile, of, big_array: *big_array, length: *length, site, life };
                ask(&ObjectView::of_cohort(&facts).for_reader(self.reads))
            }
        })
    }

    /// A text of the type, made once for each type.
    fn of_type(
        &self,
        known: fn(&ScriptTypes) -> &[ImmutableString],
        other: for<'n> fn(&NameRules, &'n str) -> &'n str,
    ) -> Asked<ImmutableString> {
        self.ask(Reads::TYPE, |view| match view.type_id().filter(|_| TYPES.is_set()) {
            Some(of) => TYPES.with(|types| known(types).get(of.0 as usize).cloned().unwrap_or_default()),
            None => other(&view.profile().names, view.type_name()).into(),
        })
    }

    /// Whether it is the same object.
    fn is(&self, other: &ScriptObject) -> bool {
        match (&self.subject, &other.subject) {
            (ScriptSubject::Object(a), ScriptSubject::Object(b)) => a == b,
            (ScriptSubject::Cohort(a), ScriptSubject::Cohort(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    fn is_kind(&self, kinds: &[TypeKind]) -> Asked<bool> {
        self.ask(Reads::TYPE, |view| view.heap_type().is_some_and(|t| kinds.contains(&t.kind)))
    }
}

/// Objects at the other end of references, as scripts have them.
#[derive(Clone)]
pub(super) struct ScriptObjects {
    of: ScriptObject,
    referring: bool,
}

impl ScriptObjects {
    fn reads(&self) -> Reads {
        if self.referring { Reads::REFERRERS } else { Reads::REFERENCES }
    }

    fn at(&self, at: usize) -> Asked<Option<ScriptObject>> {
        work(at as u64 / 16);
        let found = self.of.ask(self.reads(), |view| {
            let found = if self.referring { view.referrers().nth(at) } else { view.references().nth(at) };
            found.and_then(|o| o.subject().ok()).map(|(_, id, _)| id)
        })?;
        Ok(found.map(|id| ScriptObject { subject: ScriptSubject::Object(id), reads: self.of.reads }))
    }

    fn count(&self) -> Asked<INT> {
        let count = self.of.ask(self.reads(), |view| {
            if self.referring { view.referrers().count() } else { view.references().count() }
        })?;
        work(count as u64 / 16);
        Ok(whole(Some(count)))
    }
}

/// Goes through them one by one: an array of a million elements is no list of a million.
pub(super) struct ScriptWalk {
    objects: ScriptObjects,
    /// Index of the next reference, among all of the object.
    next: usize,
}

impl IntoIterator for ScriptObjects {
    type Item = ScriptObject;
    type IntoIter = ScriptWalk;

    fn into_iter(self) -> ScriptWalk {
        ScriptWalk { objects: self, next: 0 }
    }
}

impl Iterator for ScriptWalk {
    type Item = ScriptObject;

    fn next(&mut self) -> Option<ScriptObject> {
        let (objects, next) = (&self.objects, &mut self.next);
        let found = objects.of.ask(objects.reads(), |view| {
            let (heap, id, among) = view.subject().ok()?;
            let all = if objects.referring { heap.referrers(id) } else { heap.references(id) };
            while let Some(&other) = all.get(*next) {
                *next += 1;
                if among.is_none_or(|among| among.contains(other.0)) {
                    return Some(ScriptObject { subject: ScriptSubject::Object(other), reads: objects.of.reads });
                }
            }
            None
        });
        found.ok().flatten()
    }
}

fn text(text: Option<&str>) -> ImmutableString {
    text.unwrap_or_default().into()
}

fn whole(number: Option<impl TryInto<INT>>) -> INT {
    number.and_then(|n| n.try_into().ok()).unwrap_or(-1)
}

fn part(o: &ScriptObject, of: fn(ObjectParts) -> u64) -> Asked<INT> {
    o.ask(Reads::FIELDS, |view| Some(whole(view.parts().map(of)))).map(known)
}

fn known(number: Option<INT>) -> INT {
    number.unwrap_or(-1)
}

/// Adds all that [`PROPERTIES`] lists.
pub(super) fn register(engine: &mut Engine) {
    type O = ScriptObject;
    engine.register_type_with_name::<ScriptObject>("object");
    engine.register_type_with_name::<ScriptObjects>("objects");
    engine.register_get("type", |o: &mut O| o.of_type(|t| &t.names, |_, name| name));
    engine.register_get("package_name", |o: &mut O| o.of_type(|t| &t.packages, |rules, name| rules.split(name).0));
    engine.register_get("simple_type", |o: &mut O| {
        o.ask(Reads::TYPE, |v| text(Some(v.profile().names.split(v.type_name()).1)))
    });
    engine.register_get("loader", |o: &mut O| o.ask(Reads::TYPE, |v| text(v.heap_type().map(|t| &*t.loader))));
    engine.register_get("is_array", |o: &mut O| o.is_kind(&[TypeKind::ObjectArray, TypeKind::PrimitiveArray]));
    engine.register_get("is_reference_array", |o: &mut O| o.is_kind(&[TypeKind::ObjectArray]));
    engine.register_get("is_primitive_array", |o: &mut O| o.is_kind(&[TypeKind::PrimitiveArray]));
    engine.register_get("is_big_array", |o: &mut O| o.ask(Reads::BIG_ARRAY, |v| v.is_big_array()));
    engine.register_get("length", |o: &mut O| o.ask(Reads::LENGTH, |v| Some(whole(v.length()))).map(known));
    engine.register_get("size", |o: &mut O| o.ask(Reads::SIZE, |v| Some(whole(v.size()))).map(known));
    engine.register_get("site", |o: &mut O| -> Asked<Array> {
        o.ask(Reads::SITE, |v| v.site().iter().map(|f| text(Some(f)).into()).collect())
    });
    engine.register_get("header_bytes", |o: &mut O| part(o, |parts| parts.header));
    engine.register_get("primitive_bytes", |o: &mut O| part(o, |parts| parts.primitive));
    engine.register_get("pointer_bytes", |o: &mut O| part(o, |parts| parts.pointers));
    engine.register_get("null_bytes", |o: &mut O| part(o, |parts| parts.nulls));
    engine.register_get("thread_name", |o: &mut O| o.ask(Reads::THREAD, |v| text(v.thread())));
    engine.register_get("allocator", |o: &mut O| o.ask(Reads::SUBSYSTEM, |v| text(v.allocator().map(|a| a.title()))));
    engine.register_get("space", |o: &mut O| o.ask(Reads::SPACE, |v| text(v.space().map(|s| s.title()))));
    engine.register_get("age", |o: &mut O| o.ask(Reads::AGE, |v| Some(whole(v.age()))).map(known));
    engine.register_get("address", |o: &mut O| o.ask(Reads::ID, |v| Some(whole(v.address()))).map(known));
    engine.register_get("roots", |o: &mut O| -> Asked<Array> {
        let chain = |parts: Vec<Dynamic>| Dynamic::from_array(parts);
        o.ask(Reads::ROOTS, |v| {
            v.roots().map(|root| chain(root.chain().map(|p| text(Some(p)).into()).collect())).collect()
        })
    });
    engine.register_get("references", |o: &mut O| ScriptObjects { of: o.clone(), referring: false });
    engine.register_get("referrers", |o: &mut O| ScriptObjects { of: o.clone(), referring: true });
    engine.register_get("len", |all: &mut ScriptObjects| all.count());
    engine.register_fn("len", |all: &mut ScriptObjects| all.count());
    engine.register_get("is_empty", |all: &mut ScriptObjects| all.at(0).map(|first| first.is_none()));
    engine.register_fn("is_empty", |all: &mut ScriptObjects| all.at(0).map(|first| first.is_none()));
    engine.register_indexer_get(|all: &mut ScriptObjects, at: INT| -> Result<ScriptObject, Box<EvalAltResult>> {
        match usize::try_from(at).map_or(Ok(None), |at| all.at(at))? {
            Some(found) => Ok(found),
            None => Err(format!("there is no reference {at}: there are {}, counted from 0", all.count()?).into()),
        }
    });
    engine.register_fn("==", |a: O, b: O| a.is(&b));
    engine.register_fn("!=", |a: O, b: O| !a.is(&b));
    engine.register_iterator::<ScriptObjects>();
}
