//! What leaks: found in the background as soon as a program with a later state is open, and the way to the place.
//!
//! The answer is that of the analysis `leak`; nothing is computed here. It is about a program, not about a grouping: grouping
//! anew leaves it as it is, more points in time have it found again. Of a program that goes on it is found when somebody asks for the
//! place: all walks would be looked through again at each that comes.

use super::action::Action;
use super::app::{Awake, Stage};
use super::document::{Closed, Document, OpenDocument, Opened};
use super::job::Job;
use super::loading::Loading;
use super::notices::Notices;
use super::selection::Selection;
use super::settings::Settings;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group;
use memory_city_analysis::tabular::Cell;
use memory_city_analysis::timeline::{NodeId, Source, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::{Progress, Snapshot};
use std::sync::Arc;

/// The analysis that finds it, and its table.
pub const ANALYSIS: &str = "leak";
const TABLE: &str = "leaks";
/// The grouping in which each place is a node.
const OWNERS: &str = "owner";

/// A place that accumulates, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeakPlace {
    /// Who owns what grows.
    pub place: String,
    /// What it fills up with.
    pub elements: String,
    /// Elements at the first and at the last point in time.
    pub counts: (String, String),
    /// Retained bytes at the first and at the last point in time, and what was added.
    pub retained: (String, String),
    /// What was added.
    pub growth: String,
    /// Part of the growth of the whole heap, 0 to 1.
    pub share: f32,
    /// Bytes that it keeps alive at the last point in time.
    pub bytes: u64,
    /// From the GC root to it, by fields, where the input knows them.
    pub path: Option<String>,
    /// Its key when grouped by owner.
    pub owner: String,
    /// Which of all places it is: 0 for the one where most accumulates.
    pub number: usize,
    /// How many more places there are.
    pub others: u64,
    /// What a person must know about it.
    pub notes: Vec<String>,
    /// Since when it grows: between these two points in time it had its first twentieth of all that it grew.
    pub since: Option<(usize, usize)>,
    /// How many points in time it was found in, where there may be more by now.
    pub until: Option<usize>,
}

/// What is known of what leaks.
#[derive(Default)]
pub enum FindingState {
    /// Nothing was asked for, or the input cannot tell.
    #[default]
    Nothing,
    /// It is being found out.
    Looking(Job<Result<Findings>>),
    /// Something leaks.
    Leaks(Box<LeakPlace>),
    /// Nothing does: why.
    Healthy(String),
    /// It could not be found out: why.
    Failed(String),
}

/// What leaks, of the open program.
#[derive(Resource, Default)]
pub struct Finding {
    known: FindingState,
    /// The points in time it was found for.
    of: Option<(u64, usize)>,
    opened: u64,
    hidden: bool,
    /// Only a line: the place was shown, or something is selected, and the card would stand before it.
    folded: bool,
    /// It made room once for what was selected: whoever unfolds it again wants to see it.
    made_room: bool,
    /// It made room once since the pane is small.
    made_small: bool,
    /// A person asked for all that is known: also where that covers much of the city.
    all: bool,
    /// The place to be shown once objects are grouped by owner.
    wanted: Option<String>,
    /// All that was found with it: for the analysis of the same name.
    findings: Option<Arc<Findings>>,
    /// Of a program that goes on: to be looked for once objects are grouped by owner, and shown.
    sought: bool,
}

impl Finding {
    /// What is known, unless it was put away.
    pub fn shown(&self) -> Option<&FindingState> {
        Some(&self.known).filter(|known| !self.hidden && !matches!(known, FindingState::Nothing))
    }

    /// All places that were found, with what is said of them, where the search is over.
    pub fn findings(&self) -> Option<&Arc<Findings>> {
        self.findings.as_ref()
    }

    /// Whether it was put away.
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// How far the search is.
    pub fn snapshot(&self) -> Option<Snapshot> {
        match &self.known {
            FindingState::Looking(job) => Some(job.snapshot()),
            _ => None,
        }
    }

    /// Ends the search.
    pub fn cancel(&mut self) {
        if let FindingState::Looking(job) = &self.known {
            job.cancel();
            (self.known, self.sought) = (FindingState::Nothing, false);
        }
    }

    /// Whether only a line is shown of it.
    pub fn is_folded(&self) -> bool {
        self.folded
    }

    /// Makes room, once, where it would cover most of the city.
    pub fn make_small(&mut self) {
        if !self.made_small && matches!(self.known, FindingState::Leaks(_)) {
            (self.made_small, self.folded) = (true, true);
        }
    }

    /// Shows all of it again.
    pub fn unfold(&mut self) {
        (self.folded, self.all) = (false, true);
    }

    /// Whether a person asked for all that is known.
    pub fn shows_all(&self) -> bool {
        self.all
    }

    /// The first sentences alone again.
    pub fn shorten(&mut self) {
        self.all = false;
    }

    /// Makes room for the first group that is selected.
    fn make_room(&mut self) {
        if !self.made_room && matches!(self.known, FindingState::Leaks(_)) {
            (self.made_room, self.folded) = (true, true);
        }
    }

    /// Finds it at once, for pictures without a window; as a line where something is selected.
    ///
    /// # Errors
    /// When the input cannot be read again, or the work was cancelled.
    pub fn preset(&mut self, source: &Source, selected: bool, progress: &Progress) -> Result<()> {
        let analysis = AnalysisRegistry::built_in().get(ANALYSIS)?;
        let description = analysis.describe();
        let window = TimeWindow::whole(source.timeline());
        if description.check(source, window).is_ok() {
            let found = analyses::run(&*analysis, source, window, &Arguments::defaults(&description), progress)?;
            self.findings = Some(Arc::new(found.clone()));
            self.known = known(Ok(Ok(found)));
        }
        if selected {
            self.make_room();
        }
        Ok(())
    }

    /// Tells of the next of several places, behind the last of the first again. Returns what it tells, where there is another.
    fn turn(&mut self) -> Option<&LeakPlace> {
        let (FindingState::Leaks(leak), Some(findings)) = (&mut self.known, &self.findings) else { return None };
        let next = LeakPlace::of(findings, leak.number + 1).or_else(|| LeakPlace::of(findings, 0))?;
        if next.number == leak.number {
            return None;
        }
        let (notes, until) = (std::mem::take(&mut leak.notes), leak.until);
        **leak = LeakPlace { notes, until, ..next };
        (self.hidden, self.folded) = (false, false);
        Some(leak)
    }

    /// Whether a place is about to be shown.
    pub fn is_going(&self) -> bool {
        self.wanted.is_some() || self.sought
    }

    /// Whether what is known of a program that goes on is older than what is open, or nothing is.
    fn is_behind(&self, open: &OpenDocument) -> bool {
        let nothing = matches!(self.known, FindingState::Nothing);
        open.live.is_some() && (nothing || self.of != Some((self.opened, open.timeline.times())))
    }

    /// Shows what was sought, or says why there is nothing to show.
    fn end_search(&mut self, notices: &mut Notices) {
        let (_, times) = self.of.unwrap_or_default();
        match &mut self.known {
            FindingState::Leaks(leak) => {
                leak.until = Some(times);
                leak.notes.push(format!(
                    "Found in the first {times} walks; asked for again, it is looked for in all there are then"
                ));
                self.wanted = Some(leak.owner.clone());
            }
            FindingState::Healthy(why) | FindingState::Failed(why) => notices.tell(why.clone()),
            FindingState::Nothing | FindingState::Looking(_) => {}
        }
    }
}

impl LeakPlace {
    /// One of the places that the analysis names.
    fn of(findings: &Findings, number: usize) -> Option<LeakPlace> {
        let table = findings.tables.iter().find(|table| table.header.id == TABLE)?;
        let row = table.rows.get(number)?;
        let cell = |id: &str| table.header.column(id).and_then(|at| row.cells.get(at));
        let text = |id: &str| match (table.header.column(id), cell(id)) {
            (Some(at), Some(cell)) if *cell != Cell::Empty => cell.text(table.header.columns[at].kind),
            _ => String::new(),
        };
        let share = match cell("share") {
            Some(Cell::Percent(percent)) => (percent / 100.0) as f32,
            _ => 0.0,
        };
        // What the collection itself counts, where there is one: its elements fill it up with keys and values.
        // One of several that are as large as ever says nothing: then there are more of them.
        let grew = match (cell("entries_first"), cell("entries")) {
            (Some(Cell::Number(first)), Some(Cell::Number(last))) => last > first,
            (_, Some(Cell::Number(_))) => true,
            _ => false,
        };
        let counts = match grew {
            true => (text("entries_first"), text("entries")),
            false => (text("first"), text("last")),
        };
        let left_out = table.left_out.as_ref().map_or(0, |(n, _)| *n);
        let time = |id: &str| match cell(id) {
            Some(Cell::Number(time)) => usize::try_from(time.checked_sub(1)?).ok(),
            _ => None,
        };
        Some(LeakPlace {
            place: text("place"),
            elements: text("elements"),
            counts,
            retained: (text("retained_first"), text("retained")),
            growth: text("growth"),
            bytes: if let Some(Cell::Number(bytes)) = cell("retained") { *bytes } else { 0 },
            share: if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 },
            path: Some(text("path")).filter(|path| !path.is_empty()),
            owner: text("owner"),
            number,
            others: table.rows.len() as u64 - 1 + left_out,
            notes: findings.notes.clone(),
            since: time("since").zip(time("grown_at")),
            until: None,
        })
    }

    /// The node of its place in trees that are grouped by owner: the place itself, or what of the way to it there is.
    fn node_in(owner: &str, timeline: &Timeline) -> Option<NodeId> {
        let root = timeline.key(NodeId::ROOT);
        let mut key = if owner == root || owner.starts_with(&format!("{root}#")) {
            owner.to_owned()
        } else {
            format!("{root}#{owner}")
        };
        loop {
            match timeline.find(&key) {
                Some(node) => return Some(node).filter(|node| *node != NodeId::ROOT),
                None => key.truncate(key.rfind('#')?),
            }
        }
    }
}

/// Why the owners of a document cannot be shown as groups, for people; `Ok` where they can.
pub fn owners_offered(source: &Source) -> std::result::Result<(), String> {
    let grouping = group::grouping(OWNERS).map_err(|error| error.to_string())?;
    source.offers(&grouping)
}

fn known(outcome: std::result::Result<Result<Findings>, String>) -> FindingState {
    match outcome {
        Ok(Ok(findings)) => match LeakPlace::of(&findings, 0) {
            Some(leak) => FindingState::Leaks(Box::new(leak)),
            None => {
                FindingState::Healthy(findings.answers.first().cloned().unwrap_or_else(|| "Nothing grows.".to_owned()))
            }
        },
        Ok(Err(Error::Cancelled)) => FindingState::Nothing,
        Ok(Err(error)) => FindingState::Failed(error.to_string()),
        Err(panic) => FindingState::Failed(panic),
    }
}

/// Looks for it when a program was opened, or has more points in time, and takes the answer.
fn follow(
    mut finding: ResMut<Finding>,
    document: Res<Document>,
    loading: Res<Loading>,
    windows: Query<(), With<PrimaryWindow>>,
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let finding = finding.bypass_change_detection();
    if let FindingState::Looking(job) = &finding.known {
        awake.wait_if(true);
        if let Some(outcome) = job.poll() {
            finding.findings = outcome.as_ref().ok().and_then(|found| found.as_ref().ok()).cloned().map(Arc::new);
            finding.known = known(outcome);
            match &finding.known {
                FindingState::Leaks(leak) => tracing::debug!("leak: {}", leak.place),
                FindingState::Healthy(why) => tracing::debug!("leak: none: {why}"),
                FindingState::Failed(why) => tracing::warn!("what leaks cannot be found: {why}"),
                FindingState::Nothing | FindingState::Looking(_) => {}
            }
            if std::mem::take(&mut finding.sought) {
                finding.end_search(&mut notices);
            }
        }
    }
    // While a trace is read there is more to come; pictures without a window do not ask.
    let Some(open) = document.get().filter(|_| !loading.active() && !windows.is_empty()) else { return };
    let looks = matches!(finding.known, FindingState::Looking(_));
    if open.live.is_some() && (looks || !finding.sought || open.made_with.grouping != OWNERS) {
        return;
    }
    let of = (finding.opened, open.timeline.times());
    if finding.of == Some(of) {
        return;
    }
    finding.of = Some(of);
    (finding.known, finding.findings) = (FindingState::Nothing, None);
    let Ok(analysis) = AnalysisRegistry::built_in().get(ANALYSIS) else { return };
    let description = analysis.describe();
    let window = TimeWindow::whole(&open.timeline);
    let can = description.check(&open.source, window);
    if let Err(why) = &can
        && std::mem::take(&mut finding.sought)
    {
        notices.tell(why.to_string());
    }
    if can.is_ok() {
        let source = Arc::clone(&open.source);
        let arguments = Arguments::defaults(&description);
        finding.known = FindingState::Looking(Job::behind_frames(move |progress| {
            analyses::run(&*analysis, &source, window, &arguments, progress)
        }));
        awake.keep_if(true);
    }
}

/// Shows the place, puts the answer away or brings it back.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn act(
    mut finding: ResMut<Finding>,
    mut actions: ParamSet<(MessageReader<Action>, MessageWriter<Action>)>,
    document: Res<Document>,
    loading: Res<Loading>,
    mut settings: ResMut<Settings>,
    mut selection: ResMut<Selection>,
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let finding = finding.bypass_change_detection();
    let asked: Vec<Action> = actions.p0().read().copied().collect();
    for action in asked {
        match action {
            Action::ShowOwner => match &finding.known {
                FindingState::Looking(_) => notices.tell("What leaks is still being looked for"),
                // Another place than the first that somebody has turned to stays the one that is meant.
                FindingState::Leaks(leak) if leak.number > 0 => {
                    finding.wanted = Some(leak.owner.clone());
                    show_owners(&mut settings);
                }
                _ if document.get().is_some_and(|open| finding.is_behind(open) && open.source.can_regroup()) => {
                    (finding.sought, finding.of, finding.hidden) = (true, None, false);
                    show_owners(&mut settings);
                }
                FindingState::Leaks(leak) => {
                    finding.wanted = Some(leak.owner.clone());
                    show_owners(&mut settings);
                }
                FindingState::Healthy(why) | FindingState::Failed(why) => notices.tell(why.clone()),
                FindingState::Nothing => {
                    notices.tell("What leaks is not known: that takes several heap dumps, or a trace")
                }
            },
            Action::Finding => (finding.hidden, finding.folded) = (!finding.hidden, false),
            Action::NextPlace => match finding.turn() {
                Some(leak) => tracing::debug!("leak: {}", leak.place),
                None => notices.tell("No other place is known that leaks"),
            },
            _ => {}
        }
    }
    if selection.node().is_some() {
        finding.make_room();
    }
    if !finding.is_going() {
        return;
    }
    awake.wait_if(true);
    let Some(open) = document.get() else { return };
    let Some(owner) = &finding.wanted else {
        if open.made_with.grouping != OWNERS && (settings.grouping != OWNERS || loading.refuses(&settings)) {
            // As below.
            finding.sought = false;
            settings.grouping.clone_from(&open.made_with.grouping);
        }
        return;
    };
    if open.made_with.grouping == OWNERS {
        match LeakPlace::node_in(owner, &open.timeline) {
            Some(node) => {
                selection.select(&open.timeline, node);
                finding.folded = true;
                // The city is that of these trees: they came together.
                actions.p1().write(Action::Focus);
            }
            None => notices.tell("The place is not among the owners at this time"),
        }
        finding.wanted = None;
    } else if settings.grouping != OWNERS || loading.refuses(&settings) {
        // Another grouping was chosen meanwhile, or this one cannot be had: why was told.
        finding.wanted = None;
        settings.grouping.clone_from(&open.made_with.grouping);
    }
}

/// The owners are to be shown, where something else is.
fn show_owners(settings: &mut ResMut<Settings>) {
    if settings.grouping != OWNERS {
        OWNERS.clone_into(&mut settings.grouping);
    }
}

fn opened(_: On<Opened>, mut finding: ResMut<Finding>) {
    *finding = Finding { opened: finding.opened + 1, ..Finding::default() };
}

fn closed(_: On<Closed>, mut finding: ResMut<Finding>) {
    *finding = Finding { opened: finding.opened + 1, ..Finding::default() };
}

/// What leaks.
pub struct FindingPlugin;

impl Plugin for FindingPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Finding>()
            .add_observer(opened)
            .add_observer(closed)
            .add_systems(Update, follow.in_set(Stage::Derive))
            .add_systems(Update, act.in_set(Stage::Act));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::tabular::{CellKind, Column, ResultTable, Row, TableHeader};
    use memory_city_analysis::timeline::{TimePoint, Unit};

    fn findings() -> Findings {
        let columns = [
            ("place", CellKind::Text, Cell::Text("Registry.persons › ArrayList".into())),
            ("last", CellKind::Number(Unit::Objects), Cell::Number(48_000)),
            ("share", CellKind::Percent, Cell::Percent(87.0)),
            ("path", CellKind::Text, Cell::Empty),
            ("owner", CellKind::Text, Cell::Text("class Registry#static persons#ArrayList".into())),
        ];
        let header = TableHeader {
            id: TABLE.into(),
            columns: columns.iter().map(|(id, kind, _)| Column::new(*id, *id, *kind, "")).collect(),
            ..TableHeader::default()
        };
        let rows = vec![Row { cells: columns.into_iter().map(|(_, _, cell)| cell).collect(), ..Row::default() }];
        let table = ResultTable { header, rows, left_out: Some((2, "places".into())), ..ResultTable::default() };
        Findings { tables: vec![table], notes: vec!["Two points in time".into()], ..Findings::default() }
    }

    #[test]
    fn the_first_place_is_told_and_what_is_not_known_left_out() {
        let leak = LeakPlace::of(&findings(), 0).expect("a place");
        assert_eq!(leak.place, "Registry.persons › ArrayList");
        assert_eq!(leak.counts, (String::new(), "48,000".into()));
        assert_eq!((leak.share, leak.others, leak.path), (0.87, 2, None));
        assert_eq!(leak.notes, ["Two points in time"]);
    }

    /// A map of 24,000 entries fills up with 48,000 keys and values.
    #[test]
    fn a_collection_says_itself_how_many_it_has() {
        let mut findings = findings();
        let table = &mut findings.tables[0];
        for (id, entries) in [("entries_first", 300), ("entries", 24_000)] {
            table.header.columns.push(Column::new(id, id, CellKind::Number(Unit::Objects), ""));
            table.rows[0].cells.push(Cell::Number(entries));
        }
        let leak = LeakPlace::of(&findings, 0).expect("a place");
        assert_eq!(leak.counts, ("300".into(), "24,000".into()));
    }

    /// One place after the other, and then the first again; what was hidden comes back. Of one place there is no other.
    #[test]
    fn places_are_told_one_after_the_other() {
        let mut findings = findings();
        let mut second = findings.tables[0].rows[0].clone();
        second.cells[0] = Cell::Text("Sessions.open".into());
        let of = |findings: &Findings| Finding {
            known: known(Ok(Ok(findings.clone()))),
            findings: Some(Arc::new(findings.clone())),
            hidden: true,
            ..Finding::default()
        };
        assert!(of(&findings).turn().is_none());
        findings.tables[0].rows.push(second);
        let mut finding = of(&findings);
        let told: Vec<(usize, String)> =
            (0..3).filter_map(|_| finding.turn().map(|leak| (leak.number, leak.place.clone()))).collect();
        let (first, second) = ("Registry.persons › ArrayList".to_owned(), "Sessions.open".to_owned());
        assert_eq!(told, [(1, second.clone()), (0, first), (1, second)]);
        assert!(!finding.is_hidden());
        let Some(FindingState::Leaks(leak)) = finding.shown() else { panic!("a place") };
        assert_eq!((leak.others, leak.notes.len()), (3, 1));
    }

    #[test]
    fn nothing_that_grows_is_an_answer_too() {
        let mut none = findings();
        none.tables[0].rows.clear();
        none.answers = vec!["Nothing accumulates.".into()];
        assert!(matches!(known(Ok(Ok(none))), FindingState::Healthy(why) if why == "Nothing accumulates."));
        assert!(matches!(known(Ok(Err(Error::Cancelled))), FindingState::Nothing));
        assert!(matches!(known(Err("broken".into())), FindingState::Failed(why) if why == "broken"));
    }

    #[test]
    fn the_place_is_found_by_key_or_else_what_of_the_way_to_it_there_is() {
        let mut tree = MemoryTree::new();
        let role: Arc<str> = "Owner".into();
        let class = tree.child(0, &role, &"class Registry".into());
        let field = tree.child(class, &role, &"static persons".into());
        tree.add(field, memory_city_heap::Amount { objects: 1, bytes: 16 });
        let timeline = Timeline::from_trees(vec![TimePoint::default()], &[tree]);
        let key = |owner: &str| LeakPlace::node_in(owner, &timeline).map(|node| timeline.key(node));
        let all = timeline.nodes().map(|node| timeline.key(node)).max_by_key(String::len).expect("nodes");
        assert!(all.ends_with("class Registry#static persons"), "{all}");
        for owner in ["class Registry#static persons", "class Registry#static persons#ArrayList", &*all] {
            assert_eq!(key(owner).as_ref(), Some(&all), "{owner}");
        }
        assert_eq!(key("nobody"), None);
    }
}
