//! Messages of clients. Only the frame is parsed here; trees stay text until the source takes them.

use memory_city_heap::error::Error;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A message of a client. The action decides which fields are needed.
#[derive(Debug, Default)]
pub(super) struct Request<'a> {
    /// The command.
    pub what: Cow<'a, str>,
    /// Comes back with the answer.
    pub id: Option<&'a RawValue>,
    pub protocol: Option<u64>,
    pub source: Option<Cow<'a, str>>,
    pub token: Option<Cow<'a, str>>,
    /// A time: an object with a tree.
    pub time: Option<&'a RawValue>,
    /// A list of them, which may be longer than memory allows to list.
    pub times: Option<&'a RawValue>,
    /// Reference maps.
    pub maps: Option<&'a RawValue>,
    /// A point in time, from 1.
    pub at: Option<u64>,
    /// The key of a group; `Some(None)` for none.
    pub group: Option<Option<Cow<'a, str>>>,
    /// The recording that the trees of a source are of, as its recorder says.
    pub recording: Option<RecordingClaim>,
    /// Fields that mean nothing.
    pub ignored: Vec<String>,
}

/// The fields, for messages to people.
const FIELDS: &str = "do, id, protocol, source, token, time, times, maps, at, group, recording";

/// Where a recording lies, which one it is, and how the trees are grouped that are sent of it: see [`crate::recording`].
#[derive(Debug, serde::Deserialize, serde::Serialize)]
pub(super) struct RecordingClaim {
    pub folder: String,
    pub id: String,
    pub grouping: String,
}

impl<'de: 'a, 'a> Deserialize<'de> for Request<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_map(Fields(std::marker::PhantomData))
    }
}

struct Fields<'a>(std::marker::PhantomData<&'a ()>);

/// A text that is borrowed where it has no escapes.
struct RequestText<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for RequestText<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Borrowed<'b>(#[serde(borrow)] Cow<'b, str>);
        Borrowed::deserialize(d).map(|text| RequestText(text.0))
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Fields<'a> {
    type Value = Request<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"do\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Request<'a>, A::Error> {
        let mut request = Request::default();
        let mut seen: Vec<String> = Vec::new();
        while let Some(RequestText(name)) = map.next_key()? {
            if seen.iter().any(|s| *s == name) {
                return Err(A::Error::custom(format!("{:?} a second time, expected it once", shortened(&name))));
            }
            let text = |value: Option<RequestText<'a>>| value.map(|t| t.0);
            match &*name {
                "do" => request.what = map.next_value::<RequestText<'a>>()?.0,
                "id" => request.id = Some(map.next_value()?),
                "protocol" => request.protocol = map.next_value()?,
                "source" => request.source = text(map.next_value()?),
                "token" => request.token = text(map.next_value()?),
                "time" => request.time = map.next_value()?,
                "times" => request.times = map.next_value()?,
                "maps" => request.maps = map.next_value()?,
                "at" => request.at = map.next_value()?,
                "group" => request.group = Some(text(map.next_value()?)),
                "recording" => request.recording = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    if request.ignored.len() < 20 {
                        request.ignored.push(shortened(&name));
                    }
                    continue;
                }
            }
            seen.push(name.into_owned());
        }
        if request.what.is_empty() {
            return Err(A::Error::custom(format!("no \"do\", expected one. The fields are {FIELDS}")));
        }
        if request.id.is_some_and(|id| id.get().len() > 200) {
            return Err(A::Error::custom("an \"id\" of more than 200 bytes, expected a short one"));
        }
        Ok(request)
    }
}

/// Calls `take` with each element of a list, and its number from 0, until one fails.
///
/// # Errors
/// When it is no list, or an element fails.
pub(super) fn each<'a>(
    list: &'a RawValue,
    mut take: impl FnMut(usize, &'a str) -> Result<(), Error>,
) -> Result<(), Error> {
    struct Each<F>(F);
    impl<'de, F: FnMut(&'de str) -> bool> Visitor<'de> for Each<F> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
            while let Some(element) = list.next_element::<&RawValue>()? {
                if !(self.0)(element.get()) {
                    return Err(A::Error::custom("stopped"));
                }
            }
            Ok(())
        }
    }
    let (mut count, mut failed) = (0, None);
    let one = |element: &'a str| {
        failed = take(count, element).err();
        count += 1;
        failed.is_none()
    };
    let read = serde_json::Deserializer::from_str(list.get()).deserialize_seq(Each(one));
    match (failed, read) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => {
            Err(Error::Unusable { what: format!("The list is not understood: {error}"), remedy: "Write [...]".into() })
        }
    }
}

/// Bytes of the longest text in a message, with escapes as written, if it is longer than `most`. Texts that are short cost next to nothing,
/// since the search looks at the message only every `most` bytes.
pub(super) fn too_long_text(message: &str, most: usize) -> Option<usize> {
    let bytes = message.as_bytes();
    let mut at = 0;
    while bytes.len() - at > most {
        // From a quote to the last one within reach. A text that is too long has none after the one it begins with.
        let within = &bytes[at + 1..bytes.len().min(at + 1 + most)];
        match memchr::memrchr_iter(b'"', within).map(|i| at + 1 + i).find(|&quote| !is_escaped(bytes, quote)) {
            Some(quote) => at = quote,
            None => return Some(longest_text(message)).filter(|&longest| longest > most),
        }
    }
    None
}

fn is_escaped(bytes: &[u8], at: usize) -> bool {
    bytes[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Bytes of the longest text in a message. Costs one look at each quote and backslash.
fn longest_text(message: &str) -> usize {
    let bytes = message.as_bytes();
    let (mut longest, mut start, mut escaped) = (0, None, usize::MAX);
    for at in memchr::memchr2_iter(b'"', b'\\', bytes) {
        match (start, bytes[at]) {
            _ if at == escaped => {}
            (None, b'"') => start = Some(at + 1),
            (Some(begin), b'"') => {
                longest = longest.max(at - begin);
                start = None;
            }
            _ => escaped = at + 1,
        }
    }
    // One that does not end is an error, which shows it.
    longest.max(start.map_or(0, |begin| bytes.len() - begin))
}

fn shortened(name: &str) -> String {
    name.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::{Request, each, longest_text, too_long_text};

    #[test]
    fn messages_in_any_order_with_fields_of_others() {
        let text = r#"{"time": {"tree": {}}, "color": [1], "id": "a-1", "do": "append"}"#;
        let request: Request<'_> = serde_json::from_str(text).expect("a request");
        assert_eq!((&*request.what, request.id.expect("an id").get()), ("append", "\"a-1\""));
        assert_eq!(request.time.expect("a time").get(), r#"{"tree": {}}"#);
        assert_eq!(request.ignored, ["color"]);
        let request: Request<'_> = serde_json::from_str(r#"{"do": "select", "group": null}"#).expect("a request");
        assert_eq!(request.group, Some(None));
    }

    #[test]
    fn texts_are_measured_as_they_stand() {
        for (message, longest) in [
            ("", 0),
            ("{}", 0),
            (r#"{"do": "append"}"#, 6),
            (r#"{"a": "\"\\", "b": 3}"#, 4),
            (r#"["\\\"abc"]"#, 7),
            (r#"{"cut off"#, 7),
            (r#"\"not a text""#, 0),
        ] {
            assert_eq!(longest_text(message), longest, "{message}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

        /// Every text of JSON that is too long is found, and no other.
        #[test]
        fn texts_that_are_too_long_are_found(
            texts in proptest::collection::vec("[a\"\\\\é]{0,12}", 0..6), gap in 0..9usize, most in 1..14usize,
        ) {
            let texts: Vec<String> = texts.iter().map(|t| serde_json::Value::from(t.as_str()).to_string()).collect();
            let message = format!("[{}]", texts.join(&format!(",{}", " ".repeat(gap))));
            let longest = texts.iter().map(|text| text.len() - 2).max().unwrap_or(0);
            proptest::prop_assert_eq!(longest_text(&message), longest);
            proptest::prop_assert_eq!(too_long_text(&message, most), Some(longest).filter(|&n| n > most), "{}", message);
        }
    }

    #[test]
    fn lists_are_taken_one_by_one() {
        let request: Request<'_> =
            serde_json::from_str(r#"{"do": "replace", "times": [1, {"a": [2]}]}"#).expect("fine");
        let times = request.times.expect("times");
        let mut seen = Vec::new();
        each(times, |i, time| {
            seen.push((i, time.to_owned()));
            Ok(())
        })
        .expect("a list");
        assert_eq!(seen, [(0, "1".to_owned()), (1, "{\"a\": [2]}".to_owned())]);
        let stop = || memory_city_heap::error::Error::Cancelled;
        assert!(matches!(each(times, |_, _| Err(stop())), Err(memory_city_heap::error::Error::Cancelled)));
        let request: Request<'_> = serde_json::from_str(r#"{"do": "replace", "times": {}}"#).expect("fine");
        assert!(
            each(request.times.expect("times"), |_, _| Ok(())).expect_err("no list").to_string().contains("a list")
        );
    }

    #[test]
    fn broken_messages_say_why() {
        for (text, part) in [
            ("[]", "expected an object with \"do\""),
            ("{}", "no \"do\""),
            (r#"{"do": 3}"#, "expected a string"),
            (r#"{"do": "go", "at": -1}"#, "invalid value"),
            (r#"{"do": "a", "do": "b"}"#, "a second time"),
            (r#"{"do": "append", "time": {"tree": }"#, "expected value"),
        ] {
            let message = serde_json::from_str::<Request<'_>>(text).expect_err("refused").to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
