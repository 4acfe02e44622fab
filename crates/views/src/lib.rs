//! The geometry of views: places, heights and colours. Pure functions, no drawing.
//!
//! [`city`] is the 3D city, [`nested`] has sunburst and icicle, [`graph`] the reference graph, [`overview`] a run in charts, [`strip`] its
//! collections below charts. [`page`] writes the city as a file for any browser, [`export`] writes tables and scenes for other programs.
//! This crate knows values over time, but not their meaning: no type, no object, no format of heaps.
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
