// A plan with what follows from the data: which nodes a kernel computes, who reads what it stores, and its time.

const idsByDescription = new Map();
data.nodes.forEach((node, id) => {
  if (!node) return;
  const name = describe(node, id);
  if (!idsByDescription.has(name)) idsByDescription.set(name, []);
  idsByDescription.get(name).push(id);
});

// Views, constants and index values are how kernels read, not what they compute.
const isComputed = (node) => !["view", "input", "constant", "iota"].includes(node.op);

class PlanModel {
  constructor(plan, number) {
    this.plan = plan;
    this.number = number;
    this.isRolled = plan.rolled !== "";
    this.kernels = plan.kernels.map((kernel) => ({...kernel, kind: plan.kinds[kernel.kind], kindNumber: kernel.kind,
      ids: kernel.nodes.flatMap((name) => idsByDescription.get(name) || [])}));
    this.byName = new Map(this.kernels.map((kernel) => [kernel.name, kernel]));
    this.kernelsOfNode = new Map();
    for (const kernel of this.kernels) {
      kernel.planned = [...new Set(kernel.ids.map((id) => this.plannedOf(id)).filter((id) => id >= 0))];
      for (const id of kernel.ids) this.add(this.kernelsOfNode, id, kernel);
    }
    this.findLeaves();
    this.findTimes();
    this.findClasses();
  }

  // Leaves of a rolled graph stand for weights and states of each iteration, or for values carried between iterations.
  findLeaves() {
    this.standsFor = new Map(this.isRolled ? this.plan.markers.map((marker) => [marker.leaf, marker]) : []);
    this.plan.nodes.forEach((node, id) => {
      if (!node || node.op !== "input") return;
      const first = this.standsFor.has(id) ? this.standsFor.get(id).first : this.nodesBehind(id)[0];
      const original = first === undefined ? node : data.nodes[first];
      node.role = original.op === "input" ? original.role : "carried";
    });
  }

  add(map, key, value) {
    if (!map.has(key)) map.set(key, []);
    map.get(key).push(value);
  }

  plannedOf(id) { return this.isRolled ? this.plan.places[id] : id; }
  classOf(id) { const planned = this.plannedOf(id); return planned >= 0 ? this.plan.class_of[planned] : -1; }

  // Nodes of the graph behind a planned one: one per iteration.
  nodesBehind(planned) {
    if (!this.isRolled) return [planned];
    if (this.standsFor.has(planned)) return [this.standsFor.get(planned).first];
    if (!this.behind) {
      this.behind = new Map();
      this.plan.places.forEach((place, id) => { if (place >= 0) this.add(this.behind, place, id); });
    }
    return this.behind.get(planned) || [];
  }

  // Medians over runs; the first run includes one-time work, and counts only if it is the only one.
  findTimes() {
    const runs = data.trace.plan_of_run.flatMap((plan, run) => plan === this.number ? [run] : []);
    const counted = new Set(runs.length > 1 ? runs.slice(1) : runs);
    const times = new Map();
    for (const event of data.trace.events) {
      if (event.kind === "kernel" && counted.has(event.run)) this.add(times, event.name, event);
    }
    for (const kernel of this.kernels) {
      const events = times.get(kernel.name);
      if (!events) continue;
      const event = events[0], us = median(events.map((e) => e.us));
      const bound = 1e6 * Math.max(event.bytes / data.trace.bytes_per_second, event.flops / data.trace.flops_per_second);
      kernel.traced = {us, least: Math.min(...events.map((e) => e.us)), runs: events.length, bound, share: us > 0 ? bound / us : 0, bytes: event.bytes, flops: event.flops,
        threads: event.threads};
    }
    this.runs = runs;
    this.isTraced = this.kernels.some((kernel) => kernel.traced);
    this.total = this.kernels.reduce((sum, kernel) => sum + this.timeOf(kernel), 0);
  }

  // The time that its row and box show: traced if it ran.
  timeOf(kernel) { return kernel.traced ? kernel.traced.us : kernel.kind.us; }
  boundOf(kernel) { return kernel.traced ? kernel.traced.bound : kernel.kind.bound_us; }

  findClasses() {
    this.classes = new Map(this.plan.classes.map((entry) => [entry.id, {...entry, readers: [], planned: []}]));
    this.plan.class_of.forEach((id, planned) => { if (this.classes.has(id)) this.classes.get(id).planned.push(planned); });
    for (const entry of this.classes.values()) {
      entry.terms.forEach((term, number) => {
        for (const id of new Set(term.reads)) if (this.classes.has(id)) this.classes.get(id).readers.push([entry, number]);
      });
    }
  }

  // Boxes for the drawing: kernels that compute the same planned nodes are one box, or each has its own.
  groups(rolled) {
    const groups = new Map();
    for (const kernel of this.kernels) {
      const key = rolled ? `${kernel.kindNumber}:${this.lastNode(kernel)}` : kernel.name;
      if (!groups.has(key)) groups.set(key, {kernels: [], nodes: new Set(), loop: this.loopOf(kernel)});
      groups.get(key).kernels.push(kernel);
      for (const id of rolled ? kernel.planned : kernel.ids) groups.get(key).nodes.add(id);
    }
    return [...groups.values()];
  }

  // The loop that has most of what it computes: values that iterations share are in kernels outside, too.
  loopOf(kernel) {
    if (!this.isRolled) return 0;
    const loops = kernel.planned.map((id) => this.plan.loops[id]), inside = loops.filter((loop) => loop > 0);
    return 2 * inside.length > loops.length ? inside[0] : 0;
  }

  // Its last computed node: the same planned node in every iteration.
  lastNode(kernel) {
    const loop = this.loopOf(kernel);
    return Math.max(-1, ...kernel.planned.filter((id) => !loop || this.plan.loops[id] === loop));
  }

  // [from, to, carried] between groups; a leaf is {leaf: id}. Edges pass through views, which move no data.
  edges(groups, rolled) {
    const nodes = rolled ? this.plan.nodes : data.nodes;
    const markers = rolled ? this.standsFor : new Map();
    const homes = new Map();
    for (const group of groups) for (const id of group.nodes) this.add(homes, id, group);
    const storing = this.storingKernels();
    const edges = new Map(), leaves = new Map();
    const connect = (from, to, carried) => {
      if (!edges.has(from)) edges.set(from, new Map());
      const known = edges.get(from).get(to);
      edges.get(from).set(to, known === undefined ? carried : known && carried);
    };
    const visit = (id, group, carried, seen) => {
      if (seen.has(id)) return;
      seen.add(id);
      const node = nodes[id];
      if (markers.has(id) && markers.get(id).of.length) {  // from the previous iteration, or from outside of the loop
        const loop = this.plan.loops[id];
        return markers.get(id).of.forEach((of) => visit(of, group, loop > 0 && this.plan.loops[of] === loop, seen));
      }
      if (node.op === "input") {
        if (node.role === "weight") return group.weights.add(id);
        if (!leaves.has(id)) leaves.set(id, {leaf: id, node});
        return connect(leaves.get(id), group, carried);
      }
      if (!isComputed(node)) return node.inputs.forEach((input) => visit(input, group, carried, seen));
      if (group.nodes.has(id) && !carried) return;
      const makers = homes.get(id) || [];
      const names = (rolled ? this.nodesBehind(id) : [id]).map((behind) => storing.get(behind));
      const stores = makers.filter((maker) => maker.kernels.some((kernel) => names.includes(kernel.name)));
      for (const maker of (stores.length ? stores : makers.slice(0, 1))) connect(maker, group, carried);
    };
    for (const group of groups) {
      group.weights = new Set();
      const seen = new Set();
      for (const id of group.nodes) for (const input of nodes[id].inputs) visit(input, group, false, seen);
    }
    const list = [];
    for (const [from, targets] of edges) for (const [to, carried] of targets) if (from !== to || carried) list.push([from, to, carried]);
    return {edges: list, leaves: [...leaves.values()]};
  }

  storingKernels() {
    const storing = new Map();
    for (const value of data.stored) {
      if (!this.byName.has(value.kernel)) continue;
      for (const id of idsByDescription.get(value.value) || []) storing.set(id, value.kernel);
    }
    return storing;
  }
}

const models = data.plans.map((plan, number) => new PlanModel(plan, number));
