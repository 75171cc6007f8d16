// The current view is in the URL (#tab=plan&kernel=3), so that links, "back" and bookmarks work.

const tabs = {plan: planTab, graph: graphTab, trace: traceTab, "e-graph": egraphTab, report: reportTab};
const state = {place: {}, rolled: true, everyKernel: false, sortBy: "time", run: -1};
const selections = ["kernel", "node", "class", "rule"];

const currentModel = () => models[state.place.plan ?? 0] || models[0];

function hashOf(place) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) if (value !== undefined) words.set(name, value);
  return "#" + words.toString();
}

function placeOf(hash) {
  const place = {};
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (["node", "class", "plan"].includes(name)) place[name] = Number(value);
    else if (name === "kernel") place[name] = /^\d+$/.test(value) ? `kernel ${value}` : value;
    else if (["rule", "tab", "trips", "search"].includes(name)) place[name] = value;
  }
  if (place.kernel !== undefined && place.plan === undefined) {  // #kernel=3 finds its plan
    const found = models.findIndex((model) => model.byName.has(place.kernel));
    if (found > 0) place.plan = found;
  }
  return place;
}

// Selecting one thing deselects the previous one; tab, plan and search stay unless given.
function go(target) {
  const place = {tab: state.place.tab, plan: state.place.plan, trips: state.place.trips, search: state.place.search};
  if (target.planned !== undefined) {
    const model = currentModel(), behind = state.rolled ? model.nodesBehind(target.planned) : [target.planned];
    target = behind.length ? {node: behind[0]} : {class: model.plan.class_of[target.planned]};
  }
  if (!selections.some((name) => target[name] !== undefined)) for (const name of selections) place[name] = state.place[name];
  const hash = hashOf({...place, ...target});
  if (hash === location.hash) draw();
  else location.hash = hash;
}

function draw() {
  const model = currentModel(), tab = tabs[state.place.tab] ? state.place.tab : "plan";
  document.getElementById("tabs").replaceChildren(...Object.keys(tabs).map((name) =>
    make("button", {"aria-selected": String(name === tab), onclick: () => go({tab: name})}, name)));
  showSearch(model);
  document.getElementById("panel").replaceChildren(...[panelOf(model)].flat(Infinity).filter((part) => part !== "" && part !== undefined));
  document.getElementById("content").replaceChildren(...[tabs[tab](model)].flat(Infinity).filter((part) => part !== ""));
  document.documentElement.dataset.drawn = tab;
}

function start() {
  document.title = `${data.name} — luminal view`;
  document.getElementById("name").textContent = data.name;
  document.getElementById("summary").textContent = `luminal ${data.version}, ${data.target}`;
  const plans = document.getElementById("plans");
  plans.replaceChildren(...models.map((model) => make("option", {value: model.number},
    `plan${model.plan.variant ? ` for ${model.plan.variant}` : ""}: ${counted(model.kernels.length, "kernel")}, ${micros(model.total)}`)));
  plans.addEventListener("change", () => {  // kernels belong to one plan
    state.place = {tab: state.place.tab, search: state.place.search, node: state.place.node};
    go({plan: Number(plans.value)});
  });
  const arrive = () => {
    state.place = placeOf(location.hash);
    state.rolled = state.place.trips !== "all";
    plans.value = String(currentModel().number);
    draw();
  };
  window.addEventListener("hashchange", arrive);
  window.addEventListener("resize", draw);  // drawings are made for the available space
  startSearch();
  arrive();
}

start();
