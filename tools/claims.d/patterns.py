"""Patterns: terms, cuts and generated kernels, end to end."""
import re

from claims import Claim, Short
from claims_support import ctest, kernel_ratios, last_line


def patterns(context):
    result = context.run([context.program("tests/backends/patterns_test")])
    return last_line(result), result.returncode == 0


SEVEN = ("softmax", "layer_norm", "rms_norm", "gelu", "swiglu", "rotary", "add_rms_norm")


def speed(context):
    found = kernel_ratios(context, "--cases", ",".join(SEVEN), "--rounds", 15)
    return f"{found['mean']:.2f}x, lowest {found['lowest']:.2f}x", found["mean"] >= 1.3


def growth(context):
    program = context.program("tests/search/find_plan_test")
    result = context.run([program, "--gtest_filter=Saturation.*"])
    rows = re.findall(r"llama_blocks (\d+) nodes (\d+) classes (\d+) saturate_ms ([\d.]+) prepare_ms ([\d.]+)",
                      result.stdout)
    if len(rows) != 5:
        raise Short(last_line(result))
    nodes = {int(row[0]): int(row[1]) for row in rows}
    classes = {int(row[0]): int(row[2]) for row in rows}
    per_block = nodes[2] - nodes[1]
    linear = all(nodes[n] == nodes[1] + (n - 1) * per_block for n in nodes)
    milliseconds = float(rows[-1][3])
    measured = (f"nodes {' '.join(f'{n}:{nodes[n]}' for n in nodes)}, "
                f"classes {' '.join(f'{n}:{classes[n]}' for n in classes)}, "
                f"{per_block} nodes a block, 12 blocks in {milliseconds:.1f} ms")
    return measured, linear and milliseconds < 1000 and result.returncode == 0


def optimum(context):
    program = context.program("tests/search/find_plan_test")
    result = context.run([program, "--gtest_filter=FindPlan.*"])
    cases = len(re.findall(r"^\S.* bits, \d+ kernels", result.stdout, flags=re.MULTILINE))
    return f"{cases} graphs, {last_line(result)}", result.returncode == 0 and cases >= 4


CLAIMS = [
    Claim(name="patterns", target="seven patterns are one kernel each and right in f32 and bf16", minutes=0.2,
          measure=patterns, quick=True),
    Claim(name="matrix", target="all f32 and bf16 cases of the matrix pass on cpu", minutes=1,
          measure=ctest("-R", "^conformance_(generate|cpu)$"), quick=True),
    Claim(name="growth", target="the e-graph grows linearly, 12 Llama blocks saturate in under 1 s",
          minutes=0.1, measure=growth, quick=True),
    Claim(name="optimum", target="the plan search finds the optimum of its model", minutes=0.1,
          measure=optimum, quick=True),
    Claim(name="speed", target="1.3x the better of PyTorch eager and torch.compile, geometric mean",
          minutes=5, measure=speed),
]
