//! Analysis of classes with the same name from several class loaders: a library loaded again and again, or an application that was not
//! unloaded.

use super::objects::{history, top_parameter};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Need, TimeWindow};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, RowKind, TableHeader, count_text};
use crate::timeline::{Amount, Source, Unit};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, Profile, TypeId, TypeKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(DuplicateClasses)
}

struct DuplicateClasses;

const CLASS: usize = 0;
const LOADER: usize = 1;

impl Analysis for DuplicateClasses {
    fn describe(&self) -> Description {
        Description {
            id: "duplicate-classes",
            title: "Duplicate classes",
            explanation: "Classes of the same name that several class loaders have loaded, with the instances of each, at the \
                last point in time: an application that was deployed again, and whose former class loader something keeps.",
            needs: &[Need::Objects],
            parameters: vec![top_parameter("How many classes are listed, those that most loaders have first")],
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::HeapStates
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let heap = history(document)?.heap(window.to, progress)?;
        let mut amounts = vec![Amount::default(); heap.types().len()];
        for o in heap.objects() {
            if o.0 % (1 << 16) == 0 {
                progress.check()?;
            }
            if heap.is_reachable(o) {
                amounts[heap.type_of(o).0 as usize] += Amount { objects: 1, bytes: heap.size_of(o) };
            }
        }
        let mut duplicates: Vec<(&str, Vec<usize>, Amount)> = Vec::new();
        let mut loaders: BTreeMap<ClassLoader<'_>, u64> = BTreeMap::new();
        for (name, types) in by_name(&heap) {
            let distinct = loaders_of(&heap, &types);
            if distinct.len() > 1 {
                distinct.into_iter().for_each(|loader| *loaders.entry(loader).or_default() += 1);
                let mut sum = Amount::default();
                types.iter().for_each(|&t| sum += amounts[t]);
                duplicates.push((name, types, sum));
            }
        }
        let all = duplicates.len();
        duplicates.sort_by_key(|(name, types, sum)| (Reverse(types.len()), Reverse(sum.bytes), *name));
        duplicates.truncate(arguments.count("top"));
        let mut rows = Vec::new();
        for (name, mut types, sum) in duplicates.iter().cloned() {
            let amount = |a: Amount| [Cell::Number(a.objects), Cell::Number(a.bytes)];
            let mut cells = vec![Cell::Text(name.to_owned()), Cell::Number(types.len() as u64), Cell::Empty];
            cells.extend(amount(sum));
            rows.push(Row { kind: CLASS, depth: 0, cells });
            types.sort_by_key(|&t| (Reverse(amounts[t].bytes), &heap.types()[t].loader));
            for t in types {
                let mut cells = vec![Cell::Empty, Cell::Empty, Cell::Text(heap.types()[t].loader.to_string())];
                cells.extend(amount(amounts[t]));
                rows.push(Row { kind: LOADER, depth: 1, cells });
            }
        }
        let left = (all - duplicates.len()) as u64;
        let mut by_loader: Vec<(&str, u64)> = loaders.into_iter().map(|((_, name), count)| (name, count)).collect();
        by_loader.sort_by_key(|(name, count)| (Reverse(*count), *name));
        let left_loaders = by_loader.len().saturating_sub(arguments.count("top")) as u64;
        by_loader.truncate(arguments.count("top"));
        let loader_rows = by_loader.into_iter().map(|(name, count)| Row {
            cells: vec![Cell::Text(name.to_owned()), Cell::Number(count)],
            ..Row::default()
        });
        let tables = vec![
            ResultTable {
                header: TableHeader {
                    id: "classes".into(),
                    title: "Classes of several class loaders".into(),
                    columns: columns(),
                    kinds: kinds(),
                    nested: true,
                },
                rows,
                left_out: (left > 0).then(|| (left, "classes".to_owned())),
                empty_text: "Every class has one class loader.".into(),
            },
            ResultTable {
                header: TableHeader {
                    id: "loaders".into(),
                    title: "Class loaders with classes that others have too".into(),
                    columns: vec![
                        Column::new("loader", "Class loader", CellKind::Text, "The class loader"),
                        Column::new(
                            "duplicates",
                            "Classes",
                            CellKind::Number(Unit::Count),
                            "Its classes that others have too",
                        ),
                    ],
                    ..TableHeader::default()
                },
                rows: loader_rows.collect(),
                left_out: (left_loaders > 0).then(|| (left_loaders, "class loaders".to_owned())),
                empty_text: "There is none.".into(),
            },
        ];
        let notes = vec![format!("{} names of classes belong to several class loaders.", count_text(all as u64))];
        Ok(Findings { tables, notes, ..Findings::default() })
    }
}

/// A class loader: loaders of different objects may have the same name.
type ClassLoader<'h> = (Option<u32>, &'h str);

/// The classes that are alive, by name: one that nothing reaches is about to go.
fn by_name(heap: &HeapState) -> BTreeMap<&str, Vec<usize>> {
    let is_alive = |t: usize| heap.mirror_of(TypeId(t as u32)).is_none_or(|class| heap.is_reachable(class));
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (t, of) in heap.types().iter().enumerate() {
        if of.kind == TypeKind::Instance && is_alive(t) {
            by_name.entry(&of.name).or_default().push(t);
        }
    }
    by_name
}

fn loaders_of<'h>(heap: &'h HeapState, types: &[usize]) -> HashSet<ClassLoader<'h>> {
    types.iter().map(|&t| (heap.loaders().of_type.get(t).copied().flatten(), &*heap.types()[t].loader)).collect()
}

/// A class whose name occurs only in such loaders is generated at run time, and caches of generated classes come and go. It is reported
/// only if it has grown by this factor.
const MADE_MORE: (usize, usize) = (5, 4);

/// The sentence about classes of a program with more class loaders than before: an application was deployed again, or code is generated at
/// run time, and something keeps the former class loaders. `None` without such classes.
pub(super) fn deployed_again(before: &HeapState, now: &HeapState) -> Option<String> {
    let Profile { names, packages, .. } = now.profile();
    let at_first = by_name(before);
    let of_now = by_name(now);
    // Of how many classes that lie in no other a loader has some: of an application several.
    let mut with_classes: HashMap<ClassLoader<'_>, HashSet<&str>> = HashMap::new();
    for (name, types) in &of_now {
        for loader in loaders_of(now, types) {
            with_classes.entry(loader).or_default().insert(&name[..names.outermost(name)]);
        }
    }
    let is_alone = |types: &[usize]| loaders_of(now, types).iter().all(|loader| with_classes[loader].len() == 1);
    let mut grown: Vec<(bool, usize, usize, &str)> = Vec::new();
    for (name, types) in &of_now {
        // Hidden classes and those that are made up while it runs have a loader each.
        if types.len() < 2
            || packages.is_of_runtime(name)
            || names.generated_by_loader.iter().any(|of| name.contains(of))
        {
            continue;
        }
        let loaders = loaders_of(now, types).len();
        let first = at_first.get(name).map_or(0, |types| loaders_of(before, types).len());
        let is_app = !is_alone(types);
        let (of, parts) = if is_app { (1, 1) } else { MADE_MORE };
        if loaders > first.max(1) && loaders * parts >= first * of {
            grown.push((is_app, loaders, first, name));
        }
    }
    let &(is_app, loaders, first, name) =
        grown.iter().max_by_key(|(is_app, loaders, _, name)| (*is_app, *loaders, Reverse(*name)))?;
    let alike = grown.iter().filter(|(other, many, ..)| (*other, *many) == (is_app, loaders)).count() - 1;
    let others = match alike {
        0 => "is".to_owned(),
        1 => "and 1 more class are".to_owned(),
        more => format!("and {} more classes are", count_text(more as u64)),
    };
    let why = match is_app {
        true => "an application that was deployed again, and whose former class loaders something keeps",
        false => {
            "code that is made while the program runs, each time in a class loader of its own, and that something keeps"
        }
    };
    Some(format!(
        "{name} {others} loaded by {loaders} class loaders ({first} at first): {why}. `analyse duplicate-classes` lists them."
    ))
}

fn kinds() -> Vec<RowKind> {
    let kind = |id: &str, explanation: &str, sentence: &str| RowKind {
        id: id.into(),
        explanation: explanation.into(),
        sentence: sentence.into(),
    };
    vec![
        kind(
            "class",
            "A name of a class, and all instances of classes of that name",
            "{class}: {loaders} class loaders, instances: {instances}, {bytes}",
        ),
        kind("loader", "A class loader that has a class of that name", "{loader}: instances: {instances}, {bytes}"),
    ]
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("class", "Class", CellKind::Text, "The name of the class"),
        Column::new("loaders", "Class loaders", CellKind::Number(Unit::Count), "How many have a class of that name"),
        Column::new("loader", "Class loader", CellKind::Text, "One of them"),
        Column::new("instances", "Instances", CellKind::Number(Unit::Objects), "Reachable instances"),
        Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_heap::{HeapBuilder, HeapType};

    #[test]
    fn what_was_deployed_again_is_said_where_it_became_more() {
        let deployed = |times: usize| {
            let mut heap = HeapBuilder::with_profile(&JVM);
            for n in 0..times {
                for name in ["com.acme.Shop", "com.acme.Cart", "com.acme.Shop$$Lambda", "java.util.Made"] {
                    let loader = format!("application {n}").as_str().into();
                    heap.add_type(HeapType { name: name.into(), kind: TypeKind::Instance, superclass: None, loader });
                }
            }
            heap.finish()
        };
        let said = deployed_again(&deployed(1), &deployed(3)).expect("more of them");
        assert!(
            said.starts_with("com.acme.Cart and 1 more class are loaded by 3 class loaders (1 at first)"),
            "{said}"
        );
        // Several applications that have a library each, and a first one.
        assert_eq!(deployed_again(&deployed(3), &deployed(3)), None);
        assert_eq!(deployed_again(&deployed(3), &deployed(2)), None);
        assert_eq!(deployed_again(&deployed(0), &deployed(1)), None);
    }

    #[test]
    fn code_that_is_made_while_it_runs_is_no_application() {
        let made = |times: usize| {
            let mut heap = HeapBuilder::with_profile(&JVM);
            for n in 0..times {
                for name in ["org.acme.Generated", "org.acme.Generated$Stage1"] {
                    let loader = format!("made {n}").as_str().into();
                    heap.add_type(HeapType { name: name.into(), kind: TypeKind::Instance, superclass: None, loader });
                }
            }
            heap.finish()
        };
        let said = deployed_again(&made(4), &made(9)).expect("many more of them");
        let expected =
            "org.acme.Generated and 1 more class are loaded by 9 class loaders (4 at first): code that is made";
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(deployed_again(&made(13), &made(14)), None, "a cache of them comes and goes");
    }
}
