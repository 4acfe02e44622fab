//! The tools: names, schemas, and how each is answered. All of them are commands of the command line too.

use super::answer::{LEAST, MOST, ToolAnswer, USUAL};
use super::inputs::{MOST_LISTED, OpenInput, OpenInputs};
use crate::cli::check::check_text;
use crate::cli::report::{TreeArgs, tree_text};
use memory_city_analysis::analyses::check::{CheckLimits, check};
use memory_city_analysis::analyses::report::{self, Report, ReportOptions};
use memory_city_analysis::analyses::{AnalysisRegistry, Description, NextStep, Parameter, TimeWindow, compare};
use memory_city_analysis::group::registry;
use memory_city_analysis::tabular::{Cell, bytes_text};
use memory_city_analysis::timeline::{AUTO, NodeId, Source, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::printable::line_text;
use memory_city_heap::progress::Progress;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Rows of each table, unless a call asks for others.
const ROWS: usize = 10;
/// Most next calls that findings name in an answer.
const MOST_NEXT: usize = 3;

/// A tool.
struct AssistantTool {
    name: &'static str,
    /// For the assistant: what it answers, and when to call it.
    description: &'static str,
    /// Its arguments as a JSON schema: properties, and which are required.
    schema: fn() -> (Value, &'static [&'static str]),
    answer: fn(Value, &mut OpenInputs, &Progress) -> Result<String>,
}

const TOOLS: [AssistantTool; 8] = [
    AssistantTool {
        name: "inputs",
        description: "List what may be opened, and what is open under which id.",
        schema: || (json!({ "limit": limit() }), &[]),
        answer: inputs,
    },
    AssistantTool {
        name: "open",
        description: "Open heap dumps of one run (several, a while apart, tell growth), a recording, a trace or memory trees. Answers with the \
            id that all other tools take, and the points in time.",
        schema: || {
            let paths = json!({ "type": "array", "items": { "type": "string" }, "description": "Files and folders of one run" });
            (json!({ "paths": paths, "grouping": grouping(), "limit": limit() }), &["paths"])
        },
        answer: open,
    },
    AssistantTool {
        name: "report",
        description: "The verdict: what leaks, who keeps it alive and since when, or that nothing grows, or why that cannot be judged; then \
            what grows most. Call it first after open.",
        schema: || {
            (json!({ "input": input(), "from": from(), "to": to(), "rows": rows(), "limit": limit() }), &["input"])
        },
        answer: report_of,
    },
    AssistantTool {
        name: "groups",
        description: "The groups of objects as a tree: objects, bytes, growth and share of each, sorted and filtered.",
        schema: || {
            let columns = "bytes, objects, growth, growth_percent, share, name";
            let properties = json!({
                "input": input(), "from": from(), "to": to(), "rows": rows(), "limit": limit(),
                "sort": { "type": "string", "description": format!("Column: {columns}. Default: growth") },
                "where": { "type": "string", "description": "Filter: bytes > 1MB and (growth > 20% or name ~ \"HashMap\")" },
                "leaves": { "type": "boolean", "description": "The innermost groups alone, as one list. Default: true" },
            });
            (properties, &["input"])
        },
        answer: groups,
    },
    AssistantTool {
        name: "analyses",
        description: "The analyses that can be made of an input, a line for each, and why others cannot; with an id, its parameters.",
        schema: || {
            let id = json!({ "type": "string", "description": "An analysis, to see its parameters" });
            (json!({ "input": input(), "id": id, "limit": limit() }), &["input"])
        },
        answer: analyses,
    },
    AssistantTool {
        name: "analyse",
        description: "Make one analysis: paths to GC roots, biggest objects, what would be freed by a cut, allocation sites, collections, ... \
            (see analyses).",
        schema: || {
            let parameters =
                json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } });
            let properties = json!({
                "input": input(), "id": { "type": "string", "description": "The analysis: leak, paths, biggest, sites, ..." },
                "parameters": parameters, "from": from(), "to": to(), "rows": rows(), "limit": limit(),
            });
            (properties, &["input", "id"])
        },
        answer: analyse,
    },
    AssistantTool {
        name: "compare",
        description: "Compare two runs that are open, before and after a change: what is alive and what grew, by owner and group.",
        schema: || {
            let properties = json!({ "before": input(), "after": input(), "rows": rows(), "limit": limit() });
            (properties, &["before", "after"])
        },
        answer: compare_runs,
    },
    AssistantTool {
        name: "check",
        description: "Pass or fail, as for a build: fails when anything accumulates or a limit is exceeded; says so when it cannot be judged.",
        schema: || {
            let growth = json!({ "type": "string", "description": "Most growth of the heap: 5% or 20MB" });
            let retained = json!({
                "type": "array", "items": { "type": "string" },
                "description": "Each an owner or type and its most: com.acme.Session > 50MB",
            });
            let properties =
                json!({ "input": input(), "max_growth": growth, "max_retained": retained, "limit": limit() });
            (properties, &["input"])
        },
        answer: check_input,
    },
];

fn input() -> Value {
    json!({ "type": "string", "description": "Id of an open input: d1" })
}

fn limit() -> Value {
    json!({ "type": "integer", "minimum": LEAST, "maximum": MOST, "description": format!("Most bytes of the answer. Default: {USUAL}") })
}

fn rows() -> Value {
    json!({ "type": "integer", "minimum": 1, "description": format!("Most rows of each table. Default: {ROWS}") })
}

fn from() -> Value {
    json!({ "type": "integer", "minimum": 1, "description": "First point in time, from 1. Default: the first" })
}

fn to() -> Value {
    json!({ "type": "integer", "minimum": 1, "description": "Last point in time. Default: the last" })
}

fn grouping() -> Value {
    json!({ "type": "string", "description": "How objects are grouped: owner, package>type, type>allocation-site, ... Default: auto" })
}

/// The tools as `tools/list` has them. None of them changes anything.
pub(super) fn list() -> Vec<Value> {
    let one = |tool: &AssistantTool| {
        let (properties, required) = (tool.schema)();
        json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": {
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        })
    };
    TOOLS.iter().map(one).collect()
}

/// Calls a tool by the parameters of `tools/call`.
///
/// # Errors
/// When there is no such tool, its arguments are wrong, it cannot answer, or it was cancelled.
pub(super) fn call(params: &Value, inputs: &mut OpenInputs, progress: &Progress) -> Result<String> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        Error::Unusable {
            what: format!("There is no tool {name}"),
            remedy: format!("Use one of: {}", names.join(", ")),
        }
    })?;
    let arguments = params.get("arguments").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    (tool.answer)(arguments, inputs, progress)
}

fn arguments<T: DeserializeOwned>(given: Value) -> Result<T> {
    serde_json::from_value(given).map_err(|error| Error::Unusable {
        what: format!("The arguments are wrong: {error}"),
        remedy: "Use those that tools/list describes".into(),
    })
}

/// The bound of an answer.
#[derive(Deserialize, Default)]
#[serde(transparent)]
struct AnswerLimit(Option<usize>);

impl AnswerLimit {
    fn bytes(&self) -> usize {
        self.0.unwrap_or(USUAL).clamp(LEAST, MOST)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputsArguments {
    #[serde(default)]
    limit: AnswerLimit,
}

fn inputs(given: Value, inputs: &mut OpenInputs, _: &Progress) -> Result<String> {
    let InputsArguments { limit } = arguments(given)?;
    let (files, more) = inputs.listed();
    let mut body = String::new();
    for file in files {
        let size = file.size.map_or("folder".to_owned(), bytes_text);
        body.push_str(&format!("  {}  {size}\n", line_text(&file.path.to_string_lossy())));
    }
    if more > 0 {
        body.push_str(&format!("  and {more} more files (the first {MOST_LISTED} are listed)\n"));
    }
    let open: Vec<String> =
        inputs.open_ones().iter().map(|input| format!("{} {}", input.id, line_text(&input.title))).collect();
    let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
    let next = vec!["open paths=[all dumps of one run, or their folder]".to_owned()];
    Ok(ToolAnswer { head: format!("open: {open}\nmay be opened:"), body, source: None, next }.text(limit.bytes()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenArguments {
    paths: Vec<String>,
    grouping: Option<String>,
    #[serde(default)]
    limit: AnswerLimit,
}

fn open(given: Value, inputs: &mut OpenInputs, progress: &Progress) -> Result<String> {
    let OpenArguments { paths, grouping, limit } = arguments(given)?;
    let grouping = registry().asked(grouping.as_deref().unwrap_or(AUTO)).map_err(|error| Error::Unusable {
        what: format!("The grouping cannot be understood: {error}"),
        remedy: "Use a list of classifiers such as package>type, or owner".into(),
    })?;
    let (input, closed) = inputs.open(&paths, grouping, progress)?;
    let timeline = input.source.timeline();
    let mut body: String = closed.map(|id| format!("{id} was closed to make room\n")).unwrap_or_default();
    for (index, point) in timeline.points().iter().enumerate() {
        let amount = timeline.amount(index, NodeId::ROOT);
        body.push_str(&format!("  {}  {}  {}\n", index + 1, line_text(&point.label), bytes_text(amount.bytes)));
    }
    for warning in input.source.warnings() {
        body.push_str(&format!("warning: {}\n", line_text(&warning.to_string())));
    }
    let head = format!(
        "{} is {}, grouped by {}. Points in time:",
        input.id,
        line_text(&input.title),
        input.source.grouping_id()
    );
    let next = vec![format!("report input={}", input.id)];
    Ok(ToolAnswer { head, body, source: Some(&input.source), next }.text(limit.bytes()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportArguments {
    input: String,
    from: Option<usize>,
    to: Option<usize>,
    rows: Option<usize>,
    #[serde(default)]
    limit: AnswerLimit,
}

/// The first line of an answer about an input.
fn head(input: &OpenInput, window: TimeWindow) -> String {
    let points = input.source.timeline().points();
    let times = match window.from == window.to {
        true => format!("point {} of {}", window.to + 1, points.len()),
        false => format!("points {} to {} of {}", window.from + 1, window.to + 1, points.len()),
    };
    format!("{} ({}), {times}, grouped by {}", input.id, line_text(&input.title), input.source.grouping_id())
}

fn report_of(given: Value, inputs: &mut OpenInputs, progress: &Progress) -> Result<String> {
    let ReportArguments { input, from, to, rows, limit } = arguments(given)?;
    let input = inputs.get(&input)?;
    let top = rows.unwrap_or(ROWS).max(1);
    let options = ReportOptions { top, window: (from, to), groups_only: true, ..ReportOptions::default() };
    let mut report = report::report(&input.source, &options, progress)?;
    report.text_rows = top;
    hide_texts(&mut report, inputs);
    let id = &input.id;
    let mut next: Vec<String> = Vec::new();
    let all = AnalysisRegistry::built_in();
    let fits = |step: &&NextStep| {
        all.get(&step.analysis).is_ok_and(|analysis| analysis.describe().check(&input.source, report.window).is_ok())
    };
    for step in report.findings().filter_map(|finding| finding.next.as_ref()).filter(fits) {
        let arguments: Vec<String> = step.arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let with =
            if arguments.is_empty() { String::new() } else { format!(" with {}", line_text(&arguments.join(", "))) };
        let call = format!("analyse input={id} id={}{with}", step.analysis);
        if next.len() < MOST_NEXT && !next.contains(&call) {
            next.push(call);
        }
    }
    next.push(format!("analyses input={id}"));
    let body = report.to_string();
    Ok(ToolAnswer { head: head(input, report.window), body, source: Some(&input.source), next }.text(limit.bytes()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupsArguments {
    input: String,
    from: Option<usize>,
    to: Option<usize>,
    rows: Option<usize>,
    sort: Option<String>,
    #[serde(rename = "where")]
    filter: Option<String>,
    leaves: Option<bool>,
    #[serde(default)]
    limit: AnswerLimit,
}

fn groups(given: Value, inputs: &mut OpenInputs, progress: &Progress) -> Result<String> {
    let GroupsArguments { input, from, to, rows, sort, filter, leaves, limit } = arguments(given)?;
    let input = inputs.get(&input)?;
    let window = TimeWindow::of(input.source.timeline(), from, to)?;
    let args = TreeArgs::of(Some(sort.unwrap_or_else(|| "growth".to_owned())), filter, leaves.unwrap_or(true));
    let body = tree_text(&input.source, window, &args, rows.unwrap_or(ROWS).max(1), progress)?;
    let next = vec![format!("analyse input={} id=paths with group=its name", input.id)];
    Ok(ToolAnswer { head: head(input, window), body, source: Some(&input.source), next }.text(limit.bytes()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalysesArguments {
    input: String,
    id: Option<String>,
    #[serde(default)]
    limit: AnswerLimit,
}

fn analyses(given: Value, inputs: &mut OpenInputs, _: &Progress) -> Result<String> {
    let AnalysesArguments { input, id, limit } = arguments(given)?;
    let input = inputs.get(&input)?;
    let window = TimeWindow::whole(input.source.timeline());
    let all = AnalysisRegistry::built_in();
    let why_not = |description: &Description| description.check(&input.source, window).err();
    let body = match id {
        Some(id) => {
            let description = all.get(&id)?.describe();
            let parameter = |p: &Parameter| {
                format!("  {}: {} ({}; default: {})\n", p.id, p.explanation, p.kind.text(), p.kind.default_text())
            };
            let why_not = why_not(&description).map(|why| format!("Not of this input: {why}\n")).unwrap_or_default();
            let parameters: String = description.parameters.iter().map(parameter).collect();
            format!("{}: {}\n{why_not}{parameters}", description.id, description.explanation)
        }
        None => {
            let line = |description: Description| match why_not(&description) {
                None => format!("  {}: {}\n", description.id, description.title),
                Some(why) => format!("  ({}: {why})\n", description.id),
            };
            all.iter().map(|analysis| line(analysis.describe())).collect()
        }
    };
    let next = vec![format!("analyse input={} id=...", input.id)];
    Ok(ToolAnswer { head: head(input, window), body, source: None, next }.text(limit.bytes()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalyseArguments {
    input: String,
    id: String,
    #[serde(default)]
    parameters: Map<String, Value>,
    from: Option<usize>,
    to: Option<usize>,
    rows: Option<usize>,
    #[serde(default)]
    limit: AnswerLimit,
}

fn analyse(given: Value, inputs: &mut OpenInputs, progress: &Progress) -> Result<String> {
    let AnalyseArguments { input, id, parameters, from, to, rows, limit } = arguments(given)?;
    let input = inputs.get(&input)?;
    let analysis = AnalysisRegistry::built_in().get(&id)?;
    let window = TimeWindow::of(input.source.timeline(), from, to)?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut texts: Vec<(&str, String)> = parameters.iter().map(|(name, value)| (&**name, text(value))).collect();
    for (_, path) in texts.iter_mut().filter(|(name, _)| *name == "group") {
        *path = key_of(input.source.timeline(), path).unwrap_or_else(|| path.clone());
    }
    let given = texts.iter().map(|(name, value)| (*name, &**value));
    let mut report = report::analyse(&analysis, &input.source, window, given, progress)?;
    report.text_rows = rows.unwrap_or(ROWS).max(1);
    let hidden = hide_texts(&mut report, inputs);
    let mut body = report.to_string();
    if hidden {
        body.push_str("\nTexts of the program are hidden; `memory-city mcp --texts` shows them\n");
    }
    let next = vec![format!("analyses input={} id={id} (its parameters)", input.id)];
    Ok(ToolAnswer { head: head(input, window), body, source: Some(&input.source), next }.text(limit.bytes()))
}

/// The key of a group by its path as reports print it.
fn key_of(timeline: &Timeline, path: &str) -> Option<String> {
    let is_it = |node: &NodeId| path.ends_with(timeline.name(*node)) && timeline.path_label(*node) == path;
    timeline.nodes().find(is_it).map(|node| timeline.key(node))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareArguments {
    before: String,
    after: String,
    rows: Option<usize>,
    #[serde(default)]
    limit: AnswerLimit,
}

fn compare_runs(given: Value, inputs: &mut OpenInputs, progress: &Progress) -> Result<String> {
    let CompareArguments { before, after, rows, limit } = arguments(given)?;
    let (before, after) = (inputs.get(&before)?, inputs.get(&after)?);
    let sources: [&Source; 2] = [&before.source, &after.source];
    let mut compared = compare::compare(sources, [], progress)?;
    compared.report.text_rows = rows.unwrap_or(ROWS).max(1);
    hide_texts(&mut compared.report, inputs);
    let body = compared.report.to_string();
    let head = format!(
        "{} ({}) before, {} ({}) after",
        before.id,
        line_text(&before.title),
        after.id,
        line_text(&after.title)
    );
    let next = vec![format!("report input={}", after.id)];
    Ok(ToolAnswer { head, body, source: Some(&after.source), next }.text(limit.bytes()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckArguments {
    input: String,
    max_growth: Option<String>,
    #[serde(default)]
    max_retained: Vec<String>,
    #[serde(default)]
    limit: AnswerLimit,
}

fn check_input(given: Value, inputs: &mut OpenInputs, progress: &Progress) -> Result<String> {
    let CheckArguments { input, max_growth, max_retained, limit } = arguments(given)?;
    let input = inputs.get(&input)?;
    let wrong = |what: String| Error::Unusable { what, remedy: "Write 5%, 20MB, or com.acme.Session > 50MB".into() };
    let growth =
        max_growth.map(|text| text.parse().map_err(|error| wrong(format!("max_growth: {error}")))).transpose()?;
    let retained =
        max_retained.iter().map(|text| text.parse().map_err(|error| wrong(format!("max_retained: {error}"))));
    let limits = CheckLimits { growth, retained: retained.collect::<Result<_>>()?, ..CheckLimits::default() };
    let window = TimeWindow::whole(input.source.timeline());
    let checked = check(&input.source, window, &limits, progress)?;
    let result = if checked.passed {
        "passed"
    } else if checked.is_unjudged() {
        "cannot be judged"
    } else {
        "FAILED"
    };
    let head = format!("{}: {result}", head(input, window));
    let next = vec![format!("report input={}", input.id)];
    Ok(ToolAnswer { head, body: check_text(&checked), source: Some(&input.source), next }.text(limit.bytes()))
}

/// Takes texts of the analysed program out, unless they are to be shown; whether there were any. Empty cells get a dash, since blanks
/// between columns are not kept.
fn hide_texts(report: &mut Report, inputs: &OpenInputs) -> bool {
    let mut hidden = false;
    for part in &mut report.parts {
        let mut here = false;
        for table in &mut part.findings.tables {
            here |= !inputs.texts && table.hide_program_texts();
            let cells = table.rows.iter_mut().flat_map(|row| &mut row.cells);
            let empty = cells.filter(|cell| **cell == Cell::Empty && table.header.kinds.is_empty());
            empty.for_each(|cell| *cell = Cell::Text("-".to_owned()));
        }
        // The line about an inspected object has its text too.
        if here && part.analysis.id == "inspect" {
            part.findings.notes.clear();
        }
        hidden |= here;
    }
    hidden
}
