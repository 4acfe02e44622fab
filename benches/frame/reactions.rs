//! Time of a city's answers: the building under the mouse, another time, another selection.

use super::aims::Aims;
use super::{RUNS, least, median, processor_time, source};
use bevy::prelude::World;
use glam::Vec3;
use memory_city::viewer::capture::Studio;
use memory_city::viewer::city::{CameraRig, City, Shown};
use memory_city::viewer::clock::Clock;
use memory_city::viewer::document::{Arrival, Draft};
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::selection::{MarkNote, Marks, Pointing, Select, Selection};
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views;
use memory_city_analysis::timeline::{NodeId, Timeline};
use std::sync::Arc;
use std::time::Instant;

/// The aims are 1 ms for the building under the mouse, and 4 and 12 for a step, on a machine with these milliseconds
/// for the naive pick and step. A step in a comparison looks at three times as much: the base, and the change since.
const NAIVE_PICK: f64 = 8.1;
const NAIVE_STEP: f64 = 105.0;
/// And so many for a frame of the sky.
const NOTHING: f64 = 9.0;
/// Buildings of a small city. There an action costs only its panels, some milliseconds on a software GPU. The aim is
/// about the difference in a large city.
const FEW: usize = 100;

/// Time of a large city to find the building under the mouse, and to show another time.
pub fn reactions(studio: &mut Studio, buildings: usize, aims: &mut Aims) {
    let settings = Settings {
        grouping: "package-type".into(),
        prune: false,
        animation: 0.0,
        labels: false,
        ..Settings::default()
    };
    // With all panels, as in a window.
    *studio.app().world_mut().resource_mut::<PanelState>() = PanelState::default();
    let few = {
        show(studio, FEW, &settings);
        let city = studio.app().world().resource::<Shown>().0.as_ref();
        let Some((timeline, nodes)) = city.map(|city| (Arc::clone(&city.timeline), clicked(city))) else {
            return;
        };
        answers(studio, &timeline, &nodes, (FEW, None), &mut Aims::default())
    };
    show(studio, buildings, &settings);
    println!(
        "\n| a city of {buildings} buildings | least (ms) | processor (ms) | on one core alone (ms) | the naive way (ms) | ratio |\n|---|---|---|---|---|---|"
    );
    let rig = studio.app().world().resource::<CameraRig>();
    let eye = rig.pose.eye;
    let mut shown = studio.app().world_mut().resource_mut::<Shown>();
    let Some(city) = shown.0.as_mut() else { return };
    let states = city.states(1);
    let standing = |plot: usize| city.appearance.standing(states.of(plot));
    let mut hits = 0;
    let rays: Vec<_> = (0..1000)
        .map(|i| {
            let goal = Vec3::new((i % 40) as f32 * 2.0 - 40.0, 1.0, (i / 40) as f32 * 3.0 - 37.0);
            goal - eye
        })
        .collect();
    let pick = least(|| {
        hits = rays.iter().filter(|ray| city.appearance.pick(&city.plan, standing, eye, **ray).is_some()).count();
    });
    // One plot after the other, each a box.
    let plots = city.plan.plots.len();
    let boxed = |plot: usize, ray: &Vec3| {
        let (cell, standing) = (city.plan.plots[plot].cell, standing(plot));
        let (low, high) =
            (Vec3::new(cell.x as f32, 0.0, cell.y as f32), Vec3::new(cell.w as f32, standing.height, cell.h as f32));
        let (to_low, to_high) = ((low - eye) / *ray, (low + high - eye) / *ray);
        let (from, to) = (to_low.min(to_high).max_element(), to_low.max(to_high).min_element());
        (standing.side > 0.0 && from.max(0.0) <= to).then_some(from)
    };
    let nearest = |ray: &Vec3| (0..plots).filter_map(|plot| boxed(plot, ray)).fold(f32::INFINITY, f32::min);
    let naive = least(|| {
        std::hint::black_box(rays[..4].iter().map(nearest).fold(0.0, f32::max));
    }) / 4.0;
    let pick = pick / 1000.0;
    println!(
        "| what is under the mouse (mean of 1000, {hits} hit) | {pick:.4} | {pick:.4} | {pick:.4} | {naive:.1} | {:.3} |",
        pick / naive
    );
    aims.most("what is under the mouse, of the naive way", pick / naive, 1.0 / NAIVE_PICK);
    // Each ray by itself, the least of its runs: one that another program has interrupted says nothing of it.
    let alone = |ray: &Vec3| least(|| _ = std::hint::black_box(city.appearance.pick(&city.plan, standing, eye, *ray)));
    let mut alone: Vec<f64> = rays.iter().map(alone).collect();
    alone.sort_by(f64::total_cmp);
    let (most, nearly) = (alone[alone.len() - 1], alone[alone.len() * 99 / 100]);
    println!(
        "| the same, slowest of 1000 (99 of 100 take less than {nearly:.3}) | {most:.3} | {most:.3} | {most:.3} | {naive:.1} | {:.3} |",
        most / naive
    );
    aims.most("what is under the mouse at worst, of the naive way", most / naive, 1.0 / NAIVE_PICK);
    // Beside the plain step one while all times are compared with the first: signs and outlines of what was there come to it.
    let mut compared = settings.clone();
    compared.compare_with(Some(0));
    let mut steps = Vec::new();
    for (what, (from, to), settings, most) in [
        ("1 % changed", (1, 2), &settings, Some(4.0)),
        ("20 % changed", (0, 1), &settings, None),
        ("all changed", (2, 3), &settings, Some(12.0)),
        ("1 % changed, compared with the first", (1, 2), &compared, Some(6.0)),
        ("all changed, compared with the first", (2, 3), &compared, Some(36.0)),
    ] {
        // A new one each time: it remembers what it was asked for.
        let mut work = Vec::new();
        let step = |work: &mut Vec<f64>| {
            let mut another = City::new(&city.timeline, settings);
            another.told(from);
            let (start, began) = (Instant::now(), processor_time());
            // The states, and what the legend counts of them.
            another.told(to);
            let took = start.elapsed().as_secs_f64() * 1e3;
            work.push(processor_time() - began);
            took
        };
        let took = (0..RUNS).map(|_| step(&mut work)).fold(f64::INFINITY, f64::min);
        // The same where there is one core: two that share what they compute with take longer each.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let alone = (0..RUNS).map(|_| alone.install(|| step(&mut Vec::new()))).fold(f64::INFINITY, f64::min);
        let one_by_one = least(|| {
            let state = |plot| city.appearance.state(&city.plan, &city.timeline, plot, to);
            drop(std::hint::black_box((0..plots).map(state).collect::<Vec<_>>()));
        });
        let work = median(work);
        println!(
            "| all that is shown at another time, {what} | {took:.1} | {work:.1} | {alone:.1} | {one_by_one:.1} | {:.3} |",
            took / one_by_one
        );
        steps.push((what, work, one_by_one));
        if let Some(most) = most {
            aims.most(
                &format!("another time, {what}, one core, of the naive way"),
                alone / one_by_one,
                most / NAIVE_STEP,
            );
            aims.most(
                &format!("another time, {what}, both cores, of the naive way"),
                work / one_by_one,
                most / NAIVE_STEP,
            );
        }
    }
    println!("| a time that was shown before | {:.4} | | | | |", least(|| drop(city.states(1))));
    let (timeline, nodes) = (Arc::clone(&city.timeline), clicked(city));
    let all = answers(studio, &timeline, &nodes, (buildings, Some(&few)), aims);
    // A step is both: what is computed, and what a frame takes more in which it goes to the GPU.
    println!(
        "\n| a step in a city of {buildings}, both cores | computed (ms) | sent and drawn, more than in a city of {FEW} (ms) | both (ms) | wanted (ms) |\n|---|---|---|---|---|"
    );
    for (what, row, most) in [("1 % changed", SHOWN_BEFORE, 4.0), ("all changed", SHOWN_BEFORE + 1, 12.0)] {
        let Some((_, work, one_by_one)) = steps.iter().find(|step| step.0 == what) else { continue };
        let sent = (all[row].1 - few[row].1).max(0.0);
        println!("| {what} | {work:.1} | {sent:.2} | {:.1} | {most} |", work + sent);
        aims.most(
            &format!("a whole step, {what}, both cores, of the naive way"),
            (work + sent) / one_by_one,
            most / NAIVE_STEP,
        );
    }
}

/// The first of the rows in which a time comes that was shown before: 1 % changed, and all. Without panels: what 1 % of a hundred is
/// changes less of these than what 1 % of a million is.
const SHOWN_BEFORE: usize = 6;

/// As many buildings as there are pairs, from all over the city: each is pointed at or clicked for the first time.
fn clicked(city: &City) -> Vec<NodeId> {
    let plots = city.plan.plots.len();
    (0..PAIRS).filter_map(|i| city.plan.building(i * plots / PAIRS)).collect()
}

fn show(studio: &mut Studio, buildings: usize, settings: &Settings) {
    let source = source(buildings, 4, settings);
    let preparations = views::all().preparations(settings);
    studio.show(Draft::new("bench".into(), source, None, settings, &preparations, Arrival::Opened));
    (0..4).for_each(|_| studio.frame());
}

/// What somebody does for the so-manieth time.
type Change<'a> = &'a mut dyn FnMut(&mut World, usize);

/// Pairs of frames.
const PAIRS: usize = 60;

/// Time that a frame takes beyond the frame before it if mouse, selection, marks or time change in it, pair by pair.
/// The camera looks into the sky and turns a little in both. So both draw all of the picture, the new states go to the
/// GPU, and no city is drawn. The jobs behind frames (references, allocation sites) end in between. Returns the
/// differences by the clock and of both cores, row by row. `few` are those of a small city, with which aims are
/// compared.
fn answers(
    studio: &mut Studio,
    timeline: &Timeline,
    nodes: &[NodeId],
    (buildings, few): (usize, Option<&[(f64, f64)]>),
    aims: &mut Aims,
) -> Vec<(f64, f64)> {
    let mut rig = studio.app().world_mut().resource_mut::<CameraRig>();
    let mut pose = rig.pose;
    pose.pitch = 1.2;
    rig.jump_to(pose);
    let mut taken = |panels: bool, change: Change<'_>| {
        studio.app().world_mut().resource_mut::<PanelState>().nothing = !panels;
        let (mut clock, mut work, mut nothing) = (Vec::new(), Vec::new(), Vec::new());
        let timed = |studio: &mut Studio| {
            let mut rig = studio.app().world_mut().resource_mut::<CameraRig>();
            let mut pose = rig.pose;
            pose.yaw += 1e-3;
            rig.jump_to(pose);
            let (start, began) = (Instant::now(), processor_time());
            studio.frame();
            (start.elapsed().as_secs_f64() * 1e3, processor_time() - began)
        };
        for i in 0..PAIRS {
            for i in 0..200 {
                if i >= 4 && !studio.waits() {
                    break;
                }
                studio.frame();
            }
            let before = timed(studio);
            change(studio.app().world_mut(), i);
            let after = timed(studio);
            clock.push(after.0 - before.0);
            work.push(after.1 - before.1);
            nothing.push(before.0);
        }
        (likely(clock), likely(work), median(nothing))
    };
    println!(
        "\n| a city of {buildings}: a frame that shows the sky, in which | longer by (ms, with 95 %) | processor (ms, with 95 %) | a frame in which nothing happens (ms) | more than in a city of {FEW} |\n|---|---|---|---|---|"
    );
    let node = |i: usize| nodes[i % nodes.len()];
    // From the one to the other: shown before, so that what is measured is what comes besides the states.
    let time = |world: &mut World, from: usize, i: usize| world.resource_mut::<Clock>().jump(from + i % 2);
    let changes: [(&str, Option<f64>, Change<'_>); 8] = [
        ("nothing happens either", None, &mut |_, _| ()),
        ("the mouse comes to another building", Some(1.0), &mut |world, i| {
            world.resource_mut::<Pointing>().pointed = Some(node(i));
        }),
        ("another building is selected", Some(1.0), &mut |world, i| {
            world.resource_mut::<Selection>().select(timeline, node(i));
        }),
        ("three others are selected", None, &mut |world, i| {
            world.resource_mut::<Selection>().select_all(timeline, (0..3).map(|more| node(i + more)));
        }),
        ("another building is marked", None, &mut |world, i| {
            world.resource_mut::<Marks>().replace(timeline, [(timeline.key(node(i)), MarkNote::default())].into());
        }),
        ("nothing is selected any more", None, &mut |world, _| world.resource_mut::<Selection>().clear()),
        ("no panels, a time comes that was shown before, 1 % changed", None, &mut |world, i| time(world, 1, i)),
        ("no panels, a time comes that was shown before, all changed", None, &mut |world, i| time(world, 2, i)),
    ];
    let mut all = Vec::new();
    for (i, (what, most, change)) in changes.into_iter().enumerate() {
        let (clock, work, nothing) = taken(i < SHOWN_BEFORE, change);
        let text = |(median, low, high): (f64, f64, f64)| format!("{median:+.2} ({low:+.2} to {high:+.2})");
        let more = few.map(|few| clock.0 - few[i].0);
        let told = more.map_or(String::new(), |more| format!("{more:+.2}"));
        println!("| {what} | {} | {} | {nothing:.2} | {told} |", text(clock), text(work));
        if let Some((most, more)) = most.zip(more) {
            let slower = (nothing / NOTHING).max(1.0);
            aims.most(&format!("{what}, ms by the clock more than in a city of {FEW}"), more, most * slower);
        }
        all.push((clock.0, work.0));
    }
    all
}

/// The median, and between which values it is in 95 of 100 cases, by the ranks of a sign test.
fn likely(mut all: Vec<f64>) -> (f64, f64, f64) {
    all.sort_by(f64::total_cmp);
    let n = all.len() as f64;
    let low = (n / 2.0 - 0.98 * n.sqrt()).floor().max(1.0) as usize - 1;
    (all[all.len() / 2], all[low], all[all.len() - 1 - low])
}
