"""Runs one measurement in its own process: limits its memory and time, and judges its end."""
import dataclasses
import os
import pathlib
import resource
import tempfile
import time

from . import machine, results
from .results import Result
from ..harness import protocol
from ..harness.contestant import Contestant, last_words

# Messages of processes that report themselves that they are out of memory.
NO_MEMORY = ("MemoryError", "bad_alloc", "can't allocate memory", "Cannot allocate memory", "bad allocation",
             "failed to allocate", "not enough memory")


@dataclasses.dataclass
class Limits:
    seconds: float = 3600
    free_bytes: int = 512 << 20  # a process is killed if the machine has less left


@dataclasses.dataclass
class Finished:
    result: Result
    memory_before: int  # available, bytes
    memory_after: int
    peak_rss: int
    others_cpu: float = 0  # CPU share of other processes meanwhile


def tree(pid):
    """A process and all its descendants."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                waiting += map(int, pathlib.Path(f"/proc/{one}/task/{task}/children").read_text().split())
        except OSError:
            pass
    return found


def held(pid):
    """Memory of a process and its descendants: the current total, or the peak of one of them if that is more."""
    now, most = 0, 0
    for one in tree(pid):
        try:
            status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{one}/status").read_text().splitlines())
            now += int(status["VmRSS"].split()[0])
            most = max(most, int(status["VmHWM"].split()[0]))
        except (OSError, KeyError, ValueError):  # it has ended meanwhile
            pass
    return 1024 * max(now, most)


class Watch:
    """The peak memory of a process and its descendants; ends them before the machine has none left."""

    def __init__(self, limits):
        self.limits, self.peak = limits, 0

    def __call__(self, pid):
        self.peak = max(self.peak, held(pid))
        if machine.memory()[1] < self.limits.free_bytes:
            raise protocol.Refusal(f"less than {self.limits.free_bytes >> 20} MB of the machine's memory were left",
                                   results.OUT_OF_MEMORY)


class Busy:
    """The CPU share of other processes while a child of ours ran."""

    def __init__(self):
        self.start, self.all, self.own = time.monotonic(), self.machine_seconds(), self.child_seconds()

    @staticmethod
    def machine_seconds():
        user, nice, system, _, _, irq, softirq, steal = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def child_seconds():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def share(self):
        others = (self.machine_seconds() - self.all) - (self.child_seconds() - self.own)
        return round(max(0.0, others) / (os.cpu_count() * max(time.monotonic() - self.start, 1e-3)), 3)


def judge(refusal, errors):
    """Why there are no figures."""
    if refusal.status not in (protocol.FAILED, protocol.BROKEN):
        return Result(status=refusal.status, error=str(refusal))
    words = last_words(errors) if refusal.status == protocol.BROKEN else ""
    text = f"{refusal}: {words}" if words else str(refusal)
    no_memory = "by signal 9" in text or any(word in text for word in NO_MEMORY)
    return Result(status=results.OUT_OF_MEMORY if no_memory else results.FAILED, error=text)


def run(path, request, limits=Limits()):
    before, busy, watch = machine.memory()[1], Busy(), Watch(limits)
    environment = path.environment_of(request.build_dir, request.settings.threads)
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        try:
            with Contestant(path.command(request.build_dir), limits.seconds, watch=watch, stderr=errors, cwd=machine.ROOT,
                            env=environment) as contestant:
                answer = contestant.run(results.CASE, times=request.iters, settings=request.settings.fields())
                watch(contestant.process.pid)
                result = results.result_of(answer)
        except protocol.Refusal as refusal:
            result = judge(refusal, errors)
    return Finished(result, before, machine.memory()[1], watch.peak, busy.share())
