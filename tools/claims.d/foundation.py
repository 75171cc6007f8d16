"""The foundation: build, layers, shapes, graph, interpreter, files."""
import re
import tempfile

from claims import Claim, Short
from claims_support import conformance, ctest, last_line, number

FUZZ_SECONDS = 600


def layers(context):
    result = context.run(["python3", context.root / "tools/check-layers.py"])
    lines = result.stdout.strip().splitlines()
    measured = lines[-1] if lines else result.stderr.strip()
    if result.returncode != 0 and len(lines) > 1:
        measured += f", first: {lines[0]}"
    return measured, result.returncode == 0


def matrix(context):
    passed, failed, text = conformance(context, "interp")
    return text, passed >= 4000 and failed == 0


def llama_build(context):
    program = context.program("tests/graph/large_graph_test")
    result = context.run([program, "--gtest_filter=*Llama8B"])
    best = number(r"llama_8b_build_ms ([\d.]+)", result)
    nodes = number(r"nodes (\d+)", result)
    return f"{best:.1f} ms, {nodes:.0f} nodes", best < 50


def large_graph(context):
    program = context.program("tests/graph/large_graph_test")
    result = context.run([program, "--gtest_filter=*HundredThousand*"])
    total = number(r"large_graph_ms ([\d.]+)", result)
    nodes = number(r"large_graph_ms [\d.]+ nodes (\d+)", result)
    return f"{total / 1000:.2f} s, {nodes:.0f} nodes", total < 2000 and nodes >= 100000


def minilm(context):
    program = context.program("tests/llm/minilm_test")
    result = context.run([program, "--gtest_filter=*Every*-*Bf16"])
    if "SKIPPED" in result.stdout:
        raise Short("the model is not there: set LUMINAL_TEST_MODELS")
    found = [float(worst) for worst in re.findall(r"largest difference: ([\d.e+-]+)", result.stdout)]
    return (f"largest difference {max(found)}" if found else last_line(result),
            result.returncode == 0 and len(found) == 2)


def examples(context):
    too_long = [path.name for path in sorted((context.root / "examples").glob("*.cpp"))
                if len(path.read_text().splitlines()) >= 60]
    if too_long:
        return f"60 lines or more: {', '.join(too_long)}", False
    return ctest("-R", "^example\\.|readme")(context)


def user_errors(context):
    golden = (context.root / "tests/golden/user_errors.txt").read_text()
    count = len(re.findall(r"^# ", golden, flags=re.MULTILINE))
    result = context.run([context.program("tests/driver/user_errors_test")])
    return f"{count} messages, {last_line(result)}", result.returncode == 0 and count >= 30


def fuzz(context):
    fuzzer = context.root / "build/asan/tests/fuzz/fuzz_safetensors"
    if not fuzzer.exists():
        raise Short("build the preset 'asan' first")
    corpus = context.root / "tests/fuzz/corpus/safetensors"
    with tempfile.TemporaryDirectory() as found:
        result = context.run([fuzzer, f"-max_total_time={FUZZ_SECONDS}", "-rss_limit_mb=1024",
                              "-max_len=8192", "-print_final_stats=1", f"-artifact_prefix={found}/",
                              f"-dict={context.root / 'tests/fuzz/safetensors.dict'}", found, corpus])
    runs = re.search(r"number_of_executed_units: (\d+)", result.stderr)
    executed = f"{int(runs.group(1)):,} inputs in {FUZZ_SECONDS // 60} min" if runs else last_line(result)
    return executed + (", no finding" if result.returncode == 0 else ", a finding"), result.returncode == 0


def asan(context):
    build = context.root / "build/asan"
    if not (build / "CTestTestfile.cmake").exists():
        raise Short("build the preset 'asan' first")
    result = context.run(["ctest", "--test-dir", build, "-LE", "slow|fuzz", "-j2", "--no-tests=error"])
    match = re.search(r"\d+% tests passed, .*", result.stdout)
    return match.group(0) if match else last_line(result), result.returncode == 0


CLAIMS = [
    Claim(name="layers", target="0 includes against luminal/LAYERS", minutes=0.1, measure=layers, quick=True),
    Claim(name="matrix", target="at least 4,000 cases of op x dtype x rank x layout agree with PyTorch",
          minutes=2, measure=matrix, quick=True),
    Claim(name="mistakes", target="30 planted mistakes are each caught by the matrix", minutes=2,
          measure=ctest("-R", "conformance_(generate|mistakes)"), quick=True),
    Claim(name="op-table", target="no empty cell in docs/ops.md without a reason", minutes=0.1,
          measure=ctest("-R", "conformance_table"), quick=True),
    Claim(name="expressions", target="100,000 random expressions keep their value", minutes=0.2,
          measure=ctest("-R", "^expr_random_test"), quick=True),
    Claim(name="view-chains", target="2,000 chains of views agree with NumPy element by element",
          minutes=0.2, measure=ctest("-R", "^view_chains"), quick=True),
    Claim(name="llama-build", target="a 32-layer Llama-8B graph builds in under 50 ms", minutes=0.1,
          measure=llama_build),
    Claim(name="large-graph", target="100,000 nodes build, verify and print in under 2 s", minutes=0.1,
          measure=large_graph),
    Claim(name="minilm", target="minilm-l6-v2's golden embeddings within 1e-3", minutes=2, measure=minilm),
    Claim(name="consumers", target="find_package and add_subdirectory build and run", minutes=5,
          measure=ctest("-L", "consumer")),
    Claim(name="examples", target="examples and the README's first program run, each under 60 lines",
          minutes=0.1, measure=examples, quick=True),
    Claim(name="user-errors", target="30 user errors name the way out, as in the golden file", minutes=0.1,
          measure=user_errors, quick=True),
    Claim(name="fast-tests", target="the fast tests pass, in about a minute", minutes=2,
          measure=ctest("-LE", "slow", "-j2")),
    Claim(name="asan", target="the fast tests pass under ASan and UBSan", minutes=6, measure=asan),
    Claim(name="fuzz", target="10 minutes of libFuzzer on the safetensors reader without a finding",
          minutes=10, measure=fuzz),
]
