//! The surroundings of the buildings in a dark and a light theme: sky, ground, districts and lines. The colours of buildings are the same
//! in both; districts keep apart from them (tested in [`super::mapping`]).

use super::mapping::{DISTRICT, MORE_COLOUR, QUIET_COLOUR, mix};

/// Dark or light surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CityTheme {
    /// A city at night: the colours of the paper, districts dark blue to light blue.
    #[default]
    Dark,
    /// A city by day, for bright rooms and for paper.
    Light,
}

/// Districts by day: the whole heap (#9BA0C3) and the deepest level (#AEB4D6). Found by search: there is little room between the grays, blues
/// and browns that buildings have in some mode.
pub const DISTRICT_BY_DAY: [[f32; 3]; 2] = [[0.327778, 0.351533, 0.545724], [0.423268, 0.456411, 0.672443]];

impl CityTheme {
    /// All of them, the default first.
    pub const ALL: [CityTheme; 2] = [CityTheme::Dark, CityTheme::Light];

    /// Short name for command lines and settings.
    pub fn id(self) -> &'static str {
        match self {
            CityTheme::Dark => "dark",
            CityTheme::Light => "light",
        }
    }

    /// The theme of an id.
    pub fn of(id: &str) -> Option<CityTheme> {
        Self::ALL.into_iter().find(|theme| theme.id() == id)
    }

    /// Sky above, sky at the horizon, ground; linear-light RGB, as all colours here.
    pub fn backdrop(self) -> [[f32; 3]; 3] {
        match self {
            CityTheme::Dark => [[0.0044, 0.0080, 0.0252], [0.0685, 0.1022, 0.2016], [0.0103, 0.0152, 0.0296]],
            CityTheme::Light => [[0.4735, 0.6172, 0.8148], [0.8550, 0.8963, 0.9387], [0.6795, 0.7230, 0.7758]],
        }
    }

    /// Districts at a level of a city with `levels` district levels.
    pub fn district(self, level: u32, levels: u32) -> [f32; 3] {
        let [low, high] = match self {
            CityTheme::Dark => DISTRICT,
            CityTheme::Light => DISTRICT_BY_DAY,
        };
        let deepest = levels.saturating_sub(1).max(1);
        mix(low, high, level.min(deepest) as f32 / deepest as f32)
    }

    /// More plots.
    pub fn more(self) -> [f32; 3] {
        match self {
            CityTheme::Dark => MORE_COLOUR,
            CityTheme::Light => [0.212231, 0.254152, 0.341914],
        }
    }

    /// The colour of objects that would stay, shown beside those that would be freed.
    pub fn stays(self) -> [f32; 3] {
        match self {
            CityTheme::Dark => QUIET_COLOUR,
            CityTheme::Light => [0.381326, 0.412543, 0.462077],
        }
    }

    /// Outlines of boxes without walls.
    pub fn line(self) -> [f32; 3] {
        match self {
            CityTheme::Dark => [0.55, 0.60, 0.70],
            CityTheme::Light => [0.042311, 0.057805, 0.093059],
        }
    }
}
