"""First hour: it installs, it holds its speed beside other programs, it talks as people expect."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from claims import Claim, Short
from claims_support import contestant, ctest, in_clean_trees, last_line
from apps.bench.harness.contestant import Contestant
from apps.bench.harness.protocol import Refusal
from apps.bench.harness.rounds import interleaved, ratio as ratio_of, shown

ROUNDS = 9  # idle, in company on all threads, in company on one, and again
MOST_SLOWER = 2.3  # in company, than idle
MOST_SLOWER_THAN_ONE = 1.1  # in company, all threads than one
LEAST_UNDER_QUOTA = 0.8  # of one thread's speed, with a quota of one CPU
LEAST_OF_EIGHT = 0.8  # what eight processes make together, of what one makes
MODELS = {
    "SmolLM2": ("smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf", 48),
    "stories260k": ("stories260k", 200),
}


@contextlib.contextmanager
def company(processes):
    """Other programs that want the cores."""
    if processes == 0:
        yield
        return
    program = shutil.which("stress-ng")
    if program is None:
        raise Short("stress-ng is not installed: apt-get install stress-ng")
    load = subprocess.Popen([program, "--cpu", str(processes), "--quiet"])
    try:
        yield
    finally:
        load.terminate()
        load.wait()


class Decoder:
    """Tokens per second of `luminal run`, from what --stats prints."""

    def __init__(self, context, model, cache):
        path, self.tokens = MODELS[model]
        self.model = context.root.parent / "shared/models" / path
        if not self.model.exists():
            raise Short(f"the model is not there: {self.model.name}")
        self.program, self.cache = context.program("apps/cli/luminal"), cache

    def command(self, threads):
        return [self.program, "run", str(self.model), "-p", "Once upon a time", "--max-tokens", str(self.tokens),
                "--threads", str(threads), "--cache", self.cache, "--greedy", "--stats"]

    @staticmethod
    def speed_in(text):
        match = re.search(r"([\d.]+) per second", text)
        if match is None:
            raise Short(f"no speed in what was printed: {text.strip().splitlines()[-1:]}")
        return float(match.group(1))

    def speed(self, threads):
        result = subprocess.run(self.command(threads), capture_output=True, text=True)
        return self.speed_in(result.stdout + result.stderr)

    def speed_of_many(self, processes):
        """Their tokens per second together, while all run."""
        running = [subprocess.Popen(self.command(0), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                   for _ in range(processes)]
        return sum(self.speed_in(process.communicate()[0]) for process in running)


def decode_in_company(context):
    said, ok = [], True
    with tempfile.TemporaryDirectory() as cache:
        for model in MODELS:
            decoder, peer = Decoder(context, model, cache), LlamaCpp(context, model)
            for threads in (0, 1):
                decoder.speed(threads)  # plans and compiles
            rounds, peers = [], []
            for _ in range(ROUNDS):
                idle, peer_idle = decoder.speed(0), peer.speed() if peer.there else None
                with company(2):
                    both = [decoder.speed(threads) for threads in ((0, 1) if len(rounds) % 2 == 0 else (1, 0))]
                    rounds.append((idle, *(both if len(rounds) % 2 == 0 else reversed(both))))
                    if peer.there:
                        peers.append((peer_idle, peer.speed()))
            slower = statistics.median(idle / all_threads for idle, all_threads, _ in rounds)
            than_one = statistics.median(one / all_threads for _, all_threads, one in rounds)
            idle, all_threads, one = (statistics.median(column) for column in zip(*rounds))
            ok = ok and slower <= MOST_SLOWER and than_one <= MOST_SLOWER_THAN_ONE
            said.append(f"{model}: {idle:.0f} tokens/s idle, {all_threads:.0f} in company ({slower:.2f} times the time), "
                        f"{one:.0f} there on one thread ({than_one:.2f})")
            if peers:
                idle, busy = (statistics.median(column) for column in zip(*peers))
                said[-1] += f"; llama.cpp {idle:.0f} idle, {busy:.0f} in company"
    return "; ".join(said), ok


POOL_ROUNDS = 31
SHARES_US = (5, 20, 100, 1000)


def pool_beside_openmp(context):
    """Launches on our pool and on libgomp's in turns, each in a process of its own; see pool_bench.cpp."""
    def launches(kind):
        with contestant(context, "tests/runtime/pool_bench") as bench:
            return {length: bench.run(kind, settings={"share_us": length})["seconds"][0] for length in SHARES_US}

    times = interleaved({kind: lambda kind=kind: launches(kind) for kind in ("pool", "openmp")}, POOL_ROUNDS)
    said, ok = [], True
    for length in SHARES_US:
        found = ratio_of(*([each[length] for each in times[kind]] for kind in ("pool", "openmp")))
        ok = ok and found["low"] <= 1
        said.append(f"{length} µs {shown(found)}")
    return "times libgomp's time, by what a share takes: " + ", ".join(said), ok


class LlamaCpp:
    """Tokens per second of llama.cpp on the same file, if it is there."""

    def __init__(self, context, model):
        path, tokens = MODELS[model]
        self.root, self.python = context.root, context.root / ".venv/bin/python"
        self.settings = {"gguf": str(context.root.parent / "shared/models" / path), "dtype": "q4_0", "prompt_tokens": 4,
                         "decode_tokens": tokens, "max_cache_len": 512, "threads": len(os.sched_getaffinity(0))}
        self.there = path.endswith(".gguf") and self.python.exists() and subprocess.run(
            [self.python, "-c", "import llama_cpp"], capture_output=True).returncode == 0

    def speed(self):
        try:
            with Contestant([self.python, "-m", "apps.bench.llm.paths.llama_cpp"], cwd=self.root) as peer:
                return 1 / statistics.fmean(peer.run("generate", settings=self.settings)["tpot"])
        except Refusal as refusal:
            raise Short(f"llama.cpp gave no times: {refusal}") from refusal


def eight_processes(context):
    with tempfile.TemporaryDirectory() as cache:
        decoder = Decoder(context, "SmolLM2", cache)
        decoder.speed(0)
        ratios = []
        for _ in range(3):
            one = decoder.speed(0)
            ratios.append((decoder.speed_of_many(8) / one, one))
        ratio = statistics.median(ratio for ratio, _ in ratios)
        one = statistics.median(one for _, one in ratios)
    return f"one process {one:.0f} tokens/s, eight together {ratio:.2f} times that", ratio >= LEAST_OF_EIGHT


@contextlib.contextmanager
def quota_of_one():
    """A control group whose processes may use one CPU together: a file that takes their ids."""
    root = pathlib.Path("/sys/fs/cgroup")
    first_version = not (root / "cgroup.controllers").exists()
    group = (root / "cpu" if first_version else root) / f"luminal-claims-{os.getpid()}"
    try:
        group.mkdir()
        if first_version:
            (group / "cpu.cfs_period_us").write_text("100000")
            (group / "cpu.cfs_quota_us").write_text("100000")
        else:
            (group / "cpu.max").write_text("100000 100000")
    except OSError as error:
        raise Short(f"no control group can be made here: {error}") from error
    try:
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def quota(context):
    with tempfile.TemporaryDirectory() as cache, quota_of_one() as processes:
        decoder = Decoder(context, "stories260k", cache)
        decoder.speed(1)

        def speed_inside():
            result = subprocess.run(decoder.command(0), capture_output=True, text=True,
                                    preexec_fn=lambda: processes.write_text(str(os.getpid())))
            return decoder.speed_in(result.stdout + result.stderr)
        speed_inside()
        rounds = [(decoder.speed(1), speed_inside()) for _ in range(ROUNDS)]
        said = subprocess.run([context.program("apps/cli/luminal"), "doctor"], capture_output=True, text=True,
                              preexec_fn=lambda: processes.write_text(str(os.getpid()))).stdout
    threads = re.search(r"(\d+) usable", said)
    share = statistics.median(inside / one for one, inside in rounds)
    one = statistics.median(one for one, _ in rounds)
    threads = threads.group(1) if threads else "an unknown number of"
    return (f"{threads} thread; {share:.2f} of the {one:.0f} tokens/s that one thread makes without a quota",
            threads == "1" and share >= LEAST_UNDER_QUOTA)


def patterns_in_company(context):
    """The seven patterns on all threads, idle and in company, and on one thread there."""
    program = context.program("apps/cli/luminal")

    def means(threads, folder):
        result = context.run([program, "bench", "patterns", "--quick", "--dtype", "f32", "--threads", threads, "--out",
                              folder])
        if result.returncode != 0:
            raise Short(last_line(result))
        metrics = json.loads((pathlib.Path(folder) / "pattern_metrics.json").read_text())
        # Means: time that another program took is in few samples, but there it is long.
        return {(case["op"], case["size"]): statistics.fmean(case["seconds"]) for case in metrics["cases"]}

    with tempfile.TemporaryDirectory() as folder:
        idle = means(2, folder)
        with company(2):
            both, one = means(2, folder), means(1, folder)
    names = sorted(set(idle) & set(both) & set(one))
    worst = max(names, key=lambda name: both[name] / idle[name])
    named = " ".join(worst)
    slower = statistics.median(both[name] / idle[name] for name in names)
    than_one = statistics.median(both[name] / one[name] for name in names)
    return (f"{len(names)} cases: {slower:.2f} times the idle time (median; worst {both[worst] / idle[worst]:.2f}, {named}), "
            f"{than_one:.2f} times one thread's there",
            slower <= MOST_SLOWER and than_one <= MOST_SLOWER_THAN_ONE)


MOST_INDEX_COST = 1.01
MOST_INDEX_NS = 10  # of a launch that takes less than a microsecond


def index_cost(context):
    """Kernels that look at their indices beside the same ones that don't; see stray_rows_bench.cpp."""
    with contestant(context, "tests/backends/stray_rows_bench") as bench:
        found = [bench.run(case) for case in bench.cases]

    def holds(case):
        low, nanoseconds = case["of_blind"]["low"], 1e9 * case["shortest"]
        return (low - 1) * nanoseconds <= MOST_INDEX_NS if nanoseconds < 1000 else low <= MOST_INDEX_COST
    said = ", ".join(f"{case['case']} {shown(case['of_blind'], 3)}" +
                     (f" of {1e9 * case['shortest']:.0f} ns" if case["shortest"] < 1e-6 else "") for case in found)
    return said, all(holds(case) for case in found)


def released(context):
    folder = context.root / "build/release-files"
    made = context.run(["tools/make-release.sh", "--output", folder])
    if made.returncode != 0:
        raise Short(last_line(made))
    return folder


def release(context):
    return in_clean_trees(context, "release_test.py", released(context), context.root.parent / "shared/models")


def readme(context):
    return in_clean_trees(context, "readme_test.py", released(context))


CLAIMS = [
    Claim(name="company", target=f"beside stress-ng --cpu 2 decoding takes at most {MOST_SLOWER} times the idle time and "
          f"{MOST_SLOWER_THAN_ONE} times that of one thread", minutes=7, measure=decode_in_company),
    Claim(name="pool", target="on an idle machine a launch is no slower than libgomp's: for shares of every length the interval of "
          "the ratio includes 1 or lies below", minutes=0.7, measure=pool_beside_openmp),
    Claim(name="patterns-in-company", target=f"beside stress-ng --cpu 2 the patterns take at most {MOST_SLOWER} times the "
          f"idle time and {MOST_SLOWER_THAN_ONE} times that of one thread", minutes=4, measure=patterns_in_company),
    Claim(name="eight-processes", target=f"eight processes at once make at least {LEAST_OF_EIGHT} of one's tokens a second",
          minutes=1, measure=eight_processes),
    Claim(name="quota", target=f"with a quota of one CPU by a control group: one thread, and at least {LEAST_UNDER_QUOTA} of one "
          "thread's tokens a second", minutes=0.5, measure=quota),
    Claim(name="right", target="an index outside of its dim is an error on every backend; threads below 0 are an error; models "
          "sample as their makers suggest, with a random seed that --stats prints; what can't work is said first",
          minutes=0.5, measure=ctest("-R", "^(stray_rows|model_sampling|user_errors|model|cli)_test$"), quick=True),
    Claim(name="release", target="the tarball and the Debian package run, install and serve an outside project on clean Debian 12 "
          "and 13; at most 60 MB unpacked, no path of the build inside, nothing needed but glibc and libstdc++", minutes=12,
          measure=release),
    Claim(name="readme", target="every command and program of README.md and docs/start.md runs as written on a clean Debian 12",
          minutes=25, measure=readme),
    Claim(name="dependencies", target="on a clean Debian 12 tools/install-deps.sh downloads at most 600 MB, and what it "
          "installs configures the build", minutes=5, measure=lambda context: in_clean_trees(context, "dependencies_test.py")),
    Claim(name="api", target="the fourteen programs of tests/consumer/first_programs compile with the obvious spelling, in the "
          "tree and as an outside project; sixty mistakes have golden messages; methods are the functions", minutes=2,
          measure=ctest("-R", "^(first_program\\..*|consumer\\.(install|first_programs)|user_errors_test|"
                        "executable_test|tensor_methods_(test|complete))$"), quick=True),
    Claim(name="chat", target="at a terminal: lines typed, edited, recalled and pasted, an answer stopped and the conversation "
          "gone on with; help, completion and man pages are what the program says of itself", minutes=1,
          measure=ctest("-R", "^(chat_terminal|chat_parts|help)_test$")),
    Claim(name="index-cost", target=f"looking at indices takes at most {MOST_INDEX_COST} times the time of not looking, or "
          f"{MOST_INDEX_NS} ns of a launch below 1 µs, in gathers of elements and rows and in scatters", minutes=0.5,
          measure=index_cost),
]
