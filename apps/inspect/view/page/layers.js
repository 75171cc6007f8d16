// Layered graph layout, each box below what it reads: stays readable without a solver.

// boxes: {id, width, height}; edges: [from, to, carried]. Sets x and y of every box; returns the drawing's size.
function layOut(boxes, edges, gap = {x: 18, y: 46}) {
  const below = new Map(boxes.map((box) => [box, []])), above = new Map(boxes.map((box) => [box, []]));
  for (const [from, to, carried] of edges) {
    if (carried || from === to) continue;
    below.get(from).push(to);
    above.get(to).push(from);
  }
  const layers = layersOf(boxes, below, above);
  order(layers, below, above);
  let y = 12;
  for (const layer of layers) {
    for (const box of layer) box.y = y;
    y += Math.max(...layer.map((box) => box.height)) + gap.y;
  }
  place(layers, above, below, gap.x);
  const left = Math.min(...boxes.map((box) => box.x)), width = Math.max(...boxes.map((box) => box.x + box.width)) - left + 40;
  for (const box of boxes) box.x += 20 - left;
  return {width, height: y - gap.y + 12};
}

function layersOf(boxes, below, above) {
  const waiting = new Map(boxes.map((box) => [box, above.get(box).length]));
  let ready = boxes.filter((box) => waiting.get(box) === 0);
  const level = new Map(), done = new Set();
  while (done.size < boxes.length) {
    if (ready.length === 0) ready = [boxes.find((box) => !done.has(box))];  // a cycle: begin somewhere
    const box = ready.shift();
    if (done.has(box)) continue;
    done.add(box);
    level.set(box, Math.max(0, ...above.get(box).filter((up) => level.has(up)).map((up) => level.get(up) + 1)));
    for (const next of below.get(box)) {
      waiting.set(next, waiting.get(next) - 1);
      if (waiting.get(next) === 0) ready.push(next);
    }
  }
  // Leaves are placed right above their first reader.
  for (const box of boxes) {
    const readers = below.get(box).map((next) => level.get(next));
    if (above.get(box).length === 0 && readers.length) level.set(box, Math.max(0, Math.min(...readers) - 1));
  }
  const layers = [];
  for (const box of boxes) (layers[level.get(box)] ||= []).push(box);
  return layers.filter((layer) => layer);
}

// Sweeps up and down: a box moves to the average position of its neighbours.
function order(layers, below, above) {
  const at = new Map();
  const number = (layer) => layer.forEach((box, i) => at.set(box, i / Math.max(1, layer.length - 1)));
  layers.forEach(number);
  for (let sweep = 0; sweep < 6; ++sweep) {
    const neighbours = sweep % 2 ? below : above;
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const mean = new Map(layer.map((box) => {
        const near = neighbours.get(box);
        return [box, near.length ? near.reduce((sum, other) => sum + at.get(other), 0) / near.length : at.get(box)];
      }));
      layer.sort((a, b) => mean.get(a) - mean.get(b));
      number(layer);
    }
  }
}

function place(layers, above, below, gap) {
  for (const layer of layers) {
    let x = 0;
    for (const box of layer) { box.x = x; x += box.width + gap; }
    for (const box of layer) box.x -= x / 2;
  }
  const centre = (box) => box.x + box.width / 2;
  for (let sweep = 0; sweep < 4; ++sweep) {
    const neighbours = sweep % 2 ? below : above;
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const wanted = layer.map((box) => {
        const near = neighbours.get(box);
        return near.length ? near.reduce((sum, other) => sum + centre(other), 0) / near.length - box.width / 2 : box.x;
      });
      let right = -Infinity;
      const packed = layer.map((box, i) => { const x = Math.max(wanted[i], right); right = x + box.width + gap; return x; });
      const drift = packed.reduce((sum, x, i) => sum + x - wanted[i], 0) / layer.length;
      layer.forEach((box, i) => { box.x = packed[i] - drift; });
    }
  }
}

function edgePath(from, to) {
  const x1 = from.x + from.width / 2, y1 = from.y + from.height, x2 = to.x + to.width / 2, y2 = to.y;
  if (y2 <= y1) {  // a back edge, as to the next iteration: drawn around the side
    const side = Math.min(from.x, to.x) - 16;
    return `M${from.x} ${from.y + from.height / 2} C${side} ${y1} ${side} ${y2} ${to.x} ${to.y + to.height / 2}`;
  }
  const bend = Math.min(60, (y2 - y1) / 2);
  return `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

const contentWidth = () => document.getElementById("content").clientWidth - 34;
const contentHeight = () => document.getElementById("content").clientHeight;
const panelWidth = () => document.getElementById("panel").clientWidth - 34;
const kLeastScale = 0.65;  // unreadable below that: only a part is shown then

// An <svg> that is panned with the mouse and zoomed with its wheel, and a line below it if it shows only a part. It
// starts at `focus`, a box, or at the top.
function drawing(size, parts, frame, focus) {
  const svg = make("svg:svg", {class: "drawing", height: frame.height}, parts);
  const scale = Math.max(kLeastScale, Math.min(1, frame.width / size.width));
  const view = {width: frame.width / scale, height: frame.height / scale};
  const begin = (whole, part, centre) => part >= whole ? (whole - part) / 2 : Math.max(0, Math.min(whole - part, centre - part / 2));
  view.x = begin(size.width, view.width, focus ? focus.x + focus.width / 2 : size.width / 2);
  view.y = view.height >= size.height ? 0 : begin(size.height, view.height, focus ? focus.y + focus.height / 2 : 0);
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  svg.setAttribute("preserveAspectRatio", "xMidYMin meet");
  show();
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
    event.preventDefault();
    const factor = event.deltaY > 0 ? 1.2 : 1 / 1.2, shown = svg.getBoundingClientRect();
    const x = view.x + view.width * (event.clientX - shown.left) / shown.width;
    const y = view.y + view.height * (event.clientY - shown.top) / shown.height;
    Object.assign(view, {x: x - (x - view.x) * factor, y: y - (y - view.y) * factor, width: view.width * factor,
      height: view.height * factor});
    show();
  }, {passive: false});
  let held = null;
  svg.addEventListener("pointerdown", (event) => { held = {x: event.clientX, y: event.clientY}; });
  window.addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const shown = svg.getBoundingClientRect(), unit = Math.max(view.width / shown.width, view.height / shown.height);
    view.x -= (event.clientX - held.x) * unit;
    view.y -= (event.clientY - held.y) * unit;
    held = {x: event.clientX, y: event.clientY};
    show();
  });
  const isPart = size.width > view.width || size.height > view.height;
  return [svg, isPart ? make("p", {class: "small soft"}, "A part of the drawing: drag to move, Ctrl and wheel to zoom.") : ""];
}
