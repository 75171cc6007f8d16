"""Layers, as functions of a scope and tensors, with PyTorch's parameter names."""
from luminal._core.nn import *  # noqa: F403
