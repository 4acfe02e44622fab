//! Packages and loaders: whose code a type is.

use super::begins_with;
use crate::types::HeapType;

/// Packages, by the beginnings of the names in them; each ends with a dot unless single types are meant.
#[derive(Debug)]
pub struct Packages {
    /// The platform itself, which every program has.
    pub platform: &'static [&'static str],
    /// Standard libraries of the languages: with the platform, the runtime.
    pub standard: &'static [&'static str],
    /// Runtimes and widespread libraries.
    pub libraries: &'static [&'static str],
    /// Runtimes of dynamic languages: their fields are no names that a program's author knows, and their objects have a class of their own
    /// there.
    pub languages: &'static [&'static str],
    /// Packages, of dynamic languages, with the code of scripts: the program's own.
    pub scripts: &'static [&'static str],
}

impl Packages {
    /// No packages.
    pub const PLAIN: Packages = Packages { platform: &[], standard: &[], libraries: &[], languages: &[], scripts: &[] };

    /// Whether a type is of the platform, which every program has.
    pub fn is_of_platform(&self, name: &str) -> bool {
        begins_with(name, self.platform)
    }

    /// Whether a type, or a method with its type before it, belongs to the runtime itself: never to the program, under any loader.
    pub fn is_of_runtime(&self, name: &str) -> bool {
        self.is_of_platform(name) || begins_with(name, self.standard)
    }

    /// Whether a type belongs to a runtime or a widespread library.
    pub fn is_library(&self, name: &str) -> bool {
        begins_with(name, self.libraries)
    }

    /// Whether a type, or a method with its type before it, is of no library, nor of the runtime of a language.
    pub fn is_own(&self, name: &str) -> bool {
        begins_with(name, self.scripts) || !self.is_library(name) && !self.is_of_language(name)
    }

    /// Whether a type is of the runtime of a dynamic language.
    pub fn is_of_language(&self, name: &str) -> bool {
        begins_with(name, self.languages)
    }
}

/// Names of the loaders of types.
#[derive(Debug)]
pub struct LoaderNames {
    /// The loader that is the runtime itself: the last parent of all.
    pub runtime: &'static str,
    /// Loaders that live as long as the runtime, by the beginnings of their names.
    pub permanent: &'static [&'static str],
    /// Loaders that load no code of the application, by parts of their names.
    pub platform: &'static [&'static str],
}

impl LoaderNames {
    /// No loaders.
    pub const PLAIN: LoaderNames = LoaderNames { runtime: "(none)", permanent: &[], platform: &[] };

    /// Whether a loader loads code of the application.
    pub fn is_of_application(&self, loader: &str) -> bool {
        !self.platform.iter().any(|part| loader.contains(part))
    }
}

impl super::Profile {
    /// Whether a type is never unloaded. Hidden types come and go also with loaders that stay.
    pub fn is_permanent(&self, of: &HeapType) -> bool {
        begins_with(&of.loader, self.loaders.permanent) && !self.names.is_hidden(&of.name)
    }
}
