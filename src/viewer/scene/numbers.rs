//! The number of the box drawn at each pixel: the scene with numbers for colours. A test compares it with picking, pixel by pixel, and
//! golden pictures are compared by it.

use super::SceneInput;
use super::bindings::{Bindings, box_buffers};
use super::renderer::BoxTriangles;
use super::shaders::Shaders;
use wgpu::util::DeviceExt as _;

/// The number of the nearest box at each pixel, row by row from the top; `None` for sky or ground. See-through boxes count as any other.
/// One sample a pixel, at its centre. Waits for the GPU.
pub fn box_numbers(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    input: &SceneInput,
    (width, height): (u32, u32),
) -> Vec<Option<u32>> {
    let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
    let texture = |format, usage| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: Some("box numbers"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        })
    };
    let attachment = wgpu::TextureUsages::RENDER_ATTACHMENT;
    let numbers = texture(wgpu::TextureFormat::R32Uint, attachment | wgpu::TextureUsages::COPY_SRC);
    let depth = texture(wgpu::TextureFormat::Depth32Float, attachment);
    // Rows of a copy begin at multiples of 256 bytes.
    let row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let copy = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("box numbers"),
        size: u64::from(row) * u64::from(height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let bindings = Bindings::new(device);
    if let Some(view) = &input.view {
        queue.write_buffer(&bindings.view, 0, bytemuck::bytes_of(view));
    }
    let pipeline = pipeline(device, &bindings);
    let triangles = BoxTriangles::new(device);
    let buffer = |contents: &[u8]| {
        let usage = wgpu::BufferUsages::VERTEX;
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some("box numbers"), contents, usage })
    };
    // Without blocks: each of these stands for many.
    let count = input.boxes.records.len().min(input.before.records.len()).min(input.after.records.len()) as u32;
    let count = count.min(input.plan.boxes);
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let colour = numbers.create_view(&Default::default());
        let depth = depth.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("box numbers"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &colour,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        if count > 0 && input.view.is_some() && SceneInput::frame(input.viewport, &mut pass, width, height) {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings.group, &[]);
            let boxes = buffer(bytemuck::cast_slice(&input.boxes.records));
            let before = buffer(bytemuck::cast_slice(&input.before.records));
            let after = buffer(bytemuck::cast_slice(&input.after.records));
            for (slot, buffer) in [&boxes, &before, &after].into_iter().enumerate() {
                pass.set_vertex_buffer(slot as u32, buffer.slice(..));
            }
            triangles.draw(&mut pass, std::iter::once(0..count));
        }
    }
    encoder.copy_texture_to_buffer(
        numbers.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &copy,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None },
        },
        size,
    );
    queue.submit([encoder.finish()]);
    copy.slice(..).map_async(wgpu::MapMode::Read, |_| ());
    let _ = device.poll(wgpu::PollType::wait_indefinitely());
    let bytes = copy.slice(..).get_mapped_range();
    let mut result = Vec::with_capacity((width * height) as usize);
    for line in bytes.chunks(row as usize) {
        let texels = line[..(width * 4) as usize].chunks_exact(4);
        let number = |t: &[u8]| u32::from_ne_bytes([t[0], t[1], t[2], t[3]]).checked_sub(1);
        result.extend(texels.map(number));
    }
    result
}

fn pipeline(device: &wgpu::Device, bindings: &Bindings) -> wgpu::RenderPipeline {
    let shaders = Shaders::new(device);
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("box numbers"),
        layout: Some(&bindings.layout),
        vertex: wgpu::VertexState {
            module: &shaders.boxes,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &box_buffers(),
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: wgpu::TextureFormat::Depth32Float,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Greater),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &shaders.boxes,
            entry_point: Some("number"),
            compilation_options: Default::default(),
            targets: &[Some(wgpu::TextureFormat::R32Uint.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
