"""A program of programs.py under one compiler, as a contestant (docs/bench-protocol.md).

  python -m apps.bench.pytorch.sides eager|inductor|frozen|luminal

Settings: threads; dtype (f32, bf16; empty: the program's); cache, a folder for what compilers keep (empty: nothing is kept or
found); numerics of luminal; saved, a file: luminal's graph is loaded from it, or saved to it where it isn't there (empty:
neither). Answers have first_seconds, the whole time of the first call: capture, compile and run. `write`
takes the result; eager's is computed in f64.
"""
import contextlib
import os
import sys
import tempfile
import time
import warnings

from ..harness import protocol
from ..harness.serve import Contestant, kept, refuse, serve

SETTINGS = {"threads": 1, "dtype": "", "cache": "", "numerics": "", "saved": ""}


def set_caches(torch, cache):
    import torch._functorch.config as functorch
    import torch._inductor.config as inductor
    inductor.force_disable_caches = not cache
    functorch.enable_autograd_cache = bool(cache)
    if cache:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(cache, "inductor")


class Eager:
    def compiled(self, torch, module, arguments, settings):
        return module

    def wanted(self, program):
        """In f64."""
        module = program.module.double()
        if hasattr(module, "cache"):
            for layer in module.cache.layers:
                layer.keys, layer.values = layer.keys.double(), layer.values.double()
        arguments = [value.double() if value.is_floating_point() else value for value in program.arguments]
        program.reset()
        return module(*arguments)


class Inductor(Eager):
    """torch.compile as it is."""
    freezing = False
    wanted = None

    def compiled(self, torch, module, arguments, settings):
        import torch._inductor.config as config
        config.freezing = self.freezing
        set_caches(torch, settings["cache"])
        return torch.compile(module, dynamic=False)


class Frozen(Inductor):
    """The same with frozen weights, which it then packs and folds."""
    freezing = True


class Luminal(Eager):
    wanted = None

    def __init__(self):
        import luminal.torch
        self.backend = luminal.torch.backend  # by its name it is found where the package is installed

    def compiled(self, torch, module, arguments, settings):
        if settings["saved"] and os.path.exists(settings["saved"]):
            return self.loaded(torch, module, settings["saved"])
        cache = settings["cache"] or tempfile.mkdtemp()
        options = {"threads": settings["threads"], "cache_folder": os.path.join(cache, "luminal"), "records": "none"}
        if settings["numerics"]:
            options["numerics"] = settings["numerics"]
        if not settings["saved"]:
            return torch.compile(module, backend=self.backend, options=options, dynamic=False)
        # Other guards of these models PyTorch can't save.
        options["guard_filter_fn"] = torch.compiler.keep_portable_guards_unsafe
        made = torch.compile(module.forward, backend=self.backend, options=options, dynamic=False, fullgraph=True)
        made.aot_compile((arguments, {})).save_compiled_function(settings["saved"])
        return self.loaded(torch, module, settings["saved"])

    @staticmethod
    def loaded(torch, module, path):
        with open(path, "rb") as file:
            call = torch.compiler.load_compiled_function(file)
        return lambda *arguments: call(module, *arguments)


SIDES = {"eager": Eager, "inductor": Inductor, "frozen": Frozen, "luminal": Luminal}


class Prepared:
    def __init__(self, torch, side, name, settings):
        from . import programs
        torch.set_num_threads(settings["threads"])
        torch._dynamo.reset()
        self.side = side
        dtype = settings["dtype"] or ("bf16" if name in programs.BF16 else "f32")
        self.program = programs.build(name, {"f32": torch.float32, "bf16": torch.bfloat16}[dtype])
        begin = time.perf_counter()
        self.called = side.compiled(torch, self.program.module, self.program.arguments, settings)
        self.result = self.call()
        self.first_seconds = time.perf_counter() - begin
        self.call()

    def call(self):
        self.program.reset()
        return self.called(*self.program.arguments)

    def run(self):
        self.program.reset()
        begin = time.perf_counter()
        self.called(*self.program.arguments)
        return time.perf_counter() - begin

    def write(self, path):
        result = self.side.wanted(self.program) if self.side.wanted else self.result
        with open(path, "wb") as file:
            file.write(result.double().contiguous().numpy().tobytes())


def main(name):
    warnings.simplefilter("ignore")
    try:
        import torch
        side = SIDES[name]()
        from . import programs
    except ImportError as error:
        return refuse(name, f"{error}: tools/install-deps.sh --test installs PyTorch, the build makes the package luminal",
                      protocol.ABSENT)
    stack = contextlib.ExitStack()
    stack.enter_context(torch.no_grad())
    prepared_for = kept(lambda case, settings: Prepared(torch, side, case, settings))

    def answer(command):
        prepared = prepared_for(command)
        seconds = command.timed(prepared.run)
        if command.write:
            prepared.write(command.write)
        return {"seconds": seconds, "first_seconds": prepared.first_seconds}

    with stack:
        serve(Contestant(name, torch.__version__, list(programs.PROGRAMS), answer, SETTINGS))


if __name__ == "__main__":
    main(sys.argv[1])
