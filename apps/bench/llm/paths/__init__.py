"""The list of paths: the runtimes to compare.

Each is a module that answers a request when run as `python -m apps.bench.llm.paths.NAME` from the root.
"""
import dataclasses

# Reuse heap memory for large tensors instead of mapping fresh pages on every call: PyTorch's fastest setting.
TORCH_HEAP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184"}


@dataclasses.dataclass(frozen=True)
class Path:
    name: str
    module: str
    title: str
    dtypes: tuple
    environment: dict = dataclasses.field(default_factory=dict)


FLOATS = ("bf16", "f32")
BLOCKS = ("q8_0", "q4_0")
PATHS = [
    Path("luminal", "apps.bench.llm.paths.luminal_native", "luminal", FLOATS + BLOCKS),
    Path("luminal-torch", "apps.bench.llm.paths.luminal_torch", "luminal through torch.compile", FLOATS, TORCH_HEAP),
    Path("inductor", "apps.bench.llm.paths.inductor", "transformers, torch.compile (inductor)", FLOATS, TORCH_HEAP),
    Path("eager", "apps.bench.llm.paths.eager", "transformers, eager", FLOATS, TORCH_HEAP),
    Path("llama.cpp", "apps.bench.llm.paths.llama_cpp", "llama.cpp", FLOATS + BLOCKS),
    Path("openvino", "apps.bench.llm.paths.openvino_runtime", "OpenVINO", FLOATS + BLOCKS),
    Path("onnxruntime", "apps.bench.llm.paths.onnx_runtime", "ONNX Runtime", FLOATS + BLOCKS),
]
SEARCHING = "luminal"  # the path whose search the sweep varies
