// What stands beside the city: what it is about, the legend, the list of groups, the selected one.

import { COUNT, UNITS, css, signed } from "./numbers.js";
import { signLegend, signWords } from "./signs.js";

/// Columns of the histogram over the gradient.
const PARTS = 32;
/// Groups in the list.
const RESULTS = 200;
const $ = (id) => document.getElementById(id);

function tableRows(body, lines) {
  body.replaceChildren(...lines.map((line) => {
    const tr = document.createElement("tr");
    for (const text of line) { const td = document.createElement("td"); td.textContent = text; tr.append(td); }
    return tr;
  }));
}

export class Panels {
  /// `select` is told which row was clicked in the list.
  constructor(rows, state, select, keys) {
    Object.assign(this, { rows, state, select, city: rows.city });
    const style = getComputedStyle(document.documentElement);
    this.colour = (name) => style.getPropertyValue(name).trim();
    this.about();
    this.legend();
    tableRows($("keys").querySelector("tbody"), keys);
  }
  about() {
    const { city } = this;
    $("about").querySelector("h1").textContent = city.title;
    $("grouping").textContent = city.grouping;
    for (const line of city.says) {
      const item = document.createElement("li");
      item.textContent = line;
      $("says").append(item);
    }
  }
  legend() {
    const { city } = this, legend = city.legend;
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
  }
  /// How many buildings have which colour now.
  colourCounts() {
    const { city, state, rows } = this, [sides, , colours] = city.states, found = new Uint32Array(PARTS);
    for (let plot = 0, i = state.time * rows.plots; plot < rows.plots; plot++, i++)
      if (sides[i] > 0 && !rows.more(plot)) found[(colours[i] * PARTS) >> 16]++;
    return found;
  }
  /// Over the gradient, heights by square root, as in the application.
  histogram() {
    const canvas = $("counts");
    if (!canvas) return;
    const found = this.colourCounts(), most = Math.max(1, ...found), pen = canvas.getContext("2d");
    const wide = canvas.width / PARTS, stops = this.city.colours.stops;
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
  /// What was looked for, as a pattern.
  pattern() {
    const text = $("search").value.trim();
    if (!text) return null;
    return new RegExp(text.split("*").map((s) => s.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*"), "i");
  }
  list() {
    const { rows, state } = this, wanted = this.pattern(), order = $("order").value, t = state.time;
    let all = Array.from({ length: rows.city.rows }, (_, row) => row);
    all = wanted ? all.filter((row) => wanted.test(rows.path(row))) : all.filter((row) => row < rows.plots);
    const growth = (row) => rows.growth(row, t);
    const by = {
      growth: (a, b) => growth(b) - growth(a), shrinks: (a, b) => growth(a) - growth(b),
      size: (a, b) => rows.main(b, t) - rows.main(a, t), name: (a, b) => rows.name(a).localeCompare(rows.name(b)),
    };
    all.sort((a, b) => by[order](a, b) || a - b);
    const changes = order === "growth" || order === "shrinks";
    const amount = (row) => (changes ? growth(row) : rows.main(row, t));
    const most = Math.max(1, ...all.slice(0, RESULTS).map((row) => Math.abs(amount(row))));
    $("found").textContent = all.length > RESULTS ? `${COUNT.format(all.length)} groups, the first ${RESULTS} listed` : `${COUNT.format(all.length)} group${all.length === 1 ? "" : "s"}`;
    $("list").replaceChildren(...all.slice(0, RESULTS).map((row) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.innerHTML = "<span></span><b></b>";
      button.firstChild.textContent = rows.name(row);
      button.lastChild.textContent = changes ? signed(amount(row), rows.unit) : UNITS[rows.unit](amount(row));
      button.title = rows.path(row);
      button.dataset.row = row;
      button.className = row === state.selected ? "selected" : changes && amount(row) < 0 ? "less" : "";
      button.style.setProperty("--share", `${(Math.abs(amount(row)) / most) * 100}%`);
      button.addEventListener("click", () => this.select(row, true));
      item.append(button);
      return item;
    }));
  }
  /// The list with another selection.
  mark() {
    for (const button of $("list").querySelectorAll("button")) button.classList.toggle("selected", Number(button.dataset.row) === this.state.selected);
  }
  curve(canvas, of, marked) {
    const ratio = Math.min(window.devicePixelRatio, 2), w = canvas.clientWidth, h = canvas.clientHeight, { last } = this.rows;
    canvas.width = Math.max(1, w * ratio); canvas.height = Math.max(1, h * ratio);
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    const values = this.city.times.map((_, t) => of(t)), top = Math.max(1, ...values);
    const x = (t) => (last ? (t / last) * (w - 6) + 3 : w / 2), y = (v) => h - 3 - (v / top) * (h - 8);
    g.beginPath();
    values.forEach((v, t) => (t ? g.lineTo(x(t), y(v)) : g.moveTo(x(t), y(v))));
    g.strokeStyle = this.colour("--curve"); g.lineWidth = 1.5; g.stroke();
    g.lineTo(x(last), h); g.lineTo(x(0), h); g.closePath();
    g.fillStyle = this.colour("--below-curve"); g.fill();
    g.beginPath(); g.arc(x(marked), y(values[marked]), 3, 0, 7); g.fillStyle = this.colour("--text"); g.fill();
    return [Math.min(...values), Math.max(...values)];
  }
  heap() { this.curve($("heap"), (t) => this.rows.main(this.rows.plots, t), this.state.time); }
  details() {
    const { rows, city, state } = this, row = state.selected, t = state.time;
    $("chosen").hidden = row < 0;
    if (row < 0) return;
    $("chosen").querySelector("h2").textContent = rows.name(row);
    $("path").textContent = rows.path(row);
    const plain = (unit) => (unit === "objects" ? "count" : unit);
    const lines = city.measures.map((m, i) => [m.title, UNITS[plain(m.unit)](rows.value(i, row, t)), signed(rows.value(i, row, t) - rows.value(i, row, city.base), plain(m.unit))]);
    const whole = rows.main(rows.plots, t);
    lines.push(["Share of all", whole ? `${((rows.main(row, t) / whole) * 100).toFixed(1)} %` : "–", ""]);
    tableRows($("chosen").querySelector("tbody"), lines);
    $("sign").textContent = signWords(rows.sign(row, t), city.since);
    const [low, high] = this.curve($("curve"), (t) => rows.main(row, t), t);
    $("range").textContent = `${city.measures[city.main].title} over time: ${UNITS[rows.unit](low)} to ${UNITS[rows.unit](high)}, from 0`;
  }
  /// All that changes with time.
  step() {
    const { city, state, rows } = this, t = state.time;
    $("now").value = t;
    $("now").setAttribute("aria-valuetext", city.times[t]);
    $("when").textContent = `${t + 1}/${rows.last + 1}  ${city.times[t]}`;
    $("when").title = city.times[t];
    $("previous").disabled = t === 0;
    $("next").disabled = t === rows.last;
    this.list();
    this.heap();
    this.histogram();
    signLegend($("signs"), city, t);
    this.details();
  }
  /// Of names: how many buildings are neither named nor counted at a district.
  unnamed(count) {
    $("unnamed").hidden = count === 0;
    $("unnamed").textContent = `${COUNT.format(count)} building${count === 1 ? "" : "s"} without a name`;
  }
  /// What is said of a building under the mouse.
  tip(row, x, y) {
    const { rows, city, state } = this, t = state.time, tip = $("tip");
    tip.hidden = row < 0;
    if (row < 0) return;
    const sign = signWords(rows.sign(row, t), city.since);
    const amounts = city.measures.map((m, i) => UNITS[m.unit](rows.value(i, row, t))).join(", ");
    tip.textContent = `${rows.path(row)}\n${amounts}\n${signed(rows.growth(row, t), rows.unit)} since ${city.since}${sign ? `\n${sign}` : ""}`;
    const b = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(x + 16, window.innerWidth - b.width - 8)}px`;
    tip.style.top = `${Math.min(y + 16, window.innerHeight - b.height - 8)}px`;
  }
}
