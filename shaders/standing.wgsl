// The instance record of a box, and what it is between two points in time. The numbers come from the engine: nothing here
// computes a height, a colour position or an opacity.

#define_import_path memory_city::standing

#import memory_city::view::view

struct Instance {
    // Centre x, z and half sizes x, z of the reserved cell.
    @location(0) cell: vec4<f32>,
    // x: y of the foot. y: height of a slab; 0 for what has its height from its state.
    @location(1) lift: vec2<f32>,
    // x: colour of slabs and plots, sRGB. y: kind (KIND_*), SELECTED, CUT and freed_share.
    @location(2) paint: vec2<u32>,
    // Shares of 1: side of the base, height, colour position, opacity. Before and after the step.
    @location(3) before: vec4<f32>,
    @location(4) after: vec4<f32>,
}

// The bits of the kind.
const KIND: u32 = 3u;
const KIND_BUILDING: u32 = 0u;
const KIND_SLAB: u32 = 1u;
const KIND_MORE: u32 = 2u;
// Many buildings, each smaller than a pixel. Its state: side, height and colour position on average, the share that has a colour.
const KIND_BLOCK: u32 = 3u;
// One of several that are selected.
const SELECTED: u32 = 4u;
// It is shown what would be freed.
const CUT: u32 = 8u;
// Beside CUT: what is found, in its own colour.
const LIT: u32 = 16u;
// A building with a colour of its own.
const PAINTED: u32 = 32u;

// How much of the box would be freed, 0..1.
fn freed_share(paint: u32) -> f32 {
    return f32((paint >> 8u) & 255u) / 255.0;
}

struct Standing {
    // Half sizes x, z of the base; 0 when nothing stands there. World units, as the height.
    half: vec2<f32>,
    height: f32,
    colour: f32,
    opacity: f32,
}

fn standing(instance: Instance) -> Standing {
    let now = mix(instance.before, instance.after, view.scene.x);
    if (instance.paint.y & KIND) == KIND_BLOCK {
        // It fills its cell; how much of that is buildings shows in its colour.
        return Standing(instance.cell.zw * sign(now.x), now.y * view.eye.w, now.z, now.w);
    }
    return Standing(instance.cell.zw * now.x, max(instance.lift.y, now.y * view.eye.w), now.z, now.w);
}
