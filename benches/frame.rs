//! A frame of 10,000 buildings at 1280x720, against a bare wgpu program that draws the same boxes in one instanced draw
//! with a plain shader: what the GPU (here usually a software one) must do in any case.
//!
//! Both run in this process, in turn, on the same kind of adapter, without anti-aliasing, and each frame is waited for.
//! `cargo bench --bench frame`.

use memory_city::viewer::capture::{CameraView, Shot, Studio};
use memory_city::viewer::document::{Arrival, Draft};
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views::{self, CameraRig, City};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{History, Source};
use memory_city_formats::{HeapSeries, SnapshotInfo};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeKind};
use std::sync::Arc;
use std::time::Instant;

const SIZE: (u32, u32) = (1280, 720);
const BUILDINGS: usize = 10_000;
const FRAMES: usize = 60;

fn main() {
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let mut studio = Studio::new(SIZE, 1).expect("a GPU");
    println!("drawing with {}\n", studio.adapter);
    println!("| buildings | frame | bare draw (ms) | ours (ms) | ratio |");
    println!("|---|---|---|---|---|");
    for (name, buildings, opacity, panels) in [
        ("all opaque, nothing over it", BUILDINGS, 1.0, false),
        ("40 % opacity, nothing over it", BUILDINGS, 0.4, false),
        ("40 % opacity, all panels", BUILDINGS, 0.4, true),
        ("100,000 buildings, all opaque", 10 * BUILDINGS, 1.0, false),
    ] {
        let settings = Settings {
            grouping: "package-type".into(),
            prune: false,
            opacity,
            labels: false,
            shadows: false,
            ..Settings::default()
        };
        let source = source(buildings, &settings);
        let boxes = boxes(&City::new(source.timeline(), &settings));
        let preparations = views::preparations(&settings);
        studio.show(Draft::new("bench".into(), source, None, &settings, &preparations, Arrival::Opened));
        let (select, view) = (Vec::new(), CameraView::Home);
        let shot = Shot {
            size: SIZE,
            time: Some(1),
            select,
            view,
            settings,
            panels,
            paths: false,
            cut: None,
            with: Default::default(),
        };
        studio.shoot(&shot).expect("a picture");
        // Without panels the frame is the city alone: the bare draw has no text either.
        studio.app().world_mut().resource_mut::<PanelState>().nothing = !panels;
        // The picture takes the room that the panels leave: the bare draw shows the same part of the city.
        studio.frame();
        studio.frame();
        let clip = studio.app().world().resource::<CameraRig>().clip_from_world();
        let mut bare = Bare::new(&boxes, clip.to_cols_array());
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        for i in 0..FRAMES + 10 {
            let start = Instant::now();
            bare.frame();
            let middle = Instant::now();
            studio.frame();
            if i >= 10 {
                plain.push((middle - start).as_secs_f64() * 1e3);
                ours.push(middle.elapsed().as_secs_f64() * 1e3);
            }
        }
        let (plain, ours) = (median(plain), median(ours));
        println!("| {} | {name} | {plain:.1} | {ours:.1} | {:.2} |", boxes.len(), ours / plain);
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A program with one object of each of many types, in packages of a hundred.
struct ManyTypes(Vec<SnapshotInfo>, usize);

impl HeapSeries for ManyTypes {
    fn points(&self) -> &[SnapshotInfo] {
        &self.0
    }
    fn load(&self, index: usize, _: &Progress) -> Result<Arc<HeapState>> {
        let mut heap = HeapBuilder::new();
        for i in 0..self.1 {
            let of = heap.add_type(HeapType {
                name: format!("p{}.T{i}", i / 100),
                kind: TypeKind::Instance,
                superclass: None,
                loader: Arc::from("app"),
            });
            // Sizes over three decades, some growing.
            let size = 16 + (i as u64 * 7919 % 10_007) * if i % 5 == 0 { index as u64 + 1 } else { 1 };
            let object = heap.add_object(of, size, None);
            heap.add_root(Root { object: ObjectId(object.0), kind: RootKind::Jni, detail: String::new() });
        }
        Ok(Arc::new(heap.finish()))
    }
    fn warnings(&self) -> Vec<memory_city_heap::error::Warning> {
        Vec::new()
    }
}

fn source(buildings: usize, settings: &Settings) -> Arc<Source> {
    let points =
        (0..2).map(|i| SnapshotInfo { label: format!("{i}"), millis: i, path: "many".into(), gc: None }).collect();
    let series = Arc::new(ManyTypes(points, buildings));
    let history = History::build(series, &settings.grouping, GroupOptions::default(), &Progress::new());
    Arc::new(Source::Heaps(history.expect("a history")))
}

/// Corner, size and colour of every building at the second time.
fn boxes(city: &City) -> Vec<[f32; 8]> {
    let states = city.appearance.states(&city.plan, &city.timeline, 1);
    let box_of = |(p, plot): (usize, &memory_city_views::city::Plot)| {
        let standing = city.appearance.standing(states[p]);
        let base = plot.cell.scaled(f64::from(standing.side));
        let height = f64::from(standing.height);
        let colour = 0.3 + 0.7 * states[p].colour();
        [base.x, plot.ground, base.y, base.w, height, base.h, f64::from(colour), 0.0].map(|v| v as f32)
    };
    city.plan.plots.iter().enumerate().map(box_of).collect()
}

/// The plainest program that draws boxes.
struct Bare {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    instances: wgpu::Buffer,
    count: u32,
    colour: wgpu::TextureView,
    depth: wgpu::TextureView,
}

const SHADER: &str = "
@group(0) @binding(0) var<uniform> clip: mat4x4<f32>;
struct Varying { @builtin(position) position: vec4<f32>, @location(0) colour: vec3<f32> }
@vertex fn vertex(@builtin(vertex_index) n: u32, @location(0) low: vec4<f32>, @location(1) size: vec4<f32>) -> Varying {
    let face = n / 6u;
    let c = n % 6u;
    let u = select(0.0, 1.0, c == 1u || c == 2u || c == 4u);
    let v = select(0.0, 1.0, c == 2u || c == 4u || c == 5u);
    let far = f32(face & 1u);
    let axis = face / 2u;
    var p = vec3<f32>(far, u, v);
    if axis == 1u { p = vec3<f32>(u, far, v); }
    if axis == 2u { p = vec3<f32>(u, v, far); }
    var out: Varying;
    out.position = clip * vec4<f32>(low.xyz + p * vec3<f32>(low.w, size.x, size.y), 1.0);
    out.colour = vec3<f32>(size.z) * (0.5 + 0.25 * f32(axis));
    return out;
}
@fragment fn fragment(in: Varying) -> @location(0) vec4<f32> { return vec4<f32>(in.colour, 1.0); }
";

impl Bare {
    fn new(boxes: &[[f32; 8]], clip: [f32; 16]) -> Bare {
        use wgpu::util::DeviceExt as _;
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::PRIMARY;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = bevy::tasks::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
        let adapter = adapter.expect("a GPU");
        let (device, queue) =
            bevy::tasks::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).expect("a device");
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let format = wgpu::TextureFormat::Rgba8UnormSrgb;
        let depth_format = wgpu::TextureFormat::Depth32Float;
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &[wgpu::VertexBufferLayout {
                    array_stride: 32,
                    step_mode: wgpu::VertexStepMode::Instance,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4],
                }],
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: depth_format,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Greater),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let clip: Vec<u8> = clip.iter().flat_map(|v| v.to_ne_bytes()).collect();
        let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &clip,
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
        });
        let bytes: Vec<u8> = boxes.iter().flatten().flat_map(|v| v.to_ne_bytes()).collect();
        let instances = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &bytes,
            usage: wgpu::BufferUsages::VERTEX,
        });
        let texture = |format| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: SIZE.0, height: SIZE.1, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        let (colour, depth) = (texture(format), texture(depth_format));
        let count = boxes.len() as u32;
        Bare { device, queue, pipeline, group, instances, count, colour, depth }
    }

    fn frame(&mut self) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: None,
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &self.colour,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &self.depth,
                    depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
                    stencil_ops: None,
                }),
                timestamp_writes: None,
                occlusion_query_set: None,
                multiview_mask: None,
            });
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            pass.set_vertex_buffer(0, self.instances.slice(..));
            pass.draw(0..36, 0..self.count);
        }
        self.queue.submit([encoder.finish()]);
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
    }
}
