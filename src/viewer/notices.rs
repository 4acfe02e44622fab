//! Short messages for the user that fade: what just happened, and why something did not.

use bevy::prelude::*;

/// The messages on screen.
#[derive(Resource, Default)]
pub struct Notices(Vec<(String, f32)>);

/// Seconds a message stays.
const STAY: f32 = 6.0;

impl Notices {
    /// Shows a message.
    pub fn tell(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.0.retain(|(t, _)| *t != text);
        self.0.push((text, STAY));
    }

    /// The messages, oldest first, with their opacity.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f32)> {
        self.0.iter().map(|(text, left)| (text.as_str(), left.min(1.0)))
    }

    /// Whether any is shown.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Lets messages fade.
pub fn fade_notices(mut notices: ResMut<Notices>, time: Res<Time>) {
    if notices.0.is_empty() {
        return;
    }
    let delta = time.delta_secs();
    notices.0.retain_mut(|(_, left)| {
        *left -= delta;
        *left > 0.0
    });
}
