"""A contestant for protocol_test.py, the same as protocol_contestant.cpp; what it prints itself isn't part of an answer."""
import os
import pathlib
import signal
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from apps.bench.harness import rounds  # noqa: E402
from apps.bench.harness.protocol import UNSUPPORTED, Refusal  # noqa: E402
from apps.bench.harness.serve import Contestant, kept, serve  # noqa: E402

CASES = ["counts", "errs", "refuses", "ends", "aborts", "prints", "forgets", "statistics"]
SETTINGS = {"step": 0.25, "name": "none", "flag": False, "samples": [], "confidence": 0.95}
n_prepared = 0


class Counter:
    def __init__(self, _, settings):
        global n_prepared
        n_prepared += 1
        self.step, self.runs = settings["step"], 0

    def run(self):
        self.runs += 1
        return self.step


counters = kept(Counter)


def answer(command):
    if command.case == "counts":
        counter = counters(command)
        seconds = command.timed(counter.run)
        if command.write:
            raise Refusal("this case has no result to write", UNSUPPORTED)
        return {"seconds": seconds, "runs": counter.runs, "prepared": n_prepared}
    if command.case == "errs":
        raise RuntimeError("a planted error")
    if command.case == "refuses":
        raise Refusal("a planted refusal", UNSUPPORTED)
    if command.case == "ends":
        sys.exit(3)
    if command.case == "aborts":
        os.kill(os.getpid(), signal.SIGABRT)
    if command.case == "prints":
        print("rubbish", flush=True)
        os.system("echo more rubbish")
        return {"seconds": []}
    if command.case == "statistics":
        samples = command.settings["samples"]
        low, high = rounds.interval(samples, command.settings["confidence"])
        return {"seconds": samples, "of": {"ratio": statistics.median(samples), "low": low,
                                           "high": high if high < float("inf") else None, "rounds": len(samples)}}
    return {}


if __name__ == "__main__":
    serve(Contestant("fake", "1", CASES, answer, SETTINGS))
