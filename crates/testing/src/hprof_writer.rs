//! Writes small HPROF dumps of any kind, for tests: both id sizes, all versions, all records.

/// A dump under construction.
pub struct Dump {
    id_size: usize,
    top: Vec<u8>,
    heap: Vec<u8>,
}

impl Dump {
    pub fn new(version: u8, id_size: usize, millis: u64) -> Dump {
        let mut top = format!("JAVA PROFILE 1.0.{version}\0").into_bytes();
        top.extend((id_size as u32).to_be_bytes());
        top.extend(millis.to_be_bytes());
        Dump { id_size, top, heap: Vec::new() }
    }

    fn id(&self, id: u64) -> Vec<u8> {
        if self.id_size == 8 { id.to_be_bytes().to_vec() } else { (id as u32).to_be_bytes().to_vec() }
    }

    /// A top-level record.
    pub fn record(&mut self, tag: u8, body: &[u8]) -> &mut Self {
        self.top.push(tag);
        self.top.extend(0u32.to_be_bytes());
        self.top.extend((body.len() as u32).to_be_bytes());
        self.top.extend(body);
        self
    }

    pub fn string(&mut self, id: u64, text: &str) -> &mut Self {
        let body = [self.id(id), text.as_bytes().to_vec()].concat();
        self.record(0x01, &body)
    }

    /// Name and load record of a class.
    pub fn load_class(&mut self, serial: u32, class: u64, name: &str) -> &mut Self {
        self.string(class + 1, name);
        let serial = serial.to_be_bytes().to_vec();
        let body = [serial, self.id(class), 0u32.to_be_bytes().to_vec(), self.id(class + 1)].concat();
        self.record(0x02, &body)
    }

    pub fn frame(&mut self, frame: u64, method: u64, class_serial: u32, line: i32) -> &mut Self {
        let ids = [self.id(frame), self.id(method), self.id(0), self.id(0)].concat();
        let body = [ids, class_serial.to_be_bytes().to_vec(), line.to_be_bytes().to_vec()].concat();
        self.record(0x04, &body)
    }

    pub fn trace(&mut self, serial: u32, thread: u32, frames: &[u64]) -> &mut Self {
        let mut body = [serial.to_be_bytes(), thread.to_be_bytes(), (frames.len() as u32).to_be_bytes()].concat();
        frames.iter().for_each(|f| body.extend(self.id(*f)));
        self.record(0x05, &body)
    }

    /// Raw bytes inside the heap segment.
    pub fn heap(&mut self, bytes: &[u8]) -> &mut Self {
        self.heap.extend(bytes);
        self
    }

    /// A root with one id, and what follows it.
    pub fn root(&mut self, tag: u8, object: u64, rest: &[u32]) -> &mut Self {
        self.heap.push(tag);
        let mut bytes = self.id(object);
        rest.iter().for_each(|r| bytes.extend(r.to_be_bytes()));
        self.heap(&bytes)
    }

    /// A class: statics and fields as (name id, type, value) and (name id, type).
    pub fn class(
        &mut self,
        class: u64,
        superclass: u64,
        loader: u64,
        statics: &[(u64, u8, u64)],
        fields: &[(u64, u8)],
    ) -> &mut Self {
        let mut bytes = vec![0x20];
        bytes.extend(self.id(class));
        bytes.extend(1u32.to_be_bytes());
        for id in [superclass, loader, 0, 0, 0, 0] {
            bytes.extend(self.id(id));
        }
        bytes.extend(16u32.to_be_bytes());
        bytes.extend(0u16.to_be_bytes());
        bytes.extend((statics.len() as u16).to_be_bytes());
        for (name, kind, value) in statics {
            bytes.extend(self.id(*name));
            bytes.push(*kind);
            bytes.extend(self.value(*kind, *value));
        }
        bytes.extend((fields.len() as u16).to_be_bytes());
        for (name, kind) in fields {
            bytes.extend(self.id(*name));
            bytes.push(*kind);
        }
        self.heap(&bytes)
    }

    fn value(&self, kind: u8, value: u64) -> Vec<u8> {
        match kind {
            2 => self.id(value),
            4 | 8 => vec![value as u8],
            5 | 9 => (value as u16).to_be_bytes().to_vec(),
            6 | 10 => (value as u32).to_be_bytes().to_vec(),
            _ => value.to_be_bytes().to_vec(),
        }
    }

    pub fn instance(&mut self, object: u64, trace: u32, class: u64, values: &[(u8, u64)]) -> &mut Self {
        let values: Vec<u8> = values.iter().flat_map(|(kind, v)| self.value(*kind, *v)).collect();
        let mut bytes = vec![0x21];
        bytes.extend(self.id(object));
        bytes.extend(trace.to_be_bytes());
        bytes.extend(self.id(class));
        bytes.extend((values.len() as u32).to_be_bytes());
        bytes.extend(values);
        self.heap(&bytes)
    }

    pub fn object_array(&mut self, object: u64, class: u64, elements: &[u64]) -> &mut Self {
        let mut bytes = vec![0x22];
        bytes.extend(self.id(object));
        bytes.extend(1u32.to_be_bytes());
        bytes.extend((elements.len() as u32).to_be_bytes());
        bytes.extend(self.id(class));
        elements.iter().for_each(|e| bytes.extend(self.id(*e)));
        self.heap(&bytes)
    }

    pub fn primitive_array(&mut self, object: u64, kind: u8, elements: &[u64]) -> &mut Self {
        let mut bytes = vec![0x23];
        bytes.extend(self.id(object));
        bytes.extend(1u32.to_be_bytes());
        bytes.extend((elements.len() as u32).to_be_bytes());
        bytes.push(kind);
        elements.iter().for_each(|e| bytes.extend(self.value(kind, *e)));
        self.heap(&bytes)
    }

    /// Ends the segment.
    pub fn segment(&mut self, tag: u8) -> &mut Self {
        let heap = std::mem::take(&mut self.heap);
        self.record(tag, &heap)
    }

    /// The bytes of all ended segments and records since the last call: dumps larger than memory are written piece by piece.
    pub fn drain(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.top)
    }

    /// The file, or the rest of it.
    pub fn finish(&mut self) -> Vec<u8> {
        if !self.heap.is_empty() {
            self.segment(0x1c);
        }
        self.record(0x2c, &[]);
        std::mem::take(&mut self.top)
    }
}

pub const OBJECT: u64 = 0x1000;
pub const STRING: u64 = 0x1100;
pub const THREAD: u64 = 0x1200;
pub const CLASS: u64 = 0x1300;
pub const NODE: u64 = 0x1400;
pub const NODES: u64 = 0x1500;

/// A small program: a static field `Main.list` holds a chain of `count` nodes, each with a string; a thread named
/// `worker` holds one more in a local variable; one node is garbage.
pub fn small(version: u8, id_size: usize, count: u64) -> Vec<u8> {
    let mut d = Dump::new(version, id_size, 1_700_000_000_000);
    for (i, (class, name)) in [
        (OBJECT, "java/lang/Object"),
        (STRING, "java/lang/String"),
        (THREAD, "java/lang/Thread"),
        (CLASS, "java/lang/Class"),
        (NODE, "com/acme/Node"),
        (NODES, "[Lcom/acme/Node;"),
    ]
    .into_iter()
    .enumerate()
    {
        d.load_class(i as u32 + 1, class, name);
    }
    for (id, name) in
        [(11, "value"), (12, "coder"), (13, "name"), (14, "next"), (15, "label"), (16, "list"), (17, "run")]
    {
        d.string(id, name);
    }
    d.frame(50, 17, 5, 42).trace(1, 0, &[]).trace(7, 3, &[50]);
    d.class(OBJECT, 0, 0, &[], &[]);
    d.class(STRING, OBJECT, 0, &[], &[(11, 2), (12, 8)]);
    d.class(THREAD, OBJECT, 0, &[], &[(13, 2)]);
    d.class(CLASS, OBJECT, 0, &[], &[]);
    d.class(NODE, OBJECT, 0, &[(16, 2, 0x2000), (15, 10, 5)], &[(14, 2), (15, 2)]);
    d.class(NODES, OBJECT, 0, &[], &[]);
    d.root(0x05, NODE, &[]).root(0x08, 0x1800, &[3, 7]).root(0x03, 0x1900, &[3, 0]);
    d.primitive_array(0x1700, 8, &"worker".bytes().map(u64::from).collect::<Vec<_>>());
    d.instance(0x1780, 1, STRING, &[(2, 0x1700), (8, 0)]);
    d.instance(0x1800, 1, THREAD, &[(2, 0x1780)]);
    d.instance(0x1900, 1, NODE, &[(2, 0), (2, 0)]);
    d.instance(0x1980, 1, NODE, &[(2, 0x1900), (2, 0)]);
    for i in 0..count {
        let at = 0x2000 + i * 0x80;
        let next = if i + 1 < count { at + 0x80 } else { 0 };
        d.instance(at, 1, NODE, &[(2, next), (2, at + 0x20)]);
        d.instance(at + 0x20, 1, STRING, &[(2, 0x1700), (8, 0)]);
    }
    d.object_array(0xa000_0000, NODES, &[0x2000, 0, 0x2000]);
    d.finish()
}

/// What [`reflective`] writes, by what becomes of it.
pub mod reflective {
    /// Alive: a loader, a class of it, what its reflection data hold, and annotations of some class.
    pub const LOADER: u64 = 0x5000;
    pub const CLASS: u64 = 0x2000;
    pub const DATA: [u64; 4] = [0x6000, 0x6020, 0x6040, 0x6060];
    pub const ANNOTATIONS: u64 = 0x6400;
    /// Nothing reaches the other loader, so all of its class is dead.
    pub const DEAD_LOADER: u64 = 0x5100;
    pub const DEAD_CLASS: u64 = 0x2100;
    pub const DEAD_DATA: [u64; 4] = [0x6100, 0x6120, 0x6140, 0x6160];
    /// Annotations that reach the dead class, through a class object and through an instance.
    pub const DEAD_ANNOTATIONS: [u64; 2] = [0x6500, 0x6600];
    pub const DEAD_INSTANCE: u64 = 0x6620;
    /// A second holder of the reflection data of the class that is alive.
    pub const SPARE_DATA: [u64; 4] = [0x6200, 0x6220, 0x6240, 0x6260];
    /// An array of methods as programs get it.
    pub const COPIES: [u64; 2] = [0x6300, 0x6320];
    /// Two constructors without parameters: a class may hold one of them.
    pub const CONSTRUCTORS: [u64; 2] = [0x6700, 0x6740];
}

/// Objects that only hidden fields of class objects hold, of a class that is alive and of a dead one, and garbage like them.
pub fn reflective(id_size: usize) -> Vec<u8> {
    use reflective::*;
    let (loader, soft, data, method, methods) = (0x1600, 0x1700, 0x1800, 0x1900, 0x1a00);
    const CLASS_OBJECTS: u64 = super::hprof_writer::CLASS;
    let (annotations, constructor, classes) = (0x1b00, 0x1c00, 0x1d00);
    let mut d = Dump::new(2, id_size, 0);
    for (serial, (class, name)) in [
        (OBJECT, "java/lang/Object"),
        (CLASS_OBJECTS, "java/lang/Class"),
        (loader, "java/lang/ClassLoader"),
        (soft, "java/lang/ref/SoftReference"),
        (data, "java/lang/Class$ReflectionData"),
        (method, "java/lang/reflect/Method"),
        (methods, "[Ljava/lang/reflect/Method;"),
        (annotations, "java/lang/Class$AnnotationData"),
        (constructor, "java/lang/reflect/Constructor"),
        (classes, "[Ljava/lang/Class;"),
        (CLASS, "com/acme/Alive"),
        (DEAD_CLASS, "com/acme/Dead"),
    ]
    .into_iter()
    .enumerate()
    {
        d.load_class(serial as u32 + 1, class, name);
    }
    let names = ["referent", "declaredMethods", "clazz", "annotations", "override", "parameterTypes", "root"];
    for (id, name) in (11..).zip(names) {
        d.string(id, name);
    }
    for (class, above, of, fields) in [
        (OBJECT, 0, 0, &[][..]),
        (CLASS_OBJECTS, OBJECT, 0, &[]),
        (loader, OBJECT, 0, &[]),
        (soft, OBJECT, 0, &[(11, 2)]),
        (data, OBJECT, 0, &[(12, 2)]),
        (method, OBJECT, 0, &[(17, 2), (13, 2)]),
        (methods, OBJECT, 0, &[]),
        (annotations, OBJECT, 0, &[(14, 2)]),
        (constructor, OBJECT, 0, &[(17, 2), (16, 2), (15, 4), (13, 2)]),
        (classes, OBJECT, 0, &[]),
        (CLASS, OBJECT, LOADER, &[]),
        (DEAD_CLASS, OBJECT, DEAD_LOADER, &[]),
    ] {
        d.class(class, above, of, &[], fields);
        if of == 0 {
            d.root(0x05, class, &[]);
        }
    }
    d.root(0xff, CLASS, &[]);
    d.instance(LOADER, 1, loader, &[]).instance(DEAD_LOADER, 1, loader, &[]);
    for (of, [reference, held, array, member]) in [(CLASS, DATA), (DEAD_CLASS, DEAD_DATA), (CLASS, SPARE_DATA)] {
        d.instance(reference, 1, soft, &[(2, held)]).instance(held, 1, data, &[(2, array)]);
        d.object_array(array, methods, &[member]).instance(member, 1, method, &[(2, 0), (2, of)]);
    }
    d.object_array(COPIES[0], methods, &[COPIES[1]]).instance(COPIES[1], 1, method, &[(2, DATA[3]), (2, CLASS)]);
    d.instance(ANNOTATIONS, 1, annotations, &[(2, CLASS)]);
    d.instance(DEAD_ANNOTATIONS[0], 1, annotations, &[(2, DEAD_CLASS)]);
    d.instance(DEAD_ANNOTATIONS[1], 1, annotations, &[(2, DEAD_INSTANCE)]).instance(DEAD_INSTANCE, 1, DEAD_CLASS, &[]);
    d.object_array(0x6800, classes, &[]);
    for copy in CONSTRUCTORS {
        d.instance(copy, 1, constructor, &[(2, CONSTRUCTORS[0]), (2, 0x6800), (4, 1), (2, CLASS)]);
    }
    d.finish()
}
