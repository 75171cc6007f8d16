"""The side of the harness: a contestant's process, its announcement and its answers."""
import json
import os
import resource
import select
import signal
import subprocess
import time

from . import protocol
from .protocol import Refusal

LONGEST_SHOWN, LONGEST_WORDS = 200, 600
POLL_SECONDS = (0.01, 0.2)  # less often with time: polling takes time from what is measured
END_SECONDS = 10  # for a process that was told to quit


def last_words(errors, count=3):
    """The last lines of what a process printed beside the protocol, a file that was its `stderr`."""
    errors.seek(0)
    lines = [line.strip() for line in errors.read().splitlines() if line.strip()]
    return " | ".join(lines[-count:])[-LONGEST_WORDS:]


class Contestant:
    """A process that speaks the protocol; use it in a `with` statement, which ends it.

    command     the program and its arguments
    time_limit  seconds for each answer
    memory      limit of the process's address space, bytes
    watch       called with the process's id again and again while an answer is awaited; may raise, which kills it
    stderr      for what the process prints beside the protocol (default: that of this process)
    """

    def __init__(self, command, time_limit=None, memory=None, watch=None, stderr=None, **options):
        self.command, self.time_limit, self.watch = [str(word) for word in command], time_limit, watch
        self.name, self.version, self.cases, self.settings = os.path.basename(self.command[0]), "", [], {}
        self.received = b""

        def limit_memory():
            resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))

        try:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                                            start_new_session=True, preexec_fn=limit_memory if memory else None, **options)
        except OSError as error:
            raise self.refusal(f"it can't be started: {error}", protocol.ABSENT) from error
        try:
            self.read_announcement()
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.quit() if kind is None else self.kill()

    def read_announcement(self):
        line = self.next_line()
        if "contestant" not in line or not ("error" in line or isinstance(line.get("cases"), list)):
            raise self.refusal(f"it announced itself by {json.dumps(line)[:LONGEST_SHOWN]}", protocol.BROKEN)
        self.name, self.version = line["contestant"], line.get("version", "")
        if "error" in line:
            raise self.refusal(line["error"], line.get("status", protocol.FAILED))
        self.cases, self.settings = line["cases"], line.get("settings", {})

    def run(self, case, times=None, seconds=None, settings=None, write=None):
        """The answer, a dict with "seconds"; Refusal for an error. One that breaks the protocol ends the process."""
        given = {"times": times, "seconds": seconds, "settings": settings, "write": None if write is None else str(write)}
        answer = self.ask({"run": case, **{key: value for key, value in given.items() if value is not None}})
        if "error" in answer:
            raise self.refusal(answer["error"], answer.get("status", protocol.FAILED))
        if answer.get("case") != case or not isinstance(answer.get("seconds"), list):
            self.kill()
            raise self.refusal(f"an answer without its case or seconds: {json.dumps(answer)[:LONGEST_SHOWN]}", protocol.BROKEN)
        return answer

    def ask(self, command):
        """The answer to a command, whatever it says."""
        try:
            self.process.stdin.write((json.dumps(command) + "\n").encode())
            self.process.stdin.flush()
            return self.next_line()
        except (BrokenPipeError, ValueError) as error:  # ValueError: stdin was closed by kill()
            how = self.how_it_ended()
            self.kill()
            raise self.refusal(how, protocol.BROKEN) from error
        except BaseException:
            self.kill()
            raise

    def next_line(self):
        start, pause = time.monotonic(), POLL_SECONDS[0]
        while b"\n" not in self.received:
            if self.watch is not None:
                self.watch(self.process.pid)
            waited = time.monotonic() - start
            if self.time_limit is not None and waited > self.time_limit:
                raise self.refusal(f"no answer in {self.time_limit:g} s", protocol.TIMED_OUT)
            wait = pause if self.watch is not None else None
            if self.time_limit is not None:
                wait = min(wait or self.time_limit, self.time_limit - waited + 1e-3)
            if select.select([self.process.stdout], [], [], wait)[0]:
                data = os.read(self.process.stdout.fileno(), 1 << 16)
                if not data:
                    raise self.refusal(self.how_it_ended(), protocol.BROKEN)
                self.received += data
            pause = min(2 * pause, POLL_SECONDS[1])
        text, self.received = self.received.split(b"\n", 1)
        return self.parsed(text.decode(errors="replace"))

    def parsed(self, text):
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            raise self.refusal(f"it printed what is no JSON object: {text[:LONGEST_SHOWN]!r}", protocol.BROKEN)
        return line

    def refusal(self, why, status):
        return Refusal(why, status, self.name)

    def how_it_ended(self):
        """After the end of its output, or after it stopped reading."""
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its output and went on"
        return "it ended without an answer, " + (f"by signal {-code}" if code < 0 else f"with code {code}")

    def quit(self):
        """Tells the process to end and waits for that."""
        try:
            self.process.stdin.write(b'{"quit": true}\n')
            self.process.stdin.close()
            self.process.wait(END_SECONDS)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            pass
        self.kill()

    def kill(self):
        """Ends the process, unless it has ended, and its descendants, which form a process group."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except OSError:  # what was left to write
                pass
