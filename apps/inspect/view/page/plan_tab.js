// The plan as a table, the slowest kernel first: the time of each, and how near it is to the machine's peak.

const planColumns = {
  kernel: (row) => row.order, time: (row) => -row.us, share: (row) => -row.us, "of the plan": (row) => -row.us,
  "at least": (row) => -row.bound, roofline: (row) => row.bound / row.us,
};

function planRows(model) {
  const rows = new Map();
  model.kernels.forEach((kernel, order) => {
    if (!isFound(kernel)) return;
    const key = state.everyKernel ? kernel.name : kernel.kindNumber;
    if (!rows.has(key)) rows.set(key, {kernel, order, kernels: [], us: 0, bound: 0});
    const row = rows.get(key);
    row.kernels.push(kernel);
    row.us += model.timeOf(kernel);
    row.bound += model.boundOf(kernel);
  });
  const sort = planColumns[state.sortBy];
  return [...rows.values()].sort((a, b) => sort(a) - sort(b) || a.order - b.order);
}

// A kernel by its title; number and details are a small line that may be cut with an ellipsis.
function kernelCell(title, kernel, details) {
  return make("td", {}, link(title, {kernel: kernel.name}), make("div", {class: "small soft cut", title: details}, details));
}

function planRow(model, row, most) {
  const {kernel, kernels} = row, picked = kernels.some((k) => k.name === state.place.kernel);
  const details = [namesOf(kernels), kernel.kind.result, kernel.kind.ops.join(", ")].join(" · ");
  const number = (text) => make("td", {class: "number"}, text);
  return make("tr", {class: `row${picked ? " picked" : ""}`, "data-kernel": kernel.name, onclick: () => go({kernel: kernel.name})},
    kernelCell(titleOf(kernels), kernel, details), number(micros(row.us)), make("td", {}, meter(row.us, most, row.bound)),
    number(percent(model.total > 0 ? row.us / model.total : 0)), number(micros(row.bound)), number(percent(row.us > 0 ? row.bound / row.us : 0)));
}

function planTab(model) {
  const rows = planRows(model), most = Math.max(...rows.map((row) => row.us), 1e-9);
  const source = model.isTraced ? `traced, the median of ${Math.max(1, model.runs.length - 1)} runs` : "by the model";
  const bar = make("div", {class: "bar-of-tools"},
    make("button", {onclick: () => { state.everyKernel = !state.everyKernel; draw(); }},
      state.everyKernel ? "group equal kernels" : "show every kernel"),
    make("span", {class: "soft"}, `${counted(model.kernels.length, "kernel")}, ${micros(model.total)} ${source}` +
      `${model.plan.sizes ? ` at ${model.plan.sizes}` : ""}; by the model ${micros(model.plan.us)}. Click a column's name to sort.`));
  const meanings = legend(["bar", "time; the slowest row fills it"], ["mark", kRooflineMeaning], ["picked", "selected"]);
  const head = make("tr", {}, Object.keys(planColumns).map((name) => make("th", {class: name === "kernel" || name === "share" ? "" : "number",
    "aria-sort": name === state.sortBy ? "other" : "none", onclick: () => { state.sortBy = name; draw(); }}, name)));
  if (!rows.length) return [bar, nothingFound()];
  return [bar, meanings, make("table", {class: "steps"}, make("thead", {}, head), make("tbody", {}, rows.map((row) => planRow(model, row, most))))];
}

const nothingFound = () => make("p", {}, `No kernel of this plan matches "${state.place.search}". Escape in the search box shows all.`);
