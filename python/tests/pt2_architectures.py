"""`.pt2` files of 37 architectures of transformers against torch, at three sizes, as exported and decomposed.

    pt2_architectures.py PACKAGE [--only NAME …] [--forms raw decomposed] [--dtypes f32 bf16] [--json FILE] [--keep FOLDER]

PACKAGE is the folder that has the package `luminal`. Each architecture has a process of its own. A row of the table is an
architecture, a form and a dtype with what came of it: ok, with the largest error; the operators that are missing; or what
went wrong. In f32 the error is that against torch, over the largest magnitude of its result; in bf16 errors against f64 are
compared with torch's own.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import sys
import tempfile
import time
import traceback
import warnings

import torch
from torch.export import Dim, export, save

import architectures
from apart import rows_apart

MOST_ERROR = 1e-4  # of f32, over the largest magnitude
MOST_TIMES = 2.0  # torch's error in bf16
SECONDS = 240  # an architecture may take
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


@contextlib.contextmanager
def quiet():
    """Without what torch logs."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        yield


def exported(name, model, dtype):
    architecture = architectures.ARCHITECTURES[name]
    example = architectures.inputs(name, *architecture.sizes[0], dtype)
    shapes = tuple({axis: Dim.AUTO for axis in architecture.dynamic.get(each, {})} for each in model.names)
    with quiet():
        return export(model, example, dynamic_shapes=(shapes,), strict=False)


def error_of(ours, theirs):
    """The largest difference, over the largest magnitude; infinite where one isn't finite and the other is."""
    ours, theirs = ours.double(), theirs.double()
    if ours.shape != theirs.shape or not torch.equal(ours.isfinite(), theirs.isfinite()):
        return float("inf")
    finite = theirs.isfinite()
    if not finite.any():
        return 0.0
    return float((ours - theirs)[finite].abs().max() / theirs[finite].abs().max().clamp_min(1e-30))


def errors_of_halves(ours, theirs, exact):
    """Ours and torch's against f64, where both of those are finite: masks of whole rows overflow in some dtypes only."""
    ours, theirs, exact = (each.double() for each in (ours, theirs, exact))
    if ours.shape != exact.shape:
        return float("inf"), 0.0
    known = theirs.isfinite() & exact.isfinite()
    if not known.any():
        return float("inf"), 0.0  # nothing is compared
    return error_of(ours[known], exact[known]), error_of(theirs[known], exact[known])


def compared(lm, name, model, imported, dtype):
    """The largest error over the sizes, and how much is allowed."""
    architecture = architectures.ARCHITECTURES[name]
    run = lm.compile(imported.graph)
    worst, its_most, most = 0.0, MOST_ERROR, MOST_ERROR
    wide = architectures.widened(model) if dtype != torch.float32 else None
    for batch, length in architecture.sizes:
        arguments = architectures.inputs(name, batch, length, dtype)
        with torch.no_grad():
            theirs = model(*arguments)
            ours = torch.from_dlpack(run(*arguments))
            if ours.dtype != theirs.dtype:
                raise AssertionError(f"the result is {ours.dtype}, not {theirs.dtype}")
            if wide is None:
                error = error_of(ours, theirs)
            else:
                exact = wide(*(each.double() if each.is_floating_point() else each for each in arguments))
                error, its = errors_of_halves(ours, theirs, exact)
                most = MOST_TIMES * max(its, 1e-3)
        if error > most:
            return error, most, f"at batch {batch}, length {length}"
        if error / most >= worst / its_most:
            worst, its_most = error, most
    return worst, its_most, ""


def missing_operators(message):
    """The operators that an error of the importer lists."""
    if "supported yet" not in message:
        return []
    return re.findall(r"(?:^  |: )([\w.:]+\.\w+)(?= in | \(|: this|, |$)", message, re.MULTILINE)


def try_one(lm, name, form, dtype, folder):
    row = {"architecture": name, "form": form, "dtype": dtype}
    begin = time.monotonic()
    try:
        model = architectures.made(name).to(DTYPES[dtype])
        program = exported(name, model, DTYPES[dtype])
        if form == "decomposed":
            with quiet():
                program = program.run_decompositions()
        path = folder / f"{name}.{form}.{dtype}.pt2"
        save(program, path)
        row["file"] = str(path)
    except Exception as error:  # noqa: BLE001  (torch's, of any kind)
        return {**row, "outcome": "torch failed", "why": f"{type(error).__name__}: {error}".split("\n")[0]}
    row["export_s"] = round(time.monotonic() - begin, 1)
    begin = time.monotonic()
    try:
        imported = lm.import_pt2(path)
        row["import_s"] = round(time.monotonic() - begin, 3)
        error, most, where = compared(lm, name, model, imported, DTYPES[dtype])
        row |= {"outcome": "wrong" if where else "ok", "error": error, "most": most, "why": where}
    except lm.UserError as error:
        missing = missing_operators(str(error))
        row |= {"outcome": "missing" if missing else "refused", "missing": missing, "why": str(error)}
    except Exception as error:  # noqa: BLE001
        row |= {"outcome": "wrong", "why": f"{type(error).__name__}: {error}".split("\n")[0],
                "trace": traceback.format_exc()}
    row["run_s"] = round(time.monotonic() - begin, 1)
    return row


def work(name, options, pipe):
    warnings.simplefilter("ignore")
    sys.path.insert(0, options.package)
    import luminal as lm  # after the fork: its threads are of this process

    folder = pathlib.Path(options.keep)
    folder.mkdir(parents=True, exist_ok=True)
    for form in options.forms:
        for dtype in options.dtypes:
            pipe.send(try_one(lm, name, form, dtype, folder))
    pipe.close()


def rows_of(name, options):
    """Those of one architecture, from a process that may crash."""
    rows, why = rows_apart(work, (name, options), SECONDS)
    wanted = [(form, dtype) for form in options.forms for dtype in options.dtypes]
    for form, dtype in wanted[len(rows):]:
        rows.append({"architecture": name, "form": form, "dtype": dtype, "outcome": "wrong", "why": why})
    return rows


def show(row):
    text = f"{row['architecture']:14} {row['form']:10} {row['dtype']:4} {row['outcome']:8}"
    if row["outcome"] == "ok":
        return f"{text} error {row['error']:.1e} of {row['most']:.1e}, import {row['import_s']:.3f} s"
    error = f"error {row['error']:.1e} of {row['most']:.1e} " if "error" in row else ""
    return f"{text} {error}{', '.join(row.get('missing', [])) or row['why']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--only", nargs="+", default=list(architectures.ARCHITECTURES))
    parser.add_argument("--forms", nargs="+", default=["raw", "decomposed"], choices=["raw", "decomposed"])
    parser.add_argument("--dtypes", nargs="+", default=["f32"], choices=list(DTYPES))
    parser.add_argument("--json", help="write the rows to a file")
    parser.add_argument("--keep", help="keep the files in a folder")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        options.keep = options.keep or folder
        for name in options.only:
            for row in rows_of(name, options):
                rows.append(row)
                print(show(row), flush=True)
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    made = [row for row in rows if row["outcome"] != "torch failed"]
    good = sum(row["outcome"] == "ok" for row in made)
    missing = sorted({each for row in rows for each in row.get("missing", [])})
    print(f"{good} of {len(made)} files are right, {len(rows) - len(made)} weren't made by torch; "
          f"missing operators: {', '.join(missing) or 'none'}")
    return 0 if good == len(made) else 1


if __name__ == "__main__":
    sys.exit(main())
