//! Pictures of the window as PNG files: at a key into the working folder, or to the path in the card for saving. Each explains its
//! colours: if no legend is in sight, the city shows one while the picture is taken.

use super::action::Action;
use super::clock::Clock;
use super::comparison::OpenComparison;
use super::dock::Dock;
use super::document::Document;
use super::frame::{Awake, Stage};
use super::loading::Loading;
use super::notices::Notices;
use super::picture;
use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Frames before a picture is taken: the card that asked for it goes away, and a needed legend comes.
const BEFORE: u8 = 3;
/// Frames after it, until it is on its way: its content stays.
const AFTER: u8 = 2;

/// Target file of a picture.
#[derive(Clone, Debug)]
enum PictureFile {
    /// Into the working folder, by the name of the open input, never over an existing file.
    Free,
    /// To this path.
    At(PathBuf),
}

/// The pictures of the window that are being taken.
#[derive(Resource, Default)]
pub struct WindowPictures {
    wanted: VecDeque<PictureFile>,
    /// How many frames the first of them has waited.
    waited: u8,
    /// Frames for which the content of the last picture stays.
    after: u8,
    /// Whether no visible view explains the colours.
    lacks_legend: bool,
}

impl WindowPictures {
    /// Takes a picture as soon as the card that asks for it is off the screen.
    pub fn take_to(&mut self, path: PathBuf) {
        self.wanted.push_back(PictureFile::At(path));
    }

    /// Whether a picture is being taken in which nothing else explains the colours.
    pub fn need_legend(&self) -> bool {
        self.go_on() && self.lacks_legend
    }

    /// Whether one is being taken.
    pub fn are_taken(&self) -> bool {
        self.go_on()
    }

    fn go_on(&self) -> bool {
        !self.wanted.is_empty() || self.after > 0
    }

    /// A frame more. Returns where the picture goes that is to be taken in it.
    fn advance(&mut self) -> Option<PictureFile> {
        if self.wanted.is_empty() {
            (self.waited, self.after) = (0, self.after.saturating_sub(1));
            return None;
        }
        if self.waited < BEFORE {
            self.waited += 1;
            return None;
        }
        self.after = AFTER;
        self.wanted.pop_front()
    }
}

fn take(
    mut actions: MessageReader<Action>,
    mut pictures: ResMut<WindowPictures>,
    (document, clock, dock): (Res<Document>, Res<Clock>, Res<Dock>),
    taking: Query<(), With<Screenshot>>,
    mut commands: Commands,
    mut awake: ResMut<Awake>,
) {
    // The GPU and a task have it for some frames.
    awake.wait_if(!taking.is_empty());
    let pictures = &mut *pictures;
    for action in actions.read() {
        if *action == Action::Screenshot {
            pictures.wanted.push_back(PictureFile::Free);
        }
    }
    pictures.lacks_legend = !dock.in_front("legend");
    let file = pictures.advance();
    awake.keep_if(pictures.go_on());
    let Some(file) = file else { return };
    let title = document.get().map_or("empty".to_owned(), |open| open.title.replace(['/', '\\', ' '], "-"));
    let stem = format!("memory-city-{title}-{:03}", clock.time + 1);
    commands.spawn(Screenshot::primary_window()).observe(
        move |captured: On<ScreenshotCaptured>,
              mut notices: ResMut<Notices>,
              (loading, document, comparison): (Res<Loading>, Res<Document>, Res<OpenComparison>)| {
            let readers = loading.readers(&document, &comparison);
            let path = match &file {
                PictureFile::Free => free_name(&stem),
                PictureFile::At(path) => path.clone(),
            };
            let image = captured.image.clone().try_into_dynamic().map(|image| image.to_rgb8());
            let saved = image.map_err(|error| error.to_string());
            let saved =
                saved.and_then(|image| picture::save(&image, &path, readers).map_err(|error| error.to_string()));
            notices.tell(match saved {
                Ok(()) => told(&path),
                Err(why) => format!("The picture could not be saved as {}: {why}", path.display()),
            });
        },
    );
}

/// Message about a written file.
pub fn told(path: &Path) -> String {
    tracing::debug!("saved: {}", path.display());
    format!("Saved {}", path.display())
}

fn free_name(stem: &str) -> PathBuf {
    let folder = std::env::current_dir().unwrap_or_default();
    (0..)
        .map(|n| folder.join(if n == 0 { format!("{stem}.png") } else { format!("{stem}-{n}.png") }))
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join(format!("{stem}.png")))
}

/// Pictures of the window.
pub struct ScreenshotPlugin;

impl Plugin for ScreenshotPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<WindowPictures>().add_systems(Update, take.in_set(Stage::Act));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_is_there_before_a_picture_and_until_it_is_taken() {
        let mut pictures = WindowPictures { lacks_legend: true, ..WindowPictures::default() };
        assert!(!pictures.need_legend());
        pictures.take_to("a.png".into());
        pictures.take_to("b.png".into());
        let mut taken = Vec::new();
        for frame in 0..2 * (BEFORE + AFTER) {
            let needed = pictures.need_legend();
            if let Some(PictureFile::At(path)) = pictures.advance() {
                taken.push((frame, path));
                assert!(needed && pictures.need_legend(), "before it, and with it");
            }
        }
        // One a frame.
        assert_eq!(taken, [(BEFORE, "a.png".into()), (BEFORE + 1, "b.png".into())]);
        assert!(!pictures.go_on());
        pictures.take_to("c.png".into());
        pictures.lacks_legend = false;
        assert!(pictures.go_on() && !pictures.need_legend(), "one is in sight");
    }
}
