//! The names on screen: what was written where, so that names stay while the camera moves, and a click on one finds its group.

use super::labels;
use bevy::prelude::*;
use bevy_egui::egui;
use memory_city_views::city::ShownNames;
use memory_city_views::city::camera::CameraPose;

/// The names on screen, and what else is written over the city.
#[derive(Resource, Default)]
pub struct CityNames {
    /// The names on screen.
    pub names: Vec<labels::NameSpot>,
    /// The layout that they belong to: in another one they name nothing.
    pub names_in: u64,
    /// Rectangle of the lines at the upper edge: part, filter, omitted references.
    pub lines: Option<egui::Rect>,
    /// The values at both ends of the reference under the mouse.
    pub ends: [Option<egui::Rect>; 2],
    /// Names that were logged.
    pub told: Vec<labels::NameSpot>,
    pub shown: ShownNames,
    /// Camera at the last fresh placement of names, without regard to the ones before, and in the last frame.
    pub placed_from: Option<CameraPose>,
    pub last_pose: Option<CameraPose>,
    pub jumps: u64,
    pub written: Option<(WrittenFor, Vec<labels::Label>)>,
    /// Counts how often names were written.
    pub writings: u64,
    /// Input of that placement: the names, and the covered rectangles.
    pub placed_for: Option<(u64, Vec<egui::Rect>)>,
}

/// Input of the collected names: the layout, the time, and the wanted names.
pub type WrittenFor = (u64, usize, labels::Wanted);

impl CityNames {
    /// The name at a point of the window, in a layout: a new one has no names yet.
    pub fn named_at(&self, at: egui::Pos2, layout: u64) -> Option<labels::Named> {
        let names = if self.names_in == layout { &self.names[..] } else { &[] };
        names.iter().rev().find(|spot| spot.rect.contains(at)).map(|spot| spot.named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::selection::Target;
    use memory_city_analysis::timeline::NodeId;

    /// In the frame in which another city comes the names on screen are those of the one before: groups that it may not have.
    #[test]
    fn names_of_another_city_name_nothing() {
        let rect = egui::Rect::from_min_size(egui::pos2(10.0, 10.0), egui::vec2(50.0, 12.0));
        let named = labels::Named::Group(Target::Node(NodeId(21_761)));
        let names = CityNames { names: vec![labels::NameSpot { rect, named }], names_in: 7, ..CityNames::default() };
        assert_eq!(names.named_at(rect.center(), 7), Some(named));
        assert_eq!(names.named_at(rect.center(), 8), None);
    }
}
