//! The words of a file of descriptions.

use super::parse::DescriptionError;

/// A word, a mark, or a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name: of a type, a package or a field; also `DS`, `namespace` and `size`.
    Name,
    /// A name between quotation marks, for characters that other names do not have.
    Quoted,
    /// One of `{ } ( ) ; : , + - /`.
    Mark,
    /// `// to the end of the line`, or `/* to */`.
    Comment,
    /// The end of the file.
    End,
}

/// A token: its kind, its text (of quoted names without the quotation marks), and the byte at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileToken<'t> {
    pub kind: TokenKind,
    pub text: &'t str,
    pub at: usize,
}

impl FileToken<'_> {
    pub fn is(&self, mark: &str) -> bool {
        self.kind == TokenKind::Mark && self.text == mark
    }

    /// For people.
    pub fn found(&self) -> String {
        const LONGEST: usize = 40;
        match self.kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ if self.text.chars().count() > LONGEST => {
                format!("`{}...`", self.text.chars().take(LONGEST).collect::<String>())
            }
            _ => format!("`{}`", self.text),
        }
    }
}

/// The tokens of a text, one after the other; at last [`TokenKind::End`], again and again.
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

/// Most bytes of a name.
const LONGEST_NAME: usize = 4096;

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '*' | '[' | ']')
}

impl<'t> Tokens<'t> {
    pub fn new(text: &'t str) -> Tokens<'t> {
        // A mark of byte order, which some editors write.
        Tokens { text, at: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 } }
    }

    /// The next token, comments among them.
    ///
    /// # Errors
    /// At a character that no token begins with, a comment or quotation without end, or a name that is too long.
    pub fn next(&mut self, file: &str) -> Result<FileToken<'t>, DescriptionError> {
        let wrong = |at, found: String, expected: &str| DescriptionError::new(file, self.text, at, found, expected);
        let rest = self.text[self.at..].trim_start();
        let at = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.at = at;
            return Ok(FileToken { kind: TokenKind::End, text: "", at });
        };
        let (kind, length, text) = if rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            (TokenKind::Comment, length, rest[..length].trim_end())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/");
            let end = end.ok_or_else(|| wrong(at, "a comment without end".into(), "`*/` behind it"))?;
            (TokenKind::Comment, end + 4, &rest[..end + 4])
        } else if first == '"' {
            let end = rest[1..].find(['"', '\n', '\r']).filter(|end| rest[1 + end..].starts_with('"'));
            let end = end.ok_or_else(|| wrong(at, "a quotation without end".into(), "`\"` in the same line"))?;
            (TokenKind::Quoted, end + 2, &rest[1..=end])
        } else if is_of_name(first) {
            let length = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
            (TokenKind::Name, length, &rest[..length])
        } else if matches!(first, '{' | '}' | '(' | ')' | ';' | ':' | ',' | '+' | '-' | '/') {
            (TokenKind::Mark, 1, &rest[..1])
        } else {
            return Err(wrong(at, format!("`{}`", first.escape_debug()), "a name, a mark or a comment"));
        };
        if matches!(kind, TokenKind::Name | TokenKind::Quoted) && text.len() > LONGEST_NAME {
            let expected = format!("at most {LONGEST_NAME}");
            return Err(wrong(at, format!("a name of {} bytes", text.len()), &expected));
        }
        self.at = at + length;
        Ok(FileToken { kind, text, at })
    }
}
