//! Views of a particular city: a free look at one of its places.

use super::camera::{self, CameraPose, Lens};
use super::{CityPlan, HitTarget};
use std::f32::consts::PI;

impl CityPlan {
    /// A view of a plot or district from near: from the present side if its roof can be seen from there, else from
    /// steeper and steeper, else from further round. `scale` as for [`CityPlan::pick`].
    ///
    /// # Panics
    /// If the target is not of this city.
    pub fn focus(&self, target: HitTarget, scale: impl Fn(usize) -> f32, from: &CameraPose, lens: &Lens) -> CameraPose {
        let (cell, roof) = match target {
            HitTarget::Plot(plot) => {
                let p = &self.plots[plot];
                (p.cell, p.ground + self.height(plot, f64::from(scale(plot))))
            }
            HitTarget::District(district) => (self.districts[district].cell, self.districts[district].top),
        };
        let pose = |turn: f32, pitch: f32| {
            let seen_from = CameraPose { yaw: from.yaw + turn, pitch, ..*from };
            camera::focus(&cell, roof as f32, &seen_from, lens)
        };
        let HitTarget::Plot(plot) = target else { return pose(0.0, from.pitch) };
        let goal = cell.centre_at(roof);
        let free = |pose: &CameraPose| match self.pick(&scale, pose.eye, goal - pose.eye) {
            // A plot that is empty now shows its slab.
            Some(hit) => hit.target == HitTarget::Plot(plot) || hit.distance > 0.999,
            None => true,
        };
        let turns = [0.0, 0.8, -0.8, 1.6, -1.6, PI];
        let pitches = [from.pitch, -0.65, -0.9];
        let candidates = turns.iter().flat_map(|&turn| pitches.iter().map(move |&pitch| pose(turn, pitch)));
        candidates.into_iter().find(free).unwrap_or_else(|| pose(0.0, -0.9))
    }
}
