"""Bad .pt2 archives: each ends in an error that names the place, or in a graph that is right, at once and in little memory.

    hostile_archives.py PROGRAM [--only PART] [--list]

A case fails when the program dies by a signal or an internal error, says something else than it should, takes longer than
SECONDS, or more memory than a good archive does by twice the file's size and MORE_BYTES. The last line sums up.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import sys
import tempfile
import threading

import archives
from small_pt2 import Archive

SECONDS = 5
MORE_BYTES = 64 << 20
GUARD_BYTES = 6 << 30  # of address space, so that a failure doesn't take the machine with it


def run(command, folder):
    """(exit code or -signal, output, seconds of CPU, resident bytes)"""
    log = pathlib.Path(folder) / "log"
    pid = os.fork()
    if pid == 0:
        try:
            os.chdir(folder)
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            resource.setrlimit(resource.RLIMIT_AS, (GUARD_BYTES, GUARD_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.execv(command[0], command)
        finally:
            os._exit(127)
    timer = threading.Timer(6 * SECONDS, os.kill, (pid, 9))
    timer.start()
    _, status, usage = os.wait4(pid, 0)
    timer.cancel()
    output = log.read_text(errors="replace")
    return os.waitstatus_to_exitcode(status), output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def fault(says, size, code, output, seconds, resident, base):
    if code not in (0, 1):
        return f"signal {-code}" if code < 0 else f"exit code {code}"
    for word in ("internal error", "please report", "out of memory", "bad_alloc", "std::"):
        if word in output:
            return "a wrong message"
    if any(ord(c) < 32 and c != "\n" for c in output):
        return "control characters in the message"
    if says is None and code != 0:
        return "refused"
    if says and (code == 0 or says not in output):
        return f"doesn't say {says!r}"
    if code == 1 and "small.pt2" not in output:
        return "doesn't name the file"
    if seconds > SECONDS:
        return "too long"
    return "too much memory" if resident > base + 2 * size + MORE_BYTES else None


def results_of_the_good_one(program, folder):
    """What it gives for rows of 1 and 2, against plain Python; checks that the archive is read as it should be."""
    (folder / "small.pt2").write_bytes(Archive().bytes())
    npy = b"\x93NUMPY\1\0v\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }".ljust(117) + b"\n"
    (folder / "x.npy").write_bytes(npy + archives.floats(*[1.0] * 4, *[2.0] * 4))
    code, output, _, resident = run([program, "run", "small.pt2", "--bind", "s77=2", "--input", "x=x.npy", "--print"], folder)
    found = [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", output.split("=", 1)[1].split("small.pt2")[0])]
    # Its weight has strides [1, 3]: column k of row r is element r + 3k.
    expected = [(x * sum(r + 3 * k for k in range(4)) + r + 1) * 0.5 + 10 * (r + 1) for x in (1, 2) for r in range(3)]
    if code != 0 or found[-6:] != expected:
        sys.exit(f"the good archive gives {output!r}, not {expected}")
    listed = run([program, "inspect", "small.pt2", "--json"], folder)
    facts = json.loads(listed[1])
    if (facts["runs_here"], facts["sizes"], facts["elements"]) != (True, [{"name": "s77", "min": 2, "max": 64}], 19):
        sys.exit(f"the good archive is listed as {listed[1]}")
    return run([program, "graph", "verify", "small.pt2"], folder)[3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="cases whose name begins so")
    parser.add_argument("--list", action="store_true", help="print every case with its figures")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    count = faults = 0
    longest = largest = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        base = results_of_the_good_one(program, folder)
        for name, data, says in archives.all_cases():
            if not name.startswith(options.only):
                continue
            (folder / "small.pt2").write_bytes(data)
            found = run([program, "graph", "verify", "small.pt2"], folder)
            why = fault(says, len(data), *found, base)
            code, output, seconds, resident = found
            count += 1
            faults += why is not None
            longest, largest = max(longest, seconds), max(largest, resident - base)
            if why or options.list:
                print(f"{name}: {why or 'ok'}; {code}, {seconds:.1f} s, {resident >> 20} MB; {output[:300]!r}", flush=True)
    print(f"{count} hostile archives: {faults} faults, at most {longest:.1f} s and {int(largest) >> 20} MB")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
