//! The simulated program as its symbols file describes it, types and allocation sites, and what it allocates next.
use super::random::Rng;
use super::symbols::{Field, Symbols};
use super::types::{self, CHARS, CLASS, INT_ARRAY, Type};
use super::writer::{Allocation, Allocator, FIRST_BIG_SITE, HEADER_WORDS};

pub(super) struct Site {
    pub(super) id: u32,
    /// Index of the type.
    pub(super) ty: u16,
    pub(super) frames: Vec<(String, i32)>,
    pub(super) simple: bool,
    /// Longest array made here.
    pub(super) longest: u32,
}

/// Signatures of the special sites, whose ids are 1 to 12.
pub(super) const SPECIAL: [&str; 12] = [
    "VM internal",
    "VM GC",
    "VM GC Dead Space",
    "VM GC Scavenge Zombie",
    "java.lang.Object.clone()Ljava/lang/Object;",
    "java.lang.String.intern()Ljava/lang/String;",
    "java.io.ObjectInputStream.allocateNewObject(Ljava/lang/Class;Ljava/lang/Class;)Ljava/lang/Object;",
    "java.io.ObjectInputStream.allocateNewArray(Ljava/lang/Class;I)Ljava/lang/Object;",
    "java.lang.reflect.Array.newArray(Ljava/lang/Class;I)Ljava/lang/Object;",
    "java.lang.reflect.Array.newMultiArray(Ljava/lang/Class;[I)Ljava/lang/Object;",
    "java.lang.reflect.Constructor.newInstance([Ljava/lang/Object;)Ljava/lang/Object;",
    "java.lang.reflect.Method.invoke(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;",
];

/// Causes of collections: id, name, whether it is a common one.
const CAUSES: [(u32, &str, bool); 8] = [
    (0, "System.gc()", false),
    (5, "GCLocker Initiated GC", false),
    (12, "No GC", false),
    (14, "Allocation Failure", true),
    (16, "Metadata GC Threshold", false),
    (23, "Ergonomics", true),
    (24, "G1 Evacuation Pause", true),
    (25, "G1 Humongous Allocation", false),
];

pub(super) struct Program {
    pub(super) types: Vec<Type>,
    pub(super) sites: Vec<Site>,
}

/// An allocation about to be made.
pub(super) struct Plan {
    pub(super) site: u32,
    pub(super) ty: u16,
    /// Of arrays; size in bytes of mirrors.
    pub(super) length: u32,
    pub(super) by: Allocator,
    /// The event has to name the type.
    pub(super) named: bool,
    pub(super) special: bool,
}

impl Plan {
    /// An `int[]` that fills a gap of at least 16 bytes.
    pub(super) fn filler(start: u64, end: u64) -> Self {
        Self::internal(INT_ARRAY, ((end - start - 16) / 4) as u32)
    }

    /// An allocation by the VM for itself.
    pub(super) fn internal(ty: u16, length: u32) -> Self {
        Self { site: 1, ty, length, by: Allocator::Vm, named: true, special: true }
    }
}

impl Program {
    pub(super) fn new(rng: &mut Rng, types: u32, sites: u32) -> Self {
        let types = types::make_types(rng, types);
        let sites = make_sites(rng, &types, sites);
        Self { types, sites }
    }

    /// The contents of the symbols file.
    pub(super) fn symbols(&self, words: &[u32; HEADER_WORDS], pointers: bool) -> Vec<u8> {
        let types = &self.types;
        let mut symbols = Symbols::new(words, u32::from(pointers) << 1, "");
        for (id, name, common) in CAUSES {
            symbols.cause(id, name, common);
        }
        for (index, signature) in SPECIAL.iter().enumerate() {
            symbols.simple_site(index as u32 + 1, signature, 0);
        }
        // Every class once as a mirror, as the VM does; then the types.
        let class = &types[CLASS as usize];
        for ty in &types[1..] {
            symbols.type_record(CLASS.into(), &class.signature, class.size);
            let own: Vec<Field> = ty.fields.first().into_iter().flatten().rev().cloned().collect();
            symbols.mirror(&ty.signature, &own, ty.fields.get(1..).unwrap_or_default());
        }
        for (id, ty) in types.iter().enumerate().skip(1) {
            symbols.type_record(id as u32, &ty.signature, ty.size);
            if let Some((own, supers)) = ty.fields.split_first() {
                symbols.fields(own, supers);
            }
        }
        for site in &self.sites {
            if site.simple {
                symbols.simple_site(site.id, &site.frames[0].0, site.ty.into());
            } else {
                symbols.site(site.id, &site.frames, site.ty.into());
            }
        }
        symbols.into_bytes()
    }

    pub(super) fn bytes(&self, plan: &Plan) -> u64 {
        self.types[plan.ty as usize].bytes(plan.length)
    }

    /// What the event of an allocation says.
    pub(super) fn describe(&self, plan: &Plan) -> Allocation {
        Allocation {
            site: plan.site,
            length: self.types[plan.ty as usize].is_array().then_some(plan.length),
            type_id: plan.named.then_some(plan.ty.into()),
            mirror: (plan.ty == CLASS).then_some(plan.length),
        }
    }

    /// The program's next allocation.
    pub(super) fn plan(&self, rng: &mut Rng) -> Plan {
        let site = &self.sites[rng.ranked(self.sites.len() as u64) as usize];
        // Who runs a method changes seldom once the program is warm.
        let decides = if rng.chance(980) { u64::from(site.id) * 7 % 16 } else { rng.below(16) };
        let by = match decides {
            0..2 => Allocator::Interpreter,
            2..5 => Allocator::C1,
            _ => Allocator::C2,
        };
        let is_array = |ty: u16| self.types[ty as usize].is_array();
        let mut plan = Plan { site: site.id, ty: site.ty, length: 0, by, named: false, special: false };
        match rng.below(64) {
            0 => {
                // Another type than the site's, one of two: an array where it was one, an instance where not.
                let other = (3 + (u64::from(site.id) * 31 + rng.below(2) * 17) % (self.types.len() as u64 - 3)) as u16;
                if is_array(other) == is_array(site.ty) {
                    (plan.ty, plan.named) = (other, true);
                }
            }
            1 => {
                // By the VM or by reflection, which make objects of few types.
                let of = if rng.chance(500) { 1 } else { rng.range(5, 12) as u32 };
                let ty = 3 + (u64::from(of) * 37 + rng.below(8) * 11) % (self.types.len() as u64 - 3);
                plan = Plan::internal(ty as u16, 0);
                if of > 1 {
                    (plan.site, plan.by) = (of, by);
                }
            }
            _ => {}
        }
        if is_array(plan.ty) {
            let longest = if plan.ty == CHARS { site.longest * 2 } else { site.longest };
            plan.length = match rng.below(100) {
                0 => [0, 254, 255, 256][rng.below(4) as usize],
                _ => rng.below(u64::from(longest) + 1).min(rng.below(u64::from(longest) + 1)) as u32,
            };
        }
        plan
    }
}

fn make_sites(rng: &mut Rng, types: &[Type], count: u32) -> Vec<Site> {
    let mut sites = Vec::new();
    let (mut small, mut big) = (13, FIRST_BIG_SITE + 13);
    for index in 0..count {
        // Every type has a site if there are enough; the rest leans to the first types.
        let ty = match index as usize + 1 {
            ty if ty < types.len() => ty,
            _ => 1 + (rng.below(types.len() as u64 - 1) * rng.below(types.len() as u64 - 1)) as usize / types.len(),
        };
        let ty = if ty == CLASS as usize { CHARS as usize } else { ty };
        let is_array = types[ty].is_array();
        let id = if is_array || (rng.chance(400) && small < 0x7FFF) {
            small += 1;
            small - 1
        } else {
            big += 1;
            big - 1
        };
        let mut frames = Vec::new();
        for _ in 0..1 + rng.below(3) * rng.below(4) {
            let of = &types[1 + rng.below(types.len() as u64 - 1) as usize];
            frames.push((made_up_method(rng, of), rng.below(300) as i32));
        }
        if frames.len() > 2 && rng.chance(200) {
            frames.insert(2, (format!("$$Recursion.repeat_{}_last_frames_n_times()V", rng.range(1, 2)), 0));
        }
        let simple = rng.chance(40);
        frames.truncate(if simple { 1 } else { 99 });
        let longest = match rng.below(40) {
            0 => 300,
            1 => 3,
            2..8 => 100,
            _ => 24,
        };
        sites.push(Site { id, ty: ty as u16, frames, simple, longest });
    }
    sites
}

fn made_up_method(rng: &mut Rng, of: &Type) -> String {
    let class = of.name.trim_end_matches("[]");
    let class = if class.contains('.') { class } else { "java.util.Arrays" };
    let name = ["<init>", "<clinit>", "load", "resize", "lambda$run$0", "copyOf", "get"][rng.below(7) as usize];
    let args = ["", "I", "Ljava/lang/Object;", "[CI", "JLjava/util/Map$Entry;[[D"][rng.below(5) as usize];
    let result = ["V", "I", "Ljava/lang/Object;", "[Ljava/lang/String;"][rng.below(4) as usize];
    format!("{class}.{name}({args}){result}")
}
