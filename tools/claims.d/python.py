"""Python: the package installs anywhere, shares memory, and costs little to call."""
import json
import pathlib
import re

from claims import Claim, Short
from claims_pytorch import first_call, speed
from claims_support import ctest, in_clean_trees, last_line, venv_python

MOST_CALL_US = 30  # of two inputs
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
    Claim(name="call", target=f"a call with two small arrays takes at most {MOST_CALL_US} µs", minutes=0.2, measure=call),
    Claim(name="wheel", target="the wheel takes at most 25 MB, 60 MB installed, and runs docs/python.md's example, a model and the "
          "program on a clean Debian 12 without compiler, LLVM and NumPy; import in at most 0.3 s", minutes=25, measure=wheel),
    Claim(name="speed", target="torch.compile(backend=\"luminal\") beside eager, inductor and inductor with frozen weights at equal "
          "dtype: six models 1.15 times as fast as the best in the geometric mean, none below 0.95; decode steps 2 times, "
          "element-wise graphs 1.5", minutes=40, measure=speed),
    Claim(name="first-call", target="the whole first call of these models: at most 0.35 of inductor's with empty caches, 0.5 in a "
          "new process with the caches of the last", minutes=20, measure=first_call),
]
