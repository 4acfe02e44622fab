//! Variable-length numbers: seven bits a byte, lowest first, the top bit set in all but the last.

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number from the front; `None` where the bytes end within it, or it has more than 64 bits.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, mut rest) = bytes.split_first()?;
    let mut value = u64::from(first & 0x7f);
    let mut last = first;
    let mut shift = 7;
    while last >= 0x80 {
        let (&next, after) = rest.split_first()?;
        let bits = u64::from(next & 0x7f);
        if shift > 63 || (shift == 63 && bits > 1) {
            return None;
        }
        value |= bits << shift;
        shift += 7;
        (last, rest) = (next, after);
    }
    *bytes = rest;
    Some(value)
}

/// A difference as an unsigned number that is small if the difference is, whatever its sign.
#[inline]
pub(crate) fn zigzag(difference: u64) -> u64 {
    let signed = difference as i64;
    ((signed << 1) ^ (signed >> 63)) as u64
}

/// The difference again.
#[inline]
pub(crate) fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(values in prop::collection::vec(any::<u64>(), 0..20), bits in 0u32..64) {
            let values: Vec<u64> = values.iter().map(|v| v >> bits).collect();
            let mut out = Vec::new();
            values.iter().for_each(|&v| put(&mut out, v));
            let mut rest = &out[..];
            for &v in &values {
                prop_assert_eq!(take(&mut rest), Some(v));
                prop_assert_eq!(unzigzag(zigzag(v)), v);
                prop_assert_eq!(unzigzag(zigzag(v.wrapping_neg())), v.wrapping_neg());
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn noise_is_a_number_or_none(bytes in prop::collection::vec(any::<u8>(), 0..14)) {
            let mut rest = &bytes[..];
            let before = rest.len();
            match take(&mut rest) {
                Some(_) => prop_assert!((1..=10).contains(&(before - rest.len()))),
                None => prop_assert_eq!(rest.len(), before),
            }
        }
    }

    #[test]
    fn what_has_more_than_64_bits_is_no_number() {
        let mut bytes: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert_eq!(take(&mut bytes), None);
        let mut bytes: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(take(&mut bytes), Some(u64::MAX));
    }
}
