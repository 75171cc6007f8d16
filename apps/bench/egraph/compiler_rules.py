#!/usr/bin/env python3
"""The compiler's own rules over 12 Llama blocks: our engine against egglog replaying them, interleaved.

  .venv/bin/python apps/bench/egraph/compiler_rules.py BUILD_DIR [--blocks N] [--rounds N] [--wheel FOLDER] [--json FILE]

egglog has no host primitives: their results come to it as tables, so its rules have two or three more
atoms instead of a call. Both are timed over saturation alone, after loading terms and tables. The sizes of
all constructors must be equal.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parents[2])
from apps.bench.egraph.sizes import table_sizes  # noqa: E402
from apps.bench.harness import rounds  # noqa: E402
from apps.bench.harness.contestant import Contestant  # noqa: E402
from apps.bench.harness.protocol import Refusal  # noqa: E402

CASE = "llama-blocks"
RUNS_PER_ROUND = 25  # of ours, which takes milliseconds


def measure(given):
    egglog = [sys.executable, HERE / "egglog_contestant.py", *(["--wheel", given.wheel] if given.wheel else [])]
    with tempfile.TemporaryDirectory() as scratch, Contestant(egglog) as theirs, \
            Contestant([given.build_dir / "tests/search/replay_rules"]) as ours:
        program = pathlib.Path(scratch) / "replay.egg"
        settings = {"blocks": given.blocks}
        ours.run(CASE, times=0, settings=settings, write=program)
        answers = rounds.interleaved({
            "ours": lambda: ours.run(CASE, times=RUNS_PER_ROUND, settings=settings),
            "egglog": lambda: theirs.run("last-command", settings={"file": str(program)})}, given.rounds)
    seconds = {side: [statistics.median(answer["seconds"]) for answer in of] for side, of in answers.items()}
    sizes = answers["ours"][-1]["sizes"]
    different = sorted({name for answer in answers["egglog"] for name, size in sizes.items()
                        if table_sizes(answer["sizes"]).get(name) != size})
    return {"blocks": given.blocks, "tuples": sum(sizes.values()), "egglog": theirs.version, "different": different,
            "milliseconds": {side: 1e3 * statistics.median(of) for side, of in seconds.items()},
            **rounds.ratio(seconds["egglog"], seconds["ours"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--wheel", help="a folder with an unpacked egglog wheel")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    given = parser.parse_args()
    found = measure(given)
    print(f"{found['blocks']} Llama blocks, {found['tuples']} tuples: ours {found['milliseconds']['ours']:.2f} ms, "
          f"egglog {found['egglog']} {found['milliseconds']['egglog']:.2f} ms over tables: {rounds.shown(found, 1)}")
    print(f"sizes differ: {', '.join(found['different'])}" if found["different"] else "all sizes are equal")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if found["different"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refusal as refusal:
        sys.exit(f"compiler_rules.py: {refusal.text()}")
