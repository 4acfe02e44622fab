// What is behind the city: the sky, the ground around the city with the soft shadow that the city casts there, and the floor
// below it, where no district covers it. Each is computed only where it is: together they fill the picture once.
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

// How far the eye is above the ground as the camera sees it: a world that is drawn flat has it much further up.
fn height_of_eye() -> f32 {
    return view.eye.y * view.scene.w;
}

// `place` on the ground is x, z and what both are to be divided by: 0 at infinity.
fn ground_colour(place: vec3<f32>) -> vec3<f32> {
    let outside = max(abs(place.xy) - view.scene.z * place.z, vec2<f32>(0.0));
    let unit = place.z * place.z;
    let near = unit + 0.05 * dot(outside, outside);
    let reach = length(vec3<f32>(place.xy - view.eye.xz * place.z, height_of_eye() * place.z));
    let far = reach + HAZE * place.z;
    // One division for both.
    let share = 1.0 / (near * far);
    // Darker near the foot of the city; lighter into the horizon with distance.
    let contact = 1.0 - 0.55 * unit * far * share;
    let haze = reach * near * share;
    return mix(view.ground.rgb * contact, view.horizon.rgb, haze);
}

// Where haze hides half of the ground, world units from the eye.
const HAZE: f32 = 420.0;

// The ground is a grid, whose corners have colours: to compute these for each pixel was a tenth of a frame. Lines lie close where
// the colour changes fast, at the sides of the city; the last lie at infinity.
const OUTSIDE: u32 = 13u;
const DISTANCES: array<f32, 13> = array<f32, 13>(-0.02, 0.7, 1.4, 2.2, 3.2, 4.4, 6.0, 8.5, 12.0, 18.0, 28.0, 45.0, 75.0);
// Parts of a side of the city.
const INSIDE: u32 = 8u;
// Cells along each axis: infinity to the city, the city, the city to infinity.
const CELLS: u32 = 34u;

// Where a line crosses its axis, and whether that is at infinity: 0 then.
fn line(number: u32) -> vec2<f32> {
    let side = max(view.scene.z, 0.0);
    // As seen from the middle: both sides are alike.
    let turned = min(number, CELLS - number);
    let sign = select(1.0, -1.0, number == turned);
    if turned == 0u {
        return vec2<f32>(sign, 0.0);
    }
    if turned <= OUTSIDE {
        return vec2<f32>(sign * (side + DISTANCES[OUTSIDE - turned]), 1.0);
    }
    return vec2<f32>(sign * side * (1.0 - 2.0 * f32(turned - OUTSIDE) / f32(INSIDE)), 1.0);
}

struct Ground {
    @builtin(position) @invariant position: vec4<f32>,
    @location(0) colour: vec3<f32>,
}

@vertex
fn ground_vertex(@builtin(vertex_index) number: u32) -> Ground {
    let cell = vec2<u32>((number / 6u) % CELLS, number / 6u / CELLS);
    let c = number % 6u;
    let beyond = vec2<u32>(select(0u, 1u, c == 1u || c == 2u || c == 4u), select(0u, 1u, c == 2u || c == 4u || c == 5u));
    let covered = all(cell >= vec2<u32>(OUTSIDE)) && all(cell < vec2<u32>(CELLS - OUTSIDE));
    let at = cell + beyond;
    let x = line(at.x);
    let z = line(at.y);
    var place = vec3<f32>(x.x, z.x, 1.0);
    if x.y * z.y == 0.0 {
        // Towards infinity colours go as haze does, if the direction is as long as the eye is far from where it begins.
        let last = max(view.scene.z, 0.0) + DISTANCES[OUTSIDE - 1u];
        let begin = vec3<f32>(select(x.x, x.x * last, x.y == 0.0), 0.0, select(z.x, z.x * last, z.y == 0.0));
        let long = HAZE + length(begin - vec3<f32>(view.eye.x, height_of_eye(), view.eye.z));
        place = vec3<f32>(x.x * (1.0 - x.y), z.x * (1.0 - z.y), 0.0) * long;
    }
    let at_all = select(vec4<f32>(place.x, 0.0, place.y, place.z), vec4<f32>(0.0), covered);
    return Ground(farthest(at_all), ground_colour(place));
}

@fragment
fn ground(in: Ground) -> @location(0) vec4<f32> {
    return vec4<f32>(in.colour, 1.0);
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
