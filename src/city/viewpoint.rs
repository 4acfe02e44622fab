//! Views of a particular city: its bounds, and a free look at one of its places.

use super::camera::{CameraPose, CityBounds, View};
use super::{CITY_SIDE, CityPlan, Target};

impl CityPlan {
    /// What a camera needs to know of this city.
    pub fn bounds(&self) -> CityBounds {
        CityBounds { side: CITY_SIDE as f32, tallest: self.tallest() as f32 }
    }

    /// A view of a plot or district from a good distance, at the present yaw if its roof can be seen from there, else
    /// from steeper and steeper, else from further round. `scale` as for [`CityPlan::pick`].
    ///
    /// # Panics
    /// If the target is not of this city.
    pub fn focus(&self, target: Target, scale: impl Fn(usize) -> f32, yaw: f32, view: &View) -> CameraPose {
        let (cell, ground, height) = match target {
            Target::Plot(plot) => {
                let height = self.height(plot, f64::from(scale(plot)));
                (self.plots[plot].cell, self.plots[plot].ground, height)
            }
            Target::District(district) => {
                let d = &self.districts[district];
                let tallest = self.contents[district].plots.clone().map(|p| self.max_height(p)).fold(0.0, f64::max);
                (d.cell, d.top, tallest)
            }
        };
        let pose = |yaw: f32, pitch: f32| CameraPose::focus(&cell, ground as f32, height as f32, yaw, pitch, view);
        let first = pose(yaw, -0.65);
        let Target::Plot(plot) = target else { return first };
        let roof = cell.centre_at(ground + height);
        let free = |pose: &CameraPose| match self.pick(&scale, pose.eye, roof - pose.eye) {
            // A plot that is empty now shows its slab.
            Some(hit) => hit.target == Target::Plot(plot) || hit.distance > 0.999,
            None => true,
        };
        let turns = [0.0, 0.8, -0.8, 1.6, -1.6, 3.14];
        let pitches = [-0.65f32, -0.85, -1.05];
        let candidates = turns.iter().flat_map(|turn| pitches.iter().map(move |pitch| (yaw + turn, *pitch)));
        candidates.map(|(yaw, pitch)| pose(yaw, pitch)).find(free).unwrap_or_else(|| pose(yaw, -1.3))
    }
}
