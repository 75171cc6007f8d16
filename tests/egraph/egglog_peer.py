"""Runs programs in egglog and prints what they print, one JSON object a program.

egglog_peer.py [--wheel FOLDER] [--naive] FILE…: the wheel is the one installed, or the one unpacked in
FOLDER. `outputs` holds [text, cost], with a cost for extracted terms only; `error` is there where the
program ended early.
"""

import argparse
import json
import pathlib
import resource
import sys

sys.dont_write_bytecode = True
import dialect  # noqa: E402

MEMORY = 8_000_000 * 1024  # bytes; egglog is stopped before it takes the machine


def load(wheel):
    """egglog's bindings and version."""
    if wheel is not None:
        sys.path.insert(0, wheel)
    from importlib.metadata import version

    import egglog.bindings

    return egglog.bindings, version("egglog")


def run(bindings, version, text, naive=False):
    result = {"outputs": []}
    egraph = bindings.EGraph(seminaive=not naive)
    try:
        for command in dialect.write(text, version):
            for output in egraph.run_program(*egraph.parse_program(command)):
                text_of_it = str(output).rstrip("\n")
                if text_of_it or not isinstance(output, bindings.RunScheduleOutput):
                    result["outputs"].append([text_of_it, getattr(output, "cost", None)])
    except BaseException as error:  # egglog's panics aren't Exceptions
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        result["error"] = f"{type(error).__name__}: {error}"
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel")
    parser.add_argument("--naive", action="store_true", help="egglog without semi-naive evaluation")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    bindings, version = load(given.wheel)
    for path in given.files:
        result = run(bindings, version, path.read_text(), given.naive)
        print(json.dumps({"file": str(path), **result}), flush=True)


if __name__ == "__main__":
    main()
