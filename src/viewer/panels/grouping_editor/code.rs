//! The code of scripts on screen: line numbers, colours, and the place of a mistake.

use super::theme;
use bevy_egui::egui::text::{LayoutJob, TextFormat};
use bevy_egui::egui::{self, FontId, Stroke, Ui};
use memory_city_analysis::group::script::ScriptError;
use std::sync::Arc;

/// Numbers of lines; the one with a mistake is marked.
pub fn numbers(ui: &mut Ui, text: &str, wrong: Option<usize>) {
    let font = FontId::monospace(12.0);
    let lines = text.split('\n').count();
    let mut job = LayoutJob::default();
    for line in 1..=lines {
        let (mark, colour) = if wrong == Some(line) { ("▶", theme::ERROR) } else { (" ", theme::QUIET) };
        let format = TextFormat::simple(font.clone(), colour);
        job.append(&format!("{mark}{line:>3}\n"), 0.0, format);
    }
    ui.vertical(|ui| {
        // As far down as the first line of the field.
        ui.add_space(4.0);
        ui.add(egui::Label::new(job).selectable(false).extend());
    });
}

const KEYWORDS: [&str; 14] =
    ["if", "else", "for", "in", "while", "loop", "let", "const", "fn", "return", "break", "continue", "true", "false"];

/// The code with comments, texts and words of the language in colours, and the place of a mistake underlined.
pub fn coloured(ui: &Ui, text: &str, wrong: Option<&ScriptError>) -> Arc<egui::Galley> {
    let font = FontId::monospace(12.0);
    let mut job = LayoutJob::default();
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let wrong = wrong.filter(|wrong| wrong.line == number);
        // Without a column the whole line is meant.
        let marked = wrong.map(|wrong| match wrong.column {
            0 => 0..line.trim_end().chars().count(),
            column => {
                let start = column - 1;
                let name = line.chars().skip(start).take_while(|c| c.is_alphanumeric() || *c == '_').count();
                start..start + name.max(1)
            }
        });
        let mut at = 0;
        for (piece, colour) in pieces(line) {
            for c in piece.chars() {
                let is_marked = marked.as_ref().is_some_and(|marked| marked.contains(&at));
                let underline = if is_marked { Stroke::new(1.5, theme::ERROR) } else { Stroke::NONE };
                let colour = if is_marked { theme::ERROR } else { colour };
                append(&mut job, c, TextFormat { underline, ..TextFormat::simple(font.clone(), colour) });
                at += 1;
            }
        }
    }
    ui.fonts_mut(|fonts| fonts.layout_job(job))
}

/// Adds a letter to the last piece, where that looks alike.
fn append(job: &mut LayoutJob, c: char, format: TextFormat) {
    let mut letter = [0; 4];
    let letter = c.encode_utf8(&mut letter);
    match job.sections.last_mut().filter(|last| last.format == format) {
        Some(last) => {
            job.text.push_str(letter);
            last.byte_range.end += letter.len();
        }
        None => job.append(letter, 0.0, format),
    }
}

/// A line of code in pieces of one colour.
fn pieces(line: &str) -> Vec<(&str, egui::Color32)> {
    let mut all = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (length, colour) = if rest.starts_with("//") {
            (rest.len(), theme::QUIET)
        } else if first == '"' {
            let end = rest[1..].char_indices().scan(false, |escaped, (at, c)| {
                let closes = c == '"' && !*escaped;
                *escaped = c == '\\' && !*escaped;
                Some((at, closes))
            });
            let end = end.into_iter().find(|(_, closes)| *closes).map_or(rest.len(), |(at, _)| at + 2);
            (end, theme::OUTGOING)
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let colour = match &rest[..end] {
                word if KEYWORDS.contains(&word) => theme::INCOMING,
                word if word.starts_with(|c: char| c.is_ascii_digit()) => theme::WARNING,
                _ => theme::TEXT,
            };
            (end, colour)
        } else {
            (first.len_utf8(), theme::TEXT)
        };
        all.push((&rest[..length], colour));
        rest = &rest[length..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_coloured_piece_by_piece() {
        for line in ["", "if o.size > 10 { \"a \\\" b\" } // why \"x", "\"never closed", "größe += 1\n", "#{\"a\": 1}"]
        {
            assert_eq!(pieces(line).into_iter().map(|(piece, _)| piece).collect::<String>(), line);
        }
        let colours: Vec<_> = pieces("if \"x\" 12 //").into_iter().map(|(_, colour)| colour).collect();
        for colour in [theme::INCOMING, theme::OUTGOING, theme::WARNING, theme::QUIET] {
            assert!(colours.contains(&colour));
        }
    }
}
