"""Checks that the matrix catches each planted mistake, and passes when none is made."""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from mistakes import MISTAKES  # noqa: E402

TIMEOUT = 100  # seconds; a mistake may loop


def run(options, number, filters=(), jobs=1):
    command = [options.binary, "--cases", options.cases, "--mistake", str(number),
               "--stop-after", "1", "--jobs", str(jobs)]  # fmt: skip
    for glob in filters:
        command += ["--filter", glob]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return None, "no result within the time limit", TIMEOUT
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    note = failed[0][7:160] if failed else (done.stderr.strip() or done.stdout.strip())[-160:]
    return done.returncode, note, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("binary")
    parser.add_argument("cases")
    options = parser.parse_args()
    code, note, seconds = run(options, 0, jobs=0)
    if code != 0:
        sys.exit(f"without a mistake, all cases must pass: {note}")
    print(f"no mistake: {note} ({seconds:.1f} s)")
    numbered = list(enumerate(MISTAKES, start=1))
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda item: run(options, item[0], item[1].cases), numbered))
    missed = 0
    for (number, mistake), (code, note, seconds) in zip(numbered, results):
        missed += code != 1  # 2 is a wrong call, others are crashes
        word = "caught" if code == 1 else "MISSED"
        print(f"{word} {number} {mistake.what} ({seconds:.1f} s): {note}")
    print(f"{len(MISTAKES) - missed} of {len(MISTAKES)} planted mistakes caught")
    sys.exit(1 if missed or len(MISTAKES) < 30 else 0)


if __name__ == "__main__":
    main()
