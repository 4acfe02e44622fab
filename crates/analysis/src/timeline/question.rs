//! Questions to an input: which objects, in which groups.
//!
//! ```text
//! question = [ "difference:" [ FROM "-" TO ] ":" ] [ "died:" ] ( "auto" | grouping )
//! ```
//! This text stands in view files. Everything else hands on the value.

use super::choice::asked;
use super::source::Source;
use crate::group::AskedGrouping;
use memory_city_heap::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Two points in time that are compared, counted from 1; `None` for the first and the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComparedTimes(pub Option<(usize, usize)>);

/// The objects that a timeline is of: by default all that live at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedObjects {
    /// Those that died until a time instead, see [`died_over_time`](crate::lives::died_over_time()).
    pub died: bool,
    /// Those of two times alone, by what became of them, see [`fates`](super::fates()).
    pub difference: Option<ComparedTimes>,
}

/// A question to an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Which objects.
    pub objects: AskedObjects,
    /// In which groups.
    pub grouping: AskedGrouping,
}

impl Question {
    /// The same question to an input that is compared with one: the grouping that suited the first is that of the second too.
    ///
    /// # Errors
    /// When that grouping is gone.
    pub fn as_answered(&self, first: &Source) -> Result<Question> {
        match first.heaps() {
            Some(heaps) => AskedObjects::default().in_groups(&heaps.grouping().id),
            None => Ok(self.clone()),
        }
    }
}

/// A question, or its text.
pub trait IntoQuestion {
    /// The question.
    ///
    /// # Errors
    /// When the text is none.
    fn question(self) -> Result<Question>;
}

impl IntoQuestion for &Question {
    fn question(self) -> Result<Question> {
        Ok(self.clone())
    }
}

impl IntoQuestion for &str {
    fn question(self) -> Result<Question> {
        let (objects, grouping) = AskedObjects::before(self)?;
        objects.in_groups(grouping)
    }
}

impl AskedObjects {
    /// The objects that the text of a question begins with, and the text of its grouping.
    ///
    /// # Errors
    /// When it does not say which times are compared.
    pub fn before(text: &str) -> Result<(AskedObjects, &str)> {
        let (difference, rest) = match text.strip_prefix("difference:") {
            None => (None, text),
            Some(rest) => {
                let (times, rest) = rest.split_once(':').unwrap_or((rest, ""));
                (
                    Some(times.parse().map_err(|remedy| Error::Unusable {
                        what: format!("\"{times}\" does not say which two times are compared"),
                        remedy,
                    })?),
                    rest,
                )
            }
        };
        let of_dead = rest.strip_prefix("died:");
        Ok((AskedObjects { died: of_dead.is_some(), difference }, of_dead.unwrap_or(rest)))
    }

    /// The question for them in the groups of a text.
    ///
    /// # Errors
    /// When it is no grouping.
    pub fn in_groups(self, grouping: &str) -> Result<Question> {
        Ok(Question { objects: self, grouping: asked(grouping)? })
    }
}

impl FromStr for ComparedTimes {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<ComparedTimes, String> {
        let number = |text: &str| text.trim().parse().ok().filter(|&n: &usize| n > 0);
        let times = text.split_once('-').and_then(|(from, to)| number(from).zip(number(to)));
        match times.is_some() || text.is_empty() {
            true => Ok(ComparedTimes(times)),
            false => Err("Write them as 3-8, counted from 1".to_owned()),
        }
    }
}

impl fmt::Display for AskedObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.difference {
            Some(ComparedTimes(Some((from, to)))) => write!(f, "difference:{from}-{to}:")?,
            Some(ComparedTimes(None)) => f.write_str("difference::")?,
            None => (),
        }
        f.write_str(if self.died { "died:" } else { "" })
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.objects, self.grouping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn questions_name_objects_groups_and_files() {
        let times = |times| Some(ComparedTimes(times));
        for (text, died, difference, grouping, files) in [
            ("type", false, None, "type", &[][..]),
            ("auto", false, None, "auto", &[]),
            ("feature(file=a.txt)>type", false, None, "feature(file=a.txt)>type", &["a.txt"]),
            (
                "mine>feature( file = \"/etc/a, b\" , all)",
                false,
                None,
                "mine>feature( file = \"/etc/a, b\" , all)",
                &["/etc/a, b"],
            ),
            ("type>pointed-from(feature[file=c]>type)", false, None, "type>pointed-from(feature[file=c]>type)", &["c"]),
            ("filter(feature(file=d) = x)", false, None, "filter(feature(file=d) = x)", &["d"]),
            ("died:feature(file=e)", true, None, "feature(file=e)", &["e"]),
            ("difference:3-8:feature(file=f)", false, times(Some((3, 8))), "feature(file=f)", &["f"]),
            ("difference::died:age-type", true, times(None), "age-type", &[]),
        ] {
            let asked = text.question().expect(text);
            assert_eq!((asked.objects, &*asked.grouping.to_string()), (AskedObjects { died, difference }, grouping));
            assert_eq!(asked.grouping.files(), files, "{text}");
            assert_eq!(asked.to_string(), text);
        }
        for wrong in [
            "",
            "died:",
            "difference:3-8",
            "difference:3to8:type",
            "difference:0-8:type",
            "type:site",
            "died:difference::type",
        ] {
            assert!(wrong.question().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_question_or_none(text in "(died:|difference:|type|auto|[0-9]|-|:|>|\\(| ){0,8}") {
            if let Ok(asked) = text.question() {
                prop_assert_eq!(asked.to_string().question().expect("again"), asked);
            }
        }
    }
}
