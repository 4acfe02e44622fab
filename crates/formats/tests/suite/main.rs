//! Readers of files: real inputs, damaged inputs, second readers. One program, so that it is linked once.

mod anttracks_damage;
mod anttracks_generator;
mod anttracks_round_trip;
mod anttracks_traces;
mod events;
mod hidden_fields;
mod hotspot_sizes;
mod hprof_format;
mod judging;
mod peers;
mod recorded_counts;
mod recordings;
mod streams;
mod values;
