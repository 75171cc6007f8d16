"""`luminal tune fusion` and what compiles make of its profile and records. Usage: tune_fusion_test.py PROGRAM"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]


def run(*arguments, text=""):
    return subprocess.run([PROGRAM, *map(str, arguments)], input=text, capture_output=True, text=True)


def projection(first, x, weight, tokens, columns, features):
    """x · weightᵀ in five nodes, of which the last is first + 4."""
    whole = f"f32[{tokens}, {columns}, {features}]"
    return [f'%{first} = weight "{weight}" : f32[{columns}, {features}]',
            f"%{first + 1} = view %{x} [i0, i2] : {whole}", f"%{first + 2} = view %{first} [i1, i2] : {whole}",
            f"%{first + 3} = mul %{first + 1} %{first + 2} : {whole}",
            f"%{first + 4} = reduce sum %{first + 3} : f32[{tokens}, {columns}]"]


def graph_text():
    """down(silu(gate(x)) · up(x)) of 8 tokens, as text: patterns are told by ops alone."""
    t = "f32[8, 40]"
    lines = ["luminal-graph 1", '%0 = input "x" : f32[8, 24]']
    lines += projection(1, 0, "gate", 8, 40, 24) + projection(6, 0, "up", 8, 40, 24)
    for node, number in ((11, -1), (13, 1.4426950216293335), (15, 1)):
        lines += [f"%{node} = constant {number} : f32[]", f"%{node + 1} = view %{node} [] : {t}"]
    lines += [f"%17 = mul %5 %12 : {t}", f"%18 = mul %17 %14 : {t}", f"%19 = exp2 %18 : {t}", f"%20 = add %19 %16 : {t}",
              f"%21 = recip %20 : {t}", f"%22 = mul %5 %21 : {t}", f"%23 = mul %22 %10 : {t}"]
    lines += projection(24, 23, "down", 8, 24, 40)
    return "\n".join(lines + ['output "y" %28']) + "\n"


class TuneFusion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.profile = self.folder / "profile.json"
        self.cache = self.folder / "cache"
        self.records = self.folder / "records.sqlite"

    @classmethod
    def setUpClass(cls):
        """One profile for all tests: measuring takes longest."""
        with tempfile.TemporaryDirectory() as folder:
            file, records = pathlib.Path(folder) / "profile.json", pathlib.Path(folder) / "records.sqlite"
            cls.tuning = cls.tune(file, "--dtype", "f32,bf16", "--records", records, "--keep-busy-times")
            cls.tuned = file.read_text()
            cls.counted = run("tune", "stats", "--records", records, "--json")
            cls.exported = run("tune", "export", "--records", records)

    @staticmethod
    def tune(file, *arguments):
        records = () if "--records" in arguments else ("--records", "none")
        return run("tune", "fusion", "--output", file, "--quick", "--seconds", "0.02", "--hidden", 24, "--intermediate", 40,
                   "--cache", "none", *records, *arguments)

    def compiled(self, *arguments):
        return run("compile", "-", "--cache", self.cache, "--records", self.records, *arguments, text=graph_text())

    def test_help_says_what_it_is_for(self):
        result = run("tune", "fusion", "--help")
        self.assertEqual(result.returncode, 0)
        for word in ("--output", "--dtype", "--model", "--quick", "docs/fusion.md"):
            self.assertIn(word, result.stdout)
        self.assertIn("tune fusion", run("tune", "--help").stdout)

    def test_short_options_and_quiet(self):
        result = run("tune", "fusion", "-o", self.profile, "-t", 1, "-q", "--quick", "--seconds", "0.02", "--hidden", 24,
                     "--intermediate", 40, "--cache", "none", "--records", "none")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("10 answers in", result.stdout)
        self.assertEqual(self.tune(self.profile, "-q", "-v").returncode, 2)

    def test_a_profile_of_both_patterns_in_two_dtypes(self):
        self.assertEqual(self.tuning.returncode, 0, self.tuning.stderr)
        self.assertIn("20 answers in", self.tuning.stdout)
        answers = json.loads(self.tuned)["answers"]
        self.assertEqual(len(answers), 20)
        self.assertEqual({(a["pattern"], a["dtype"], a["intermediate"]) for a in answers},
                         {(p, d, i) for p, i in (("swiglu", 40), ("add-rms-norm", 80)) for d in ("f32", "bf16")})
        self.assertEqual({a["tokens"] for a in answers}, {1, 8, 32, 128, 512})
        for answer in answers:
            self.assertLessEqual(answer["low"], answer["ratio"])
            self.assertLessEqual(answer["ratio"], answer["high"])
            self.assertTrue(answer["rounds"] == 0 or answer["rounds"] >= 7)

    def test_compiles_read_it(self):
        profile = json.loads(self.tuned)
        for answer in profile["answers"]:
            answer["fuse"] = False
        self.profile.write_text(json.dumps(profile))
        result = self.compiled("--fusion", "measured", "--fusion-profile", self.profile, "--explain-fusion")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"swiglu at %\d+ \(mul\): 8 tokens, 24 to 40, f32\n    stored, profile")
        unfused = int(result.stdout.split()[-2])
        result = self.compiled("--fusion", "swiglu=always", "--explain-fusion")
        self.assertIn("fused, policy always", result.stdout)
        self.assertLess(int(result.stdout.split()[-2]), unfused)

    def test_without_a_profile_it_says_so_and_measures(self):
        result = self.compiled("--fusion", "measured", "--explain-fusion")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("note: no fusion profile is given", result.stdout)
        self.assertRegex(result.stdout, r"(fused|stored), measured now(: [a-z ]+)?; fused / unfused \d+\.\d+ \(")

    def test_records_hold_the_answers_too(self):
        self.assertEqual(json.loads(self.counted.stdout)["comparisons"], 20, self.counted.stderr)
        self.assertEqual(self.exported.stdout.count('"question": "fusion of '), 4, "patterns and dtypes")
        imported = run("tune", "import", "-", "--records", self.records, text=self.exported.stdout)
        self.assertEqual((imported.returncode, imported.stderr), (0, ""))
        result = self.compiled("--fusion", "measured", "--explain-fusion")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"8 tokens, 24 to 40, f32\n    (fused|stored), records")
        self.assertNotIn("profile", result.stdout)

    def test_a_second_compile_finds_what_the_first_measured(self):
        first = self.compiled("--fusion", "measured", "--explain-fusion", "--keep-busy-times")
        second = self.compiled("--fusion", "measured", "--explain-fusion")
        figures = r"    (fused|stored), %s(.*)"
        self.assertRegex(first.stdout, figures % "measured now")
        self.assertRegex(second.stdout, figures % "records")
        self.assertEqual(re.search(figures % "measured now", first.stdout).groups(),
                         re.search(figures % "records", second.stdout).groups())

    def test_run_explains_too(self):
        result = run("run", "-", "--cache", self.cache, "--fusion", "swiglu=never", "--explain-fusion", text=graph_text())
        self.assertIn("stored, policy never", result.stdout)

    def test_wrong_words_are_named(self):
        for value, words in (("geglu=never", "'geglu' isn't a pattern; known: swiglu and add-rms-norm"),
                             ("sometimes", "'sometimes' isn't a policy; known: modelled, measured, always, never and fixed"),
                             ("swiglu=maybe", "'maybe' isn't a policy")):
            result = self.compiled("--fusion", value)
            self.assertEqual(result.returncode, 2, result)
            self.assertIn(words, result.stderr)

    def test_a_profile_of_another_device_is_not_overwritten(self):
        fingerprint = json.loads(self.tuned)["device"]["fingerprint"]
        self.profile.write_text(self.tuned.replace(fingerprint, "0" * len(fingerprint)))
        result = self.tune(self.profile)
        self.assertEqual(result.returncode, 1)
        self.assertIn("is a fusion profile for another device", result.stderr)
        result = self.compiled("--fusion", "measured", "--fusion-profile", self.profile, "--explain-fusion")
        self.assertIn("it is not used", result.stdout)

    def test_damage_is_an_error_with_a_way_out(self):
        self.profile.write_text("[]")
        result = self.compiled("--fusion", "measured", "--fusion-profile", self.profile)
        self.assertEqual(result.returncode, 1)
        self.assertIn("remove it, or make it again with `luminal tune fusion", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
