"""The program `luminal`: output and exit codes. Usage: cli_test.py PROGRAM SOURCE_DIR"""
import json
import os
import pathlib
import re
import struct
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
        for command in ("cache", "chat", "compile", "debug-ops", "doctor", "egg", "embed", "explain", "graph",
                        "inspect", "rules", "run", "tokenize", "tune"):
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


class Json(unittest.TestCase):
    def test_results_are_json_when_asked_for(self):
        graph = str(SOURCE / "tests/apps/graph.txt")
        with tempfile.TemporaryDirectory() as folder:
            for arguments, key in ((("cache", "stats", "--cache", folder), "entries"),
                                   (("cache", "clear", "--cache", folder), "removed"),
                                   (("graph", "verify", graph), "valid"), (("run", graph, "--runs", "3"), "median_ms"),
                                   (("compile", graph), "kernels"), (("doctor", "--no-measure"), "verdict")):
                with self.subTest(arguments):
                    result = run(*arguments, "--json")
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertIn(key, json.loads(result.stdout))
        rules = json.loads(run("rules", "list", "--json").stdout)
        self.assertEqual(set(rules[0]), {"rule", "group", "class", "origin", "file"})
        self.assertEqual({rule["origin"] for rule in rules}, {"embedded"})


class HostileArguments(unittest.TestCase):
    GRAPH = str(SOURCE / "tests/apps/graph.txt")

    def test_numbers_that_do_not_fit_are_errors(self):
        for arguments in (("--seed", "99999999999999999999"), ("--seed", "-1"), ("--memory-limit", "-1"),
                          ("--memory-limit", "99999999999999999999"), ("--threads", "-1"), ("--budget", "-1"),
                          ("--context", "-5")):
            with self.subTest(arguments):
                result = run("run", self.GRAPH, *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertLess(len(result.stderr), 300)
        self.assertEqual(run("run", self.GRAPH, "--seed", "18446744073709551615", "--memory-limit", "512MB").returncode, 0)

    def test_too_many_threads_are_an_error(self):
        result = run("run", self.GRAPH, "--threads", "100000")
        self.assertEqual(result.returncode, 1)
        self.assertIn("100000 threads", result.stderr)

    def test_a_graph_names_no_files_outside_of_its_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "inside").mkdir()
            for path in (folder / "x.bin", folder / "inside/x.bin"):
                path.write_bytes(bytes(16))
            (folder / "inside/link").symlink_to(folder / "x.bin")
            graph = folder / "inside/graph.lum"

            def result_of(path):
                graph.write_text('luminal-graph 1\n%0 = input "x" : f32[4]\n%1 = add %0 %0 : f32[4]\n'
                                 f'diff "{path}" 0.0 0.0 %1\noutput "y" %1\n')
                return run("run", str(graph), "--cache", "none")

            for path in (folder / "x.bin", "../x.bin", "link", "/etc/hostname"):
                self.assertIn("isn't in the folder of the graph", result_of(path).stderr)
            self.assertIn("against", result_of("x.bin").stdout)

    def test_text_of_files_cannot_move_the_terminal(self):
        result = run("graph", "print", "-", text="luminal-graph 1\n\x1b[2J" + "x" * 100000)
        self.assertEqual(result.returncode, 1)
        self.assertNotIn("\x1b", result.stderr)
        self.assertLess(len(result.stderr), 5000)

    def test_a_sum_too_large_to_count_is_the_users(self):
        result = run("run", "-", "--cache", "none", text='luminal-graph 1\n%0 = constant 1.0 : f32[]\n'
                     '%1 = view %0 [] : f32[4294967296, 4294967296, 4]\n%2 = reduce sum %1 : f32[4294967296, 4294967296]\n'
                     '%3 = reduce sum %2 : f32[4294967296]\n%4 = reduce sum %3 : f32[]\noutput "y" %4\n')
        self.assertEqual(result.returncode, 1, result.stderr)


class Cache(unittest.TestCase):
    def test_entries_that_others_planted_are_not_used(self):
        graph = str(SOURCE / "tests/apps/graph.txt")
        with tempfile.TemporaryDirectory() as folder:
            run("compile", graph, "--cache", folder)
            for entry in pathlib.Path(folder).iterdir():
                if entry.name != "secret":
                    entry.chmod(0o666)
            result = run("compile", graph, "--report", "--cache", folder)
            self.assertEqual(result.returncode, 0)
            self.assertIn("empty the folder", result.stdout)
            self.assertNotIn("empty the folder", run("compile", graph, "--report", "--cache", folder).stdout)

    def test_stats_count_what_compile_kept_and_clear_removes_it(self):
        graph = str(SOURCE / "tests/apps/graph.txt")
        with tempfile.TemporaryDirectory() as folder:
            environment = {"XDG_CACHE_HOME": folder}
            kernels = pathlib.Path(folder) / "luminal/kernels"
            self.assertIn("0 compiled kernels", run("cache", "stats", environment=environment).stdout)
            self.assertEqual(run("compile", graph, environment=environment).returncode, 0)
            self.assertEqual(kernels.stat().st_mode & 0o777, 0o700)
            count = len(list(kernels.glob("*.o")))
            self.assertGreater(count, 0)
            self.assertIn(f"{count} compiled kernels", run("cache", "stats", environment=environment).stdout)
            (kernels / "main.o").write_text("mine")
            result = run("cache", "clear", environment=environment)
            self.assertIn(f"removed {count} compiled kernels", result.stdout)
            self.assertIn("and 1 plans", result.stdout)
            self.assertEqual(sorted(file.name for file in kernels.iterdir()), ["main.o", "secret"])

    def test_another_process_finds_the_plan_and_it_is_the_same(self):
        graph = str(SOURCE / "examples/feed_forward.lum")
        with tempfile.TemporaryDirectory() as folder:
            planned, kept = (run("compile", graph, "--cache", folder, "--report", "--print-after", "plan").stdout
                             for _ in range(2))
            self.assertNotIn("….plan", planned)
            self.assertRegex(kept, r"plan .* from the cache \([0-9a-f]{12}….plan\)")
            self.assertIn("kernel\n", kept)
            self.assertEqual(kept.split("stages\n")[0], planned.split("stages\n")[0])
            self.assertIn("from the cache", run("compile", graph, "--cache", folder, "--report", "--threads", "1").stdout)
            self.assertNotIn("….plan", run("compile", graph, "--cache", "none", "--report").stdout)

    def test_a_folder_that_others_may_write_to_is_not_used(self):
        graph = str(SOURCE / "tests/apps/graph.txt")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            result = run("compile", graph, "--report", "--cache", folder)
            self.assertEqual(result.returncode, 0)
            self.assertIn("other users may write to it", result.stdout)
            self.assertEqual(os.listdir(folder), [])
            self.assertIn("not used", run("cache", "stats", "--cache", folder).stdout)


class Inspect(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write_gguf(self):
        def text(value):
            return struct.pack("<Q", len(value)) + value

        tokens = b"".join(text(b"t%d" % i) for i in range(20))
        entries = [text(b"general.name") + struct.pack("<I", 8) + text(b"tiny\n\xff"),
                   text(b"list") + struct.pack("<IIQ", 9, 8, 20) + tokens,
                   text(b"eps") + struct.pack("<If", 6, 0.5)]
        tensors = [text(b"w") + struct.pack("<IQQIQ", 2, 32, 2, 8, 0)]
        head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries + tensors)
        (self.path / "m.gguf").write_bytes(head + b"\0" * (-len(head) % 32) + bytes(68))
        return str(self.path / "m.gguf")

    def write_safetensors(self):
        header = b'{"v":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}'
        (self.path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(24))

    def test_a_gguf_file_is_a_table(self):
        result = run("inspect", self.write_gguf())
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        first, *lines = result.stdout.splitlines()
        self.assertRegex(first, r"^unknown architecture, 64 parameters, GGUF Q8_0, 0.0 MB; runs here: no, .*m.gguf")
        self.assertTrue(lines[0].endswith("m.gguf: GGUF 3, alignment 32"))
        self.assertEqual(lines[1], "metadata: 3")
        self.assertEqual(lines[2].split(), ["eps", "f32", "0.5"])
        self.assertEqual(lines[3].split()[:2], ["general.name", "string"])
        self.assertIn("tiny\\n", lines[3])
        self.assertIn("string[20]", lines[4])
        self.assertTrue(lines[4].endswith('"t7", …]'), lines[4])
        self.assertEqual(lines[5], "tensors: 1, 64 elements, 68 B")
        self.assertEqual(lines[6].split(), ["w", "Q8_0", "[2,", "32]", "68", "B"])

    def test_json_holds_everything(self):
        result = run("inspect", "--json", self.write_gguf())
        found = json.loads(result.stdout)
        self.assertEqual(found["metadata"]["list"], [f"t{i}" for i in range(20)])
        self.assertEqual(found["metadata"]["eps"], 0.5)
        self.assertEqual((found["summary"]["format"], found["summary"]["runs_here"]), ("GGUF Q8_0", False))
        self.assertEqual(found["tensors"], [{"name": "w", "type": "Q8_0", "dims": [2, 32], "bytes": 68}])

    def test_safetensors_and_folders_are_listed_too(self):
        self.write_safetensors()
        result = run("inspect", str(self.path / "model.safetensors"))
        self.assertIn("tensors: 1, 6 elements, 24 B", result.stdout)
        result = run("inspect", str(self.path))
        self.assertEqual(result.returncode, 1)
        self.assertIn("the folder holds no config.json", result.stderr)
        (self.path / "config.json").write_text('{"model_type": "llama", "rope_scaling": {"factor": 2}}')
        (self.path / "tokenizer.json").write_text("{}")
        found = json.loads(run("inspect", "--json", str(self.path)).stdout)
        self.assertEqual(found["metadata"], {"config.model_type": "llama", "config.rope_scaling": {"factor": 2},
                                             "tokenizer files": ["tokenizer.json"]})
        self.assertEqual(found["tensors"][0]["dims"], [2, 3])

    def test_what_is_no_model_is_said(self):
        (self.path / "x").write_bytes(b"GGUF" + bytes(3))
        for name, fault in (("x", "where 3 are left"), ("absent", "absent")):
            result = run("inspect", str(self.path / name))
            self.assertEqual(result.returncode, 1)
            self.assertIn(fault, result.stderr)


class Rules(unittest.TestCase):
    TEXT = """(ruleset mine.CLASS)
(rewrite (Mul (Exp2 x) (Exp2 y)) (Exp2 (Add x y)) :ruleset mine.CLASS :name "exponents-add")
"""

    def write(self, folder, numeric_class):
        path = pathlib.Path(folder) / "mine.egg"
        path.write_text(self.TEXT.replace("CLASS", numeric_class))
        return str(path)

    def test_list_gives_group_class_origin_and_file(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("rules", "list", self.write(folder, "finite"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"mul-one +algebra +exact +embedded +algebra.egg")
        self.assertRegex(result.stdout, r"exponents-add +mine +finite +user +.*mine.egg")

    def test_list_is_of_a_backend_and_a_target(self):
        self.assertEqual(run("rules", "list", "--backend", "interp").stdout, run("rules", "list").stdout)
        self.assertIn("there is no backend 'gpu'; choose one of: cpu, interp",
                      run("rules", "list", "--backend", "gpu").stderr)
        self.assertIn("'avx3'", run("rules", "test", "--target", "avx3").stderr)

    def test_test_tells_right_from_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            right = run("rules", "test", self.write(folder, "finite"), "--instances", "10")
            self.assertEqual(right.returncode, 0, right.stdout + right.stderr)
            self.assertIn("holds on 10 instances", right.stdout)
            wrong = run("rules", "test", self.write(folder, "exact"))
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("rule 'exponents-add' of class exact does not hold", wrong.stdout)

    def test_compile_takes_rules_classes_and_groups(self):
        graph = str(SOURCE / "examples/feed_forward.lum")
        with tempfile.TemporaryDirectory() as folder:
            result = run("compile", graph, "--cache", "none", "--numerics", "finite", "--rules",
                         self.write(folder, "finite"), "--disable-rules", "algebra", "--report")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("algebra.", result.stdout)
        unknown = run("compile", graph, "--cache", "none", "--disable-rules", "algebar")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("the groups are movement, algebra, sums", unknown.stderr)


class Doctor(unittest.TestCase):
    def test_json_holds_what_the_machine_offers(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("doctor", "--json", environment={"XDG_CACHE_HOME": folder})
            again = run("doctor", "--json", "--no-measure", environment={"XDG_CACHE_HOME": folder})
        self.assertEqual(json.loads(again.stdout)["peaks"], json.loads(result.stdout)["peaks"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")  # no progress on a pipe
        found = json.loads(result.stdout)
        self.assertGreaterEqual(found["threads"]["usable"], 1)
        self.assertGreater(found["memory"]["total"], 0)
        self.assertTrue(found["peaks"]["is_measured"])
        self.assertGreater(found["peaks"]["memory"][0]["read_bytes"], 1e8)
        self.assertEqual(found["cache_folder"], {"path": folder + "/luminal", "writable": True})
        self.assertEqual(set(found["libraries"]), {"llvm", "fmt", "nlohmann_json", "cli11", "sqlite", "onednn", "libedit"})
        self.assertEqual(found["verdict"]["well"], found["verdict"]["findings"] == [])

    def test_lines_come_without_measuring_when_asked(self):
        result = run("doctor", "--no-measure", environment={"XDG_CACHE_HOME": "/proc/nowhere"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines, verdict = result.stdout.split("\n\nverdict: ")
        labels = [line[:16].strip() for line in lines.splitlines()]
        self.assertEqual(labels, ["luminal", "cpu", "isa", "caches", "threads", "cgroup", "memory", "huge pages",
                                  "peaks", "memory", "caches", "arithmetic", "launch", "cost model", "libraries",
                                  "compiler", "cache folder"])
        self.assertIn("/proc/nowhere/luminal (NOT writable", result.stdout)
        self.assertRegex(verdict, "to fix\n")
        self.assertIn("  the cache folder isn't writable, so each run compiles anew\n    -> set XDG_CACHE_HOME", verdict)

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


# Each row by the sums of all columns: two kernels, for every point of the second needs all of the first.
SCALED_BY_SUMS = """luminal-graph 1
var s 1 4096
%0 = input "x" : f32[s, 4096]
%1 = exp2 %0 : f32[s, 4096]
%2 = view %1 [i1, i0] : f32[4096, s]
%3 = reduce sum %2 : f32[4096]
%4 = view %3 [i1] : f32[s, 4096]
%5 = mul %0 %4 : f32[s, 4096]
output "y" %5
"""


class Compile(unittest.TestCase):
    GRAPH = str(SOURCE / "examples/feed_forward.lum")

    def compile(self, *arguments):
        result = run("compile", self.GRAPH, "--cache", "none", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_report_names_kernels_ops_rules_and_stages(self):
        report = self.compile("--report")
        for part in ("kernel 0: f32[", "ops: ", "constant-factors-meet", "saturated", "by the model", "compiled in"):
            self.assertIn(part, report)

    def test_verbose_prints_the_report_and_quiet_only_errors(self):
        for option in ("-v", "--verbose"):
            self.assertIn("kernel 0: f32[", self.compile(option))
        for option in ("-q", "--quiet"):
            result = run("compile", self.GRAPH, "--cache", "none", option)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(self.compile("-q", "--stop-after", "plan"), "")
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.compile("-q", "--dump-kernels", folder), "")
            self.assertTrue((pathlib.Path(folder) / "kernel_0.txt").exists())
        missing = run("compile", "no-such-file", "-q")
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("no-such-file", missing.stderr)
        for other in ("-v", "--json", "--explain-fusion"):
            self.assertEqual(run("compile", self.GRAPH, "-q", other).returncode, 2)

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
            file = str(pathlib.Path(folder) / "kernel_0.txt")
            result = run("compile", self.GRAPH, "--cache", "none", "--dump-kernels", file + "/below")
            self.assertEqual(result.returncode, 1)
            self.assertIn("can't create the folder", result.stderr)

    def test_the_report_says_what_did_not_fuse_and_why(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("compile", "-", "--cache", "none", "--report", "--report-json", folder + "/report.json", text=SCALED_BY_SUMS)
            self.assertEqual(result.returncode, 0, result.stderr)
            report = json.loads(pathlib.Path(folder + "/report.json").read_text())
        self.assertRegex(result.stdout, r"not fused\n  %3 \(reduce\) f32\[4096\], from kernel 0 to kernel 1: "
                         r"the cost model says that fusing it into its readers is more expensive \(\+[\d.]+ µs\)")
        self.assertEqual([stage["name"] for stage in report["stages"]], ["graph", "terms", "saturated", "plan", "kernels"])
        stored = report["stored"][0]
        self.assertEqual((stored["kernel"], stored["readers"]), ("kernel 0", ["kernel 1"]))
        self.assertGreater(stored["extra_us"], 0)
        self.assertIn("exp2", report["kernels"][0]["ops"])

    def test_slower_paths_are_lines_of_the_report(self):
        text = """luminal-graph 1
%0 = input "x" : f32[4096]
%1 = input "rows" : i64[64, 64]
%2 = gather %0 %1 : f32[64, 64]
%3 = exp2 %2 : f32[64, 64]
%4 = scan sum %3 : f32[64, 64]
output "y" %4
"""
        result = run("compile", "-", "--cache", "none", "--report", text=text)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"slow: stage s0 reads p\d at gathered indices")
        # Whole rows are read side by side.
        rows = """luminal-graph 1
%0 = input "table" : f32[1000, 256]
%1 = input "ids" : i64[512]
%2 = gather %0 %1 : f32[512, 256]
output "y" %2
"""
        result = run("compile", "-", "--cache", "none", "--report", text=rows)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("slow:", result.stdout)

    def test_memory_is_limited_and_variants_are_planned(self):
        text = """luminal-graph 1
var s 1 4096
%0 = input "x" : f32[s, 256]
%1 = exp2 %0 : f32[s, 256]
output "y" %1
"""
        for command in ("compile", "run"):
            with self.subTest(command):
                result = run(command, "-", "--cache", "none", "--variants", "s=1,16", "--memory-limit", "64MB", text=text)
                self.assertEqual(result.returncode, 0, result.stderr)
                result = run(command, "-", "--cache", "none", "--variants", "s=1,x", text=text)
                self.assertEqual(result.returncode, 2)
                self.assertIn("isn't VARIABLE=BOUND,…; write it like --variants s=1,16", result.stderr)
        fixed = text.replace("var s 1 4096\n", "").replace("[s,", "[64,")
        result = run("compile", "-", "--cache", "none", "--memory-limit", "1000", text=fixed)
        self.assertEqual(result.returncode, 1)
        self.assertIn("1000", result.stderr)

    def test_u4_views_leave_as_u4(self):
        text = """luminal-graph 1
%0 = input "x" : u4[13, 17]
%1 = view %0 [i0, -i1 + 16] : u4[13, 17]
output "y" %1
"""
        result = run("compile", "-", "--cache", "none", "--report", text=text)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("%1 (view) runs on the host", result.stdout)

    def test_unknown_stages_and_policies_are_usage_errors(self):
        self.assertEqual(run("compile", self.GRAPH, "--stop-after", "lunch").returncode, 2)
        self.assertEqual(run("compile", self.GRAPH, "--fusion", "sometimes").returncode, 2)
        for command in ("compile", "run"):
            self.assertEqual(run(command, self.GRAPH, "--library", "sometimes").returncode, 2)

    def test_a_library_computes_products_where_asked(self):
        text = """luminal-graph 1
%0 = input "x" : f32[24, 64]
%1 = weight "w" : f32[64, 96]
%2 = view %0 [i0, i2] : f32[24, 96, 64]
%3 = view %1 [i2, i1] : f32[24, 96, 64]
%4 = mul %2 %3 : f32[24, 96, 64]
%5 = reduce sum %4 : f32[24, 96]
output "y" %5
"""
        has_library = "without oneDNN" not in run("compile", self.GRAPH, "--cache", "none", "--report").stdout
        never = run("compile", "-", "--cache", "none", "--report", text=text)
        self.assertEqual(never.returncode, 0, never.stderr)
        self.assertNotIn(", by oneDNN", never.stdout)
        measured = run("compile", "-", "--cache", "none", "--report", "--library", "measured", text=text)
        self.assertEqual(measured.returncode, 0, measured.stderr)
        self.assertRegex(measured.stdout, r"measured: [\d.]+ µs compiled, [\d.]+ µs by oneDNN" if has_library
                         else "this build has no oneDNN")
        always = run("run", "-", "--cache", "none", "--sequential", "--runs", "2", "--library", "always", text=text)
        self.assertEqual(always.returncode, 0 if has_library else 1, always.stderr)
        self.assertIn("every kernel is correct" if has_library else "LUMINAL_ONEDNN=ON", always.stdout + always.stderr)


class Run(unittest.TestCase):
    GRAPH = str(SOURCE / "examples/feed_forward.lum")

    def test_a_trace_has_rates_and_the_roofline_per_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("run", "-", "--cache", "none", "--runs", "2", "--bind", "s=400", "--trace", folder + "/t.json",
                         text=SCALED_BY_SUMS)
            self.assertEqual(result.returncode, 0, result.stderr)
            trace = json.loads(pathlib.Path(folder + "/t.json").read_text())
        events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        kernels = [event for event in events if event["cat"] == "kernel"]
        self.assertEqual([event["args"]["step"] for event in kernels], ["kernel 0", "kernel 1"] * 2)
        self.assertEqual([event["name"] for event in events if event["cat"] == "run"], ["run 0", "run 1"])
        first = kernels[0]["args"]
        self.assertEqual(first["writes"], ["f32[4096]"])
        self.assertIn("exp2", first["ops"])
        seconds = kernels[0]["dur"] * 1e-6
        self.assertAlmostEqual(first["GB/s"], first["bytes"] / seconds / 1e9, 6)
        self.assertAlmostEqual(first["GF/s"], first["flops"] / seconds / 1e9, 6)
        machine = trace["otherData"]
        bound = max(first["bytes"] / machine["bytes_per_second"], first["flops"] / machine["flops_per_second"])
        self.assertAlmostEqual(first["roofline_share"], bound / seconds, 6)
        self.assertEqual(machine["roofline"], "measured")

    def test_every_kernel_can_be_checked(self):
        result = run("run", self.GRAPH, "--cache", "none", "--sequential", "--bind", "s=9")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("every kernel is correct", result.stdout)

    def test_what_does_not_fit_is_said(self):
        self.assertEqual(run("run", self.GRAPH, "--bind", "s").returncode, 2)
        for arguments, message in ((("--bind", "s=0"), "outside its bounds"), (("--input", "z=/no.npy"), "no leaf 'z'")):
            result = run("run", self.GRAPH, "--cache", "none", *arguments)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)


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
