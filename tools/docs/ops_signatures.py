#!/usr/bin/env python3
"""docs/ops-signatures.md: every operation with its C++ signature and PyTorch's name, made of the public headers.

    tools/docs/ops_signatures.py --write   writes the page
    tools/docs/ops_signatures.py --check   fails where the page isn't what --write would write
"""
import re
import sys

from cpp_header import depth_of, read_header
from markdown_text import code_span, escaped, table
from project import ROOT, public_headers
from tables import def_rows

PAGE = ROOT / "docs/ops-signatures.md"
SCALARS = "; either may be a Scalar"  # stands for the other two overloads of LUMINAL_BINARY
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "remainder", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
FUNCTIONAL = {"relu", "gelu", "silu", "softplus", "leaky_relu", "scaled_dot_product_attention", "conv1d", "conv2d",
              "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d", "embedding", "one_hot", "cross_entropy", "nll_loss",
              "mse_loss", "layer_norm", "rms_norm", "group_norm", "batch_norm", "normalize"}
OTHER_NAMES = {"max": "amax", "min": "amin", "stddev": "std"}
# PyTorch has no function of the name, or one with other parameters.
OWN = {"pad", "pad_axis", "broadcast_dims", "broadcast_together", "bits_per_element", "dequantise", "rotary_embedding"}
MEMBERS = {name: name for name in ("dtype", "shape", "permute", "transpose", "reshape", "flatten", "squeeze", "unsqueeze",
                                   "expand", "expand_as", "select", "narrow", "unfold", "flip", "roll", "repeat")}
MEMBERS |= {"dims": "shape", "rank": "ndim", "n_elements": "numel", "t": "mT", "cast": "to", "bitcast": "view",
            "operator-": "neg", "operator+=": "add_", "operator-=": "sub_", "operator*=": "mul_", "operator/=": "div_"}


def declarations(code):
    """(statement, its comment) of each declaration. A comment above is about all declarations up to the next comment."""
    above, statement, fresh = [], "", True  # fresh: the next comment is another one
    for line in code.split("\n"):
        bare, _, trailing = line.partition("//")
        if not line.strip():
            above, fresh = [], True
        elif not bare.strip():
            above = [*above, trailing.strip()] if not fresh else [trailing.strip()]
            fresh = False
        elif not bare.startswith("#") and not re.match(r"\s*(?:public:|template\b)", bare):
            fresh = True
            statement = f"{statement} {bare.strip()}".strip()
            if statement.endswith(";") and depth_of(statement) == 0:
                yield statement.rstrip(";"), trailing.strip() or " ".join(above)
                statement, above = "", [] if trailing else above


def name_of(statement):
    found = re.search(r"\bLUMINAL_BINARY\((.+)\)", statement) or re.search(r"(operator\S+?|\w+)\(", statement)
    return found.group(1)


def grouped(pairs):
    """{name: ([signatures], meaning)}: overloads stand together, with what the first comment among them says."""
    rows = {}
    for statement, meaning in pairs:
        name = name_of(statement)
        if statement.startswith("LUMINAL_BINARY"):
            statement = f"Tensor {name}(const Tensor& a, const Tensor& b){SCALARS}"
        if re.match(r"\w+\. ", meaning):  # a title, which is about the section
            meaning = ""
        signatures, before = rows.get(name, ([], ""))
        rows[name] = [*signatures, statement], before or meaning
    return rows


def torch_name(name):
    if name.startswith("operator"):
        return "torch." + OPERATORS[name.removeprefix("operator")]
    if name in OWN:
        return ""
    return f"torch.nn.functional.{name}" if name in FUNCTIONAL else "torch." + OTHER_NAMES.get(name, name)


def member_torch_name(name):
    return f"torch.Tensor.{MEMBERS[name]}" if name in MEMBERS else ""


def cells(rows, theirs):
    for name, (signatures, meaning) in rows.items():
        shown = "<br>".join(code_span(signature.removesuffix(SCALARS)) + (SCALARS if signature.endswith(SCALARS) else "")
                            for signature in signatures)
        yield [code_span(name), shown, *([code_span(theirs(name)) if theirs(name) else ""] if theirs else []),
               escaped(meaning)]


def header(path):
    return read_header(path, (ROOT / path).read_text(), lambda other: (ROOT / other).read_text())


def functions(path):
    return grouped(pair for item in header(path).items if item.kind == "function"
                   for pair in declarations("\n".join([*(f"// {line}" for line in item.comment), item.code])))


def members(path):
    (code,) = [item.code for item in header(path).items if item.names == ["Tensor"]]
    body = code[code.index("{") + 1:code.rindex("}")]
    return grouped((statement, meaning) for statement, meaning in declarations(body)
                   if not re.match(r"Tensor\(", statement))


def primitives(path):
    meanings = {arguments[1]: comment
                for _, arguments, comment in def_rows((ROOT / "luminal/graph/ops.def").read_text(), "OP")}
    return {name: (signatures, meaning or meanings.get(name, "")) for name, (signatures, meaning) in functions(path).items()}


def headers():
    return [path for path in public_headers()["graph"] if "/composite/" in path and functions(path)]


def section(path, rows, theirs, note=""):
    titles = ["name", "C++", *(["PyTorch"] if theirs else []), ""]
    summary = escaped(" ".join(" ".join(header(path).comment).split())) + (" " + note if note else "")
    return f"## [{path.removeprefix('luminal/graph/')}](../{path})\n\n{summary}\n\n{table(titles, cells(rows, theirs))}"


def markdown():
    tensor, prim = "luminal/graph/tensor.h", "luminal/graph/primitives.h"
    return "\n".join([
        "# Ops with signatures\n",
        "Generated from the public headers by `tools/docs/ops_signatures.py --write`; a test keeps it up to date.\n",
        "`#include \"luminal/luminal.h\"` declares all of them but the primitives. The column PyTorch names the function with\n"
        "the same meaning. It is empty where PyTorch has none, or one that takes other parameters. [Ops and dtypes](ops.md)\n"
        "says what is compared with PyTorch, in which dtypes, and the known differences. Option structs such as\n"
        "`ReduceOptions` are in the headers that the titles link.\n",
        section(tensor, members(tensor), member_torch_name, "Methods of `Tensor`:"),
        *(section(path, functions(path), torch_name) for path in headers()),
        section(prim, primitives(prim), None, "In the namespace `luminal::prim`:"),
    ])


def main():
    if sys.argv[1:] not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    if sys.argv[1] == "--write":
        PAGE.write_text(markdown())
    elif PAGE.read_text() != markdown():
        sys.exit(f"{PAGE.relative_to(ROOT)} isn't what the headers say: run tools/docs/ops_signatures.py --write")


if __name__ == "__main__":
    main()
