"""Runs programs in our engine (egg_run) and in egglog, and compares table sizes, rows and extraction costs.

egglog_compare.py EGG_RUN [--random COUNT] [--repeats N] [PROGRAM.egg …]: without files those of programs/
against egglog and those of naive/, which no wheel parses, against their .expected files; then COUNT random
programs, evaluated both ways (each rule with :naive and without). With --repeats every program and the
first 200 random ones must give the same bits N times, in several processes. Exit code 77 means skipped:
there is no egglog.
"""

import argparse
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the test leaves nothing in the source tree
import dialect  # noqa: E402
import engines  # noqa: E402
import random_programs  # noqa: E402

BATCH = 500  # programs that one process runs
PROCESSES = 4  # over which repeats are spread: each has its own addresses
REPEATED_RANDOM = 200


def egglog_answers(programs, wheel):
    """Results in the order of the programs: in one process, but for those that write files."""
    together = [path for path in programs if "(output" not in path.read_text()]
    results = engines.run_egglog(together, wheel) if together else {}
    for path in programs:
        if path not in together:
            results.update(engines.run_egglog([path], wheel))
    return [results[str(path.resolve())] for path in programs]


def compare_programs(egg_run, programs, wheel):
    failures, extractions = 0, 0
    for path, theirs in zip(programs, egglog_answers(programs, wheel)):
        start = time.perf_counter()
        ours = next(iter(engines.run_ours(egg_run, [path]).values()))
        seconds = time.perf_counter() - start
        extractions += sum(cost is not None for _, cost in theirs["outputs"])
        different = engines.difference(ours, theirs)
        if "error" in theirs:
            different = f"egglog can't run it: {theirs['error']}"
        print(f"{'DIFFERS' if different else 'same'}  {path.name}  ({1e3 * seconds:.0f} ms)", flush=True)
        if different:
            failures += 1
            print(different)
    print(f"{len(programs) - failures} of {len(programs)} programs give egglog's answers "
          f"({extractions} extraction costs among them)")
    return failures


def compare_expected(egg_run, programs):
    """Programs that no wheel parses, with what they must print beside them."""
    failures = 0
    for path in programs:
        ours = next(iter(engines.run_ours(egg_run, [path]).values()))
        same = engines.printed(ours) == path.with_suffix(".expected").read_text()
        print(f"{'same' if same else 'DIFFERS'}  {path.name}  (no oracle: no wheel has :naive)")
        if not same:
            failures += 1
            print(engines.printed(ours))
    print(f"{len(programs) - failures} of {len(programs)} programs without an oracle print what they must")
    return failures


def write_batch(folder, seeds):
    """The files of random programs, and those of the same programs with every rule naive."""
    plain, naive = [], []
    for seed in seeds:
        text = random_programs.program(seed)
        plain.append(folder / f"random_{seed}.egg")
        plain[-1].write_text(text)
        naive.append(folder / f"naive_{seed}.egg")
        naive[-1].write_text("\n".join(dialect.naive(text)) + "\n")
    return plain, naive


def compare_random(egg_run, count, first_seed, wheel):
    """Ours against egglog's, both evaluated naively and not; and ours against ours where no row is deleted,
    since a naive rule makes again what was deleted."""
    failures = {"egglog": 0, "naive": 0}

    def report(kind, seed, different):
        failures[kind] += 1
        if failures[kind] <= 10:
            print(f"DIFFERS ({kind})  random program {seed}: random_programs.py {seed}\n{different}", flush=True)

    start = time.monotonic()
    for first in range(first_seed, first_seed + count, BATCH):
        seeds = range(first, min(first + BATCH, first_seed + count))
        with tempfile.TemporaryDirectory() as scratch:
            plain, naive = write_batch(pathlib.Path(scratch), seeds)
            ours = list(engines.run_ours(egg_run, plain).values())
            theirs = list(engines.run_egglog(plain, wheel).values())
            ours_naive = list(engines.run_ours(egg_run, naive).values())
            theirs_naive = list(engines.run_egglog(plain, wheel, naive=True).values())
            deletes = ["(delete" in path.read_text() for path in plain]
        for i, seed in enumerate(seeds):
            if different := engines.difference(ours[i], theirs[i]):
                report("egglog", seed, different)
            expected = theirs_naive[i] if deletes[i] else ours[i]
            if different := engines.difference(ours_naive[i], expected):
                report("naive", seed, different)
        if time.monotonic() - start > 2:
            print(f"random programs: {seeds[-1] + 1 - first_seed} of {count}", flush=True)
    print(f"{count - failures['egglog']} of {count} random programs give egglog's answers")
    print(f"{count - failures['naive']} of {count} random programs give the same naive and semi-naive")
    return sum(failures.values())


def compare_repeats(egg_run, programs, repeats):
    """Whether all runs of a program, in several processes, agree in every bit of rows, outputs and reports.
    What print-stats prints holds times, so a program with it has no such bits."""
    failures = 0
    programs = [path for path in programs if "(print-stats" not in path.read_text()]
    with tempfile.TemporaryDirectory() as scratch:
        files = programs + write_batch(pathlib.Path(scratch), range(REPEATED_RANDOM))[0]
        options = ["--digest", "--repeat", str(-(-repeats // PROCESSES))]
        runs = [engines.run_ours(egg_run, files, options) for _ in range(PROCESSES)]
    for file in runs[0]:
        seen = {run[file].get("digest") for run in runs}
        if len(seen) != 1 or None in seen or any("error" in run[file] for run in runs):
            failures += 1
            print(f"DIFFERS from run to run  {pathlib.Path(file).name}  {runs[0][file].get('error', seen)}")
    print(f"{len(files) - failures} of {len(files)} programs are bit-identical over {repeats} runs")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("egg_run", type=pathlib.Path)
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=0, help="of the first random program")
    parser.add_argument("--repeats", type=int, default=0, metavar="N")
    parser.add_argument("--wheel", type=pathlib.Path, help="a folder with an unpacked egglog wheel")
    parser.add_argument("--no-programs", action="store_true", help="random programs only")
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    options.egg_run = options.egg_run.resolve()
    try:
        import egglog.bindings  # noqa: F401
    except ImportError as error:
        print(f"SKIPPED: no egglog to compare with ({error}); run tools/install-deps.sh --test")
        return 77

    programs = options.programs or sorted(engines.HERE.glob("programs/*.egg"))
    without_oracle = [] if options.programs else sorted(engines.HERE.glob("naive/*.egg"))
    if not programs:
        print("no programs found: expected tests/egraph/programs/*.egg")
        return 1
    failures = 0
    if not options.no_programs:
        failures += compare_programs(options.egg_run, programs, options.wheel)
        failures += compare_expected(options.egg_run, without_oracle) if without_oracle else 0
    if options.repeats:
        failures += compare_repeats(options.egg_run, programs + without_oracle, options.repeats)
    if options.random:
        failures += compare_random(options.egg_run, options.random, options.seed, options.wheel)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
