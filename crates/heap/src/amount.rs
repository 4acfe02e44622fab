//! Counts of objects and bytes.

/// Objects and bytes of a set of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub struct Amount {
    /// Number of objects.
    pub objects: u64,
    /// Shallow bytes.
    pub bytes: u64,
}

impl Amount {
    /// The one of the two that is measured: bytes, or objects.
    #[inline]
    pub fn measured(self, by_bytes: bool) -> u64 {
        if by_bytes { self.bytes } else { self.objects }
    }
}

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Amount) {
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}
