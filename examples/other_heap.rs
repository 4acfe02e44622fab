//! A heap that is none of Java's: built object by object, then asked with the same analyses as every dump.
//!
//! Objects have sizes of their own, references have names, one object has several weak references, and roots have words of their own. Run
//! it with `cargo run --no-default-features --example other_heap`.

use memory_city_analysis::analyses::report::analyse;
use memory_city_analysis::analyses::{AnalysisRegistry, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{History, Metric, Source};
use memory_city_formats::{HeapSeries, SnapshotInfo};
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    HeapBuilder, HeapState, HeapType, ObjectId, Profile, ReferenceName, Root, RootKind, Strength, TypeId, TypeKind,
};
use memory_city_views::city::{CityConfig, CityPlan};
use std::error::Error;
use std::sync::Arc;

/// Address, type and size of each object: three sessions of one type take as much as is in them.
const OBJECTS: [(u64, &str, u64); 9] = [
    (0x9000, "Server", 72),
    (0x1000, "Map", 32),
    (0x2000, "Session", 120),
    (0x3000, "Session", 64_000),
    (0x4000, "Session", 900),
    (0x5000, "(string)", 24),
    (0x6000, "Registry", 48),
    (0x7000, "(closure)", 64),
    (0x8000, "Module", 88),
];

/// A chat server of a runtime like V8.
fn heap() -> Result<HeapState> {
    let mut heap = HeapBuilder::new();
    let mut types: Vec<(&str, TypeId)> = Vec::new();
    let objects = OBJECTS.map(|(_, name, size)| {
        let of = types.iter().find(|(known, _)| *known == name).map(|(_, of)| *of).unwrap_or_else(|| {
            let loader = "(no loader)".into();
            let of = heap.add_type(HeapType { name: name.into(), kind: TypeKind::Instance, superclass: None, loader });
            types.push((name, of));
            of
        });
        heap.add_object(of, size, None)
    });
    let [server, map, ada, ben, cy, text, registry, request, module] = objects;
    let mut refer = |from: ObjectId, name: ReferenceName, to: ObjectId| {
        heap.add_reference(from, to);
        heap.name_reference(name);
    };
    refer(server, "sessions".into(), map);
    refer(server, "registry".into(), registry);
    refer(module, "server".into(), server);
    refer(request, "session".into(), cy);
    for (name, session) in [("ada", ada), ("ben", ben), ("cy", cy)] {
        refer(map, ReferenceName::key(name), session);
    }
    refer(ben, "log".into(), text);
    // The registry knows all sessions, and keeps none of them.
    for (n, session) in (0u32..).zip([ada, ben, cy]) {
        heap.add_referent(registry, session, Strength::Weak);
        heap.name_reference(n);
    }
    let root = |object, words, passing| Root { object, kind: RootKind::named(words, passing), detail: String::new() };
    heap.add_root(root(module, "(Global handles)", false));
    heap.add_root(root(request, "(Stack roots)", true));
    // By its address each object has a number; what was said of it stays with it.
    heap.finish_at(&OBJECTS.map(|(address, ..)| address))
}

/// A series of one state. A format of files is made in fewer lines, see `docs/adding.md`.
struct OneState {
    points: Vec<SnapshotInfo>,
    heap: Arc<HeapState>,
}

impl HeapSeries for OneState {
    fn points(&self) -> &[SnapshotInfo] {
        &self.points
    }

    fn load(&self, _: usize, _: &Progress) -> Result<Arc<HeapState>> {
        Ok(Arc::clone(&self.heap))
    }

    fn profile(&self) -> &'static Profile {
        self.heap.profile()
    }

    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let progress = Progress::new();
    let point = SnapshotInfo { label: "chat".into(), millis: 0, path: "chat".into(), gc: None };
    let series = Arc::new(OneState { points: vec![point], heap: Arc::new(heap()?) });
    let grouped = |grouping: &str| -> Result<Source> {
        Ok(Source::Heaps(History::build(series.clone(), grouping, GroupOptions::default(), &progress)?))
    };
    let source = grouped("type")?;
    let registry = AnalysisRegistry::built_in();
    for (id, arguments) in [
        ("paths", ("group", "Heap#Session")),
        ("dominators", ("object", "")),
        ("inspect", ("object", "0x6000")),
        ("inspect", ("object", "0x3000")),
    ] {
        let window = TimeWindow::whole(source.timeline());
        let found = analyse(&registry.get(id)?, &source, window, [arguments], &progress)?;
        found.write_text(&mut std::io::stdout(), &progress)?;
    }
    // The city of owners: a district holds what its object alone keeps.
    let owners = grouped("who-owns")?;
    let (timeline, config) = (owners.timeline(), CityConfig { metric: Metric::Bytes, ..CityConfig::default() });
    let plan = CityPlan::new(timeline, &config);
    for (plot, node) in (0..plan.plots.len()).filter_map(|plot| Some((plot, plan.building(plot)?))) {
        println!("building: {}, {} bytes", timeline.key(node), plan.max_value(plot));
    }
    Ok(())
}
