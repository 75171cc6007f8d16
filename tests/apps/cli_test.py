"""The program `luminal`: output and exit codes. Usage: cli_test.py PROGRAM SOURCE_DIR"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*arguments, text="", environment=None):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True,
                          env={**os.environ, **(environment or {})})


class General(unittest.TestCase):
    def test_version_is_that_of_the_header(self):
        header = (SOURCE / "luminal/version.h").read_text()
        version = re.search(r'LUMINAL_VERSION "(.*)"', header).group(1)
        result = run("--version")
        self.assertEqual((result.returncode, result.stdout), (0, f"luminal {version}\n"))

    def test_help_names_every_command(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        for command in ("compile", "doctor", "graph"):
            self.assertIn(command, result.stdout)
            self.assertEqual(run(command, "--help").returncode, 0)

    def test_a_wrong_command_line_gives_2(self):
        for arguments in ((), ("no-such-command",), ("doctor", "--no-such-option"), ("graph",), ("graph", "print")):
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2)
                self.assertTrue(result.stderr.startswith("luminal: "), result.stderr)
                self.assertEqual(result.stdout, "")

    def test_a_misspelt_command_is_named(self):
        self.assertIn("there is no command 'docter'", run("docter").stderr)
        self.assertIn("there is no command 'prnt'", run("graph", "prnt", "x").stderr)


class Doctor(unittest.TestCase):
    def test_json_holds_what_the_machine_offers(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("doctor", "--json", environment={"XDG_CACHE_HOME": folder})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("measuring read bandwidth", result.stderr)
        found = json.loads(result.stdout)
        self.assertGreaterEqual(found["threads"]["usable"], 1)
        self.assertGreater(found["memory"]["total"], 0)
        self.assertGreater(found["read_bandwidth"]["best_gb_per_s"], 0)
        self.assertEqual(found["cache_folder"], {"path": folder + "/luminal", "writable": True})
        self.assertEqual(set(found["libraries"]), {"llvm", "fmt", "nlohmann_json", "cli11"})

    def test_lines_come_without_measuring_when_asked(self):
        result = run("doctor", "--no-measure", environment={"XDG_CACHE_HOME": "/proc/nowhere"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        labels = [line[:16].strip() for line in result.stdout.splitlines()]
        self.assertEqual(labels, ["luminal", "cpu", "isa", "caches", "threads", "cgroup", "memory", "huge pages",
                                  "read bandwidth", "libraries", "compiler", "cache folder"])
        self.assertIn("/proc/nowhere/luminal (NOT writable", result.stdout)

    def test_no_home_is_said_and_is_no_failure(self):
        result = run("doctor", "--no-measure", environment={"XDG_CACHE_HOME": "", "HOME": ""})
        self.assertEqual(result.returncode, 0)
        self.assertIn("no cache folder", result.stdout)


class Graph(unittest.TestCase):
    """Runs on tests/apps/graph.txt, a graph in its text form."""

    def setUp(self):
        self.file = SOURCE / "tests/apps/graph.txt"

    def test_print_gives_the_text_back(self):
        result = run("graph", "print", str(self.file))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, self.file.read_text(), ""))

    def test_standard_input_works_too(self):
        result = run("graph", "print", "-", text=self.file.read_text())
        self.assertEqual((result.returncode, result.stdout), (0, self.file.read_text()))

    def test_verify_says_valid(self):
        result = run("graph", "verify", str(self.file))
        self.assertEqual((result.returncode, result.stdout), (0, f"{self.file}: valid\n"))

    def test_draw_writes_dot_and_svg(self):
        with tempfile.TemporaryDirectory() as folder:
            for ending, start in (("dot", "digraph"), ("svg", "<?xml")):
                output = pathlib.Path(folder) / f"a b.{ending}"
                result = run("graph", "draw", str(self.file), "-o", str(output))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue(output.read_text().startswith(start))
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 2, "a temporary file stayed behind")

    def test_draw_without_dot_says_how_to_get_it(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("graph", "draw", str(self.file), "-o", folder + "/a.svg", environment={"PATH": folder})
            self.assertEqual(result.returncode, 1)
            self.assertIn("install the package 'graphviz'", result.stderr)

    def test_draw_into_an_unknown_format_is_refused(self):
        result = run("graph", "draw", str(self.file), "-o", "/tmp/graph.jpeg")
        self.assertEqual(result.returncode, 1)
        self.assertIn("must end in .svg, .png or .dot", result.stderr)

    def test_a_broken_text_names_its_place(self):
        result = run("graph", "verify", "-", text="luminal-graph 1\n%0 = nonsense\n")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^luminal: <stdin>:2: ")


class Compile(unittest.TestCase):
    GRAPH = str(SOURCE / "examples/feed_forward.lum")

    def compile(self, *arguments):
        result = run("compile", self.GRAPH, "--cache", "none", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_report_names_kernels_ops_rules_and_stages(self):
        report = self.compile("--report")
        for part in ("kernel 0: f32[", "ops: ", "views-compose", "saturated", "by the model", "compiled in"):
            self.assertIn(part, report)

    def test_policies_differ_in_kernels(self):
        count = lambda policy: int(re.search(r"(\d+) kernels", self.compile("--fusion", policy)).group(1))
        self.assertGreater(count("never"), count("modelled"))
        self.assertLessEqual(count("always"), count("never"))

    def test_a_stage_prints_and_can_be_the_last(self):
        self.assertIn("Reindex", self.compile("--print-after", "terms", "--stop-after", "terms"))
        plan = self.compile("--print-after", "plan", "--stop-after", "plan")
        self.assertIn("stage s0", plan)
        self.assertIn("stopped after plan", plan)

    def test_kernels_are_dumped_as_text_ir_and_assembly(self):
        with tempfile.TemporaryDirectory() as folder:
            self.compile("--dump-kernels", folder)
            self.assertIn("define void @kernel", (pathlib.Path(folder) / "kernel_0.ll").read_text())
            self.assertIn("zmm" if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else "ymm",
                          (pathlib.Path(folder) / "kernel_0.s").read_text())
            self.assertTrue((pathlib.Path(folder) / "kernel_0.txt").read_text().startswith("kernel\n"))

    def test_unknown_stages_and_policies_are_usage_errors(self):
        self.assertEqual(run("compile", self.GRAPH, "--stop-after", "lunch").returncode, 2)
        self.assertEqual(run("compile", self.GRAPH, "--fusion", "sometimes").returncode, 2)


class Files(unittest.TestCase):
    def test_a_missing_file_names_itself(self):
        result = run("graph", "print", "/no/such/graph")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "luminal: can't open '/no/such/graph': No such file or directory; "
                                        "check the path and its permissions\n")

    def test_a_folder_is_refused(self):
        result = run("graph", "print", "/")
        self.assertEqual(result.returncode, 1)
        self.assertIn("is a folder", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
