"""The command line."""
import argparse
import os
import pathlib

from . import machine
from .jobs import MODES
from .paths import PATHS
from .settings import DTYPES

EPILOG = """modes:
""" + "\n".join(f"  {name:13}{text}" for name, text in MODES.items()) + """

examples:
  bench.py single --config smollm2-135m               one model on every path that is installed
  bench.py full-fast --config smollm2-135m,llama-1b   all configurations of two models: bf16, Q8_0, Q4_0, a long prompt
  bench.py search-sweep --config smollm2-135m         what searches of 10, 100 and 500 candidates find
  bench.py full --skip openvino,onnxruntime --skip-configs llama-8b
  bench.py --render-only                              render the page again from all runs in the database
  bench.py --render-only --run 1763280000000000       with that run's report in front
"""


def names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def not_negative(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(base) if base else pathlib.Path.home() / ".cache") / "luminal/bench"


def parser():
    known = ", ".join(path.name for path in PATHS)
    result = argparse.ArgumentParser(
        prog="bench.py", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Compare language models × runtimes: time to compile or search, to the first token (TTFT) and per "
        "token after it (TPOT).")
    result.add_argument("mode", nargs="?", choices=MODES, default="single", help="what to measure (default: single)")
    what = result.add_argument_group("what is measured")
    what.add_argument("--config", type=names, default=[], metavar="NAMES",
                      help="only these configurations, or all of a model by its name")
    what.add_argument("--skip", type=names, default=[], metavar="PATHS", help=f"skip these paths: {known}")
    what.add_argument("--skip-configs", type=names, default=[], metavar="NAMES", help="skip these configurations")
    what.add_argument("--no-sweep", action="store_true", help="skip the search sweep")
    what.add_argument("--prompt", type=positive, metavar="N", help="prompt length in tokens (default: the configuration's)")
    what.add_argument("--dtype", choices=DTYPES, help="data type of the weights (default: the configuration's)")
    what.add_argument("--iters", type=positive, metavar="N", help="timed prefills (default: the configuration's)")
    what.add_argument("--warmups", type=not_negative, metavar="N", help="warm-up runs (default: the configuration's)")
    what.add_argument("--decode-tokens", type=positive, metavar="N", help="timed new tokens (default: the configuration's)")
    what.add_argument("--max-cache-len", type=positive, metavar="N",
                      help="capacity of the KV cache in tokens (default: the prompt and the new ones)")
    what.add_argument("--benchmarks", type=pathlib.Path, metavar="FILE", help="use another benchmarks.toml")
    what.add_argument("--list", action="store_true", help="list the measurements without measuring")
    how = result.add_argument_group("how")
    how.add_argument("-t", "--threads", type=positive, default=machine.all_threads(), metavar="N",
                     help="threads of every path (default: all that this process may use)")
    how.add_argument("--build-dir", type=pathlib.Path, metavar="DIR",
                     help="build folder with luminal's programs (default: build/ci or build/dev)")
    how.add_argument("--weights", type=pathlib.Path, default=cache_folder(), metavar="DIR",
                     help="folder for created weights (default: %(default)s)")
    how.add_argument("--models", type=pathlib.Path, default=machine.ROOT / "../shared/models", metavar="DIR",
                     help="folder with real models (default: ../shared/models beside the project)")
    how.add_argument("--time-out", type=float, default=1800, metavar="SECONDS", help="time limit of one measurement (default: %(default)s)")
    how.add_argument("--cool-down", type=float, default=2, metavar="SECONDS", help="pause between measurements (default: %(default)s)")
    out = result.add_argument_group("results")
    out.add_argument("--db", type=pathlib.Path, metavar="FILE", help="database (default: bench.db in --out)")
    out.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("bench-llm"), metavar="DIR",
                     help="folder for the page, the summary and the database (default: %(default)s)")
    out.add_argument("--render-only", action="store_true", help="render the page from existing results without measuring")
    out.add_argument("--picture", type=pathlib.Path, metavar="FILE",
                     help="write an SVG of that run's tokens per second, for a page of text")
    out.add_argument("--run", type=int, metavar="ID", help="run at the top of the page's report (default: the last)")
    return result


def read(arguments=None):
    options = parser().parse_args(arguments)
    if options.db is None:
        options.db = options.out / "bench.db"
    known = [path.name for path in PATHS]
    for name in options.skip:
        if name not in known:
            parser().error(f"--skip: there is no path '{name}'; there are {', '.join(known)}")
    return options
