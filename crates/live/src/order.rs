//! Commands of a client to its source: each is done as a whole, or not at all.
//!
//! Memory is counted before anything is kept. `work` asks for the memory of the work and for the growth of the trees; the source takes it
//! over with the trees. The rest goes back when the message is answered.

use super::answer::ReplyMore;
use super::hub::{Hub, Live};
use super::memory::{HeldMemory, lock};
use super::request::{Request, each};
use memory_city_analysis::timeline::json::{Grant, GrowingTrees};
use memory_city_heap::error::Error;
use std::time::Duration;

/// Longest wait of a selection for the city of the latest trees, and of new trees for the room of those they replaced.
const BUILDING: Duration = Duration::from_secs(20);

/// Copies of the key of a selected group: in the state, in the wish, in the viewer, and on its way to clients.
const COPIES_OF_KEY: u64 = 8;

/// For messages that are not understood.
pub(super) const HELP: &str =
    "Known are append, replace, references, clear, select, go, show, plan and recording: see docs/live-protocol.md";

/// Runs the command of a message.
pub(super) fn act(hub: &Hub, live: &Live, request: &Request<'_>, work: &mut HeldMemory) -> Result<ReplyMore, Error> {
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
            Ok(ReplyMore::default())
        }
        "plan" => {
            hub.wish(live, |state| state.wishes.plan += 1);
            Ok(ReplyMore::default())
        }
        "show" => {
            hub.wish_shown(&live.name);
            Ok(ReplyMore::default())
        }
        // Whether it may say that has been looked at: see `connection`.
        "recording" => {
            let claim =
                needed(request.recording.as_ref(), "recording", "an object with \"folder\", \"id\" and \"grouping\"")?;
            *lock(&live.recording) = Some(claim.trees()?);
            Ok(ReplyMore::default())
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
    work: &mut HeldMemory,
    mut take: impl FnMut(&mut HeldMemory) -> Result<T, Error>,
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

/// Lets the trees take something in, and returns their new size.
fn grow(
    hub: &Hub,
    live: &Live,
    work: &mut HeldMemory,
    take: impl Fn(&mut GrowingTrees, &mut HeldMemory) -> Result<(), Error>,
) -> Result<ReplyMore, Error> {
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
        Ok(ReplyMore { times: Some(trees.times()), groups: Some(trees.nodes()), warnings, ..ReplyMore::default() })
    })
}

/// Puts other trees in the place of those there are.
fn put(hub: &Hub, live: &Live, fresh: GrowingTrees, work: &mut HeldMemory) -> ReplyMore {
    let mut source = lock(&live.trees);
    let more = ReplyMore {
        times: Some(fresh.times()),
        groups: Some(fresh.nodes()),
        warnings: fresh.warnings(),
        ..ReplyMore::default()
    };
    // Timelines of those before are there until a city of the new ones is: until then both count.
    source.held.take_over(work, fresh.bytes());
    let before = std::mem::replace(&mut source.trees, fresh);
    source.replaced = Some(hub.came(live, &source.trees));
    drop(source);
    drop(before);
    more
}

fn select(hub: &Hub, live: &Live, group: Option<&str>, work: &mut HeldMemory) -> Result<ReplyMore, Error> {
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
    Ok(ReplyMore::default())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LiveLimits;
    use crate::hub::Hub;
    use std::sync::Arc;

    fn say(hub: &Arc<Hub>, live: &Live, message: &str) -> Result<ReplyMore, Error> {
        let request: Request<'_> = serde_json::from_str(message).expect("a request");
        let mut work = HeldMemory::none(&hub.ledger);
        act(hub, live, &request, &mut work)
    }

    fn tree(names: std::ops::Range<usize>) -> String {
        let children: Vec<String> =
            names.map(|n| format!("{{\"name\":\"{n}\",\"objects\":1,\"bytes\":{n}}}")).collect();
        format!("{{\"tree\":{{\"children\":[{}]}}}}", children.join(","))
    }

    #[test]
    fn what_is_counted_is_what_is_there() {
        let hub = Hub::new(LiveLimits { memory_bytes: 1 << 20, ..LiveLimits::default() }, || ());
        let live = hub.join("a").expect("a source");
        let held = || lock(&live.trees).held.bytes();
        let bytes = || lock(&live.trees).trees.bytes();
        let mut refused = 0;
        for n in 0..40 {
            let before = (hub.ledger.taken(), lock(&live.state).clone());
            let names = 100 * n..100 * n + 100;
            let message = match n % 4 {
                0 => format!("{{\"do\":\"replace\",\"times\":[{},{{\"tree\":{{\"objects\":-1}}}}]}}", tree(names)),
                1 => {
                    format!("{{\"do\":\"references\",\"maps\":{{\"points-to\":{{\"{n}\":{{\"a\":1}}}},\"roots\":3}}}}")
                }
                _ => format!("{{\"do\":\"append\",\"time\":{}}}", tree(names)),
            };
            if say(&hub, &live, &message).is_err() {
                refused += usize::from(n % 4 > 1);
                assert_eq!(hub.ledger.taken(), before.0, "{message}");
                assert_eq!(lock(&live.state).revision, before.1.revision);
            }
            assert_eq!((hub.ledger.taken(), held()), (bytes(), bytes()));
            assert!(hub.ledger.taken() <= 1 << 20);
        }
        assert!(refused > 3, "{refused} trees were refused for want of memory");
        say(&hub, &live, "{\"do\":\"select\",\"group\":\"Heap\"}").expect("selected");
        assert!(hub.ledger.taken() > bytes());
        say(&hub, &live, "{\"do\":\"select\",\"group\":null}").expect("selected");
        assert_eq!(hub.ledger.taken(), bytes());
        // What is cleared counts until its timelines are gone; then there is room again.
        say(&hub, &live, "{\"do\":\"clear\"}").expect("cleared");
        say(&hub, &live, &format!("{{\"do\":\"append\",\"time\":{}}}", tree(0..300))).expect("there is room");
        say(&hub, &live, "{\"do\":\"clear\"}").expect("cleared");
        let until = std::time::Instant::now() + BUILDING;
        while hub.ledger.taken() > 0 && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(hub.ledger.taken(), 0);
    }
}
