"""Runs one program in egglog, timed: egglog_runner.py [--wheel FOLDER] FILE prints a JSON object on one line.

Parsing, which goes through Python objects, is timed separately and isn't counted. The program is fed
command by command, because egglog copies the text it parses for every expression.
"""

import argparse
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/egraph"))
import dialect  # noqa: E402
from egglog_peer import load  # noqa: E402


def status_bytes(key):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def run(bindings, version, text):
    egraph = bindings.EGraph()
    start = time.perf_counter()
    commands = [command for part in dialect.write(text, version) for command in egraph.parse_program(part)]
    parsed = time.perf_counter()
    before = status_bytes("VmRSS")
    begin = time.perf_counter()
    for command in commands:
        egraph.run_program(command)
    seconds = time.perf_counter() - begin
    held, peak = status_bytes("VmRSS"), status_bytes("VmHWM")
    sizes = str(egraph.run_program(*egraph.parse_program("(print-size)"))[0]).strip()
    return {"seconds": seconds, "parse_seconds": parsed - start, "held_bytes": max(0, held - before),
            "peak_bytes": max(0, peak - before), "sizes": sizes}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel")
    parser.add_argument("--version", action="store_true", help="print the wheel's version only")
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    given = parser.parse_args()
    bindings, version = load(given.wheel)
    if given.version:
        print(version)
        return
    try:
        result = run(bindings, version, given.file.read_text())
    except BaseException as error:  # egglog's panics aren't Exceptions
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        result = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
