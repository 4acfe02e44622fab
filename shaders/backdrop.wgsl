// Sky, ground and the soft shadow the city casts around its foot: one triangle behind everything.

struct Varying {
    @builtin(position) position: vec4<f32>,
    @location(0) screen: vec2<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) number: u32) -> Varying {
    let p = vec2<f32>(f32((number << 1u) & 2u), f32(number & 2u)) * 2.0 - 1.0;
    var out: Varying;
    // Depth runs from 1 (near) to 0 (far): the backdrop is as far as can be.
    out.position = vec4<f32>(p, 0.0, 1.0);
    out.screen = p;
    return out;
}

@fragment
fn backdrop(in: Varying) -> @location(0) vec4<f32> {
    let far = view.world_from_clip * vec4<f32>(in.screen, 0.0001, 1.0);
    let ray = normalize(far.xyz / far.w - view.eye.xyz);
    if ray.y >= 0.0 {
        let up = pow(ray.y, 0.55);
        return vec4<f32>(mix(view.horizon.rgb, view.zenith.rgb, up), 1.0);
    }
    let reach = -view.eye.y / ray.y;
    let place = view.eye.xz + ray.xz * reach;
    let outside = length(max(abs(place) - vec2<f32>(view.scene.w), vec2<f32>(0.0)));
    let contact = 1.0 - 0.55 * exp(-outside * 0.35);
    // The ground lightens into the horizon with distance.
    let haze = 1.0 - exp(-reach * 0.0022);
    return vec4<f32>(mix(view.ground.rgb * contact, view.horizon.rgb, haze), 1.0);
}
