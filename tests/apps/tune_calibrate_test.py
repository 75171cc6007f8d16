"""`luminal tune calibrate`: what it keeps, and what then says so. Usage: tune_calibrate_test.py PROGRAM"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]


class TuneCalibrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.first = cls.run_program("tune", "calibrate", "--seconds", "1", "--json")

    @classmethod
    def run_program(cls, *arguments):
        environment = {**os.environ, "XDG_CACHE_HOME": cls.folder.name}
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment)

    def test_kernels_are_timed_and_the_factors_kept(self):
        self.assertEqual((self.first.returncode, self.first.stderr), (0, ""))
        result = json.loads(self.first.stdout)
        self.assertEqual(len(result["cases"]), result["kernels"])
        self.assertGreater(result["left_out"], 0)
        for case in result["cases"]:
            for time in ("measured_seconds", "before_seconds", "held_out_seconds"):
                self.assertGreater(case[time], 0, case["name"])
        kept = json.loads(pathlib.Path(result["file"]).read_text())
        self.assertEqual(kept["kernels"], result["kernels"])
        self.assertIn("element-wise", kept["kinds"])

    def test_doctor_says_so(self):
        kernels = json.loads(self.first.stdout)["kernels"]
        self.assertIn(f"calibrated by {kernels} kernels: off by", self.run_program("doctor", "--no-measure").stdout)
        self.assertEqual(json.loads(self.run_program("doctor", "--no-measure", "--json").stdout)["calibration"]["kernels"],
                         kernels)

    def test_a_table_is_printed_by_kind(self):
        result = self.run_program("tune", "calibrate", "--seconds", "0.5", "--target", "avx2", "--records", "none")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for text in ("off (median)", "all ", "calibrated by", "avx2.calibration.json", "--seconds was too short"):
            self.assertIn(text, result.stdout)

    def test_a_damaged_file_is_named(self):
        file = pathlib.Path(json.loads(self.first.stdout)["file"])
        before = file.read_text()
        file.write_text("{}")
        try:
            said = self.run_program("doctor", "--no-measure").stdout
        finally:
            file.write_text(before)
        self.assertIn(f"isn't used: '{file}' holds no calibration", said)


unittest.main(argv=sys.argv[:1])
