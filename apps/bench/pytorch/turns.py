"""Calls of PyTorch and of luminal in turn, beside each alone. Prints JSON.

  python apps/bench/pytorch/turns.py FOLDER torch|luminal

FOLDER has the package `luminal`; the second argument names the package that is imported first. Both sides compute the same on
the same tensors, each with its own threads. By case: the speed in turn as a share of the speed alone, i.e. the time of both
alone by the time of both in turn, the median over rounds with a 95 % interval; and the times of a call in microseconds, alone
and in turn.
"""
import importlib
import json
import pathlib
import statistics
import sys
import time

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds  # noqa: E402

ROUNDS = 15
SECONDS = 0.15  # a turn of one side


def cases(torch):
    """By name: a function, and its arguments. From kernels of some 50 microseconds to some milliseconds on a few cores."""
    def product(size):
        return torch.nn.functional.linear, (torch.randn(size, 512), torch.randn(512, 512))

    def elements(rows):
        return torch.nn.functional.gelu, (torch.randn(rows, 1024),)

    return {"product 64": product(64), "product 1024": product(1024), "gelu 256": elements(256), "gelu 4096": elements(4096)}


def seconds(functions, count):
    """Of a call of each, where all are called in turn."""
    taken = [0.0] * len(functions)
    before = time.perf_counter()
    for _ in range(count):
        for number, function in enumerate(functions):
            function()
            after = time.perf_counter()
            taken[number] += after - before
            before = after
    return [each / count for each in taken]


def measured(torch, backend, function, arguments):
    # Of its own code, as Dynamo asks what it compiled for one piece of code in turn.
    ours = torch.compile(lambda *given: function(*given), backend=backend, dynamic=False)
    torch.testing.assert_close(ours(*arguments), function(*arguments), rtol=1e-4, atol=1e-3)
    calls = {"torch": lambda: function(*arguments), "luminal": lambda: ours(*arguments)}
    count = max(1, round(SECONDS / max(seconds(list(calls.values()), 20))))
    sides = {name: lambda call=call: seconds([call], count)[0] for name, call in calls.items()}
    times = rounds.interleaved({**sides, "in turn": lambda: seconds(list(calls.values()), count)}, ROUNDS)
    alone = [one + other for one, other in zip(times["torch"], times["luminal"])]
    in_turn = times.pop("in turn")
    microseconds = lambda taken: 1e6 * statistics.median(taken)
    return {"share": rounds.ratio(alone, list(map(sum, in_turn))), "us": {name: microseconds(each) for name, each in times.items()},
            "us_in_turn": {name: microseconds(each) for name, each in zip(calls, zip(*in_turn))}}


def main():
    folder, first = sys.argv[1:]
    sys.path.insert(0, folder)
    for name in sorted(("luminal", "torch"), key=lambda name: name != first):
        importlib.import_module(name)
    import torch
    from luminal.torch import backend
    torch.manual_seed(0)
    with torch.no_grad():
        print(json.dumps({name: measured(torch, backend, *case) for name, case in cases(torch).items()}))


if __name__ == "__main__":
    main()
