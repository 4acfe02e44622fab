//! Names of owners. They are the same from time to time: no address, no line number, no number of a thread.

use memory_city_heap::{HeapState, ObjectId, Root, RootKind, TypeId, VIRTUAL_THREADS};

/// The name of a type in source form, without parts that differ from run to run.
#[inline]
pub(super) fn type_name(heap: &HeapState, of: TypeId) -> &str {
    heap.profile().names.stable(&heap.types()[of.0 as usize].name)
}

/// A text with every run of digits as one `#`: threads of a pool are numbered.
pub(super) fn without_numbers(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if short.ends_with('#') => {}
            true => short.push('#'),
            false => short.push(c),
        }
    }
    short
}

/// The names for a root, one below the other.
pub(super) fn root_names(heap: &HeapState, root: &Root) -> Vec<String> {
    let names = &heap.profile().names;
    let chain: Vec<&str> = root.chain().collect();
    let starts_with_thread = root.detail.starts_with("thread \"");
    match (root.kind, &chain[1..]) {
        (RootKind::StaticField, [class, field]) => vec![class_name(class), static_name(field)],
        (RootKind::LocalVariable, [thread, place]) if starts_with_thread => {
            vec![
                thread_name(thread),
                format!("local variable of {}", names.place_without_addresses(without_line(place))),
            ]
        }
        (RootKind::Thread, [thread]) => vec![thread_name(thread)],
        (_, [thread, what]) if starts_with_thread => vec![thread_name(thread), without_numbers(what)],
        (_, [what, thread]) => vec![thread_name(thread), without_numbers(what)],
        (kind, [text, ..]) if !text.is_empty() => vec![format!("{}: {}", kind.title(), without_numbers(text))],
        (kind, _) => vec![kind.title().to_owned()],
    }
}

pub(super) fn class_name(class: &str) -> String {
    format!("class {class}")
}

pub(super) fn static_name(field: &str) -> String {
    format!("static {field}")
}

fn thread_name(thread: &str) -> String {
    match thread {
        VIRTUAL_THREADS => thread.to_owned(),
        _ => format!("thread {}", without_numbers(thread)),
    }
}

/// `com.acme.Main.run() line 12` without the line.
fn without_line(place: &str) -> &str {
    place.rsplit_once(" line ").map_or(place, |(method, line)| match line.bytes().all(|b| b.is_ascii_digit()) {
        true => method,
        false => place,
    })
}

/// How little a kind of root says.
fn rank_of(kind: RootKind) -> u32 {
    match kind {
        RootKind::StaticField => 0,
        RootKind::Thread => 1,
        RootKind::LocalVariable => 2,
        RootKind::ClassLoader | RootKind::Own { passing: false, .. } => 3,
        RootKind::Jni | RootKind::Jvmti | RootKind::Management => 4,
        RootKind::CodeBlob | RootKind::Monitor | RootKind::Own { passing: true, .. } => 5,
        RootKind::Other => 6,
    }
}

/// The root that says most of those that hold an object, static fields of class objects left out: those are references of
/// the class. Of those alone that `count`.
pub(crate) fn best_root(heap: &HeapState, o: ObjectId, counts: impl Fn(RootKind) -> bool) -> Option<&Root> {
    let rank = |root: &Root| rank_of(root.kind);
    let fields_count = !heap.has_class_objects();
    // A task of a pool is a variable of the pool's method too, which says nothing of it.
    let is_runtime = |root: &Root| {
        root.kind == RootKind::LocalVariable
            && root.chain().last().is_some_and(|place| heap.profile().packages.is_of_runtime(place))
    };
    // By name where several say as much: the order of roots is another in every dump.
    let name = |root: &&Root| (rank(root), is_runtime(root), root_names(heap, root));
    let roots = heap.roots_of(o).filter(|r| fields_count || r.kind != RootKind::StaticField);
    let mut roots = roots.filter(|root| counts(root.kind));
    let first = roots.next()?;
    let best = match roots.next() {
        None => first,
        Some(second) => roots.chain([first, second]).min_by_key(name)?,
    };
    // A handle of native code, or of an image, says nothing beside a static field that holds the same.
    let says_little = rank(best) >= rank_of(RootKind::Jni);
    let fields = || heap.roots_of(o).filter(|root| root.kind == RootKind::StaticField);
    Some(match says_little {
        true => fields().min_by_key(name).unwrap_or(best),
        false => best,
    })
}

/// The name of the static field of a class that holds an object, where one does.
pub(super) fn static_field<'h>(heap: &'h HeapState, class: &str, o: ObjectId) -> Option<&'h str> {
    let fields = heap.roots_of(o).filter(|r| r.kind == RootKind::StaticField).filter_map(|r| {
        let (of, field) = r.detail.rsplit_once('.')?;
        (of == class).then_some(field)
    });
    fields.min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_heap::{HeapBuilder, HeapType, TypeKind};

    #[test]
    fn names_do_not_change_from_run_to_run() {
        use RootKind as K;
        let heap = HeapBuilder::with_profile(&JVM).finish();
        for (kind, detail, expected) in [
            (K::StaticField, "com.acme.Cache.entries", vec!["class com.acme.Cache", "static entries"]),
            (
                K::LocalVariable,
                "thread \"pool-12-thread-3\", a.B.c() line 12",
                vec!["thread pool-#-thread-#", "local variable of a.B.c()"],
            ),
            (
                K::LocalVariable,
                "thread \"w\", a.Shop$$Lambda$170+0x00007f1c901bb328.run() line 3",
                vec!["thread w", "local variable of a.Shop$$Lambda.run()"],
            ),
            (
                K::LocalVariable,
                "thread \"w\", a.Shop$$Lambda/0x00007f1c901bb328.run()",
                vec!["thread w", "local variable of a.Shop$$Lambda.run()"],
            ),
            (K::LocalVariable, "stack of thread \"x\"", vec!["thread x", "stack"]),
            (K::Thread, "thread \"main\"", vec!["thread main"]),
            (K::Jni, "JNI local of thread \"main\"", vec!["thread main", "JNI local"]),
            (K::Jni, "JNI global", vec!["JNI: JNI global"]),
            (K::Monitor, "", vec!["Monitor"]),
            (K::named("(Global handles)", false), "", vec!["(Global handles)"]),
            (K::named("(Global handles)", false), "handle 12", vec!["(Global handles): handle #"]),
        ] {
            let root = Root { object: ObjectId(0), kind, detail: detail.into() };
            assert_eq!(root_names(&heap, &root), expected, "{detail}");
        }
    }

    /// The task of a pool's thread is a variable of three methods, two of them of the pool.
    #[test]
    fn of_the_variables_that_hold_a_task_that_of_the_program_names_it() {
        let details = [
            "java.util.concurrent.ThreadPoolExecutor.runWorker() line 1136",
            "zoo.Consumer.run() line 7",
            "java.lang.Thread.run()",
        ];
        for first in 0..details.len() {
            let mut heap = HeapBuilder::with_profile(&JVM);
            let of = heap.add_type(HeapType {
                name: "zoo.Consumer".into(),
                kind: TypeKind::Instance,
                superclass: None,
                loader: "app".into(),
            });
            let task = heap.add_object(of, 16, None);
            for at in 0..details.len() {
                let method = details[(first + at) % details.len()];
                heap.add_root(Root {
                    object: task,
                    kind: RootKind::LocalVariable,
                    detail: format!("thread \"w-1\", {method}"),
                });
            }
            let heap = heap.finish();
            let named = best_root(&heap, task, |_| true).map(|root| root_names(&heap, root)).expect("a root");
            assert_eq!(named, ["thread w-#", "local variable of zoo.Consumer.run()"]);
        }
    }
}
