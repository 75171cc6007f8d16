"""A contestant of PyTorch functions, eager or compiled: inputs by a seed, written for others, and results in f64."""
import pathlib
import time

import torch

from .serve import Contestant, kept, serve

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
NAMES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.bool: "bool"}
SETTINGS = {"dtype": "f32", "threads": 1, "mode": "eager", "clock": "wall", "inputs": ""}
CLOCKS = {"wall": time.perf_counter, "cpu": time.thread_time}


def raw(tensor):
    """The bytes of a tensor in the format of our programs."""
    tensor = tensor.contiguous()
    return tensor.view(torch.int16 if tensor.element_size() == 2 else tensor.dtype).numpy().tobytes()


class Prepared:
    """`function` of inputs by name; eager calls `eager` instead, which may write into a tensor `y` of the result's kind."""

    def __init__(self, settings, function, inputs, eager=None, copies=1):
        torch.set_num_threads(settings["threads"])
        self.function, self.inputs, self.clock = function, inputs, CLOCKS[settings["clock"]]
        if settings["inputs"]:
            for name, tensor in inputs.items():
                (pathlib.Path(settings["inputs"]) / name).write_bytes(raw(tensor))
        like = function(*inputs.values())
        self.result = NAMES.get(like.dtype, str(like.dtype))
        self.called, more = function, {}
        if settings["mode"] == "compiled":
            torch._dynamo.reset()
            self.called = torch.compile(function, dynamic=False)
        elif eager is not None:
            self.called, more = eager, {"y": torch.empty_like(like)}
        # Each call uses the next copy of the weights; x is the same for all.
        copied = lambda name, value, copy: value if name == "x" or copy == 0 else value.clone()
        self.arguments = [[copied(name, value, copy) for name, value in inputs.items()] for copy in range(copies)]
        self.more, self.next = more, 0
        self.called(*self.arguments[0], **self.more)

    def run(self):
        self.next = (self.next + 1) % len(self.arguments)
        arguments = self.arguments[self.next]
        start = self.clock()
        self.called(*arguments, **self.more)
        return self.clock() - start

    def write(self, path):
        wide = [value.double() if value.is_floating_point() else value for value in self.inputs.values()]
        pathlib.Path(path).write_bytes(raw(self.function(*wide).double()))


def serve_functions(cases, prepare, settings=None):
    """`prepare(case, settings)` makes a Prepared."""
    torch.set_grad_enabled(False)
    prepared_for = kept(prepare)

    def answer(command):
        prepared = prepared_for(command)
        seconds = command.timed(prepared.run)
        if command.write:
            prepared.write(command.write)
        return {"seconds": seconds, "result": prepared.result}

    serve(Contestant("PyTorch", torch.__version__, cases, answer, {**SETTINGS, **(settings or {})}))
