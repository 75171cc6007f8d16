"""A network in another runtime, as a contestant (docs/bench-protocol.md).

  python -m apps.bench.networks.peers eager|inductor|onnxruntime|openvino

Settings: threads; pixels, narrower and repeats of a smaller network; inputs, of eager: a folder that the input and all
weights are written to. Answers have compile_seconds. `write` takes the result; eager's is computed in f64.
"""
import pathlib
import sys
import tempfile
import time
import warnings

from ..harness import protocol
from ..harness.serve import Contestant, kept, refuse, serve

SETTINGS = {"threads": 1, "pixels": 0, "narrower": 1, "repeats": 100, "inputs": ""}


class Eager:
    """PyTorch as it is. It makes the inputs and the wanted result, also where it isn't timed."""
    version = property(lambda self: self.torch.__version__)

    def __init__(self):
        import torch
        torch.set_grad_enabled(False)
        self.torch = torch

    def prepared(self, model, x):
        return lambda: model(x)

    def result(self, model, x, run):
        wide = model.double()
        return wide(x.double() if x.is_floating_point() else x).numpy()


class Inductor(Eager):
    """torch.compile with frozen weights, which it then folds batch norms into and packs for oneDNN."""

    def prepared(self, model, x):
        import torch._inductor.config as config
        config.freezing = True
        config.force_disable_caches = True  # compile time is measured: use nothing of earlier runs
        self.torch._dynamo.reset()
        compiled = self.torch.compile(model, dynamic=False)
        compiled(x)
        return lambda: compiled(x)

    def result(self, model, x, run):
        return run().numpy()


class OnnxRuntime(Eager):
    """The network as torch.onnx writes it, with all of the runtime's optimisations."""
    version = property(lambda self: self.runtime.__version__)

    def __init__(self):
        super().__init__()
        import onnx  # noqa: F401: torch.onnx needs it
        import onnxruntime
        self.runtime = onnxruntime

    def prepared(self, model, x):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.torch.get_num_threads(), 1
        options.log_severity_level = 3
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "model.onnx")
            # The other exporter, by torch.export, needs one more package.
            self.torch.onnx.export(model, (x,), file, dynamo=False, opset_version=17, input_names=["x"])
            session = self.runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        inputs = {"x": x.numpy()}
        return lambda: session.run(None, inputs)[0]

    def result(self, model, x, run):
        return run()


class OpenVino(Eager):
    version = property(lambda self: self.runtime.__version__.split("-")[0])

    def __init__(self):
        super().__init__()
        import openvino
        self.runtime = openvino

    def prepared(self, model, x):
        converted = self.runtime.convert_model(model, example_input=x, input=[tuple(x.shape)])
        compiled = self.runtime.compile_model(converted, "CPU", {
            "INFERENCE_NUM_THREADS": self.torch.get_num_threads(), "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY"})
        request, inputs = compiled.create_infer_request(), [x.numpy()]
        return lambda: request.infer(inputs, share_inputs=True, share_outputs=True)[0]

    def result(self, model, x, run):
        return run()


RUNTIMES = {"eager": Eager, "inductor": Inductor, "onnxruntime": OnnxRuntime, "openvino": OpenVino}


class Prepared:
    def __init__(self, runtime, name, settings):
        from . import torch_networks
        runtime.torch.set_num_threads(settings["threads"])
        size = torch_networks.Size(settings["pixels"], settings["narrower"], settings["repeats"])
        self.runtime, self.model, self.x = runtime, torch_networks.build(name, size), torch_networks.example(name, size)
        if settings["inputs"]:
            self.write_inputs(pathlib.Path(settings["inputs"]))
        start = time.perf_counter()
        self.call = runtime.prepared(self.model, self.x)
        self.compile_seconds = time.perf_counter() - start
        self.call()

    def write_inputs(self, folder):
        for name, tensor in {"x": self.x, **dict(self.model.named_parameters())}.items():
            (folder / name).write_bytes(tensor.contiguous().numpy().tobytes())

    def run(self):
        start = time.perf_counter()
        self.call()
        return time.perf_counter() - start

    def write(self, path):
        pathlib.Path(path).write_bytes(self.runtime.result(self.model, self.x, self.call).tobytes())


def main(name):
    warnings.simplefilter("ignore")
    try:
        runtime = RUNTIMES[name]()
        from . import torch_networks
    except ImportError as error:
        return refuse(name, f"{error}: tools/install-deps.sh --peers installs it", protocol.ABSENT)
    prepared_for = kept(lambda case, settings: Prepared(runtime, case, settings))

    def answer(command):
        prepared = prepared_for(command)
        seconds = command.timed(prepared.run)
        if command.write:
            prepared.write(command.write)
        return {"seconds": seconds, "compile_seconds": prepared.compile_seconds}

    serve(Contestant(name, runtime.version, list(torch_networks.NETWORKS), answer, SETTINGS))


if __name__ == "__main__":
    main(sys.argv[1])
