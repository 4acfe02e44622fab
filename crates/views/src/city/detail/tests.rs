//! Tests of [`super`].

use super::super::camera::{self, CameraPose, Lens};
use super::super::testing::{configs, inner, leaf, trees};
use super::super::{Appearance, CityConfig, Look};
use super::*;
use memory_city_analysis::timeline::Timeline;
use proptest::prelude::*;

const LENS: Lens = Lens { fov: 0.55, aspect: 1.6, margins: [0.0; 4] };

fn view(pose: &CameraPose, smallest: f32) -> DetailView {
    DetailView { clip_from_world: LENS.clip_from_world(pose), eye: pose.eye, height: 600.0, smallest }
}

fn poses() -> impl Strategy<Value = CameraPose> {
    let eye = prop::array::uniform3(-90.0..90.0f32);
    (eye, -3.0..3.0f32, -1.5..0.3f32)
        .prop_map(|([x, y, z], yaw, pitch)| camera::clamp(CameraPose { eye: Vec3::new(x, y.abs(), z), yaw, pitch }))
}

/// Every plot below a block.
fn below(tree: &DetailTree, block: u32) -> Vec<u32> {
    let (mut open, mut plots) = (vec![tree.blocks[block as usize]], Vec::new());
    while let Some(node) = open.pop() {
        plots.extend(tree.nodes[node as usize].plots.clone());
        open.extend(tree.nodes[node as usize].children.clone());
    }
    plots
}

fn city(timeline: &Timeline, config: &CityConfig) -> (CityPlan, Appearance) {
    let plan = CityPlan::new(timeline, config);
    let appearance = Appearance::new(&plan, timeline, &Look::default());
    (plan, appearance)
}

proptest! {
    /// Against looking at every plot and district: what is in sight is drawn, once; what is left out is out of sight.
    #[test]
    fn what_is_in_sight_is_drawn_once(
        tree in trees(),
        config in configs(),
        pose in poses(),
        run in 1usize..9,
        grain in 1u32..40,
        smallest in prop_oneof![Just(0.0f32), 0.5..400.0f32],
    ) {
        let timeline = tree.timeline();
        let (plan, appearance) = city(&timeline, &config);
        let peak = f64::from(appearance.height_unit());
        let detail = DetailTree::with_runs(&plan, |_| peak, run, grain);
        let view = view(&pose, smallest);
        let choice = detail.choose(&view);
        let mut drawn = vec![0; plan.plots.len()];
        let blocks: Vec<u32> = choice.blocks.iter().cloned().flatten().collect();
        choice.plots.iter().cloned().flatten().for_each(|plot| drawn[plot as usize] += 1);
        blocks.iter().flat_map(|&block| below(&detail, block)).for_each(|plot| drawn[plot as usize] += 1);
        prop_assert!(smallest > 0.0 || blocks.is_empty());
        prop_assert!(choice.plots.iter().all(|range| !range.is_empty() && (range.len() as u32 <= grain || range.len() <= run)));
        let in_sight = |low: Vec3, high: Vec3| (0..8).any(|i| {
            let pick = |bit: usize, axis: usize| if i >> bit & 1 == 0 { low[axis] } else { high[axis] };
            let clip = view.clip_from_world * Vec3::new(pick(0, 0), pick(1, 1), pick(2, 2)).extend(1.0);
            clip.w > 0.01 && clip.x.abs() < clip.w * 0.999 && clip.y.abs() < clip.w * 0.999
        });
        for (i, plot) in plan.plots.iter().enumerate() {
            let c = plot.cell;
            let low = Vec3::new(c.x as f32, plot.ground() as f32, c.y as f32);
            let high = Vec3::new((c.x + c.w) as f32, (plot.ground() + peak) as f32, (c.y + c.h) as f32);
            prop_assert!(drawn[i] <= 1);
            prop_assert!(drawn[i] == 1 || !in_sight(low, high), "plot {i} at {c:?}");
        }
        if blocks.is_empty() {
            let mut slabs = vec![0; plan.districts.len()];
            choice.districts.iter().cloned().flatten().for_each(|d| slabs[d as usize] += 1);
            for (i, d) in plan.districts.iter().enumerate() {
                let c = d.cell;
                let low = Vec3::new(c.x as f32, d.base as f32, c.y as f32);
                let high = Vec3::new((c.x + c.w) as f32, d.top as f32, (c.y + c.h) as f32);
                prop_assert!(slabs[i] <= 1 && (slabs[i] == 1 || !in_sight(low, high)), "district {i}");
            }
        }
        // Only what is smaller than asked for is part of a block.
        for plot in blocks.iter().flat_map(|&block| below(&detail, block)) {
            let c = plan.plots[plot as usize].cell;
            let at = Vec3::new(c.centre().0 as f32, plan.plots[plot as usize].ground() as f32, c.centre().1 as f32);
            let depth = (view.clip_from_world * at.extend(1.0)).w.max(0.01);
            let pixels = c.area().sqrt() as f32 * view.height / 2.0 / (LENS.fov / 2.0).tan() / depth;
            let slope = ((view.eye.y - at.y).max(0.0) / view.eye.distance(at)).sqrt();
            prop_assert!(pixels * slope <= smallest * 1.01, "{pixels} pixels");
        }
    }

    /// Against adding up all buildings of a block.
    #[test]
    fn blocks_are_means(tree in trees(), config in configs(), run in 1usize..9) {
        let timeline = tree.timeline();
        let (plan, appearance) = city(&timeline, &config);
        let detail = DetailTree::with_runs(&plan, |_| 1.0, run, 1);
        let plots = appearance.states(&plan, &timeline, 1);
        let states = detail.states(&plots);
        prop_assert_eq!(states.len(), detail.len());
        for (block, state) in states.iter().enumerate() {
            let of = below(&detail, block as u32);
            // One run's cells count as equally large: only where there is one run do the sums have a simple form.
            if !detail.nodes[detail.blocks[block] as usize].children.is_empty() {
                continue;
            }
            let base = |p: &u32| (f64::from(plots[*p as usize].side) / 65535.0).powi(2);
            let sum = |value: &dyn Fn(PlotState) -> f64| of.iter().map(|p| base(p) * value(plots[*p as usize])).sum::<f64>();
            let all = sum(&|_| 1.0);
            let near = |is: u16, wanted: f64, what: &str| {
                let off = (f64::from(is) / 65535.0 - wanted).abs();
                prop_assert!(off < 2e-3, "{what} of block {block}: {is} for {wanted}");
                Ok(())
            };
            // Bases below a part in 65536 do not count.
            if all < 0.01 {
                continue;
            }
            near(state.side, (all / of.len() as f64).sqrt(), "side")?;
            near(state.height, sum(&|s| f64::from(s.height) / 65535.0) / all, "height")?;
            let coloured = sum(&|s| f64::from(u8::from(s.colour > 0)));
            near(state.opacity, coloured / all, "share")?;
            if coloured > 0.01 {
                near(state.colour, sum(&|s| f64::from(s.colour) / 65535.0) / coloured, "colour")?;
            }
        }
    }
}

#[test]
fn a_large_city_far_away_is_few_blocks_from_front_to_back() {
    let districts = (0..100).map(|d| {
        inner(&format!("d{d}"), (0..200).map(|b| leaf(&format!("b{b}"), &[1 + (d * 7 + b * 13) % 50])).collect())
    });
    let timeline = inner("Heap", districts.collect()).timeline();
    let (plan, appearance) = city(&timeline, &CityConfig { child_count: None, ..CityConfig::default() });
    let detail = appearance.detail();
    let pose = camera::home(appearance.tallest() as f32, &LENS);
    let near = detail.choose(&view(&pose, 0.0));
    assert_eq!(near.boxes(), plan.plots.len() + plan.districts.len(), "from home all is in sight");
    assert!(near.plots.len() < 1000, "{} draws", near.plots.len());
    let depth = |plot: u32| {
        let (x, z) = plan.plots[plot as usize].cell.centre();
        pose.eye.distance(Vec3::new(x as f32, 1.0, z as f32))
    };
    let (first, last) = (near.plots.first().expect("plots"), near.plots.last().expect("plots"));
    assert!(depth(first.start) + 40.0 < depth(last.start), "near ones come first");
    let far = detail.choose(&view(&pose, 40.0));
    assert!(far.boxes() * 10 < near.boxes(), "{} for {}", far.boxes(), near.boxes());
    // Looking away, there is nothing.
    let away = CameraPose { yaw: pose.yaw + 3.1, pitch: 0.2, ..pose };
    assert_eq!(detail.choose(&view(&away, 1.0)), DetailChoice::default());
}

#[test]
fn an_empty_city_has_no_detail() {
    let tree = DetailTree::new(&CityPlan::new(&Timeline::default(), &CityConfig::default()), |_| 0.0);
    assert!(tree.is_empty());
    assert_eq!(tree.choose(&view(&camera::home(1.0, &LENS), 1.0)), DetailChoice::default());
}
