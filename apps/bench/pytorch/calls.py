"""What a call through torch.compile costs over Dynamo's own time. Prints JSON.

  python apps/bench/pytorch/calls.py FOLDER PARAMETERS

FOLDER has the package `luminal`. The module adds two inputs and so many parameters. `over_us` is the time of the backend, and
`direct_us` that of TorchCall as the whole backend.
"""
import copy
import json
import sys
import time
import types


def seconds(function, count):
    begin = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - begin) / count


def median(values):
    return sorted(values)[len(values) // 2]


def microseconds(functions, rounds, count):
    """The median over rounds, in which all functions take turns."""
    for function in functions:
        seconds(function, count)
    times = [[seconds(function, count) for function in functions] for _ in range(rounds)]
    return [1e6 * median(column) for column in zip(*times)]


def with_its_own_code(module, number):
    """A copy that Dynamo knows apart: what it compiled for one piece of code is asked in turn."""
    of = type(module)
    forward = types.FunctionType(of.forward.__code__.replace(co_firstlineno=1000 + number), globals())
    result = copy.copy(module)
    result.__class__ = type(of.__name__, (of,), {"forward": forward})
    return result


def overhead(torch, lm, n_parameters):
    class Sum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.all = torch.nn.ParameterList([torch.randn(16) for _ in range(n_parameters)])

        def forward(self, x, z):
            y = x + z
            for parameter in self.all:
                y = y + parameter
            return y

    def nothing(module, inputs):
        result = torch.zeros(16)
        return lambda *arguments: (result,)

    def ours(module, inputs):
        graph = lm.Graph()
        names, total, weights = [], None, None
        for i, given in enumerate(inputs):
            is_weight = isinstance(given, torch.nn.Parameter)
            leaf = (graph.weight if is_weight else graph.input)(f"a{i}", (16,))
            names.append(f"a{i}")
            if is_weight:
                weights = leaf if weights is None else weights + leaf
            else:
                total = leaf if total is None else total + leaf
        (total if weights is None else total + weights).output("y")
        call = lm._core.TorchCall(lm.compile(graph), names, ["y"])
        return lambda *arguments: call.call(arguments)

    x, z, module = torch.randn(16), torch.randn(16), Sum().eval()
    calls = []
    with torch.no_grad():
        expected = module(x, z)
        for backend in (nothing, ours, "luminal"):
            calls.append(torch.compile(with_its_own_code(module, len(calls)), backend=backend, fullgraph=True))
            result = calls[-1](x, z)
            if backend is not nothing:
                torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)
        own, direct, all_of_it = microseconds([lambda call=call: call(x, z) for call in calls], rounds=15, count=500)
    return {"dynamo_us": own, "direct_us": direct - own, "over_us": all_of_it - own}


def main():
    folder, parameters = sys.argv[1:]
    sys.path.insert(0, folder)
    import torch
    import luminal.torch
    print(json.dumps(overhead(torch, luminal, int(parameters))))


if __name__ == "__main__":
    main()
