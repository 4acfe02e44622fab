//! Runs a script to get the values of an object, within limits.

use super::object::{self, ScriptObject, ScriptTypes};
use super::{ClassifierScript, ScriptError, ScriptLimits};
use crate::group::{
    Cardinality, Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, OtherObjects, Transform,
};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicIteratorPackage, BasicMapPackage, BasicMathPackage, BasicStringPackage,
    LanguageCorePackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{Array, Dynamic, Engine, EvalAltResult, FLOAT, INT, ImmutableString, Position, Scope};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Calls within each other, and expressions within each other (of all code, in functions): a stack of 2 MB is enough.
const DEEPEST_CALLS: usize = 12;
const DEEPEST_EXPRESSIONS: (usize, usize) = (48, 24);
/// Operations between two looks at whether the work was cancelled; a power of two.
const PATIENCE: u64 = 1 << 12;

thread_local! {
    /// Operations of the call at hand.
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
    /// The work of native functions for it, in units of about an operation.
    static WORK: Cell<u64> = const { Cell::new(0) };
}

/// Counts the work of a native function for a script.
pub(super) fn work(units: u64) {
    WORK.set(WORK.get().saturating_add(units));
}

/// The language without anything that reaches out of it, and with limits.
pub(super) fn engine(limits: &ScriptLimits) -> Engine {
    let mut engine = Engine::new_raw();
    LanguageCorePackage::new().register_into_engine(&mut engine);
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    engine.on_print(|_| ());
    engine.on_debug(|_, _, _| ());
    engine.disable_symbol("eval");
    let no_sleep = || -> std::result::Result<(), Box<EvalAltResult>> { Err("a classifier may not wait".into()) };
    engine.register_fn("sleep", move |_: INT| no_sleep());
    engine.register_fn("sleep", move |_: FLOAT| no_sleep());
    engine.set_max_operations(limits.operations);
    engine.set_max_call_levels(DEEPEST_CALLS);
    engine.set_max_expr_depths(DEEPEST_EXPRESSIONS.0, DEEPEST_EXPRESSIONS.1);
    engine.set_max_string_size(limits.text);
    engine.set_max_array_size(limits.entries);
    engine.set_max_map_size(limits.entries);
    engine.set_max_variables(limits.variables);
    engine.set_max_functions(100);
    object::register(&mut engine);
    engine
}

/// A script as a classifier. The state of a run (used limits, the first error) is in the classifier that [`Classifier::prepare`] returns.
pub(super) struct ScriptClassifier {
    script: ClassifierScript,
    run: ScriptRun,
    parts: Option<Transform>,
}

struct ScriptRun {
    engine: Engine,
    types: ScriptTypes,
    /// Operations of all objects so far.
    used: Arc<AtomicU64>,
    failed: AtomicBool,
    failure: OnceLock<ScriptError>,
    progress: Option<Progress>,
}

/// Why a call was ended from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Cancelled,
    Object,
    All,
}

impl ScriptRun {
    fn new(script: &ClassifierScript, run: Option<&GroupingRun<'_>>) -> ScriptRun {
        let limits = script.limits;
        let mut engine = engine(&limits);
        let used = Arc::new(AtomicU64::new(0));
        let progress = run.map(|run| run.progress.clone());
        let (all, cancelled) = (Arc::clone(&used), progress.clone());
        engine.on_progress(move |operations| {
            OPERATIONS.set(operations);
            let here = operations.saturating_add(WORK.get());
            if here > limits.operations {
                return Some(Dynamic::from(Ended::Object));
            }
            if operations & (PATIENCE - 1) == 0 {
                if cancelled.as_ref().is_some_and(|progress| progress.check().is_err()) {
                    return Some(Dynamic::from(Ended::Cancelled));
                }
                if all.load(Ordering::Relaxed).saturating_add(here) > limits.operations_in_all {
                    return Some(Dynamic::from(Ended::All));
                }
            }
            None
        });
        ScriptRun {
            engine,
            types: ScriptTypes::new(run.and_then(|run| run.heap)),
            used,
            failed: AtomicBool::new(false),
            failure: OnceLock::new(),
            progress,
        }
    }
}

impl ScriptClassifier {
    pub fn new(script: ClassifierScript) -> ScriptClassifier {
        let run = ScriptRun::new(&script, None);
        Self::with(script, run)
    }

    fn with(script: ClassifierScript, run: ScriptRun) -> ScriptClassifier {
        let is_parts = script.meta.cardinality == Cardinality::Transformer;
        let row = script.meta.name.to_string();
        let parts = is_parts.then(|| Transform { others: OtherObjects::Parts, row, list: Vec::new() });
        ScriptClassifier { script, run, parts }
    }

    fn call(&self, object: ScriptObject) -> std::result::Result<Dynamic, Box<EvalAltResult>> {
        let mut scope = Scope::new();
        scope.push_constant("o", object);
        OPERATIONS.set(0);
        WORK.set(0);
        // The language checks what it does; should it fail to, this grouping ends, and nothing else.
        let call = || self.run.engine.eval_ast_with_scope::<Dynamic>(&mut scope, &self.script.ast);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
        self.run.used.fetch_add(OPERATIONS.get().saturating_add(WORK.get()).max(1), Ordering::Relaxed);
        result.unwrap_or_else(|_| Err("the script broke the language it is written in".into()))
    }

    #[cold]
    fn fail(&self, place: Position, message: String, remedy: String, object: &ObjectView<'_>) {
        let id = object.for_reader(self.script.meta.reads);
        let of = id.subject().ok().and_then(|(heap, id, _)| heap.types().get(heap.type_of(id).0 as usize));
        let message = of.map_or(message.clone(), |of| format!("{message}, for an object of type {}", of.name));
        let error = ScriptError {
            source: self.script.source.clone(),
            line: place.line().unwrap_or(0),
            column: place.position().unwrap_or(0),
            message,
            remedy,
        };
        let _ = self.run.failure.set(error);
        self.run.failed.store(true, Ordering::Release);
    }

    #[cold]
    fn explain(&self, error: &EvalAltResult, object: &ObjectView<'_>) {
        let (mut place, mut inner) = (error.position(), error);
        // A mistake in a function is told where it is, not where the function was called.
        while let EvalAltResult::ErrorInFunctionCall(_, _, deeper, _) = inner {
            inner = deeper;
            place = if inner.position().is_none() { place } else { inner.position() };
        }
        if place.is_none() {
            place = self.place_of(object);
        }
        let limits = &self.script.limits;
        let (message, remedy) = match inner {
            EvalAltResult::ErrorTerminated(ended, _) if ended.clone().try_cast::<Ended>() == Some(Ended::All) => (
                format!("it takes more than {} operations for all objects", limits.operations_in_all),
                "Look at fewer references, or put a filter before it".to_owned(),
            ),
            EvalAltResult::ErrorTerminated(..) | EvalAltResult::ErrorTooManyOperations(_) => (
                format!("it takes more than {} operations for one object", limits.operations),
                "Look at fewer references, or leave the loop earlier".to_owned(),
            ),
            EvalAltResult::ErrorDotExpr(..) | EvalAltResult::ErrorPropertyNotFound(..) => {
                (plain(inner), format!("An object tells: {}", super::header::known_names()))
            }
            _ => (plain(inner), String::new()),
        };
        self.fail(place, message, remedy, object);
    }

    /// Where a call fails. Operators on numbers say so only when they are called as any other function is, which is slow:
    /// so the call is made once more.
    fn place_of(&self, object: &ObjectView<'_>) -> Position {
        let mut engine = engine(&self.script.limits);
        engine.set_fast_operators(false);
        let call = |object: ScriptObject| {
            let mut scope = Scope::new();
            scope.push_constant("o", object);
            let again = || engine.eval_ast_with_scope::<Dynamic>(&mut scope, &self.script.ast);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(again)).map(|result| result.err())
        };
        let error = object::lend(object, &self.run.types, self.script.meta.reads, call);
        let Ok(Some(error)) = error else { return Position::NONE };
        let (mut place, mut inner) = (error.position(), &*error);
        while let EvalAltResult::ErrorInFunctionCall(_, _, deeper, _) = inner {
            inner = deeper;
            place = if inner.position().is_none() { place } else { inner.position() };
        }
        place
    }

    /// Takes an answer; the error names its fault.
    fn take(&self, answer: Dynamic, values: &mut ObjectValues) -> std::result::Result<(), String> {
        let limits = &self.script.limits;
        if answer.is_unit() {
            return Ok(());
        }
        let list = |answer: Dynamic, what: &str| -> std::result::Result<Array, String> {
            let found = kind(&answer);
            let all = answer.into_array().map_err(|_| format!("the answer is {found}, expected {what}"))?;
            match all.len() > limits.groups {
                true => {
                    Err(format!("the answer is a list of {}, more than the {} it may have", all.len(), limits.groups))
                }
                false => Ok(all),
            }
        };
        let names =
            |all: Array| all.into_iter().map(|name| self.name(name)).collect::<std::result::Result<Vec<_>, _>>();
        match self.script.meta.cardinality {
            Cardinality::Filter => match answer.as_bool() {
                Ok(holds) => values.truth(holds),
                Err(_) => return Err(format!("the answer is {}, expected true or false", kind(&answer))),
            },
            Cardinality::Many => {
                names(list(answer, "a list of texts")?)?.iter().for_each(|name| values.one(name));
            }
            Cardinality::Hierarchy => values.chain(names(list(answer, "a list of texts")?)?),
            Cardinality::Hierarchies => {
                for chain in list(answer, "a list of lists of texts")? {
                    values.chain(names(list(chain, "a list of texts in each place of the list")?)?);
                }
            }
            Cardinality::One => values.one(&self.name(answer)?),
            Cardinality::Transformer => {
                let found = kind(&answer);
                let parts = answer
                    .try_cast::<rhai::Map>()
                    .ok_or_else(|| format!("the answer is {found}, expected a map of names and bytes"))?;
                if parts.len() > limits.groups {
                    return Err(format!("the answer has {} parts, more than {}", parts.len(), limits.groups));
                }
                for (name, bytes) in parts {
                    let number = bytes.as_int().ok().and_then(|bytes| u64::try_from(bytes).ok());
                    let bytes = number.ok_or_else(|| format!("{name} has {bytes} bytes, expected a number from 0"))?;
                    values.part(&self.name(name.to_string().into())?, bytes);
                }
            }
        }
        Ok(())
    }

    fn name(&self, value: Dynamic) -> std::result::Result<ImmutableString, String> {
        let name: ImmutableString = if let Some(text) = value.read_lock::<ImmutableString>() {
            text.clone()
        } else if value.is_int() || value.is_bool() || value.is_char() || value.is_float() {
            value.to_string().into()
        } else {
            return Err(format!("the answer is {}, expected a text or a number", kind(&value)));
        };
        match name.len() > self.script.limits.name {
            true => Err(format!("the name of a group has {} bytes, more than {}", name.len(), self.script.limits.name)),
            false => Ok(name),
        }
    }
}

/// The kind of a value, for people.
fn kind(value: &Dynamic) -> &'static str {
    if value.is_bool() {
        "true or false"
    } else if value.is_int() || value.is_float() {
        "a number"
    } else if value.is_string() || value.is_char() {
        "a text"
    } else if value.is_array() {
        "a list"
    } else if value.is_map() {
        "a map"
    } else if value.is::<ScriptObject>() {
        "an object"
    } else {
        "something else"
    }
}

/// The message of an error without its place, which is kept separately.
fn plain(error: &EvalAltResult) -> String {
    let text = error.to_string();
    // `(line 3, position 5)` at the end.
    match text.rfind(" (line ") {
        Some(at) if text.ends_with(')') => text[..at].to_owned(),
        _ => text,
    }
}

impl Classifier for ScriptClassifier {
    fn meta(&self) -> &ClassifierMeta {
        &self.script.meta
    }

    fn classify(&self, view: &ObjectView<'_>, values: &mut ObjectValues) {
        if self.run.failed.load(Ordering::Relaxed) {
            return;
        }
        let answer = object::lend(view, &self.run.types, self.script.meta.reads, |object| self.call(object));
        match answer {
            Ok(answer) => {
                if let Err(message) = self.take(answer, values) {
                    values.clear();
                    self.fail(Position::NONE, message, String::new(), view);
                }
            }
            Err(error) => self.explain(&error, view),
        }
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let script = self.script.clone();
        let run = ScriptRun::new(&script, Some(run));
        Ok(Some(Arc::new(ScriptClassifier::with(script, run))))
    }

    fn transform(&self) -> Option<&Transform> {
        self.parts.as_ref()
    }

    fn failure(&self) -> Option<Error> {
        if self.run.progress.as_ref().is_some_and(|progress| progress.check().is_err()) {
            return Some(Error::Cancelled);
        }
        let error = self.run.failure.get()?;
        let remedy = if error.remedy.is_empty() { "Change the script".to_owned() } else { error.remedy.clone() };
        let what = ScriptError { remedy: String::new(), ..error.clone() };
        Some(Error::Unusable { what: format!("The classifier {what}"), remedy })
    }
}
