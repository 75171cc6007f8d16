"""PyTorch's side of kernels.py: single primitives and fused patterns, eager and by torch.compile.

A contestant, see docs/bench-protocol.md. Eager writes into a given tensor if it can (out=).
"""
import torch
import torch.nn.functional as F

from apps.bench.harness.torch_serve import DTYPES, Prepared, serve_functions
from apps.bench.kernels.kernel_cases import FUSED, HEAD, ROWS, SINGLE, WIDTH


def rotary(x, cos, sin):
    heads = x.view(ROWS, WIDTH // HEAD, HEAD)
    half = torch.cat((-heads[..., HEAD // 2:], heads[..., :HEAD // 2]), dim=-1)
    return heads * cos.unsqueeze(1) + half * sin.unsqueeze(1)


def case(name, dtype):
    """The function, its arguments by name, and a function for eager that writes into `y`, if there is one."""
    generator = torch.Generator().manual_seed(1)
    make = lambda *dims: torch.randn(*dims, generator=generator).to(dtype)
    positive = lambda *dims: (torch.rand(*dims, generator=generator) * 100 + 1e-3).to(dtype)
    flat, rows = (ROWS * WIDTH,), (ROWS, WIDTH)
    other = torch.bfloat16 if dtype == torch.float32 else torch.float32

    def out(function):  # eager with a preallocated result
        return lambda x, *rest, y: function(x, *rest, out=y)

    def x_only(function, x):
        return function, {"x": x}, out(function)

    two = lambda function: (function, {"x": make(*flat), "second": make(*flat)}, out(function))
    table = {
        "exp2": lambda: x_only(torch.exp2, make(*flat)),
        "log2": lambda: x_only(torch.log2, positive(*flat)),
        "sin": lambda: x_only(torch.sin, make(*flat) * 10),
        "recip": lambda: x_only(torch.reciprocal, positive(*flat)),
        "sqrt": lambda: x_only(torch.sqrt, positive(*flat)),
        "add": lambda: two(torch.add),
        "mul": lambda: two(torch.mul),
        "mod": lambda: two(torch.fmod),
        "less_than": lambda: two(torch.lt),
        "gather": lambda: (lambda x, i: torch.index_select(x, 0, i),
                           {"x": make(*rows), "index": torch.randint(0, ROWS, (ROWS,), generator=generator)},
                           lambda x, i, y: torch.index_select(x, 0, i, out=y)),
        "cast": lambda: (lambda x: x.to(other), {"x": make(*flat)}, lambda x, y: y.copy_(x)),
        "sum": lambda: (lambda x: torch.sum(x, -1), {"x": make(*rows)}, lambda x, y: torch.sum(x, -1, out=y)),
        "max": lambda: (lambda x: torch.amax(x, -1), {"x": make(*rows)}, lambda x, y: torch.amax(x, -1, out=y)),
        "softmax": lambda: (lambda x: torch.softmax(x, -1), {"x": make(*rows)},
                            lambda x, y: torch.softmax(x, -1, out=y)),
        "log_softmax": lambda: (lambda x: torch.log_softmax(x, -1), {"x": make(*rows)},
                                lambda x, y: torch.log_softmax(x, -1, out=y)),
        "layer_norm": lambda: (lambda x, w, b: F.layer_norm(x, (WIDTH,), w, b),
                               {"x": make(*rows), "w": make(WIDTH), "b": make(WIDTH)}, None),
        "rms_norm": lambda: (lambda x, w: F.rms_norm(x, (WIDTH,), w, 1e-5), {"x": make(*rows), "w": make(WIDTH)},
                             None),
        "add_rms_norm": lambda: (lambda x, r, w: F.rms_norm(x + r, (WIDTH,), w, 1e-5),
                                 {"x": make(*rows), "second": make(*rows), "w": make(WIDTH)}, None),
        "gelu": lambda: (F.gelu, {"x": make(*rows)}, lambda x, y: torch._C._nn.gelu(x, out=y)),
        "swiglu": lambda: (lambda x, up: F.silu(x) * up, {"x": make(*rows), "second": make(*rows)}, None),
        "relu_fma": lambda: (lambda a, b, c: torch.relu(a * b + c),
                             {"x": make(*rows), "second": make(*rows), "third": make(*rows)}, None),
        "rotary": lambda: (rotary, {"x": make(*rows), "cos": make(ROWS, HEAD), "sin": make(ROWS, HEAD)}, None),
    }
    return table[name]()


def prepare(name, settings):
    function, arguments, eager = case(name, DTYPES[settings["dtype"]])
    return Prepared(settings, function, arguments, eager)


if __name__ == "__main__":
    serve_functions(SINGLE + FUSED, prepare)
