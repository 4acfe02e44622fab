//! Where histories that were thought up grow.

use super::accumulation::{AccumulationRules, Elements, accumulations, filled_once};
use super::course::Course;
use super::history::{Holding, OwnerHistory, PlaceOverTime};
use memory_city_formats::JVM;
use memory_city_heap::{Amount, ObjectId};

const MB: u64 = 1 << 20;

/// A history under construction: places with what they themselves hold over time; totals are added up.
struct Invented {
    places: Vec<PlaceOverTime>,
}

impl Invented {
    fn new(times: usize) -> Invented {
        let heap = PlaceOverTime { parent: 0, name: "Heap".into(), held: vec![Holding::default(); times] };
        Invented { places: vec![heap] }
    }

    /// A place with objects and bytes at each time; `largest` is the share of the last bytes that one object retains.
    fn place(&mut self, parent: u32, name: &str, held: &[(u64, u64)], largest: f64) -> u32 {
        assert_eq!(held.len(), self.places[0].held.len());
        let at = self.places.len() as u32;
        let holding = |&(objects, bytes): &(u64, u64)| Holding {
            own: Amount { objects, bytes },
            total: Amount { objects, bytes },
            heads: objects,
            largest: Some((ObjectId(at), (bytes as f64 * largest) as u64)),
        };
        let held: Vec<Holding> = held.iter().map(holding).collect();
        let mut above = parent;
        loop {
            let up = &mut self.places[above as usize];
            for (up, held) in up.held.iter_mut().zip(&held) {
                up.total += held.total;
                // One object there retains what is below.
                if above != 0 && up.heads == 1 {
                    up.largest = Some((ObjectId(above), up.total.bytes));
                }
            }
            if above == 0 {
                break;
            }
            above = up.parent;
        }
        self.places.push(PlaceOverTime { parent, name: name.into(), held });
        at
    }

    /// A static field with one collection in it.
    fn list(&mut self, class: &str) -> u32 {
        let times = self.places[0].held.len();
        let class = self.place(0, &format!("class {class}"), &vec![(0, 0); times], 0.0);
        let field = self.place(class, "static all", &vec![(0, 0); times], 0.0);
        self.place(field, "java.util.ArrayList", &vec![(1, 24); times], 1.0)
    }

    /// What else there is, and stays as it is.
    fn rest(&mut self) {
        let times = self.places[0].held.len();
        self.place(0, "class com.acme.Rest", &vec![(10_000, 5 * MB); times], 0.01);
    }

    fn points(self) -> Vec<(String, Elements, (u64, u64))> {
        let history = OwnerHistory::of_places(self.places).with_profile(&JVM);
        let found = accumulations(&history, AccumulationRules::default());
        found.into_iter().map(|p| (history.path(p.place).join("/"), p.elements, p.count)).collect()
    }
}

/// So many objects of 100 bytes at each time.
fn counts(counts: &[u64]) -> Vec<(u64, u64)> {
    counts.iter().map(|&n| (n, 100 * n)).collect()
}

fn one_list(of: &[u64]) -> Vec<(String, Elements, (u64, u64))> {
    let mut heap = Invented::new(of.len());
    heap.rest();
    let list = heap.list("com.acme.Log");
    heap.place(list, "com.acme.Event", &counts(of), 0.001);
    heap.points()
}

#[test]
fn a_list_that_grows_is_named_with_its_elements() {
    let found = one_list(&[1000, 3000, 5000, 7000, 9000]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "class com.acme.Log/static all/java.util.ArrayList");
    assert_eq!(found[0].2, (1000, 9000));
    assert!(matches!(&found[0].1, Elements::Below(below) if below.len() == 1));
    // Two times are enough to say where it grew.
    assert_eq!(one_list(&[1000, 9000]).len(), 1);
}

#[test]
fn what_grew_and_stayed_is_no_accumulation() {
    for healthy in [
        // A start-up, a cache that is full, one-off growth in the middle, nothing, what shrinks.
        [0, 8000, 9000, 9000, 9000, 9000],
        [1000, 9000, 9000, 9000, 9000, 9000],
        [1000, 1000, 9000, 9000, 9000, 9000],
        [9000, 9000, 9000, 9000, 9000, 9000],
        [9000, 7000, 5000, 4000, 3000, 1000],
        // It comes and goes.
        [1000, 9000, 1000, 9000, 1000, 1500],
        [1000, 9000, 2000, 9500, 1000, 2500],
    ] {
        assert_eq!(one_list(&healthy), [], "{healthy:?}");
    }
}

/// What was filled, by name, with how it went.
fn filled(heap: Invented) -> Vec<(String, Course)> {
    let history = OwnerHistory::of_places(heap.places);
    let found = filled_once(&history, AccumulationRules::default());
    found.into_iter().map(|p| (history.path(p.place).join("/"), p.course)).collect()
}

#[test]
fn what_was_filled_once_is_told_apart_and_hides_no_leak() {
    let cache = [100, 100, 100, 60_000, 60_000, 60_000, 60_000, 60_000];
    let leak = [100, 1500, 3000, 4500, 6000, 7500, 9000, 10_500];
    // Both hang on one object, of which the cache is by far the most.
    let server = || {
        let mut heap = Invented::new(8);
        heap.rest();
        let server = heap.list("com.acme.Server");
        let map = heap.place(server, "java.util.HashMap", &[(1, 48); 8], 1.0);
        heap.place(map, "com.acme.Page", &counts(&cache), 0.001);
        let list = heap.place(server, "java.util.LinkedList", &[(1, 32); 8], 1.0);
        heap.place(list, "com.acme.Event", &counts(&leak), 0.001);
        heap
    };
    let at = |name: &str| format!("class com.acme.Server/static all/java.util.ArrayList/{name}");
    let found: Vec<String> = server().points().into_iter().map(|p| p.0).collect();
    assert_eq!(found, [at("java.util.LinkedList")]);
    assert_eq!(filled(server()), [(at("java.util.HashMap"), Course::Filled)]);
    // Nothing was filled where it still grows.
    let mut growing = Invented::new(8);
    let list = growing.list("com.acme.Log");
    growing.place(list, "com.acme.Event", &counts(&leak), 0.001);
    assert_eq!(filled(growing), []);
}

#[test]
fn growth_in_the_last_interval_alone_is_listed_as_such() {
    let mut heap = Invented::new(6);
    heap.rest();
    let list = heap.list("com.acme.Log");
    heap.place(list, "com.acme.Event", &counts(&[1000, 1000, 1000, 1000, 1000, 9000]), 0.001);
    let history = OwnerHistory::of_places(heap.places);
    let found = accumulations(&history, AccumulationRules::default());
    assert_eq!(found.iter().map(|p| p.course).collect::<Vec<_>>(), [Course::LastStep]);
}

#[test]
fn growth_that_begins_late_is_found() {
    for late in [[1000, 1000, 1000, 1000, 5000, 9000], [1000, 1000, 1000, 1100, 3000, 9000]] {
        assert_eq!(one_list(&late).len(), 1, "{late:?}");
    }
}

#[test]
fn two_leaks_are_two_the_larger_first_and_what_shrinks_hides_none() {
    let mut heap = Invented::new(4);
    heap.rest();
    let (small, large) = (heap.list("com.acme.Small"), heap.list("com.acme.Large"));
    heap.place(small, "com.acme.Event", &counts(&[100, 2000, 4000, 6000]), 0.001);
    heap.place(large, "com.acme.Session", &counts(&[100, 5000, 10_000, 15_000]), 0.001);
    heap.place(0, "class com.acme.Buffer", &[(10, 8 * MB), (8, 6 * MB), (6, 4 * MB), (1, MB)], 0.5);
    let found = heap.points();
    let names: Vec<&str> = found.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(
        names,
        ["class com.acme.Large/static all/java.util.ArrayList", "class com.acme.Small/static all/java.util.ArrayList"]
    );
}

#[test]
fn threads_that_become_more_are_named_themselves() {
    let mut heap = Invented::new(4);
    heap.rest();
    let threads = heap.place(0, "thread worker-#", &counts(&[10, 200, 400, 600]), 0.01);
    heap.place(threads, "java.lang.ThreadLocal$ThreadLocalMap", &counts(&[10, 200, 400, 600]), 0.01);
    let found = heap.points();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0.as_str(), &found[0].1, found[0].2), ("thread worker-#", &Elements::Own, (10, 600)));
}

/// In one state alone, which nothing is compared with.
#[test]
fn of_the_threads_of_a_pool_what_they_keep_is_named() {
    for (threads, entries, expected) in [
        (
            8,
            20_000,
            (
                "thread worker/java.lang.ThreadLocal$ThreadLocalMap/thread local com.acme.A.B/java.util.ArrayList",
                20_000,
            ),
        ),
        // One each is no collection that fills up: the deepest that has most of it is named.
        (
            8,
            8,
            (
                "thread worker/java.lang.ThreadLocal$ThreadLocalMap/thread local com.acme.A.B/java.util.ArrayList/com.acme.Item",
                8,
            ),
        ),
        // So many are no pool.
        (3_000, 60_000, ("thread worker", 3_000)),
    ] {
        let mut heap = Invented::new(2);
        let of = |count: u64, bytes: u64| [(0, 0), (count, bytes)];
        heap.place(0, "class com.acme.Other", &of(1, MB), 1.0);
        let mut at = heap.place(0, "thread worker", &of(threads, threads * 100), 0.01);
        at = heap.place(at, "java.lang.ThreadLocal$ThreadLocalMap", &of(threads, threads * 64), 0.01);
        at = heap.place(at, "thread local com.acme.A.B", &of(0, 0), 0.0);
        at = heap.place(at, "java.util.ArrayList", &of(threads, threads * 24), 0.01);
        heap.place(at, "com.acme.Item", &of(entries, 20 * MB), 0.001);
        let found = heap.points();
        assert_eq!((found[0].0.as_str(), found[0].2.1), expected, "{found:?}");
    }
}

/// Many collections in a collection are its elements; of a few, theirs say more.
#[test]
fn of_one_state_the_elements_of_few_collections_are_named() {
    let map = "class com.acme.Book/static all/java.util.HashMap";
    for (lists, expected) in [(20, (format!("{map}/java.util.ArrayList"), 40_000)), (2_000, (map.to_owned(), 2_000))] {
        let mut heap = Invented::new(2);
        let of = |count: u64, bytes: u64| [(0, 0), (count, bytes)];
        heap.place(0, "class com.acme.Other", &of(1, MB), 1.0);
        let class = heap.place(0, "class com.acme.Book", &of(0, 0), 0.0);
        let field = heap.place(class, "static all", &of(0, 0), 0.0);
        let map = heap.place(field, "java.util.HashMap", &of(1, 48), 1.0);
        let list = heap.place(map, "java.util.ArrayList", &of(lists, 24 * lists), 0.01);
        heap.place(list, "com.acme.Order", &of(40_000, 20 * MB), 0.001);
        let found = heap.points();
        assert_eq!((found[0].0.clone(), found[0].2.1), expected, "{found:?}");
    }
}

#[test]
fn a_chain_and_an_array_are_told_apart() {
    for (held, elements) in [
        (counts(&[100, 2000, 4000, 6000]), Elements::Own),
        (vec![(1, MB), (1, 2 * MB), (1, 3 * MB), (1, 4 * MB)], Elements::Larger),
    ] {
        let mut heap = Invented::new(4);
        heap.rest();
        let class = heap.place(0, "class com.acme.App", &[(0, 0); 4], 0.0);
        let field = heap.place(class, "static head", &[(0, 0); 4], 0.0);
        heap.place(field, "com.acme.Node", &held, 1.0);
        let found = heap.points();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].0.as_str(), &found[0].1), ("class com.acme.App/static head/com.acme.Node", &elements));
    }
}

/// Links of two types in turn, the second with a text: the first link is the place, with all of them.
#[test]
fn a_chain_of_two_types_is_named_by_its_first_link() {
    let number = [1000, 2000, 3000, 4000];
    let mut heap = Invented::new(4);
    heap.rest();
    let class = heap.place(0, "class com.acme.App", &[(0, 0); 4], 0.0);
    let field = heap.place(class, "static head", &[(0, 0); 4], 0.0);
    let wrap = heap.place(field, "com.acme.Wrap", &number.map(|n| (n, 16 * n)), 1.0);
    let inner = heap.place(wrap, "com.acme.Inner", &number.map(|n| (n, 24 * n)), 1.0);
    heap.place(inner, "byte[]", &number.map(|n| (n, 66 * n)), 0.001);
    for place in [wrap, inner] {
        heap.places[place as usize].held[3].largest = Some((ObjectId(place), 106 * 4000));
    }
    let found = heap.points();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].0.as_str(), &found[0].1, found[0].2),
        ("class com.acme.App/static head/com.acme.Wrap", &Elements::Own, (1000, 4000))
    );
}

/// A backlog that drains, or a cache that comes and goes, hides no leak in another field of the same object. Kinds of elements of one
/// collection that come in turn are none.
#[test]
fn what_leaks_beside_what_shrinks_is_named() {
    let engine = |beside: &[u64]| {
        let mut heap = Invented::new(beside.len());
        heap.rest();
        let class = heap.place(0, "class com.acme.Engine", &vec![(0, 0); beside.len()], 0.0);
        let field = heap.place(class, "static INSTANCE", &vec![(0, 0); beside.len()], 0.0);
        let engine = heap.place(field, "com.acme.Engine", &vec![(1, 24); beside.len()], 1.0);
        let backlog = heap.place(engine, "java.util.ArrayDeque", &vec![(1, 24); beside.len()], 1.0);
        heap.place(backlog, "com.acme.Task", &counts(beside), 0.001);
        (heap, engine)
    };
    for beside in [[30_000, 25_000, 20_000, 15_000, 10_000, 5_000], [9_000, 30_000, 100, 31_000, 200, 300]] {
        let (mut heap, engine) = engine(&beside);
        let results = heap.place(engine, "java.util.ArrayList", &[(1, 24); 6], 1.0);
        heap.place(results, "com.acme.Result", &counts(&[1000, 2000, 3000, 4000, 5000, 6000]), 0.001);
        let found = heap.points();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0.ends_with("com.acme.Engine/java.util.ArrayList"), "{found:?}");
        assert_eq!(found[0].2, (1000, 6000));
    }
    let (mut heap, engine) = engine(&[8000, 7000, 6000, 5000, 4000, 3000]);
    let deque = (engine + 1) as usize;
    assert_eq!(&*heap.places[deque].name, "java.util.ArrayDeque");
    heap.place(engine + 1, "com.acme.Other", &counts(&[1000, 2000, 3000, 4000, 5000, 6000]), 0.001);
    assert_eq!(heap.points(), []);
}

/// A map of a few small things, into which one comes that holds a list: the list is what grows.
#[test]
fn growth_is_followed_into_one_large_element_among_small_ones() {
    let mut heap = Invented::new(4);
    heap.rest();
    let map = heap.list("com.acme.Registry");
    let parts = heap.place(map, "com.acme.Part", &counts(&[4, 6, 8, 10]), 0.1);
    let list = heap.place(parts, "java.util.ArrayList", &[(4, 96), (6, 144), (8, 192), (10, 240)], 0.1);
    heap.place(list, "com.acme.Event", &counts(&[100, 3000, 6000, 9000]), 0.001);
    // One part, and one list, retain nearly all of it.
    for place in [parts, list] {
        heap.places[place as usize].held[3].largest = Some((ObjectId(place), 890_000));
    }
    let found = heap.points();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0.ends_with("com.acme.Part/java.util.ArrayList"), "{found:?}");
    assert_eq!(found[0].2, (100, 9000));
}

/// Members that know each other: one of them leads to all others, and each has a list and a name of its own.
#[test]
fn a_graph_of_like_objects_is_named_by_them_not_by_their_parts() {
    let number = [800, 1600, 2400, 3200];
    let mut heap = Invented::new(4);
    heap.rest();
    let class = heap.place(0, "class com.acme.Network", &[(0, 0); 4], 0.0);
    let field = heap.place(class, "static founder", &[(0, 0); 4], 0.0);
    let member = heap.place(field, "com.acme.Member", &number.map(|n| (n, 24 * n)), 1.0);
    let list = heap.place(member, "java.util.ArrayList", &number.map(|n| (n, 80 * n)), 1.0);
    heap.place(member, "java.lang.String", &number.map(|n| (n, 56 * n)), 0.001);
    // The founder retains all of it, and so does the founder's list.
    for place in [member, list] {
        heap.places[place as usize].held[3].largest = Some((ObjectId(place), 160 * 3200));
    }
    let found = heap.points();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].0.as_str(), &found[0].1, found[0].2),
        ("class com.acme.Network/static founder/com.acme.Member", &Elements::Own, (800, 3200))
    );
}

/// A pool of threads that came after the first time: what each keeps is named, whether there are two times or more.
#[test]
fn of_threads_that_came_once_what_they_keep_is_named() {
    for of in [&[0, 40_000][..], &[0, 10_000, 20_000, 40_000]] {
        let mut heap = Invented::new(of.len());
        heap.rest();
        let workers: Vec<(u64, u64)> = of.iter().map(|&n| if n == 0 { (0, 0) } else { (4, 400) }).collect();
        let threads = heap.place(0, "thread worker-#", &workers, 0.25);
        let lists = heap.place(threads, "java.util.ArrayList", &workers, 0.25);
        heap.place(lists, "com.acme.Trace", &counts(of), 0.001);
        let found = heap.points();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "thread worker-#/java.util.ArrayList", "{found:?}");
    }
    // Threads that become more are what grows.
    let mut heap = Invented::new(3);
    heap.rest();
    heap.place(0, "thread job-#", &[(0, 0), (200, 4 * MB), (800, 16 * MB)], 0.001);
    assert_eq!(heap.points()[0].0, "thread job-#");
}

/// What is shared by others than before was there before; and no shares are more than all that grew.
#[test]
fn what_other_owners_share_by_then_is_no_newcomer() {
    let mut heap = Invented::new(3);
    heap.rest();
    let many = heap.place(0, "shared by more than 3", &[(0, 0); 3], 0.0);
    let before = heap.place(many, "com.acme.Node", &[(2_000, 200_000), (4_000, 400_000), (0, 0)], 0.001);
    heap.place(before, "com.acme.Name", &[(2_000, 80_000), (4_000, 160_000), (0, 0)], 0.001);
    heap.place(many, "com.acme.Other", &[(10, 1_000); 3], 0.1);
    let three = heap.place(0, "shared by com.acme.A.a and com.acme.B.b", &[(0, 0); 3], 0.0);
    let after = heap.place(three, "com.acme.Node", &[(0, 0), (0, 0), (6_000, 600_000)], 0.001);
    heap.place(after, "com.acme.Name", &[(0, 0), (0, 0), (6_000, 240_000)], 0.001);
    let history = OwnerHistory::of_places(heap.places).settled();
    let found = accumulations(&history, AccumulationRules::default());
    let told: Vec<_> = found.iter().map(|p| (history.path(p.place).join("/"), p.count, p.course)).collect();
    let place = "shared by com.acme.A.a and com.acme.B.b".to_owned();
    assert_eq!(told, [(place, (2_000, 6_000), Course::Lasting)]);
    let total = |name: &str| {
        let of = history.places().iter().find(|p| &*p.name == name).expect("a place");
        of.held.iter().map(|h| h.total.bytes).collect::<Vec<_>>()
    };
    assert_eq!(total("shared by more than 3"), [1_000; 3]);
    assert_eq!(total("shared by com.acme.A.a and com.acme.B.b"), [280_000, 560_000, 840_000]);
    assert!(found.iter().map(|p| p.share).sum::<f64>() <= 1.0);
}

/// A cache that fills beside a leak, both below what many share: the leak is named, not that they share it.
#[test]
fn what_leaks_beside_a_cache_that_fills_is_named_itself() {
    let mut heap = Invented::new(5);
    heap.rest();
    let many = heap.place(0, "shared by more than 3", &[(0, 0); 5], 0.0);
    heap.place(many, "com.acme.Log", &[(2, 200), (4, 400), (4, 400), (4, 400), (4, 400)], 0.3);
    let cache = heap.place(many, "com.acme.Lru", &[(1, 24); 5], 1.0);
    heap.place(cache, "byte[]", &counts(&[0, 150_000, 300_000, 300_000, 300_000]), 0.001);
    let prices = heap.place(many, "com.acme.Prices", &[(1, 24); 5], 1.0);
    heap.place(prices, "com.acme.Price", &counts(&[0, 50_000, 100_000, 150_000, 200_000]), 0.001);
    let found = heap.points();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0.as_str(), found[0].2), ("shared by more than 3/com.acme.Prices", (0, 200_000)));
}

/// Texts that another owner keeps from now on are as many as before; in a heap that has more of them they are new.
#[test]
fn what_only_changed_its_owner_is_no_growth() {
    for (before, grows) in [(&[5000, 5000, 5000, 0], false), (&[5000, 5000, 5000, 5000], true)] {
        let mut heap = Invented::new(4);
        heap.rest();
        heap.place(0, "java.lang.String", &counts(before), 0.01);
        let list = heap.list("com.acme.Platform");
        heap.place(list, "java.lang.String", &counts(&[0, 0, 0, 5100]), 0.01);
        assert_eq!(!heap.points().is_empty(), grows, "{before:?}");
    }
}

/// Less than the heap goes up and down is no growth, unless it is steady.
#[test]
fn growth_below_the_noise_is_none() {
    let waves = [(10, 5 * MB), (10, 4 * MB), (10, 5 * MB), (10, 4 * MB), (10, 4 * MB)];
    for (log, grows) in [(&[100, 100, 1500, 1500, 1900], false), (&[100, 550, 1000, 1450, 1900], true)] {
        let mut heap = Invented::new(5);
        heap.place(0, "class com.acme.Work", &waves, 0.01);
        let list = heap.list("com.acme.Log");
        heap.place(list, "com.acme.Line", &counts(log), 0.01);
        assert_eq!(!heap.points().is_empty(), grows, "{log:?}");
    }
}

/// A chain that `first` keeps, and whose later part a reader reaches too, who is sent back once: the chain is what grows.
#[test]
fn what_is_shared_at_times_counts_with_its_owner() {
    let mut heap = Invented::new(4);
    heap.rest();
    let class = heap.place(0, "class com.acme.Log", &[(0, 0); 4], 0.0);
    let first = heap.place(class, "static first", &[(0, 0); 4], 0.0);
    heap.place(first, "com.acme.Entry", &counts(&[4_800, 9_800, 5_000, 10_000]), 0.001);
    let shared = heap.place(class, "shared by com.acme.Log.first and com.acme.Log.reader", &[(0, 0); 4], 0.0);
    heap.place(shared, "com.acme.Entry", &counts(&[200, 200, 10_000, 10_000]), 0.001);
    let history = OwnerHistory::of_places(heap.places);
    // As they lie, what is shared was filled once; but half of that came from the other place.
    assert_eq!(filled_once(&history, AccumulationRules::default()), []);
    let history = history.settled();
    let found = accumulations(&history, AccumulationRules::default());
    let told: Vec<_> = found.iter().map(|p| (history.path(p.place).join("/"), p.count, p.course)).collect();
    assert_eq!(told, [("class com.acme.Log/static first".to_owned(), (5_000, 20_000), Course::Lasting)]);
}

/// A seventh more clients than before, each with a list of its own: the map has more of them, no list is larger.
#[test]
fn few_more_elements_of_many_are_more_elements_if_none_is_larger() {
    let points = |each: u64| {
        let mut heap = Invented::new(4);
        heap.rest();
        let list = heap.list("com.acme.Registry");
        let clients = [20_600u64, 21_600, 22_600, 23_600];
        let of = |bytes: &dyn Fn(u64) -> u64| clients.map(|n| (n, n * bytes(n))).to_vec();
        let client = heap.place(list, "com.acme.Client", &of(&|_| 24), 0.001);
        // With `each` they are larger from time to time.
        heap.place(client, "com.acme.Calls", &of(&|n| 100 + each * (n - 20_600) / 100), 0.001);
        heap.points()
    };
    let [(place, Elements::Below(_), (first, last))] = &points(0)[..] else { panic!("one place") };
    assert!(place.ends_with("static all/java.util.ArrayList"), "{place}");
    assert_eq!((*first, *last), (20_600, 23_600));
    let [(place, ..)] = &points(20)[..] else { panic!("one place") };
    assert!(place.contains("com.acme.Client"), "they are larger, each of them: {place}");
}

/// An array that doubles rests longer after each step; a cache that was filled at once rests as well, but has no step before.
#[test]
fn an_array_that_doubles_is_not_full_because_it_rests() {
    let found = |bytes: &[u64]| {
        let mut heap = Invented::new(bytes.len());
        heap.rest();
        let log = heap.list("com.acme.Audit");
        heap.place(log, "byte[]", &bytes.iter().map(|mb| (1, mb * MB)).collect::<Vec<_>>(), 1.0);
        let history = OwnerHistory::of_places(heap.places);
        let rules = AccumulationRules::default();
        (accumulations(&history, rules).len(), filled_once(&history, rules).len())
    };
    assert_eq!(found(&[1, 2, 2, 4, 4, 4]), (1, 0), "a step may follow");
    assert_eq!(found(&[1, 4, 4, 4, 4, 4]), (0, 1));
    assert_eq!(found(&[1, 2, 4, 4, 4, 4, 4, 4]), (0, 1), "it rests for too long");
}
