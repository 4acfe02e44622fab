// The shadow of each box on the ground it stands on: its roof moved along the sun and joined with its foot.
// Alpha lets each pixel darken once, so overlapping shadows do not add up: what is solid leaves there what a shadow leaves of
// its light, and a shadow 1.

#import memory_city::view::{SUN, view}
#import memory_city::standing::{Instance, KIND, KIND_BLOCK, KIND_BUILDING, standing}

@vertex
fn vertex(@builtin(vertex_index) number: u32, box: Instance) -> @builtin(position) vec4<f32> {
    let now = standing(box);
    let half = now.half;
    let height = now.height;
    // The sun is at -x +z, so shadows fall to +x -z. Their length is kept below the geometric one: long shadows hide more than they tell.
    let reach = vec2<f32>(-SUN.x, -SUN.z) / SUN.y * height * 0.8;
    // Six corners of the hull of foot and moved roof, as a fan of four triangles.
    var hull = array<vec2<f32>, 6>(
        vec2<f32>(-half.x, half.y), vec2<f32>(-half.x, -half.y), vec2<f32>(-half.x, -half.y) + reach,
        vec2<f32>(half.x, -half.y) + reach, vec2<f32>(half.x, half.y) + reach, vec2<f32>(half.x, half.y),
    );
    let triangle = number / 3u;
    let corner = number % 3u;
    let pick = select(select(triangle + 2u, triangle + 1u, corner == 1u), 0u, corner == 0u);
    let place = box.cell.xy + hull[pick];
    var out = view.clip_from_world * vec4<f32>(place.x, box.lift.x + 0.012, place.y, 1.0);
    let kind = box.paint.y & KIND;
    if (kind != KIND_BUILDING && kind != KIND_BLOCK) || half.x <= 0.0 {
        out = vec4<f32>(2.0, 2.0, 0.5, 1.0);
    }
    return out;
}

@fragment
fn shadow() -> @location(0) vec4<f32> {
    return vec4<f32>(0.0, 0.0, 0.0, 1.0);
}
