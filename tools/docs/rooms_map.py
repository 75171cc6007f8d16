#!/usr/bin/env python3
"""The map of the source tree in CONTRIBUTING.md: which folder holds what, from the comments of the LAYERS files.

    tools/docs/rooms_map.py --write   writes the map
    tools/docs/rooms_map.py --check   fails where the map isn't what --write would write
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- made by tools/docs/rooms_map.py -->\n", "<!-- end -->\n"
TREES = ("luminal", "apps")


def rooms_of(path):
    """[(folder, what it holds)] of a LAYERS file, in its order; the files beside it come first."""
    rooms, comment = [], ""
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            comment = line[1:].strip()
        elif ":" in line:
            rooms.append((line.partition(":")[0], comment))
    return sorted(rooms, key=lambda room: room[0] != ".")


def map_text(root):
    lines = ["| folder | what it holds |", "|---|---|"]
    for tree in TREES:
        for path in sorted((root / tree).rglob("LAYERS")):
            if path == root / "luminal/LAYERS":
                continue
            folder = path.parent.relative_to(root).as_posix()
            for name, what in rooms_of(path):
                lines.append(f"| `{folder}` | {what} |" if name == "." else f"| `{folder}/{name}` | {what} |")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] not in (["--write"], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    page = PAGE.read_text()
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"rooms_map: {PAGE.name} has no place for the map", file=sys.stderr)
        return 1
    made = before + begin + map_text(ROOT) + end + after
    if sys.argv[1] == "--write":
        PAGE.write_text(made)
    elif made != page:
        print(f"rooms_map: {PAGE.name} is out of date; run tools/docs/rooms_map.py --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
