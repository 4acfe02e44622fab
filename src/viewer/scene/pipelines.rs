//! All render pipelines of the scene, compiled for one format of the target. They hold none of the drawn data.

use super::bindings::{box_buffers, instances, sign_buffers};
use super::records::ConeRecord;
use super::shaders::Shaders;

/// Format of the depth buffer. Without a stencil: it would double the cost of clearing, reading and writing.
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Corners of the cells of the ground: CELLS of `shaders/backdrop.wgsl` squared, two triangles each.
const GROUND_VERTICES: u32 = 34 * 34 * 6;

/// All pipelines, for one target format and sample count.
pub(super) struct Pipelines {
    pub boxes_as: BoxPipelines,
    pub plain_as: BoxPipelines,
    pub plain_slab: wgpu::RenderPipeline,
    pub wire: wgpu::RenderPipeline,
    pub shadow: wgpu::RenderPipeline,
    pub cone: wgpu::RenderPipeline,
    pub cone_hidden: wgpu::RenderPipeline,
    pub backdrop: Backdrop,
    pub ghost: wgpu::RenderPipeline,
    pub ghost_hidden: wgpu::RenderPipeline,
    pub sign: wgpu::RenderPipeline,
}

/// How boxes are drawn, with one kind of shaders.
pub(super) struct BoxPipelines {
    pub solid: wgpu::RenderPipeline,
    /// Depth alone, and then colour where a face is the nearest.
    pub nearest: wgpu::RenderPipeline,
    pub glass: wgpu::RenderPipeline,
}

/// Sky and ground behind the city.
pub(super) struct Backdrop {
    /// Below it: nothing tells whether it is covered.
    floor: wgpu::RenderPipeline,
    sky: wgpu::RenderPipeline,
    /// Around it.
    ground: wgpu::RenderPipeline,
}

impl Backdrop {
    /// Draws the backdrop, the farthest of all. Skipped if districts cover the floor.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, covered: bool) {
        let parts = [(&self.floor, 6), (&self.sky, 12), (&self.ground, GROUND_VERTICES)];
        for (pipeline, vertices) in parts.into_iter().skip(usize::from(covered)) {
            pass.set_pipeline(pipeline);
            pass.draw(0..vertices, 0..1);
        }
    }
}

/// How a pipeline treats depth and colour.
struct Recipe {
    label: &'static str,
    vertex: &'static str,
    fragment: &'static str,
    depth_write: bool,
    depth: wgpu::CompareFunction,
    colour: wgpu::ColorWrites,
    blend: Option<wgpu::BlendState>,
}

impl Pipelines {
    /// Compiles them for a colour target of `format` with `samples` per pixel.
    pub fn new(
        device: &wgpu::Device,
        layout: &wgpu::PipelineLayout,
        format: wgpu::TextureFormat,
        samples: u32,
    ) -> Self {
        use wgpu::CompareFunction as Depth;
        let Shaders { boxes, plain_boxes, shadows, cones, signs, backdrop } = Shaders::new(device);

        const CONE: [wgpu::VertexAttribute; 3] =
            wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Uint32x2];
        let box_buffers = box_buffers();
        let cone_buffers = [instances(std::mem::size_of::<ConeRecord>(), &CONE)];

        let pipeline = |module: &wgpu::ShaderModule, buffers: &[wgpu::VertexBufferLayout<'_>], r: Recipe| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(r.label),
                layout: Some(layout),
                vertex: wgpu::VertexState {
                    module,
                    entry_point: Some(r.vertex),
                    compilation_options: Default::default(),
                    buffers,
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH_FORMAT,
                    depth_write_enabled: Some(r.depth_write),
                    depth_compare: Some(r.depth),
                    stencil: Default::default(),
                    bias: Default::default(),
                }),
                multisample: wgpu::MultisampleState { count: samples, ..Default::default() },
                fragment: Some(wgpu::FragmentState {
                    module,
                    entry_point: Some(r.fragment),
                    compilation_options: Default::default(),
                    targets: &[Some(wgpu::ColorTargetState { format, blend: r.blend, write_mask: r.colour })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let opaque = |label, fragment| Recipe {
            label,
            vertex: "vertex",
            fragment,
            depth_write: true,
            depth: Depth::Greater,
            colour: wgpu::ColorWrites::ALL,
            blend: None,
        };
        let alpha = Some(wgpu::BlendState::ALPHA_BLENDING);
        let over = |label, vertex, fragment, depth| {
            let recipe = Recipe { vertex, depth_write: false, depth, blend: alpha, ..opaque(label, fragment) };
            pipeline(&signs, &sign_buffers(), recipe)
        };

        let boxes_with = |module: &wgpu::ShaderModule, glass| BoxPipelines {
            solid: pipeline(module, &box_buffers, opaque("solid boxes", "solid")),
            nearest: pipeline(
                module,
                &box_buffers,
                Recipe {
                    vertex: "place",
                    colour: wgpu::ColorWrites::empty(),
                    ..opaque("see-through boxes, depth", "nearest")
                },
            ),
            glass: pipeline(
                module,
                &box_buffers,
                Recipe {
                    vertex: glass,
                    depth_write: false,
                    depth: Depth::Equal,
                    blend: alpha,
                    ..opaque("see-through boxes, colour", "glass")
                },
            ),
        };

        Pipelines {
            boxes_as: boxes_with(&boxes, "vertex"),
            plain_as: boxes_with(&plain_boxes, "glass_vertex"),
            plain_slab: pipeline(&plain_boxes, &box_buffers, Recipe { vertex: "slab", ..opaque("districts", "solid") }),
            wire: pipeline(&boxes, &box_buffers, Recipe { blend: alpha, ..opaque("outlined boxes", "wire") }),
            shadow: {
                // Each pixel once: alpha is what a shadow leaves of the light, and 1 where one lies already.
                let component = |src_factor, dst_factor| wgpu::BlendComponent {
                    src_factor,
                    dst_factor,
                    operation: wgpu::BlendOperation::Add,
                };
                let blend = wgpu::BlendState {
                    color: component(wgpu::BlendFactor::Zero, wgpu::BlendFactor::DstAlpha),
                    alpha: component(wgpu::BlendFactor::One, wgpu::BlendFactor::Zero),
                };
                let recipe = Recipe { depth_write: false, blend: Some(blend), ..opaque("shadows", "shadow") };
                pipeline(&shadows, &box_buffers, recipe)
            },
            cone: pipeline(&cones, &cone_buffers, opaque("cones", "solid")),
            cone_hidden: pipeline(
                &cones,
                &cone_buffers,
                Recipe { depth_write: false, depth: Depth::Less, blend: alpha, ..opaque("hidden cones", "hidden") },
            ),
            backdrop: {
                let part = |label, vertex, fragment| {
                    let recipe = Recipe { vertex, depth_write: false, depth: Depth::Always, ..opaque(label, fragment) };
                    pipeline(&backdrop, &[], recipe)
                };
                Backdrop {
                    floor: part("floor", "floor_vertex", "below"),
                    sky: part("sky", "sky_vertex", "sky"),
                    ground: part("ground", "ground_vertex", "ground"),
                }
            },
            ghost: over("ghosts", "ghost_vertex", "ghost", Depth::GreaterEqual),
            ghost_hidden: over("hidden ghosts", "ghost_vertex", "ghost_hidden", Depth::Less),
            sign: over("signs", "sign_vertex", "sign", Depth::GreaterEqual),
        }
    }
}
