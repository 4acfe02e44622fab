//! The formatter of descriptions.

use super::parse::{DescriptionError, StructureFile};
use super::tokens::{FileToken, TokenKind, Tokens};

const INDENT: &str = "    ";

/// The text with a line for each part, indented by braces; comments stay. It parses to the same descriptions, and is its own form.
///
/// # Errors
/// When the text is no file of descriptions.
pub fn formatted(file: &str, text: &str) -> Result<String, DescriptionError> {
    StructureFile::parse(file, text)?;
    let mut tokens = Tokens::new(text);
    let mut out = String::with_capacity(text.len());
    let mut depth = 0usize;
    let mut last: Option<FileToken<'_>> = None;
    loop {
        let token = tokens.next(file)?;
        // The text between this token and the one before says where a person left a line empty.
        let gap = last.map_or("", |last| &text[end_of(&last)..token.at]);
        if token.kind == TokenKind::End {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            return Ok(out);
        }
        if token.is("}") {
            depth = depth.saturating_sub(1);
        }
        if starts_a_line(last.as_ref(), &token, gap) {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            if gap.matches('\n').nth(1).is_some() && !token.is("}") && !last.is_some_and(|last| last.is("{")) {
                out.push('\n');
            }
            (0..depth).for_each(|_| out.push_str(INDENT));
        } else if has_space_between(last.as_ref(), &token) {
            out.push(' ');
        }
        if token.is("{") {
            depth += 1;
        }
        out.push_str(&text[token.at..end_of(&token)]);
        last = Some(token);
    }
}

/// The byte behind a token: of a quoted name, the text is between the quotation marks.
fn end_of(token: &FileToken<'_>) -> usize {
    token.at + token.text.len() + if token.kind == TokenKind::Quoted { 2 } else { 0 }
}

fn starts_a_line(last: Option<&FileToken<'_>>, token: &FileToken<'_>, gap: &str) -> bool {
    let Some(last) = last else { return true };
    if token.kind == TokenKind::Comment || last.kind == TokenKind::Comment {
        return gap.contains('\n') || last.text.starts_with("//");
    }
    token.is("}") && !last.is("{") || last.is(";") || last.is("}") || last.is("{") && !token.is("}")
}

fn has_space_between(last: Option<&FileToken<'_>>, token: &FileToken<'_>) -> bool {
    let Some(last) = last else { return false };
    let is_comment = token.kind == TokenKind::Comment || last.kind == TokenKind::Comment;
    let joins = [";", ",", ":", ")", "}"].iter().any(|mark| token.is(mark));
    !last.is("(") && (is_comment || !joins)
}
