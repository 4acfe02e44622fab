// Buildings, "N more" plots and district slabs: one box an instance, its vertices made from the vertex number.
//
// Of a box seen from outside, at most the roof and two walls are visible, so 12 vertices (four a face, each part of two
// triangles by the index list) do the work of 36: the walls that face the eye are chosen for each instance. Outlines are
// drawn by the fragment shader.
//
// Compiled twice. PLAIN is for buildings without anything special about them but that one is selected or hovered, which is
// nearly all there is in a large city: a software GPU computes every branch for every vertex and pixel, taken or not.

#import memory_city::view::{view, gradient_colour, unpack_colour}
#import memory_city::standing::{Instance, KIND, KIND_BLOCK, KIND_BUILDING, KIND_MORE, KIND_SLAB, SELECTED, CUT, LIT, PAINTED, Standing, freed_share, standing}

// How dark outlines are, 0..1.
const BUILDING_LINES: f32 = 0.62;
const SLAB_LINES: f32 = 0.35;
// How far the light on what is no building is evened out.
const SLAB_LIGHT: f32 = 0.35;
// Added to the opacity of what is selected or hovered.
const MARKED: f32 = 2.0;
#ifndef PLAIN
// Light on the upper part of a wall, on average.
const BLOCK_WALLS: f32 = 0.6;
// From one stripe of what would be freed to the next, about, of a picture that is 2 high, whatever its pixels; and what they leave of
// its colour.
const STRIPES: f32 = 0.036;
const STRIPED: f32 = 0.52;

// What would be freed is striped, so that it is told without colours: the wider the more of it goes. As bits beside the kind: the share,
// and the distance of the stripes as a power of two of world units. So they lie as close on screen near and far, and stay where they
// are on their box as long as the camera does not come twice as near.
fn hatching(box: Instance) -> u32 {
    if (box.paint.y & (CUT | LIT)) != CUT {
        return 0u;
    }
    let clip = view.clip_from_world;
    let far = (clip * vec4<f32>(box.cell.x, box.lift.x, box.cell.y, 1.0)).w;
    let scale = length(vec3<f32>(clip[0].y, clip[1].y, clip[2].y));
    let apart = STRIPES * max(far, 1e-3) / max(scale, 1e-6);
    return (box.paint.y & 0xff00u) | (u32(clamp(round(log2(apart)), -60.0, 60.0) + 64.0) << 16u);
}

// What the stripes leave of the colour at a place on a face.
fn hatched(facts: u32, face: vec2<f32>) -> f32 {
    let share = freed_share(facts);
    let apart = exp2(f32((facts >> 16u) & 255u) - 64.0);
    let along = (face.x - face.y) / apart;
    let pixel = max(fwidth(along), 1e-6);
    let wide = 0.5 * sqrt(share);
    let stripe = 2.0 * abs(fract(along) - 0.5);
    let inside = 1.0 - smoothstep(wide - pixel, wide + pixel, stripe);
    // Of stripes that are finer than pixels nothing is left to be seen but their colour.
    return mix(1.0, STRIPED, mix(wide, inside, clamp(2.0 - 4.0 * pixel, 0.0, 1.0)) * saturate(8.0 * wide));
}

// Colour and opacity of a face of many buildings: roofs, the walls between them, and the ground that shows through.
fn block(box: Instance, now: Standing, face: u32, towards: vec3<f32>) -> vec4<f32> {
    let buildings = mix(gradient_colour(0.0), gradient_colour(now.colour), now.opacity);
    let ground = unpack_colour(box.paint.x);
    var opacity = f32(box.paint.x >> 24u) / 255.0;
    if face != 0u {
        return vec4<f32>(buildings, opacity);
    }
    let side = mix(box.before.x, box.after.x, view.scene.x);
    let roofs = side * side;
    // How far down one sees between two of them.
    let steep = max(towards.y - now.height, 0.0) / max(length(towards.xz), 1e-6);
    let gap = max((1.0 - side) * box.lift.y, 1e-6);
    let walls = (1.0 - roofs) * min(now.height / (gap * max(steep, 1e-6)), 1.0);
    let seen = roofs + walls;
    let lit = buildings * ((roofs + walls * BLOCK_WALLS) / seen);
    if opacity >= 1.0 {
        return vec4<f32>(mix(ground, lit, seen), 1.0);
    }
    return vec4<f32>(lit, opacity * seen);
}
#endif

// What goes along is paid for in every triangle and pixel, four numbers at a time.
struct Varying {
    @builtin(position) @invariant position: vec4<f32>,
#ifdef PLAIN
    // Linear RGB, and how strong outlines are.
    @location(0) colour: vec4<f32>,
    // Pixels to the four edges of the face, times w: that is linear in clip space, and so exact on any face.
    @location(1) edges: vec4<f32>,
#else
    // Linear RGB, and the opacity; MARKED more when selected or hovered.
    @location(0) colour: vec4<f32>,
    // Place on the face and size of the face, world units. The size is the same in all corners.
    @location(1) face: vec4<f32>,
    // x: kind, and what is hatched (`hatching`). y: number of the box.
    @location(2) @interpolate(flat) facts: vec2<u32>,
#endif
}

// One corner of a box.
struct Corner {
    // Where it is drawn: nowhere, where the face is not seen. `place` is where it is.
    position: vec4<f32>,
    place: vec4<f32>,
    // Which corner of the face.
    at: vec2<f32>,
    // Place on the face and size of the face, world units.
    face: vec4<f32>,
    number: u32,
    light: f32,
}

fn corner_of(number: u32, box: Instance, now: Standing) -> Corner {
    let half = now.half;
    let height = now.height;
    let centre = box.cell.xy;
    // Corners go round the face.
    let face = number / 4u;
    let corner = number % 4u;
    let u = select(0.0, 1.0, corner == 1u || corner == 2u);
    let v = select(0.0, 1.0, corner >= 2u);

    var world: vec3<f32>;
    var size: vec2<f32>;
    var light: f32;
    var seen: bool;
    let towards = view.eye.xyz - vec3<f32>(centre.x, box.lift.x, centre.y);
    if face == 0u {
        world = vec3<f32>(centre.x + (u * 2.0 - 1.0) * half.x, box.lift.x + height, centre.y + (v * 2.0 - 1.0) * half.y);
        size = half * 2.0;
        light = 1.0;
        seen = towards.y > height;
    } else if face == 1u {
        let side = select(-1.0, 1.0, towards.x > 0.0);
        world = vec3<f32>(centre.x + side * half.x, box.lift.x + v * height, centre.y + (u * 2.0 - 1.0) * half.y);
        size = vec2<f32>(half.y * 2.0, height);
        light = select(0.78, 0.52, side > 0.0);
        seen = abs(towards.x) > half.x;
    } else {
        let side = select(-1.0, 1.0, towards.z > 0.0);
        world = vec3<f32>(centre.x + (u * 2.0 - 1.0) * half.x, box.lift.x + v * height, centre.y + side * half.y);
        size = vec2<f32>(half.x * 2.0, height);
        light = select(0.46, 0.66, side > 0.0);
        seen = abs(towards.z) > half.y;
    }
    // Walls darken towards the foot: the eye reads it as standing on the ground.
    if face != 0u {
        light *= mix(0.70, 1.0, v);
    }
    var out: Corner;
    out.place = view.clip_from_world * vec4<f32>(world, 1.0);
    out.at = vec2<f32>(u, v);
    out.position = out.place;
    if !seen || half.x <= 0.0 {
        // All vertices of the face in one point: nothing is rasterized.
        out.position = vec4<f32>(2.0, 2.0, 0.5, 1.0);
    }
    out.face = vec4<f32>(vec2<f32>(u, v) * size, size);
    out.number = face;
    out.light = light;
    return out;
}

// For the pass that only fills the depth buffer.
struct Placed {
    @builtin(position) @invariant position: vec4<f32>,
}

@vertex
fn place(@builtin(vertex_index) number: u32, box: Instance) -> Placed {
    return Placed(corner_of(number, box, standing(box)).position);
}

// What a shadow leaves of the light, for the shadows that come after what is solid.
fn in_shadow() -> f32 {
    return 1.0 - view.scene.y;
}

// Only fills the depth buffer: after it, just the nearest of the see-through faces passes the depth test,
// so the order of drawing cannot show.
@fragment
fn nearest() {
}

#ifdef PLAIN

// What this vertex knows of the four edges of its face: pixels to each, times w.
struct Edges {
    pixels: vec4<f32>,
    // How much of an outline the face can carry, 0..1: lines fade on faces too small.
    carried: f32,
}

// Two edges meet in this corner; of the others, each is a line through the corner across, in the direction of a side of the
// face. The distance of a point from a line is its product with the line's equation, here in homogeneous coordinates:
// so corners behind the eye count as any other.
fn edges_of(number: u32, corner: Corner) -> Edges {
    let position = corner.place.xyw;
    let clip = view.clip_from_world;
    let face = number / 4u;
    let along = select(clip[0], clip[2], face == 1u).xyw * corner.face.z;
    let up = select(clip[1], clip[2], face == 0u).xyw * corner.face.w;
    let far = vec2<f32>(select(1.0, -1.0, corner.at.x > 0.5), select(1.0, -1.0, corner.at.y > 0.5));
    let first = cross(position + along * far.x, up);
    let second = cross(position + up * far.y, along);
    // Of a pixel, in the measure of `fwidth`.
    let steps = vec2<f32>(dot(abs(first.xy), view.pixel.xy), dot(abs(second.xy), view.pixel.xy));
    let pixels = abs(dot(position, cross(along, up))) / max(steps, vec2<f32>(1e-30));
    var out: Edges;
    out.pixels = vec4<f32>(pixels * corner.at, pixels * (1.0 - corner.at));
    out.carried = select(1.0, saturate(min(pixels.x, pixels.y) / (7.0 * position.z) - 0.35), position.z > 0.0);
    return out;
}

fn building(number: u32, box: Instance, now: Standing) -> Varying {
    let corner = corner_of(number, box, now);
    let edges = edges_of(number, corner);
    let colour = gradient_colour(now.colour) * corner.light;
    return Varying(corner.position, vec4<f32>(colour, BUILDING_LINES * edges.carried), edges.pixels);
}

@vertex
fn vertex(@builtin(vertex_index) number: u32, box: Instance) -> Varying {
    return building(number, box, standing(box));
}

// A district.
@vertex
fn slab(@builtin(vertex_index) number: u32, box: Instance) -> Varying {
    let corner = corner_of(number, box, standing(box));
    let edges = edges_of(number, corner);
    let light = mix(corner.light, 1.0, SLAB_LIGHT);
    return Varying(corner.position, vec4<f32>(unpack_colour(box.paint.x) * light, SLAB_LINES * edges.carried), edges.pixels);
}

// How much of this pixel is outline, 0..`colour.a`. Lines are a pixel and a half wide.
fn outline(in: Varying) -> f32 {
    let edge = min(min(in.edges.x, in.edges.y), min(in.edges.z, in.edges.w)) * in.position.w;
    return saturate(1.75 - edge) * in.colour.a;
}

@fragment
fn solid(in: Varying) -> @location(0) vec4<f32> {
    return vec4<f32>(in.colour.rgb * (1.0 - outline(in)), in_shadow());
}

struct GlassVarying {
    @builtin(position) @invariant position: vec4<f32>,
    @location(0) colour: vec4<f32>,
    @location(1) edges: vec4<f32>,
    @location(2) @interpolate(flat) opacity: f32,
}

@vertex
fn glass_vertex(@builtin(vertex_index) number: u32, box: Instance) -> GlassVarying {
    let now = standing(box);
    let seen = building(number, box, now);
    return GlassVarying(seen.position, seen.colour, seen.edges, now.opacity);
}

@fragment
fn glass(in: GlassVarying) -> @location(0) vec4<f32> {
    let line = outline(Varying(in.position, in.colour, in.edges));
    let opacity = mix(in.opacity, max(in.opacity, 0.75), line / BUILDING_LINES);
    return vec4<f32>(in.colour.rgb * (1.0 - line), opacity);
}

#else

@vertex
fn vertex(@builtin(vertex_index) number: u32, @builtin(instance_index) index: u32, box: Instance) -> Varying {
    let now = standing(box);
    let corner = corner_of(number, box, now);
    var light = corner.light;
    var opacity = now.opacity;
    let kind = box.paint.y & KIND;
    var colour: vec3<f32>;
    if kind == KIND_BUILDING && (box.paint.y & PAINTED) == 0u {
        colour = gradient_colour(now.colour);
    } else if kind != KIND_BLOCK {
        colour = unpack_colour(box.paint.x);
        light = mix(light, 1.0, select(SLAB_LIGHT, 0.0, kind == KIND_BUILDING));
    }
    if kind == KIND_BLOCK {
        let towards = view.eye.xyz - vec3<f32>(box.cell.x, box.lift.x, box.cell.y);
        let mixed = block(box, now, corner.number, towards);
        colour = mixed.rgb;
        opacity = mixed.a;
    }
    if (box.paint.y & CUT) != 0u {
        // A little of what goes shows already; nothing of it, and the box recedes.
        let share = sqrt(freed_share(box.paint.y));
        let found = select(view.freed.rgb, colour, (box.paint.y & LIT) != 0u);
        colour = select(mix(view.stays.rgb, found, share), colour * 0.45, kind == KIND_SLAB);
        opacity = max(opacity * 0.6, share);
    }
    let selected = index == view.marks.x || (box.paint.y & SELECTED) != 0u;
    let wholly = kind != KIND_SLAB;
    let hovered = index == view.marks.y;
    if selected {
        colour = select(mix(colour, view.selected.rgb, 0.55), view.selected.rgb, wholly);
    }
    if hovered {
        // Brighter, of the same hue: red stays red, and the white outline says the rest.
        let most = max(max(colour.r, colour.g), max(colour.b, 1e-3));
        colour = colour * min(1.25, max(1.0, 1.0 / most));
    }

    var out: Varying;
    out.position = corner.position;
    out.face = corner.face;
    out.colour = vec4<f32>(colour * light, opacity + select(0.0, MARKED, selected || hovered));
    out.facts = vec2<u32>(kind | hatching(box), index);
    return out;
}

// How much of this pixel is outline, 0..1. Lines are a pixel and a half wide and fade on faces too small to carry them.
fn outline(face: vec4<f32>) -> f32 {
    let pixels = 1.0 / max(fwidth(face.xy), vec2<f32>(1e-6));
    let edge = min(face.xy, face.zw - face.xy) * pixels;
    let room = face.zw * pixels;
    return saturate(1.75 - min(edge.x, edge.y)) * saturate(min(room.x, room.y) / 7.0 - 0.35);
}

fn is_marked(colour: vec4<f32>) -> bool {
    return colour.a > MARKED * 0.75;
}

// The opacity of the faces of a box.
fn opacity_of(colour: vec4<f32>) -> f32 {
    return select(colour.a, colour.a - MARKED, is_marked(colour));
}

// Colour, and how much of it is outline.
fn shade(in: Varying) -> vec4<f32> {
    // Of what is smaller than a pixel no outline is seen.
    let kind = in.facts.x & KIND;
    let line = select(outline(in.face), 0.0, kind == KIND_BLOCK);
    var colour = in.colour.rgb;
    if in.facts.x > KIND {
        colour *= hatched(in.facts.x, in.face.xy);
    }
    if kind == KIND_MORE {
        // Hatched: this is a sum of many groups, not one.
        let along = in.face.x + in.face.y;
        let pixel = max(fwidth(along), 1e-6);
        let stripe = abs(fract(along * 0.7) - 0.5);
        let soft = clamp(1.0 - pixel * 1.2, 0.0, 1.0);
        colour = mix(colour, colour * 1.55, smoothstep(0.18, 0.32, stripe) * soft);
    }
    let strength = select(BUILDING_LINES, SLAB_LINES, kind == KIND_SLAB);
    // Marked boxes have white lines, others dark ones.
    let lined = select(colour * (1.0 - strength * line), mix(colour, vec3<f32>(1.0), line * 0.9), is_marked(in.colour));
    return vec4<f32>(lined, line);
}

@fragment
fn solid(in: Varying) -> @location(0) vec4<f32> {
    return vec4<f32>(shade(in).rgb, in_shadow());
}

@fragment
fn glass(in: Varying) -> @location(0) vec4<f32> {
    let shaded = shade(in);
    let opacity = opacity_of(in.colour);
    return vec4<f32>(shaded.rgb, mix(opacity, max(opacity, 0.75), shaded.a));
}

// Opacity 0: outlines only, light enough to be seen before the dark districts.
@fragment
fn wire(in: Varying) -> @location(0) vec4<f32> {
    let line = outline(in.face);
    if line < 0.08 {
        discard;
    }
    return vec4<f32>(mix(in.colour.rgb, view.line.rgb, 0.6), line * 0.8);
}

// The number of the box, for comparing what is drawn with what is picked.
@fragment
fn number(in: Varying) -> @location(0) u32 {
    return in.facts.y + 1u;
}
#endif
