"""Scripts that view_test.py runs inside of a page; each hands its answer to done()."""

# Elements with more text than room; an ellipsis is fine where a tooltip has all of it. Listings scroll.
CLIPPED = """
const isCut = (e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline";
const isExplained = (e) => getComputedStyle(e).textOverflow === "ellipsis" && e.title === e.textContent;
const named = (e) => `${e.tagName}.${e.getAttribute("class")}: ${e.textContent.slice(0, 60)}`;
function clipped() {
  const html = [document.documentElement, ...document.querySelectorAll("body, body *:not(svg, svg *, pre, script, select, input, option)")];
  const cut = html.filter((e) => isCut(e) && !isExplained(e)).map(named);
  for (const box of document.querySelectorAll("g.box, g.event")) {
    const room = box.querySelector("rect").getBBox().width;
    for (const text of box.querySelectorAll("text")) if (text.getBBox().x + text.getBBox().width > room) cut.push(named(text));
  }
  const parts = [...document.querySelectorAll("header > *")].map((e) => [e, e.getBoundingClientRect()]);
  for (const [a, p] of parts) for (const [b, q] of parts) {
    if (a !== b && p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1) cut.push(`${named(a)} over ${named(b)}`);
  }
  return cut;
}
(async () => {
  const found = {};
  for (const place of ["#tab=plan", "#tab=plan&kernel=0&search=layers", "#tab=graph&kernel=0", "#tab=trace", "#tab=e-graph&kernel=0", "#tab=report"]) {
    location.hash = place;
    await new Promise((resolve) => setTimeout(resolve, 200));
    found[place] = [document.documentElement.dataset.drawn, ...clipped()];
  }
  done({width: innerWidth, found});
})();
"""

# What the address and the focus are after each key.
KEYS = """
const box = document.getElementById("search"), said = [];
const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const later = (step) => new Promise((resolve) => setTimeout(() => { step(); resolve(); }, 200));
press(document.body, "/");
said.push(document.activeElement.id);
box.value = "gate_proj";
box.dispatchEvent(new Event("input"));
later(() => { said.push(location.hash); press(box, "Enter"); })
  .then(() => later(() => { said.push(location.hash); press(box, "Escape"); }))
  .then(() => later(() => { said.push(location.hash, box.value, document.activeElement.id); done(said); }));
"""
