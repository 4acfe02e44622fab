// Sky, ground and the soft shadow the city casts around its foot: one triangle behind everything.

#import memory_city::view::view

struct Varying {
    @builtin(position) @invariant position: vec4<f32>,
    // From the eye through the pixel, not normalized: linear over the screen, so the corners suffice.
    @location(0) ray: vec3<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) number: u32) -> Varying {
    let p = vec2<f32>(f32((number << 1u) & 2u), f32(number & 2u)) * 2.0 - 1.0;
    let near = view.world_from_clip * vec4<f32>(p, 1.0, 1.0);
    var out: Varying;
    // Depth runs from 1 (near) to 0 (far): the backdrop is as far as can be.
    out.position = vec4<f32>(p, 0.0, 1.0);
    out.ray = near.xyz / near.w - view.eye.xyz;
    return out;
}

@fragment
fn backdrop(in: Varying) -> @location(0) vec4<f32> {
    let slope = in.ray.y * inverseSqrt(dot(in.ray, in.ray));
    if slope >= 0.0 {
        return vec4<f32>(mix(view.horizon.rgb, view.zenith.rgb, sqrt(slope)), 1.0);
    }
    let reach = view.eye.y / -slope;
    let place = view.eye.xz + in.ray.xz * (view.eye.y / -in.ray.y);
    let outside = max(abs(place) - vec2<f32>(view.scene.z), vec2<f32>(0.0));
    // Darker near the foot of the city; lighter into the horizon with distance.
    let contact = 1.0 - 0.55 / (1.0 + 0.05 * dot(outside, outside));
    let haze = reach / (reach + 420.0);
    return vec4<f32>(mix(view.ground.rgb * contact, view.horizon.rgb, haze), 1.0);
}
