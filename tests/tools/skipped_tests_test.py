"""tools/skipped-tests.py: what was skipped is named with its reason, and what needn't have been fails."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/skipped-tests.py"
SPEC = importlib.util.spec_from_file_location("skipped_tests", SCRIPT)
skipped_tests = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(skipped_tests)

GOOGLETEST = """[ RUN      ] Kernel.OnTiles
../tests/kernel_test.cpp:12: Skipped
no TILES here

[  SKIPPED ] Kernel.OnTiles (0 ms)
[ RUN      ] Kernel.Other
[       OK ] Kernel.Other (0 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Kernel.OnTiles
"""


def results(*tests):
    cases = "".join(f'<testcase name="{name}"><system-out>{output}</system-out></testcase>' for name, output in tests)
    return f"<testsuite>{cases}</testsuite>"


class SkippedTests(unittest.TestCase):
    def test_finds_cases_and_their_reasons(self):
        self.assertEqual(skipped_tests.skips_of("a", GOOGLETEST, False), [("a: Kernel.OnTiles", "no TILES here")])
        self.assertEqual(skipped_tests.skips_of("b", "SKIPPED: no browser\n", True), [("b", "no browser")])
        self.assertEqual(skipped_tests.skips_of("c", "all well\n", False), [])
        self.assertEqual(skipped_tests.skips_of("d", "", True), [("d", "no reason is in its output")])

    def run_on(self, *tests):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.xml"
            file.write_text(results(*tests))
            return subprocess.run([sys.executable, "-B", SCRIPT, file], capture_output=True, text=True)

    def test_a_reason_that_nobody_knows_fails(self):
        result = self.run_on(("a", GOOGLETEST), ("b", "fine"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no TILES here  (a: Kernel.OnTiles)  NO REASON HERE", result.stdout)

    def test_a_reason_that_holds_here_passes(self):
        result = self.run_on(("a", GOOGLETEST.replace("no TILES here", "this build has one")))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("1 cases were skipped, in 1 tests", result.stdout)


if __name__ == "__main__":
    unittest.main()
