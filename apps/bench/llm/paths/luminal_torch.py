"""transformers through torch.compile with luminal as the backend, if installed."""
from .. import measuring
from .transformers_model import measure

BACKEND = "luminal"


def measure_luminal(request):
    try:
        import torch
    except ImportError as error:
        raise measuring.Absent(f"{error}: run tools/install-deps.sh --test") from error
    if BACKEND not in torch._dynamo.list_backends(exclude_tags=()):
        raise measuring.Absent("torch.compile has no backend 'luminal': it isn't part of this version")
    return measure(request, BACKEND)


if __name__ == "__main__":
    measuring.answer(measure_luminal)
