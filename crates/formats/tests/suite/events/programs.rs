//! Random programs: events that mostly fit together, of every way to name objects, to die and to be reported.

use super::model::Model;
use super::script::Event;
use memory_city_formats::GcKind;
use memory_city_formats::event::{BIG_ARRAY, Gc, ObjectInfo, ObjectKey, Program, Shape};
use memory_city_heap::{AllocationSite, Allocator, HeapType, RootKind, SpaceKind, ThreadId, TypeKind};
use proptest::prelude::*;
use std::sync::Arc;

/// Kind of program.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    alignment: u32,
    has_spaces: bool,
    /// How many of a hundred objects are named by an id.
    ids: u8,
    /// Keys lie anywhere, not side by side.
    scattered: bool,
}

/// A step: what happens, and numbers that say to whom.
pub type Op = (u8, u16, u16, u16);

pub fn habits() -> impl Strategy<Value = Habits> {
    let alignment = prop_oneof![3 => Just(8u32), 2 => Just(1), 1 => Just(2), 1 => Just(4), 1 => Just(16)];
    let ids = prop_oneof![2 => Just(0u8), 2 => Just(50), 2 => Just(100)];
    (alignment, any::<bool>(), ids, prop::bool::weighted(0.2))
        .prop_map(|(alignment, has_spaces, ids, scattered)| Habits { alignment, has_spaces, ids, scattered })
}

pub fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(any::<Op>(), 1..400)
}

/// Spaces lie side by side, and may be smaller than this.
const SPACE: u64 = 0x4000;
const SPACES: u32 = 5;
const KINDS: [SpaceKind; 4] = [SpaceKind::Eden, SpaceKind::Survivor, SpaceKind::Old, SpaceKind::Humongous];
const DETAILS: [&str; 4] = ["stack", "com.acme.Cache.entries", "", "größer als \"13\" bekannte"];
const ROOTS: [RootKind; 4] = [RootKind::LocalVariable, RootKind::StaticField, RootKind::Jni, RootKind::Other];

fn program(habits: Habits) -> Program {
    let heap_type = |name: &str, kind| HeapType { name: name.into(), kind, superclass: None, loader: "main".into() };
    Program {
        profile: Default::default(),
        types: vec![
            heap_type("Item", TypeKind::Instance),
            heap_type("byte[]", TypeKind::PrimitiveArray),
            heap_type("Class", TypeKind::Instance),
        ],
        shapes: vec![Shape::Instance(21), Shape::Array { base: 12, element: 1 }, Shape::Mirror],
        sites: Arc::new(vec![AllocationSite::default(), AllocationSite { frames: vec!["f".into()] }]),
        causes: vec!["full".into()],
        alignment: habits.alignment,
        has_spaces: habits.has_spaces,
    }
}

struct Writer {
    habits: Habits,
    model: Model,
    events: Vec<Event>,
    ids: u64,
}

impl Writer {
    fn push(&mut self, event: Event) {
        self.model.take(&event);
        self.events.push(event);
    }

    /// A key for a new object, or for one that is moved.
    fn key(&mut self, a: u16, b: u16, id: bool) -> ObjectKey {
        let far = u64::from(a) << 47 | u64::from(b) << 31 | u64::from(a ^ b);
        if id {
            self.ids += 1;
            return ObjectKey::Id(if self.habits.scattered { far } else { self.ids });
        }
        let alignment = u64::from(self.habits.alignment);
        let near = 0x10000 + u64::from(a) % u64::from(SPACES) * SPACE + u64::from(b) % SPACE;
        let address = if self.habits.scattered && !self.habits.has_spaces { far } else { near };
        // Now and then one that no object can have.
        ObjectKey::Address(if b.is_multiple_of(61) { address } else { address / alignment * alignment })
    }

    /// The key of some object there is, or now and then of none.
    fn some(&self, a: u16) -> ObjectKey {
        let (now, next) = (self.model.now.len(), self.model.next.len());
        let at = usize::from(a) % (now + next + 1);
        let mut keys = self.model.now.keys().chain(self.model.next.keys());
        keys.nth(at).copied().unwrap_or(ObjectKey::Id(u64::MAX - u64::from(a)))
    }

    fn gc(&self, major: bool) -> Gc {
        let kind = if major { GcKind::Major } else { GcKind::Minor };
        let number = self.events.len() as u32;
        Gc { number, kind, cause: 0, millis: u64::from(number), failed: false, targets_after: major }
    }

    fn step(&mut self, (what, a, b, c): Op) {
        let collecting = self.model.is_collecting();
        match what {
            0..70 => {
                let (length, kind) = (u32::from(c % 300), c % 3);
                let info = ObjectInfo {
                    type_id: u32::from(kind),
                    site: u32::from(c / 3 % 2),
                    thread: ThreadId(u32::from(c / 7) % self.model.threads.len() as u32),
                    allocator: [Allocator::Vm, Allocator::C2][usize::from(c / 11 % 2)],
                    big: kind == 1 && length >= BIG_ARRAY,
                };
                let key = self.key(a, b, (a ^ c) % 100 < u16::from(self.habits.ids));
                self.push(Event::Allocate(info, length, key));
            }
            70..85 => self.push(Event::Freed(self.some(a))),
            85..150 if collecting => {
                let from = self.some(a);
                // References are reported where their object will be: it is not moved any more.
                let reported = self.model.has_reported(from);
                if reported && self.model.is_marked(from) {
                    return;
                }
                let to = self.key(b, c, false);
                // Nobody is moved onto another but by the trace's mistake, which is not made between references.
                let free = !self.model.next.contains_key(&to) && !self.model.now.contains_key(&to);
                match (from, to) {
                    (ObjectKey::Address(from), ObjectKey::Address(to)) if what < 120 && free && !reported => {
                        self.push(Event::Moved(from, to));
                    }
                    _ => self.push(Event::Kept(from)),
                }
            }
            150..190 if collecting => {
                let object = self.some(a);
                let targets = (0..c % 5).map(|i| self.some(b.wrapping_add(i.wrapping_mul(77)))).collect();
                let more = what % 4 == 0 && self.model.has_reported(object);
                self.push(Event::References(object, targets, more));
            }
            190..200 => {
                let thread = ThreadId(u32::from(c) % self.model.threads.len() as u32);
                let detail = match c % 8 {
                    0 => format!("detail {a}"),
                    _ => DETAILS[usize::from(c % 4)].to_owned(),
                };
                self.push(Event::Root(ROOTS[usize::from(c / 8 % 4)], thread, detail, self.some(b)));
            }
            200..210 => {
                if let ObjectKey::Id(id) = self.some(a) {
                    self.push(Event::Located(id, u64::from(b)));
                }
            }
            210..217 if self.habits.has_spaces => {
                let index = u32::from(a) % SPACES;
                self.space(index, SPACE - u64::from(b) % 3 * 0x1234, KINDS[usize::from(c % 4)]);
            }
            217..219 => self.push(Event::RemoveSpace(u32::from(a) % SPACES)),
            219..223 if collecting => self.push(Event::Collects(u32::from(a) % SPACES)),
            223 => self.push(Event::Thread(format!("thread {a}"))),
            224 => {
                let thread = ThreadId(u32::from(a) % self.model.threads.len() as u32);
                self.push(Event::NameThread(thread, format!("named {b}")));
            }
            225.. if collecting => self.push(Event::End(self.gc(false))),
            240.. => self.push(Event::Begin(self.gc(a % 3 == 0))),
            _ => {}
        }
    }

    fn space(&mut self, index: u32, bytes: u64, kind: SpaceKind) {
        self.push(Event::Space { index, start: 0x10000 + u64::from(index) * SPACE, bytes, kind });
    }
}

/// A program's events, and what a heap is after them.
pub fn write(habits: Habits, ops: &[Op]) -> (Arc<Program>, Vec<Event>, Model) {
    let program = Arc::new(program(habits));
    let model = Model::new(Arc::clone(&program));
    let mut writer = Writer { habits, model, events: Vec::new(), ids: 0 };
    for index in (0..SPACES).filter(|_| habits.has_spaces) {
        writer.space(index, SPACE, KINDS[index as usize % 3]);
    }
    writer.step((0, 1, 2, 3));
    ops.iter().for_each(|&op| writer.step(op));
    writer.model.finish();
    (program, writer.events, writer.model)
}
