"""tools/claims: exit codes and lines, with planted claims."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/claims"

GROUP = '''
from claims import Claim, Short

def good(context):
    return "3 ms", True

def bad(context):
    return "80 ms", False

def stuck(context):
    raise Short("no such program")

def broken(context):
    return 1 / 0

CLAIMS = [
    Claim(name="good", target="under 50 ms", minutes=0.5, measure=good, quick=True),
    Claim(name="bad", target="under 50 ms", minutes=2, measure=bad),
    Claim(name="twin", target="runs", minutes=3, shares="a run", measure=good),
    Claim(name="other", target="runs", minutes=3, shares="a run", measure=good),
]
if GROUP_HAS_FAILURES:
    CLAIMS.append(Claim(name="stuck", target="runs", minutes=0, measure=stuck))
    CLAIMS.append(Claim(name="broken", target="runs", minutes=0, measure=broken))
'''


class Claims(unittest.TestCase):
    def run_claims(self, *arguments, own=False):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "planted.py").write_text(GROUP.replace("GROUP_HAS_FAILURES", "False"))
            (path / "failing.py").write_text(GROUP.replace("GROUP_HAS_FAILURES", "True"))
            where = [] if own else ["--claims-dir", folder]
            return subprocess.run([sys.executable, "-B", str(SCRIPT), *where, *arguments], capture_output=True, text=True)

    def test_a_claim_that_holds_gives_0(self):
        result = self.run_claims("planted.good")
        self.assertEqual(result.returncode, 0, result.stderr)
        first, line, last = result.stdout.splitlines()
        self.assertIn("1 to measure, about 0.5 min, build: ", first)
        self.assertTrue(line.startswith("planted.good | target: under 50 ms | measured: 3 ms | ok ("))
        self.assertEqual(last, "claims: 1 ok, 0 short")

    def test_what_claims_share_takes_its_time_once(self):
        result = self.run_claims("planted.good", "planted.twin", "planted.other")
        self.assertIn("3 to measure, about 3.5 min", result.stdout)

    def test_a_claim_that_falls_short_gives_1(self):
        result = self.run_claims("planted.good", "planted.bad")
        self.assertEqual(result.returncode, 1)
        self.assertIn("planted.bad | target: under 50 ms | measured: 80 ms | short", result.stdout)
        self.assertIn("claims: 1 ok, 1 short", result.stdout)

    def test_a_measurement_that_fails_is_short_and_the_rest_still_runs(self):
        result = self.run_claims("failing.stuck", "failing.broken", "planted.good")
        self.assertEqual(result.returncode, 1)
        self.assertIn("measured: no such program | short", result.stdout)
        end = result.stdout.splitlines()[-4:]
        self.assertIn("the longest: ", end[0])
        self.assertTrue(end[1].startswith("failing.stuck | ") and end[2].startswith("failing.broken | "), end)
        self.assertIn("measured: the measurement failed: division by zero | short", result.stdout)
        self.assertIn("planted.good | target: under 50 ms | measured: 3 ms | ok", result.stdout)

    def test_quick_runs_only_what_noise_does_not_touch(self):
        result = self.run_claims("--quick")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("claims: 2 ok, 0 short", result.stdout)

    def test_list_names_all_by_group(self):
        result = self.run_claims("list")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.splitlines()[-5:], [
            "planted", "  planted.good: under 50 ms (0.5 min, quick)", "  planted.bad: under 50 ms (2 min)",
            "  planted.twin: runs (3 min)", "  planted.other: runs (3 min)"])

    def test_an_unknown_name_gives_2_and_near_matches(self):
        result = self.run_claims("planted.god")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no claim or group 'planted.god'; near: planted.good", result.stderr)

    def test_no_name_and_a_missing_build_folder_give_2(self):
        self.assertEqual(self.run_claims().returncode, 2)
        result = self.run_claims("planted.good", "--build-dir", "/nowhere")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/nowhere", result.stderr)

    def test_help_and_the_projects_own_claims_load(self):
        self.assertEqual(self.run_claims("--help").returncode, 0)
        result = self.run_claims("list", own=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("foundation.layers", result.stdout)


if __name__ == "__main__":
    unittest.main()
