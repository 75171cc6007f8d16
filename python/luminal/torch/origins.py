"""Where an operator comes from: the user's line, and the path of the module."""
import os
import re
from typing import Any

import torch

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in [^\n]*\n?\s*([^\n]*)')
_TORCH = os.path.dirname(torch.__file__) + os.sep
_PART = re.compile(r"_(?:modules|parameters|buffers)\['([^']+)'\]")
_INDEX = re.compile(r"\[(\d+)\]|\['([^']+)'\]")


def line_of(node: torch.fx.Node) -> str:
    """The innermost line outside of PyTorch: "model.py:12: y = x + 1"; empty if it isn't known."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not frame[0].startswith(_TORCH)] or frames
    return "{}:{}: {}".format(*own[-1]) if own else ""


def module_of(node: torch.fx.Node) -> str:
    """The path of the module: "layers.3.mlp"."""
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return ""
    path: str = next(reversed(stack.values()))[0]
    found = _PART.findall(path)
    if found:
        return ".".join(found)
    path = re.sub(r"^L\['\w+'\]\.?|^self\.?", "", path)
    return _INDEX.sub(lambda index: "." + (index[1] or index[2]), path).strip(".")


def name_of_input(placeholder: torch.fx.Node) -> str:
    """What the user calls an input of Dynamo's graph: "layers.3.mlp.weight", "input_ids"."""
    source = getattr(placeholder, "_dynamo_source", None)
    try:
        text: Any = source.name if source is not None else ""
        text = text() if callable(text) else text
    except NotImplementedError:
        text = ""
    if path := _PART.findall(text):
        return ".".join(path)
    if keys := re.findall(r"\['([^']+)'\]$", text):
        return str(keys[-1])
    return placeholder.name.removeprefix("l_").strip("_") or placeholder.name
