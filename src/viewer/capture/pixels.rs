//! The image that pictures are drawn into, and its pixels. Knows nothing of the drawn things.

use crate::viewer::picture::{ClearPicture, Picture, no_picture};
use crate::viewer::window::own_scale;
use bevy::asset::RenderAssetUsages;
use bevy::camera::{ImageRenderTarget, RenderTarget};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat, TextureUsages};
use memory_city_heap::error::Result;
use memory_city_views::city::{linear_to_srgb, srgb_to_linear};
use std::sync::{Arc, Mutex};

/// The image that a camera draws into. Text has the given scale, or else the size that it has in a window that fills a screen of this
/// height.
pub(super) fn target_of(image: &Handle<Image>, (_, height): (u32, u32), scale: Option<f32>) -> RenderTarget {
    let scale_factor = scale.unwrap_or_else(|| own_scale(height as f32));
    RenderTarget::Image(ImageRenderTarget { handle: image.clone(), scale_factor })
}

/// The pixels of a texture of four bytes each, without the last one. Waits for the GPU.
pub(super) fn read_texture(device: &wgpu::Device, queue: &wgpu::Queue, texture: &wgpu::Texture) -> Result<Picture> {
    let (width, height) = (texture.width(), texture.height());
    // Rows of a copy begin at multiples of 256 bytes.
    let row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let copy = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture"),
        size: u64::from(row) * u64::from(height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &copy,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None },
        },
        texture.size(),
    );
    queue.submit([encoder.finish()]);
    let outcome: Arc<Mutex<Option<_>>> = Arc::default();
    let receive = Arc::clone(&outcome);
    copy.slice(..).map_async(wgpu::MapMode::Read, move |mapped| {
        *receive.lock().unwrap_or_else(|e| e.into_inner()) = Some(mapped);
    });
    device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| no_picture(&e.to_string()))?;
    match outcome.lock().unwrap_or_else(|e| e.into_inner()).take() {
        Some(Ok(())) => {}
        Some(Err(error)) => return Err(no_picture(&error.to_string())),
        None => return Err(no_picture("the GPU did not answer")),
    }
    let bytes = copy.slice(..).get_mapped_range();
    let mut pixels = Vec::with_capacity(width as usize * height as usize * 3);
    for line in bytes.chunks_exact(row as usize) {
        line[..width as usize * 4].chunks_exact(4).for_each(|pixel| pixels.extend_from_slice(&pixel[..3]));
    }
    Picture::from_raw(width, height, pixels).ok_or_else(|| no_picture("the GPU gave too few pixels"))
}

/// Cuts the city out of its background: pixels that are the same before black and before white are the city. Computed in linear light, as
/// it was drawn.
pub(super) fn cut_out(black: &Picture, white: &Picture) -> ClearPicture {
    let linear: [f32; 256] = std::array::from_fn(|i| srgb_to_linear(i as f32 / 255.0));
    ClearPicture::from_fn(black.width(), black.height(), |x, y| {
        let (b, w) = (black.get_pixel(x, y).0, white.get_pixel(x, y).0);
        let at = |p: [u8; 3], c: usize| linear[usize::from(p[c])];
        let through = (0..3).map(|c| at(w, c) - at(b, c)).sum::<f32>() / 3.0;
        let alpha = (1.0 - through).clamp(0.0, 1.0);
        if alpha < 1.0 / 512.0 {
            return image::Rgba([0; 4]);
        }
        let byte = |v: f32| (v.clamp(0.0, 1.0) * 255.0).round() as u8;
        let [red, green, blue] = std::array::from_fn(|c| byte(linear_to_srgb((at(b, c) / alpha).min(1.0))));
        image::Rgba([red, green, blue, byte(alpha)])
    })
}

pub(super) fn target_image(size: (u32, u32)) -> Image {
    let mut image = Image::new_uninit(
        Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
        TextureDimension::D2,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::RENDER_WORLD,
    );
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    image
}
