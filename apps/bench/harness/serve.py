"""The side of the contestant: announces itself and answers commands, one JSON object per line."""
import dataclasses
import json
import os
import sys
import traceback
import typing

from . import protocol
from .protocol import Refusal

LONGEST_ERROR = 600


@dataclasses.dataclass
class Command:
    """Run a case."""
    case: str
    times: int = 1  # timed runs; 0: prepare only
    seconds: float = 0  # above 0: as many runs as take this long, instead of `times`
    settings: dict = dataclasses.field(default_factory=dict)  # all of the contestant's, with their defaults filled in
    write: str = ""  # a file for the case's result; empty: none

    def timed(self, run):
        """The seconds of each run. `run()` returns the seconds that count."""
        if self.seconds <= 0:
            return [run() for _ in range(self.times)]
        taken = []
        while sum(taken) < self.seconds:
            taken.append(run())
        return taken


@dataclasses.dataclass
class Contestant:
    name: str
    version: str
    cases: list
    answer: typing.Callable  # from a Command to the fields of an answer beside "case"; exceptions become errors
    settings: dict = dataclasses.field(default_factory=dict)  # names with their defaults; a command may set these alone

    def announcement(self):
        return {"contestant": self.name, "version": self.version, "cases": list(self.cases), "settings": self.settings}

    def read(self, line):
        unknown = [field for field in line if field not in protocol.COMMAND_FIELDS]
        if unknown:
            raise ValueError(f"a command has no field '{unknown[0]}'; it has {', '.join(protocol.COMMAND_FIELDS)}")
        command = Command(line["run"], line.get("times", 1), line.get("seconds", 0),
                          protocol.whole_settings(self.settings, line.get("settings", {})), line.get("write", ""))
        if command.times < 0 or command.seconds < 0:
            raise ValueError("times and seconds are 0 or more")
        if command.case not in self.cases:
            raise ValueError(f"there is no case '{command.case}'; there are {', '.join(self.cases)}")
        return command

    def answer_to(self, line):
        """The answer to a command as it was received."""
        if not isinstance(line, dict) or not isinstance(line.get("run"), str):
            return {"error": 'a command is {"run": CASE, …} or {"quit": true}', "status": protocol.FAILED}
        answer = {"case": line["run"]}
        try:
            return {**answer, **self.answer(self.read(line))}
        except Refusal as refusal:
            return {**answer, "error": str(refusal), "status": refusal.status}
        except Exception as error:  # the next command may do better
            traceback.print_exc()
            text = " ".join(f"{type(error).__name__}: {error}".split())
            return {**answer, "error": text[:LONGEST_ERROR], "status": protocol.FAILED}


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def only_lines_of_the_protocol():
    """Standard output for answers alone: whatever else is printed, by libraries too, goes to standard error."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def serve(contestant):
    """Answers the commands of standard input until one is {"quit": true} or the input ends."""
    answers = only_lines_of_the_protocol()
    say = lambda line: print(json.dumps(line), file=answers, flush=True)
    say(contestant.announcement())
    for text in sys.stdin:
        if not text.strip():
            continue
        line = parsed(text)
        if isinstance(line, dict) and line.get("quit") is True:
            break
        say(contestant.answer_to(line))


def refuse(name, why, status=protocol.ABSENT):
    """Announces a contestant that can't take part."""
    print(json.dumps({"contestant": name, "error": why, "status": status}), flush=True)


def kept(prepare):
    """`prepare(case, settings)`, which isn't called again while these are the same: a round asks for what the last one did."""
    last = {}

    def get(command):
        key = (command.case, json.dumps(command.settings, sort_keys=True))
        if last.get("key") != key:
            last.clear()  # before the next one takes memory
            last.update(value=prepare(command.case, command.settings), key=key)
        return last["value"]
    return get
