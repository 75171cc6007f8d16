"""Kernels: every graph fused, planned, traced, and every rule tested."""
import json
import pathlib
import tempfile

from claims import Claim, Short
from claims_support import last_line

# From PyTorch in f64: a few roundings of f32, or one of bf16.
MOST_EPS = 8


def bench(context, which, mean, lowest):
    """kernels.py over one set: the geometric mean and the lowest ratio against the better PyTorch."""
    python = context.root / ".venv/bin/python"
    if not python.exists():
        raise Short("there is no .venv: run tools/install-deps.sh")
    context.program("apps/bench/kernels_bench")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        result = context.run([python, context.root / "apps/bench/kernels.py", context.build_dir, "--set", which,
                              "--json", out])
        print(result.stdout, end="")
        if not out.exists():
            raise Short(last_line(result))
        measured = json.loads(out.read_text())
    agree = all(row["difference_in_eps"] <= MOST_EPS for row in measured["rows"])
    text = f"{measured['mean']:.2f}x over {len(measured['rows'])}, lowest {measured['lowest']:.2f}x"
    if not agree:
        text += ", results differ"
    return text, agree and measured["mean"] >= mean and measured["lowest"] >= lowest


def single(context):
    return bench(context, "single", 1.1, 0.85)


def fused(context):
    return bench(context, "fused", 1.6, 0)


COLD_SECONDS = 5
CACHED_SECONDS = 0.5


def compile_bert(context):
    """The slower of two lengths, and for each the best of three: a busy machine only ever adds."""
    program = context.program("apps/bench/compile_bench")
    times = {"cold": 0.0, "cached": 0.0}
    for length in (0, 128):
        best = {"cold": float("inf"), "cached": float("inf")}
        plans = set()
        for _ in range(3):
            with tempfile.TemporaryDirectory() as cache:
                for which in ("cold", "cached"):
                    result = context.run([program, "--length", length, "--cache", cache])
                    if result.returncode != 0:
                        raise Short(last_line(result))
                    report = json.loads(result.stdout)
                    if report["from_cache"] != (report["kernels"] if which == "cached" else 0):
                        raise Short(f"{report['from_cache']} of {report['kernels']} kernels from the cache, {which}")
                    best[which] = min(best[which], report["seconds"])
                    plans.add(report["plan"])
        if len(plans) != 1:
            raise Short(f"{len(plans)} different plans of one graph")
        stages = ", ".join(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in report["stages"].items())
        print(f"    length {report['length']}: {report['bits']} choices, {report['lowered']} kernels lowered, "
              f"{report['kernels']} in the plan, {report['distinct_kernels']} distinct; "
              f"cold {best['cold']:.2f} s, cached {best['cached']:.2f} s; last: {stages}")
        times = {which: max(times[which], best[which]) for which in times}
    measured = f"cold {times['cold']:.2f} s, from the cache {times['cached']:.2f} s"
    return measured, times["cold"] <= COLD_SECONDS and times["cached"] <= CACHED_SECONDS


CLAIMS = [
    Claim(name="single", target="13 primitives, f32 and bf16: 1.1x the better of PyTorch eager and torch.compile, "
          "geometric mean, none below 0.85x", minutes=6, measure=single),
    Claim(name="fused", target="9 fused patterns, f32 and bf16: 1.6x the better of PyTorch eager and torch.compile, "
          "geometric mean", minutes=6, measure=fused),
    Claim(name="compile", target=f"12 layers of BERT-base compile in {COLD_SECONDS} s cold and "
          f"{CACHED_SECONDS} s from the cache", minutes=0.2, measure=compile_bert),
]
