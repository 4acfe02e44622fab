//! Stretching of a smaller picture: while the camera moves on a GPU that cannot keep up, the city is drawn smaller and enlarged to its
//! place.

use super::pipelines::DEPTH_FORMAT;
use super::shaders;
use bevy::ecs::component::Component;
use bevy::render::render_resource::{TextureDescriptor, TextureDimension, TextureUsages, TextureView};
use bevy::render::renderer::RenderDevice;
use bevy::render::texture::TextureCache;

/// The pipeline that stretches, for one target format.
pub(super) struct Stretcher {
    pipeline: wgpu::RenderPipeline,
    sampler: wgpu::Sampler,
    layout: wgpu::BindGroupLayout,
}

/// A smaller picture of this frame.
#[derive(Component)]
pub(super) struct Smaller {
    pub colour: TextureView,
    pub depth: TextureView,
    pub size: (u32, u32),
    group: wgpu::BindGroup,
}

impl Stretcher {
    /// Compiles it; the target has one sample a pixel.
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Stretcher {
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty,
            count: None,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("stretch"),
            entries: &[
                entry(
                    0,
                    wgpu::BindingType::Texture {
                        sample_type: wgpu::TextureSampleType::Float { filterable: true },
                        view_dimension: wgpu::TextureViewDimension::D2,
                        multisampled: false,
                    },
                ),
                entry(1, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering)),
            ],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("stretch"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let module = shaders::stretch(device);
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("stretch"),
            layout: Some(&pipeline_layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("stretched"),
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        Stretcher { pipeline, sampler, layout }
    }

    /// The target for a smaller picture of this size.
    pub fn smaller(
        &self,
        device: &RenderDevice,
        textures: &mut TextureCache,
        format: wgpu::TextureFormat,
        size: (u32, u32),
    ) -> Smaller {
        let mut texture = |label, format, usage| {
            let descriptor = TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            };
            textures.get(device, descriptor).default_view
        };
        let attachment = TextureUsages::RENDER_ATTACHMENT;
        let colour = texture("smaller picture", format, attachment | TextureUsages::TEXTURE_BINDING);
        let depth = texture("depth of the smaller picture", DEPTH_FORMAT, attachment);
        let group = device.wgpu_device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("stretch"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&colour) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(&self.sampler) },
            ],
        });
        Smaller { colour, depth, size, group }
    }

    /// Draws it over the viewport of a pass.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, smaller: &Smaller) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &smaller.group, &[]);
        pass.draw(0..3, 0..1);
    }
}
