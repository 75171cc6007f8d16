"""A path for tests: ends as the environment variable FAKE says."""
import os
import signal
import sys
import time

from apps.bench.llm import measuring


def load(settings):
    ending = os.environ.get("FAKE", "ok")
    print("noise before the answer")
    os.system("echo noise of another program")
    if ending == "absent":
        raise measuring.Absent("fake isn't installed: pip install fake")
    if ending == "raises":
        raise ValueError("a fake mistake")
    if ending == "no memory":
        raise MemoryError("a fake tensor")
    if ending == "dies":
        sys.exit("ended on its own")
    if ending == "ends it all":
        os.kill(os.getpid(), signal.SIGKILL)
    if ending == "hangs":
        time.sleep(60)
    if ending == "grows":
        held = bytearray(200 << 20)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(0.5)
    step = lambda token, k: time.sleep(0.001) or token + 1
    return measuring.Loaded(lambda new: measuring.timed_generation(lambda: 7, step, new), compile_seconds=0.0125)


measuring.serve_path("fake", load)
