//! The decompressor that tests check the compressor with.

/// The inverse of `compress`, written to be obviously right rather than fast: the bytes and how many input bytes
/// were left over, or nothing if a code is invalid or the end mark is missing.
pub fn decompress(data: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut dictionary: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    let (mut position, mut width, mut grown) = (0usize, 8usize, false);
    let mut previous: Option<usize> = None;
    let mut out = Vec::new();
    loop {
        let mut code = 0usize;
        for bit in position..position + width {
            code = code << 1 | usize::from(data.get(bit / 8)? >> (7 - bit % 8) & 1);
        }
        position += width;
        if code == (1 << width) - 1 {
            width += 1;
            grown = true;
            continue;
        }
        if code == 0 && grown {
            return Some((out, data.len() - position.div_ceil(8)));
        }
        grown = false;
        let string = match (dictionary.get(code), previous) {
            (Some(string), _) => string.clone(),
            (None, Some(previous)) if code == dictionary.len() => {
                let mut string = dictionary[previous].clone();
                string.push(string[0]);
                string
            }
            _ => return None,
        };
        if let Some(previous) = previous
            && dictionary.len() < 16383
        {
            let mut entry = dictionary[previous].clone();
            entry.push(string[0]);
            dictionary.push(entry);
        }
        out.extend_from_slice(&string);
        previous = Some(code);
    }
}
