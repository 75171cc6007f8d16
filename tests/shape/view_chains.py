"""Writes random chains of views with what NumPy says they show, for view_chains_test.

A case is a line `case`, the buffer's dims (and strides), one line per view, then the dims and the
elements of the result: an element is its position in the buffer plus one, 0 where it is padding.
"""
import random
import sys

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

MAX_ELEMENTS = 500
MAX_RANK = 6
CASES = 2500


def random_size(rng):
    return rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 6, 8, 12] if rng.random() < 0.5
                      else [1, 2, 3, 4, 6, 8])


def random_dims(rng, rank, limit):
    while True:
        dims = [random_size(rng) for _ in range(rank)]
        if np.prod(dims, dtype=int) <= limit:
            return dims


def factorisation(rng, n, parts):
    """`parts` sizes whose product is n > 0."""
    sizes = [1] * parts
    p = 2
    while n > 1:
        while n % p == 0:
            sizes[rng.randrange(parts)] *= p
            n //= p
        p += 1
    return sizes


def base(rng):
    """A buffer, and the first lines of its case."""
    dims = random_dims(rng, rng.randint(0, 4), 200)
    if rng.random() < 0.75:
        n = int(np.prod(dims, dtype=int))
        return np.arange(1, n + 1).reshape(dims), [f"dims {join(dims)}"]
    strides = [rng.choice([0, 1, 1, 2, 3, 5, 7, -1, -2, -4]) for _ in dims]
    low = sum(min(0, s * (d - 1)) for s, d in zip(strides, dims) if d > 0)
    offset = -low + rng.randrange(4)
    high = offset + sum(max(0, s * (d - 1)) for s, d in zip(strides, dims) if d > 0)
    buffer = np.arange(1, high + 2)
    array = as_strided(buffer[offset:], dims, [s * buffer.itemsize for s in strides])
    return array.copy(), [f"dims {join(dims)}", f"strides {join(strides)} {offset}"]


def join(numbers):
    return " ".join(str(n) for n in numbers)


def permute(rng, a):
    order = list(range(a.ndim))
    rng.shuffle(order)
    return a.transpose(order), f"permute {join(order)}"


def expand(rng, a):
    dims = [rng.choice([1, 2, 3, 0]) if d == 1 and rng.random() < 0.7 else d for d in a.shape]
    return np.broadcast_to(a, dims), f"expand {join(dims)}"


def unsqueeze(rng, a):
    axis = rng.randint(-a.ndim - 1, a.ndim)
    return np.expand_dims(a, axis), f"unsqueeze {axis}"


def squeeze(rng, a):
    axis = rng.choice([k for k, d in enumerate(a.shape) if d == 1])
    return np.squeeze(a, axis), f"squeeze {axis}"


def on_axis(a, axis, part):
    at = [slice(None)] * a.ndim
    at[axis] = part
    return a[tuple(at)]


def cut(rng, a):
    axis = rng.randrange(a.ndim)
    n = a.shape[axis]
    if rng.random() < 0.6 or n == 0:
        start = rng.randint(0, n)
        stop = rng.randint(start, n)
        step = rng.choice([1, 1, 2, 3, 5])
        result = on_axis(a, axis, slice(start, stop, step))
        if start > 0 and rng.random() < 0.3 and start < n:
            start -= n
        if stop < n and rng.random() < 0.3:
            stop -= n
        return result, f"slice {axis} {start} {stop} {step}"
    start = rng.randint(0, n - 1)
    stop = rng.randint(-1, start)
    step = rng.choice([-1, -1, -2, -3])
    if stop == -1:
        stop = -n - 1
    return on_axis(a, axis, slice(start, stop, step)), f"slice {axis} {start} {stop} {step}"


def flip(rng, a):
    axis = rng.randrange(-a.ndim, a.ndim)
    return np.flip(a, axis), f"flip {axis}"


def pad(rng, a):
    axis = rng.randrange(a.ndim)
    before, after = rng.randint(0, 4), rng.randint(0, 4)
    widths = [(0, 0)] * a.ndim
    widths[axis] = (before, after)
    return np.pad(a, widths), f"pad {axis} {before} {after}"


def merge(rng, a):
    first = rng.randrange(a.ndim)
    count = rng.randint(1, a.ndim - first)
    dims = a.shape[:first] + (int(np.prod(a.shape[first:first + count], dtype=int)),)
    return a.reshape(dims + a.shape[first + count:]), f"merge {first} {count}"


def split(rng, a):
    axis = rng.randrange(a.ndim)
    n = a.shape[axis]
    parts = rng.randint(1, 3)
    factors = factorisation(rng, n, parts) if n else [0] + [rng.randint(0, 3)] * (parts - 1)
    dims = a.shape[:axis] + tuple(factors) + a.shape[axis + 1:]
    return a.reshape(dims), f"split {axis} {join(factors)}"


def windows(rng, a):
    axis = rng.choice([k for k, d in enumerate(a.shape) if d > 0])
    n = a.shape[axis]
    size = rng.randint(1, min(n, 4))
    dilation = rng.choice([1, 1, 2, 3])
    while dilation * (size - 1) + 1 > n:
        dilation -= 1
    step = rng.choice([1, 1, 2, 3])
    seen = sliding_window_view(a, dilation * (size - 1) + 1, axis)[..., ::dilation]
    return on_axis(seen, axis, slice(None, None, step)), f"windows {axis} {size} {step} {dilation}"


def reshape(rng, a):
    parts = rng.randint(1, 5)
    dims = factorisation(rng, a.size, parts) if a.size else [0] + random_dims(rng, parts - 1, 50)
    if a.size and rng.random() < 0.5 and a.ndim:  # keep the first dim
        dims = [a.shape[0]] + factorisation(rng, a.size // a.shape[0], parts)
    return a.reshape(dims), f"reshape {join(dims)}"


VIEWS = [permute, permute, expand, unsqueeze, squeeze, cut, cut, flip, pad, merge, merge, split,
         split, windows, reshape, reshape]


def applies(view, a):
    if view in (reshape, unsqueeze):
        return True
    if view is squeeze:
        return 1 in a.shape
    if view is windows:
        return any(a.shape)
    return a.ndim > 0


def case(rng):
    a, lines = base(rng)
    for _ in range(rng.randint(1, 7)):
        view = rng.choice(VIEWS)
        if not applies(view, a):
            continue
        b, line = view(rng, a)
        if b.ndim > MAX_RANK or b.size > MAX_ELEMENTS:
            continue
        a = b
        lines.append(line)
    return ["case"] + lines + [f"result {join(a.shape)}", f"elements {join(a.ravel())}"]


def main():
    rng = random.Random(20240607)
    with open(sys.argv[1], "w") as out:
        for _ in range(CASES):
            out.write("\n".join(line.rstrip() for line in case(rng)) + "\n")


main()
