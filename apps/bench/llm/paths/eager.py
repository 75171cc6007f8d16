"""transformers in eager mode."""
from .. import measuring
from .transformers_model import load

if __name__ == "__main__":
    measuring.serve_path("eager", lambda request: load(request, None))
