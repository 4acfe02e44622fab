// What is drawn, by row: first the plots, then the districts. What each is called, how much it is, and where it stands.

import { COUNT, isSet } from "./numbers.js";

/// Names, amounts and keys.
export class Rows {
  constructor(city) {
    this.city = city;
    this.plots = city.plots.length;
    this.last = city.times.length - 1;
    this.unit = city.measures[city.main].unit;
    /// How many groups have no plot of their own.
    this.small = city.plots.reduce((sum, plot) => sum + plot[1], 0);
    this.byKey = new Map();
    for (let row = city.rows - 1; row >= 0; row--) this.byKey.set(this.key(row), row);
    // Which district is around what; the outermost has itself.
    const districtOf = new Map(city.districts.map((district, i) => [district[0], i]));
    const around = (node) => {
      while (node >= 0 && !districtOf.has(node)) node = city.parents[node];
      return node < 0 ? 0 : districtOf.get(node);
    };
    this.around = Array.from({ length: city.rows }, (_, row) => around(city.parents[this.node(row)]));
  }
  node(row) { return row < this.plots ? this.city.plots[row][0] : this.city.districts[row - this.plots][0]; }
  /// How many groups a More plot stands for; 0 for all else.
  more(row) { return row < this.plots ? this.city.plots[row][1] : 0; }
  value(measure, row, t) { return this.city.values[measure][t * this.city.rows + row]; }
  main(row, t) { return this.value(this.city.main, row, t); }
  /// The whole heap, whichever part of it the city shows.
  whole(measure, t) { return this.city.whole[measure][t]; }
  /// Since the base.
  growth(row, t) { return this.main(row, t) - this.main(row, this.city.base); }
  /// Whether it stands at a time.
  stands(row, t) { return row >= this.plots || this.city.states[0][t * this.plots + row] > 0; }
  isOpaque(row) { return row >= this.plots || isSet(this.city.opaque, row); }
  /// Whether a building is of the program's own packages.
  isOwn(row) { return row < this.plots && isSet(this.city.own, row); }
  sign(row, t) { return (row < this.plots && this.city.signs[t].get(row)) || 0; }
  name(row) {
    const name = this.city.words[this.node(row)], more = this.more(row);
    return more ? `${COUNT.format(more)} more in ${name}` : name;
  }
  /// In short, and like no other: what stands over roofs and in lists.
  brief(row) {
    if (row >= this.plots) return this.city.floors[row - this.plots];
    return this.more(row) ? `${COUNT.format(this.more(row))} more` : this.city.briefs[row] || this.name(row);
  }
  /// The names from the whole heap down, with what they are names of where `roles` are asked for.
  path(row, roles = true) {
    const city = this.city, parts = [];
    for (let n = this.node(row); n >= 0; n = city.parents[n]) {
      const role = roles && city.roles[city.role[n]];
      parts.unshift(role && city.parents[n] >= 0 ? `${role}: ${city.words[n]}` : city.words[n]);
    }
    return parts.concat(this.more(row) ? [this.name(row)] : []).join(" › ");
  }
  key(row) {
    const city = this.city, parts = [];
    for (let n = this.node(row); n >= 0; n = city.parents[n]) parts.unshift(city.names[n].replaceAll("\\", "\\\\").replaceAll("#", "\\#"));
    return parts.join("#") + (this.more(row) ? "#…" : "");
  }
}

/// What stands where, for picking, names and flights: boxes in world units.
export class Boxes {
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
