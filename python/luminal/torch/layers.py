"""Marks equal layers, so that PyTorch traces one of them."""
from collections import Counter
from typing import TypeVar

import torch

_MARK = "_luminal_region"
Model = TypeVar("Model", bound=torch.nn.Module)


def mark_layers(model: Model) -> Model:
    """Makes the layers of a model that repeat nested regions of torch.compile: PyTorch traces each kind once, which takes
    a fraction of the time for deep models. What repeats is the items of a ModuleList or Sequential with the same class.

    It marks the class, so other models with such layers are marked too: of methods of single objects PyTorch would take
    one for the other."""
    for holder in list(model.modules()):
        if not isinstance(holder, (torch.nn.ModuleList, torch.nn.Sequential)):
            continue
        count = Counter(type(layer) for layer in holder if any(True for _ in layer.children()))
        for kind, many in count.items():
            if many > 1 and not hasattr(kind.forward, _MARK):
                region = torch.compiler.nested_compile_region(kind.forward)
                setattr(region, _MARK, True)
                kind.forward = region  # type: ignore[method-assign]
    return model
