#!/usr/bin/env python3
"""Holds groups of tests to their budgets: seconds that the tests of a folder may take together.

  tools/test-budgets.py BUILD_DIR RESULTS.xml            prints a table, exit code 1 where a group takes more
  tools/test-budgets.py BUILD_DIR RESULTS.xml --write    writes tests/BUDGETS: what was measured, times 4

RESULTS.xml is what `ctest --output-junit` wrote. A folder that isn't in tests/BUDGETS may take 60 s.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGETS = ROOT / "tests/BUDGETS"
UNLISTED = 60.0
ALLOWANCE = 4  # between machines, and for other programs on this one: the same test was seen to take twice as long
LEAST = 30.0
HEAD = """# Seconds that the fast tests of a folder may take together, on one core; tools/test-budgets.py holds them to it.
"""


def group_of(test, graph):
    """tests/FOLDER, by the CMake file that a test comes from; `graph` is ctest's of where things are declared."""
    for node in reversed(declarations(test, graph)):
        path = pathlib.Path(graph["files"][node["file"]])
        if path.name == "CMakeLists.txt" and path.parent != ROOT / "tests":
            parts = path.parent.relative_to(ROOT).parts
            return "/".join(parts[:2])
    return "tests"


def declarations(test, graph):
    """The calls that declared a test, innermost first."""
    nodes, at = [], test.get("backtrace")
    while at is not None:
        node = graph["nodes"][at]
        nodes.append(node)
        at = node.get("parent")
    return nodes


def groups(build):
    listing = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True,
                             check=True)
    described = json.loads(listing.stdout)
    return {test["name"]: group_of(test, described["backtraceGraph"]) for test in described["tests"]}


def seconds_by_group(build, results):
    group = groups(build)
    taken = {}
    for case in xml.etree.ElementTree.parse(results).getroot().iter("testcase"):
        name = group.get(case.get("name"), "tests")
        taken[name] = taken.get(name, 0) + float(case.get("time"))
    return taken


def read_budgets():
    lines = (line.split("#")[0].split(":") for line in BUDGETS.read_text().splitlines()) if BUDGETS.exists() else ()
    return {line[0].strip(): float(line[1]) for line in lines if len(line) == 2}


def verdict(taken, budgets):
    """(a line per group, the groups over their budget), the longest first."""
    lines, over = [], []
    for name, seconds in sorted(taken.items(), key=lambda item: -item[1]):
        budget = budgets.get(name, UNLISTED)
        is_over = seconds > budget
        over += [name] if is_over else []
        lines.append(f"{seconds:8.1f} s of {budget:4.0f}  {name}{'   OVER ITS BUDGET' if is_over else ''}")
    return lines, over


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="write tests/BUDGETS from what was measured")
    arguments = parser.parse_args()
    taken = seconds_by_group(arguments.build, arguments.results)
    if arguments.write:
        lines = [f"{name}: {max(LEAST, seconds * ALLOWANCE):.0f}\n" for name, seconds in sorted(taken.items())]
        BUDGETS.write_text(HEAD + "".join(lines))
        return 0
    lines, over = verdict(taken, read_budgets())
    print("\n".join(lines))
    print(f"{sum(taken.values()):8.1f} s in all")
    if over:
        print(f"test-budgets: {', '.join(over)} take more than tests/BUDGETS allows: make them faster, label the longest slow, "
              f"or raise the budget and say why", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
