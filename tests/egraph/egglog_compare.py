"""Runs programs in our engine (egg_run) and in egglog, and compares what they print.

egglog_compare.py EGG_RUN [--random COUNT] [PROGRAM.egg …]: without files those of programs/, and
COUNT random ones. Exit code 77 means skipped: there is no egglog.
"""

import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the test leaves nothing in the source tree
import random_programs  # noqa: E402

MEMORY = 8_000_000 * 1024  # bytes; egglog is stopped before it takes the machine
UNLIMITED = resource.getrlimit(resource.RLIMIT_AS)[1]


def lift_limit():
    """For our own program: a sanitizer reserves far more addresses than it uses."""
    resource.setrlimit(resource.RLIMIT_AS, (UNLIMITED, UNLIMITED))


def egglog_outputs(text):
    from egglog.bindings import EGraph

    egraph = EGraph()
    outputs = []
    for command in egraph.parse_program(text):
        outputs += [str(output).strip() for output in egraph.run_program(command)]
    return "".join(output + "\n" for output in outputs if output)


def compare(egg_run, path):
    """None where both print the same, else what they print; and our seconds."""
    start = time.perf_counter()
    ours = subprocess.run(
        [egg_run, str(path)], capture_output=True, text=True, timeout=100, preexec_fn=lift_limit
    )
    seconds = time.perf_counter() - start
    try:
        theirs = egglog_outputs(path.read_text())
    except BaseException as error:  # egglog's panics aren't Exceptions
        if isinstance(error, KeyboardInterrupt):
            raise
        theirs = f"{type(error).__name__}: {error}\n"
    if ours.returncode == 0 and ours.stdout == theirs:
        return None, seconds
    return f"--- ours (exit {ours.returncode})\n{ours.stdout}{ours.stderr}--- egglog\n{theirs}", seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("egg_run")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    try:
        import egglog.bindings  # noqa: F401
    except ImportError as error:
        print(f"SKIPPED: no egglog to compare with ({error}); run tools/install-deps.sh")
        return 77
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, UNLIMITED))

    failures = 0
    folder = pathlib.Path(__file__).parent / "programs"
    programs = options.programs or sorted(folder.glob("*.egg"))
    for path in programs:
        difference, seconds = compare(options.egg_run, path)
        print(f"{'DIFFERS' if difference else 'same'}  {path.name}  ({1e3 * seconds:.0f} ms)")
        if difference:
            failures += 1
            print(difference)
    print(f"{len(programs) - failures} of {len(programs)} programs give egglog's answers")

    random_failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "random.egg"
        for seed in range(options.seed, options.seed + options.random):
            path.write_text(random_programs.program(seed))
            difference, _ = compare(options.egg_run, path)
            if difference:
                random_failures += 1
                print(f"DIFFERS  random program {seed}: random_programs.py {seed}\n{difference}")
    agreed = options.random - random_failures
    print(f"{agreed} of {options.random} random programs give egglog's answers")
    if not programs:
        print("no programs found: expected tests/egraph/programs/*.egg")
    return 1 if failures or random_failures or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
