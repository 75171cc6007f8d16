"""`luminal debug-ops` without a fault: stages, JSON, comparing. Usage: debug_ops_test.py PROGRAM SOURCE_DIR MODELS"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
MODELS = pathlib.Path(os.environ.get("LUMINAL_TEST_MODELS", sys.argv[3]))
STAGES = ["graph", "data", "rolled", "terms", "plan", "code", "run"]


def run(*arguments, text=""):
    return subprocess.run([PROGRAM, "debug-ops", *arguments], input=text, capture_output=True, text=True)


class Stages(unittest.TestCase):
    def report(self, *arguments, text=""):
        result = run(*arguments, "--cache", "none", "--json", "-", text=text)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def assert_all_right(self, report, plans=1):
        self.assertEqual(report["causes"], [])
        self.assertEqual([stage["stage"] for stage in report["stages"]], STAGES * plans)
        self.assertEqual({stage["status"] for stage in report["stages"]}, {"ok"})

    def test_a_graph_a_case_and_standard_input(self):
        file = SOURCE / "examples/feed_forward.lum"
        self.assert_all_right(self.report(str(file)))
        self.assert_all_right(self.report("-", text=file.read_text()))
        for name in ("softmax", "layer-norm", "attention", "layers"):
            with self.subTest(name):
                self.assert_all_right(self.report(name))

    def test_stages_say_what_there_is(self):
        report = self.report("softmax", "--bind", "s=3")
        self.assertEqual((report["name"], report["sizes"]), ("softmax", "s = 3"))
        seen = {stage["stage"]: stage["seen"] for stage in report["stages"]}
        self.assertIn("exp2", [node.get("op") for node in seen["graph"]])
        self.assertIn({"variable": "s", "value": "3", "bounds": "1 … 4096"}, seen["graph"])
        self.assertEqual([leaf["leaf"] for leaf in seen["data"]], ["'x'"])
        classes = [item for item in seen["terms"] if "class" in item]
        self.assertTrue(all(one["type"] != "none" and one["computable"] == "yes" for one in classes))
        self.assertIn("views-compose", {item.get("rule") for item in seen["terms"]})
        self.assertEqual((seen["plan"][0]["step"], seen["plan"][0]["reads"]), ("kernel 0", ["'x'"]))
        self.assertEqual((seen["run"][0]["step"], seen["run"][0]["result"]), ("kernel 0", "f32[3, 256]"))
        rolled = self.report("layers", "--rolling", "always", "--until", "rolled")["stages"][-1]
        self.assertRegex(rolled["summary"], r"\d+ iterations of \d+ nodes")
        self.assertTrue(any(len(marker["stands_for"]) > 1 for marker in rolled["seen"]))

    def test_a_model_has_both_of_its_plans(self):
        model = MODELS / "stories260k"
        if not model.exists():
            self.skipTest(f"no {model}")
        report = self.report(str(model))
        self.assert_all_right(report, plans=2)
        self.assertEqual({stage["plan"] for stage in report["stages"]}, {"s = 1", "s = 2 … 256"})

    def test_what_cannot_be_opened_is_a_cause(self):
        result = run("-", "--json", text="luminal-graph 1\n%0 = nonsense\n")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(result.stdout)["causes"][0]["cause"], "graph-refused")
        self.assertIn("graph-refused in stage 'graph'", result.stderr)

    def test_text_has_a_line_per_stage(self):
        result = run("softmax", "--cache", "none")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([line.split()[0] for line in result.stdout.splitlines()[1:-1]], STAGES)
        self.assertTrue(result.stdout.endswith("nothing is wrong\n"))
        self.assertIn("views-compose", run("softmax", "--cache", "none", "--all", "--until", "terms").stdout)

    def test_help_has_examples(self):
        self.assertIn("--compare before.json now.json", run("--help").stdout)


class Compare(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def written(self, name, *arguments):
        path = self.folder / name
        result = run(*arguments, "--cache", "none", "--json", str(path))
        self.assertEqual(result.returncode, 0, result.stderr)
        return str(path)

    def test_the_same_subject_gives_the_same_bytes(self):
        a, b = self.written("a", "mlp"), self.written("b", "mlp")
        self.assertEqual(pathlib.Path(a).read_bytes(), pathlib.Path(b).read_bytes())
        result = run("--compare", a, b)
        self.assertEqual((result.returncode, result.stdout), (0, f"{a} and {b} are equal\n"))

    def test_other_data_differs_from_the_data_on(self):
        a, b = self.written("a", "mlp"), self.written("b", "mlp", "--seed", "2")
        result = run("--compare", a, b)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stdout.startswith("they first differ in stage 'data', at leaf: 'x'\n  values\n"), result.stdout)
        self.assertNotIn("plan:", result.stdout)

    def test_other_options_differ_from_the_plan_on(self):
        a, b = self.written("a", "layer-norm"), self.written("b", "layer-norm", "--fusion", "never")
        result = run("--compare", a, b)
        self.assertEqual(result.returncode, 1)
        self.assertIn("they first differ in stage 'plan', at step: kernel 0", result.stdout)

    def test_what_is_no_report_is_named(self):
        file = self.folder / "x.json"
        file.write_text("{}")
        result = run("--compare", str(file), str(file))
        self.assertEqual(result.returncode, 1)
        self.assertIn("is not a report of debug-ops", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
