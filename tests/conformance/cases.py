"""The matrix: op x dtype x rank x layout, enumerated. `cases.py --table` prints the op x dtype table.

Every back end must pass every case; generate.py writes the inputs and PyTorch's results. A cell of
the table without a case is explained in gaps.py; `cases.py --check FILE` fails if one is not, or if
FILE (docs/ops.md) is out of date.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import gaps  # noqa: E402
import layouts  # noqa: E402
from model import Op, Variant, tolerance_of  # noqa: E402
from surface import elementwise, indexing, movement, nn, reductions  # noqa: E402
from values import DTYPES  # noqa: E402

OPS = elementwise.OPS + movement.OPS + reductions.OPS + nn.OPS + indexing.OPS


# Each executable runs so often, with other inputs each time, and other sizes where it has a variable.
RUNS = 3


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    op: Op
    dtype: str
    variant: Variant

    def bindings(self):
        """The values of the variables of each run."""
        return [{"s": s} for s in self.variant.sizes] or [{}] * RUNS

    def with_leading_dim(self):
        """The same case with its leading dim as the variable, at its own size and two others; None
        where it has none. Whether the op allows that shows when it is evaluated."""
        sizes = [i.dims[0] for i in self.variant.inputs if i.dims]
        if self.op.name in gaps.WANTS_KNOWN_SIZES:
            return None
        if self.variant.sizes or not sizes or not isinstance(sizes[0], int) or sizes[0] < 2:
            return None
        inputs = tuple(
            dataclasses.replace(i, dims=("s", *i.dims[1:])) if i.dims and i.dims[0] == sizes[0] else i
            for i in self.variant.inputs
        )
        variant = dataclasses.replace(self.variant, inputs=inputs, sizes=(sizes[0], sizes[0] + 2, 1))
        return dataclasses.replace(self, variant=variant)

    def bases(self):
        """(base dims, view steps) of each input."""
        return [layouts.make(i.dims, i.layout) for i in self.variant.inputs]

    def sign_of_zero(self):
        own = self.variant.sign_of_zero
        return self.op.sign_of_zero if own is None else own

    def tolerance(self):
        return tolerance_of(self.op, self.variant)


def all_cases():
    seen = set()
    for op in OPS:
        for dtype in op.dtypes:
            for variant in op.variants(dtype):
                name = f"{op.name}/{dtype}/{variant.tag}"
                while name in seen:
                    name += "+"
                seen.add(name)
                yield Case(name, op, dtype, variant)


def counts():
    """Cases per (op, dtype), and the ops in order with their groups."""
    cells, ops = {}, {}
    for case in all_cases():
        ops.setdefault(case.op.name, case.op.group)
        key = (case.op.name, case.dtype)
        cells[key] = cells.get(key, 0) + 1
    return cells, ops


def declared_functions():
    """The functions of tensors that the composites' headers declare."""
    folder = pathlib.Path(__file__).parents[2] / "luminal/graph/composite"
    pattern = re.compile(r"LUMINAL_API (?:std::vector<)?Tensor>? (\w+)\(|^LUMINAL_BINARY\((\w+)\)", re.M)
    for header in sorted(folder.glob("*.h")):
        for match in pattern.finditer(header.read_text()):
            yield match[1] or match[2], header.name


def problems():
    cells, ops = counts()
    for function, header in declared_functions():
        if function not in ops and function not in gaps.COVERED_BY and not function.startswith("operator"):
            yield f"{header} declares {function}(), which is no op of the matrix"
    for op in ops:
        for dtype in DTYPES:
            explained = gaps.reason(op, dtype)
            if (op, dtype) not in cells and explained is None:
                yield f"{op} x {dtype}: no case and no entry in gaps.py"
            if (op, dtype) in cells and explained is not None:
                yield f"{op} x {dtype}: has cases, yet gaps.py says: {explained}"
    for op in gaps.EXPLAINED_GAPS:
        if op not in ops:
            yield f"gaps.py explains '{op}', which is no op of the matrix"


def table():
    cells, ops = counts()
    notes, lines = [], []
    lines += [
        "# Ops and dtypes",
        "",
        "Made by `tests/conformance/cases.py --table`; a test keeps it up to date. A number counts",
        "the cases (ranks, layouts, parameters, special values) that compare the op with PyTorch",
        f"2.13 on every back end, {sum(cells.values())} in all. A letter says why a cell has none.",
        "",
    ]
    by_group = {}
    for op, group in ops.items():
        by_group.setdefault(group, []).append(op)
    for group, names in by_group.items():
        lines += [f"## {group[0].upper()}{group[1:]}", ""]
        lines += ["| op | " + " | ".join(DTYPES) + " |", "|---|" + "---|" * len(DTYPES)]
        for op in names:
            row = []
            for dtype in DTYPES:
                if (op, dtype) in cells:
                    row.append(str(cells[op, dtype]))
                    continue
                why = gaps.reason(op, dtype) or "UNEXPLAINED"
                if why not in notes:
                    notes.append(why)
                row.append(chr(ord("a") + notes.index(why)))
            lines.append(f"| `{op}` | " + " | ".join(row) + " |")
        lines.append("")
    lines += ["## Why a cell is empty", ""]
    lines += [f"- **{chr(ord('a') + i)}**: {why}" for i, why in enumerate(notes)]
    lines += ["", "## Where we differ from PyTorch", ""]
    lines += [f"- `{op}`: {what}" for op, what in gaps.KNOWN_DIFFERENCES.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--table", action="store_true", help="print the op x dtype table")
    parser.add_argument("--check", metavar="FILE", help="fail on an unexplained gap or an old FILE")
    parser.add_argument("--list", action="store_true", help="print the names of all cases")
    options = parser.parse_args()
    if options.table:
        sys.stdout.write(table())
    if options.list:
        for case in all_cases():
            print(case.name)
    if options.check:
        found = list(problems())
        if pathlib.Path(options.check).read_text() != table():
            found.append(f"{options.check} is out of date: cases.py --table > {options.check}")
        for problem in found:
            print(problem, file=sys.stderr)
        total = sum(1 for _ in all_cases())
        print(f"{total} cases, {len(found)} problems")
        sys.exit(1 if found or total < 4000 else 0)


if __name__ == "__main__":
    main()
