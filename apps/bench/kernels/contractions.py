"""GEMM and attention: this compiler, PyTorch and plain oneDNN, interleaved, two threads each.

  .venv/bin/python apps/bench/kernels/contractions.py BUILD_DIR [--set NAME] [--rounds N] [--dtypes f32,bf16] [--shapes MxNxK,…]
                                              [--library measured|never] [--json FILE]

Sets, each a list of kinds over shapes M × N × K, x [M, K] by weights [N, K]:
  large      x · wᵀ of 128 and 512 rows and 2048³, against F.linear and oneDNN with prepacked weights
  fused      the same with bias and GeLU, and as SwiGLU of two products, against eager and torch.compile
  stream     GEMV: 1 and 8 rows, against eager and torch.compile; each run uses another weight, over 1 GiB of them, so
             that no cache serves them; and against the memory bandwidth measured in the same run of the bench
  quantised  1 row by weights of 8 and 4 bits with scales per 32 along k, against that bandwidth
  attention  causal, 8 heads of 64, 512 and 4096 tokens, against F.scaled_dot_product_attention

rounds.py defines a round. The ratio to a side is the median over rounds of (its time / ours), where PyTorch is the
better of its sides, with a 95 % interval; the fraction of the bandwidth likewise. Our results are compared with
PyTorch's in f64 before anything is timed.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds as interleaving  # noqa: E402, before torch
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

THREADS = 2
ROTATING_BYTES = 1 << 30
RATE_SECONDS = 0.3
BLOCK = 32
LARGE = [(128, 4096, 4096), (512, 4096, 4096), (2048, 2048, 2048)]
ROWS = [(1, 4096, 4096), (8, 4096, 4096)]
# Kinds, shapes, and the other sides; M × N × K of attention is tokens × heads × head size.
SETS = {
    "large": (["linear"], LARGE, ["eager", "library"]),
    "fused": (["gelu", "swiglu"], LARGE, ["eager", "compiled"]),
    "stream": (["linear"], ROWS, ["eager", "compiled", "rate"]),
    "quantised": (["q8", "q4"], ROWS[:1], ["rate"]),
    "attention": (["attention"], [(512, 8, 64), (4096, 8, 64)], ["eager"]),
}


def linear(x, w):
    return F.linear(x, w)


def gelu(x, w, b):
    return F.gelu(F.linear(x, w, b))


def swiglu(x, w, up):
    return F.silu(F.linear(x, w)) * F.linear(x, up)


def per_block(scale):
    return scale.repeat_interleave(BLOCK, dim=1)


def from_8_bits(x, w, scale):
    return F.linear(x, w.to(x.dtype) * per_block(scale))


def from_4_bits(x, w, scale, offset):
    # Two elements per byte, the first in the low nibble.
    w = torch.stack((w & 15, w >> 4), dim=-1).flatten(1)
    return F.linear(x, w.to(x.dtype) * per_block(scale) + per_block(offset))


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


class PyTorch:
    """A function that uses the next inputs in each call."""

    def __init__(self, function, arguments):
        self.function, self.arguments, self.next = function, arguments, 0

    def __call__(self):
        self.next = (self.next + 1) % len(self.arguments)
        return self.function(*self.arguments[self.next])


def copies_of(arguments, count):
    """One set of inputs per rotated weight; x is the same for all."""
    copied = lambda name, value, copy: value if name == "x" or copy == 0 else value.clone()
    return [[copied(name, value, copy) for name, value in arguments.items()] for copy in range(count)]


def library_side(library, kind, shape, dtype_name, rotating):
    m, n, k = shape
    epilogue = {"linear": "none", "gelu": "gelu"}[kind]
    library.ask(f"prepare {m} {n} {k} {dtype_name} {epilogue} {THREADS} {rotating}")
    return lambda count: library.times("run", count)


def compared(times, sides):
    """Median and interval over rounds of the best of `sides` divided by ours."""
    ratios = [min(others) / ours for ours, *others in zip(times["ours"], *(times[side] for side in sides))]
    low, high = interleaving.interval(ratios)
    return {"ratio": statistics.median(ratios), "low": low, "high": high}


def measure(ours, library, policy, kind, shape, dtype_name, beside, rounds, per_round):
    m, n, k = shape
    dtype = interleaving.DTYPES[dtype_name]
    function, arguments = FUNCTIONS[kind], inputs(kind, shape, dtype)
    rotating = ROTATING_BYTES if "rate" in beside else 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        ours.write_inputs(arguments, folder)
        answer = ours.ask(f"prepare {kind} {m} {n} {k} {dtype_name} {folder} {THREADS} {rotating} {policy}")
        prepared = dict(zip(answer[::2], map(int, answer[1::2])))
        wide = [value.double() if value.is_floating_point() else value for value in arguments.values()]
        want = function(*wide)
        distance = interleaving.difference(ours.result(want.to(dtype), folder), want)
        del wide, want
    sides = {"ours": lambda count: ours.times("run", count)}
    pytorch = [side for side in beside if side in ("eager", "compiled")]
    copies = copies_of(arguments, prepared["copies"]) if pytorch else []
    if "eager" in beside:
        eager = PyTorch(function, copies)
        sides["eager"] = lambda count: interleaving.seconds(eager, count)
    if "compiled" in beside:
        torch._dynamo.reset()
        compiled = PyTorch(torch.compile(function, dynamic=False), copies)
        compiled()
        sides["compiled"] = lambda count: interleaving.seconds(compiled, count)
    if "library" in beside:
        sides["library"] = library_side(library, kind, shape, dtype_name, rotating)
    if "rate" in beside:
        # As the time of reading the weights once.
        read = lambda: prepared["weights"] / float(ours.ask(f"rate {THREADS} {RATE_SECONDS}")[0])
        sides["rate"] = lambda count: [read()] * count
    times = interleaving.interleaved(sides, rounds, per_round)
    row = {"kind": kind, "shape": list(shape), "dtype": dtype_name, "difference_in_eps": distance, **prepared,
           **{f"{side}_ms": statistics.median(taken) * 1e3 for side, taken in times.items()}}
    if pytorch:
        row["pytorch"] = compared(times, pytorch)
    if "library" in beside:
        row["library"] = compared(times, ["library"])
    if "rate" in beside:
        row["read_rate"] = compared(times, ["rate"])
        row["gb_per_s"] = prepared["weights"] / row["ours_ms"] / 1e6
    return row


def line(row):
    text = f"{row['kind']:9} {'x'.join(map(str, row['shape'])):14} {row['dtype']:4} kernels {row['kernels']}"
    text += f", {row['by_library']} by oneDNN" if row["by_library"] else ""
    text += "".join(f"  {side} {row[side + '_ms']:.3f} ms" for side in ("ours", "eager", "compiled", "library")
                    if side + "_ms" in row)
    for side in ("pytorch", "library", "read_rate"):
        if side in row:
            found = row[side]
            text += f"  {side} {found['ratio']:.2f} ({found['low']:.2f} … {found['high']:.2f})"
    if "gb_per_s" in row:
        text += f"  {row['gb_per_s']:.1f} GB/s"
    return text + f"  differs by {row['difference_in_eps']:.1f} eps"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--set", choices=SETS, default="large")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--per-round", type=int, default=4)
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--shapes", help="only these shapes, such as 128x4096x4096")
    parser.add_argument("--library", choices=["measured", "never"], default="measured",
                        help="use oneDNN for our products where it is faster (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    kinds, shapes, beside = SETS[arguments.set]
    if arguments.shapes:
        shapes = [tuple(map(int, shape.split("x"))) for shape in arguments.shapes.split(",")]
    bench = arguments.build_dir / "apps/bench"
    ours = interleaving.Asked(bench / "contractions_bench")
    library = interleaving.Asked(bench / "library_bench") if "library" in beside else None
    if library and not library.answers("prepare 1 16 16 f32 none 1 0"):
        print("oneDNN isn't in this build: nothing is compared with it", flush=True)
        beside = [side for side in beside if side != "library"]
    rows = []
    for kind in kinds:
        for shape in shapes:
            for dtype in arguments.dtypes.split(","):
                rows.append(measure(ours, library, arguments.library, kind, shape, dtype, beside, arguments.rounds,
                                    arguments.per_round))
                print(line(rows[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"set": arguments.set, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
