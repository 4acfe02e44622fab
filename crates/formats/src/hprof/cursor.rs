//! Big-endian reads that return `None` at the end of the bytes. Nothing here trusts a length.

/// A position in a byte slice.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Offset of the next byte.
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor from `at` to the end of `bytes`.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Cursor { bytes, at }
    }

    /// The next `n` bytes.
    #[inline(always)]
    pub(super) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let slice = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(slice)
    }

    /// The next N bytes.
    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let slice = self.bytes.get(self.at..self.at.checked_add(N)?)?;
        self.at += N;
        slice.try_into().ok()
    }

    /// A byte.
    #[inline(always)]
    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[b]| b)
    }

    /// Two bytes.
    #[inline(always)]
    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Four bytes.
    #[inline(always)]
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Eight bytes.
    #[inline(always)]
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// An id of `size` bytes, 4 or 8.
    #[inline(always)]
    pub(super) fn id(&mut self, size: usize) -> Option<u64> {
        if size == 8 { self.u64() } else { self.u32().map(u64::from) }
    }
}

/// The id at the start of `bytes`.
#[inline(always)]
pub(super) fn id_at(bytes: &[u8], size: usize) -> Option<u64> {
    Cursor::new(bytes, 0).id(size)
}
