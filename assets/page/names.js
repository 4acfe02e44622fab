// Names over roofs and on the floors of districts: as many as there is room for, none over another. What has no name is counted with
// the nearest district around it that has one, as in the application.

import * as THREE from "three";
import { COUNT } from "./numbers.js";

/// Square pixels for a name, and the bounds of how many there are.
const ROOM = 15500, FEWEST = 12, MOST = 120;
/// Letters of a name; and those that a district's name has room for at least.
const LETTERS = 34, DISTRICT_LETTERS = 8;
const HIGH = 20;
/// A group of the program's own counts as if it were so many times as large.
const OWN_FIRST = 8;

/// A text shortened in the middle: of its end there is twice as much, for there the class is.
export function shortened(text, most) {
  const letters = Array.from(text);
  if (letters.length <= most || most < 5) return text;
  const tail = Math.floor(((most - 1) * 2) / 3), head = most - 1 - tail;
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - tail).join("")}`;
}

const pen = document.createElement("canvas").getContext("2d");
const FONT = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
/// How wide a text is in letters of so many pixels.
export const wide = (text, size) => {
  pen.font = `${size}px ${FONT}`;
  return pen.measureText(text).width;
};

/// A text shortened in the middle until it is no wider than `room` pixels; of a few letters at least.
export function fitting(text, size, room) {
  if (wide(text, size) <= room) return text;
  // The longest that fits, by halving.
  let fits = 6, not = Array.from(text).length;
  while (fits + 1 < not) {
    const middle = (fits + not) >> 1;
    if (wide(shortened(text, middle), size) <= room) fits = middle; else not = middle;
  }
  return shortened(text, fits);
}

export class Names {
  /// `view` has the camera, whether it moves, and the room that panels leave; `select` is told which row was clicked.
  constructor(layer, rows, boxes, state, view, select) {
    Object.assign(this, { layer, rows, boxes, state, view, select });
    this.point = new THREE.Vector3();
    this.widths = new Map();
    this.places = [];
    this.shown = [];
    this.outside = 0;
    const area = (i) => { const [, , , w, h] = rows.city.districts[i]; return w * h; };
    this.districts = rows.city.districts.map((_, i) => i).sort((a, b) => area(b) - area(a) || a - b).slice(0, MOST);
    const ground = (row) => { const [, , , , w, h] = rows.city.plots[row]; return w * h; };
    const mores = Array.from({ length: rows.plots }, (_, row) => row).filter((row) => rows.more(row));
    this.mores = mores.sort((a, b) => ground(b) - ground(a) || a - b).slice(0, MOST);
  }
  /// Which buildings come first at a time, and how many stand in each district.
  rank(t) {
    const { rows } = this, { plots } = rows;
    const all = Array.from({ length: plots }, (_, row) => row).filter((row) => !rows.more(row) && rows.stands(row, t));
    const change = (row) => Math.abs(rows.growth(row, t));
    const most = (of) => all.reduce((top, row) => Math.max(top, of(row)), 1);
    const largest = most((row) => rows.main(row, t)), strongest = most(change);
    const first = (row) => (rows.isOwn(row) ? OWN_FIRST : 1);
    const weight = new Map(all.map((row) => [row, first(row) * Math.max(rows.main(row, t) / largest, change(row) / strongest)]));
    this.standing = new Uint32Array(rows.city.districts.length);
    for (const row of all) this.standing[rows.around[row]]++;
    this.buildings = all.length;
    this.ranked = all.sort((a, b) => weight.get(b) - weight.get(a) || a - b).slice(0, 3 * MOST);
  }
  width(text) {
    if (!this.widths.has(text)) this.widths.set(text, wide(text, 12));
    return this.widths.get(text);
  }
  /// Where a point of the world is in the window; `null` behind the eye.
  onScreen(x, y, z) {
    this.point.set(x, y, z).project(this.view.camera);
    if (this.point.z > 1) return null;
    return [((this.point.x + 1) / 2) * window.innerWidth, ((1 - this.point.y) / 2) * window.innerHeight];
  }
  /// Whether something opaque stands before a point. In large cities that is asked only once the camera rests.
  hidden(own, x, y, z) {
    const { rows, view } = this;
    if (rows.city.rows > 3000 && view.moves()) return false;
    const towards = new THREE.Vector3(x, y, z).sub(view.camera.position), length = towards.length();
    const solid = (row) => row !== own && (row >= rows.plots || rows.isOpaque(row) || rows.city.opacity > 40000);
    const hit = this.boxes.pick(this.state.time, view.camera.position, towards.normalize(), solid);
    return hit.row >= 0 && hit.distance < length - 0.05;
  }
  /// The name of a building over its roof.
  overRoof(row) {
    const b = this.boxes.box(row, this.state.time);
    const foot = b.w > 0 && this.onScreen(b.x, b.top, b.z);
    if (!foot) return null;
    const text = shortened(this.rows.brief(row), LETTERS), wide = Math.ceil(this.width(text)) + 14;
    // Signs stand in the middle of roofs.
    const lift = this.rows.sign(row, this.state.time) ? 34 : 24;
    return { row, text, wide, spots: [[foot[0] - wide / 2, foot[1] - lift]], seenAt: [b.x, b.top, b.z] };
  }
  /// How many groups share a plot, in its middle.
  onMore(row) {
    const b = this.boxes.box(row, this.state.time), foot = b.w > 0 && this.onScreen(b.x, b.top, b.z);
    if (!foot) return null;
    const text = this.rows.brief(row), wide = Math.ceil(this.width(text)) + 14;
    return { row, text, wide, spots: [[foot[0] - wide / 2, foot[1] - HIGH / 2]], seenAt: [b.x, b.top, b.z] };
  }
  /// The name of a district on that edge of its floor that is lowest in the picture, where it fits.
  onFloor(district) {
    const { rows } = this, [, x, z, w, h, , y] = rows.city.districts[district];
    const ring = [[x, z], [x + w, z], [x + w, z + h], [x, z + h]];
    let best = null;
    for (let i = 0; i < 4; i++) {
      const [a, b] = [ring[i], ring[(i + 1) % 4]], middle = [(a[0] + b[0]) / 2, y + 0.02, (a[1] + b[1]) / 2];
      const [from, to, foot] = [this.onScreen(a[0], y, a[1]), this.onScreen(b[0], y, b[1]), this.onScreen(...middle)];
      if (from && to && foot && (!best || foot[1] > best.foot[1])) best = { foot, middle, long: Math.abs(from[0] - to[0]) };
    }
    if (!best) return null;
    // Room for whatever number comes: it is known once all names have their places.
    const badge = this.width(`+${COUNT.format(this.buildings)}`) + 6, room = best.long - badge - 14;
    let text = rows.city.floors[district];
    const letters = Math.floor(room / 6.6);
    if (text.length > letters && letters < DISTRICT_LETTERS) return null;
    text = shortened(text, Math.min(letters, LETTERS));
    const wide = Math.ceil(this.width(text) + badge) + 14;
    const left = best.foot[0] - wide / 2, top = best.foot[1] - HIGH / 2;
    return { row: rows.plots + district, district, text, wide, spots: [[left, top], [left, top + HIGH * 0.6]], seenAt: best.middle };
  }
  /// Places all names anew.
  draw() {
    const { rows, state } = this, taken = [];
    for (const panel of document.querySelectorAll(".panel")) {
      const r = panel.getBoundingClientRect();
      if (r.width > 0) taken.push([r.left, r.top, r.right, r.bottom]);
    }
    const room = this.view.free();
    const most = Math.min(MOST, Math.max(FEWEST, Math.round(((room.right - room.left) * (room.bottom - room.top)) / ROOM)));
    const shown = [], first = state.selected;
    const add = (wish) => {
      if (!wish || shown.some((other) => other.row === wish.row)) return;
      const box = wish.spots.map(([x, y]) => [x, y, x + wish.wide, y + HIGH]).find((b) => b[0] >= 0 && b[1] >= 0 && b[2] <= window.innerWidth && b[3] <= window.innerHeight
        && !taken.some((o) => b[0] < o[2] + 3 && b[2] > o[0] - 3 && b[1] < o[3] + 2 && b[3] > o[1] - 2));
      if (!box || (wish.row !== first && this.hidden(wish.row, ...wish.seenAt))) return;
      taken.push(box);
      shown.push({ ...wish, box });
    };
    if (first >= 0) add(first >= rows.plots ? this.onFloor(first - rows.plots) : rows.more(first) ? this.onMore(first) : this.overRoof(first));
    for (const district of this.districts) {
      // The outermost counts what nobody else does; all together have a third of the names.
      if (shown.length > most / 3) break;
      add(this.onFloor(district));
    }
    for (const row of this.ranked) {
      if (shown.length >= most) break;
      add(this.overRoof(row));
    }
    for (const row of this.mores) {
      if (shown.length >= most) break;
      add(this.onMore(row));
    }
    this.count(shown);
    this.write(shown);
  }
  /// How many buildings have no name, by the nearest district with a name.
  count(shown) {
    const { rows } = this, rest = Uint32Array.from(this.standing);
    const named = new Map(shown.filter((name) => name.district !== undefined).map((name) => [name.district, name]));
    for (const name of shown)
      if (name.district === undefined && !rows.more(name.row)) rest[rows.around[name.row]]--;
    this.outside = 0;
    // Inner districts stand behind those around them.
    for (let district = rest.length - 1; district >= 0; district--) {
      const name = named.get(district);
      if (name) name.rest = rest[district];
      else if (district === 0) this.outside = rest[0];
      else rest[rows.around[rows.plots + district]] += rest[district];
    }
  }
  write(shown) {
    const { rows, state, places } = this;
    while (places.length < shown.length) {
      const label = document.createElement("button");
      label.tabIndex = -1;
      label.append(document.createElement("span"), document.createElement("i"));
      label.addEventListener("click", () => this.select(Number(label.dataset.row), false));
      this.layer.append(label);
      places.push(label);
    }
    shown.forEach((name, i) => {
      const label = places[i], kind = name.district !== undefined ? "district" : rows.more(name.row) ? "more" : rows.isOpaque(name.row) ? "grows" : "";
      label.firstChild.textContent = name.text;
      label.lastChild.textContent = name.rest ? `+${COUNT.format(name.rest)}` : "";
      label.title = rows.path(name.row) + (name.rest ? `\n${COUNT.format(name.rest)} more building${name.rest === 1 ? "" : "s"} without a name` : "");
      label.dataset.row = name.row;
      label.className = name.row === state.selected ? "selected" : kind;
      label.style.transform = `translate(${Math.round(name.box[0])}px,${Math.round(name.box[1])}px)`;
      label.style.width = `${Math.round(name.wide)}px`;
      label.hidden = false;
    });
    for (const label of places.slice(shown.length)) label.hidden = true;
    this.shown = shown;
  }
}
