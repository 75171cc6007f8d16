"""Seven patterns at 4096x4096: this compiler, PyTorch eager and torch.compile, interleaved in one run.

  .venv/bin/python apps/bench/kernels/patterns.py BUILD_DIR [--rounds N] [--dtypes f32,bf16] [--patterns a,b]

Each round times all three one after the other, so that other load on the machine affects all alike. The
ratio of a pattern is the median over rounds of (the better PyTorch / ours); the geometric mean comes last.
"""
import argparse
import math
import os
import pathlib
import statistics
import sys
import time

# Reuse heap memory for large tensors instead of mapping fresh pages on every call: PyTorch's fastest setting.
HEAP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184", "OMP_NUM_THREADS": "2"}
if any(os.environ.get(key) != value for key, value in HEAP.items()):
    os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **HEAP})

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import asked  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

ROWS, WIDTH, HEAD = 4096, 4096, 64
PATTERNS = ["softmax", "layer_norm", "rms_norm", "gelu", "swiglu", "rotary", "add_rms_norm"]


def rotary(x, cos, sin):
    heads = x.view(ROWS, WIDTH // HEAD, HEAD)
    half = torch.cat((-heads[..., HEAD // 2:], heads[..., :HEAD // 2]), dim=-1)
    return heads * cos.unsqueeze(1) + half * sin.unsqueeze(1)


def reference(pattern, dtype):
    """The function and its arguments."""
    generator = torch.Generator().manual_seed(1)
    make = lambda *dims: torch.randn(*dims, generator=generator).to(dtype)
    x, second, w, b = make(ROWS, WIDTH), make(ROWS, WIDTH), make(WIDTH), make(WIDTH)
    table = make(ROWS, HEAD)
    return {
        "softmax": (lambda x: torch.softmax(x, -1), (x,)),
        "layer_norm": (lambda x, w, b: F.layer_norm(x, (WIDTH,), w, b), (x, w, b)),
        "rms_norm": (lambda x, w: F.rms_norm(x, (WIDTH,), w, 1e-5), (x, w)),
        "gelu": (lambda x: F.gelu(x), (x,)),
        "swiglu": (lambda x, up: F.silu(x) * up, (x, second)),
        "rotary": (rotary, (x, table, table)),
        "add_rms_norm": (lambda x, r, w: F.rms_norm(x + r, (WIDTH,), w, 1e-5), (x, second, w)),
    }[pattern]


class Ours(asked.Asked):
    def ended_at(self, command):
        sys.exit("patterns: patterns_bench ended early")


def seconds(function, arguments, count):
    best = []
    for _ in range(count):
        start = time.perf_counter()
        function(*arguments)
        best.append(time.perf_counter() - start)
    return statistics.median(best)


def measure(ours, pattern, dtype_name, rounds, per_round=5):
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype_name]
    eager, arguments = reference(pattern, dtype)
    torch._dynamo.reset()
    compiled = torch.compile(eager, dynamic=False)
    compiled(*arguments)
    kernels = ours.ask(f"prepare {pattern} {dtype_name}")[1]
    ours.ask("run 3")
    eager(*arguments)
    times = {"ours": [], "eager": [], "compiled": []}
    for _ in range(rounds):
        times["eager"].append(seconds(eager, arguments, per_round))
        times["ours"].append(statistics.median(map(float, ours.ask(f"run {per_round}"))))
        times["compiled"].append(seconds(compiled, arguments, per_round))
    ratios = sorted(min(e, c) / o for e, c, o in zip(times["eager"], times["compiled"], times["ours"]))
    low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
    medians = {name: statistics.median(values) * 1e3 for name, values in times.items()}
    ratio = statistics.median(ratios)
    print(f"{pattern:13} {dtype_name:4} kernels {kernels}  ours {medians['ours']:7.2f} ms  "
          f"eager {medians['eager']:7.2f}  compiled {medians['compiled']:7.2f}  "
          f"ratio {ratio:.2f} ({low:.2f} … {high:.2f})", flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--patterns", default=",".join(PATTERNS))
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    torch.set_grad_enabled(False)
    ours = Ours(arguments.build_dir / "apps/bench/patterns_bench")
    ratios = [measure(ours, pattern, dtype, arguments.rounds)
              for dtype in arguments.dtypes.split(",") for pattern in arguments.patterns.split(",")]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.3f} over {len(ratios)} (lowest {min(ratios):.2f})")


if __name__ == "__main__":
    main()
