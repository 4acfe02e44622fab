//! The language of groupings: `package > type`, `rooted(kind) > points-to`.
//!
//! ```text
//! grouping   = name of a grouping | list
//! list       = classifier { ">" classifier }                             "›" is as good as ">"
//! classifier = name [ "(" inside ")" ]                                   so are brackets
//! inside     = option { "," option }                                     of most classifiers
//!            | list                                                      of transformers
//!            | condition { "and" condition }                             of filters
//! option     = name [ "=" value ]
//! condition  = [ "not" ] name [ "(" option { "," option } ")" ] [ operator value ]
//! operator   = "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="          "~": contains, whatever the case
//! name       = letters, digits, "-", "_"
//! value      = anything but ",", " and " and what closes; or a text in quotation marks, with \" and \\ in it
//! ```
//! Spaces are free. A list has at most [`syntax::LONGEST`] bytes and nests at most [`syntax::DEEPEST`] levels.

mod builder;
mod syntax;

use super::grouping::Grouping;
use super::outline::GroupingLevel;
use super::registry::Registry;
use crate::grammar::ExpressionError;

/// The grouping of a list. Its id is the list in its shortest form.
pub(super) fn parse(registry: &Registry, text: &str) -> Result<Grouping, ExpressionError> {
    make(registry, text, &levels(registry, text)?)
}

/// A list as it is written, part by part.
pub(super) fn levels(registry: &Registry, text: &str) -> Result<Vec<GroupingLevel>, ExpressionError> {
    registry.whole(text).map_err(|error| error.of(text))
}

/// The grouping of a list that was read from a text.
pub(super) fn make(registry: &Registry, text: &str, list: &[GroupingLevel]) -> Result<Grouping, ExpressionError> {
    let (classifiers, id) = registry.make_list(list, true).map_err(|error| error.of(text))?;
    Ok(Grouping::new(id, classifiers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::outline::{LevelCondition, LevelInside, LevelOption, TextPlace, list_text};
    use proptest::prelude::*;

    fn error(text: &str) -> String {
        Registry::new().grouping(text).expect_err("no grouping").to_string()
    }

    #[test]
    fn lists_are_read() {
        let registry = Registry::new();
        for (text, id, title) in [
            ("type-site", "type-site", "Type › Allocation site"),
            ("package>type", "package-type", "Package › Type"),
            (" package › type ", "package-type", "Package › Type"),
            ("type", "type", "Type"),
            ("age>package>type", "age>package>type", "Age › Package › Type"),
            ("rooted [ variables , kind ] >type", "rooted(kind,variables)>type", "GC root › Type"),
            ("site(depth= 2 )>type", "site(depth=2)>type", "Allocation site › Type"),
            (
                "type > pointed-from( type>pointed-from [package >type ] )",
                "type>pointed-from(type>pointed-from(package>type))",
                "Type › Pointed from (Type › Pointed from (Package › Type))",
            ),
            (
                "type > filter(size>1.5MB and not package = com.acme)",
                "filter(size>1.5MB and not package=com.acme)>type",
                "Only size>1.5MB and not package=com.acme › Type",
            ),
            (
                r#"filter(site ~ "run() \"and\" x" and reachable)>points-to(filter(type=byte[])>type)"#,
                r#"filter(site~"run() \"and\" x" and reachable)>points-to(filter(type=byte[])>type)"#,
                r#"Only site~"run() \"and\" x" and reachable › Points to (Only type=byte[] › Type)"#,
            ),
            ("address(block=\"4KiB\")", "address(block=4KiB)", "Address"),
        ] {
            let grouping = registry.grouping(text).expect(text);
            assert_eq!((grouping.id.as_str(), grouping.title.as_str()), (id, title));
            // What it is called leads to it again.
            assert_eq!(registry.grouping(&grouping.id).expect("again").id, id);
        }
    }

    #[test]
    fn errors_name_the_place_what_is_known_and_the_nearest_name() {
        insta::assert_snapshot!(
            [
                "",
                "tpye",
                "package>tpye",
                "package>",
                "package type",
                "packag-type",
                "rooted(kinds)",
                "rooted(kind",
                "rooted(",
                "type(x)",
                "rooted(kind=3)",
                "rooted(kind,kind)",
                "site(depth)",
                "site(depth=many)",
                "type)",
                "ü>typ",
                "type>pointed-from(tpye)",
                "type>pointed-from(",
                "pointed-from(type)>age",
                "type>pointed-from(type)>points-to(type)>pointed-from(age)",
                "pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(pointed-from(type)))))))))",
                "filter",
                "filter(",
                "filter(size)",
                "filter(siz > 3)",
                "filter(size > big)",
                "filter(package > 3)",
                "filter(package)",
                "filter(package=)",
                "filter(filter = 3)",
                "filter(package = com.acme or size > 3)",
                "filter(package = \"com.acme",
                "address(block=0)",
                "feature",
                "feature(file=/no/such/file)",
                "domain-site(packages=a b)",
            ]
            .map(error)
            .join("\n")
        );
    }

    #[test]
    fn what_is_being_written_is_completed() {
        let registry = Registry::new();
        let texts = |text: &str| -> Vec<String> { registry.complete(text).into_iter().map(|c| c.text).collect() };
        assert_eq!(texts("package > ty"), ["package > type"]);
        assert_eq!(texts("point"), ["points-to", "pointed-from"]);
        assert_eq!(
            texts("type>pointed-from(type > pa"),
            [
                "type>pointed-from(type > package",
                "type>pointed-from(type > allocating-package",
                "type>pointed-from(type > space"
            ]
        );
        assert_eq!(texts("points-to(rooted(v"), ["points-to(rooted(variables"]);
        assert_eq!(texts("filter(size > 3 and not reach"), ["filter(size > 3 and not reachable"]);
        assert_eq!(texts("pointed-from(type)>rea"), ["pointed-from(type)>reachable", "pointed-from(type)>thread"]);
        assert_eq!(texts("nothing(a"), [] as [&str; 0]);
        assert_eq!(texts("type>rooted(v"), ["type>rooted(variables"]);
        assert_eq!(texts("site(de"), ["site(depth="]);
        assert_eq!(texts("type thr"), [] as [&str; 0]);
        assert_eq!(texts("rooted(kind) "), [] as [&str; 0]);
        assert_eq!(texts("").len(), registry.classifiers().count());
        assert_eq!(texts("loader"), ["loader", "loaders"]);
    }

    #[test]
    fn a_text_of_a_megabyte_is_refused_at_once() {
        let registry = Registry::new();
        for part in
            ["type>", "pointed-from(", "rooted(kind,", "filter(size>1 and ", "filter(site~\"", "\\", "(", "a", " "]
        {
            let text = part.repeat(1_000_000 / part.len());
            let error = registry.grouping(&text).expect_err(part);
            assert_eq!((error.at, error.message.contains("at most")), (syntax::LONGEST, true), "{}", error.message);
        }
        // What is just short enough is read.
        let long = vec!["type"; syntax::LONGEST / 5].join(">");
        assert_eq!(registry.grouping(&long).map(|grouping| grouping.classifiers.len()), Ok(syntax::LONGEST / 5));
    }

    /// Names that begin like words of the language are among them.
    fn names() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-zü_-]{1,6}",
            prop::sample::select(vec!["type", "and", "notes", "site", "size"]).prop_map(str::to_owned)
        ]
    }

    fn values() -> impl Strategy<Value = String> {
        prop_oneof![r#"[a-zü ,()\[\]"\\=>~]{1,8}"#, r"( ?(and|or|=|not|a) ?){1,4}"]
            .prop_map(|value| value.trim().to_owned())
            .prop_filter("a value", |value| !value.is_empty())
    }

    fn options() -> impl Strategy<Value = LevelInside> {
        let at = TextPlace::default();
        let option =
            (names(), prop::option::of(values())).prop_map(move |(name, value)| LevelOption { name, value, at });
        prop::collection::vec(option, 0..3).prop_map(LevelInside::Options)
    }

    fn level(id: &str, inside: LevelInside) -> GroupingLevel {
        GroupingLevel { id: id.to_owned(), inside, at: TextPlace::default() }
    }

    fn lists() -> impl Strategy<Value = Vec<GroupingLevel>> {
        let named = (names(), options()).prop_map(|(id, inside)| level(&id, inside)).boxed();
        let operators = prop::sample::select(vec!["!=", "!~", "<=", ">=", "==", "=", "~", "<", ">"]);
        let compared = prop::option::of((operators.prop_map(str::to_owned), values()));
        let condition = (any::<bool>(), named.clone(), compared)
            // After `not`, and alone, that word is no name.
            .prop_filter("a name", |(_, of, _)| of.id != "not")
            .prop_map(|(not, of, compared)| LevelCondition { not, of, compared, at: TextPlace::default() });
        let conditions = prop::collection::vec(condition, 1..4);
        let filter = conditions.prop_map(|all| level("filter", LevelInside::Conditions(all)));
        let part = prop_oneof![named, filter].prop_recursive(4, 12, 3, |inner| {
            let id = prop::sample::select(vec!["pointed-from", "points-to"]);
            (id, prop::collection::vec(inner, 0..4)).prop_map(|(id, list)| level(id, LevelInside::List(list)))
        });
        prop::collection::vec(part, 1..4)
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_as_the_same(list in lists()) {
            prop_assert_eq!(Registry::new().levels(&list_text(&list)), Ok(list));
        }

        #[test]
        fn ids_of_groupings_lead_to_them(value in values(), other in values()) {
            let registry = Registry::new();
            let condition = |operator: &str, value: &str| LevelCondition {
                compared: Some((operator.to_owned(), value.to_owned())),
                ..registry.new_condition("type")
            };
            let filter = LevelInside::Conditions(vec![condition("=", &value), condition("!~", &other)]);
            let made = registry.grouping(&level("filter", filter).to_string()).expect("a filter");
            prop_assert_eq!(&registry.grouping(&made.id).expect("again").title, &made.title);
            prop_assert_eq!(&registry.grouping(&made.id).expect("again").id, &made.id);
        }

        #[test]
        fn any_text_is_a_grouping_or_an_error_with_a_place(text in "([a-z>›()\\[\\]=, ü-]|filter\\(|size|pointed-from\\(|type|\\\\|\"| and ){0,24}") {
            let registry = Registry::new();
            match registry.grouping(&text) {
                Ok(grouping) => prop_assert!(!grouping.classifiers.is_empty()),
                Err(error) => prop_assert!(error.at <= text.len() && !error.to_string().is_empty()),
            }
            registry.complete(&text);
        }
    }
}
