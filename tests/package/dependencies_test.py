"""What tools/install-deps.sh installs is enough to build on a clean Debian 12, and small.

Usage: dependencies_test.py TREES. TREES keeps the systems that debootstrap makes. Needs root, for chroot. The last line
has the size of the download.
"""
import pathlib
import subprocess
import sys
import tempfile

from clean_tree import CleanTree
from commands import run

TREES = pathlib.Path(sys.argv[1]).resolve()
PROJECT = pathlib.Path(__file__).resolve().parents[2]
MOST_DOWNLOADED = 600e6


def download(tree, *options):
    """(packages, bytes) that apt would fetch."""
    packages = run(PROJECT / "tools/install-deps.sh", "--list", *options).strip()
    fetched = tree.run(f"apt-get install --print-uris -qq --no-install-recommends {packages}").splitlines()
    return len(fetched), sum(int(line.split()[2]) for line in fetched)


def main():
    with tempfile.TemporaryDirectory(dir=TREES) as scratch:
        tree = CleanTree(TREES, "bookworm", scratch)
        tree.put("/etc/resolv.conf", "/etc/resolv.conf")
        tree.run("apt-get update -q")
        count, size = download(tree)
        test_count, test_size = download(tree, "--test")
        clone = tree.upper / "clone"
        clone.mkdir()
        archive = subprocess.run(["git", "-C", PROJECT, "archive", "HEAD"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", clone], input=archive, check=True)
        tree.run("cd /clone && tools/install-deps.sh && cmake --preset release && "
                 "cmake --build --preset release --target luminal_module_shape")
    print(f"download {size / 1e6:.0f} MB, {count} packages; with --test {test_size / 1e6:.0f} MB, {test_count} packages, "
          "and Python ones")
    return 0 if size <= MOST_DOWNLOADED else 1


if __name__ == "__main__":
    sys.exit(main())
