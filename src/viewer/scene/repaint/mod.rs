//! Partial redrawing of panels: the window's picture is kept from frame to frame, and only changes are drawn over it. While the camera
//! flies, only the city changes. On a GPU in software the panels around it cost more than everything else but the boxes.
//!
//! Only pictures with one sample a pixel: with more, a pass over the city writes all of the picture. The content of a picture counts as
//! known once it has been drawn ([`note_what_was_drawn`]), not before.
//!
//! May not: decide what panels show. It draws less of what it gets.

mod changed;
mod parts;

use super::still::StillFrame;
use super::{GpuScene, SceneInput};
use bevy::asset::AssetId;
use bevy::image::Image;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::PipelineCache;
use bevy::render::texture::GpuImage;
use bevy::render::view::{Msaa, ViewTarget};
use bevy_egui::egui::epaint::ClippedPrimitive;
use bevy_egui::render::EguiViewTarget;
use bevy_egui::render::systems::{EguiPipelines, ExtractedEguiTextures};
use bevy_egui::{EguiPixelsPerPoint, EguiRenderOutput};
pub(super) use parts::WindowPart;
use parts::WindowTiles;

/// A picture that has been drawn, or that is about to be.
struct DrawnPanels {
    key: PictureKey,
    panels: Vec<ClippedPrimitive>,
}

/// Everything that a picture depends on, and its place.
#[derive(PartialEq)]
struct PictureKey {
    texture: wgpu::Texture,
    /// A point, in pixels.
    pixels: f32,
    city: WindowPart,
    /// Letters and images that panels use. An image that grows keeps its name, and its content keeps its place.
    images: Vec<AssetId<Image>>,
}

/// The window's picture from frame to frame.
#[derive(Resource, Default)]
pub(super) struct Repaint {
    drawn: Option<DrawnPanels>,
    next: Option<DrawnPanels>,
    parts: Option<Vec<WindowPart>>,
}

impl Repaint {
    /// The parts of the picture that this frame draws; `None` if it draws all of it.
    pub fn parts(&self) -> Option<&[WindowPart]> {
        self.parts.as_deref()
    }
}

/// Chooses the parts of the picture that the next frame draws, after the choice for the city.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it looks at
pub(super) fn prepare_repaint(
    mut repaint: ResMut<Repaint>,
    scene: Res<GpuScene>,
    input: Option<Res<SceneInput>>,
    views: Query<(Entity, &ViewTarget, &Msaa), With<ExtractedCamera>>,
    mut panels: Query<(&mut EguiRenderOutput, &EguiViewTarget, &EguiPixelsPerPoint)>,
    textures: ExtractedEguiTextures,
    images: Res<RenderAssets<GpuImage>>,
    (pipelines, cache): (Option<Res<EguiPipelines>>, Res<PipelineCache>),
) {
    let Repaint { drawn, next, parts } = &mut *repaint;
    (*next, *parts) = (None, None);
    let last = drawn.take();
    // What draws panels may still be on its way.
    let ready = pipelines.is_some_and(|all| all.0.values().all(|&one| cache.get_render_pipeline(one).is_some()))
        && textures.handles().all(|(_, image)| images.get(image).is_some());
    let (Some(input), Ok((camera, target, &Msaa::Off)), true) = (input, views.single(), ready) else { return };
    if input.unseen || input.whole || scene.renderer.is_none() {
        return;
    }
    let mut panels = panels.iter_mut().filter(|(_, of, _)| of.0 == camera);
    let (Some((mut output, _, &EguiPixelsPerPoint { pixels_per_point: pixels })), None) =
        (panels.next(), panels.next())
    else {
        return;
    };
    let size = target.main_texture().size();
    // What is left of the last row stays as it was, and panels over it would be drawn twice.
    if !input.covers_picture(size.width, size.height) {
        return;
    }
    let city = input.view.map_or([0; 4], |_| SceneInput::place(input.picture(), size.width, size.height));
    let mut used: Vec<_> = textures.handles().map(|(_, image)| image).collect();
    used.sort_unstable();
    let texture = wgpu::Texture::clone(target.main_texture());
    let key = PictureKey { texture, pixels, city: WindowPart::of(city), images: used };
    let jobs = &mut output.paint_jobs;
    if let Some(last) = last.filter(|last| last.key == key) {
        let mut tiles = WindowTiles::new((size.width, size.height));
        if scene.still.frame() != StillFrame::Copied {
            tiles.mark(key.city);
        }
        if changed::mark_changes(&mut tiles, &last.panels, jobs, pixels).is_some() {
            let changed = tiles.parts();
            let less = changed::within(jobs, &changed, key.city, pixels);
            *next = Some(DrawnPanels { key, panels: std::mem::replace(jobs, less) });
            *parts = Some(changed);
            // Until this frame has been drawn, the picture is the one before.
            *drawn = Some(last);
            return;
        }
    }
    *next = Some(DrawnPanels { key, panels: jobs.clone() });
}

/// The frame has been drawn: its picture is the one that the next frame draws over.
pub(super) fn note_what_was_drawn(mut repaint: ResMut<Repaint>) {
    let Repaint { drawn, next, parts } = &mut *repaint;
    *drawn = next.take();
    *parts = None;
}
