//! The inspected heap state and everything read of it: one state at a time. All reading and computing is done by jobs.

use super::awaited::Awaited;
use crate::viewer::editor::CodePlace;
use memory_city_analysis::inspection::{InspectedHeap, ObjectTexts, TextAnswers};
use memory_city_analysis::timeline::Source;
use memory_city_heap::ObjectId;
use memory_city_heap::ownership::KeepRules;
use std::sync::Arc;

/// Heaps of up to this many objects get their dominator tree without being asked: it takes a second or two.
const SMALL: usize = 4_000_000;

/// A heap state and its known facts.
#[derive(Default)]
pub struct Desk {
    time: Option<usize>,
    /// The heap state.
    pub heap: Awaited<Arc<InspectedHeap<'static>>>,
    /// Whether the dominator tree is there.
    pub dominators: Awaited<()>,
    told: ObjectTexts,
    /// The texts that are being read.
    pub telling: Awaited<TextAnswers>,
    /// A place in code that was clicked.
    pub code: Option<CodePlace>,
}

impl Desk {
    /// Looks at a point in time. Returns whether it is a new one: earlier results do not belong to it.
    pub fn look_at(&mut self, time: usize, source: &Arc<Source>) -> bool {
        let other = self.time != Some(time);
        if other {
            *self = Desk { time: Some(time), ..Desk::default() };
        }
        let source = Arc::clone(source);
        self.heap
            .ask(move |progress| InspectedHeap::shared(source, time, KeepRules::default(), progress).map(Arc::new));
        other
    }

    /// Takes the results of jobs, and starts reading values that were missing while drawing. Returns whether a job is running.
    pub fn poll(&mut self) -> bool {
        let mut running = self.heap.poll() | self.dominators.poll() | self.telling.poll();
        if let Awaited::There(_) = &self.telling
            && let Awaited::There(answers) = std::mem::replace(&mut self.telling, Awaited::Not)
        {
            self.told.keep(answers);
            // They are seen in the next frame.
            running = true;
        }
        let Some(heap) = self.heap.get().cloned() else { return running };
        if heap.heap().object_count() <= SMALL {
            self.find_owners();
        }
        if matches!(self.telling, Awaited::Not)
            && let Some(request) = self.told.take_request()
        {
            self.telling.ask(move |progress| request.read(&heap, progress));
            running = true;
        }
        running
    }

    /// Starts to make the dominator tree, where that was not done.
    pub fn find_owners(&mut self) {
        if let Some(heap) = self.heap.get().cloned() {
            self.dominators.ask(move |progress| heap.dominators(progress).map(|_| ()));
        }
    }

    /// The value of an object as text: `None` until it is known.
    pub fn text(&mut self, o: ObjectId) -> Option<Option<String>> {
        self.told.text(o).map(|text| text.map(str::to_owned))
    }

    /// The field by which an object refers to another: `None` until it is known.
    pub fn place(&mut self, from: ObjectId, to: ObjectId) -> Option<Option<String>> {
        self.told.place(from, to).map(|place| place.map(str::to_owned))
    }
}
