"""Seven networks without rules and search, with them, and in other runtimes: what the claim `tensat` measures."""
import json
import os
import pathlib
import statistics
import tempfile

from claims import Short
from claims_support import last_line, venv_python
from apps.bench.harness.rounds import shown

# The gains over TASO's graphs, in per cent, that Tensat's paper has (Yang et al., MLSys 2021, table 1, on a T4).
PUBLISHED = {"bert-base": 9.2, "resnext-50": 8.8, "nasnet-a": 7.3, "nasrnn": 68.9, "inception-v3": 10.0, "squeezenet": 24.5,
             "vgg-19": 8.9}
LEAST_GAIN = 1.15  # the geometric mean
MOST_SATURATION_MS = 1000
LEAST_AS_FAST = 5  # networks, as the best other runtime


def rows_of(context, arguments):
    """What networks.py measured, with the peaks of this machine measured first."""
    context.program("apps/bench/networks_bench")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        doctor = context.run([context.program("apps/cli/luminal"), "doctor", "--measure", "--json"], env=environment)
        if doctor.returncode != 0:
            raise Short(last_line(doctor))
        out = pathlib.Path(folder) / "rows.json"
        result = context.run([venv_python(context), context.root / "apps/bench/networks/networks.py", context.build_dir,
                              *arguments, "--json", out], env=environment)
        print(result.stdout, end="")
        if result.returncode != 0 or not out.exists():
            raise Short(last_line(result))
        return json.loads(out.read_text())


def described(row):
    saturation = row["sides"]["measured"]["saturation_ms"]
    return (f"{row['network']}: {shown(row['gain'])} times as fast as without rules and search (Tensat +"
            f"{PUBLISHED[row['network']]} %), saturated in {saturation:.0f} ms, {shown(row['of_best'])} of the best runtime")


def is_slower(ratio):
    """Whether the whole interval says so, or with too few rounds the median."""
    return (ratio["ratio"] if ratio["high"] is None else ratio["high"]) < 1


def tensat(*arguments):
    """A claim's measurement, with arguments for networks.py."""
    def measure(context):
        rows = rows_of(context, arguments)
        for row in rows:
            if row["absent"]:
                raise Short("; ".join(f"{side}: {why}" for side, why in row["absent"].items()))
        gain = statistics.geometric_mean(row["gain"]["ratio"] for row in rows)
        slower = [row["network"] for row in rows if is_slower(row["gain"])]
        saturation = max(row["sides"]["measured"]["saturation_ms"] for row in rows)
        as_fast = sum(row["of_best"]["ratio"] >= 1 for row in rows)
        found = (f"geometric mean {gain:.2f}, slower: {', '.join(slower) or 'none'}; as fast as the best runtime on {as_fast} "
                 f"of {len(rows)}; " + "; ".join(map(described, rows)))
        holds = (len(rows) == len(PUBLISHED) and not slower and gain >= LEAST_GAIN and saturation < MOST_SATURATION_MS
                 and as_fast >= LEAST_AS_FAST)
        return found, holds
    return measure
