"""Clean Debian systems to install into: trees that debootstrap makes once, entered by chroot over a scratch layer."""
import pathlib
import re
import shlex
import shutil
import tempfile

from commands import run

# Kinds of trees: what is in them beside a minimal system.
KINDS = {"minimal": "", "compiler": "g++,cmake,make,pkg-config", "python": "python3-venv"}


def mirror():
    """Where this system's apt has its Debian from."""
    listed = run("apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)", "Created-By: Packages")
    found = re.search(r"^Debian [a-z]+ (\S+)$", listed, re.MULTILINE)
    if found is None:
        raise AssertionError("apt has no Debian among its sources, so there is nowhere to debootstrap from")
    return found.group(1)


def made_tree(trees, suite, kind):
    """The tree of a suite and a kind; made where it isn't there, which takes minutes."""
    tree = trees / (suite if kind == "minimal" else f"{suite}-{kind}")
    if tree.exists():
        return tree
    print(f"debootstrap: making {tree.name}, which takes some minutes", flush=True)
    trees.mkdir(parents=True, exist_ok=True)
    extra = [f"--include={KINDS[kind]}"] if KINDS[kind] else []
    with tempfile.TemporaryDirectory(dir=trees) as folder:
        partial = pathlib.Path(folder) / tree.name
        run("debootstrap", "--variant=minbase", *extra, suite, partial, mirror())
        return partial.rename(tree)


class CleanTree:
    """A system of its own: what is done in it goes into `scratch`, and the tree below stays clean."""

    def __init__(self, trees, suite, scratch, kind="minimal"):
        self.suite, self.below = suite, made_tree(trees, suite, kind)
        self.upper, self.work, self.root = (pathlib.Path(scratch) / part for part in ("upper", "work", "root"))
        for folder in (self.upper, self.work, self.root):
            folder.mkdir(parents=True)

    def put(self, source, target):
        """Copies a file or a folder to an absolute path in the tree."""
        place = self.upper / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if pathlib.Path(source).is_dir() else shutil.copy
        copy(source, place)

    def run(self, command):
        """Runs a line of shell in the tree, as root, and returns what it printed. Its mounts end with it."""
        layers = f"lowerdir={self.below},upperdir={self.upper},workdir={self.work}"
        root = shlex.quote(str(self.root))
        script = (f"mount -t overlay overlay -o {shlex.quote(layers)} {root} && mount -t proc proc {root}/proc && "
                  f"exec chroot {root} /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "
                  f"DEBIAN_FRONTEND=noninteractive /bin/sh -ec {shlex.quote(command)}")
        return run("unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script)
