"""Every command and program of README.md and docs/start.md runs as written, on a clean Debian 12.

Usage: readme_test.py RELEASE TREES. RELEASE is the folder that tools/make-release.sh made; TREES keeps the systems that
debootstrap makes. Needs root, for chroot. The last line says how long the first answer and the first build took.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from clean_tree import CleanTree

RELEASE, TREES = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
PROJECT = pathlib.Path(__file__).resolve().parents[2]
ANSWER = "The capital of France is Paris."
# What each block of a page is, in order. A page that has another block needs another word here.
BLOCKS = {
    "README.md": ("answer", "program", "printed", "commands", "build", "cmake"),
    "docs/start.md": ("build", "statements", "commands", "commands", "answer"),
}
# Beside what a minimal system has: what fetches the model, what draws a graph.
TOOLS = "python3-pip unzip graphviz ca-certificates"


def blocks_of(page):
    """(what it is, its text) of the fenced blocks of a page."""
    text = (PROJECT / page).read_text()
    found = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if len(found) != len(BLOCKS[page]):
        raise AssertionError(f"{page} has {len(found)} blocks, {len(BLOCKS[page])} are known to this test")
    return list(zip(BLOCKS[page], found))


def program_of(statements):
    """Statements with their includes as a whole program."""
    includes = [line for line in statements.splitlines() if line.startswith("#include")]
    rest = [line for line in statements.splitlines() if not line.startswith("#include")]
    return "\n".join(["#include <iostream>", *includes, "int main() {", *rest, "}"])


def expect(printed, wanted):
    if wanted not in printed:
        raise AssertionError(f"{wanted!r} isn't in what was printed:\n{printed[-2000:]}")


class Reader:
    """Someone who does what a page says, in a folder of a clean system."""

    def __init__(self, tree):
        self.tree, self.path, self.seconds = tree, [], {}
        tree.put("/etc/resolv.conf", "/etc/resolv.conf")
        tree.run(f"apt-get update -q && apt-get install -q -y --no-install-recommends {TOOLS}")
        # The certificates that this system trusts.
        tree.put("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs/ca-certificates.crt")
        self.clone = tree.upper / "clone"
        self.clone.mkdir()
        archive = subprocess.run(["git", "-C", PROJECT, "archive", "HEAD"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", self.clone], input=archive, check=True)
        for file in RELEASE.iterdir():
            tree.put(file, f"/clone/{file.name}")

    def do(self, commands, name=""):
        start = time.monotonic()
        printed = self.tree.run(f"cd /clone; export PATH={':'.join([*self.path, '$PATH'])}\n{commands}")
        self.seconds.setdefault(name, time.monotonic() - start)
        return printed

    def build(self, program, cmake):
        """What a program prints that an outside project builds against the Debian package."""
        folder = self.clone / "app"
        folder.mkdir(exist_ok=True)
        (folder / "main.cpp").write_text(program)
        (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX)\n"
                                               f"add_executable(app main.cpp)\n{cmake}")
        return self.do("cmake -S app -B app/build && cmake --build app/build && app/build/app")

    def follow(self, page, cmake):
        printed = ""
        for what, block in blocks_of(page):
            print(f"{page}: {what}", flush=True)
            if what == "answer":
                expect(self.do(block, "answer"), ANSWER)
                # From here on the program is at hand by its name.
                unpacked = re.search(r"luminal-[\d.]+-linux-x86_64(?=/bin/luminal)", block)
                self.path = [f"/clone/{unpacked.group(0)}/bin"] if unpacked else self.path
            elif what == "build":
                self.do(block, "build")
                self.path = ["/clone/build/release/apps/cli"]
            elif what in ("program", "statements"):
                self.do("apt-get install -q -y --no-install-recommends g++ cmake make && dpkg --install luminal_*_amd64.deb")
                printed = self.build(block if what == "program" else program_of(block), cmake)
            elif what == "printed":
                expect(printed, block)
            elif what == "commands":
                self.do(block, "commands")


def main():
    cmake = dict(blocks_of("README.md"))["cmake"]
    with tempfile.TemporaryDirectory(dir=TREES) as scratch:
        reader = Reader(CleanTree(TREES, "bookworm", scratch))
        for page in BLOCKS:
            reader.follow(page, cmake)
    blocks = sum(len(blocks) for blocks in BLOCKS.values())
    print(f"{blocks} blocks ran; the answer came after {reader.seconds['answer']:.0f} s, the build took "
          f"{reader.seconds['build'] / 60:.0f} min with its packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
