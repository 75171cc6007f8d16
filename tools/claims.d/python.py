"""Python: the package installs anywhere, shares memory, and costs little to call."""
import json
import pathlib
import re
import sys
import tempfile

from claims import Claim, Short
from claims_calls import over_dynamo, turns
from claims_pytorch import first_call, speed, suite
from claims_support import ctest, in_clean_trees, last_line, venv_python

MOST_CALL_US = 30  # of two inputs
FUZZ_SECONDS = 600
LEAST_PASSING = {"f32": 500, "bf16": 420}  # OpInfo entries, with all their samples
CALL = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import numpy, luminal as lm
graph = lm.Graph()
(graph.input("a", (16,)) + graph.input("b", (16,))).output("y")
add, a, b = lm.compile(graph), numpy.ones(16, numpy.float32), numpy.ones(16, numpy.float32)
def microseconds(function, count=2000):
    begin = time.perf_counter()
    for _ in range(count):
        function()
    return 1e6 * (time.perf_counter() - begin) / count
rounds = [(microseconds(lambda: add(a, b)), microseconds(lambda: a + b)) for _ in range(15)]
print(json.dumps([sorted(column)[len(column) // 2] for column in zip(*rounds)]))
"""


def call(context):
    result = context.run([venv_python(context), "-c", CALL, context.build_dir / "python"])
    if result.returncode != 0:
        raise Short(last_line(result))
    ours, numpys = json.loads(result.stdout)
    return f"{ours:.1f} µs a call with two arrays (NumPy's addition {numpys:.1f})", ours <= MOST_CALL_US


def hostile(context):
    """Bad archives through the program, then ten minutes of libFuzzer with sanitizers."""
    program = context.program("apps/cli/luminal")
    archives = context.run([sys.executable, "-B", context.root / "tests/hostile/pt2/hostile_archives.py", program])
    fuzzer = context.root / "build/asan/tests/fuzz/fuzz_pt2"
    if not fuzzer.exists():
        raise Short(f"{last_line(archives)}; build the preset 'asan' to fuzz")
    with tempfile.TemporaryDirectory() as found:
        fuzzed = context.run([fuzzer, f"-max_total_time={FUZZ_SECONDS}", "-rss_limit_mb=1024", "-timeout=10", "-max_len=8192",
                              "-print_final_stats=1", f"-artifact_prefix={found}/", f"-dict={context.root / 'tests/fuzz/pt2.dict'}",
                              found, context.root / "tests/fuzz/corpus/pt2"])
    runs = re.search(r"number_of_executed_units: (\d+)", fuzzed.stderr)
    executed = f"{int(runs.group(1)):,} inputs fuzzed" if runs else last_line(fuzzed)
    return (f"{last_line(archives)}; {executed}, {'no' if fuzzed.returncode == 0 else 'a'} finding",
            archives.returncode == 0 and fuzzed.returncode == 0)


def large(context):
    """A sparse archive of 1 GB, listed and imported by `luminal inspect`."""
    result = context.run([sys.executable, "-B", context.root / "tests/hostile/pt2/large_archive.py",
                          context.program("apps/cli/luminal")])
    return last_line(result), result.returncode == 0


def architectures(context):
    """Files of transformers' architectures against torch; what isn't right is named."""
    result = context.run([venv_python(context), "-B", context.root / "python/tests/pt2_architectures.py",
                          context.build_dir / "python", "--dtypes", "f32", "bf16"])
    wrong = [" ".join(line.split()[:4]) for line in result.stdout.splitlines()
             if re.match(r"\w+ +(?:raw|decomposed) +\w+ +(?:wrong|missing|refused)", line)]
    return f"{last_line(result)}{'; ' if wrong else ''}{', '.join(wrong)}", result.returncode == 0


def opinfo(context):
    """Every sample of PyTorch's OpInfo entries, and its twin with strides."""
    result = context.run([venv_python(context), "-B", context.root / "python/tests/opinfo.py", "--package",
                          context.build_dir / "python"])
    found = re.findall(r"^(f32|bf16): (\d+) entries: (\d+) pass, \d+ refused, (\d+) wrong", result.stdout, re.MULTILINE)
    if len(found) != 2:
        raise Short(last_line(result))
    passed = {dtype: int(count) for dtype, _, count, _ in found}
    text = "; ".join(f"{dtype}: {count} of {entries} pass, {wrong} wrong" for dtype, entries, count, wrong in found)
    return text, result.returncode == 0 and passed["f32"] >= LEAST_PASSING["f32"] and passed["bf16"] >= LEAST_PASSING["bf16"]


def compiled(context):
    """transformers' architectures through torch.compile with our backend; what isn't right is named."""
    result = context.run([venv_python(context), "-B", context.root / "python/tests/torch_architectures.py",
                          context.build_dir / "python"])
    wrong = [" ".join(line.split()[:4]) for line in result.stdout.splitlines()
             if re.match(r"\w+ +(?:forward|generate|train) +\w+ +(?:wrong|missing|failed|graphs)", line)]
    counts = [line for line in result.stdout.splitlines() if re.match(r"(?:forward|generate|train): ", line)]
    return f"{'; '.join(counts + [last_line(result)])}{'; ' if wrong else ''}{', '.join(wrong)}", result.returncode == 0


def wheel(context):
    folder = context.root / "build/wheels"
    made = context.run([venv_python(context), "-m", "pip", "wheel", context.root, "--no-deps", "--no-build-isolation",
                        "--wheel-dir", folder])
    if made.returncode != 0:
        raise Short(last_line(made))
    found = re.findall(r"Created wheel for luminal: filename=(\S+)", made.stdout) or [
        path.name for path in sorted(pathlib.Path(folder).glob("luminal-*.whl"))]
    return in_clean_trees(context, "wheel_test.py", folder / found[-1], context.root.parent / "shared/models")


CLAIMS = [
    Claim(name="arrays", target="arrays of NumPy and PyTorch are shared in and out for every dtype, streams and threads go on while "
          "a model writes, the documented examples run, and types pass mypy --strict", minutes=0.5,
          measure=ctest("-R", "^python_test$"), quick=True),
    Claim(name="pt2", target="small models that torch exports (a decoder, attention, convolutions, indexing, writes in place, "
          "dtypes) give its results at four sizes, as exported and decomposed, in f32 and bf16; 300 damaged files are errors or "
          "graphs; an operator that isn't known is named with the user's line", minutes=0.5,
          measure=ctest("-R", "^python_test$"), quick=True),
    Claim(name="pt2-models", target="the .pt2 files of 37 architectures of transformers, as exported and decomposed, give torch's "
          "results at three sizes: in f32 to 1e-4 of the largest magnitude, in bf16 with at most twice torch's error against f64",
          minutes=25, measure=architectures),
    Claim(name="opinfo", target="of PyTorch's OpInfo entries at least 500 in f32 and 420 in bf16 pass with all samples, contiguous and "
          "strided; every other is refused by a named reason, none is wrong", minutes=20, measure=opinfo),
    Claim(name="models", target="torch.compile(backend=\"luminal\", fullgraph=True) of 37 architectures of transformers gives eager's "
          "results at four sizes with at most two graphs: in f32 to 1e-4 of the largest magnitude, in bf16 with at most twice eager's "
          "error against f64; nine decoders write eager's 32 tokens with StaticCache (2 graphs, also where a window fills; written where "
          "it is) and DynamicCache (3); the gradients of 13 are eager's", minutes=35, measure=compiled),
    Claim(name="hostile", target="each of 150 bad .pt2 archives and 40 cut ones ends in the error that names its place or in a right "
          "graph, within 5 s and 64 MB plus twice its size; 10 minutes of libFuzzer without a finding", minutes=11, measure=hostile),
    Claim(name="pt2-large", target="a .pt2 archive of 1 GB is opened, imported and listed in at most 1 s, with at most 50 MB resident beside "
          "the program's libraries",
          minutes=0.2, measure=large),
    Claim(name="call", target=f"a call with two small arrays takes at most {MOST_CALL_US} µs", minutes=0.2, measure=call),
    Claim(name="copies", target="a call with PyTorch's tensors reads inputs and weights and updates states where they are, in every "
          "dtype, also with permuted axes; what it copies it names; a weight is folded again exactly when it changed; calls "
          "of several threads take turns, and other threads go on", minutes=0.5, measure=ctest("-R", "^python_test$"), quick=True),
    Claim(name="call-allocations", target="a call that binds inputs, outputs and states allocates nothing, with 300 weights neither",
          minutes=0.2, measure=ctest("-R", "^allocations_test$"), quick=True),
    Claim(name="call-torch", target="a call through torch.compile takes at most 30 µs over Dynamo's own with two inputs, 60 µs with "
          "300 parameters", minutes=0.5, measure=over_dynamo),
    Claim(name="turns", target="calls of PyTorch and ours in turn, on the same tensors, keep 0.95 of their speed alone, whichever "
          "package is imported first", minutes=1.5, measure=turns),
    Claim(name="wheel", target="the wheel takes at most 25 MB, 60 MB installed, and runs docs/python.md's example, also in a "
          "notebook, a model and the program on a clean Debian 12 without compiler, LLVM and NumPy; import in at most 0.3 s", minutes=25, measure=wheel),
    Claim(name="speed", target="torch.compile(backend=\"luminal\") beside eager, inductor and inductor with frozen weights at equal "
          "dtype: six models 1.15 times as fast as the best in the geometric mean, none below 0.95; decode steps 2 times, "
          "element-wise graphs 1.5", minutes=40, measure=speed),
    Claim(name="suite", target="the LLM suite has rows of SmolLM2-135M for transformers through torch.compile(backend=\"luminal\"), in "
          "bf16 and f32, whose time per output token is at most 1.15 of our own model's, interleaved", minutes=8, measure=suite),
    Claim(name="first-call", target="the whole first call of these models: at most 0.35 of inductor's with empty caches, 0.5 in a "
          "new process with the caches of the last; 3 s for a graph that was saved and is loaded there", minutes=22, measure=first_call),
]
