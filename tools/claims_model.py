"""The calibrated cost model beside measured times: what the claim `model` of a group measures."""
import json
import os
import pathlib
import statistics
import tempfile

from claims import Short
from claims_support import last_line

REPORTS = {"micro": "bench_report.json", "patterns": "pattern_report.json"}


def ranks(values):
    """Ranks from 0; equal values share their mean rank."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        end = first + 1
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for i in order[first:end]:
            result[i] = (first + end - 1) / 2
        first = end
    return result


def rank_correlation(a, b):
    return statistics.correlation(ranks(a), ranks(b))


def off(modelled, measured):
    return [max(a, b) / min(a, b) for a, b in zip(modelled, measured)]


def json_of(context, arguments, environment):
    result = context.run([context.program("apps/cli/luminal"), *arguments], env=environment)
    if result.returncode != 0:
        raise Short(last_line(result))
    return json.loads(result.stdout)


def bench_times(context, environment, folder, seconds):
    """Of all micro and pattern cases on all threads: the modelled and the measured time."""
    times = []
    for level, name in REPORTS.items():
        result = context.run([context.program("apps/cli/luminal"), "bench", level, "--threads", str(os.cpu_count()),
                              "--min-time", str(seconds), "--out", folder], env=environment)
        if result.returncode != 0:
            raise Short(last_line(result))
        cases = json.loads((pathlib.Path(folder) / name).read_text())["cases"]
        times += [(case["model_seconds"], case["median_seconds"]) for case in cases if case["backend"] == "cpu"]
    return times


def calibrated_model(targets=("",), least_rank=0.9, most_off=1.25, seconds=0.03):
    """A claim's measurement: by target, kernels that a calibration held out; then the benches' kernels by the calibrated
    model, for the best instruction set."""
    def measure(context):
        found = []
        fine = True
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "XDG_CACHE_HOME": folder}
            json_of(context, ["doctor", "--measure", "--json"], environment)
            for target in targets:
                chosen = ["--target", target] if target else []
                fitted = json_of(context, ["tune", "calibrate", "--json", *chosen], environment)
                before, after = fitted["before"], fitted["held_out"]
                found.append(f"{target or 'best target'}: {fitted['kernels']} kernels held out, rank correlation "
                             f"{before['rank_correlation']:.3f} → {after['rank_correlation']:.3f}, off by "
                             f"{before['median_ratio']:.2f} → {after['median_ratio']:.2f} times, in {fitted['seconds']:.0f} s")
                fine = fine and after["rank_correlation"] >= least_rank and after["median_ratio"] <= most_off
            times = bench_times(context, environment, folder, seconds)
        modelled, measured = zip(*times)
        rank, middle = rank_correlation(modelled, measured), statistics.median(off(modelled, measured))
        found.append(f"{len(times)} kernels of the benches: rank correlation {rank:.3f}, off by {middle:.2f} times")
        fine = fine and len(times) >= 300 and rank >= least_rank and middle <= most_off
        return "; ".join(found), fine
    return measure
