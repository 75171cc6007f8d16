"""Rooms: one pipeline, layers inside every module, the machine measured, true docs, CI that stays fast."""
import json
import os
import pathlib
import re
import statistics
import tempfile

from claims import Claim, Short
from claims_support import ctest, last_line

MOST_OF_ROOFLINE = 1.05
MOST_CI_MINUTES = 45
MOST_OFF = 1.5  # modelled over measured, or the other way round


def bench_cases(context, level, environment, folder):
    result = context.run([context.program("apps/cli/luminal"), "bench", level, "--quick", "--out", folder], env=environment)
    if result.returncode != 0:
        raise Short(last_line(result))
    name = {"micro": "bench_report.json", "patterns": "pattern_report.json"}[level]
    cases = json.loads((pathlib.Path(folder) / name).read_text())["cases"]
    return [case for case in cases if case["backend"] == "cpu" and case["threads"] > 1]


def modelled_beside_measured(context):
    """The cost model of this machine's peaks beside the times of micro and pattern benches, on all threads."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        measured = context.run([context.program("apps/cli/luminal"), "doctor", "--measure", "--json"], env=environment)
        if measured.returncode != 0:
            raise Short(last_line(measured))
        peaks = json.loads(measured.stdout)["peaks"]
        cases = [case for level in ("micro", "patterns") for case in bench_cases(context, level, environment, folder)]
    shares = [case["bound_seconds"] / case["model_seconds"] for case in cases]
    off = [max(case["model_seconds"], case["median_seconds"]) / min(case["model_seconds"], case["median_seconds"])
           for case in cases]
    middle = statistics.median(off)
    return (f"{len(cases)} cases: modelled at most {max(shares):.2f} of the roofline; off by {middle:.2f} times (median); "
            f"reads {peaks['memory'][-1]['read_bytes'] / 1e9:.1f} GB/s",
            max(shares) <= MOST_OF_ROOFLINE and middle <= MOST_OFF)


def same_kernels(context):
    """Kernels that debug-ops names beside those of a trace, of one plan that was rolled and measured."""
    program = context.program("apps/cli/luminal")
    model = context.root.parent / "shared/models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf"
    if not model.exists():
        raise Short("the model is not there: SmolLM2")
    with tempfile.TemporaryDirectory() as folder:
        options = ["--search", "measured", "--budget", "4", "--records", f"{folder}/records.db", "--cache", folder,
                   "--rolling", "always", "--keep-busy-times"]
        trace = pathlib.Path(folder) / "trace.json"
        traced = context.run([program, "run", model, "-p", "Once", "-n", "3", "--greedy", "--trace", trace, *options])
        debugged = context.run([program, "debug-ops", model, "--until", "plan", *options, "--json"])
        if traced.returncode != 0 or debugged.returncode != 0:
            raise Short(last_line(traced if traced.returncode != 0 else debugged))
        steps = {event["name"] for event in json.loads(trace.read_text())["traceEvents"] if event.get("cat") == "kernel"}
        text = debugged.stdout
    missing = sorted(step for step in steps if json.dumps(step, ensure_ascii=False)[1:-1] not in text)
    return f"{len(steps)} kernels in the trace, {len(missing)} of them unknown to debug-ops {missing[:2]}", not missing


def layers(context):
    """Includes against LAYERS files, mutual pairs of folders, full folders and long files: all are problems."""
    result = context.run([context.root / "tools/check-layers.py"])
    return last_line(result), result.returncode == 0


def ci_time(context):
    """The table that the last `.ci/run` in this tree left; without a compiler cache it is a clean machine's."""
    times = context.root / "build/ci-times.txt"
    if not times.exists():
        raise Short("no run is on record: CCACHE_DISABLE=1 .ci/run writes build/ci-times.txt")
    print(times.read_text(), end="")
    minutes = int(re.search(r"total (\d+) s", times.read_text()).group(1)) / 60
    passed = "FAILED" not in times.read_text()
    return f"{minutes:.1f} min{'' if passed else ', and it failed'}", passed and minutes <= MOST_CI_MINUTES


CLAIMS = [
    Claim(name="layers", target="0 includes against any LAYERS file, 0 mutual pairs of folders, at most 30 sources in a folder "
          "and 600 lines in a file", minutes=0.1, measure=layers, quick=True),
    Claim(name="same-plans", target="digests of the plans of twelve graphs are the recorded ones at equal peaks", minutes=0.1,
          measure=ctest("-R", "^same_plans_test$"), quick=True),
    Claim(name="adding", target="a composite, a rule, a custom kernel, a file format and a model family are added from outside",
          minutes=0.1, measure=ctest("-R", "^extend_test$"), quick=True),
    Claim(name="adding-places", target="a planted element-wise primitive and a planted dtype need at most 6 files each, a report "
          "field 2", minutes=1, measure=ctest("-R", "^(count_places|report_field)_test$"), quick=True),
    Claim(name="docs", target="every command in README and docs runs as written or has known options, and no stale sentence is "
          "left", minutes=1, measure=ctest("-R", "^(docs_commands|readme)_test$"), quick=True),
    Claim(name="golden", target="at least 60 text cases of terms, lowering, plans, schedules and costs; changing a constant of "
          "lowering, scheduling or the cost model fails at least one", minutes=0.2,
          measure=ctest("-R", "^golden_(texts|mistakes)_test$"), quick=True),
    Claim(name="machine", target="peaks given by a file decide plans and are quoted by explain; peaks are kept, read back and "
          "refused where they can't be", minutes=0.2, measure=ctest("-R", "^(peaks|machine_peaks)_test$"), quick=True),
    Claim(name="one-pipeline", target="one function runs the phases of planning, and no other file calls two of them",
          minutes=0.1, measure=ctest("-R", "^one_pipeline_test$"), quick=True),
    Claim(name="same-kernels", target="debug-ops of a rolled, measured SmolLM2 plan names the kernels that its trace shows",
          minutes=3, measure=same_kernels),
    Claim(name="model", target=f"after `doctor --measure` no modelled kernel of the micro and pattern benches takes more than "
          f"{MOST_OF_ROOFLINE} of the roofline, and the median is within {MOST_OFF} times of its measured time", minutes=6,
          measure=modelled_beside_measured),
    Claim(name="ci-time", target=f"`.ci/run` without a compiler cache takes at most {MOST_CI_MINUTES} minutes on two cores",
          minutes=0.1, measure=ci_time),
]
