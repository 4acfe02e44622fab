//! Places in code within texts: `com.acme.Cart.add(Item) line 12`, alone or in a sentence, as recordings and dumps write them.

/// A method, and perhaps a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePlace {
    /// The class with its package, as the VM calls it: `com.acme.Cart$Line`.
    pub class: String,
    /// The method.
    pub method: String,
    /// The line; of some inputs the index of the bytecode alone is known, or nothing.
    pub line: Option<u32>,
}

impl CodePlace {
    /// The first place in a text.
    pub fn first_in(text: &str) -> Option<CodePlace> {
        CodePlace::all_in(text).next()
    }

    /// All places in a text, in their order.
    pub fn all_in(text: &str) -> impl Iterator<Item = CodePlace> {
        text.match_indices('(').filter_map(move |(open, _)| {
            let before = &text[..open];
            let from = before.char_indices().rev().take_while(|(_, c)| is_name(*c)).last()?.0;
            let (class, method) = before[from..].trim_start_matches('.').rsplit_once('.')?;
            let close = open + text[open..].find(')')?;
            // Between the brackets are types, not a sentence.
            let types = &text[open + 1..close];
            let of_types = |c: char| is_name(c) || matches!(c, ',' | ' ' | '[' | ']' | '?' | '&' | '.');
            let is_method = !method.is_empty() && method.chars().any(char::is_alphabetic);
            if !is_method || !types.chars().all(of_types) || class.is_empty() {
                return None;
            }
            let line = text[close + 1..].strip_prefix(" line ").and_then(|rest| {
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest[..digits].parse().ok().filter(|line| *line > 0)
            });
            Some(CodePlace { class: class.to_owned(), method: method.to_owned(), line })
        })
    }

    /// For people: without the package.
    pub fn brief(&self) -> String {
        let class = self.class.rsplit('.').next().unwrap_or(&self.class);
        match self.line {
            Some(line) => format!("{class}.{} line {line}", self.method),
            None => format!("{class}.{}", self.method),
        }
    }

    /// The folders of the package, and the class that a file may be called after: of a nested one the outermost. `None` where the name
    /// is none of a class: it comes from a stranger, and is to be no way out of a folder.
    pub fn file_stem(&self) -> Option<(Vec<&str>, &str)> {
        // Hidden classes have a slash and a number behind their names.
        let name = self.class.split('/').next()?;
        let mut parts: Vec<&str> = name.split('.').collect();
        let class = parts.pop()?;
        let outer = match class.get(1..).and_then(|rest| rest.find('$')) {
            Some(at) => &class[..at + 1],
            None => class,
        };
        let is_word = |word: &str| {
            !word.is_empty()
                && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'))
                && word.len() < 256
        };
        (parts.iter().all(|part| is_word(part)) && is_word(outer) && parts.len() < 64).then_some((parts, outer))
    }
}

/// Characters of the names of classes and methods.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '<' | '>' | '/' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(class: &str, method: &str, line: Option<u32>) -> CodePlace {
        CodePlace { class: class.into(), method: method.into(), line }
    }

    #[test]
    fn places_are_found_alone_in_chains_and_in_sentences() {
        let found = |text: &str| CodePlace::all_in(text).collect::<Vec<_>>();
        assert_eq!(found("com.acme.Cart.add(Item) line 12"), [place("com.acme.Cart", "add", Some(12))]);
        assert_eq!(
            found("Leaks$Person.<init>(String[], int) line 7 ‹ Leaks.main(String[]) line 30"),
            [place("Leaks$Person", "<init>", Some(7)), place("Leaks", "main", Some(30))]
        );
        assert_eq!(found("thread \"main\", com.acme.Main.run() line 3"), [place("com.acme.Main", "run", Some(3))]);
        assert_eq!(found("java.util.LinkedList.linkLast(Object):7"), [place("java.util.LinkedList", "linkLast", None)]);
        assert_eq!(
            found("Most of it (about 3 MB) was allocated at a.b.C.d() line 5, which grows."),
            [place("a.b.C", "d", Some(5))]
        );
        for text in
            ["", "char[]", "com.acme.Cart", "(not sampled)", "12 MB (5 %)", "f(x)", "e.g. (this) and that", "a.(b)"]
        {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn files_are_called_after_the_outermost_class() {
        let stem = |class: &str| place(class, "f", None).file_stem().map(|(p, c)| (p.join("/"), c.to_owned()));
        let is = |package: &str, class: &str| Some((package.to_owned(), class.to_owned()));
        assert_eq!(stem("com.acme.Cart$Line$1"), is("com/acme", "Cart"));
        assert_eq!(stem("com.acme.Main$$Lambda/0x0123"), is("com/acme", "Main"));
        assert_eq!(stem("Main"), is("", "Main"));
        assert_eq!(stem("a.$Proxy7"), is("a", "$Proxy7"));
        for wrong in ["", "..", "a..b", "../../etc/passwd", "a/../b.C", "a.\u{0}b", "a.b c", "C:\\x"] {
            let stem = stem(wrong);
            assert!(stem.as_ref().is_none_or(|(p, c)| !p.contains("..") && c == "a" || c == "C"), "{wrong}: {stem:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_much_and_what_is_found_stands_in_it(text in "\\PC{0,60}", class in "[A-Za-z.$(]{0,20}", line in 0u32..99) {
            let text = format!("{text}{class}f(a) line {line} {text}");
            for place in CodePlace::all_in(&text) {
                prop_assert!(text.contains(&place.class) && text.contains(&place.method));
                if let Some((package, class)) = place.file_stem() {
                    prop_assert!(package.iter().chain([&class]).all(|word| !word.contains('/') && *word != ".." && !word.is_empty()));
                }
            }
        }
    }
}
