// The panels (egui), in place of the shader that bevy_egui brings: the same picture for much less where a processor draws.
// That one goes from linear light to sRGB and back with a power of each channel at each pixel, to multiply two colours.

struct Transform {
    scale: vec2<f32>,
    translation: vec2<f32>,
}

struct VertexInput {
    @location(0) position: vec2<f32>,
    @location(1) uv: vec2<f32>,
    // sRGB, multiplied with the opacity.
    @location(2) colour: vec4<f32>,
}

struct VertexOutput {
    @builtin(position) position: vec4<f32>,
    @location(0) colour: vec4<f32>,
    @location(1) uv: vec2<f32>,
}

@group(0) @binding(0) var<uniform> transform: Transform;
@group(1) @binding(0) var image_texture: texture_2d<f32>;
@group(1) @binding(1) var image_sampler: sampler;

@vertex
fn vs_main(in: VertexInput) -> VertexOutput {
    return VertexOutput(vec4<f32>(in.position * transform.scale + transform.translation, 0.0, 1.0), in.colour, in.uv);
}

// Linear light of sRGB: a polynomial that is less than half a step of 255 off anywhere, and exact at 0 and 1.
fn linear_of(c: vec3<f32>) -> vec3<f32> {
    return c * (0.0660527 + c * (0.2060283 + c * (1.7002947 + c * (-1.6403325 + c * 0.6679568))));
}

@fragment
fn fs_main(in: VertexOutput) -> @location(0) vec4<f32> {
    // The texture is white but where letters end; there the product in linear light is the one in sRGB within a step or two.
    return vec4<f32>(linear_of(in.colour.rgb), in.colour.a) * textureSample(image_texture, image_sampler, in.uv);
}
