"""The one table of tolerances: how far a back end may be from PyTorch, per class of op and dtype.

A value passes if |got - expected| <= atol + length * per_term + rtol * |expected|; `length` is how
many terms a case sums (0 for most): their rounding doesn't shrink when they cancel. Integers, bool
and the class 'exact' compare for equality. NaN equals NaN, an infinity only itself. Zeros are equal
whatever their sign, except in cases with sign_of_zero, where it counts. The runner reads this from
the index.
"""

# One unit in the last place of each dtype, relative to the value.
ULP = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
SMALLEST_NORMAL = {"f64": 2.0**-1022, "f32": 2.0**-126, "f16": 2.0**-14, "bf16": 2.0**-126}
# What one more term may add, terms being up to about 8 in size: f16 and bf16 sum in f32 and round once.
PER_TERM = {"f64": 8 * 2.0**-53, "f32": 8 * 2.0**-24, "f16": 8 * 2.0**-24, "bf16": 8 * 2.0**-24}


def _entry(dtype, ulps, atol):
    return {"rtol": ulps * ULP[dtype], "atol": atol, "per_term": PER_TERM[dtype] if ulps else 0.0}


def _class(wide, narrow):
    """So many units in the last place of the value, or of 1/8 where the value is smaller."""
    ulps = {"f64": wide, "f32": wide, "f16": narrow, "bf16": narrow}
    return {d: _entry(d, ulps[d], ulps[d] * ULP[d] / 8) for d in ULP}


CLASSES = {
    # The same bits (up to NaN's payload and, unless sign_of_zero, the sign of zero).
    "exact": {d: _entry(d, 0, 0.0) for d in ULP},
    # A few correctly rounded steps: division, sqrt. At the bottom of the range some subnormals.
    "elementwise": {d: _entry(d, 2, 2 * SMALLEST_NORMAL[d] * ULP[d]) for d in ULP},
    # exp, log, sin and what is made of them; libraries differ by some units in the last place. The
    # argument of an exponential carries a rounding of its own: |x| up to 88 in f32, 700 in f64.
    "transcendental": _class(64, 2),
    # Sums and products.
    "reduction": _class(16, 1),
    # Several stages with roundings between them: norms, attention, convolutions, losses.
    "composite": _class(64, 2),
}
