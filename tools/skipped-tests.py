#!/usr/bin/env python3
"""Says which tests were skipped and why; fails where this machine gives no reason to skip one.

usage: skipped-tests.py RESULTS.xml ...   (of `ctest --output-junit`, with --test-output-size-passed large enough)

A skip counts as passed, so a machine that lacks something (AMX, models, PyTorch) would test less in silence. What may be
missing, and how one sees that it is, stands in REASONS; any other reason is a fault of the installation or the test.
"""
import collections
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


def processor_flags():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.partition(":")[2].split())
    return set()


def lacks(*flags):
    return lambda: not set(flags) <= processor_flags()


# What a skip says, and whether that is so here.
REASONS = [
    (r"\bAMX\b", lacks("amx_tile", "amx_bf16", "amx_int8")),
    (r"AVX-512 BF16|bf16 instructions|bf16 on this processor", lacks("avx512_bf16")),
    (r"f16 on this processor", lacks("avx512_fp16")),
    (r"AVX-512 VNNI", lacks("avx512_vnni")),
    (r"this machine doesn't run avx512", lacks("avx512f")),
    (r"this machine doesn't run avx2", lacks("avx2", "fma")),
    (r"this build has one", lambda: True),  # oneDNN: the test of a build without it
    (r"set LUMINAL_TEST_MODELS|no model in ", lambda: not (ROOT.parent / "shared/models").exists()),
    (r"/proc/cpuinfo", lambda: not processor_flags()),
    (r"chroot is for root", lambda: os.geteuid() != 0),
]
IN_GOOGLETEST = re.compile(r"^\S+:\d+: Skipped\n(.*?)\n*^\[  SKIPPED \] (\S+)", re.MULTILINE | re.DOTALL)
IN_SCRIPT = re.compile(r"^SKIPPED: (.*)$|skipped '(.*)'$", re.MULTILINE)


def skips_of(name, output, skipped):
    """(test, reason) of what one program skipped."""
    found = [(f"{name}: {case}", " ".join(reason.split())) for reason, case in IN_GOOGLETEST.findall(output)]
    if not found:
        found = [(name, first or second) for first, second in IN_SCRIPT.findall(output)]
    if not found and (skipped or "[  SKIPPED ]" in output):
        found = [(name, "no reason is in its output")]
    return found


def read(file):
    skips, tests = [], 0
    for test in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
        tests += 1
        skips += skips_of(test.get("name"), test.findtext("system-out") or "", test.find("skipped") is not None)
    return skips, tests


def is_so_here(reason):
    return any(re.search(pattern, reason) and holds() for pattern, holds in REASONS)


def main(files):
    if not files or files[0] in ("-h", "--help"):
        print(__doc__ if files else __doc__.splitlines()[2], file=sys.stdout if files else sys.stderr)
        return 0 if files else 2
    skips, tests = [], 0
    for file in files:
        found, count = read(file)
        skips, tests = skips + found, tests + count
    by_reason = collections.defaultdict(list)
    for test, reason in skips:
        by_reason[reason].append(test)
    print(f"{len(skips)} cases were skipped, in {tests} tests" + (":" if skips else ""))
    unexplained = [reason for reason in by_reason if not is_so_here(reason)]
    for reason, names in sorted(by_reason.items(), key=lambda entry: -len(entry[1])):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"  {len(names):4}  {reason}  ({names[0]}{more}){'  NO REASON HERE' if reason in unexplained else ''}")
    if unexplained:
        print("skipped-tests: this machine has what these tests say is missing, or should have it: "
              "tools/install-deps.sh --test installs what there is to install", file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
