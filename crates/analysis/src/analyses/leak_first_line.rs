//! The first line about a place that leaks, or that fills the heap: its name, its elements, its share.

use super::leak_example::Example;
use super::leak_headline::{self, HeadlineName};
use super::leak_sentence::{is_of_growth, place_text};
use crate::ownership::{Accumulation, Elements, Holding, OwnerHistory, OwnerPath, PlaceOverTime, doubt, ends};
use crate::tabular::{bytes_text, count_text};
use crate::timeline::brief;

/// Share of the bytes of a place; a collection with as much gives it its name.
const MOST_OF_PLACE: f64 = 0.8;

/// The place in the sentence about it: its owners, or its name in the first line where several share it. Names of sharers say less than a field.
pub(super) fn place_in_words(history: &OwnerHistory, point: &Accumulation, example: &Example, grew: bool) -> String {
    let at = &history.places()[point.place as usize];
    let is_shared = history.path(point.place).iter().any(|name| name.starts_with("shared"));
    // What many share is the collection on the way if that has as many elements.
    let is_collection = || match (&point.elements, example.filled) {
        (Elements::Below(below), Some((_, last))) => below.first().is_some_and(|&first| {
            let heads = history.places()[first as usize].heads_at_last();
            heads.abs_diff(last).saturating_mul(ALIKE) <= last
        }),
        _ => false,
    };
    let tells_all = is_shared && (!at.is_shared() || grew && is_collection());
    let name = Some(()).filter(|_| tells_all).map(|()| named(history, point, example, grew).0);
    let tells = |name: &HeadlineName| !name.name.starts_with("shared") && !name.name.contains(" and ");
    name.filter(tells).map_or_else(|| place_text(history, point.place), |name| name.text())
}

/// The name of a place in the first line, of any length.
pub(super) fn signature(history: &OwnerHistory, point: &Accumulation, example: &Example, grew: bool) -> String {
    let HeadlineName { name, container } = named(history, point, example, grew).0;
    container.map_or_else(|| name.clone(), |of| format!("{name} ({of})"))
}

/// Whether one object of a place is all of it, or most. Of several collections of one place, one is no name for all.
fn is_one(at: &PlaceOverTime) -> bool {
    let is_most =
        |held: &Holding| held.largest.is_some_and(|(_, bytes)| bytes as f64 >= MOST_OF_PLACE * held.total.bytes as f64);
    at.held.last().is_some_and(|held| held.heads <= 1 || is_most(held))
}

/// The number of keys above a place that name one of several collections, from the last on.
fn ambiguous_keys(history: &OwnerHistory, place: u32) -> usize {
    let at = |place: u32| &history.places()[place as usize];
    let above = |&place: &u32| Some(at(place).parent).filter(|&parent| parent != 0);
    let several = std::iter::successors(Some(place), above).take_while(|&place| !is_one(at(place)));
    let is_in_table = |place: &u32| history.profile().collections.covers(&at(at(*place).parent).name);
    several.filter(is_in_table).count().max(1)
}

/// The name of a place in the first line. And whether it is that of the elements themselves, which nothing above holds by a name.
fn named(history: &OwnerHistory, point: &Accumulation, example: &Example, grew: bool) -> (HeadlineName, bool) {
    let at = &history.places()[point.place as usize];
    let is_rest = !grew && at.is_shared();
    let names_one = is_one(at) || example.sibling.is_some();
    // Threads that are too many themselves are named, not what one of them holds.
    let is_threads = at.is_thread() && point.elements == Elements::Own;
    let path = example
        .path
        .clone()
        .filter(|_| !is_rest && !is_threads)
        .map(|path| if names_one { path } else { path.without_last_keys(ambiguous_keys(history, point.place)) });
    let (own, last_heads) = at.held.last().map_or((0, 0), |held| (held.own.objects, held.heads));
    // Where the elements are the objects themselves, those that one of them refers to are few; but they have the name if nothing above has.
    // Of a chain, the first link keeps all others.
    let cut = |path: &OwnerPath| {
        let path = path.clone();
        let path =
            if names_one && last_heads > 1 { path.up_to_first(&at.name) } else { path.up_to(&at.name, None, true) };
        Some(path).filter(|path| path.steps.len() > 1)
    };
    let is_few = point.elements == Elements::Own && example.filled.is_none_or(|(_, elements)| elements <= own);
    let to_own = path.as_ref().filter(|_| is_few).and_then(cut);
    let are_own = to_own.is_some() && !(last_heads <= 1 && is_own_collection(example, at));
    let path = to_own.or(path).map(|path| match &point.elements {
        Elements::Below(below) => {
            let first = below.first().map(|&p| &history.places()[p as usize]);
            // What hangs on each of the elements that a collection has more of, has more in the collection.
            let heads = first.map_or((0, 0), |first| ends(&first.held, |h| h.heads));
            let path = match grown(example) {
                Some(grown) if grown > 0 && grown * 2 >= heads.1.saturating_sub(heads.0) => path.up_to_filled(&at.name),
                _ => path,
            };
            // A chain has a link for each element: the field of a link says nothing, nor does that of one place among many.
            let with_element = last_heads <= 1 && own * 2 < point.count.1;
            let nth = history.path(point.place).iter().filter(|name| ***name == *at.name).count();
            match at.is_shared() {
                true => path,
                false => path.up_to_nth(&at.name, nth, first.map(|first| &*first.name), with_element),
            }
        }
        _ => path,
    });
    let names = history.path(point.place);
    let is_larger = grew && point.elements == Elements::Larger;
    // Of several holders the way of one says nothing, where what it leads through has no more elements than before.
    let name = match HeadlineName::of_sharers(&names).filter(|_| grown(example) == Some(0) && example.sibling.is_none())
    {
        Some(name) => name,
        None => {
            let named = HeadlineName::of(&names, path.as_ref(), history.profile());
            // Of many objects that grew, the collection with them.
            let above = || path.as_ref()?.filled_above(&at.name).filter(|_| is_larger && last_heads > 1 && !names_one);
            let apart = example.sibling.map(|sibling| sibling.apart).or_else(above);
            let apart = path.as_ref().zip(apart);
            match apart.and_then(|(path, apart)| HeadlineName::field_of(path, apart, history.profile())) {
                Some(field) if !says(&named.name, &field) => {
                    HeadlineName { name: format!("{field} › {}", named.name), ..named }
                }
                _ => named,
            }
        }
    };
    (name, are_own)
}

/// Whether a name has a field already, perhaps below another holder.
fn says(name: &str, field: &str) -> bool {
    let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
    name.contains(field) || last(name) == last(field)
}

/// The first line about a place.
pub(super) fn headline(
    history: &OwnerHistory,
    point: &Accumulation,
    example: &Example,
    more: usize,
    grew: bool,
) -> String {
    let at = &history.places()[point.place as usize];
    let names_one = is_one(at) || example.sibling.is_some();
    let (name, are_own) = named(history, point, example, grew);
    // What a place holds of its own may be one constant, referred to many times.
    let filled = example.filled.filter(|_| names_one && !at.is_thread()).map(|(_, last)| last);
    let elements = match (&point.elements, filled) {
        (Elements::Below(below), filled) => {
            let is_named = || {
                let of = example.path.as_ref().and_then(|path| path.filled.as_ref()).map(|filled| brief(&filled.of));
                of.is_some() && of == name.container
            };
            let own = filled.filter(|_| is_own_collection(example, at) || is_named());
            let chained = if is_one(at) && !at.is_thread() { example.chained } else { 0 };
            let of_sibling = example.of_sibling(point.count.1).map(|(_, last)| last);
            let is_several = at.heads_at_last() > 1 && of_sibling.is_none();
            kinds_text(history, below, example.class.as_deref(), own, (chained, is_several), of_sibling)
        }
        (_, Some(elements)) if elements > 1 && !are_own && !is_beside(example, at) && !has_fewer(example) => {
            format!("{} elements", count_text(elements))
        }
        (Elements::Larger, _) if grew && at.heads_at_last() > 1 && !names_one && !at.is_thread() => {
            format!("{}, larger than before", leak_headline::count_of(at.heads_at_last(), &brief(&at.name)))
        }
        (elements, _) => {
            let count = example.of_sibling(point.count.1).map_or(point.count.1, |(_, last)| last);
            leak_headline::elements_text(elements, count, at.is_thread(), grew)
        }
    };
    let (first, last) = point.bytes;
    let amount = match grew {
        true => {
            let grown = last.saturating_sub(first);
            let of = if is_of_growth(history, grown) { "the heap's growth" } else { "all that grew" };
            let doubt = doubt(history, point).map_or_else(String::new, |doubt| format!("; {}", doubt.text()));
            format!("+{}, {:.0} % of {of}{doubt}", bytes_text(grown), 100.0 * point.share)
        }
        false => format!("{}, {:.0} % of the heap", bytes_text(last), 100.0 * point.share),
    };
    leak_headline::line(&name, &elements, &amount, more)
}

/// The elements of a place in a few words. `own`: how many its collection has. `chained`: how many hang on its chain. `is_several`: the place
/// is several collections, and the first line names one. `of_sibling`: how many of the first kind that one has, where it is known.
fn kinds_text(
    history: &OwnerHistory,
    below: &[u32],
    class: Option<&str>,
    own: Option<u64>,
    (chained, is_several): (u64, bool),
    of_sibling: Option<u64>,
) -> String {
    let heads = |p: &u32| history.places()[*p as usize].heads_at_last();
    let name = |p: &u32| brief(&history.places()[*p as usize].name);
    let Some((first, others)) = below.split_first() else {
        return leak_headline::count_of(own.unwrap_or(0), "elements");
    };
    let (kind, count) = (class.map_or_else(|| name(first), brief), of_sibling.unwrap_or_else(|| heads(first)));
    let about = |a: u64, b: u64| a.abs_diff(b) <= b / ALIKE;
    let Some(own) = own else { return leak_headline::count_of(count.max(chained), &kind) };
    if is_several && (own..=own.saturating_mul(2)).contains(&count) || about(count, own) {
        let one = if is_several { own.min(count) } else { own.max(count) };
        return leak_headline::count_of(one, &kind);
    }
    // Keys and values of one type.
    if count > own {
        let elements = if count <= own.saturating_mul(2) { (own, "elements") } else { (count, &*kind) };
        return leak_headline::count_of(elements.0, elements.1);
    }
    // Keys are as many as elements.
    let values: Vec<&u32> = others.iter().filter(|p| !about(heads(p), own)).collect();
    let of_values: u64 = values.iter().map(|p| heads(p)).sum();
    match &values[..] {
        [other] if about(count + of_values, own) => {
            format!("{} {kind}, {} {}", count_text(count), count_text(heads(other)), name(other))
        }
        // Elements that others hold too are no heads of a place, but are in the collection.
        _ if of_values <= own / ALIKE && are_there(history, *first, own) => leak_headline::count_of(own, &kind),
        // Each with a key that others hold, in the same array.
        _ if of_values <= own / ALIKE && about(2 * count, own) => leak_headline::count_of(count, &kind),
        _ => leak_headline::count_of(own, "elements"),
    }
}

/// Whether the heap has so many objects of the kind of a place.
fn are_there(history: &OwnerHistory, kind: u32, count: u64) -> bool {
    let name = &history.places()[kind as usize].name;
    let alike = history.places().iter().filter(|place| place.name == *name);
    alike.map(PlaceOverTime::heads_at_last).sum::<u64>() >= count - count / ALIKE
}

/// Two numbers of elements are alike if they differ by less than one in so many.
const ALIKE: u64 = 20;

/// Whether the collection on the path has fewer elements than at first: they are not what there is more of.
fn has_fewer(example: &Example) -> bool {
    example.filled.is_some_and(|(first, last)| first > Some(last))
}

/// Whether the collection on the path holds the place among others, and is as large as ever.
fn is_beside(example: &Example, at: &PlaceOverTime) -> bool {
    let Some(path) = &example.path else { return false };
    let last = |of: &str| path.steps.iter().rposition(|step| *step.of == *of);
    let filled = path.filled.as_ref().and_then(|filled| last(&filled.of));
    let is_above = filled.zip(last(&at.name)).is_some_and(|(filled, place)| filled < place);
    is_above && grown(example).is_none_or(|grown| grown == 0)
}

/// Whether the collection that a place is named after has more elements than the place holds alone.
pub(super) fn has_shared_elements(history: &OwnerHistory, point: &Accumulation, example: &Example) -> bool {
    let (Elements::Below(below), Some((_, own))) = (&point.elements, example.filled) else { return false };
    let heads = |p: &u32| history.places()[*p as usize].heads_at_last();
    // Keys are as many as elements.
    let values = below.iter().map(heads).filter(|heads| heads.abs_diff(own) > own / ALIKE);
    if below.first().is_some_and(|&first| !are_there(history, first, own)) {
        return false;
    }
    let of_sibling = example.sibling.and_then(|sibling| sibling.elements).map(|(_, last)| last);
    let alone = of_sibling.unwrap_or_else(|| values.sum());
    alone > 0 && alone < own && is_own_collection(example, &history.places()[point.place as usize])
}

/// How many elements more the collection on the path has than at first, where it is known to be the same.
fn grown(example: &Example) -> Option<u64> {
    example.filled.and_then(|(first, last)| Some(last.saturating_sub(first?)))
}

/// Whether the collection with elements on the path is what the place is named after.
fn is_own_collection(example: &Example, at: &PlaceOverTime) -> bool {
    example.path.as_ref().and_then(|path| path.filled.as_ref()).is_some_and(|filled| *filled.of == *at.name)
}
