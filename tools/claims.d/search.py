"""The search: what is planned once, what that costs, and what is remembered of it."""
import json
import pathlib
import re
import statistics
import tempfile

from claims import Claim
from claims_support import answer, contestant, last_line, number
from apps.bench.harness.rounds import interleaved, ratio as ratio_of, shown

PAIRS = 5
KILL_ROUNDS = 50
MOST_LOST = 1.03  # by policy measured, of the better of never and always


def rolling_agrees(context):
    """Loops of 2 to 48 trips on the CPU, rolled and as they are, each run three times."""
    program = context.program("tests/random_graphs/luminal_random_graphs")
    result = context.run([program, "--loops", "--count", 600, "--first-seed", 1000])
    seeds = re.findall(r"^FAILED seed (\d+)", result.stdout, re.MULTILINE)
    failed = "".join(f"; seed {seed} fails (--loops --seed {seed} shows it)" for seed in seeds)
    summary = json.loads(last_line(result))
    return (f"{summary['graphs']} loops, {summary['rolled']} of them rolled, {summary['kernels']} kernels, "
            f"{summary['failed']} failed{failed}"), result.returncode == 0 and summary["rolled"] >= 500


def compiled(context, layers):
    return answer(context, "apps/bench/compile_bench", "bert-base", settings={"layers": layers, "length": 128})


def rolling_layers(context):
    """BERT-base's layer, 4 and 30 times, compiled in turns, nothing from a cache."""
    found = interleaved({layers: lambda layers=layers: compiled(context, layers) for layers in (4, 30)}, PAIRS)
    few, many = found[4][0], found[30][0]
    seconds = {layers: [each["seconds"][0] for each in of] for layers, of in found.items()}
    ratio = ratio_of(seconds[30], seconds[4])["ratio"]
    same = few["distinct_kernels"] == many["distinct_kernels"] and few["lowered"] == many["lowered"]
    return (f"{many['distinct_kernels']} and {few['distinct_kernels']} kernels compiled, {many['lowered']} and "
            f"{few['lowered']} costed, {many['egraph_nodes']} and {few['egraph_nodes']} e-graph nodes, "
            f"{ratio:.2f} times the time"), \
        same and many["egraph_nodes"] <= 1.1 * few["egraph_nodes"] and ratio <= 1.5


def rolling_llama(context):
    program = context.program("tests/driver/rolling_test")
    result = context.run([program, "--gtest_filter=*LlamaOf8Billion*"])
    saturated = number(r"llama_8b_saturate_ms ([\d.]+)", result)
    planned = number(r"plan_ms ([\d.]+)", result)
    resident = number(r"resident_mb (\d+)", result)
    return (f"saturated in {saturated:.1f} ms, planned in {planned:.0f} ms, {resident:.0f} MB resident",
            saturated <= 1000 and resident <= 500)


def records_kill(context):
    program = context.program("tests/records/luminal_records_kill")
    result = context.run([program, "--rounds", KILL_ROUNDS])
    found = re.search(r"(\d+) killed, \d+ of them at work: (\d+) records reported as written, (\d+) lost, (\d+) damaged", result.stdout)
    killed, written, lost, damaged = map(int, found.groups()) if found else (0, 0, 1, 1)
    holds = result.returncode == 0 and killed == KILL_ROUNDS and written > 0 and lost == 0 and damaged == 0
    return last_line(result), holds


BUDGET_GRAPHS = ["softmax-norm", "swiglu", "mlp", "resnet-18", "bert-base", "smollm2", "llama-1b-prefill",
                 "llama-1b-decode"]


def budgets(context):
    """Each graph searched for 5, 20 and 60 s; what each found in turns with what the smaller one found."""
    slower, gains, lines = [], [], []
    for graph in BUDGET_GRAPHS:
        runs = answer(context, "apps/bench/search_bench", graph, settings={"budgets": [5, 20, 60]})["searches"]
        for run in runs:
            if run["of_smaller"]["low"] > 1.02:
                slower.append(f"{graph} at {run['budget']:g} s: {run['of_smaller']['ratio']:.3f}")
        gains.append(1 / runs[-1]["of_model"]["ratio"])
        lines.append(f"{graph} {gains[-1]:.2f}")
    gain = statistics.geometric_mean(gains)
    found = "none slower" if not slower else "slower: " + ", ".join(slower)
    return f"{found}; {gain:.2f} times as fast as without a search ({', '.join(lines)})", not slower


def cold_and_warm(context):
    """The 16-layer 1B shape: a search with the default budget, and the same compile again."""
    cold, warm = answer(context, "apps/bench/search_bench", "llama-1b-decode",
                        settings={"budgets": [20, 20], "retime": 1})["seconds"]
    return f"{cold:.1f} s cold, {warm:.2f} s from records and the object cache", cold <= 30 and warm <= 1


def same_bytes(context):
    """A measured search, then its replay in ten processes."""
    program = context.program("apps/cli/luminal")
    graph = context.root / "examples/feed_forward.lum"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        records = folder / "records.sqlite"
        common = [program, "compile", graph, "--cache", "none", "--records", records, "--print-after", "plan"]
        first = context.run([*common, "--search", "measured", "--budget", "10", "--keep-busy-times"])
        plans = {first.stdout}
        for _ in range(10):
            plans.add(context.run([*common, "--search", "replay"]).stdout)
    return f"{len(plans)} different plans", len(plans) == 1 and first.returncode == 0 and "kernel" in first.stdout


def random_plans(context):
    result = context.run([context.program("tests/driver/random_plans_all")])
    models = re.findall(r"^(.*): 50 plans$", result.stdout, re.MULTILINE)
    return f"{len(models)} models, 50 plans each" if models else last_line(result), \
        result.returncode == 0 and len(models) >= 4


def fusion(context):
    """Both patterns at one width, profiled, then compiled under three policies and timed in turns."""
    with tempfile.TemporaryDirectory() as folder:
        profile = folder + "/profile.json"
        width = {"hidden": 576, "intermediate": 1536}
        tuned = context.run([context.program("apps/cli/luminal"), "tune", "fusion", "--quick", "--output", profile,
                             "--cache", "none", "--dtype", "f32,bf16", "--hidden", width["hidden"], "--intermediate",
                             width["intermediate"]])
        if tuned.returncode != 0:
            return f"luminal tune fusion failed: {tuned.stderr.strip()}", False
        with contestant(context, "apps/bench/fusion_bench") as bench:
            found = [bench.run(case, settings={"profile": profile, **width}) for case in bench.cases]
    bad = [of for of in found if of["of_better"]["low"] > MOST_LOST or of["source"] != "profile"]
    worst = max((of["of_better"] for of in found), key=lambda ratio: ratio["low"])
    listed = "".join(f"; {of['case']} {of['decision']} by {of['source']}, {shown(of['of_better'], 3)}" for of in bad)
    stored = sum(of["decision"] == "stored" for of in found)
    return (f"{len(found)} settings, {stored} of them unfused; {len(bad)} slower{listed}; the slowest {shown(worst, 3)}",
            len(found) == 20 and not bad)


CLAIMS = [
    Claim(name="budgets", target="8 graphs, 5, 20 and 60 s: no 99 % interval of the ratio to the smaller budget's plan "
          "lies wholly above 1.02", minutes=20, measure=budgets),
    Claim(name="cold-and-warm", target="a 16-layer Llama-1B shape searched within 30 s, compiled again within 1 s",
          minutes=1.5, measure=cold_and_warm),
    Claim(name="same-bytes", target="the same plan, byte for byte, in 10 replays of a search", minutes=0.5,
          measure=same_bytes, quick=True),
    Claim(name="random-plans", target="50 random plans of each of 4 models agree with the interpreter", minutes=25,
          measure=random_plans),
    Claim(name="rolling-agrees", target="500 random loops agree with the f64 interpreter, rolled and unrolled",
          minutes=4, measure=rolling_agrees),
    Claim(name="rolling-layers", target="30 layers: the kernels of 4 layers, e-graph within 10 %, 1.5 times the time",
          minutes=1, measure=rolling_layers),
    Claim(name="rolling-llama-8b", target="a 32-layer Llama-8B saturates within 1 s and 500 MB", minutes=0.1,
          measure=rolling_llama),
    Claim(name="records-kill", target="four processes write to one file of records, one of them is killed (-9) at random, 50 "
          "rounds: no record lost, none damaged", minutes=0.5, measure=records_kill, quick=True),
    Claim(name="fusion", target="SwiGLU and add + RMS norm, 1 to 512 tokens, f32 and bf16: with policy measured no setting's "
          "95 % interval lies wholly above 1.03 times the better of never and always", minutes=1, measure=fusion),
]
