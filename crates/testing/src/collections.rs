//! Keeps the collections that a replay reports.

use memory_city_formats::event::ObjectInfo;
use memory_city_formats::replay::{CohortChange, Collection, Moment, Observer};

/// Finished collections, in order.
#[derive(Default)]
pub struct Collections(pub Vec<Collection>);

impl Observer for Collections {
    fn moment(&mut self, _: Moment, _: Vec<CohortChange>, _: &[ObjectInfo]) {}
    fn collected(&mut self, collection: Collection) {
        self.0.push(collection);
    }
}
