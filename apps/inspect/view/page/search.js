// The search box: kernels by title, number, op, node or rule. Its text is in the URL (#search=mlp).

function searchedText(kernel) {
  kernel.searched ??= [kernel.title, kernel.name, ...kernel.kind.ops, ...kernel.kind.rules, ...kernel.nodes,
    ...kernel.ids.map((id) => `%${id}`)].join("\n").toLowerCase();
  return kernel.searched;
}

// A number alone is a kernel's; at the end of a word it must match completely: layers.3 is not layers.30. A star is any
// number.
function wordFinds(word, kernel) {
  if (/^\d+$/.test(word)) return kernel.name === `kernel ${word}`;
  const literal = word.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "\\d+");
  return new RegExp(/\d$/.test(word) ? `${literal}(?!\\d)` : literal).test(searchedText(kernel));
}

// All words must match; without a search every kernel does.
function isFound(kernel) {
  const words = (state.place.search || "").toLowerCase().split(/\s+/).filter((word) => word);
  return words.every((word) => wordFinds(word, kernel));
}

const foundKernels = (model) => model.kernels.filter(isFound);

function showSearch(model) {
  const box = document.getElementById("search"), text = state.place.search || "";
  if (box.value !== text) box.value = text;
  document.getElementById("found").textContent = text ? `${foundKernels(model).length} of ${counted(model.kernels.length, "kernel")}` : "";
}

function search(text) {
  location.replace(hashOf({...state.place, search: text || undefined}));  // no history entry for each letter
}

function startSearch() {
  const box = document.getElementById("search");
  box.addEventListener("input", () => search(box.value));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      box.value = "";
      search("");
      box.blur();
    }
    if (event.key === "Enter") {
      state.place.search = box.value || undefined;
      const first = planRows(currentModel())[0];
      if (first) go({kernel: first.kernel.name});
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
}
