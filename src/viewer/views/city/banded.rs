//! References as records for the GPU. Cones to objects that the selection keeps are banded, so that their direction shows without
//! colours; cones from objects that keep the selection are plain.

use crate::viewer::panels::theme::pack;
use crate::viewer::scene::records::ConeRecord;
use glam::Vec3;
use memory_city_views::city::{self, ConeWay};

/// Pieces of an arc, and of a straight cone with bands.
pub(super) const PIECES: usize = 16;
/// How light every second piece with bands is beside the others.
const BAND: f32 = 0.38;

/// A straight cone in pieces.
fn in_pieces((a, r0): (Vec3, f32), (b, r1): (Vec3, f32)) -> ConeWay {
    let at = |i: usize| i as f32 / PIECES as f32;
    (0..=PIECES).map(|i| (a.lerp(b, at(i)), r0 + (r1 - r0) * at(i))).collect()
}

/// Appends a reference that runs along `way`, to the selection where it is `incoming`.
pub(super) fn append(way: &[(Vec3, f32)], incoming: bool, lit: bool, records: &mut Vec<ConeRecord>) {
    let colour = if incoming { city::INCOMING_COLOUR } else { city::OUTGOING_COLOUR };
    let paints = match incoming {
        true => [colour; 2],
        false => [colour, colour.map(|light| light * BAND)],
    };
    let paints = paints.map(pack);
    let straight = way.len() == 2;
    let pieces = (straight && !incoming).then(|| in_pieces(way[0], way[1]));
    let way = pieces.as_deref().unwrap_or(way);
    // Pieces of an arc reach into each other: no gaps show where it bends. Bands end where they meet.
    let reach = match (straight, incoming) {
        (true, _) => 0.0,
        (false, true) => 0.5,
        (false, false) => 0.12,
    };
    records.extend(way.windows(2).enumerate().map(|(i, pair)| {
        let ((a, r0), (b, r1)) = (pair[0], pair[1]);
        let along = (b - a).normalize_or_zero() * reach;
        let (before, after) = (f32::from(u8::from(i > 0)), f32::from(u8::from(i + 2 < way.len())));
        ConeRecord {
            start: (a - along * r0 * before).extend(r0).to_array(),
            end: (b + along * r1 * after).extend(r1).to_array(),
            paint: [paints[i % 2], u32::from(lit)],
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_of_arcs_and_of_straight_cones_show_without_colours() {
        let straight = [(Vec3::ZERO, 2.0), (Vec3::new(16.0, 8.0, 0.0), 1.0)];
        let arc = [straight[0], (Vec3::new(8.0, 9.0, 0.0), 1.5), straight[1]];
        for way in [&straight[..], &arc] {
            let (mut incoming, mut outgoing) = (Vec::new(), Vec::new());
            append(way, true, false, &mut incoming);
            append(way, false, false, &mut outgoing);
            assert_eq!(incoming.len(), way.len() - 1, "as few as it takes");
            assert!(incoming.iter().all(|record| record.paint == incoming[0].paint), "plain");
            assert!(outgoing.len() > 1 && outgoing.windows(2).all(|pair| pair[0].paint != pair[1].paint), "with bands");
            // However many pieces, it runs from end to end.
            for records in [&incoming, &outgoing] {
                let (first, last) = (records[0], records[records.len() - 1]);
                assert_eq!((first.start, last.end), ([0.0, 0.0, 0.0, 2.0], [16.0, 8.0, 0.0, 1.0]));
            }
        }
        let mut bands = Vec::new();
        append(&straight, false, true, &mut bands);
        for pair in bands.windows(2) {
            let gap = (0..4).map(|i| (pair[0].end[i] - pair[1].start[i]).abs()).fold(0.0, f32::max);
            assert!(gap < 1e-5, "one begins where the other ends: {gap}");
        }
    }
}
