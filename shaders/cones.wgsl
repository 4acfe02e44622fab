// Cones between the selected building and others: frustums whose two radii tell the share of objects at each end.

#import memory_city::view::{SUN, unpack_colour, view}

struct Instance {
    // xyz and radius at each end.
    @location(0) start: vec4<f32>,
    @location(1) end: vec4<f32>,
    // x: colour, sRGB. y: 1 when the mouse points at the other end.
    @location(2) paint: vec2<u32>,
}

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) colour: vec3<f32>,
}

const SIDES: u32 = 18u;
// No thicker than this from the eye, of the distance: one that passes before the camera would hide what it leads to.
const THICKEST: f32 = 0.03;

@vertex
fn vertex(@builtin(vertex_index) number: u32, cone: Instance) -> Varying {
    let side = number / 6u;
    let corner = number % 6u;
    let round = side + select(0u, 1u, corner == 1u || corner == 2u || corner == 4u);
    let along = select(0.0, 1.0, corner == 2u || corner == 4u || corner == 5u);
    let angle = f32(round % SIDES) / f32(SIDES) * 6.2831853;

    let axis = normalize(cone.end.xyz - cone.start.xyz + vec3<f32>(0.0, 1e-5, 0.0));
    let aside = normalize(select(cross(axis, vec3<f32>(0.0, 1.0, 0.0)), vec3<f32>(1.0, 0.0, 0.0), abs(axis.y) > 0.999));
    let above = cross(aside, axis);
    let normal = aside * cos(angle) + above * sin(angle);
    let centre = mix(cone.start, cone.end, along);

    let light = 0.45 + 0.55 * clamp(dot(normal, SUN) * 0.6 + 0.5, 0.0, 1.0);
    var colour = unpack_colour(cone.paint.x) * light * 1.25;
    if cone.paint.y == 1u {
        colour = mix(colour, vec3<f32>(1.0), 0.35);
    }
    var out: Varying;
    let radius = min(centre.w, THICKEST * distance(view.eye.xyz, centre.xyz));
    out.position = view.clip_from_world * vec4<f32>(centre.xyz + normal * radius, 1.0);
    out.colour = colour;
    return out;
}

@fragment
fn solid(in: Varying) -> @location(0) vec4<f32> {
    return vec4<f32>(in.colour, 1.0);
}

// The parts of a cone that buildings hide shine through faintly, so that both ends can be found.
@fragment
fn hidden(in: Varying) -> @location(0) vec4<f32> {
    return vec4<f32>(in.colour, 0.30);
}
