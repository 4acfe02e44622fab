//! Short messages for the user that fade: results of actions, and reasons for refusals.

use super::frame::{Awake, Stage};
use super::settings::Settings;
use bevy::prelude::*;

/// The messages on screen.
#[derive(Resource, Default)]
pub struct Notices(Vec<(String, f32)>);

/// Seconds a message stays.
const STAY: f32 = 6.0;
/// The last of these seconds. A message fades in them; before, few frames are drawn.
const FADES: f32 = 0.5;

impl Notices {
    /// Shows a message.
    pub fn tell(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.0.retain(|(t, _)| *t != text);
        self.0.push((text, STAY));
    }

    /// Takes a message back that is not true any more.
    pub fn withdraw(&mut self, text: &str) {
        self.0.retain(|(told, _)| told != text);
    }

    /// The messages, oldest first, with their opacity.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f32)> {
        self.0.iter().map(|(text, left)| (text.as_str(), (left / FADES).min(1.0)))
    }

    /// Whether any is shown.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Lets messages fade.
fn fade_notices(mut notices: ResMut<Notices>, time: Res<Time>, settings: Res<Settings>, mut awake: ResMut<Awake>) {
    if notices.0.is_empty() {
        return;
    }
    let fades = |left: f32| left < FADES;
    awake.keep_if(!settings.reduced_motion && notices.0.iter().any(|(_, left)| fades(*left)));
    awake.wait_if(true);
    let delta = time.delta_secs();
    notices.0.retain_mut(|(_, left)| {
        *left -= delta;
        *left > 0.0
    });
}

/// Messages that fade.
pub struct NoticesPlugin;

impl Plugin for NoticesPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Notices>().add_systems(Update, fade_notices.in_set(Stage::Derive));
    }
}
