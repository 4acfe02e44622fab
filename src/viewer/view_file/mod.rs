//! View files: everything that a window shows, to be shown again in the same way. They hold the data's paths, the grouping, time, camera,
//! selection, search, marks, bookmarks and settings. `open` and `render` take one in place of data.
//!
//! A view file names its data by path, relative if it lies beside it: it holds keys of groups, and no amounts.

mod data_facts;

use super::bookmarks::{Bookmark, Bookmarks};
use super::city::{CameraRig, CityPane};
use super::clock::Clock;
use super::comparison::{CompareWish, OpenComparison};
use super::document::Document;
use super::root_paths::{RootPaths, SavedPaths};
use super::saved_settings;
use super::selection::{MarkNote, Marks, Selection, SharedFilter};
use super::settings::{PartKey, Settings};
use crate::readers::{FileReaders, readers_compared};
use crate::saved_view::{self, FORMAT, NamedView, VERSION, ViewNames};
use bevy::prelude::*;
use memory_city_analysis::group::{self, Grouping};
use memory_city_analysis::timeline::AskedObjects;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::unfinished::write_whole_for;
use memory_city_views::city::camera::CameraPose;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

pub use data_facts::SeenData;

/// How many times there may be beside each other, as for `--multiples`.
const MULTIPLES: RangeInclusive<usize> = 2..=64;
/// How view files are called.
pub const EXTENSION: &str = "mcview";

/// Content of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ViewFile {
    format: String,
    version: u32,
    /// Paths of the data.
    pub data: Vec<PathBuf>,
    /// Id of the grouping, or a list of classifiers.
    pub grouping: String,
    /// People's own classifiers that the grouping needs: texts by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    classifiers: BTreeMap<String, String>,
    /// The program's own packages as people write them, empty if none are set; missing in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    packages: Option<String>,
    #[serde(default)]
    unreachable: bool,
    #[serde(default)]
    gc_starts: bool,
    /// The point in time, counted from 1.
    pub time: usize,
    /// Camera of the city.
    pub camera: CameraPose,
    /// Whether it is a plan: buildings are flat.
    #[serde(default)]
    pub plan: bool,
    /// Width and height of the city in the window, pixels: a picture of that size shows the same.
    pub size: (u32, u32),
    /// Pixels of a point, which text and panels are measured in; 0 in files of versions that did not say.
    #[serde(default)]
    scale: f32,
    /// Keys of the selected groups; the references of the first are shown.
    #[serde(default)]
    pub selected: Vec<String>,
    /// Text of the search.
    #[serde(default)]
    pub filter: String,
    #[serde(default)]
    parts: Vec<PartKey>,
    /// Marked groups by key.
    #[serde(default)]
    pub marks: BTreeMap<String, MarkNote>,
    /// Places to come back to.
    #[serde(default)]
    pub bookmarks: Vec<Bookmark>,
    #[serde(default)]
    shadows: bool,
    /// The time that all others are compared with, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<usize>,
    /// The times that the ground is divided for, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<(usize, usize)>,
    /// The times that are played, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<(usize, usize)>,
    /// How many times are shown beside each other.
    #[serde(default)]
    multiples: usize,
    /// The shown ways, and their cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ways: Option<SavedPaths>,
    /// The data to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<CompareWish>,
    /// Key facts of the data then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenData>,
    /// How the city looks, as the settings of the window are kept.
    settings: Map<String, Value>,
}

impl ViewFile {
    /// The view file of the present window.
    ///
    /// # Errors
    /// If nothing is open, or the data lies in no file: it comes from a running program.
    pub fn of(world: &World) -> Result<ViewFile> {
        let unusable = |what: &str, remedy: &str| Error::Unusable { what: what.into(), remedy: remedy.into() };
        let open = world.resource::<Document>().get();
        let open = open.ok_or_else(|| unusable("Nothing is open", "Open something first"))?;
        let data = world.resource::<super::loading::Loading>().paths().to_vec();
        if open.live.is_some() || data.is_empty() {
            return Err(unusable(
                "This city comes from a program that runs, and lies in no file that could be opened again",
                "Save the window's own picture, a table or the scene; or open its recording, and save that view",
            ));
        }
        let settings = world.resource::<Settings>();
        let (rig, clock) = (world.resource::<CameraRig>(), world.resource::<Clock>());
        // Of several times beside each other the camera looks through one: all of them are meant.
        let pane = world.resource::<CityPane>().rect.map(|pane| Vec2::new(pane.width(), pane.height()));
        let size = pane.unwrap_or(rig.area().1);
        let selection = world.resource::<Selection>();
        // The grouping that was chosen for an input is to be the same in any version.
        let compared = world.resource::<OpenComparison>().shown();
        let source = compared.map_or(&open.source, |compared| &compared.first.source);
        let (grouping, classifiers) = match source.heaps() {
            Some(heaps) => written(heaps.grouping()),
            None => (format!("{}{}", settings.objects, settings.grouping), BTreeMap::new()),
        };
        // What an input tells of itself it tells again.
        let packages = group::registry().domain().chosen_here().map_or_else(String::new, |packages| packages.join(","));
        Ok(ViewFile {
            format: FORMAT.to_owned(),
            version: VERSION,
            data,
            seen: Some(SeenData::of(&open.timeline, clock.time)),
            grouping,
            classifiers,
            packages: Some(packages),
            unreachable: settings.include_unreachable,
            gc_starts: settings.gc_starts,
            time: clock.time + 1,
            camera: rig.pose,
            plan: rig.plan(),
            size: (
                (size.x * rig.density()).round().max(16.0) as u32,
                (size.y * rig.density()).round().max(16.0) as u32,
            ),
            scale: rig.density(),
            selected: selection.nodes().map(|node| open.timeline.key(node)).collect(),
            filter: world.resource::<SharedFilter>().0.clone(),
            parts: settings.parts.clone(),
            marks: world.resource::<Marks>().all().clone(),
            bookmarks: world.resource::<Bookmarks>().list().to_vec(),
            shadows: settings.shadows,
            base: settings.base.map(|base| base + 1),
            window: settings.window.map(counted),
            range: clock.chosen().map(counted),
            multiples: settings.multiples,
            ways: world.resource::<RootPaths>().kept(),
            compare: compared.map(|compared| compared.wish.clone()),
            settings: saved_settings::of(settings),
        })
    }

    /// As [`saved_view::make_known`].
    ///
    /// # Errors
    /// Errors of [`saved_view::make_known`].
    pub fn make_known(&self, path: &Path) -> Result<()> {
        saved_view::make_known(&self.classifiers, self.packages.as_deref(), path)
    }

    /// Pixels of a point in a picture of its size; `None` where that follows from the height.
    pub fn scale(&self) -> Option<f32> {
        Some(self.scale).filter(|scale| *scale > 0.0).map(|scale| scale.clamp(0.25, 8.0))
    }

    /// The settings it asks for, over `base`.
    pub fn settings(&self, base: Settings) -> Settings {
        let asked = AskedObjects::before(&self.grouping);
        let (objects, grouping) = asked.unwrap_or((AskedObjects::default(), &self.grouping));
        let mut settings = Settings {
            objects,
            grouping: grouping.to_owned(),
            include_unreachable: self.unreachable,
            gc_starts: self.gc_starts,
            shadows: self.shadows,
            parts: self.parts.clone(),
            multiples: if MULTIPLES.contains(&self.multiples) { self.multiples } else { 0 },
            ..base
        };
        (settings.base, settings.window) = self.base_and_window();
        saved_settings::take(&self.settings, &mut settings);
        settings
    }

    /// The times of the settings, counted from 0.
    fn base_and_window(&self) -> (Option<usize>, Option<(usize, usize)>) {
        let window = self.window.map(from_0).filter(|window| window.0 <= window.1);
        (self.base.map(|base| base.saturating_sub(1)), window)
    }

    /// Writes it, complete or not at all. Data beside or below the file is named from there.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let io = |error| Error::io(path, error);
        let folder = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_path_buf));
        let named = |data: &PathBuf| {
            let data = std::path::absolute(data).unwrap_or_else(|_| data.clone());
            let beside = folder.as_ref().and_then(|folder| data.strip_prefix(folder).ok().map(Path::to_path_buf));
            // The folder itself is `.`.
            beside.map(|path| if path.as_os_str().is_empty() { ".".into() } else { path }).unwrap_or(data)
        };
        let mut view = ViewFile { data: self.data.iter().map(named).collect(), ..self.clone() };
        if let Some(CompareWish::Run { data, .. }) = &mut view.compare {
            data.iter_mut().for_each(|path| *path = named(path));
        }
        let mut text = serde_json::to_vec_pretty(&view).map_err(|e| io(e.into()))?;
        text.push(b'\n');
        // It names groups, and with them what threads and classes are called.
        let readers = readers_compared(&self.data, self.compare.as_ref()).unwrap_or(FileReaders::OwnerAlone);
        write_whole_for(path, readers, |mut file| file.write_all(&text).map_err(io))
    }

    /// Reads a view file. The data's paths become relative to the working folder.
    ///
    /// # Errors
    /// When it cannot be read, or is no view file: the error has the place and the reason.
    pub fn read(path: &Path) -> Result<NamedView<ViewFile>> {
        saved_view::read(path)
    }

    /// As [`saved_view::is_one`].
    pub fn is_one(path: &Path) -> bool {
        saved_view::is_one(path)
    }
}

/// A grouping as a list of classifiers, with the texts of people's own ones. A person's name for a grouping is unknown elsewhere, so the
/// list stands for it; the program's own names stay.
fn written(grouping: &Grouping) -> (String, BTreeMap<String, String>) {
    let registry = group::registry();
    let scripts = registry.scripts_of(grouping).into_iter();
    let scripts = scripts.map(|(id, text)| (id.to_owned(), text.to_string())).collect();
    (registry.list_of(grouping).to_owned(), scripts)
}

/// Times as people count them, and back.
fn counted((from, to): (usize, usize)) -> (usize, usize) {
    (from + 1, to + 1)
}

fn from_0((from, to): (usize, usize)) -> (usize, usize) {
    (from.saturating_sub(1), to.saturating_sub(1))
}

impl saved_view::ViewHead for ViewFile {
    fn head(&mut self) -> ViewNames<'_> {
        self.time = self.time.max(1);
        self.size = (self.size.0.clamp(16, 8192), self.size.1.clamp(16, 8192));
        let ViewFile { format, version, data, compare, grouping, .. } = self;
        ViewNames { format, version: *version, data, compare, grouping }
    }
}

/// A view that is on its way: its data is being opened.
#[derive(Resource, Default)]
pub struct AwaitedView(pub Option<ViewFile>);

/// Restores the content of a view file, once its data is there.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub(super) fn show_awaited(
    mut awaited: ResMut<AwaitedView>,
    document: Res<Document>,
    loading: Res<super::loading::Loading>,
    (mut clock, mut rig): (ResMut<Clock>, ResMut<CameraRig>),
    (mut selection, mut marks): (ResMut<Selection>, ResMut<Marks>),
    (mut bookmarks, mut filter): (ResMut<Bookmarks>, ResMut<SharedFilter>),
    (mut settings, mut ways): (ResMut<Settings>, ResMut<RootPaths>),
    mut notices: ResMut<super::notices::Notices>,
) {
    if awaited.0.is_none() || loading.is_opening() {
        return;
    }
    let Some(view) = awaited.0.take() else { return };
    let Some(open) = document.get() else { return };
    if let Some(different) = view.seen.as_ref().and_then(|seen| seen.difference(&open.timeline)) {
        notices.tell(different);
    }
    clock.jump(view.time - 1);
    let times = open.timeline.times();
    if let Some(range) = view.range.map(from_0).filter(|range| range.0 < range.1 && range.1 < times) {
        clock.set_range(Some(range));
    }
    // They were let go of while the data came bit by bit.
    let (base, window) = view.base_and_window();
    let wanted = (base.filter(|base| *base < times), window.filter(|window| window.1 < times));
    if (settings.base, settings.window) != wanted {
        (settings.base, settings.window) = wanted;
        // Without a base there was nothing for its colours to tell.
        let colours = view.settings(settings.clone());
        (settings.colour, settings.colour_metric) = (colours.colour, colours.colour_metric);
    }
    if settings.parts != view.parts {
        settings.parts.clone_from(&view.parts);
    }
    rig.jump_to(view.camera);
    rig.lie_flat(view.plan);
    marks.replace(&open.timeline, view.marks);
    bookmarks.replace(view.bookmarks);
    filter.0 = view.filter;
    let found: Vec<_> = view.selected.iter().filter_map(|key| open.timeline.find(key)).collect();
    if found.len() < view.selected.len() {
        notices
            .tell(format!("{} of the selected groups are not in the data any more", view.selected.len() - found.len()));
    }
    if !found.is_empty() {
        selection.select_all(&open.timeline, found);
    }
    if let Some(kept) = &view.ways {
        let missing = ways.show_kept(&open.timeline, kept);
        if missing > 0 {
            notices.tell(format!("{missing} of the groups whose ways were shown are not in the data any more"));
        }
    }
    tracing::debug!("view: shown");
}

#[cfg(test)]
mod tests;
