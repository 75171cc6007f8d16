"""transformers through torch.compile with our backend."""
import tempfile

from .. import measuring
from .transformers_model import load


def load_luminal(request):
    try:
        from luminal.torch import backend
    except ImportError as error:
        raise measuring.Absent(f"{error}: build with LUMINAL_BUILD_PYTHON=ON") from error
    # Compile time is measured: use nothing of earlier runs.
    with tempfile.TemporaryDirectory() as folder:
        return load(request, backend, {"threads": request.threads, "cache_folder": folder, "records": "none"})


if __name__ == "__main__":
    measuring.serve_path("luminal-torch", load_luminal)
