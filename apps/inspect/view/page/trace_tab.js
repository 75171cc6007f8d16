// One run as a timeline, and its longest steps.

const kMostSteps = 60;

function traceTab(model) {
  if (!model.runs.length) return [make("p", {}, "Nothing was run: `luminal view --runs N` traces N runs of each plan.")];
  const chosen = model.runs.includes(state.run) ? state.run : model.runs[model.runs.length - 1];
  const events = data.trace.events.filter((event) => event.run === chosen);
  const whole = events.find((event) => event.kind === "run"), steps = events.filter((event) => event.kind !== "run");
  const choice = make("select", {"aria-label": "run"}, model.runs.map((run, i) => make("option", {value: run, selected: run === chosen ? "" : undefined},
    `run ${i}${i === 0 ? ", with what is done once" : ""}`)));
  choice.addEventListener("change", () => { state.run = Number(choice.value); draw(); });
  const bar = make("div", {class: "bar-of-tools"}, choice, make("span", {class: "soft"},
    `${micros(whole.us)} at ${data.trace.sizes_of_run[chosen] || "fixed sizes"}; steps ${micros(steps.reduce((sum, e) => sum + e.us, 0))}. ` +
    `The machine reads ${amount(data.trace.bytes_per_second, "B/s")} and computes ${amount(data.trace.flops_per_second, "F/s")}. Ctrl and wheel zooms.`));
  const meanings = legend(["run", "the run"], ["bar", "a kernel"], ["host", "a host step or copy"], ["picked", "selected"]);
  const found = steps.filter((event) => isFoundStep(model, event)).sort((a, b) => b.us - a.us);
  const title = make("h3", {}, found.length > kMostSteps ? `the ${kMostSteps} longest steps of ${found.length}` : "steps, the longest first");
  return [bar, meanings, timeLine(model, whole, steps), title, found.length ? stepTable(model, found.slice(0, kMostSteps)) : nothingFound()];
}

// A search finds kernels only, no other steps.
function isFoundStep(model, event) {
  return model.byName.has(event.name) ? isFound(model.byName.get(event.name)) : !state.place.search;
}

const stepTitle = (model, event) => model.byName.has(event.name) ? titleOf([model.byName.get(event.name)]) : event.name;

function timeLine(model, whole, steps) {
  const width = contentWidth(), scale = width / Math.max(whole.us, 1e-9), row = 46;
  const mark = (event, y, faded) => {
    const wide = Math.max(0.75, event.us * scale), title = stepTitle(model, event);
    const picked = event.name === state.place.kernel;
    return make("svg:g", {class: `event ${event.kind}${picked ? " picked" : ""}${faded ? " faded" : ""}`, "data-kernel": event.name,
      transform: `translate(${(event.start_us - whole.start_us) * scale} ${y})`, onclick: () => event.kind === "kernel" && go({kernel: event.name})},
      make("svg:rect", {width: wide, height: row - 10}), make("svg:title", {}, `${title}\n${event.name}: ${micros(event.us)}`),
      wide > 60 ? make("svg:text", {x: 5, y: 22}, ellipsized(title, wide - 10, kBold)) : "");
  };
  const marks = steps.map((event) => mark(event, 6 + row, !isFoundStep(model, event)));
  return drawing({width, height: 2 * row + 8}, [mark(whole, 6, false), marks], {width, height: 2 * row + 8});
}

function stepTable(model, events) {
  const number = (text) => make("td", {class: "number"}, text);
  const rows = events.map((event) => {
    const bound = 1e6 * Math.max(event.bytes / data.trace.bytes_per_second, event.flops / data.trace.flops_per_second);
    const kernel = model.byName.get(event.name);
    const cell = kernel ? kernelCell(stepTitle(model, event), kernel, `${event.name} · ${event.reads.join(", ")} → ${event.writes.join(", ")}`) :
      make("td", {}, event.name);
    return make("tr", {class: `row${event.name === state.place.kernel ? " picked" : ""}`, onclick: () => kernel && go({kernel: event.name})},
      cell, number(micros(event.us)), number(event.bytes ? brief(event.bytes / event.us / 1e3) : ""),
      number(event.flops ? brief(event.flops / event.us / 1e3) : ""), number(event.bytes ? percent(bound / event.us) : ""));
  });
  const head = ["step", "time", "GB/s", "GF/s", "roofline"].map((name, i) => make("th", {class: i ? "number" : ""}, name));
  return make("table", {class: "steps"}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows));
}
