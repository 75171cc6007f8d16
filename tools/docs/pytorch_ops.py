#!/usr/bin/env python3
"""docs/pytorch-ops.md: the operators of PyTorch that are known, from the tables in luminal/pytorch.

  tools/docs/pytorch_ops.py           prints the page
  tools/docs/pytorch_ops.py --write   writes it
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "luminal/pytorch"
PAGE = ROOT / "docs/pytorch-ops.md"
ENTRY = re.compile(r'\{"([\w.]+)",\s*((?:"[^"]*"\s*)+|k\w+),')
HEAD = """# Operators of PyTorch

Generated from `luminal/pytorch` by `tools/docs/pytorch_ops.py --write`; a test keeps it up to date.

{count} operators of [.pt2 files](python.md#pytorchs-programs) become tensors of a graph, in the parts below. One that writes to
its first argument (`aten.add_.Tensor`) is known where the one that doesn't is. Arguments that PyTorch gives a default may be
left out.
"""


def parts():
    """[(what a part is, [(operator, parameters)])], in the order of the files."""
    found = []
    for path in sorted(TABLE.glob("*/*.cpp")):
        text = path.read_text()
        if "constexpr OpEntry k" not in text:
            continue
        named = dict(re.findall(r'std::string_view (k\w+) =\s*"([^"]*)";', text))
        rows = []
        for target, parameters in ENTRY.findall(text):
            joined = named.get(parameters.strip()) or "".join(re.findall(r'"([^"]*)"', parameters))
            rows.append((target, joined))
        found.append((re.match(r"// (.*)", text).group(1), sorted(rows)))
    return found


def markdown():
    all_parts = parts()
    page = HEAD.format(count=sum(len(rows) for _, rows in all_parts))
    for title, rows in all_parts:
        page += f"\n## {title.rstrip('.')}\n\n| operator | parameters |\n|---|---|\n"
        page += "".join(f"| `{target}` | `{parameters}` |\n" for target, parameters in rows)
    return page


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(markdown())
    elif not sys.argv[1:]:
        print(markdown(), end="")
    else:
        sys.exit(__doc__)
