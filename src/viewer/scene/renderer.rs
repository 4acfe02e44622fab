//! Draws the scene with plain wgpu: a handful of instanced draws, however many buildings there are.
//!
//! Order within the one pass: solid boxes (districts, opaque buildings), their shadows, cones, the backdrop,
//! then the see-through buildings: once into the depth buffer alone, once in colour where they are the
//! nearest. So what is seen does not depend on the order of the instances.
//!
//! May not: know Bevy's ECS, timelines or input. It gets records and a target, and draws.

use super::bindings::{Bindings, box_buffers, instances, sign_buffers};
use super::records::{BoxRecord, ConeRecord, ViewRecord};
use super::shaders::Shaders;
use memory_city_views::city::PlotState;
use std::ops::Range;
use wgpu::util::DeviceExt as _;

/// Format of the depth and stencil buffer.
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32FloatStencil8;

const CONE_VERTICES: u32 = 18 * 6;

/// The triangles of a box: two for each of three faces, whose four corners go round.
pub(super) struct BoxTriangles(wgpu::Buffer);

impl BoxTriangles {
    pub(super) fn new(device: &wgpu::Device) -> BoxTriangles {
        let corners: Vec<u16> = (0..3).flat_map(|face| [0, 1, 2, 0, 2, 3].map(|corner| 4 * face + corner)).collect();
        BoxTriangles(device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("triangles of a box"),
            contents: bytemuck::cast_slice(&corners),
            usage: wgpu::BufferUsages::INDEX,
        }))
    }

    /// Draws boxes with the pipeline that is set.
    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, boxes: impl IntoIterator<Item = Range<u32>>) {
        pass.set_index_buffer(self.0.slice(..), wgpu::IndexFormat::Uint16);
        boxes.into_iter().for_each(|boxes| pass.draw_indexed(0..18, 0, boxes));
    }
}
const SHADOW_VERTICES: u32 = 12;

/// What is drawn this frame, besides the buffers.
#[derive(Clone, Debug, Default)]
pub struct DrawPlan {
    /// Boxes that are opaque, near ones first.
    pub solid: Vec<Range<u32>>,
    /// Districts, which are opaque: what stands on them hides most of them.
    pub slabs: Vec<Range<u32>>,
    /// Buildings that are see-through, near ones first.
    pub clear: Vec<Range<u32>>,
    /// Blocks, which are see-through as the buildings they stand for.
    pub blocks: Vec<Range<u32>>,
    /// Some boxes have colours or flags of their own ([`BoxRecord::paint`]): all are drawn with the shaders that look for these.
    pub marked: bool,
    /// Boxes `0..boxes` are districts and plots; what comes after them are blocks.
    pub boxes: u32,
    /// Opacity of the see-through boxes; at 0 only their outlines are drawn.
    pub opacity: f32,
    /// Shadows are drawn.
    pub shadows: bool,
}

impl DrawPlan {
    /// How many boxes that is.
    pub fn drawn(&self) -> usize {
        self.solid.iter().chain(&self.slabs).chain(&self.clear).chain(&self.blocks).map(|range| range.len()).sum()
    }
}

/// GPU side of the scene: pipelines for one target format and sample count, and the instance buffers.
pub struct Renderer {
    view: wgpu::Buffer,
    view_group: wgpu::BindGroup,
    boxes_as: BoxPipelines,
    plain_as: BoxPipelines,
    wire: wgpu::RenderPipeline,
    shadow: wgpu::RenderPipeline,
    cone: wgpu::RenderPipeline,
    cone_hidden: wgpu::RenderPipeline,
    backdrop: wgpu::RenderPipeline,
    ghost: wgpu::RenderPipeline,
    ghost_hidden: wgpu::RenderPipeline,
    sign: wgpu::RenderPipeline,
    triangles: BoxTriangles,
    boxes: GpuColumn,
    before: GpuColumn,
    after: GpuColumn,
    cones: GpuColumn,
    over: GpuColumn,
    cells: Vec<GpuColumn>,
}

/// How boxes are drawn, with one kind of shaders.
struct BoxPipelines {
    solid: wgpu::RenderPipeline,
    /// Depth alone, and then colour where a face is the nearest.
    nearest: wgpu::RenderPipeline,
    glass: wgpu::RenderPipeline,
}

/// A growable vertex buffer.
struct GpuColumn {
    label: &'static str,
    buffer: Option<wgpu::Buffer>,
    count: u32,
}

impl GpuColumn {
    fn new(label: &'static str) -> Self {
        GpuColumn { label, buffer: None, count: 0 }
    }

    fn write<T: bytemuck::Pod>(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, records: &[T]) {
        self.count = records.len() as u32;
        let bytes: &[u8] = bytemuck::cast_slice(records);
        match &self.buffer {
            Some(buffer) if buffer.size() >= bytes.len() as u64 => queue.write_buffer(buffer, 0, bytes),
            _ if bytes.is_empty() => {}
            _ => {
                self.buffer = Some(device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                    label: Some(self.label),
                    contents: bytes,
                    usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                }));
            }
        }
    }
}

/// How a pipeline treats depth, stencil and colour.
struct Recipe {
    label: &'static str,
    vertex: &'static str,
    fragment: &'static str,
    depth_write: bool,
    depth: wgpu::CompareFunction,
    colour: wgpu::ColorWrites,
    blend: Option<wgpu::BlendState>,
    once: bool,
}

impl Renderer {
    /// Compiles the pipelines for a colour target of `format` with `samples` per pixel.
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat, samples: u32) -> Self {
        use wgpu::CompareFunction as Depth;
        let Shaders { boxes, plain_boxes, shadows, cones, signs, backdrop } = Shaders::new(device);

        let Bindings { view, group: view_group, layout } = Bindings::new(device);

        const CONE: [wgpu::VertexAttribute; 3] =
            wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Uint32x2];
        let box_buffers = box_buffers();
        let cone_buffers = [instances(std::mem::size_of::<ConeRecord>(), &CONE)];

        let pipeline = |module: &wgpu::ShaderModule, buffers: &[wgpu::VertexBufferLayout<'_>], r: Recipe| {
            let face = wgpu::StencilFaceState {
                compare: if r.once { Depth::Equal } else { Depth::Always },
                fail_op: wgpu::StencilOperation::Keep,
                depth_fail_op: wgpu::StencilOperation::Keep,
                pass_op: if r.once { wgpu::StencilOperation::IncrementClamp } else { wgpu::StencilOperation::Keep },
            };
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(r.label),
                layout: Some(&layout),
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
                    stencil: wgpu::StencilState {
                        front: face,
                        back: face,
                        read_mask: if r.once { 0xff } else { 0 },
                        write_mask: if r.once { 0xff } else { 0 },
                    },
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
            once: false,
        };
        let alpha = Some(wgpu::BlendState::ALPHA_BLENDING);
        let over = |label, vertex, fragment, depth| {
            let recipe = Recipe { vertex, depth_write: false, depth, blend: alpha, ..opaque(label, fragment) };
            pipeline(&signs, &sign_buffers(), recipe)
        };

        let boxes_with = |module: &wgpu::ShaderModule| BoxPipelines {
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
                    depth_write: false,
                    depth: Depth::Equal,
                    blend: alpha,
                    ..opaque("see-through boxes, colour", "glass")
                },
            ),
        };

        Renderer {
            boxes_as: boxes_with(&boxes),
            plain_as: boxes_with(&plain_boxes),
            wire: pipeline(&boxes, &box_buffers, Recipe { blend: alpha, ..opaque("outlined boxes", "wire") }),
            shadow: pipeline(
                &shadows,
                &box_buffers,
                Recipe { depth_write: false, blend: alpha, once: true, ..opaque("shadows", "shadow") },
            ),
            cone: pipeline(&cones, &cone_buffers, opaque("cones", "solid")),
            cone_hidden: pipeline(
                &cones,
                &cone_buffers,
                Recipe { depth_write: false, depth: Depth::Less, blend: alpha, ..opaque("hidden cones", "hidden") },
            ),
            backdrop: pipeline(
                &backdrop,
                &[],
                Recipe { depth_write: false, depth: Depth::Equal, ..opaque("backdrop", "backdrop") },
            ),
            ghost: over("ghosts", "ghost_vertex", "ghost", Depth::GreaterEqual),
            ghost_hidden: over("hidden ghosts", "ghost_vertex", "ghost_hidden", Depth::Less),
            sign: over("signs", "sign_vertex", "sign", Depth::GreaterEqual),
            view,
            view_group,
            triangles: BoxTriangles::new(device),
            boxes: GpuColumn::new("boxes"),
            before: GpuColumn::new("states before the step"),
            after: GpuColumn::new("states after the step"),
            cones: GpuColumn::new("cones"),
            over: GpuColumn::new("over plots"),
            cells: Vec::new(),
        }
    }

    /// Camera, animation and colours of the next frame.
    pub fn write_view(&self, queue: &wgpu::Queue, view: &ViewRecord) {
        queue.write_buffer(&self.view, 0, bytemuck::bytes_of(view));
    }

    /// The boxes of a new layout.
    pub fn write_boxes(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, boxes: &[BoxRecord]) {
        self.boxes.write(device, queue, boxes);
    }

    /// The states the step starts from.
    pub fn write_before(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, states: &[PlotState]) {
        self.before.write(device, queue, states);
    }

    /// The states the step leads to.
    pub fn write_after(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, states: &[PlotState]) {
        self.after.write(device, queue, states);
    }

    /// Makes the states after the last step those before the next one: no upload.
    pub fn turn(&mut self) {
        std::mem::swap(&mut self.before, &mut self.after);
    }

    /// The cones of the selected building.
    pub fn write_cones(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, cones: &[ConeRecord]) {
        self.cones.write(device, queue, cones);
    }

    /// What stands over the plots: ghosts and signs; nothing where there is none.
    pub fn write_over(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, over: &[PlotState]) {
        self.over.write(device, queue, over);
    }

    /// How many other times are drawn beside each other.
    pub fn set_cells(&mut self, count: usize) {
        self.cells.resize_with(count, || GpuColumn::new("states of another time"));
    }

    /// The states of one of these.
    pub fn write_cell(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, cell: usize, states: &[PlotState]) {
        self.cells[cell].write(device, queue, states);
    }

    /// Draws the boxes at another time, as [`Renderer::draw`]; nothing that belongs to the shown time.
    pub fn draw_cell(&self, pass: &mut wgpu::RenderPass<'_>, plan: &DrawPlan, cell: usize) {
        if let Some(states) = self.cells.get(cell) {
            self.draw_boxes(pass, plan, [states, states], &|_| ());
        }
    }

    /// Draws into a pass whose depth was cleared to 0 and whose stencil was cleared to 0.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, plan: &DrawPlan) {
        self.draw_boxes(pass, plan, [&self.before, &self.after], &|pass| self.draw_cones(pass));
        let count = plan.boxes.min(self.boxes.count).min(self.before.count).min(self.after.count).min(self.over.count);
        if let (Some(boxes), Some(before), Some(after), Some(over), 1..) =
            (&self.boxes.buffer, &self.before.buffer, &self.after.buffer, &self.over.buffer, count)
        {
            for (slot, buffer) in (0..).zip([boxes, before, after, over]) {
                pass.set_vertex_buffer(slot, buffer.slice(..));
            }
            for pipeline in [&self.ghost_hidden, &self.ghost, &self.sign] {
                pass.set_pipeline(pipeline);
                self.triangles.draw(pass, std::iter::once(0..count));
            }
        }
    }

    fn draw_cones(&self, pass: &mut wgpu::RenderPass<'_>) {
        if let (Some(cones), 1..) = (&self.cones.buffer, self.cones.count) {
            pass.set_vertex_buffer(0, cones.slice(..));
            pass.set_pipeline(&self.cone_hidden);
            pass.draw(0..CONE_VERTICES, 0..self.cones.count);
            pass.set_pipeline(&self.cone);
            pass.draw(0..CONE_VERTICES, 0..self.cones.count);
        }
    }

    /// Boxes in the states of a step, with something between the solid and the see-through ones.
    fn draw_boxes(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        plan: &DrawPlan,
        [before, after]: [&GpuColumn; 2],
        between: &dyn Fn(&mut wgpu::RenderPass<'_>),
    ) {
        pass.set_bind_group(0, &self.view_group, &[]);
        pass.set_stencil_reference(0);
        let count = self.boxes.count.min(before.count).min(after.count);
        let there = |range: &Range<u32>| range.start.min(count)..range.end.min(count);
        // Near ones first; each with the shaders that it needs.
        let (plain, marked) =
            if plan.marked { (&self.boxes_as, &self.boxes_as) } else { (&self.plain_as, &self.boxes_as) };
        let see_through = [(plain, &plan.clear), (marked, &plan.blocks)];
        // At full opacity everything is solid.
        let is_solid = plan.opacity >= 1.0;
        let also_solid = see_through.iter().filter(|_| is_solid);
        let solid = || plan.solid.iter().chain(also_solid.clone().flat_map(|(_, ranges)| *ranges)).chain(&plan.slabs);
        let ready = match (&self.boxes.buffer, &before.buffer, &after.buffer) {
            (Some(boxes), Some(before), Some(after)) if count > 0 => {
                pass.set_vertex_buffer(0, boxes.slice(..));
                pass.set_vertex_buffer(1, before.slice(..));
                pass.set_vertex_buffer(2, after.slice(..));
                true
            }
            _ => false,
        };
        if ready {
            pass.set_pipeline(&self.boxes_as.solid);
            self.triangles.draw(pass, plan.solid.iter().map(there));
            for (pipelines, ranges) in also_solid.clone() {
                pass.set_pipeline(&pipelines.solid);
                self.triangles.draw(pass, ranges.iter().map(there));
            }
            pass.set_pipeline(&self.boxes_as.solid);
            self.triangles.draw(pass, plan.slabs.iter().map(there));
            if plan.shadows {
                pass.set_pipeline(&self.shadow);
                solid().map(there).for_each(|boxes| pass.draw(0..SHADOW_VERTICES, boxes));
            }
        }
        pass.set_pipeline(&self.backdrop);
        pass.draw(0..3, 0..1);
        between(pass);
        if !ready || is_solid || see_through.iter().all(|(_, ranges)| ranges.is_empty()) {
            return;
        }
        if let Some(boxes) = &self.boxes.buffer {
            pass.set_vertex_buffer(0, boxes.slice(..));
        }
        let mut draw = |pipeline: &dyn Fn(&'_ BoxPipelines) -> wgpu::RenderPipeline| {
            for (pipelines, ranges) in &see_through {
                pass.set_pipeline(&pipeline(pipelines));
                self.triangles.draw(pass, ranges.iter().map(there));
            }
        };
        if plan.opacity > 0.0 {
            draw(&|boxes| boxes.nearest.clone());
            draw(&|boxes| boxes.glass.clone());
        } else {
            draw(&|_| self.wire.clone());
        }
    }
}
