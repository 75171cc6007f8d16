"""The protocol between the suite and a path: a request as JSON, and a line BENCH_RESULT with JSON as the answer."""
import dataclasses
import json

MARK = "BENCH_RESULT "

# How a measurement ended. Only `ok` has figures; the others have a reason in `error`.
OK = "ok"
ABSENT = "absent"  # the path isn't installed
UNSUPPORTED = "unsupported"  # the path lacks this dtype or architecture
NOT_BUILT = "not built"  # the suite only lists this architecture
FAILED = "failed"
TIMED_OUT = "timed out"
OUT_OF_MEMORY = "out of memory"
SKIPPED = "skipped"  # it ran out of memory at a smaller setting


@dataclasses.dataclass
class Request:
    """The request for one measurement."""
    path: str
    folder: str  # the weights, in Hugging Face's layout
    gguf: str  # the same as GGUF, in `dtype`
    dtype: str  # bf16, f32, q8_0, q4_0
    prompt_tokens: int
    iters: int
    warmups: int
    decode_tokens: int
    max_cache_len: int
    threads: int
    candidates: int = 0  # maximum plans of a measured search; 0: the cost model chooses
    search_seconds: float = 0
    build_dir: str = ""

    def text(self):
        return json.dumps(dataclasses.asdict(self))


@dataclasses.dataclass
class Result:
    """The answer of a path."""
    status: str = OK
    error: str = ""
    note: str = ""
    compile_ms: float | None = None  # None: nothing to compile
    ttft_samples: list = dataclasses.field(default_factory=list)  # ms, one per prefill
    tpot_samples: list = dataclasses.field(default_factory=list)  # ms, one per token after the first
    tokens: list = dataclasses.field(default_factory=list)  # the first new ones, to check that paths agree

    def line(self):
        return MARK + json.dumps(dataclasses.asdict(self))


def read_request(text):
    return Request(**json.loads(text))


def find_result(output):
    """The last result in a process's output; None if there is none, or it is invalid."""
    for line in reversed(output.splitlines()):
        if line.startswith(MARK):
            try:
                return Result(**json.loads(line[len(MARK):]))
            except (ValueError, TypeError):
                return None
    return None
