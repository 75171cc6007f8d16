"""Runs programs in our engine (egg_run) and in egglog (egglog_peer.py), many in one process.

A result is a dict: `outputs`, a list of [text, cost or None]; `error` where the program ended early;
`digest` where it was asked for; `written`, the files that the program wrote, by name.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STATISTICS = ("Overall statistics", "finished:")  # how print-stats starts, theirs and ours
DATA = HERE / "programs/data"  # what programs include and read; they run in a folder that has it


class Scratch:
    """A fresh working directory for programs that read and write files."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "data").symlink_to(DATA)
        return self

    def __exit__(self, *error):
        self.folder.cleanup()

    def written(self):
        return {path.name: path.read_text() for path in sorted(self.path.iterdir()) if path.name != "data"}


def run_ours(egg_run, files, options=(), timeout=600):
    """Results by file."""
    with Scratch() as scratch:
        command = [str(egg_run), "--tagged", *options, *(str(pathlib.Path(file).resolve()) for file in files)]
        done = subprocess.run(command, cwd=scratch.path, capture_output=True, text=True, timeout=timeout)
        results = parse_tagged(done.stdout)
        if len(results) < len(files) or done.returncode not in (0, 1):
            last = list(results)[-1] if results else "the first program"
            raise RuntimeError(f"egg_run ended with code {done.returncode} in {last}: {done.stderr[-2000:]}")
        if len(files) == 1:
            results[next(iter(results))]["written"] = scratch.written()
    return results


def parse_tagged(text):
    results = {}
    result, last = None, None
    for line in text.split("\n"):
        tag, rest = line[:2], line[2:]
        if line.startswith("program "):
            result = results[line[len("program "):]] = {"outputs": []}
        elif tag == "> ":
            cost = None
            if rest.startswith("$"):
                number, _, rest = rest[1:].partition(" ")
                cost = int(number)
            last = [rest, cost]
            result["outputs"].append(last)
        elif tag == "| " and "error" in result:
            result["error"] += "\n" + rest
        elif tag == "| ":
            last[0] += "\n" + rest
        elif tag == "! ":
            result["error"] = rest
        elif tag == "# ":
            result["digest"] = rest
    return results


def run_egglog(files, wheel=None, naive=False, timeout=600):
    """Results by file."""
    with Scratch() as scratch:
        command = [sys.executable, str(HERE / "egglog_peer.py"), *(["--wheel", str(wheel)] if wheel else []),
                   *(["--naive"] if naive else []), *(str(pathlib.Path(file).resolve()) for file in files)]
        done = subprocess.run(command, cwd=scratch.path, capture_output=True, text=True, timeout=timeout)
        if done.returncode != 0:
            raise RuntimeError(f"egglog ended with code {done.returncode}: {done.stderr[-2000:]}")
        results = {}
        for line in done.stdout.splitlines():
            result = json.loads(line)
            results[result.pop("file")] = result
        if len(files) == 1:
            results[next(iter(results))]["written"] = scratch.written()
    return results


def comparable(output):
    """What two right engines print alike: the cost of a term rather than the term, rows in any order, no times."""
    text, cost = output
    if cost is not None:
        return cost if "(" in text and not text.startswith('"') else (cost, text)
    if text.startswith(STATISTICS):
        return "statistics"
    return sorted(text.splitlines())


def difference(ours, theirs):
    """None where both give the same answers, else both in full."""
    def answers(result):
        outputs = [comparable(output) for output in result["outputs"] if output[0].strip()]
        written = {name: sorted(text.split("\n")) for name, text in result.get("written", {}).items()}
        return outputs, "error" in result, written

    if "error" not in ours and answers(ours) == answers(theirs):
        return None
    return f"--- ours\n{printed(ours)}--- theirs\n{printed(theirs)}"


def printed(result):
    lines = [text if cost is None else f"{text}  ; costs {cost}" for text, cost in result["outputs"]]
    lines += [f"error: {result['error']}"] if "error" in result else []
    lines += [f"wrote {name}: {text!r}" for name, text in result.get("written", {}).items()]
    return "".join(line + "\n" for line in lines)
