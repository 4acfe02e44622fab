//! Unpacks compressed thread buffers: LZW with growing codes, most significant bit first.
//!
//! Every string of the dictionary was written before, so an entry is a piece of the output.

/// Codes below are bytes.
const FIRST: u32 = 256;
/// The last code that is ever defined.
const LAST: u32 = 16383;
/// Wider codes cannot be.
const WIDEST: u32 = 24;

/// Why a buffer could not be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A code that was never defined.
    UnknownCode,
    /// It ends before its end mark.
    Cut,
    /// It unpacks to more than the limit.
    TooLarge,
}

/// Unpacks a buffer to the end of `out`, which must be empty.
pub(crate) fn unpack(packed: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<(), Damage> {
    let mut strings: Vec<(u32, u32)> = Vec::with_capacity(4096);
    let (mut bits, mut count, mut at) = (0u64, 0u32, 0usize);
    let mut width = 8;
    let mut grown = false;
    // The string before: where it lies in the output.
    let mut previous: Option<(u32, u32)> = None;
    loop {
        while count < width {
            let byte = *packed.get(at).ok_or(Damage::Cut)?;
            at += 1;
            bits = bits << 8 | u64::from(byte);
            count += 8;
        }
        count -= width;
        let code = (bits >> count) as u32 & ((1 << width) - 1);
        if code == (1 << width) - 1 {
            width += 1;
            grown = true;
            if width > WIDEST {
                return Err(Damage::UnknownCode);
            }
            continue;
        }
        if grown && code == 0 {
            return Ok(());
        }
        grown = false;
        let start = out.len() as u32;
        let next = FIRST + strings.len() as u32;
        if code < FIRST {
            out.push(code as u8);
        } else {
            let (from, length) = match strings.get((code - FIRST) as usize) {
                Some(&string) => string,
                // The string being defined right now: the one before, and its own first byte.
                None if code == next && next <= LAST => previous.map(|(f, l)| (f, l + 1)).ok_or(Damage::UnknownCode)?,
                None => return Err(Damage::UnknownCode),
            };
            if out.len() + length as usize > limit {
                return Err(Damage::TooLarge);
            }
            let (from, to) = (from as usize, (from + length) as usize);
            if to <= out.len() {
                out.extend_from_within(from..to);
            } else {
                out.extend_from_within(from..);
                out.push(out[from]);
            }
        }
        if let Some((from, length)) = previous
            && next <= LAST
        {
            // What follows the previous string in the output is the first byte of this one.
            strings.push((from, length + 1));
        }
        previous = Some((start, out.len() as u32 - start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(list: &[(u32, u32)]) -> Vec<u8> {
        let bits: String = list.iter().map(|&(code, width)| format!("{code:0w$b}", w = width as usize)).collect();
        let bytes = bits.as_bytes().chunks(8);
        bytes
            .map(|b| u8::from_str_radix(&format!("{:0<8}", std::str::from_utf8(b).expect("ascii")), 2).expect("bits"))
            .collect()
    }

    #[test]
    fn strings_are_found_again() {
        // "abababab": a, b, ab (256), aba (258, being defined), b; then growth from 9 to 10 bits and the end.
        let packed = codes(&[(97, 8), (98, 8), (255, 8), (256, 9), (258, 9), (98, 9), (511, 9), (0, 10)]);
        let mut out = Vec::new();
        assert_eq!(unpack(&packed, &mut out, 100), Ok(()));
        assert_eq!(out, b"abababab");
    }

    #[test]
    fn damage_is_named() {
        for (packed, limit, damage) in [
            (codes(&[(97, 8), (255, 8), (300, 9)]), 100, Damage::UnknownCode),
            (codes(&[(97, 8)]), 100, Damage::Cut),
            (codes(&[(97, 8), (255, 8), (256, 9), (511, 9), (0, 10)]), 2, Damage::TooLarge),
            (vec![0xff; 64], 100, Damage::UnknownCode),
        ] {
            assert_eq!(unpack(&packed, &mut Vec::new(), limit), Err(damage));
        }
    }
}
