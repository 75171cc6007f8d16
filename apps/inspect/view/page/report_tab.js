// The compile report: stages, rules, what is stored between kernels and why, notes.

function reportTab(model) {
  const row = (kind, cells, numbers) => make("tr", {}, cells.map((cell, i) => make(kind, {class: numbers.includes(i) ? "number" : ""}, cell)));
  const table = (titles, rows, numbers = []) => make("table", {}, make("thead", {}, row("th", titles, numbers)), make("tbody", {}, rows.map((cells) => row("td", cells, numbers))));
  const stored = data.stored.filter((value) => model.byName.has(value.kernel));
  const nodeOf = (value) => (idsByDescription.get(value) || [])[0];
  return [
    make("h3", {}, "stages"), table(["stage", "ms", "what came out"], data.stages.map((stage) => [stage.name, stage.ms.toFixed(2), stage.summary]), [1]),
    make("h3", {}, "rules that found something"), table(["rule", "group", "class", "matches", "new nodes", "unions"], data.rules.map((rule) =>
      [link(rule.rule, {rule: rule.rule}), rule.group, rule.class, String(rule.matches), String(rule.new_nodes), String(rule.unions)]), [3, 4, 5]),
    make("h3", {}, "stored between kernels"), table(["value", "type", "by", "read by", "because"], stored.slice(0, 400).map((value) =>
      [nodeOf(value.value) === undefined ? value.value : link(value.value, {node: nodeOf(value.value)}), make("code", {}, value.type),
        kernelLink(model.byName.get(value.kernel), "a"), value.readers.map((reader) => [model.byName.has(reader) ? kernelLink(model.byName.get(reader), "a") : reader, " "]),
        value.because + (value.why ? `: ${value.why}` : "") + (value.extra_us ? `, ${signedMicros(value.extra_us)}` : "")])),
    make("h3", {}, "working memory"), table(["at", "bytes", "without sharing", "kept of weights"], data.memory.map((memory) =>
      [memory.sizes || "fixed sizes", amount(memory.peak, "B"), amount(memory.unshared, "B"), amount(memory.folded, "B")]), [1, 2, 3]),
    data.notes.length ? [make("h3", {}, "notes"), make("ul", {}, data.notes.map((note) => make("li", {}, note)))] : "",
  ];
}
