//! The history of the inspector, as in a browser: stops, one after the other, with a way back and forward.

use memory_city_analysis::inspection::InspectedHeap;
use memory_city_heap::ObjectId;

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InspectorStop {
    /// Groups, by key, as one set: at any shown time.
    Groups(Vec<String>),
    /// An object, at the time at which it was found: it has its number in that state alone.
    Object(ObjectStop),
    /// The dominator tree; where an object is given, unfolded down to it.
    Tree(Option<ObjectStop>),
}

/// An object of one heap state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectStop {
    /// The point in time.
    pub time: usize,
    /// The object.
    pub object: ObjectId,
    /// The type or class.
    pub name: String,
    /// Its address.
    pub address: String,
}

impl InspectorStop {
    /// An object of a heap state.
    pub fn object(heap: &InspectedHeap<'_>, object: ObjectId) -> InspectorStop {
        InspectorStop::Object(ObjectStop::new(heap, object))
    }
}

impl ObjectStop {
    /// An object of a heap state.
    pub fn new(heap: &InspectedHeap<'_>, object: ObjectId) -> ObjectStop {
        ObjectStop { time: heap.time(), object, name: heap.name(object), address: heap.address(object) }
    }
}

/// Stops, the oldest first, and which of them is shown.
#[derive(Clone, Debug, Default)]
pub struct InspectorWay {
    stops: Vec<InspectorStop>,
    /// The one that is shown; of no meaning while there are none.
    at: usize,
}

/// Stops that are kept: the oldest go first.
const MOST: usize = 1_000;

impl InspectorWay {
    /// The current stop.
    pub fn here(&self) -> Option<&InspectorStop> {
        self.stops.get(self.at)
    }

    /// Goes on to another stop; the stops that lay forward are dropped.
    pub fn go(&mut self, stop: InspectorStop) {
        if self.here() == Some(&stop) {
            return;
        }
        self.stops.truncate(self.at + 1);
        self.stops.push(stop);
        if self.stops.len() > MOST {
            self.stops.remove(0);
        }
        self.at = self.stops.len() - 1;
    }

    /// Replaces the current stop; the stops that lay forward are dropped.
    pub fn replace(&mut self, stop: InspectorStop) {
        self.stops.truncate(self.at);
        self.at = self.at.saturating_sub(1);
        self.go(stop);
    }

    /// Whether there is an earlier stop.
    pub fn can_go_back(&self) -> bool {
        self.at > 0 && !self.stops.is_empty()
    }

    /// Whether there is something after it.
    pub fn can_go_forward(&self) -> bool {
        self.at + 1 < self.stops.len()
    }

    /// Goes back to the earlier stop. Returns false without one.
    pub fn back(&mut self) -> bool {
        let can = self.can_go_back();
        self.at -= usize::from(can);
        can
    }

    /// Goes forward again.
    pub fn forward(&mut self) -> bool {
        let can = self.can_go_forward();
        self.at += usize::from(can);
        can
    }

    /// Shows a stop by number.
    pub fn jump(&mut self, at: usize) {
        if at < self.stops.len() {
            self.at = at;
        }
    }

    /// The path to the current stop, as numbered stops: from the last groups or tree on, `most` at most. And the number of stops left out
    /// between the first and the others.
    pub fn crumbs(&self, most: usize) -> (Vec<(usize, &InspectorStop)>, usize) {
        let Some(shown) = self.stops.get(..=self.at) else { return (Vec::new(), 0) };
        let start = shown.iter().rposition(|stop| !matches!(stop, InspectorStop::Object(_))).unwrap_or(0);
        let way: Vec<(usize, &InspectorStop)> = shown.iter().enumerate().skip(start).collect();
        let left_out = way.len().saturating_sub(most.max(2));
        let crumbs = way.iter().enumerate().filter(|(i, _)| *i == 0 || *i > left_out).map(|(_, crumb)| *crumb);
        (crumbs.collect(), left_out)
    }

    /// Forgets the stops for which `keep` does not hold, and goes to the nearest one before.
    pub fn retain(&mut self, keep: impl Fn(&InspectorStop) -> bool) {
        let before = self.stops.iter().take(self.at + 1).filter(|stop| keep(stop)).count();
        self.stops.retain(keep);
        self.at = before.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str) -> InspectorStop {
        InspectorStop::Groups(vec![name.to_owned()])
    }

    fn object(number: u32) -> InspectorStop {
        InspectorStop::Object(ObjectStop {
            time: 0,
            object: ObjectId(number),
            name: format!("o{number}"),
            address: String::new(),
        })
    }

    #[test]
    fn the_way_is_that_of_a_browser() {
        let mut way = InspectorWay::default();
        assert!(!way.back() && !way.forward() && way.here().is_none());
        way.go(group("a"));
        way.go(object(1));
        way.go(object(1));
        way.go(object(2));
        assert!(way.back() && way.here() == Some(&object(1)));
        assert!(way.back() && way.here() == Some(&group("a")) && !way.back());
        assert!(way.forward() && way.forward() && !way.forward() && way.here() == Some(&object(2)));
        way.back();
        way.go(object(3));
        assert!(!way.can_go_forward(), "what lay forward is gone");
        let shown = |way: &InspectorWay, most| {
            let (crumbs, left_out) = way.crumbs(most);
            (crumbs.iter().map(|(at, _)| *at).collect::<Vec<_>>(), left_out)
        };
        assert_eq!(shown(&way, 5), (vec![0, 1, 2], 0));
        assert_eq!(shown(&way, 2), (vec![0, 2], 1));
        way.go(InspectorStop::Tree(None));
        way.go(object(4));
        assert_eq!(shown(&way, 5), (vec![3, 4], 0), "a new way begins at the tree");
        way.jump(1);
        assert_eq!(way.here(), Some(&object(1)));
        way.retain(|stop| !matches!(stop, InspectorStop::Object(_)));
        assert_eq!(way.here(), Some(&group("a")));
        way.replace(group("b"));
        assert!(way.here() == Some(&group("b")) && !way.can_go_back() && !way.can_go_forward());
        way.go(object(5));
        way.replace(group("b"));
        assert!(way.here() == Some(&group("b")) && !way.can_go_back(), "what is there already is not there twice");
        assert_eq!(InspectorWay::default().crumbs(3).0, []);
    }

    #[test]
    fn old_stops_go() {
        let mut way = InspectorWay::default();
        (0..2 * MOST as u32).for_each(|n| way.go(object(n)));
        assert_eq!((way.stops.len(), way.here()), (MOST, Some(&object(2 * MOST as u32 - 1))));
    }
}
