"""Rounds of several sides, interleaved, and what is said of them: what the benches against PyTorch share.

Each round times all sides, one after the other, so that what else the machine does hits all alike: each after a pause
and a run that isn't counted, and of several runs the best, since a busy machine only ever adds.

Import it before torch: it starts the script again with the heap and the threads that PyTorch is at its best with.
"""
import math
import os
import sys
import time

# Large tensors from the heap, not fresh pages from the system on every call: PyTorch at its best.
HEAP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184",
        "OMP_NUM_THREADS": "1" if "--cpu-time" in sys.argv else "2"}
if any(os.environ.get(key) != value for key, value in HEAP.items()):
    os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **HEAP})

from . import asked  # noqa: E402
import torch  # noqa: E402

# After a parallel region OpenMP's threads spin for some milliseconds: long enough to take a core from who is next.
SETTLE_SECONDS = 0.03
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def raw(tensor):
    """The bytes of a tensor, as our programs read them."""
    tensor = tensor.contiguous()
    return tensor.view(torch.int16 if tensor.element_size() == 2 else tensor.dtype).numpy().tobytes()


class Asked(asked.Asked):
    """One of our programs, with tensors for inputs and results."""

    def answers(self, command):
        """Whether it can do that; it is gone where it can't."""
        return bool(self.line_for(command))

    def ended_at(self, command):
        sys.exit(f"{self.name} ended early, at: {command}")

    def write_inputs(self, arguments, folder):
        for key, tensor in arguments.items():
            (folder / key).write_bytes(raw(tensor))

    def times(self, command, count):
        return list(map(float, self.ask(f"{command} {count}")))

    def result(self, like, folder):
        if self.ask(f"result {folder / 'y'}") != ["ok"]:
            sys.exit(f"{self.name} could not write its result")
        bits = torch.int16 if like.element_size() == 2 else like.dtype
        data = torch.frombuffer(bytearray((folder / "y").read_bytes()), dtype=bits)
        return data.view(like.dtype).reshape(like.shape)


def difference(got, want):
    """The largest distance, in units of what the dtype of `got` can tell apart at the size of the results."""
    if want.dtype == torch.bool:
        return float((got != want).sum())
    unit = torch.finfo(got.dtype).eps
    got, want = got.double(), want.double()
    if not torch.equal(got.isnan(), want.isnan()):
        return math.inf
    got, want = got.nan_to_num(0.0), want.nan_to_num(0.0)
    return float(((got - want).abs() / (unit * (want.abs() + want.square().mean().sqrt()))).max())


def seconds(function, count, clock=time.perf_counter):
    taken = []
    for _ in range(count):
        start = clock()
        function()
        taken.append(clock() - start)
    return taken


def interval(values):
    """A 95 % interval for the median, by ranks."""
    ordered, n = sorted(values), len(values)
    reach = 0.98 * math.sqrt(n)
    return ordered[max(0, math.floor(n / 2 - reach))], ordered[min(n - 1, math.ceil(n / 2 + reach))]


def interleaved(sides, rounds, per_round):
    """For each side its best time of each round. A side is a function of how often to run: the seconds of each run."""
    times = {side: [] for side in sides}
    for _ in range(rounds):
        for side, run in sides.items():
            time.sleep(SETTLE_SECONDS)
            times[side].append(min(run(per_round + 1)[1:]))
    return times
