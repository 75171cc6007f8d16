#!/usr/bin/env python3
"""Explanations of what programs make equal: explain_all.py EGG_RUN [--random N] [--first SEED]

Each is checked, then altered in every way, one place at a time: the checker must accept the first and
reject the others, but for the rare ones that are right as well, since another rule does the same at that place.
Asked are ids that became equal, and the equalities that programs check by themselves.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import random_programs

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
COUNTS = re.compile(r"^explained (\d+) steps (\d+) refused (\d+) altered (\d+) rejected (\d+) also right (\d+)$",
                    flags=re.MULTILINE)
# A question that has no answer: its terms have variables, went away with a pop, or are numbers.
NO_ANSWER = re.compile(r"isn't bound|isn't in the e-graph|aren't made equal|aren't equal in|has no value|not an equality")


def closing(text, start):
    """The place after the form that starts here."""
    depth, quoted, at = 0, False, start
    while True:
        if text[at] == '"' and text[at - 1] != "\\":
            quoted = not quoted
        depth += 0 if quoted else (text[at] == "(") - (text[at] == ")")
        at += 1
        if not quoted and depth == 0 and (at == len(text) or text[at - 1] == ")" or text[at] in " )\n"):
            return at


def checked_equalities(text):
    """'A = B' for each (check (= A B)) of a program."""
    for match in re.finditer(r"\(check \(= ", text):
        left_end = closing(text, match.end())
        right_start = left_end + len(text[left_end:]) - len(text[left_end:].lstrip())
        right_end = closing(text, right_start)
        if text[right_end:].lstrip().startswith("))"):
            yield f"{text[match.end():left_end]} = {text[right_start:right_end]}"


class Totals:
    def __init__(self, folder):
        self.folder = folder
        self.explained = self.steps = self.refused = self.altered = self.rejected = self.also_right = 0
        self.failures = []

    def run(self, command, may_have_no_answer=False):
        result = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        counts = COUNTS.search(result.stdout)
        if result.returncode == 0 and counts:
            explained, steps, refused, altered, rejected, also_right = map(int, counts.groups())
            self.explained += explained
            self.steps += steps
            self.refused += refused
            self.altered += altered
            self.rejected += rejected
            self.also_right += also_right
        elif not (may_have_no_answer and NO_ANSWER.search(result.stderr)):
            self.failures.append(f"{' '.join(map(str, command))}\n{result.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("egg_run", type=pathlib.Path)
    parser.add_argument("--random", type=int, default=0, help="so many random programs too")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first")
    options = parser.parse_args()
    egg_run = options.egg_run.resolve()

    programs = sorted(PROGRAMS.glob("*.egg"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "programs"  # some write files
        shutil.copytree(PROGRAMS, folder)
        totals = Totals(folder)
        for path in programs:
            totals.run([egg_run, path.name, "--explain-all"])
            for question in checked_equalities(path.read_text()):
                totals.run([egg_run, path.name, "--explain", question], may_have_no_answer=True)
        random_path = folder / "random.egg"
        for seed in range(options.first, options.first + options.random):
            random_path.write_text(random_programs.program(seed))
            before = len(totals.failures)
            totals.run([egg_run, random_path.name, "--explain-all"])
            if len(totals.failures) > before:
                totals.failures[-1] = f"random program {seed}: {totals.failures[-1]}"

    for failure in totals.failures[:5]:
        print(failure, file=sys.stderr)
    print(f"{totals.explained} explanations of {totals.steps} steps from {len(programs)} programs and {options.random} "
          f"random ones are accepted; {totals.refused} refused")
    wrong = totals.altered - totals.also_right
    print(f"{totals.rejected} of {wrong} altered explanations are rejected, {totals.also_right} more are right as well; "
          f"{len(totals.failures)} failures")
    return 1 if totals.failures or totals.rejected < wrong else 0


if __name__ == "__main__":
    sys.exit(main())
