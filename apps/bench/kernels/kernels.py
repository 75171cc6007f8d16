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
import contextlib
import json
import pathlib
import statistics
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds  # noqa: E402
from apps.bench.harness.contestant import Contestant  # noqa: E402
from apps.bench.harness.difference import difference  # noqa: E402
from apps.bench.harness.protocol import Refusal  # noqa: E402
from apps.bench.harness.torch_process import process_of  # noqa: E402
from apps.bench.kernels.kernel_cases import SETS  # noqa: E402


def measure(sides, case, dtype, given):
    common = {"dtype": dtype, "threads": 1 if given.cpu_time else 2, "clock": "cpu" if given.cpu_time else "wall"}
    with tempfile.TemporaryDirectory() as folder:
        got, want = pathlib.Path(folder) / "result", pathlib.Path(folder) / "wanted"
        settings = {"ours": {**common, "inputs": folder}, "eager": {**common, "inputs": folder, "mode": "eager"},
                    "compiled": {**common, "mode": "compiled"}}
        wanted = sides["eager"].run(case, times=0, settings=settings["eager"], write=want)
        found = sides["ours"].run(case, times=2, settings=settings["ours"], write=got)
        distance = difference(got, wanted["result"], want)
    sides["compiled"].run(case, times=0, settings=settings["compiled"])

    def turn(side):
        """The best run of a round; the first is a warm-up."""
        return lambda: min(sides[side].run(case, times=given.per_round + 1, settings=settings[side])["seconds"][1:])

    times = rounds.interleaved({side: turn(side) for side in sides}, given.rounds)
    if given.cpu_time:
        times = {side: [min(taken)] for side, taken in times.items()}
    row = {"case": case, "dtype": dtype, "kernels": found["kernels"], "difference_in_eps": distance,
           **rounds.ratio(rounds.best(times["eager"], times["compiled"]), times["ours"]),
           **{f"{side}_ms": statistics.median(taken) * 1e3 for side, taken in times.items()}}
    print(f"{case:12} {dtype:4} kernels {row['kernels']}  ours {row['ours_ms']:7.2f} ms  eager {row['eager_ms']:7.2f}"
          f"  compiled {row['compiled_ms']:7.2f}  ratio {rounds.shown(row)}  differs by {distance:.1f} eps", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--set", choices=SETS, default="single")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--per-round", type=int, default=5)
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--cases", help="only these cases")
    parser.add_argument("--cpu-time", action="store_true", help="measure CPU time with one thread each, for diagnosis")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    given = parser.parse_args()
    names = given.cases.split(",") if given.cases else SETS[given.set]
    command, options = process_of("apps.bench.kernels.torch_kernels", 1 if given.cpu_time else 2)
    with contextlib.ExitStack() as stack:
        sides = {"eager": stack.enter_context(Contestant(command, **options)),
                 "ours": stack.enter_context(Contestant([given.build_dir / "apps/bench/kernels_bench"])),
                 "compiled": stack.enter_context(Contestant(command, **options))}
        rows = [measure(sides, name, dtype, given) for dtype in given.dtypes.split(",") for name in names]
    mean = statistics.geometric_mean(row["ratio"] for row in rows)
    lowest = min(rows, key=lambda row: row["ratio"])
    farthest = max(rows, key=lambda row: row["difference_in_eps"])
    print(f"geometric mean {mean:.3f} over {len(rows)}, lowest {lowest['ratio']:.2f} ({lowest['case']} "
          f"{lowest['dtype']}), results differ by at most {farthest['difference_in_eps']:.1f} eps "
          f"({farthest['case']} {farthest['dtype']})")
    if given.json:
        given.json.write_text(json.dumps({"mean": mean, "lowest": lowest["ratio"], "rows": rows}, indent=1))


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"kernels.py: {refusal.text()}")
