"""A database of made-up runs, for the page: six paths and one that isn't installed, two runs before the last, a sweep, and every way to end."""
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
from apps.bench.llm import database, results  # noqa: E402

FACTS = {"git_branch": "main", "device_name": "A made-up processor", "isa": "avx512f avx2", "threads": 2, "memory_mb": 24000,
         "kernel": "6.1"}
SPEEDS = {"luminal": 1.0, "inductor": 1.5, "eager": 2.1, "llama.cpp": 1.1, "openvino": 1.2, "onnxruntime": 1.8}
CONFIGS = {"smollm2-135m-bf16": (9.0, 60.0, 128), "llama-1b-bf16": (70.0, 510.0, 128), "llama-1b-q8_0": (39.0, 700.0, 128),
           "llama-1b-q4_0": (24.0, 720.0, 128), "llama-1b-long": (75.0, 4300.0, 1024)}
FLOATS_ONLY = ("inductor", "eager")


def row(run_id, config, path, budget=0, **more):
    key, dtype = config.rsplit("-", 1)
    dtype = "bf16" if dtype == "long" else dtype
    return {"run_id": run_id, "path": path, "model": key, "model_key": key, "config": config, "dtype": dtype,
            "prompt_tokens": CONFIGS.get(config, (0, 0, 128))[2], "iters": 5, "warmups": 1, "decode_tokens": 32,
            "max_cache_len": 161, "search_budget": budget, "status": results.OK, "memory_before_mb": 22000,
            "memory_after_mb": 21990, "peak_rss_mb": 1500, "note": "", "error": "",
            "others_cpu": 0.31 if config == "llama-1b-q8_0" and path == "luminal" else 0.02, **more}


def measured(noise, run_id, config, path, budget=0, gain=1.0):
    tpot, ttft, _ = CONFIGS[config]
    speed = SPEEDS[path] * gain
    first = [ttft * speed * noise.uniform(0.97, 1.1) for _ in range(5)]
    each = [tpot * speed * noise.uniform(0.97, 1.15) for _ in range(32)]
    middle = lambda samples: sorted(samples)[len(samples) // 2]
    compile_ms = {"luminal": (4000 + 150 * budget) * (1 + ttft / 1000), "inductor": 45000}.get(path)
    return row(run_id, config, path, budget, ttft_ms=middle(first), ttft_ms_mean=sum(first) / 5, tpot_ms=middle(each),
               throughput_tps=33e3 / (middle(first) + sum(each)), compile_ms=compile_ms, ttft_samples=first, tpot_samples=each,
               note="" if path == "luminal" else "the first 12 tokens as luminal")


def fill(connection, n_runs=4):
    """The ids of the runs."""
    noise = random.Random(7)
    ids = []
    for number in range(n_runs):
        last = number == n_runs - 1
        run_id = database.add_run(connection, "full" if last else "all-configs", {**FACTS, "git_commit": f"{number:x}" * 40})
        ids.append(run_id)
        for config in CONFIGS:
            for path in SPEEDS:
                if path in FLOATS_ONLY and "-q" in config:
                    result = row(run_id, config, path, status=results.UNSUPPORTED, error=f"{path} has no weights in q8_0")
                elif path == "onnxruntime" and config == "llama-1b-bf16":
                    result = row(run_id, config, path, status=results.OUT_OF_MEMORY, error="std::bad_alloc </script>")
                elif path == "onnxruntime" and config == "llama-1b-long":
                    result = row(run_id, config, path, status=results.SKIPPED, error="it ran out of memory at llama-1b-bf16")
                else:
                    result = measured(noise, run_id, config, path, gain=1.2 - 0.06 * number if path == "luminal" else 1)
                database.add_result(connection, result)
            database.add_result(connection, row(run_id, config, "not-installed", status=results.ABSENT,
                                                error="it isn't there"))
        for path in SPEEDS:
            database.add_result(connection, row(run_id, "qwen3-4b-bf16", path, status=results.NOT_BUILT,
                                                error="the architecture qwen3 isn't built yet: queries are normalised"))
        if last:
            for config in ("smollm2-135m-bf16", "llama-1b-bf16"):
                for budget, gain in ((10, 0.99), (100, 0.93), (500, 0.9)):
                    database.add_result(connection, measured(noise, run_id, config, "luminal", budget, gain))
    return ids
