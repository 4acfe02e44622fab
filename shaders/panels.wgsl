// Panels: what egui makes of them, in the place of the shader that comes with its renderer, with the same inputs and, to a tenth of
// the 256 steps that the screen has, the same colours. Powers are what costs most where a processor draws, for each pixel of each
// layer; roots cost little. The coefficients are fitted so that the largest error in the encoded colour is the least: 0.02 of a
// step for `decoded`, 0.09 for `encoded`.

struct Transform {
    scale: vec2<f32>,
    translation: vec2<f32>,
}

@group(0) @binding(0) var<uniform> transform: Transform;
@group(1) @binding(0) var picture: texture_2d<f32>;
@group(1) @binding(1) var between: sampler;

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) colour: vec4<f32>,
    @location(1) place: vec2<f32>,
}

// Linear light of sRGB.
fn decoded(srgb: vec3<f32>) -> vec3<f32> {
    let base = (srgb + 0.055) / 1.055;
    // The power of 2.4: the square, and the power of 0.4 from the roots beside it.
    let second = sqrt(base);
    let curve = base * base * (0.52690709 * second + 0.55319834 * sqrt(second) - 0.07997115);
    return select(curve, srgb / 12.92, srgb < vec3<f32>(0.04045));
}

// sRGB of linear light.
fn encoded(light: vec3<f32>) -> vec3<f32> {
    let second = sqrt(light);
    let curve = 0.8335952 * second + 0.29824106 * sqrt(second) - 0.05526792 * light - 0.07693112;
    return select(curve, light * 12.92, light < vec3<f32>(0.0031308));
}

@vertex
fn vs_main(@location(0) position: vec2<f32>, @location(1) place: vec2<f32>, @location(2) colour: vec4<f32>) -> Varying {
    return Varying(vec4<f32>(position * transform.scale + transform.translation, 0.0, 1.0), colour, place);
}

// Colours are multiplied as they are encoded: texts have the weight that they were made with.
@fragment
fn fs_main(in: Varying) -> @location(0) vec4<f32> {
    // Pictures of panels have one level.
    let texel = textureSampleLevel(picture, between, in.place, 0.0);
    let colour = vec4<f32>(encoded(texel.rgb), texel.a) * in.colour;
    return vec4<f32>(decoded(colour.rgb), colour.a);
}
