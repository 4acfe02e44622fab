use super::names::fits;
use super::*;
use crate::ownership::{Dominators, KeepRules};
use crate::progress::Progress;
use crate::{Amount, HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeId, TypeKind};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn parsed(text: &str) -> StructureFile {
    StructureFile::parse("a.ds", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_file_says_heads_parts_leaves_and_facts() {
    let file = parsed(
        r#"// Of two packages.
        namespace a.b {
            DS Map { Node[]; /* its table */ size: count, n + cells[].value - gone / 2; capacity: table.length; name: title; }
            Node { Node; (*); (*Key); key: key, k; value: val; }
            namespace c { .int[] { java.lang.Object; } }
            "odd name" { }
        }
        DS a.List* { (x.Y); }"#,
    );
    let shown: Vec<String> = file
        .descriptions()
        .iter()
        .map(|d| {
            let points: Vec<String> =
                d.points_to().iter().map(|p| format!("{}{}", if p.is_leaf { "leaf " } else { "" }, p.name)).collect();
            format!("{}{}: {}", if d.is_head() { "DS " } else { "" }, d.name(), points.join(", "))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "DS a.b.Map: a.b.Node[]",
            "a.b.Node: a.b.Node, leaf *, leaf a.b.*Key",
            "int[]: java.lang.Object",
            "a.b.odd name: ",
            "DS a.List*: leaf x.Y",
        ]
    );
    let map = &file.descriptions()[0];
    let choices = map.size().expect("a size").choices();
    let shown = |sum: &FieldSum| -> String {
        let terms = sum.terms.iter().map(|t| format!("{}{}", if t.minus { "-" } else { "+" }, t.path));
        format!("{} / {}", terms.collect::<String>(), sum.divisor)
    };
    let sums: Vec<String> = choices.iter().chain(map.capacity().expect("a capacity").choices()).map(shown).collect();
    assert_eq!(sums, ["+count / 1", "+n+cells[].value-gone / 2", "+table.length / 1"]);
    assert_eq!(map.label().iter().map(|p| p.to_string()).collect::<Vec<_>>(), ["title"]);
    let node = &file.descriptions()[1];
    assert!(node.is_entry() && !map.is_entry() && node.key().len() == 2 && node.value().len() == 1);
}

#[test]
fn errors_name_the_line_the_column_and_what_was_expected() {
    for (text, message) in [
        ("DS", "line 1, column 3: found the end of the file, expected the name of a type behind `DS`"),
        ("DS A { B }", "line 1, column 10: found `}`, expected `;`"),
        ("DS A {\n  B;\n  (C;\n}", "line 3, column 5: found `;`, expected `)`"),
        (
            "DS A { B; ",
            "line 1, column 11: found the end of the file, expected the name of a type, `(`, a fact such as `size:`, or `}`",
        ),
        ("DS A { size: ; }", "line 1, column 14: found `;`, expected a field"),
        (
            "DS A { sise: n; }",
            "line 1, column 8: found `sise`, expected `size`, `capacity`, `load`, `key`, `value` or `name` before `:`",
        ),
        ("DS A { size: n; size: m; }", "line 1, column 17: found `size` again, expected each fact once"),
        (
            "DS A { size: a..b; }",
            "line 1, column 14: found `a..b`, expected a field, or a path of fields such as `table.length` or `cells[].value`",
        ),
        ("DS A { size: a[]; }", "line 1, column 14: found `a[]`, expected a field of the elements behind `[]`"),
        (
            "DS A {}\n\nDS A {}",
            "line 3, column 4: found a second description of A, expected one; the first is in line 1",
        ),
        ("é }", "line 1, column 3: found `}`, expected `{`"),
        ("}", "line 1, column 1: found `}`, expected `DS`, `namespace`, or the name of a type"),
        (
            "namespace a { DS B {}",
            "line 1, column 22: found the end of the file, expected `DS`, `namespace`, the name of a type, or `}`",
        ),
        ("namespace a.*{}", "line 1, column 11: found `a.*`, expected the name of a package behind `namespace`"),
        ("* { A; }", "line 1, column 1: found a description of all types, expected a name with more than `*`"),
        ("A {} /* b", "line 1, column 6: found a comment without end, expected `*/` behind it"),
        ("DS \"a\n\" {}", "line 1, column 4: found a quotation without end, expected `\"` in the same line"),
        ("DS A { B#C; }", "line 1, column 9: found `#`, expected a name, a mark or a comment"),
    ] {
        let error = StructureFile::parse("a.ds", text).expect_err(text);
        assert_eq!(error.to_string(), format!("a.ds, {message}"), "{text}");
    }
}

#[test]
fn hostile_files_end_in_an_error_or_in_descriptions() {
    let many = |part: &str, n: usize| part.repeat(n);
    for (text, is_error) in [
        (many("namespace a { ", 1 << 20), true),
        (many("(", 1 << 20), true),
        (many("/*", 1 << 20), true),
        (many("a", 1 << 20), true),
        (format!("A {{ {} }}", many("B; ", 1 << 20)), false),
        (format!("A {{ {} }}", many("B*; ", 2000)), true),
        (format!("A {{ size: {}a; }}", many("a.", 1000)), true),
        (format!("A {{ size: a{}; }}", many(" + a", 1 << 18)), false),
        ((0..100_000).map(|n| format!("DS A{n}{{B{n};(*);}}\n")).collect(), false),
        (many("\n", 17 << 20), true),
    ] {
        let parsed = StructureFile::parse("a.ds", &text);
        assert_eq!(parsed.is_err(), is_error, "{:?}", parsed.err());
    }
}

#[test]
fn a_formatted_file_has_a_line_for_each_part() {
    let text = "namespace a{DS Map{Node[];(*);size:n,m+k;}// the nodes\n\n\n/* of\n two */Node{Node ;\n// more\n(*)\n;}}\n\"x y\"{}";
    let expected = "namespace a {\n    DS Map {\n        Node[];\n        (*);\n        size: n, m + k;\n    } // the nodes\n\n    \
        /* of\n two */ Node {\n        Node;\n        // more\n        (*);\n    }\n}\n\"x y\" {}\n";
    assert_eq!(formatted("a.ds", text).expect("a file"), expected);
    assert_eq!(formatted("a.ds", expected).expect("a file"), expected);
}

#[test]
fn wildcards_stand_for_any_text() {
    for (pattern, name, expected) in [
        ("a.b", "a.b", true),
        ("a.b", "a.bc", false),
        ("*Node", "a.b$Node", true),
        ("*Node", "a.b$Node[]", false),
        ("a.*", "a.", true),
        ("a*a", "a", false),
        ("a*b*c", "a.b.b.c", true),
        ("a*b*c", "a.c.b", false),
        ("*", "", true),
        ("**", "x", true),
        ("*a*a*", "a", false),
    ] {
        assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
    }
}

/// A heap of objects of these types.
struct PlannedHeap {
    names: Vec<(&'static str, Option<usize>)>,
    objects: Vec<usize>,
    references: Vec<(usize, usize)>,
}

impl PlannedHeap {
    fn heap(&self) -> HeapState {
        let mut heap = HeapBuilder::new();
        for &(name, superclass) in &self.names {
            let kind = if name.ends_with("[]") { TypeKind::ObjectArray } else { TypeKind::Instance };
            let superclass = superclass.map(|t| TypeId(t as u32));
            heap.add_type(HeapType { name: name.into(), kind, superclass, loader: "".into() });
        }
        for (o, &of) in self.objects.iter().enumerate() {
            let length = self.names[of].0.ends_with("[]").then_some(3);
            heap.add_object(TypeId(of as u32), 16 + o as u64, length);
        }
        for &(from, to) in &self.references {
            heap.add_reference(ObjectId(from as u32), ObjectId(to as u32));
        }
        heap.add_root(Root { object: ObjectId(0), kind: RootKind::Thread, detail: String::new() });
        heap.finish()
    }

    fn description<'f>(&self, files: &[&'f StructureFile], of: usize) -> Option<&'f TypeDescription> {
        let (name, superclass) = self.names[of];
        let all = || files.iter().rev().flat_map(|file| file.descriptions().iter().rev());
        let exact = all().find(|d| d.name() == name);
        let found = exact.or_else(|| all().find(|d| d.name().contains('*') && fits(d.name(), name)));
        match superclass {
            Some(above) if !name.ends_with("[]") => found.or_else(|| self.description(files, above)),
            _ => found,
        }
    }

    /// All names of a type: its own and those of its supertypes.
    fn names_of(&self, of: usize) -> Vec<&'static str> {
        let (name, superclass) = self.names[of];
        let above = superclass.filter(|_| !name.ends_with("[]")).map(|above| self.names_of(above));
        [vec![name], above.unwrap_or_default()].concat()
    }

    /// The parts and leaves of the structure of a head, by the four cases as they are written.
    fn structure(&self, files: &[&StructureFile], head: usize) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let (mut parts, mut leaves) = (BTreeSet::from([head]), BTreeSet::new());
        loop {
            let before = (parts.len(), leaves.len());
            for &(from, to) in &self.references {
                if !parts.contains(&from) || to == head {
                    continue;
                }
                let of = self.description(files, self.objects[to]);
                let names = self.names_of(self.objects[to]);
                let pointed = |leaf: bool| {
                    let Some(d) = self.description(files, self.objects[from]) else {
                        return !leaf && self.names[self.objects[from]].0.ends_with("[]");
                    };
                    let mut all = d.points_to().iter().filter(|p| p.is_leaf == leaf);
                    all.any(|p| names.iter().any(|name| fits(&p.name, name)))
                };
                let implicit = self.description(files, self.objects[from]).is_none();
                let goes_on = of.is_some() || names[0].ends_with("[]");
                if of.is_some_and(|of| of.is_head()) {
                    if pointed(true) || pointed(false) {
                        leaves.insert(to);
                    }
                } else if pointed(false) && (goes_on || !implicit) {
                    parts.insert(to);
                } else if pointed(false) || pointed(true) {
                    leaves.insert(to);
                }
            }
            if before == (parts.len(), leaves.len()) {
                break;
            }
        }
        parts.remove(&head);
        (parts.clone(), leaves.difference(&parts).copied().collect())
    }
}

const NAMES: [(&str, Option<usize>); 9] = [
    ("a.Map", None),
    ("a.Node", None),
    ("a.Tree", Some(0)),
    ("b.Node", Some(1)),
    ("b.Set", None),
    ("a.Node[]", None),
    ("b.Item", None),
    ("b.Item[]", None),
    ("b.Own", Some(6)),
];

/// Words of which descriptions are made.
const WORDS: [&str; 12] =
    ["a.Map", "a.Node", "a.Tree", "b.Node", "b.Set", "a.Node[]", "b.Item", "b.Item[]", "*", "a.*", "*Node", "*[]"];

/// A description: which word, whether it is a head, and what it points to.
type Chosen = (usize, bool, Vec<(usize, bool)>);

fn chosen() -> impl Strategy<Value = Vec<Chosen>> {
    prop::collection::vec((0usize..12, any::<bool>(), prop::collection::vec((0usize..12, any::<bool>()), 0..4)), 0..7)
}

fn text(all: &[Chosen]) -> String {
    let mut known = BTreeSet::new();
    let mut text = String::new();
    for (at, is_head, points_to) in all {
        if WORDS[*at] == "*" || !known.insert(at) {
            continue;
        }
        text += &format!("{}{}{{", if *is_head { "DS " } else { "" }, WORDS[*at]);
        for (to, is_leaf) in points_to {
            text += &if *is_leaf { format!("({});", WORDS[*to]) } else { format!("{};", WORDS[*to]) };
        }
        text += "}";
    }
    text
}

fn closure(all: &BTreeSet<usize>, leaves: BTreeSet<usize>) -> StructureClosure {
    let amount = Amount { objects: all.len() as u64, bytes: all.iter().map(|&o| 16 + o as u64).sum() };
    StructureClosure { amount, leaves: leaves.into_iter().map(|o| ObjectId(o as u32)).collect() }
}

proptest! {
    /// The structures of random heaps are those of a naive reading of the rules, whatever is shared.
    #[test]
    fn structures_are_those_of_the_four_cases(
        first in chosen(), second in chosen(),
        objects in prop::collection::vec(0usize..NAMES.len(), 1..24),
        references in prop::collection::vec((0usize..24, 0usize..24), 0..60),
    ) {
        let n = objects.len();
        let references = references.into_iter().map(|(from, to)| (from % n, to % n)).collect();
        let plan = PlannedHeap { names: NAMES.to_vec(), objects, references };
        let heap = plan.heap();
        let files = [&parsed(&text(&first)), &parsed(&text(&second))];
        let mut descriptions = Descriptions::default();
        files.iter().for_each(|file| descriptions.add((*file).clone()));
        // A description of a later file takes the place of the earlier one: so does the naive search, which begins with the last.
        let progress = Progress::new();
        let rules = StructureRules::new(&heap, &descriptions, &progress).expect("rules");
        let is_head = |o: &usize| plan.description(&files, plan.objects[*o]).is_some_and(|d| d.is_head());
        let heads: Vec<usize> = (0..n).filter(is_head).collect();
        let expected: Vec<_> = heads.iter().map(|&head| plan.structure(&files, head)).collect();
        for (at, (parts, leaves)) in expected.iter().enumerate() {
            let of = |is_deep| StructureClosure::new(&heap, &rules, &[ObjectId(heads[at] as u32)], is_deep, &progress);
            let own: BTreeSet<usize> = parts.iter().chain(leaves).chain([&heads[at]]).copied().collect();
            prop_assert_eq!(of(false).expect("a closure"), closure(&own, leaves.clone()));
            // Whatever structures are met, until none is new.
            let (mut all, mut rest) = (BTreeSet::from([heads[at]]), vec![at]);
            while let Some(at) = rest.pop() {
                let inside = expected[at].1.iter().filter_map(|leaf| heads.binary_search(leaf).ok());
                rest.extend(inside.filter(|&inner| all.insert(heads[inner])));
            }
            let met: Vec<usize> = (0..heads.len()).filter(|&at| all.contains(&heads[at])).collect();
            let inner: BTreeSet<usize> =
                met.iter().flat_map(|&at| expected[at].0.iter().copied().chain([heads[at]])).collect();
            let outer: BTreeSet<usize> =
                met.iter().flat_map(|&at| expected[at].1.iter().copied()).filter(|o| !inner.contains(o)).collect();
            prop_assert_eq!(of(true).expect("a closure"), closure(&inner.union(&outer).copied().collect(), outer));
        }
        for limit in [u64::MAX, 0] {
            let found = FoundStructures::within(&heap, &rules, None, limit, &progress).expect("structures");
            prop_assert_eq!(found.heads().iter().map(|o| o.0 as usize).collect::<Vec<_>>(), heads.clone());
            for (at, (parts, leaves)) in expected.iter().enumerate() {
                let extent = found.extents()[at];
                let all = parts.iter().chain(leaves).count() as u32;
                prop_assert!(extent.is_whole || limit == 0);
                if extent.is_whole {
                    let bytes: u64 = parts.iter().chain([&heads[at]]).map(|&o| 16 + o as u64).sum();
                    prop_assert_eq!((extent.parts, extent.leaves, extent.bytes), (parts.len() as u32, leaves.len() as u32, bytes));
                } else {
                    prop_assert!(extent.parts + extent.leaves <= all);
                }
            }
            for o in 0..n {
                let holders: Vec<usize> =
                    (0..heads.len()).filter(|&at| expected[at].0.contains(&o) || expected[at].1.contains(&o)).collect();
                let held = match holders[..] {
                    [] => HeldBy::Nothing,
                    [one] => HeldBy::One(one as u32),
                    _ => HeldBy::Several,
                };
                let id = ObjectId(o as u32);
                prop_assert_eq!(found.holders_of(id), held, "{} {:?}", o, &heads);
                let role = match () {
                    () if heads.contains(&o) => StructureRole::Head,
                    () if expected.iter().any(|(parts, _)| parts.contains(&o)) => StructureRole::Part,
                    () if holders.is_empty() => StructureRole::Outside,
                    () => StructureRole::Leaf,
                };
                prop_assert_eq!(found.role_of(id), role);
                let with = |is_in: &dyn Fn(usize) -> bool| {
                    let heads = (0..heads.len()).filter(|&at| is_in(at)).map(|at| ObjectId(heads[at] as u32));
                    heads.filter(|head| *head != id).collect::<Vec<_>>()
                };
                let containing = ContainingStructures {
                    as_part: with(&|at| expected[at].0.contains(&o)),
                    as_leaf: with(&|at| expected[at].1.contains(&o)),
                    is_whole: true,
                };
                let found = ContainingStructures::of(&heap, &rules, id, usize::MAX, &progress);
                prop_assert_eq!(found.expect("not cancelled"), containing);
            }
        }
    }

    /// What the outermost structures retain, and what none retains, add up to all that roots keep.
    #[test]
    fn outermost_structures_add_up_to_the_heap(
        all in chosen(),
        objects in prop::collection::vec(0usize..NAMES.len(), 1..24),
        references in prop::collection::vec((0usize..24, 0usize..24), 0..60),
    ) {
        let n = objects.len();
        let references = references.into_iter().map(|(from, to)| (from % n, to % n)).collect();
        let plan = PlannedHeap { names: NAMES.to_vec(), objects, references };
        let (heap, progress) = (plan.heap(), Progress::new());
        let mut descriptions = Descriptions::default();
        descriptions.add(parsed(&text(&all)));
        let rules = StructureRules::new(&heap, &descriptions, &progress).expect("rules");
        let found = FoundStructures::new(&heap, &rules, Some(heap.reachable()), &progress).expect("structures");
        let dominators = Dominators::new(&heap, KeepRules::default(), &progress).expect("owners");
        let outermost = found.outermost(&dominators);
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        for o in heap.objects().filter(|&o| dominators.is_reached(o)) {
            *sums.entry(outermost[o.0 as usize]).or_default() += heap.size_of(o);
        }
        let outside = sums.remove(&0).unwrap_or(0);
        for (&number, &bytes) in &sums {
            prop_assert_eq!(bytes, dominators.retained(found.heads()[number as usize - 1]).bytes);
        }
        prop_assert_eq!(outside + sums.values().sum::<u64>(), dominators.total().bytes);
    }

    /// A formatted file has the same descriptions, and is its own form, whatever comments and blanks it had.
    #[test]
    fn formatted_files_parse_to_the_same(all in chosen(), gaps in prop::collection::vec(0usize..8, 40)) {
        const GAPS: [&str; 8] = ["", " ", "\n", "\n\n\n", "/* a */", "/*\n b */\n", "// c\n", "\t// d \n // e\n\n"];
        let text = format!("namespace x {{ {} }} \"y z\"{{size:a-b,c[].d;}}", text(&all));
        let mut spread = String::new();
        let mut gaps = gaps.iter().cycle();
        for c in text.chars() {
            if matches!(c, '{' | '}' | ';' | '(' | ')') {
                spread += GAPS[*gaps.next().expect("a gap")];
            }
            spread.push(c);
            if matches!(c, '{' | '}' | ';' | '(' | ')') {
                spread += GAPS[*gaps.next().expect("a gap")];
            }
        }
        let file = parsed(&spread);
        prop_assert_eq!(&file, &parsed(&text));
        let once = formatted("a.ds", &spread).expect("a file");
        prop_assert_eq!(&parsed(&once), &file, "{}", once);
        prop_assert_eq!(&formatted("a.ds", &once).expect("a file"), &once);
    }

    /// Any text is an error with a place in the text, or a file whose form parses.
    #[test]
    fn any_text_is_parsed_or_refused(text in "[DSa*.\\[\\](){};:,+\\-\"/ \n\u{e9}\u{feff}#]{0,60}") {
        match StructureFile::parse("a.ds", &text) {
            Ok(file) => prop_assert_eq!(parsed(&formatted("a.ds", &text).expect("a form")), file),
            Err(error) => prop_assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1 && error.column >= 1),
        }
    }
}

/// A chain of a million nodes, and one that many lists share: neither recursion nor the sum of all structures.
#[test]
fn long_and_shared_chains_take_time_by_the_size_of_the_heap() {
    let n = 300_000;
    let names = vec![("List", None), ("Cell", None)];
    // Each list begins at another cell of one chain.
    let objects: Vec<usize> = (0..2 * n).map(|o| usize::from(o >= n)).collect();
    let lists = (0..n).map(|o| (o, n + o));
    let cells = (n..2 * n - 1).map(|o| (o, o + 1));
    let heap = PlannedHeap { names, objects, references: lists.chain(cells).collect() }.heap();
    let mut descriptions = Descriptions::default();
    descriptions.add(parsed("DS List { Cell; } Cell { Cell; }"));
    let progress = Progress::new();
    let rules = StructureRules::new(&heap, &descriptions, &progress).expect("rules");
    let found = FoundStructures::new(&heap, &rules, None, &progress).expect("structures");
    assert_eq!(
        found.extents()[0],
        StructureExtent {
            bytes: heap.objects().filter(|o| o.0 == 0 || o.0 >= n as u32).map(|o| heap.size_of(o)).sum(),
            parts: n as u32,
            leaves: 0,
            entries: 0,
            is_whole: true,
        }
    );
    assert!(found.extents().iter().any(|extent| !extent.is_whole), "the work is limited, and that is known");
    assert_eq!(found.holders_of(ObjectId(n as u32)), HeldBy::One(0));
    assert_eq!(found.holders_of(ObjectId(2 * n as u32 - 1)), HeldBy::Several);
}
