"""Writes copies of sources with mistakes planted, each behind a switch; a file lists them as MISTAKES.

In a copy each site reads (::luminal::mistake == K ? (mistaken) : (original)), so one binary makes
any of them. A snippet that isn't in its file exactly once is an error: the list can't rot.
"""

import argparse
import importlib.util
import pathlib
import sys

DECLARATION = "namespace luminal { extern int mistake; }\n"


def switched(number, mistake):
    condition = f"::luminal::mistake == {number}"
    if mistake.statement:
        return f"if ({condition}) {{ {mistake.mistaken} }} else {{ {mistake.original} }}"
    return f"({condition} ? ({mistake.mistaken}) : ({mistake.original}))"


def mistakes_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where dataclasses look for themselves
    spec.loader.exec_module(module)
    return module.MISTAKES


def planted(root, name, mistakes):
    text = (root / name).read_text()
    sites = []
    for number, mistake in enumerate(mistakes, start=1):
        if mistake.file != name:
            continue
        count = text.count(mistake.original)
        if count != 1:
            sys.exit(f"mistake {number} ({mistake.what}): its original is {count} times in {name}, "
                     f"not once:\n{mistake.original}")  # fmt: skip
        sites.append((text.index(mistake.original), number, mistake))
    sites.sort(key=lambda site: site[0])
    parts, at = [DECLARATION], 0
    for start, number, mistake in sites:
        if start < at:
            sys.exit(f"mistake {number} ({mistake.what}) overlaps another one in {name}")
        parts += [text[at:start], switched(number, mistake)]
        at = start + len(mistake.original)
    return "".join([*parts, text[at:]])


def write_if_new(path, text):
    """Leaves an unchanged file alone, so that nothing is compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("mistakes", type=pathlib.Path, help="the Python file that lists them")
    parser.add_argument("--list", action="store_true", help="print the files that get planted")
    parser.add_argument("--root", type=pathlib.Path, help="the repository")
    parser.add_argument("--out", type=pathlib.Path, help="where the copies go")
    options = parser.parse_args()
    mistakes = mistakes_of(options.mistakes)
    files = sorted({mistake.file for mistake in mistakes})
    if options.list:
        print(";".join(files), end="")
        return
    for name in files:
        write_if_new(options.out / name, planted(options.root, name, mistakes))
    write_if_new(options.out / "mistake.cpp", "namespace luminal { int mistake = 0; }\n")


if __name__ == "__main__":
    main()
