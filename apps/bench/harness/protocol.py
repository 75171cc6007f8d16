"""The protocol of benchmarks, docs/bench-protocol.md: what both sides know. Python's standard library alone."""
import json

ABSENT = "absent"  # something isn't installed
UNSUPPORTED = "unsupported"  # the contestant can't do that
FAILED = "failed"
# What the harness says of a contestant.
TIMED_OUT = "timed out"  # no answer in time
BROKEN = "broken"  # the process ended without an answer, or printed what isn't one
COMMAND_FIELDS = ("run", "times", "seconds", "settings", "write")


class Refusal(Exception):
    """Why there is no result: raised inside of a contestant, answered as an error, raised again by the harness."""

    def __init__(self, why, status=FAILED, who=""):
        super().__init__(why)
        self.status, self.who = status, who

    def text(self):
        return f"{self.who}: {self}" if self.who else str(self)


def whole_settings(defaults, given):
    """The defaults with what a command sets; ValueError for names and kinds that aren't there."""
    settings = dict(defaults)
    kind = lambda value: float if isinstance(value, int) and not isinstance(value, bool) else type(value)
    for name, value in given.items():
        if name not in defaults:
            raise ValueError(f"there is no setting '{name}'; there are {', '.join(defaults)}")
        if kind(value) != kind(defaults[name]):
            raise ValueError(f"the setting '{name}' is not like {json.dumps(defaults[name])}")
        settings[name] = value
    return settings
