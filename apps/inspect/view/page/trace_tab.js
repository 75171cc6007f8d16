// One run as a line of time.

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
  const width = contentWidth(), scale = width / Math.max(whole.us, 1e-9), row = 46;
  const at = (event) => (event.start_us - whole.start_us) * scale;
  const mark = (event, y) => {
    const wide = Math.max(0.75, event.us * scale);
    return make("svg:g", {class: `event ${event.kind}${event.name === state.place.kernel ? " picked" : ""}`, "data-kernel": event.name,
      transform: `translate(${at(event)} ${y})`, onclick: () => event.kind === "kernel" && go({kernel: event.name})},
      make("svg:rect", {width: wide, height: row - 10}), make("svg:title", {}, `${event.name}: ${micros(event.us)}`),
      wide > 60 ? make("svg:text", {x: 5, y: 22}, shortened(event.name, Math.floor(wide / 8))) : "");
  };
  const svg = drawing({width, height: 2 * row + 8}, [mark(whole, 6), steps.map((event) => mark(event, 6 + row))], {width, height: 2 * row + 8});
  const list = [...steps].sort((a, b) => b.us - a.us).slice(0, 60);
  const table = make("table", {}, make("thead", {}, make("tr", {}, ["step", "time", "GB/s", "GF/s", "roofline", "reads", "writes"].map((title) =>
    make("th", {}, title)))), make("tbody", {}, list.map((event) => {
    const bound = 1e6 * Math.max(event.bytes / data.trace.bytes_per_second, event.flops / data.trace.flops_per_second);
    const isKernel = model.byName.has(event.name);
    return make("tr", {class: `row${event.name === state.place.kernel ? " picked" : ""}`, onclick: () => isKernel && go({kernel: event.name})},
      make("td", {}, isKernel ? link(event.name, {kernel: event.name}) : event.name), make("td", {class: "number"}, micros(event.us)),
      make("td", {class: "number"}, event.bytes ? (event.bytes / event.us / 1e3).toPrecision(3) : ""),
      make("td", {class: "number"}, event.flops ? (event.flops / event.us / 1e3).toPrecision(3) : ""),
      make("td", {class: "number"}, event.bytes ? percent(bound / event.us) : ""),
      make("td", {class: "mono"}, shortened(event.reads.join(", "), 60)), make("td", {class: "mono"}, shortened(event.writes.join(", "), 40)));
  })));
  return [bar, svg, make("h3", {}, steps.length > 60 ? "the 60 longest steps" : "steps, the longest first"), table];
}
