"""Seven networks (networks.h): ours without rules and search, with both, and other runtimes, interleaved.

  .venv/bin/python apps/bench/networks/networks.py BUILD_DIR [--networks NAME,…] [--sides SIDE,…] [--rounds N] [--budget S]
                                                   [--small] [--json FILE]

Sides:
  off          ours, no rules, kernels by fixed rules of fusion
  searched     ours, the plan that the cost model finds
  measured     ours, the plan that a search by measurements finds in --budget seconds
  inductor     torch.compile
  onnxruntime, openvino

Prints a line per network. --json has, by side, the median time, its quartiles, and what a contestant says of its work;
"gain", the times of `off` by those of our best side (measured, if it takes part); and "of_best", the times of the best
other runtime by ours. Both are medians over rounds with a 95 % interval; harness/rounds.py defines a round. Results are
compared with PyTorch's in f64 before anything is timed.
"""
import argparse
import contextlib
import json
import os
import pathlib
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds  # noqa: E402
from apps.bench.harness.contestant import Contestant  # noqa: E402
from apps.bench.harness.difference import difference  # noqa: E402
from apps.bench.harness.protocol import ABSENT, FAILED, Refusal  # noqa: E402
from apps.bench.harness.torch_process import process_of  # noqa: E402

NETWORKS = ["bert-base", "resnext-50", "nasnet-a", "nasrnn", "inception-v3", "squeezenet", "vgg-19"]
OURS = ["off", "searched", "measured"]
PEERS = ["inductor", "onnxruntime", "openvino"]
# As tests have them, NetworkSize; Inception's strides need a larger image, and BERT has tokens.
SMALL = {"narrower": 16, "repeats": 1, "pixels": 36}
SMALL_PIXELS = {"inception-v3": 79, "bert-base": 6}
# By class of rules, as far as results may be from PyTorch's in f64; approximate rules promise 1 %.
MOST_EPS = {"approximate": 1e5}
MOST_EPS_ELSE = 1000


def size_of(network, small):
    return {**SMALL, "pixels": SMALL_PIXELS.get(network, SMALL["pixels"])} if small else {}


def started(side, given):
    """The contestant of a side, a process of its own."""
    if side in OURS:
        return Contestant([given.build_dir / "apps/bench/networks_bench"])
    command, options = process_of("apps.bench.networks.peers", given.threads)
    return Contestant([*command, side], **options)


class Measurement:
    """Of one network: the sides that can run it, ready, with their results checked."""

    def __init__(self, stack, network, given):
        self.network, self.given, self.absent = network, given, {}
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.size = {**size_of(network, given.small), "threads": given.threads}
        self.contestants, self.facts = {}, {}
        # PyTorch makes the inputs and the wanted results.
        with started("eager", given) as eager:
            eager.run(network, times=0, settings={**self.size, "inputs": str(self.folder)}, write=self.folder / "wanted")
        for side in given.sides:
            try:
                self.prepare(side, stack.enter_context(started(side, given)))
            except Refusal as refusal:
                if refusal.status != ABSENT:
                    raise
                self.absent[side] = str(refusal)

    def settings(self, side):
        if side not in OURS:
            return self.size
        more = {"plan": side, "inputs": str(self.folder), "numerics": self.given.numerics}
        return {**self.size, **more, "budget": self.given.budget, "library": self.given.library}

    def prepare(self, side, contestant):
        found = contestant.run(self.network, times=0, settings=self.settings(side), write=self.folder / side)
        self.contestants[side] = contestant
        facts = {key: value for key, value in found.items() if key not in ("case", "seconds")}
        distance = difference(self.folder / side, "f32", self.folder / "wanted")
        if distance > MOST_EPS.get(self.given.numerics, MOST_EPS_ELSE):
            raise Refusal(f"{self.network}: the result differs by {distance:.0f} eps from PyTorch's", FAILED, side)
        self.facts[side] = {"version": contestant.version, "difference_in_eps": distance, **facts}

    def turn(self, side):
        """The best run of a round; the first is a warm-up."""
        def run():
            answer = self.contestants[side].run(self.network, times=self.given.per_round + 1, settings=self.settings(side))
            return min(answer["seconds"][1:])
        return run

    def row(self):
        times = rounds.interleaved({side: self.turn(side) for side in self.contestants}, self.given.rounds)
        row = {"network": self.network, "sides": {}, "absent": self.absent}
        for side, seconds in times.items():
            row["sides"][side] = {**rounds.milliseconds(seconds), **self.facts[side]}
        ours = next((times[side] for side in ("measured", "searched") if side in times), None)
        peers = [times[side] for side in PEERS if side in times]
        if ours and "off" in times:
            row["gain"] = rounds.ratio(times["off"], ours)
        if ours and peers:
            row["of_best"] = rounds.ratio(rounds.best(*peers), ours)
        return row


def measured(network, given):
    with contextlib.ExitStack() as stack:
        return Measurement(stack, network, given).row()


def line(row):
    """For people."""
    text = f"{row['network']:12}" + "".join(f"  {side} {of['ms']:.2f} ms" for side, of in row["sides"].items())
    for name, words in (("gain", "gain"), ("of_best", "of the best runtime")):
        if name in row:
            text += f"  {words} {rounds.shown(row[name])}"
    return text


def listed(known):
    def read(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"there is no '{name}'; there are {', '.join(known)}")
        return names
    return read


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--networks", type=listed(NETWORKS), default=NETWORKS)
    parser.add_argument("--sides", type=listed(OURS + PEERS), default=OURS + PEERS)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--per-round", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60, help="seconds of a measured search (default: %(default)s)")
    parser.add_argument("--numerics", default="finite", help="class of rules (default: %(default)s)")
    parser.add_argument("--library", choices=["measured", "never"], default="never",
                        help="use oneDNN for our products where it is faster (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--small", action="store_true", help="networks of a few channels, to try this script")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    given = parser.parse_args()
    rows = []
    for network in given.networks:
        rows.append(measured(network, given))
        print(line(rows[-1]), flush=True)
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"networks.py: {refusal.text()}")
