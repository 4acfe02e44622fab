//! What the messages of a client do to its source: each is done as a whole, or not at all.
//!
//! Memory is counted before anything is kept: what the work needs and what the trees grow by is asked for in `work`,
//! and handed over to the source with the trees. What is left of it goes back when the message is answered.

use super::answer::More;
use super::hub::{Hub, Live, lock};
use super::memory::Held;
use super::request::{Request, each};
use memory_city_analysis::timeline::json::{Grant, GrowingTrees};
use memory_city_heap::error::Error;
use std::time::Duration;

/// How long a selection may wait for the city of what has come, and new trees for the room of those they replaced.
const BUILDING: Duration = Duration::from_secs(20);

/// How often the key of a selected group exists: in the state, in the wish, with who draws, and on its way to clients.
const COPIES_OF_KEY: u64 = 8;

/// For messages that are not understood.
pub(super) const HELP: &str =
    "Known are append, replace, references, clear, select, go, show and plan: see docs/live-protocol.md";

/// Does what a message asks for.
pub(super) fn act(hub: &Hub, live: &Live, request: &Request<'_>, work: &mut Held) -> Result<More, Error> {
    match &*request.what {
        "append" => {
            let time = needed(request.time, "time", "a time: an object with a \"tree\"")?;
            grow(hub, live, work, |trees, work| trees.append(time.get(), work))
        }
        "replace" => {
            let times = needed(request.times, "times", "a list of times")?;
            let fresh = with_room(hub, live, work, |work| {
                // Outside of any lock, so that nothing is lost when one of them is wrong.
                let mut fresh = GrowingTrees::new(&live.name);
                each(times, |i, time| fresh.append(time, work).map_err(|e| within(&format!("times[{i}]"), e)))?;
                Ok(fresh)
            })?;
            Ok(put(hub, live, fresh, work))
        }
        "references" => {
            let maps = needed(request.maps, "maps", "an object with \"points-to\", \"pointed-from\" or \"roots\"")?;
            grow(hub, live, work, |trees, work| {
                let last = trees.times() as u64;
                trees.add_references(request.at.unwrap_or(last).saturating_sub(1) as usize, maps.get(), work)
            })
        }
        "clear" => Ok(put(hub, live, GrowingTrees::new(&live.name), work)),
        "select" => {
            let group = needed(request.group.as_ref(), "group", "the key of a group, or null")?;
            select(hub, live, group.as_deref(), work)
        }
        "go" => {
            let at = needed(request.at, "at", "a point in time, from 1")?;
            let times = lock(&live.state).times;
            if at == 0 || at > times as u64 {
                return Err(Error::Unusable {
                    what: format!("There is no time {at}: there are {times}"),
                    remedy: "Times are counted from 1".into(),
                });
            }
            hub.wish(live, |state| {
                state.time = at as usize - 1;
                state.wishes.go = (state.wishes.go.0 + 1, state.time);
            });
            Ok(More::default())
        }
        "plan" => {
            hub.wish(live, |state| state.wishes.plan += 1);
            Ok(More::default())
        }
        "show" => {
            hub.wish_shown(&live.name);
            Ok(More::default())
        }
        "hello" => Err(Error::Unusable { what: "The hello has been said".into(), remedy: HELP.into() }),
        other => Err(Error::Unusable {
            what: format!("{:?} is not known", other.chars().take(40).collect::<String>()),
            remedy: HELP.into(),
        }),
    }
}

/// Tries again when there was no room, but trees that were replaced have gone meanwhile.
fn with_room<T>(
    hub: &Hub,
    live: &Live,
    work: &mut Held,
    mut take: impl FnMut(&mut Held) -> Result<T, Error>,
) -> Result<T, Error> {
    let before = work.bytes();
    let outcome = take(work);
    if outcome.is_ok() || !work.refused {
        return outcome;
    }
    work.shrink_to(before);
    if !hub.make_room(live, BUILDING) {
        return outcome;
    }
    work.refused = false;
    take(work)
}

/// Lets the trees take something, and says what there is then.
fn grow(
    hub: &Hub,
    live: &Live,
    work: &mut Held,
    take: impl Fn(&mut GrowingTrees, &mut Held) -> Result<(), Error>,
) -> Result<More, Error> {
    with_room(hub, live, work, |work| {
        let mut source = lock(&live.trees);
        let (bytes, before) = (source.trees.bytes(), source.trees.warnings());
        take(&mut source.trees, work)?;
        let grown = source.trees.bytes() - bytes;
        source.held.take_over(work, grown);
        hub.came(live, &source.trees);
        let trees = &source.trees;
        // Only what this message adds.
        let warnings = trees.warnings().into_iter().filter(|w| !before.contains(w)).collect();
        Ok(More { times: Some(trees.times()), groups: Some(trees.nodes()), warnings, ..More::default() })
    })
}

/// Puts other trees in the place of those there are.
fn put(hub: &Hub, live: &Live, fresh: GrowingTrees, work: &mut Held) -> More {
    let mut source = lock(&live.trees);
    let more =
        More { times: Some(fresh.times()), groups: Some(fresh.nodes()), warnings: fresh.warnings(), ..More::default() };
    // Timelines of those before are there until a city of the new ones is: until then both count.
    source.held.take_over(work, fresh.bytes());
    let before = std::mem::replace(&mut source.trees, fresh);
    source.replaced = Some(hub.came(live, &source.trees));
    drop(source);
    drop(before);
    more
}

fn select(hub: &Hub, live: &Live, group: Option<&str>, work: &mut Held) -> Result<More, Error> {
    let bytes = COPIES_OF_KEY * group.map_or(0, str::len) as u64;
    if let Some(key) = group {
        let Some(latest) = hub.up_to_date(live, BUILDING) else {
            return Err(Error::Unusable {
                what: "The city is still being made of what has come".into(),
                remedy: "Select again in a moment".into(),
            });
        };
        let known = latest.source.is_some_and(|source| source.find(key).is_some());
        if !known {
            let shown: String = key.chars().take(120).collect();
            return Err(Error::Unusable {
                what: format!("There is no group {shown:?}"),
                remedy: "Give the \"key\" of a node, or its path of names: Heap#java.util#HashMap".into(),
            });
        }
        if !work.more(bytes) {
            return Err(no_memory());
        }
    }
    let key = group.map(str::to_owned);
    let mut held = lock(&live.selection);
    hub.wish(live, |state| {
        state.selected = group.map(Into::into);
        state.wishes.select = (state.wishes.select.0 + 1, key);
    });
    held.shrink_to(0);
    held.take_over(work, bytes);
    Ok(More::default())
}

fn needed<T>(value: Option<T>, field: &str, what: &str) -> Result<T, Error> {
    value.ok_or_else(|| Error::Unusable {
        what: format!("The message has no {field:?}"),
        remedy: format!("Write {what} into it"),
    })
}

fn within(place: &str, error: Error) -> Error {
    match error {
        Error::Unusable { what, remedy } => Error::Unusable { what: format!("{place}: {what}"), remedy },
        Error::Format { path, offset, found, expected, remedy } => {
            Error::Format { path, offset, found: format!("in {place}: {found}"), expected, remedy }
        }
        other => other,
    }
}

/// For messages that do not fit.
pub(super) fn no_memory() -> Error {
    Error::Unusable {
        what: "The sources together take all the memory they may".into(),
        remedy: "Clear one of them, or start the server with a larger --max-memory".into(),
    }
}
