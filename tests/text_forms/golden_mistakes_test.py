"""tests/golden notices each of golden_mistakes.py, and nothing where none is made. Usage: golden_mistakes_test.py PROGRAM GOLDEN"""
import re
import subprocess
import sys
import unittest

from golden_mistakes import MISTAKES

PROGRAM, GOLDEN = sys.argv[1:3]


def failed_cases(number):
    result = subprocess.run([PROGRAM, GOLDEN, "--mistake", str(number)], capture_output=True, text=True)
    return sorted(set(re.findall(r"\[  FAILED  \] (\w+\.\w+) \(", result.stdout))), result.returncode


class GoldenMistakes(unittest.TestCase):
    def test_without_a_mistake_all_is_as_expected(self):
        self.assertEqual(failed_cases(0), ([], 0))

    def test_each_mistake_fails_a_case(self):
        for number, mistake in enumerate(MISTAKES, 1):
            with self.subTest(mistake.what):
                cases, code = failed_cases(number)
                print(f"{mistake.what}: {len(cases)} cases differ")
                self.assertNotEqual(code, 0)
                self.assertTrue(cases)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
