"""The packages that cpack makes are whole: they install, run, serve a project that links the library, and go again.

Usage: package_test.py SOURCE FOLDER MODELS COMPILER WERROR [LAUNCHER]. FOLDER keeps the build between runs.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from commands import run

SOURCE, FOLDER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
MODELS = pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[3]))
COMPILER, WERROR, LAUNCHER = sys.argv[4], sys.argv[5], sys.argv[6] if len(sys.argv) > 6 else ""
BUILD, PACKAGES = FOLDER / "build", FOLDER / "packages"
VERSION = re.search(r'define LUMINAL_VERSION "([\d.]+)"', (SOURCE / "luminal/version.h").read_text()).group(1)


def build_packages():
    shutil.rmtree(PACKAGES, ignore_errors=True)
    # Built in minutes: what is in the packages and where counts here, not how fast it is.
    options = [f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}", f"-DLUMINAL_WERROR={WERROR}",
               "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=12", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"]
    run("cmake", "--preset", "package", "-B", BUILD, *options, cwd=SOURCE)
    run("cmake", "--build", BUILD, "--parallel", "2")
    for generator in ("DEB", "TGZ"):
        run("cpack", "-G", generator, "-B", PACKAGES, "--config", BUILD / "CPackConfig.cmake")


def files_below(folder):
    """All but what dpkg and ldconfig keep for themselves."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return sorted(name for name in names if name.parts[0] != "var" and name.name != "ld.so.cache")


def found_around(content, path):
    """The first place that names the path, with what stands beside it: a whole program is no message."""
    place = content.find(str(path).encode() + b"/")
    return content[max(place - 80, 0):place + 160] if place >= 0 else b""


def make_root(root):
    """What a package's scripts run in: a shell, ldconfig, and dpkg's database."""
    for part in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/cache/ldconfig", "etc"):
        (root / part).mkdir(parents=True)
    # What is installed here counts as installed there: dpkg checks what the package depends on.
    shutil.copy("/var/lib/dpkg/status", root / "var/lib/dpkg/status")
    for file in ("/bin/sh", "/sbin/ldconfig", *re.findall(r"/\S+", run("ldd", "/bin/sh"))):
        (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / file[1:])


class Installed:
    """A prefix with a package in it, somewhere that nothing in the package can know."""

    def __init__(self, test, prefix, folder):
        self.test, self.prefix, self.folder = test, prefix, folder
        # What this process has of libraries, caches and homes must not help.
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}

    def check(self):
        program = self.prefix / "bin/luminal"
        self.test.assertEqual(run(program, "--version", env=self.environment), f"luminal {VERSION}\n")
        self.check_answer(program)
        self.check_consumer()
        for name in ("LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md", "docs/llm.md"):
            self.test.assertTrue((self.prefix / "share/doc/luminal" / name).is_file(), name)

    def check_answer(self, program):
        model = MODELS / "stories260k"
        if not model.exists():
            print(f"SKIPPED: luminal run: there is no {model}; set LUMINAL_TEST_MODELS")
            return
        answer = run(program, "run", model, "-p", "Once upon a time", "--max-tokens", "8", "--threads", "1",
                     env=self.environment)
        self.test.assertEqual(answer, ", there was a little girl\n")

    def check_consumer(self):
        for name in ("find_package", "egraph_only"):
            settings = {"source": SOURCE / "tests/consumer" / name, "binary": self.folder / name, "prefix": self.prefix,
                        "luminal_source": SOURCE, "build_type": "Release", "generator": "Ninja", "compiler": COMPILER,
                        "launcher": "", "werror": "ON"}
            run("cmake", *(f"-D{key}={value}" for key, value in settings.items()),
                "-P", SOURCE / "tests/consumer/build_and_run.cmake", env=self.environment)


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build_packages()
        cls.deb, = PACKAGES.glob("*.deb")
        cls.tarball, = PACKAGES.glob("*.tar.gz")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def field(self, name):
        return run("dpkg-deb", "--field", self.deb, name).strip()

    def test_the_deb_says_what_it_is_and_needs(self):
        architecture = run("dpkg", "--print-architecture").strip()
        self.assertEqual(self.deb.name, f"luminal_{VERSION}_{architecture}.deb")
        self.assertEqual((self.field("Package"), self.field("Version")), ("luminal", VERSION))
        self.assertRegex(self.field("Maintainer"), r"^[^<>]+ <[^<>@]+@[^<>@]+>$")
        self.assertRegex(self.field("Description"), r"^search-based deep-learning compiler[^\n]*\n Luminal compiles")
        needed = [re.match(r"[^ ]+", item).group() for item in self.field("Depends").split(", ")]
        self.assertEqual(sorted(needed), ["libc6", "libgcc-s1", "libstdc++6"])

    def test_files_are_the_systems_own_and_tell_nothing_of_the_build(self):
        for line in run("dpkg-deb", "--contents", self.deb).splitlines():
            mode, owner, *_, path = line.split(" -> ")[0].split()
            self.assertEqual(owner, "root/root", line)
            self.assertIn(mode, ("drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x", "lrwxrwxrwx"), line)
            self.assertTrue(path == "./" or path.startswith("./usr/"), line)
        run("dpkg-deb", "--extract", self.deb, self.folder)
        for name in files_below(self.folder):
            content = (self.folder / name).read_bytes()
            for path in (SOURCE, BUILD):
                self.assertNotIn(str(path).encode() + b"/", found_around(content, path), name)
            if content.startswith(b"\x7fELF"):
                paths = re.findall(r"(?:RPATH|RUNPATH)\).*\[(.*)\]", run("readelf", "-d", self.folder / name))
                self.assertEqual(paths, ["$ORIGIN/../lib"] if name.name == "luminal" else [], name)

    @unittest.skipIf(os.geteuid() != 0, "dpkg runs scripts of a package in its root, which only root may do")
    def test_the_deb_installs_runs_and_leaves_nothing(self):
        root = self.folder / "root"
        make_root(root)
        before = files_below(root)
        dpkg = ("dpkg", f"--root={root}", f"--log={self.folder}/dpkg.log")
        path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        run(*dpkg, "--install", self.deb, env=path)
        self.assertIn("Status: install ok installed", run(*dpkg, "--status", "luminal", env=path))
        self.assertIn("libluminal.so.0.1", run("/sbin/ldconfig", "-r", root, "-p"))
        listed = run(*dpkg, "--listfiles", "luminal", env=path).split()
        for name in ("/usr/bin/luminal", "/usr/lib/libluminal.so", "/usr/include/luminal/luminal.h",
                     "/usr/lib/cmake/luminal/luminalConfig.cmake"):
            self.assertIn(name, listed)
            self.assertTrue((root / name[1:]).exists(), name)
        self.assertEqual({f"/{name}" for name in set(files_below(root)) - set(before)},
                         {name for name in listed if not (root / name[1:]).is_dir()})
        Installed(self, root / "usr", self.folder).check()
        run(*dpkg, "--remove", "luminal", env=path)
        self.assertEqual(files_below(root), before)
        self.assertFalse((root / "usr/share/doc/luminal").exists())
        self.assertNotIn("luminal", run("/sbin/ldconfig", "-r", root, "-p"))
        run(*dpkg, "--purge", "luminal", env=path)
        self.assertEqual([path.name for path in (root / "var/lib/dpkg/info").glob("luminal*")], [])

    def test_the_tarball_runs_wherever_it_is_unpacked(self):
        run("tar", "-xzf", self.tarball, "-C", self.folder)
        unpacked, = (path for path in self.folder.iterdir() if path.name.startswith("luminal-"))
        moved = unpacked.rename(self.folder / "some where else")
        Installed(self, moved, self.folder).check()


if __name__ == "__main__":
    missing = [tool for tool in ("dpkg", "dpkg-deb", "dpkg-shlibdeps", "cpack", "file", "readelf") if not shutil.which(tool)]
    if missing:
        print(f"SKIPPED: no {', '.join(missing)}; run tools/install-deps.sh --test")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
