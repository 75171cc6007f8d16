"""transformers in eager mode."""
from .. import measuring
from .transformers_model import measure

if __name__ == "__main__":
    measuring.answer(lambda request: measure(request, None))
