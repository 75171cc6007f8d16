"use strict";
// Names of things, and how numbers are written.

window.addEventListener("error", (event) => { document.documentElement.dataset.failed = event.message; });

const data = JSON.parse(document.getElementById("data").textContent);

// Names a node like the program's messages: 'x', or %12 (add).
function describe(node, id) {
  if (node.op === "input") return `'${node.name}'`;
  return node.label ? `'${node.label}'` : `%${id} (${node.op})`;
}

function micros(us) {
  if (!(us > 0)) return "0 µs";
  if (us >= 1e6) return `${(us / 1e6).toPrecision(3)} s`;
  if (us >= 1e3) return `${(us / 1e3).toPrecision(3)} ms`;
  return `${brief(us)} µs`;
}

// At most three digits, so that it fits into cells: 0.05, 1.25, 12.5, 125.
function brief(number) {
  if (number < 0.01) return "< 0.01";
  if (number < 1) return number.toFixed(2);
  return number >= 100 ? number.toFixed(0) : number.toPrecision(3);
}

// Names kernels by what they compute for the model; if nothing has a name, by their ops.
function titleOf(kernels) {
  const [first, ...others] = kernels, computed = first.kind.ops.filter((op) => !op.startsWith("constant"));
  const title = others.every((kernel) => kernel.title === first.title) ? first.title : first.kind.title;
  return title || computed.join(", ") || first.name;
}

const namesOf = (kernels) => kernels.length > 1 ? `${kernels[0].name} ×${kernels.length}` : kernels[0].name;

const signedMicros = (us) => `${us < 0 ? "−" : "+"}${micros(Math.abs(us))}`;

function amount(number, unit) {
  const steps = [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12]];
  let step = steps[0];
  for (const next of steps) if (number >= next[1]) step = next;
  const scaled = number / step[1];
  return `${scaled >= 100 || Number.isInteger(scaled) ? scaled.toFixed(0) : scaled.toPrecision(3)} ${step[0]}${unit}`;
}

const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

const percent = (share) => `${share >= 0.1 ? (100 * share).toFixed(0) : (100 * share).toFixed(1)} %`;

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
