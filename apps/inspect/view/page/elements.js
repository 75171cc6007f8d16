// Creates elements of the page. Text stays text: no name of a graph is parsed as HTML.

// make("td", {class: "number"}, "12", other) or make("svg:rect", {x: 1}).
function make(kind, attributes = {}, ...children) {
  const svg = kind.startsWith("svg:");
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", kind.slice(4)) : document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== ""));
  return element;
}

// A link to something that can be selected: {kernel: "kernel 3"}, {node: 12}, {class: 5}, {rule: "name"}.
function link(text, target, kind = "a") {
  return make(kind, {class: kind === "a" ? "link" : "chip", href: kind === "a" ? hashOf({...state.place, ...target}) : undefined,
    onclick: (event) => { event.preventDefault(); event.stopPropagation(); go(target); }}, text);
}

// A kernel's number, with its title as the tooltip.
function kernelLink(kernel, kind = "button") {
  const element = link(kernel.name, {kernel: kernel.name}, kind);
  element.title = titleOf([kernel]);
  return element;
}

const chips = (items) => make("div", {class: "chips"}, items);

function facts(rows) {
  return make("dl", {class: "facts"}, rows.filter((row) => row && row[1] !== undefined && row[1] !== "")
    .map(([name, ...value]) => [make("dt", {}, name), make("dd", {}, ...value)]));
}

// Text that is created when it is unfolded: listings are long.
function folded(title, text) {
  if (!text) return "";
  const details = make("details", {}, make("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.childElementCount === 1) details.append(make("pre", {}, text));
  });
  return details;
}

// A time relative to the maximum, with a mark at its lower bound.
function meter(us, most, bound) {
  const width = (value) => `${Math.max(0, Math.min(100, 100 * value / most))}%`;
  return make("div", {class: "meter", title: `${micros(us)}, at least ${micros(bound)} by the roofline`},
    make("i", {style: `width:${width(us)}`}), bound > 0 ? make("b", {style: `left:min(${width(bound)}, 100% - 2px)`}) : "");
}
