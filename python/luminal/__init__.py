"""Luminal: a search-based deep-learning compiler.

A model is a graph of tensors; compile() makes it an executable for this machine.

    >>> import luminal as lm
    >>> graph = lm.Graph()
    >>> x = graph.input("x", (lm.var("batch"), 3))
    >>> y = lm.softmax(x, axis=-1).output("y")
    >>> run = lm.compile(graph)
    >>> run([[1.0, 2.0, 3.0]])
"""
import importlib
import typing

from luminal._core import *  # noqa: F403
from luminal import nn as nn  # type: ignore[no-redef]  # the module, so that it can be imported
from luminal.streams import astream as astream, stream as stream

__version__ = version  # noqa: F405
_Model = typing.TypeVar("_Model")


def report() -> typing.Any:
    """The graphs that torch.compile gave to the backend "luminal": luminal.torch.Report. Imports PyTorch."""
    return importlib.import_module("luminal.torch").report()


def mark_layers(model: _Model) -> _Model:
    """Makes the equal layers of a PyTorch model nested regions, so that torch.compile traces one of them."""
    importlib.import_module("luminal.torch").mark_layers(model)
    return model
