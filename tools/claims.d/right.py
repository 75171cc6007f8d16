"""Right and safe: what hostile testing found stays mended, and so do the classes behind it."""
import json
import os
import pathlib
import random
import re
import sys
import tempfile
import time

from claims import Claim, Short
from claims_support import conformance, last_line

TARGETS = ("sse2", "avx2", "avx512", "amx")
RANDOM_GRAPHS = 500


def runnable(context):
    """The targets that this machine runs, and those that it doesn't."""
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), flags=re.MULTILINE)
    has = set(flags.group(1).split()) if flags else set()
    needs = {"sse2": {"sse2"}, "avx2": {"avx2", "fma", "f16c"},
             "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
             "amx": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "amx_tile", "amx_bf16"}}
    here = [target for target in TARGETS if needs[target] <= has]
    return here, [target for target in TARGETS if target not in here]


def random_graphs(context, target):
    """(graphs, failed) of random graphs on a target."""
    program = context.program("tests/random_graphs/luminal_random_graphs")
    result = context.run([program, "--count", RANDOM_GRAPHS, "--first-seed", 5000, "--target", target])
    if not result.stdout.strip().endswith("}"):
        raise Short(last_line(result))
    summary = json.loads(last_line(result))
    return summary["graphs"], summary["failed"]


def goldens(context):
    """gtest's count of the models' golden texts, on each target that this machine runs."""
    result = context.run([context.program("tests/llm/golden_test"), "--gtest_filter=*OnTarget*"])
    model = context.run([context.program("tests/llm/llama_test"), "--gtest_filter=*OnEveryTarget*"])
    passed = sum(int(found) for out in (result, model) for found in re.findall(r"PASSED  \] (\d+) test", out.stdout))
    if re.search(r"there is no .*; set LUMINAL_TEST_MODELS", result.stdout):
        raise Short("the models are missing: set LUMINAL_TEST_MODELS")
    return passed, result.returncode == 0 and model.returncode == 0


def targets(context):
    here, missing = runnable(context)
    said, right = [], True
    for target in here:
        passed, failed, _ = conformance(context, "cpu", ("--target", target))
        graphs, wrong = random_graphs(context, target)
        said.append(f"{target}: {passed} of {passed + failed} cases of the matrix, {graphs - wrong} of {graphs} random graphs")
        right = right and failed == 0 and wrong == 0
    passed, models_right = goldens(context)
    said.append(f"{passed} golden and grouped-query tests of models")
    if missing:
        said.append(f"NOT RUN, this machine has no {', '.join(missing)}")
    return "; ".join(said), right and models_right and len(here) >= 2


def tsan(context):
    for command in (["cmake", "--preset", "tsan"], ["cmake", "--build", "--preset", "tsan"]):
        built = context.run(command, cwd=context.root)
        if built.returncode != 0:
            raise Short(f"the tsan build failed: {last_line(built)}")
    environment = {**os.environ, "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 exitcode=66"}
    said, ok = [], True
    for test in ("llm/thread_safety_test", "runtime/thread_pool_test"):
        result = context.run([context.root / "build/tsan/tests" / test], env=environment)
        reports = len(re.findall(r"WARNING: ThreadSanitizer", result.stdout + result.stderr))
        passed = re.search(r"PASSED  \] (\d+) test", result.stdout)
        said.append(f"{test}: {passed.group(1) if passed else 'no'} tests passed, {reports} reports")
        ok = ok and result.returncode == 0 and reports == 0
    return "; ".join(said), ok


def memory(context):
    """Every parser on small files made to take all memory or time; see tests/hostile/bombs.py."""
    program = context.program("apps/cli/luminal")
    chat_cases = context.program("tests/text/luminal_chat_cases")
    result = context.run([sys.executable, "-B", context.root / "tests/hostile/bombs.py", program, chat_cases])
    return last_line(result), result.returncode == 0


ROUNDS = 3  # interleaved; the best counts, since a busy machine only ever adds
MOST_GROWTH = 2
MOST_SECONDS = 15  # of the graphs of 100,000 nodes


def chain(ops, kinds):
    """x, and one element-wise op after the other; `kinds(i)` names the next."""
    lines = ["luminal-graph 1"] + [f'%{i} = input "{name}" : f32[4096]' for i, name in enumerate("xab")]
    x, node = 0, 3
    for i in range(ops):
        if node >= ops + 3:
            break
        kind = kinds(i)
        if kind in ("mul", "add"):
            lines.append(f"%{node} = {kind} %{x} %{1 + i % 2} : f32[4096]")
        elif kind == "select":
            lines.append(f"%{node} = less_than %{x} %1 : bool[4096]")
            node += 1
            lines.append(f"%{node} = select %{node - 1} %{x} %2 : f32[4096]")
        else:
            lines.append(f"%{node} = {kind} %{x} : f32[4096]")
        x, node = node, node + 1
    return "\n".join(lines + [f'output "y" %{x}', ""])


def affine(ops):
    return chain(ops, lambda i: ("mul", "add")[i % 2])


def mixed(ops):
    """No period: nothing of it is rolled, and no kernel is like another."""
    source = random.Random(1)
    return chain(ops, lambda _: source.choice(("mul", "add", "exp2", "sin", "select", "recip", "sqrt")))


def layers(nodes, layer):
    """Layers of six nodes, each with a weight of its own."""
    lines, x = ["luminal-graph 1", '%0 = input "x" : f32[8, 64]'], 0
    for at in range(1, nodes, 6):
        lines += [f"%{at + k} = {line}" for k, line in enumerate(layer(at, x))]
        x = at + 5
    return "\n".join(lines + [f'output "y" %{x}', ""])


def gated(nodes):
    wide = "f32[8, 64]"
    return layers(nodes, lambda at, x: [
        f'weight "w{at}" : f32[64]', f"view %{at} [i1] : {wide}", f"mul %{x} %{at + 1} : {wide}",
        f"less_than %{at + 2} %{x} : bool[8, 64]", f"select %{at + 3} %{x} %{at + 2} : {wide}",
        f"add %{x} %{at + 4} : {wide}"])


def perceptron(nodes):
    wide, product = "f32[8, 64]", "f32[8, 64, 64]"
    return layers(nodes, lambda at, x: [
        f'weight "w{at}" : f32[64, 64]', f"view %{x} [i0, i2] : {product}", f"view %{at} [i2, i1] : {product}",
        f"mul %{at + 1} %{at + 2} : {product}", f"reduce sum %{at + 3} : {wide}", f"sin %{at + 4} : {wide}"])


FAMILIES = {
    "chain x·a + b": (affine, (1_000, 10_000, 100_000)),
    "chain without a period": (mixed, (1_000, 10_000, 100_000)),
    "gated layers": (gated, (6_000, 96_000)),
    "matrix layers": (perceptron, (6_000, 96_000)),
}


def compile_growth(context):
    """Wall time of `luminal compile`, with the start of the program, nothing from a cache."""
    program = context.program("apps/cli/luminal")
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, (make, sizes) in FAMILIES.items():
            for size in sizes:
                files[name, size] = pathlib.Path(folder) / f"{len(files)}.lum"
                files[name, size].write_text(make(size))
        for _ in range(ROUNDS):
            for key, file in files.items():
                start = time.monotonic()
                result = context.run([program, "compile", file, "--cache", "none"])
                if result.returncode != 0:
                    raise Short(f"{key[0]}, {key[1]} nodes: {last_line(result)}")
                best[key] = min(best.get(key, float("inf")), time.monotonic() - start)
    parts, holds = [], True
    for name, (_, sizes) in FAMILIES.items():
        seconds = [best[name, size] for size in sizes]
        growth = (seconds[-1] / sizes[-1]) / (seconds[0] / sizes[0])
        holds = holds and growth <= MOST_GROWTH and seconds[-1] <= MOST_SECONDS
        print(f"    {name}: " + ", ".join(f"{size} nodes {taken:.2f} s" for size, taken in zip(sizes, seconds)))
        parts.append(f"{name} {growth:.2f}x, {seconds[-1]:.1f} s")
    return "; ".join(parts), holds


FOREIGN_GRAPHS = 20000
FOREIGN_TARGETS = ("sse2", "avx2", "avx512")
FOREIGN_MOST_UNKNOWN = 0.1


def foreign(context):
    """Graphs of the second generator on every target, in two processes, by the second oracle."""
    program = context.program("tests/foreign/luminal_foreign_graphs")
    result = context.run([program, "--graphs", FOREIGN_GRAPHS, "--seed", 100000, "--jobs", 2,
                          "--targets", ",".join(FOREIGN_TARGETS)])
    for line in result.stdout.splitlines():
        if line.startswith(("WRONG", "CRASHED", "FALSE ALARM", "SKIPPED")):
            print(f"    {line}")
    try:
        summary = json.loads(last_line(result))
    except json.JSONDecodeError as error:
        raise Short(last_line(result)) from error
    unknown = summary["unknown_share"]
    known = summary["elements"] * (1 - unknown)
    measured = (f"{summary['graphs']:,} graphs on {', '.join(summary['targets'])}: {known / 1e6:.1f} M elements judged, "
                f"{unknown:.1%} unknown, {summary['wrong']} wrong, {summary['crashed']} crashed; "
                f"{summary['false_alarms']} false alarms in {summary['checked']:,} checked")
    return measured, (result.returncode == 0 and summary["graphs"] >= FOREIGN_GRAPHS
                      and tuple(summary["targets"]) == FOREIGN_TARGETS and unknown <= FOREIGN_MOST_UNKNOWN)


def reproductions(context):
    """The files that hostile testing left, on each target that this machine runs."""
    here, missing = runnable(context)
    result = context.run([sys.executable, "-B", context.root / "tests/hostile/reproductions.py",
                          context.program("apps/cli/luminal"), "--targets", ",".join(here)])
    print("".join(f"    {line}\n" for line in result.stdout.splitlines()[:-1]), end="")
    lacks = f"; NOT RUN, this machine has no {', '.join(missing)}" if missing else ""
    return f"{last_line(result)} on {', '.join(here)}{lacks}", result.returncode == 0


FORGERIES = 2000
FUZZ_SECONDS = 300  # of each of two fuzzers


def records_hostile(context):
    """Forged plans, records, bundles and cache entries, and two fuzzers, all with AddressSanitizer."""
    programs = {"luminal_forged": "tests/forged/luminal_forged", "fuzz_plan": "tests/fuzz/fuzz_plan",
                "fuzz_records": "tests/fuzz/fuzz_records"}
    for command in (["cmake", "--preset", "asan"],
                    ["cmake", "--build", "--preset", "asan", "--target", *programs]):
        if context.run(command).returncode != 0:
            raise Short("the sanitized build failed: " + " ".join(command))
    build = context.root / "build/asan"
    forged = context.run([build / programs["luminal_forged"], "--count", FORGERIES])
    summary = json.loads(last_line(forged)) if forged.stdout.strip().endswith("}") else None
    if summary is None:
        raise Short(last_line(forged))
    said, holds = [f"{summary['forged']:,} forged, {summary['wrong']} wrong"], forged.returncode == 0
    for name in ("fuzz_plan", "fuzz_records"):
        with tempfile.TemporaryDirectory() as corpus:
            seeds = context.root / "tests/fuzz/corpus" / name.removeprefix("fuzz_")
            result = context.run([build / programs[name], f"-max_total_time={FUZZ_SECONDS}", "-rss_limit_mb=2048",
                                  "-timeout=20", corpus, *([seeds] if seeds.exists() else [])], cwd=corpus)
        runs = re.findall(r"^Done (\d+) runs", result.stderr, flags=re.MULTILINE)
        said.append(f"{name}: {int(runs[-1]) if runs else 0:,} runs in {FUZZ_SECONDS} s, exit code {result.returncode}")
        holds = holds and result.returncode == 0
    return "; ".join(said), holds


CLAIMS = [
    Claim(name="reproductions", target="every file that once crashed, hung, took all memory or was wrong: the right answer "
          "or an error of the user's, on all targets", minutes=2, measure=reproductions, quick=True),
    Claim(name="records-hostile", target=f"{FORGERIES:,} forged or mutated plans, records, bundles and cache entries under "
          "AddressSanitizer: refused or right; fuzzers of 10 minutes find nothing", minutes=35, measure=records_hostile),
    Claim(name="foreign", target="20,000 graphs of a second generator, on sse2, avx2 and avx512: 0 wrong by an oracle of "
          "its own, 0 false alarms of the checker", minutes=60, measure=foreign),
    Claim("compile-growth", "chains of 1,000, 10,000 and 100,000 ops, layers of 6,000 and 96,000 nodes: time per "
          "node at most 2x from the smallest to the largest; 100,000 nodes <= 15 s", 3, compile_growth),
    Claim(name="memory", target="hostile files of at most 1 MB, for every parser: an error or a result, within 1 GB and 10 s",
          minutes=3, measure=memory),
    Claim(name="targets", target=f"the whole matrix, {RANDOM_GRAPHS} random graphs and the models' golden texts are right "
          f"on {', '.join(TARGETS)}", minutes=35, measure=targets),
    Claim(name="tsan", target="compiles, clones and sessions in 8 threads at once: no report of ThreadSanitizer (builds the "
          "library with it)", minutes=25, measure=tsan),
]
