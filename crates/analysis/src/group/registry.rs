//! The registry of classifiers and groupings, by name. More can be added at run time.

use super::classifier::{ByFunction, Classifier, ClassifierMeta};
use super::domain::DomainPackages;
use super::filter::FilterCondition;
use super::grouping::Grouping;
use super::object::ObjectView;
use super::values::ObjectValues;
use crate::grammar::{ExpressionError, is_of_name};
use std::fmt;
use std::sync::Arc;

/// An option of a classifier, written in parentheses behind its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// A line about its effect.
    pub description: &'static str,
    /// A value it may have; `None` when it has none and is just there or not.
    pub example: Option<&'static str>,
}

/// How a classifier is asked for.
#[derive(Clone, Copy)]
pub struct ClassifierRequest<'a> {
    pub(super) options: &'a [(&'a str, Option<&'a str>)],
    pub(super) above: &'a [&'a str],
    /// The list inside a transformer.
    pub(super) list: &'a [Arc<dyn Classifier>],
    /// The conditions inside a filter.
    pub(super) conditions: &'a [FilterCondition],
    /// All that stands in its parentheses, in its shortest form.
    pub(super) text: &'a str,
    pub(super) domain: &'a Arc<DomainPackages>,
}

/// The content of a classifier's parentheses.
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
    /// The text of a script, which may be replaced.
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
    List(#[from] ExpressionError),
}

/// Classifiers and groupings by name.
#[derive(Default)]
pub struct Registry {
    entries: Vec<ClassifierEntry>,
    pub(super) presets: Vec<Preset>,
    pub(super) domain: Arc<DomainPackages>,
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
    /// A built-in one, named after its list.
    Plain,
    /// A saved one.
    Saved,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|e| &e.meta.id)).finish()
    }
}

impl Registry {
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

    /// Adds a classifier with options. `make` gets the typed options, all known, and returns errors about their values. The description of
    /// the result may depend on the options.
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

    /// The groupings for tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &Arc<Grouping>> {
        self.of_kind(PresetKind::Task)
    }

    /// The groupings that people saved under names of their own.
    pub fn saved(&self) -> impl Iterator<Item = &Arc<Grouping>> {
        self.of_kind(PresetKind::Saved)
    }

    /// The groupings that are neither for tasks nor saved.
    pub fn plain(&self) -> impl Iterator<Item = &Arc<Grouping>> {
        self.of_kind(PresetKind::Plain)
    }

    fn of_kind(&self, kind: PresetKind) -> impl Iterator<Item = &Arc<Grouping>> {
        self.presets.iter().filter(move |p| p.kind == kind).map(|p| &p.grouping)
    }

    /// The packages of the program itself, as far as they were chosen.
    pub fn domain(&self) -> &Arc<DomainPackages> {
        &self.domain
    }

    pub(super) fn check_name(&self, id: &str, classifier: bool) -> Result<(), RegistryError> {
        if id.is_empty() || !id.chars().all(is_of_name) {
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

    /// The descriptions of the classifiers, with their options.
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
        self.list_of(grouping).split(|c: char| !is_of_name(c)).any(|word| ids.contains(&word))
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
}
