//! Builds a heap state object by object: for formats that list objects one at a time, and for tests.

use super::{
    AddressSet, Csr, HeapColumns, HeapState, HeapType, Loaders, NO_LENGTH, ObjectId, Referent, Referents, Root,
    Strength, TypeId, TypeSizes,
};

/// A heap state under construction. Objects are numbered in the order they are added.
#[derive(Default)]
pub struct HeapBuilder {
    types: Vec<HeapType>,
    type_of: Vec<u32>,
    length: Vec<u32>,
    sizes: Vec<u64>,
    references: Vec<Vec<ObjectId>>,
    roots: Vec<Root>,
    loaders: Loaders,
    mirrors: Vec<(TypeId, ObjectId)>,
    referents: Vec<Referent>,
}

impl HeapBuilder {
    /// An empty heap.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a type.
    pub fn add_type(&mut self, heap_type: HeapType) -> TypeId {
        self.types.push(heap_type);
        TypeId(self.types.len() as u32 - 1)
    }

    /// Adds an object of `size` bytes; `length` for arrays.
    pub fn add_object(&mut self, of: TypeId, size: u64, length: Option<u32>) -> ObjectId {
        self.type_of.push(of.0);
        self.length.push(length.unwrap_or(NO_LENGTH));
        self.sizes.push(size);
        self.references.push(Vec::new());
        ObjectId(self.type_of.len() as u32 - 1)
    }

    /// Adds a reference.
    pub fn add_reference(&mut self, from: ObjectId, to: ObjectId) {
        self.references[from.0 as usize].push(to);
    }

    /// Adds a reference of a reference object to its referent. The last one of an object counts.
    pub fn add_referent(&mut self, from: ObjectId, to: ObjectId, strength: Strength) {
        self.add_reference(from, to);
        self.referents.retain(|r| r.from != from);
        self.referents.push(Referent { from, to, strength });
    }

    /// Says which object stands for a type: its instances keep it alive.
    pub fn set_class_object(&mut self, of: TypeId, object: ObjectId) {
        self.mirrors.push((of, object));
    }

    /// Adds a GC root.
    pub fn add_root(&mut self, root: Root) {
        self.roots.push(root);
    }

    /// Says which loaders there are, and which types each of them loaded.
    pub fn set_loaders(&mut self, loaders: Loaders) {
        self.loaders = loaders;
    }

    /// The heap state.
    pub fn finish(self) -> HeapState {
        let addresses = AddressSet::new(3);
        let mut writer = addresses.writer();
        for i in 0..self.type_of.len() as u64 {
            writer.insert(0x1000 + i * 8);
        }
        let outgoing = Csr::from_rows(&self.references);
        let mut mirror_of = vec![None; self.types.len()];
        for &(of, object) in &self.mirrors {
            mirror_of[of.0 as usize] = Some(object);
        }
        let referents = Referents::new(self.referents, self.type_of.len());
        HeapState::new(HeapColumns {
            sizes: TypeSizes {
                base: vec![0; self.types.len()],
                element: vec![0; self.types.len()],
                alignment: 8,
                ..TypeSizes::default()
            },
            odd_sizes: self.sizes.iter().enumerate().map(|(i, &s)| (i as u32, s)).collect(),
            mirror_of,
            types: self.types,
            loaders: self.loaders,
            type_of: self.type_of,
            length: self.length,
            addresses: addresses.finish(),
            outgoing,
            referents,
            roots: self.roots,
            sites: Vec::new(),
            traces: Default::default(),
            origins: None,
            warnings: Vec::new(),
        })
    }
}
