"""Layouts: how a tensor of wanted dims is made as a view of a contiguous base.

A layout is (base dims, view steps). Steps are data, so that the generator applies them in PyTorch
and the runner in the graph: ["permute", order], ["expand", dims], ["slice", axis, start, stop, step],
["flip", axes], ["reshape", dims]. A dim may be the name of a variable ("s") in dynamic cases.
"""

import torch


def _times(dim, factor, plus):
    """dim * factor + plus, also for a variable."""
    if isinstance(dim, str):
        return f"{dim} * {factor} + {plus}"
    return dim * factor + plus


def make(dims, layout):
    """(base dims, steps) such that the steps applied to the base give a tensor of `dims`."""
    dims, rank = list(dims), len(dims)
    if layout == "contiguous":
        return dims, []
    if rank == 0:
        raise ValueError(f"a scalar has no layout '{layout}'")
    if layout == "permuted":  # a rotation of axes: not its own inverse from rank 3 on
        order = [*range(1, rank), 0] if rank > 1 else [0]
        base = [0] * rank
        for axis, source in enumerate(order):
            base[source] = dims[axis]
        return base, [["permute", order]]
    if layout == "expanded":
        return [1, *dims[1:]], [["expand", dims]]
    if layout == "expanded_last":
        return [*dims[:-1], 1], [["expand", dims]]
    if layout == "sliced":  # every second element along the last axis, an offset along the first
        base, steps = list(dims), []
        base[-1] = _times(dims[-1], 2, 2)
        steps.append(["slice", rank - 1, 1, _times(dims[-1], 2, 1), 2])
        if rank > 1:
            base[0] = _times(dims[0], 1, 3)
            steps.append(["slice", 0, 2, _times(dims[0], 1, 2), 1])
        return base, steps
    if layout == "flipped":
        return dims, [["flip", [0]]]
    if layout == "merged":  # two permuted axes seen as one: no stride describes it
        last = dims[-1]
        inner = next(f for f in (3, 5, 2, 1) if last % f == 0)
        outer = last // inner
        order = [*range(rank - 1), rank, rank - 1]
        return [*dims[:-1], inner, outer], [["permute", order], ["reshape", dims]]
    raise ValueError(f"no layout '{layout}'")


def _value(dim, bindings):
    return eval(dim, {}, dict(bindings)) if isinstance(dim, str) else dim  # noqa: S307, our own text


def bind(dims, bindings):
    return [_value(d, bindings) for d in dims]


def apply(base, steps, bindings):
    x = base
    for kind, *args in steps:
        if kind == "permute":
            x = x.permute(args[0])
        elif kind == "expand":
            x = x.expand(bind(args[0], bindings))
        elif kind == "slice":
            axis, start, stop, step = (_value(a, bindings) for a in args)
            x = x[(slice(None),) * axis + (slice(start, stop, step),)]
        elif kind == "flip":
            x = torch.flip(x, args[0])
        elif kind == "reshape":
            x = x.reshape(bind(args[0], bindings))
        else:
            raise ValueError(f"no view step '{kind}'")
    return x
