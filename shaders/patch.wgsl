// Puts a few states where they belong among many: each comes as its place and its eight bytes.

@group(0) @binding(0) var<storage, read> changed: array<u32>;
@group(0) @binding(1) var<storage, read_write> states: array<vec2<u32>>;

@compute @workgroup_size(64)
fn patch_states(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = 3u * id.x;
    if at + 2u < arrayLength(&changed) && changed[at] < arrayLength(&states) {
        states[changed[at]] = vec2<u32>(changed[at + 1u], changed[at + 2u]);
    }
}
