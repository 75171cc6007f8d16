"""Contractions: matrix products, packed weights, streaming decode kernels and attention."""
import functools
import json
import pathlib
import tempfile

from claims import Claim, Short
from claims_support import ctest, last_line, venv_python
from apps.bench.harness.rounds import shown

CASES = 3000
# From PyTorch in f64: sums of 4096 products in f32, or one rounding of bf16.
MOST_EPS = {"f32": 128, "bf16": 2}
MOST_ATTENTION_BYTES = 64e6
SHAPES = "128, 512 x 4096 x 4096 and 2048^3, f32 and bf16"
BETTER = "the better of PyTorch eager and torch.compile"
ROTATING = "weights rotating over 1 GiB"


@functools.cache
def rows_of(run, python, script, build_dir, which):
    """contractions.py over one set; claims about the same set share a run."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        result = run([python, script, build_dir, "--set", which, "--json", out])
        print(result.stdout, end="")
        if not out.exists():
            raise Short(last_line(result))
        return json.loads(out.read_text())["rows"]


def rows(context, which, dtype=None):
    python = venv_python(context)
    context.program("apps/bench/contractions_bench")
    context.program("apps/bench/library_bench")
    script = context.root / "apps/bench/kernels/contractions.py"
    found = rows_of(context.run, python, script, context.build_dir, which)
    wrong = [row for row in found if row["difference_in_eps"] > MOST_EPS[row["dtype"]]]
    if wrong:
        raise Short(f"results differ: {name_of(wrong[0])} by {wrong[0]['difference_in_eps']:.1f} eps")
    return [row for row in found if dtype in (None, row["dtype"])]


def name_of(row):
    return f"{row['kind']} {'x'.join(map(str, row['shape']))} {row['dtype']}"


def at_least(which, side, target, dtype=None, kind=None):
    """Every row's ratio to a side reaches the target."""
    def measure(context):
        chosen = [row for row in rows(context, which, dtype) if kind in (None, row["kind"])]
        if any(side not in row for row in chosen):
            raise Short("this build has no oneDNN: configure it with LUMINAL_ONEDNN=ON")
        lowest = min(chosen, key=lambda row: row[side]["ratio"])
        ratio = lowest[side]
        text = (f"lowest {shown(ratio)}, {name_of(lowest)}; "
                f"{sum(row[side]['ratio'] >= target for row in chosen)} of {len(chosen)} reach it")
        return text, ratio["ratio"] >= target
    return measure


def attention_memory(context):
    longest = max(rows(context, "attention"), key=lambda row: (row["shape"][0], row["arena"]))
    return f"{longest['arena'] / 1e6:.1f} MB, {name_of(longest)}", longest["arena"] < MOST_ATTENTION_BYTES


def cases(context):
    program = context.program("tests/contractions/luminal_contractions")
    result = context.run([program, "--count", CASES, "--first-seed", 1000])
    summary = json.loads(last_line(result)) if result.stdout.strip().endswith("}") else None
    if summary is None:
        raise Short(last_line(result))
    text = (f"{summary['cases'] - summary['failed']} of {summary['cases']} agree, {summary['elements']} elements, "
            f"{summary['sampled']} cases by samples, {summary['with_panels']} with packed weights")
    return text, result.returncode == 0 and summary["failed"] == 0


CLAIMS = [
    Claim(name="cases", target=f"{CASES} contractions (layouts, batches, odd sizes, dtypes, epilogues, quantised "
          "forms) agree with the f64 interpreter", minutes=7, measure=cases),
    Claim(name="guard", target="no kernel of these leaves its buffers, at their end or start", minutes=7,
          measure=ctest("-R", "^guard_pages_contractions_many$")),
    Claim(name="launches", target="a Llama decoder block is at most 10 launches, for 1, 16 and 128 tokens, a ResNet basic block 4",
          minutes=0.1, measure=ctest("-R", "^launches_test$"), quick=True),
    Claim(name="library", target=f"{SHAPES}: 0.95x oneDNN called bare with packed weights", minutes=3,
          measure=at_least("large", "library", 0.95)),
    Claim(name="pytorch", target=f"{SHAPES}: 1.0x PyTorch", minutes=3, measure=at_least("large", "pytorch", 1.0)),
    Claim(name="gelu", target=f"{SHAPES}, with bias and GeLU: 1.2x {BETTER}", minutes=6,
          measure=at_least("fused", "pytorch", 1.2, kind="gelu")),
    Claim(name="swiglu", target=f"{SHAPES}, as SwiGLU of two products: 1.2x {BETTER}", minutes=6,
          measure=at_least("fused", "pytorch", 1.2, kind="swiglu")),
    Claim(name="decode-bf16", target=f"1 and 8 rows, bf16 {ROTATING}: 1.3x {BETTER}", minutes=3,
          measure=at_least("stream", "pytorch", 1.3, dtype="bf16")),
    Claim(name="decode-f32", target=f"1 and 8 rows, f32 {ROTATING}: 1.0x {BETTER}", minutes=3,
          measure=at_least("stream", "pytorch", 1.0, dtype="f32")),
    Claim(name="decode-rate", target=f"1 and 8 rows, {ROTATING}: 85 % of the rate at which the same run reads memory",
          minutes=3, measure=at_least("stream", "read_rate", 0.85)),
    Claim(name="decode-8-bit", target=f"1 row, 8-bit {ROTATING}: 85 % of that rate", minutes=2,
          measure=at_least("quantised", "read_rate", 0.85, kind="q8")),
    Claim(name="decode-4-bit", target=f"1 row, 4-bit {ROTATING}: 75 % of that rate", minutes=2,
          measure=at_least("quantised", "read_rate", 0.75, kind="q4")),
    Claim(name="attention", target="causal attention, 8 heads of 64, 512 and 4096 tokens: 1.2x PyTorch's", minutes=2,
          measure=at_least("attention", "pytorch", 1.2)),
    Claim(name="attention-memory", target="attention over 4096 tokens takes less than 64 MB beside inputs and outputs",
          minutes=2, measure=attention_memory),
]
