"""What the search finds: the claims `two-ways`, `absorption` and `gain` of a group measure it."""
import contextlib
import os
import statistics
import tempfile

from claims import Short
from claims_support import answer, contestant, last_line

RUNS = 10
BUDGET = 5
LEAST_APART = 1.2
LEAST_GRAPHS = 14
LEAST_BY_MODEL = 11
LEAST_ABSORBED = 3
LEAST_SEARCHED = 12
LEAST_GAIN = 1.25
MOST_SLOWER = 1.02  # two equal plans differ by their placement in memory
NEAR = 1.05
LEAST_NEAR = 8
GAIN_BUDGET = 20


@contextlib.contextmanager
def private_cache():
    """A cache folder of its own for all programs: no calibration, plan or record of the user's."""
    before = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            yield
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if before is not None:
                os.environ["XDG_CACHE_HOME"] = before


def cli(context, *arguments):
    result = context.run([context.program("apps/cli/luminal"), *arguments])
    if result.returncode != 0:
        raise Short(last_line(result))


def calibrate(context):
    cli(context, "doctor", "--measure")
    cli(context, "tune", "calibrate")


def two_ways(context):
    """Each graph in two forced ways, by the calibrated model, and by ten searches that remember nothing."""
    apart, always, by_model, explained = [], [], [], []
    with private_cache():
        calibrate(context)
        with contestant(context, "apps/bench/two_ways_bench") as bench:
            cases = list(bench.cases)
        for case in cases:
            found = answer(context, "apps/bench/two_ways_bench", case, settings={"runs": RUNS, "budget": BUDGET})
            model, searched = found["modelled"], found["searched"]
            taken = sum(plan["takes"] for plan in searched)
            print(f"    {case}: {found['faster']} is {found['apart']['ratio']:.2f} times as fast, taken by {taken} of "
                  f"{RUNS} searches; the model's plan takes {model['of_faster']['ratio']:.2f} of its time", flush=True)
            if found["apart"]["low"] < LEAST_APART:
                continue
            for which, holds in ((apart, True), (always, taken == RUNS), (by_model, model["takes"]),
                                 (explained, any(plan["explained"] for plan in (model, *searched)))):
                if holds:
                    which.append(case)

    def missed(which):
        return "".join(f" not {case}," for case in apart if case not in which).rstrip(",")

    holds = (len(apart) >= LEAST_GRAPHS and len(always) == len(explained) == len(apart)
             and len(by_model) * LEAST_GRAPHS >= LEAST_BY_MODEL * len(apart))
    return (f"{len(apart)} of {len(cases)} graphs have two ways {LEAST_APART} times apart; {RUNS} of {RUNS} searches "
            f"take the faster on {len(always)}{missed(always)}; the model on {len(by_model)}{missed(by_model)}; explain "
            f"shows both on {len(explained)}{missed(explained)}"), holds


def absorption(context):
    """Latent attention to 4,096 tokens, as the definition says: searched, and with no rule of group sums."""
    settings = {"runs": 1, "budget": 20, "turns": 10}
    with private_cache():
        found = answer(context, "apps/bench/two_ways_bench", "mla-4096", settings=settings)
    expanded, absorbed = found["ways"]
    searched = found["searched"][0]
    slowest = searched["of_way"][0]["high"]
    times = 1 / slowest if slowest else 0
    # Expanded keys are the largest value by far, and expanding them is most of the arithmetic.
    expands = (searched["largest_stored"] * 10 > expanded["largest_stored"]
               or searched["mflops"] > 1.5 * absorbed["mflops"])

    def shown(plan):
        return f"{plan['us'] / 1e3:.2f} ms, {plan['mflops']:.0f} MF, stores at most {plan['largest_stored']:,} elements"

    return (f"{shown(searched)}; without rules of sums {shown(expanded)}; absorbed by hand {shown(absorbed)}; at least "
            f"{times:.1f} times as fast"), times >= LEAST_ABSORBED and not expands


def search_gains(context, graphs):
    """By graph: how many times as fast the searched plan is as the model's, and the interval."""
    gains = {}
    for graph in graphs:
        found = answer(context, "apps/bench/search_bench", graph, settings={"budgets": [GAIN_BUDGET]})
        gains[graph] = found["searches"][-1]["of_model"]
        print(f"    {graph}: {1 / gains[graph]['ratio']:.3f}", flush=True)
    return gains


def gain(context):
    """A search over the model's plan, before the model is calibrated and after."""
    with contestant(context, "apps/bench/search_bench") as bench:
        graphs = list(bench.cases)
    with private_cache():
        cli(context, "doctor", "--measure")
        before = search_gains(context, graphs)
        cli(context, "tune", "calibrate")
        after = search_gains(context, graphs)
    mean = statistics.geometric_mean(1 / found["ratio"] for found in before.values())
    slower = [graph for found in (before, after) for graph, of in found.items() if of["low"] > MOST_SLOWER]
    near = [graph for graph, of in after.items() if 1 / of["ratio"] <= NEAR]
    listed = ", ".join(f"{graph} {1 / before[graph]['ratio']:.2f} and {1 / after[graph]['ratio']:.2f}"
                       for graph in graphs)
    said = f"slower: {', '.join(slower)}" if slower else "none slower"
    holds = len(graphs) >= LEAST_SEARCHED and not slower and mean >= LEAST_GAIN and len(near) >= LEAST_NEAR
    return (f"{len(graphs)} graphs: {said}, {mean:.2f} times as fast as the model's plan; after calibration the model is "
            f"within {NEAR - 1:.0%} on {len(near)} ({listed})"), holds
