// Draws a picture that was made smaller over all of the viewport.

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var between: sampler;

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) number: u32) -> Varying {
    let p = vec2<f32>(f32((number << 1u) & 2u), f32(number & 2u));
    var out: Varying;
    out.position = vec4<f32>(p.x * 2.0 - 1.0, 1.0 - p.y * 2.0, 0.0, 1.0);
    out.place = p;
    return out;
}

@fragment
fn stretched(in: Varying) -> @location(0) vec4<f32> {
    return textureSampleLevel(picture, between, in.place, 0.0);
}
