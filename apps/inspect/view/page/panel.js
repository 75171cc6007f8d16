// Details of the selected item, with links to everything related.

function panelOf(model) {
  const {kernel, node, rule} = state.place, entry = state.place.class;
  if (kernel !== undefined) return model.byName.has(kernel) ? kernelPanel(model, model.byName.get(kernel)) : missing(`there is no ${kernel} in this plan`);
  if (node !== undefined) return data.nodes[node] ? nodePanel(model, node) : missing(`there is no node %${node}`);
  if (entry !== undefined) return model.classes.has(entry) ? classPanel(model, model.classes.get(entry)) : missing(`there is no class #${entry}`);
  if (rule !== undefined) return rulePanel(model, rule);
  return [make("h2", {}, "Nothing selected"), make("p", {class: "soft"}, "Click a kernel, an op, a step, a class or a rule."),
    facts([["/", "search kernels by title, number, op, node or rule"], ["Enter", "open the first hit"], ["Escape", "clear the search"]])];
}

const missing = (text) => [make("h2", {}, "Not here"), make("p", {class: "soft"}, text)];

function rivalLine(rival) {
  const what = rival.other ? `by ${rival.other} instead of ${rival.taken}`
    : rival.stores ? "stored" : `computed by ${rival.readers.join(", ")}`;
  const id = (idsByDescription.get(rival.value) || [])[0];
  return make("li", {}, id === undefined ? rival.value : link(rival.value, {node: id}), ` ${what}: `,
    rival.why ? `no plan: ${rival.why}` : `${signedMicros(rival.extra_us)} by the model`);
}

function kernelPanel(model, kernel) {
  const kind = kernel.kind, traced = kernel.traced;
  const alike = model.kernels.filter((other) => other.kindNumber === kernel.kindNumber && other !== kernel);
  const us = model.timeOf(kernel), bound = model.boundOf(kernel);
  return [
    make("h2", {}, titleOf([kernel])), make("p", {class: "soft"}, kernel.name), meter(us, Math.max(us, bound), bound),
    facts([
      ["computes", make("span", {class: "mono"}, kind.result)],
      traced && ["traced", `${micros(traced.us)}, the median of ${counted(traced.runs, "run")} on ${counted(traced.threads, "thread")}; the fastest ${micros(traced.least)}: ` +
        `${amount(traced.bytes / traced.us * 1e6, "B/s")}, ${amount(traced.flops / traced.us * 1e6, "F/s")}`],
      traced && ["roofline", `${percent(traced.share)}: ${amount(traced.bytes, "B")} and ${amount(traced.flops, "F")} take at least ${micros(traced.bound)}` +
        `${traced.share > 1 ? "; above 100 % its data came from a cache" : ""}`],
      [kind.source, `${micros(kind.us)}, ${percent(kind.share)} of the plan with those alike`],
      ["model's bound", `${micros(kind.bound_us)} by ${kind.bound_by} (bytes ${micros(kind.bytes_us)}, arithmetic ${micros(kind.flops_us)}, launch ${micros(kind.launch_us)})`],
      ["launch", kernel.launch >= 0 ? `${kernel.launch}${launchMates(model, kernel)}` : "once, after weights are set"],
      ["compiled", kind.by_library ? `not: ${kind.library} computes it` : `in ${kind.compile_ms.toFixed(1)} ms${kind.from_cache ? ", from the cache" : ""}`],
      kind.why_no_library && ["library", kind.why_no_library],
      alike.length && ["alike", chips(alike.slice(0, 40).map((other) => kernelLink(other))), alike.length > 40 ? ` and ${alike.length - 40} more` : ""],
    ]),
    make("h3", {}, `source ops (${kernel.ids.length})`), make("p", {class: "soft"}, kind.ops.join(", ")), opDrawing(model, kernel),
    listed(kernel.ids, 80, (id) => link(describe(data.nodes[id], id), {node: id}, "button")),
    make("h3", {}, `rules (${kind.rules.length})`), kind.rules.length ? chips(kind.rules.map((rule) => link(rule, {rule}, "button"))) :
      make("p", {class: "soft"}, "none: its terms are the graph's own"),
    kind.beat.length ? [make("h3", {}, "what it was chosen over"), make("ul", {}, kind.beat.map(rivalLine))] : "",
    kind.must_store.length ? [make("h3", {}, "stores whatever that takes"), make("ul", {}, kind.must_store.map((value) =>
      make("li", {}, `${value.value}: ${value.because}`)))] : "",
    kind.slow_paths.length ? [make("h3", {}, "slower paths"), make("ul", {}, kind.slow_paths.map((line) => make("li", {}, line)))] : "",
    make("h3", {}, "code"), make("pre", {id: "kernel-text"}, kind.text), folded("LLVM IR", kind.low_level), folded("assembly", kind.assembly),
  ];
}

function launchMates(model, kernel) {
  const mates = model.kernels.filter((other) => other.launch === kernel.launch && other !== kernel).map((other) => other.name);
  return mates.length ? `, beside ${mates.slice(0, 6).join(", ")}${mates.length > 6 ? " …" : ""}` : "";
}

function listed(items, most, element) {
  return [chips(items.slice(0, most).map(element)), items.length > most ? make("p", {class: "soft"}, `and ${items.length - most} more`) : ""];
}

function nodePanel(model, id) {
  const node = data.nodes[id], planned = model.plannedOf(id), kernels = model.kernelsOfNode.get(id) || [];
  const users = data.nodes.flatMap((other, user) => other && other.inputs.includes(id) ? [user] : []);
  const outputs = data.outputs.filter((output) => output.node === id).map((output) => output.name);
  const chip = (other) => link(describe(data.nodes[other], other), {node: other}, "button");
  const entry = model.classes.get(model.classOf(id));
  return [
    make("h2", {}, describe(node, id)),
    facts([
      ["node", `%${id}, ${node.title}`], ["type", make("span", {class: "mono"}, node.type)], ["role", node.role],
      outputs.length && ["is", outputs.join(", ")],
      model.isRolled && planned >= 0 && ["rolled", `%${planned}${model.plan.loops[planned] > 0 ? `, in a loop of ${model.plan.trips[model.plan.loops[planned]]} trips` : ", outside of loops"}`],
      ["kernels", kernels.length ? chips(kernels.slice(0, 20).map((kernel) => kernelLink(kernel))) :
        isComputed(node) ? "none: its value is computed by other terms, or not needed" : "none: it is how a kernel reads"],
      ["reads", node.inputs.length ? listed(node.inputs, 20, chip) : "nothing"], ["read by", users.length ? listed(users, 20, chip) : "nobody"],
    ]),
    entry ? [make("h3", {}, "its class"), classBox(model, entry, "centre"), make("p", {}, link("the e-graph around it", {class: entry.id, tab: "e-graph"}))] : "",
  ];
}

function classPanel(model, entry) {
  const ids = entry.planned.flatMap((planned) => model.nodesBehind(planned));
  const kernels = [...new Set(ids.flatMap((id) => model.kernelsOfNode.get(id) || []))];
  return [
    make("h2", {}, classTitle(model, entry)), facts([["type", make("span", {class: "mono"}, entry.type)],
      ["kernels", kernels.length ? chips(kernels.slice(0, 20).map((kernel) => kernelLink(kernel))) : "none"]]),
    make("h3", {}, "terms"), entry.terms.map(termRow), make("h3", {}, "nodes of the graph"),
    entry.planned.length ? chips(entry.planned.map((planned) => nodeChip(model, planned))) : make("p", {class: "soft"}, "none: a rule made it"),
    make("p", {}, link("the e-graph around it", {class: entry.id, tab: "e-graph"})),
  ];
}

function rulePanel(model, name) {
  const growth = data.rules.filter((rule) => rule.rule === name);
  const kernels = model.kernels.filter((kernel) => kernel.kind.rules.includes(name));
  const classes = [...model.classes.values()].filter((entry) => entry.rules.includes(name) || entry.terms.some((term) => term.rule === name));
  return [
    make("h2", {}, `rule ${name}`), facts(growth.length ? [["group", growth[0].group], ["class", growth[0].class],
      ...(growth[0].origin ? [["from", growth[0].origin]] : []), ["found", growth.map((rule) => `${rule.matches} matches, ${rule.new_nodes} new nodes, ${rule.unions} unions`).join("; ")]] : [["found", "nothing in this compile"]]),
    make("h3", {}, `kernels with terms of it (${kernels.length})`), listed(kernels, 60, (kernel) => kernelLink(kernel)),
    make("h3", {}, `values with terms of it (${classes.length})`), listed(classes, 60, (entry) => link(classTitle(model, entry), {class: entry.id}, "button")),
  ];
}
