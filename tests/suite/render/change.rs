//! Pictures of what is different, of heights, of themes, of several times, and the scene of a figure: kept ones, and what each
//! must show.

use super::*;
use memory_city_views::city::height::HeightCurve;
use memory_city_views::city::{CityTheme, ReferenceShape};

fn is_white([r, g, b]: [u8; 3]) -> bool {
    r.min(g).min(b) > 243
}

/// A picture of the city alone: nothing of panels or names lies over it.
fn alone(studio: &mut Studio, shot: &Shot) -> RgbImage {
    studio.app().world_mut().resource_mut::<PanelState>().nothing = true;
    let picture = studio.shoot(shot).expect("a picture");
    studio.app().world_mut().resource_mut::<PanelState>().nothing = false;
    picture
}

pub(super) fn times_compared(studio: &mut Studio) {
    let plain = Settings { labels: false, ..Settings::default() };
    studio.show(open(&sample(), &plain));
    // The legend and names have their room first.
    studio.shoot(&shot(&plain)).expect("a picture");
    let gray = Settings { colour: "none".into(), opacity: 1.0, solid_count: 200, ..plain.clone() };
    let none = alone(studio, &shot(&gray));
    let since = |base: usize| Settings { base: Some(base), ..gray.clone() };
    assert_eq!(difference(&none, &alone(studio, &shot(&since(15))), 0), 0.0, "a time compared with itself is empty");
    // Directions are read without any colour: signs, and the outlines of what was.
    let signs = alone(studio, &shot(&since(3)));
    assert!(difference(&none, &signs, 40) > 0.01, "{}", difference(&none, &signs, 40));
    assert!(share(&signs, is_white) > share(&none, is_white) + 0.001, "{}", share(&signs, is_white));
    let back = alone(studio, &Shot { time: Some(3), ..shot(&since(15)) });
    assert!(difference(&signs, &back, 40) > 0.02, "up is not down");

    let changed = Settings { base: Some(3), colour: "change".into(), ..plain.clone() };
    let taken = take(studio, &Shot { size: (960, 600), ..shot(&changed) });
    golden("compared", &taken.picture);
    picking_agrees("compared", studio, &taken);
    // Less is not red.
    let less = Settings { base: Some(15), ..changed.clone() };
    let less = studio.shoot(&Shot { time: Some(3), size: (960, 600), ..shot(&less) }).expect("a picture");
    golden("compared-back", &less);
    assert!(share(&taken.picture, is_red) > 0.02 && share(&less, is_red) < 0.003);

    // The ground of some times: what is small in all fills more of it.
    let window = Settings { window: Some((0, 3)), ..plain.clone() };
    studio.show(open(&sample(), &window));
    let taken = take(studio, &Shot { time: Some(3), ..shot(&window) });
    picking_agrees("window", studio, &taken);
    let city = studio.app().world().resource::<Shown>().0.as_ref().map(|city| {
        let outside = |t| city.plan.outside(&city.timeline, t);
        (outside(0), outside(3), outside(15))
    });
    let (first, last, outside) = city.expect("a city");
    assert_eq!((first, last), ((0, 0), (0, 0)));
    assert!(outside.0 >= 8, "{outside:?}: what has grown since is larger than its plot");

    // A base that is not there is told.
    let error = studio.shoot(&shot(&Settings { base: Some(40), ..plain })).expect_err("no such time").to_string();
    assert!(error.contains("no point in time 41") && error.contains("--base"), "{error}");
}

pub(super) fn heights_themes_and_times(studio: &mut Studio) {
    let settings = Settings::default();
    studio.show(open(&sample(), &settings));
    let wide = |settings: &Settings| Shot { size: (960, 600), ..shot(settings) };
    let plain = studio.shoot(&wide(&settings)).expect("a picture");
    // By day: panels too, and what buildings are coloured with stays.
    let light = Settings { theme: CityTheme::Light, ..settings.clone() };
    let day = studio.shoot(&wide(&light)).expect("a picture");
    golden("light", &day);
    let bright = |picture: &RgbImage| share(picture, |p| p.iter().all(|&c| c > 190));
    assert!(bright(&day) > 0.4 && bright(&plain) < 0.2, "{} {}", bright(&day), bright(&plain));
    assert!((share(&day, is_red) - share(&plain, is_red)).abs() < 0.01, "red is red by day");

    let linear = Settings { height: "amount".into(), curve: Some(HeightCurve::Linear), ..settings.clone() };
    let capped = studio.shoot(&wide(&linear)).expect("a picture");
    golden("capped", &capped);
    let whole = studio.shoot(&wide(&Settings { cap: false, ..linear })).expect("a picture");
    assert!(difference(&capped, &whole, 40) > 0.02);
    assert!(share(&capped, is_white) > share(&whole, is_white) + 0.001, "outliers are marked");

    // Several times beside each other: the same city, less of it at first.
    let many = Settings { multiples: 4, labels: false, ..settings.clone() };
    let four = studio.shoot(&Shot { size: (1280, 720), ..shot(&many) }).expect("a picture");
    golden("multiples", &four);
    let cells = studio.app().world().resource::<city::Multiples>().0.clone();
    let times: Vec<usize> = cells.iter().map(|cell| cell.time).collect();
    assert_eq!(times, [0, 5, 10, 15]);
    let red: Vec<f64> = cells
        .iter()
        .map(|city::TimeCell { rect, .. }| {
            let corner = (rect.left() as u32 + 2, rect.top() as u32 + 2);
            let size = (rect.width() as u32 - 4, rect.height() as u32 - 4);
            share(&image::imageops::crop_imm(&four, corner.0, corner.1, size.0, size.1).to_image(), is_red)
        })
        .collect();
    assert!(red[0] < 0.002 && red[3] > 0.02 && red.is_sorted(), "{red:?}");
    let one = studio
        .shoot(&Shot { size: (1280, 720), ..shot(&Settings { multiples: 0, ..many.clone() }) })
        .expect("a picture");
    assert!(difference(&one, &four, 24) > 0.1);

    // What has changed since a base is read without colour in each of them, at its own time.
    let gray = Settings { colour: "none".into(), opacity: 1.0, solid_count: 200, ..many };
    let mut whites = |base: Option<usize>| -> Vec<f64> {
        let compared = Settings { base, ..gray.clone() };
        let picture = studio.shoot(&Shot { size: (1280, 720), ..shot(&compared) }).expect("a picture");
        let of = |city::TimeCell { rect, .. }: &city::TimeCell| {
            let corner = (rect.left() as u32 + 2, rect.top() as u32 + 26);
            let size = (rect.width() as u32 - 4, rect.height() as u32 - 28);
            share(&image::imageops::crop_imm(&picture, corner.0, corner.1, size.0, size.1).to_image(), is_white)
        };
        cells.iter().map(of).collect()
    };
    let (without, signs) = (whites(None), whites(Some(5)));
    for (at, (without, signs)) in without.iter().zip(&signs).enumerate() {
        // The second is the base itself.
        assert_eq!(*signs > without + 0.0004, at != 1, "{at}: {signs} for {without}");
    }
}

/// Figure 10 of Memory Cities, a LinkedList of Persons at the last of 23 times. Packages are districts, types are
/// buildings; square roots, ten children of each, cones and colours; the ten that grow most are solid, the others
/// outlines. One recording is from a stock JVM, the other a trace of 12 collections from the VM of the paper, whose
/// strings are char[]. The purple cones lead from the bytes over String, Person and the list's nodes to the LinkedList.
pub(super) fn the_scene_of_figure_10(studio: &mut Studio) {
    let scenes = [
        ("figure-10", "sample-data/persons/city.json.zst", 23, "byte[]", "Person"),
        ("figure-10-anttracks", "tests/data/anttracks/person-leak-parallel", 12, "char[]", "PersonLeak8$Person"),
    ];
    for (name, source, times, content, person) in scenes {
        let figure = Settings {
            grouping: if times == 23 { Settings::default().grouping } else { "package>type".into() },
            metric: Metric::Objects,
            area_mode: AreaMode::Sqrt,
            child_count: 10,
            prune: true,
            show_pointers: true,
            colour: "growth".into(),
            height: "base".into(),
            solid_count: 10,
            opacity: 0.0,
            reference_shape: ReferenceShape::Straight,
            ..Settings::default()
        };
        studio.show(open(&[Path::new(env!("CARGO_MANIFEST_DIR")).join(source)], &figure));
        let wish = Shot { select: vec![content.into()], time: Some(times - 1), size: (960, 600), ..shot(&figure) };
        let symptom = studio.shoot(&wish).expect("a picture");
        golden(name, &symptom);
        golden_boxes(name, &Taken { boxes: studio.box_numbers(), picture: symptom.clone() });
        assert!(share(&symptom, is_red) > 0.01, "{name}: String grows as much as what it holds");
        assert!(share(&symptom, is_purple) > 0.005 && share(&symptom, is_blue) > 0.02, "{name}");
        let open = studio.app().world().resource::<Document>().get().expect("open");
        assert_eq!(open.timeline.times(), times, "{name}");
        // Each is kept by the next.
        for pair in [content, "String", person, "LinkedList$Node", "LinkedList"].windows(2) {
            let (node, next) = (open.find(pair[0]).expect("a group"), open.find(pair[1]).expect("a group"));
            let map = open.source.references(times - 1, node, &Progress::new()).expect("not cancelled").expect("known");
            assert!(map.incoming.iter().any(|edge| edge.other == next), "{name}: {} <- {}", pair[0], pair[1]);
        }
    }
}

/// The scenes of figures 11 and 12 under their settings, recorded from stock JVMs with allocation sites. The pool of
/// each host refers to its configuration and a list, and hangs in a map. Each location refers to a date and a string,
/// and lies in the array of a list.
pub(super) fn the_scenes_of_figures_11_and_12(studio: &mut Studio) {
    const POOL: &str = "org.apache.commons.httpclient.MultiThreadedHttpConnectionManager$HostConnectionPool";
    const PLACE: &str = "agency.store.Location";
    const ARRAY: &str = "java.lang.Object[]";
    // Who refers, and to what.
    let of_pools = [
        ("java.util.HashMap$Node", POOL),
        (POOL, "org.apache.commons.httpclient.HostConfiguration"),
        (POOL, "java.util.LinkedList"),
    ];
    let of_places =
        [("java.util.ArrayList", ARRAY), (ARRAY, PLACE), (PLACE, "java.util.Date"), (PLACE, "java.lang.String")];
    let scenes = [
        ("figure-11", "http-pool", 19, 40, 0.3, POOL, &of_pools[..]),
        ("figure-12", "journeys", 24, 30, 0.25, PLACE, &of_places[..]),
    ];
    for (name, sample, time, child_count, opacity, selected, references) in scenes {
        let file = format!("sample-data/{sample}/city.json.zst");
        let recorded = [Path::new(env!("CARGO_MANIFEST_DIR")).join(file)];
        let figure = Settings {
            metric: Metric::Objects,
            area_mode: AreaMode::Sqrt,
            child_count,
            height: "base".into(),
            solid_count: 10,
            opacity,
            reference_shape: ReferenceShape::Straight,
            ..Settings::default()
        };
        studio.show(open(&recorded, &figure));
        let wish = Shot { select: vec![selected.into()], time: Some(time - 1), size: (960, 600), ..shot(&figure) };
        let picture = studio.shoot(&wish).expect("a picture");
        golden(name, &picture);
        golden_boxes(name, &Taken { boxes: studio.box_numbers(), picture: picture.clone() });
        let warm = |[r, g, b]: [u8; 3]| r > 120 && u32::from(r) > u32::from(g) * 3 / 2 && r > b;
        assert!(share(&picture, warm) > 0.01, "{name}: something has grown");
        assert!(share(&picture, is_selected) > 0.0005, "{name}: what is selected is seen");
        assert!(share(&picture, is_purple) > 0.001, "{name}: what keeps it is seen");
        assert!(share(&picture, is_green) > 0.002, "{name}: what it keeps is seen");
        let open = studio.app().world().resource::<Document>().get().expect("open");
        // Types are districts of their sites: references lead from site to site.
        for (from, to) in references {
            let [from, to] = [from, to].map(|of| open.find(&format!("Heap#{of}")).expect("a type"));
            let [of_from, of_to] = [from, to].map(|node| {
                open.source.references(time - 1, node, &Progress::new()).expect("not cancelled").expect("known")
            });
            let within = |site, of| open.timeline.is_within(site, of);
            let names = [from, to].map(|node| open.timeline.name(node));
            assert!(of_from.outgoing.iter().any(|edge| within(edge.other, to)), "{name}: to the second of {names:?}");
            assert!(of_to.incoming.iter().any(|edge| within(edge.other, from)), "{name}: from the first of {names:?}");
        }
    }
}
