"""Every command that the pages show works as it is shown: usage PROGRAM SOURCE MODELS.

Commands of `luminal` in blocks of code are run as written, each page's in a folder with the files that pages assume. NOT_RUN
has those that aren't, and why. The options of all others (those of NOT_RUN, those within sentences, those of scripts and
test programs) must exist.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from shown_commands import Shown, in_blocks, in_sentences

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/hostile/pt2"))
import small_pt2  # noqa: E402  (beside the bad archives)

MODELS = pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[3])).resolve()
SMOLLM2 = MODELS / "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf"
STORIES = MODELS / "stories260k"

# Commands of luminal that aren't run, as patterns. Their options are checked.
NOT_RUN = {
    r"bench ": "measures for a minute or longer",
    r"chat ": "waits for messages",
    r".* --serve ": "serves until it is interrupted",
    r".* --search measured": "searches for as long as its budget; a short search prepares what others read",
    r"tune fusion .*--model": "measures for a minute",
    r"tune calibrate": "measures for half a minute",
    r"tune (model.gguf|MODEL|GRAPH|graph.lum)": "searches for as long as its budget; tests/apps/tune_search_test.py does",
    r"debug-ops model.gguf": "takes long; tests/inspect/debug_ops_test.py runs it on the same model",
    r".* /models/": "has paths of a container image",
}

# Commands of other programs, by their first word. What can be checked without running them is.
NOT_RUN_PROGRAMS = {
    "cmake": "builds the project", "ninja": "builds the project", "ctest": "runs all tests", "g++": "builds a user's program",
    "tar": "unpacks a release", "pip": "downloads", "sudo": "installs packages", "export": "sets a variable",
    "sqlite3": "reads a database that the LLM suite makes",
}

# Commands that show what a fault looks like.
EXIT_CODES = {
    "luminal run examples/feed_forward.lum --rules wrong.egg --sequential": 3,
    "luminal debug-ops --compare before.json after.json": 1,
}

PROGRAM_PATH = r"(?:luminal-[\w.-]+/bin/|build/\w+/apps/cli/)?luminal"


def pages():
    return [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]


def shown(extract):
    return [command for page in pages() for command in extract(str(page.relative_to(SOURCE)), page.read_text())]


def is_luminal(command):
    return re.fullmatch(PROGRAM_PATH, command.words()[0]) is not None


def why_not_run(command):
    """The reason, or None for a command that is run."""
    arguments = command.text.partition(" ")[2]
    if arguments.startswith("graph draw") and not shutil.which("dot"):
        return "there is no dot"
    return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, arguments)), None)


def output_of(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, **options)


@functools.cache
def help_of(*subcommands):
    """(subcommands, options) that the help of a command lists."""
    text = output_of(PROGRAM, *subcommands, "--help-all").stdout
    commands = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    columns = re.findall(r"^ {2,}(-\S.*?)(?:  |$)", text, re.M)
    return (re.findall(r"^  (\w\S*)", commands.group(1), re.M) if commands else [],
            {option for column in columns for option in re.findall(r"(?<![\w|-])--?[A-Za-z][\w-]*", column)})


def options_in(words):
    return [word.split("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]


def luminal_faults(command):
    """What the help of luminal doesn't list."""
    subcommands, words = [], command.words()[1:]
    while words and words[0] in help_of(*subcommands)[0]:
        subcommands.append(words.pop(0))
    if subcommands == ["bench"] and not help_of("bench")[0]:
        return []  # a build without benchmarks
    if not subcommands and words and not words[0].startswith("-"):
        return [f"there is no command '{words[0]}'"]
    known = help_of(*subcommands)[1]
    return [f"`luminal {' '.join(subcommands)}` has no {option}" for option in options_in(words) if option not in known]


@functools.cache
def sources_below(folder):
    files = [file for file in folder.rglob("*") if file.suffix in (".py", ".cpp", ".h") or file.name == "CMakeLists.txt"]
    return "".join(file.read_text() for file in files)


@functools.cache
def claims():
    listed = output_of(sys.executable, "-B", SOURCE / "tools/claims", "list").stdout
    names = re.findall(r"^  (\S+):", listed, re.M)
    return {"list", *names, *(name.split(".")[0] for name in names)}


def tool_faults(tool, words):
    """Of a script of tools/: its help names the options, and `tools/claims list` the claims."""
    path = SOURCE / tool
    if not path.exists():
        return [f"there is no {tool}"]
    options = options_in(words)
    interpreter = (sys.executable, "-B") if path.suffix != ".sh" else ()
    usage = output_of(*interpreter, path, "--help") if options else None
    faults = [f"{tool} --help doesn't name {option}" for option in options if option not in usage.stdout + usage.stderr]
    if tool == "tools/claims":
        faults += [f"there is no claim {name}" for name in words if name[0] != "-" and name not in claims()]
    return faults


def script_faults(script, words):
    """Of a script elsewhere: it, or a file beside it, names the options."""
    path = SOURCE / script
    if not path.exists():
        return [f"there is no {script}"]
    return [f"{script} has no {option}" for option in options_in(words) if f'"{option}"' not in sources_below(path.parent)]


def built_faults(program, words):
    """Of a test or an example: the folder that it is built from names it and the options."""
    _, _, *folders, name = program.split("/")
    folder = SOURCE.joinpath(*folders)
    if not folder.is_dir():
        return [f"there is no folder {'/'.join(folders)}"]
    sources = sources_below(folder)
    faults = [] if name in sources or (folder / f"{name}.cpp").exists() else [f"nothing builds {program}"]
    return faults + [f"{program} has no {option}" for option in options_in(words)
                     if option.startswith("--") and f'"{option}' not in sources]


def preset_faults(words):
    names = [preset["name"] for preset in json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]]
    used = [value for word, value in zip(words, words[1:]) if word == "--preset"]
    used += [word.split("/")[1] for word in words if word.startswith("build/")]
    return [f"there is no preset {name}" for name in used if name not in names]


def other_faults(command):
    """What can be said of a command of other programs without running it."""
    faults = []
    for part in re.split(r"\s#\s", command.text)[0].split("&&"):
        words = Shown(command.place, part).words()
        if words[0] == ".venv/bin/python":
            words.pop(0)
        first, rest = words[0], words[1:]
        if first.startswith("tools/"):
            faults += tool_faults(first, rest)
        elif first.endswith(".py"):
            faults += script_faults(first, rest)
        elif first.startswith("build/"):
            faults += preset_faults(words) + built_faults(first, rest)
        elif first in NOT_RUN_PROGRAMS or first == "unzip":
            faults += preset_faults(words)
        else:
            faults.append(f"'{first}' is neither run nor in a table of this test; mark a block of output as text")
    return faults + [f"there is no {word}" for word in command.words()
                     if re.match(r"(?:tests|apps|examples|docs|tools)/[\w./-]+$", word) and not (SOURCE / word).exists()]


def faults_of(command):
    if re.search(r"\S {3,}[^#\s]", command.text):
        return ["what follows the command is no comment: put a # before it"]
    try:
        return luminal_faults(command) if is_luminal(command) else other_faults(command)
    except ValueError as error:
        return [f"not a command: {error}"]


class Folder:
    """What pages assume: graphs, rules and models by the names that they use, and the built program."""

    def __init__(self, path):
        self.path = path
        path.mkdir()
        shutil.copytree(SOURCE / "examples", path / "examples")
        for name in ("GRAPH", "graph.lum", "layer.lum"):
            shutil.copy(SOURCE / "examples/feed_forward.lum", path / name)
        for name, model in (("MODEL", STORIES), ("model.gguf", STORIES), ("MODEL.gguf", SMOLLM2), (SMOLLM2.name, SMOLLM2),
                            ("all-MiniLM-L6-v2", MODELS / "minilm-l6-v2")):
            (path / name).symlink_to(model)
        self.add_program("bin/luminal")
        (path / "FOLDER").mkdir()
        (path / "FOLDER/model.safetensors").symlink_to(STORIES / "model.safetensors")
        self.add_rules()
        self.add_exported()

    def add_exported(self):
        (self.path / "model.pt2").write_bytes(small_pt2.Archive().bytes())
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (8, 4), }".ljust(117) + b"\n"
        (self.path / "x.npy").write_bytes(b"\x93NUMPY\1\0v\0" + header + small_pt2.floats(*range(32)))

    def add_program(self, name):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        if not (self.path / name).exists():
            (self.path / name).symlink_to(PROGRAM)

    def add_rules(self):
        shutil.copy(SOURCE / "tests/apps/program.egg", self.path)
        page = (SOURCE / "docs/how-to/rule.md").read_text()
        mine = re.search(r"```lisp\n(.*?)```", page, re.DOTALL).group(1)
        (self.path / "mine.egg").write_text(mine)
        (self.path / "wrong.egg").write_text('(ruleset wrong.exact)\n(rewrite (Sqrt x) (Recip x) :ruleset wrong.exact '
                                             ':name "a-root-is-a-reciprocal")\n')

    def add_records(self, records):
        for name in ("tuned.sqlite", "a.sqlite", "b.sqlite"):
            shutil.copy(records, self.path / name)

    def run(self, command):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.path.parent / "cache"),
                       "PATH": f"{self.path / 'bin'}:{os.environ['PATH']}"}
        return output_of("bash", "-c", command, cwd=self.path, env=environment, stdin=subprocess.DEVNULL, timeout=300)


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.in_blocks, cls.in_sentences = shown(in_blocks), shown(in_sentences)

    def check(self, commands):
        for command in commands:
            with self.subTest(command.place, command=command.text):
                self.assertEqual(faults_of(command), [], command.text)

    def test_commands_are_found(self):
        self.assertGreater(len(self.in_blocks), 100)
        self.assertGreater(len(self.in_sentences), 100)

    def test_options_of_commands_in_blocks_exist(self):
        self.check(self.in_blocks)

    def test_options_of_commands_in_sentences_exist(self):
        self.check(self.in_sentences)

    def test_faults_are_found(self):
        for text in ("luminal run MODEL --no-such-option", "luminal tune fusion --bind s=1", "luminal rnu MODEL", "frobnicate",
                     "luminal doctor    what it finds", "tools/no-such-tool", "tools/claims no.such-claim", "cmake --preset none",
                     "tools/format.sh --no-such-option", "build/dev/tests/no_folder/no_test", "luminal run 'unclosed",
                     ".venv/bin/python apps/bench/llm/bench.py --no-such-option", "build/dev/tests/records/no_such_program"):
            self.assertNotEqual(faults_of(Shown("here:1", text)), [], text)

    def test_every_row_of_the_tables_is_used(self):
        luminal = [command for command in self.in_blocks if is_luminal(command)]
        for pattern in NOT_RUN:
            self.assertTrue(any(re.match(pattern, command.text.partition(" ")[2]) for command in luminal), pattern)
        for text in EXIT_CODES:
            self.assertIn(text, [command.text for command in luminal])
        first = {command.words()[0] for command in self.in_blocks}
        self.assertEqual(set(NOT_RUN_PROGRAMS) - first - {"ninja"}, set())


class Runs(unittest.TestCase):
    """A command is run once, on the first page that shows it."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.root = pathlib.Path(temporary.name)
        cls.records = cls.root / "records/tuned.sqlite"
        # The key of a measured plan has the machine's peaks in it, so they are measured before all else.
        done = Folder(cls.root / "search").run(
            "luminal doctor --measure && luminal compile GRAPH --search measured --budget 1 --keep-busy-times "
            f"--records {cls.records} && luminal tune merge {cls.records}")
        assert done.returncode == 0, done.stderr

    def test_commands_of_luminal_run_as_they_are_shown(self):
        folders, done = {}, set()
        for command in shown(in_blocks):
            words = tuple(command.words())  # without the comment
            if not is_luminal(command) or why_not_run(command) or words in done:
                continue
            done.add(words)
            page = command.place.split(":")[0].replace("/", "-")
            if page not in folders:
                folders[page] = Folder(self.root / page)
                folders[page].add_records(self.records)
            with self.subTest(command.place, command=command.text):
                if "/" in words[0]:  # the program of a release, or of a build
                    folders[page].add_program(words[0])
                result = folders[page].run(command.text)
                self.assertEqual(result.returncode, EXIT_CODES.get(command.text, 0),
                                 f"{command.text}\n{result.stdout[-1000:]}{result.stderr[-1000:]}")
        self.assertGreater(len(done), 50)
        print(f"{len(done)} commands were run", file=sys.stderr)


if __name__ == "__main__":
    if not MODELS.is_dir():
        print(f"SKIPPED: no models in {MODELS}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
