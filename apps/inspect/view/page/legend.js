// The legend of bars, marks and colours: legend(["bar", "time"], ["mark", "roofline"]) with the swatches of page.css.

function legend(...entries) {
  return make("div", {class: "legend"}, entries.filter((entry) => entry.length).map(([swatch, meaning]) =>
    make("span", {}, make("i", {class: `swatch ${swatch}`}), meaning)));
}

const kRooflineMeaning = "roofline: the least time for its bytes and flops on this machine";
