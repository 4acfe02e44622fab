//! The 3D viewer: windows, input, drawing. The only part that knows Bevy.
//!
//! | module | concern |
//! |---|---|
//! | [`app`] | what runs, in which order; window and headless |
//! | [`document`], [`loading`], [`live`] | what is open, and how it comes and goes |
//! | [`clock`], [`selection`], [`references`], [`settings`] | state that all views share |
//! | [`recording`] | JVMs that run, and the one that is recorded |
//! | [`editor`] | code, in the editor of a person |
//! | [`palette`] | one field that finds everything |
//! | [`search`], [`bookmarks`] | what is looked for and lit; places to come back to |
//! | [`kept_settings`] | what of them is the same in the next run |
//! | [`finding`] | what leaks, found in the background |
//! | [`comparison`] | another run, or another time, beside what is open, and the way back |
//! | [`run`] | collections, memory and suspicious windows of the run |
//! | [`owners`], [`ways`] | who keeps the selection, the ways to it from the roots, and what goes when one is cut |
//! | [`views`] | the kinds of views, one file each, and their list |
//! | [`dock`] | which views are shown, where |
//! | [`panels`] | what stands around and over them |
//! | [`action`], [`keys`], [`input`] | keys and buttons |
//! | [`window`] | its size, and that of text |
//! | [`scene`] | the city on the GPU |
//! | [`capture`], [`screenshot`], [`view_file`] | pictures and views as files |
//!
//! It decides nothing about heaps or geometry: it asks a [`memory_city_analysis::timeline::Source`] and draws what
//! [`memory_city_views`] gives.

pub mod action;
pub mod app;
pub mod bookmarks;
pub mod capture;
pub mod clock;
pub mod comparison;
pub mod dock;
pub mod document;
pub mod editor;
pub mod film;
mod finding;
mod input;
mod job;
pub mod kept_settings;
pub mod keys;
pub mod live;
pub mod loading;
mod notices;
mod owners;
mod palette;
pub mod panels;
#[cfg(target_os = "linux")]
mod recording;
mod references;
mod remembered;
pub mod run;
mod scene;
mod screenshot;
pub mod search;
pub mod selection;
pub mod settings;
mod sites;
mod trail;
pub mod trend_settings;
pub mod view_file;
pub mod views;
mod ways;
mod window;
