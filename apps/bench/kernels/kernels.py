"""Single primitives and fused patterns, 2^24 elements: this compiler, PyTorch eager and torch.compile, interleaved.

  .venv/bin/python apps/bench/kernels/kernels.py BUILD_DIR [--set single|fused] [--rounds N] [--dtypes f32,bf16]
                                         [--cases a,b] [--json FILE] [--cpu-time]

Element-wise cases run over 2^24 elements, the others over 4096 x 4096; all three use two threads. Each round
times all three one after the other, so that other load on the machine affects all alike: each after a pause and a
warm-up run, and the best of several runs, because a busy machine can only add time. Eager writes into a given tensor
if it can (out=). The ratio of a case is the median over rounds of (the better PyTorch / ours), with a 95 % interval
of that median; the geometric mean comes last. Our results are compared with PyTorch's in f64 before anything is timed.

A tensor of f32 has 64 MB, so each case far exceeds the L2 caches; a large L3 cache may serve part of it, to all
three alike: they take turns and together touch more than it holds on most machines.

--cpu-time is for diagnosis on a busy machine: one thread each, the minimum CPU time over all runs.
"""
import argparse
import json
import math
import pathlib
import statistics
import sys
import tempfile
import time

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds as interleaving  # noqa: E402, before torch
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

ROWS, WIDTH, HEAD = 4096, 4096, 64
DTYPES = interleaving.DTYPES
SINGLE = ["exp2", "log2", "sin", "recip", "sqrt", "add", "mul", "mod", "less_than", "gather", "cast", "sum", "max"]
FUSED = ["softmax", "layer_norm", "rms_norm", "add_rms_norm", "gelu", "swiglu", "relu_fma", "log_softmax", "rotary"]


def rotary(x, cos, sin):
    heads = x.view(ROWS, WIDTH // HEAD, HEAD)
    half = torch.cat((-heads[..., HEAD // 2:], heads[..., :HEAD // 2]), dim=-1)
    return heads * cos.unsqueeze(1) + half * sin.unsqueeze(1)


def case(name, dtype):
    """The function, its arguments by name, and the function for eager (with out=)."""
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
    function, arguments, in_place = table[name]()
    if in_place is None:
        return function, arguments, function, False
    return function, arguments, in_place, True


def measure(ours, name, dtype_name, rounds, per_round, cpu_time):
    function, arguments, eager_function, in_place = case(name, DTYPES[dtype_name])
    values = list(arguments.values())
    want = function(*values)
    torch._dynamo.reset()
    compiled_function = torch.compile(function, dynamic=False)
    compiled_function(*values)
    with tempfile.TemporaryDirectory() as folder:
        ours.write_inputs(arguments, pathlib.Path(folder))
        kernels = ours.ask(f"prepare {name} {dtype_name} {folder} {1 if cpu_time else 2}")[1]
        ours.ask("run 2")
        wide = [value.double() if value.is_floating_point() else value for value in values]
        distance = interleaving.difference(ours.result(want, pathlib.Path(folder)), function(*wide))
        del wide
    y = torch.empty_like(want)
    eager = (lambda: eager_function(*values, y=y)) if in_place else (lambda: eager_function(*values))
    compiled = lambda: compiled_function(*values)
    eager()
    command, clock = ("cpu", time.thread_time) if cpu_time else ("run", time.perf_counter)
    times = interleaving.interleaved(
        {"eager": lambda count: interleaving.seconds(eager, count, clock),
         "ours": lambda count: ours.times(command, count),
         "compiled": lambda count: interleaving.seconds(compiled, count, clock)}, rounds, per_round)
    if cpu_time:
        times = {key: [min(value)] for key, value in times.items()}
    ratios = [min(e, c) / o for e, c, o in zip(times["eager"], times["compiled"], times["ours"])]
    low, high = interleaving.interval(ratios)
    row = {"case": name, "dtype": dtype_name, "kernels": int(kernels), "difference_in_eps": distance,
           "ratio": statistics.median(ratios), "low": low, "high": high,
           **{f"{key}_ms": statistics.median(value) * 1e3 for key, value in times.items()}}
    print(f"{name:12} {dtype_name:4} kernels {kernels}  ours {row['ours_ms']:7.2f} ms  eager {row['eager_ms']:7.2f}"
          f"  compiled {row['compiled_ms']:7.2f}  ratio {row['ratio']:.2f} ({low:.2f} … {high:.2f})"
          f"  differs by {distance:.1f} eps", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--set", choices=["single", "fused"], default="single")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--per-round", type=int, default=5)
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--cases", help="only these cases of the set")
    parser.add_argument("--cpu-time", action="store_true", help="measure CPU time with one thread each, for diagnosis")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    arguments = parser.parse_args()
    torch.set_num_threads(1 if arguments.cpu_time else 2)
    torch.set_grad_enabled(False)
    names = arguments.cases.split(",") if arguments.cases else {"single": SINGLE, "fused": FUSED}[arguments.set]
    ours = interleaving.Asked(arguments.build_dir / "apps/bench/kernels_bench")
    rows = [measure(ours, name, dtype, arguments.rounds, arguments.per_round, arguments.cpu_time)
            for dtype in arguments.dtypes.split(",") for name in names]
    mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
    lowest = min(rows, key=lambda row: row["ratio"])
    farthest = max(rows, key=lambda row: row["difference_in_eps"])
    print(f"geometric mean {mean:.3f} over {len(rows)}, lowest {lowest['ratio']:.2f} ({lowest['case']} "
          f"{lowest['dtype']}), results differ by at most {farthest['difference_in_eps']:.1f} eps "
          f"({farthest['case']} {farthest['dtype']})")
    if arguments.json:
        arguments.json.write_text(json.dumps({"mean": mean, "lowest": lowest["ratio"], "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
