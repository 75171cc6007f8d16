"""GEMM and attention: this compiler, PyTorch and plain oneDNN, interleaved, two threads each.

  .venv/bin/python apps/bench/kernels/contractions.py BUILD_DIR [--set NAME] [--rounds N] [--dtypes f32,bf16] [--shapes MxNxK,…]
                                              [--library measured|never] [--json FILE]

Sets, each a list of kinds over shapes M × N × K, x [M, K] by weights [N, K]:
  large      x · wᵀ of 128 and 512 rows and 2048³, against F.linear and oneDNN with prepacked weights
  fused      the same with bias and GeLU, and as SwiGLU of two products, against eager and torch.compile
  stream     GEMV: 1 and 8 rows, against eager and torch.compile; each run uses another weight, over 1 GiB of them, so
             that no cache serves them; and against the memory bandwidth measured in the same run of the bench
  quantised  1 row by weights of 8 and 4 bits with scales per 32 along k, against that bandwidth
  attention  causal, 8 heads of 64, 512 and 4096 tokens, against F.scaled_dot_product_attention

harness/rounds.py defines a round. The ratio to a side is the median over rounds of (its time / ours), where PyTorch is the
better of its sides, with a 95 % interval; the fraction of the bandwidth likewise. Our results are compared with
PyTorch's in f64 before anything is timed.
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[3])
from apps.bench.harness import rounds  # noqa: E402
from apps.bench.harness.contestant import Contestant  # noqa: E402
from apps.bench.harness.difference import difference  # noqa: E402
from apps.bench.harness.protocol import Refusal  # noqa: E402
from apps.bench.harness.torch_process import process_of  # noqa: E402

THREADS = 2
ROTATING_BYTES = 1 << 30
LARGE = [(128, 4096, 4096), (512, 4096, 4096), (2048, 2048, 2048)]
ROWS = [(1, 4096, 4096), (8, 4096, 4096)]
# Kinds, shapes, and the other sides; M × N × K of attention is tokens × heads × head size.
SETS = {
    "large": (["linear"], LARGE, ["eager", "library"]),
    "fused": (["gelu", "swiglu"], LARGE, ["eager", "compiled"]),
    "stream": (["linear"], ROWS, ["eager", "compiled", "rate"]),
    "quantised": (["q8", "q4"], ROWS[:1], ["rate"]),
    "attention": (["attention"], [(512, 8, 64), (4096, 8, 64)], ["eager"]),
}


class Measurement:
    """One kind, shape and dtype: what each side is asked to run, and its times."""

    def __init__(self, contestants, kind, shape, dtype, beside, library):
        self.contestants, self.kind, self.beside, self.dtype = contestants, kind, beside, dtype
        self.common = {"shape": list(shape), "dtype": dtype, "threads": THREADS}
        self.rotating = ROTATING_BYTES if "rate" in beside else 0
        self.policy = library

    def compare(self):
        """Facts about our side; the distance of its results from PyTorch's in f64. Inputs are PyTorch's."""
        with tempfile.TemporaryDirectory() as folder:
            got, want = pathlib.Path(folder) / "result", pathlib.Path(folder) / "wanted"
            self.ours = {**self.common, "inputs": folder, "rotate": self.rotating, "library": self.policy}
            self.contestants["eager"].run(self.kind, times=0, settings={**self.common, "inputs": folder}, write=want)
            facts = self.contestants["ours"].run(self.kind, times=0, settings=self.ours, write=got)
            return {key: value for key, value in facts.items() if key not in ("case", "seconds")}, \
                difference(got, self.dtype, want)

    def sides(self, facts, per_round):
        """{side: a function of one turn}"""
        def best(name, settings, case=self.kind):
            run = self.contestants[name].run
            return lambda: min(run(case, times=per_round + 1, settings=settings)["seconds"][1:])  # the first is a warm-up

        def rate():
            """As the time of reading the weights once."""
            read = self.contestants["rate"].run("read-rate", settings={"threads": THREADS})
            return facts["weights"] * read["seconds"][0] / read["bytes"]

        found = {"ours": best("ours", self.ours)}
        for mode in ("eager", "compiled"):
            if mode in self.beside:
                found[mode] = best(mode, {**self.common, "mode": mode, "copies": facts["copies"]})
        if "library" in self.beside:
            found["library"] = best("library", {**self.common, "rotate": self.rotating})
        if "rate" in self.beside:
            found["rate"] = rate
        return found

    def row(self, n_rounds, per_round):
        facts, distance = self.compare()
        times = rounds.interleaved(self.sides(facts, per_round), n_rounds)
        row = {"kind": self.kind, "shape": self.common["shape"], "dtype": self.dtype, "difference_in_eps": distance, **facts,
               **{f"{side}_ms": statistics.median(taken) * 1e3 for side, taken in times.items()}}
        pytorch = [times[side] for side in ("eager", "compiled") if side in times]
        if pytorch:
            row["pytorch"] = rounds.ratio(rounds.best(*pytorch), times["ours"])
        if "library" in times:
            row["library"] = rounds.ratio(times["library"], times["ours"])
        if "rate" in times:
            row["read_rate"] = rounds.ratio(times["rate"], times["ours"])
            row["gb_per_s"] = facts["weights"] / row["ours_ms"] / 1e6
        return row


def line(row):
    text = f"{row['kind']:9} {'x'.join(map(str, row['shape'])):14} {row['dtype']:4} kernels {row['kernels']}"
    text += f", {row['by_library']} by oneDNN" if row["by_library"] else ""
    text += "".join(f"  {side} {row[side + '_ms']:.3f} ms" for side in ("ours", "eager", "compiled", "library")
                    if side + "_ms" in row)
    for side in ("pytorch", "library", "read_rate"):
        if side in row:
            text += f"  {side} {rounds.shown(row[side])}"
    if "gb_per_s" in row:
        text += f"  {row['gb_per_s']:.1f} GB/s"
    return text + f"  differs by {row['difference_in_eps']:.1f} eps"


def has_library(contestant):
    try:
        contestant.run("linear", times=0)
        return True
    except Refusal as refusal:
        if refusal.status != "absent":
            raise
        print(f"nothing is compared with oneDNN: {refusal}", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--set", choices=SETS, default="large")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--per-round", type=int, default=4)
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--shapes", help="only these shapes, such as 128x4096x4096")
    parser.add_argument("--library", choices=["measured", "never"], default="measured",
                        help="use oneDNN for our products where it is faster (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    given = parser.parse_args()
    kinds, shapes, beside = SETS[given.set]
    if given.shapes:
        shapes = [tuple(map(int, shape.split("x"))) for shape in given.shapes.split(",")]
    ours = [given.build_dir / "apps/bench/contractions_bench"]
    pytorch, options = process_of("apps.bench.kernels.torch_contractions", THREADS)
    commands = {"ours": (ours, {}), "eager": (pytorch, options), "compiled": (pytorch, options),
                "library": ([given.build_dir / "apps/bench/library_bench"], {}), "rate": (ours, {})}
    rows = []
    with contextlib.ExitStack() as stack:
        # PyTorch makes the inputs and the wanted results, also where it isn't timed.
        contestants = {name: stack.enter_context(Contestant(commands[name][0], **commands[name][1]))
                       for name in dict.fromkeys(["ours", "eager", *beside])}
        if "library" in beside and not has_library(contestants["library"]):
            beside = [side for side in beside if side != "library"]
        for kind in kinds:
            for shape in shapes:
                for dtype in given.dtypes.split(","):
                    of = Measurement(contestants, kind, shape, dtype, beside, given.library)
                    rows.append(of.row(given.rounds, given.per_round))
                    print(line(rows[-1]), flush=True)
    if given.json:
        given.json.write_text(json.dumps({"set": given.set, "rows": rows}, indent=1))


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"contractions.py: {refusal.text()}")
