//! The picture: takes [`SceneInput`] from the main world to the GPU and draws it for every city camera.
//!
//! Each camera of ours runs the [`CityGraph`] schedule: the scene in one pass, the panels on top, the result
//! to the window or image. The renderer itself ([`renderer`]) is plain wgpu; this module is its Bevy side.
//!
//! Uploads follow change: the layout when it is new, eight bytes a box when a time step starts, the camera
//! record each frame.

mod bindings;
pub mod numbers;
pub mod records;
pub mod renderer;
mod shaders;

use bevy::camera::{Camera, CameraMainTextureUsages};
use bevy::core_pipeline::upscaling::upscaling;
use bevy::ecs::schedule::{Schedule, ScheduleBuildSettings, ScheduleLabel};
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::render_resource::{TextureDescriptor, TextureDimension, TextureUsages, TextureView};
use bevy::render::renderer::{RenderContext, RenderDevice, RenderQueue, ViewQuery};
use bevy::render::texture::TextureCache;
use bevy::render::view::{ExtractedView, Msaa, ViewTarget};
use bevy::render::{Render, RenderApp, RenderSystems};
use memory_city_views::city::PlotState;
use records::{BoxRecord, ConeRecord, ViewRecord};
use renderer::{DEPTH_FORMAT, DrawPlan, Renderer};
use std::sync::Arc;

/// What runs for a camera that shows the city.
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CityGraph;

/// A set of records with an identity, so that the GPU side knows what it already holds.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// The records.
    pub records: Arc<Vec<T>>,
    /// Differs for different content; 0 is the empty set.
    pub version: u64,
}

impl<T> Default for Versioned<T> {
    fn default() -> Self {
        Versioned { records: Arc::default(), version: 0 }
    }
}

impl<T> Versioned<T> {
    /// Records under a version nobody had before.
    pub fn new(records: Vec<T>) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Versioned { records: Arc::new(records), version: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

/// All the renderer needs for the next frame.
#[derive(Resource, Clone, Default, ExtractResource)]
pub struct SceneInput {
    /// Boxes in drawing order: opaque ones first.
    pub boxes: Versioned<BoxRecord>,
    /// States at the start of the animated step.
    pub before: Versioned<PlotState>,
    /// States at its end.
    pub after: Versioned<PlotState>,
    /// Cones of the selected building.
    pub cones: Versioned<ConeRecord>,
    /// Where in the window it is drawn, as shares of it: left, top, width, height. All of it when `None`.
    pub viewport: Option<[f32; 4]>,
    /// Camera, animation, colours.
    pub view: Option<ViewRecord>,
    /// What is drawn.
    pub plan: Arc<DrawPlan>,
    /// Nobody will see this frame: nothing is uploaded or drawn.
    pub unseen: bool,
}

impl SceneInput {
    /// Limits a pass to where the scene is drawn in a target of this size. Returns whether there is any room.
    fn frame(&self, pass: &mut wgpu::RenderPass<'_>, width: u32, height: u32) -> bool {
        let Some([left, top, wide, high]) = self.viewport else { return true };
        let edge = |share: f32, of: u32| (share * of as f32).round().clamp(0.0, of as f32) as u32;
        let (x, y) = (edge(left, width), edge(top, height));
        let (right, bottom) = (edge(left + wide, width), edge(top + high, height));
        if right <= x || bottom <= y {
            return false;
        }
        pass.set_viewport(x as f32, y as f32, (right - x) as f32, (bottom - y) as f32, 0.0, 1.0);
        pass.set_scissor_rect(x, y, right - x, bottom - y);
        true
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
            .add_systems(Render, prepare_scene.in_set(RenderSystems::PrepareResources))
            .add_systems(
                CityGraph,
                (scene_pass, bevy_egui::render::prepare_egui_pass, bevy_egui::render::egui_pass, upscaling).chain(),
            );
    }
}

/// The camera components of a view of the city.
pub fn city_camera(samples: Msaa) -> impl Bundle {
    (
        Camera { clear_color: ClearColorConfig::Custom(Color::BLACK), ..default() },
        bevy::render::camera::CameraRenderGraph::new(CityGraph),
        CameraMainTextureUsages::default(),
        Projection::default(),
        Transform::default(),
        samples,
    )
}

/// The renderer and what its buffers hold, by version.
#[derive(Resource, Default)]
struct GpuScene {
    renderer: Option<(Renderer, wgpu::TextureFormat, u32)>,
    boxes: u64,
    before: u64,
    after: u64,
    cones: u64,
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
    }
    if !input.unseen {
        scene.upload(&input, device.wgpu_device(), &queue);
    }
}

impl GpuScene {
    fn upload(&mut self, input: &SceneInput, device: &wgpu::Device, queue: &wgpu::Queue) {
        let Some((renderer, ..)) = &mut self.renderer else { return };
        if let Some(view) = &input.view {
            renderer.write_view(queue, view);
        }
        if self.boxes != input.boxes.version {
            renderer.write_boxes(device, queue, &input.boxes.records);
            self.boxes = input.boxes.version;
        }
        if self.before != input.before.version && self.after == input.before.version {
            renderer.turn();
            std::mem::swap(&mut self.before, &mut self.after);
        }
        if self.before != input.before.version {
            renderer.write_before(device, queue, &input.before.records);
            self.before = input.before.version;
        }
        if self.after != input.after.version {
            renderer.write_after(device, queue, &input.after.records);
            self.after = input.after.version;
        }
        if self.cones != input.cones.version {
            renderer.write_cones(device, queue, &input.cones.records);
            self.cones = input.cones.version;
        }
    }
}

fn scene_pass(
    view: ViewQuery<(&ViewTarget, &SceneDepth)>,
    scene: Res<GpuScene>,
    input: Option<Res<SceneInput>>,
    mut context: RenderContext,
) {
    let (target, depth) = view.into_inner();
    let (Some(input), Some((renderer, ..))) = (input, &scene.renderer) else { return };
    if input.unseen {
        return;
    }
    let target_size = target.main_texture().size();
    let mut pass = context.command_encoder().begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("city"),
        color_attachments: &[Some(target.get_color_attachment())],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depth.0,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
            stencil_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0), store: wgpu::StoreOp::Discard }),
        }),
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    });
    if input.view.is_some() && input.frame(&mut pass, target_size.width, target_size.height) {
        renderer.draw(&mut pass, &input.plan);
    }
}
