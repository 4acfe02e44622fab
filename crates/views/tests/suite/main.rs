//! Cities as data. One program, so that it is linked once.

mod json_round_trip;
