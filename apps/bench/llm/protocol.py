"""What the suite and a path say to one another: a request as JSON, and a line BENCH_RESULT with JSON as the answer."""
import dataclasses
import json

MARK = "BENCH_RESULT "

# How a measurement ended. Only `ok` has figures; each of the others has a reason in `error`.
OK = "ok"
ABSENT = "absent"  # the path isn't installed
UNSUPPORTED = "unsupported"  # the path hasn't this dtype or architecture
NOT_BUILT = "not built"  # an architecture that the suite only lists
FAILED = "failed"
TIMED_OUT = "timed out"
OUT_OF_MEMORY = "out of memory"
SKIPPED = "skipped"  # it ran out of memory at a smaller setting


@dataclasses.dataclass
class Request:
    """One measurement: everything that a path needs to know."""
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
    candidates: int = 0  # plans that a measured search may try; 0: the compiler's model chooses
    search_seconds: float = 0
    build_dir: str = ""

    def text(self):
        return json.dumps(dataclasses.asdict(self))


@dataclasses.dataclass
class Result:
    """What a path answers."""
    status: str = OK
    error: str = ""
    note: str = ""
    compile_ms: float | None = None  # None: there is nothing to compile
    ttft_samples: list = dataclasses.field(default_factory=list)  # ms, one of each whole prefill
    tpot_samples: list = dataclasses.field(default_factory=list)  # ms, one of each token after the first
    tokens: list = dataclasses.field(default_factory=list)  # the first new ones, to see whether paths agree

    def line(self):
        return MARK + json.dumps(dataclasses.asdict(self))


def read_request(text):
    return Request(**json.loads(text))


def find_result(output):
    """The last result in a process's output; None where there is none, or it can't be read."""
    for line in reversed(output.splitlines()):
        if line.startswith(MARK):
            try:
                return Result(**json.loads(line[len(MARK):]))
            except (ValueError, TypeError):
                return None
    return None
