"""What several groups of claims measure with."""
import re
import tempfile

from claims import Short


def last_line(result):
    lines = (result.stdout.strip() or result.stderr.strip()).splitlines()
    return lines[-1].strip() if lines else f"no output, exit code {result.returncode}"


def number(pattern, result):
    """The number that a program's output holds; Short when it isn't there."""
    match = re.search(pattern, result.stdout)
    if match is None:
        raise Short(f"nothing like '{pattern}' in the output: {last_line(result)}")
    return float(match.group(1))


def ctest(*arguments):
    """A measurement that runs tests of the build and reports ctest's own count."""
    def measure(context):
        result = context.run(["ctest", "--test-dir", context.build_dir, "--no-tests=error", *arguments])
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
        raise Short("there is no .venv: run tools/install-deps.sh")
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
