//! The 3D viewer: windows, input, drawing. The only part that knows Bevy.
//!
//! It shows a [`memory_city_views::city::CityPlan`] and asks a [`memory_city_analysis::timeline::Source`]; it decides nothing about heaps
//! or geometry. One plugin or module per concern:
//!
//! | module | concern |
//! |---|---|
//! | [`app`] | what runs, in which order; window and headless |
//! | [`loading`] | opening inputs, following changed settings, off the main thread |
//! | [`shown`] | the city on screen and its drawing order |
//! | [`clock`], [`selection`], [`settings`] | the state a user changes |
//! | [`action`], [`input`], [`fly`], [`picking`] | keys, mouse, camera |
//! | [`present`], [`scene`] | the picture |
//! | [`panels`] | the panels over it |
//! | [`capture`], [`screenshot`] | pictures as files |

pub mod action;
pub mod app;
pub mod capture;
pub mod clock;
pub mod fly;
pub mod input;
pub mod job;
pub mod live;
pub mod loading;
pub mod notices;
pub mod panels;
pub mod picking;
pub mod present;
pub mod scene;
pub mod screenshot;
pub mod selection;
pub mod settings;
pub mod shown;
pub mod trail;
