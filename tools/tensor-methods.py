#!/usr/bin/env python3
"""Methods of Tensor from the functions of luminal/graph/composite: x.relu() beside relu(x).

    tools/tensor-methods.py --write   writes luminal/graph/tensor_methods.inc and composite/tensor_methods.cpp
    tools/tensor-methods.py --check   fails where they differ from what --write would write

Every function of the headers below whose first parameter is a tensor becomes a method with the same other parameters and
defaults, so that the two can't drift apart.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRAPH = ROOT / "luminal/graph"
HEADERS = ("activation", "arithmetic", "indexing", "math", "matmul", "movement", "reduce", "softmax")
# PyTorch has x.where(condition, other), so condition.where(x, other) would surprise; the others are about a table or a
# class index rather than about x.
FUNCTIONS_ONLY = {"where", "embedding", "one_hot"}
RENAMED = {"stddev": "std"}  # a function can't be called std
NOTE = "Made by tools/tensor-methods.py --write from the headers of composite/: don't edit."


def statements(header):
    text = re.sub(r"//[^\n]*", "", (GRAPH / f"composite/{header}.h").read_text())
    text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in text.split(";")]


def methods_of(header):
    """(return type, function, parameters after the first) of each function that becomes a method."""
    for statement in statements(header):
        if found := re.search(r"\bLUMINAL_BINARY\((\w+)\)$", statement):
            yield "Tensor", found.group(1), ["const Tensor& b"]
            yield "Tensor", found.group(1), ["const Scalar& b"]
            continue
        found = re.search(r"\bLUMINAL_API (Tensor|std::vector<Tensor>) (\w+)\(const Tensor& \w+(?:, (.*))?\)$", statement)
        if found and found.group(2) not in FUNCTIONS_ONLY:
            yield found.group(1), found.group(2), (found.group(3) or "").split(", ")


def formatted(text, suffix):
    program = shutil.which("clang-format-19") or shutil.which("clang-format")
    if program is None:
        sys.exit("tools/tensor-methods.py: clang-format-19 isn't installed; run tools/install-deps.sh")
    return subprocess.run([program, f"--assume-filename={GRAPH / ('tensor_methods' + suffix)}"], input=text, check=True,
                          capture_output=True, text=True).stdout


def generate():
    declarations, definitions = [], []
    for header in HEADERS:
        declarations.append(f"// composite/{header}.h")
        for result, function, parameters in methods_of(header):
            parameters = [parameter for parameter in parameters if parameter]
            name = RENAMED.get(function, function)
            bare = [parameter.split(" = ")[0] for parameter in parameters]
            arguments = ["*this", *(re.search(r"(\w+)$", parameter).group(1) for parameter in bare)]
            declarations.append(f"{result} {name}({', '.join(parameters)}) const;")
            definitions.append(f"{result} Tensor::{name}({', '.join(bare)}) const {{ "
                               f"return luminal::{function}({', '.join(arguments)}); }}")
    includes = "\n".join(f'#include "luminal/graph/composite/{header}.h"' for header in HEADERS)
    return {
        GRAPH / "tensor_methods.inc": formatted(f"// {NOTE}\n" + "\n".join(declarations) + "\n", ".h"),
        GRAPH / "composite/tensor_methods.cpp": formatted(
            f"// The methods of Tensor that forward to functions. {NOTE}\n{includes}\n"
            '#include "luminal/graph/tensor.h"\n\nnamespace luminal {\n\n' + "\n".join(definitions) +
            "\n\n}  // namespace luminal\n", ".cpp"),
    }


def main():
    if sys.argv[1:] not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    stale = {path: text for path, text in generate().items() if not path.exists() or path.read_text() != text}
    if sys.argv[1] == "--write":
        for path, text in stale.items():
            path.write_text(text)
    elif stale:
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        sys.exit(f"{names}: functions of luminal/graph/composite changed; run tools/tensor-methods.py --write")


main()
