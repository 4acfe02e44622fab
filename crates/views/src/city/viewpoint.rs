//! Viewpoints of a particular city: a free look at one of its places.

use super::camera::{self, CameraPose, Lens};
use super::look::Appearance;
use super::pick::HitTarget;
use super::plan::CityPlan;
use super::states::Standing;
use std::f32::consts::PI;

impl Appearance {
    /// A near view of a plot or district: from the present side if its roof can be seen from there, else from steeper and steeper, else
    /// from further round. `standing` as for [`Appearance::pick`].
    ///
    /// # Panics
    /// If the target is not of this city.
    pub fn focus(
        &self,
        plan: &CityPlan,
        target: HitTarget,
        standing: impl Fn(usize) -> Standing,
        from: &CameraPose,
        lens: &Lens,
    ) -> CameraPose {
        let (cell, roof) = match target {
            HitTarget::Plot(plot) => {
                let p = &plan.plots[plot];
                (p.cell, p.ground() + f64::from(standing(plot).height))
            }
            HitTarget::District(district) => {
                // With all that stands in it.
                let (cell, top) = (plan.districts[district].cell, plan.districts[district].top);
                let (right, front) = (cell.x + cell.w, cell.y + cell.h);
                let plots = plan.plots.iter().enumerate();
                let inside = plots.filter(|(_, p)| {
                    let (x, y) = p.cell.centre();
                    x > cell.x && x < right && y > cell.y && y < front
                });
                let roofs = inside.map(|(plot, p)| p.ground() + f64::from(standing(plot).height));
                (cell, roofs.fold(top, f64::max))
            }
        };
        let pose = |turn: f32, pitch: f32| {
            let seen_from = CameraPose { yaw: from.yaw + turn, pitch, ..*from };
            camera::focus(&cell, roof as f32, &seen_from, lens)
        };
        let HitTarget::Plot(plot) = target else { return pose(0.0, from.pitch) };
        let goal = cell.centre_at(roof);
        let free = |pose: &CameraPose| match self.pick(plan, &standing, pose.eye, goal - pose.eye) {
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

#[cfg(test)]
mod tests {
    use super::super::testing::{at, configs, inner, leaf, trees};
    use super::super::{CityConfig, HitTarget, Look};
    use super::*;
    use glam::Vec2;
    use proptest::prelude::*;

    const LENS: Lens = Lens { fov: 0.55, aspect: 1.6, margins: [0.2, 0.05, 0.2, 0.1] };

    proptest! {
        #[test]
        fn the_roof_is_in_the_picture(tree in trees(), config in configs(), which in 0usize..50, yaw in -3.0..3.0f32) {
            let timeline = tree.timeline();
            let plan = CityPlan::new(&timeline, &config);
            let appearance = Appearance::new(&plan, &timeline, &Look::default());
            let states = appearance.states(&plan, &timeline, 0);
            let standing = |p: usize| appearance.standing(states[p]);
            prop_assume!(!plan.plots.is_empty());
            let plot = which % plan.plots.len();
            let from = CameraPose { eye: glam::Vec3::new(0.0, 50.0, 90.0), yaw, pitch: -0.5 };
            let pose = appearance.focus(&plan, HitTarget::Plot(plot), standing, &from, &LENS);
            let p = &plan.plots[plot];
            let roof = p.cell.centre_at(p.ground() + f64::from(standing(plot).height));
            let clip = LENS.clip_from_world(&pose) * roof.extend(1.0);
            let ndc = Vec2::new(clip.x, clip.y) / clip.w;
            prop_assert!(clip.w > 0.0 && ndc.abs().max_element() <= 1.0, "{ndc}");
        }
    }

    #[test]
    fn a_tall_neighbour_is_looked_over() {
        let timeline = inner("Heap", vec![leaf("tall", &[1_000_000]), leaf("low", &[60])]).timeline();
        let plan = CityPlan::new(&timeline, &CityConfig::default());
        let appearance = Appearance::new(&plan, &timeline, &Look::default());
        let states = appearance.states(&plan, &timeline, 0);
        let standing = |p: usize| appearance.standing(states[p]);
        let low = plan.plot_of(at(&timeline, "Heap#low")).unwrap();
        let goal = plan.plots[low].cell.centre_at(plan.plots[low].ground() + plan.max_height(low));
        for quarter in 0..4 {
            // From wherever: also from behind the tall one.
            let yaw = quarter as f32 * PI / 2.0;
            let from = CameraPose { eye: glam::Vec3::new(0.0, 50.0, 90.0), yaw, pitch: -0.5 };
            let pose = appearance.focus(&plan, HitTarget::Plot(low), standing, &from, &LENS);
            let hit = appearance.pick(&plan, standing, pose.eye, goal - pose.eye).unwrap();
            assert_eq!(hit.target, HitTarget::Plot(low), "looking along {yaw}");
        }
        let whole = appearance.focus(
            &plan,
            HitTarget::District(0),
            |_| Standing::default(),
            &CameraPose { eye: goal, yaw: 0.0, pitch: -0.6 },
            &LENS,
        );
        assert!(whole.eye.y > 20.0);
    }
}
