"""What a call with PyTorch's tensors costs: claims of the group `python`."""
import json

from claims import Short
from claims_support import last_line, venv_python

MOST_OVER_US = {0: 30, 300: 60}  # by number of parameters


def measured(context, *arguments):
    result = context.run([venv_python(context), context.root / "apps/bench/pytorch/calls.py", context.build_dir / "python",
                          *map(str, arguments)])
    if result.returncode != 0:
        raise Short(last_line(result))
    return json.loads(result.stdout.splitlines()[-1])


def over_dynamo(context):
    over = {count: measured(context, count) for count in MOST_OVER_US}
    shown = "; ".join(f"{count} parameters: {each['over_us']:.0f} µs ({each['direct_us']:.0f} without AOTAutograd) over Dynamo's own "
                      f"{each['dynamo_us']:.0f}" for count, each in over.items())
    return shown, all(over[count]["over_us"] <= most for count, most in MOST_OVER_US.items())
