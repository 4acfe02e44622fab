//! How many elements structures have, and how many there is room for.

use super::field_ends::{FieldEnd, FieldStart, field_ends, place};
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{FieldCount, FieldSum, FoundStructures, StructureRules, TypeDescription};
use memory_city_heap::{HeapState, ObjectId, TypeId};
use rustc_hash::FxHashMap;

/// The numbers of a structure, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StructureFill {
    /// Elements; entries of maps.
    pub elements: Option<u64>,
    /// Elements that there is room for.
    pub capacity: Option<u64>,
    /// The array whose length is this room, or the number of elements.
    pub array: Option<ObjectId>,
    /// The structure that it is made of: its elements are this one's.
    pub made_of: Option<ObjectId>,
}

/// A number while it is found out.
#[derive(Clone, Copy, Default)]
struct FoundNumber {
    sum: i64,
    divisor: i64,
    is_known: bool,
    /// A structure whose elements are added.
    plus: Option<ObjectId>,
    /// An array whose length is added.
    array: Option<ObjectId>,
}

/// Heads whose fields are read together: a bound for the memory that takes.
const BLOCK: usize = 1 << 20;
/// Structures that are made of structures; more is a circle.
const DEEPEST: usize = 8;

/// The numbers of these structures, by places among the heads. Where no field says the number of elements, but descriptions say which
/// parts are entries, these were counted. Without values (`None`) nothing else is known. Of redacted dumps lengths of arrays are known
/// too, but no number in a field.
///
/// # Errors
/// When cancelled.
pub(crate) fn fills(
    heap: &HeapState,
    values: Option<&HeapValues>,
    rules: &StructureRules<'_>,
    found: &FoundStructures,
    progress: &Progress,
) -> Result<Vec<StructureFill>> {
    let heads = found.heads();
    let description = |at: usize| rules.of(heap.type_of(heads[at]));
    let mut numbers = vec![FoundNumber::default(); 2 * heads.len()];
    let has_numbers = values.is_some() && !heap.is_redacted();
    if let Some(values) = values {
        let mut chosen: FxHashMap<(TypeId, bool), Option<&FieldSum>> = FxHashMap::default();
        for block in (0..heads.len()).step_by(BLOCK) {
            let mut starts = Vec::new();
            // Of each start, the number that it adds to, and whether it is taken away.
            let mut into: Vec<(u32, bool)> = Vec::new();
            for at in block..heads.len().min(block + BLOCK) {
                let (Some(of), head) = (description(at), heads[at]) else { continue };
                for (place_of, count) in [(0, of.size()), (1, of.capacity())] {
                    let Some(count) = count else { continue };
                    let t = heap.type_of(head);
                    let sum = chosen.entry((t, place_of == 1)).or_insert_with(|| first_there(values, t, of, count));
                    let Some(sum) = *sum else { continue };
                    let number = &mut numbers[2 * at + place_of];
                    (number.divisor, number.is_known) = (sum.divisor.into(), true);
                    for term in &sum.terms {
                        let id = into.len() as u32;
                        into.push(((2 * at + place_of) as u32, term.minus));
                        starts.push(FieldStart { id, object: head, path: &term.path, declared_by: of.name() });
                    }
                }
            }
            let add = |id: u32, end: FieldEnd| {
                let (at, minus) = into[id as usize];
                let number = &mut numbers[at as usize];
                let mut add = |n: i64| {
                    number.sum = if minus { number.sum.saturating_sub(n) } else { number.sum.saturating_add(n) };
                };
                match end {
                    FieldEnd::Number(n) if has_numbers => add(n),
                    FieldEnd::Length(array, length) => {
                        add(length.into());
                        number.array = number.array.or(Some(array));
                    }
                    FieldEnd::Object(o) if !minus && number.plus.is_none() && at % 2 == 0 => number.plus = Some(o),
                    FieldEnd::Nothing => (),
                    FieldEnd::Number(_) | FieldEnd::Object(_) | FieldEnd::Unknown => number.is_known = false,
                }
            };
            field_ends(values, starts.into_iter(), add, progress)?;
        }
    }
    let capacity = |at: usize| {
        let number = numbers[2 * at + 1];
        number.is_known.then(|| u64::try_from(number.sum / number.divisor.max(1)).unwrap_or(0))
    };
    let elements = |at: usize| {
        let (mut at, mut total) = (at, 0i64);
        for _ in 0..DEEPEST {
            let number = numbers[2 * at];
            if !number.is_known {
                // Counted parts are right where nothing else is said; a part of a sum is not.
                let counts = found.extents()[at];
                let of = description(at)?;
                let may = (of.size().is_none() || !has_numbers) && counts.is_whole && counts.entries > 0;
                return may.then(|| total.saturating_add(counts.entries.into()));
            }
            let mut sum = number.sum / number.divisor.max(1);
            if let (true, Some(room)) = (sum < 0, capacity(at)) {
                sum = sum.saturating_add_unsigned(room);
            }
            total = total.saturating_add(sum);
            match number.plus {
                None => return Some(total),
                Some(other) => at = heads.binary_search(&other).ok()?,
            }
        }
        None
    };
    let fill = |at: usize| StructureFill {
        elements: elements(at).map(|n| u64::try_from(n).unwrap_or(0)),
        capacity: capacity(at),
        array: numbers[2 * at + 1].array.or(numbers[2 * at].array),
        made_of: numbers[2 * at].plus,
    };
    Ok((0..heads.len()).map(fill).collect())
}

/// The first of the sums whose first fields a type has.
fn first_there<'d>(
    values: &HeapValues,
    t: TypeId,
    of: &TypeDescription,
    count: &'d FieldCount,
) -> Option<&'d FieldSum> {
    let has = |field: &str| place(values, t, of.name(), field).is_some();
    count.choices().iter().find(|sum| sum.terms.iter().all(|term| has(&term.path.steps()[0].field)))
}
