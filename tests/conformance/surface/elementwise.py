"""Element-wise rows: arithmetic, comparison, bitwise and boolean ops, mathematics, activations."""

import torch
import torch.nn.functional as F

from model import DYNAMIC_SIZES, SHAPES, In, Op, Variant, is_float, without
from values import DTYPES, FLOATS, HALVES, INTS


def unary_variants(values="normal", large=True, params=None, special=True, length=0):
    """Every rank and layout, special values, and a dynamic size, for one set of parameters."""

    def variants(dtype):
        p = params or {}
        for tag, dims, layout in SHAPES:
            yield Variant(tag, (In(dims, layout, values),), p, length=length)
        yield Variant("dynamic.permuted", (In(("s", 5), "permuted", values),), p, DYNAMIC_SIZES, length)
        if special and dtype != "bool":
            yield Variant("special", (In((23,), values=("special", 0, large)),), p, length=length)

    return variants


def unary(name, function, dtypes, tolerance, values="normal", large=True, sign=False, f64=(), **more):
    def reference(inputs, params, dtype):
        return function(inputs[0], **params)

    variants = unary_variants(values, large, **more)
    return Op(name, "mathematics", reference, dtypes, tolerance, variants, sign, f64)


# Arguments of the trigonometric functions stay moderate: the whole range is sin's own test.
SMALL = ("range", -4, 4)
POSITIVE = ("range", 0.1, 9)

MATHEMATICS = (
    unary("exp", torch.exp, DTYPES, "transcendental", SMALL),
    unary("exp2", torch.exp2, DTYPES, "transcendental", SMALL),
    unary("log", torch.log, DTYPES, "transcendental", POSITIVE),
    unary("log2", torch.log2, DTYPES, "transcendental", POSITIVE),
    unary("sin", torch.sin, DTYPES, "transcendental", SMALL, large=False),
    unary("cos", torch.cos, DTYPES, "transcendental", SMALL, large=False),
    unary("tan", torch.tan, DTYPES, "transcendental", ("range", -1.4, 1.4), special=False),
    unary("sqrt", torch.sqrt, DTYPES, "elementwise", POSITIVE, sign=True),
    unary("rsqrt", torch.rsqrt, DTYPES, "elementwise", POSITIVE),
    unary("square", torch.square, DTYPES, "elementwise"),
    unary("reciprocal", torch.reciprocal, DTYPES, "elementwise", "nonzero", sign=True),
    unary("abs", torch.abs, without(DTYPES, "bool"), "exact", sign=True),
    unary("neg", torch.neg, without(DTYPES, "bool"), "exact", sign=True),
    unary("sign", torch.sign, DTYPES, "exact"),
    unary("floor", torch.floor, without(DTYPES, "bool"), "exact"),
    unary("ceil", torch.ceil, without(DTYPES, "bool"), "exact"),
    unary("round", torch.round, without(DTYPES, "bool"), "exact"),
    unary("trunc", torch.trunc, without(DTYPES, "bool"), "exact"),
    unary("isnan", torch.isnan, DTYPES, "exact"),
    unary("isinf", torch.isinf, DTYPES, "exact"),
    unary("isfinite", torch.isfinite, DTYPES, "exact"),
    unary("erf", torch.erf, DTYPES, "transcendental", ("range", -3, 3)),
    unary("bitwise_not", torch.bitwise_not, without(DTYPES, *FLOATS), "exact"),
    unary("logical_not", torch.logical_not, DTYPES, "exact"),
)

ACTIVATIONS = (
    unary("relu", torch.relu, without(DTYPES, "bool"), "exact"),
    # PyTorch's vectorised f32 path makes NaN of inf; its f64 path doesn't.
    # 1 + erf cancels below zero.
    unary("gelu", F.gelu, FLOATS, "transcendental", f64=("f32", *HALVES), length=2),
    unary("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), FLOATS, "transcendental"),
    unary("silu", F.silu, FLOATS, "transcendental"),
    unary("sigmoid", torch.sigmoid, DTYPES, "transcendental"),
    unary("tanh", torch.tanh, DTYPES, "transcendental"),
    unary("softplus", lambda x, beta, threshold: F.softplus(x, beta, threshold), FLOATS, "transcendental",
          params={"beta": 1.5, "threshold": 3.0}),
    unary("leaky_relu", lambda x, slope: F.leaky_relu(x, slope), FLOATS, "elementwise",
          params={"slope": 0.1}),
)  # fmt: skip


def clamp_variants(dtype):
    bounds = ({"low": -2, "high": 3}, {"low": -1}, {"high": 2})
    if dtype == "u8":
        bounds = ({"low": 2, "high": 7}, {"low": 3}, {"high": 5})
    for number, p in enumerate(bounds):
        for v in unary_variants(params=p)(dtype):
            if number == 0 or v.tag in ("r2.permuted", "special"):
                yield Variant(f"{v.tag}.{'-'.join(p)}", v.inputs, p, v.sizes)


CLAMP = Op("clamp", "mathematics",
           lambda x, p, d: torch.clamp(x[0], p.get("low"), p.get("high")),
           without(DTYPES, "bool"), "exact", clamp_variants)  # fmt: skip

# Two inputs: (tag, dims and layout of a, dims and layout of b).
PAIRS = (
    ("r0.scalar", ((), "contiguous"), ((), "contiguous")),
    ("r1.contiguous", ((17,), "contiguous"), ((17,), "contiguous")),
    ("r1.sliced-merged", ((15,), "sliced"), ((15,), "merged")),
    ("r1.zero", ((0,), "contiguous"), ((1,), "contiguous")),
    ("r1-r0.broadcast", ((5,), "expanded"), ((), "contiguous")),
    ("r2.permuted-contiguous", ((3, 5), "permuted"), ((3, 5), "contiguous")),
    ("r2.contiguous-permuted", ((3, 5), "contiguous"), ((3, 5), "permuted")),
    ("r2.expanded-sliced", ((3, 5), "expanded"), ((3, 5), "sliced")),
    ("r2.outer", ((3, 1), "contiguous"), ((1, 5), "contiguous")),
    ("r1-r2.broadcast", ((5,), "sliced"), ((3, 5), "contiguous")),
    ("r3-r2.broadcast", ((3, 5, 3), "permuted"), ((5, 1), "expanded_last")),
    ("r3.zero", ((3, 0, 5), "permuted"), ((1, 5), "contiguous")),
    ("r4-r1.broadcast", ((1, 3, 5, 3), "flipped"), ((3,), "flipped")),
)


def binary_variants(left="normal", right="normal", special=True, scalars=True, subnormal=True):
    def variants(dtype):
        for tag, (a, la), (b, lb) in PAIRS:
            yield Variant(tag, (In(a, la, left), In(b, lb, right)))
        yield Variant("dynamic.broadcast", (In(("s", 5), "permuted", left), In((5,), values=right)),
                      sizes=DYNAMIC_SIZES)  # fmt: skip
        if special and dtype != "bool":
            # All pairs of special values meet.
            n = 23 if is_float(dtype) else 18
            other = ("special", 0) if subnormal or not is_float(dtype) else ("special", 0, True, False)
            yield Variant("special", (In((n, 1), values=("special", 0)), In((n,), values=other)))
        if scalars and dtype != "bool":
            yield Variant("number-right", (In((3, 5), "permuted", left),), {"number": 3, "side": "right"})
            yield Variant("number-left", (In((3, 5), "permuted", right),), {"number": 3, "side": "left"})

    return variants


def binary(name, function, dtypes, tolerance, group="arithmetic", sign=False, **more):
    def reference(inputs, params, dtype):
        if "number" in params:
            number = params["number"]
            if params["side"] == "right":
                return function(inputs[0], number)
            # Not every function takes a number on the left; a 0-dim tensor promotes as one does.
            return function(torch.tensor(number), inputs[0])
        return function(*inputs)

    return Op(name, group, reference, dtypes, tolerance, binary_variants(**more), sign_of_zero=sign)


DIVISOR = {"right": "nonzero", "special": False}

ARITHMETIC = (
    binary("add", torch.add, DTYPES, "exact"),
    binary("sub", torch.sub, without(DTYPES, "bool"), "exact"),
    binary("mul", torch.mul, DTYPES, "exact", sign=True),
    binary("div", torch.div, DTYPES, "elementwise", right="nonzero", subnormal=False),
    binary("remainder", torch.remainder, without(DTYPES, "bool"), "elementwise", **DIVISOR),
    binary("fmod", torch.fmod, without(DTYPES, "bool"), "exact", **DIVISOR),
    binary("floor_divide", torch.floor_divide, without(DTYPES, "bool"), "exact", **DIVISOR),
    binary("minimum", lambda a, b: torch.minimum(*tensors(a, b)), DTYPES, "exact"),
    binary("maximum", lambda a, b: torch.maximum(*tensors(a, b)), DTYPES, "exact"),
    binary("pow", torch.pow, without(DTYPES, "bool"), "transcendental",
           left="nonzero", right=("range", 0, 4), special=False),
)  # fmt: skip


def tensors(a, b):
    """Both as tensors of one dtype, for functions that take no numbers."""
    if not isinstance(a, torch.Tensor):
        a = torch.tensor(a, dtype=b.dtype)
    if not isinstance(b, torch.Tensor):
        b = torch.tensor(b, dtype=a.dtype)
    kind = a.dtype if a.dim() >= b.dim() else b.dtype
    return a.to(kind), b.to(kind)


COMPARISONS = tuple(
    binary(name, getattr(torch, name), DTYPES, "exact", "comparison")
    for name in ("eq", "ne", "lt", "le", "gt", "ge")
)
LOGIC = tuple(
    binary(f"logical_{name}", getattr(torch, f"logical_{name}"), DTYPES, "exact", "bitwise and boolean",
           scalars=False)
    for name in ("and", "or", "xor")
) + tuple(
    binary(f"bitwise_{name}", getattr(torch, f"bitwise_{name}"), without(DTYPES, *FLOATS), "exact",
           "bitwise and boolean", scalars=False)
    for name in ("and", "or", "xor")
)  # fmt: skip

SHIFTS = tuple(
    binary(f"bitwise_{side}_shift", getattr(torch, f"bitwise_{side}_shift"), INTS, "exact",
           "bitwise and boolean", right=("range", 0, 7), special=False)
    for side in ("left", "right")
)  # fmt: skip


def pow_special(dtype):
    """Negative, zero and infinite bases with whole, halved and negative exponents."""
    base = [-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, float("inf"), float("-inf"), float("nan")]
    power = [-3.0, -2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0]
    yield Variant("special", (In((len(base), 1), values=("list", base)),
                              In((len(power),), values=("list", power))))  # fmt: skip
    for number in (2, 3, -1, 0.5, -0.5, 0):
        yield Variant(f"number-{number}", (In((3, 5), "sliced", "nonzero"),),
                      {"number": number, "side": "right"})  # fmt: skip
    yield Variant("number-left-2", (In((3, 5), "sliced", "nonzero"),), {"number": 2, "side": "left"})


POW_CORNERS = Op("pow", "arithmetic",
                 lambda x, p, d: torch.pow(x[0], p["number"]) if p.get("side") == "right"
                 else torch.pow(p["number"], x[0]) if p else torch.pow(*x),
                 FLOATS, "transcendental", pow_special)  # fmt: skip


def where_variants(dtype):
    for tag, (a, la), (b, lb) in PAIRS:
        yield Variant(tag, (In(a, la, dtype="bool"), In(a, "contiguous"), In(b, lb)))
    if dtype != "bool":
        yield Variant("special", (In((23,), dtype="bool"), In((23,), values=("special", 0)),
                                  In((23,), values=("special", 3))))  # fmt: skip


WHERE = Op("where", "mathematics", lambda x, p, d: torch.where(*x), DTYPES, "exact", where_variants,
           sign_of_zero=True)  # fmt: skip


def promotion_variants(dtype):
    for other in DTYPES:
        if other != dtype:
            yield Variant(f"with-{other}", (In((3, 5)), In((5,), dtype=other)))
    for label, number in (("float", 2.5), ("int", 3)):
        for side in ("right", "left"):
            yield Variant(f"number-{label}-{side}", (In((5,)),), {"number": number, "side": side})


def promoted(name, function, dtypes, tolerance):
    def reference(inputs, params, dtype):
        if "number" in params:
            pair = (inputs[0], params["number"])
            return function(*(pair if params["side"] == "right" else pair[::-1]))
        return function(*inputs)

    return Op(name, "arithmetic", reference, dtypes, tolerance, promotion_variants)


# Each dtype beside each other one, and beside numbers.
PROMOTION = (
    promoted("add", lambda a, b: a + b, DTYPES, "exact"),
    promoted("mul", lambda a, b: a * b, DTYPES, "exact"),
    promoted("lt", lambda a, b: a < b, DTYPES, "exact"),
)


def compound_variants(dtype):
    for tag, (a, la), (b, lb) in PAIRS[1:7]:
        if len(a) >= len(b):
            yield Variant(tag, (In(a, la), In(a, lb if lb != "merged" else "contiguous", "nonzero")))
    yield Variant("number", (In((3, 5), "permuted"),), {"number": 2})


def compound(name, function, dtypes, tolerance):
    def reference(inputs, params, dtype):
        return function(inputs[0], params["number"] if "number" in params else inputs[1])

    return Op(name, "arithmetic", reference, dtypes, tolerance, compound_variants)


COMPOUND = (
    compound("iadd", lambda a, b: a + b, DTYPES[:-1], "exact"),
    compound("isub", lambda a, b: a - b, DTYPES[:-1], "exact"),
    compound("imul", lambda a, b: a * b, DTYPES[:-1], "exact"),
    compound("idiv", lambda a, b: a / b, FLOATS, "elementwise"),
)


def symbolic_variants(dtype):
    for side in ("right", "left"):
        yield Variant(f"dynamic.{side}", (In(("s", 3), "contiguous"),), {"side": side}, DYNAMIC_SIZES)


SYMBOLIC = tuple(
    Op(f"{name}_symbolic", "arithmetic",
       lambda x, p, d, f=function: f(x[0], x[0].shape[0]) if p["side"] == "right"
       else f(torch.tensor(x[0].shape[0]), x[0]),
       without(DTYPES, "bool"), "exact", symbolic_variants)
    for name, function in (("add", torch.add), ("mul", torch.mul), ("lt", torch.lt))
)  # fmt: skip


def cast_variants(dtype):
    for target in DTYPES:
        p = {"to": target}
        yield Variant(f"to-{target}.r2.permuted", (In((3, 5), "permuted"),), p)
        yield Variant(f"to-{target}.r0.scalar", (In(()),), p)
        yield Variant(f"to-{target}.r2.zero", (In((0, 3)),), p)
        if dtype == "bool":
            continue
        if is_float(dtype) and target in INTS:
            # Out-of-range conversions of float to integer are undefined in C++ and in PyTorch; the
            # fractions and signs matter here.
            fractions = [0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, 2.5, -2.5, 100.7, -100.7]
            if target == "u8":
                fractions = [abs(f) for f in fractions]
            yield Variant(f"to-{target}.fractions", (In((12,), values=("list", fractions)),), p)
        else:
            yield Variant(f"to-{target}.special", (In((23,), values=("special", 0)),), p)


def bitcast_variants(dtype):
    same_width = {"f64": ("i64",), "i64": ("f64",), "f32": ("i32",), "i32": ("f32",),
                  "f16": ("bf16", "i16"), "bf16": ("f16", "i16"), "i16": ("f16", "bf16"),
                  "i8": ("u8",), "u8": ("i8",)}  # fmt: skip
    for target in same_width[dtype]:
        for tag, dims, layout in SHAPES:
            yield Variant(f"to-{target}.{tag}", (In(dims, layout),), {"to": target})


def _torch_dtype(name):
    from values import TORCH

    return TORCH[name]


CONVERSIONS = (
    Op("cast", "conversion", lambda x, p, d: x[0].to(_torch_dtype(p["to"])), DTYPES, "exact",
       cast_variants, sign_of_zero=True),
    Op("bitcast", "conversion", lambda x, p, d: x[0].contiguous().view(_torch_dtype(p["to"])),
       without(DTYPES, "bool"), "exact", bitcast_variants, sign_of_zero=True),
)  # fmt: skip

OPS = (ARITHMETIC + (POW_CORNERS,) + PROMOTION + COMPOUND + SYMBOLIC + COMPARISONS + LOGIC + SHIFTS
       + MATHEMATICS + (CLAMP, WHERE) + ACTIVATIONS + CONVERSIONS)  # fmt: skip
