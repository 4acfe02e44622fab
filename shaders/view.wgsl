// What every shader of the scene knows about the camera, the animation and the colours.
// Prepended to the other files. Positions are world units: the city lies in the x/z plane, y is up.

struct View {
    clip_from_world: mat4x4<f32>,
    world_from_clip: mat4x4<f32>,
    // xyz: the eye. w: 1 when colours show growth, 0 when all buildings are gray.
    eye: vec4<f32>,
    // x: progress of the animated step, 0..1. y: opacity of the buildings that are not solid.
    // z: strength of the shadows. w: half the side of the whole city.
    scene: vec4<f32>,
    // Instance numbers: x selected, y hovered; 0xffffffff means none.
    marks: vec4<u32>,
    // Linear RGB of the growth gradient: no growth, half, most.
    growth_none: vec4<f32>,
    growth_half: vec4<f32>,
    growth_most: vec4<f32>,
    selected: vec4<f32>,
    // Sky and ground, linear RGB.
    zenith: vec4<f32>,
    horizon: vec4<f32>,
    ground: vec4<f32>,
}

@group(0) @binding(0) var<uniform> view: View;

// Where the sun stands: from the south-west, high enough that roofs are the brightest faces.
const SUN: vec3<f32> = vec3<f32>(-0.42, 0.80, 0.43);

fn unpack_colour(packed: u32) -> vec3<f32> {
    // Stored as sRGB bytes; the target is linear.
    let c = unpack4x8unorm(packed).rgb;
    return select(pow((c + 0.055) / 1.055, vec3<f32>(2.4)), c / 12.92, c <= vec3<f32>(0.04045));
}
