//! The symbols file, read in the plainest way.
use std::collections::HashMap;

#[derive(Clone)]
pub struct Type {
    pub signature: String,
    pub size: u32,
}

#[derive(Default)]
pub struct Known {
    pub types: HashMap<u32, Type>,
    /// Frames, bytecode indices, type.
    pub sites: HashMap<u32, (Vec<String>, Vec<i32>, u32)>,
}

pub struct Bytes<'a>(pub &'a [u8], pub usize);

impl Bytes<'_> {
    fn u8(&mut self) -> u8 {
        self.1 += 1;
        self.0[self.1 - 1]
    }
    fn u16(&mut self) -> u16 {
        u16::from(self.u8()) | u16::from(self.u8()) << 8
    }
    pub fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }
    fn until(&mut self, end: u8) -> String {
        let length = self.0[self.1..].iter().position(|&byte| byte == end).unwrap();
        let text = String::from_utf8(self.0[self.1..self.1 + length].to_vec()).unwrap();
        self.1 += length + 1;
        text
    }
    fn signature(&mut self) -> String {
        let mut text = String::new();
        loop {
            match self.u8() {
                b'[' => text.push('['),
                b'L' => return format!("{text}L{};", self.until(b';')),
                letter => {
                    text.push(char::from(letter));
                    return text;
                }
            }
        }
    }
    fn site(&mut self) -> u32 {
        let high = u32::from(self.u16());
        if high & 0x8000 != 0 { high << 8 | u32::from(self.u8()) } else { high }
    }
    fn fields(&mut self) {
        for _ in 0..self.u32() {
            self.u32();
            self.signature();
            self.until(b' ');
            self.u16();
        }
    }
}

pub fn read_symbols(data: &[u8], pointers: bool) -> Known {
    let mut known = Known::default();
    let mut bytes = Bytes(data, 0);
    assert_eq!(bytes.u32(), 0xC0FFEE);
    bytes.1 += 4 * bytes.u32() as usize;
    assert_eq!((bytes.u32(), bytes.u32(), bytes.u32()), (0, if pointers { 2 } else { 0 }, 8));
    assert_eq!(bytes.until(0), "");
    while bytes.1 < data.len() {
        match bytes.u8() {
            17 => {
                bytes.u32();
                bytes.until(0);
                bytes.u8();
            }
            24 => {
                let id = bytes.u32();
                let signature = bytes.signature();
                known.types.insert(id, Type { signature, size: bytes.u32() });
            }
            55 => {
                if bytes.signature().starts_with('L') {
                    bytes.fields();
                }
            }
            56 | 57 => bytes.fields(),
            42 => {
                let id = bytes.site();
                let (mut frames, mut indices) = (Vec::new(), Vec::new());
                for _ in 0..bytes.u32() {
                    let head = bytes.until(b')');
                    frames.push(format!("{head}){}", bytes.signature()));
                    indices.push(bytes.u32() as i32);
                }
                known.sites.insert(id, (frames, indices, bytes.u32()));
            }
            84 => {
                let id = bytes.site();
                let signature = bytes.until(0);
                known.sites.insert(id, (vec![signature], Vec::new(), bytes.u32()));
            }
            tag => panic!("tag {tag} at {}", bytes.1),
        }
    }
    known
}

pub fn source_name(signature: &str) -> String {
    let element = signature.trim_start_matches('[');
    let primitives = [
        ("B", "byte"),
        ("C", "char"),
        ("D", "double"),
        ("F", "float"),
        ("I", "int"),
        ("J", "long"),
        ("S", "short"),
        ("Z", "boolean"),
    ];
    let name = primitives.iter().find(|(letter, _)| *letter == element).map(|(_, name)| name.to_string());
    let name = name.unwrap_or_else(|| element[1..element.len() - 1].replace('/', "."));
    name + &"[]".repeat(signature.len() - element.len())
}
