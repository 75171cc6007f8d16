"""The list of paths: the runtimes to compare.

Each is a contestant (docs/bench-protocol.md) with the case "generate": a module that is run as
`python -m apps.bench.llm.paths.NAME` from the root, or a program of a build folder.
"""
import dataclasses
import pathlib
import sys

from ...harness import protocol
from ...harness.torch_process import HEAP


@dataclasses.dataclass(frozen=True)
class Path:
    name: str
    title: str
    dtypes: tuple
    module: str = ""
    program: str = ""  # below the build folder, instead of a module
    environment: dict = dataclasses.field(default_factory=dict)

    def command(self, build_dir):
        """Refusal if there is nothing to run."""
        if not self.program:
            return [sys.executable, "-m", self.module]
        program = pathlib.Path(build_dir or "/nowhere") / self.program
        if not program.is_file():
            raise protocol.Refusal(f"{program.name} isn't built: cmake --preset ci && cmake --build --preset ci",
                                   protocol.ABSENT)
        return [str(program)]


def in_python(name, module, title, dtypes, environment=None):
    return Path(name, title, dtypes, module=f"apps.bench.llm.paths.{module}", environment=environment or {})


FLOATS = ("bf16", "f32")
BLOCKS = ("q8_0", "q4_0")
PATHS = [
    Path("luminal", "luminal", FLOATS + BLOCKS, program="apps/bench/generate_bench"),
    in_python("inductor", "inductor", "transformers, torch.compile (inductor)", FLOATS, HEAP),
    in_python("eager", "eager", "transformers, eager", FLOATS, HEAP),
    in_python("llama.cpp", "llama_cpp", "llama.cpp", FLOATS + BLOCKS),
    in_python("openvino", "openvino_runtime", "OpenVINO", FLOATS + BLOCKS),
    in_python("onnxruntime", "onnx_runtime", "ONNX Runtime", FLOATS + BLOCKS),
]
SEARCHING = "luminal"  # the path whose search the sweep varies
