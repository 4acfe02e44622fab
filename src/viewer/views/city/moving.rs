//! Buildings on the way from their old places to their new ones, when the ground was divided anew.
//!
//! In large cities only buildings move that are drawn alone at their new place; a block grows out of its place.

use crate::viewer::city::{City, Shown};
use crate::viewer::frame::Awake;
use crate::viewer::scene::Versioned;
use crate::viewer::scene::records::BoxRecord;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use rayon::prelude::*;

/// The buildings that are on the way, if any.
#[derive(Resource, Default)]
pub struct Moving(Option<Journey>);

struct Journey {
    from: Vec<BoxRecord>,
    to: Versioned<BoxRecord>,
    /// The layout it leads to.
    layout: u64,
    progress: f32,
}

/// Seconds a building takes to its new place.
const MOVE: f32 = 0.9;
/// Boxes that one core takes at a time.
const OF_A_CORE: usize = 1 << 14;

impl Moving {
    /// Start of each box of the new city, in the size that it has at the shown time.
    pub fn between(before: &mut City, city: &mut City, time: usize) -> Moving {
        let to = city.boxes.clone();
        let at = |city: &mut City| city.states(time.min(city.times().saturating_sub(1)));
        let (was, is) = (at(before), at(city));
        let (before, city) = (&*before, &*city);
        let out_of_its_place = |record: &BoxRecord| {
            let [x, z, ..] = record.cell;
            BoxRecord { cell: [x, z, 0.0, 0.0], ..*record }
        };
        let from = to.records.par_iter().enumerate().with_min_len(OF_A_CORE).map(|(i, record)| {
            // A block, if it is drawn at all on the way.
            let Some(target) = city.target_of_box(i) else { return out_of_its_place(record) };
            let same = city.same_in(target, before);
            match same.and_then(|target| before.box_of(target)) {
                Some(old) => {
                    let [x, z, half_x, half_z] = before.boxes.records[old as usize].cell;
                    let was = same.and_then(|target| before.plot_of(target)).and_then(|plot| was.get(plot));
                    let is = city.plot_of(target).and_then(|plot| is.get(plot));
                    // The same value is another share of another plot.
                    let factor = match (was, is) {
                        (Some(was), Some(is)) if is.side > 0 => f32::from(was.side) / f32::from(is.side),
                        _ => 1.0,
                    };
                    BoxRecord { cell: [x, z, half_x * factor, half_z * factor], ..*record }
                }
                // What is new grows out of its place.
                None => out_of_its_place(record),
            }
        });
        Moving(Some(Journey { from: from.collect(), to, layout: city.layout, progress: 0.0 }))
    }
}

/// Moves the buildings that are on the way.
pub fn move_buildings(
    mut moving: ResMut<Moving>,
    mut shown: ResMut<Shown>,
    (time, settings): (Res<Time>, Res<Settings>),
    mut awake: ResMut<Awake>,
) {
    let Some(journey) = &mut moving.0 else { return };
    awake.keep_if(true);
    // A picture shows where they stand in the end.
    awake.wait_if(true);
    let city = shown.0.as_mut();
    // A city that took its place in the meantime stands where it stands.
    let Some(city) = city.filter(|city| city.layout == journey.layout) else {
        moving.0 = None;
        return;
    };
    journey.progress += time.delta_secs() / MOVE;
    if journey.progress >= 1.0 || settings.reduced_motion {
        city.boxes = journey.to.clone();
        moving.0 = None;
        return;
    }
    let x = journey.progress;
    let eased = x * x * (3.0 - 2.0 * x);
    let mix = |a: [f32; 4], b: [f32; 4]| std::array::from_fn(|i| a[i] + (b[i] - a[i]) * eased);
    let pairs = journey.from.par_iter().zip(journey.to.records.par_iter()).with_min_len(OF_A_CORE);
    city.boxes = Versioned::new(pairs.map(|(a, b)| BoxRecord { cell: mix(a.cell, b.cell), ..*b }).collect());
}
