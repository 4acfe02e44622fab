//! The saved layout of the dock: its file is replaced in one step, and checked when it is read.

use super::{Pane, Views};
use bevy_egui::egui;
use egui_tiles::{Container, Tile, TileId, Tree};
use memory_city_heap::error::Error;
use memory_city_heap::unfinished::write_whole;
use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const FILE: &str = "layout.json";
/// Version of the file: raised when older programs cannot read it any more.
const VERSION: u32 = 1;
/// No layout of ours is larger.
const MOST_BYTES: u64 = 1 << 20;
/// Nor deeper: a tree from a file is walked by recursion.
const DEEPEST: usize = 32;

#[derive(serde::Serialize, serde::Deserialize)]
struct Kept<T> {
    version: u32,
    size: [f32; 2],
    tree: T,
}

fn file() -> Option<PathBuf> {
    crate::config::folder().map(|folder| folder.join(FILE))
}

/// The kept layout, and the size it was made in. Unusable parts are ignored, with a line in the log.
pub(super) fn load(views: &Views) -> Option<(Tree<Pane>, egui::Vec2)> {
    let path = file()?;
    match read(&path, views) {
        Ok(found) => found,
        Err(why) => {
            tracing::warn!("{}: the layout is ignored: {why}. It is written anew when you change it", path.display());
            None
        }
    }
}

pub(super) fn read(path: &Path, views: &Views) -> Result<Option<(Tree<Pane>, egui::Vec2)>, String> {
    let size = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if size > MOST_BYTES {
        return Err(format!("{size} bytes are more than any layout has"));
    }
    let text = std::fs::read(path).map_err(|e| e.to_string())?;
    let any: Kept<serde_json::Value> = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
    if any.version != VERSION {
        return Err(format!("it has version {}, this program reads version {VERSION}", any.version));
    }
    let mut tree: Tree<Pane> = serde_json::from_value(any.tree).map_err(|e| e.to_string())?;
    check(&tree)?;
    drop_strangers(&mut tree, views);
    let side = |v: f32| if v.is_finite() { v.clamp(1.0, 1e5) } else { 1.0 };
    Ok(Some((tree, egui::vec2(side(any.size[0]), side(any.size[1])))))
}

/// Whether it is a tree: every tile is there, has one parent, and is not too deep.
fn check(tree: &Tree<Pane>) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut open: Vec<(TileId, usize)> = tree.root.into_iter().map(|root| (root, 0)).collect();
    while let Some((id, depth)) = open.pop() {
        if depth > DEEPEST || !seen.insert(id) {
            return Err("its tiles are no tree".to_owned());
        }
        match tree.tiles.get(id) {
            None => return Err("a tile is missing".to_owned()),
            Some(Tile::Pane(_)) => {}
            Some(Tile::Container(container)) => {
                if let Container::Linear(linear) = container
                    && linear.shares.iter().any(|(_, share)| !share.is_finite() || *share < 0.0)
                {
                    return Err("a share is no number".to_owned());
                }
                open.extend(container.children().map(|child| (*child, depth + 1)));
            }
        }
    }
    if seen.is_empty() {
        return Err("it shows nothing".to_owned());
    }
    Ok(())
}

/// Views that are not there (any more), or twice, have no pane.
fn drop_strangers(tree: &mut Tree<Pane>, views: &Views) {
    let mut seen = HashSet::new();
    let strangers: Vec<TileId> = tree
        .tiles
        .iter()
        .filter_map(|(id, tile)| match tile {
            Tile::Pane(Pane(view)) if views.get(view).is_none() || !seen.insert(view.clone()) => Some(*id),
            _ => None,
        })
        .collect();
    for id in strangers {
        tree.remove_recursively(id);
    }
}

/// Keeps a layout. A failure is a line in the log: the program works without.
pub(super) fn save(tree: &Tree<Pane>, size: egui::Vec2) {
    let Some(path) = file() else { return };
    if let Err(error) = write(&path, tree, size) {
        tracing::warn!("the layout is not kept: {error}");
    }
}

/// Removes the kept layout, if there is one.
pub(super) fn remove() {
    let Some(path) = file() else { return };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!("{}: the layout is not removed: {error}", path.display());
        }
        _ => tracing::debug!("layout removed: {}", path.display()),
    }
}

pub(super) fn write(path: &Path, tree: &Tree<Pane>, size: egui::Vec2) -> Result<(), Error> {
    let io = |error| Error::io(path, error);
    let kept = Kept { version: VERSION, size: [size.x, size.y], tree };
    let text = serde_json::to_vec_pretty(&kept).map_err(|e| io(e.into()))?;
    write_whole(path, |mut file| file.write_all(&text).map_err(io))?;
    tracing::debug!("layout kept: {}", path.display());
    Ok(())
}
