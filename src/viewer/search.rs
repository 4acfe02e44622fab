//! The search: for the text typed into the palette while it is open, otherwise for the filter that all views share. A job finds the
//! groups, at the shown time; the city lights them, the palette lists them.

use super::clock::Clock;
use super::document::{Closed, Document, Grew, Opened};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::panels::numbers::amounts;
use super::selection::SharedFilter;
use super::settings::Settings;
use bevy::prelude::*;
use memory_city_analysis::analyses::TimeWindow;
use memory_city_analysis::table::{Arrangement, Filter, TableShape, TreeTable};
use memory_city_analysis::tabular::{count_text, several};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_views::city::{Lit, lit};
use std::sync::Arc;

/// Most listed results; all are lit and counted.
pub const MOST_LISTED: usize = 200;

/// The search text, and its results.
#[derive(Debug)]
pub struct SearchFound {
    /// The text.
    pub text: String,
    /// Groups that it holds for, those with most first, at most [`MOST_LISTED`].
    pub nodes: Vec<NodeId>,
    /// How many it holds for.
    pub matched: u64,
    /// How many of them are no buildings: groups of groups.
    pub districts: u64,
    /// The lit groups.
    pub lit: Lit,
}

impl SearchFound {
    /// The number of results, in words: listed ones, and buildings lit for them. A package lights its classes; both may be found.
    pub fn counts(&self, timeline: &Timeline, time: usize) -> String {
        let lit = &self.lit;
        let all = timeline.amount(time.min(timeline.times().saturating_sub(1)), NodeId::ROOT).bytes.max(1);
        let share = 100.0 * lit.amount.bytes as f64 / all as f64;
        let lights = format!("{} of {} buildings lit", count_text(lit.groups), count_text(lit.of));
        // A district is found as well, and is no building: without its kind it was missing in the second sum.
        let buildings = self.matched - self.districts;
        let found = match (buildings, self.districts) {
            (n, 0) => count_text(n),
            (0, n) => several(n, "district", "districts"),
            (n, m) => format!("{} and {}", several(n, "building", "buildings"), several(m, "district", "districts")),
        };
        format!("{found} found  ·  {lights}  ·  {}  ·  {share:.1} % of the bytes", amounts(lit.amount))
    }
}

/// Input of the rows: time and metric.
type Of = (usize, Metric);
/// The error of a text: the place, and expected words.
pub type WrongText = (String, String);
type Made = (Arc<TreeTable>, std::result::Result<SearchFound, WrongText>);

/// A running search, with its input.
type SearchJob = ((Of, String), Job<Result<Made>>);

/// The search and its results.
#[derive(Resource, Default)]
pub struct GroupSearch {
    /// Text being typed; `None` while the palette is closed.
    pub typed: Option<String>,
    table: Option<(Of, Arc<TreeTable>)>,
    done: Option<(Of, String)>,
    job: Option<SearchJob>,
    found: Option<Arc<SearchFound>>,
    /// Why the text cannot be read.
    pub wrong: Option<WrongText>,
    version: u64,
}

impl GroupSearch {
    /// The last results, while there is a search.
    pub fn found(&self) -> Option<&Arc<SearchFound>> {
        self.found.as_ref()
    }

    /// Whether a group, or one around it, is a result; true for all without a search. While a search runs, the earlier results count.
    pub fn shows(&self, node: NodeId) -> bool {
        self.found().is_none_or(|found| found.lit.shares.contains_key(&node))
    }

    /// Differs whenever something else is lit; 0 while nothing is.
    pub fn version(&self) -> u64 {
        if self.found.is_some() { self.version } else { 0 }
    }

    /// Whether the search for a text has ended, or there is none to be made.
    pub fn has_answered(&self, text: &str) -> bool {
        text.trim().is_empty() || self.done.as_ref().is_some_and(|(_, searched)| searched == text)
    }

    /// Whether it is still being looked for.
    pub fn busy(&self) -> bool {
        self.job.is_some()
    }

    fn forget(&mut self) {
        let (typed, version) = (self.typed.take(), self.version + 1);
        *self = GroupSearch { typed, version, ..GroupSearch::default() };
    }

    /// Searches at once: for pictures.
    ///
    /// # Errors
    /// When the text cannot be read; says where.
    pub fn preset(
        &mut self,
        timeline: &Arc<Timeline>,
        time: usize,
        metric: Metric,
        text: &str,
    ) -> std::result::Result<(), String> {
        self.forget();
        if text.trim().is_empty() {
            return Ok(());
        }
        match find(timeline, (time, metric), None, text, &Progress::new()) {
            Ok((_, Ok(found))) => {
                self.found = Some(Arc::new(found));
                Ok(())
            }
            Ok((_, Err((place, what)))) => Err(format!("{what}\n{place}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The filter of a text: an expression if it has an operator, otherwise a part of names, or a glob.
///
/// # Errors
/// When it looks like an expression and is none.
pub fn read_filter(table: &TreeTable, text: &str) -> std::result::Result<Option<Filter>, WrongText> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    match table.filter(text) {
        Ok(filter) => Ok(Some(filter)),
        Err(_) if !SharedFilter::is_expression(text) => Ok(Some(Filter::name_contains(text))),
        Err(error) => Err((error.pointing(text), error.message)),
    }
}

fn find(
    timeline: &Arc<Timeline>,
    of: Of,
    at_hand: Option<Arc<TreeTable>>,
    text: &str,
    progress: &Progress,
) -> Result<Made> {
    let (time, metric) = of;
    let window = TimeWindow { from: 0, to: time.min(timeline.times().saturating_sub(1)) };
    let table = match at_hand {
        Some(table) => table,
        None => Arc::new(TreeTable::new(Arc::clone(timeline), Some(window), metric, progress)?),
    };
    let filter = match read_filter(&table, text) {
        Ok(filter) => filter,
        Err(wrong) => return Ok((table, Err(wrong))),
    };
    let shape = TableShape::Nodes;
    let view = table.rebuild(&Arrangement { filter, shape, ..Arrangement::default() }, progress)?;
    // The sum of a package says nothing about its classes; its name does.
    let lit = lit(timeline, window.to, &view.rows, !SharedFilter::is_expression(text.trim()));
    let mut nodes = view.rows;
    nodes.retain(|&node| node != NodeId::ROOT);
    nodes.sort_by_key(|&node| (std::cmp::Reverse(timeline.value(window.to, node, metric)), node));
    let matched = nodes.len() as u64;
    let districts = nodes.iter().filter(|&&node| !timeline.is_leaf(node)).count() as u64;
    nodes.truncate(MOST_LISTED);
    Ok((table, Ok(SearchFound { text: text.to_owned(), nodes, matched, districts, lit })))
}

fn follow(
    mut search: ResMut<GroupSearch>,
    document: Res<Document>,
    (clock, settings, filter): (Res<Clock>, Res<Settings>, Res<SharedFilter>),
    mut awake: ResMut<Awake>,
) {
    let search = &mut *search;
    let Some(timeline) = document.timeline() else { return };
    let typed = search.typed.as_ref().filter(|typed| !typed.trim().is_empty());
    let text = typed.unwrap_or(&filter.0).clone();
    if text.trim().is_empty() {
        (search.done, search.job, search.wrong) = (None, None, None);
        if search.found.take().is_some() {
            search.version += 1;
            tracing::debug!("search: nothing");
            awake.keep_if(true);
        }
        return;
    }
    let of = (clock.time, settings.metric_in(timeline));
    let wanted = (of, text);
    if search.job.as_ref().is_some_and(|(aim, _)| *aim != wanted) {
        search.job = None;
    }
    if let Some(outcome) = search.job.as_ref().and_then(|(_, job)| job.poll()) {
        search.job = None;
        search.done = Some(wanted.clone());
        // What was cancelled, or has failed, leaves what was there.
        if let Ok(Ok((table, found))) = outcome {
            search.table = Some((of, table));
            match found {
                Ok(found) => {
                    let Lit { groups, of, .. } = found.lit;
                    tracing::debug!("search: {}: {} match, {groups} of {of} lit", found.text, found.matched);
                    (search.found, search.wrong) = (Some(Arc::new(found)), None);
                    search.version += 1;
                }
                Err(wrong) => {
                    tracing::debug!("search: {}: {}", wanted.1, wrong.1);
                    search.wrong = Some(wrong);
                }
            }
        }
    }
    if search.job.is_none() && search.done.as_ref() != Some(&wanted) {
        let at_hand = search.table.as_ref().filter(|(had, _)| *had == of).map(|(_, table)| Arc::clone(table));
        let (timeline, text) = (Arc::clone(timeline), wanted.1.clone());
        let job = Job::behind_frames(move |progress| find(&timeline, of, at_hand, &text, progress));
        search.job = Some((wanted, job));
    }
    awake.wait_if(search.busy());
}

/// The search for groups.
pub struct SearchPlugin;

impl Plugin for SearchPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<GroupSearch>()
            .add_observer(|_: On<Opened>, mut search: ResMut<GroupSearch>| search.forget())
            .add_observer(|_: On<Grew>, mut search: ResMut<GroupSearch>| search.forget())
            .add_observer(|_: On<Closed>, mut search: ResMut<GroupSearch>| search.forget())
            .add_systems(Update, follow.in_set(Stage::Derive));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::{Amount, TimePoint};

    fn timeline() -> Arc<Timeline> {
        let mut tree = MemoryTree::new();
        let (package, class) = (Arc::from("Package"), Arc::from("Type"));
        let mut sum = 0;
        for (p, classes) in [
            ("java.util", ["java.util.HashMap", "java.util.HashMap$Node"]),
            ("com.acme", ["com.acme.Map", "com.acme.Cart"]),
        ] {
            let node = tree.child(0, &package, &Arc::from(p));
            for (i, name) in classes.into_iter().enumerate() {
                let leaf = tree.child(node, &class, &Arc::from(name));
                let amount = Amount { objects: 10, bytes: 1000 * (i as u64 + 1) };
                tree.add(leaf, amount);
                tree.add(node, amount);
                sum += amount.bytes;
            }
        }
        tree.add(0, Amount { objects: 40, bytes: sum });
        Arc::new(Timeline::from_trees(vec![TimePoint::default()], &[tree]))
    }

    fn found(text: &str) -> (Vec<String>, u64) {
        let timeline = timeline();
        let mut search = GroupSearch::default();
        search.preset(&timeline, 0, Metric::Bytes, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let found = search.found().expect("found");
        (found.nodes.iter().map(|&n| timeline.name(n).to_owned()).collect(), found.lit.groups)
    }

    #[test]
    fn what_is_counted_is_what_is_listed() {
        let timeline = timeline();
        // A package whose name is looked for is found itself, and lights its classes whether these are found or not.
        for (text, listed, counts) in [
            ("com.acme", 3, "2 buildings and 1 district found  ·  2 of 4 buildings lit  ·  "),
            ("hashmap", 2, "2 found  ·  2 of 4 buildings lit  ·  "),
            ("role = \"Package\"", 2, "2 districts found  ·  0 of 4 buildings lit  ·  "),
            ("nothing like it", 0, "0 found  ·  0 of 4 buildings lit  ·  "),
        ] {
            let mut search = GroupSearch::default();
            search.preset(&timeline, 0, Metric::Bytes, text).unwrap_or_else(|e| panic!("{text}: {e}"));
            let found = search.found().expect("found");
            assert_eq!((found.nodes.len(), found.matched), (listed, listed as u64), "{text}");
            let said = found.counts(&timeline, 0);
            assert!(said.starts_with(counts), "{text}: {said}");
        }
    }

    #[test]
    fn names_globs_and_expressions_find() {
        assert_eq!(found("hashmap").0, ["java.util.HashMap$Node", "java.util.HashMap"]);
        assert_eq!(found("*Map").0.len(), 2, "globs fit whole names");
        assert_eq!(found("Hash*").0.len(), 2, "or what follows a dot");
        assert_eq!(found("c?m.acme").0, ["com.acme"]);
        assert_eq!(found("com.acme"), (vec!["com.acme".into(), "com.acme.Cart".into(), "com.acme.Map".into()], 2));
        assert_eq!(found("bytes > 1.5kB and role = \"Type\"").1, 2);
        assert_eq!(found("nothing like it"), (vec![], 0));
        let timeline = timeline();
        let wrong = GroupSearch::default().preset(&timeline, 0, Metric::Bytes, "bytes > 1 furlong");
        assert!(wrong.is_err_and(|why| why.contains('^')), "the place is shown");
    }
}
