// What is told first: what is shown, what leaks or what a comparison comes to, and what else is to be known.

/// Steps of a short way.
const SHORT = 5;

const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
};

/// Lines below a title that opens and closes them.
function fold(title, lines, className) {
  const made = element("details", "", className);
  made.append(element("summary", title), ...lines);
  return made;
}

/// A place that leaks: what it is, how much it grows, and more: the way to it from its GC root, of which no step is left out. `opens` says
/// whether that is there without being asked for.
function place({ which, place, whole, sentence, facts, way }, opens) {
  const made = element("div", "", "place");
  const name = element("p", place, "name");
  name.title = whole;
  if (which) name.prepend(element("span", which, "which"));
  made.append(name, element("p", sentence, "growth"));
  const lines = [...facts.map((fact) => element("p", fact, "quiet")), ...way.map((step) => element("p", step, "step"))];
  const more = fold(way.length ? `More: the way from its GC root, ${way.length} step${way.length === 1 ? "" : "s"}` : "More", lines, "more");
  more.open = opens;
  if (lines.length) made.append(more);
  return made;
}

/// What stands under the title of the page.
export function told(city, into) {
  const { finding } = city, [first, ...others] = finding.places;
  into.replaceChildren(...city.part.map((line) => element("p", line)));
  if (finding.title) into.append(element("h2", finding.title, "verdict"));
  for (const line of finding.compared) into.append(element("p", line, "quiet"));
  if (finding.sentence) into.append(element("p", finding.sentence, "name"));
  // A short way has room beside the city, where that has enough.
  if (first) into.append(place(first, first.way.length <= SHORT && window.innerWidth > 900));
  const more = others.length + finding.more;
  if (more) {
    const rest = others.map((other) => place(other, true));
    if (finding.more) rest.push(element("p", `${finding.more} more: in the application, and in its report`, "quiet"));
    into.append(fold(`${more} more place${more === 1 ? "" : "s"}`, rest, "places"));
  }
  for (const note of finding.notes) into.append(element("p", note, "quiet note"));
  for (const line of city.says) into.append(element("p", line));
  for (const warning of city.warnings) into.append(element("p", `Warning: ${warning}`, "warning"));
  if (city.others) into.append(fold(city.others.title, city.others.lines.map((line) => element("p", line)), "quiet"));
}
