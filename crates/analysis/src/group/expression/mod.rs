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
//! Spaces are free. Lists nest at most [`syntax::DEEPEST`] levels.

mod builder;
mod syntax;
pub(super) mod words;

use super::grouping::Grouping;
use super::outline::{GroupingLevel, LevelCondition, LevelInside, LevelOption};
use super::registry::Registry;
use syntax::{ListParser, Parsed, ParsedCondition, ParsedInside, ParsedOption};
use words::GroupingError;

/// The grouping of a list. Its id is the list in its shortest form.
pub(super) fn parse(registry: &Registry, text: &str) -> Result<Grouping, GroupingError> {
    let mut parser = ListParser::new(registry, text);
    let list = parser.whole()?;
    let (classifiers, id) = parser.make_list(&list, true)?;
    Ok(Grouping::new(id, classifiers))
}

/// A list as it is written, part by part.
pub(super) fn levels(registry: &Registry, text: &str) -> Result<Vec<GroupingLevel>, GroupingError> {
    let list = ListParser::new(registry, text).whole()?;
    Ok(list.iter().map(level).collect())
}

fn level(written: &Parsed<'_>) -> GroupingLevel {
    let option = |(_, name, value): &ParsedOption<'_>| LevelOption {
        name: (*name).to_owned(),
        value: value.as_ref().map(|value| value.to_string()),
    };
    let condition = |written: &ParsedCondition<'_>| LevelCondition {
        not: written.not,
        of: level(&written.of),
        compared: written.compared.as_ref().map(|(operator, value, _)| ((*operator).to_owned(), value.to_string())),
    };
    let inside = match &written.inside {
        ParsedInside::Options(options) => LevelInside::Options(options.iter().map(option).collect()),
        ParsedInside::List(list) => LevelInside::List(list.iter().map(level).collect()),
        ParsedInside::Conditions(all) => LevelInside::Conditions(all.iter().map(condition).collect()),
    };
    GroupingLevel { id: written.name.to_owned(), inside }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    proptest! {
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
