#!/usr/bin/env python3
"""docs/pictures/modules.svg: the modules of luminal/LAYERS in layers, with an arrow for each direct dependency.

    tools/docs/module_picture.py --write   writes the picture
    tools/docs/module_picture.py --check   fails where the picture isn't what --write would write

An arrow across several layers has a bend in each of them. Bends are laid out as modules are, so no arrow crosses a box.
"""
import itertools
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS, PICTURE = ROOT / "luminal/LAYERS", ROOT / "docs/pictures/modules.svg"
BOX, STEP, MARGIN, GAP, HEAD = 34, 82, 20, 32, 44  # heights of a box and of a layer; space around, between and above
SWEEPS = 60
STYLE = """
  .page { fill: #ffffff } .box { fill: #eef4fb; stroke: #3b6ea5 } .arrow { fill: none; stroke: #6b7785; stroke-width: 1.3 }
  .tip { fill: #6b7785 } text { font: 14px ui-monospace, "DejaVu Sans Mono", monospace; fill: #1f2328; text-anchor: middle }
  .head { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: #59636e; text-anchor: start }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22 } .box { fill: #1f2d3d; stroke: #6ea8e0 } .arrow { stroke: #9aa5b1 } .tip { fill: #9aa5b1 }
    text { fill: #f0f6fc } .head { fill: #9aa5b1 }
  }"""


def direct_dependencies(text):
    """{module: the modules it may include, without those that another of them may include}, lowest first."""
    lines = (line.split("#")[0].partition(":") for line in text.splitlines())
    named = {module.strip(): deps.split() for module, colon, deps in lines if colon}
    return {module: [dep for dep in deps if not any(dep in named[other] for other in deps)]
            for module, deps in named.items()}


def layered(direct):
    """Layers of nodes, lowest first, and edges between neighbours. A node is a module or a bend (user, dep, layer)."""
    layer = {}
    for module, deps in direct.items():
        layer[module] = 1 + max((layer[dep] for dep in deps), default=-1)
    layers, edges = [[] for _ in range(1 + max(layer.values()))], []
    for module in direct:
        layers[layer[module]].append(module)
    for module, dep in ((module, dep) for module, deps in direct.items() for dep in deps):
        bends = [(module, dep, at) for at in range(layer[module] - 1, layer[dep], -1)]
        for bend in bends:
            layers[bend[2]].append(bend)
        edges += itertools.pairwise([module, *bends, dep])
    return layers, edges


def width_of(node):
    return 26 + 8.5 * len(node) if isinstance(node, str) else 6


def placed(nodes, wanted):
    """Centres as near as can be to those wanted, without overlap: least squares, by pooling nodes that collide."""
    offsets = [0, *itertools.accumulate((width_of(a) + width_of(b)) / 2 + GAP for a, b in itertools.pairwise(nodes))]
    pools = []  # [sum, count] of places without the offsets
    for node, offset in zip(nodes, offsets):
        pools.append([wanted[node] - offset, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + count]
    means = [total / count for total, count in pools for _ in range(count)]
    return {node: mean + offset for node, mean, offset in zip(nodes, means, offsets)}


def centres(layers, edges):
    """The centre of each node along its layer. Nodes move to the mean of their neighbours, in turn; order comes first."""
    x = {node: 0 for nodes in layers for node in nodes}
    near = {node: [b if a == node else a for a, b in edges if node in (a, b)] for node in x}
    for sweep in range(SWEEPS):
        for nodes in layers if sweep % 2 else layers[::-1]:
            wanted = {node: sum(x[other] for other in near[node]) / len(near[node]) for node in nodes}
            if sweep < SWEEPS // 2:
                nodes.sort(key=wanted.get)
            x.update(placed(nodes, wanted))
    left = min(x[node] - width_of(node) / 2 for node in x)
    return {node: round(x[node] - left + MARGIN, 1) for node in x}


def picture(text):
    layers, edges = layered(direct_dependencies(text))
    x = centres(layers, edges)
    top = {node: HEAD + (len(layers) - 1 - at) * STEP for at, nodes in enumerate(layers) for node in nodes}
    width = round(max(x[node] + width_of(node) / 2 for node in x) + MARGIN)
    height = max(top.values()) + BOX + MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
           f"<!-- Made of luminal/LAYERS by tools/docs/module_picture.py: don't edit. --><style>{STYLE}</style>",
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
           '<path class="tip" d="M0 0.5 L8 4 L0 7.5 z"/></marker></defs>',
           f'<rect class="page" width="{width}" height="{height}" rx="6"/>',
           f'<text class="head" x="{MARGIN}" y="26">a → b: module a depends on module b, directly</text>']
    for a, b in edges:
        start, end, middle = top[a] + BOX, top[b], (top[a] + BOX + top[b]) / 2
        through = "" if isinstance(a, str) else f"{x[a]} {top[a]} L"  # a bend runs straight through its layer
        tip = ' marker-end="url(#tip)"' if isinstance(b, str) else ""
        out.append(f'<path class="arrow" d="M{through}{x[a]} {start} C{x[a]} {middle} {x[b]} {middle} {x[b]} {end}"{tip}/>')
    for node in (node for nodes in layers for node in nodes if isinstance(node, str)):
        left = round(x[node] - width_of(node) / 2, 1)
        out.append(f'<rect class="box" x="{left}" y="{top[node]}" width="{width_of(node)}" height="{BOX}" rx="5"/>'
                   f'<text x="{x[node]}" y="{top[node] + BOX / 2 + 5}">{node}</text>')
    return "\n".join([*out, "</svg>", ""])


def main():
    if sys.argv[1:] not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    made = picture(LAYERS.read_text())
    if sys.argv[1] == "--write":
        PICTURE.write_text(made)
    elif not PICTURE.is_file() or PICTURE.read_text() != made:
        sys.exit(f"{PICTURE.relative_to(ROOT)} isn't what luminal/LAYERS says: run tools/docs/module_picture.py --write")


if __name__ == "__main__":
    main()
