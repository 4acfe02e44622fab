//! The headline of a leaking place: its last meaningful name, its type, and its elements.

use super::leak_verdict::HEADLINE;
use crate::ownership::{Elements, OwnerPath};
use crate::timeline::{brief, shortened};
use memory_city_heap::Profile;
use std::sync::Arc;

/// Letters of the name in the line.
const NAME: usize = 70;
/// The beginning of the names of thread locals.
const THREAD_LOCAL: &str = "thread local ";
/// Letters of what a place fills up with.
const MOST_OF_ELEMENTS: usize = 50;

/// True if a type, or the class `class X`, is of the program itself, whose fields are meaningful.
fn is_of_program(profile: &Profile, of: &str) -> bool {
    let name = of.strip_prefix("class ").unwrap_or(of);
    let is_runtime = profile.packages.is_of_runtime(name) || profile.packages.is_of_language(name);
    !is_runtime && !profile.collections.covers(name) && !name.ends_with("[]")
}

/// True if the name of a place is of the program itself: places that are only shared are not.
fn is_name_of_program(profile: &Profile, name: &str) -> bool {
    is_of_program(profile, name) && !name.starts_with("shared")
}

/// True if a type, or the class `class X`, is of a widespread library.
fn is_of_library(profile: &Profile, of: &str) -> bool {
    profile.packages.is_library(of.strip_prefix("class ").unwrap_or(of))
}

/// The name of a place in the headline, and its type, unless the name says it.
pub(super) struct HeadlineName {
    pub name: String,
    pub container: Option<String>,
}

impl HeadlineName {
    /// Named by the fields on the path to it if they are known; otherwise by the last names of its owners.
    pub fn of(names: &[Arc<str>], path: Option<&OwnerPath>, profile: &Profile) -> HeadlineName {
        let named = path
            .and_then(|path| by_fields(profile, names, path).or_else(|| by_static(profile, names, path)))
            .unwrap_or_else(|| by_owners(profile, names));
        let mut named = path.and_then(|path| by_key(profile, names, path, &named)).unwrap_or(named);
        for unsaid in profile.names.unsaid {
            named.name = named.name.replace(unsaid, "");
        }
        named
    }

    /// Named by the two or three places that keep it together: each would have to let go.
    pub fn of_sharers(names: &[Arc<str>]) -> Option<HeadlineName> {
        let at = names.iter().rposition(|name| name.contains(" and "))?;
        let sharers = names[at].strip_prefix("shared by ")?.split(" and ").map(brief);
        let name = sharers.collect::<Vec<_>>().join(" and ");
        Some(HeadlineName { name, container: names.get(at + 1).map(|of| brief(of)) })
    }

    /// The field of the program at a step of a path, or the last one above an index, with that: `Catalog.tables[1]`. None at a key.
    pub fn field_of(path: &OwnerPath, at: usize, profile: &Profile) -> Option<String> {
        let field = |at: usize| path.steps.get(at).and_then(|step| step.field.as_deref()).unwrap_or_default();
        let holder = |at: usize| path.steps[at - 1].of.trim_start_matches("class ");
        let is_key = path.steps.get(at)?.key.is_some();
        let index = Some(field(at)).filter(|field| field.starts_with('[') && *field != "[*]").unwrap_or_default();
        let tells = |at: &usize| is_of_program(profile, holder(*at)) && !is_link(profile, field(*at));
        let named = (1..=at).rev().find(tells).filter(|&named| !is_key && (named == at || !index.is_empty()))?;
        Some(format!("{}{index}", field_name(path, named)))
    }

    /// `EventBus.instance.handlers (HashMap)`.
    pub fn text(&self) -> String {
        let name = shortened(&self.name, NAME);
        self.container.as_ref().map_or_else(|| name.clone(), |of| format!("{name} ({})", shortened(of, NAME / 2)))
    }
}

/// Whether a field says nothing of what it holds: a slot, the next of a chain, a constant of compiled code.
fn is_link(profile: &Profile, field: &str) -> bool {
    let unsaid = profile.entries.unsaid_fields;
    let is_empty = field.is_empty() || field.starts_with(['[', '<']) || unsaid.iter().any(|of| field.starts_with(of));
    is_empty || matches!(field, "next" | "prev" | "previous")
}

/// The last field on the way that belongs to a class of the program, with the class or the static field that its object hangs on. A field
/// inside a library comes behind the last one of the program's own classes, or the thread: that is what its author can change.
fn by_fields(profile: &Profile, names: &[Arc<str>], path: &OwnerPath) -> Option<HeadlineName> {
    let steps = &path.steps;
    let tells = |at: &usize| {
        let field = steps[*at].field.as_deref().unwrap_or_default();
        !is_link(profile, field) && is_of_program(profile, &steps[at - 1].of) && steps[at - 1].of != steps[*at].of
    };
    // Where a thread of the runtime owns it, the field that holds it.
    let is_of_runtime = || match names {
        [thread, below @ ..] => {
            thread.starts_with("thread ") && !below.iter().any(|of| is_name_of_program(profile, of))
        }
        [] => false,
    };
    let in_runtime = |at: &usize| {
        let is_field = !is_link(profile, steps[*at].field.as_deref().unwrap_or_default());
        is_field && names.last().is_some_and(|of| **of == *steps[*at].of)
    };
    let last = |holds: &dyn Fn(&usize) -> bool| (1..steps.len()).rev().find(holds);
    let at = last(&tells).or_else(|| last(&in_runtime).filter(|_| is_of_runtime()))?;
    let is_own = |at: &usize| tells(at) && !is_of_library(profile, &steps[at - 1].of);
    let own = (1..=at).rev().find(is_own);
    // Another holder's field is no name of this place: where a static field owns it, the way must begin there.
    if let [class, field, ..] = names
        && let (true, Some(field)) = (class.starts_with("class "), field.strip_prefix("static "))
        && (steps[0].of != **class || steps.get(1)?.field.as_deref() != Some(field))
    {
        return None;
    }
    let name = |at: usize| field_name(path, at);
    let begins_with_own = at == 2 && steps[0].of.starts_with("class ");
    let name = match (own, names.first()) {
        (Some(own), _) if own < at && !begins_with_own => format!("{} › {}", name(own), name(at)),
        (None, Some(thread)) if thread.starts_with("thread ") => format!("{thread} › {}", name(at)),
        _ => name(at),
    };
    Some(HeadlineName { name, container: Some(brief(&steps[at].of)) })
}

/// A field on a path with what it belongs to: its class, or the static field that its object hangs on.
fn field_name(path: &OwnerPath, at: usize) -> String {
    let (steps, class) = (&path.steps, |of: &str| brief(of.strip_prefix("class ").unwrap_or(of)));
    let (holder, field) = (at - 1, steps[at].field.as_deref().unwrap_or_default());
    match (holder, steps[holder].field.as_deref()) {
        (1, Some(instance)) if steps[0].of.starts_with("class ") => {
            format!("{}.{instance}.{field}", class(&steps[0].of))
        }
        _ => format!("{}.{field}", class(&steps[holder].of)),
    }
}

/// The static field that the way begins at, where only many sharers and the runtime hold it.
fn by_static(profile: &Profile, names: &[Arc<str>], path: &OwnerPath) -> Option<HeadlineName> {
    let [first, rest @ ..] = names else { return None };
    let [class, held, ..] = &path.steps[..] else { return None };
    let tells = rest.is_empty() || rest.iter().any(|name| is_name_of_program(profile, name));
    let class = class.of.strip_prefix("class ").filter(|_| first.starts_with("shared by more") && !tells)?;
    let field = held.field.as_deref().filter(|field| !is_link(profile, field))?;
    Some(HeadlineName { name: format!("{}.{field}", brief(class)), container: Some(brief(&held.of)) })
}

/// The key of the table that holds the place, if it comes behind the last field that tells something. The key of a global variable is a
/// whole name; that of a table of the program follows the name of the table. A variable of a class or a module follows that name.
fn by_key(profile: &Profile, names: &[Arc<str>], path: &OwnerPath, named: &HeadlineName) -> Option<HeadlineName> {
    let at = path.steps.iter().rposition(|step| step.key.is_some())?;
    let key = path.steps[at].key.as_deref()?;
    // What the program has below the value has a name of its own.
    let tells = |at: &usize| {
        let field = path.steps[*at].field.as_deref().unwrap_or_default();
        is_of_program(profile, &path.steps[at - 1].of) && !is_link(profile, field)
    };
    let last = (1..path.steps.len()).rev().find(tells);
    if let Some(last) = last.filter(|&last| last > at) {
        return by_key_above(profile, path, at, last, named);
    }
    let container = names.last().map(|of| brief(of));
    let known = &profile.entries;
    let is_said = |above: &str| {
        !known.is_qualified(key)
            && !known.is_qualified(above)
            && !known.unsaid_keys.iter().any(|unsaid| above.starts_with(unsaid))
    };
    let field = |at: usize| path.steps[at].field.as_deref().unwrap_or_default();
    let holder = |at: usize| path.steps[at - 1].of.trim_start_matches("class ");
    let of_runtime = || {
        let at = (1..at).rev().find(|&at| !is_link(profile, field(at)) && !profile.collections.covers(holder(at)))?;
        let is_table = is_of_runtime_table(profile, holder(at), &path.steps[at].of);
        is_table.then(|| format!("{}.{}", brief(holder(at)), field(at)))
    };
    let table = if last.is_some() { Some(named.name.clone()) } else { of_runtime() };
    let name = match table.filter(|_| !known.is_qualified(key)) {
        Some(table) => format!("{table}[{key:?}]"),
        None => {
            let above =
                path.steps[..at].iter().rev().filter_map(|step| step.key.as_deref()).find(|&above| above != key);
            above.filter(|above| is_said(above)).map_or_else(|| key.to_owned(), |above| format!("{above}.{key}"))
        }
    };
    Some(HeadlineName { name, container })
}

/// A place behind a table that holds it by a key: the table with the key, and the field behind it. Where a library has the table, only a place
/// inside the library needs it, such as one of its caches: a field of the program's own is enough.
fn by_key_above(
    profile: &Profile,
    path: &OwnerPath,
    at: usize,
    last: usize,
    named: &HeadlineName,
) -> Option<HeadlineName> {
    let field = |at: usize| path.steps[at].field.as_deref().unwrap_or_default();
    let holder = |at: usize| path.steps[at - 1].of.trim_start_matches("class ");
    let tells = |at: &usize| is_of_program(profile, holder(*at)) && !is_link(profile, field(*at));
    let is_library = |at: usize| is_of_library(profile, holder(at));
    let table = (1..=at).rev().find(tells)?;
    let key = path.steps[at].key.as_deref().unwrap_or_default();
    let name = match is_library(table) {
        true if !(1..=last).filter(tells).all(is_library) => return None,
        true => format!("{}[{key:?}] › {}", field_name(path, table), named.name),
        // The field of the object that the table holds.
        false if last == at + 1 => format!("{}[{key:?}].{}", field_name(path, table), field(last)),
        false => format!("{}[{key:?}] › {}", field_name(path, table), field_name(path, last)),
    };
    Some(HeadlineName { name, container: named.container.clone() })
}

/// Whether a holder is of the runtime itself, and of no language that calls its variables by keys, and what it holds is a collection.
fn is_of_runtime_table(profile: &Profile, holder: &str, table: &str) -> bool {
    let packages = &profile.packages;
    packages.is_of_runtime(holder) && !packages.is_of_language(holder) && profile.collections.covers(table)
}

/// The end of the names of its owners from the last one on that is of the program.
fn by_owners(profile: &Profile, names: &[Arc<str>]) -> HeadlineName {
    let part = |name: &Arc<str>| match name.strip_prefix(THREAD_LOCAL) {
        Some(variable) => format!("{THREAD_LOCAL}{}", variable.split(' ').map(brief).collect::<Vec<_>>().join(" ")),
        None => brief(name),
    };
    let mut parts: Vec<String> = names.iter().map(part).collect();
    let mut known: Vec<bool> = names.iter().map(|name| is_name_of_program(profile, name)).collect();
    if let [class, field, ..] = names
        && let (Some(class), Some(field)) = (class.strip_prefix("class "), field.strip_prefix("static "))
    {
        parts.splice(..2, [format!("{}.{field}", brief(class))]);
        known.splice(..2, [true]);
    }
    let last = known.iter().rposition(|&tells| tells);
    match last {
        Some(at) => {
            // A type says which it is only with what holds it.
            let from = if at > 0 && known[at - 1] && !names[0].starts_with("shared") { at - 1 } else { at };
            let container = parts[at + 1..].iter().find(|of| !of.starts_with("shared ")).cloned();
            let mut name = parts[from..=at].join(" › ");
            // Each thread has its own value of a thread local.
            if from > 0 && parts[from].starts_with(THREAD_LOCAL) && parts[0].starts_with("thread ") {
                name = format!("{} › {name}", parts[0]);
            }
            HeadlineName { name, container }
        }
        None => HeadlineName { name: parts[parts.len().saturating_sub(2)..].join(" › "), container: None },
    }
}

/// The line after the tag: `PersonRegistry.PERSONS (LinkedList): 12,400 Person, +2.0 MB, 97 % of the heap's growth`.
pub(super) fn line(name: &HeadlineName, elements: &str, amount: &str, more: usize) -> String {
    let more = match more {
        0 => String::new(),
        1 => "; and 1 more place".to_owned(),
        n => format!("; and {n} more places"),
    };
    let rest = if elements.is_empty() { format!("{amount}{more}") } else { format!(", {amount}{more}") };
    // What stands between the parts.
    let room = (HEADLINE - 2).saturating_sub(rest.chars().count());
    let elements = shortened(elements, MOST_OF_ELEMENTS);
    let room = room.saturating_sub(elements.chars().count());
    let whole = name.text();
    let name = if whole.chars().count() <= room { whole } else { shortened(&name.name, room) };
    format!("{name}: {elements}{rest}")
}

/// The objects of a place itself, in a few words; none for a single state of one object.
pub(super) fn elements_text(elements: &Elements, count: u64, is_thread: bool, grew: bool) -> String {
    match elements {
        Elements::Larger if !grew => String::new(),
        Elements::Larger => "larger than before".to_owned(),
        _ if is_thread => count_of(count, "threads"),
        _ => count_of(count, "objects"),
    }
}

/// A number of things.
pub(super) fn count_of(count: u64, things: &str) -> String {
    format!("{} {things}", crate::tabular::count_text(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ownership::RootedStep;
    use memory_city_formats::JVM;

    fn named(names: &[&str], steps: &[(&str, &str)]) -> String {
        let names: Vec<Arc<str>> = names.iter().map(|&name| name.into()).collect();
        let steps = steps.iter().map(|&(field, of)| RootedStep {
            field: (!field.is_empty()).then(|| field.to_owned()),
            of: of.to_owned(),
            key: (field == "val").then(|| "$open".to_owned()),
        });
        let path = OwnerPath { root: String::new(), steps: steps.collect(), filled: None };
        HeadlineName::of(&names, Some(&path).filter(|path| !path.steps.is_empty()), &JVM).text()
    }

    #[test]
    fn the_headline_ends_at_the_last_name_that_tells_something() {
        let bus = ["class com.acme.EventBus", "static instance", "com.acme.EventBus", "groovy.lang.MapWithDefault"];
        let way = [
            ("", "class com.acme.EventBus"),
            ("instance", "com.acme.EventBus"),
            ("handlers", "groovy.lang.MapWithDefault"),
            ("map", "java.util.LinkedHashMap"),
            ("table", "java.util.HashMap$Node[]"),
            ("[7]", "java.util.HashMap$Node"),
            ("value", "java.util.ArrayList"),
        ];
        assert_eq!(named(&bus, &way), "EventBus.instance.handlers (MapWithDefault)");
        let persons = ["class a.Registry", "static PERSONS", "java.util.LinkedList"];
        let fields =
            [("", "class a.Registry"), ("PERSONS", "java.util.LinkedList"), ("first", "java.util.LinkedList$Node")];
        assert_eq!(named(&persons, &fields), "Registry.PERSONS (LinkedList)");
        assert_eq!(named(&persons, &[]), "Registry.PERSONS (LinkedList)");
        // The way is that of another holder.
        assert_eq!(
            named(&persons, &[("", "class a.Other"), ("seen", "java.util.LinkedList")]),
            "Registry.PERSONS (LinkedList)"
        );
        let shared = ["shared by more than 3", "org.apache.StandardManager", "java.util.HashMap"];
        assert_eq!(named(&shared, &[]), "StandardManager (HashMap)");
        let globals = ["org.jruby.Ruby", "org.jruby.RubyHash"];
        let way = [
            ("", "class org.jruby.Ruby"),
            ("globalRuntime", "org.jruby.Ruby"),
            ("variables", "java.util.concurrent.ConcurrentHashMap"),
            ("[3]", "java.util.concurrent.ConcurrentHashMap$Node"),
            ("val", "org.jruby.internal.runtime.GlobalVariable"),
            ("value", "org.jruby.RubyHash"),
        ];
        assert_eq!(named(&globals, &way), "$open (RubyHash)");
        let regions = ["class a.Cache", "static regions", "java.util.HashMap", "java.util.ArrayList"];
        let way = [
            ("", "class a.Cache"),
            ("regions", "java.util.HashMap"),
            ("[3]", "java.util.HashMap$Node"),
            ("val", "java.util.ArrayList"),
        ];
        assert_eq!(named(&regions, &way), "Cache.regions[\"$open\"] (ArrayList)");
        // Inside a library, what its user wrote comes first.
        let events = ["class a.Shop", "static EVENTS", "com.google.common.eventbus.EventBus"];
        let way = [
            ("", "class a.Shop"),
            ("EVENTS", "com.google.common.eventbus.EventBus"),
            ("subscribers", "com.google.common.eventbus.SubscriberRegistry"),
            ("subscribers", "java.util.concurrent.ConcurrentHashMap"),
        ];
        assert_eq!(named(&events, &way), "Shop.EVENTS › SubscriberRegistry.subscribers (ConcurrentHashMap)");
        assert_eq!(named(&events, &way[..3]), "Shop.EVENTS.subscribers (SubscriberRegistry)");
        let thread = ["thread loop", "io.netty.util.internal.InternalThreadLocalMap", "java.util.ArrayList"];
        let way = [
            ("", "io.netty.util.concurrent.FastThreadLocalThread"),
            ("threadLocalMap", "io.netty.util.internal.InternalThreadLocalMap"),
            ("indexedVariables", "java.lang.Object[]"),
            ("[1]", "java.util.ArrayList"),
        ];
        assert_eq!(named(&thread, &way), "thread loop › InternalThreadLocalMap.indexedVariables (Object[])");
        let local = ["thread main", "local variable of a.B.run()", "java.util.ArrayList"];
        assert_eq!(named(&local, &[]), "thread main › local variable of a.B.run (ArrayList)");
    }

    /// What the runtime holds has its fields for a name.
    #[test]
    fn what_hangs_on_the_runtime_is_named_with_what_holds_it() {
        let thread = "java.lang.Thread";
        let locals = "java.lang.ThreadLocal$ThreadLocalMap";
        let pool =
            ["thread p-#", "shared between several", "java.util.concurrent.ThreadPoolExecutor", "java.util.Queue"];
        let queue = [("", thread), ("this$0", pool[2]), ("workQueue", pool[3]), ("head", "java.util.Queue$Node")];
        let table = [("", thread), ("threadLocals", locals), ("[3]", "java.lang.ThreadLocal$ThreadLocalMap$Entry")];
        let beans = ["shared by more than 3", "com.sun.jmx.mbeanserver.Repository", "java.util.HashMap"];
        let domains = [
            ("", "class java.lang.management.ManagementFactory"),
            ("repository", beans[1]),
            ("domainTb", beans[2]),
            ("[9]", "java.util.HashMap$Node"),
            ("val", beans[2]),
        ];
        for (names, way, name) in [
            (&pool[..], &queue[..], "thread p-# › ThreadPoolExecutor.workQueue (Queue)"),
            (&pool[..], &[], "thread p-# (ThreadPoolExecutor)"),
            (&["thread m", locals, "thread local a.B.NOW"], &table, "thread m › thread local B.NOW"),
            (&["thread m", locals, "thread local of a.B"], &table, "thread m › thread local of B"),
            (&beans, &domains, "Repository.domainTb[\"$open\"] (HashMap)"),
        ] {
            assert_eq!(named(names, way), name);
        }
    }

    #[test]
    fn two_or_three_that_share_a_place_are_its_name() {
        for (names, name) in [
            (&["class a.B", "shared by a.B.now and a.B.gone", "a.Entry"][..], Some("B.now and B.gone (Entry)")),
            (&["class a.B", "static now", "a.Entry"], None),
            (&["shared by more than 3", "a.Entry"], None),
        ] {
            let names: Vec<Arc<str>> = names.iter().map(|&name| name.into()).collect();
            assert_eq!(HeadlineName::of_sharers(&names).map(|name| name.text()).as_deref(), name, "{names:?}");
        }
    }

    /// Variables of dynamic languages hang in tables, by their names.
    #[test]
    fn keys_are_names() {
        let step = |field: &str, of: &str, key: Option<&str>| RootedStep {
            field: Some(field.to_owned()),
            of: of.to_owned(),
            key: key.map(str::to_owned),
        };
        let node = ("[3]", "java.util.HashMap$Node", None);
        for (steps, name) in [
            // A variable of a class, and one of a module.
            (
                &[
                    ("objectClass", "org.jruby.RubyClass", None),
                    ("val", "org.jruby.RubyModule$ConstantEntry", Some("Tracker")),
                    ("value", "org.jruby.RubyClass", None),
                    ("val", "org.jruby.RubyArray", Some("@@events")),
                ][..],
                "Tracker.@@events",
            ),
            (
                &[
                    ("val", "org.python.core.PyModule", Some("__main__")),
                    node,
                    ("val", "org.python.core.PyList", Some("jobs")),
                ],
                "jobs",
            ),
            // The cell of a variable says it again.
            (&[("value", "bsh.Variable", Some("tickets")), ("value", "java.util.HashMap", Some("tickets"))], "tickets"),
            // A constant of compiled code is no name; a variable with its namespace is a whole one.
            (
                &[
                    ("referent", "class shop.orders$handle", None),
                    ("const__15", "clojure.lang.Var", None),
                    ("root", "clojure.lang.Atom", Some("#'shop.orders/cost")),
                ],
                "#'shop.orders/cost",
            ),
            // A table of the program.
            (
                &[
                    ("regions", "com.acme.Regions", None),
                    ("all", "java.util.HashMap", None),
                    node,
                    ("val", "java.util.ArrayList", Some("eu")),
                ],
                "System.regions.all[\"eu\"]",
            ),
        ] {
            let mut all = vec![RootedStep { field: None, of: "class java.lang.System".into(), key: None }];
            all.extend(steps.iter().map(|&(field, of, key)| step(field, of, key)));
            let path = OwnerPath { root: String::new(), steps: all, filled: None };
            let names = ["shared by more than 3".into(), "java.util.ArrayList".into()];
            assert_eq!(HeadlineName::of(&names, Some(&path), &JVM).name, name, "{steps:?}");
        }
        let store = ["class a.Store$".into(), "static MODULE$".into(), "a.Store$".into(), "java.util.ArrayList".into()];
        let steps = vec![
            RootedStep { field: None, of: "class a.Store$".into(), key: None },
            step("MODULE$", "a.Store$", None),
            step("live", "java.util.ArrayList", None),
        ];
        let path = OwnerPath { root: String::new(), steps, filled: None };
        assert_eq!(HeadlineName::of(&store, Some(&path), &JVM).text(), "Store.live (ArrayList)");
    }

    /// The program chose the key, the library has the rest. Many sharers of what the runtime holds are no name.
    #[test]
    fn tables_of_libraries_and_of_the_runtime_are_names() {
        let step = |field: &str, of: &str, key: Option<&str>| RootedStep {
            field: Some(field.to_owned()),
            of: of.to_owned(),
            key: key.map(str::to_owned),
        };
        let way = |class: &str, steps: Vec<RootedStep>| {
            let class = RootedStep { field: None, of: class.to_owned(), key: None };
            OwnerPath { root: String::new(), steps: std::iter::once(class).chain(steps).collect(), filled: None }
        };
        let cache = |of: &str| {
            let steps = vec![
                step("singleton", "net.sf.ehcache.CacheManager", None),
                step("ehcaches", "java.util.HashMap", None),
                step("val", of, Some("baskets")),
                step("store", "net.sf.ehcache.store.MemoryStore", None),
            ];
            let names = ["class net.sf.ehcache.CacheManager".into(), "static singleton".into(), of.into()];
            HeadlineName::of(&names, Some(&way("class net.sf.ehcache.CacheManager", steps)), &JVM).text()
        };
        assert_eq!(
            cache("net.sf.ehcache.Cache"),
            "CacheManager.singleton.ehcaches[\"baskets\"] › Cache.store (MemoryStore)"
        );
        assert_eq!(cache("com.acme.Baskets"), "Baskets.store (MemoryStore)", "the program's own field is enough");
        let region = |entries: &str| {
            let steps = vec![
                step("CACHE", "a.Cache", None),
                step("regions", "java.util.HashMap", None),
                step("value", "a.Region", Some("asia")),
                step("entries", entries, None),
                step("elementData", "java.lang.Object[]", None),
            ];
            let names = ["class a.Shop".into(), "static CACHE".into(), "a.Region".into(), entries.into()];
            HeadlineName::of(&names, Some(&way("class a.Shop", steps)), &JVM).text()
        };
        assert_eq!(region("java.util.ArrayList"), "Shop.CACHE.regions[\"asia\"].entries (ArrayList)");
        let file = "java.util.zip.ZipFile$Source";
        let steps = vec![step("files", "java.util.HashMap", None), step("value", file, None)];
        let path = way(&format!("class {file}"), steps);
        let many = ["shared by more than 3".into(), file.into()];
        assert_eq!(HeadlineName::of(&many, Some(&path), &JVM).text(), "ZipFile$Source.files (HashMap)");
    }

    #[test]
    fn the_line_fits() {
        let name = HeadlineName { name: "x".repeat(300), container: Some("y".repeat(300)) };
        let line = line(&name, &"z".repeat(300), "+2.00 MB, 97 % of the heap's growth", 3);
        assert!(line.chars().count() <= HEADLINE, "{line}");
    }
}
