// What stands beside the city: what it is about, the legend, the list of groups, the selected one.

import { COUNT, UNITS, css, percent, signed } from "./numbers.js";
import { fitting, wide } from "./names.js";
import { signLegend, signWords } from "./signs.js";
import { told } from "./told.js";

/// Columns of the histogram over the gradient.
const PARTS = 32;
/// Width of the legend, pixels.
const LEGEND = 264;
/// Groups in the list.
const RESULTS = 200;
const $ = (id) => document.getElementById(id);

/// The unit of a number below a head that says what is counted.
const plain = (unit) => (unit === "objects" ? "count" : unit);

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
    told(city, $("says"));
    $("alive").textContent = city.alive;
    // Of one point in time there is nothing that grows.
    if (city.of < 2) for (const option of $("order").querySelectorAll("[value=growth], [value=shrinks]")) option.remove();
  }
  /// A line of words, each where it belongs from 0 at the left to 1 at the right: the ends first, then those that have room beside them.
  marks(marks) {
    const line = document.createElement("div");
    line.className = "marks";
    const isEnd = (mark) => mark.position <= 0 || mark.position >= 1, taken = [];
    for (const mark of [...marks.filter(isEnd), ...marks.filter((mark) => !isEnd(mark)).reverse()]) {
      const long = wide(mark.text, 11), left = Math.max(0, Math.min(LEGEND - long, LEGEND * mark.position - long / 2));
      if (taken.some(([from, to]) => left < to + 5 && left + long > from - 5)) continue;
      taken.push([left, left + long]);
      const text = document.createElement("span");
      text.textContent = mark.text;
      text.style.left = `${left}px`;
      line.append(text);
    }
    return line;
  }
  legend() {
    const { city } = this, { legend } = city;
    const quiet = (text) => {
      const line = document.createElement("p");
      line.className = "quiet";
      line.textContent = text;
      return line;
    };
    const title = document.createElement("h2");
    title.textContent = legend.title;
    const counts = document.createElement("canvas");
    counts.id = "counts";
    [counts.width, counts.height] = [LEGEND, 24];
    const bar = document.createElement("div");
    bar.className = "bar";
    bar.style.background = `linear-gradient(to right, ${city.colours.stops.map(css).join(",")})`;
    $("legend").append(title, ...(legend.marks.length ? [counts, bar, this.marks(legend.marks)] : []), quiet(legend.shape));
    if (legend.heights.length) {
      const heights = this.marks(legend.heights);
      heights.id = "heights";
      $("legend").append(heights);
    }
    if (legend.capped) $("legend").append(quiet(legend.capped));
    $("legend").append(quiet(legend.opaque));
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
  /// Between which times growth is told: from the base to what is shown; from the base on where that is what is shown.
  span() {
    const { city, state, rows } = this, until = state.time === city.base ? rows.last : state.time;
    const number = (t) => `${city.numbers[t]}/${city.of}`;
    const [from, to] = [city.base === 0 ? "first" : number(city.base), until === rows.last ? "last" : number(until)];
    return { until, words: from === "first" && to === "last" ? "first to last" : `from ${from} to ${to}` };
  }
  list() {
    const { rows, city, state } = this, wanted = this.pattern(), order = $("order").value, t = state.time;
    // Groups that share a plot are no group: they are counted.
    let all = Array.from({ length: city.rows }, (_, row) => row).filter((row) => !rows.more(row));
    all = wanted ? all.filter((row) => wanted.test(rows.path(row, false))) : all.filter((row) => row < rows.plots);
    const { until, words } = this.span(), changes = order === "growth" || order === "shrinks";
    const growth = (row) => rows.main(row, until) - rows.main(row, city.base);
    const by = {
      growth: (a, b) => growth(b) - growth(a), shrinks: (a, b) => growth(a) - growth(b),
      size: (a, b) => rows.main(b, t) - rows.main(a, t), name: (a, b) => rows.brief(a).localeCompare(rows.brief(b)),
    };
    all.sort((a, b) => by[order](a, b) || a - b);
    const measure = city.measures[city.main].title.toLowerCase();
    const titles = { growth: "Grows most", shrinks: "Shrinks most", size: "Largest", name: "By name" };
    $("ranking").textContent = `${titles[order]}  ·  ${measure}${changes ? ` ${words}` : ""}`;
    const amount = (row) => (changes ? growth(row) : rows.main(row, t));
    const heap = rows.whole(city.main, t);
    const says = (row) => {
      if (changes) return signed(amount(row), rows.unit);
      return city.of < 2 ? `${UNITS[rows.unit](amount(row))}  ${percent(amount(row), heap)}` : UNITS[rows.unit](amount(row));
    };
    const most = Math.max(1, ...all.slice(0, RESULTS).map((row) => Math.abs(amount(row))));
    let found = all.length > RESULTS ? `${COUNT.format(all.length)} groups, the first ${RESULTS} listed` : `${COUNT.format(all.length)} group${all.length === 1 ? "" : "s"}`;
    const small = wanted ? 0 : rows.small;
    if (small) found += `; ${COUNT.format(small)} smaller one${small === 1 ? " shares a plot" : "s share plots"}`;
    $("found").textContent = found;
    // Of a name the end tells most: it is shortened in the middle.
    const room = Math.max(120, $("list").clientWidth - 30), widest = Math.max(0, ...all.slice(0, RESULTS).map((row) => says(row).length));
    const named = (row) => fitting(rows.brief(row), 13, room - 8 * widest);
    $("list").replaceChildren(...all.slice(0, RESULTS).map((row) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.innerHTML = "<span></span><b></b>";
      button.firstChild.textContent = named(row);
      button.lastChild.textContent = says(row);
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
  heap() {
    const { city, rows, state } = this, of = (t) => rows.whole(city.main, t), text = UNITS[rows.unit];
    const [, most] = this.curve($("heap"), of, state.time);
    $("heap-is").textContent = city.heap;
    $("heap-now").textContent = `now ${text(of(state.time))}    most ${text(most)}`;
  }
  details() {
    const { rows, city, state } = this, row = state.selected, t = state.time, { last } = rows;
    $("chosen").hidden = row < 0;
    if (row < 0) return;
    $("chosen").querySelector("h2").textContent = rows.name(row);
    $("path").textContent = rows.path(row);
    const measures = city.measures.map((m, i) => ({ ...m, i, unit: plain(m.unit) }));
    const now = ({ i, unit }) => UNITS[unit](rows.value(i, row, t));
    const growth = (from, to) => ({ i, unit }) => signed(rows.value(i, row, to) - rows.value(i, row, from), unit);
    const line = (says, of) => [says, ...measures.map(of)];
    const lines = [line("now", now)];
    if (city.of > 1) {
      lines.push(line("since first", growth(0, t)));
      // The base may be any of them.
      if (city.base > 0) lines.push(line(`since ${city.numbers[city.base]} of ${city.of}`, growth(city.base, t)));
      lines.push(line("first to last", growth(0, last)), line("most", ({ i, unit }) => UNITS[unit](city.peaks[i][row])));
    }
    lines.push(line("share of the heap", ({ i }) => percent(rows.value(i, row, t), rows.whole(i, t))));
    tableRows($("chosen").querySelector("thead"), [["", ...measures.map((m) => m.title)]]);
    tableRows($("chosen").querySelector("tbody"), lines);
    $("sign").textContent = signWords(rows.sign(row, t), city.since);
    const [low, high] = this.curve($("curve"), (t) => rows.main(row, t), t);
    const range = `${city.measures[city.main].title} over time: ${UNITS[rows.unit](low)} to ${UNITS[rows.unit](high)}, from 0`;
    $("range").textContent = range;
    $("curve").hidden = $("range").hidden = city.of < 2;
  }
  /// All that changes with time.
  step() {
    const { city, state, rows } = this, t = state.time, number = `${city.numbers[t]}/${city.of}`;
    $("now").value = t;
    $("now").setAttribute("aria-valuetext", `${number} ${city.when[t]}`);
    $("number").textContent = number;
    $("when").textContent = city.when[t];
    $("when").title = `Point in time ${city.numbers[t]} of ${city.of}\n${city.when[t]}`;
    $("previous").disabled = t === 0;
    $("next").disabled = t === rows.last;
    $("play").disabled = $("now").disabled = rows.last === 0;
    this.list();
    this.heap();
    this.histogram();
    signLegend($("signs"), $("signs-note"), city, t);
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
    const all = (of) => city.measures.map((m, i) => of(m.unit, i)).join(", ");
    const since = (from, to) => all((unit, i) => signed(rows.value(i, row, to) - rows.value(i, row, from), unit));
    const bytes = city.measures.findIndex((m) => m.id === "bytes");
    const lines = [rows.path(row), all((unit, i) => UNITS[unit](rows.value(i, row, t)))];
    lines.push(`${percent(rows.value(bytes, row, t), rows.whole(bytes, t))} of the heap's bytes now`);
    if (city.of > 1) {
      lines.push(`${since(city.base, t)} since ${city.since}`);
      if (t < rows.last && city.base === 0) lines.push(`${since(0, rows.last)} first to last`);
    }
    const sign = signWords(rows.sign(row, t), city.since);
    tip.textContent = lines.concat(sign || []).join("\n");
    const b = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(x + 16, window.innerWidth - b.width - 8)}px`;
    tip.style.top = `${Math.min(y + 16, window.innerHeight - b.height - 8)}px`;
  }
}
