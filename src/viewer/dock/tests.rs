use super::*;

fn views() -> Views {
    let mut app = App::new();
    app.insert_resource(crate::viewer::views::all());
    app.world().resource::<Views>().clone()
}

/// The arrangement of the views, as text.
fn shape(dock: &Dock) -> String {
    fn of(tiles: &Tiles<Pane>, at: TileId) -> String {
        match tiles.get(at) {
            Some(Tile::Pane(Pane(id))) => id.clone(),
            Some(Tile::Container(container)) => {
                let children: Vec<String> = container.children().map(|c| of(tiles, *c)).collect();
                format!("{:?}({})", container.kind(), children.join(" "))
            }
            None => "?".into(),
        }
    }
    dock.tree.root.map_or_else(String::new, |root| of(&dock.tree.tiles, root))
}

#[test]
fn views_have_keys_to_walk_through_them_and_never_letters() {
    let mut focus = Focus { view: Some("trends".to_owned()), keys: &[KeyCode::KeyS, KeyCode::Space, KeyCode::End] };
    assert!(focus.takes(KeyCode::End));
    assert!(!focus.takes(KeyCode::KeyS) && !focus.takes(KeyCode::Space) && !focus.takes(KeyCode::Home));
    focus.take_back();
    assert!(!focus.takes(KeyCode::End));
}

#[test]
fn layouts_come_back_from_a_file() {
    let views = views();
    let mut dock = Dock::new(&views);
    let first = shape(&dock);
    assert!(first.contains("city") && first.contains("table"), "{first}");
    dock.close("table");
    assert!(!dock.shows("table") && shape(&dock) != first);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep/layout.json");
    assert!(saved_layout::read(&path, &views).expect("nothing yet").is_none());
    saved_layout::write(&path, &dock.tree, egui::vec2(900.0, 500.0)).expect("written");
    let (tree, size) = saved_layout::read(&path, &views).expect("readable").expect("there");
    assert_eq!(size, egui::vec2(900.0, 500.0));
    assert_eq!(shape(&Dock { tree, size, first: None, edited: false }), shape(&dock));
    dock.reset(&views);
    assert_eq!(shape(&dock), first);
    // Nothing else lies in the folder: it was put in place at once.
    assert_eq!(std::fs::read_dir(path.parent().expect("a folder")).expect("readable").count(), 1);
}

#[test]
fn damaged_and_old_files_are_ignored_and_strangers_left_out() {
    let views = views();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("layout.json");
    saved_layout::write(&path, &Dock::new(&views).tree, NOMINAL).expect("written");
    let good = std::fs::read_to_string(&path).expect("text");
    let cut = &good[..good.len() / 2];
    let old = good.replace("\"version\": 1", "\"version\": 0");
    let root = good.find("\"root\": ").map(|at| &good[at..at + good[at..].find(',').expect("more")]).expect("a root");
    let lost = good.replace(root, "\"root\": 987654");
    for (what, text) in [("cut", cut), ("old", &old), ("no tree", &lost), ("empty", ""), ("other", "[1, 2]")] {
        std::fs::write(&path, text).expect("written");
        assert!(saved_layout::read(&path, &views).is_err(), "{what}");
    }
    // Every prefix, and every byte changed: an answer, never a panic.
    for at in (0..good.len()).step_by(7) {
        let mut bytes = good.clone().into_bytes();
        bytes[at] = b'9';
        std::fs::write(&path, &bytes).expect("written");
        let _ = saved_layout::read(&path, &views);
    }
    std::fs::write(&path, good.replace("\"table\"", "\"of tomorrow\"")).expect("written");
    let (tree, size) = saved_layout::read(&path, &views).expect("readable").expect("there");
    let dock = Dock { tree, size, first: None, edited: false };
    assert!(!shape(&dock).contains("of tomorrow") && dock.shows("city"));
}

#[test]
fn side_columns_keep_their_size_when_the_window_grows() {
    let views = views();
    let mut dock = Dock::new(&views);
    dock.arrange();
    for size in [egui::vec2(1920.0, 900.0), egui::vec2(1200.0, 500.0), NOMINAL] {
        dock.fit(size, &views);
        let root = dock.tree.root.expect("a root");
        let Some(Tile::Container(Container::Linear(row))) = dock.tree.tiles.get(root) else { panic!("a row") };
        let widths = row.shares.split(&row.children, size.x);
        assert!((widths[0] - LEFT).abs() < 0.5 && (widths[2] - RIGHT).abs() < 0.5, "{widths:?}");
    }
    // Where there is no room for that, all shrink alike, from the least that has it: wherever the window comes from.
    let small = egui::vec2(900.0, 500.0);
    dock.fit(egui::vec2(1920.0, 900.0), &views);
    dock.fit(small, &views);
    let root = dock.tree.root.expect("a root");
    let Some(Tile::Container(Container::Linear(row))) = dock.tree.tiles.get(root) else { panic!("a row") };
    let widths = row.shares.split(&row.children, small.x);
    let share = small.x / (1.65 * (LEFT + RIGHT));
    assert!((widths[0] - LEFT * share).abs() < 2.0 && (widths[2] - RIGHT * share).abs() < 2.0, "{widths:?}");
}

#[test]
fn a_small_window_begins_with_one_side_column() {
    let views = views();
    let mut dock = Dock::new(&views);
    let three = shape(&dock);
    dock.fit(egui::vec2(1024.0, 560.0), &views);
    let two = shape(&dock);
    assert!(two.contains("Tabs(growth details"), "{two}");
    let root = dock.tree.root.expect("a root");
    let Some(Tile::Container(Container::Linear(row))) = dock.tree.tiles.get(root) else { panic!("a row") };
    let widths = row.shares.split(&row.children, 1024.0);
    assert!(widths.len() == 2 && widths[1] >= 2.0 / 3.0 * 1024.0, "{widths:?}");
    dock.fit(egui::vec2(1440.0, 800.0), &views);
    assert_eq!(shape(&dock), three, "a larger window has room for both");
    // An arrangement of one's own stays.
    dock.close("table");
    let own = shape(&dock);
    dock.fit(egui::vec2(1024.0, 560.0), &views);
    assert_eq!(shape(&dock), own);
}
