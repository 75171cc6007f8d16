"""tools/test-budgets.py fails on a group that takes longer than its budget, and on none that doesn't."""
import importlib.util
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/test-budgets.py"
spec = importlib.util.spec_from_file_location("test_budgets", SCRIPT)
budgets = importlib.util.module_from_spec(spec)
spec.loader.exec_module(budgets)


class TestBudgets(unittest.TestCase):
    def test_a_group_over_its_budget_is_named(self):
        lines, over = budgets.verdict({"tests/a": 12.0, "tests/b": 3.0}, {"tests/a": 11.0, "tests/b": 3.0})
        self.assertEqual(over, ["tests/a"])
        self.assertIn("OVER ITS BUDGET", lines[0])
        self.assertNotIn("OVER", lines[1])

    def test_a_group_without_a_budget_has_a_small_one(self):
        self.assertEqual(budgets.verdict({"tests/new": budgets.UNLISTED - 1}, {})[1], [])
        self.assertEqual(budgets.verdict({"tests/new": budgets.UNLISTED + 1}, {})[1], ["tests/new"])

    def test_the_file_has_a_line_per_group(self):
        read = budgets.read_budgets()
        self.assertGreater(len(read), 20)
        self.assertTrue(all(seconds > 0 for seconds in read.values()))


if __name__ == "__main__":
    unittest.main()
