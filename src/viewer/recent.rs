//! Inputs opened last: the start card offers them again. A job looks whether they are still there: a folder of the network may take long
//! to answer.

use super::document::{Document, Opened};
use super::frame::{Awake, Stage};
use super::job::Job;
use super::loading::{Loading, is_sample};
use super::saved_settings;
use bevy::prelude::*;
use memory_city_analysis::timeline::title_of;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Their name among the settings.
const NAME: &str = "recent";
/// Most inputs, and most paths of each: one with more was opened by a pattern, and its folder is easier to find.
const MOST: usize = 5;
const MOST_PATHS: usize = 20;
/// No kept path is longer, bytes. All of them together fit into the file of settings, which is not read beyond 64 KB.
const LONGEST: usize = 400;

/// An input of an earlier run.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentInput {
    /// Its files or folders.
    pub paths: Vec<PathBuf>,
    /// Its name, as over the city.
    pub title: String,
}

impl RecentInput {
    /// Reads the folder's name of a path such as `.`.
    pub fn of(paths: Vec<PathBuf>) -> RecentInput {
        RecentInput { title: title_of(&paths), paths }
    }
}

/// Inputs of earlier runs, the newest first.
#[derive(Resource, Default)]
pub struct RecentInputs {
    /// Paths of all, as the settings keep them.
    all: Vec<Vec<PathBuf>>,
    /// Those that are still there.
    there: Vec<RecentInput>,
    /// Whether those of earlier runs are still there is being looked up.
    looking: Option<Job<Vec<RecentInput>>>,
    /// Whether another input has come since.
    has_new: bool,
}

impl RecentInputs {
    /// Those that are still there, as far as that is known.
    pub fn there(&self) -> &[RecentInput] {
        &self.there
    }

    fn push(&mut self, paths: Vec<PathBuf>) {
        self.all.retain(|one| *one != paths);
        self.all.insert(0, paths.clone());
        self.all.truncate(MOST);
        self.there.retain(|one| one.paths != paths);
        self.there.insert(0, RecentInput::of(paths));
        self.there.truncate(MOST);
    }

    /// Adds those of earlier runs.
    fn add(&mut self, found: Vec<RecentInput>) {
        let new = found.into_iter().filter(|one| !self.there.contains(one)).collect::<Vec<_>>();
        self.there.extend(new);
        self.there.truncate(MOST);
    }

    fn parse(kept: &Value) -> Vec<Vec<PathBuf>> {
        let paths = |one: &Value| -> Vec<PathBuf> {
            one.as_array().into_iter().flatten().filter_map(Value::as_str).map(PathBuf::from).collect()
        };
        let all = kept.as_array().into_iter().flatten().map(paths);
        all.filter(|paths| !paths.is_empty() && paths.len() <= MOST_PATHS).take(MOST).collect()
    }

    fn still_there(all: Vec<Vec<PathBuf>>) -> Vec<RecentInput> {
        let there = |paths: &Vec<PathBuf>| paths.iter().all(|path| path.exists());
        all.into_iter().filter(there).map(RecentInput::of).collect()
    }

    fn kept(&self) -> Value {
        let text = |path: &PathBuf| path.to_str().filter(|text| text.len() <= LONGEST).map(Value::from);
        let one = |paths: &Vec<PathBuf>| paths.iter().map(text).collect::<Option<Vec<Value>>>().map(Value::from);
        self.all.iter().filter(|paths| paths.len() <= MOST_PATHS).filter_map(one).collect()
    }
}

fn take_found(mut recent: ResMut<RecentInputs>, mut awake: ResMut<Awake>) {
    if let Some(found) = recent.looking.as_ref().and_then(Job::poll) {
        recent.looking = None;
        recent.add(found.unwrap_or_default());
        awake.keep_if(true);
    }
}

fn keep(mut recent: ResMut<RecentInputs>, loading: Res<Loading>, document: Res<Document>) {
    if !recent.has_new || loading.is_opening() {
        return;
    }
    recent.has_new = false;
    let is_live = document.get().is_none_or(|open| open.live.is_some());
    if is_live || loading.paths().is_empty() || is_sample(loading.paths()) {
        return;
    }
    let whole = |path: &PathBuf| std::path::absolute(Path::new(path)).unwrap_or_else(|_| path.clone());
    recent.push(loading.paths().iter().map(whole).collect());
    saved_settings::keep_values([(NAME, recent.kept())]);
}

/// Inputs of earlier runs. Only for windows.
pub struct RecentPlugin;

impl Plugin for RecentPlugin {
    fn build(&self, app: &mut App) {
        let all = saved_settings::kept(NAME).map_or_else(Vec::new, |kept| RecentInputs::parse(&kept));
        let looked = all.clone();
        let looking = (!all.is_empty()).then(|| Job::start(move |_| RecentInputs::still_there(looked)));
        app.insert_resource(RecentInputs { all, looking, ..RecentInputs::default() })
            .add_systems(Update, take_found.in_set(Stage::Derive))
            .add_observer(|_: On<Opened>, mut recent: ResMut<RecentInputs>| recent.has_new = true)
            .add_systems(Last, keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_comes_first_and_what_is_gone_is_not_offered() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |at: usize| vec![folder.path().join(at.to_string())];
        let mut recent = RecentInputs::default();
        for at in [0, 1, 2, 3, 4, 5, 2] {
            std::fs::write(&path(at)[0], "").expect("written");
            recent.push(path(at));
        }
        assert_eq!(recent.there(), [2, 5, 4, 3, 1].map(path).map(RecentInput::of));
        std::fs::remove_file(&path(4)[0]).expect("removed");
        let all = RecentInputs::parse(&recent.kept());
        assert_eq!(all, recent.all);
        let found = RecentInputs::still_there(all);
        assert_eq!(found, [2, 5, 3, 1].map(path).map(RecentInput::of));
        // What was opened while they were looked up comes first.
        let mut opened = RecentInputs::default();
        opened.push(path(3));
        opened.add(found);
        assert_eq!(opened.there(), [3, 2, 5, 1].map(path).map(RecentInput::of));
        // Settings are files: anything may stand in them.
        for wrong in [json!(1), json!("a"), json!([[]]), json!([[1]]), json!([["/no/such"]]), json!({"a": []})] {
            assert!(RecentInputs::still_there(RecentInputs::parse(&wrong)).is_empty(), "{wrong}");
        }
        // What cannot be kept is left out alone.
        recent.push(vec!["x".repeat(LONGEST + 1).into()]);
        recent.push(vec![PathBuf::from("a"); MOST_PATHS + 1]);
        assert_eq!(recent.kept().as_array().map(Vec::len), Some(3));
    }
}
