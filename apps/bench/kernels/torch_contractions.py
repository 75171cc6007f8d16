"""PyTorch's side of contractions.py: matrix products and attention, eager and by torch.compile.

A contestant, see docs/bench-protocol.md; `copies` of the weights, of which each run uses the next one.
"""
import torch
import torch.nn.functional as F

from apps.bench.harness.torch_serve import DTYPES, Prepared, serve_functions

BLOCK = 32


def linear(x, w):
    return F.linear(x, w)


def gelu(x, w, b):
    return F.gelu(F.linear(x, w, b))


def swiglu(x, w, up):
    return F.silu(F.linear(x, w)) * F.linear(x, up)


def per_block(scale, dtype):
    return scale.to(dtype).repeat_interleave(BLOCK, dim=1)


def from_8_bits(x, w, scale):
    return F.linear(x, w.to(x.dtype) * per_block(scale, x.dtype))


def from_4_bits(x, w, scale, offset):
    # Two elements per byte, the first in the low nibble.
    w = torch.stack((w & 15, w >> 4), dim=-1).flatten(1)
    return F.linear(x, w.to(x.dtype) * per_block(scale, x.dtype) + per_block(offset, x.dtype))


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


FUNCTIONS = {"linear": linear, "gelu": gelu, "swiglu": swiglu, "q8": from_8_bits, "q4": from_4_bits,
             "attention": attention}


def inputs(kind, shape, dtype):
    """Inputs by name, in the order of the function's parameters."""
    m, n, k = shape
    generator = torch.Generator().manual_seed(1)
    make = lambda *dims: torch.randn(*dims, generator=generator).to(dtype)
    half = lambda rows, columns, size: (torch.randn(rows, columns, generator=generator) * size).half()
    whole = lambda low, high, *dims, kind: torch.randint(low, high, dims, generator=generator).to(kind)
    # Results of magnitude 1, as in a model.
    weight = lambda: (torch.randn(n, k, generator=generator) * k ** -0.5).to(dtype)
    if kind == "attention":
        return {name: make(1, n, m, k) for name in "qkv"}
    x = {"x": make(m, k)}
    if kind == "q8":
        return {**x, "w": whole(-127, 128, n, k, kind=torch.int8), "scale": half(n, k // BLOCK, 0.01)}
    if kind == "q4":
        return {**x, "w": whole(0, 256, n, k // 2, kind=torch.uint8), "scale": half(n, k // BLOCK, 0.1),
                "offset": half(n, k // BLOCK, 0.1)}
    more = {"linear": {}, "gelu": {"b": make(n)}, "swiglu": {"up": weight()}}[kind]
    return {**x, "w": weight(), **more}


def prepare(kind, settings):
    arguments = inputs(kind, settings["shape"], DTYPES[settings["dtype"]])
    return Prepared(settings, FUNCTIONS[kind], arguments, copies=settings["copies"])


if __name__ == "__main__":
    serve_functions(list(FUNCTIONS), prepare, {"shape": [1, 64, 64], "copies": 1})
