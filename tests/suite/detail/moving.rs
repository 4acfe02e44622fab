//! Buildings on the way to new places, where the ground was divided anew.

use super::*;
use memory_city::viewer::selection::Target;

/// Places of the boxes of a city: middles and half sides, by node.
fn places(studio: &mut Studio) -> HashMap<String, [f32; 4]> {
    let world = studio.app().world();
    let city = world.resource::<Shown>().0.as_ref().expect("a city");
    let of = |i: usize| {
        let target = city.target_of_box(i)?;
        let name = match target {
            Target::Node(node) => city.timeline.key(node),
            Target::More(parent) => format!("more of {}", city.timeline.key(parent)),
        };
        Some((name, city.boxes.records[i].cell))
    };
    (0..city.boxes.records.len()).filter_map(of).collect()
}

/// The shown layout.
fn layout(studio: &mut Studio) -> Option<u64> {
    studio.app().world().resource::<Shown>().0.as_ref().map(|city| city.layout)
}

/// Whether all stand in their places.
fn stands(studio: &mut Studio) -> bool {
    studio.app().world().resource::<Shown>().0.as_ref().is_some_and(|city| city.boxes.version == city.layout)
}

#[test]
fn on_a_ground_divided_anew_buildings_go_to_their_places() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak");
    let settings = Settings { labels: false, ..Settings::default() };
    let mut studio = Studio::new(SIZE, 1).expect("a GPU, if only in software");
    let draft = open_document(&[sample], &settings, &views::all().preparations(&settings), &Progress::new());
    studio.show(draft.expect("it opens"));
    with_even_frames(&mut studio);
    for reduced in [false, true] {
        let world = studio.app().world_mut();
        world.resource_mut::<Settings>().reduced_motion = reduced;
        world.resource_mut::<Settings>().compare_with(Some(0));
        world.resource_mut::<Clock>().jump(3);
        // What this asks for besides comes first.
        (0..40).for_each(|_| studio.frame());
        let before = places(&mut studio);
        let was = layout(&mut studio);
        studio.app().world_mut().write_message(Action::ReLayout);
        let begun = Instant::now();
        while layout(&mut studio) == was {
            studio.frame();
            assert!(begun.elapsed() < Duration::from_secs(60), "never laid out anew");
        }
        // From the frame in which it came, until all stand in their places.
        let mut seen = vec![places(&mut studio)];
        while !stands(&mut studio) {
            studio.frame();
            seen.push(places(&mut studio));
            assert!(seen.len() < 200, "it ends");
        }
        let after = seen.last().expect("frames").clone();
        if reduced {
            assert_eq!(seen.len(), 1, "there at once");
            continue;
        }
        assert!((30..70).contains(&seen.len()), "{} frames of {FRAME:?}", seen.len());
        let (mut moved, mut came) = (0, 0);
        for (name, to) in &after {
            let Some(from) = before.get(name) else {
                // What had no plot grows out of its place.
                came += 1;
                let sides: Vec<f32> = seen.iter().map(|places| places[name][2]).collect();
                assert!(sides[0] <= 0.01 * to[2] && sides.is_sorted(), "{name}: {sides:?}");
                continue;
            };
            let way = [to[0] - from[0], to[1] - from[1]];
            let length = way[0].hypot(way[1]);
            let mut last = 0.0;
            for (frame, places) in seen.iter().enumerate() {
                let at = places[name];
                let along = [at[0] - from[0], at[1] - from[1]];
                if length < 1e-3 {
                    assert!(along[0].hypot(along[1]) < 1e-3, "{name} stays");
                    continue;
                }
                let share = (along[0] * way[0] + along[1] * way[1]) / (length * length);
                let aside = (along[0] * way[1] - along[1] * way[0]).abs() / length;
                assert!(aside < 1e-3 * length.max(1.0), "{name}, frame {frame}: {aside} beside its way");
                assert!((-1e-4..=1.0001).contains(&share), "{name}, frame {frame}: {share}");
                // No step back, and none that jumps: the quickest frame takes 1.5 times its part of the time.
                let step = share - last;
                assert!((-1e-4..0.05).contains(&step), "{name}, frame {frame}: from {last} to {share}");
                last = share;
            }
            assert!(length < 1e-3 || last > 0.9999, "{name} ends at {last} of its way");
            moved += usize::from(length > 1.0);
        }
        assert!(moved > 40, "{moved} buildings and districts moved, {came} came");
        let gone = before.keys().filter(|name| !after.contains_key(*name)).count();
        assert!(gone < before.len() / 4, "most are in both: {gone} of {} are gone", before.len());
        // Back to the ground of all times, for the second round.
        let was = layout(&mut studio);
        studio.app().world_mut().write_message(Action::ReLayout);
        while layout(&mut studio) == was || !stands(&mut studio) {
            studio.frame();
            assert!(begun.elapsed() < Duration::from_secs(120), "never laid out anew");
        }
    }
}

/// Of very many those move that are drawn alone; all others grow where they go, as the blocks that they are.
#[test]
fn a_ground_of_very_many_buildings_is_divided_anew_on_the_way_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 840);
    let settings = Settings { prune: false, labels: false, base: Some(0), ..Settings::default() };
    let mut studio = Studio::new(SIZE, 1).expect("a GPU, if only in software");
    let draft = open_document(&[file], &settings, &views::all().preparations(&settings), &Progress::new());
    studio.show(draft.expect("it opens"));
    with_even_frames(&mut studio);
    studio.app().world_mut().resource_mut::<Clock>().jump(1);
    (0..5).for_each(|_| studio.frame());
    let was = layout(&mut studio);
    // The first state alone: what grows needs less room than before.
    studio.app().world_mut().resource_mut::<Settings>().window = Some((0, 0));
    let begun = Instant::now();
    while layout(&mut studio) == was {
        studio.frame();
        assert!(begun.elapsed() < Duration::from_secs(60), "never laid out anew");
    }
    let boxes = |studio: &mut Studio| {
        let city = studio.app().world().resource::<Shown>().0.as_ref().expect("a city");
        std::sync::Arc::clone(&city.boxes.records)
    };
    let (mut seen, mut drawn) = (vec![boxes(&mut studio)], Vec::new());
    while !stands(&mut studio) {
        studio.frame();
        seen.push(boxes(&mut studio));
        drawn.push(studio.boxes_drawn());
        assert!(seen.len() < 200, "it ends");
    }
    let (first, last) = (&seen[0], &seen[seen.len() - 1]);
    assert!(last.len() > 210_000, "{} boxes", last.len());
    assert!((30..70).contains(&seen.len()), "{} frames of {FRAME:?}", seen.len());
    assert!(drawn.iter().all(|&drawn| drawn * 5 < last.len()), "most are in blocks: {drawn:?} of {}", last.len());
    // Half-way everything is between where it was and where it goes.
    let middle = &seen[seen.len() / 2];
    let (mut moved, mut grown) = (0, 0);
    for ((from, at), to) in first.iter().zip(middle.iter()).zip(last.iter()) {
        for i in 0..4 {
            let (low, high) = (from.cell[i].min(to.cell[i]), from.cell[i].max(to.cell[i]));
            assert!((low - 1e-3..=high + 1e-3).contains(&at.cell[i]), "{at:?} between {from:?} and {to:?}");
        }
        moved += usize::from((from.cell[0] - to.cell[0]).hypot(from.cell[1] - to.cell[1]) > 0.01);
        grown += usize::from(from.cell[2] < 0.01 * to.cell[2] && at.cell[2] > 0.3 * to.cell[2]);
    }
    let city = studio.app().world().resource::<Shown>().0.as_ref().expect("a city");
    let blocks = (0..last.len()).filter(|&i| city.target_of_box(i).is_none()).count();
    assert!(moved > 10_000, "{moved} moved");
    assert!(blocks > 1000 && grown >= blocks, "{grown} grew out of their place, {blocks} blocks among them");
}

/// Another look of very many buildings is made behind frames: what was there stays until it is, on the same ground and from the same place.
#[test]
fn another_look_of_a_large_city_comes_when_it_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 100);
    let settings = Settings { prune: false, labels: false, ..Settings::default() };
    let mut studio = Studio::new(SIZE, 1).expect("a GPU, if only in software");
    let draft = open_document(&[file], &settings, &views::all().preparations(&settings), &Progress::new());
    studio.show(draft.expect("it opens"));
    with_even_frames(&mut studio);
    (0..5).for_each(|_| studio.frame());
    let shown = |studio: &mut Studio| {
        let city = studio.app().world().resource::<Shown>().0.as_ref().expect("a city");
        (city.layout, std::sync::Arc::as_ptr(&city.plan), city.made_with.colour.clone())
    };
    let pose = studio.app().world().resource::<CameraRig>().pose;
    let (layout, plan, _) = shown(&mut studio);
    studio.app().world_mut().resource_mut::<Settings>().colour = "share".into();
    studio.frame();
    assert_eq!(shown(&mut studio).0, layout, "that frame does not wait for it");
    let begun = Instant::now();
    while shown(&mut studio).0 == layout {
        studio.frame();
        assert!(begun.elapsed() < Duration::from_secs(60), "it never came");
    }
    let (_, same, colour) = shown(&mut studio);
    assert_eq!((same, &*colour), (plan, "share"));
    assert!(stands(&mut studio), "nothing moves");
    assert_eq!(studio.app().world().resource::<CameraRig>().pose, pose);
}
