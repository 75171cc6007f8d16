"""torch.compile with our backend beside its own and beside our models: claims of the group `python`."""
import json
import pathlib
import sqlite3
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
MOST_LOADED_SECONDS = 3
MOST_TPOT = 1.15  # of our own model's
SUITE_DTYPES = ("bf16", "f32")
MOST_LOGITS_DIFFER = {"bf16": 0.2, "f32": 1e-3}  # of their standard deviation
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
    """The whole first call in a new process: with empty caches, with those of the one before, and of a saved graph."""
    rows = rows_of(context, MODELS, "--first", "--sides", "inductor,luminal")
    of = {row["program"]: {name: row["sides"]["luminal"][name] / row["sides"]["inductor"][name] for name in ("cold", "warm")}
          for row in rows}
    loaded = {row["program"]: row["sides"]["luminal"]["loaded"] for row in rows}
    listed = "; ".join(f"{row['program']} {row['sides']['luminal']['cold']:.1f} s cold ({of[row['program']]['cold']:.2f}), "
                       f"{row['sides']['luminal']['warm']:.1f} s warm ({of[row['program']]['warm']:.2f}), "
                       f"{loaded[row['program']]:.1f} s loaded" for row in rows)
    holds = (all(ratio["cold"] <= MOST_COLD and ratio["warm"] <= MOST_WARM for ratio in of.values())
             and max(loaded.values()) <= MOST_LOADED_SECONDS)
    return f"{listed} (in brackets: of inductor's)", holds


def suite_statuses(context, folder):
    """Of the LLM suite's rows on the small model: {(configuration, path): status}."""
    others = ("inductor", "eager", "llama.cpp", "openvino", "onnxruntime")
    result = context.run([venv_python(context), context.root / "apps/bench/llm/bench.py", "single", "--config",
                          ",".join(f"smollm2-135m-{dtype}" for dtype in SUITE_DTYPES), "--skip", ",".join(others), "--iters", 2,
                          "--build-dir", context.build_dir, "--out", folder])
    print(result.stdout, end="")
    if result.returncode != 0:
        raise Short(last_line(result))
    with sqlite3.connect(pathlib.Path(folder) / "bench.db") as connection:
        return {(config, path): status for config, path, status in connection.execute("SELECT config, path, status FROM results")}


def suite(context):
    """The rows that the suite has for transformers through our backend, and its TPOT by that of our own model, interleaved."""
    context.program("apps/bench/generate_bench")
    with tempfile.TemporaryDirectory() as folder:
        statuses = suite_statuses(context, folder)
        listed, holds = [f"rows: {sum(status == 'ok' for status in statuses.values())} of {2 * len(SUITE_DTYPES)}"], True
        for dtype in SUITE_DTYPES:
            holds = holds and all(statuses.get((f"smollm2-135m-{dtype}", path)) == "ok" for path in ("luminal", "luminal-torch"))
            out = pathlib.Path(folder) / f"{dtype}.json"
            result = context.run([venv_python(context), context.root / "apps/bench/llm/generation.py", context.build_dir,
                                  "smollm2-135m", "--dtype", dtype, "--sides", "through-torch,ours", "--json", out])
            print(result.stdout, end="")
            if not out.exists():
                raise Short(last_line(result))
            found = json.loads(out.read_text())
            listed.append(f"{dtype}: TPOT {shown(found['tpot'])} of our model's {found['tpot_ms']['ours']:.1f} ms, TTFT "
                          f"{shown(found['ttft'])} of {found['ttft_ms']['ours']:.0f} ms, logits differ by "
                          f"{found['logits_differ']:.1e} of their standard deviation")
            holds = holds and found["tpot"]["ratio"] <= MOST_TPOT and found["logits_differ"] <= MOST_LOGITS_DIFFER[dtype]
    return "; ".join(listed), holds
