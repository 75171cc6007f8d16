"""What several groups of claims measure with."""
import contextlib
import json
import os
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

from claims import Short

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from apps.bench.harness.contestant import Contestant  # noqa: E402
from apps.bench.harness.protocol import Refusal  # noqa: E402


def last_line(result):
    lines = (result.stdout.strip() or result.stderr.strip()).splitlines()
    return lines[-1].strip() if lines else f"no output, exit code {result.returncode}"


@contextlib.contextmanager
def contestant(context, program):
    """A built program that speaks the protocol of benchmarks; Short where it has no answer."""
    try:
        with Contestant([context.program(program)], cwd=context.root) as process:
            yield process
    except Refusal as refusal:
        raise Short(f"{pathlib.Path(program).name}: {refusal}") from refusal


def answer(context, program, case, **command):
    """Of a process for this command alone."""
    with contestant(context, program) as process:
        return process.run(case, **command)


def in_clean_trees(context, script, *arguments):
    """What a test on clean Debian systems measured: the last line that it prints."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    result = context.run([sys.executable, "-B", context.root / "tests/package" / script, *arguments,
                          cache / "luminal-trees"])
    if result.returncode != 0:
        raise Short(next((line for line in result.stderr.splitlines() if "Error" in line), last_line(result)))
    if "skipped=" in result.stderr:
        raise Short("part of it was skipped: chroot is for root")
    return last_line(result), True


def venv_python(context):
    path = context.root / ".venv/bin/python"
    if not path.exists():
        raise Short("there is no .venv: run tools/install-deps.sh --test")
    return path


def kernel_ratios(context, *arguments):
    """kernels.py's figures: the geometric mean and the lowest of the ratios to the better PyTorch, and all rows."""
    context.program("apps/bench/kernels_bench")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        result = context.run([venv_python(context), context.root / "apps/bench/kernels/kernels.py", context.build_dir,
                              *arguments, "--json", out])
        print(result.stdout, end="")
        if not out.exists():
            raise Short(last_line(result))
        return json.loads(out.read_text())


def number(pattern, result):
    """The number that a program's output holds; Short when it isn't there."""
    match = re.search(pattern, result.stdout)
    if match is None:
        raise Short(f"nothing like '{pattern}' in the output: {last_line(result)}")
    return float(match.group(1))


def results_in(path):
    """{test: (status, seconds)} of a file that `ctest --output-junit` wrote."""
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return {case.get("name"): (case.get("status"), float(case.get("time"))) for case in cases}


def from_results(context, tests):
    """What a run of ctest before this one found of these tests; None where it didn't run all of them."""
    if context.test_results is None:
        return None
    results = results_in(context.test_results)
    if not tests or any(results.get(test, ("notrun",))[0] not in ("run", "fail") for test in tests):
        return None
    failed = [test for test in tests if results[test][0] == "fail"]
    seconds = sum(results[test][1] for test in tests)
    return (f"{len(tests) - len(failed)} of {len(tests)} tests passed in {seconds:.1f} s, as the tests before found",
            not failed)


def ctest(*arguments):
    """A measurement that runs tests of the build, or looks them up where they have just run."""
    def measure(context):
        command = ["ctest", "--test-dir", context.build_dir, "--no-tests=error", *arguments]
        listed = re.findall(r"Test +#\d+: (\S+)", context.run([*command, "-N"]).stdout)
        if (found := from_results(context, listed)) is not None:
            return found
        result = context.run(command)
        match = re.search(r"\d+% tests passed, .*", result.stdout)
        seconds = re.search(r"Total Test time \(real\) = +([\d.]+) sec", result.stdout)
        skipped = len(re.findall(r"\*\*\*Skipped", result.stdout))
        measured = match.group(0) if match else last_line(result)
        if seconds:
            measured += f" in {seconds.group(1)} s"
        if skipped:
            measured += f", {skipped} skipped"
        return measured, result.returncode == 0 and skipped == 0
    return measure


def conformance(context, backend, arguments=()):
    """The matrix on a backend: generated with PyTorch, then run. Returns (passed, failed, text)."""
    python = context.root / ".venv/bin/python"
    if not python.exists():
        raise Short("there is no .venv: run tools/install-deps.sh --test")
    runner = context.program("tests/conformance/luminal_conformance")
    with tempfile.TemporaryDirectory() as cases:
        generated = context.run([python, context.root / "tests/conformance/generate.py", cases])
        if generated.returncode != 0:
            raise Short(f"the generator failed: {last_line(generated)}")
        result = context.run([runner, "--backend", backend, "--cases", cases, *arguments])
    match = re.search(r"(\d+) passed, (\d+) failed", result.stdout)
    if match is None:
        raise Short(last_line(result))
    return int(match.group(1)), int(match.group(2)), match.group(0)
