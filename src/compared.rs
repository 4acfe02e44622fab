//! A comparison ready to be shown: of two runs, or of two times of one, as trees with two points in time and sentences about them.
//! Windows and pages show the same one. The engine counts; this module adds no numbers, so both have those of the command line.

use memory_city_analysis::analyses::compare::{AlignedRuns, ComparedRuns, GrowthOutcome, compare};
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::tabular::ResultTable;
use memory_city_analysis::timeline::{AUTO, Question, Source, fates, title_of};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The second side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, tag = "with")]
pub enum CompareWish {
    /// Compares the open input, the first run, with another one.
    Run {
        /// The second run.
        data: Vec<PathBuf>,
        /// Alignment: a value of the parameter `align` of the command `compare`.
        #[serde(default = "auto")]
        align: String,
        /// How far from the start; 0 for as far as the shorter run goes.
        #[serde(default)]
        at: u64,
    },
    /// Two points in time of the open input, counted from 1.
    Times {
        /// The one that is compared with.
        from: usize,
        /// The other.
        to: usize,
    },
}

fn auto() -> String {
    AUTO.to_owned()
}

impl CompareWish {
    /// Resolves the data's paths, which a view file gives relative to its own folder. Returns false if it needs data and has none.
    pub fn from_folder(&mut self, folder: &Path) -> bool {
        match self {
            CompareWish::Run { data, .. } => {
                data.iter_mut().for_each(|path| *path = folder.join(&*path));
                !data.is_empty()
            }
            CompareWish::Times { .. } => true,
        }
    }
}

/// A comparison that was made.
pub struct MadeComparison {
    /// Its trees: two points in time, the first being the base.
    pub trees: Source,
    /// Title of both together.
    pub title: String,
    /// Sentences about the comparison.
    pub told: ComparisonTold,
}

/// Sentences and results of a comparison.
pub struct ComparisonTold {
    /// The second run: its name and trees.
    pub second: Option<(String, Arc<Source>)>,
    /// The aligned places of both runs.
    pub aligned: Option<AlignedRuns>,
    /// Outcome for the growth of the first run.
    pub outcome: Option<GrowthOutcome>,
    /// The result in a sentence.
    pub sentence: String,
    /// Further sentences.
    pub said: Vec<String>,
    /// The key of the group that the sentence is about.
    pub group: Option<String>,
    /// All groups that differ.
    pub table: ResultTable,
}

/// More rows than any tree has groups.
const ALL_ROWS: &str = "4000000000";

impl MadeComparison {
    /// Heading of the result.
    pub fn title_text(&self) -> &'static str {
        title_text(self.told.second.is_some())
    }

    /// Compares a source, with its title and its question, as requested by the wish. `second` is the second run, if it was read before.
    ///
    /// # Errors
    /// When the second run cannot be read or aligned, the times are not there, or the work was cancelled.
    pub fn of(
        (title, first): (&str, &Source),
        wish: &CompareWish,
        second: Option<(String, Arc<Source>)>,
        (question, options): (&Question, GroupOptions),
        progress: &Progress,
    ) -> Result<MadeComparison> {
        match wish {
            CompareWish::Run { data, align, at } => {
                let second = match second {
                    Some(second) => second,
                    None => {
                        let question = question.as_answered(first)?;
                        (title_of(data), Arc::new(Source::open(data, &question, options, progress)?))
                    }
                };
                let at = at.to_string();
                let given = [("align", align.as_str()), ("at", at.as_str()), ("top", ALL_ROWS)];
                progress.begin("Comparing", 0);
                let ComparedRuns { report, trees, aligned, outcome } = compare([first, &second.1], given, progress)?;
                let part = report.parts.into_iter().next();
                let findings = part.map(|part| part.findings).unwrap_or_default();
                Ok(MadeComparison {
                    trees,
                    title: format!("{title} and {}", second.0),
                    told: ComparisonTold {
                        second: Some(second),
                        aligned: Some(aligned),
                        outcome: Some(outcome.outcome),
                        sentence: outcome.text,
                        said: findings.answers.into_iter().skip(1).chain(findings.notes).collect(),
                        group: outcome.group,
                        table: findings.tables.into_iter().find(|table| table.header.id == "alive").unwrap_or_default(),
                    },
                })
            }
            CompareWish::Times { from, to } => {
                let trees = fates(first, Some((*from, *to)), progress)?;
                let analysis = AnalysisRegistry::built_in().get("difference")?;
                let (base, time) = (from.to_string(), to.to_string());
                let given = [("by", "group"), ("base", &*base), ("time", &*time), ("top", ALL_ROWS)];
                let arguments = Arguments::parse(&analysis.describe(), given)?;
                let window = TimeWindow::whole(first.timeline());
                let findings = analyses::run(&*analysis, first, window, &arguments, progress)?;
                let mut said = findings.answers.into_iter();
                Ok(MadeComparison {
                    trees,
                    title: format!("{title}: {from} to {to}"),
                    told: ComparisonTold {
                        second: None,
                        aligned: None,
                        outcome: None,
                        sentence: said.next().unwrap_or_default(),
                        said: said.chain(findings.notes).collect(),
                        group: None,
                        table: findings.tables.into_iter().next().unwrap_or_default(),
                    },
                })
            }
        }
    }
}

/// Heading of the result of a comparison: of two runs, or of two times of one.
pub fn title_text(of_runs: bool) -> &'static str {
    if of_runs { "COMPARISON" } else { "DIFFERENCE" }
}

/// Names of both sides, in a few words: of two runs, or of two times of one.
pub fn names(wish: &CompareWish, (title, first): (&str, &Source), second: Option<&str>) -> [String; 2] {
    match wish {
        CompareWish::Times { from, to } => {
            let points = first.timeline().points();
            let name = |k: usize| match points.get(k.saturating_sub(1)).map(|point| point.label.as_str()) {
                Some(label) if !label.is_empty() => format!("{k}: {label}"),
                _ => k.to_string(),
            };
            [name(*from), name(*to)]
        }
        CompareWish::Run { .. } => [title.to_owned(), second.unwrap_or_default().to_owned()],
    }
}
