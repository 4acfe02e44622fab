//! Inputs opened last: the start card offers them again. A job looks whether they are still there: a folder of the network may take long
//! to answer.

use super::document::{Document, Opened};
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
    all: Vec<RecentInput>,
    /// Whether those of earlier runs are still there is being looked up.
    looking: Option<Job<Vec<RecentInput>>>,
    /// Whether another input has come since.
    has_new: bool,
}

impl RecentInputs {
    /// Those that are still there.
    pub fn all(&self) -> &[RecentInput] {
        &self.all
    }

    fn push(&mut self, paths: Vec<PathBuf>) {
        self.all.retain(|one| one.paths != paths);
        self.all.insert(0, RecentInput::of(paths));
        self.all.truncate(MOST);
    }

    /// Of what the settings keep, those that are still there.
    fn still_there(kept: &Value) -> Vec<RecentInput> {
        let paths = |one: &Value| -> Vec<PathBuf> {
            one.as_array().into_iter().flatten().filter_map(Value::as_str).map(PathBuf::from).collect()
        };
        let all = kept.as_array().into_iter().flatten().map(paths);
        let there = |paths: &Vec<PathBuf>| !paths.is_empty() && paths.iter().take(MOST_PATHS).all(|path| path.exists());
        all.filter(there).take(MOST).map(RecentInput::of).collect()
    }

    fn kept(&self) -> Value {
        let text = |path: &PathBuf| path.to_str().filter(|text| text.len() <= LONGEST).map(Value::from);
        let one = |paths: &Vec<PathBuf>| paths.iter().map(text).collect::<Option<Vec<Value>>>().map(Value::from);
        self.all.iter().map(|input| &input.paths).filter(|paths| paths.len() <= MOST_PATHS).filter_map(one).collect()
    }
}

fn keep(mut recent: ResMut<RecentInputs>, loading: Res<Loading>, document: Res<Document>) {
    if let Some(found) = recent.looking.as_ref().and_then(Job::poll) {
        recent.looking = None;
        recent.all = found.unwrap_or_default();
    }
    if !recent.has_new || recent.looking.is_some() || loading.is_opening() {
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
        let look = |kept: Value| Job::start(move |_| RecentInputs::still_there(&kept));
        app.insert_resource(RecentInputs { looking: saved_settings::kept(NAME).map(look), ..RecentInputs::default() })
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
        assert_eq!(recent.all(), [2, 5, 4, 3, 1].map(path).map(RecentInput::of));
        std::fs::remove_file(&path(4)[0]).expect("removed");
        assert_eq!(RecentInputs::still_there(&recent.kept()), [2, 5, 3, 1].map(path).map(RecentInput::of));
        // Settings are files: anything may stand in them.
        for wrong in [json!(1), json!("a"), json!([[]]), json!([[1]]), json!([["/no/such"]]), json!({"a": []})] {
            assert!(RecentInputs::still_there(&wrong).is_empty(), "{wrong}");
        }
        // What cannot be kept is left out alone.
        recent.push(vec!["x".repeat(LONGEST + 1).into()]);
        recent.push(vec![PathBuf::from("a"); MOST_PATHS + 1]);
        assert_eq!(recent.kept().as_array().map(Vec::len), Some(3));
    }
}
