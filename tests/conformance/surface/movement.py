"""Views and movement: exact in every dtype, the sign of zero and NaN included."""

import torch
import torch.nn.functional as F

from model import DYNAMIC_SIZES, In, Op, Variant
from values import DTYPES

# (tag, params, dims, layout) of one-input ops.
ROWS = {
    "permute": (
        lambda x, p: x.permute(p["order"]),
        ("r1", {"order": [0]}, (5,), "sliced"),
        ("r2", {"order": [1, 0]}, (3, 5), "contiguous"),
        ("r3", {"order": [2, 0, 1]}, (3, 5, 1), "permuted"),
        ("r3.negative", {"order": [-1, 0, -2]}, (3, 1, 5), "sliced"),
        ("r4.zero", {"order": [3, 1, 2, 0]}, (0, 3, 1, 5), "contiguous"),
        ("dynamic", {"order": [2, 0, 1]}, ("s", 3, 5), "contiguous"),
    ),
    "transpose": (
        lambda x, p: x.transpose(p["a"], p["b"]),
        ("r2", {"a": 0, "b": 1}, (3, 5), "contiguous"),
        ("r3.negative", {"a": -1, "b": 0}, (3, 1, 5), "permuted"),
        ("r4", {"a": 1, "b": 2}, (1, 3, 5, 3), "sliced"),
        ("dynamic", {"a": 0, "b": 1}, ("s", 5), "permuted"),
    ),
    "t": (
        lambda x, p: x.transpose(-1, -2),
        ("r2", {}, (3, 5), "contiguous"),
        ("r3", {}, (3, 1, 5), "expanded"),
    ),
    "reshape": (
        lambda x, p: x.reshape(p["dims"]),
        ("r1-r2", {"dims": [3, 5]}, (15,), "sliced"),
        ("r2-r1", {"dims": [15]}, (3, 5), "permuted"),
        ("r2-r3.inferred", {"dims": [5, -1, 1]}, (3, 5), "permuted"),
        ("r2-r2", {"dims": [4, 12]}, (16, 3), "expanded"),
        ("r3-r2", {"dims": [5, 9]}, (3, 5, 3), "flipped"),
        ("r0-r1", {"dims": [1]}, (), "contiguous"),
        ("r2-r0", {"dims": []}, (1, 1), "contiguous"),
        ("zero", {"dims": [5, 0]}, (0, 3), "contiguous"),
        ("dynamic", {"dims": [-1, 3]}, ("s", 3, 5), "permuted"),
    ),
    "flatten": (
        lambda x, p: x.flatten(p["first"], p["last"]),
        ("r0", {"first": 0, "last": -1}, (), "contiguous"),
        ("r2", {"first": 0, "last": -1}, (3, 5), "permuted"),
        ("r3.inner", {"first": 1, "last": 2}, (3, 5, 3), "sliced"),
        ("r3.outer", {"first": 0, "last": -2}, (3, 5, 3), "expanded"),
        ("dynamic", {"first": 0, "last": 1}, ("s", 5, 3), "permuted"),
    ),
    "squeeze": (
        lambda x, p: x.squeeze(p["axis"]) if "axis" in p else x.squeeze(),
        ("r2", {"axis": 0}, (1, 5), "contiguous"),
        ("r3", {"axis": -2}, (3, 1, 5), "permuted"),
        ("r4.all", {}, (1, 3, 1, 5), "sliced"),
        ("r1.zero", {"axis": 0}, (1, 0), "contiguous"),
    ),
    "unsqueeze": (
        lambda x, p: x.unsqueeze(p["axis"]),
        ("r0", {"axis": 0}, (), "contiguous"),
        ("r1.end", {"axis": -1}, (5,), "sliced"),
        ("r2.middle", {"axis": 1}, (3, 5), "permuted"),
        ("r2.zero", {"axis": 0}, (3, 0), "contiguous"),
    ),
    "expand": (
        lambda x, p: x.expand(p["dims"]),
        ("r0-r2", {"dims": [3, 5]}, (), "contiguous"),
        ("r1-r2", {"dims": [3, 5]}, (5,), "sliced"),
        ("r2.first", {"dims": [16, 5]}, (1, 5), "contiguous"),
        ("r2.last", {"dims": [5, 3]}, (5, 1), "permuted"),
        ("r3.keep", {"dims": [4, -1, 3, -1]}, (3, 1, 5), "permuted"),
        ("zero", {"dims": [0, 5]}, (1, 5), "contiguous"),
    ),
    "merge_dims": (
        lambda x, p: x.flatten(p["first"], p["first"] + p["count"] - 1),
        ("r2", {"first": 0, "count": 2}, (3, 5), "permuted"),
        ("r3", {"first": 1, "count": 2}, (3, 5, 3), "expanded_last"),
        ("r4", {"first": 0, "count": 3}, (1, 3, 5, 3), "sliced"),
    ),
    "split_dims": (
        lambda x, p: x.unflatten(p["axis"], p["factors"]),
        ("r1", {"axis": 0, "factors": [3, 5]}, (15,), "sliced"),
        ("r2", {"axis": 1, "factors": [2, 4, 2]}, (3, 16), "permuted"),
        ("r2.merged", {"axis": -1, "factors": [5, 3]}, (3, 15), "merged"),
    ),
    "slice": (
        lambda x, p: x[(slice(None),) * (p["axis"] % x.dim())
                       + (slice(p["start"], p["stop"], p["step"]),)],
        ("r1", {"axis": 0, "start": 2, "stop": 5, "step": 1}, (17,), "contiguous"),
        ("r1.step", {"axis": 0, "start": 1, "stop": 17, "step": 5}, (17,), "sliced"),
        ("r2.negative", {"axis": 1, "start": -4, "stop": -1, "step": 2}, (3, 5), "permuted"),
        ("r2.past-end", {"axis": 0, "start": 1, "stop": 99, "step": 1}, (3, 5), "expanded"),
        ("r2.empty", {"axis": 1, "start": 3, "stop": 3, "step": 1}, (3, 5), "contiguous"),
        ("r3", {"axis": 1, "start": 1, "stop": 4, "step": 2}, (3, 5, 3), "permuted"),
        ("dynamic", {"axis": 1, "start": 1, "stop": 5, "step": 2}, ("s", 5), "permuted"),
    ),
    "select": (
        lambda x, p: x.select(p["axis"], p["index"]),
        ("r1", {"axis": 0, "index": 2}, (5,), "sliced"),
        ("r2", {"axis": 1, "index": 3}, (3, 5), "permuted"),
        ("r3", {"axis": -2, "index": 4}, (3, 5, 3), "flipped"),
    ),
    "narrow": (
        lambda x, p: x.narrow(p["axis"], p["start"], p["size"]),
        ("r1", {"axis": 0, "start": 2, "size": 3}, (17,), "contiguous"),
        ("r2", {"axis": 1, "start": 1, "size": 4}, (3, 5), "permuted"),
    ),
    "unfold": (
        lambda x, p: x.unfold(p["axis"], p["size"], p["step"]),
        ("r1", {"axis": 0, "size": 3, "step": 1}, (17,), "contiguous"),
        ("r1.step", {"axis": 0, "size": 4, "step": 3}, (16,), "sliced"),
        ("r2", {"axis": 1, "size": 5, "step": 2}, (3, 15), "permuted"),
        ("r3", {"axis": 0, "size": 2, "step": 1}, (5, 3, 1), "permuted"),
        ("whole", {"axis": 0, "size": 5, "step": 1}, (5,), "contiguous"),
    ),
    "flip": (
        lambda x, p: x.flip(p["axes"]),
        ("r1", {"axes": [0]}, (17,), "contiguous"),
        ("r2", {"axes": [1]}, (3, 5), "permuted"),
        ("r3", {"axes": [0, 2]}, (3, 5, 3), "sliced"),
        ("zero", {"axes": [0]}, (0, 3), "contiguous"),
        ("dynamic", {"axes": [0]}, ("s", 3), "permuted"),
    ),
    "pad": (
        lambda x, p: F.pad(x, p["padding"], value=p["value"]),
        ("r1", {"padding": [2, 3], "value": 0}, (5,), "contiguous"),
        ("r1.value", {"padding": [1, 0], "value": 1}, (17,), "sliced"),
        ("r2", {"padding": [1, 2], "value": 0}, (3, 5), "permuted"),
        ("r2.both", {"padding": [0, 1, 2, 0], "value": 1}, (3, 5), "expanded"),
        ("r3", {"padding": [1, 1, 0, 2], "value": 0}, (3, 5, 3), "permuted"),
        ("crop", {"padding": [-1, 2], "value": 0}, (3, 5), "contiguous"),
        ("zero", {"padding": [1, 2], "value": 0}, (3, 0), "contiguous"),
        ("dynamic", {"padding": [0, 0, 1, 2], "value": 0}, ("s", 3), "permuted"),
    ),
    "roll": (
        lambda x, p: torch.roll(x, p["shift"], p["axis"]),
        ("r1", {"shift": 3, "axis": 0}, (17,), "contiguous"),
        ("r2.negative", {"shift": -1, "axis": 1}, (3, 5), "permuted"),
        ("r2.beyond", {"shift": 7, "axis": 0}, (3, 5), "sliced"),
        ("zero", {"shift": 1, "axis": 0}, (0, 3), "contiguous"),
    ),
    "repeat": (
        lambda x, p: x.repeat(p["times"]),
        ("r1", {"times": [3]}, (5,), "contiguous"),
        ("r1-r2", {"times": [2, 3]}, (5,), "sliced"),
        ("r2", {"times": [2, 3]}, (3, 5), "permuted"),
        ("r3", {"times": [1, 2, 3]}, (3, 1, 5), "permuted"),
        ("none", {"times": [0, 1]}, (3, 5), "contiguous"),
    ),
    "chunk": (
        lambda x, p: torch.chunk(x, p["chunks"], p["axis"])[p["part"]],
        ("r1.first", {"chunks": 3, "axis": 0, "part": 0}, (17,), "contiguous"),
        ("r1.last", {"chunks": 3, "axis": 0, "part": 2}, (17,), "sliced"),
        ("r2", {"chunks": 2, "axis": 1, "part": 1}, (3, 16), "permuted"),
    ),
    "split": (
        lambda x, p: torch.split(x, p["sizes"], p["axis"])[p["part"]],
        ("r1", {"sizes": [5, 12], "axis": 0, "part": 1}, (17,), "contiguous"),
        ("r2", {"sizes": [1, 3, 1], "axis": 1, "part": 1}, (3, 5), "permuted"),
        ("r3.empty", {"sizes": [0, 3], "axis": 0, "part": 0}, (3, 5, 1), "sliced"),
    ),
}


def row(name, function, entries):
    def variants(dtype):
        for tag, params, dims, layout in entries:
            kinds = (("", "normal"),)
            if dtype in ("f32", "bf16"):  # NaN, infinities and -0 pass unchanged
                kinds += ((".special", ("special", 1)),)
            for suffix, values in kinds:
                sizes = DYNAMIC_SIZES if "s" in dims else ()
                yield Variant(f"{tag}.{layout}{suffix}", (In(dims, layout, values),), params, sizes)

    return Op(name, "movement", lambda x, p, d: function(x[0], p), DTYPES, "exact", variants, True)


def concat_variants(dtype):
    several = (
        ("r1", 0, ((5,), "contiguous"), ((3,), "sliced")),
        ("r2", 1, ((3, 5), "permuted"), ((3, 1), "contiguous"), ((3, 3), "expanded")),
        ("r2.first", 0, ((1, 5), "contiguous"), ((3, 5), "permuted")),
        ("r3.negative", -2, ((3, 5, 3), "permuted"), ((3, 1, 3), "flipped")),
        ("zero", 0, ((0, 3), "contiguous"), ((5, 3), "sliced")),
        ("one", 0, ((5,), "flipped")),
    )
    for tag, axis, *parts in several:
        yield Variant(tag, tuple(In(d, layout) for d, layout in parts), {"axis": axis})
    yield Variant("dynamic", (In(("s", 3), "permuted"), In((5, 3))), {"axis": 0}, DYNAMIC_SIZES)


def stack_variants(dtype):
    for tag, axis, dims, layout in (("r0", 0, (), "contiguous"), ("r1.last", -1, (5,), "sliced"),
                                    ("r2", 1, (3, 5), "permuted"), ("zero", 0, (0, 3), "contiguous")):
        yield Variant(tag, (In(dims, layout), In(dims), In(dims, layout)), {"axis": axis})


OPS = tuple(row(name, function, entries) for name, (function, *entries) in ROWS.items()) + (
    Op("concat", "movement", lambda x, p, d: torch.cat(x, p["axis"]), DTYPES, "exact",
       concat_variants, True),
    Op("stack", "movement", lambda x, p, d: torch.stack(x, p["axis"]), DTYPES, "exact",
       stack_variants, True),
)  # fmt: skip
