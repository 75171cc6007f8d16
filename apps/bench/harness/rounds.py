"""Interleaved rounds of several sides and their statistics, shared by the benches against PyTorch.

Each round times all sides one after the other, so that other load on the machine affects all alike: each side after a
pause and a warm-up run, and the best of several runs, because a busy machine can only add time.

Import it before torch: it restarts the script with the heap and thread settings under which PyTorch is fastest.
"""
import math
import os
import sys
import time

# Reuse heap memory for large tensors instead of mapping fresh pages on every call: PyTorch's fastest setting.
HEAP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184",
        "OMP_NUM_THREADS": "1" if "--cpu-time" in sys.argv else "2"}
if any(os.environ.get(key) != value for key, value in HEAP.items()):
    os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **HEAP})

from . import asked  # noqa: E402
import torch  # noqa: E402

# After a parallel region OpenMP's threads spin for some milliseconds, which would take a core from the next side.
SETTLE_SECONDS = 0.03
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def raw(tensor):
    """The bytes of a tensor in the format of our programs."""
    tensor = tensor.contiguous()
    return tensor.view(torch.int16 if tensor.element_size() == 2 else tensor.dtype).numpy().tobytes()


class Asked(asked.Asked):
    """One of our programs, with tensors as inputs and results."""

    def answers(self, command):
        """Whether the program supports it; if not, the program has ended."""
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
    """The largest error, in units of the dtype's resolution (that of `got`) at the magnitude of the results."""
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
    """A 95 % confidence interval of the median, by ranks."""
    ordered, n = sorted(values), len(values)
    reach = 0.98 * math.sqrt(n)
    return ordered[max(0, math.floor(n / 2 - reach))], ordered[min(n - 1, math.ceil(n / 2 + reach))]


def interleaved(sides, rounds, per_round):
    """For each side its best time per round. A side is a function from a number of runs to the seconds of each run."""
    times = {side: [] for side in sides}
    for _ in range(rounds):
        for side, run in sides.items():
            time.sleep(SETTLE_SECONDS)
            times[side].append(min(run(per_round + 1)[1:]))
    return times
