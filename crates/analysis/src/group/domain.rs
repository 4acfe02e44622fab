//! Domain packages: the program's own code, as against the libraries it uses.
//!
//! By default, all classes that no known library covers are the program's own. A user can name the packages ([`set_packages`]); [`guess`]
//! lists the candidates of a heap to choose from.

use memory_city_heap::{Amount, HeapState, Profile, TypeKind};
use std::collections::BTreeMap;

/// The name of classes without a package, where packages are named.
pub const NO_PACKAGE: &str = "(default package)";

/// The place of an allocation without a frame of the program itself.
pub(crate) const LIBRARIES_ONLY: &str = "(libraries only)";

/// The packages of the program itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainPackages {
    /// The user's choice; `None`: everything that no known library covers.
    pub(super) chosen: Option<Vec<String>>,
    /// True if the packages come from an input: a person's choice counts more.
    pub(super) told: bool,
}

impl DomainPackages {
    /// These, with the packages in them. [`NO_PACKAGE`] stands for classes without one.
    pub fn chosen<P: Into<String>>(packages: impl IntoIterator<Item = P>) -> DomainPackages {
        DomainPackages { chosen: Some(packages.into_iter().map(Into::into).collect()), told: false }
    }

    /// Read from a list as people write it: `com.acme, org.x`, `com.acme+org.x`; `com.acme.*` is as good.
    ///
    /// # Errors
    /// When it names no package, or something that is none.
    pub fn parse(text: &str) -> Result<DomainPackages, String> {
        let mut packages = Vec::new();
        for package in text.split([',', '+']).map(str::trim) {
            let package = package.strip_suffix(".*").unwrap_or(package).trim_end_matches('.');
            let is_of_name = |c: char| c.is_alphanumeric() || "._$-".contains(c);
            if package.is_empty() || package != NO_PACKAGE && !package.chars().all(is_of_name) {
                return Err(format!("{package:?} is no package: packages are written as com.acme,org.x"));
            }
            packages.push(package.to_owned());
        }
        Ok(DomainPackages { chosen: Some(packages), told: false })
    }

    /// The choice made in this program; `None` without one, also if an input has a list.
    pub fn chosen_here(&self) -> Option<&[String]> {
        self.chosen.as_deref().filter(|_| !self.told)
    }

    /// The packages chosen or read from an input; `None` without any.
    pub fn packages(&self) -> Option<&[String]> {
        self.chosen.as_deref()
    }

    /// Whether a class is the program's own, by its full name. Arrays go with their elements.
    pub fn covers(&self, profile: &Profile, class: &str) -> bool {
        let names = &profile.names;
        let package = names.split(class).0;
        match &self.chosen {
            None => profile.packages.is_own(class) && !names.is_primitive_array(class),
            Some(packages) => packages.iter().any(|p| match &**p {
                NO_PACKAGE => package.is_empty() && !names.is_primitive_array(class),
                p => package.strip_prefix(p).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
            }),
        }
    }
}

/// The class of a frame: `java.util.LinkedList.linkLast(Object):7` is one of `java.util.LinkedList`.
pub(crate) fn class_of_frame(frame: &str) -> &str {
    let method = frame.split(['(', ':', ' ']).next().unwrap_or(frame);
    method.rsplit_once('.').map_or(method, |(class, _)| class)
}

/// Packages that may be the program's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainGuess {
    /// The package that all of them begin with.
    pub package: String,
    /// How many classes have objects.
    pub classes: u64,
    /// Their objects.
    pub amount: Amount,
    /// Whether it is that of a known library: only where nothing else is there.
    pub library: bool,
}

impl DomainGuess {
    /// Why it is taken for the program's own, for people.
    pub fn reason(&self) -> &'static str {
        match self.library {
            false => "no known library, and loaded by the application",
            true => "a library, but nothing else is loaded by the application",
        }
    }
}

/// The packages of a heap that seem to be the program's own, the largest first. Their classes are covered by no known library, and were not
/// loaded by the VM or its platform loader. A program that is itself a known library (a database, a driver of Spark) has none of these;
/// then the libraries that the application loader has loaded are listed.
///
/// O(types + objects).
pub fn guess(heap: &HeapState) -> Vec<DomainGuess> {
    let Profile { names, packages: known, loaders, .. } = heap.profile();
    let mut amounts = vec![Amount::default(); heap.types().len()];
    for o in heap.objects() {
        amounts[heap.type_of(o).0 as usize] += Amount { objects: 1, bytes: heap.size_of(o) };
    }
    let candidates = |libraries: bool| {
        let mut packages: BTreeMap<&str, (u64, Amount)> = BTreeMap::new();
        for (t, amount) in heap.types().iter().zip(&amounts) {
            let own = match libraries {
                false => known.is_own(&t.name),
                true => !known.is_of_runtime(&t.name),
            };
            let of_application = loaders.is_of_application(&t.loader);
            let counts = amount.objects > 0 && t.kind != TypeKind::PrimitiveArray && of_application && own;
            if counts {
                let found = packages.entry(names.split(&t.name).0).or_default();
                found.0 += 1;
                found.1 += *amount;
            }
        }
        joined(packages, libraries)
    };
    match candidates(false) {
        found if found.is_empty() => candidates(true),
        found => found,
    }
}

/// Packages that share their first two names become one: their common prefix.
fn joined(packages: BTreeMap<&str, (u64, Amount)>, library: bool) -> Vec<DomainGuess> {
    let first_two = |package: &str| package.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let mut found: BTreeMap<String, (Vec<String>, u64, Amount)> = BTreeMap::new();
    for (package, (classes, amount)) in packages {
        let parts = || package.split('.').map(str::to_owned);
        let all = found.entry(first_two(package)).or_insert_with(|| (parts().collect(), 0, Amount::default()));
        let shared = all.0.iter().zip(parts()).take_while(|(a, b)| **a == *b).count();
        all.0.truncate(shared);
        all.1 += classes;
        all.2 += amount;
    }
    let guess = |(_, (parts, classes, amount)): (String, (Vec<String>, u64, Amount))| {
        let package = parts.join(".");
        let package = if package.is_empty() { NO_PACKAGE.to_owned() } else { package };
        DomainGuess { package, classes, amount, library }
    };
    let mut guesses: Vec<DomainGuess> = found.into_iter().map(guess).collect();
    guesses.sort_by(|a, b| b.amount.bytes.cmp(&a.amount.bytes).then_with(|| a.package.cmp(&b.package)));
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_heap::{HeapBuilder, HeapType};

    #[test]
    fn classes_are_the_programs_own_or_not() {
        let guessed = DomainPackages::default();
        for (class, own) in [
            ("com.acme.Cart", true),
            ("com.acme.Cart[]", true),
            ("Main", true),
            ("java.util.HashMap", false),
            ("javaish.Thing", true),
            ("org.apache.spark.sql.Row", false),
            ("org.jruby.RubyHash", false),
            ("org.mozilla.javascript.gen.shop_js_1", true),
            ("byte[]", false),
            ("java.lang.String[]", false),
        ] {
            assert_eq!(guessed.covers(&JVM, class), own, "{class}");
        }
        let chosen = DomainPackages::parse("com.acme, org.apache.spark.*").expect("packages");
        for (class, own) in [
            ("com.acme.Cart", true),
            ("com.acme.shop.Cart$Item", true),
            ("com.acmeish.Cart", false),
            ("org.apache.spark.sql.Row", true),
            ("Main", false),
        ] {
            assert_eq!(chosen.covers(&JVM, class), own, "{class}");
        }
        assert!(DomainPackages::chosen([NO_PACKAGE]).covers(&JVM, "Main"));
        assert!(!DomainPackages::chosen([NO_PACKAGE]).covers(&JVM, "int[]"));
        for wrong in ["", "com.acme,", "com acme", "(x)"] {
            assert!(DomainPackages::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn frames_have_classes() {
        for (frame, class) in [
            ("java.util.LinkedList.linkLast(Object):7", "java.util.LinkedList"),
            ("com.acme.Main.run() line 12", "com.acme.Main"),
            ("com.acme.Main.<init>(int) : void : 3", "com.acme.Main"),
            ("main", "main"),
        ] {
            assert_eq!(class_of_frame(frame), class);
        }
    }

    #[test]
    fn packages_are_guessed() {
        let heap = |types: &[(&str, &str)]| {
            let mut heap = HeapBuilder::with_profile(&JVM);
            for (i, (name, loader)) in types.iter().enumerate() {
                let kind = TypeKind::Instance;
                let of =
                    heap.add_type(HeapType { name: (*name).into(), kind, superclass: None, loader: (*loader).into() });
                heap.add_object(of, 16 * (i as u64 + 1), None);
            }
            heap.finish()
        };
        let guessed = |types: &[(&str, &str)]| -> Vec<(String, u64, u64)> {
            let one = |g: DomainGuess| (g.package, g.classes, g.amount.bytes);
            guess(&heap(types)).into_iter().map(one).collect()
        };
        let found = guessed(&[
            ("com.acme.shop.cart.Cart", "app"),
            ("com.acme.shop.order.Order", "app"),
            ("com.acme.shop.Main", "app"),
            ("org.apache.Tool", "app"),
            ("de.x.Plugin", "plug-in"),
            ("vendor.Hidden", "bootstrap"),
            ("Main", "app"),
        ]);
        let expected = [(NO_PACKAGE, 1, 112), ("com.acme.shop", 3, 96), ("de.x", 1, 80)];
        assert_eq!(found, expected.map(|(p, c, b)| (p.to_owned(), c, b)));
        // A database that is analysed is a known library, and yet the program.
        assert_eq!(
            guessed(&[("org.h2.engine.Database", "app"), ("java.util.X", "app")]),
            [("org.h2.engine".to_owned(), 1, 16)]
        );
    }
}
