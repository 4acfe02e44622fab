// From where the city is seen: poses that show all of it or one building, and flights between them.

import * as THREE from "three";
import { OrbitControls } from "orbit";

const unit = (x, y, z) => { const l = Math.hypot(x, y, z); return [x / l, y / l, z / l]; };

export class View {
  /// `ask` is called when there is something to draw.
  constructor(canvas, rows, boxes, ask) {
    Object.assign(this, { rows, boxes, ask });
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.camera = new THREE.PerspectiveCamera(45, 1, 0.1, 2000);
    const controls = (this.controls = new OrbitControls(this.camera, canvas));
    controls.maxPolarAngle = Math.PI / 2 - 0.02;
    controls.minDistance = 1;
    controls.maxDistance = 600;
    controls.zoomToCursor = true;
    controls.enableDamping = false;
    this.flight = null;
    this.turning = false;
    controls.addEventListener("start", () => { this.flight = null; this.turning = true; });
    controls.addEventListener("end", () => { this.turning = false; ask(); });
    controls.addEventListener("change", () => ask());
  }
  moves() { return !!this.flight || this.turning; }
  /// What panels leave free, in pixels.
  free() {
    const w = window.innerWidth, h = window.innerHeight, gap = 16;
    const room = { left: gap, top: gap, right: w - gap, bottom: h - 78 - gap };
    if (w > 900) { room.left = 312 + gap; room.right = w > 1250 ? w - 302 - gap : room.right; }
    else {
      room.top = document.getElementById("about").getBoundingClientRect().bottom + gap;
      // The legend is beside the city where there is room for both.
      if (w > 700) room.right = w - 302 - gap;
    }
    return room;
  }
  resize() {
    const { camera } = this, w = window.innerWidth, h = window.innerHeight, room = this.free();
    camera.aspect = w / h;
    // The city stands in the middle of what panels leave free.
    camera.setViewOffset(w, h, (w - room.left - room.right) / 2, (h - room.top - room.bottom) / 2, w, h);
    camera.updateProjectionMatrix();
  }
  /// The camera as near to the city as it can be along a direction with all of it in the free room.
  framing(direction, high) {
    const { rows, boxes } = this, side = 50, corners = [[-side, 0, -side], [side, 0, -side], [-side, 0, side], [side, 0, side]];
    if (high > 0) {
      const tallest = Array.from({ length: rows.plots }, (_, row) => boxes.box(row, rows.last)).filter((b) => b.w > 0);
      for (const b of tallest.sort((a, c) => c.top - a.top).slice(0, 300))
        for (const x of [-0.5, 0.5]) for (const z of [-0.5, 0.5]) corners.push([b.x + x * b.w, b.top, b.z + z * b.h]);
    }
    const room = this.free(), w = window.innerWidth, h = window.innerHeight;
    const target = [0, high * 0.3, 0], at = (d) => direction.map((v, i) => target[i] + v * d);
    const probe = this.camera.clone(), corner = new THREE.Vector3();
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
  }
  home() { return this.framing(unit(-0.28, 0.62, 1), this.rows.city.tallest); }
  above() { return this.framing(unit(0, 1, 0.0001), 0); }
  near(row, t) {
    const b = this.boxes.box(row, t), size = Math.max(b.w, b.h, b.top - b.base, 3);
    const middle = (b.base + b.top) / 2;
    return { eye: [b.x + size * 1.1, middle + size * 1.6, b.z + size * 2.2], target: [b.x, middle, b.z] };
  }
  fly(to, atOnce = this.still) {
    const { camera, controls } = this;
    this.flight = { from: [camera.position.toArray(), controls.target.toArray()], to: [to.eye, to.target], began: performance.now(), lasts: atOnce ? 0 : 500 };
    this.ask();
  }
  /// Goes on with a flight, if there is one.
  step(now) {
    const { flight, camera, controls } = this;
    if (!flight) return;
    const share = flight.lasts ? Math.min(1, (now - flight.began) / flight.lasts) : 1;
    const ease = share * share * (3 - 2 * share);
    const blend = (i) => flight.from[i].map((v, k) => v + (flight.to[i][k] - v) * ease);
    camera.position.set(...blend(0));
    controls.target.set(...blend(1));
    if (share >= 1) this.flight = null; else this.ask();
    controls.update();
  }
}
