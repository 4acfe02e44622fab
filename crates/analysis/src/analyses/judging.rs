//! Reasons why an input cannot be judged, in sentences for the first lines of every result.

use super::leak_verdict::LINE;
use crate::tabular::several;
use crate::timeline::shortened;
use memory_city_heap::error::Warning;

/// Files that are named one by one, and letters of each name.
const NAMED: usize = 3;
const NAME: usize = 40;

/// A sentence for each reason why the input cannot be judged, in the order of the warnings, the same reason of several files once.
pub fn unjudged(warnings: &[Warning]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for warning in warnings {
        let Some(reason) = warning.unjudged() else { continue };
        let file = warning.path.file_name().unwrap_or(warning.path.as_os_str()).to_string_lossy().into_owned();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, files)) if files.contains(&file) => {}
            Some((_, files)) => files.push(file),
            None => reasons.push((reason, vec![file])),
        }
    }
    let more = reasons.len().saturating_sub(NAMED);
    let mut sentences: Vec<String> =
        reasons.iter().take(NAMED).map(|(reason, files)| sentence(reason, files)).collect();
    if more > 0 {
        sentences.push(format!("And {}: see the warnings.", several(more as u64, "more reason", "more reasons")));
    }
    sentences
}

fn sentence(reason: &str, files: &[String]) -> String {
    let named = files.iter().take(NAMED).map(|file| shortened(file, NAME)).collect::<Vec<_>>().join(", ");
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", several(more as u64, "more file", "more files")),
    };
    format!("Cannot be judged: {named}{more}: {reason}.")
}

/// A line as one of at most 160 letters, and the rest of it. It is cut behind a part of the sentence, or else a word.
pub(super) fn first_line(text: &str) -> (&str, &str) {
    let Some((end, _)) = text.char_indices().nth(LINE) else { return (text, "") };
    let cut = |mark: &str| text[..end].rfind(mark).map(|at| at + mark.len());
    let part = [". ", ": ", "; "].iter().filter_map(|mark| cut(mark)).max().filter(|&at| at > end / 3);
    let (line, rest) = text.split_at(part.or_else(|| cut(" ")).unwrap_or(end));
    (line.trim_end(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_sentence_goes_on_in_the_next_line() {
        let reason = "the file was cut off after 1000000 bytes, in a record that begins at byte 1000; 5 more bytes were to come, at least. \
            Complete records are shown, the rest is missing";
        let of = |files: &[&str]| sentence(reason, &files.iter().map(|&file| file.to_owned()).collect::<Vec<_>>());
        let (line, rest) = (of(&["2.hprof"]), of(&["2.hprof"]));
        assert_eq!(
            first_line(&line).0,
            "Cannot be judged: 2.hprof: the file was cut off after 1000000 bytes, in a record that begins at byte 1000; 5 more bytes were to \
             come, at least."
        );
        assert_eq!(first_line(&rest).1, "Complete records are shown, the rest is missing.");
        let long = "x".repeat(255);
        let said = of(&[&long, &long, &long, "more"]);
        let (line, rest) = first_line(&said);
        assert!(line.ends_with("xx and 1 more file:") && line.chars().count() <= LINE, "{line}");
        assert!(rest.starts_with("the file was cut off"), "{rest}");
        assert_eq!(first_line("Short: it fits."), ("Short: it fits.", ""));
    }

    proptest! {
        #[test]
        fn any_first_line_fits_and_nothing_is_lost(text in "[a-zä.:; ]{0,400}") {
            let (line, rest) = first_line(&text);
            prop_assert!(line.chars().count() <= LINE);
            let spaces = &text[line.len()..text.len() - rest.len()];
            prop_assert!(text.starts_with(line) && text.ends_with(rest) && spaces.trim().is_empty());
        }
    }

    #[test]
    fn one_reason_is_said_once_for_all_files_that_have_it() {
        let of = |file: &str, message: &str| Warning { path: file.into(), offset: None, message: message.into() };
        let cut = format!("{}it was cut off", Warning::UNJUDGED);
        let all = [of("/a/1.hprof", &cut), of("/a/2.hprof", "nothing much"), of("/a/3.hprof", &cut)];
        assert_eq!(unjudged(&all), ["Cannot be judged: 1.hprof, 3.hprof: it was cut off."]);
        assert_eq!(unjudged(&all[1..2]), [] as [&str; 0]);
    }
}
