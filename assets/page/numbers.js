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
  city.values = [];
  city.peaks = [];
  for (let measure = 0; measure < city.measures.length; measure++) {
    city.values.push(columns.over(times, rows, new Float64Array(times * rows)));
    city.peaks.push(columns.over(1, rows, new Float64Array(rows)));
  }
  city.rows = rows;
  // Keys have the names as they are, people read their words.
  city.words = city.names.map((name) => (typeof name === "string" ? name : name[1]));
  city.names = city.names.map((name) => (typeof name === "string" ? name : name[0]));
  return city;
}

export const COUNT = new Intl.NumberFormat("en-US");
/// Whether a number of 32 to a word of bits is set.
export const isSet = (bits, i) => !!(bits[i >> 5] & (1 << (i & 31)));

/// A number with so many decimals; what lies in the middle between two goes to the even one, as in the application.
function rounded(value, decimals) {
  const halves = value * 2 ** (decimals + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) return value.toFixed(decimals);
  const low = Math.floor(value * 10 ** decimals);
  return ((low + (low % 2)) / 10 ** decimals).toFixed(decimals);
}

/// Numbers as the application writes them (`tabular/numbers`).
export const UNITS = {
  objects: (v) => `${COUNT.format(v)} object${v === 1 ? "" : "s"}`,
  count: (v) => COUNT.format(v),
  millis(v) {
    const rest = String(v % 1000).padStart(3, "0"), two = (n) => String(n).padStart(2, "0");
    const [h, m, s] = [Math.floor(v / 3.6e6), Math.floor(v / 6e4) % 60, Math.floor(v / 1000) % 60];
    return h ? `${h}:${two(m)}:${two(s)}.${rest} h` : m ? `${m}:${two(s)}.${rest} min` : `${s}.${rest} s`;
  },
  bytes(v) {
    if (v < 1000) return `${v} B`;
    const names = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let unit = 0;
    for (v /= 1000; v >= 999.5 && unit + 1 < names.length; v /= 1000) unit++;
    return `${rounded(v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0)} ${names[unit]}`;
  },
};
/// Part of a whole in percent; a dash for a part of nothing.
export const percent = (part, whole) => (whole ? `${((part / whole) * 100).toFixed(1)} %` : "–");
export const signed = (v, unit) => `${v > 0 ? "+" : v < 0 ? "−" : "±"}${UNITS[unit](Math.abs(v))}`;
/// Linear light as a colour of style sheets.
export const css = (c) => `rgb(${c.map((v) => Math.round((v <= 0.0031308 ? v * 12.92 : 1.055 * v ** (1 / 2.4) - 0.055) * 255)).join(",")})`;
