//! What views show, as tables: the sums are those of the trees, and the window and the command line write the same.

use super::{SIZE, sample, shot};
use memory_city::viewer::capture::{Shot, Studio};
use memory_city::viewer::comparison::CompareWish;
use memory_city::viewer::loading::{open_compared, open_document};
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views;
use memory_city_analysis::timeline::{Metric, NodeId};
use memory_city_heap::progress::Progress;
use std::collections::HashMap;

/// Rows by column.
fn rows(csv: &[u8]) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(csv);
    let header = reader.headers().expect("a header").clone();
    let row =
        |record: csv::StringRecord| header.iter().map(str::to_owned).zip(record.iter().map(str::to_owned)).collect();
    reader.records().map(|record| row(record.expect("a row"))).collect()
}

fn sum<'r>(rows: impl IntoIterator<Item = &'r HashMap<String, String>>, column: &str) -> u64 {
    rows.into_iter().map(|row| row[column].parse::<u64>().expect("a number")).sum()
}

#[test]
fn tables_of_views_add_up_to_the_heap() {
    let settings = Settings { grouping: "type".into(), metric: Metric::Bytes, ..Settings::default() };
    let preparations = views::all().preparations(&settings);
    let draft = open_document(&sample(), &settings, &preparations, &Progress::new()).expect("the sample");
    let timeline = draft.source.timeline().clone();
    let last = timeline.times() - 1;
    let heap = timeline.amount(last, NodeId::ROOT).bytes;
    let mut studio = Studio::new(SIZE, 1).expect("a renderer");
    studio.show(draft);
    let person = "Heap#register.model.Person";
    let mut table = |name: Option<&'static str>| {
        let select = if name == Some("graph") { vec![person.to_owned()] } else { Vec::new() };
        let shot = Shot { of_view: name, select, ..shot(&settings) };
        rows(&studio.table(&shot).unwrap_or_else(|error| panic!("{name:?}: {error}")))
    };
    let city = table(None);
    assert_eq!(sum(city.iter().filter(|row| row["kind"] != "district"), "bytes"), heap);
    for name in ["sunburst", "icicle"] {
        let parts = table(Some(name));
        let whole = |row: &&HashMap<String, String>, depth: &str| row["picture"] == "global" && row["depth"] == depth;
        assert_eq!(sum(parts.iter().filter(|row| whole(row, "0")), "value"), heap, "{name}");
        assert_eq!(sum(parts.iter().filter(|row| whole(row, "1")), "value"), heap, "{name}");
    }
    let trends = table(Some("trends"));
    for time in 0..=last {
        let here = trends.iter().filter(|row| row["time"] == (time + 1).to_string());
        assert_eq!(sum(here, "value"), timeline.amount(time, NodeId::ROOT).bytes, "at {time}");
    }
    let tree = table(Some("table"));
    assert_eq!(tree.iter().find(|row| row["depth"] == "0").expect("the heap")["bytes"], heap.to_string());
    let overview = table(Some("overview"));
    assert_eq!(overview.len(), timeline.times());
    assert_eq!(overview[last]["bytes"], heap.to_string());
    assert_eq!(table(Some("details")).len(), timeline.times());
    let graph = table(Some("graph"));
    let objects = timeline.amount(last, timeline.find(person).expect("a group")).objects;
    let first = graph.iter().find(|row| row["kind"] == "box" && row["box"] == "1").expect("a box");
    assert_eq!((first["key"].as_str(), first["objects"].parse()), (person, Ok(objects)));
    // The same city as a 3D scene.
    let scene = studio.scene(&shot(&settings)).expect("a scene");
    let length = u32::from_le_bytes(scene[8..12].try_into().expect("four bytes"));
    assert_eq!((&scene[..4], length as usize), (&b"glTF"[..], scene.len()));
    assert!(String::from_utf8_lossy(&scene).contains("register.model.Person"));
}

#[test]
fn a_comparison_without_a_window_has_both_runs() {
    let settings = Settings { grouping: "type".into(), ..Settings::default() };
    let preparations = views::all().preparations(&settings);
    let folder = &sample()[0];
    let dump = |n: u32| folder.join(format!("person-leak-{n:02}.hprof.gz"));
    let wish = CompareWish::Run { data: vec![dump(16)], align: "end".into(), at: 0 };
    let draft =
        open_compared(&[dump(1)], (Some(&wish), None), &settings, &preparations, &Progress::new()).expect("both");
    let timeline = draft.source.timeline().clone();
    assert_eq!(timeline.times(), 2);
    let mut studio = Studio::new(SIZE, 1).expect("a renderer");
    studio.show(draft);
    let csv = studio.table(&Shot { of_view: Some("comparison"), ..shot(&settings) }).expect("a table");
    let all = rows(&csv);
    let change: i64 = all.iter().map(|row| row["bytes_change"].parse::<i64>().expect("a number")).sum();
    let whole = [0, 1].map(|t| timeline.amount(t, NodeId::ROOT).bytes as i64);
    assert_eq!(change, whole[1] - whole[0], "groups that do not differ add nothing");
    // Nothing compared: said, not empty.
    let draft = open_document(&[dump(1)], &settings, &preparations, &Progress::new()).expect("one");
    studio.show(draft);
    let error = studio.table(&Shot { of_view: Some("comparison"), ..shot(&settings) }).expect_err("nothing");
    assert!(error.to_string().contains("--compare"), "{error}");
}
