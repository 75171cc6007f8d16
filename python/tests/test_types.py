"""The documented examples and the package's own files pass mypy --strict."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import luminal
from test_docs import BLOCK, PAGE


class Types(unittest.TestCase):
    def test_examples_and_package(self):
        package = pathlib.Path(luminal.__file__).parent
        with tempfile.TemporaryDirectory() as folder:
            example = pathlib.Path(folder) / "example.py"
            example.write_text("".join(text for language, flags, text in BLOCK.findall(PAGE.read_text())
                                       if language == "python" and "untyped" not in flags))
            result = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, str(example)],
                                    capture_output=True, text=True,
                                    env={**os.environ, "MYPYPATH": str(package.parent)})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
