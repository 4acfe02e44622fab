//! Two-finger gestures on the city: apart is nearer, together is farther, and both in one direction move it. May not: know the things
//! under them.

use bevy::math::Vec2;

/// The wheel comes nearer by this with every notch ([`memory_city_views::city::camera::zoom`]).
const OF_A_NOTCH: f32 = 0.88;
/// Fingers are never closer than this, logical pixels: screens tell two that touch each other as one.
const CLOSEST: f32 = 8.0;

/// Two fingers, by their numbers, and where they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pinch([(u64, Vec2); 2]);

/// Effect of a movement of one finger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PinchStep {
    /// Fixed point between the fingers: logical pixels of the window.
    pub middle: Vec2,
    /// Distance moved.
    pub by: Vec2,
    /// Nearer, in notches of the wheel.
    pub notches: f32,
}

impl Pinch {
    pub fn new(first: (u64, Vec2), second: (u64, Vec2)) -> Pinch {
        Pinch([first, second])
    }

    /// Between the fingers.
    pub fn middle(&self) -> Vec2 {
        (self.0[0].1 + self.0[1].1) / 2.0
    }

    fn apart(&self) -> f32 {
        self.0[0].1.distance(self.0[1].1).max(CLOSEST)
    }

    /// A finger goes somewhere; `None` where it is none of the two.
    pub fn to(&mut self, finger: u64, at: Vec2) -> Option<PinchStep> {
        let before = *self;
        self.0.iter_mut().find(|(id, _)| *id == finger)?.1 = at;
        let notches = (before.apart() / self.apart()).ln() / OF_A_NOTCH.ln();
        Some(PinchStep { middle: before.middle(), by: self.middle() - before.middle(), notches })
    }

    /// The one that stays where a finger is taken away; `None` where that is none of the two.
    pub fn without(&self, finger: u64) -> Option<(u64, Vec2)> {
        let at = self.0.iter().position(|(id, _)| *id == finger)?;
        Some(self.0[1 - at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fingers_that_go_together_move_and_those_that_part_come_nearer() {
        let mut pinch = Pinch::new((1, Vec2::new(100.0, 100.0)), (7, Vec2::new(200.0, 100.0)));
        let apart = pinch.to(7, Vec2::new(300.0, 100.0)).expect("one of them");
        assert_eq!((apart.middle, apart.by), (Vec2::new(150.0, 100.0), Vec2::new(50.0, 0.0)));
        // Twice as far apart is half as far away.
        assert!((OF_A_NOTCH.powf(apart.notches) - 0.5).abs() < 1e-5, "{apart:?}");
        assert_eq!(pinch.to(3, Vec2::ZERO), None);
        assert_eq!((pinch.without(1), pinch.without(3)), (Some((7, Vec2::new(300.0, 100.0))), None));
    }

    proptest! {
        /// However fingers wander: when they are where they began, so is the city.
        #[test]
        fn what_comes_back_is_as_it_was(steps in prop::collection::vec((any::<bool>(), -500.0..500.0f32, -500.0..500.0f32), 1..20)) {
            let start = [Vec2::new(-40.0, 3.0), Vec2::new(60.0, -20.0)];
            let mut pinch = Pinch::new((0, start[0]), (1, start[1]));
            let back = [(false, start[0]), (true, start[1])];
            let all = steps.iter().map(|(second, x, y)| (*second, Vec2::new(*x, *y))).chain(back);
            let (mut notches, mut by) = (0.0, Vec2::ZERO);
            for (second, at) in all {
                let step = pinch.to(u64::from(second), at).expect("one of them");
                prop_assert!(step.notches.is_finite());
                notches += step.notches;
                by += step.by;
            }
            prop_assert!(notches.abs() < 1e-2 && by.length() < 1e-1, "{notches} {by}");
        }
    }
}
