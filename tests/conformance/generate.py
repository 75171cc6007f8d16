"""Writes the inputs and expected results of all cases: cases.jsonl and cases.bin.

The first line of the index is the header (version, tolerances), each other line a case:
  name, op, dtype, params, tolerance, length, sign_of_zero,
  inputs: [{dtype, dims, steps}]: base dims (with variables as text) and the view steps,
  runs: [{bindings, inputs: [{dims, at}], expected: {dtype, dims, at}}]: concrete data,
  dynamic: {inputs, runs} of the same case with its leading dim as a variable, where PyTorch allows
    it at several sizes; else null.
`at` is the byte offset of the elements in cases.bin, contiguous and little-endian; half types are
their 16 bits, bool one byte. Values depend on the name of the case only.
"""

import argparse
import hashlib
import json
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import torch  # noqa: E402

import cases  # noqa: E402
import layouts  # noqa: E402
import model  # noqa: E402
import tolerances  # noqa: E402
import values  # noqa: E402

VERSION = 1


class Elements:
    """cases.bin as it grows; equal contents are stored once."""

    def __init__(self):
        self.parts, self.size, self.known = [], 0, {}

    def add(self, tensor):
        raw = bytes_of(tensor)
        key = hashlib.sha256(raw).digest()
        if key not in self.known:
            padding = -self.size % 8
            self.parts += [b"\0" * padding, raw]
            self.known[key] = self.size + padding
            self.size += padding + len(raw)
        return self.known[key]


def bytes_of(tensor):
    flat = tensor.detach().contiguous().reshape(-1)
    if flat.numel() == 0:
        return b""
    return flat.view(torch.uint8).numpy().tobytes()


def run_of(case, number, bindings, elements):
    inputs, described = [], []
    for k, (spec, (base_dims, steps)) in enumerate(zip(case.variant.inputs, case.bases())):
        dims = layouts.bind(base_dims, bindings)
        seed = f"{case.name}#{k}#{sorted(bindings.items())}" + (f"#{number}" if number else "")
        base = values.make(seed, spec.values, spec.dtype or case.dtype, dims)
        described.append({"dims": dims, "at": elements.add(base)})
        inputs.append(layouts.apply(base, steps, bindings))
    out = model.evaluate(case.op, inputs, case.variant.params, case.dtype)
    expected = {"dtype": values.NAME[out.dtype], "dims": list(out.shape), "at": elements.add(out)}
    return {"bindings": bindings, "inputs": described, "expected": expected}


def inputs_of(case):
    return [
        {"dtype": spec.dtype or case.dtype, "dims": dims, "steps": steps}
        for spec, (dims, steps) in zip(case.variant.inputs, case.bases())
    ]


def runs_of(case, elements):
    return [run_of(case, k, b, elements) for k, b in enumerate(case.bindings())]


def dynamic_of(case, elements):
    """None where PyTorch refuses another size, or gives a result of another rank for it."""
    dynamic = case.with_leading_dim()
    if dynamic is None:
        return None
    try:
        inputs, runs = inputs_of(dynamic), runs_of(dynamic, elements)
    except Exception:  # noqa: BLE001, parameters that name the size: the static case stands
        return None
    if len({len(run["expected"]["dims"]) for run in runs}) != 1:
        return None
    return {"inputs": inputs, "runs": runs}


def line_of(case, elements):
    return {
        "name": case.name, "op": case.op.name, "dtype": case.dtype, "params": case.variant.params,
        "tolerance": case.tolerance(), "length": case.variant.length,
        "sign_of_zero": case.sign_of_zero(), "inputs": inputs_of(case),
        "runs": runs_of(case, elements), "dynamic": dynamic_of(case, elements),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    if not torch.__version__.startswith("2.13."):
        sys.exit(f"expected values come from PyTorch 2.13, this is {torch.__version__}")
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    elements, lines, failed = Elements(), [], 0
    header = {"version": VERSION, "torch": torch.__version__, "tolerances": tolerances.CLASSES}
    lines.append(json.dumps(header))
    for case in cases.all_cases():
        try:
            lines.append(json.dumps(line_of(case, elements)))
        except Exception as error:  # noqa: BLE001, named and counted below
            failed += 1
            if failed <= 20:
                print(f"{case.name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "cases.bin").write_bytes(b"".join(elements.parts))
    (options.folder / "cases.jsonl").write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 1} cases, {elements.size} bytes, {failed} without a reference")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
