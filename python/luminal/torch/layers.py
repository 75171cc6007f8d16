"""Marks equal layers, so that PyTorch traces one of them."""
import types
from typing import TypeVar

import torch

Model = TypeVar("Model", bound=torch.nn.Module)


def mark_layers(model: Model) -> Model:
    """Makes the layers of a model that repeat nested regions of torch.compile: PyTorch traces each kind once, which takes
    a fraction of the time for deep models. What repeats is the items of a ModuleList or Sequential with the same class."""
    for holder in list(model.modules()):
        if not isinstance(holder, (torch.nn.ModuleList, torch.nn.Sequential)):
            continue
        by_class: dict[type, list[torch.nn.Module]] = {}
        for layer in holder:
            by_class.setdefault(type(layer), []).append(layer)
        for kind, layers in by_class.items():
            if len(layers) < 2 or not any(True for _ in layers[0].children()):
                continue
            region = torch.compiler.nested_compile_region(kind.forward)
            for layer in layers:
                layer.forward = types.MethodType(region, layer)  # type: ignore[method-assign]
    return model
