//! What a comparison is made of and what it says: the engine's comparison of two runs, or its difference of two times. Nothing is counted
//! here, so that a window shows the numbers that the command line prints.

use crate::opening;
use crate::viewer::document::{Arrival, Draft, Preparations};
use crate::viewer::settings::Settings;
use memory_city_analysis::analyses::compare::{AlignedRuns, ComparedRuns, GrowthOutcome, compare};
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, TimeWindow};
use memory_city_analysis::tabular::ResultTable;
use memory_city_analysis::timeline::{AUTO, Source, fates, title_of};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// What is to be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, tag = "with")]
pub enum CompareWish {
    /// What is open is the first run, another input the second.
    Run {
        /// The second run.
        data: Vec<PathBuf>,
        /// What they are aligned by: a word of the parameter `align` of the command `compare`.
        #[serde(default = "auto")]
        align: String,
        /// How far from the start; 0 for as far as the shorter run goes.
        #[serde(default)]
        at: u64,
    },
    /// Two points in time of what is open, counted from 1.
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

/// The run that is open, and the way back to it.
#[derive(Clone)]
pub struct FirstRun {
    /// The name of its document.
    pub title: String,
    /// Its trees, and what else it offers.
    pub source: Arc<Source>,
    /// The settings its trees were grouped with.
    pub made_with: Settings,
}

/// A comparison that is shown.
pub struct ShownComparison {
    /// What was asked for.
    pub wish: CompareWish,
    /// The first run, or the one whose times are compared.
    pub first: FirstRun,
    /// The second run: its name and trees.
    pub second: Option<(String, Arc<Source>)>,
    /// Where both are compared.
    pub aligned: Option<AlignedRuns>,
    /// What became of the growth of the first run.
    pub outcome: Option<GrowthOutcome>,
    /// What it comes to, in a sentence.
    pub sentence: String,
    /// What else is said.
    pub said: Vec<String>,
    /// The key of the group that the sentence is about.
    pub group: Option<String>,
    /// All groups that differ.
    pub table: Arc<ResultTable>,
}

/// The name under which a document says that it is a comparison.
pub(super) const ID: &str = "comparison";

/// More rows than any tree has groups.
const ALL_ROWS: &str = "4000000000";

impl ShownComparison {
    /// What is compared with what, in a few words.
    pub fn names(&self) -> [String; 2] {
        match (&self.wish, &self.second) {
            (CompareWish::Times { from, to }, _) => {
                let points = self.first.source.timeline().points();
                let name = |k: usize| match points.get(k.saturating_sub(1)).map(|point| point.label.as_str()) {
                    Some(label) if !label.is_empty() => format!("{k}: {label}"),
                    _ => k.to_string(),
                };
                [name(*from), name(*to)]
            }
            (_, second) => {
                [self.first.title.clone(), second.as_ref().map(|(name, _)| name.clone()).unwrap_or_default()]
            }
        }
    }
}

/// Makes a comparison, as a document that knows it is one. `second` is the second run, where it was read before.
///
/// # Errors
/// When the second run cannot be read or aligned, the times are not there, or the work was cancelled.
pub fn draft(
    first: FirstRun,
    wish: CompareWish,
    second: Option<(String, Arc<Source>)>,
    preparations: &Preparations,
    arrival: Arrival,
    progress: &Progress,
) -> Result<Draft> {
    let made_with = first.made_with.clone();
    let (shown, trees, title) = match &wish {
        CompareWish::Run { data, align, at } => {
            let second = match second {
                Some(second) => second,
                None => {
                    let grouping = match first.source.heaps() {
                        Some(heaps) => heaps.grouping().id.clone(),
                        None => made_with.grouping.clone(),
                    };
                    let source = opening::open(data, &grouping, made_with.group_options(), progress)?;
                    (title_of(data), Arc::new(source))
                }
            };
            let at = at.to_string();
            let given = [("align", align.as_str()), ("at", at.as_str()), ("top", ALL_ROWS)];
            progress.begin("Comparing", 0);
            let ComparedRuns { report, trees, aligned, outcome } =
                compare([&first.source, &second.1], given, progress)?;
            let part = report.parts.into_iter().next();
            let findings = part.map(|part| part.findings).unwrap_or_default();
            let table = findings.tables.into_iter().find(|table| table.header.id == "alive").unwrap_or_default();
            let title = format!("{} and {}", first.title, second.0);
            let shown = ShownComparison {
                wish: wish.clone(),
                first,
                second: Some(second),
                aligned: Some(aligned),
                outcome: Some(outcome.outcome),
                sentence: outcome.text,
                said: findings.answers.into_iter().skip(1).chain(findings.notes).collect(),
                group: outcome.group,
                table: Arc::new(table),
            };
            (shown, trees, title)
        }
        CompareWish::Times { from, to } => {
            let trees = fates(&first.source, Some((*from, *to)), progress)?;
            let analysis = AnalysisRegistry::built_in().get("difference")?;
            let (base, time) = (from.to_string(), to.to_string());
            let given = [("by", "group"), ("base", &*base), ("time", &*time), ("top", ALL_ROWS)];
            let arguments = Arguments::parse(&analysis.describe(), given)?;
            let window = TimeWindow::whole(first.source.timeline());
            let findings = analyses::run(&*analysis, &first.source, window, &arguments, progress)?;
            let mut said = findings.answers.into_iter();
            let title = format!("{}: {from} to {to}", first.title);
            let shown = ShownComparison {
                wish: wish.clone(),
                second: None,
                aligned: None,
                outcome: None,
                sentence: said.next().unwrap_or_default(),
                said: said.chain(findings.notes).collect(),
                group: None,
                table: Arc::new(findings.tables.into_iter().next().unwrap_or_default()),
                first,
            };
            (shown, trees, title)
        }
    };
    progress.begin("Preparing the views", 0);
    let mut draft = Draft::new(title, Arc::new(trees), None, &made_with, preparations, arrival);
    draft.prepared.put(ID, Arc::new(shown));
    Ok(draft)
}

/// Opens an input and compares it, for who has no window (yet).
///
/// # Errors
/// Those of [`Source::open`], and of [`draft`].
pub fn open(
    paths: &[PathBuf],
    wish: &CompareWish,
    settings: &Settings,
    preparations: &Preparations,
    progress: &Progress,
) -> Result<Draft> {
    let source = opening::open(paths, &settings.grouping, settings.group_options(), progress)?;
    let first = FirstRun { title: title_of(paths), source: Arc::new(source), made_with: settings.clone() };
    draft(first, wish.clone(), None, preparations, Arrival::Anew, progress)
}
