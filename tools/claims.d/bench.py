"""Benchmarks: one command each gives the figures and the page, and comparing builds finds slowdowns."""
import functools
import json
import pathlib
import re
import sqlite3
import statistics
import sys
import tempfile
import time

from claims import Claim, Short
from claims_support import ctest, last_line

QUICK_SECONDS = 60
FIGURES = ("bytes", "median_seconds", "p10_seconds", "p90_seconds", "gb_per_second", "mbu")
N_OPS = {"micro": 16, "patterns": 9}
STEMS = {"micro": "bench", "patterns": "pattern"}


def one_command(level):
    """`luminal bench LEVEL --quick`: all files, each case with its figures."""
    def measure(context):
        program = context.program("apps/cli/luminal")
        stem = STEMS[level]
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            start = time.monotonic()
            result = context.run([program, "bench", level, "--quick", "--out", out])
            seconds = time.monotonic() - start
            if result.returncode != 0:
                raise Short(last_line(result))
            files = [f"{stem}_metrics.json", f"{stem}_report.json", "bench.html"]
            missing = [name for name in files if not (out / name).exists()]
            if missing:
                raise Short(f"no {', '.join(missing)}")
            report = json.loads((out / files[1]).read_text())
            metrics = json.loads((out / files[0]).read_text())
        cases = report["cases"]
        whole = all(case[figure] > 0 for case in cases for figure in FIGURES)
        whole = whole and all(case["gflop_per_second"] > 0 and case["mfu"] > 0 for case in cases if case["flops"] > 0)
        whole = whole and [len(case["seconds"]) for case in metrics["cases"]] == [case["samples"] for case in cases]
        n_ops = len({case["op"] for case in cases})
        text = f"{len(cases)} cases of {n_ops} ops in {seconds:.0f} s"
        return text, whole and n_ops == N_OPS[level] and seconds <= QUICK_SECONDS
    return measure


# A kernel of each kind, from a few microseconds to some milliseconds.
COMPARED = "exp2/l1/f32,add/l3/f32,sum/l2/bf16,max/l2/f32,gather/l2/f32,sin/l2/f32,mod/l1/bf16,cast/l3/bf16"
PLANTED = ("exp2/l1/f32", "sin/l2/f32", "sum/l2/bf16", "add/l3/f32", "max/l2/f32")
SHARE = 0.15
RUNS = 10


def compare(context):
    """Ten runs with 15 % more work in one kernel, and ten without."""
    program = context.program("apps/cli/luminal")
    flagged = alarms = undecided = 0
    with tempfile.TemporaryDirectory() as folder:
        baseline, out = pathlib.Path(folder) / "baseline", pathlib.Path(folder) / "out"
        made = context.run([program, "bench", "micro", "--filter", COMPARED, "--threads", "1", "--baseline", baseline])
        if made.returncode != 0:
            raise Short(last_line(made))

        def slower(*arguments):
            result = context.run([program, "bench", "micro", "--compare", baseline, "--out", out, *arguments])
            cases = json.loads((out / "bench_compare.json").read_text())["cases"]
            names = [case["name"] for case in cases if case["verdict"] == "slower"]
            if (result.returncode == 1) != bool(names):
                raise Short(f"exit code {result.returncode}, {len(names)} slower: {last_line(result)}")
            return names, sum(case["verdict"] == "not decided" for case in cases)

        for run in range(RUNS):
            planted = f"{PLANTED[run % len(PLANTED)]}/cpu/t1"
            names, _ = slower("--plant-slowdown", f"{planted}={SHARE}")
            flagged += planted in names
            names_without, open_ = slower()
            alarms += bool(names_without)
            undecided += open_
            print(f"    run {run}: planted in {planted}: slower: {', '.join(names) or 'none'}; "
                  f"unchanged: slower: {', '.join(names_without) or 'none'}, {open_} not decided", flush=True)
    text = (f"{flagged} of {RUNS} planted slowdowns flagged, {alarms} of {RUNS} unchanged runs; "
            f"{undecided / RUNS:.1f} of {len(COMPARED.split(','))} cases a run not decided")
    return text, flagged >= RUNS - 1 and alarms <= 1


MOST_LOST = 1.03


def fusion(context):
    """SmolLM2 under three fusion policies, end to end."""
    model = context.root / "../shared/models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf"
    if not model.exists():
        raise Short(f"there is no {model.name} in ../shared/models")
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "fusion.json"
        result = context.run([context.program("apps/cli/luminal"), "bench", "fusion", "--model", model, "--runs", 15,
                              "--prefill", "128,512", "--decode", "1,16,64", "--output", output])
        if result.returncode != 0:
            raise Short(last_line(result))
        ratios = json.loads(output.read_text())["ratios"]
    bad = [setting for setting, ratio in ratios.items() if ratio["measured_by_better"]["low"] > MOST_LOST]
    worst = max((ratio["measured_by_better"] for ratio in ratios.values()), key=lambda ratio: ratio["low"])
    losing = sum(ratio["always_loses"] for ratio in ratios.values())
    slower = f" ({', '.join(bad)})" if bad else ""
    return (f"{len(ratios)} settings, {len(bad)} slower{slower}; the slowest {worst['ratio']:.3f} ({worst['low']:.3f} to "
            f"{worst['high']:.3f}); fusing everything loses to fusing nothing in {losing}"), len(ratios) == 6 and not bad


N_FAULTS = 16


def debug_faults(context):
    """Faults planted in the compiler and around it, by their names in the JSON of debug-ops."""
    program = context.program("tests/inspect/luminal_debug_faults")
    models = context.root / "../shared/models"
    result = context.run([sys.executable, "-B", context.root / "tests/inspect/debug_faults_test.py", program, models])
    match = re.search(r"(\d+) of (\d+) planted faults named", result.stdout)
    if match is None:
        raise Short(last_line(result))
    named, planted = int(match.group(1)), int(match.group(2))
    return match.group(0), result.returncode == 0 and named == planted and planted >= N_FAULTS


GOAL_CONFIGS = ("llama-1b-bf16", "llama-1b-q8_0", "llama-1b-q4_0")
LLM_CONFIGS = ("smollm2-135m-bf16", *GOAL_CONFIGS)
GOAL_RUNS = 3  # minutes apart the same program may take twice as long
GOAL_MINUTES = 20  # for all goals together, which share their runs


@functools.cache
def llm_results(run, root, build_dir, configs, n_runs):
    """Runs of the LLM suite over some configurations, which claims about them share: (run, config, path, …) rows."""
    python = root / ".venv/bin/python"
    if not python.exists():
        raise Short("there is no .venv: run tools/install-deps.sh --test")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        for _ in range(n_runs):
            result = run([python, "-B", root / "apps/bench/llm/bench.py", "full-fast", "--config", ",".join(configs),
                          "--build-dir", build_dir, "--out", out])
            print(result.stdout, end="")
            if result.returncode != 0 or not (out / "bench.html").exists():
                raise Short(last_line(result))
        columns = "run_id, config, path, status, ttft_ms, tpot_ms"
        return sqlite3.connect(out / "bench.db").execute(f"SELECT {columns} FROM results").fetchall()


def llm_suite(context):
    """luminal has figures in every configuration, and so has every path that is installed."""
    context.program("apps/bench/generate_bench")
    rows = llm_results(context.run, context.root, context.build_dir, LLM_CONFIGS, 1)
    failed = [f"{path} on {config}: {status}" for _, config, path, status, _, _ in rows
              if status not in ("ok", "absent", "unsupported")]
    if failed:
        raise Short("; ".join(failed))
    measured = {(config, path) for _, config, path, status, _, tpot in rows if status == "ok" and tpot > 0}
    paths = sorted({path for _, path in measured})
    whole = all((config, "luminal") in measured for config in LLM_CONFIGS)
    return f"{len(measured)} measurements of {', '.join(paths)}, and the page", whole and len(paths) > 1


def llm_goal(config, figure, most, against=None):
    """luminal's time by the best other path's, or by that of `against`: medians over runs that take turns."""
    column = {"ttft": 4, "tpot": 5}[figure]

    def measure(context):
        context.program("apps/bench/generate_bench")
        rows = llm_results(context.run, context.root, context.build_dir, GOAL_CONFIGS, GOAL_RUNS)
        times = {}
        for row in rows:
            if row[1] == config and row[3] == "ok":
                times.setdefault(row[2], {})[row[0]] = row[column]
        others = [path for path in times if path != "luminal" and against in (None, path)]
        if "luminal" not in times or not others:
            raise Short(f"luminal or {against or 'any other path'} has no figure")
        medians = {path: statistics.median(of_runs.values()) for path, of_runs in times.items()}
        best = min(others, key=medians.get)
        ratios = [times["luminal"][run] / times[best][run] for run in times[best] if run in times["luminal"]]
        ratio = statistics.median(ratios)
        return (f"{ratio:.2f}x ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} runs): luminal "
                f"{medians['luminal']:.1f} ms, {best} {medians[best]:.1f} ms"), ratio <= most
    return measure


def llm_goals():
    """The shape of Llama-3.2-1B in each format: the time a token, and until the first one."""
    for config, most, against in zip(GOAL_CONFIGS, (0.85, 0.8, 0.8), (None, "llama.cpp", "llama.cpp")):
        name = config.removeprefix("llama-1b-").removesuffix("_0")
        whose = f"{against}'s" if against else "the best other path's"
        yield Claim(name=f"llm-{name}-tpot", target=f"{config}: the time a token at most {most}x {whose}",
                    minutes=GOAL_MINUTES, shares="llm-goals", measure=llm_goal(config, "tpot", most, against))
        yield Claim(name=f"llm-{name}-ttft", target=f"{config}: until the first token at most 0.65x the best other path's",
                    minutes=GOAL_MINUTES, shares="llm-goals", measure=llm_goal(config, "ttft", 0.65))


CLAIMS = [
    Claim(name="micro", target=f"luminal bench micro --quick: 16 primitives with all figures and files in "
          f"{QUICK_SECONDS} s", minutes=0.5, measure=one_command("micro")),
    Claim(name="patterns", target=f"luminal bench patterns --quick: 9 patterns with all figures and files in "
          f"{QUICK_SECONDS} s", minutes=0.5, measure=one_command("patterns")),
    Claim(name="page", target="the report page draws in a browser, without a console error", minutes=0.4,
          measure=ctest("-R", "^bench_page_test$"), quick=True),
    Claim(name="debug-faults", target=f"luminal debug-ops names the cause and the place of each of {N_FAULTS} planted "
          "faults or more, and none where nothing is planted", minutes=1, measure=debug_faults, quick=True),
    Claim(name="llm-page", target="the LLM suite's page draws in a browser, without a console error", minutes=1,
          measure=ctest("-R", "^bench_llm_page_test$"), quick=True),
    Claim(name="llm-paths", target="the LLM suite's paths that are installed make the same tokens from the same weights, "
          "and every way that a path may end is recorded", minutes=1,
          measure=ctest("-R", "^bench_llm_(suite|weights|paths)_test$"), quick=True),
    Claim(name="llm-suite", target="one command: SmolLM2-135M, and the shape of Llama-3.2-1B in bf16, Q8_0 and Q4_0, on "
          "luminal and every peer that is installed, and the page", minutes=20, measure=llm_suite),
    *llm_goals(),
    Claim(name="compare", target="15 % more work in one kernel is flagged in 9 of 10 runs of --compare, an unchanged "
          "build in at most 1 of 10", minutes=8, measure=compare),
    Claim(name="fusion", target="luminal bench fusion: SmolLM2 at 6 settings of prefill and decode: no 95 % interval of "
          "policy measured by the better of never and always lies wholly above 1.03", minutes=7, measure=fusion),
]
