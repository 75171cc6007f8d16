"""transformers through torch.compile, PyTorch's own compiler."""
import shutil

from .. import measuring
from .transformers_model import load


def load_inductor(request):
    if not any(map(shutil.which, ("g++", "clang++", "c++"))):
        raise measuring.Absent("inductor needs a C++ compiler on the PATH")
    import torch._inductor.config as config
    config.force_disable_caches = True  # compile time is measured: use nothing of earlier runs
    return load(request, "inductor")


if __name__ == "__main__":
    measuring.serve_path("inductor", load_inductor)
