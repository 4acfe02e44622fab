//! Bindings that all pipelines of the scene share: the view's uniform, and the layout of instance records in vertex buffers.

use super::records::{BoxRecord, ViewRecord};
use memory_city_views::city::PlotState;
use std::num::NonZeroU64;

/// The view as shaders see it.
pub(super) struct Bindings {
    pub view: wgpu::Buffer,
    pub group: wgpu::BindGroup,
    pub layout: wgpu::PipelineLayout,
}

impl Bindings {
    pub fn new(device: &wgpu::Device) -> Bindings {
        let bytes = std::mem::size_of::<ViewRecord>() as u64;
        let view = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("view"),
            size: bytes,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let group_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("view"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: NonZeroU64::new(bytes),
                },
                count: None,
            }],
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("view"),
            layout: &group_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: view.as_entire_binding() }],
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("scene"),
            bind_group_layouts: &[Some(&group_layout)],
            immediate_size: 0,
        });
        Bindings { view, group, layout }
    }
}

/// A buffer with one record an instance.
pub(super) fn instances(
    stride: usize,
    attributes: &'static [wgpu::VertexAttribute],
) -> wgpu::VertexBufferLayout<'static> {
    wgpu::VertexBufferLayout { array_stride: stride as u64, step_mode: wgpu::VertexStepMode::Instance, attributes }
}

/// The same, with the marks over the plots (`shaders/signs.wgsl`).
pub(super) fn sign_buffers() -> [wgpu::VertexBufferLayout<'static>; 4] {
    const OVER: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![5 => Unorm16x4];
    let [boxes, before, after] = box_buffers();
    [boxes, before, after, instances(std::mem::size_of::<PlotState>(), &OVER)]
}

/// Boxes, and their states before and after the step (`shaders/standing.wgsl`).
pub(super) fn box_buffers() -> [wgpu::VertexBufferLayout<'static>; 3] {
    const BOX: [wgpu::VertexAttribute; 3] = wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x2, 2 => Uint32x2];
    const BEFORE: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![3 => Unorm16x4];
    const AFTER: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![4 => Unorm16x4];
    [
        instances(std::mem::size_of::<BoxRecord>(), &BOX),
        instances(std::mem::size_of::<PlotState>(), &BEFORE),
        instances(std::mem::size_of::<PlotState>(), &AFTER),
    ]
}
