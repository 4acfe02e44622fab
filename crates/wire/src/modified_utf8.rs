//! The VM's encoding of texts, *modified* UTF-8: a character outside the basic plane is its two surrogates, three bytes each, and the
//! character 0 is two bytes.

use std::borrow::Cow;
use std::fmt::Write;

/// The text of such bytes. Different bytes give different texts wherever they are no damage: a surrogate without its other half is
/// written as `\ud842`. Bytes that are no characters are replaced. Costs a copy only where the bytes are no plain UTF-8.
pub fn modified_utf8(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (plain, after) = match str::from_utf8(rest) {
            Ok(plain) => (plain, &[][..]),
            Err(error) => {
                let (plain, after) = rest.split_at(error.valid_up_to());
                (str::from_utf8(plain).unwrap_or(""), after)
            }
        };
        text.push_str(plain);
        rest = match after {
            [] => after,
            [0xc0, 0x80, rest @ ..] => {
                text.push('\0');
                rest
            }
            [0xed, a @ 0xa0..=0xaf, b, 0xed, c @ 0xb0..=0xbf, d, rest @ ..] if is_continued(*b) && is_continued(*d) => {
                let bits = |high: &u8, low: &u8| u32::from(high & 0x0f) << 6 | u32::from(low & 0x3f);
                text.extend(char::from_u32(0x1_0000 + (bits(a, b) << 10) + bits(c, d)));
                rest
            }
            [0xed, a @ 0xa0..=0xbf, b, rest @ ..] if is_continued(*b) => {
                let _ = write!(text, "\\u{:04x}", 0xd000 | u32::from(a & 0x3f) << 6 | u32::from(b & 0x3f));
                rest
            }
            [_, rest @ ..] => {
                text.push(char::REPLACEMENT_CHARACTER);
                rest
            }
        };
    }
    Cow::Owned(text)
}

fn is_continued(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Encodes as the VM does, by 16-bit units.
    fn encode(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        for unit in text.encode_utf16() {
            let low = |shift: u16| 0x80 | (unit >> shift & 0x3f) as u8;
            match unit {
                1..=0x7f => bytes.push(unit as u8),
                0 | 0x80..=0x7ff => bytes.extend([0xc0 | (unit >> 6) as u8, low(0)]),
                _ => bytes.extend([0xe0 | (unit >> 12) as u8, low(6), low(0)]),
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn what_the_vm_encodes_is_decoded(text in "(\\PC|\0|😀|𠮷|𠮶|\u{10ffff}){0,20}") {
            let bytes = encode(&text);
            prop_assert_eq!(modified_utf8(&bytes), text);
        }

        #[test]
        fn any_bytes_give_a_text(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = modified_utf8(&bytes);
            prop_assert!(text.len() <= 3 * bytes.len().max(1) * 2);
        }
    }

    #[test]
    fn halves_of_characters_stay_apart() {
        assert_eq!(modified_utf8(&[b'a', 0xed, 0xa1, 0x82, b'b']), "a\\ud842b");
        assert_eq!(modified_utf8(&[0xed, 0xbe, 0xb7]), "\\udfb7");
        assert_eq!(modified_utf8(&[b'a', 0xff, b'b']), "a\u{fffd}b");
    }
}
