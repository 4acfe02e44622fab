//! Times the layout of a million groups against the textbook algorithm, in one run, and prints rows of a table.
//!
//! `cargo bench --no-default-features --bench layout`; a number after `--` sets how many groups.

use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::timeline::{Amount, TimePoint, Timeline};
use memory_city_views::city::{Appearance, AreaMode, CityConfig, CityPlan, Look, Rect, squarify_sorted, suffix_sums};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[path = "layout/textbook.rs"]
mod textbook;

/// Runs per row; the fastest counts, as the least disturbed.
const RUNS: usize = 5;

fn main() {
    let asked = std::env::args().skip(1).find_map(|a| a.parse::<usize>().ok());
    let n = asked.unwrap_or(1_000_000).max(1000);
    println!(
        "Fastest of {RUNS} runs, {} threads, {n} groups, seeded values over {DECADES} decades.\n",
        rayon::current_num_threads()
    );
    println!("| what | time | against the textbook | worst relative error of an area |");
    println!("|---|---|---|---|");
    one_level(n);
    whole_city(n);
    per_time(n);
}

const DECADES: f64 = 8.7;

/// Reproducible numbers in 0..1 on every platform.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    fn value(&mut self) -> f64 {
        10f64.powf(self.next() * DECADES)
    }
}

fn fastest<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut best: Option<(Duration, T)> = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let result = work();
        let time = start.elapsed();
        if best.as_ref().is_none_or(|b| time < b.0) {
            best = Some((time, result));
        }
    }
    best.expect("at least one run")
}

fn row(what: &str, time: Duration, baseline: Duration, error: Option<f64>) {
    let ratio = baseline.as_secs_f64() / time.as_secs_f64();
    let error = error.map_or("".to_owned(), |e| format!("{e:.1e}"));
    println!("| {what} | {:.1} ms | {ratio:.1}x | {error} |", time.as_secs_f64() * 1e3);
}

/// The largest deviation of a cell's area from its share.
fn worst_error(values: &[f64], cells: &[Rect], area: Rect) -> f64 {
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    let unit = area.area() / ascending.iter().sum::<f64>();
    values.iter().zip(cells).map(|(v, c)| (c.area() / (v * unit) - 1.0).abs()).fold(0.0, f64::max)
}

fn one_level(n: usize) {
    let mut sequence = Sequence(1);
    let mut values: Vec<f64> = (0..n).map(|_| sequence.value()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    let area = Rect::new(-50.0, -50.0, 100.0, 100.0);
    let (baseline, cells) = fastest(|| textbook::squarify(&values, area));
    row(
        &format!("textbook squarify, {n} sorted values in one level"),
        baseline,
        baseline,
        Some(worst_error(&values, &cells, area)),
    );
    let mut sums = vec![0.0; n];
    let mut cells = vec![Rect::default(); n];
    let (time, ()) = fastest(|| {
        suffix_sums(&values, &mut sums);
        squarify_sorted(&values, &sums, area, &mut cells);
    });
    row(&format!("squarify, {n} sorted values in one level"), time, baseline, Some(worst_error(&values, &cells, area)));
}

/// The worst deviation of a building's base from the area its value deserves.
fn plan_error(plan: &CityPlan) -> f64 {
    let gap = plan.config().gap * plan.config().gap;
    let error = |p: usize| (plan.plots[p].cell.area() * gap / plan.base_area(plan.max_value(p) as f64) - 1.0).abs();
    (0..plan.plots.len()).map(error).fold(0.0, f64::max)
}

fn whole_city(n: usize) {
    for (shape, fan) in [("flat", n), ("nested, 1000 a district", 1000), ("nested, 10 a district", 10)] {
        let timeline = timeline(n, fan);
        let config = CityConfig { child_count: None, area_mode: AreaMode::Linear, ..CityConfig::default() };
        let (baseline, _) = fastest(|| textbook::city(&timeline, &config));
        let (time, plan) = fastest(|| CityPlan::new(&timeline, &config));
        assert!(plan.plots.len() == n, "{} plots", plan.plots.len());
        row(&format!("textbook city of {n} buildings, {shape}"), baseline, baseline, None);
        row(&format!("city of {n} buildings with lookup, {shape}"), time, baseline, Some(plan_error(&plan)));
        let config = CityConfig { child_count: Some(40), ..config };
        let (time, plan) = fastest(|| CityPlan::new(&timeline, &config));
        row(&format!("the same, 40 children each ({} plots)", plan.plots.len()), time, baseline, None);
    }
}

/// What a step in time and a move of the mouse cost.
fn per_time(n: usize) {
    let timeline = timeline(n, 1000);
    let plan = CityPlan::new(&timeline, &CityConfig { child_count: None, ..CityConfig::default() });
    let (time, appearance) = fastest(|| Appearance::new(&plan, &timeline, &Look::default()));
    println!("| scales and pick index of {n} plots, once | {:.2} ms | | |", time.as_secs_f64() * 1e3);
    let (time, states) = fastest(|| appearance.states(&plan, &timeline, 1));
    println!("| states of {n} plots at one time | {:.2} ms | | |", time.as_secs_f64() * 1e3);
    let mut sequence = Sequence(7);
    let mut random = |side: f64| ((sequence.next() - 0.5) * side) as f32;
    let rays: Vec<_> = (0..1000)
        .map(|_| {
            let eye = glam::Vec3::new(random(100.0), 60.0, 100.0 + random(20.0));
            (eye, glam::Vec3::new(random(100.0), 0.0, random(100.0)) - eye)
        })
        .collect();
    let (time, hits) = fastest(|| {
        rays.iter()
            .filter(|(eye, ray)| appearance.pick(&plan, |p| appearance.standing(states[p]), *eye, *ray).is_some())
            .count()
    });
    println!("| one pick among {n} plots (mean of 1000, {hits} hit) | {:.4} ms | | |", time.as_secs_f64());
}

/// A timeline of `n` leaves, at most `fan` children each, at two points in time.
fn timeline(n: usize, fan: usize) -> Timeline {
    let role: Arc<str> = Arc::from("Group");
    let trees = [3, 4].map(|seed| {
        let mut sequence = Sequence(seed);
        let mut tree = MemoryTree::new();
        // Levels from the root down, each with enough nodes for the one below.
        let mut widths = vec![n];
        while widths[0] > 1 {
            widths.insert(0, widths[0].div_ceil(fan));
        }
        let mut above = vec![0];
        for &width in &widths[1..] {
            let child = |i: usize| tree.child(above[i / fan], &role, &Arc::from(format!("group {i:07}")));
            above = (0..width).map(child).collect();
        }
        for leaf in above {
            let objects = sequence.value() as u64 + 1;
            tree.add_up(&[leaf as u32], Amount { objects, bytes: objects * 24 });
        }
        tree
    });
    let point = TimePoint::default();
    Timeline::from_trees(vec![point; 2], &trees)
}
