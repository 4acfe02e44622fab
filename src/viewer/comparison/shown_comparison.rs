//! A comparison as a document: the compared runs or times (`compared`), with the open run and the way back to it.

use crate::compared::{self, ComparisonTold, MadeComparison};
use crate::viewer::document::{Arrival, Draft, Preparations};
use crate::viewer::settings::Settings;
use memory_city_analysis::timeline::{Source, title_of};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::path::PathBuf;
use std::sync::Arc;

pub use crate::compared::CompareWish;

/// The run that is open, and the way back to it.
#[derive(Clone)]
pub struct FirstRun {
    /// The name of its document.
    pub title: String,
    /// Its trees and its other data.
    pub source: Arc<Source>,
    /// The settings its trees were grouped with.
    pub made_with: Settings,
}

/// A comparison that is shown.
pub struct ShownComparison {
    /// The request.
    pub wish: CompareWish,
    /// The first run, or the one whose times are compared.
    pub first: FirstRun,
    /// Results and sentences.
    pub told: ComparisonTold,
}

/// The name under which a document says that it is a comparison.
pub(super) const ID: &str = "comparison";

impl ShownComparison {
    /// Names of both sides, in a few words.
    pub fn names(&self) -> [String; 2] {
        let second = self.told.second.as_ref().map(|(name, _)| &**name);
        compared::names(&self.wish, (&self.first.title, &self.first.source), second)
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
    let grouped = (&made_with.question()?, made_with.group_options());
    let made = MadeComparison::of((&first.title, &first.source), &wish, second, grouped, progress)?;
    let MadeComparison { trees, title, told } = made;
    let shown = ShownComparison { wish, first, told };
    progress.begin("Preparing the views", 0);
    let mut draft = Draft::new(title, Arc::new(trees), None, &made_with, preparations, arrival);
    draft.prepared.put(ID, Arc::new(shown));
    Ok(draft)
}

/// Opens an input and compares it, for who has no window (yet).
///
/// # Errors
/// Errors of [`Source::open`], and of [`draft`].
pub fn open(
    paths: &[PathBuf],
    wish: &CompareWish,
    settings: &Settings,
    preparations: &Preparations,
    progress: &Progress,
) -> Result<Draft> {
    let source = Source::open(paths, &settings.question()?, settings.group_options(), progress)?;
    let first = FirstRun { title: title_of(paths), source: Arc::new(source), made_with: settings.clone() };
    draft(first, wish.clone(), None, preparations, Arrival::Anew, progress)
}
