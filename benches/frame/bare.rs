//! The floor: the plainest program that draws boxes, in wgpu and nothing else.

/// The plainest program that draws boxes.
pub struct Bare {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// One for each pass.
    pipelines: Vec<wgpu::RenderPipeline>,
    group: wgpu::BindGroup,
    instances: wgpu::Buffer,
    count: u32,
    colour: wgpu::TextureView,
    depth: wgpu::TextureView,
    /// Where in the picture it is drawn, once for each: left, top, width and height.
    pub places: Vec<[f32; 4]>,
}

const SHADER: &str = "
struct View { clip: mat4x4<f32>, eye: vec4<f32> }
@group(0) @binding(0) var<uniform> view: View;
struct Varying { @builtin(position) @invariant position: vec4<f32>, @location(0) colour: vec3<f32> }
@vertex fn vertex(@builtin(vertex_index) n: u32, @location(0) low: vec4<f32>, @location(1) size: vec4<f32>) -> Varying {
    let axis = n / 6u;
    let c = n % 6u;
    let u = select(0.0, 1.0, c == 1u || c == 2u || c == 4u);
    let v = select(0.0, 1.0, c == 2u || c == 4u || c == 5u);
    let extent = vec3<f32>(low.w, size.x, size.y);
    let far = select(vec3<f32>(0.0), vec3<f32>(1.0), view.eye.xyz > low.xyz + extent * 0.5);
    var p = vec3<f32>(far.x, u, v);
    if axis == 1u { p = vec3<f32>(u, far.y, v); }
    if axis == 2u { p = vec3<f32>(u, v, far.z); }
    var out: Varying;
    out.position = view.clip * vec4<f32>(low.xyz + p * extent, 1.0);
    out.colour = vec3<f32>(size.z) * (0.5 + 0.25 * f32(axis));
    return out;
}
@fragment fn nothing(in: Varying) { }
@fragment fn fragment(in: Varying) -> @location(0) vec4<f32> { return vec4<f32>(in.colour, 0.4); }
";

impl Bare {
    pub fn new(boxes: &[[f32; 8]], clip: [f32; 16], eye: [f32; 3], size: (u32, u32), passes: usize) -> Bare {
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
        let group_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group_layout)],
            immediate_size: 0,
        });
        let pipeline = |fragment, depth_compare, blend, write_mask| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: None,
                layout: Some(&layout),
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
                    depth_write_enabled: Some(depth_compare == wgpu::CompareFunction::Greater),
                    depth_compare: Some(depth_compare),
                    stencil: Default::default(),
                    bias: Default::default(),
                }),
                multisample: Default::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(fragment),
                    compilation_options: Default::default(),
                    targets: &[Some(wgpu::ColorTargetState { format, blend, write_mask })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        use wgpu::CompareFunction::{Equal, Greater};
        let pipelines = match passes {
            1 => vec![pipeline("fragment", Greater, None, wgpu::ColorWrites::ALL)],
            _ => vec![
                pipeline("nothing", Greater, None, wgpu::ColorWrites::empty()),
                pipeline("fragment", Equal, Some(wgpu::BlendState::ALPHA_BLENDING), wgpu::ColorWrites::ALL),
            ],
        };
        let clip: Vec<u8> = clip.iter().chain(&eye).chain(&[0.0]).flat_map(|v| v.to_ne_bytes()).collect();
        let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &clip,
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &group_layout,
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
                size: wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
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
        let places = vec![[0.0, 0.0, size.0 as f32, size.1 as f32]];
        Bare { device, queue, pipelines, group, instances, count, colour, depth, places }
    }

    pub fn frame(&mut self) {
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
            pass.set_bind_group(0, &self.group, &[]);
            pass.set_vertex_buffer(0, self.instances.slice(..));
            for &[left, top, width, height] in &self.places {
                pass.set_viewport(left, top, width, height, 0.0, 1.0);
                for pipeline in &self.pipelines {
                    pass.set_pipeline(pipeline);
                    pass.draw(0..18, 0..self.count);
                }
            }
        }
        self.queue.submit([encoder.finish()]);
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
    }
}
