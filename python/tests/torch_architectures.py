"""torch.compile with the backend against eager, for 37 architectures of transformers.

    torch_architectures.py PACKAGE [--only NAME …] [--parts forward generate train] [--dtypes f32 bf16] [--json FILE]

PACKAGE is the folder that has the package `luminal`. Each architecture has a process of its own, and a row says what came
of one part:

forward   results at four sizes, and again at the first, with at most two graphs (mamba2 with dynamic=True: it has a graph for lengths
          of whole chunks and one for others); in f32 the error against eager, in bf16 errors against f64 compared with eager's own
generate  32 tokens of nine decoders with StaticCache and DynamicCache, which must be those of eager; a StaticCache has to be
          written where it is: its tensors keep their memory, and no call copies one
train     gradients of 13 architectures, compared with eager's
"""
import argparse
import copy
import functools
import json
import pathlib
import re
import sys
import time
import traceback
import warnings

import torch

import architectures
from apart import rows_apart
from pt2_architectures import DTYPES, MOST_ERROR, MOST_TIMES, error_of, errors_of_halves

SECONDS = 300  # an architecture may take
MOST_GRAPHS = {"forward": 2, "static": 2, "filled": 2, "dynamic": 3}
DECODERS = ["llama", "qwen2", "qwen3", "gemma2", "gemma3", "gpt2", "phi3", "mistral", "olmo2"]
TRAINED = ["llama", "qwen2", "qwen3", "gemma2", "gpt2", "bert", "roberta", "distilbert", "t5", "whisper", "vit", "convnext", "resnet"]
WINDOWED = ["gemma2", "gemma3", "mistral"]  # attend to the last 8 tokens
FOURTH = (6, 10)  # batch and length
TOKENS = 32


def forward(lm, name, dtype):
    model = architectures.made(name).to(DTYPES[dtype])
    sizes = architectures.ARCHITECTURES[name].sizes
    wide = architectures.widened(model) if dtype != "f32" else None
    worst, its_most, most = 0.0, MOST_ERROR, MOST_ERROR
    with torch.no_grad():
        model(*architectures.inputs(name, *sizes[0], DTYPES[dtype]))  # transformers installs hooks in the first call
        fast = torch.compile(copy.deepcopy(model), backend=lm.torch.backend, fullgraph=True,
                             dynamic=True if architectures.ARCHITECTURES[name].is_marked else None)
        for batch, length in (*sizes, FOURTH, sizes[0]):
            arguments = architectures.inputs(name, batch, length, DTYPES[dtype])
            theirs, ours = model(*arguments), fast(*arguments)
            if wide is None:
                error = error_of(ours, theirs)
            else:
                exact = wide(*(each.double() if each.is_floating_point() else each for each in arguments))
                error, its = errors_of_halves(ours, theirs, exact)
                most = MOST_TIMES * max(its, 1e-3)
            if error > most or ours.dtype != theirs.dtype:
                return {"outcome": "wrong", "error": error, "most": most, "why": f"at batch {batch}, length {length}"}
            if error / most >= worst / its_most:
                worst, its_most = error, most
    graphs = len(lm.report().graphs)
    few = graphs <= MOST_GRAPHS["forward"]
    return {"outcome": "ok" if few else "graphs", "error": worst, "most": its_most, "graphs": graphs, "why": ""}


def watched(forward, addresses):
    """The same with the addresses of the cache's tensors after each call."""
    @functools.wraps(forward)
    def call(*arguments, **named):
        result = forward(*arguments, **named)
        addresses.append([each.data_ptr() for layer in named["past_key_values"].layers for each in (layer.keys, layer.values)])
        return result

    return call


def generate(lm, name, dtype):
    """With each kind of cache. A StaticCache of a window is a program of its own for the steps before it is full: with a prompt
    that fills it there are two graphs, with a shorter one three."""
    model = architectures.made(name).model.to(DTYPES[dtype])
    model.generation_config.eos_token_id = None

    def written(of, prompt, cache):
        return of.generate(prompt, max_new_tokens=TOKENS, do_sample=False, cache_implementation=cache, disable_compile=True)

    row = {"outcome": "ok", "why": ""}
    runs = (("static", 9), ("filled", 7), ("dynamic", 7)) if name in WINDOWED else (("static", 7), ("dynamic", 7))
    for cache, length in runs:
        is_static, prompt = cache != "dynamic", architectures.tokens(2, length)
        cache_implementation = "static" if is_static else None
        torch._dynamo.reset()
        lm.torch.reset()
        expected = written(model, prompt, cache_implementation)
        fast = copy.deepcopy(model)
        addresses = []
        fast.forward = watched(torch.compile(fast.forward, backend=lm.torch.backend, fullgraph=True), addresses)
        found = written(fast, prompt, cache_implementation)
        copied = {each for graph in lm.report().graphs for each in graph.copied if each in graph.states}
        graphs = row[f"{cache}_graphs"] = len(lm.report().graphs)
        if not torch.equal(found, expected):
            row |= {"outcome": "wrong", "why": f"{cache} cache: {int((found != expected).sum())} of {found.numel()} tokens differ"}
        elif is_static and (copied or any(each != addresses[0] for each in addresses)):
            row |= {"outcome": "wrong", "why": f"the cache moved, or was copied: {', '.join(sorted(copied)) or 'no copies'}"}
        elif graphs > MOST_GRAPHS[cache] and row["outcome"] == "ok":
            row |= {"outcome": "graphs", "why": f"{cache} cache: {graphs} graphs"}
    return row


def train(lm, name, dtype):
    model = architectures.made(name).to(DTYPES[dtype])
    theirs = copy.deepcopy(model)
    arguments = architectures.inputs(name, *architectures.ARCHITECTURES[name].sizes[0], DTYPES[dtype])
    with torch.no_grad():
        model(*arguments)
    fast = torch.compile(model, backend=lm.torch.backend, fullgraph=True)
    (fast(*arguments) ** 2).mean().backward()
    (theirs(*arguments) ** 2).mean().backward()
    worst, where = 0.0, ""
    for (path, ours), wanted in zip(model.named_parameters(), theirs.parameters()):
        if (ours.grad is None) != (wanted.grad is None):
            return {"outcome": "wrong", "why": f"{path} has a gradient in one of both"}
        if wanted.grad is not None and (error := error_of(ours.grad, wanted.grad)) > worst and wanted.grad.abs().max() > 1e-6:
            worst, where = error, path
    return {"outcome": "ok" if worst <= 10 * MOST_ERROR else "wrong", "error": worst, "most": 10 * MOST_ERROR,
            "graphs": len(lm.report().graphs), "why": where}


PARTS = {"forward": forward, "generate": generate, "train": train}


def try_one(lm, part, name, dtype):
    row = {"architecture": name, "part": part, "dtype": dtype}
    torch._dynamo.reset()
    lm.torch.reset()
    begin = time.monotonic()
    try:
        row |= PARTS[part](lm, name, dtype)
    except Exception as error:  # noqa: BLE001  (torch's and ours, of any kind)
        text = str(error)
        missing = re.findall(r"^  ([\w.]+)(?= in | \(|,|:).*this operator isn't supported yet", text, re.MULTILINE)
        row |= {"outcome": "missing" if missing else "failed", "missing": missing, "trace": traceback.format_exc(),
                "why": text.strip()[:400]}
    row["seconds"] = round(time.monotonic() - begin, 1)
    return row


def work(name, wanted, package, pipe):
    warnings.simplefilter("ignore")
    sys.path.insert(0, package)
    import luminal as lm  # after the fork: its threads are of this process
    import luminal.torch  # noqa: F401

    for part, dtype in wanted:
        pipe.send(try_one(lm, part, name, dtype))
    pipe.close()


def wanted_of(name, options):
    parts = [part for part in options.parts
             if part == "forward" or name in {"generate": DECODERS, "train": TRAINED}[part]]
    return [(part, dtype) for part in parts for dtype in (options.dtypes if part == "forward" else ["f32"])]


def rows_of(name, options):
    """Those of one architecture, from a process that may crash."""
    wanted = wanted_of(name, options)
    rows, why = rows_apart(work, (name, wanted, options.package), SECONDS)
    for part, dtype in wanted[len(rows):]:
        rows.append({"architecture": name, "part": part, "dtype": dtype, "outcome": "failed", "why": why})
    return rows


def show(row):
    error = f"error {row['error']:.1e} of {row['most']:.1e}" if "error" in row else ""
    graphs = ", ".join(f"{row[key]} {key.replace('_', ' ')}" for key in ("graphs", *(f"{each}_graphs" for each in MOST_GRAPHS)) if key in row)
    why = ", ".join(row.get("missing", [])) or row["why"].replace("\n", " ")
    return (f"{row['architecture']:13} {row['part']:8} {row['dtype']:4} {row['outcome']:7} {row.get('seconds', 0):6.1f} s  "
            f"{', '.join(filter(None, [error, graphs, why]))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--only", nargs="+", default=list(architectures.ARCHITECTURES))
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--dtypes", nargs="+", default=["f32", "bf16"], choices=list(DTYPES))
    parser.add_argument("--json", help="write the rows to a file")
    options = parser.parse_args()
    rows = []
    for name in options.only:
        for row in rows_of(name, options):
            rows.append(row)
            print(show(row), flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    missing = sorted({each for row in rows for each in row.get("missing", [])})
    for part in options.parts:
        of_part = [row for row in rows if row["part"] == part]
        print(f"{part}: {sum(row['outcome'] == 'ok' for row in of_part)} of {len(of_part)} are ok")
    print(f"missing operators: {', '.join(missing) or 'none'}")
    return 0 if all(row["outcome"] == "ok" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
