// What is behind the city: the sky, the ground around the city with the soft shadow that the city casts there, and the floor
// below it, which is covered as a rule. Each is computed only where it is: together they fill the picture once.
//
// All of it is infinitely far for the depth test. Corners at infinity are directions: points whose last coordinate is 0.

#import memory_city::view::view

// Depth runs from 1 (near) to 0 (far).
fn farthest(point: vec4<f32>) -> vec4<f32> {
    let at = view.clip_from_world * point;
    return vec4<f32>(at.xy, 0.0, at.w);
}

// The corners of a square, in turn.
fn corner(number: u32) -> vec2<f32> {
    let turned = number % 4u;
    return vec2<f32>(select(-1.0, 1.0, turned == 0u || turned == 3u), select(-1.0, 1.0, turned < 2u));
}

struct Ray {
    @builtin(position) @invariant position: vec4<f32>,
    // From the eye through the pixel, not normalized.
    @location(0) ray: vec3<f32>,
}

// Four triangles from the zenith to a little below the horizon: where ground and sky meet, no pixel is left out.
@vertex
fn sky_vertex(@builtin(vertex_index) number: u32) -> Ray {
    let edge = corner(number / 3u + number % 3u);
    let ray = select(vec3<f32>(edge.x, -0.002, edge.y), vec3<f32>(0.0, 1.0, 0.0), number % 3u == 2u);
    return Ray(farthest(vec4<f32>(ray, 0.0)), ray);
}

@fragment
fn sky(in: Ray) -> @location(0) vec4<f32> {
    let slope = max(in.ray.y * inverseSqrt(dot(in.ray, in.ray)), 0.0);
    return vec4<f32>(mix(view.horizon.rgb, view.zenith.rgb, sqrt(slope)), 1.0);
}

// `place` on the ground is x, z and what both are to be divided by: 0 at infinity.
fn ground_colour(place: vec3<f32>) -> vec3<f32> {
    let outside = max(abs(place.xy) - view.scene.z * place.z, vec2<f32>(0.0));
    let unit = place.z * place.z;
    let near = unit + 0.05 * dot(outside, outside);
    let reach = length(vec3<f32>(place.xy - view.eye.xz * place.z, view.eye.y * place.z));
    let far = reach + 420.0 * place.z;
    // One division for both.
    let share = 1.0 / (near * far);
    // Darker near the foot of the city; lighter into the horizon with distance.
    let contact = 1.0 - 0.55 * unit * far * share;
    let haze = reach * near * share;
    return mix(view.ground.rgb * contact, view.horizon.rgb, haze);
}

struct Ground {
    @builtin(position) @invariant position: vec4<f32>,
    @location(0) place: vec3<f32>,
}

// From the sides of the city to infinity; all of the ground where there is no city.
@vertex
fn ground_vertex(@builtin(vertex_index) number: u32) -> Ground {
    let side = number / 6u;
    let c = number % 6u;
    let towards = corner(side + select(0u, 1u, c == 1u || c == 2u || c == 4u));
    let far = c == 2u || c == 4u || c == 5u;
    let place = select(vec3<f32>(towards * max(view.scene.z, 0.0), 1.0), vec3<f32>(towards, 0.0), far);
    return Ground(farthest(vec4<f32>(place.x, 0.0, place.y, place.z)), place);
}

@fragment
fn ground(in: Ground) -> @location(0) vec4<f32> {
    return vec4<f32>(ground_colour(in.place), 1.0);
}

struct Floor {
    @builtin(position) @invariant position: vec4<f32>,
    @location(0) colour: vec3<f32>,
}

// A little larger than what the ground leaves out.
@vertex
fn floor_vertex(@builtin(vertex_index) number: u32) -> Floor {
    // Two triangles: corners 0 1 2 and 2 3 0.
    let towards = corner(select(number, number - 1u, number > 2u));
    let place = vec3<f32>(towards * max(view.scene.z, 0.0), 1.0);
    return Floor(farthest(vec4<f32>(place.x * 1.001, 0.0, place.y * 1.001, 1.0)), ground_colour(place));
}

@fragment
fn below(in: Floor) -> @location(0) vec4<f32> {
    return vec4<f32>(in.colour, 1.0);
}
