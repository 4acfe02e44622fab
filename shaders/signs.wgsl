// What stands over plots while two times are compared: the outline of the older state (its ghost), and signs of the direction
// on roofs and walls, readable without colour. Which sign stands where comes from the engine (`city/overlay.rs`).

#import memory_city::view::view
#import memory_city::standing::{Instance, standing}

const DIRECTION: u32 = 7u;
const GROWN: u32 = 1u;
const DOUBLED: u32 = 2u;
const SHRUNK: u32 = 3u;
const HALVED: u32 = 4u;
const APPEARED: u32 = 5u;
const VANISHED: u32 = 6u;
const CAPPED: u32 = 8u;

struct Varying {
    @builtin(position) position: vec4<f32>,
    // Of a ghost: place on the face and its size, world units. Of a sign: place in sizes of the sign, its middle at 0.
    @location(0) place: vec2<f32>,
    @location(1) @interpolate(flat) size: vec2<f32>,
    // Along a wall and down from its top, world units.
    @location(2) wall: vec2<f32>,
    @location(3) @interpolate(flat) code: u32,
}

// No sign is larger, world units: it says which way, not how much.
const LARGEST: f32 = 2.9;

struct Corner {
    world: vec3<f32>,
    // Along the face, -1 to 1.
    along: vec2<f32>,
    // Half the width and the height of the face, or both halves of a roof.
    size: vec2<f32>,
    roof: bool,
    seen: bool,
    // Of the two walls that which turns more towards the eye.
    front: bool,
}

// One of the four corners of one of the three faces that can be seen.
fn corner_of(number: u32, foot: vec3<f32>, half: vec2<f32>, height: f32) -> Corner {
    let face = number / 4u;
    let corner = number % 4u;
    let u = select(-1.0, 1.0, corner == 1u || corner == 2u);
    let v = select(0.0, 1.0, corner >= 2u);
    let towards = view.eye.xyz - foot;
    var out: Corner;
    out.roof = face == 0u;
    let more_x = abs(towards.x) > abs(towards.z);
    out.front = face == 0u || (face == 1u) == more_x;
    if face == 0u {
        out.world = foot + vec3<f32>(u * half.x, height, (v * 2.0 - 1.0) * half.y);
        out.along = vec2<f32>(u, v * 2.0 - 1.0);
        out.size = half;
        out.seen = towards.y > height;
    } else if face == 1u {
        let side = select(-1.0, 1.0, towards.x > 0.0);
        out.world = foot + vec3<f32>(side * half.x, v * height, u * half.y);
        out.along = vec2<f32>(u, v);
        out.size = vec2<f32>(half.y, height);
        out.seen = abs(towards.x) > half.x;
    } else {
        let side = select(-1.0, 1.0, towards.z > 0.0);
        out.world = foot + vec3<f32>(u * half.x, v * height, side * half.y);
        out.along = vec2<f32>(u, v);
        out.size = vec2<f32>(half.x, height);
        out.seen = abs(towards.z) > half.y;
    }
    return out;
}

// Nothing is rasterized: all corners in one point outside.
fn nowhere() -> Varying {
    var out: Varying;
    out.position = vec4<f32>(2.0, 2.0, 0.5, 1.0);
    return out;
}

@vertex
fn ghost_vertex(@builtin(vertex_index) number: u32, box: Instance, @location(5) over: vec4<f32>) -> Varying {
    let half = box.cell.zw * over.x;
    let height = over.y * view.eye.w;
    let foot = vec3<f32>(box.cell.x, box.lift.x, box.cell.y);
    let corner = corner_of(number, foot, half, height);
    if !corner.seen || half.x <= 0.0 {
        return nowhere();
    }
    var out: Varying;
    out.position = view.clip_from_world * vec4<f32>(corner.world, 1.0);
    let roof = vec2<f32>((corner.along + 1.0) * corner.size);
    let wall = vec2<f32>((corner.along.x + 1.0) * corner.size.x, corner.along.y * corner.size.y);
    out.place = select(wall, roof, corner.roof);
    out.size = select(vec2<f32>(2.0 * corner.size.x, corner.size.y), 2.0 * corner.size, corner.roof);
    return out;
}

// A dashed line along the edges, light with a dark rim: seen on light and dark.
fn dashes(in: Varying) -> vec4<f32> {
    let pixel = max(fwidth(in.place), vec2<f32>(1e-6));
    let edge = min(in.place, in.size - in.place) / pixel;
    let near = min(edge.x, edge.y);
    let along = select(in.place.x / pixel.x, in.place.y / pixel.y, edge.x < edge.y);
    let dash = select(0.0, 1.0, fract(along / 11.0) < 0.64);
    let core = 1.0 - clamp(near - 0.9, 0.0, 1.0);
    let rim = 1.0 - clamp(near - 2.1, 0.0, 1.0);
    return vec4<f32>(mix(vec3<f32>(0.02), view.line.rgb, core), rim * dash);
}

@fragment
fn ghost(in: Varying) -> @location(0) vec4<f32> {
    let line = dashes(in);
    if line.a < 0.05 {
        discard;
    }
    return line;
}

// The part of a ghost that something stands before: what has grown hides its older self.
@fragment
fn ghost_hidden(in: Varying) -> @location(0) vec4<f32> {
    let line = dashes(in);
    if line.a < 0.05 {
        discard;
    }
    return vec4<f32>(line.rgb, line.a * 0.55);
}

// Which way on the ground is up on the screen, so that a chevron on a roof reads as one.
fn screen_up() -> vec2<f32> {
    let above = view.world_from_clip * vec4<f32>(0.0, 0.2, 1.0, 1.0);
    let below = view.world_from_clip * vec4<f32>(0.0, -0.2, 1.0, 1.0);
    let a = above.xyz / above.w;
    let b = below.xyz / below.w;
    let up = normalize(a - b);
    let ahead = normalize((a + b) * 0.5 - view.eye.xyz);
    return normalize(up.xz + 0.2 * ahead.xz + vec2<f32>(0.0, -1e-4));
}

@vertex
fn sign_vertex(@builtin(vertex_index) number: u32, box: Instance, @location(5) over: vec4<f32>) -> Varying {
    let code = u32(over.z * 65535.0 + 0.5);
    if code == 0u {
        return nowhere();
    }
    let now = standing(box);
    // What has vanished has its sign on its ghost.
    let gone = now.half.x <= 0.0;
    let half = select(now.half, box.cell.zw * over.x, gone);
    let height = select(now.height, over.y * view.eye.w, gone);
    let foot = vec3<f32>(box.cell.x, box.lift.x, box.cell.y);
    let corner = corner_of(number, foot, half, height);
    let torn = (code & CAPPED) != 0u;
    if !corner.seen || half.x <= 0.0 || !(corner.front || torn) {
        return nowhere();
    }
    var out: Varying;
    out.position = view.clip_from_world * vec4<f32>(corner.world, 1.0);
    // Depth runs from 1 (near) to 0 (far): a little nearer than the face it stands on.
    out.position.z *= 1.003;
    if corner.roof {
        let up = screen_up();
        let right = vec2<f32>(-up.y, up.x);
        let size = min(min(half.x, half.y) * 0.62, LARGEST);
        let from_centre = corner.along * half;
        out.place = vec2<f32>(dot(from_centre, right), dot(from_centre, up)) / size;
        out.size = vec2<f32>(size);
        out.wall = vec2<f32>(0.0, -1.0);
    } else {
        let size = min(min(corner.size.x * 0.62, corner.size.y * 0.3), LARGEST);
        let middle = corner.size.y - 1.35 * size;
        out.place = vec2<f32>(corner.along.x * corner.size.x, corner.along.y * corner.size.y - middle) / size;
        out.size = corner.size;
        out.wall = vec2<f32>((corner.along.x + 1.0) * corner.size.x, (1.0 - corner.along.y) * corner.size.y);
    }
    // A break goes round all walls, a direction is said once.
    out.code = select(code & CAPPED, code, corner.front);
    return out;
}

// Distance from a chevron whose point is upwards, at `top`.
fn chevron(q: vec2<f32>, top: f32) -> f32 {
    let beyond = max(abs(q.x) - 0.85, 0.0);
    return max(abs(q.y - (top - 0.75 * abs(q.x))) * 0.8, beyond);
}

fn cross_of(q: vec2<f32>) -> f32 {
    let a = abs(q);
    return min(max(a.x, a.y - 0.8), max(a.y, a.x - 0.8));
}

// Light with a dark rim: both seen on every colour.
fn ink(distance: f32, width: f32, pixel: f32) -> vec4<f32> {
    let core = 1.0 - smoothstep(width - pixel, width + pixel, distance);
    let rim = 1.0 - smoothstep(width * 1.75 - pixel, width * 1.75 + pixel, distance);
    return vec4<f32>(mix(vec3<f32>(0.012), vec3<f32>(1.0), core), rim);
}

@fragment
fn sign(in: Varying) -> @location(0) vec4<f32> {
    let q = in.place;
    let pixel = max(fwidth(q.x), fwidth(q.y));
    let roof = in.wall.y < 0.0;
    let direction = in.code & DIRECTION;
    var far = 9.0;
    if direction == GROWN {
        far = chevron(q, 0.4);
    } else if direction == DOUBLED {
        far = min(chevron(q, 0.85), chevron(q, 0.1));
    } else if direction == SHRUNK {
        far = chevron(-q, 0.4);
    } else if direction == HALVED {
        far = min(chevron(-q, 0.85), chevron(-q, 0.1));
    } else if direction == APPEARED {
        far = cross_of(q);
    } else if direction == VANISHED {
        far = cross_of(vec2<f32>(q.x + q.y, q.x - q.y) * 0.7071);
    } else if roof && (in.code & CAPPED) != 0u {
        // Two bars: cut off here.
        far = max(abs(abs(q.y) - 0.4), abs(q.x) - 0.8);
    }
    var mark = ink(far, 0.15, pixel);
    if !roof && (in.code & CAPPED) != 0u {
        // A break across the wall, below the sign.
        let period = in.size.x * 0.5;
        let wave = abs(fract(in.wall.x / period) - 0.5) * 2.0 - 0.5;
        let at = (in.wall.y - in.size.y * 0.62) / period - wave * 0.35;
        let tear = ink(abs(at), 0.12, max(fwidth(at), 1e-5));
        mark = select(mark, tear, tear.a > mark.a);
    }
    // Too small to be read: it fades.
    let fade = clamp(2.0 - pixel * 3.2, 0.0, 1.0);
    if mark.a * fade < 0.02 {
        discard;
    }
    return vec4<f32>(mark.rgb, mark.a * fade);
}
