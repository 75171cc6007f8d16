"""A wheel works on a clean system: small, installed by pip where there is no compiler, no LLVM and no NumPy.

Usage: wheel_test.py WHEEL MODELS TREES. TREES keeps the systems that debootstrap makes, and the packages that run a notebook,
which the project's .venv downloads. Needs root, for chroot. The last line has the sizes.
"""
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
import zipfile

from clean_tree import CleanTree
from commands import run

WHEEL, MODELS, TREES = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
PROJECT = pathlib.Path(__file__).resolve().parents[2]
MOST_PACKED, MOST_INSTALLED = 25e6, 60e6
MOST_IMPORT_SECONDS = 0.3
NEWEST_GLIBC = (2, 36)
MODEL, ANSWER = "stories260k", ", there was a little girl\n"
IMPORTS = ("import json, time; begin = time.perf_counter(); import luminal; "
           "print(json.dumps([time.perf_counter() - begin, luminal.__version__]))")
# Runs /cells.json, and prints what the cells displayed.
NOTEBOOK = """import json, nbclient, nbformat
cells = [nbformat.v4.new_code_cell(cell) for cell in json.load(open("/cells.json"))]
book = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
print(json.dumps([cell.outputs for cell in book.cells]))
"""
FOUND = {}  # what the last line says


def example():
    """The first program of docs/python.md and what it prints."""
    page = (PROJECT / "docs/python.md").read_text()
    return [re.search(rf"^```{language}\n((?:.|\n)*?)^```$", page, re.MULTILINE).group(1) for language in ("python", "text")]


class Files(unittest.TestCase):
    def test_it_is_small(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            FOUND["installed"] = sum(member.file_size for member in wheel.infolist())
        FOUND["wheel"] = WHEEL.stat().st_size
        self.assertLessEqual(FOUND["wheel"], MOST_PACKED)
        self.assertLessEqual(FOUND["installed"], MOST_INSTALLED)

    def test_what_belongs_to_a_package_is_in_it(self):
        names = zipfile.ZipFile(WHEEL).namelist()
        for name in ("luminal/__init__.py", "luminal/py.typed", "luminal/_core/__init__.pyi", "luminal/_core/nn.pyi",
                     "luminal/torch/backend.py"):
            self.assertIn(name, names)
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        self.assertNotIn("Requires-Dist: numpy\n", zipfile.ZipFile(WHEEL).read(metadata).decode())
        self.assertTrue([name for name in names if "LICENSE-MIT" in name], names)

    def test_torch_compile_finds_the_backend(self):
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(WHEEL) as wheel:
            wheel.extractall(folder)
            program = ("import luminal, torch; print(luminal.__file__); "
                       "print(torch.compile(lambda x: x * 2, backend='luminal')(torch.ones(2)).tolist())")
            path, result = run(PROJECT / ".venv/bin/python", "-c", program, cwd=folder,
                               env={**os.environ, "PYTHONPATH": folder}).splitlines()
            self.assertTrue(path.startswith(folder), path)
            self.assertEqual(result, "[2.0, 2.0]")

    def test_the_extension_asks_for_no_more_than_glibc(self):
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(WHEEL) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".so"))
            extension = wheel.extract(name, folder)
            versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", run("readelf", "--version-info", "--wide", extension))
            self.assertLessEqual(max((int(major), int(minor)) for major, minor in versions), NEWEST_GLIBC)
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", "--wide", extension)))
            self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1",
                                          "ld-linux-x86-64.so.2"})
            self.assertEqual([line for line in run("strings", extension).splitlines() if str(PROJECT) in line], [])


def notebook_packages():
    """A folder with wheels of what runs a notebook; downloaded once."""
    folder = TREES / "notebook-wheels"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=TREES) as partial:
            run(PROJECT / ".venv/bin/python", "-m", "pip", "download", "--quiet", "--dest", pathlib.Path(partial) / "wheels",
                "nbclient", "ipykernel")
            (pathlib.Path(partial) / "wheels").rename(folder)
    return folder


@unittest.skipIf(os.geteuid() != 0, "chroot is for root")
class CleanSystem(unittest.TestCase):
    def test_it_installs_and_runs(self):
        TREES.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=TREES) as scratch:
            tree = CleanTree(TREES, "bookworm", scratch, kind="python")
            tree.put(WHEEL, f"/{WHEEL.name}")
            tree.put(MODELS / MODEL, f"/models/{MODEL}")
            tree.run(f"python3 -m venv /venv && /venv/bin/pip install --no-index /{WHEEL.name}")
            self.assertEqual(tree.run("ls /usr/bin/g++ /usr/lib/llvm* 2>/dev/null || true"), "")
            tree.run(f"/venv/bin/python -c '{IMPORTS}'")  # reads the files for the first time
            seconds, version = json.loads(tree.run(f"/venv/bin/python -c '{IMPORTS}'"))
            FOUND["import"] = seconds
            self.assertLessEqual(seconds, MOST_IMPORT_SECONDS)
            program, printed = example()
            (tree.upper / "example.py").write_text(program)
            self.assertEqual(tree.run("/venv/bin/python /example.py"), printed)
            run_model = f"run /models/{MODEL} -p 'Once upon a time' --max-tokens 8 --greedy"
            for command in ("/venv/bin/python -m luminal", "/venv/bin/luminal"):
                self.assertEqual(tree.run(f"{command} --version"), f"luminal {version}\n")
                self.assertEqual(tree.run(f"{command} {run_model}"), ANSWER)
            self.run_notebook(tree, program, printed)

    def run_notebook(self, tree, program, printed):
        """The same program in a notebook, which shows what was compiled as HTML."""
        tree.put(notebook_packages(), "/notebook-wheels")
        tree.run("/venv/bin/pip install --quiet --no-index --find-links /notebook-wheels nbclient ipykernel")
        (tree.upper / "cells.json").write_text(json.dumps([program, "run.report", "run.explain()", "run.view()"]))
        (tree.upper / "notebook.py").write_text(NOTEBOOK)
        (text,), *shown = json.loads(tree.run("/venv/bin/python /notebook.py").splitlines()[-1])
        self.assertEqual(text["text"], printed)
        for output, in shown:
            self.assertIn("text/html", output["data"])


if __name__ == "__main__":
    tests = unittest.main(argv=sys.argv[:1], exit=False)
    if not tests.result.wasSuccessful():
        sys.exit(1)
    print(f"wheel {FOUND['wheel'] / 1e6:.1f} MB, installed {FOUND['installed'] / 1e6:.1f} MB" +
          (f", import {FOUND['import']:.2f} s" if "import" in FOUND else ""))
