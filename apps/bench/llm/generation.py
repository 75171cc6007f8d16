"""TTFT and TPOT of a language model: this compiler and transformers, interleaved, two threads each.

  .venv/bin/python apps/bench/llm/generation.py BUILD_DIR MODEL [--rounds N] [--prompt N] [--new N] [--dtype bf16|f32]
                                            [--sides SIDE,…] [--no-compile] [--json FILE]

MODEL is a folder in Hugging Face's layout that all sides read; random_llama.py writes one of the size of Llama-3.2-1B. Or
it is a model of the LLM suite (benchmarks.toml), with the suite's weights. Sides: ours, and transformers with a static
cache: eager, compiled (torch.compile) and through-torch (torch.compile with our backend). A round is one prompt and its new
tokens by each side. TTFT is the time to the first token, TPOT the median time per token after it; both are given as the
time of the first side over the best other (default: ours over the better of eager and compiled), the median over rounds
with a 95 % interval. The logits after the prompt are compared before anything is timed.
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import tempfile
import time

import numpy

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds  # noqa: E402
from apps.bench.harness.contestant import Contestant  # noqa: E402
from apps.bench.harness.protocol import Refusal  # noqa: E402
from apps.bench.llm import machine, options, settings as suite  # noqa: E402
from apps.bench.llm.paths import PATHS  # noqa: E402
from apps.bench.llm.results import CASE, Settings  # noqa: E402

THREADS = 2
SIDES = {"ours": "luminal", "eager": "eager", "compiled": "inductor", "through-torch": "luminal-torch"}


def contestant(name, build_dir):
    path = next(path for path in PATHS if path.name == SIDES[name])
    return Contestant(path.command(build_dir), cwd=machine.ROOT, env=path.environment_of(build_dir, THREADS))


def folder_of(model):
    """Where the weights are; a model of the suite gets them where the suite does."""
    models = suite.read(suite.FILE).models
    if pathlib.Path(model).is_dir() or model not in models:
        return pathlib.Path(model).resolve()
    from apps.bench.llm.weights import Weights
    default = options.parser().get_default
    return Weights(default("weights"), default("models"), machine.memory()[0]).folder_of(models[model])[0].resolve()


def largest_difference(logits):
    """Of the first side's logits and another's, in standard deviations of those."""
    first, *others = [each for each in logits.values() if each is not None]
    return float(numpy.abs(first - others[0]).max() / others[0].std())


def logits_after_first_run(name, side, settings, folder):
    """Runs once, which loads and compiles; returns the logits after the prompt, or None if it writes none."""
    file, start = pathlib.Path(folder) / name, time.perf_counter()
    side.run(CASE, settings=settings, write=None if name == "compiled" else file)
    print(f"{name}: first run {time.perf_counter() - start:.1f} s", flush=True)
    return numpy.fromfile(file, "<f4") if file.exists() else None


def say_round(number, answers):
    times = lambda answer: f"{answer['ttft'][0] * 1e3:.0f} / {statistics.median(answer['tpot']) * 1e3:.1f} ms"
    print(f"round {number + 1}: " + ", ".join(f"{side} {times(of[-1])}" for side, of in answers.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--new", type=int, default=32)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="bf16")
    parser.add_argument("--sides", type=lambda text: text.split(","), default=["ours", "eager", "compiled"])
    parser.add_argument("--no-compile", action="store_true", help="skip torch.compile, which takes minutes")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    given = parser.parse_args()
    settings = Settings(folder=str(folder_of(given.model)), dtype=given.dtype, prompt_tokens=given.prompt,
                        decode_tokens=given.new - 1, max_cache_len=given.prompt + given.new, threads=THREADS,
                        cold=False).fields()
    names = [name for name in given.sides if name != "compiled" or not given.no_compile]
    with contextlib.ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        sides = {name: stack.enter_context(contestant(name, given.build_dir.resolve())) for name in names}
        logits = {name: logits_after_first_run(name, side, settings, folder) for name, side in sides.items()}
        distance = largest_difference(logits)
        print(f"logits differ by at most {distance:.3f} of their standard deviation", flush=True)
        turns = {name: lambda side=side: side.run(CASE, settings=settings) for name, side in sides.items()}
        answers = rounds.interleaved(turns, given.rounds, after_round=say_round)
    first, *others = names
    found = {"logits_differ": distance}
    for figure in ("ttft", "tpot"):
        times = {name: [statistics.median(answer[figure]) for answer in of] for name, of in answers.items()}
        found[figure] = rounds.ratio(times[first], rounds.best(*(times[name] for name in others)))
        found[f"{figure}_ms"] = {name: statistics.median(taken) * 1e3 for name, taken in times.items()}
        print(f"{figure}: {rounds.shown(found[figure])} of the best of " + ", ".join(others))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"generation.py: {refusal.text()}")
