//! Differences between two lists of panels' triangles: the changed parts of the window, and the triangles of a part.
//!
//! May not: know Bevy or the GPU. It compares and cuts lists of triangles.

use super::parts::{WindowPart, WindowTiles};
use bevy_egui::egui::epaint::{ClippedPrimitive, Mesh, Primitive, Vertex};
use bevy_egui::egui::{Color32, Pos2, Rect, TextureId};
use std::ops::Range;

/// Distance of the search for an item that comes again in the two lists.
const LOOK_AHEAD: usize = 16;

/// A clip rectangle in pixels: rounded as the panels are drawn.
fn clipped(rect: Rect, pixels: f32) -> WindowPart {
    let edge = |points: f32| (points * pixels).round() as u32;
    WindowPart { left: edge(rect.min.x), top: edge(rect.min.y), right: edge(rect.max.x), bottom: edge(rect.max.y) }
}

/// The pixels that a triangle may touch.
fn bounds(corners: [Pos2; 3], pixels: f32) -> WindowPart {
    let [a, b, c] = corners;
    let (min, max) = (a.min(b).min(c), a.max(b).max(c));
    let (down, up) = (|points: f32| (points * pixels).floor() as u32, |points: f32| (points * pixels).ceil() as u32);
    WindowPart {
        left: down(min.x).saturating_sub(1),
        top: down(min.y).saturating_sub(1),
        right: up(max.x).saturating_add(1),
        bottom: up(max.y).saturating_add(1),
    }
}

/// Marks the differences of two lists. `None` if they hold more than triangles, and cannot be compared.
pub fn mark_changes(
    tiles: &mut WindowTiles,
    before: &[ClippedPrimitive],
    after: &[ClippedPrimitive],
    pixels: f32,
) -> Option<()> {
    let (mut i, mut j) = (0, 0);
    while i < before.len() || j < after.len() {
        let (old, new) = (before.get(i), after.get(j));
        if let (Some(old), Some(new)) = (old, new) {
            if same(old, new) {
                (i, j) = (i + 1, j + 1);
                continue;
            }
            // What one list has more than the other is skipped; otherwise something has become something else.
            let ahead = 1..=LOOK_AHEAD;
            let comes = |list: &[ClippedPrimitive], at: usize, is: &ClippedPrimitive| {
                list.get(at).is_some_and(|other| same(other, is))
            };
            let gone = ahead.clone().find(|&ahead| comes(before, i + ahead, new));
            let come = ahead.clone().find(|&ahead| comes(after, j + ahead, old));
            match (gone, come) {
                (Some(gone), come) if come.is_none_or(|come| gone <= come) => {
                    for old in &before[i..i + gone] {
                        mark_all(tiles, old, pixels)?;
                    }
                    i += gone;
                }
                (_, Some(come)) => {
                    for new in &after[j..j + come] {
                        mark_all(tiles, new, pixels)?;
                    }
                    j += come;
                }
                _ => {
                    mark_difference(tiles, old, new, pixels)?;
                    (i, j) = (i + 1, j + 1);
                }
            }
        } else {
            mark_all(tiles, old.or(new)?, pixels)?;
            (i, j) = (i + usize::from(old.is_some()), j + usize::from(new.is_some()));
        }
    }
    Some(())
}

fn mesh_of(job: &ClippedPrimitive) -> Option<&Mesh> {
    match &job.primitive {
        Primitive::Mesh(mesh) => Some(mesh),
        Primitive::Callback(_) => None,
    }
}

fn same(a: &ClippedPrimitive, b: &ClippedPrimitive) -> bool {
    let (Some(x), Some(y)) = (mesh_of(a), mesh_of(b)) else { return false };
    a.clip_rect == b.clip_rect && x.texture_id == y.texture_id && x.indices == y.indices && same_corners(x, y)
}

fn same_corners(a: &Mesh, b: &Mesh) -> bool {
    bytemuck::cast_slice::<Vertex, u8>(&a.vertices) == bytemuck::cast_slice::<Vertex, u8>(&b.vertices)
}

fn mark_all(tiles: &mut WindowTiles, job: &ClippedPrimitive, pixels: f32) -> Option<()> {
    let mesh = mesh_of(job)?;
    mark_triangles(tiles, job, mesh, 0..mesh.indices.len(), pixels);
    Some(())
}

fn mark_triangles(tiles: &mut WindowTiles, job: &ClippedPrimitive, mesh: &Mesh, indices: Range<usize>, pixels: f32) {
    let within = clipped(job.clip_rect, pixels);
    for triangle in mesh.indices[indices].chunks_exact(3) {
        let corner = |k: usize| mesh.vertices[triangle[k] as usize].pos;
        tiles.mark(bounds([corner(0), corner(1), corner(2)], pixels).common(within));
    }
}

/// Marks where one thing has become another: the triangles that begin and end both alike are left out.
fn mark_difference(tiles: &mut WindowTiles, old: &ClippedPrimitive, new: &ClippedPrimitive, pixels: f32) -> Option<()> {
    let (was, is) = (mesh_of(old)?, mesh_of(new)?);
    if old.clip_rect != new.clip_rect || was.texture_id != is.texture_id {
        mark_all(tiles, old, pixels)?;
        return mark_all(tiles, new, pixels);
    }
    let (a, b) = (was.indices.as_chunks::<3>().0, is.indices.as_chunks::<3>().0);
    let corner = |mesh: &Mesh, index: u32| mesh.vertices.get(index as usize).copied();
    let alike = |(x, y): &(&[u32; 3], &[u32; 3])| {
        x.iter().zip(*y).all(|(&x, &y)| corner(was, x).is_some() && corner(was, x) == corner(is, y))
    };
    let begin = a.iter().zip(b).take_while(alike).count();
    let end = a[begin..].iter().rev().zip(b[begin..].iter().rev()).take_while(alike).count();
    mark_triangles(tiles, old, was, 3 * begin..3 * (a.len() - end), pixels);
    mark_triangles(tiles, new, is, 3 * begin..3 * (b.len() - end), pixels);
    Some(())
}

/// The triangles of a list within some parts, in their order, on a base of black outside the city.
pub fn within(jobs: &[ClippedPrimitive], parts: &[WindowPart], city: WindowPart, pixels: f32) -> Vec<ClippedPrimitive> {
    let mut drawn = Vec::new();
    for &part in parts {
        let mut base = Mesh::with_texture(TextureId::default());
        for strip in part.without(city) {
            base.add_colored_rect(strip.rect(pixels), Color32::BLACK);
        }
        let base = ClippedPrimitive { clip_rect: part.rect(pixels), primitive: Primitive::Mesh(base) };
        drawn.extend(mesh_of(&base).is_some_and(|mesh| !mesh.is_empty()).then_some(base));
        for job in jobs {
            let Some(mesh) = mesh_of(job) else { continue };
            let seen = clipped(job.clip_rect, pixels).common(part);
            if seen.is_empty() {
                continue;
            }
            let cut = cut(mesh, seen, pixels);
            if !cut.is_empty() {
                drawn.push(ClippedPrimitive { clip_rect: seen.rect(pixels), primitive: Primitive::Mesh(cut) });
            }
        }
    }
    drawn
}

/// The triangles that touch a part.
fn cut(mesh: &Mesh, part: WindowPart, pixels: f32) -> Mesh {
    let mut cut = Mesh::with_texture(mesh.texture_id);
    let mut places = vec![u32::MAX; mesh.vertices.len()];
    for triangle in mesh.indices.as_chunks::<3>().0 {
        let corners = triangle.map(|index| mesh.vertices[index as usize].pos);
        if bounds(corners, pixels).common(part).is_empty() {
            continue;
        }
        for &index in triangle {
            let place = &mut places[index as usize];
            if *place == u32::MAX {
                *place = cut.vertices.len() as u32;
                cut.vertices.push(mesh.vertices[index as usize]);
            }
            cut.indices.push(*place);
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_egui::egui::pos2;
    use proptest::prelude::*;

    const SIZE: (u32, u32) = (200, 150);
    const CITY: u32 = 7;

    /// A picture that keeps in each pixel the things drawn onto it, in order.
    struct Sheet(Vec<u32>);

    impl Sheet {
        fn fill(&mut self, part: WindowPart, with: u32) {
            if part.is_empty() {
                return;
            }
            for y in part.top..part.bottom {
                self.0[(y * SIZE.0) as usize..][part.left as usize..part.right as usize].fill(with);
            }
        }

        fn draw(&mut self, jobs: &[ClippedPrimitive], pixels: f32) {
            for job in jobs {
                let mesh = mesh_of(job).expect("triangles");
                let seen = clipped(job.clip_rect, pixels).common(WindowPart::of([0, 0, SIZE.0, SIZE.1]));
                for triangle in mesh.indices.as_chunks::<3>().0 {
                    let corners = triangle.map(|index| mesh.vertices[index as usize]);
                    let bounds = bounds(corners.map(|corner| corner.pos), pixels).common(seen);
                    for (x, y) in
                        (bounds.top..bounds.bottom).flat_map(|y| (bounds.left..bounds.right).map(move |x| (x, y)))
                    {
                        let point = pos2((x as f32 + 0.5) / pixels, (y as f32 + 0.5) / pixels);
                        let [a, b, c] = corners.map(|corner| corner.pos);
                        let side = |a, b| side(a, b, point);
                        let sides = [side(a, b), side(b, c), side(c, a)];
                        if sides.iter().all(|&side| side >= 0.0) || sides.iter().all(|&side| side <= 0.0) {
                            let pixel = &mut self.0[(y * SIZE.0 + x) as usize];
                            let colour = u32::from_le_bytes(corners[0].color.to_array());
                            let black = corners[0].color == Color32::BLACK;
                            *pixel = if black { 0 } else { pixel.wrapping_mul(31).wrapping_add(colour) };
                        }
                    }
                }
            }
        }

        /// All of a frame.
        fn whole(jobs: &[ClippedPrimitive], city: WindowPart, pixels: f32) -> Sheet {
            let mut sheet = Sheet(vec![0; (SIZE.0 * SIZE.1) as usize]);
            sheet.fill(city, CITY);
            sheet.draw(jobs, pixels);
            sheet
        }
    }

    /// The side of a line on which a point is. From `b` to `a` it is exactly the negative of from `a` to `b`, so that no pixel falls
    /// between two triangles that share an edge.
    fn side(a: Pos2, b: Pos2, point: Pos2) -> f32 {
        let of = |a: Pos2, b: Pos2| (b - a).rot90().dot(point - a);
        if (a.x, a.y) <= (b.x, b.y) { of(a, b) } else { -of(b, a) }
    }

    /// Some rectangles that are drawn together.
    type Thing = (Vec<(f32, f32, f32, f32, u8)>, (f32, f32), u64);

    fn job((rects, clip, texture): &Thing) -> ClippedPrimitive {
        let mut mesh = Mesh::with_texture(TextureId::User(*texture));
        for &(x, y, width, height, colour) in rects {
            let rect = Rect::from_min_max(pos2(x, y), pos2(x + width, y + height));
            mesh.add_colored_rect(rect, Color32::from_gray(colour));
        }
        let clip_rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(clip.0, clip.1));
        ClippedPrimitive { clip_rect, primitive: Primitive::Mesh(mesh) }
    }

    fn thing() -> impl Strategy<Value = Thing> {
        let rect = (0.0..150f32, 0.0..100f32, 0.0..40f32, 0.0..40f32, 1..9u8);
        (prop::collection::vec(rect, 0..5), (50.0..220f32, 50.0..170f32), 0..2u64)
    }

    /// Change of a thing from one frame to the next.
    #[derive(Clone, Debug)]
    enum Fate {
        Stays,
        Goes,
        Follows(Thing),
        Grows(Thing),
    }

    fn fate() -> impl Strategy<Value = Fate> {
        prop_oneof![
            4 => Just(Fate::Stays),
            1 => Just(Fate::Goes),
            1 => thing().prop_map(Fate::Follows),
            1 => thing().prop_map(Fate::Grows),
        ]
    }

    proptest! {
        /// Drawing the changes over the earlier picture gives the same as drawing it whole.
        #[test]
        fn less_is_drawn_and_the_picture_is_the_same(
            before in prop::collection::vec((thing(), fate()), 0..8),
            city in (0..150u32, 0..100u32, 0..60u32, 0..60u32),
            moves in any::<bool>(),
            pixels in prop::sample::select(vec![1.0, 1.25, 2.0f32]),
        ) {
            let city = WindowPart::of([city.0, city.1, city.2, city.3]).common(WindowPart::of([0, 0, SIZE.0, SIZE.1]));
            let old: Vec<_> = before.iter().map(|(thing, _)| job(thing)).collect();
            let mut new = Vec::new();
            for (thing, fate) in &before {
                match fate {
                    Fate::Stays => new.push(job(thing)),
                    Fate::Goes => {}
                    Fate::Follows(other) => new.extend([job(thing), job(other)]),
                    Fate::Grows(other) => {
                        let mut all = thing.clone();
                        all.0.splice(thing.0.len() / 2..thing.0.len() / 2, other.0.iter().copied());
                        new.push(job(&all));
                    }
                }
            }
            let mut tiles = WindowTiles::new(SIZE);
            if moves {
                tiles.mark(city);
            }
            mark_changes(&mut tiles, &old, &new, pixels).expect("nothing but triangles");
            let parts = tiles.parts();
            for (i, part) in parts.iter().enumerate() {
                prop_assert!(parts[i + 1..].iter().all(|other| part.common(*other).is_empty()), "{parts:?}");
            }
            let mut sheet = Sheet::whole(&old, city, pixels);
            parts.iter().for_each(|part| sheet.fill(part.common(city), CITY));
            sheet.draw(&within(&new, &parts, city, pixels), pixels);
            let whole = Sheet::whole(&new, city, pixels);
            let wrong = (0..whole.0.len()).find(|&at| whole.0[at] != sheet.0[at]);
            prop_assert_eq!(wrong.map(|at| (at as u32 % SIZE.0, at as u32 / SIZE.0)), None);
        }
    }

    #[test]
    fn a_drawn_rectangle_has_no_holes() {
        // The middle of the pixel (150, 64) is on the diagonal, but for what rounding makes of it.
        let part = WindowPart { left: 123, top: 33, right: 200, bottom: 82 };
        let pixels = 1.25;
        let mut mesh = Mesh::with_texture(TextureId::default());
        mesh.add_colored_rect(part.rect(pixels), Color32::from_gray(1));
        let job = ClippedPrimitive { clip_rect: part.rect(pixels), primitive: Primitive::Mesh(mesh) };
        let sheet = Sheet::whole(&[job], WindowPart::default(), pixels);
        let drawn = sheet.0.iter().filter(|&&pixel| pixel != 0).count();
        assert_eq!(drawn, 77 * 49);
    }

    #[test]
    fn what_stays_is_not_drawn_again() {
        let thing = |x: f32| job(&(vec![(x, 10.0, 20.0, 20.0, 5)], (200.0, 150.0), 0));
        let changes = |old: &[ClippedPrimitive], new: &[ClippedPrimitive]| {
            let mut tiles = WindowTiles::new(SIZE);
            mark_changes(&mut tiles, old, new, 1.0).expect("nothing but triangles");
            tiles.parts()
        };
        let (left, right) = (thing(10.0), thing(140.0));
        assert_eq!(changes(&[left.clone(), right.clone()], &[left.clone(), right.clone()]), []);
        let corner = WindowPart { left: 0, top: 0, right: 64, bottom: 64 };
        assert_eq!(changes(&[left.clone(), right.clone()], std::slice::from_ref(&right)), [corner]);
        // Within one thing too.
        let both =
            |colour| job(&(vec![(10.0, 10.0, 20.0, 20.0, colour), (140.0, 10.0, 20.0, 20.0, 3)], (200.0, 150.0), 0));
        assert_eq!(changes(&[both(4)], &[both(6)]), [corner]);
        let drawn = within(&[both(6)], &[corner], corner, 1.0);
        assert_eq!(drawn.iter().filter_map(mesh_of).map(|mesh| mesh.indices.len()).sum::<usize>(), 6);
    }
}
