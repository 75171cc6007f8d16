"""PyTorch: the backend of torch.compile, found by its name.

    >>> fast = torch.compile(model, backend="luminal")
    >>> fast(x)
    >>> print(luminal.torch.report())

Needs PyTorch; `import luminal` alone doesn't.
"""
from luminal.torch.backend import backend as backend, register
from luminal.torch.layers import mark_layers as mark_layers
from luminal.torch.report import Report as Report, report as report, reset as reset

register()
del register
