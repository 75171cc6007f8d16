"""torch.compile with our backend beside its own: the claims `speed` and `first-call` of a group measure it."""
import json
import pathlib
import statistics
import tempfile

from claims import Short
from claims_support import last_line, venv_python
from apps.bench.harness.rounds import shown

MODELS = ("gpt2", "bert", "vit-b16", "resnet50", "whisper-tiny", "qwen3-0.6b")
STEPS = ("qwen3-0.6b-step", "gpt2-step")
CHAINS = ("gated", "normed", "rotated")
LEAST_MODELS, LEAST_OF_ANY = 1.15, 0.95
LEAST_STEP, LEAST_CHAIN = 2.0, 1.5
MOST_COLD, MOST_WARM = 0.35, 0.5  # of inductor's first call
MOST_DIFFERENCE = {"qwen3-0.6b-step": 0.05}  # bf16
MOST_DIFFERENCE_F32 = 1e-3


def rows_of(context, programs, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        result = context.run([venv_python(context), context.root / "apps/bench/pytorch/compiled.py", context.build_dir,
                              "--programs", ",".join(programs), *arguments, "--json", out])
        print(result.stdout, end="")
        if result.returncode != 0 or not out.exists():
            raise Short(last_line(result))
        rows = json.loads(out.read_text())
    for row in rows:
        if row["absent"]:
            raise Short("; ".join(f"{side}: {why}" for side, why in row["absent"].items()))
    return rows


def mean_of(rows, programs):
    return statistics.geometric_mean(row["of_best"]["ratio"] for row in rows if row["program"] in programs)


def speed(context):
    """Calls beside eager, inductor and inductor with frozen weights, interleaved."""
    rows = rows_of(context, MODELS + STEPS + CHAINS, "--rounds", 11)
    models, chains = mean_of(rows, MODELS), mean_of(rows, CHAINS)
    lowest = min(row["of_best"]["ratio"] for row in rows if row["program"] in MODELS)
    steps = [row["of_best"]["ratio"] for row in rows if row["program"] in STEPS]
    wrong = [row["program"] for row in rows
             if not row["sides"]["luminal"]["difference"] <= MOST_DIFFERENCE.get(row["program"], MOST_DIFFERENCE_F32)]
    listed = "; ".join(f"{row['program']} {shown(row['of_best'])}" for row in rows)
    holds = (not wrong and models >= LEAST_MODELS and lowest >= LEAST_OF_ANY and min(steps) >= LEAST_STEP
             and chains >= LEAST_CHAIN)
    return (f"models {models:.2f} times as fast as the best other (lowest {lowest:.2f}), decode steps "
            f"{', '.join(f'{step:.2f}' for step in steps)}, element-wise graphs {chains:.2f}; {listed}"
            + (f"; wrong: {', '.join(wrong)}" if wrong else "")), holds


def first_call(context):
    """The whole first call in a new process, with empty caches and with those of the one before."""
    rows = rows_of(context, MODELS, "--first", "--sides", "inductor,luminal")
    of = {row["program"]: {name: row["sides"]["luminal"][name] / row["sides"]["inductor"][name] for name in ("cold", "warm")}
          for row in rows}
    listed = "; ".join(f"{row['program']} {row['sides']['luminal']['cold']:.1f} s cold ({of[row['program']]['cold']:.2f}), "
                       f"{row['sides']['luminal']['warm']:.1f} s warm ({of[row['program']]['warm']:.2f})" for row in rows)
    holds = all(ratio["cold"] <= MOST_COLD and ratio["warm"] <= MOST_WARM for ratio in of.values())
    return f"{listed} (in brackets: of inductor's)", holds
