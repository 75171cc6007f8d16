"""luminal itself: generate_bench compiles the model without caches and generates on request."""
import pathlib

from .. import measuring
from ...harness import asked


def measure(request):
    program = pathlib.Path(request.build_dir or "/nowhere") / "apps/bench/generate_bench"
    if not program.is_file():
        raise measuring.Absent("generate_bench isn't built: cmake --preset ci && cmake --build --preset ci")
    # Quantised weights stay quantised; the others are bf16.
    blocks = request.dtype.startswith("q")
    model, dtype = (request.gguf, "bf16") if blocks else (request.folder, request.dtype)
    search = f" {request.candidates} {request.search_seconds}" if request.candidates else ""
    bench = asked.Asked(program)
    measuring.say(f"compiling {model}")
    prepared = bench.ask(f"prepare {model} {dtype} {request.threads} {request.max_cache_len} cold{search}")

    def run(new):
        seconds = list(map(float, bench.ask(f"run {request.prompt_tokens} {new}")))
        return seconds, bench.ask("tokens")

    result = measuring.measured(request, run)
    bench.end()
    result.compile_ms = 1e3 * float(prepared[1])
    # After "compile SECONDS weights BYTES search": how many plans each variant tried, and why it ended.
    result.note = " ".join(["searched:", *prepared[5:]]) if len(prepared) > 5 else ""
    return result


if __name__ == "__main__":
    measuring.answer(measure)
