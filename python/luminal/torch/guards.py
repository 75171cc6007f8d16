"""What PyTorch assumed of sizes while it traced, and which lines made it."""
from typing import Any

import sympy
import torch
from torch.utils._sympy.printers import PythonPrinter

from luminal.torch.report import Fixed


def _place(guard: Any) -> str:
    """The user's line of a guard, as PyTorch has it."""
    return getattr(getattr(guard, "sloc", None), "maybe_user_loc", None) or ""


def assume_sizes_of_attention(gm: torch.fx.GraphModule) -> None:
    """Makes it a guard that keys, values and the mask of attention agree in their length: PyTorch only checks that as it runs."""
    for module in gm.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.target is not torch.ops.aten.scaled_dot_product_attention.default:
                continue
            keys, values = (each.meta["val"] for each in node.args[1:3])
            mask = node.args[3] if len(node.args) > 3 else node.kwargs.get("attn_mask")
            lengths = [values.shape[-2]] + ([mask.meta["val"].shape[-1]] if isinstance(mask, torch.fx.Node) else [])
            for length in lengths:
                bool(keys.shape[-2] == length)  # of a symbol: PyTorch takes down which it is


def guards_of(environment: Any) -> list[str]:
    """As text, with the line of each."""
    found = []
    for guard in environment.guards if environment is not None else ():
        place = _place(guard)
        found.append(f"{guard.expr}{f' ({place})' if place else ''}")
    return list(dict.fromkeys(found))


def of_sizes(environment: Any, symbols: set[Any]) -> list[str]:
    """Those that are of some of these symbols alone, as Python's comparisons."""
    found = []
    for guard in environment.guards:
        expression = environment.replace(guard.expr)
        if isinstance(expression, sympy.Rel) and expression.free_symbols and expression.free_symbols <= symbols:
            found.append(PythonPrinter().doprint(expression))
    return list(dict.fromkeys(found))


def fixed_sizes(environment: Any) -> list[Fixed]:
    """The symbols that became numbers."""
    found = []
    for symbol, value in (environment.replacements if environment is not None else {}).items():
        if not value.is_number:
            continue
        places = [_place(guard) for guard in environment.guards if symbol in guard.expr.free_symbols]
        sources = environment.var_to_sources.get(symbol, [])
        names = [getattr(source, "name", "") for source in sources]
        name = next((str(each() if callable(each) else each) for each in names if each), str(symbol))
        found.append(Fixed(name, str(value), next((place for place in places if place), "")))
    return found
