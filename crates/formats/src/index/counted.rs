//! A reader of serde data that counts memory: elements of lists and maps by their size, texts by their length. One byte of a file that
//! announces another element may cost hundreds of bytes of memory.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use std::cell::Cell;
use std::fmt;

/// A deserializer, or a part of one, that takes from the remaining bytes; 0 remain once they were not enough.
pub(super) struct CountedReader<'c, T> {
    inner: T,
    left: &'c Cell<u64>,
    /// True if elements are counted: those of lists and maps. Fields are a part of their struct.
    elements: bool,
}

impl<'c, T> CountedReader<'c, T> {
    /// Takes from `left`.
    pub(super) fn new(inner: T, left: &'c Cell<u64>) -> Self {
        CountedReader { inner, left, elements: false }
    }

    fn with<U>(&self, inner: U) -> CountedReader<'c, U> {
        CountedReader { inner, left: self.left, elements: false }
    }

    fn take<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(bytes as u64);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or_else(|| E::custom("more than there is memory for"))
    }
}

macro_rules! deserialize {
    ($($name:ident($($argument:ident: $kind:ty),*) $elements:expr;)*) => {
        $(fn $name<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = CountedReader { inner: visitor, left: self.left, elements: $elements };
            self.inner.$name($($argument,)* visitor)
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for CountedReader<'_, D> {
    type Error = D::Error;

    deserialize! {
        deserialize_any() true;
        deserialize_bool() false;
        deserialize_i8() false;
        deserialize_i16() false;
        deserialize_i32() false;
        deserialize_i64() false;
        deserialize_i128() false;
        deserialize_u8() false;
        deserialize_u16() false;
        deserialize_u32() false;
        deserialize_u64() false;
        deserialize_u128() false;
        deserialize_f32() false;
        deserialize_f64() false;
        deserialize_char() false;
        deserialize_str() false;
        deserialize_string() false;
        deserialize_bytes() false;
        deserialize_byte_buf() false;
        deserialize_option() false;
        deserialize_unit() false;
        deserialize_unit_struct(name: &'static str) false;
        deserialize_newtype_struct(name: &'static str) false;
        deserialize_seq() true;
        deserialize_tuple(len: usize) false;
        deserialize_tuple_struct(name: &'static str, len: usize) false;
        deserialize_map() true;
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) false;
        deserialize_enum(name: &'static str, variants: &'static [&'static str]) false;
        deserialize_identifier() false;
        deserialize_ignored_any() false;
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! visit {
    ($($name:ident: $kind:ty;)*) => {
        $(fn $name<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.inner.$name(value)
        })*
    };
}

macro_rules! visit_long {
    ($($name:ident: $kind:ty;)*) => {
        $(fn $name<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.take(value.len())?;
            self.inner.$name(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for CountedReader<'_, V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(formatter)
    }

    visit! {
        visit_bool: bool;
        visit_i8: i8;
        visit_i16: i16;
        visit_i32: i32;
        visit_i64: i64;
        visit_i128: i128;
        visit_u8: u8;
        visit_u16: u16;
        visit_u32: u32;
        visit_u64: u64;
        visit_u128: u128;
        visit_f32: f32;
        visit_f64: f64;
        visit_char: char;
    }

    visit_long! {
        visit_str: &str;
        visit_borrowed_str: &'de str;
        visit_string: String;
        visit_bytes: &[u8];
        visit_borrowed_bytes: &'de [u8];
        visit_byte_buf: Vec<u8>;
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let deserializer = self.with(deserializer);
        self.inner.visit_some(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let deserializer = self.with(deserializer);
        self.inner.visit_newtype_struct(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let access = CountedReader { inner: access, left: self.left, elements: self.elements };
        self.inner.visit_seq(access)
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let access = CountedReader { inner: access, left: self.left, elements: self.elements };
        self.inner.visit_map(access)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let access = self.with(access);
        self.inner.visit_enum(access)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for CountedReader<'_, S> {
    type Value = S::Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.with(deserializer);
        self.inner.deserialize(deserializer)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for CountedReader<'_, A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        if self.elements {
            self.take(size_of::<T::Value>())?;
        }
        let seed = self.with(seed);
        self.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for CountedReader<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        if self.elements {
            self.take(size_of::<K::Value>())?;
        }
        let seed = self.with(seed);
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        if self.elements {
            self.take(size_of::<T::Value>())?;
        }
        let seed = self.with(seed);
        self.inner.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'c, 'de, A: EnumAccess<'de>> EnumAccess<'de> for CountedReader<'c, A> {
    type Error = A::Error;
    type Variant = CountedReader<'c, A::Variant>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), A::Error> {
        let seed = self.with(seed);
        let (value, variant) = self.inner.variant_seed(seed)?;
        Ok((value, CountedReader { inner: variant, left: self.left, elements: false }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for CountedReader<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        let seed = self.with(seed);
        self.inner.newtype_variant_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.inner.tuple_variant(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.inner.struct_variant(fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum RowCell {
        None,
        Number(u64),
        Pair(u8, String),
        Named { name: String, all: Vec<Option<u16>> },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct RowTable {
        rows: Vec<Vec<RowCell>>,
        names: BTreeMap<String, (u32, [u8; 3])>,
        rest: Option<Box<RowTable>>,
    }

    fn read(bytes: &[u8], most: u64) -> Option<(RowTable, u64)> {
        let left = std::cell::Cell::new(most);
        let mut from = postcard::Deserializer::from_bytes(bytes);
        let table = RowTable::deserialize(CountedReader::new(&mut from, &left)).ok()?;
        Some((table, most - left.get()))
    }

    #[test]
    fn everything_is_read_as_it_was_and_counted() {
        let row = || vec![RowCell::None, RowCell::Number(7), RowCell::Pair(1, "ab".into())];
        let named = RowCell::Named { name: "n".into(), all: vec![None, Some(3)] };
        let names = BTreeMap::from([("long name".to_owned(), (1, [1, 2, 3]))]);
        let rest = RowTable { rows: vec![vec![named]], names: BTreeMap::new(), rest: None };
        let table = RowTable { rows: vec![row(), row()], names, rest: Some(Box::new(rest)) };
        let bytes = postcard::to_stdvec(&table).expect("written");
        let (same, counted) = read(&bytes, 1 << 20).expect("read");
        assert_eq!(same, table);
        // A list asks once more than it has elements, at its end.
        let cells =
            (2 * 4 + 2) * size_of::<RowCell>() + (3 + 2) * size_of::<Vec<RowCell>>() + 3 * size_of::<Option<u16>>();
        let name = 2 * size_of::<String>() + size_of::<(u32, [u8; 3])>() + size_of::<String>();
        assert_eq!(counted as usize, cells + name + 2 * 2 + 1 + 9);
        assert!(read(&bytes, counted).is_some() && read(&bytes, counted - 1).is_none());
    }

    #[test]
    fn a_few_bytes_take_no_more_memory_than_they_may() {
        let many = RowTable { rows: (0..100_000).map(|_| Vec::new()).collect(), names: BTreeMap::new(), rest: None };
        let bytes = postcard::to_stdvec(&many).expect("written");
        assert!(bytes.len() < 101_000 && read(&bytes, 1 << 20).is_none());
        assert!(read(&bytes, 8 << 20).is_some());
    }
}
