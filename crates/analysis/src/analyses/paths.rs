//! Analysis `paths`: the paths from GC roots to a group, object by object, merged by type and field; and the roots that keep it.

use super::interface::{Analysis, Description, Findings, Need};
use super::objects::{GROUPS, group_parameter, groups, history};
use super::parameters::{Arguments, Parameter, ParameterKind};
use crate::ownership::{GroupWays, PathEnd, WayKind, WayQuestion};
use crate::tabular::{Cell, CellKind, Column, NodeLink, ResultTable, Row, RowKind, TableHeader};
use crate::timeline::{Source, TimeWindow, Timeline, Unit};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(PathsToRoots)
}

struct PathsToRoots;

/// How references that the VM may clear count: the parameter of all analyses of owners.
pub(super) fn soft_parameter() -> Parameter {
    Parameter {
        id: "soft",
        title: "Soft references",
        explanation: "keep: they keep what they refer to, as in a VM that has memory left; as-weak: they do not. Weak, \
            phantom and finalizer references never do",
        kind: ParameterKind::Choice { default: "keep", choices: &["keep", "as-weak"] },
    }
}

/// The rules for references from a parameter.
pub(super) fn rules(arguments: &Arguments) -> KeepRules {
    match arguments.word("soft") {
        "as-weak" => KeepRules::SOFT_AS_WEAK,
        _ => KeepRules::default(),
    }
}

impl Analysis for PathsToRoots {
    fn describe(&self) -> Description {
        let number = Parameter::number;
        Description {
            id: "paths",
            title: "Paths to GC roots",
            explanation: "What keeps a group alive at the last point in time, upwards from the group: the objects that \
                hold its objects, those that hold these, and so on to the GC roots, merged by type and field, with the \
                share of the group that is reached through each; and the roots that keep it.",
            needs: &[Need::Objects],
            parameters: vec![
                group_parameter(GROUPS),
                Parameter {
                    id: "kind",
                    title: "Paths",
                    explanation: "interesting: every way through which enough of the group is reached; shortest: for each \
                        object of the group a path with the fewest weaker references, as short as possible; owners: only what alone keeps objects alive, and \
                        where nothing does, the shortest path",
                    kind: ParameterKind::Choice {
                        default: "interesting",
                        choices: &["interesting", "shortest", "owners"],
                    },
                },
                number(
                    "share",
                    "Share of the group",
                    "Percent of the group's objects, or of what these keep alive, that must be reached through a step so that it is followed",
                    5,
                    0,
                    100,
                ),
                number(
                    "top",
                    "Steps",
                    "How many steps are followed, those through which most is reached first",
                    40,
                    1,
                    10_000,
                ),
                number("roots", "Roots", "How many roots are listed one by one", 10, 0, 1_000_000),
                soft_parameter(),
            ],
        }
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let history = history(document)?;
        let nodes = groups(document, arguments.word("group"))?;
        let question = WayQuestion {
            kind: match arguments.word("kind") {
                "owners" => WayKind::Owners,
                "shortest" => WayKind::Shortest,
                _ => WayKind::Interesting,
            },
            share: arguments.number("share"),
            most: arguments.count("top"),
            rules: rules(arguments),
        };
        let ways = GroupWays::find(history, window.to, &nodes, question, progress)?;
        let mut writer = PathRows { timeline: document.timeline(), ways: &ways, rows: Vec::new() };
        writer.all();
        let steps = ResultTable {
            header: TableHeader {
                id: "paths".into(),
                title: format!("Paths to GC roots ({}, upwards from the group)", arguments.word("kind")),
                columns: columns(),
                kinds: kinds(),
                nested: true,
            },
            rows: writer.rows,
            left_out: None,
            empty_text: "The group has no objects at this point in time.".into(),
        };
        Ok(Findings { tables: vec![steps, roots_table(&ways, arguments.count("roots"))], ..Findings::default() })
    }
}

const GROUP: usize = 0;
const STEP: usize = 1;
const ROOT: usize = 2;
const LEFT_OUT: usize = 3;
const END: usize = 4;

fn columns() -> Vec<Column> {
    let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
    vec![
        Column::new(
            "step",
            "Step",
            CellKind::Text,
            "Type and field of the objects that hold those of the step below; or the root",
        ),
        Column::new(
            "objects",
            "Objects",
            objects,
            "Objects of the step; of a root, those of the step that it holds; each once",
        ),
        Column::new("reached", "Reached", objects, "Objects of the group that are reached through it"),
        Column::new("share", "Share", CellKind::Percent, "Their share of the group"),
        Column::new(
            "reached_keeps",
            "Keep",
            bytes,
            "What they keep alive: each by itself, without what others of the group keep",
        ),
        Column::new("keeps_share", "Share kept", CellKind::Percent, "Its share of what all objects of the group keep"),
        Column::new("reached_bytes", "Reached, bytes", bytes, "Their shallow bytes"),
        Column::new(
            "retained",
            "Retained",
            bytes,
            "What would be freed if all objects of the step were: exactly, as one group",
        ),
        Column::new("references", "References", CellKind::Number(Unit::Count), "References to the step below"),
        Column::new(
            "again",
            "Again",
            objects,
            "Further objects, of types that are on the way already, through which the way goes on upwards (nodes of a \
             list, maps in maps)",
        ),
        Column::new("kinds", "Kinds", CellKind::Number(Unit::Count), "How many kinds of holders are not followed"),
        Column::new("end", "End", CellKind::Text, "Why nothing is above"),
        Column::new("type", "Type", CellKind::Text, "Type of the objects of the step, or the class it stands for"),
        Column::new("field", "Field", CellKind::Text, "By which fields or elements they hold the step below"),
        Column::new("group", "Group", CellKind::Node, "The group in which most objects of the step are"),
    ]
}

fn kinds() -> Vec<RowKind> {
    let kind = |id: &str, explanation: &str, sentence: &str| RowKind {
        id: id.into(),
        explanation: explanation.into(),
        sentence: sentence.into(),
    };
    vec![
        kind(
            "group",
            "The group: where paths begin",
            "{step}\n{objects} objects, {reached_bytes}; retained {retained}",
        ),
        kind(
            "step",
            "Objects that hold those of the step below",
            "<- {step} x {objects}: {share}, {keeps_share} of what it keeps; retained {retained}",
        ),
        kind(
            "root",
            "A GC root that holds objects of the step",
            "<- root  {step} x {objects}: {share}, {keeps_share} of what it keeps",
        ),
        kind(
            "left_out",
            "Holders that are not followed",
            "<- and further kinds of holders: {kinds}, with {objects} objects",
        ),
        kind("end", "Why nothing is above", "{end}"),
    ]
}

struct PathRows<'a> {
    timeline: &'a Timeline,
    ways: &'a GroupWays,
    rows: Vec<Row>,
}

impl PathRows<'_> {
    fn push(&mut self, kind: usize, depth: u32, cells: impl IntoIterator<Item = (&'static str, Cell)>) {
        let columns = columns();
        let mut row = Row { kind, depth, cells: vec![Cell::Empty; columns.len()] };
        for (id, cell) in cells {
            if let Some(at) = columns.iter().position(|c| c.id == id) {
                row.cells[at] = cell;
            }
        }
        self.rows.push(row);
    }

    /// Rows of each step, with its roots, the steps above it, and the number left out. A step lies below the one that it holds.
    fn all(&mut self) {
        let found = self.ways;
        let (whole, all_kept) = (found.about().objects, found.steps[0].keeps);
        if whole == 0 {
            return;
        }
        let mut above: Vec<Vec<usize>> = vec![Vec::new(); found.steps.len()];
        (1..found.steps.len()).for_each(|at| above[found.steps[at].below].push(at));
        // Steps and what is left to say of them: None is what comes after all that is above.
        let mut open = vec![(0usize, 0u32, false)];
        while let Some((at, depth, after)) = open.pop() {
            let step = &found.steps[at];
            if after {
                let (kinds, objects) = step.left_out;
                if kinds > 0 {
                    let cells = [("kinds", Cell::Number(kinds)), ("objects", Cell::Number(objects))];
                    self.push(LEFT_OUT, depth + 1, cells);
                }
                let end = match step.end {
                    PathEnd::Nothing if step.left_out.0 == 0 => Some("nothing else holds it"),
                    PathEnd::Nothing => Some("each way further up leads to too little of the group"),
                    PathEnd::NotFollowed => Some("as many steps as were asked for: there are ways further up"),
                    PathEnd::GoesOn | PathEnd::Roots => None,
                };
                if let Some(end) = end {
                    self.push(END, depth + 1, [("end", Cell::Text(end.to_owned()))]);
                }
                continue;
            }
            self.step(at, depth, whole);
            for root in &step.roots {
                let cells = [
                    ("step", Cell::Text(root.text.clone())),
                    ("objects", Cell::Number(root.held)),
                    ("reached", Cell::Number(root.reached.objects)),
                    ("reached_bytes", Cell::Number(root.reached.bytes)),
                    ("share", share(root.reached.objects, whole)),
                    ("reached_keeps", Cell::Number(root.keeps)),
                    ("keeps_share", share(root.keeps, all_kept)),
                ];
                self.push(ROOT, depth + 1, cells);
            }
            open.push((at, depth, true));
            open.extend(above[at].iter().rev().map(|&next| (next, depth + 1, false)));
        }
    }

    fn step(&mut self, at: usize, depth: u32, whole: u64) {
        let step = &self.ways.steps[at];
        let name = match (at, step.node) {
            (0, Some(node)) => self.timeline.path_label(node),
            (0, None) => "the group".to_owned(),
            _ => step.text(),
        };
        let cells = [
            ("step", Cell::Text(name)),
            ("objects", Cell::Number(step.objects)),
            ("reached", Cell::Number(step.reached.objects)),
            ("share", share(step.reached.objects, whole)),
            ("reached_bytes", Cell::Number(step.reached.bytes)),
            ("reached_keeps", Cell::Number(step.keeps)),
            ("keeps_share", share(step.keeps, self.ways.steps[0].keeps)),
            ("retained", Cell::Number(step.retained.bytes)),
            ("again", if step.again == 0 { Cell::Empty } else { Cell::Number(step.again) }),
            ("type", if at == 0 { Cell::Empty } else { Cell::Text(step.of.clone()) }),
            ("field", if step.field.is_empty() { Cell::Empty } else { Cell::Text(step.field.clone()) }),
            ("references", if at == 0 { Cell::Empty } else { Cell::Number(step.references) }),
        ];
        let link = step.node.map(|node| ("group", Cell::Node(NodeLink::new(self.timeline, node))));
        self.push(if at == 0 { GROUP } else { STEP }, depth, cells.into_iter().chain(link));
    }
}

fn share(part: u64, whole: u64) -> Cell {
    if whole > 0 { Cell::Percent(100.0 * part as f64 / whole as f64) } else { Cell::Empty }
}

/// The roots that keep a group, by kind, and those one by one that are nearest to most of it.
fn roots_table(ways: &GroupWays, most: usize) -> ResultTable {
    let (near, kinds) = (&ways.nearest, &ways.kinds);
    let whole = ways.about().objects;
    let objects = CellKind::Number(Unit::Objects);
    let columns = vec![
        Column::new("root", "Root", CellKind::Text, "A kind of GC roots, or one of them"),
        Column::new(
            "roots",
            "Roots",
            CellKind::Number(Unit::Count),
            "How many roots of the kind there are, by their text",
        ),
        Column::new(
            "reached",
            "Reached",
            objects,
            "Objects of the group that are reached from all roots of the kind, by any way",
        ),
        Column::new("reached_share", "Share reached", CellKind::Percent, "Their share of the group"),
        Column::new("nearest", "Nearest", objects, "Objects of the group to which a shortest path leads from there"),
        Column::new("nearest_share", "Share nearest", CellKind::Percent, "Their share of the group"),
    ];
    let listed = most.min(near.len());
    let mut rows = Vec::new();
    for kind in kinds {
        let cells = vec![
            Cell::Text(kind.text.clone()),
            Cell::Number(kind.roots),
            Cell::Number(kind.keeps.objects),
            share(kind.keeps.objects, whole),
            Cell::Empty,
            Cell::Empty,
        ];
        rows.push(Row { kind: 0, depth: 0, cells });
        for root in near[..listed].iter().filter(|r| r.kind == kind.kind) {
            let cells = vec![
                Cell::Text(root.text.clone()),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Number(root.keeps.objects),
                share(root.keeps.objects, whole),
            ];
            rows.push(Row { kind: 1, depth: 1, cells });
        }
    }
    let kind = |id: &str, explanation: &str, sentence: &str| RowKind {
        id: id.into(),
        explanation: explanation.into(),
        sentence: sentence.into(),
    };
    let kinds = vec![
        kind(
            "kind",
            "A kind of roots, from which objects of the group are reached",
            "{root} x {roots}: {reached_share} reached",
        ),
        kind(
            "root",
            "One of them, by the share of the group to which it is nearest",
            "{root}: nearest to {nearest_share}",
        ),
    ];
    let header = TableHeader { id: "roots".into(), title: "Roots that keep it".into(), columns, kinds, nested: true };
    let left_out = Some(((near.len() - listed) as u64, "roots that are nearest to fewer".to_owned()));
    ResultTable { header, rows, left_out, empty_text: "No root reaches it.".into() }
}
