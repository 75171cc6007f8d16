// The e-graph around a value: its class with all terms, what they read, and the terms that read it.

function classTitle(model, entry) {
  const node = entry.planned.find((id) => isComputed(model.plan.nodes[id])) ?? entry.planned[0];
  return node === undefined ? `#${entry.id}` : `#${entry.id} ${describe(model.plan.nodes[node], node)}`;
}

function classBox(model, entry, kind) {
  const box = make("div", {class: `class ${kind}`}, link(classTitle(model, entry), {class: entry.id}), " ",
    make("span", {class: "soft mono"}, entry.type));
  if (kind !== "centre") return box;
  for (const term of entry.terms) box.append(termRow(term));
  return box;
}

function termRow(term) {
  return make("div", {class: "term"}, make("code", {}, term.text), " ",
    term.rule ? link(term.rule, {rule: term.rule}, "button") : make("span", {class: "soft"}, "as written"),
    term.unusable ? make("div", {class: "soft"}, `no kernel computes it: ${term.unusable}`) : "");
}

function pickedClass(model) {
  if (state.place.class !== undefined) return state.place.class;
  if (state.place.node !== undefined) return model.classOf(state.place.node);
  const kernel = model.byName.get(state.place.kernel);
  if (kernel && kernel.planned.length) return model.plan.class_of[kernel.planned[kernel.planned.length - 1]];
  const last = data.outputs.length ? model.classOf(data.outputs[0].node) : -1;
  return last >= 0 ? last : [...model.classes.keys()].pop();
}

function egraphTab(model) {
  const entry = model.classes.get(pickedClass(model));
  const many = [...model.classes.values()].filter((c) => c.terms.length > 1).length;
  const bar = make("div", {class: "bar-of-tools"}, make("span", {class: "soft"},
    `${model.classes.size} values, ${many} with more than one term. Two nodes in one class are equal; a rule's name says who found a term.`));
  const meanings = legend(["picked", "the class in view"], ["chip", "the rule that made a term"]);
  if (!entry) return [bar, make("p", {}, "No value is selected: pick a kernel or an op.")];
  const reads = [...new Set(entry.terms.flatMap((term) => term.reads))].map((id) => model.classes.get(id)).filter((c) => c);
  const readers = entry.readers.slice(0, 60);
  return [bar, meanings, make("div", {class: "around"},
    make("div", {}, make("h3", {}, `read by ${entry.readers.length} terms`), readers.map(([reader, number]) =>
      make("div", {class: "class"}, link(classTitle(model, reader), {class: reader.id}), make("div", {}, make("code", {}, reader.terms[number].text))))),
    make("div", {}, make("h3", {}, "the class and its terms"), classBox(model, entry, "centre"),
      make("h3", {}, "nodes of the graph with this value"), chips(entry.planned.map((id) => nodeChip(model, id))),
      entry.rules.length ? [make("h3", {}, "rules behind it"), chips(entry.rules.map((rule) => link(rule, {rule}, "button")))] : ""),
    make("div", {}, make("h3", {}, `reads ${reads.length} values`), reads.map((other) => classBox(model, other, ""))))];
}

// A planned node: if it stands for several iterations, the first is selected.
function nodeChip(model, planned) {
  const behind = model.nodesBehind(planned);
  const name = describe(model.plan.nodes[planned], planned);
  return behind.length ? link(name, {node: behind[0]}, "button") : make("span", {class: "chip"}, name);
}
