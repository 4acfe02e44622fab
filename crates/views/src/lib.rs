//! The geometry of views: where things stand, how high, in which colour. Pure functions, no drawing.
//!
//! [`city`] is the first view, [`nested`] has sunburst and icicle, [`graph`] who refers to what, [`overview`] a run in charts,
//! [`strip`] its collections below charts;
//! [`page`] makes a file of the city that any browser shows, [`export`] tables and scenes for other programs. This crate knows values over time, not what
//! they are values of: no type, no object, no format of heaps.
//!
//! # Example
//! ```
//! use memory_city_views::city::{AreaMode, Rect, squarify};
//!
//! let cells = squarify(&[6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0], Rect::new(0.0, 0.0, 6.0, 4.0)).unwrap();
//! assert_eq!((cells[0].w, cells[0].h), (3.0, 2.0));
//! assert_eq!(AreaMode::Sqrt.of(1_000_000.0), 1000.0);
//! ```

pub mod city;
pub mod export;
pub mod graph;
pub mod nested;
pub mod overview;
pub mod page;
pub mod strip;
