#!/usr/bin/env python3
"""The compiler's own rules over 12 Llama blocks: our engine against egglog replaying them, interleaved.

  .venv/bin/python apps/bench/egraph/compiler_rules.py BUILD_DIR [--blocks N] [--rounds N] [--wheel FOLDER]

egglog has no host primitives: their results come to it as tables, so its rules have two or three more
atoms instead of a call. Both are timed over saturation alone, after loading terms and tables. The sizes of
all constructors must be equal.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/egraph"))
import dialect  # noqa: E402
from egglog_peer import load  # noqa: E402


def replay(bindings, version, text):
    """Milliseconds of the last command (the saturation), and the sizes of all tables."""
    egraph = bindings.EGraph()
    commands = [command for part in dialect.write(text, version) for command in egraph.parse_program(part)]
    for command in commands[:-1]:
        egraph.run_program(command)
    start = time.perf_counter()
    egraph.run_program(commands[-1])
    milliseconds = 1e3 * (time.perf_counter() - start)
    sizes = str(egraph.run_program(*egraph.parse_program("(print-size)"))[0])
    pairs = [line.strip(" ()").split() for line in sizes.splitlines() if line.strip(" ()")]
    return milliseconds, {name: int(size) for name, size in pairs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--wheel", help="a folder with an unpacked egglog wheel")
    given = parser.parse_args()
    bindings, version = load(given.wheel)
    ours, theirs, different = [], [], set()
    with tempfile.TemporaryDirectory() as scratch:
        program = pathlib.Path(scratch) / "replay.egg"
        for _ in range(given.rounds):
            result = subprocess.run([given.build_dir / "tests/search/replay_rules", str(given.blocks), program],
                                    capture_output=True, text=True, check=True)
            report = json.loads(result.stdout)
            ours.append(report["milliseconds"])
            milliseconds, sizes = replay(bindings, version, program.read_text())
            theirs.append(milliseconds)
            different |= {name for name, size in report["sizes"].items() if sizes.get(name) != size}
    ratios = sorted(b / a for a, b in zip(ours, theirs))
    tuples = sum(report["sizes"].values())
    print(f"{given.blocks} Llama blocks, {tuples} tuples: ours {statistics.median(ours):.2f} ms, "
          f"egglog {version} {statistics.median(theirs):.2f} ms over tables: "
          f"{statistics.median(ratios):.1f}x (lowest {ratios[0]:.1f}x, highest {ratios[-1]:.1f}x)")
    print(f"sizes differ: {', '.join(sorted(different))}" if different else "all sizes are equal")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
