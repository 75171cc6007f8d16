"""How tensors lie in memory: orders of axes in which a tensor is row-major."""
from collections.abc import Sequence
from typing import Any

import sympy
import torch
from torch.utils._sympy.functions import FloorDiv, Mod, PythonMod


def _pads(found: Any) -> bool:
    return isinstance(found, (Mod, PythonMod)) and found.args[1].is_Integer and found.args[0].could_extract_minus_sign()


def _without_mod(size: Any, step: Any) -> Any:
    """The same up to a multiple of `step`: (s % 4) + 3 as s + 3."""
    total = 0
    for term in sympy.Add.make_args(size):
        factor, rest = term.as_coeff_Mul()
        total += factor * (rest.args[0] if isinstance(rest, (Mod, PythonMod)) and rest.args[1] == step else rest)
    return total


def _rounded_up(found: Any) -> Any:
    step = found.args[1]
    size = _without_mod(-found.args[0], step)
    return step * FloorDiv(size + step - 1, step) - size


def expression(size: Any) -> Any:
    """A size as a number or as sympy's expression. What pads a size to a multiple, -s % 4, is written as 4 * ((s + 3) // 4) - s:
    then sums and quotients of padded sizes become simple."""
    if isinstance(size, torch.SymInt):
        found = size.node.expr
        if found.is_number:
            return int(found)
        return found.replace(_pads, _rounded_up) if found.has(Mod, PythonMod) else found
    return size


def hint(size: Any) -> int:
    """The value of a size when the graph was traced."""
    if not isinstance(size, torch.SymInt):
        return int(size)
    known = size.node.hint if size.node.has_hint() else None
    return 1 << 20 if known is None else int(known)


def is_row_major(dims: Sequence[Any], strides: Sequence[Any]) -> bool:
    """Whether it is known to be; axes of size 1 may have any stride."""
    expected: Any = 1
    for size, stride in zip(reversed(dims), reversed(strides)):
        if size == 0:
            return True
        if size != 1 and expected - stride != 0:
            return False
        expected = expected * size
    return True


def order_of(tensor: torch.Tensor) -> list[int] | None:
    """The axes from the outermost in memory on. None for row-major tensors and those with holes."""
    dims, strides = [expression(each) for each in tensor.shape], [expression(each) for each in tensor.stride()]
    if is_row_major(dims, strides):
        return None
    hints = [hint(each) for each in tensor.stride()]
    order = sorted(range(len(dims)), key=lambda axis: -hints[axis])
    if not is_row_major([dims[axis] for axis in order], [strides[axis] for axis in order]):
        return None
    return order


def inverse(order: Sequence[int]) -> list[int]:
    """The order that leads back."""
    back = [0] * len(order)
    for at, axis in enumerate(order):
        back[axis] = at
    return back
