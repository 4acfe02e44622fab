//! The values of a classifier for one object.

/// The value of a filter used as a classifier, for objects that it lets through.
pub(super) const YES: &str = "Yes";
/// The value for the other objects.
pub(super) const NO: &str = "No";

/// The values of one object: a set of chains, each a list of names from the general to the particular. One value is a
/// chain of one name.
///
/// A classifier writes the names into it; nothing is allocated for an object. An object with several chains is counted in each, and once in
/// their common groups. An object without any is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectValues {
    text: String,
    /// Where each name ends in the text.
    names: Vec<usize>,
    /// Where each chain ends in the names.
    chains: Vec<usize>,
    /// Bytes of each part, where the chains are parts of the object.
    bytes: Vec<u64>,
}

impl ObjectValues {
    /// Adds a value.
    #[inline]
    pub fn one(&mut self, name: &str) {
        self.chain([name]);
    }

    /// Adds a value of several names, each below the one before it. Without a single name it adds nothing.
    #[inline]
    pub fn chain<N: AsRef<str>>(&mut self, names: impl IntoIterator<Item = N>) {
        let before = self.names.len();
        for name in names {
            self.text.push_str(name.as_ref());
            self.names.push(self.text.len());
        }
        if self.names.len() > before {
            self.chains.push(self.names.len());
        }
    }

    /// Adds a part of the object's bytes, for a transformer that divides objects into parts.
    pub fn part(&mut self, name: &str, bytes: u64) {
        self.one(name);
        self.bytes.push(bytes);
    }

    /// The parts that were added.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&str, u64)> {
        (0..self.bytes.len()).map(|i| {
            let start = if i == 0 { 0 } else { self.names[i - 1] };
            (&self.text[start..self.names[i]], self.bytes[i])
        })
    }

    /// Sets the result of a filter for the object.
    #[inline]
    pub fn truth(&mut self, holds: bool) {
        self.one(if holds { YES } else { NO });
    }

    /// True if a filter accepted the object.
    pub(super) fn is_true(&self) -> bool {
        self.names.len() == 1 && self.text == YES
    }

    /// Leaves the object where it is: a chain without names.
    pub(crate) fn pass(&mut self) {
        self.chains.push(self.names.len());
    }

    /// The chains, in the order they were added.
    pub fn chains(&self) -> impl ExactSizeIterator<Item = impl Iterator<Item = &str>> {
        (0..self.chains.len()).map(move |c| {
            let first = if c == 0 { 0 } else { self.chains[c - 1] };
            (first..self.chains[c]).map(move |n| {
                let start = if n == 0 { 0 } else { self.names[n - 1] };
                &self.text[start..self.names[n]]
            })
        })
    }

    /// Empties it for the next object; its memory is kept.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.names.clear();
        self.chains.clear();
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            rounds in prop::collection::vec(prop::collection::vec(prop::collection::vec("[a-zé]{0,4}", 0..4), 0..4), 1..3),
        ) {
            let mut values = ObjectValues::default();
            for chains in rounds {
                values.clear();
                chains.iter().for_each(|chain| values.chain(chain));
                let got: Vec<Vec<String>> = values.chains().map(|c| c.map(str::to_owned).collect()).collect();
                let expected: Vec<Vec<String>> = chains.into_iter().filter(|c| !c.is_empty()).collect();
                prop_assert_eq!(got, expected);
            }
        }
    }
}
