"""luminal bench: one command gives all files; wrong command lines and baselines say what to do.

usage: bench_cli_test.py LUMINAL
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

LUMINAL = sys.argv.pop(1)
SHORT = ["--threads", "1", "--min-time", "0.002"]


def run(*arguments, code=0):
    result = subprocess.run([LUMINAL, "bench", *map(str, arguments)], text=True, capture_output=True)
    assert result.returncode == code, f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout if code == 0 else result.stdout + result.stderr


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name)

    def test_one_command_writes_all_files(self):
        for level, stem, case in (("micro", "bench", "sum/l1"), ("patterns", "pattern", "softmax/l1")):
            out = self.out / level
            text = run(level, "--filter", case, "--dtype", "f32", *SHORT, "--out", out)
            self.assertIn("GB/s", text)
            self.assertEqual(sorted(path.name for path in out.iterdir()),
                             sorted(["bench.html", f"{stem}_history.json", f"{stem}_metrics.json",
                                     f"{stem}_report.json"]))
            report = json.loads((out / f"{stem}_report.json").read_text())
            self.assertEqual([c["name"] for c in report["cases"]], [f"{case}/f32/cpu/t1"])
            for key in ("mbu", "mfu", "gb_per_second", "gflop_per_second", "median_seconds"):
                self.assertGreater(report["cases"][0][key], 0)
            self.assertEqual({c["dtype"] for c in report["peaks"]["compute"]}, {"f32", "bf16", "f16", "i8"})
            metrics = json.loads((out / f"{stem}_metrics.json").read_text())
            self.assertEqual(len(metrics["cases"][0]["seconds"]), report["cases"][0]["samples"])

    def test_short_options_and_quiet(self):
        for flag in ("-q", "-v"):
            result = subprocess.run([LUMINAL, "bench", "micro", "--filter", "sum/l1/f32", "-t", "1", "--min-time", "0.002", flag,
                                     "-o", self.out], text=True, capture_output=True)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("GB/s", result.stdout)
            if flag == "-q":
                self.assertEqual(result.stderr, "")
        for command in (("micro",), ("patterns",), ("fusion", "--model", "x", "-o", "y")):
            self.assertIn("excludes", run(*command, "-q", "-v", code=2))

    def test_both_backends(self):
        run("micro", "--filter", "add/tiny,add/dram/i8/interp", "--sizes", "tiny,dram", "--dtype", "i8", "--backend",
            "cpu,interp", *SHORT, "--out", self.out)
        report = json.loads((self.out / "bench_report.json").read_text())
        self.assertEqual([c["backend"] for c in report["cases"]], ["cpu", "interp"])
        self.assertEqual([c["name"] for c in report["left_out"]], ["add/dram/i8/interp/t1"])

    def test_list(self):
        text = run("patterns", "--list", "--quick")
        cases = json.loads(run("patterns", "--list", "--quick", "--json"))
        self.assertEqual([case["name"] for case in cases], [line.split()[0] for line in text.splitlines()])
        self.assertIn("attention/l3/bf16/cpu/", text)
        self.assertEqual(len(text.splitlines()), 9 * 2 * 2)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_help_has_examples_and_not_what_tests_plant(self):
        for level in ("micro", "patterns"):
            text = run(level, "--help")
            self.assertIn("Examples:", text)
            self.assertIn("--compare", text)
            self.assertNotIn("plant", text)

    def test_wrong_command_lines(self):
        for arguments, word in ((["--sizes", "l9"], "tiny, l1"), (["--dtype", "f8"], "bf16"),
                                (["--threads", "0"], "from 1"), (["--backend", "gpu"], "interp"),
                                (["--baseline", "a", "--compare", "b"], "excludes"),
                                (["--rounds", "1"], "10"), (["--min-time", "0"], "0.001"),
                                (["--plant-slowdown", "add=0.15"], "--compare"),
                                (["--compare", "x", "--plant-slowdown", "add"], "CASE=SHARE")):
            self.assertIn(word, run("micro", *arguments, code=2))
        self.assertIn("needs a command", run(code=2))
        self.assertIn("--list", run("micro", "--filter", "nothing", code=1))

    def test_a_file_in_the_way_of_the_folder(self):
        (self.out / "file").write_text("")
        self.assertIn("--out", run("micro", "--filter", "add/l1/f32", *SHORT, "--out", self.out / "file", code=1))
        self.assertIn("--baseline",
                      run("micro", "--filter", "add/l1/f32", "--baseline", self.out / "file", code=1))

    def test_baseline_and_compare(self):
        baseline, out = self.out / "baseline", self.out / "out"
        self.assertIn("no baseline-micro.json", run("micro", "--compare", baseline, "--out", out, code=1))
        cases = ["--filter", "exp2/l2/f32,max/l2/bf16", "--threads", "1"]
        text = run("micro", *cases, "--baseline", baseline)
        self.assertIn("code of 2 cases", text)
        planted = "exp2/l2/f32/cpu/t1"
        text = run("micro", "--compare", baseline, "--filter", "exp2", "--plant-slowdown", f"{planted}=3", "--out",
                   out, code=1)
        self.assertIn("for a test", text)
        compared = json.loads((out / "bench_compare.json").read_text())
        self.assertEqual([(c["name"], c["verdict"]) for c in compared["cases"]], [(planted, "slower")])
        self.assertIn("planted_slowdown", compared)
        self.assertGreater(compared["cases"][0]["low"], 2)
        self.assertTrue((out / "bench.html").exists())
        self.assertIn("isn't one of the compared cases",
                      run("micro", "--compare", baseline, "--plant-slowdown", "add=1", "--out", out, code=1))
        self.assertIn("none of its 2 cases", run("micro", "--compare", baseline, "--filter", "sqrt", code=1))


if __name__ == "__main__":
    unittest.main()
