#!/usr/bin/env python3
"""The e-graph engine against egglog's wheels, interleaved in one run, one thread each.

  .venv/bin/python apps/bench/egraph/bench.py BUILD_DIR [--rounds N] [--only ac-10 math …] [--quick]
  .venv/bin/python apps/bench/egraph/bench.py BUILD_DIR --suite DIR [--only NAME …] [--timeout S]

Every round runs a program once in each engine, one after the other and each in its own process, so that
other load on the machine affects all alike. Times are wall-clock run times; ours include parsing, egglog's
don't. A ratio is the median over rounds of the faster egglog wheel's time by ours, with a 95 %
interval. Table sizes must be equal. With --suite the programs are the .egg files of a folder, such as tests/ of egglog's
repository; they run in the folder's parent, where their includes are. egglog 3.x without tree decomposition
has no wheel and isn't run (published: 0.42 s for llama).
"""
import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[0] = str(ROOT)
from apps.bench.egraph import workloads  # noqa: E402
from apps.bench.egraph.sizes import table_sizes  # noqa: E402
from apps.bench.harness import rounds  # noqa: E402
from apps.bench.harness.contestant import Contestant, last_words  # noqa: E402
from apps.bench.harness.protocol import BROKEN, Refusal  # noqa: E402

SECOND_WHEEL = ROOT / ".venv/egglog-13.2.0"  # tools/install-deps.sh --test puts it there
WORKLOADS = {
    "ac-10": lambda: workloads.ac_sum(10),
    "ac-11": lambda: workloads.ac_sum(11),
    "math": lambda: workloads.calculus(11),
    "divmod": lambda: workloads.index_arithmetic(10),
}
QUICK = {
    "ac-10": lambda: workloads.ac_sum(7),
    "ac-11": lambda: workloads.ac_sum(8),
    "math": lambda: workloads.calculus(8),
    "divmod": lambda: workloads.index_arithmetic(6),
}
ADD_ROWS = {False: {"ac-10": 10, "ac-11": 11}, True: {"ac-10": 7, "ac-11": 8}}


@dataclasses.dataclass
class Limits:
    timeout: float
    memory: int


@dataclasses.dataclass
class Engine:
    """A contestant: its name with its version, and its command; each run has a process of its own."""
    name: str
    command: list
    limited: bool  # has an address-space limit; ours has none, because a sanitizer reserves far more than it uses

    def run(self, file, folder, limits):
        """The answer, or {"unfinished": why}."""
        with tempfile.TemporaryFile("w+", errors="replace") as errors:
            try:
                with Contestant(self.command, limits.timeout, limits.memory if self.limited else None, stderr=errors,
                                cwd=folder, env={**os.environ, "RAYON_NUM_THREADS": "1"}) as contestant:
                    answer = contestant.run("program", settings={"file": str(file)})
                    return {**answer, "seconds": answer["seconds"][0]}
            except Refusal as refusal:
                words = last_words(errors, 1) if refusal.status == BROKEN else ""
                return {"unfinished": f"{refusal}: {words}" if words else str(refusal)}


def find_engines(build_dir, wheels):
    commands = [("ours", [(build_dir / "apps/bench/egraph/egraph_bench").resolve()])]
    for options in [[], *(["--wheel", str(wheel.resolve())] for wheel in wheels)]:
        commands.append(("egglog", [sys.executable, HERE / "egglog_contestant.py", *options]))
    engines = []
    for name, command in commands:
        try:
            with Contestant(command) as contestant:
                version = f"egglog {contestant.version}"
                engines.append(Engine("ours" if name == "ours" else version, command, limited=name != "ours"))
        except Refusal as refusal:
            if name == "ours":
                sys.exit(f"bench: {refusal.text()}")
            print(f"bench: {refusal.text()}")
    if len(engines) == 1:
        sys.exit("bench: there is no egglog to compare with")
    return engines


def interleave(name, engines, file, folder, limits, n_rounds):
    """The runs of each engine; one that doesn't finish isn't run again."""
    runs, start = {engine.name: [] for engine in engines}, time.monotonic()

    def turn(engine):
        def take():
            if not runs[engine.name] or "seconds" in runs[engine.name][-1]:
                runs[engine.name].append(engine.run(file, folder, limits))
        return take

    def say(number, _):
        if time.monotonic() - start > 2:
            print(f"  {name}: round {number + 1} of {n_rounds}", file=sys.stderr, flush=True)

    rounds.interleaved({engine.name: turn(engine) for engine in engines}, n_rounds, settle=0, after_round=say)
    return runs


def seconds_of(runs):
    return [run["seconds"] for run in runs if "seconds" in run]


def judge(name, runs):
    """The result of one program: a dict for printing and JSON."""
    ours = runs["ours"]
    result = {"name": name, "runs": runs, "medians": {}, "ratios": {}, "unfinished": {}}
    for engine, its_runs in runs.items():
        if "seconds" in its_runs[-1]:
            result["medians"][engine] = statistics.median(seconds_of(its_runs))
        else:
            result["unfinished"][engine] = its_runs[-1]["unfinished"]
    if "ours" not in result["medians"]:
        return result
    sizes = table_sizes(ours[-1]["sizes"])
    tuples = sum(sizes.values())
    result["tuples"] = tuples
    if tuples:
        result["bytes_per_tuple"] = {kind: statistics.median(run[f"{kind}_bytes"] for run in ours) / tuples
                                     for kind in ("held", "peak")}
    result["differences"] = {}
    for engine in [engine for engine in result["medians"] if engine != "ours"]:
        theirs = table_sizes(runs[engine][-1]["sizes"])
        for table in sorted(sizes.keys() | theirs.keys()):
            if sizes.get(table) != theirs.get(table):
                result["differences"][f"{table} ({engine})"] = [sizes.get(table), theirs.get(table)]
        result["ratios"][engine] = rounds.ratio(seconds_of(runs[engine]), seconds_of(ours))
    if result["ratios"]:
        result["fastest"] = min(result["ratios"], key=lambda engine: result["medians"][engine])
        result["ratio"] = result["ratios"][result["fastest"]]
    return result


def show(result):
    parts = [f"{result['name']:22}"]
    for engine in result["runs"]:
        if engine in result["medians"]:
            times = seconds_of(result["runs"][engine])
            parts.append(f"{engine} {1e3 * result['medians'][engine]:.2f} ms ({1e3 * min(times):.2f} … {1e3 * max(times):.2f})")
        else:
            parts.append(f"{engine} not finished")
    if "ratio" in result:
        parts.append(f"ratio {rounds.shown(result['ratio'])} against {result['fastest']}")
        parts.append("sizes DIFFER" if result["differences"] else f"sizes same, {result['tuples']} tuples")
    if "bytes_per_tuple" in result and result["tuples"] >= 10000:
        memory = result["bytes_per_tuple"]
        parts.append(f"{memory['held']:.0f} B a tuple (peak {memory['peak']:.0f})")
    print("  ".join(parts), flush=True)


def run_workloads(engines, options, limits):
    results = []
    texts = QUICK if options.quick else WORKLOADS
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.only or texts:
            if name not in texts:
                sys.exit(f"bench: there is no workload '{name}'; there are {', '.join(texts)}")
            file = pathlib.Path(scratch) / f"{name}.egg"
            file.write_text(texts[name]())
            result = judge(name, interleave(name, engines, file, scratch, limits, options.rounds))
            terms = ADD_ROWS[options.quick].get(name)
            if terms and "sizes" in result["runs"]["ours"][-1]:
                found = table_sizes(result["runs"]["ours"][-1]["sizes"])["Add"]
                if found != workloads.ac_rows(terms):
                    result["differences"]["Add (by formula)"] = [found, workloads.ac_rows(terms)]
            show(result)
            results.append(result)
    return results


def run_suite(engines, options, limits):
    folder = options.suite.resolve()
    files = sorted(folder.glob("*.egg"))
    if options.only:
        files = [file for file in files if file.stem in options.only]
    if not files:
        sys.exit(f"bench: no .egg files to run in {folder}")
    results = []
    for file in files:
        path = file.relative_to(folder.parent)
        result = judge(file.stem, interleave(file.stem, engines, path, folder.parent, limits, options.rounds))
        show(result)
        results.append(result)
    return results


def summarize_suite(results):
    """The programs grouped by outcome."""
    def names(title, chosen, why=lambda result: ""):
        print(f"{title}: {len(chosen)}")
        for result in chosen:
            print(f"  {result['name']}{why(result)}")

    both = [r for r in results if "ratio" in r]
    same = [r for r in both if not r["differences"]]
    different = [r for r in both if r["differences"]]
    slower = [r for r in both if r["ratio"]["ratio"] < 1]
    only_ours = [r for r in results if "ours" in r["medians"] and "ratio" not in r]
    only_theirs = [r for r in results if "ours" not in r["medians"] and r["medians"]]
    neither = [r for r in results if not r["medians"]]
    print()
    print(f"same sizes: {len(same)}")
    names("different sizes", different, lambda r: ": " + ", ".join(
        f"{table} {ours} and {theirs}" for table, (ours, theirs) in list(r["differences"].items())[:4]))
    names("slower than 1x", slower, lambda r: f": {r['ratio']['ratio']:.2f} against {r['fastest']}")
    names("only we finish", only_ours, lambda r: f": {list(r['unfinished'].values())[0][:150]!r}")
    names("not run by us, by egglog yes", only_theirs, lambda r: f": {r['unfinished']['ours'][:200]}")
    names("nobody finishes", neither, lambda r: f": {r['unfinished']['ours'][:150]!r}")
    print(f"suite: {len(results)} programs, {len(both)} finished by both, {len(same)} same, {len(different)} different, "
          f"{len(slower)} slower, {len(only_theirs)} only by egglog")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these workloads, or programs of the suite without .egg")
    parser.add_argument("--suite", type=pathlib.Path, metavar="DIR", help="run the .egg files of this folder")
    parser.add_argument("--quick", action="store_true", help="smaller workloads, three rounds")
    parser.add_argument("--wheel", type=pathlib.Path, action="append", metavar="DIR",
                        help=f"a folder with a further wheel (default: {SECOND_WHEEL.relative_to(ROOT)})")
    parser.add_argument("--first-wheel-only", action="store_true", help="use only the installed wheel")
    parser.add_argument("--timeout", type=float, default=120, help="time limit of a run in seconds (default: %(default)s)")
    parser.add_argument("--memory-gb", type=float, default=8)
    parser.add_argument("--json", type=pathlib.Path, metavar="OUT", help="write all measurements to this file")
    options = parser.parse_args()
    if options.quick:
        options.rounds = min(options.rounds, 3)
    wheels = [] if options.first_wheel_only else options.wheel or [SECOND_WHEEL]
    engines = find_engines(options.build_dir, wheels)
    limits = Limits(options.timeout, int(options.memory_gb * 2**30))
    print(f"bench: {', '.join(engine.name for engine in engines)}; one thread each, {options.rounds} rounds, "
          "interleaved. egglog 3.x without tree decomposition was not run (published: 0.42 s for llama).", flush=True)
    results = (run_suite if options.suite else run_workloads)(engines, options, limits)
    if options.suite:
        summarize_suite(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if any(result.get("differences") for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
