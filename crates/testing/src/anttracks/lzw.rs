//! LZW with growing codes as the AntTracks VM applies it to single thread buffers: codes packed most significant bit
//! first, eight bits wide at the start. A code of all ones widens the codes by a bit, a zero right after that ends the
//! data. The dictionary starts afresh on every call and never uses a code above 16382.

/// Highest code that is ever given out. One less than where readers stop, so that both ways to read that limit agree.
const LAST_CODE: u32 = 16382;
const SLOTS: usize = 1 << 15;

struct Bits {
    out: Vec<u8>,
    pending: u64,
    count: u32,
    width: u32,
}

impl Bits {
    fn raw(&mut self, code: u32) {
        self.pending = self.pending << self.width | u64::from(code);
        self.count += self.width;
        while self.count >= 8 {
            self.count -= 8;
            self.out.push((self.pending >> self.count) as u8);
        }
    }

    fn widen(&mut self) {
        self.raw((1 << self.width) - 1);
        self.width += 1;
    }

    fn code(&mut self, code: u32) {
        while code >= (1 << self.width) - 1 {
            self.widen();
        }
        self.raw(code);
    }

    fn finish(mut self) -> Vec<u8> {
        self.widen();
        self.raw(0);
        if self.count > 0 {
            self.out.push((self.pending << (8 - self.count)) as u8);
        }
        self.out
    }
}

/// Compresses `bytes` into one self-contained buffer. Empty input gives just the end mark.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut bits = Bits { out: Vec::with_capacity(bytes.len() / 3 + 8), pending: 0, count: 0, width: 8 };
    let mut rest = bytes.iter();
    let Some(&first) = rest.next() else {
        return bits.finish();
    };
    // Open addressing: key = previous code * 256 + byte + 1 (zero means empty), value = the code of that pair.
    let mut keys = vec![0u32; SLOTS];
    let mut codes = vec![0u16; SLOTS];
    let mut next = 256;
    let mut current = u32::from(first);
    for &byte in rest {
        let key = (current << 8 | u32::from(byte)) + 1;
        let mut slot = (key.wrapping_mul(0x9E37_79B1) >> 17) as usize;
        while keys[slot] != 0 && keys[slot] != key {
            slot = (slot + 1) & (SLOTS - 1);
        }
        if keys[slot] == key {
            current = u32::from(codes[slot]);
            continue;
        }
        bits.code(current);
        if next <= LAST_CODE {
            keys[slot] = key;
            codes[slot] = next as u16;
            next += 1;
        }
        current = u32::from(byte);
    }
    bits.code(current);
    bits.finish()
}
