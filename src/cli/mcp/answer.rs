//! A text answer within its bound: what was found, how exact it is, and the next call.

use memory_city_analysis::timeline::Source;

/// Bytes of an answer, unless a call asks for another bound.
pub(super) const USUAL: usize = 4_000;
/// Least and most bytes that a call may ask for.
pub(super) const LEAST: usize = 1_000;
pub(super) const MOST: usize = 200_000;

/// The parts of an answer.
pub(super) struct ToolAnswer<'a> {
    /// Its subject: the input and its points in time.
    pub(super) head: String,
    /// What was found, in lines.
    pub(super) body: String,
    /// The input whose exactness is named.
    pub(super) source: Option<&'a Source>,
    /// The next useful calls, the best first.
    pub(super) next: Vec<String>,
}

impl ToolAnswer<'_> {
    /// The text, at most `limit` bytes. The body is cut at a line, which says how many more there are; head and tail stay.
    pub(super) fn text(&self, limit: usize) -> String {
        let exact = self.source.map(|source| format!("exact: {}\n", exactness(source)));
        let next: String = self.next.iter().map(|next| format!("next: {next}\n")).collect();
        let tail = format!("\n{}{next}", exact.unwrap_or_default());
        let room = limit.saturating_sub(self.head.len() + tail.len() + NOTICE);
        let (mut body, mut left) = (String::new(), 0);
        // The command line lists all rows by an option, a call by an argument.
        let lines = self.body.lines().map(|line| narrow(line).replace("(--all lists them)", "(rows=... lists them)"));
        for line in lines {
            if left > 0 || body.len() + line.len() >= room {
                left += 1;
                continue;
            }
            body.push_str(&line);
            body.push('\n');
        }
        if left > 0 {
            body.push_str(&format!("... {left} more lines: ask for fewer rows, or for a larger limit (bytes)\n"));
        }
        format!("{}\n{body}{tail}", self.head)
    }
}

/// Room for the notice that lines were left out, bytes.
const NOTICE: usize = 100;

/// A line of a table without the blanks that align its columns: two stand between any two.
fn narrow(line: &str) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let cells: Vec<&str> =
        line.split("  ").map(|cell| cell.trim_matches(' ')).filter(|cell| !cell.is_empty()).collect();
    format!("{}{}", " ".repeat(indent.min(MOST_INDENT)), cells.join("  "))
}

/// Blanks before a line: deeper steps of a path keep their place up to here.
const MOST_INDENT: usize = 24;

/// How exact the numbers of an input are, and what it cannot say.
fn exactness(source: &Source) -> &'static str {
    match source {
        Source::Heaps(_) if source.has_samples() => {
            "objects are counted at each walk; allocation sites and ages are estimates from samples"
        }
        Source::Heaps(heaps) if heaps.is_recorded() => {
            "counts are of every object at these times; `analyses` says what this recording does not tell"
        }
        Source::Heaps(_) => {
            "counts are of every object in the dumps; dumps do not tell which line allocated an object, nor what died between them"
        }
        Source::Counts(_) => {
            "counts by class or estimates from samples; there are no references, so who keeps objects is not known"
        }
        Source::Trees(_) => "as exact as the program that wrote these trees; single objects are not known",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_its_bound_and_its_end() {
        let body: String = (0..500).map(|n| format!("     {n}   a cell          another\n")).collect();
        let answer = ToolAnswer { head: "d1".to_owned(), body, source: None, next: vec!["analyses".to_owned()] };
        for limit in [LEAST, USUAL] {
            let text = answer.text(limit);
            assert!(text.len() <= limit && text.len() > limit - 200, "{} of {limit}", text.len());
            assert!(
                text.starts_with("d1\n     0  a cell  another\n") && text.ends_with("\n\nnext: analyses\n"),
                "{text}"
            );
            assert!(text.contains(" more lines"), "{text}");
        }
        assert!(!answer.text(MOST).contains("more lines"));
    }
}
