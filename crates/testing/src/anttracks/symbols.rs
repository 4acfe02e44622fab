//! The symbols file: causes of collections, types with their fields, and allocation sites.
use super::writer::{FIRST_BIG_SITE, HEADER_WORDS, header};

/// A field as the records 55 to 57 list it. `type_name`: one letter, or `Lpkg.Name;`, or such behind `[`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub slot: i32,
    pub type_name: String,
    pub name: String,
    pub flags: u16,
}

/// The symbols file, built in memory.
pub struct Symbols {
    bytes: Vec<u8>,
}

impl Symbols {
    /// `flags`: bit 0 debug anchors, bit 1 pointers, bit 2 fragmented heap.
    pub fn new(words: &[u32; HEADER_WORDS], flags: u32, name: &str) -> Self {
        let mut bytes = header(words, 0);
        bytes.extend(flags.to_le_bytes());
        bytes.extend(8u32.to_le_bytes());
        bytes.extend(name.bytes());
        bytes.push(0);
        Self { bytes }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn int(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend(text.bytes());
    }

    pub fn cause(&mut self, id: u32, name: &str, common: bool) {
        self.bytes.push(17);
        self.int(id);
        self.text(name);
        self.bytes.extend([0, u8::from(common)]);
    }

    /// `size`: of instances in bytes, of arrays `header << 8 | element`.
    pub fn type_record(&mut self, id: u32, signature: &str, size: u32) {
        self.bytes.push(24);
        self.int(id);
        self.text(signature);
        self.int(size);
    }

    fn field_list(&mut self, fields: &[Field]) {
        self.int(fields.len() as u32);
        for field in fields {
            self.int(field.slot as u32);
            self.text(&field.type_name);
            self.text(&field.name);
            self.bytes.push(b' ');
            self.bytes.extend(field.flags.to_le_bytes());
        }
    }

    /// Record 56 and one 57 per superclass up to `java.lang.Object`, whose fields are the last entry.
    pub fn fields(&mut self, own: &[Field], supers: &[Vec<Field>]) {
        self.bytes.push(56);
        self.field_list(own);
        self.super_fields(supers);
    }

    fn super_fields(&mut self, supers: &[Vec<Field>]) {
        for fields in supers {
            self.bytes.push(57);
            self.field_list(fields);
        }
    }

    /// Record 55, to follow a type record of `java.lang.Class`: the class mirrored. Arrays have no fields.
    pub fn mirror(&mut self, signature: &str, own: &[Field], supers: &[Vec<Field>]) {
        self.bytes.push(55);
        self.text(signature);
        if signature.starts_with('L') {
            self.field_list(own);
            self.super_fields(supers);
        }
    }

    fn site_id(&mut self, id: u32) {
        if id < FIRST_BIG_SITE {
            self.bytes.extend((id as u16).to_le_bytes());
        } else {
            self.bytes.extend(((id >> 8) as u16).to_le_bytes());
            self.bytes.push(id as u8);
        }
    }

    pub fn site(&mut self, id: u32, frames: &[(String, i32)], type_id: u32) {
        self.bytes.push(42);
        self.site_id(id);
        self.int(frames.len() as u32);
        for (signature, bytecode_index) in frames {
            self.text(signature);
            self.int(*bytecode_index as u32);
        }
        self.int(type_id);
    }

    pub fn simple_site(&mut self, id: u32, signature: &str, type_id: u32) {
        self.bytes.push(84);
        self.site_id(id);
        self.text(signature);
        self.bytes.push(0);
        self.int(type_id);
    }
}
