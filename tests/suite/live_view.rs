//! A city that grows while a program runs, in the viewer itself (without a window). The picture stays in place, both
//! sides hear of each other, and no frame waits for new trees.
#![cfg(feature = "viewer")]

use bevy::prelude::*;
use memory_city::viewer::action::Action;
use memory_city::viewer::capture::Studio;
use memory_city::viewer::city::{City, Shown};
use memory_city::viewer::clock::Clock;
use memory_city::viewer::document::Document;
use memory_city::viewer::live::{ListenOptions, Listening};
use memory_city::viewer::loading::{Loading, State};
use memory_city::viewer::selection::{Select, Selection};
use memory_city::viewer::settings::Settings;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::json::TreesOfRecording;
use memory_city_analysis::timeline::{AUTO, NodeId, RecordingFolder, Source};
use memory_city_heap::progress::Progress;
use memory_city_live::{LiveLimits, PushOptions, ServerOptions, push};
use memory_city_testing::shop::Shop;
use memory_city_wire::TraceOptions;
use serde_json::{Value, json};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

type Client = WebSocket<TcpStream>;

fn studio() -> Studio {
    studio_for(None)
}

/// A city for clients that know a token.
fn studio_for(token: Option<&str>) -> Studio {
    let mut studio = Studio::new((320, 200), 1).expect("a renderer");
    let token = token.map(str::to_owned);
    let server = ServerOptions { address: "127.0.0.1:0".into(), token, ..ServerOptions::default() };
    let listening = Listening::at_once(Some(ListenOptions { limits: LiveLimits::default(), server }));
    studio.app().world_mut().insert_resource(listening);
    studio.frame();
    studio
}

fn connect(studio: &mut Studio, source: &str) -> Client {
    connect_with(studio, source, None)
}

fn connect_with(studio: &mut Studio, source: &str, token: Option<&str>) -> Client {
    let (address, _) = studio.app().world().resource::<Listening>().address().expect("it listens");
    let stream = TcpStream::connect(address.trim_start_matches("ws://")).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let mut client = tungstenite::client(format!("{address}/"), stream).expect("a handshake").0;
    say(&mut client, json!({"do": "hello", "protocol": 1, "source": source, "token": token}));
    client
}

fn hear(client: &mut Client) -> Value {
    loop {
        if let Message::Text(text) = client.read().expect("an answer") {
            return serde_json::from_str(text.as_str()).expect("JSON");
        }
    }
}

fn say(client: &mut Client, message: Value) {
    client.send(Message::text(message.to_string())).expect("sent");
    while hear(client)["event"] != "ack" {}
}

/// Draws until the city is as it should be.
fn until(studio: &mut Studio, what: &str, is_so: impl Fn(&World) -> bool) {
    let begin = Instant::now();
    while !is_so(studio.app().world()) {
        studio.frame();
        assert!(begin.elapsed() < Duration::from_secs(60), "never {what}");
    }
}

fn city(world: &World) -> Option<&City> {
    world.resource::<Shown>().0.as_ref()
}

fn title(world: &World) -> &str {
    world.resource::<Document>().get().map_or("", |open| &open.title)
}

fn times(world: &World) -> usize {
    city(world).map_or(0, City::times)
}

/// Sessions grow, and from the third time on there are Orders.
fn time(n: u64) -> Value {
    let mut children = vec![
        json!({"name": "Session", "role": "Type", "objects": 10 * n, "bytes": 400 * n}),
        json!({"name": "String", "role": "Type", "objects": 30, "bytes": 720}),
    ];
    if n >= 3 {
        children.push(json!({"name": "Order", "role": "Type", "objects": 5, "bytes": 200}));
    }
    json!({"do": "append", "time": {"tree": {"children": children}}})
}

/// Whether every building stands in its place.
fn at_rest(world: &World) -> bool {
    city(world).is_some_and(|city| city.boxes.version == city.layout)
}

fn place(world: &World, name: &str) -> Option<[f64; 4]> {
    let city = city(world)?;
    let node = city.timeline.find(&format!("Heap#{name}"))?;
    let cell = city.plan.plots[city.plan.plot_of(node)?].cell;
    Some([cell.x, cell.y, cell.w, cell.h])
}

#[test]
fn a_city_grows_in_place_and_both_sides_hear_of_each_other() {
    let mut studio = studio();
    let mut client = connect(&mut studio, "shop");
    say(&mut client, time(1));
    until(&mut studio, "shown", |w| times(w) == 1);
    let before = ["Session", "String"].map(|name| place(studio.app().world(), name).expect("a place"));
    for n in 2..=4 {
        say(&mut client, time(n));
    }
    until(&mut studio, "complete", |w| times(w) == 4);
    let world = studio.app().world();
    assert_eq!(["Session", "String"].map(|name| place(world, name).expect("a place")), before);
    assert_eq!(world.resource::<Clock>().time, 3, "who looks at the last time goes on with it");
    let plan = &city(world).expect("a city").plan;
    assert_eq!((plan.unplaced().len(), place(world, "Order")), (1, None));
    // Four times the sessions on the plot of one, in areas of square roots.
    assert!((plan.outgrowth() - 2.0).abs() < 1e-9, "{}", plan.outgrowth());

    say(&mut client, json!({"do": "select", "group": "Heap#Session"}));
    until(&mut studio, "selected", |w| w.resource::<Selection>().node().is_some());
    say(&mut client, json!({"do": "go", "at": 2}));
    until(&mut studio, "at that time", |w| w.resource::<Clock>().time == 1);
    say(&mut client, time(5));
    until(&mut studio, "complete", |w| times(w) == 5);
    let world = studio.app().world_mut();
    assert_eq!(world.resource::<Clock>().time, 1, "who looks back stays there");
    assert!(world.resource::<Selection>().node().is_some(), "the selection survives");
    world.write_message(Action::Last);
    world.resource_mut::<Selection>().clear();
    studio.frame();
    studio.frame();
    let mut heard = vec![hear(&mut client), hear(&mut client)];
    while !heard.iter().any(|e| e["event"] == "time" && e["at"] == 5) {
        heard.push(hear(&mut client));
    }
    assert!(heard.iter().any(|e| *e == json!({"event": "selected", "group": null})), "{heard:?}");

    studio.app().world_mut().write_message(Action::ReLayout);
    until(&mut studio, "planned anew", |w| place(w, "Order").is_some());
    let world = studio.app().world();
    assert_ne!(place(world, "Session").expect("a place"), before[0]);
    assert_eq!(city(world).expect("a city").plan.outgrowth(), 1.0);
    assert!(!at_rest(world), "buildings are on their way");
    let of_session = |world: &World| {
        let city = city(world).expect("a city");
        let is_it = |&p: &usize| city.plan.building(p).is_some_and(|n| city.timeline.name(n) == "Session");
        let plot = (0..city.plan.plots.len()).find(is_it).expect("a plot");
        let target = city.target_of_plot(plot);
        city.boxes.records[city.box_of(target).expect("a box") as usize].cell
    };
    let on_the_way = of_session(studio.app().world());
    until(&mut studio, "at rest", at_rest);
    assert_ne!(of_session(studio.app().world()), on_the_way);
}

#[test]
fn sources_are_cities_of_their_own_and_clients_ask_for_theirs() {
    let mut studio = studio();
    let (mut a, mut b) = (connect(&mut studio, "a"), connect(&mut studio, "b"));
    say(&mut a, time(1));
    until(&mut studio, "a", |w| title(w) == "a (live)");
    say(&mut b, time(2));
    for _ in 0..20 {
        studio.frame();
    }
    assert_eq!(title(studio.app().world()), "a (live)");
    say(&mut b, json!({"do": "show"}));
    until(&mut studio, "b", |w| title(w) == "b (live)");
    studio.app().world_mut().resource_mut::<Listening>().choose = Some("a".into());
    until(&mut studio, "a again", |w| title(w) == "a (live)");
}

/// Sends the walks of a recording from one on, as its recorder does.
fn send_walks(studio: &mut Studio, folder: &Path, from: usize) {
    let (address, _) = studio.app().world().resource::<Listening>().address().expect("it listens");
    let recording = RecordingFolder::of(folder).expect("a recording");
    let source = Source::open(&[folder.to_owned()], AUTO, GroupOptions::default(), &Progress::new()).expect("walks");
    let all = from == 0;
    let options = PushOptions {
        address,
        source: "shop".into(),
        token: Some("secret".into()),
        recording: Some(TreesOfRecording { recording, grouping: source.grouping_id() }),
        ..PushOptions::default()
    };
    if all {
        push(&source, &options, &Progress::new()).expect("sent");
        return;
    }
    // The trees are of no matter here: that there is one more is.
    let mut client = connect_with(studio, "shop", Some("secret"));
    for n in from..source.timeline().times() {
        say(&mut client, time(n as u64));
    }
}

fn grouped_by(world: &World, grouping: &str) -> bool {
    let open = world.resource::<Document>().get();
    open.is_some_and(|open| open.source.followed_recording().is_some() && open.source.grouping_id() == grouping)
}

/// The carts that a worker has allocated, at all times.
fn carts_of(world: &World, worker: &str) -> Vec<u64> {
    let Some(city) = city(world) else { return Vec::new() };
    let is_it = |&node: &NodeId| city.timeline.key(node).contains(worker) && city.timeline.name(node) == "shop.Cart";
    let Some(node) = city.timeline.nodes().find(is_it) else { return Vec::new() };
    (0..city.times()).map(|time| city.timeline.amount(time, node).objects).collect()
}

/// A recording's city can have any grouping of its walks while it goes on: earlier walks at once, others as they come.
/// Selection and shown time stay, and cancelling keeps the city.
#[test]
fn a_recording_is_grouped_anew_while_it_goes_on() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("trace");
    let mut shop = Shop::begin(&folder, TraceOptions::default());
    for carts in [8, 16, 24] {
        shop.walk(carts, 60_000);
    }
    let mut studio = studio_for(Some("secret"));
    send_walks(&mut studio, &folder, 0);
    until(&mut studio, "shown", |w| times(w) == 3);
    let world = studio.app().world();
    let open = world.resource::<Document>().get().expect("a document");
    assert!(open.source.heaps().is_none() && open.source.can_regroup());
    assert_eq!(open.source.grouping_id(), "package-type");
    assert!(carts_of(world, "worker-1").is_empty());

    // By thread: buildings of the walks so far.
    let group = |studio: &mut Studio, grouping: &str| {
        studio.app().world_mut().resource_mut::<Settings>().grouping = grouping.to_owned();
    };
    group(&mut studio, "thread-type");
    until(&mut studio, "grouped by thread", |w| grouped_by(w, "thread-type"));
    until(&mut studio, "in the city", |w| carts_of(w, "worker-1") == [2, 4, 6]);
    let world = studio.app().world_mut();
    assert_eq!(title(world), "shop (live)");
    let timeline = Arc::clone(world.resource::<Document>().timeline().expect("a document"));
    let node = timeline.find("Heap#worker-1#shop.Cart").expect("carts of a worker");
    world.resource_mut::<Selection>().select(&timeline, node);

    // A further walk comes: the same groups, and whoever looks at the last time goes on with it.
    shop.walk(40, 60_000);
    send_walks(&mut studio, &folder, 3);
    until(&mut studio, "grown", |w| carts_of(w, "worker-1") == [2, 4, 6, 10]);
    let world = studio.app().world_mut();
    assert!(grouped_by(world, "thread-type"));
    assert_eq!(world.resource::<Clock>().time, 3);
    assert!(world.resource::<Selection>().node().is_some(), "the selection survives");
    assert!(place(world, "worker-1#shop.Cart").is_some());
    world.write_message(Action::ReLayout);
    studio.frame();
    until(&mut studio, "at rest", at_rest);
    assert!(grouped_by(studio.app().world(), "thread-type"), "the ground is divided for the same groups");

    // Given up: what was there stays, and goes on.
    group(&mut studio, "age-type");
    studio.frame();
    assert!(matches!(studio.app().world().resource::<Loading>().state(), State::Busy { .. }), "progress is shown");
    assert!(studio.app().world_mut().resource_mut::<Loading>().escape());
    until(&mut studio, "given up", |w| w.resource::<Settings>().grouping == "thread-type");
    shop.walk(48, 10);
    send_walks(&mut studio, &folder, 4);
    until(&mut studio, "grown again", |w| carts_of(w, "worker-1") == [2, 4, 6, 10, 12]);

    // A list of a person's own, and what a recording does not hold.
    group(&mut studio, "thread>array-length>type");
    until(&mut studio, "a list", |w| grouped_by(w, "thread>array-length>type") && times(w) == 5);
    group(&mut studio, "loaders-type");
    until(&mut studio, "refused", |w| {
        w.resource::<Loading>().refusal(w.resource::<Settings>()).is_some_and(|why| why.contains("this recording"))
    });
    assert!(grouped_by(studio.app().world(), "thread>array-length>type"));

    // A window that is started again gets all, and what was chosen there.
    let mut studio = studio_for(Some("secret"));
    group(&mut studio, "thread-type");
    send_walks(&mut studio, &folder, 0);
    until(&mut studio, "grouped as was wished", |w| carts_of(w, "worker-1") == [2, 4, 6, 10, 12]);
    // Another program takes the place of that one.
    let other = temporary.path().join("other");
    let mut shop = Shop::begin(&other, TraceOptions::default());
    shop.walk(4, 10);
    send_walks(&mut studio, &other, 0);
    until(&mut studio, "the other", |w| carts_of(w, "worker-1") == [1]);
}

/// Clients without a token cannot name a recording: nothing is opened on their word.
#[test]
fn only_who_has_a_token_names_a_recording() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("trace");
    Shop::begin(&folder, TraceOptions::default()).walk(8, 10);
    let mut studio = studio();
    send_walks(&mut studio, &folder, 0);
    until(&mut studio, "shown", |w| times(w) == 1);
    studio.app().world_mut().resource_mut::<Settings>().grouping = "thread-type".into();
    for _ in 0..30 {
        studio.frame();
    }
    let open = studio.app().world().resource::<Document>().get().expect("a document");
    assert!(!open.source.can_regroup() && open.source.heaps().is_none());
}

/// As fast as they come, while frames are drawn: none of them waits for a parser, a builder or a layout.
#[test]
fn no_frame_waits_for_what_comes() {
    let mut studio = studio();
    let mut client = connect(&mut studio, "load");
    let sender = std::thread::spawn(move || {
        for n in 0..150u64 {
            let children: Vec<Value> = (0..2000u64)
                .map(|i| json!({"name": format!("T{i}"), "objects": i + n, "bytes": 16 * (i + n)}))
                .collect();
            say(&mut client, json!({"do": "append", "time": {"tree": {"children": children}}}));
        }
    });
    // How long frames take is measured by `benches/live_frames`: here they go on while trees come.
    let begin = Instant::now();
    let mut between = 0;
    while times(studio.app().world()) < 150 {
        studio.frame();
        between += usize::from((1..150).contains(&times(studio.app().world())));
        assert!(begin.elapsed() < Duration::from_secs(300), "{} times", times(studio.app().world()));
    }
    sender.join().expect("all were taken");
    assert!(between > 1, "frames show what has come so far: {between}");
}
