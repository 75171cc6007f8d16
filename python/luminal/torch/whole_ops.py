"""Which operators stay whole while AOTAutograd traces: those that C++ knows. Their parts would hide them."""
import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.attention
from torch._export.utils import _is_preservable_cia_op, _special_op_to_preserve_cia
from torch.export.exported_program import _override_composite_implicit_decomp

from luminal import _core

# Those that the dispatcher would take apart. Not the ones that give views, or that may update statistics.
_WHOLE = ("linear.default", "matmul.default", "scaled_dot_product_attention.default", "layer_norm.default", "rms_norm.default",
          "group_norm.default", "_weight_norm.default", "adaptive_avg_pool1d.default", "adaptive_avg_pool2d.default",
          "one_hot.default", "upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_linear1d.vec",
          "upsample_bilinear2d.vec")


@functools.cache
def _known() -> dict[Any, Any]:
    found = {}
    for name in _WHOLE:
        packet, overload = name.split(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload)
        if _core._knows_operator(str(operator)) and _is_preservable_cia_op(operator):
            found[operator] = _special_op_to_preserve_cia
    return found


@functools.cache
def decompositions() -> dict[Any, Any]:
    """PyTorch's, for operators that C++ doesn't know."""
    table = torch._decomp._core_aten_decompositions_post_autograd()
    return {operator: parts for operator, parts in table.items() if not _core._knows_operator(str(operator))}


@contextlib.contextmanager
def in_training() -> Iterator[None]:
    """For graphs with gradients: attention in parts where C++ doesn't know its gradient."""
    if _core._knows_operator("aten._scaled_dot_product_flash_attention_for_cpu_backward.default"):
        yield
        return
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        yield


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """For graphs without gradients: these forms of the operators have none."""
    with _override_composite_implicit_decomp(_known()):
        yield
