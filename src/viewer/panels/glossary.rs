//! The glossary of the book, in the window: a heading explains its term on hover.

/// Tables of `| word | means | in the code |`.
const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

/// The words of headings that have a term of the glossary, and that term.
const TERMS: &[(&str, &str)] = &[
    ("PATHS FROM GC ROOTS", "path"),
    ("GC ROOT", "GC root"),
    ("FROM ROOTS", "GC root"),
    ("DOMINATOR TREE", "owner"),
    ("KEPT ALIVE BY", "owner"),
    ("ALLOCATED AT", "allocation site"),
    ("OWNER", "owner"),
];

/// The term of a heading.
pub fn term(heading: &str) -> Option<&'static str> {
    TERMS.iter().find(|(words, _)| heading.contains(words)).map(|(_, term)| *term)
}

/// Explanation of a term: a sentence or two.
pub fn meaning(term: &str) -> Option<String> {
    let row = |line: &'static str| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        (cells.next()? == term).then(|| cells.next()).flatten()
    };
    GLOSSARY.lines().find_map(row).map(|means| means.replace(['`', '*'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_explained() {
        for (words, term) in TERMS {
            assert!(meaning(term).is_some_and(|text| text.len() > 30), "{words}: {term}");
        }
        assert_eq!(term("PATHS FROM GC ROOTS TO"), Some("path"), "the first that fits");
        assert_eq!((term("BOOKMARKS"), meaning("no such word")), (None, None));
        let owner = meaning("owner").expect("explained");
        assert!(!owner.contains('|') && !owner.contains('*'), "{owner}");
    }
}
