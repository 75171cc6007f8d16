"""Kernels: every graph fused, planned and compiled."""
import json
import tempfile

from claims import Claim, Short
from claims_support import last_line

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
    Claim(name="compile", target=f"12 layers of BERT-base compile in {COLD_SECONDS} s cold and "
          f"{CACHED_SECONDS} s from the cache", minutes=0.2, measure=compile_bert),
]
