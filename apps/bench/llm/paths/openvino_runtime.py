"""OpenVINO on a graph of the weights (openvino_graph.py), with the cache as its state."""
import time

import numpy as np

from .. import measuring
from ..blocks import RequestWeights


def load_library():
    try:
        import openvino
    except ImportError as error:
        raise measuring.Absent(f"{error}: tools/install-deps.sh --peers installs it") from error
    return openvino


class Generation:
    def __init__(self, openvino, model, request, vocabulary):
        precision = "bf16" if request.dtype == "bf16" else "f32"
        self.compiled = openvino.compile_model(model, "CPU", {
            "INFERENCE_NUM_THREADS": request.threads, "INFERENCE_PRECISION_HINT": precision, "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY", "KV_CACHE_PRECISION": precision})
        self.infer = self.compiled.create_infer_request()
        self.ids = measuring.prompt_ids(request.prompt_tokens, vocabulary)

    def likeliest_after(self, ids, past):
        length = len(ids)
        mask = np.triu(np.full((length, past + length), -np.inf, np.float32), k=past + 1)[None, None]
        answer = self.infer.infer([np.array([ids]), np.arange(past, past + length)[None], mask, np.zeros(1, np.int32)])
        return int(answer[0].argmax())

    def prefill(self):
        self.infer.reset_state()
        return self.likeliest_after(self.ids, 0)

    def run(self, new):
        past = len(self.ids)
        return measuring.timed_generation(self.prefill, lambda token, k: self.likeliest_after([token], past + k), new)


def load(request):
    openvino = load_library()
    from .openvino_graph import Builder
    weights = RequestWeights(request)
    vocabulary, model = weights.shape["vocab_size"], Builder(openvino, weights).model()
    del weights
    start = time.perf_counter()
    generation = Generation(openvino, model, request, vocabulary)
    compiled = time.perf_counter() - start
    return measuring.Loaded(generation.run, compiled, f"openvino {openvino.__version__.split('-')[0]}")


if __name__ == "__main__":
    measuring.serve_path("openvino", load)
