// Signs on buildings: which way, readable without colour. Which sign stands where comes with the page; what one looks like is here,
// and is what the application draws (`shaders/signs.wgsl`).

import * as THREE from "three";
import { COUNT } from "./numbers.js";
import { OVER } from "./scene.js";

const DIRECTION = 7, VANISHED = 6, CAPPED = 8;
/// What the legend says, by code, and the strokes of the sign: its middle at 0, about as large as from -1 to 1.
const SIGNS = [
  { code: 2, says: "grown to twice or more", strokes: "M-.8 0L0-.6L.8 0M-.8.75L0 .15L.8.75" },
  { code: 1, says: "grown", strokes: "M-.8.3L0-.3L.8.3" },
  { code: 5, says: "new", strokes: "M-.8 0H.8M0-.8V.8" },
  { code: 3, says: "shrunk", strokes: "M-.8-.3L0 .3L.8-.3" },
  { code: 4, says: "shrunk to half or less", strokes: "M-.8 0L0 .6L.8 0M-.8-.75L0-.15L.8-.75" },
  { code: VANISHED, says: "gone", strokes: "M-.65-.65L.65.65M-.65.65L.65-.65" },
  { code: CAPPED, says: "higher than it is drawn", strokes: "M-.9.3L-.4-.3L.1.3L.6-.3L.9.1" },
];

const VERTEX = `
precision highp float; precision highp int;
in float corner; in vec4 cell; in vec2 ground; in vec4 before; in vec4 after; in vec2 sign_of;
uniform mat4 view_projection; uniform float mix_of, unit; uniform vec3 eye; uniform vec2 away;
out vec2 v_place; out vec2 v_wall; flat out vec2 v_size; flat out int v_code;
// No sign is larger, world units: it says which way, not how much.
const float LARGEST = 2.9;
void main() {
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  int code = int(sign_of.x * 255.0 + 0.5), face = int(corner) / 4, at = int(corner) % 4;
  vec4 state = mix(before, after, mix_of);
  // What is gone has its sign on the ground that it had.
  bool gone = state.x <= 0.0;
  vec2 extent = cell.zw * 0.5 * (gone ? sign_of.y : state.x);
  float height = gone ? 0.0 : state.y * unit;
  if (code == 0 || extent.x <= 0.0 || (gone && face > 0)) { return; }
  float u = at == 1 || at == 2 ? 1.0 : -1.0, v = at >= 2 ? 1.0 : 0.0;
  vec3 foot = vec3(cell.x, ground.x, cell.y), towards = eye - foot, place;
  // The roof, and of the two walls that can be seen the one that turns more towards the eye; a break goes round both.
  bool front = face == 0 || (face == 1) == (abs(towards.x) > abs(towards.z));
  if (!front && (code & 8) == 0) { return; }
  v_wall = vec2(0.0, -1.0);
  if (face == 0) {
    if (towards.y <= height) { return; }
    vec2 from = vec2(u, v * 2.0 - 1.0) * extent;
    place = vec3(from.x, height + 0.01, from.y);
    float size = min(min(extent.x, extent.y) * 0.62, LARGEST);
    v_place = vec2(dot(from, vec2(-away.y, away.x)), dot(from, away)) / size;
    v_size = vec2(size);
  } else {
    float wide = face == 1 ? extent.y : extent.x, deep = face == 1 ? extent.x : extent.y;
    float before_it = face == 1 ? towards.x : towards.z;
    if (abs(before_it) <= deep) { return; }
    float out_by = before_it > 0.0 ? deep : -deep;
    place = face == 1 ? vec3(out_by, v * height, u * wide) : vec3(u * wide, v * height, out_by);
    float size = max(min(min(wide * 0.62, height * 0.3), LARGEST), 1e-4);
    v_place = vec2(u * wide, v * height - (height - 1.35 * size)) / size;
    v_size = vec2(wide, height);
    v_wall = vec2((u + 1.0) * wide, (1.0 - v) * height);
  }
  v_code = front ? code : code & 8;
  gl_Position = view_projection * vec4(foot + place, 1.0);
  // A little nearer than the face it stands on.
  gl_Position.z = gl_Position.w - (gl_Position.w - gl_Position.z) * 1.003;
}`;
const FRAGMENT = `
precision highp float; precision highp int;
in vec2 v_place; in vec2 v_wall; flat in vec2 v_size; flat in int v_code;
uniform float pass_of;
out vec4 result;
float chevron(vec2 q, float top) { return max(abs(q.y - (top - 0.75 * abs(q.x))) * 0.8, max(abs(q.x) - 0.85, 0.0)); }
float plus(vec2 q) { vec2 a = abs(q); return min(max(a.x, a.y - 0.8), max(a.y, a.x - 0.8)); }
// White with a dark rim: both are seen on every colour.
vec4 ink(float far, float width, float pixel) {
  float core = 1.0 - smoothstep(width - pixel, width + pixel, far), rim = 1.0 - smoothstep(width * 1.75 - pixel, width * 1.75 + pixel, far);
  return vec4(vec3(mix(0.1, 1.0, core)), rim);
}
void main() {
  vec2 q = v_place;
  float pixel = max(fwidth(q.x), fwidth(q.y)), far = 9.0;
  bool roof = v_wall.y < 0.0, torn = (v_code & 8) != 0;
  int direction = v_code & 7;
  if (direction == 1) { far = chevron(q, 0.4); }
  else if (direction == 2) { far = min(chevron(q, 0.85), chevron(q, 0.1)); }
  else if (direction == 3) { far = chevron(-q, 0.4); }
  else if (direction == 4) { far = min(chevron(-q, 0.85), chevron(-q, 0.1)); }
  else if (direction == 5) { far = plus(q); }
  else if (direction == 6) { far = plus(vec2(q.x + q.y, q.x - q.y) * 0.7071); }
  else if (roof && torn) { far = max(abs(abs(q.y) - 0.4), abs(q.x) - 0.8); }
  vec4 mark = ink(far, 0.15, pixel);
  if (!roof && torn) {
    // A break across the wall, below the sign.
    float period = v_size.x * 0.5, wave = abs(fract(v_wall.x / period) - 0.5) * 2.0 - 0.5;
    float at = (v_wall.y - v_size.y * 0.62) / period - wave * 0.35;
    vec4 tear = ink(abs(at), 0.12, max(fwidth(at), 1e-5));
    if (tear.a > mark.a) { mark = tear; }
  }
  // What is too small to be read fades.
  float alpha = mark.a * clamp(2.0 - pixel * 3.2, 0.0, 1.0);
  if (alpha < 0.02) { discard; }
  result = vec4(mark.rgb * alpha, alpha);
}`;

/// The signs on roofs and walls.
export class Signs {
  constructor(scene, rows) {
    const { city } = rows;
    this.rows = rows;
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute("corner", new THREE.BufferAttribute(Float32Array.from({ length: 12 }, (_, i) => i), 1));
    geometry.setIndex([0, 4, 8].flatMap((i) => [i, i + 1, i + 2, i, i + 2, i + 3]));
    for (const name of ["cell", "ground", "before", "after"]) geometry.setAttribute(name, scene.geometry.getAttribute(name));
    // Code, and the side at the base, in 255ths.
    this.codes = scene.instanced(2, (a, i, row) => {
      if (row < rows.plots) a[i + 1] = city.states[0][city.base * rows.plots + row] >> 8;
    }, Uint8Array, true);
    geometry.setAttribute("sign_of", this.codes);
    geometry.instanceCount = rows.plots;
    this.uniforms = { eye: { value: new THREE.Vector3() }, away: { value: new THREE.Vector2() } };
    const { view_projection, mix_of, unit } = scene.shared;
    const uniforms = { view_projection, mix_of, unit, ...this.uniforms };
    this.mesh = scene.add(geometry, 3, { vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms, side: THREE.DoubleSide, forceSinglePass: true, ...OVER });
  }
  show(t) {
    const array = this.codes.array, signs = this.rows.city.signs[t];
    for (let i = 0; i < array.length; i += 2) array[i] = 0;
    for (const [plot, code] of signs) array[plot * 2] = code;
    this.codes.needsUpdate = true;
    this.mesh.visible = signs.size > 0;
  }
  /// Which way on the ground is up on the screen, so that a chevron on a roof reads as one.
  look(camera) {
    const m = camera.matrixWorld.elements;
    this.uniforms.eye.value.copy(camera.position);
    this.uniforms.away.value.set(m[4] - 0.2 * m[8], m[6] - 0.2 * m[10] - 1e-4).normalize();
  }
}

const has = (bits, code) => (code === CAPPED ? (bits & CAPPED) !== 0 : (bits & DIRECTION) === code);

/// What the sign of a building says, in words; empty for none.
export const signWords = (bits, since) =>
  SIGNS.filter((sign) => has(bits, sign.code)).map((sign) => (sign.code === CAPPED ? sign.says : `${sign.says} since ${since}`)).join(", ");

/// How many buildings have which sign at a time, of those that any has at any time.
export function signCounts(city, t) {
  const all = (signs, sign) => [...signs].filter(([plot, bits]) => city.plots[plot][1] === 0 && has(bits, sign.code)).length;
  const any = (sign) => city.signs.some((signs) => all(signs, sign) > 0);
  city.signKinds ??= SIGNS.filter(any);
  return city.signKinds.map((sign) => ({ ...sign, count: all(city.signs[t], sign) }));
}

/// A row of the legend for each sign; and, in `note`, from which difference on there are signs.
export function signLegend(table, note, city, t) {
  const counts = signCounts(city, t);
  table.hidden = counts.length === 0;
  const changed = counts.some((sign) => sign.code !== CAPPED);
  table.caption.textContent = changed ? `Signs on buildings, since ${city.since}` : "Signs on buildings";
  note.hidden = !changed;
  note.textContent = city.legend.signs;
  table.tBodies[0].replaceChildren(...counts.map(({ strokes, says, count }) => {
    const row = document.createElement("tr");
    const path = (of) => `<path class="${of}" d="${strokes}"/>`;
    row.innerHTML = `<td><svg viewBox="-1.2 -1.2 2.4 2.4" width="18" height="18" aria-hidden="true">${path("rim")}${path("core")}</svg></td><td></td><td></td>`;
    row.cells[1].textContent = says;
    row.cells[2].textContent = COUNT.format(count);
    row.classList.toggle("none", count === 0);
    return row;
  }));
}
