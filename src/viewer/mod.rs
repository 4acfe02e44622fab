//! The 3D viewer: windows, input, drawing. The only part that knows Bevy.
//!
//! | module | concern |
//! |---|---|
//! | [`app`] | assembly: which plugins, in a window or headless; only [`capture`] uses it |
//! | [`frame`] | the stages of a frame, and whether another one follows |
//! | [`document`], [`loading`], [`live`] | what is open, and how it comes and goes |
//! | [`clock`], [`selection`], [`references`], [`settings`] | state that all views share |
//! | [`recording`] | JVMs that run, and the one that is recorded |
//! | [`editor`] | code, in the editor of a person |
//! | [`palette`] | one field that finds everything |
//! | [`search`], [`bookmarks`] | what is looked for and lit; places to come back to |
//! | [`saved_settings`] | the settings that hold in the next run |
//! | [`finding`] | what leaks, found in the background |
//! | [`comparison`] | another run, or another time, beside what is open, and the way back |
//! | [`run`] | collections, memory and suspicious windows of the run |
//! | [`owners`], [`ways`] | who keeps the selection, the ways to it from the roots, and what goes when one is cut |
//! | [`view`] | what a view is: names, keys, drawing, table, pictures |
//! | [`city`] | the city that is shown, which all share: its plan, its camera, what is on screen |
//! | [`views`] | the views, one file each, and their list, which `app`, `capture` and `film` alone know |
//! | [`dock`] | which views are shown, where |
//! | [`panels`] | what stands around and over them |
//! | [`action`], [`keys`], [`input`] | keys and buttons |
//! | [`window`] | its title, its camera, its size, and that of text |
//! | [`scene`] | the city on the GPU |
//! | [`picture`], [`capture`], [`film`], [`screenshot`], [`view_file`] | pictures, films and views as files |
//!
//! From the bottom to the top: `frame`, `document` and `settings`; what all share; what follows it in the background; `city` and `view`;
//! `panels` and `dock`; `views`; `app`. A test keeps circles of imports small.
//!
//! It decides nothing about heaps or geometry: it asks a [`memory_city_analysis::timeline::Source`] and draws the results of
//! [`memory_city_views`].

pub mod action;
pub mod app;
pub mod bookmarks;
pub mod capture;
pub mod city;
pub mod clock;
pub mod comparison;
pub mod dock;
pub mod document;
pub mod editor;
pub mod film;
mod finding;
mod frame;
pub mod hint;
mod input;
mod job;
pub mod keys;
pub mod live;
pub mod loading;
mod notices;
mod owners;
mod palette;
pub mod panels;
pub mod picture;
mod recent;
#[cfg(target_os = "linux")]
mod recording;
mod references;
mod remembered;
mod rest;
mod root_paths;
pub mod run;
pub mod saved_settings;
mod scene;
mod screenshot;
pub mod search;
pub mod selection;
pub mod settings;
mod sites;
mod trail;
pub mod trend_settings;
pub mod view;
pub mod view_file;
pub mod views;
pub mod window;
