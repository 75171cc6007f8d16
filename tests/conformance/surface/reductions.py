"""Reductions and scans: every axis pattern, layouts, empty rows, long rows, special values."""

import math

import torch

from model import DYNAMIC_SIZES, In, Op, Variant, is_float, without
from values import DTYPES, FLOATS, HALVES

# (tag, dims, layout, axes); no axes: all of them.
AXES = (
    ("r0.scalar", (), "contiguous", None),
    ("r1", (17,), "contiguous", [0]),
    ("r1.sliced", (16,), "sliced", [-1]),
    ("r2.first", (3, 5), "contiguous", [0]),
    ("r2.last", (3, 5), "permuted", [1]),
    ("r2.all", (3, 5), "permuted", None),
    ("r2.expanded", (3, 5), "expanded_last", [1]),
    ("r3.middle", (3, 5, 3), "permuted", [1]),
    ("r3.two", (3, 5, 1), "sliced", [0, 2]),
    ("r4.inner", (1, 3, 5, 3), "flipped", [-1, -2]),
    ("one", (5, 1), "contiguous", [1]),
    ("zero.kept", (0, 3), "contiguous", [1]),
)


def length_of(dims, axes):
    sizes = [17 if d == "s" else d for d in dims]
    picked = sizes if axes is None else [sizes[a] for a in axes]
    return math.prod(picked)


def reduction_variants(values, empty, one_axis=False, extra=({},), long=True):
    """`empty`: whether a reduction over no elements has a value."""

    def variants(dtype):
        rows = AXES + ((("zero.gone", (3, 0), "contiguous", [1]),) if empty else ())
        for tag, dims, layout, axes in rows:
            if one_axis and axes is not None and len(axes) > 1:
                continue
            for keep in (False, True):
                if keep and tag not in ("r2.last", "r3.two", "r3.middle", "r2.all", "zero.kept"):
                    continue
                if keep and axes is None:
                    continue
                for number, more in enumerate(extra):
                    p = {"axes": axes, "keepdim": keep, **more}
                    name = tag + (".keepdim" if keep else "") + (f".{number}" if number else "")
                    yield Variant(name, (In(dims, layout, values),), p, length=length_of(dims, axes))
        for axes in ([0], [1]):
            yield Variant(f"dynamic.{axes[0]}", (In(("s", 5), "permuted", values),),
                          {"axes": axes, "keepdim": False, **extra[0]}, DYNAMIC_SIZES, length=17)
        if long and dtype in ("f32", "f16", "bf16", "i32", "i8"):
            yield Variant("long", (In((2, 4097), "contiguous", values),),
                          {"axes": [1], "keepdim": False, **extra[0]}, length=4097)
        if dtype != "bool":
            # One special value to a row, so that the result shows what it does.
            specials = [-0.0, 1.0, math.nan, 1.0, math.inf, 1.0, -math.inf, 1.0, 0.0, -0.0]
            kind = ("list", specials) if is_float(dtype) else ("special", 0)
            dims = (5, 2) if is_float(dtype) else (9, 2)
            yield Variant("special", (In(dims, values=kind),),
                          {"axes": [1], "keepdim": False, **extra[0]}, length=2)
            yield Variant("special.all", (In(dims, values=kind),),
                          {"axes": [0], "keepdim": False, **extra[0]}, length=dims[0])

    return variants  # fmt: skip


def over_axes(function):
    """A PyTorch function of (x, dim, keepdim) as a reference."""

    def reference(inputs, params, dtype):
        x, axes = inputs[0], params["axes"]
        axes = list(range(x.dim())) if axes is None else axes
        more = {k: v for k, v in params.items() if k not in ("axes", "keepdim")}
        return function(x, axes, params["keepdim"], **more)

    return reference


def prod(x, axes, keepdim):
    x = x.long() if not x.is_floating_point() else x
    for axis in sorted((a % x.dim() for a in axes), reverse=True):
        x = torch.prod(x, axis, keepdim)
    return x


def any_all(function):
    def reference(x, axes, keepdim):
        return function(x, axes, keepdim) if axes else function(x)

    return reference


def arg(function):
    def reference(inputs, params, dtype):
        x, axes = inputs[0], params["axes"]
        return function(x) if axes is None else function(x, axes[0], params["keepdim"])

    return reference


def plain(function):
    return lambda x, axes, keepdim, **more: function(x, axes, keepdim=keepdim, **more)


def var(function):
    return lambda x, axes, keepdim, correction: function(x, axes, correction=correction, keepdim=keepdim)


def op(name, function, dtypes, tolerance, variants, reference=None, f64=False):
    return Op(name, "reductions", reference or over_axes(function), dtypes, tolerance, variants,
              f64_yardstick=HALVES if f64 else ())  # fmt: skip


SUM = reduction_variants("normal", empty=True)
FACTORS = reduction_variants(("range", 0.5, 2), empty=True, long=False)
CORRECTIONS = ({"correction": 1}, {"correction": 0})

REDUCTIONS = (
    op("sum", plain(torch.sum), DTYPES, "reduction", SUM, f64=True),
    op("prod", prod, DTYPES, "reduction", FACTORS, f64=True),
    op("mean", plain(torch.mean), FLOATS, "reduction", SUM, f64=True),
    op("max", plain(torch.amax), DTYPES, "exact", reduction_variants("normal", empty=False)),
    op("min", plain(torch.amin), DTYPES, "exact", reduction_variants("normal", empty=False)),
    op("var", var(torch.var), FLOATS, "composite",
       reduction_variants("normal", empty=True, extra=CORRECTIONS), f64=True),
    op("std", var(torch.std), FLOATS, "composite",
       reduction_variants("normal", empty=True, extra=CORRECTIONS), f64=True),
    op("logsumexp", plain(torch.logsumexp), DTYPES, "transcendental",
       reduction_variants(("range", -4, 4), empty=True), f64=True),
    op("argmax", None, without(DTYPES, "bool"), "exact",
       reduction_variants("normal", empty=False, one_axis=True), arg(torch.argmax)),
    op("argmin", None, without(DTYPES, "bool"), "exact",
       reduction_variants("normal", empty=False, one_axis=True), arg(torch.argmin)),
    op("any", any_all(torch.any), DTYPES, "exact", SUM),
    op("all", any_all(torch.all), DTYPES, "exact", SUM),
)  # fmt: skip


def scan_variants(values, long=True):
    def variants(dtype):
        rows = (
            ("r1", (17,), "contiguous", 0),
            ("r1.sliced", (16,), "sliced", 0),
            ("r1.merged", (15,), "merged", 0),
            ("r2.first", (5, 3), "permuted", 0),
            ("r2.last", (3, 5), "permuted", -1),
            ("r2.expanded", (3, 5), "expanded_last", 1),
            ("r3.middle", (3, 5, 3), "flipped", 1),
            ("one", (3, 1), "contiguous", 1),
            ("zero.gone", (3, 0), "contiguous", 1),
            ("zero.kept", (0, 3), "contiguous", 1),
        )
        for tag, dims, layout, axis in rows:
            yield Variant(tag, (In(dims, layout, values),), {"axis": axis}, length=dims[axis])
        for axis in (0, 1):
            yield Variant(f"dynamic.{axis}", (In(("s", 5), "permuted", values),), {"axis": axis},
                          DYNAMIC_SIZES, length=17)
        if long and dtype in ("f32", "f16", "bf16", "i32", "i8"):
            yield Variant("long", (In((2, 4097), values=values),), {"axis": 1}, length=4097)
        if dtype != "bool":
            finite_then = [-0.0, 0.0, 1.0, -1.0, 2.0, math.inf, 1.0, math.nan, 1.0]
            kind = ("list", finite_then) if is_float(dtype) else ("special", 0)
            yield Variant("special", (In((9,), values=kind),), {"axis": 0}, length=9)

    return variants  # fmt: skip


def scan(name, function, tolerance, values="normal", long=True, f64=True):
    return Op(name, "scans", lambda x, p, d: function(x[0], p["axis"]), DTYPES, tolerance,
              scan_variants(values, long), f64_yardstick=HALVES if f64 else ())  # fmt: skip


SCANS = (
    scan("cumsum", torch.cumsum, "reduction"),
    scan("cumprod", torch.cumprod, "reduction", ("range", 0.5, 2), long=False),
    scan("cummax", lambda x, axis: torch.cummax(x, axis).values, "exact", f64=False),
)

OPS = REDUCTIONS + SCANS
