"""Shared by the paths in Python: the prompt, greedy decoding, timing, and the answer."""
import dataclasses
import pathlib
import sys
import time
import typing

from ..harness import protocol
from ..harness.serve import Contestant, kept, serve
from .results import CASE, Settings

KEPT_TOKENS = 16
WARM_UP_TOKENS = 4


class Absent(protocol.Refusal):
    """Raised by a path that isn't installed; the message says how to install it."""

    def __init__(self, why):
        super().__init__(why, protocol.ABSENT)


def prompt_ids(length, vocabulary):
    """The same prompt for all paths; generate_bench.cpp uses it too."""
    return [7919 * (k + 1) % vocabulary for k in range(length)]


def timed_generation(prefill, step, new):
    """Seconds to the first token (TTFT), then of each token after it; and the tokens.

    `prefill()` starts over and returns the first token, `step(token, k)` the one after the k-th new token.
    """
    start = time.perf_counter()
    tokens = [prefill()]
    seconds = [time.perf_counter() - start]
    for k in range(1, new):
        start = time.perf_counter()
        tokens.append(step(tokens[-1], k - 1))
        seconds.append(time.perf_counter() - start)
    return seconds, tokens


@dataclasses.dataclass
class Loaded:
    """A model that a path has loaded. `run(new)` feeds the prompt and generates `new` tokens: (seconds of each, tokens)."""
    run: typing.Callable
    compile_seconds: float | None = None  # None: nothing to compile
    note: str = ""
    logits: typing.Callable | None = None  # after the prompt, as a numpy array


def warm_up_tokens(settings):
    return min(WARM_UP_TOKENS, settings.decode_tokens + 1)


def answer(loaded, command):
    """Each run is a complete prefill; the last one continues with the timed tokens."""
    seconds, first, tokens, others = [], [], [], []
    for number in range(1, command.times + 1):
        taken, tokens = loaded.run(command.settings["decode_tokens"] + 1 if number == command.times else 1)
        seconds.append(sum(taken))
        first.append(taken[0])
        others = taken[1:]
    if command.write:
        if loaded.logits is None:
            raise protocol.Refusal("this path writes no logits", protocol.UNSUPPORTED)
        pathlib.Path(command.write).write_bytes(loaded.logits().astype("<f4").tobytes())
    return {"seconds": seconds, "ttft": first, "tpot": others, "tokens": list(map(int, tokens[:KEPT_TOKENS])),
            "compile_seconds": loaded.compile_seconds, "note": loaded.note}


def say(text):
    """Prints progress to stderr: stdout is for the protocol."""
    print(text, file=sys.stderr, flush=True)


def serve_path(name, load):
    """The main function of a path: `load(settings)` makes a Loaded."""
    def prepare(_, given):
        settings = Settings(**given)
        loaded = load(settings)
        for _ in range(settings.warmups):
            loaded.run(warm_up_tokens(settings))
        return loaded

    loaded_for = kept(prepare)
    serve(Contestant(name, "", [CASE], lambda command: answer(loaded_for(command), command), Settings().fields()))
