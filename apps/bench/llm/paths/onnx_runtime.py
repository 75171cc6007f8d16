"""ONNX Runtime on a graph of its own ops (onnx_graph.py), with the cache updated in place."""
import pathlib
import time

import numpy as np

from .. import measuring
from ..blocks import RequestWeights
from ..weights import FORM, finished
from . import onnx_graph

LEAST_POSITIONS = 4096  # one file for most settings


def load_libraries():
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise measuring.Absent(f"{error}: tools/install-deps.sh --peers installs it") from error
    return onnx, onnxruntime


def model_file(onnx, request, weights):
    """The ONNX model in a folder beside the weights, written once."""
    dtype = request.dtype if request.dtype.startswith("q") else "f32"
    positions = LEAST_POSITIONS
    while positions < request.max_cache_len:
        positions *= 2
    folder = pathlib.Path(request.folder)
    made = folder.with_name(f"{folder.name}-onnx-{dtype}-{positions}-v{FORM}")
    if not made.exists():
        measuring.say(f"writing {made}")
    return finished(made, lambda path: onnx_graph.write(onnx, path, weights, positions)) / "model.onnx"


class Generation:
    def __init__(self, onnxruntime, file, request, shape):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = request.threads, 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self.ids = measuring.prompt_ids(request.prompt_tokens, shape["vocab_size"])
        self.binding = self.session.io_binding()
        cache = (1, shape["num_key_value_heads"], request.max_cache_len, shape["head_dim"])
        self.caches = []  # keeps them alive: the binding only holds their memory
        for number in range(shape["num_hidden_layers"]):
            for part in ("key", "value"):
                held = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(cache, np.float32))
                self.caches.append(held)
                self.binding.bind_ortvalue_input(f"past.{number}.{part}", held)
                self.binding.bind_ortvalue_output(f"present.{number}.{part}", held)
        self.binding.bind_output("logits")

    def likeliest_after(self, ids, past):
        length = past + len(ids)
        self.binding.bind_cpu_input("input_ids", np.array([ids], np.int64))
        self.binding.bind_cpu_input("seqlens_k", np.array([length - 1], np.int32))
        self.binding.bind_cpu_input("total_length", np.array([length], np.int32))
        self.session.run_with_iobinding(self.binding)
        return int(self.binding.get_outputs()[-1].numpy().argmax())

    def run(self, new):
        past = len(self.ids)
        return measuring.timed_generation(lambda: self.likeliest_after(self.ids, 0),
                                          lambda token, k: self.likeliest_after([token], past + k), new)


def load(request):
    onnx, onnxruntime = load_libraries()
    weights = RequestWeights(request)
    shape, file = weights.shape, model_file(onnx, request, weights)
    del weights
    start = time.perf_counter()
    generation = Generation(onnxruntime, file, request, shape)
    loaded = time.perf_counter() - start
    widened = "; no bf16 on CPUs: weights widened to f32" if request.dtype == "bf16" else ""
    return measuring.Loaded(generation.run, loaded, f"onnxruntime {onnxruntime.__version__}{widened}")


if __name__ == "__main__":
    measuring.serve_path("onnxruntime", load)
