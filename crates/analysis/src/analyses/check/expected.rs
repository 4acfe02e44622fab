//! Leaks that a person has looked at and lets pass, each with the reason.

use super::super::report::Report;
use super::super::{Finding, VerdictKind};
use super::{CheckFinding, CheckReport};
use crate::tabular::bytes_text;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::regular;
use std::path::Path;

/// Most bytes of a file of them.
const MOST: u64 = 1 << 20;

/// A leak that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedLeak {
    /// Its name, as a [`Finding`] has it as its signature: `Cache.regions["eu"] (HashMap)`.
    pub name: String,
    /// Why it is no defect.
    pub reason: String,
}

impl ExpectedLeak {
    /// Reads a file with a line for each: the name, a colon and a blank, the reason. Empty lines and those that begin with `# ` are left out.
    ///
    /// # Errors
    /// When it cannot be read, or a line has no reason.
    pub fn read(path: &Path) -> Result<Vec<ExpectedLeak>> {
        let bytes = regular::read(path, MOST).map_err(|error| Error::io(path, error))?;
        ExpectedLeak::parse(&String::from_utf8_lossy(&bytes)).map_err(|line| Error::Unusable {
            what: format!("{}: line {line} is no expected leak", path.display()),
            remedy: "Write the name that `check` prints, a colon, and the reason: `Cache.entries (HashMap): bounded by 10,000`"
                .into(),
        })
    }

    /// The number of the first line that has no reason is the error.
    fn parse(text: &str) -> std::result::Result<Vec<ExpectedLeak>, usize> {
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).zip(1usize..);
        let lines = lines.filter(|(line, _)| !line.is_empty() && *line != "#" && !line.starts_with("# "));
        lines
            .map(|(line, number)| {
                let (name, reason) = split(line).ok_or(number)?;
                Ok(ExpectedLeak { name: name.to_owned(), reason: reason.to_owned() })
            })
            .collect()
    }

    /// Whether a finding is this leak. The type of its collection may be another one than it was.
    pub fn is(&self, finding: &Finding) -> bool {
        !finding.signature.is_empty() && without_type(&self.name) == without_type(&finding.signature)
    }
}

/// The growth that no expected leak explains fails where it is at least one in this many of the heap at first.
const REST: u64 = 10;

impl CheckReport {
    /// Lets expected leaks pass. The verdict is about the rest.
    pub(super) fn expect(&mut self, found: &Report, all: &[ExpectedLeak]) {
        let is_expected = |finding: &Finding| all.iter().any(|leak| leak.is(finding));
        for (finding, check) in found.findings().zip(&mut self.checks) {
            if let Some(leak) = all.iter().find(|leak| leak.is(finding)) {
                check.passed = true;
                check.title = check.title.replacen(": ", ", as expected: ", 1);
                check.details.insert(0, reason(leak));
            }
        }
        let Some(verdict) = &mut self.verdict else { return };
        let left_out = found.parts.iter().filter_map(|part| part.findings.tables.first()?.left_out.as_ref());
        let is_whole = verdict.kind != VerdictKind::Unknown && left_out.map(|(more, _)| more).sum::<u64>() == 0;
        let is_missing = |leak: &&ExpectedLeak| is_whole && !found.findings().any(|finding| leak.is(finding));
        self.checks.extend(all.iter().filter(is_missing).map(|leak| CheckFinding {
            id: "expected",
            title: format!("Expected, and does not accumulate: {}", leak.name),
            passed: true,
            message: reason(leak),
            details: Vec::new(),
            bytes: None,
        }));
        if found.findings().next().is_none() {
            return;
        }
        let Some(finding) = found.findings().find(|finding| !is_expected(finding)) else {
            let (first, last) = verdict.heap;
            let rest = last.saturating_sub(first).saturating_sub(verdict.explained);
            if rest > 0 && rest.saturating_mul(REST) >= first {
                self.checks.push(CheckFinding {
                    id: "accumulation",
                    title: "The heap grows beyond what is expected".into(),
                    passed: false,
                    message: format!("{} of its growth is in no expected place.", bytes_text(rest)),
                    details: Vec::new(),
                    bytes: i64::try_from(rest).ok(),
                });
            }
            let failed = self.checks.iter().find(|check| !check.passed);
            (verdict.kind, verdict.headline) = match failed {
                Some(check) => (VerdictKind::Grows, check.message.trim_end_matches('.').to_owned()),
                None => (VerdictKind::Ok, "Nothing accumulates but what is expected".to_owned()),
            };
            return;
        };
        verdict.kind = VerdictKind::of(finding.certainty);
        verdict.headline.clone_from(&finding.headline);
    }
}

fn reason(leak: &ExpectedLeak) -> String {
    format!("Expected: {}.", leak.reason.trim_end_matches('.'))
}

/// The name and the reason of a line. The first colon and blank outside quotes and parentheses part them; without one, the first of all.
fn split(line: &str) -> Option<(&str, &str)> {
    let parts = |at: usize| {
        let (name, reason) = (line[..at].trim_end(), line[at + 1..].trim());
        Some((name, reason)).filter(|_| !name.is_empty() && !reason.is_empty())
    };
    end_of_name(line).or_else(|| line.find(": ")).and_then(parts)
}

fn end_of_name(line: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped, mut depth) = (false, false, 0usize);
    for (at, c) in line.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match c {
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '(' | '[' if !is_quoted => depth += 1,
            ')' | ']' if !is_quoted => depth = depth.saturating_sub(1),
            ':' if !is_quoted && depth == 0 && line[at + 1..].starts_with(' ') => return Some(at),
            _ => {}
        }
    }
    None
}

fn without_type(name: &str) -> &str {
    name.strip_suffix(')').and_then(|name| name.rsplit_once(" (")).map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_name_and_a_reason() {
        let parsed = |text: &str| {
            let all = ExpectedLeak::parse(text)?;
            Ok(all.into_iter().map(|leak| (leak.name, leak.reason)).collect::<Vec<_>>())
        };
        let one = |name: &str, reason: &str| Ok(vec![(name.to_owned(), reason.to_owned())]);
        for (text, expected) in [
            ("", Ok(Vec::new())),
            ("# known\n\n#\n", Ok(Vec::new())),
            ("Shop.orders (ArrayList): by design", one("Shop.orders (ArrayList)", "by design")),
            ("  Shop.orders:  ticket 12: later \n", one("Shop.orders", "ticket 12: later")),
            ("#'shop/state (PersistentVector): a log", one("#'shop/state (PersistentVector)", "a log")),
            ("Cache.regions[\"a: b\"] (HashMap): full", one("Cache.regions[\"a: b\"] (HashMap)", "full")),
            ("thread \"http: 8080\": pool", one("thread \"http: 8080\"", "pool")),
            ("Cache.regions[\"5\\\" disk\"] (HashMap): full", one("Cache.regions[\"5\\\" disk\"] (HashMap)", "full")),
            ("thread \"http (ends): pool", one("thread \"http (ends)", "pool")),
            ("\u{feff}Shop.orders: a", one("Shop.orders", "a")),
            ("Shop.orders", Err(1)),
            ("A.b: c\nShop.orders:", Err(2)),
            (": reason", Err(1)),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn a_leak_is_known_by_its_name_whatever_its_type() {
        let named = |signature: &str| Finding { signature: signature.to_owned(), ..Finding::default() };
        let expected = |name: &str| ExpectedLeak { name: name.to_owned(), reason: "r".to_owned() };
        for (name, signature, is) in [
            ("Shop.orders (ArrayList)", "Shop.orders (ArrayList)", true),
            ("Shop.orders", "Shop.orders (LinkedList)", true),
            ("Shop.orders (ArrayList)", "Shop.orders", true),
            ("Shop.orders", "Shop.ordersByDay (HashMap)", false),
            ("Shop", "", false),
        ] {
            assert_eq!(expected(name).is(&named(signature)), is, "{name} {signature}");
        }
    }
}
