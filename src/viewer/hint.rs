//! A hint: what a view shows that matters, why, and the next step. Data alone: views hand hints out ([`View::hints`](super::view::View)),
//! the dock shows a lamp for them and does their steps.

use super::action::Action;
use bevy::prelude::World;

/// A hint about what a view shows now.
pub struct Hint {
    /// Its name: unique, never changes. A dismissed hint stays away until another program is opened.
    pub id: &'static str,
    /// What is seen, with its numbers: a sentence.
    pub seen: String,
    /// Why it matters: a sentence or two.
    pub why: &'static str,
    /// What to do next, the best step first.
    pub steps: Vec<HintStep>,
}

/// A change of shared state, done before the action of a step.
type Change = Box<dyn FnOnce(&mut World)>;

/// A button of a hint. It changes what views share, brings a view to the front and does an action, in this order.
pub struct HintStep {
    /// Its text.
    pub label: String,
    /// Changes time, window or selection.
    pub changes: Change,
    /// The id of the view that comes to the front.
    pub opens: Option<&'static str>,
    /// The action that is done.
    pub action: Option<Action>,
}

impl HintStep {
    /// A step that does an action.
    pub fn action(label: impl Into<String>, action: Action) -> HintStep {
        HintStep { action: Some(action), ..HintStep::change(label, |_| ()) }
    }

    /// A step that changes what views share.
    pub fn change(label: impl Into<String>, change: impl FnOnce(&mut World) + 'static) -> HintStep {
        HintStep { label: label.into(), changes: Box::new(change), opens: None, action: None }
    }

    /// The same, with a view in front afterwards.
    pub fn opens(self, view: &'static str) -> HintStep {
        HintStep { opens: Some(view), ..self }
    }
}
