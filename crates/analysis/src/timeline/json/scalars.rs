//! Scalar values: counts, texts, switches, timestamps. `null` is the same as a missing field.

use super::format::LARGEST;
use serde::de::{DeserializeSeed, Deserializer, Error, Unexpected, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A count that is not there.
pub(super) const ABSENT: u64 = u64::MAX;

/// Reads a count: a whole number, 0 or more, at most [`LARGEST`]. `12.0` and `1e3` are whole numbers too.
pub(super) struct CountSeed;

/// Reads a text, from the bytes themselves where it has no escapes.
pub(super) struct TextSeed;

/// Reads `true` or `false`.
pub(super) struct Switch;

/// Reads a timestamp: milliseconds since the Unix epoch, or RFC 3339.
pub(super) struct Timestamp;

macro_rules! seed {
    ($seed:ty, $value:ty, $null:expr, $expected:expr, { $($methods:tt)* }) => {
        impl<'de> DeserializeSeed<'de> for $seed {
            type Value = $value;
            #[inline]
            fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
                d.deserialize_any(self)
            }
        }
        impl<'de> Visitor<'de> for $seed {
            type Value = $value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expected)
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok($null)
            }
            $($methods)*
        }
    };
}

seed!(CountSeed, u64, ABSENT, "a whole number from 0 to 9007199254740991", {
    #[inline]
    fn visit_u64<E: Error>(self, count: u64) -> Result<u64, E> {
        if count <= LARGEST { Ok(count) } else { Err(E::invalid_value(Unexpected::Unsigned(count), &self)) }
    }
    fn visit_i64<E: Error>(self, count: i64) -> Result<u64, E> {
        Err(E::invalid_value(Unexpected::Signed(count), &self))
    }
    fn visit_f64<E: Error>(self, count: f64) -> Result<u64, E> {
        // Exact: such numbers fit.
        if count.fract() == 0.0 && (0.0..=LARGEST as f64).contains(&count) {
            return Ok(count as u64);
        }
        Err(E::invalid_value(Unexpected::Float(count), &self))
    }
});

seed!(TextSeed, Option<Cow<'de, str>>, None, "a text", {
    #[inline]
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }
});

seed!(Switch, Option<bool>, None, "true or false", {
    fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
        Ok(Some(on))
    }
});

/// 9999-12-31: later times are mistakes, such as microseconds.
const LATEST: i64 = 253_402_300_799_999;

seed!(
    Timestamp,
    Option<u64>,
    None,
    "milliseconds since 1970 (up to the year 9999), or a time like \"2026-11-21T14:03:22Z\"",
    {
        fn visit_u64<E: Error>(self, millis: u64) -> Result<Self::Value, E> {
            if millis <= LATEST as u64 {
                Ok(Some(millis))
            } else {
                Err(E::invalid_value(Unexpected::Unsigned(millis), &self))
            }
        }
        fn visit_i64<E: Error>(self, millis: i64) -> Result<Self::Value, E> {
            Err(E::invalid_value(Unexpected::Signed(millis), &self))
        }
        fn visit_f64<E: Error>(self, millis: f64) -> Result<Self::Value, E> {
            // Clocks give fractions of milliseconds: what is below one is dropped.
            if (0.0..=LATEST as f64).contains(&millis) {
                return Ok(Some(millis as u64));
            }
            Err(E::invalid_value(Unexpected::Float(millis), &self))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            let time = text.parse::<jiff::Timestamp>().ok().map(|t| t.as_millisecond());
            match time.filter(|t| (0..=LATEST).contains(t)) {
                Some(millis) => Ok(Some(millis as u64)),
                None => Err(E::invalid_value(Unexpected::Str(text), &self)),
            }
        }
    }
);
