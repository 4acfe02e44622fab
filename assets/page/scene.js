// The boxes of the city, as the application draws them: sides, heights and colours come ready, two bytes each.

import * as THREE from "three";

const VERTEX = `
precision highp float; precision highp int;
in vec3 position; in vec3 normal;
in vec4 cell; in vec2 ground; in vec4 before; in vec4 after; in vec4 flat_colour;
uniform mat4 view_projection; uniform vec3 stops[5];
uniform float mix_of, unit, pass_of; uniform int chosen, hovered;
out vec3 v_normal; out vec3 v_place; out vec4 v_colour; out vec3 v_size; flat out float v_mark;
invariant gl_Position;
vec3 gradient(float p) { float q = clamp(p, 0.0, 1.0) * 4.0; int i = int(min(q, 3.0)); return mix(stops[i], stops[i + 1], q - float(i)); }
void main() {
  vec4 state = mix(before, after, mix_of);
  bool slab = flat_colour.a == 1.0;
  float side = slab ? 1.0 : state.x;
  float height = slab ? ground.y : state.y * unit;
  vec3 size = vec3(cell.z * side, height, cell.w * side);
  vec3 place = vec3(cell.x, ground.x, cell.y) + vec3(position.x * size.x, (position.y + 0.5) * size.y, position.z * size.z);
  v_size = size; v_place = position; v_normal = normal;
  // More plots have a colour of their own: flat_colour.a is 0.5 there.
  vec3 colour = flat_colour.a > 0.0 ? flat_colour.rgb : gradient(state.z);
  float opacity = slab ? 1.0 : state.w;
  v_mark = gl_InstanceID == chosen ? 2.0 : gl_InstanceID == hovered ? 1.0 : 0.0;
  if (v_mark == 2.0 && !slab) { opacity = 1.0; }
  v_colour = vec4(colour, opacity);
  bool opaque = opacity >= 0.999;
  gl_Position = view_projection * vec4(place, 1.0);
  // Pass 0 draws what is opaque, 1 and 2 the rest: first depth, then the colour of what is nearest.
  if (side <= 0.0 || opaque != (pass_of == 0.0)) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); }
}`;
const FRAGMENT = `
precision highp float;
in vec3 v_normal; in vec3 v_place; in vec4 v_colour; in vec3 v_size; flat in float v_mark;
uniform vec3 selected, line_colour, hover_line; uniform float pass_of;
out vec4 result;
float srgb(float v) { return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1.0 / 2.4) - 0.055; }
void main() {
  if (pass_of == 1.0) { result = vec4(0.0); return; }
  vec3 colour = v_mark == 2.0 ? selected : v_colour.rgb;
  float light = v_normal.y > 0.5 ? 1.0 : 0.55 + 0.22 * dot(normalize(vec3(0.8, 0.0, 0.6)), v_normal);
  // Outlines: the distance to the nearest edge of the face, in pixels.
  vec3 from_edge = (0.5 - abs(v_place)) * v_size / max(fwidth(v_place * v_size), vec3(1e-6));
  vec3 across = abs(v_normal);
  float edge = min(min(mix(from_edge.x, 1e3, across.x), mix(from_edge.y, 1e3, across.y)), mix(from_edge.z, 1e3, across.z));
  float line = 1.0 - smoothstep(0.4, 1.4, edge);
  vec3 lit = colour * light;
  // A hovered building keeps its hue: only its outline shines.
  vec3 outline = v_mark == 1.0 ? hover_line : lit * 0.35;
  float alpha = max(v_colour.a, line * (v_mark == 1.0 ? 1.0 : 0.55));
  lit = mix(lit, v_colour.a < 0.05 && v_mark < 1.0 ? line_colour : outline, line);
  result = vec4(vec3(srgb(lit.r), srgb(lit.g), srgb(lit.b)) * alpha, alpha);
}`;

/// Buildings and districts: one geometry, drawn in passes.
export class Scene {
  constructor(canvas, rows, light) {
    const city = (this.city = rows.city), plots = rows.plots;
    this.rows = rows;
    try {
      this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, premultipliedAlpha: true, preserveDrawingBuffer: true });
    } catch (error) {
      throw new Error(`this browser offers no WebGL 2, without which the city cannot be drawn (${error.message})`);
    }
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // The shader does it.
    this.renderer.autoClear = false;
    this.scene = new THREE.Scene();
    const geometry = (this.geometry = new THREE.InstancedBufferGeometry());
    const cube = new THREE.BoxGeometry(1, 1, 1);
    for (const name of ["position", "normal"]) geometry.setAttribute(name, cube.getAttribute(name));
    geometry.setIndex(cube.getIndex());
    geometry.instanceCount = city.rows;
    geometry.setAttribute("cell", this.instanced(4, (a, i, row) => {
      const [x, z, w, h] = row < plots ? city.plots[row].slice(2) : city.districts[row - plots].slice(1);
      a.set([x + w / 2, z + h / 2, w, h], i);
    }));
    geometry.setAttribute("ground", this.instanced(2, (a, i, row) => {
      if (row < plots) a.set([city.plots[row][6], 0], i);
      else { const d = city.districts[row - plots]; a.set([d[5], d[6] - d[5]], i); }
    }));
    geometry.setAttribute("flat_colour", this.instanced(4, (a, i, row) => {
      if (row >= plots) a.set([...city.colours.districts[city.districts[row - plots][7]], 1], i);
      else if (rows.more(row)) a.set([...city.colours.more, 0.5], i);
    }));
    this.before = this.instanced(4, () => {}, Uint16Array, true);
    this.after = this.instanced(4, () => {}, Uint16Array, true);
    geometry.setAttribute("before", this.before);
    geometry.setAttribute("after", this.after);
    const colour = (c) => ({ value: new THREE.Vector3(...c) });
    this.shared = {
      view_projection: { value: new THREE.Matrix4() }, stops: { value: city.colours.stops.map((c) => new THREE.Vector3(...c)) },
      mix_of: { value: 1 }, unit: { value: city.unit }, chosen: { value: -1 }, hovered: { value: -1 },
      selected: colour(city.colours.selected), line_colour: colour(city.colours.line), hover_line: colour(light ? [0, 0, 0] : [1, 1, 1]),
    };
    const pass = (number, more) => this.add(geometry, number, {
      vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: { ...this.shared, pass_of: { value: number } },
      blending: THREE.NoBlending, ...more,
    });
    pass(0, {});
    pass(1, { colorWrite: false });
    pass(2, OVER);
  }
  /// A number or several for each row.
  instanced(size, fill, type = Float32Array, normalized = false) {
    const array = new type(size * this.city.rows);
    for (let row = 0; row < this.city.rows; row++) fill(array, row * size, row);
    return new THREE.InstancedBufferAttribute(array, size, normalized);
  }
  /// Something more that is drawn, in its turn.
  add(geometry, turn, material) {
    const mesh = new THREE.Mesh(geometry, new THREE.RawShaderMaterial({ glslVersion: THREE.GLSL3, ...material }));
    mesh.frustumCulled = false;
    mesh.renderOrder = turn;
    this.scene.add(mesh);
    return mesh;
  }
  /// The states of a time.
  fill(attribute, t) {
    const { city, rows } = this;
    for (let row = 0; row < rows.plots; row++) {
      const i = t * rows.plots + row;
      attribute.array.set([city.states[0][i], city.states[1][i], city.states[2][i], rows.isOpaque(row) ? 65535 : city.opacity], row * 4);
    }
    attribute.needsUpdate = true;
  }
  draw(camera, state) {
    camera.updateMatrixWorld();
    this.shared.view_projection.value.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    this.shared.chosen.value = state.selected;
    this.shared.hovered.value = state.hovered;
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.clear();
    this.renderer.render(this.scene, camera);
  }
}

/// How colours with an opacity lie over what is there.
export const OVER = {
  transparent: true, depthWrite: false, depthFunc: THREE.LessEqualDepth,
  blending: THREE.CustomBlending, blendSrc: THREE.OneFactor, blendDst: THREE.OneMinusSrcAlphaFactor,
};
