"""egglog as a contestant, see docs/bench-protocol.md: egglog_contestant.py [--wheel FOLDER], which is the installed one else.

Cases: "program" runs the file of the setting `file`; "last-command" times its last command alone. Parsing, which goes
through Python objects, isn't counted. The program is fed command by command, because egglog copies the text it parses for
every expression.
"""
import argparse
import pathlib
import sys
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[0] = str(ROOT)
sys.path.insert(1, str(ROOT / "tests/egraph"))
import dialect  # noqa: E402
from apps.bench.harness.protocol import Refusal  # noqa: E402
from apps.bench.harness.serve import Contestant, refuse, serve  # noqa: E402
from egglog_peer import load  # noqa: E402


def status_bytes(key):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


class Runs:
    """A program that runs in a new e-graph each time, and what the last run said of itself."""

    def __init__(self, bindings, version, text, last_only):
        self.bindings, self.version, self.text, self.last_only = bindings, version, text, last_only
        self.facts = {}

    def run(self):
        egraph = self.bindings.EGraph()
        commands = [command for part in dialect.write(self.text, self.version) for command in egraph.parse_program(part)]
        first = len(commands) - 1 if self.last_only else 0
        for command in commands[:first]:
            egraph.run_program(command)
        before = status_bytes("VmRSS")
        start = time.perf_counter()
        for command in commands[first:]:
            egraph.run_program(command)
        seconds = time.perf_counter() - start
        grown = lambda key: max(0, status_bytes(key) - before)
        self.facts = {"held_bytes": grown("VmRSS"), "peak_bytes": grown("VmHWM"),
                      "sizes": str(egraph.run_program(*egraph.parse_program("(print-size)"))[0]).strip()}
        return seconds


def answer(bindings, version, command):
    runs = Runs(bindings, version, pathlib.Path(command.settings["file"]).read_text(), command.case == "last-command")
    try:
        seconds = command.timed(runs.run)
    except BaseException as error:  # egglog's panics aren't Exceptions
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise Refusal(f"{type(error).__name__}: {error}") from error
    return {"seconds": seconds, **runs.facts}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel")
    given = parser.parse_args()
    try:
        bindings, version = load(given.wheel)
    except ImportError as error:
        refuse("egglog", f"{error}: run tools/install-deps.sh --test")
        return
    serve(Contestant("egglog", version, ["program", "last-command"], lambda command: answer(bindings, version, command),
                     {"file": ""}))


if __name__ == "__main__":
    main()
