//! The span of time that a person looks at: chosen in one view by dragging, the same in all of them.
//!
//! It is part of the run; the point in time that is shown ([`Clock`](super::clock::Clock)) is another thing, and may lie outside.

use super::document::{Closed, Document, Grew, Opened};
use bevy::prelude::*;

/// The chosen span: first and last point in time.
#[derive(Resource, Default, Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSpan(Option<(usize, usize)>);

impl TimeSpan {
    /// The span, where one is chosen.
    pub fn get(self) -> Option<(usize, usize)> {
        self.0
    }

    /// Chooses the points in time between two, in whatever order; a single one is none.
    pub fn choose(&mut self, one: usize, other: usize) {
        self.0 = (one != other).then_some((one.min(other), one.max(other)));
    }

    /// Chooses nothing.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// The span, or all of so many points in time.
    pub fn or_all(self, times: usize) -> (usize, usize) {
        self.0.unwrap_or((0, times.saturating_sub(1)))
    }

    fn within(&mut self, times: usize) {
        if let Some((from, to)) = self.0 {
            let last = times.saturating_sub(1);
            self.choose(from.min(last), to.min(last));
        }
    }
}

/// Keeps the span.
pub struct SpanPlugin;

impl Plugin for SpanPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<TimeSpan>()
            .add_observer(|_: On<Opened>, mut span: ResMut<TimeSpan>| span.clear())
            .add_observer(|_: On<Closed>, mut span: ResMut<TimeSpan>| span.clear())
            .add_observer(|_: On<Grew>, document: Res<Document>, mut span: ResMut<TimeSpan>| {
                span.within(document.timeline().map_or(0, |timeline| timeline.times()));
            });
    }
}

#[cfg(test)]
mod tests {
    use super::TimeSpan;

    #[test]
    fn a_span_has_two_ends_and_stays_within_the_run() {
        let mut span = TimeSpan::default();
        assert_eq!(span.or_all(9), (0, 8));
        span.choose(7, 3);
        assert_eq!((span.get(), span.or_all(9)), (Some((3, 7)), (3, 7)));
        span.within(6);
        assert_eq!(span.get(), Some((3, 5)));
        span.within(3);
        assert_eq!(span.get(), None);
        span.choose(4, 4);
        assert_eq!(span.get(), None);
    }
}
