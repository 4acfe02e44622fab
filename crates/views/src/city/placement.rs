//! Placement of names in the picture: boxes that overlap neither each other nor the panels over the picture.
//!
//! Greedy, by importance. A name that was shown before keeps its place until something more important needs it, and a new name asks for a
//! little more room than it takes. So names do not come and go while the camera moves a little. Pixels in, pixels out: it knows neither
//! texts nor cities.

use glam::Vec2;
use rustc_hash::FxHashMap;

/// A new name keeps this distance from others, pixels. A name already shown keeps its place while it overlaps nothing, so a shift of less
/// than half of this removes no name.
pub const NEW_NAME_GAP: f32 = 6.0;

/// A rectangle in the picture, pixels; y grows downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameBox {
    /// Its left upper corner.
    pub min: Vec2,
    /// Its right lower corner.
    pub max: Vec2,
}

impl NameBox {
    /// A box with this left upper corner and size.
    pub fn new(min: Vec2, size: Vec2) -> NameBox {
        NameBox { min, max: min + size }
    }

    /// Whether both have an inner point in common when there are `gap` pixels around one of them.
    pub fn meets(&self, other: &NameBox, gap: f32) -> bool {
        (self.min - Vec2::splat(gap)).cmplt(other.max).all() && (self.max + Vec2::splat(gap)).cmpgt(other.min).all()
    }

    /// Whether the other lies in it altogether.
    pub fn holds(&self, other: &NameBox) -> bool {
        self.min.cmple(other.min).all() && self.max.cmpge(other.max).all()
    }
}

/// A name that wants to stand somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct NameWish {
    /// Identity from frame to frame.
    pub id: u64,
    /// Importance, 0 the highest: of two names of different tiers the higher one has its way.
    pub tier: u8,
    /// Where it may stand, the best place first. At most 256 count.
    pub boxes: Vec<NameBox>,
}

/// The names that are shown, each with the number of its place; the start of the next frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownNames(FxHashMap<u64, u8>);

impl ShownNames {
    /// Their number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a name is among them.
    pub fn has(&self, id: u64) -> bool {
        self.0.contains_key(&id)
    }
}

/// The wishes that are shown, as pairs of a wish and the number of its box, in the order in which they were placed.
///
/// All lie in `free`, none overlaps another one or one of `covered`, and there are at most `most`. Within a tier those of
/// `shown` come first, then the order of the list decides. `seen` is asked of each wish at most once, and only when there is
/// room for it: whatever it says no to takes no room. Names of one id beyond the first are passed over.
pub fn place_names(
    wishes: &[NameWish],
    free: &NameBox,
    covered: &[NameBox],
    shown: &ShownNames,
    most: usize,
    mut seen: impl FnMut(usize) -> bool,
) -> (Vec<(usize, usize)>, ShownNames) {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by_key(|&i| (wishes[i].tier, !shown.has(wishes[i].id), i));
    let mut taken: Vec<NameBox> = Vec::new();
    let mut placed = Vec::new();
    let mut now = ShownNames::default();
    for at in order {
        if placed.len() >= most {
            break;
        }
        let wish = &wishes[at];
        if now.has(wish.id) {
            continue;
        }
        let fits = |place: usize, gap: f32| {
            wish.boxes.get(place).filter(|b| {
                let clear = |other: &NameBox| !b.meets(other, gap);
                free.holds(b) && covered.iter().all(|c| !b.meets(c, 0.0)) && taken.iter().all(clear)
            })
        };
        let kept = shown.0.get(&wish.id).map(|&place| usize::from(place)).filter(|&place| fits(place, 0.0).is_some());
        let places = wish.boxes.len().min(256);
        let Some(place) = kept.or_else(|| (0..places).find(|&place| fits(place, NEW_NAME_GAP).is_some())) else {
            continue;
        };
        if seen(at) {
            taken.push(wish.boxes[place]);
            placed.push((at, place));
            now.0.insert(wish.id, place as u8);
        }
    }
    (placed, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FREE: NameBox = NameBox { min: Vec2::ZERO, max: Vec2::new(640.0, 360.0) };

    fn wishes() -> impl Strategy<Value = Vec<NameWish>> {
        let spot = (-20.0..660.0f32, -20.0..380.0f32);
        let wish = (spot, 8.0..160.0f32, 10.0..22.0f32, 0u8..4, 1usize..4).prop_map(|((x, y), w, h, tier, places)| {
            let lifted = |k| NameBox::new(Vec2::new(x, y - k as f32 * h), Vec2::new(w, h));
            NameWish { id: 0, tier, boxes: (0..places).map(lifted).collect() }
        });
        let numbered = |(id, wish): (usize, NameWish)| NameWish { id: id as u64, ..wish };
        prop::collection::vec(wish, 0..60).prop_map(move |all| all.into_iter().enumerate().map(numbered).collect())
    }

    fn moved(wishes: &[NameWish], by: &[(f32, f32)]) -> Vec<NameWish> {
        let shift = |(wish, (x, y)): (&NameWish, &(f32, f32))| {
            let by = Vec2::new(*x, *y);
            let boxes = wish.boxes.iter().map(|b| NameBox { min: b.min + by, max: b.max + by }).collect();
            NameWish { boxes, ..wish.clone() }
        };
        wishes.iter().zip(by).map(shift).collect()
    }

    proptest! {
        #[test]
        fn names_overlap_nothing_and_stay_in_the_picture(
            wishes in wishes(),
            cover in (0.0..600.0f32, 0.0..300.0f32, 0.0..300.0f32, 0.0..200.0f32),
            before in wishes(),
            most in 0usize..50,
        ) {
            let covered = [NameBox::new(Vec2::new(cover.0, cover.1), Vec2::new(cover.2, cover.3))];
            // Whatever was shown before, of other names too.
            let (_, shown) = place_names(&before, &FREE, &[], &ShownNames::default(), 30, |_| true);
            let (placed, now) = place_names(&wishes, &FREE, &covered, &shown, most, |i| i % 5 != 0);
            prop_assert_eq!(&place_names(&wishes, &FREE, &covered, &shown, most, |i| i % 5 != 0).0, &placed, "the same again");
            prop_assert!(placed.len() <= most && now.len() == placed.len());
            let boxes: Vec<NameBox> = placed.iter().map(|&(w, b)| wishes[w].boxes[b]).collect();
            for (i, a) in boxes.iter().enumerate() {
                prop_assert!(FREE.holds(a) && !a.meets(&covered[0], 0.0) && placed[i].0 % 5 != 0);
                for b in &boxes[..i] {
                    prop_assert!(!a.meets(b, 0.0), "{:?} {:?}", a, b);
                }
            }
            // Nothing is left out for which there was room.
            if placed.len() < most {
                for (i, wish) in wishes.iter().enumerate().filter(|(i, _)| i % 5 != 0 && !now.has(wishes[*i].id)) {
                    let free = |b: &&NameBox| FREE.holds(b) && !b.meets(&covered[0], 0.0) && boxes.iter().all(|o| !b.meets(o, NEW_NAME_GAP));
                    prop_assert!(wish.boxes.iter().find(free).is_none(), "{}", i);
                }
            }
        }

        #[test]
        fn what_matters_most_has_its_way(wishes in wishes()) {
            let (placed, now) = place_names(&wishes, &FREE, &[], &ShownNames::default(), 100, |_| true);
            for (i, wish) in wishes.iter().enumerate().filter(|(_, w)| !now.has(w.id)) {
                // Whoever is left out is in the way of one that comes before, at each of its places.
                for b in wish.boxes.iter().filter(|b| FREE.holds(b)) {
                    let before = |&&(w, _): &&(usize, usize)| (wishes[w].tier, w) < (wish.tier, i);
                    prop_assert!(placed.iter().filter(before).any(|&(w, p)| wishes[w].boxes[p].meets(b, NEW_NAME_GAP)));
                }
            }
        }

        /// One tier: a name that moves by less than half the gap stays in its place.
        #[test]
        fn names_stay_while_the_camera_moves_a_little(
            wishes in wishes(),
            by in prop::collection::vec((-2.9..2.9f32, -2.9..2.9f32), 60),
        ) {
            let wishes: Vec<_> = wishes.into_iter().map(|w| NameWish { tier: 0, ..w }).collect();
            let wide = NameBox { min: Vec2::splat(-500.0), max: Vec2::splat(2000.0) };
            let (_, shown) = place_names(&wishes, &wide, &[], &ShownNames::default(), 100, |_| true);
            let (_, now) = place_names(&moved(&wishes, &by), &wide, &[], &shown, 100, |_| true);
            for (id, place) in &shown.0 {
                prop_assert_eq!(now.0.get(id), Some(place), "{} is gone or elsewhere", id);
            }
        }
    }

    #[test]
    fn a_name_is_asked_for_once_and_only_when_there_is_room() {
        let at = |id, x| NameWish { id, tier: 1, boxes: vec![NameBox::new(Vec2::new(x, 50.0), Vec2::new(40.0, 12.0))] };
        let mut asked = Vec::new();
        let all = [at(1, 10.0), at(2, 20.0), at(3, 200.0), at(3, 300.0), at(4, 900.0)];
        let (placed, shown) = place_names(&all, &FREE, &[], &ShownNames::default(), 9, |i| {
            asked.push(i);
            i != 0
        });
        assert_eq!(asked, [0, 1, 2], "the second is in nobody's way, since the first is hidden");
        assert_eq!(placed, [(1, 0), (2, 0)]);
        assert!(shown.has(2) && shown.has(3) && !shown.has(1) && !shown.is_empty());
    }
}
