"""Input values by kind, deterministic by the name of the case."""

import math
import zlib

import numpy as np
import torch

TORCH = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8,
    "u8": torch.uint8, "bool": torch.bool,
}  # fmt: skip
NAME = {t: n for n, t in TORCH.items()}
DTYPES = tuple(TORCH)
FLOATS = ("f64", "f32", "f16", "bf16")
INTS = ("i64", "i32", "i16", "i8", "u8")
HALVES = ("f16", "bf16")

_MODERATE = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.49, 7.0, -7.0]
_NON_FINITE = [math.nan, math.inf, -math.inf]


def special_floats(dtype, large=True, subnormal=True):
    """NaN, infinities, both zeros, subnormals, ties of rounding, the ends of the range."""
    info = torch.finfo(TORCH[dtype])
    tiny = [info.smallest_normal, -info.smallest_normal]
    tiny += [info.smallest_normal / 4] if subnormal else []
    ends = [info.max, info.min, math.sqrt(info.max) * 0.99, -info.max / 2] if large else []
    return _MODERATE + _NON_FINITE + tiny + ends


def extreme_ints(dtype):
    """Both ends of the range, the smallest numbers, and some that f32 and f64 must round."""
    info = torch.iinfo(TORCH[dtype])
    wanted = [info.min, info.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, 100, info.max // 2 + 1,
              info.max - 1, info.max, 2**24 + 1, -(2**24) - 3, 2**53 + 1, 2**60 + 2**36 + 1]  # fmt: skip
    return [v for v in wanted if info.min <= v <= info.max]


def _rng(name):
    return np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))


def _cycle(values, count):
    return [values[i % len(values)] for i in range(count)]


def make(name, kind, dtype, dims):
    """A contiguous tensor. `kind` is a name, or (name, argument …)."""
    kind, *args = kind if isinstance(kind, tuple) else (kind,)
    rng, count, t = _rng(name), math.prod(dims), TORCH[dtype]
    if kind == "list":
        values = torch.tensor(_cycle(args[0], count), dtype=t)
    elif kind == "special":  # args: how far the list is rotated, so that pairs meet; large or not
        values = special_floats(dtype, *args[1:]) if dtype in FLOATS else extreme_ints(dtype)
        shift = args[0] if args else 0
        step = [values[(i + shift * (i // len(values) + 1)) % len(values)] for i in range(count)]
        values = torch.tensor(step, dtype=t)
    elif kind == "index":  # positions in [0, n)
        values = torch.from_numpy(rng.integers(0, args[0], count)).to(t)
    elif kind == "signed_index":  # positions in [-n, n)
        values = torch.from_numpy(rng.integers(-args[0], args[0], count)).to(t)
    elif kind == "permutation":  # distinct positions in [0, n), count <= n
        values = torch.from_numpy(rng.permutation(args[0])[:count].copy()).to(t)
    elif dtype == "bool":
        values = torch.from_numpy(rng.integers(0, 2, count).astype(bool))
    elif kind == "range":  # uniform in [low, high)
        low, high = args
        if dtype in FLOATS:
            values = torch.from_numpy(rng.uniform(low, high, count)).to(t)
        else:
            low = max(0, math.ceil(low)) if dtype == "u8" else math.ceil(low)
            values = torch.from_numpy(rng.integers(low, max(low + 1, math.ceil(high)), count)).to(t)
    elif kind == "nonzero":
        if dtype in FLOATS:
            magnitude = rng.uniform(0.3, 4, count)
            values = torch.from_numpy(magnitude * rng.choice([-1.0, 1.0], count)).to(t)
        else:
            sign = 1 if dtype == "u8" else rng.choice([-1, 1], count)
            values = torch.from_numpy(rng.integers(1, 9, count) * sign).to(t)
    elif kind == "normal":
        if dtype in FLOATS:
            values = torch.from_numpy(rng.normal(0, 2, count)).to(t)
        else:
            low = 0 if dtype == "u8" else -9
            values = torch.from_numpy(rng.integers(low, 10, count)).to(t)
    else:
        raise ValueError(f"no kind of values '{kind}'")
    return values.reshape(dims)
