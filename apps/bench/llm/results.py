"""What the suite asks a path for, and how a measurement ended."""
import dataclasses

from ..harness import protocol

# How a measurement ended. Only `ok` has figures; the others have a reason in `error`.
OK = "ok"
ABSENT = protocol.ABSENT  # the path isn't installed
UNSUPPORTED = protocol.UNSUPPORTED  # the path lacks this dtype or architecture
NOT_BUILT = "not built"  # the suite only lists this architecture
FAILED = protocol.FAILED
TIMED_OUT = protocol.TIMED_OUT
OUT_OF_MEMORY = "out of memory"
SKIPPED = "skipped"  # it ran out of memory at a smaller setting

CASE = "generate"


@dataclasses.dataclass
class Settings:
    """The settings of a path's one case; generate_bench.cpp has the same."""
    folder: str = ""  # the weights, in Hugging Face's layout
    gguf: str = ""  # the same as GGUF, in `dtype`
    dtype: str = "bf16"  # bf16, f32, q8_0, q4_0
    prompt_tokens: int = 128
    decode_tokens: int = 32
    max_cache_len: int = 161
    threads: int = 0
    warmups: int = 0  # runs when a model is loaded, before those that are timed
    candidates: int = 0  # maximum plans of a measured search; 0: the cost model chooses
    search_seconds: float = 0.0
    cold: bool = True  # compile without what earlier compiles and searches kept

    def fields(self):
        return dataclasses.asdict(self)


@dataclasses.dataclass
class Request:
    """The request for one measurement."""
    path: str
    settings: Settings
    iters: int = 1
    build_dir: str = ""


@dataclasses.dataclass
class Result:
    status: str = OK
    error: str = ""
    note: str = ""
    compile_ms: float | None = None  # None: nothing to compile
    ttft_samples: list = dataclasses.field(default_factory=list)  # ms, one per prefill
    tpot_samples: list = dataclasses.field(default_factory=list)  # ms, one per token after the first
    tokens: list = dataclasses.field(default_factory=list)  # the first new ones, to check that paths agree


def result_of(answer):
    """Of the answer of a path, which is in seconds."""
    compiled = answer.get("compile_seconds")
    return Result(note=answer.get("note", ""), compile_ms=None if compiled is None else 1e3 * compiled,
                  ttft_samples=[1e3 * value for value in answer["ttft"]],
                  tpot_samples=[1e3 * value for value in answer["tpot"]], tokens=answer["tokens"])
