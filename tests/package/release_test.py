"""A release works on clean systems: its files run, install and serve an outside project on Debian 12 and 13.

Usage: release_test.py RELEASE MODELS TREES. RELEASE is the folder that tools/make-release.sh made; TREES keeps the
systems that debootstrap makes. Needs root, for chroot. The last line has the sizes.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from clean_tree import CleanTree
from commands import run

RELEASE, MODELS, TREES = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
PROJECT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r'define LUMINAL_VERSION "([\d.]+)"', (PROJECT / "luminal/version.h").read_text()).group(1)
NAME = f"luminal-{VERSION}-linux-x86_64"
TARBALL, DEB = RELEASE / f"{NAME}.tar.gz", RELEASE / f"luminal_{VERSION}_amd64.deb"
SUITES = ("bookworm", "trixie")
MOST_UNPACKED = 60e6
NEWEST_GLIBC = (2, 36)
# The vdso and the loader have no package of their own; libluminal is in the release.
MAY_NEED = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "linux-vdso.so.1",
            f"libluminal.so.{VERSION.rsplit('.', 1)[0]}"}
MODEL, ANSWER = "stories260k", ", there was a little girl\n"
RUN_MODEL = f"run /models/{MODEL} -p 'Once upon a time' --max-tokens 8 --greedy"
CONSUMER = """
cmake -S /project/find_package -B /build{options} && cmake --build /build && /build/consumer
g++ /project/main.cpp -o /consumer $({pkg_config} --cflags --libs luminal) && {environment} /consumer
"""


def size_of(folder):
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


class Files(unittest.TestCase):
    """What can be seen without running anything."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tarball, cls.deb = pathlib.Path(folder.name) / "tarball", pathlib.Path(folder.name) / "deb"
        cls.tarball.mkdir()
        run("tar", "-xzf", TARBALL, "-C", cls.tarball)
        run("dpkg-deb", "--extract", DEB, cls.deb)

    def binaries(self):
        for folder in (self.tarball / NAME, self.deb / "usr"):
            yield from (folder / "bin/luminal", (folder / "lib/libluminal.so").resolve(),
                        (folder / "lib/libluminal_egraph.so").resolve())

    def test_checksums_are_those_of_the_files(self):
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=RELEASE)
        self.assertEqual({path.name for path in RELEASE.iterdir()}, {TARBALL.name, DEB.name, "SHA256SUMS"})

    def test_unpacked_it_is_small(self):
        for folder in (self.tarball, self.deb):
            self.assertLessEqual(size_of(folder), MOST_UNPACKED)

    def test_no_path_of_the_build_is_inside(self):
        for folder in (self.tarball, self.deb):
            for path in folder.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    found = [line for line in run("strings", path).splitlines() if str(PROJECT) in line]
                    self.assertEqual(found, [], path.name)

    def test_no_glibc_newer_than_promised_is_needed(self):
        for binary in self.binaries():
            versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", run("readelf", "--version-info", "--wide", binary))
            self.assertLessEqual(max((int(major), int(minor)) for major, minor in versions), NEWEST_GLIBC, binary.name)

    def test_what_is_inside_stays_there(self):
        library = (self.tarball / NAME / "lib/libluminal.so").resolve()
        exported = run("nm", "--dynamic", "--defined-only", library)
        self.assertIn("luminal", exported)
        for inner in ("4llvm", "sqlite3_", "3fmt", "ZSTD_", "LLVM"):
            self.assertEqual([line for line in exported.splitlines() if inner in line][:3], [], inner)

    def test_licences_of_what_is_inside_are_there(self):
        licences = self.tarball / NAME / "share/doc/luminal/licences"
        for word in ("llvm", "fmt", "sqlite3", "cli11", "nlohmann", "zlib", "zstd"):
            self.assertTrue([path for path in licences.iterdir() if word in path.name], word)


@unittest.skipIf(os.geteuid() != 0, "chroot is for root")
class CleanSystems(unittest.TestCase):
    def tree(self, suite, kind="minimal"):
        scratch = tempfile.TemporaryDirectory(dir=TREES)
        self.addCleanup(scratch.cleanup)
        tree = CleanTree(TREES, suite, scratch.name, kind)
        tree.put(MODELS / MODEL, f"/models/{MODEL}")
        return tree

    def unpack(self, tree):
        # By this system's gzip: a minimal tree has one too, but that isn't the question.
        target = tree.upper / "opt"
        target.mkdir(parents=True)
        run("tar", "-xzf", TARBALL, "-C", target)
        return f"/opt/{NAME}"

    def install(self, tree):
        tree.put(DEB, f"/{DEB.name}")
        tree.run(f"dpkg --install /{DEB.name}")
        return "/usr"

    def check_program(self, tree, prefix):
        program = f"{prefix}/bin/luminal"
        self.assertEqual(tree.run(f"{program} --version"), f"luminal {VERSION}\n")
        self.assertEqual(tree.run(f"{program} {RUN_MODEL}"), ANSWER)
        needed = re.findall(r"^\s*(?:/\S*/)?(\S+)", tree.run(f"ldd {program}"), re.MULTILINE)
        self.assertLessEqual(set(needed), MAY_NEED)

    def test_the_tarball_runs_where_nothing_is_installed(self):
        for suite in SUITES:
            with self.subTest(suite):
                tree = self.tree(suite)
                self.check_program(tree, self.unpack(tree))

    def test_the_deb_needs_nothing_that_a_minimal_system_lacks(self):
        for suite in SUITES:
            with self.subTest(suite):
                tree = self.tree(suite)
                self.check_program(tree, self.install(tree))
                tree.run("dpkg --purge luminal && ! test -e /usr/bin/luminal")

    def test_an_outside_project_builds_against_either(self):
        for suite in SUITES:
            for place in (self.unpack, self.install):
                with self.subTest(f"{suite}, {place.__name__}"):
                    tree = self.tree(suite, kind="compiler")
                    prefix = place(tree)
                    tree.put(PROJECT / "tests/consumer/find_package", "/project/find_package")
                    tree.put(PROJECT / "tests/consumer/main.cpp", "/project/main.cpp")
                    installed = prefix == "/usr"
                    tree.run(CONSUMER.format(
                        options="" if installed else f" -D CMAKE_PREFIX_PATH={prefix}",
                        pkg_config="pkg-config" if installed else f"PKG_CONFIG_PATH={prefix}/lib/pkgconfig pkg-config",
                        environment="" if installed else f"LD_LIBRARY_PATH={prefix}/lib"))


def sizes():
    with tempfile.TemporaryDirectory() as folder:
        run("tar", "-xzf", TARBALL, "-C", folder)
        unpacked = size_of(pathlib.Path(folder))
        library = (pathlib.Path(folder) / NAME / "lib/libluminal.so").resolve().stat().st_size
    return (f"tarball {TARBALL.stat().st_size / 1e6:.1f} MB, unpacked {unpacked / 1e6:.1f} MB "
            f"(libluminal {library / 1e6:.1f} MB), deb {DEB.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    missing = [tool for tool in ("debootstrap", "dpkg-deb", "strings", "readelf", "nm") if not shutil.which(tool)]
    if missing:
        print(f"SKIPPED: no {', '.join(missing)}; run tools/install-deps.sh --test")
        sys.exit(77)
    program = unittest.main(argv=sys.argv[:1], exit=False)
    print(f"sizes: {sizes()}")
    sys.exit(0 if program.result.wasSuccessful() else 1)
