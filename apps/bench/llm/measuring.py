"""Shared by all paths: the prompt, greedy decoding, timing, and the answer."""
import sys
import time
import traceback

from . import protocol
from .protocol import Result

KEPT_TOKENS = 16


class Absent(Exception):
    """Raised by a path that isn't installed; the message says how to install it."""


class Unsupported(Exception):
    """Raised by a path that can't do the request; the message says what it lacks."""


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


def measured(request, run):
    """`run(new)` feeds the prompt and generates `new` tokens: (seconds of each, tokens).

    Each iteration is a complete prefill; the last one continues with the timed tokens.
    """
    for _ in range(request.warmups):
        run(min(4, request.decode_tokens + 1))
    first = [run(1)[0][0] for _ in range(request.iters - 1)]
    seconds, tokens = run(request.decode_tokens + 1)
    first.append(seconds[0])
    return Result(ttft_samples=[1e3 * value for value in first], tpot_samples=[1e3 * value for value in seconds[1:]],
                  tokens=list(map(int, tokens[:KEPT_TOKENS])))


def say(text):
    """Prints progress to stderr: stdout is for the protocol."""
    print(text, file=sys.stderr, flush=True)


def answer(measure):
    """The main function of a path: reads the request and always prints a result."""
    request = protocol.read_request(sys.argv[1])
    try:
        result = measure(request)
    except Absent as error:
        result = Result(status=protocol.ABSENT, error=str(error))
    except Unsupported as error:
        result = Result(status=protocol.UNSUPPORTED, error=str(error))
    except Exception as error:  # the run goes on with the next path
        traceback.print_exc()
        result = Result(status=protocol.FAILED, error=" ".join(f"{type(error).__name__}: {error}".split())[:600])
    print(result.line(), flush=True)
