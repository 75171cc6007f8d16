"""What a row of the matrix is: an Op, with its Variants (ranks, layouts, parameters) for a dtype."""

import dataclasses
from typing import Any, Callable, Iterable

from values import FLOATS, TORCH


@dataclasses.dataclass(frozen=True)
class In:
    """One input: dims, layout, and its values; dtype None is the case's."""

    dims: tuple
    layout: str = "contiguous"
    values: Any = "normal"
    dtype: str | None = None


@dataclasses.dataclass(frozen=True)
class Variant:
    tag: str
    inputs: tuple
    params: dict = dataclasses.field(default_factory=dict)
    sizes: tuple = ()  # values of the variable "s"; several runs of one executable
    length: int = 0  # terms that each result sums
    sign_of_zero: bool | None = None
    tolerance: str | None = None


@dataclasses.dataclass(frozen=True)
class Op:
    name: str
    group: str
    reference: Callable  # (list of tensors, params, dtype name) -> tensor
    dtypes: tuple
    tolerance: str
    variants: Callable[[str], Iterable[Variant]]
    sign_of_zero: bool = False
    # For these dtypes f64 is the yardstick: the reference runs in f64 on the same inputs and is
    # rounded once. PyTorch's own 16-bit paths on the CPU round between steps.
    f64_yardstick: tuple = ()


def evaluate(op, inputs, params, dtype):
    """The expected value of one run."""
    if dtype in op.f64_yardstick:
        wide = [x.double() if x.dtype == TORCH[dtype] else x for x in inputs]
        result = op.reference(wide, params, dtype)
        return result.to(TORCH[dtype]) if result.dtype == TORCH["f64"] else result
    return op.reference(inputs, params, dtype)


def tolerance_of(op, variant):
    return variant.tolerance or op.tolerance


def without(dtypes, *left_out):
    return tuple(d for d in dtypes if d not in left_out)


# The ranks and layouts of a single input, by tag.
SHAPES = (
    ("r0.scalar", (), "contiguous"),
    ("r1.contiguous", (17,), "contiguous"),
    ("r1.sliced", (16,), "sliced"),
    ("r1.expanded", (5,), "expanded"),
    ("r1.merged", (15,), "merged"),
    ("r1.zero", (0,), "contiguous"),
    ("r2.contiguous", (3, 5), "contiguous"),
    ("r2.permuted", (5, 3), "permuted"),
    ("r2.expanded", (3, 5), "expanded_last"),
    ("r2.sliced", (3, 5), "sliced"),
    ("r3.permuted", (3, 1, 5), "permuted"),
    ("r3.zero", (3, 0, 5), "permuted"),
    ("r4.flipped", (3, 1, 5, 3), "flipped"),
)
DYNAMIC_SIZES = (3, 17, 1)


def is_float(dtype):
    return dtype in FLOATS
