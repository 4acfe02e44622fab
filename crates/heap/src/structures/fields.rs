//! Where the numbers, keys and names of a structure stand: fields of its objects.

use std::fmt;

/// A way from an object to a number or another object: `counterCells[].value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(pub(super) Vec<FieldStep>);

/// A step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldStep {
    /// The field; behind an array `length`, the number of its elements.
    pub field: String,
    /// Whether the field holds an array, and the path goes on from each of its elements.
    pub each: bool,
}

/// A number of a structure: the first of these sums whose fields are all there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCount(pub(super) Vec<FieldSum>);

/// A sum of numbers in fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSum {
    /// At least one.
    pub terms: Vec<CountTerm>,
    /// The sum is divided by it: 2 where keys and values lie in one array. Not 0.
    pub divisor: u32,
}

/// A term of a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountTerm {
    /// Whether it is taken away.
    pub minus: bool,
    /// Where the number stands.
    pub path: FieldPath,
}

/// Most steps of a path.
const LONGEST_PATH: usize = 8;

impl FieldPath {
    /// The path that a name spells, or what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<FieldPath, &'static str> {
        let step = |part: &str| {
            let (field, each) = part.strip_suffix("[]").map_or((part, false), |field| (field, true));
            let is_name = !field.is_empty() && !field.contains(['*', '[', ']']);
            is_name.then(|| FieldStep { field: field.to_owned(), each })
        };
        if text.split('.').nth(LONGEST_PATH).is_some() {
            return Err("a path of at most 8 fields");
        }
        let steps = text.split('.').map(step).collect::<Option<Vec<_>>>();
        let steps = steps.ok_or("a field, or a path of fields such as `table.length` or `cells[].value`")?;
        let ends_in_array = steps.last().is_some_and(|last| last.each);
        if ends_in_array { Err("a field of the elements behind `[]`") } else { Ok(FieldPath(steps)) }
    }

    /// Its steps; at least one.
    pub fn steps(&self) -> &[FieldStep] {
        &self.0
    }
}

impl FieldCount {
    /// The sums, in the order of preference.
    pub fn choices(&self) -> &[FieldSum] {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            let (dot, each) = (if at > 0 { "." } else { "" }, if step.each { "[]" } else { "" });
            write!(f, "{dot}{}{each}", step.field)?;
        }
        Ok(())
    }
}
