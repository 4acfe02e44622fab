// The city in a page: what `crates/views/src/page` wrote, drawn, searched and stepped. It computes no height, no side, no colour and
// no sign: those come ready, from the same code that the application draws with.

import * as THREE from "three";
import { UNITS, unpack } from "./numbers.js";
import { Boxes, Rows } from "./rows.js";
import { Scene } from "./scene.js";
import { Signs, signCounts } from "./signs.js";
import { Names } from "./names.js";
import { Panels } from "./panels.js";
import { View } from "./camera.js";

const KEYS = [
  ["← →", "previous, next point in time"], ["Home End", "first, last point in time"], ["Space", "play, pause"], ["/", "search"],
  ["click", "select; hold it through time"], ["Esc", "deselect; close the list"], ["F", "fly to the selection"],
  ["R", "the whole city"], ["B", "bird's-eye view"], ["drag", "turn"], ["right drag", "move"], ["wheel", "nearer, further"],
  ["?", "this list"],
];

export function start(bytes) {
  const city = unpack(bytes), rows = new Rows(city), boxes = new Boxes(city), last = rows.last;
  const $ = (id) => document.getElementById(id);
  const light = document.documentElement.dataset.theme === "light";
  const state = { time: last, began: 0, selected: -1, hovered: -1, playing: false };
  const canvas = $("city");
  const scene = new Scene(canvas, rows, light), signs = new Signs(scene, rows);

  // ---- frames: drawn while something changes, and only then
  let asked = false, frames = 0;
  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(frame); } };
  const view = new View(canvas, rows, boxes, ask);
  const panels = new Panels(rows, state, select, KEYS);
  const names = new Names($("labels"), rows, boxes, state, view, select);
  const MIX_MS = view.still ? 0 : 250;
  function frame(now) {
    asked = false;
    frames++;
    view.step(now);
    const mix = MIX_MS ? Math.min(1, (now - state.began) / MIX_MS) : 1;
    scene.shared.mix_of.value = Math.max(mix, 0);
    if (mix < 1) ask();
    view.camera.updateMatrixWorld();
    signs.look(view.camera);
    scene.draw(view.camera, state);
    names.draw();
    panels.unnamed(names.outside);
  }
  /// What is told may be unfolded: the list begins below it.
  const below = () => document.documentElement.style.setProperty("--below-about", `${$("about").getBoundingClientRect().bottom + 10}px`);
  const resize = () => {
    scene.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    scene.renderer.setSize(window.innerWidth, window.innerHeight, false);
    view.resize();
    below();
    panels.heap();
    ask();
  };
  new ResizeObserver(() => { below(); ask(); }).observe($("about"));
  window.addEventListener("resize", () => { resize(); if (state.selected < 0) view.fly(view.home(), true); });

  // ---- what people do
  function select(row, alsoFly) {
    state.selected = row === state.selected && !alsoFly ? -1 : row;
    if (alsoFly && row >= 0) { view.fly(view.near(row, state.time)); listing(false); }
    panels.mark();
    panels.details();
    remember();
    ask();
  }
  function show(t, atOnce = false) {
    t = Math.max(0, Math.min(last, t));
    if (t === state.time && !atOnce) return;
    scene.fill(scene.before, state.time);
    state.time = t;
    scene.fill(scene.after, t);
    state.began = atOnce ? -1e9 : performance.now();
    if (atOnce) scene.fill(scene.before, t);
    signs.show(t);
    names.rank(t);
    panels.step();
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
  /// In narrow windows the list lies over the city while something is looked for.
  const narrow = window.matchMedia("(max-width: 900px)");
  const isListing = () => document.body.classList.contains("listing");
  function listing(on) {
    if (isListing() === on) return;
    document.body.classList.toggle("listing", on);
    $("search-groups").setAttribute("aria-expanded", on);
    if (on) panels.list();
    if (!on && $("groups").contains(document.activeElement)) canvas.focus();
    ask();
  }
  const search = () => { listing(narrow.matches); $("search").focus(); };

  // ---- the address
  let remembering = 0;
  function remember() {
    clearTimeout(remembering);
    remembering = setTimeout(() => {
      const round = (v) => v.toArray().map((n) => Math.round(n * 100) / 100).join(",");
      const parts = { t: city.numbers[state.time], eye: round(view.camera.position), at: round(view.controls.target) };
      if (state.selected >= 0) parts.select = rows.key(state.selected);
      try { history.replaceState(null, "", `#${new URLSearchParams(parts)}`); } catch { /* Some browsers forbid it for files. */ }
    }, 150);
  }
  view.controls.addEventListener("end", remember);
  /// The point in time of a number, among all there are; of one that the page leaves out the nearest.
  const numbered = (number) => {
    const far = (t) => Math.abs(city.numbers[t] - number);
    return Number.isInteger(number) && number >= 1 ? city.numbers.reduce((best, _, t) => (far(t) < far(best) ? t : best), 0) : last;
  };
  function recall() {
    const said = new URLSearchParams(location.hash.slice(1));
    // Without an address the page begins as it was written to.
    if (![...said.keys()].length) {
      if (city.start.time !== null) said.set("t", city.numbers[city.start.time]);
      if (city.start.select !== null) said.set("select", city.start.select);
    }
    const numbers = (name) => { const v = (said.get(name) || "").split(",").map(Number); return v.length === 3 && v.every(Number.isFinite) ? v : null; };
    show(said.has("t") ? numbered(Number(said.get("t"))) : last, true);
    const row = rows.byKey.get(said.get("select") ?? "");
    if (row !== undefined && row !== state.selected) select(row, false);
    const eye = numbers("eye"), target = numbers("at");
    view.fly(eye && target ? { eye, target } : view.home(), true);
  }

  // ---- mouse and keys
  const ray = new THREE.Raycaster(), pointer = new THREE.Vector2();
  const under = (event) => {
    pointer.set((event.clientX / window.innerWidth) * 2 - 1, 1 - (event.clientY / window.innerHeight) * 2);
    ray.setFromCamera(pointer, view.camera);
    return boxes.pick(state.time, ray.ray.origin, ray.ray.direction).row;
  };
  let pressed = null;
  canvas.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; listing(false); });
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
    panels.tip(row, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; state.hovered = -1; ask(); });
  $("now").max = last;
  $("now").addEventListener("input", () => { play(false); show(Number($("now").value)); });
  $("search").addEventListener("input", () => panels.list());
  $("search").addEventListener("keydown", (event) => {
    const first = $("list").querySelector("button");
    if (event.key === "Enter" && first) select(Number(first.dataset.row), true);
    if (event.key === "Escape") { $("search").value = ""; panels.list(); listing(false); canvas.focus(); }
    event.stopPropagation();
  });
  $("order").addEventListener("change", () => panels.list());
  const actions = {
    previous: () => { play(false); show(state.time - 1); }, next: () => { play(false); show(state.time + 1); },
    play: () => play(!state.playing), home: () => view.fly(view.home()), above: () => view.fly(view.above()),
    focus: () => { if (state.selected >= 0) view.fly(view.near(state.selected, state.time)); }, help: () => $("keys").showModal(),
    drop: () => select(-1, false), "search-groups": () => { if (isListing()) listing(false); else search(); },
  };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  const keys = {
    ArrowLeft: actions.previous, ArrowRight: actions.next, p: actions.previous, n: actions.next, " ": actions.play,
    Home: () => show(0), End: () => show(last), r: actions.home, b: actions.above, f: actions.focus,
    Escape: () => { if (isListing()) listing(false); else actions.drop(); }, "?": actions.help, "/": search,
  };
  window.addEventListener("keydown", (event) => {
    // Only text fields keep keys for themselves; the slider's own arrows do the same as ours.
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    if (event.target.tagName === "SELECT" && event.key !== "Escape") return;
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || (event.key === " " && event.target.tagName === "BUTTON" && event.target.closest("#list"))) return;
    event.preventDefault();
    action();
  });

  resize();
  recall();
  window.addEventListener("hashchange", recall);
  // For scripts of those who embed the page, and for tests.
  const keyOf = (row) => (row < 0 ? null : rows.key(row));
  window.memoryCity = {
    city,
    state: () => ({ time: state.time, times: last + 1, selected: keyOf(state.selected), hovered: keyOf(state.hovered), frames, playing: state.playing, moving: !!view.flight }),
    screen: (key) => { const b = boxes.box(rows.byKey.get(key), state.time); return names.onScreen(b.x, b.top, b.z); },
    keys: () => rows.byKey.keys(), key: keyOf,
    colours: () => [...panels.colourCounts()],
    values: (key) => city.measures.map((_, i) => rows.value(i, rows.byKey.get(key), state.time)),
    growth: (key) => rows.growth(rows.byKey.get(key), state.time),
    signs: () => Object.fromEntries([...city.signs[state.time]].map(([plot, bits]) => [rows.key(plot), bits])),
    signCounts: () => signCounts(city, state.time).map(({ code, count }) => [code, count]),
    names: () => names.shown.map(({ row, text, box, district, rest }) => ({ key: rows.key(row), text, box, district: district !== undefined, rest: rest ?? 0 })),
    buildings: () => ({ standing: names.buildings, outside: names.outside }),
    text: (unit, value) => UNITS[unit](value),
    show, select: (key) => select(key === null ? -1 : rows.byKey.get(key), false),
  };
  document.documentElement.dataset.ready = "yes";
}
