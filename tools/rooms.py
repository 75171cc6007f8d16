"""The rooms of the source tree: folders, what the LAYERS file of their parent lets them include, and their sizes.

A LAYERS file lists the folders beside it, lowest first: "name: the folders it may include"; "." is the folder's own files.
"""
import pathlib
import re

MAX_FILES = 30  # sources in one folder
SOURCES = {".h", ".cpp", ".def", ".py"}
TREES = ("luminal", "apps", "tests", "tools", "examples", "python")
LAYERED = ("luminal", "apps")


def read_layers(path, where, fail):
    """{folder: the folders it may include} of a LAYERS file; `fail(where, line, message)` on what is wrong in it."""
    layers = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, below = (part.strip() for part in line.partition(":"))
        if not colon or not re.fullmatch(r"\w+|\.", name):
            fail(where, number, f"expected 'folder: folders', found '{line}'")
            continue
        for folder in below.split():
            if folder not in layers:
                fail(where, number, f"'{name}' names '{folder}', which is not on an earlier line")
        if name in layers:
            fail(where, number, f"'{name}' is listed twice")
        if not (path.parent / name).is_dir():
            fail(where, number, f"there is no folder {(pathlib.PurePath(where).parent / name).as_posix()}")
        layers[name] = set(below.split())
    return layers


def folder_of(path):
    return path.rsplit("/", 1)[0]


class Rooms:
    def __init__(self, root, fail):
        self.root = root
        self.fail = fail
        self.layers = {}  # by folder: what its LAYERS file says
        self.largest = ("", 0)  # the folder of most sources
        self.first = {}   # (folder, folder): the first include from one to the other, as (file, line)

    def read(self):
        for tree in LAYERED:
            for path in sorted((self.root / tree).rglob("LAYERS")):
                where = path.relative_to(self.root).as_posix()
                if where != "luminal/LAYERS":  # the modules', which is read with their CMake files
                    self.read_one(path, where)
        self.check_sizes()

    def read_one(self, path, where):
        folder = folder_of(where)
        layers = self.layers[folder] = read_layers(path, where, self.fail)
        for child in sorted(p for p in path.parent.iterdir() if p.is_dir()):
            if child.name not in layers and any(p.suffix in {".h", ".cpp"} for p in child.rglob("*")):
                self.fail(f"{folder}/{child.name}", 1, f"this folder is missing from {where}")

    def check_sizes(self):
        counts = {}
        for tree in TREES:
            for path in (self.root / tree).rglob("*"):
                if path.suffix in SOURCES:
                    folder = path.parent.relative_to(self.root).as_posix()
                    counts[folder] = counts.get(folder, 0) + 1
        self.largest = max(counts.items(), key=lambda item: item[1], default=self.largest)
        for folder, count in sorted(counts.items()):
            if count > MAX_FILES:
                self.fail(folder, 1, f"{count} source files; a folder has at most {MAX_FILES} of its own")

    def check_include(self, path, number, header):
        """`header` is a path from the root to a file of ours."""
        of, to = folder_of(path), folder_of(header)
        if of == to or header == "luminal/luminal.h" or not path.startswith(tuple(f"{tree}/" for tree in LAYERED)):
            return
        self.first.setdefault((of, to), (path, number))
        for parent, layers in self.layers.items():
            if not f"{of}/".startswith(f"{parent}/") or not f"{to}/".startswith(f"{parent}/"):
                continue
            upper, lower = (self.child(parent, folder) for folder in (of, to))
            if upper != lower and lower not in layers.get(upper, set()):
                self.fail(path, number, f"'{upper}' may not include '{lower}' ({parent}/LAYERS)")

    @staticmethod
    def child(parent, folder):
        return "." if folder == parent else folder[len(parent) + 1:].split("/")[0]

    def mutual_pairs(self):
        return [(of, to) for of, to in sorted(self.first) if of < to and (to, of) in self.first]

    def summary(self):
        return (f"{len(self.layers)} LAYERS files inside of modules, {len(self.mutual_pairs())} mutual pairs of folders, "
                f"at most {self.largest[1]} sources in one ({self.largest[0]})")

    def check_pairs(self):
        for of, to in self.mutual_pairs():
            (path, number), (other, line) = self.first[of, to], self.first[to, of]
            self.fail(path, number, f"{of} and {to} include each other (the other way: {other}:{line})")
