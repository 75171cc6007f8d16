"""Results that share memory with an argument or another result: which ones, and how a call makes them."""
import operator
from typing import Any

import sympy
import torch
from torch.utils._sympy.printers import PythonPrinter

from luminal.torch import layouts


def _is_view(node: torch.fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None or not schema.arguments:
        return False
    alias = schema.arguments[0].alias_info
    return alias is not None and not alias.is_write and not schema.is_mutable


def root_of(node: torch.fx.Node) -> torch.fx.Node:
    """What a node is a view of; of no view, itself."""
    while True:
        above: Any = node.args[0] if node.args else None
        if node.target is operator.getitem and isinstance(above, torch.fx.Node) and _is_view(above):
            node = above
        elif _is_view(node) and isinstance(above, torch.fx.Node):
            node = above
        else:
            return node


def _offset(tensor: torch.Tensor) -> Any:
    return layouts.expression(tensor.storage_offset())


def same_layout(a: torch.Tensor, b: torch.Tensor) -> bool:
    return (a.dim() == b.dim() and a.dtype == b.dtype
            and all(layouts.expression(x) == layouts.expression(y) for x, y in zip(a.stride(), b.stride())))


def view_text(view: torch.Tensor, base: torch.Tensor, where: dict[Any, str]) -> str | None:
    """Python of `a`, the arguments: sizes, strides, and how far behind the base's first element the view's lies. `where` has the
    text that gives each symbol. None if a symbol isn't given, or the view has elements of another dtype."""
    if view.dtype != base.dtype or view.is_conj() != base.is_conj():
        return None
    parts = [*view.shape, *view.stride()]
    texts = []
    for part in [*map(layouts.expression, parts), _offset(view) - _offset(base)]:
        symbols = sympy.sympify(part).free_symbols
        if not all(symbol in where for symbol in symbols):
            return None
        texts.append(f"({PythonPrinter().doprint(sympy.sympify(part))})")
    names = sorted({symbol for part in [*map(layouts.expression, parts), _offset(view) - _offset(base)]
                    for symbol in sympy.sympify(part).free_symbols}, key=str)
    rank = view.dim()
    sizes, strides = (f"({''.join(each + ', ' for each in some)})" for some in (texts[:rank], texts[rank:-1]))
    inner = f"({sizes}, {strides}, {texts[-1]})"
    if not names:
        return f"lambda a: {inner}"
    return f"lambda a: (lambda {', '.join(map(str, names))}: {inner})({', '.join(where[name] for name in names)})"
