//! From a timeline to city geometry: layout, heights, colours, cones. Pure functions, no drawing.
