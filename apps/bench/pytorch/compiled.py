"""PyTorch's programs compiled by luminal and by torch.compile's own backend, interleaved.

  .venv/bin/python apps/bench/pytorch/compiled.py BUILD_DIR [--programs NAME,…] [--sides SIDE,…] [--rounds N] [--first]
                                                   [--json FILE]

Sides: eager, inductor (torch.compile), frozen (the same with frozen weights), luminal (backend="luminal").

Prints a line per program. --json has, by side, the median time of a call, its quartiles, the time of the first call and how
far the result is from PyTorch's in f64, relative to the largest element; "of_best": the times of the best other side by
luminal's, the median over rounds with a 95 % interval. With --first each side's first call is timed twice more instead, in
new processes: "cold" with an empty cache folder, "warm" with what the first left there; and luminal's "loaded", of the graph
that torch._dynamo.aot_compile saved, with the same cache folder.
"""
import argparse
import array
import contextlib
import json
import os
import pathlib
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds  # noqa: E402
from apps.bench.harness.contestant import Contestant  # noqa: E402
from apps.bench.harness.protocol import ABSENT, Refusal  # noqa: E402
from apps.bench.harness.torch_process import process_of  # noqa: E402

SIDES = ["eager", "inductor", "frozen", "luminal"]


def started(side, given):
    command, options = process_of("apps.bench.pytorch.sides", given.threads)
    path = os.pathsep.join(filter(None, (str(given.build_dir / "python"), options["env"].get("PYTHONPATH"))))
    return Contestant([*command, side], **{**options, "env": {**options["env"], "PYTHONPATH": path}})


def relative_difference(found, wanted):
    """The largest difference by the largest wanted element."""
    read = lambda file: array.array("d", file.read_bytes())
    found, wanted = read(found), read(wanted)
    if len(found) != len(wanted):
        return float("inf")
    largest = max(map(abs, wanted)) or 1.0
    # not (a <= b): a NaN is as far as can be
    return max((abs(a - b) if abs(a - b) <= largest else largest for a, b in zip(found, wanted)), default=0) / largest


class Measurement:
    """Of one program: the sides that can run it, ready, with their results compared."""

    def __init__(self, stack, program, given):
        self.program, self.given, self.absent = program, given, {}
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.contestants, self.facts = {}, {}
        with started("eager", given) as eager:
            eager.run(program, times=0, settings=self.settings("eager"), write=self.folder / "wanted")
        for side in given.sides:
            try:
                self.prepare(side, stack.enter_context(started(side, given)))
            except Refusal as refusal:
                if refusal.status != ABSENT:
                    raise
                self.absent[side] = str(refusal)

    def settings(self, side):
        return {"threads": self.given.threads, **({"numerics": self.given.numerics} if side == "luminal" else {})}

    def prepare(self, side, contestant):
        # Eager writes what is wanted, in f64, so its own result isn't there.
        write = None if side == "eager" else self.folder / side
        found = contestant.run(self.program, times=0, settings=self.settings(side), write=write)
        self.contestants[side] = contestant
        self.facts[side] = {"first_seconds": found["first_seconds"]}
        if write is not None:
            self.facts[side]["difference"] = relative_difference(write, self.folder / "wanted")

    def turn(self, side):
        """The best run of a turn; the first is a warm-up."""
        def run():
            answer = self.contestants[side].run(self.program, times=self.given.per_round + 1, settings=self.settings(side))
            return min(answer["seconds"][1:])
        return run

    def row(self):
        times = rounds.interleaved({side: self.turn(side) for side in self.contestants}, self.given.rounds)
        row = {"program": self.program, "sides": {}, "absent": self.absent}
        for side, seconds in times.items():
            row["sides"][side] = {**rounds.milliseconds(seconds), **self.facts[side]}
        peers = [seconds for side, seconds in times.items() if side != "luminal"]
        if peers and "luminal" in times:
            row["of_best"] = rounds.ratio(rounds.best(*peers), times["luminal"])
        return row


def measured(program, given):
    with contextlib.ExitStack() as stack:
        return Measurement(stack, program, given).row()


def first_call(program, side, given, cache, saved=""):
    with started(side, given) as contestant:
        settings = {"threads": given.threads, "cache": cache, "saved": saved}
        return contestant.run(program, times=0, settings=settings)["first_seconds"]


def first_calls(program, given):
    """Cold, then warm, side by side."""
    row = {"program": program, "sides": {}, "absent": {}}
    for side in given.sides:
        with tempfile.TemporaryDirectory() as cache:
            row["sides"][side] = {name: first_call(program, side, given, cache) for name in ("cold", "warm")}
            if side == "luminal":
                saved = os.path.join(cache, "saved")
                first_call(program, side, given, cache, saved)  # saves it
                row["sides"][side]["loaded"] = first_call(program, side, given, cache, saved)
    return row


def line(row):
    """For people."""
    text = f"{row['program']:16}"
    for side, of in row["sides"].items():
        if "cold" in of:
            text += f"  {side} {of['cold']:.1f} s, then {of['warm']:.1f} s"
            text += f", loaded {of['loaded']:.1f} s" if "loaded" in of else ""
        else:
            text += f"  {side} {of['ms']:.2f} ms ({of['first_seconds']:.1f} s)"
            if "difference" in of:
                text += f" off by {of['difference']:.1e}"
    if "of_best" in row:
        text += f"  of the best other {rounds.shown(row['of_best'])}"
    return text + "".join(f"  {side}: {why}" for side, why in row["absent"].items())


def listed(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--programs", type=listed, default=[], help="default: all")
    parser.add_argument("--sides", type=listed, default=SIDES)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--per-round", type=int, default=2)
    parser.add_argument("--numerics", default="", help="class of luminal's rules (default: its own)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--first", action="store_true", help="time first calls in new processes")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    given = parser.parse_args()
    given.build_dir = given.build_dir.resolve()
    with started("eager", given) as eager:
        programs = eager.cases
    rows = []
    for program in given.programs or programs:
        rows.append(first_calls(program, given) if given.first else measured(program, given))
        print(line(rows[-1]), flush=True)
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"compiled.py: {refusal.text()}")
