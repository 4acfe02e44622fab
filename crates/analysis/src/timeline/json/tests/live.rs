//! Tests of times that come one by one: a refused one leaves nothing behind, a kept one was granted before.

use super::super::{Grant, GrowingTrees};
use proptest::prelude::*;

/// Grants so many bytes.
struct Room {
    left: u64,
    granted: u64,
}

impl Grant for Room {
    fn more(&mut self, bytes: u64) -> bool {
        let enough = bytes <= self.left;
        if enough {
            self.left -= bytes;
            self.granted += bytes;
        }
        enough
    }
}

/// A message: a time, or reference maps.
#[derive(Clone, Debug)]
enum Said {
    Time(String),
    Maps(usize, String),
}

/// Names that meet often, also across names, roles and keys; one needs an escape.
const NAMES: [&str; 6] = ["a", "b", "a (b)", "Heap", "", "\\u00e9#"];

fn name() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&NAMES[..])
}

/// A count, now and then one that is none.
fn count() -> impl Strategy<Value = String> {
    prop_oneof![20 => (0..9u64).prop_map(|n| n.to_string()), 1 => Just("-1".into()), 1 => Just("\"x\"".into()),
        1 => Just("9007199254740991".into())]
}

fn node() -> impl Strategy<Value = String> {
    let leaf = (name(), proptest::option::of(name()), proptest::option::of(name()), count(), count(), 0..30usize)
        .prop_map(|(name, role, key, objects, bytes, other)| {
            let role = role.map_or(String::new(), |r| format!(",\"role\":\"{r}\""));
            let key = key.map_or(String::new(), |k| format!(",\"key\":\"{k}\""));
            let other = match other {
                0 => ",\"colour\":[1,{\"x\":2}]",
                1 => ",\"name\":\"again\"",
                _ => "",
            };
            format!("\"name\":\"{name}\"{role}{key}{other},\"objects\":{objects},\"bytes\":{bytes}")
        });
    leaf.prop_map(|leaf| format!("{{{leaf}}}")).prop_recursive(3, 12, 4, move |inside| {
        (name(), proptest::collection::vec(inside, 0..4))
            .prop_map(|(name, children)| format!("{{\"name\":\"{name}\",\"children\":[{}]}}", children.join(",")))
    })
}

fn maps() -> impl Strategy<Value = String> {
    let pair = (name(), name(), count()).prop_map(|(a, b, n)| format!("\"Heap#{a}\":{{\"Heap#{b}\":{n}}}"));
    let kind = prop_oneof![3 => Just("points-to"), 3 => Just("pointed-from"), 3 => Just("roots"), 1 => Just("other")];
    (kind, proptest::collection::vec(pair, 0..4))
        .prop_map(|(kind, pairs)| format!("\"{kind}\":{{{}}}", pairs.join(",")))
}

fn said() -> impl Strategy<Value = Said> {
    let beside = proptest::collection::vec(
        prop_oneof![
            name().prop_map(|label| format!("\"label\":\"{label}\"")),
            (0..4u64).prop_map(|at| format!("\"timestamp\":{at}")),
            (name(), count()).prop_map(|(cause, n)| format!("\"gc\":{{\"number\":{n},\"cause\":\"{cause}\"}}")),
            proptest::collection::vec(name(), 0..3).prop_map(|roles| format!(
                "\"nested-roles\":[{}]",
                roles.iter().map(|r| format!("\"{r}\"")).collect::<Vec<_>>().join(",")
            )),
            count().prop_map(|n| format!("\"unreachable\":{{\"objects\":{n},\"of\":1}}")),
            Just("\"overlaps\":true".to_owned()),
            name().prop_map(|field| format!("\"field {field}\":{{}}")),
            maps(),
        ],
        0..5,
    );
    let time = (beside, node(), 0..12usize, any::<prop::sample::Index>()).prop_map(|(mut fields, tree, how, cut)| {
        fields.insert(fields.len() / 2, format!("\"tree\":{tree}"));
        let text = format!("{{{}}}", fields.join(","));
        match how {
            0 => Said::Time(text[..text.floor_char_boundary(cut.index(text.len()))].to_owned()),
            1 => Said::Time(format!("{},\"times\":[]}}", &text[..text.len() - 1])),
            _ => Said::Time(text),
        }
    });
    let references = (0..3usize, maps(), maps(), 0..8usize).prop_map(|(time, a, b, how)| {
        let end = if how == 0 { ",\"tree\":{}" } else { "" };
        Said::Maps(time, format!("{{{a},{b}{end}}}"))
    });
    prop_oneof![3 => time, 1 => references]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// State before = state after, for whatever reason a message is refused: what it says, or no memory at any moment
    /// of it. And what is kept was granted.
    #[test]
    fn what_is_refused_leaves_nothing(
        messages in proptest::collection::vec((said(), prop_oneof![2 => Just(u64::MAX / 2), 1 => 0..60_000u64]), 1..12),
    ) {
        let mut trees = GrowingTrees::new("test");
        let mut without = GrowingTrees::new("test");
        for (said, left) in messages {
            let (before, bytes) = (trees.shown(), trees.bytes());
            let mut room = Room { left, granted: 0 };
            let say = |trees: &mut GrowingTrees, room: &mut Room| match &said {
                Said::Time(time) => trees.append(time, room),
                Said::Maps(time, maps) => trees.add_references(*time, maps, room),
            };
            match say(&mut trees, &mut room) {
                Err(_) => {
                    prop_assert_eq!(trees.shown(), before);
                    prop_assert_eq!(trees.bytes(), bytes);
                }
                Ok(()) => {
                    let grown = trees.bytes() - bytes;
                    prop_assert!(grown <= room.granted, "{} kept, {} granted: {:?}", grown, room.granted, said);
                    say(&mut without, &mut Room { left: u64::MAX / 2, granted: 0 }).expect("it was taken before");
                }
            }
        }
        // As if the refused ones had never come.
        prop_assert_eq!(trees.shown(), without.shown());
    }
}
