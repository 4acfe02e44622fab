//! The rendered city: takes [`SceneInput`] from the main world to the GPU and draws it for every city camera.
//!
//! Each camera of ours runs the [`CityGraph`] schedule: the scene in one pass, the panels on top, the result
//! to the window or image. The renderer itself ([`renderer`]) is plain wgpu; this module is its Bevy side.
//!
//! Uploads follow change: the whole layout when it is new, eight bytes a box when a time step starts, the camera record each frame. A
//! step that changes few boxes uploads only these.

mod bindings;
pub mod numbers;
mod parted;
mod patch;
mod pipelines;
pub mod records;
pub mod renderer;
mod shaders;
mod still;
mod stretch;

use bevy::camera::{Camera, CameraMainTextureUsages, NormalizedRenderTarget};
use bevy::core_pipeline::upscaling::upscaling;
use bevy::ecs::schedule::{Schedule, ScheduleBuildSettings, ScheduleLabel};
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{TextureDescriptor, TextureDimension, TextureUsages, TextureView};
use bevy::render::renderer::{RenderContext, RenderDevice, RenderQueue, ViewQuery};
use bevy::render::texture::{GpuImage, TextureCache};
use bevy::render::view::{ExtractedView, Msaa, ViewTarget};
use bevy::render::{Render, RenderApp, RenderSystems};
use memory_city_views::city::PlotState;
use patch::Held;
pub use patch::{FEW, Since};
use pipelines::DEPTH_FORMAT;
use records::{BoxRecord, ConeRecord, PaintedBox, ViewRecord};
use renderer::{DrawPlan, Renderer};
use std::sync::Arc;
use still::{StillCity, StillFrame};
use stretch::{Smaller, Stretcher};

/// The render schedule of a camera that shows the city.
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CityGraph;

/// Records with a version, so that the GPU side knows whether it holds them.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// The records.
    pub records: Arc<Vec<T>>,
    /// Differs for different content; 0 is the empty set.
    pub version: u64,
    /// Differences from an earlier version, if they are few.
    pub since: Option<Since>,
}

impl<T> Default for Versioned<T> {
    fn default() -> Self {
        Versioned { records: Arc::default(), version: 0, since: None }
    }
}

impl<T> Versioned<T> {
    /// Records under a new version.
    pub fn new(records: Vec<T>) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Versioned { records: Arc::new(records), version: NEXT.fetch_add(1, Ordering::Relaxed), since: None }
    }

    /// A new version of as many records as before, in which `boxes` differ. The differences are kept if they are few.
    pub fn changed(records: Vec<T>, before: &Versioned<T>, boxes: Vec<u32>) -> Self {
        let few = records.len() == before.records.len() && boxes.len().saturating_mul(FEW) <= records.len();
        let since = few.then(|| Since { version: before.version, boxes: boxes.into() });
        Versioned { since, ..Versioned::new(records) }
    }

    /// The version of these records, as noted once the GPU has them.
    fn held(&self) -> Held {
        Held { version: self.version, since: self.since.clone() }
    }
}

/// All the renderer needs for the next frame.
#[derive(Resource, Clone, Default, ExtractResource)]
pub struct SceneInput {
    /// Boxes in drawing order: opaque ones first.
    pub boxes: Versioned<BoxRecord>,
    /// Boxes with another paint; each once.
    pub painted: Versioned<PaintedBox>,
    /// States at the start of the animated step.
    pub before: Versioned<PlotState>,
    /// States at its end.
    pub after: Versioned<PlotState>,
    /// Cones of the selected building.
    pub cones: Versioned<ConeRecord>,
    /// Marks over the boxes at the shown time: ghosts and signs.
    pub over: Versioned<PlotState>,
    /// Times beside each other, instead of the shown one: their places in the window, and their states.
    pub cells: Vec<SceneCell>,
    /// Its rectangle in the window, as shares: left, top, width, height. The whole window when `None`.
    pub viewport: Option<[f32; 4]>,
    /// Camera, animation, colours.
    pub view: Option<ViewRecord>,
    /// The drawn boxes.
    pub plan: Arc<DrawPlan>,
    /// Side of the picture as a share of its full size: below 1 it is drawn smaller and stretched, if there is one sample a pixel. 0
    /// counts as 1.
    pub sharpness: f32,
    /// The window is hidden: nothing is uploaded or drawn.
    pub unseen: bool,
}

/// The scene at one of several times.
#[derive(Clone, Default)]
pub struct SceneCell {
    /// Rectangle in the window, as shares: left, top, width, height.
    pub viewport: [f32; 4],
    /// The states of the boxes.
    pub states: Versioned<PlotState>,
    /// Marks over the boxes: ghosts and signs.
    pub over: Versioned<PlotState>,
    /// Whether the cones belong to this time.
    pub cones: bool,
}

impl SceneInput {
    /// A part of a target of this size: corner, width and height, pixels.
    fn place(viewport: Option<[f32; 4]>, width: u32, height: u32) -> [u32; 4] {
        let Some([left, top, wide, high]) = viewport else { return [0, 0, width, height] };
        let edge = |share: f32, of: u32| (share * of as f32).round().clamp(0.0, of as f32) as u32;
        let (x, y) = (edge(left, width), edge(top, height));
        let (right, bottom) = (edge(left + wide, width), edge(top + high, height));
        [x, y, right.saturating_sub(x), bottom.saturating_sub(y)]
    }

    /// Limits a pass to a part of a target of this size. Returns whether there is any room.
    fn frame(viewport: Option<[f32; 4]>, pass: &mut wgpu::RenderPass<'_>, width: u32, height: u32) -> bool {
        let [x, y, width, height] = SceneInput::place(viewport, width, height);
        if width == 0 || height == 0 {
            return false;
        }
        pass.set_viewport(x as f32, y as f32, width as f32, height as f32, 0.0, 1.0);
        pass.set_scissor_rect(x, y, width, height);
        true
    }

    /// Rectangle of the city in the window, or of several beside each other: as [`SceneInput::viewport`].
    fn picture(&self) -> Option<[f32; 4]> {
        let mut all = self.cells.iter().map(|cell| cell.viewport);
        let Some(first) = all.next() else { return self.viewport };
        let edges = |[left, top, wide, high]: [f32; 4]| [left, top, left + wide, top + high];
        let [left, top, right, bottom] =
            all.map(edges).fold(edges(first), |a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]);
        Some([left, top, right - left, bottom - top])
    }

    /// The size of the smaller picture that is stretched, if one is.
    fn smaller(&self, width: u32, height: u32, samples: u32) -> Option<(u32, u32)> {
        let [_, _, width, height] = SceneInput::place(self.picture(), width, height);
        let less = |side: u32| (side as f32 * self.sharpness).ceil() as u32;
        let wanted = samples == 1 && self.sharpness > 0.0 && self.sharpness < 1.0;
        Some((less(width), less(height))).filter(|&(w, h)| wanted && w > 0 && h > 0)
    }

    /// Width and height of a drawn city, pixels, in a target of this size or in the smaller picture. Several beside each other all have
    /// the size of the first, to within a pixel.
    fn pixels(&self, width: u32, height: u32, smaller: Option<(u32, u32)>) -> (u32, u32) {
        let viewport = self.cells.first().map(|cell| cell.viewport).or(self.viewport);
        let [_, _, wide, high] = SceneInput::place(viewport, width, height);
        let Some(smaller) = smaller else { return (wide, high) };
        let [_, _, all_wide, all_high] = SceneInput::place(self.picture(), width, height);
        let less = |of: u32, side: u32, all: u32| (u64::from(of) * u64::from(side) / u64::from(all.max(1))) as u32;
        (less(smaller.0, wide, all_wide), less(smaller.1, high, all_high))
    }

    /// Draws the city, or several beside each other, into a pass over a target of this size; `within` is the part of the window that the
    /// target shows.
    fn draw(
        &self,
        renderer: &Renderer,
        pass: &mut wgpu::RenderPass<'_>,
        (width, height): (u32, u32),
        within: [f32; 4],
    ) {
        let here = |[left, top, wide, high]: [f32; 4]| {
            let [from_left, from_top, all_wide, all_high] = within;
            [(left - from_left) / all_wide, (top - from_top) / all_high, wide / all_wide, high / all_high]
        };
        if self.view.is_none() {
            return;
        }
        if self.cells.is_empty() {
            if SceneInput::frame(self.viewport.map(here), pass, width, height) {
                renderer.draw(pass, &self.plan);
            }
            return;
        }
        for (i, cell) in self.cells.iter().enumerate() {
            if SceneInput::frame(Some(here(cell.viewport)), pass, width, height) {
                renderer.draw_cell(pass, &self.plan, i, cell.cones);
            }
        }
    }
}

/// Draws the scene.
pub struct ScenePlugin;

impl Plugin for ScenePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<SceneInput>().add_plugins(ExtractResourcePlugin::<SceneInput>::default());
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
        let mut graph = Schedule::new(CityGraph);
        graph.set_build_settings(ScheduleBuildSettings { auto_insert_apply_deferred: false, ..default() });
        render_app
            .init_resource::<GpuScene>()
            .add_schedule(graph)
            .add_systems(
                Render,
                (
                    prepare_scene.in_set(RenderSystems::PrepareResources),
                    crate::viewer::job::frame_was_drawn.in_set(RenderSystems::PostCleanup),
                ),
            )
            .add_systems(
                CityGraph,
                (
                    scene_pass,
                    bevy_egui::render::prepare_egui_pass,
                    bevy_egui::render::egui_pass,
                    (copy_out, upscaling.run_if(not(is_copied))),
                )
                    .chain(),
            );
    }
}

/// The camera components of a view of the city.
pub fn city_camera(samples: Msaa) -> impl Bundle {
    (
        Camera { clear_color: ClearColorConfig::Custom(Color::BLACK), ..default() },
        bevy::render::camera::CameraRenderGraph::new(CityGraph),
        // A picture that was kept is copied into it.
        CameraMainTextureUsages(CameraMainTextureUsages::default().0 | TextureUsages::COPY_DST),
        Projection::default(),
        Transform::default(),
        samples,
    )
}

/// The renderer, and the versions in its buffers.
#[derive(Resource, Default)]
struct GpuScene {
    renderer: Option<(Renderer, wgpu::TextureFormat, u32)>,
    stretcher: Option<Stretcher>,
    still: StillCity,
    boxes: u64,
    painted: Versioned<PaintedBox>,
    before: Held,
    after: Held,
    cones: u64,
    over: Held,
    cells: Vec<[u64; 2]>,
}

#[derive(Component)]
struct SceneDepth(TextureView);

fn prepare_scene(
    mut commands: Commands,
    mut scene: ResMut<GpuScene>,
    input: Option<Res<SceneInput>>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
    mut textures: ResMut<TextureCache>,
    views: Query<(Entity, &ExtractedCamera, &ExtractedView, &Msaa)>,
) {
    let Some(input) = input else { return };
    let mut pixels = None;
    for (entity, camera, view, msaa) in &views {
        let Some(size) = camera.physical_target_size else { continue };
        let depth = textures.get(
            &device,
            TextureDescriptor {
                label: Some("scene depth"),
                size: wgpu::Extent3d { width: size.x.max(1), height: size.y.max(1), depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: msaa.samples(),
                dimension: TextureDimension::D2,
                format: DEPTH_FORMAT,
                usage: TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            },
        );
        commands.entity(entity).insert(SceneDepth(depth.default_view));
        let key = (view.target_format, msaa.samples());
        if scene.renderer.as_ref().is_none_or(|(_, format, samples)| (*format, *samples) != key) {
            let renderer = Renderer::new(device.wgpu_device(), key.0, key.1);
            *scene = GpuScene { renderer: Some((renderer, key.0, key.1)), ..default() };
        }
        let smaller = input.smaller(size.x, size.y, key.1);
        pixels = Some(input.pixels(size.x, size.y, smaller));
        match smaller {
            Some(size) => {
                let stretcher =
                    scene.stretcher.get_or_insert_with(|| Stretcher::new(device.wgpu_device(), view.target_format));
                let smaller = stretcher.smaller(&device, &mut textures, view.target_format, size);
                commands.entity(entity).insert(smaller);
            }
            None => {
                commands.entity(entity).remove::<Smaller>();
            }
        }
    }
    if input.unseen {
        return;
    }
    let pixels = pixels.filter(|_| views.iter().count() == 1);
    scene.upload(&input, device.wgpu_device(), &queue, pixels);
    match views.iter().collect::<Vec<_>>()[..] {
        [(entity, camera, view, _)] => {
            let size = camera.physical_target_size.map_or((0, 0), |size| (size.x, size.y));
            scene.still.prepare(device.wgpu_device(), &input, (entity, size), view.target_format);
        }
        _ => scene.still.forget(),
    }
}

impl GpuScene {
    fn upload(&mut self, input: &SceneInput, device: &wgpu::Device, queue: &wgpu::Queue, pixels: Option<(u32, u32)>) {
        let Some((renderer, ..)) = &mut self.renderer else { return };
        if let Some(view) = &input.view {
            renderer.write_view(queue, view, pixels);
        }
        if self.boxes != input.boxes.version {
            renderer.write_boxes(device, queue, &input.boxes.records);
            self.boxes = input.boxes.version;
            self.painted = Versioned::default();
        }
        if self.painted.version != input.painted.version {
            for old in self.painted.records.iter() {
                if let Some(record) = input.boxes.records.get(old.at as usize) {
                    renderer.write_paint(queue, old.at, record.paint);
                }
            }
            let there = |new: &&PaintedBox| (new.at as usize) < input.boxes.records.len();
            input.painted.records.iter().filter(there).for_each(|new| renderer.write_paint(queue, new.at, new.paint));
            self.painted = input.painted.clone();
        }
        // A step that is there at once has one state alone.
        let stands = input.before.version == input.after.version;
        renderer.set_stands(stands);
        if !stands && self.before.version != input.before.version && self.after.version == input.before.version {
            renderer.turn();
            std::mem::swap(&mut self.before, &mut self.after);
        }
        if !stands && self.before.version != input.before.version {
            renderer.write_before(device, queue, &input.before.records);
            self.before = input.before.held();
        }
        if self.after.version != input.after.version {
            let new = input.after.held();
            // A step that follows another one goes into the column of the time before both.
            let changed = self.after.changed(&new, (!stands).then_some(&self.before));
            renderer.write_after(device, queue, &input.after.records, changed.as_deref());
            self.after = new;
        }
        if self.cones != input.cones.version {
            renderer.write_cones(device, queue, &input.cones.records);
            self.cones = input.cones.version;
        }
        if self.over.version != input.over.version {
            let new = input.over.held();
            let changed = self.over.changed(&new, None);
            renderer.write_over(device, queue, &input.over.records, changed.as_deref());
            self.over = new;
        }
        if self.cells.len() != input.cells.len() {
            renderer.set_cells(input.cells.len());
            self.cells = vec![[0; 2]; input.cells.len()];
        }
        for (i, (cell, held)) in input.cells.iter().zip(&mut self.cells).enumerate() {
            if held[0] != cell.states.version {
                renderer.write_cell(device, queue, i, &cell.states.records);
                held[0] = cell.states.version;
            }
            if held[1] != cell.over.version {
                renderer.write_cell_over(device, queue, i, &cell.over.records);
                held[1] = cell.over.version;
            }
        }
    }
}

/// The image that a camera draws into, if the picture can be copied there as it is: cheaper than drawing it.
fn image_of<'a>(
    (target, camera): (&ViewTarget, &ExtractedCamera),
    images: &'a RenderAssets<GpuImage>,
) -> Option<&'a wgpu::Texture> {
    let Some(NormalizedRenderTarget::Image(image)) = &camera.target else { return None };
    let (image, picture) = (&*images.get(&image.handle)?.texture, target.main_texture());
    let alike = image.format() == picture.format() && image.size() == picture.size();
    (alike && image.usage().contains(TextureUsages::COPY_DST)).then_some(image)
}

fn is_copied(view: ViewQuery<(&ViewTarget, &ExtractedCamera)>, images: Res<RenderAssets<GpuImage>>) -> bool {
    image_of(view.into_inner(), &images).is_some()
}

fn copy_out(
    view: ViewQuery<(&ViewTarget, &ExtractedCamera)>,
    images: Res<RenderAssets<GpuImage>>,
    mut context: RenderContext,
) {
    let view = view.into_inner();
    let picture = view.0.main_texture();
    if let Some(image) = image_of(view, &images) {
        let size = picture.size();
        context.command_encoder().copy_texture_to_texture(picture.as_image_copy(), image.as_image_copy(), size);
    }
}

fn scene_pass(
    view: ViewQuery<(&ViewTarget, &SceneDepth, Option<&Smaller>)>,
    scene: Res<GpuScene>,
    input: Option<Res<SceneInput>>,
    mut context: RenderContext,
) {
    let (target, depth, smaller) = view.into_inner();
    let (Some(input), Some((renderer, ..))) = (input, &scene.renderer) else { return };
    if input.unseen {
        return;
    }
    let all = target.main_texture().size();
    let colour = target.get_color_attachment();
    let begin = |context: &mut RenderContext, colour, depth: Option<&TextureView>| {
        context
            .command_encoder()
            .begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("city"),
                color_attachments: &[Some(colour)],
                depth_stencil_attachment: depth.map(|view| wgpu::RenderPassDepthStencilAttachment {
                    view,
                    depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
                    stencil_ops: None,
                }),
                timestamp_writes: None,
                occlusion_query_set: None,
                multiview_mask: None,
            })
            .forget_lifetime()
    };
    const WINDOW: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
    let (Some(smaller), Some(stretcher)) = (smaller, &scene.stretcher) else {
        let copied = scene.still.frame() == StillFrame::Copied;
        {
            let mut pass = begin(&mut context, colour, Some(&depth.0).filter(|_| !copied));
            if !copied {
                input.draw(renderer, &mut pass, (all.width, all.height), WINDOW);
            }
        }
        let city = SceneInput::place(input.picture(), all.width, all.height);
        scene.still.copy(context.command_encoder(), target.main_texture(), city);
        return;
    };
    let picture = input.picture();
    {
        let small = wgpu::RenderPassColorAttachment {
            view: &smaller.colour,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
        };
        let mut pass = begin(&mut context, small, Some(&smaller.depth));
        input.draw(renderer, &mut pass, smaller.size, picture.unwrap_or(WINDOW));
    }
    let mut pass = begin(&mut context, colour, None);
    if input.view.is_some() && SceneInput::frame(picture, &mut pass, all.width, all.height) {
        stretcher.draw(&mut pass, smaller);
    }
}
