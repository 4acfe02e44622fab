// What the page holds, unpacked, and numbers in words.

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
  /// For each of `times` the few plots that have something, with what it is.
  few(times) {
    return Array.from({ length: times }, () => {
      const found = new Map();
      let plot = 0;
      for (let left = this.number(); left > 0; left--) {
        plot += this.number();
        found.set(plot, this.number());
      }
      return found;
    });
  }
}

/// What the page holds.
export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const city = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const columns = new Columns(bytes, 4 + length);
  const times = city.times.length, plots = city.plots.length, rows = plots + city.districts.length;
  city.states = ["side", "height", "colour"].map(() => columns.over(times, plots, new Uint16Array(times * plots)));
  city.signs = columns.few(times);
  city.values = city.measures.map(() => columns.over(times, rows, new Float64Array(times * rows)));
  city.rows = rows;
  // Keys have the names as they are, people read their words.
  city.words = city.names.map((name) => (typeof name === "string" ? name : name[1]));
  city.names = city.names.map((name) => (typeof name === "string" ? name : name[0]));
  return city;
}

export const COUNT = new Intl.NumberFormat("en-US");
export const UNITS = {
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
export const signed = (v, unit) => `${v > 0 ? "+" : v < 0 ? "−" : "±"}${UNITS[unit](Math.abs(v))}`;
/// Linear light as a colour of style sheets.
export const css = (c) => `rgb(${c.map((v) => Math.round((v <= 0.0031308 ? v * 12.92 : 1.055 * v ** (1 / 2.4) - 0.055) * 255)).join(",")})`;
