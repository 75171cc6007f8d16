// Text in drawings, which doesn't wrap by itself: lines that fit a width.

const kBold = "600 12px", kSmall = "11px";

const textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, font) => {
    context.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
    return context.measureText(text).width;
  };
})();

function ellipsized(text, width, font) {
  if (textWidth(text, font) <= width) return text;
  let kept = text.length;
  while (kept > 0 && textWidth(`${text.slice(0, kept)}…`, font) > width) --kept;
  return `${text.slice(0, kept)}…`;
}

// Shortens from the left, because the end of a name says most: …self_attn.k_cache.
function ending(text, width, font) {
  let from = 0;
  while (from < text.length && textWidth(`${from ? "…" : ""}${text.slice(from)}`, font) > width) ++from;
  return from ? `…${text.slice(from)}` : text;
}

// At most `most` lines; the last ends in an ellipsis if more would follow.
function fittedLines(text, width, most, font) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1], longer = line ? `${line} ${word}` : word;
    if (!line || lines.length === most || textWidth(longer, font) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => ellipsized(line, width, font));
}
