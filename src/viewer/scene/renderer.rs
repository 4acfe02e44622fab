//! The renderer of the scene in plain wgpu: a handful of instanced draws, however many buildings there are.
//!
//! Order within the one pass: the backdrop, solid boxes (opaque buildings, then districts), their shadows, cones, then the see-through
//! buildings. These are drawn once into the depth buffer alone, and once in colour where they are the nearest. So the picture does not
//! depend on the order of the instances.
//!
//! May not: know Bevy's ECS, timelines or input. It gets records and a target, and draws.

use super::bindings::Bindings;
use super::parted::Parted;
use super::patch::Patcher;
use super::pipelines::Pipelines;
use super::records::{BoxRecord, ConeRecord, NO_INSTANCE, ViewRecord};

use memory_city_views::city::PlotState;
use std::ops::Range;
use wgpu::util::DeviceExt as _;

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

/// Options of one frame, besides the buffers.
#[derive(Clone, Debug, Default)]
pub struct DrawPlan {
    /// Boxes that are opaque, near ones first.
    pub solid: Vec<Range<u32>>,
    /// Districts, which are opaque: the buildings on them hide most of them.
    pub slabs: Vec<Range<u32>>,
    /// Buildings that are see-through, near ones first.
    pub clear: Vec<Range<u32>>,
    /// Blocks, which are see-through as the buildings they stand for.
    pub blocks: Vec<Range<u32>>,
    /// Some boxes have colours or flags of their own ([`BoxRecord::paint`]): all are drawn with the shaders that look for these.
    pub marked: bool,
    /// Boxes `0..boxes` are districts and plots; the rest are blocks.
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
    pipelines: Pipelines,
    triangles: BoxTriangles,
    /// Writes a few states among many, if the GPU can.
    patcher: Option<Patcher>,
    boxes: GpuColumn,
    before: GpuColumn,
    after: GpuColumn,
    /// The states after the step are those before it too.
    stands: bool,
    cones: GpuColumn,
    over: GpuColumn,
    cells: Vec<[GpuColumn; 2]>,
    /// Boxes with the marks of [`ViewRecord::marks`], ascending.
    marks: [u32; 2],
    /// The view says how large a pixel is.
    knows_pixels: bool,
}

/// A growable vertex buffer.
struct GpuColumn {
    label: &'static str,
    buffer: Option<wgpu::Buffer>,
    count: u32,
    /// Usage beyond that of every column.
    usage: wgpu::BufferUsages,
}

impl GpuColumn {
    fn new(label: &'static str) -> Self {
        GpuColumn { label, buffer: None, count: 0, usage: wgpu::BufferUsages::empty() }
    }

    /// A buffer whose single states may be written.
    fn of_states(label: &'static str, patcher: Option<&Patcher>) -> Self {
        let usage = patcher.map_or(wgpu::BufferUsages::empty(), |_| wgpu::BufferUsages::STORAGE);
        GpuColumn { usage, ..GpuColumn::new(label) }
    }

    /// Writes the states at some places, or all of them.
    fn write_states(
        &mut self,
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        states: &[PlotState],
        changed: Option<(&Patcher, &[u32])>,
    ) {
        let few = changed.filter(|(patcher, changed)| patcher.takes(changed.len(), states.len()));
        match (&self.buffer, few) {
            (Some(buffer), Some((patcher, changed))) if self.count as usize == states.len() => {
                patcher.patch(device, queue, buffer, states, changed);
            }
            _ => self.write(device, queue, states),
        }
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
                    usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST | self.usage,
                }));
            }
        }
    }
}

impl Renderer {
    /// Compiles the pipelines for a colour target of `format` with `samples` per pixel and a depth buffer of
    /// [`super::pipelines::DEPTH_FORMAT`].
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat, samples: u32) -> Self {
        let Bindings { view, group: view_group, layout } = Bindings::new(device);
        let patcher = Patcher::new(device);
        let states = |label| GpuColumn::of_states(label, patcher.as_ref());
        Renderer {
            pipelines: Pipelines::new(device, &layout, format, samples),
            view,
            view_group,
            triangles: BoxTriangles::new(device),
            boxes: GpuColumn::new("boxes"),
            before: states("states before the step"),
            after: states("states after the step"),
            over: states("over plots"),
            patcher,
            stands: false,
            cones: GpuColumn::new("cones"),
            cells: Vec::new(),
            marks: [NO_INSTANCE; 2],
            knows_pixels: false,
        }
    }

    /// Uploads camera, animation and colours of the next frame. `pixels` is its size; `None` if there are several sizes.
    pub fn write_view(&mut self, queue: &wgpu::Queue, view: &ViewRecord, pixels: Option<(u32, u32)>) {
        let step = |side: u32| 2.0 / side.max(1) as f32;
        let pixel = pixels.map_or([0.0; 4], |(width, height)| [step(width), step(height), 0.0, 0.0]);
        queue.write_buffer(&self.view, 0, bytemuck::bytes_of(&ViewRecord { pixel, ..*view }));
        self.knows_pixels = pixels.is_some();
        self.marks = [view.marks[0].min(view.marks[1]), view.marks[0].max(view.marks[1])];
    }

    /// The boxes of a new layout.
    pub fn write_boxes(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, boxes: &[BoxRecord]) {
        self.boxes.write(device, queue, boxes);
    }

    /// Gives one of the boxes another paint.
    pub fn write_paint(&mut self, queue: &wgpu::Queue, at: u32, paint: [u32; 2]) {
        if let Some(buffer) = self.boxes.buffer.as_ref().filter(|_| at < self.boxes.count) {
            let offset = u64::from(at) * size_of::<BoxRecord>() as u64 + std::mem::offset_of!(BoxRecord, paint) as u64;
            queue.write_buffer(buffer, offset, bytemuck::bytes_of(&paint));
        }
    }

    /// The states the step starts from.
    pub fn write_before(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, states: &[PlotState]) {
        self.before.write(device, queue, states);
    }

    /// Uploads the states that the step leads to; the changed ones alone, if they are known.
    pub fn write_after(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        states: &[PlotState],
        changed: Option<&[u32]>,
    ) {
        self.after.write_states((device, queue), states, self.patcher.as_ref().zip(changed));
    }

    /// Sets whether the step starts from the states that it leads to: those before it are not drawn then.
    pub fn set_stands(&mut self, stands: bool) {
        self.stands = stands;
    }

    /// Makes the states after the last step those before the next one: no upload.
    pub fn turn(&mut self) {
        std::mem::swap(&mut self.before, &mut self.after);
    }

    /// The cones of the selected building.
    pub fn write_cones(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, cones: &[ConeRecord]) {
        self.cones.write(device, queue, cones);
    }

    /// Uploads the marks over the plots: ghosts and signs; empty for none.
    pub fn write_over(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        over: &[PlotState],
        changed: Option<&[u32]>,
    ) {
        self.over.write_states((device, queue), over, self.patcher.as_ref().zip(changed));
    }

    /// How many other times are drawn beside each other.
    pub fn set_cells(&mut self, count: usize) {
        let cell = || [GpuColumn::new("states of another time"), GpuColumn::new("over plots at another time")];
        self.cells.clear();
        self.cells.resize_with(count, cell);
    }

    /// The states of one of these.
    pub fn write_cell(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, cell: usize, states: &[PlotState]) {
        self.cells[cell][0].write(device, queue, states);
    }

    /// Uploads the marks over the plots of one cell.
    pub fn write_cell_over(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, cell: usize, over: &[PlotState]) {
        self.cells[cell][1].write(device, queue, over);
    }

    /// Draws the boxes at one of several times, as [`Renderer::draw`]. Cones are drawn only if this is the shown time.
    pub fn draw_cell(&self, pass: &mut wgpu::RenderPass<'_>, plan: &DrawPlan, cell: usize, cones: bool) {
        if let Some([states, over]) = self.cells.get(cell) {
            let between = |pass: &mut wgpu::RenderPass<'_>| {
                if cones {
                    self.draw_cones(pass)
                }
            };
            self.draw_boxes(pass, plan, [states, states], &between);
            self.draw_over(pass, plan, [states, states, over]);
        }
    }

    /// Draws into a pass whose depth was cleared to 0.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, plan: &DrawPlan) {
        let before = if self.stands { &self.after } else { &self.before };
        self.draw_boxes(pass, plan, [before, &self.after], &|pass| self.draw_cones(pass));
        self.draw_over(pass, plan, [before, &self.after, &self.over]);
    }

    /// Draws ghosts and signs, where there are some.
    fn draw_over(&self, pass: &mut wgpu::RenderPass<'_>, plan: &DrawPlan, [before, after, over]: [&GpuColumn; 3]) {
        let count = plan.boxes.min(self.boxes.count).min(before.count).min(after.count).min(over.count);
        if let (Some(boxes), Some(before), Some(after), Some(over), 1..) =
            (&self.boxes.buffer, &before.buffer, &after.buffer, &over.buffer, count)
        {
            for (slot, buffer) in (0..).zip([boxes, before, after, over]) {
                pass.set_vertex_buffer(slot, buffer.slice(..));
            }
            for pipeline in [&self.pipelines.ghost_hidden, &self.pipelines.ghost, &self.pipelines.sign] {
                pass.set_pipeline(pipeline);
                self.triangles.draw(pass, std::iter::once(0..count));
            }
        }
    }

    fn draw_cones(&self, pass: &mut wgpu::RenderPass<'_>) {
        if let (Some(cones), 1..) = (&self.cones.buffer, self.cones.count) {
            pass.set_vertex_buffer(0, cones.slice(..));
            pass.set_pipeline(&self.pipelines.cone_hidden);
            pass.draw(0..CONE_VERTICES, 0..self.cones.count);
            pass.set_pipeline(&self.pipelines.cone);
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
        let count = self.boxes.count.min(before.count).min(after.count);
        let there = |range: &Range<u32>| range.start.min(count)..range.end.min(count);
        // Near ones first; each with the shaders that it needs.
        let marks = Some(self.marks).filter(|_| self.knows_pixels && !plan.marked);
        let (clear, slabs) = (Parted::new(&plan.clear, marks), Parted::new(&plan.slabs, marks));
        let see_through = [
            (&self.pipelines.plain_as, clear.plain.as_slice()),
            (&self.pipelines.boxes_as, &clear.special),
            (&self.pipelines.boxes_as, &plan.blocks),
        ];
        // At full opacity everything is solid.
        let is_solid = plan.opacity >= 1.0;
        let ready = match (&self.boxes.buffer, &before.buffer, &after.buffer) {
            (Some(boxes), Some(before), Some(after)) if count > 0 => {
                pass.set_vertex_buffer(0, boxes.slice(..));
                pass.set_vertex_buffer(1, before.slice(..));
                pass.set_vertex_buffer(2, after.slice(..));
                true
            }
            _ => false,
        };
        let draw = |pass: &mut wgpu::RenderPass<'_>, pipeline: &wgpu::RenderPipeline, ranges: &[Range<u32>]| {
            if !ranges.is_empty() {
                pass.set_pipeline(pipeline);
                self.triangles.draw(pass, ranges.iter().map(there));
            }
        };
        // The district of the whole heap lies below all others, and is drawn with any of them.
        self.pipelines.backdrop.draw(pass, ready && !plan.slabs.is_empty());
        if ready {
            draw(pass, &self.pipelines.boxes_as.solid, &plan.solid);
            for (pipelines, ranges) in see_through.iter().filter(|_| is_solid) {
                draw(pass, &pipelines.solid, ranges);
            }
            draw(pass, &self.pipelines.boxes_as.solid, &slabs.special);
            draw(pass, &self.pipelines.plain_slab, &slabs.plain);
            if plan.shadows {
                pass.set_pipeline(&self.pipelines.shadow);
                let also = [&plan.clear, &plan.blocks].into_iter().filter(|_| is_solid).flatten();
                plan.solid.iter().chain(also).map(there).for_each(|boxes| pass.draw(0..SHADOW_VERTICES, boxes));
            }
        }
        between(pass);
        if !ready || is_solid || see_through.iter().all(|(_, ranges)| ranges.is_empty()) {
            return;
        }
        if let Some(boxes) = &self.boxes.buffer {
            pass.set_vertex_buffer(0, boxes.slice(..));
        }
        if plan.opacity > 0.0 {
            see_through.iter().for_each(|(pipelines, ranges)| draw(pass, &pipelines.nearest, ranges));
            see_through.iter().for_each(|(pipelines, ranges)| draw(pass, &pipelines.glass, ranges));
        } else {
            see_through.iter().for_each(|(_, ranges)| draw(pass, &self.pipelines.wire, ranges));
        }
    }
}
