//! Saves what the window shows as a PNG.

use super::action::Action;
use super::capture;
use super::clock::Clock;
use super::document::Document;
use super::notices::Notices;
use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use std::path::PathBuf;

/// Takes a picture of the window when asked, into the working folder, never over an existing file.
pub fn save_on_request(
    mut actions: MessageReader<Action>,
    mut commands: Commands,
    document: Res<Document>,
    clock: Res<Clock>,
) {
    for action in actions.read() {
        if *action != Action::Screenshot {
            continue;
        }
        let name = document.get().map(|open| open.title.replace(['/', '\\', ' '], "-")).unwrap_or("empty".to_owned());
        let stem = format!("memory-city-{name}-{:03}", clock.time + 1);
        commands.spawn(Screenshot::primary_window()).observe(
            move |captured: On<ScreenshotCaptured>, mut notices: ResMut<Notices>| {
                let path = free_name(&stem);
                let image = captured.image.clone().try_into_dynamic().map(|i| i.to_rgb8());
                let saved = match image {
                    Ok(image) => capture::save(&image, &path).map_err(|e| e.to_string()),
                    Err(error) => Err(error.to_string()),
                };
                notices.tell(match saved {
                    Ok(()) => format!("Saved {}", path.display()),
                    Err(error) => format!("The picture could not be saved as {}: {error}", path.display()),
                });
            },
        );
    }
}

fn free_name(stem: &str) -> PathBuf {
    let folder = std::env::current_dir().unwrap_or_default();
    (0..)
        .map(|n| folder.join(if n == 0 { format!("{stem}.png") } else { format!("{stem}-{n}.png") }))
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join(format!("{stem}.png")))
}
