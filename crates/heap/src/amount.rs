//! Counts of objects and bytes.

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Number of objects.
    #[default]
    Objects,
    /// Bytes as the runtime accounts for them.
    Bytes,
}

/// Objects and bytes of a set of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub struct Amount {
    /// Number of objects.
    pub objects: u64,
    /// Shallow bytes.
    pub bytes: u64,
}

impl Amount {
    /// The chosen one.
    pub fn get(self, metric: Metric) -> u64 {
        match metric {
            Metric::Objects => self.objects,
            Metric::Bytes => self.bytes,
        }
    }
}

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Amount) {
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}
