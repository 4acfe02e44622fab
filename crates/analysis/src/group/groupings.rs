//! Groupings of a registry, by name or as a list.

use super::domain::DomainPackages;
use super::expression;
use super::grouping::Grouping;
use super::registry::{Preset, PresetKind, Registry, RegistryError};
use std::sync::Arc;

impl Registry {
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
}
