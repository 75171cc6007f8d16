#!/usr/bin/env python3
"""Every file that once crashed the program, hung it, took its memory or made it wrong.

usage: reproductions.py PROGRAM [FOLDER] [--targets sse2,avx2,avx512]

Each must give the right answer or an error of the user's: an exit code of 0, 1 or 2, within a time and a memory limit,
and what `cpu` prints is what `interp` prints. FOLDER holds the files (default: reproductions beside this script).
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 20
DATA_BYTES = 2 << 30  # of memory that a process asks for

# By file: the arguments that show the defect, and what must be printed. Without an entry a file is run.
CASES = {
    "and-interp.lum": [(["run", "FILE", "--sequential", "--print"], "[0, 1, 1, 1, 1]")],
    "bitcast-search.lum": [(["compile", "FILE", "--search", "measured", "--budget", "0.2", "--records", "none"], "")],
    "diff-any-file.lum": [(["run", "FILE"], "diff")],
    "evil.egg": [(["egg", "FILE"], "--allow-files")],
    "g1.egg": [(["compile", "GRAPH", "--rules", "FILE", "--report"], "limit")],
    "oob-mod.lum": [(["run", "FILE", "--print"], "")],
    "oob-view.lum": [(["graph", "verify", "FILE"], "lies outside axis 0"), (["run", "FILE"], "lies outside axis 0")],
    "oob-view-segv.lum": [(["run", "FILE"], "lies outside axis 0")],
    "run-hang.lum": [(["run", "FILE"], "")],
    "scan-recursion.lum": [(["run", "FILE", "--bind", "s=0", "--print"], ""),
                           (["run", "FILE", "--bind", "s=1", "--print"], "")],
    "scan-variants.lum": [(["compile", "FILE", "--variants", "s=1"], ""),
                          (["run", "FILE", "--bind", "s=1", "--print"], "")],
    "sin-check.lum": [(["run", "FILE", "--sequential"], "")],
    "sse2-rows.lum": [(["run", "FILE", "--sequential", "--print"], "")],
    "state-output.lum": [(["run", "FILE", "--print"], "")],
    "str.egg": [(["egg", "FILE"], "")],
    "tokenizer-repl.json": [(["tokenize", "FILE", "-p", "a"], "")],
    "verify-hang.lum": [(["graph", "verify", "FILE"], "")],
}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES, DATA_BYTES))


def run(command, folder):
    """(exit code or 'timeout', what was printed, seconds)"""
    start = time.monotonic()
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return "timeout", "", time.monotonic() - start
    return (result.returncode, (result.stdout + result.stderr).decode(errors="replace"), time.monotonic() - start)


def values(text):
    """What a run printed, without its time and the name of its file."""
    return "\n".join(line for line in text.splitlines() if not re.search(r"median|\.lum", line))


def same_values(a, b):
    """Whether two prints agree but for roundings."""
    number = r"-?(?:\d[\d.e+-]*|inf|nan)"
    if re.sub(number, "#", a) != re.sub(number, "#", b):
        return False
    pairs = zip(re.findall(number, a), re.findall(number, b))
    return all(x == y or abs(float(x) - float(y)) <= 1e-4 * max(1, abs(float(y))) for x, y in pairs)


def check(program, arguments, expected, folder, is_graph):
    """Why a case fails; empty where it holds."""
    runs = is_graph and arguments[0] in ("run", "compile")
    command = [program, *arguments] + (["--cache", "none"] if runs else [])
    code, text, _ = run(command, folder)
    if code not in (0, 1, 2):
        return f"exit code {code}: {text[-300:]}"
    if expected not in text:
        return f"'{expected}' is not in: {text[-300:]}"
    if code != 0 or "--print" not in arguments:
        return ""
    plain = [argument for argument in arguments if argument != "--sequential"]
    if "--target" in plain:
        at = plain.index("--target")
        del plain[at:at + 2]
    other_code, other, _ = run([program, *plain, "--backend", "interp"], folder)
    if other_code != 0 or not same_values(values(text), values(other)):
        return f"cpu: {values(text)[:200]}\ninterp (exit code {other_code}): {values(other)[:200]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description="Runs every file that once broke the program")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=HERE / "reproductions")
    parser.add_argument("--targets", default="")
    options = parser.parse_args()
    program = str(options.program.resolve())
    graph = str(HERE.parent.parent / "examples/feed_forward.lum")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(options.folder.resolve().iterdir()):
            is_graph = path.suffix == ".lum"
            if not is_graph and path.name not in CASES:
                continue
            for arguments, expected in CASES.get(path.name, [(["run", "FILE"], "")]):
                arguments = [{"FILE": str(path), "GRAPH": graph}.get(part, part) for part in arguments]
                compiles = arguments[0] in ("run", "compile")
                for target in options.targets.split(",") if compiles and options.targets else [""]:
                    of_target = arguments + (["--target", target] if target else [])
                    why = check(program, of_target, expected, folder, is_graph or compiles)
                    passed, failed = passed + (not why), failed + bool(why)
                    if why:
                        print(f"{path.name} {target}: {why}")
        planted = [str(found) for found in pathlib.Path(folder).rglob("*") if found.is_file()]
        if planted:
            failed += 1
            print("files were written:", ", ".join(planted))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
