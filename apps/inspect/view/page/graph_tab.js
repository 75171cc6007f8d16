// The graph as kernels: one box for each, or one for all iterations of a loop.

const kMostBoxes = 4000;

function kernelBox(model, group) {
  const kernel = group.kernels[0];
  const us = group.kernels.reduce((sum, k) => sum + model.timeOf(k), 0);
  const share = model.total > 0 ? us / model.total : 0;
  const roof = model.boundOf(kernel) / model.timeOf(kernel);
  const loop = state.rolled && group.loop > 0 ? ` in a loop of ${model.plan.trips[group.loop]}` : "";
  const faded = group.kernels.some(isFound) ? "" : " faded";
  return {kind: `kernel${loop ? " looped" : ""}${faded}`, target: {kernel: kernel.name}, title: titleOf(group.kernels), titleLines: 2,
    small: [namesOf(group.kernels) + loop, kernel.kind.result], share, roof, width: 240, height: 96, group, foot: `${micros(us)}, ${percent(share)}`};
}

function leafBox(leaf) {
  return {kind: leaf.node.role, target: {planned: leaf.leaf}, title: leaf.node.name, isLeaf: true, small: [leaf.node.type],
    width: 190, height: 42};
}

function boxElement(box, picked) {
  const room = box.width - 18, title = box.isLeaf ? [ending(box.title, room, kBold)] : fittedLines(box.title, room, box.titleLines || 1, kBold);
  const small = box.small.map((line) => ellipsized(line, room, kSmall));
  const parts = [make("svg:rect", {width: box.width, height: box.height}), make("svg:title", {}, [box.title, ...box.small].join("\n"))];
  [...title, ...small].forEach((line, i) => parts.push(make("svg:text", {x: 9, y: 17 + 15 * i,
    class: i < title.length ? "name" : "soft"}, line)));
  if (box.foot) {
    const y = box.height - 19, width = box.width - 118;
    parts.push(make("svg:text", {x: 9, y: box.height - 9, class: "soft"}, box.foot));
    parts.push(make("svg:rect", {class: "used", x: 108, y: y + 4, height: 8, width: Math.max(1, width * Math.min(1, box.share))}));
    if (box.roof > 0) parts.push(make("svg:rect", {class: "reach", x: 108 + width * Math.min(1, box.share * Math.min(1, box.roof)),
      y: y + 1, height: 14, width: 2}));
  }
  return make("svg:g", {class: `box ${box.kind}${picked ? " picked" : ""}`, transform: `translate(${box.x} ${box.y})`,
    "data-kernel": box.target.kernel, onclick: () => go(box.target)}, parts);
}

function isPicked(box) {
  const place = state.place;
  if (box.group) return box.group.kernels.some((kernel) => kernel.name === place.kernel) || box.group.nodes.has(pickedNode(box));
  return false;
}

function pickedNode(box) {
  if (state.place.node === undefined) return -1;
  return state.rolled ? currentModel().plannedOf(state.place.node) : state.place.node;
}

function graphTab(model) {
  const tools = [make("span", {class: "soft"}, model.isRolled && state.rolled ? `rolled: ${model.plan.rolled}` :
    `${data.nodes.filter((node) => node).length} nodes, ${counted(model.kernels.length, "kernel")}`)];
  if (model.isRolled) {
    tools.unshift(make("button", {onclick: () => go({trips: state.rolled ? "all" : undefined})},
      state.rolled ? "show every iteration" : "roll iterations up"));
  }
  const bar = [make("div", {class: "bar-of-tools"}, tools), legend(["bar", "share of the plan's time"], ["mark", kRooflineMeaning],
    ["kernel", "kernel"], model.isRolled && state.rolled ? ["kernel looped", "in each iteration of a loop"] : [], ["input", "input"], ["state", "state"],
    model.isRolled && state.rolled ? ["carried", "from the iteration before"] : [], ["picked", "selected"])];
  const groups = model.groups(state.rolled);
  if (groups.length > kMostBoxes) {
    return [bar, make("p", {}, `${groups.length} kernels are too many to draw; the tab "plan" lists them.`)];
  }
  const {edges, leaves} = model.edges(groups, state.rolled);
  const boxOf = new Map([...groups.map((group) => [group, kernelBox(model, group)]), ...leaves.map((leaf) => [leaf, leafBox(leaf)])]);
  const boxes = [...boxOf.values()];
  if (!boxes.length) return [bar, make("p", {}, "The plan has no kernels: nothing has to be computed.")];
  const lines = edges.map(([from, to, carried]) => [boxOf.get(from), boxOf.get(to), carried]);
  const size = layOut(boxes, lines);
  const paths = lines.map(([from, to, carried]) => make("svg:path", {d: edgePath(from, to),
    class: `edge${carried ? " carried" : ""}${isPicked(from) || isPicked(to) ? " picked" : ""}`}));
  const height = Math.max(240, Math.min(size.height, contentHeight() - 150));
  return [bar, drawing(size, [paths, boxes.map((box) => boxElement(box, isPicked(box)))], {width: contentWidth(), height}, boxes.find(isPicked) || firstFound(boxes))];
}

// The target of a search: the first kernel found.
const firstFound = (boxes) => state.place.search ? boxes.find((box) => box.group && !box.kind.includes("faded")) : undefined;

// The ops of one kernel and what they read, for the panel.
function opDrawing(model, kernel) {
  const inside = new Set(kernel.planned), nodes = model.plan.nodes;
  if (inside.size === 0 || inside.size > 160) return "";
  const boxOf = new Map(), edges = [];
  const boxFor = (id) => {
    if (!boxOf.has(id)) {
      const node = nodes[id], own = inside.has(id);
      const name = node.op === "input" ? node.name : node.title;
      boxOf.set(id, {id, kind: own ? "kernel" : node.role || "other", target: {planned: id}, width: 138, height: 40,
        title: own || node.op === "input" ? name : `%${id} ${name}`, isLeaf: node.op === "input", small: [node.type]});
    }
    return boxOf.get(id);
  };
  const reach = (id, found, seen) => {  // through views, to a computed node, a leaf or a constant
    if (seen.has(id)) return;
    seen.add(id);
    const node = nodes[id];
    if (node.op === "view") node.inputs.forEach((input) => reach(input, found, seen));
    else found.add(id);
  };
  for (const id of kernel.planned) {
    const found = new Set(), seen = new Set();
    nodes[id].inputs.forEach((input) => reach(input, found, seen));
    for (const from of found) edges.push([boxFor(from), boxFor(id), false]);
    boxFor(id);
  }
  const boxes = [...boxOf.values()].sort((a, b) => a.id - b.id), size = layOut(boxes, edges, {x: 12, y: 26});
  const paths = edges.map(([from, to]) => make("svg:path", {d: edgePath(from, to), class: "edge"}));
  const picked = state.place.node === undefined ? -1 : model.plannedOf(state.place.node);
  return drawing(size, [paths, boxes.map((box) => boxElement(box, box.id === picked))], {width: panelWidth(), height: Math.min(size.height, 420)},
    boxes.find((box) => box.id === picked));
}
