"""Runs one measurement in its own process: limits its memory and time, and reads its answer."""
import collections
import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

from . import machine, protocol
from .protocol import Result

FIRST_POLL_SECONDS, POLL_SECONDS = 0.01, 0.2  # less often with time: polling takes time from the measured process
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


def end(process):
    """Kills the process and its descendants, which form a process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def watch(process, limits):
    """Waits for the end: returns why it was killed, if it was, and the peak memory of it and its descendants."""
    start, peak, pause = time.monotonic(), 0, FIRST_POLL_SECONDS
    try:
        while process.poll() is None:
            peak = max(peak, held(process.pid))
            if machine.memory()[1] < limits.free_bytes:
                end(process)
                return protocol.OUT_OF_MEMORY, peak
            if time.monotonic() - start > limits.seconds:
                end(process)
                return protocol.TIMED_OUT, peak
            time.sleep(pause)
            pause = min(2 * pause, POLL_SECONDS)
    except BaseException:  # Ctrl-C: leave no processes behind
        end(process)
        raise
    return None, peak


def last_words(errors, count=3):
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return " | ".join(collections.deque(lines, count))[-600:]


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


def judge(returncode, output, errors, ended, limits):
    """Interprets how a process ended."""
    if ended == protocol.TIMED_OUT:
        return Result(status=ended, error=f"no answer in {limits.seconds:g} s")
    if ended == protocol.OUT_OF_MEMORY:
        return Result(status=ended, error=f"less than {limits.free_bytes >> 20} MB of the machine's memory were left")
    result = protocol.find_result(output)
    if result is not None:
        if result.status == protocol.FAILED and any(word in result.error for word in NO_MEMORY):
            result.status = protocol.OUT_OF_MEMORY
        return result
    words = last_words(errors) or "no output"
    if returncode == -signal.SIGKILL or any(word in errors for word in NO_MEMORY):
        return Result(status=protocol.OUT_OF_MEMORY, error=words)
    how = f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
    return Result(status=protocol.FAILED, error=f"{how}: {words}")


def run(module, request, limits=Limits(), environment=None, python=sys.executable):
    before, busy = machine.memory()[1], Busy()
    threads = str(request.threads)
    env = {**os.environ, "OMP_NUM_THREADS": threads, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([python, "-m", module, request.text()], cwd=machine.ROOT, env=env, stdout=output,
                                   stderr=errors, stdin=subprocess.DEVNULL, start_new_session=True)
        ended, peak = watch(process, limits)
        output.seek(0)
        errors.seek(0)
        result = judge(process.returncode, output.read(), errors.read(), ended, limits)
    return Finished(result, before, machine.memory()[1], peak, busy.share())
