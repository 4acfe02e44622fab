//! Escaping of untrusted texts in printed lines. Names of threads, classes, files and groups come from the analysed program, or from the
//! writer of a file. A control character in one commands the terminal, a line feed begins a line that looks like ours, and a mark of
//! direction shows a line in another order than it is written.
//!
//! Two steps, so that neither has to be perfect. Parts of a line go through [`printable`] or [`Printable`], which leave no line feed. All
//! output goes through a [`PrintableWriter`], which knows lines only as layout and escapes all the rest. Escaping twice changes nothing
//! more.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, Write};

/// Characters of a cell of a table.
pub const MOST_CELL: usize = 1000;
/// Characters of a line of prose, which may hold several names.
pub const MOST_LINE: usize = 8000;

/// Whether a character is never written as it is: C0, DEL, C1, marks of direction, separators of lines and paragraphs.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

/// A text as a part of a line: other than printable characters are escaped as in Rust, `\n`, `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return text.into();
    }
    Printable(text).to_string().into()
}

/// A text as a cell of a table: printable, and shortened in its middle to [`MOST_CELL`] characters before that.
pub fn cell_text(text: &str) -> String {
    printable(&shortened(text, MOST_CELL)).into_owned()
}

/// A text as a line of its own: printable, and shortened in its middle to [`MOST_LINE`] characters before that.
pub fn line_text(text: &str) -> String {
    printable(&shortened(text, MOST_LINE)).into_owned()
}

/// A text of at most `most` characters; in a longer one `…` stands for the middle.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    // A character has a byte at least.
    if text.len() <= most || text.char_indices().nth(most).is_none() {
        return text.into();
    }
    let (head, tail) = (most / 2, most.saturating_sub(most / 2 + 1));
    let end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let start =
        tail.checked_sub(1).and_then(|last| text.char_indices().rev().nth(last)).map_or(text.len(), |(at, _)| at);
    format!("{}…{}", &text[..end], &text[start..]).into()
}

/// Anything that is displayed as a part of a line, as [`printable`] writes it.
pub struct Printable<T>(pub T);

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Escaping<'a, 'b>(&'a mut fmt::Formatter<'b>);
        impl fmt::Write for Escaping<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                let mut written = 0;
                for (at, c) in text.char_indices().filter(|(_, c)| is_unprintable(*c)) {
                    self.0.write_str(&text[written..at])?;
                    write!(self.0, "{}", c.escape_default())?;
                    written = at + c.len_utf8();
                }
                self.0.write_str(&text[written..])
            }
        }
        write!(Escaping(f), "{}", self.0)
    }
}

/// The escapes of a [`PrintableWriter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeForm {
    /// For people: `\u{1b}`.
    Text,
    /// For strings of JSON: `\u001b`. JSON has nothing to escape outside of strings.
    Json,
}

/// The last line of defence before a terminal, a pipe or a log. Line feeds and tabs are layout; everything else that is not printable is
/// escaped. So are the marks that turn a line into a command of a build server (`::error::` at its beginning, `##[error]`, `##vso[`,
/// `##teamcity[` anywhere in it). Invalid UTF-8 becomes replacement characters.
pub struct PrintableWriter<W: Write> {
    out: W,
    form: EscapeForm,
    /// The beginning of a character whose rest has not come.
    begun: Vec<u8>,
    /// Nothing but blanks stands in this line so far.
    at_start: bool,
    /// The last character was `#`.
    behind_hash: bool,
}

impl<W: Write> PrintableWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W, form: EscapeForm) -> PrintableWriter<W> {
        PrintableWriter { out, form, begun: Vec::new(), at_start: true, behind_hash: false }
    }

    /// The underlying writer.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, c) in text.char_indices() {
            let escaped = match c {
                '\n' | '\t' => false,
                ':' => self.at_start && self.form == EscapeForm::Text,
                '#' => self.behind_hash,
                c => is_unprintable(c),
            };
            self.at_start = c == '\n' || self.at_start && c.is_whitespace();
            self.behind_hash = c == '#';
            if escaped {
                self.out.write_all(&text.as_bytes()[written..at])?;
                written = at + c.len_utf8();
                match self.form {
                    EscapeForm::Text if c.is_control() => write!(self.out, "{}", c.escape_default())?,
                    EscapeForm::Text => write!(self.out, "{}", c.escape_unicode())?,
                    EscapeForm::Json => write!(self.out, "\\u{:04x}", u32::from(c))?,
                }
            }
        }
        self.out.write_all(&text.as_bytes()[written..])
    }
}

impl<W: Write> Write for PrintableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let all = match self.begun.is_empty() {
            true => Cow::Borrowed(bytes),
            false => Cow::Owned([&std::mem::take(&mut self.begun)[..], bytes].concat()),
        };
        let mut rest = &all[..];
        while let Err(wrong) = std::str::from_utf8(rest) {
            let (good, behind) = rest.split_at(wrong.valid_up_to());
            self.text(&String::from_utf8_lossy(good))?;
            let Some(bad) = wrong.error_len() else {
                self.begun = behind.to_vec();
                return Ok(bytes.len());
            };
            self.text("\u{fffd}")?;
            rest = &behind[bad..];
        }
        self.text(&String::from_utf8_lossy(rest))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn through(form: EscapeForm, chunks: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut writer = PrintableWriter::new(&mut out, form);
        chunks.iter().for_each(|chunk| writer.write_all(chunk).expect("written"));
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn what_speaks_to_a_terminal_is_shown() {
        for (text, shown) in [
            ("main", "main"),
            ("ü › 木", "ü › 木"),
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\nok  Nothing accumulates", "a\\nok  Nothing accumulates"),
            ("\t\r\u{7f}\u{9b}", "\\t\\r\\u{7f}\\u{9b}"),
            ("\u{202e}\u{2066}\u{61c}\u{200f}", "\\u{202e}\\u{2066}\\u{61c}\\u{200f}"),
            ("\u{2028}\u{2029}\u{85}", "\\u{2028}\\u{2029}\\u{85}"),
        ] {
            assert_eq!((&*printable(text), Printable(text).to_string().as_str()), (shown, shown));
            assert_eq!(printable(shown), shown, "twice is once");
        }
    }

    #[test]
    fn the_writer_knows_lines_and_nothing_else() {
        let text = "a\tb\n  ::error::x\n a::b ##[error] ##vso[x]\n\u{9b}\u{202e}\r\n".as_bytes();
        let shown = "a\tb\n  \\u{3a}:error::x\n a::b #\\u{23}[error] #\\u{23}vso[x]\n\\u{9b}\\u{202e}\\r\n";
        // However it is cut.
        for cut in 0..text.len() {
            assert_eq!(through(EscapeForm::Text, &[&text[..cut], &text[cut..]]), shown, "{cut}");
        }
        assert_eq!(through(EscapeForm::Text, &[b"a\xff\xc3", b"\xbc\xf0"]), "a\u{fffd}ü");
        let json = "{\n  \"a##b\": \"\u{7f}\u{9b}\u{2028}::\"\n}";
        let shown = through(EscapeForm::Json, &[json.as_bytes()]);
        assert_eq!(shown, "{\n  \"a#\\u0023b\": \"\\u007f\\u009b\\u2028::\"\n}");
    }

    #[test]
    fn long_texts_keep_both_ends() {
        for (text, most, short) in [
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abc…fg"),
            ("äöüßéèê", 5, "äö…èê"),
            ("abc", 1, "…"),
            ("abc", 2, "a…"),
            ("", 0, ""),
        ] {
            assert_eq!(shortened(text, most), short);
        }
        assert_eq!(shortened(&"x".repeat(10_000_000), MOST_CELL).chars().count(), MOST_CELL);
    }

    proptest! {
        #[test]
        fn nothing_unprintable_is_left(text in any::<String>(), most in 0usize..40) {
            let short = shortened(&text, most);
            prop_assert!(short.chars().count() <= most.max(usize::from(!text.is_empty())));
            prop_assert!(!printable(&text).contains(is_unprintable));
            let shown = through(EscapeForm::Text, &[text.as_bytes()]);
            prop_assert!(!shown.contains(|c| is_unprintable(c) && c != '\n' && c != '\t'));
            prop_assert_eq!(shown.matches('\n').count(), text.matches('\n').count());
        }
    }
}
