// The city in a page: what `crates/views/src/page` wrote, drawn, searched and stepped. It computes no height, no side and no
// colour: those come ready, two bytes each, from the same code that the application draws with.

/// Reads numbers of 7 bits a byte, lowest first, signed ones folded (0, -1, 1, -2 ...).
class Columns {
  constructor(bytes, at) { this.bytes = bytes; this.at = at; }
  number() {
    let value = 0, scale = 1, byte;
    do {
      byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error("The page is cut off: its numbers end too early");
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
  /// `rows` numbers for each of `times`, each written as what it differs by from the time before.
  over(times, rows, into) {
    for (let t = 0; t < times; t++)
      for (let row = 0; row < rows; row++) {
        const i = t * rows + row;
        into[i] = (t ? into[i - rows] : 0) + this.number();
      }
    return into;
  }
}

/// What the page holds, unpacked.
function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const city = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const columns = new Columns(bytes, 4 + length);
  const times = city.times.length, plots = city.plots.length, rows = plots + city.districts.length;
  city.states = ["side", "height", "colour"].map(() => columns.over(times, plots, new Uint16Array(times * plots)));
  city.values = city.measures.map(() => columns.over(times, rows, new Float64Array(times * rows)));
  city.rows = rows;
  return city;
}

const COUNT = new Intl.NumberFormat("en-US");
const UNITS = {
  objects: (v) => `${COUNT.format(v)} object${v === 1 ? "" : "s"}`,
  count: (v) => COUNT.format(v),
  millis: (v) => `${COUNT.format(v)} ms`,
  bytes(v) {
    const names = ["B", "kB", "MB", "GB", "TB"];
    let unit = 0;
    while (v >= 1000 && unit < names.length - 1) { v /= 1000; unit++; }
    return `${unit === 0 || v >= 100 ? Math.round(v) : v.toFixed(1)} ${names[unit]}`;
  },
};
const signed = (v, unit) => `${v > 0 ? "+" : v < 0 ? "−" : "±"}${UNITS[unit](Math.abs(v))}`;
const KEYS = [
  ["← →", "one state back, on"], ["Home End", "first, last state"], ["Space", "play, pause"], ["/", "search"],
  ["click", "select; hold it through time"], ["Esc", "deselect"], ["F", "fly to the selection"],
  ["R", "the whole city"], ["B", "from above"], ["drag", "turn"], ["right drag", "move"], ["wheel", "nearer, further"],
  ["?", "this list"],
];

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
uniform vec3 selected; uniform float pass_of;
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
  vec3 outline = v_mark == 1.0 ? vec3(1.0) : lit * 0.35;
  float alpha = max(v_colour.a, line * (v_mark == 1.0 ? 1.0 : 0.55));
  lit = mix(lit, v_colour.a < 0.05 && v_mark < 1.0 ? vec3(0.45, 0.5, 0.58) : outline, line);
  result = vec4(vec3(srgb(lit.r), srgb(lit.g), srgb(lit.b)) * alpha, alpha);
}`;

/// What stands where, for picking, names and flights: boxes in world units.
class Boxes {
  constructor(city) { this.city = city; }
  box(row, t) {
    const city = this.city, plots = city.plots.length;
    if (row >= plots) {
      const [, x, z, w, h, base, top] = city.districts[row - plots];
      return { x: x + w / 2, z: z + h / 2, w, h, base, top };
    }
    const [, , x, z, w, h, ground] = city.plots[row];
    const i = t * plots + row;
    const side = city.states[0][i] / 65535, height = (city.states[1][i] / 65535) * city.unit;
    return { x: x + w / 2, z: z + h / 2, w: w * side, h: h * side, base: ground, top: ground + height };
  }
  /// The nearest row along a ray among those that `counts` takes, and how far it is; row -1 for none.
  pick(t, origin, direction, counts = () => true) {
    let best = -1, nearest = Infinity;
    for (let row = 0; row < this.city.rows; row++) {
      const b = this.box(row, t);
      if (b.w <= 0 || !counts(row)) continue;
      let near = 0, far = nearest;
      const slab = (low, high, o, d) => {
        if (Math.abs(d) < 1e-12) { if (o < low || o > high) far = -1; return; }
        let a = (low - o) / d, c = (high - o) / d;
        if (a > c) [a, c] = [c, a];
        near = Math.max(near, a); far = Math.min(far, c);
      };
      slab(b.x - b.w / 2, b.x + b.w / 2, origin.x, direction.x);
      slab(b.base, b.top, origin.y, direction.y);
      slab(b.z - b.h / 2, b.z + b.h / 2, origin.z, direction.z);
      if (near <= far && near < nearest) { nearest = near; best = row; }
    }
    return { row: best, distance: nearest };
  }
}

export function start(THREE, OrbitControls, bytes) {
  const city = unpack(bytes);
  const boxes = new Boxes(city);
  const $ = (id) => document.getElementById(id);
  const plots = city.plots.length, last = city.times.length - 1;
  const state = { time: last, shown: last, from: last, began: 0, selected: -1, hovered: -1, playing: false };
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  // ---- what rows are
  const nodeOf = (row) => (row < plots ? city.plots[row][0] : city.districts[row - plots][0]);
  const moreOf = (row) => (row < plots ? city.plots[row][1] : 0);
  const value = (measure, row, t) => city.values[measure][t * city.rows + row];
  const main = city.main;
  const mainUnit = city.measures[main].unit;
  const growth = (row, t = state.time) => value(main, row, t) - value(main, row, 0);
  const nameOf = (row) => (moreOf(row) ? `${COUNT.format(moreOf(row))} more in ${city.names[nodeOf(row)]}` : city.names[nodeOf(row)]);
  const pathOf = (row) => {
    const parts = [];
    for (let n = nodeOf(row); n >= 0; n = city.parents[n]) {
      const role = city.roles[city.role[n]];
      parts.unshift(role && city.parents[n] >= 0 ? `${role}: ${city.names[n]}` : city.names[n]);
    }
    return parts.concat(moreOf(row) ? [nameOf(row)] : []).join(" › ");
  };
  const keyOf = (row) => {
    const parts = [];
    for (let n = nodeOf(row); n >= 0; n = city.parents[n]) parts.unshift(city.names[n].replaceAll("\\", "\\\\").replaceAll("#", "\\#"));
    return parts.join("#") + (moreOf(row) ? "#…" : "");
  };
  const rowOfKey = new Map();
  for (let row = city.rows - 1; row >= 0; row--) rowOfKey.set(keyOf(row), row);

  // ---- drawing
  const canvas = $("city");
  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, premultipliedAlpha: true, preserveDrawingBuffer: true });
  } catch (error) {
    throw new Error(`this browser offers no WebGL 2, without which the city cannot be drawn (${error.message})`);
  }
  renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // The shader does it.
  renderer.autoClear = false;
  const scene = new THREE.Scene();
  const camera = new THREE.PerspectiveCamera(45, 1, 0.1, 2000);
  const geometry = new THREE.InstancedBufferGeometry();
  const cube = new THREE.BoxGeometry(1, 1, 1);
  for (const name of ["position", "normal"]) geometry.setAttribute(name, cube.getAttribute(name));
  geometry.setIndex(cube.getIndex());
  geometry.instanceCount = city.rows;
  const instanced = (size, fill, type = Float32Array, normalized = false) => {
    const array = new type(size * city.rows);
    for (let row = 0; row < city.rows; row++) fill(array, row * size, row);
    return new THREE.InstancedBufferAttribute(array, size, normalized);
  };
  geometry.setAttribute("cell", instanced(4, (a, i, row) => {
    const [x, z, w, h] = row < plots ? city.plots[row].slice(2) : city.districts[row - plots].slice(1);
    a.set([x + w / 2, z + h / 2, w, h], i);
  }));
  geometry.setAttribute("ground", instanced(2, (a, i, row) => {
    if (row < plots) a.set([city.plots[row][6], 0], i);
    else { const d = city.districts[row - plots]; a.set([d[5], d[6] - d[5]], i); }
  }));
  geometry.setAttribute("flat_colour", instanced(4, (a, i, row) => {
    if (row >= plots) a.set([...city.colours.districts[city.districts[row - plots][7]], 1], i);
    else if (moreOf(row)) a.set([...city.colours.more, 0.5], i);
  }));
  const before = instanced(4, () => {}, Uint16Array, true), after = instanced(4, () => {}, Uint16Array, true);
  geometry.setAttribute("before", before);
  geometry.setAttribute("after", after);
  const fill = (attribute, t) => {
    for (let row = 0; row < plots; row++) {
      const i = t * plots + row;
      const opaque = city.opaque[row >> 5] & (1 << (row & 31));
      attribute.array.set([city.states[0][i], city.states[1][i], city.states[2][i], opaque ? 65535 : city.opacity], row * 4);
    }
    attribute.needsUpdate = true;
  };
  const shared = {
    view_projection: { value: new THREE.Matrix4() }, stops: { value: city.colours.stops.map((c) => new THREE.Vector3(...c)) },
    mix_of: { value: 1 }, unit: { value: city.unit }, chosen: { value: -1 }, hovered: { value: -1 },
    selected: { value: new THREE.Vector3(...city.colours.selected) },
  };
  const pass = (number, more) => {
    const material = new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: { ...shared, pass_of: { value: number } },
      blending: THREE.NoBlending, ...more,
    });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = number;
    scene.add(mesh);
  };
  pass(0, {});
  pass(1, { colorWrite: false });
  pass(2, {
    transparent: true, depthWrite: false, depthFunc: THREE.LessEqualDepth,
    blending: THREE.CustomBlending, blendSrc: THREE.OneFactor, blendDst: THREE.OneMinusSrcAlphaFactor,
  });

  // ---- camera
  const controls = new OrbitControls(camera, canvas);
  controls.maxPolarAngle = Math.PI / 2 - 0.02;
  controls.minDistance = 1;
  controls.maxDistance = 600;
  controls.zoomToCursor = true;
  controls.enableDamping = false;
  // What panels leave free, in pixels.
  const free = () => {
    const w = window.innerWidth, h = window.innerHeight, gap = 16;
    const room = { left: gap, top: gap, right: w - gap, bottom: h - 66 - gap };
    if (w > 900) { room.left = 312 + gap; room.right = w > 1250 ? w - 302 - gap : room.right; }
    else { room.top = $("about").getBoundingClientRect().bottom + gap; }
    return room;
  };
  // The camera as near to the city as it can be along a direction with all of it in the free room.
  const framing = (direction, high) => {
    const side = 50, corners = [[-side, 0, -side], [side, 0, -side], [-side, 0, side], [side, 0, side]];
    if (high > 0) {
      const tallest = Array.from({ length: plots }, (_, row) => boxes.box(row, last)).filter((b) => b.w > 0);
      for (const b of tallest.sort((a, c) => c.top - a.top).slice(0, 300))
        for (const x of [-0.5, 0.5]) for (const z of [-0.5, 0.5]) corners.push([b.x + x * b.w, b.top, b.z + z * b.h]);
    }
    const room = free(), w = window.innerWidth, h = window.innerHeight;
    const target = [0, high * 0.3, 0], at = (d) => direction.map((v, i) => target[i] + v * d);
    const probe = camera.clone(), corner = new THREE.Vector3();
    const fits = (d) => {
      probe.position.set(...at(d));
      probe.lookAt(...target);
      probe.updateMatrixWorld();
      return corners.every((c) => {
        corner.set(...c).project(probe);
        const x = ((corner.x + 1) / 2) * w, y = ((1 - corner.y) / 2) * h;
        return corner.z < 1 && x >= room.left && x <= room.right && y >= room.top && y <= room.bottom;
      });
    };
    let low = 1, far = 2000;
    for (let i = 0; i < 30; i++) { const middle = (low + far) / 2; if (fits(middle)) far = middle; else low = middle; }
    return { eye: at(far), target };
  };
  const unit = (x, y, z) => { const l = Math.hypot(x, y, z); return [x / l, y / l, z / l]; };
  const home = () => framing(unit(-0.28, 0.62, 1), city.tallest);
  const above = () => framing(unit(0, 1, 0.0001), 0);
  const near = (row) => {
    const b = boxes.box(row, state.time), size = Math.max(b.w, b.h, b.top - b.base, 3);
    const middle = (b.base + b.top) / 2;
    return { eye: [b.x + size * 1.1, middle + size * 1.6, b.z + size * 2.2], target: [b.x, middle, b.z] };
  };
  let flight = null;
  const fly = (to, at_once = still) => {
    flight = { from: [camera.position.toArray(), controls.target.toArray()], to: [to.eye, to.target], began: performance.now(), lasts: at_once ? 0 : 500 };
    ask();
  };
  let turning = false;
  controls.addEventListener("start", () => { flight = null; turning = true; });
  controls.addEventListener("end", () => { turning = false; ask(); });
  controls.addEventListener("change", () => ask());

  // ---- frames: drawn while something changes, and only then
  let asked = false;
  const stats = { frames: 0 };
  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(frame); } };
  const MIX_MS = still ? 0 : 250;
  function frame(now) {
    asked = false;
    stats.frames++;
    if (flight) {
      const share = flight.lasts ? Math.min(1, (now - flight.began) / flight.lasts) : 1;
      const ease = share * share * (3 - 2 * share);
      const blend = (i) => flight.from[i].map((v, k) => v + (flight.to[i][k] - v) * ease);
      camera.position.set(...blend(0));
      controls.target.set(...blend(1));
      if (share >= 1) flight = null; else ask();
      controls.update();
    }
    const mix = MIX_MS ? Math.min(1, (now - state.began) / MIX_MS) : 1;
    shared.mix_of.value = Math.max(mix, 0);
    if (mix < 1) ask();
    camera.updateMatrixWorld();
    shared.view_projection.value.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    shared.chosen.value = state.selected;
    shared.hovered.value = state.hovered;
    renderer.setClearColor(0x000000, 0);
    renderer.clear();
    renderer.render(scene, camera);
    names();
  }
  const resize = () => {
    const w = window.innerWidth, h = window.innerHeight;
    renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    renderer.setSize(w, h, false);
    camera.aspect = w / h;
    // The city stands in the middle of what panels leave free.
    const room = free();
    camera.setViewOffset(w, h, (w - room.left - room.right) / 2, (h - room.top - room.bottom) / 2, w, h);
    camera.updateProjectionMatrix();
    $("groups").style.top = `${$("about").getBoundingClientRect().bottom + 10}px`;
    heapCurve();
    ask();
  };
  window.addEventListener("resize", () => { resize(); if (state.selected < 0) fly(home(), true); });

  // ---- names over roofs
  const NAMES = 24;
  const places = Array.from({ length: NAMES + 1 }, () => {
    const label = document.createElement("button");
    label.tabIndex = -1;
    label.addEventListener("click", () => select(Number(label.dataset.row), false));
    $("labels").append(label);
    return label;
  });
  const point = new THREE.Vector3();
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  // Whether an opaque building stands before a roof. In large cities that is asked only once the camera rests.
  const solid = (row) => row >= plots || city.opaque[row >> 5] & (1 << (row & 31)) || city.opacity > 40000;
  const roof = new THREE.Vector3();
  const hidden = (row, b) => {
    if (city.rows > 3000 && (flight || turning)) return false;
    roof.set(b.x, b.top, b.z).sub(camera.position);
    const length = roof.length();
    const hit = boxes.pick(state.time, camera.position, roof.normalize(), (other) => other !== row && solid(other));
    return hit.row >= 0 && hit.distance < length - 0.05;
  };
  let ranked = [];
  const rank = () => {
    const all = Array.from({ length: plots }, (_, row) => row).filter((row) => !moreOf(row) && value(main, row, state.time) > 0);
    const grows = all.some((row) => growth(row, last) > 0);
    const weight = grows ? (row) => growth(row, last) : (row) => value(main, row, state.time);
    ranked = all.sort((a, b) => weight(b) - weight(a) || value(main, b, state.time) - value(main, a, state.time)).slice(0, 60);
  };
  function names() {
    const w = window.innerWidth, h = window.innerHeight, taken = [];
    const bars = [...document.querySelectorAll(".panel")].map((panel) => panel.getBoundingClientRect());
    taken.push(...bars.map((r) => [r.left, r.top, r.right, r.bottom]));
    const wanted = [state.selected, ...ranked].filter((row, i, all) => row >= 0 && row < plots && all.indexOf(row) === i);
    let used = 0;
    for (const row of wanted) {
      if (used > NAMES) break;
      const b = boxes.box(row, state.time);
      if (b.w <= 0) continue;
      point.set(b.x, b.top, b.z).project(camera);
      if (point.z > 1 || Math.abs(point.x) > 1 || Math.abs(point.y) > 1) continue;
      const name = nameOf(row), text = name.length > 42 ? `${name.slice(0, 20)}…${name.slice(-20)}` : name;
      const width = Math.ceil(measure.measureText(text).width) + 14, x = ((point.x + 1) / 2) * w - width / 2, y = ((1 - point.y) / 2) * h - 24;
      const box = [x, y, x + width, y + 20];
      if (row !== state.selected && hidden(row, b)) continue;
      if (taken.some((o) => box[0] < o[2] + 3 && box[2] > o[0] - 3 && box[1] < o[3] + 2 && box[3] > o[1] - 2)) continue;
      taken.push(box);
      const label = places[used++];
      label.textContent = text;
      label.title = pathOf(row);
      label.dataset.row = row;
      label.className = row === state.selected ? "selected" : growth(row, last) > 0 ? "grows" : "";
      label.style.transform = `translate(${Math.round(x)}px,${Math.round(y)}px)`;
      label.style.width = `${Math.round(width)}px`;
      label.hidden = false;
    }
    for (; used <= NAMES; used++) places[used].hidden = true;
  }

  // ---- panels
  $("about").querySelector("h1").textContent = city.title;
  $("grouping").textContent = city.grouping;
  for (const line of city.says) {
    const item = document.createElement("li");
    item.textContent = line;
    $("says").append(item);
  }
  const css = (c) => `rgb(${c.map((v) => Math.round((v <= 0.0031308 ? v * 12.92 : 1.055 * v ** (1 / 2.4) - 0.055) * 255)).join(",")})`;
  (() => {
    const legend = city.legend;
    const title = document.createElement("h2");
    title.textContent = legend.title;
    const counts = document.createElement("canvas");
    counts.id = "counts";
    [counts.width, counts.height] = [264, 24];
    const bar = document.createElement("div");
    bar.className = "bar";
    bar.style.background = `linear-gradient(to right, ${city.colours.stops.map(css).join(",")})`;
    const marks = document.createElement("div");
    marks.className = "marks";
    for (const mark of legend.marks) {
      const text = document.createElement("span");
      text.textContent = mark.text;
      text.style.left = `${mark.position * 100}%`;
      text.style.transform = `translateX(${-mark.position * 100}%)`;
      marks.append(text);
    }
    const sizes = document.createElement("p");
    sizes.className = "quiet";
    sizes.textContent = city.sizes;
    $("legend").append(title, ...(legend.marks.length ? [counts, bar, marks] : []), sizes);
  })();
  /// How many buildings have which colour now: over the gradient, heights by square root, as in the application.
  const PARTS = 32;
  function colourCounts() {
    const [sides, , colours] = city.states, found = new Uint32Array(PARTS), plots = city.plots.length;
    for (let plot = 0, i = state.time * plots; plot < plots; plot++, i++)
      if (sides[i] > 0 && city.plots[plot][1] === 0) found[(colours[i] * PARTS) >> 16]++;
    return found;
  }
  function histogram() {
    const canvas = $("counts");
    if (!canvas) return;
    const found = colourCounts(), most = Math.max(1, ...found), pen = canvas.getContext("2d");
    const wide = canvas.width / PARTS, stops = city.colours.stops;
    pen.clearRect(0, 0, canvas.width, canvas.height);
    found.forEach((count, i) => {
      if (!count) return;
      const high = Math.max(2, Math.sqrt(count / most) * canvas.height);
      const at = ((i + 0.5) / PARTS) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
      pen.fillStyle = css(stops[low].map((v, c) => v + (stops[low + 1][c] - v) * (at - low)));
      pen.fillRect(i * wide + 0.5, canvas.height - high, wide - 1, high);
    });
    canvas.title = `${COUNT.format(found.reduce((a, b) => a + b))} buildings by colour; the fullest column has ${COUNT.format(most)}. Heights are square roots`;
  }
  const RESULTS = 200;
  const pattern = () => {
    const text = $("search").value.trim();
    if (!text) return null;
    return new RegExp(text.split("*").map((s) => s.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*"), "i");
  };
  function list() {
    const wanted = pattern(), order = $("order").value;
    let rows = Array.from({ length: city.rows }, (_, row) => row);
    rows = wanted ? rows.filter((row) => wanted.test(pathOf(row))) : rows.filter((row) => row < plots);
    const by = { growth: (a, b) => growth(b) - growth(a), size: (a, b) => value(main, b, state.time) - value(main, a, state.time), name: (a, b) => nameOf(a).localeCompare(nameOf(b)) };
    rows.sort((a, b) => by[order](a, b) || a - b);
    const most = Math.max(1, ...rows.slice(0, RESULTS).map((row) => Math.abs(order === "growth" ? growth(row) : value(main, row, state.time))));
    $("found").textContent = rows.length > RESULTS ? `${COUNT.format(rows.length)} groups, the first ${RESULTS} listed` : `${COUNT.format(rows.length)} group${rows.length === 1 ? "" : "s"}`;
    const items = rows.slice(0, RESULTS).map((row) => {
      const item = document.createElement("li"), button = document.createElement("button");
      const number = order === "growth" ? signed(growth(row), mainUnit) : UNITS[mainUnit](value(main, row, state.time));
      const share = Math.abs(order === "growth" ? growth(row) : value(main, row, state.time)) / most;
      button.innerHTML = "<span></span><b></b>";
      button.firstChild.textContent = nameOf(row);
      button.lastChild.textContent = number;
      button.title = pathOf(row);
      button.dataset.row = row;
      button.classList.toggle("selected", row === state.selected);
      button.style.setProperty("--share", `${share * 100}%`);
      button.addEventListener("click", () => select(row, true));
      item.append(button);
      return item;
    });
    $("list").replaceChildren(...items);
  }
  function curve(canvas, of, marked) {
    const ratio = Math.min(window.devicePixelRatio, 2), w = canvas.clientWidth, h = canvas.clientHeight;
    canvas.width = Math.max(1, w * ratio); canvas.height = Math.max(1, h * ratio);
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    const values = city.times.map((_, t) => of(t)), top = Math.max(1, ...values);
    const x = (t) => (last ? (t / last) * (w - 6) + 3 : w / 2), y = (v) => h - 3 - (v / top) * (h - 8);
    g.beginPath();
    values.forEach((v, t) => (t ? g.lineTo(x(t), y(v)) : g.moveTo(x(t), y(v))));
    g.strokeStyle = "#8fb3e8"; g.lineWidth = 1.5; g.stroke();
    g.lineTo(x(last), h); g.lineTo(x(0), h); g.closePath();
    g.fillStyle = "rgba(143,179,232,0.15)"; g.fill();
    g.beginPath(); g.arc(x(marked), y(values[marked]), 3, 0, 7); g.fillStyle = "#fff"; g.fill();
    return [Math.min(...values), Math.max(...values)];
  }
  const heapCurve = () => curve($("heap"), (t) => value(main, plots, t), state.time);
  function details() {
    const row = state.selected;
    $("chosen").hidden = row < 0;
    if (row < 0) return;
    $("chosen").querySelector("h2").textContent = nameOf(row);
    $("path").textContent = pathOf(row);
    const plain = (unit) => (unit === "objects" ? "count" : unit);
    const lines = city.measures.map((m, i) => [m.title, UNITS[plain(m.unit)](value(i, row, state.time)), signed(value(i, row, state.time) - value(i, row, 0), plain(m.unit))]);
    const whole = value(main, plots, state.time);
    lines.push(["Share of all", whole ? `${((value(main, row, state.time) / whole) * 100).toFixed(1)} %` : "–", ""]);
    $("chosen").querySelector("tbody").replaceChildren(...lines.map((line) => {
      const tr = document.createElement("tr");
      for (const text of line) { const td = document.createElement("td"); td.textContent = text; tr.append(td); }
      return tr;
    }));
    const [low, high] = curve($("curve"), (t) => value(main, row, t), state.time);
    $("range").textContent = `${city.measures[main].title} over time: ${UNITS[mainUnit](low)} to ${UNITS[mainUnit](high)}, from 0`;
  }

  // ---- what people do
  function select(row, also_fly) {
    state.selected = row === state.selected && !also_fly ? -1 : row;
    if (also_fly && row >= 0) fly(near(row));
    for (const button of $("list").querySelectorAll("button")) button.classList.toggle("selected", Number(button.dataset.row) === state.selected);
    details();
    remember();
    ask();
  }
  function show(t, at_once = false) {
    t = Math.max(0, Math.min(last, t));
    if (t === state.time && !at_once) return;
    fill(before, state.time);
    state.time = t;
    fill(after, t);
    state.began = at_once ? -1e9 : performance.now();
    if (at_once) fill(before, t);
    $("now").value = t;
    $("now").setAttribute("aria-valuetext", city.times[t]);
    $("when").textContent = `${t + 1}/${last + 1}  ${city.times[t]}`;
    $("when").title = city.times[t];
    $("previous").disabled = t === 0;
    $("next").disabled = t === last;
    rank();
    list();
    heapCurve();
    histogram();
    details();
    remember();
    ask();
  }
  let playing = 0;
  function play(on) {
    clearInterval(playing);
    state.playing = on;
    $("play").textContent = on ? "❚❚" : "▶";
    if (!on) return;
    if (state.time === last) show(0);
    playing = setInterval(() => { if (state.time >= last) play(false); else show(state.time + 1); }, 600);
  }
  let remembering = 0;
  function remember() {
    clearTimeout(remembering);
    remembering = setTimeout(() => {
      const round = (v) => v.toArray().map((n) => Math.round(n * 100) / 100).join(",");
      const parts = { t: state.time + 1, eye: round(camera.position), at: round(controls.target) };
      if (state.selected >= 0) parts.select = keyOf(state.selected);
      try { history.replaceState(null, "", `#${new URLSearchParams(parts)}`); } catch { /* Some browsers forbid it for files. */ }
    }, 150);
  }
  controls.addEventListener("end", remember);
  function recall() {
    const said = new URLSearchParams(location.hash.slice(1));
    const numbers = (name) => { const v = (said.get(name) || "").split(",").map(Number); return v.length === 3 && v.every(Number.isFinite) ? v : null; };
    const t = Number(said.get("t"));
    show(Number.isInteger(t) && t >= 1 ? t - 1 : last, true);
    const row = rowOfKey.get(said.get("select") ?? "");
    if (row !== undefined) select(row, false);
    const eye = numbers("eye"), target = numbers("at");
    fly(eye && target ? { eye, target } : home(), true);
  }
  const ray = new THREE.Raycaster(), pointer = new THREE.Vector2();
  const under = (event) => {
    pointer.set((event.clientX / window.innerWidth) * 2 - 1, 1 - (event.clientY / window.innerHeight) * 2);
    ray.setFromCamera(pointer, camera);
    return boxes.pick(state.time, ray.ray.origin, ray.ray.direction).row;
  };
  let pressed = null;
  canvas.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
  canvas.addEventListener("click", (event) => {
    const moved = pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 5;
    if (!moved) select(under(event), false);
  });
  canvas.addEventListener("dblclick", (event) => { const row = under(event); if (row >= 0) select(row, true); });
  const tip = $("tip");
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) { tip.hidden = true; return; }
    const row = under(event);
    if (row !== state.hovered) { state.hovered = row; ask(); }
    tip.hidden = row < 0;
    if (row < 0) return;
    tip.textContent = `${pathOf(row)}\n${city.measures.map((m, i) => UNITS[m.unit](value(i, row, state.time))).join(", ")}\n${signed(growth(row), mainUnit)} since the first state`;
    const b = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX + 16, window.innerWidth - b.width - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - b.height - 8)}px`;
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; state.hovered = -1; ask(); });
  $("now").max = last;
  $("now").addEventListener("input", () => { play(false); show(Number($("now").value)); });
  $("search").addEventListener("input", list);
  $("search").addEventListener("keydown", (event) => {
    const first = $("list").querySelector("button");
    if (event.key === "Enter" && first) select(Number(first.dataset.row), true);
    if (event.key === "Escape") { $("search").value = ""; list(); canvas.focus(); }
    event.stopPropagation();
  });
  $("order").addEventListener("change", list);
  const actions = {
    previous: () => { play(false); show(state.time - 1); }, next: () => { play(false); show(state.time + 1); },
    play: () => play(!state.playing), home: () => fly(home()), above: () => fly(above()),
    focus: () => { if (state.selected >= 0) fly(near(state.selected)); }, help: () => $("keys").showModal(),
    drop: () => select(-1, false),
  };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  const keys = {
    ArrowLeft: actions.previous, ArrowRight: actions.next, p: actions.previous, n: actions.next, " ": actions.play,
    Home: () => show(0), End: () => show(last), r: actions.home, b: actions.above, f: actions.focus,
    Escape: actions.drop, "?": actions.help, "/": () => $("search").focus(),
  };
  window.addEventListener("keydown", (event) => {
    // Only text fields keep keys for themselves; the slider's own arrows do the same as ours.
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    if (event.target.tagName === "SELECT") return;
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || (event.key === " " && event.target.tagName === "BUTTON" && event.target.closest("#list"))) return;
    event.preventDefault();
    action();
  });
  $("keys").querySelector("tbody").replaceChildren(...KEYS.map(([key, what]) => {
    const tr = document.createElement("tr");
    for (const text of [key, what]) { const td = document.createElement("td"); td.textContent = text; tr.append(td); }
    return tr;
  }));

  resize();
  recall();
  window.addEventListener("hashchange", recall);
  // For scripts of those who embed the page, and for tests.
  window.memoryCity = {
    city,
    state: () => ({ time: state.time, times: last + 1, selected: state.selected < 0 ? null : keyOf(state.selected), hovered: state.hovered < 0 ? null : keyOf(state.hovered), frames: stats.frames, playing: state.playing, moving: !!flight }),
    screen: (key) => {
      const b = boxes.box(rowOfKey.get(key), state.time);
      point.set(b.x, b.top, b.z).project(camera);
      return [((point.x + 1) / 2) * window.innerWidth, ((1 - point.y) / 2) * window.innerHeight];
    },
    keys: () => rowOfKey.keys(),
    colours: () => [...colourCounts()],
    values: (key) => city.measures.map((_, i) => value(i, rowOfKey.get(key), state.time)),
    show, select: (key) => select(key === null ? -1 : rowOfKey.get(key), false),
  };
  document.documentElement.dataset.ready = "yes";
}
