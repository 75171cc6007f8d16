"""How processes that run PyTorch are started."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Reuse heap memory for large tensors instead of mapping fresh pages on every call: PyTorch's fastest setting.
HEAP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184"}


def process_of(module, threads):
    """The command of a module, and options for its process: PyTorch's fastest settings."""
    environment = {**os.environ, **HEAP, "OMP_NUM_THREADS": str(threads), "PYTHONDONTWRITEBYTECODE": "1"}
    return [sys.executable, "-m", module], {"cwd": ROOT, "env": environment}
