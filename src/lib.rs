//! Memory City: the heap of a garbage-collected program as a 3D city.
//!
//! The library is a pipeline, and the modules are its stages. Data flows down this list, and code may
//! depend only on what stands above it:
//!
//! | module | from | to |
//! |---|---|---|
//! | [`trace`] | bytes of a file | a [`heap::HeapState`] for each point in time |
//! | [`heap`] | | one heap state: objects, types, references, roots as columns |
//! | [`group`] | a heap state and a list of classifiers | a memory tree: groups of objects, nested |
//! | [`timeline`] | memory trees over time | one tree with a value per node and time; max and growth trees; reference maps |
//! | [`analysis`] | a timeline | what grows most, and what keeps it alive |
//! | [`city`] | a timeline | plots, districts, heights, colours, cones: pure geometry |
//! | [`live`] | a WebSocket | timelines that grow while a program runs; what is selected and shown |
//! | `viewer` | a city | a picture, a window (feature `viewer`) |
//!
//! [`error`] and [`progress`] are shared by all of them. Nothing above `viewer` knows Bevy: the crate builds
//! and passes its tests with `--no-default-features`.

pub mod analysis;
pub mod city;
pub mod error;
pub mod group;
pub mod heap;
pub mod live;
pub mod progress;
pub mod timeline;
pub mod trace;
#[cfg(feature = "viewer")]
pub mod viewer;
