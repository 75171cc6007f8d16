// The plan as a table: what each kernel takes, and how near that is to what the machine can do.

const planColumns = [
  ["kernel", (row) => row.order], ["computes"], ["stores"], ["time", (row) => -row.us], ["", (row) => -row.us],
  ["of the plan", (row) => -row.us], ["at least", (row) => -row.bound], ["roofline", (row) => row.bound / row.us], ["rules"],
];

function planRows(model) {
  const byKind = new Map();
  model.kernels.forEach((kernel, order) => {
    const key = state.everyKernel ? kernel.name : kernel.kindNumber;
    if (!byKind.has(key)) byKind.set(key, {kernel, order, kernels: [], us: 0, bound: 0});
    const row = byKind.get(key);
    row.kernels.push(kernel);
    row.us += model.timeOf(kernel);
    row.bound += model.boundOf(kernel);
  });
  const sort = planColumns[state.sortBy]?.[1] || ((row) => row.order);
  return [...byKind.values()].sort((a, b) => sort(a) - sort(b) || a.order - b.order);
}

function planTab(model) {
  const rows = planRows(model), most = Math.max(...rows.map((row) => row.us), 1e-9);
  const source = model.isTraced ? `traced, the median of ${Math.max(1, model.runs.length - 1)} runs` : "by the model";
  const bar = make("div", {class: "bar-of-tools"},
    make("button", {onclick: () => { state.everyKernel = !state.everyKernel; draw(); }},
      state.everyKernel ? "those alike together" : "every kernel"),
    make("span", {class: "soft"}, `${counted(model.kernels.length, "kernel")}, ${micros(model.total)} ${source}` +
      `${model.plan.sizes ? ` at ${model.plan.sizes}` : ""}; by the model ${micros(model.plan.us)}. A title sorts.`));
  const head = make("tr", {}, planColumns.map(([title, sort], i) => make("th", {class: i > 2 && i !== 4 && i < 8 ? "number" : "",
    onclick: sort && (() => { state.sortBy = i; draw(); })}, title)));
  const body = rows.map((row) => {
    const {kernel, kernels} = row, picked = kernels.some((k) => k.name === state.place.kernel);
    return make("tr", {class: `row${picked ? " picked" : ""}`, "data-kernel": kernel.name, onclick: () => go({kernel: kernel.name})},
      make("td", {style: "white-space:nowrap"}, link(kernel.name, {kernel: kernel.name}), kernels.length > 1 ? make("span", {class: "soft"}, ` ×${kernels.length}`) : "",
        kernel.kind.title ? make("div", {class: "title"}, kernel.kind.title) : ""),
      make("td", {}, shortened(kernel.kind.ops.join(", "), 70)),
      make("td", {class: "mono"}, shortened(kernel.kind.result, 40)),
      make("td", {class: "number"}, micros(row.us)),
      make("td", {}, meter(row.us, most, row.bound)),
      make("td", {class: "number"}, percent(model.total > 0 ? row.us / model.total : 0)),
      make("td", {class: "number"}, micros(row.bound)),
      make("td", {class: "number"}, percent(row.us > 0 ? row.bound / row.us : 0)),
      make("td", {class: "number"}, String(kernel.kind.rules.length)));
  });
  return [bar, make("table", {}, make("thead", {}, head), make("tbody", {}, body))];
}
