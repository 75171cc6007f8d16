#!/usr/bin/env python3
"""joined_tests.py PROGRAM FILTERS: every test of a program that joins several is run by one entry, and by one only.

FILTERS: what the entries run, separated by ';'. An entry runs the suites that CMake found in its sources; a test that
a macro makes, or a suite of two sources, would be run by none or twice.
"""
import subprocess
import sys


def tests(program, filter_text):
    listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={filter_text}"], check=True,
                            capture_output=True, text=True).stdout
    names, suite = [], ""
    for line in listed.splitlines():
        if line.startswith("  "):
            names.append(suite + line.split("#")[0].strip())
        elif line.split("#")[0].rstrip().endswith("."):
            suite = line.split("#")[0].rstrip()
    return names


def main():
    program, filters = sys.argv[1], sys.argv[2].split(";")
    entries = [name for filter_text in filters for name in tests(program, filter_text)]
    everything = tests(program, "*")
    missed = sorted(set(everything) - set(entries))
    empty = [filter_text for filter_text in filters if not tests(program, filter_text)]
    twice = sorted({name for name in entries if entries.count(name) > 1})
    for name in missed:
        print(f"{name}: no entry of ctest runs it: name its suite in a TEST, TEST_F or TEST_P of a source")
    for name in twice:
        print(f"{name}: two entries of ctest run it: its suite is named in two sources of {program}")
    for filter_text in empty:
        print(f"{filter_text}: this entry of ctest runs nothing: its sources have no test that is compiled")
    print(f"{len(everything)} tests, {len(filters)} entries, {len(missed)} missed, {len(twice)} run twice")
    sys.exit(1 if missed or twice or empty or not everything else 0)


main()
