"""What a call with PyTorch's tensors costs: claims of the group `python`."""
import json

from claims import Short
from claims_support import last_line, venv_python
from apps.bench.harness.rounds import shown

MOST_OVER_US = {0: 30, 300: 60}  # by number of parameters
LEAST_SHARE = 0.95  # of the speed alone


def measured(context, program, *arguments):
    result = context.run([venv_python(context), context.root / "apps/bench/pytorch" / program, context.build_dir / "python",
                          *map(str, arguments)])
    if result.returncode != 0:
        raise Short(last_line(result))
    return json.loads(result.stdout.splitlines()[-1])


def over_dynamo(context):
    over = {count: measured(context, "calls.py", count) for count in MOST_OVER_US}
    shown = "; ".join(f"{count} parameters: {each['over_us']:.0f} µs ({each['direct_us']:.0f} without AOTAutograd) over Dynamo's own "
                      f"{each['dynamo_us']:.0f}" for count, each in over.items())
    return shown, all(over[count]["over_us"] <= most for count, most in MOST_OVER_US.items())


def turns(context):
    """Calls of PyTorch and ours in turn, in processes that import either first."""
    found = {first: measured(context, "turns.py", first) for first in ("torch", "luminal")}
    listed = "; ".join(f"{first} imported first: " + ", ".join(f"{name} {shown(each['share'])}" for name, each in cases.items())
                       for first, cases in found.items())
    lowest = min(each["share"]["ratio"] for cases in found.values() for each in cases.values())
    return f"lowest {lowest:.2f} of the speed alone; {listed}", lowest >= LEAST_SHARE
