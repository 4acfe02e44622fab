//! The classifiers and groupings there are, by name. Anybody may add some at run time.

use super::classifier::ByFunction;
use super::domain::DomainPackages;
use super::expression::{self, GroupingError};
use super::filter::FilterCondition;
use super::saved::SavedGrouping;
use super::{Classifier, ClassifierMeta, Grouping, ObjectValues, ObjectView};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, RwLock, RwLockReadGuard};

/// An option of a classifier, written in parentheses behind its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// What it changes, a line.
    pub description: &'static str,
    /// A value it may have; `None` when it has none and is just there or not.
    pub example: Option<&'static str>,
}

/// How a classifier is asked for.
#[derive(Clone, Copy)]
pub struct ClassifierRequest<'a> {
    pub(super) options: &'a [(&'a str, Option<&'a str>)],
    pub(super) above: &'a [&'a str],
    /// What stands inside a transformer.
    pub(super) list: &'a [Arc<dyn Classifier>],
    /// What stands inside a filter.
    pub(super) conditions: &'a [FilterCondition],
    /// All that stands in its parentheses, in its shortest form.
    pub(super) text: &'a str,
    pub(super) domain: &'a Arc<DomainPackages>,
}

/// What stands in parentheses behind a classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// Options, or nothing.
    Options,
    /// A list of classifiers, or nothing.
    List,
    /// Conditions.
    Conditions,
}

impl<'a> ClassifierRequest<'a> {
    /// Whether an option is there.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| *name == option)
    }

    /// The value of an option, where it is there.
    pub fn value(&self, option: &str) -> Option<&'a str> {
        self.options.iter().find(|(name, _)| *name == option)?.1
    }

    /// Whether a classifier stands before this one in the list.
    pub fn is_below(&self, id: &str) -> bool {
        self.above.contains(&id)
    }
}

type Make = dyn Fn(&ClassifierRequest<'_>) -> Result<Arc<dyn Classifier>, String> + Send + Sync;

/// A classifier in the registry.
pub(super) struct ClassifierEntry {
    pub meta: ClassifierMeta,
    pub options: &'static [OptionInfo],
    pub inside: Inside,
    /// What somebody typed, and may type anew.
    pub script: Option<Arc<str>>,
    make: Box<Make>,
}

impl ClassifierEntry {
    pub fn make(&self, request: &ClassifierRequest<'_>) -> Result<Arc<dyn Classifier>, String> {
        (self.make)(request)
    }
}

/// Why a classifier or a grouping was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name is taken.
    #[error("there is a classifier or grouping {0:?} already")]
    Taken(String),
    /// The name cannot be written in a list.
    #[error("{0:?} is no name for a classifier or grouping: letters, digits, - and _ are")]
    NotAName(String),
    /// The list of a grouping is not right.
    #[error("{0}")]
    List(#[from] GroupingError),
}

/// Classifiers and groupings by name.
#[derive(Default)]
pub struct Registry {
    entries: Vec<ClassifierEntry>,
    presets: Vec<Preset>,
    domain: Arc<DomainPackages>,
}

/// A grouping with a name of its own, and the list that it stands for.
pub(super) struct Preset {
    pub grouping: Arc<Grouping>,
    pub list: String,
    /// Where it comes from.
    pub kind: PresetKind,
}

/// Where a grouping with a name comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PresetKind {
    /// The program: it is about a task, something to be found out.
    Task,
    /// The program: it is called what it is.
    Plain,
    /// Somebody has saved it.
    Saved,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|e| &e.meta.id)).finish()
    }
}

impl Registry {
    /// With what Memory City brings along.
    pub fn new() -> Registry {
        let mut registry = Registry::default();
        // A test sees to it that none of them is refused.
        let added = super::classifiers::register(&mut registry)
            .and_then(|()| super::filter::register(&mut registry))
            .and_then(|()| super::presets::register(&mut registry));
        debug_assert_eq!(added, Ok(()));
        registry
    }

    /// Adds a classifier that is a function of the object.
    ///
    /// # Errors
    /// When the name is taken, or cannot be written in a list.
    pub fn add(
        &mut self,
        meta: ClassifierMeta,
        classify: impl Fn(&ObjectView<'_>, &mut ObjectValues) + Send + Sync + 'static,
    ) -> Result<(), RegistryError> {
        let one: Arc<dyn Classifier> = Arc::new(ByFunction::new(meta.clone(), classify));
        self.add_with_options(meta, &[], move |_| Ok(Arc::clone(&one)))
    }

    /// Adds a classifier with options: `make` is given those that were written, each of them known, and says what is
    /// wrong with their values. What the result says of itself may differ with the options.
    ///
    /// # Errors
    /// As [`Registry::add`].
    pub fn add_with_options(
        &mut self,
        meta: ClassifierMeta,
        options: &'static [OptionInfo],
        make: impl Fn(&ClassifierRequest<'_>) -> Result<Arc<dyn Classifier>, String> + Send + Sync + 'static,
    ) -> Result<(), RegistryError> {
        self.add_entry(meta, options, Inside::Options, make)
    }

    pub(super) fn add_entry(
        &mut self,
        meta: ClassifierMeta,
        options: &'static [OptionInfo],
        inside: Inside,
        make: impl Fn(&ClassifierRequest<'_>) -> Result<Arc<dyn Classifier>, String> + Send + Sync + 'static,
    ) -> Result<(), RegistryError> {
        self.check_name(&meta.id, true)?;
        self.entries.push(ClassifierEntry { meta, options, inside, script: None, make: Box::new(make) });
        Ok(())
    }

    /// Adds a script, in place of one of the same id.
    pub(super) fn put_script(
        &mut self,
        meta: ClassifierMeta,
        text: Arc<str>,
        make: impl Fn(&ClassifierRequest<'_>) -> Result<Arc<dyn Classifier>, String> + Send + Sync + 'static,
    ) -> Result<(), RegistryError> {
        let old = self.entries.iter().position(|e| e.script.is_some() && e.meta.id == meta.id);
        if old.is_none() {
            self.check_name(&meta.id, true)?;
        }
        let script = Some(text);
        let new = ClassifierEntry { meta, options: &[], inside: Inside::Options, script, make: Box::new(make) };
        match old {
            Some(old) => self.entries[old] = new,
            None => self.entries.push(new),
        }
        Ok(())
    }

    /// Adds a grouping under a name of its own.
    ///
    /// # Errors
    /// When the name is taken, or the list is not right.
    pub fn add_grouping(&mut self, id: &str, list: &str, description: &str) -> Result<(), RegistryError> {
        self.check_name(id, false)?;
        let made = expression::parse(self, list)?;
        let list = made.id.clone();
        let grouping = Arc::new(Grouping { id: id.to_owned(), description: description.to_owned(), ..made });
        self.presets.push(Preset { grouping, list, kind: PresetKind::Plain });
        Ok(())
    }

    /// Adds a grouping for a task, something that people want to find out.
    ///
    /// # Errors
    /// As [`Registry::add_grouping`].
    pub fn add_task(&mut self, id: &str, title: &str, list: &str, description: &str) -> Result<(), RegistryError> {
        self.add_grouping(id, list, description)?;
        if let Some(preset) = self.presets.last_mut() {
            let title = format!("{title}: {}", preset.grouping.title);
            preset.grouping = Arc::new(Grouping { title, ..(*preset.grouping).clone() });
            preset.kind = PresetKind::Task;
        }
        Ok(())
    }

    /// The groupings for tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &Arc<Grouping>> {
        self.of_kind(PresetKind::Task)
    }

    /// The groupings that people saved under names of their own.
    pub fn saved(&self) -> impl Iterator<Item = &Arc<Grouping>> {
        self.of_kind(PresetKind::Saved)
    }

    /// The groupings that are neither for tasks nor saved by somebody.
    pub fn plain(&self) -> impl Iterator<Item = &Arc<Grouping>> {
        self.of_kind(PresetKind::Plain)
    }

    fn of_kind(&self, kind: PresetKind) -> impl Iterator<Item = &Arc<Grouping>> {
        self.presets.iter().filter(move |p| p.kind == kind).map(|p| &p.grouping)
    }

    /// Puts these in the place of all that were saved before. Those whose name is taken, or whose list is not right
    /// (any more), are left out: their places in `saved`, and why.
    pub fn set_saved(&mut self, saved: &[SavedGrouping]) -> Vec<(usize, RegistryError)> {
        self.presets.retain(|preset| preset.kind != PresetKind::Saved);
        let mut refused = Vec::new();
        for (at, saved) in saved.iter().enumerate() {
            // Alone in a list a classifier would be hidden by a grouping of its name.
            let taken = self.entry(&saved.id).is_some() || saved.id == crate::timeline::AUTO;
            let added = if taken {
                Err(RegistryError::Taken(saved.id.clone()))
            } else {
                self.add_grouping(&saved.id, &saved.list, "")
            };
            match added {
                Ok(()) => {
                    let added = self.presets.last_mut().unwrap_or_else(|| unreachable!("just added"));
                    let description = match saved.description.as_str() {
                        "" => added.grouping.title.clone(),
                        told => told.to_owned(),
                    };
                    let grouping = Grouping { title: saved.title.clone(), description, ..(*added.grouping).clone() };
                    (added.grouping, added.kind) = (Arc::new(grouping), PresetKind::Saved);
                }
                Err(error) => refused.push((at, error)),
            }
        }
        refused
    }

    /// The packages of the program itself, as far as somebody said which they are.
    pub fn domain(&self) -> &Arc<DomainPackages> {
        &self.domain
    }

    /// Says which packages are those of the program itself. Groupings that are made from now on go by them.
    pub fn set_domain(&mut self, packages: DomainPackages) {
        self.domain = Arc::new(packages);
        let made: Vec<_> = self.presets.iter().map(|preset| expression::parse(self, &preset.list)).collect();
        for (preset, made) in self.presets.iter_mut().zip(made) {
            // What could be made before can be made again.
            if let Ok(made) = made {
                let grouping = Grouping { classifiers: made.classifiers, ..(*preset.grouping).clone() };
                preset.grouping = Arc::new(grouping);
            }
        }
    }

    fn check_name(&self, id: &str, classifier: bool) -> Result<(), RegistryError> {
        if id.is_empty() || !id.chars().all(expression::is_of_name) {
            return Err(RegistryError::NotAName(id.to_owned()));
        }
        // A grouping may be called as the only classifier in it.
        let taken = self.preset(id).is_some() || classifier && self.entry(id).is_some();
        if taken { Err(RegistryError::Taken(id.to_owned())) } else { Ok(()) }
    }

    pub(super) fn entry(&self, id: &str) -> Option<&ClassifierEntry> {
        self.entries.iter().find(|e| e.meta.id == id)
    }

    pub(super) fn entries(&self) -> &[ClassifierEntry] {
        &self.entries
    }

    /// What the classifiers say of themselves, with their options.
    pub fn classifiers(&self) -> impl Iterator<Item = (&ClassifierMeta, &'static [OptionInfo])> {
        self.entries.iter().map(|e| (&e.meta, e.options))
    }

    pub(super) fn preset(&self, id: &str) -> Option<&Preset> {
        self.presets.iter().find(|p| p.grouping.id == id)
    }

    /// The list of classifiers that a grouping of the registry is written as.
    pub fn list_of<'a>(&'a self, grouping: &'a Grouping) -> &'a str {
        self.preset(&grouping.id).map_or(&grouping.id, |preset| &preset.list)
    }

    /// Forgets a script. Returns whether there was one of that name.
    pub(super) fn take_script(&mut self, id: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| !(entry.script.is_some() && entry.meta.id == id));
        self.entries.len() < before
    }

    /// Whether a grouping may depend on one of these classifiers: whether its list has such a word anywhere.
    pub fn mentions(&self, grouping: &Grouping, ids: &[&str]) -> bool {
        self.list_of(grouping).split(|c: char| !expression::is_of_name(c)).any(|word| ids.contains(&word))
    }

    /// The scripts that a grouping is made with, by the ids of their classifiers, and their texts.
    pub fn scripts_of(&self, grouping: &Grouping) -> Vec<(&str, &Arc<str>)> {
        let used = self.entries.iter().filter(|entry| self.mentions(grouping, &[&entry.meta.id]));
        used.filter_map(|entry| Some((&*entry.meta.id, entry.script.as_ref()?))).collect()
    }

    /// The groupings with names of their own: those for tasks, then those that people saved, then all others.
    pub fn groupings(&self) -> impl Iterator<Item = &Arc<Grouping>> {
        self.tasks().chain(self.saved()).chain(self.plain())
    }

    /// The grouping of a name, or of a list of classifiers: `package>type`, `rooted(kind) > type`. A list that is that of
    /// a name is the grouping of that name.
    ///
    /// # Errors
    /// When the text is neither: the error says where, what would be right there, and what is called nearly so.
    pub fn grouping(&self, text: &str) -> Result<Arc<Grouping>, GroupingError> {
        if let Some(preset) = self.preset(text.trim()) {
            return Ok(Arc::clone(&preset.grouping));
        }
        let made = expression::parse(self, text)?;
        let same = self.presets.iter().find(|p| p.list == made.id && p.kind == PresetKind::Plain);
        Ok(same.map_or_else(|| Arc::new(made), |p| Arc::clone(&p.grouping)))
    }
}

/// Counts the changes of the shared registry.
static CHANGES: AtomicU64 = AtomicU64::new(1);

/// Differs whenever the shared registry has changed: what was read from it may be stale.
pub fn registry_revision() -> u64 {
    CHANGES.load(Ordering::Acquire)
}

static SHARED: LazyLock<RwLock<Registry>> = LazyLock::new(|| RwLock::new(Registry::new()));

/// The registry that the command line, the viewer and [`History`](crate::timeline::History) ask for names. Do not
/// [`register`] while holding it.
pub fn registry() -> RwLockReadGuard<'static, Registry> {
    SHARED.read().unwrap_or_else(|e| e.into_inner())
}

/// Changes the shared registry.
pub(super) fn change<T>(change: impl FnOnce(&mut Registry) -> T) -> T {
    let changed = change(&mut SHARED.write().unwrap_or_else(|e| e.into_inner()));
    CHANGES.fetch_add(1, Ordering::Release);
    changed
}

/// Adds to the shared registry: from now on what was added is known everywhere by its name.
///
/// # Errors
/// As the functions of [`Registry`] that `add` calls.
pub fn register<T>(add: impl FnOnce(&mut Registry) -> Result<T, RegistryError>) -> Result<T, RegistryError> {
    change(add)
}

/// The groupings with names of their own, in the shared registry.
pub fn groupings() -> Vec<Arc<Grouping>> {
    registry().groupings().cloned().collect()
}

/// A grouping by name or list, see [`Registry::grouping`], from the shared registry.
///
/// # Errors
/// As [`Registry::grouping`].
pub fn grouping(text: &str) -> Result<Arc<Grouping>, GroupingError> {
    registry().grouping(text)
}
