"""A path for tests: ends as the environment variable FAKE says."""
import os
import sys
import time

from apps.bench.llm import measuring


def measure(request):
    ending = os.environ.get("FAKE", "ok")
    print("noise before the answer")
    if ending == "absent":
        raise measuring.Absent("fake isn't installed: pip install fake")
    if ending == "raises":
        raise ValueError("a fake mistake")
    if ending == "no memory":
        raise MemoryError("a fake tensor")
    if ending == "dies":
        sys.exit("ended without an answer")
    if ending == "hangs":
        time.sleep(60)
    if ending == "grows":
        held = bytearray(200 << 20)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(0.5)
    step = lambda token, k: time.sleep(0.001) or token + 1
    result = measuring.measured(request, lambda new: measuring.timed_generation(lambda: 7, step, new))
    result.compile_ms = 12.5
    return result


measuring.answer(measure)
