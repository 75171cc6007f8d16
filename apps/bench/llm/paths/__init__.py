"""The list of paths: the runtimes to compare.

Each is a contestant (docs/bench-protocol.md) with the case "generate": a module that is run as
`python -m apps.bench.llm.paths.NAME` from the root, or a program of a build folder.
"""
import dataclasses
import os
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
    package: str = ""  # a folder of Python packages below the build folder
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

    def environment_of(self, build_dir, threads):
        """That of its process."""
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONDONTWRITEBYTECODE": "1", **self.environment}
        if self.package:
            folders = [str(pathlib.Path(build_dir or "/nowhere").resolve() / self.package), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        return environment


def in_python(name, module, title, dtypes, environment=None, package=""):
    return Path(name, title, dtypes, module=f"apps.bench.llm.paths.{module}", environment=environment or {}, package=package)


FLOATS = ("bf16", "f32")
BLOCKS = ("q8_0", "q4_0")
PATHS = [
    Path("luminal", "luminal", FLOATS + BLOCKS, program="apps/bench/generate_bench"),
    in_python("luminal-torch", "luminal_torch", "transformers, torch.compile (luminal)", FLOATS, HEAP, package="python"),
    in_python("inductor", "inductor", "transformers, torch.compile (inductor)", FLOATS, HEAP),
    in_python("eager", "eager", "transformers, eager", FLOATS, HEAP),
    in_python("llama.cpp", "llama_cpp", "llama.cpp", FLOATS + BLOCKS),
    in_python("openvino", "openvino_runtime", "OpenVINO", FLOATS + BLOCKS),
    in_python("onnxruntime", "onnx_runtime", "ONNX Runtime", FLOATS + BLOCKS),
]
SEARCHING = "luminal"  # the path whose search the sweep varies
