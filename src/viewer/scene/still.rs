//! Reuse of the picture of a city that stands still: while only panels over it change, its last picture is copied.
//!
//! The second of two equal frames keeps its picture, and all after it copy: a moving city pays nothing for this. May not: know what makes
//! pictures equal, beyond the versions in the input.

use super::SceneInput;
use super::records::ViewRecord;
use super::renderer::DrawPlan;
use bevy::ecs::entity::Entity;
use std::sync::Arc;

/// Everything that a picture was drawn from.
struct StillKey {
    view: Entity,
    size: (u32, u32),
    versions: [u64; 6],
    record: ViewRecord,
    plan: Arc<DrawPlan>,
    viewport: Option<[f32; 4]>,
    /// The times beside each other: rectangle, versions of the states and of the marks over them, and whether there are cones.
    cells: Vec<([f32; 4], [u64; 2], bool)>,
}

impl StillKey {
    fn is(&self, input: &SceneInput, view: Entity, size: (u32, u32)) -> bool {
        let same_record = |record: &ViewRecord| bytemuck::bytes_of(record) == bytemuck::bytes_of(&self.record);
        self.view == view
            && self.size == size
            && self.versions == versions(input)
            && input.view.as_ref().is_some_and(same_record)
            && Arc::ptr_eq(&self.plan, &input.plan)
            && self.viewport == input.viewport
            && self.cells.iter().copied().eq(cells(input))
    }
}

fn cells(input: &SceneInput) -> impl Iterator<Item = ([f32; 4], [u64; 2], bool)> {
    input.cells.iter().map(|cell| (cell.viewport, [cell.states.version, cell.over.version], cell.cones))
}

fn versions(input: &SceneInput) -> [u64; 6] {
    [
        input.boxes.version,
        input.painted.version,
        input.before.version,
        input.after.version,
        input.cones.version,
        input.over.version,
    ]
}

/// Use of a frame's picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StillFrame {
    /// Drawn, and not needed again.
    #[default]
    Drawn,
    /// It is drawn and kept.
    Kept,
    /// It is the one that was kept.
    Copied,
}

/// The last picture, and its use in the next frame.
#[derive(Default)]
pub(super) struct StillCity {
    last: Option<StillKey>,
    kept: Option<wgpu::Texture>,
    /// Whether `kept` is the picture of `last`.
    holds: bool,
    frame: StillFrame,
}

impl StillCity {
    /// Chooses between drawing and copying for the next frame, from the size and final format of its target.
    pub fn prepare(
        &mut self,
        device: &wgpu::Device,
        input: &SceneInput,
        (view, size): (Entity, (u32, u32)),
        format: wgpu::TextureFormat,
    ) {
        self.frame = StillFrame::Drawn;
        let record = input.view.filter(|_| input.sharpness <= 0.0 || input.sharpness >= 1.0);
        let Some(record) = record else {
            self.forget();
            return;
        };
        if !self.last.as_ref().is_some_and(|last| last.is(input, view, size)) {
            let (versions, plan) = (versions(input), Arc::clone(&input.plan));
            let cells = cells(input).collect();
            self.last = Some(StillKey { view, size, versions, record, plan, viewport: input.viewport, cells });
            self.holds = false;
        } else if self.holds {
            self.frame = StillFrame::Copied;
        } else {
            self.frame = StillFrame::Kept;
            self.holds = true;
            let extent = wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 };
            if self.kept.as_ref().is_none_or(|kept| kept.size() != extent || kept.format() != format) {
                self.kept = Some(device.create_texture(&wgpu::TextureDescriptor {
                    label: Some("city that stands still"),
                    size: extent,
                    mip_level_count: 1,
                    sample_count: 1,
                    dimension: wgpu::TextureDimension::D2,
                    format,
                    usage: wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
                    view_formats: &[],
                }));
            }
        }
    }

    /// Forgets the kept picture.
    pub fn forget(&mut self) {
        *self = StillCity::default();
    }

    /// The use of this frame's picture.
    pub fn frame(&self) -> StillFrame {
        self.frame
    }

    /// Copies a part of the picture (corner and size, pixels) between the target and the kept picture, after the pass that draws or
    /// clears the target.
    pub fn copy(&self, encoder: &mut wgpu::CommandEncoder, target: &wgpu::Texture, [x, y, width, height]: [u32; 4]) {
        let Some(kept) = self.kept.as_ref().filter(|kept| kept.size() == target.size()) else { return };
        if width == 0 || height == 0 {
            return;
        }
        let origin = wgpu::Origin3d { x, y, z: 0 };
        let of = |texture| wgpu::TexelCopyTextureInfo { origin, ..wgpu::Texture::as_image_copy(texture) };
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        match self.frame {
            StillFrame::Drawn => {}
            StillFrame::Kept => encoder.copy_texture_to_texture(of(target), of(kept), size),
            StillFrame::Copied => encoder.copy_texture_to_texture(of(kept), of(target), size),
        }
    }
}
