// What every shader of the scene knows about the camera, the animation and the colours.
// Positions are world units: the city lies in the x/z plane, y is up.

#define_import_path memory_city::view

struct View {
    clip_from_world: mat4x4<f32>,
    world_from_clip: mat4x4<f32>,
    // xyz: the eye. w: world units of the full height of a state.
    eye: vec4<f32>,
    // x: progress of the animated step, 0..1. y: strength of the shadows. z: half the side of the whole city.
    // w: what heights are multiplied by.
    scene: vec4<f32>,
    // Instance numbers: x selected, y hovered; 0xffffffff means none.
    marks: vec4<u32>,
    // Linear RGB of the colour mode's gradient, at equal distances.
    gradient: array<vec4<f32>, 5>,
    selected: vec4<f32>,
    // Sky and ground, linear RGB.
    zenith: vec4<f32>,
    horizon: vec4<f32>,
    ground: vec4<f32>,
    // What would stay and what would be freed, linear RGB.
    stays: vec4<f32>,
    freed: vec4<f32>,
    // Of outlines without walls, linear RGB.
    line: vec4<f32>,
    // Width and height of a pixel in clip space.
    pixel: vec4<f32>,
}

@group(0) @binding(0) var<uniform> view: View;

// Where the sun stands: from the south-west, high enough that roofs are the brightest faces.
const SUN: vec3<f32> = vec3<f32>(-0.42, 0.80, 0.43);

fn unpack_colour(packed: u32) -> vec3<f32> {
    // Stored as sRGB bytes; the target is linear.
    let c = unpack4x8unorm(packed).rgb;
    return select(pow((c + 0.055) / 1.055, vec3<f32>(2.4)), c / 12.92, c <= vec3<f32>(0.04045));
}

// The colour at a position of the gradient.
fn gradient_colour(position: f32) -> vec3<f32> {
    // Mixed without an index that varies: gathering from an array costs more than all of this.
    let at = clamp(position, 0.0, 1.0) * 4.0;
    let first = mix(view.gradient[0].rgb, view.gradient[1].rgb, clamp(at, 0.0, 1.0));
    let second = mix(first, view.gradient[2].rgb, clamp(at - 1.0, 0.0, 1.0));
    let third = mix(second, view.gradient[3].rgb, clamp(at - 2.0, 0.0, 1.0));
    return mix(third, view.gradient[4].rgb, clamp(at - 3.0, 0.0, 1.0));
}
