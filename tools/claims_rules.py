"""What rules do to the e-graph: the claim `growth` of a group measures it."""
import re

from claims import Short
from claims_support import last_line

MOST_MILLISECONDS = 100  # of a saturation of 32 layers


def growth(context):
    """The rows of Llama blocks, and the best of several saturations of 32 layers, by all rules."""
    result = context.run([context.program("tests/rules/saturation_growth_test")])
    rows = re.findall(r"^llama_rows (\d+) (\d+)$", result.stdout, re.MULTILINE)
    times = re.findall(r"^saturation_ms (\S+) (\S+) ([\d.]+) rows (\d+)$", result.stdout, re.MULTILINE)
    if not rows or not times:
        raise Short(last_line(result))
    (few, rows_of_few), (many, rows_of_many) = rows[1], rows[-1]
    listed = ", ".join(f"{model} {how} {float(ms):.1f} ms" for model, how, ms, _ in times)
    holds = result.returncode == 0 and len(times) == 4 and all(float(ms) <= MOST_MILLISECONDS for _, _, ms, _ in times)
    return f"{rows_of_few} rows of {few} Llama blocks, {rows_of_many} of {many}; 32 layers: {listed}", holds

