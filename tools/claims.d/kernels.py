"""Kernels: every graph fused, planned, traced, and every rule tested."""
import json
import pathlib
import tempfile

from claims import Claim, Short
from claims_support import last_line

# Results of the same ops in another order; 16-bit ones are rounded between steps by eager PyTorch.
MOST_EPS = 8


def bench(context, which, mean, lowest):
    """kernels.py over one set: the geometric mean and the lowest ratio against the better PyTorch."""
    python = context.root / ".venv/bin/python"
    if not python.exists():
        raise Short("there is no .venv: run tools/install-deps.sh")
    context.program("apps/bench/kernels_bench")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        result = context.run([python, context.root / "apps/bench/kernels.py", context.build_dir, "--set", which,
                              "--json", out])
        print(result.stdout, end="")
        if not out.exists():
            raise Short(last_line(result))
        measured = json.loads(out.read_text())
    agree = all(row["difference_in_eps"] <= MOST_EPS for row in measured["rows"])
    text = f"{measured['mean']:.2f}x over {len(measured['rows'])}, lowest {measured['lowest']:.2f}x"
    if not agree:
        text += ", results differ"
    return text, agree and measured["mean"] >= mean and measured["lowest"] >= lowest


def single(context):
    return bench(context, "single", 1.1, 0.85)


def fused(context):
    return bench(context, "fused", 1.6, 0)


CLAIMS = [
    Claim(name="single", target="13 primitives, f32 and bf16: 1.1x the better of PyTorch eager and torch.compile, "
          "geometric mean, none below 0.85x", minutes=6, measure=single),
    Claim(name="fused", target="9 fused patterns, f32 and bf16: 1.6x the better of PyTorch eager and torch.compile, "
          "geometric mean", minutes=6, measure=fused),
]
